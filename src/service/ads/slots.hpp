// Ad slots, made by admins in the console (docs/ads.md "Ads").
#pragma once

#include "rules/ads/ads.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <vector>

namespace muster::service {

struct NewAdSlot {
    std::string slug;
    std::string name;
    std::int64_t width = 0;
    std::int64_t height = 0;
};
struct AdSlotChange {
    std::optional<std::string> slug;
    std::optional<std::string> name;
    std::optional<std::int64_t> width;
    std::optional<std::int64_t> height;
};

// Throws CONFLICT for a slug that is taken, and INVALID_STATE when there are as many as there may
// be.
rules::AdSlot create_ad_slot(OrgTransaction& transaction, const NewAdSlot& fields);
// By id behind `after`, at most `limit`.
std::vector<rules::AdSlot> list_ad_slots(Context& context, OrgId organization,
                                         std::optional<SlotId> after, int limit);
// Throws NOT_FOUND.
rules::AdSlot read_ad_slot(Context& context, OrgId organization, SlotId id);
// What changes nothing leaves updated_at alone. Throws NOT_FOUND and CONFLICT.
rules::AdSlot change_ad_slot(OrgTransaction& transaction, SlotId id, const AdSlotChange& change);
// Throws NOT_FOUND, and INVALID_STATE while campaigns run in it.
void delete_ad_slot(OrgTransaction& transaction, SlotId id);

}  // namespace muster::service
