#include "service/ads/serving_cache.hpp"

#include <span>

namespace muster::service {
namespace {

// The maximum number of entries of each map; a full map is cleared. A lost reservation returns to
// the budget like a serving without an impression (store::return_unseen()).
constexpr std::size_t kMostEntries = 1024;
// Of all slots. One with 100 campaigns of 20 creatives can have 8 MiB.
constexpr std::size_t kMostSlotBytes = std::size_t{32} << 20U;

bool is_fresh(Timestamp known_at, Timestamp now,
              Milliseconds lifetime = AdServingCache::kLifetime) {
    return now >= known_at && now - known_at < lifetime;
}

std::size_t bytes_of(const rules::Targeting& targeting) {
    std::size_t bytes = targeting.attributes.size();
    for (const auto* texts : {&targeting.countries, &targeting.locales, &targeting.tags}) {
        for (const std::string& text : *texts) bytes += sizeof(std::string) + text.size();
    }
    return bytes;
}

// About what the candidates take in memory.
std::size_t bytes_of(std::span<const rules::AdCandidate> candidates) {
    std::size_t bytes = 0;
    for (const rules::AdCandidate& candidate : candidates) {
        bytes += sizeof candidate;
        if (candidate.targeting) bytes += bytes_of(*candidate.targeting);
        for (const rules::AdCreative& creative : candidate.creatives) {
            bytes += sizeof creative + creative.image_url.value_or("").size() +
                     creative.alt.value_or("").size();
        }
    }
    return bytes;
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
    const std::size_t bytes = bytes_of(candidates);
    make_room_for_slot(organization, bytes, now);
    Slot& slot = slots_[{organization, std::string(slug)}];
    slot_bytes_ = slot_bytes_ - slot.bytes + bytes;
    slot = {std::move(candidates), now, bytes};
    return slot.candidates;
}

template <class Matches>
void AdServingCache::drop_slots(const Matches& matches) {
    std::erase_if(slots_, [&](const auto& entry) {
        if (!matches(entry)) return false;
        slot_bytes_ -= entry.second.bytes;
        return true;
    });
}

// Drops what is too old, then the slots of the same organization, then all.
void AdServingCache::make_room_for_slot(const OrgId& organization, std::size_t bytes,
                                        Timestamp now) {
    const auto has_room = [&] {
        return slots_.size() < kMostEntries && slot_bytes_ + bytes <= kMostSlotBytes;
    };
    if (has_room()) return;
    drop_slots([&](const auto& entry) { return !is_fresh(entry.second.known_at, now); });
    if (has_room()) return;
    drop_slots([&](const auto& entry) { return entry.first.first == organization; });
    if (!has_room()) drop_slots([](const auto&) { return true; });
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
