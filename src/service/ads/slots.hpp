// Ad slots that admins manage in the console (docs/ads.md "Ads").
#pragma once

#include "rules/ads/ads.hpp"
#include "service/context.hpp"
#include "service/versions.hpp"

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

// Creates a slot. Throws CONFLICT if the slug is taken, INVALID_STATE if the organization has
// reached its maximum number of slots.
rules::AdSlot create_ad_slot(OrgTransaction& transaction, const NewAdSlot& fields);
// At most `limit` slots with an id greater than `after`, ordered by id.
std::vector<rules::AdSlot> list_ad_slots(Context& context, OrgId organization,
                                         std::optional<SlotId> after, int limit);
// Throws NOT_FOUND.
rules::AdSlot read_ad_slot(Context& context, OrgId organization, SlotId id);
// Changes a slot. `updated_at` changes only if a value does. Throws NOT_FOUND, and CONFLICT if the
// slug is taken.
rules::AdSlot change_ad_slot(OrgTransaction& transaction, SlotId id, const AdSlotChange& change,
                             const VersionCheck& check = {});
// Deletes a slot. Throws NOT_FOUND, and INVALID_STATE while campaigns use it.
void delete_ad_slot(OrgTransaction& transaction, SlotId id, const VersionCheck& check = {});

}  // namespace muster::service
