// Create-or-attach (specification 3.4), the only way members are created: the staged rows of an
// import at commit, and POST /v1/users, one request or many together (service/members/collect.hpp).
#pragma once

#include "rules/members/filled_values.hpp"
#include "rules/members/member.hpp"
#include "service/context.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
class AttributeRegistry;
struct AttributesResult;
struct MemberFields;
}  // namespace muster::rules

namespace muster::service {

struct MemberInput {
    UserId user_id;      // used if the address is new
    MemberId member_id;  // used if the user is not a member yet
    std::string_view email;
    std::array<std::string_view, rules::kTextFieldCount> texts;  // "": absent
    std::string attributes;  // a document (rules::attribute_document)
};

struct Attachment {
    rules::MemberOutcome outcome = rules::MemberOutcome::Created;
    UserId user_id;
    bool is_written = true;  // false: the input added no values
    // Of a merged member; create_or_attach() only.
    rules::FilledValues filled = {};
    bool is_large = false;  // it was written, and has large attributes (store::Membership)
};

// What most inputs of the batch are: new users, known users, or members that gain nothing. Decides
// which statements run first, never the result.
enum class Expect : std::uint8_t { NewUsers, KnownUsers, UnchangedMembers };

// Creates or attaches the members. Never overwrites a value. Requires distinct addresses. Returns
// one outcome for each input, in order.
std::vector<Attachment> create_or_attach(db::Tx& tx, OrgId organization,
                                         std::span<const MemberInput> inputs, Expect expect,
                                         Timestamp now);

struct CreatedMember {
    rules::Member member;
    rules::MemberOutcome outcome = rules::MemberOutcome::Created;
    bool is_written = true;  // false: the request added no values
};

// POST /v1/users. Throws VALIDATION_ERROR if an attribute is invalid in the current registry.
// Counts MemberBytes; the caller rejects an organization that has used them up.
CreatedMember create_member(OrgTransaction& transaction, const rules::MemberFields& fields);

// The same for many requests, also of different organizations, with few statements. Requires
// distinct addresses, and attributes that check_attributes() accepted. Returns the members in the
// order of the requests.
struct MemberCreation {
    const Actor* actor;
    const rules::MemberFields* fields;
};
std::vector<CreatedMember> create_members(db::Tx& tx, std::span<const MemberCreation> creations,
                                          Timestamp now);
// Throws VALIDATION_ERROR if an attribute is invalid. The registry must be locked against changes
// (attribute_registry_for_writing).
void check_attributes(const rules::AttributeRegistry& registry, const rules::MemberFields& fields);

// Throws VALIDATION_ERROR with a fault for each result; does nothing if there are none.
void reject_attributes(const rules::AttributeRegistry& registry,
                       const std::vector<rules::AttributesResult>& results);

}  // namespace muster::service
