#include "db/lookups.hpp"

#include "db/fixture.hpp"
#include "rules/members/member.hpp"
#include "service/callers.hpp"
#include "service/members/create.hpp"
#include "service/members/read.hpp"

#include <utility>

namespace muster::test {

std::optional<service::Caller> find_caller(service::Context& context, const std::string& token) {
    auto found = service::identify(context, {token});
    return found.empty() ? std::nullopt : std::optional(std::move(found.begin()->second));
}

std::optional<rules::Member> find_member(service::Context& context, OrgId organization,
                                         UserId user) {
    auto found = service::find_members(context, organization, {&user, 1});
    return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

UserId add_member(DatabaseContext& worker, OrgId organization, const rules::MemberFields& fields) {
    return worker
        .as(organization,
            [&](service::OrgTransaction& transaction) {
                return service::create_member(transaction, fields);
            })
        .member.user_id;
}

}  // namespace muster::test
