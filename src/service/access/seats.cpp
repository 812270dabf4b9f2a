#include "service/access/seats.hpp"

#include "db/transaction.hpp"
#include "store/access/admins.hpp"

#include <algorithm>

namespace muster::service {

std::vector<rules::Seat> seats_of(Context& context, AdminId admin) {
    return context.database.autocommit([&](db::Tx& tx) { return store::find_seats(tx, admin); });
}

std::optional<rules::Role> role_in(Context& context, AdminId admin, OrgId organization) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_role(org, admin);
    });
}

std::vector<OrgId> organizations_of(std::span<const rules::Seat> seats) {
    std::vector<OrgId> organizations;
    for (const rules::Seat& seat : seats) organizations.push_back(seat.organization_id);
    return organizations;
}

std::vector<OrgId> sorted_organizations_of(std::span<const rules::Seat> seats) {
    auto organizations = organizations_of(seats);
    std::ranges::sort(organizations);
    return organizations;
}

}  // namespace muster::service
