// A worker's cache for ad serving, which keeps database access per page view low
// (docs/decisions/ads.md). It holds the token keys, the candidates of each slot for one second, and
// impressions reserved ahead from budgets. For one thread.
#pragma once

#include "base/sealing.hpp"
#include "rules/ads/choice.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::service {

class AdServingCache {
  public:
    explicit AdServingCache(const KeyRing& keys) : keys_(keys.derive_all("ads")) {}

    // The current key first.
    const std::vector<Secret>& keys() const { return keys_; }

    // The lifetime of a cached slot. A change in the console is visible after at most this time.
    static constexpr Milliseconds kLifetime{1000};
    // The cached candidates, or nullptr if there are none or they are too old.
    const std::vector<rules::AdCandidate>* find_slot(const OrgId& organization,
                                                     std::string_view slug, Timestamp now) const;
    const std::vector<rules::AdCandidate>& keep_slot(const OrgId& organization,
                                                     std::string_view slug,
                                                     std::vector<rules::AdCandidate> candidates,
                                                     Timestamp now);

    // Whether the campaign's budget was exhausted within the last `kLifetime`.
    bool is_full(const CampaignId& campaign, Timestamp now) const;
    void keep_full(const CampaignId& campaign, Timestamp now);

    // Whether the organization's counters were locked within the last `kLockedPause`. Waiting for
    // them again would delay the requests of other organizations.
    static constexpr Milliseconds kLockedPause{5000};
    bool is_locked(const OrgId& organization, Timestamp now) const;
    void keep_locked(const OrgId& organization, Timestamp now);

    // Impressions of the campaign's budget of `day` that this worker has reserved.
    void keep_reserved(const CampaignId& campaign, std::int64_t day, std::int64_t count);
    bool has_reserved(const CampaignId& campaign, std::int64_t day) const;
    // Uses one reserved impression. Requires has_reserved().
    void take_reserved(const CampaignId& campaign);

    // About what the cached slots take in memory.
    std::size_t slot_bytes() const { return slot_bytes_; }

  private:
    struct Slot {
        std::vector<rules::AdCandidate> candidates;
        Timestamp known_at;
        std::size_t bytes = 0;
    };
    struct Reserved {
        std::int64_t day = 0;
        std::int64_t count = 0;
    };

    template <class Matches>
    void drop_slots(const Matches& matches);
    void make_room_for_slot(const OrgId& organization, std::size_t bytes, Timestamp now);

    std::vector<Secret> keys_;
    std::map<std::pair<OrgId, std::string>, Slot> slots_;
    std::size_t slot_bytes_ = 0;
    std::map<CampaignId, Timestamp> full_;
    std::map<OrgId, Timestamp> locked_;
    std::map<CampaignId, Reserved> reserved_;
};

}  // namespace muster::service
