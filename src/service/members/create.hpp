// Create-or-attach (specification 3.4), the one path by which members come: a batch of staged rows
// at commit, a batch of one for POST /v1/users.
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
    std::array<std::string_view, rules::kTextFieldCount> texts;  // "" = absent
    std::string attributes;  // a document (rules::attribute_document)
};

struct Attachment {
    rules::MemberOutcome outcome = rules::MemberOutcome::Created;
    UserId user_id;
    bool is_written = true;  // false: the input had nothing to add
};

// What the batch most likely meets: decides which statement goes first, never what comes out.
enum class Expect : std::uint8_t { NewUsers, KnownUsers };

// Addresses are distinct within the batch. One outcome an input, in order. Never overwrites a
// value.
std::vector<Attachment> create_or_attach(db::Tx& tx, OrgId organization,
                                         std::span<const MemberInput> inputs, Expect expect,
                                         Timestamp now);

// POST /v1/users. Attributes are judged against the live registry: VALIDATION_ERROR.
struct CreatedMember {
    rules::Member member;
    rules::MemberOutcome outcome;
};
CreatedMember create_member(OrgTransaction& transaction, const rules::MemberFields& fields);

// Throws VALIDATION_ERROR that names each of these attributes; nothing for none.
void refuse_attributes(const std::vector<rules::AttributesResult>& verdicts);

}  // namespace muster::service
