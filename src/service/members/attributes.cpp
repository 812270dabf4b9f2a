#include "service/members/attributes.hpp"

#include "rules/attributes.hpp"
#include "rules/members/member.hpp"
#include "service/attributes.hpp"

#include <map>
#include <string_view>

namespace muster::service {

std::vector<MemberAttribute> list_member_attributes(Context& context, const rules::Member& member) {
    // Read after the member: the registry keeps every key that a member has.
    const auto registry = attribute_registry(context, member.organization_id);
    std::map<std::string_view, rules::AttributeType> types;
    for (const auto& attribute : registry.all()) types.emplace(attribute.key, attribute.type);
    std::vector<MemberAttribute> attributes;
    for (auto& entry : rules::attribute_entries(member.attributes)) {
        const auto type = types.at(entry.key);
        attributes.push_back({std::move(entry), type});
    }
    return attributes;
}

}  // namespace muster::service
