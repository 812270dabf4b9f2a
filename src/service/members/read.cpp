#include "service/members/read.hpp"

#include "db/transaction.hpp"
#include "store/members/members.hpp"

namespace muster::service {

std::vector<rules::Member> find_members(Context& context, OrgId organization,
                                        std::span<const UserId> users) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_members(org, users);
    });
}

}  // namespace muster::service
