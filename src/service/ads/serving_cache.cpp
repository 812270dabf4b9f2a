#include "service/ads/serving_cache.hpp"

#include <span>

namespace muster::service {
namespace {

// The maximum number of entries of each map; a full map is cleared. A lost reservation is an
// impression that is never shown.
constexpr std::size_t kMostEntries = 1024;
// The slots are also cleared above this number of creatives, which have up to 3 KiB each.
constexpr std::size_t kMostCreatives = 8192;

bool is_fresh(Timestamp known_at, Timestamp now,
              Milliseconds lifetime = AdServingCache::kLifetime) {
    return now >= known_at && now - known_at < lifetime;
}

std::size_t creatives_of(std::span<const rules::AdCandidate> candidates) {
    std::size_t count = 0;
    for (const rules::AdCandidate& candidate : candidates) count += candidate.creatives.size();
    return count;
}

template <class Map>
void make_room(Map& map) {
    if (map.size() >= kMostEntries) map.clear();
}

}  // namespace

const std::vector<rules::AdCandidate>* AdServingCache::find_slot(const OrgId& organization,
                                                                 std::string_view slug,
                                                                 Timestamp now) const {
    const auto found = slots_.find({organization, std::string(slug)});
    const bool is_known = found != slots_.end() && is_fresh(found->second.known_at, now);
    return is_known ? &found->second.candidates : nullptr;
}

const std::vector<rules::AdCandidate>& AdServingCache::keep_slot(
    const OrgId& organization, std::string_view slug, std::vector<rules::AdCandidate> candidates,
    Timestamp now) {
    const std::size_t count = creatives_of(candidates);
    if (slots_.size() >= kMostEntries || creatives_ + count > kMostCreatives) {
        slots_.clear();
        creatives_ = 0;
    }
    Slot& slot = slots_[{organization, std::string(slug)}];
    creatives_ = creatives_ + count - creatives_of(slot.candidates);
    slot = {std::move(candidates), now};
    return slot.candidates;
}

bool AdServingCache::is_full(const CampaignId& campaign, Timestamp now) const {
    const auto found = full_.find(campaign);
    return found != full_.end() && is_fresh(found->second, now);
}

void AdServingCache::keep_full(const CampaignId& campaign, Timestamp now) {
    make_room(full_);
    full_[campaign] = now;
}

bool AdServingCache::is_locked(const OrgId& organization, Timestamp now) const {
    const auto found = locked_.find(organization);
    return found != locked_.end() && is_fresh(found->second, now, kLockedPause);
}

void AdServingCache::keep_locked(const OrgId& organization, Timestamp now) {
    make_room(locked_);
    locked_[organization] = now;
}

void AdServingCache::keep_reserved(const CampaignId& campaign, std::int64_t day,
                                   std::int64_t count) {
    make_room(reserved_);
    reserved_[campaign] = {day, count};
}

bool AdServingCache::has_reserved(const CampaignId& campaign, std::int64_t day) const {
    const auto found = reserved_.find(campaign);
    return found != reserved_.end() && found->second.day == day && found->second.count > 0;
}

void AdServingCache::take_reserved(const CampaignId& campaign) {
    --reserved_.at(campaign).count;
}

}  // namespace muster::service
