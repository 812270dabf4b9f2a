// A worker's cache for ads, which keeps the database's cost of a page view low
// (docs/decisions/ads.md): the keys of tokens, each slot's campaigns for a second, and servings
// that were reserved from a budget in advance. Not thread-safe.
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

    // How old what is known of a slot may be: whatever is changed in the console shows that soon.
    static constexpr Milliseconds kMemory{1000};
    // nullptr: nothing is known, or only of too long ago.
    const std::vector<rules::AdCandidate>* find_slot(const OrgId& organization,
                                                     std::string_view slug, Timestamp now) const;
    const std::vector<rules::AdCandidate>& keep_slot(const OrgId& organization,
                                                     std::string_view slug,
                                                     std::vector<rules::AdCandidate> candidates,
                                                     Timestamp now);

    // Whether the campaign's budget had no room a moment ago.
    bool is_full(const CampaignId& campaign, Timestamp now) const;
    void keep_full(const CampaignId& campaign, Timestamp now);

    // Servings of that day's budget that are this worker's to hand out.
    void keep_reserved(const CampaignId& campaign, std::int64_t day, std::int64_t count);
    bool has_reserved(const CampaignId& campaign, std::int64_t day) const;
    // One of them; there is one.
    void take_reserved(const CampaignId& campaign);

  private:
    struct Slot {
        std::vector<rules::AdCandidate> candidates;
        Timestamp known_at;
    };
    struct Reserved {
        std::int64_t day = 0;
        std::int64_t count = 0;
    };

    std::vector<Secret> keys_;
    std::map<std::pair<OrgId, std::string>, Slot> slots_;
    std::map<CampaignId, Timestamp> full_;
    std::map<CampaignId, Reserved> reserved_;
};

}  // namespace muster::service
