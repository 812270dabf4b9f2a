#include "service/members/read.hpp"

#include "db/transaction.hpp"
#include "service/attributes.hpp"
#include "store/members/members.hpp"

#include <map>
#include <string_view>

namespace muster::service {

std::optional<rules::Member> find_member(Context& context, OrgId organization, UserId user) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_member(org, user);
    });
}

std::optional<std::vector<MemberAttribute>> list_member_attributes(Context& context,
                                                                   OrgId organization,
                                                                   UserId user) {
    const auto member = find_member(context, organization, user);
    if (!member) return std::nullopt;
    // Read after the member: the registry keeps every key that a member has.
    const auto registry = attribute_registry(context, organization);
    std::map<std::string_view, rules::AttributeType> types;
    for (const auto& attribute : registry.all()) types.emplace(attribute.key, attribute.type);
    std::vector<MemberAttribute> attributes;
    for (auto& entry : rules::attribute_entries(member->attributes)) {
        const auto type = types.at(entry.key);
        attributes.push_back({std::move(entry), type});
    }
    return attributes;
}

}  // namespace muster::service
