// Create-or-attach (specification 3.4), the only way members are created: a batch of staged rows at
// commit, or a batch of one for POST /v1/users.
#pragma once

#include "rules/members/member.hpp"
#include "service/context.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
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
};

// Whether most users of the batch are new. Decides which statement runs first, never the result.
enum class Expect : std::uint8_t { NewUsers, KnownUsers };

// Creates or attaches the members. Never overwrites a value. Requires distinct addresses. Returns
// one outcome for each input, in order.
std::vector<Attachment> create_or_attach(db::Tx& tx, OrgId organization,
                                         std::span<const MemberInput> inputs, Expect expect,
                                         Timestamp now);

// POST /v1/users. Throws VALIDATION_ERROR if an attribute is invalid in the current registry.
struct CreatedMember {
    rules::Member member;
    rules::MemberOutcome outcome;
};
CreatedMember create_member(OrgTransaction& transaction, const rules::MemberFields& fields);

// Throws VALIDATION_ERROR with a fault for each result; does nothing if there are none.
void reject_attributes(const std::vector<rules::AttributesResult>& results);

}  // namespace muster::service
