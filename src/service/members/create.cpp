#include "service/members/create.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "db/transaction.hpp"
#include "rules/event_types.hpp"
#include "rules/members/core_fields.hpp"
#include "rules/members/fields.hpp"
#include "rules/members/member.hpp"
#include "rules/members/member_record.hpp"
#include "service/attributes.hpp"
#include "service/audit.hpp"
#include "service/outbox.hpp"
#include "store/members/members.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace muster::service {
namespace {

using rules::MemberOutcome;

std::vector<store::NewUser> users_to_insert(std::span<const MemberInput> inputs,
                                            const store::UsersByEmail& known) {
    std::vector<store::NewUser> users;
    users.reserve(inputs.size());
    for (const MemberInput& input : inputs) {
        if (known.empty() || !known.contains(std::string(input.email))) {
            users.push_back({input.user_id, input.email});
        }
    }
    // Sorted, so that two organizations that import the same people lock them in the same order and
    // do not deadlock.
    std::sort(users.begin(), users.end(),
              [](const store::NewUser& left, const store::NewUser& right) {
                  return left.email < right.email;
              });
    return users;
}

std::vector<std::string_view> emails_of(std::span<const store::NewUser> users) {
    std::vector<std::string_view> emails;
    emails.reserve(users.size());
    for (const store::NewUser& user : users) emails.push_back(user.email);
    return emails;
}

// The existing users of the batch, by address. All others are inserted with their new id.
store::UsersByEmail find_or_insert_users(db::Tx& tx, std::span<const MemberInput> inputs,
                                         Expect expect, Timestamp now) {
    store::UsersByEmail known;
    if (expect == Expect::KnownUsers) {
        std::vector<std::string_view> emails;
        for (const MemberInput& input : inputs) emails.push_back(input.email);
        known = store::find_users(tx, emails, store::UserLock::ForUpdate);
    }
    const auto users = users_to_insert(inputs, known);
    const auto inserted = store::insert_users(tx, users, now);
    if (inserted == static_cast<std::int64_t>(users.size())) return known;
    // Some addresses exist: those found with an id that is not from this batch.
    auto found = store::find_users(tx, emails_of(users), store::UserLock::None);
    for (const store::NewUser& user : users) {
        const auto row = found.find(std::string(user.email));
        if (row == found.end())
            throw std::runtime_error("a user that was just inserted does not exist");
        if (row->second != user.id) known.insert(*row);
    }
    return known;
}

using Memberships = std::unordered_map<UserId, store::Membership>;

Memberships memberships_of(db::OrgStore& org, const store::UsersByEmail& known) {
    std::vector<UserId> ids;
    ids.reserve(known.size());
    for (const auto& [email, id] : known) ids.push_back(id);
    return store::find_memberships(org, ids);
}

Attachment attachment_of(const MemberInput& input, const store::UsersByEmail& known,
                         const Memberships& memberships) {
    const auto user = known.empty() ? known.end() : known.find(std::string(input.email));
    if (user == known.end()) return {MemberOutcome::Created, input.user_id};
    const bool is_member = memberships.contains(user->second);
    return {is_member ? MemberOutcome::Merged : MemberOutcome::Attached, user->second};
}

// Returns false if the input adds nothing to the member, as for most rows of a file that is sent
// again. The statement for the other rows fills only empty fields, whatever changed since the
// query.
bool adds_something(const MemberInput& input, const store::Membership& membership) {
    for (std::size_t i = 0; i < input.texts.size(); ++i) {
        if (!input.texts[i].empty() && !membership.has_text[i]) return true;
    }
    return rules::fills_gap(input.attributes, membership.attributes);
}

void validate_attributes_of(OrgTransaction& transaction, const rules::MemberFields& fields) {
    if (fields.attributes.empty()) return;
    const auto registry = attribute_registry_for_writing(transaction.tx, transaction.org());
    reject_attributes(rules::validate_all_attributes(registry, fields.attributes));
}

// The member as just inserted, without a query.
rules::Member member_as_inserted(const OrgTransaction& transaction, const MemberInput& input,
                                 UserId user) {
    rules::Member member;
    member.user_id = user;
    member.member_id = input.member_id;
    member.organization_id = transaction.org();
    member.email = input.email;
    for (std::size_t i = 0; i < input.texts.size(); ++i) {
        if (!input.texts[i].empty()) member.*rules::kTextFields[i].stored = input.texts[i];
    }
    member.attributes = input.attributes;
    member.status = "active";
    member.created_at = member.updated_at = transaction.now;
    return member;
}

rules::Member member_of(OrgTransaction& transaction, const MemberInput& input,
                        const Attachment& attachment) {
    // The user's row is locked, so no other transaction can have created the member.
    if (attachment.outcome != MemberOutcome::Merged) {
        return member_as_inserted(transaction, input, attachment.user_id);
    }
    db::OrgStore org(transaction.tx, transaction.org());
    auto member = store::find_member(org, attachment.user_id);
    if (!member) throw db::RetryTransaction{"a member was removed concurrently"};
    return std::move(*member);
}

std::string_view event_of(MemberOutcome outcome) {
    if (outcome == MemberOutcome::Created) return rules::event_type::kMemberCreated;
    if (outcome == MemberOutcome::Attached) return rules::event_type::kMemberAttached;
    return rules::event_type::kMemberUpdated;
}

}  // namespace

std::vector<Attachment> create_or_attach(db::Tx& tx, OrgId organization,
                                         std::span<const MemberInput> inputs, Expect expect,
                                         Timestamp now) {
    db::OrgStore org(tx, organization);
    const auto known = find_or_insert_users(tx, inputs, expect, now);
    const auto memberships = memberships_of(org, known);
    std::vector<Attachment> attachments;
    std::vector<store::NewMember> members;
    attachments.reserve(inputs.size());
    members.reserve(inputs.size());
    bool all_new = true;
    for (const MemberInput& input : inputs) {
        Attachment& attachment = attachments.emplace_back(attachment_of(input, known, memberships));
        attachment.is_written = attachment.outcome != MemberOutcome::Merged ||
                                adds_something(input, memberships.at(attachment.user_id));
        if (!attachment.is_written) continue;
        all_new = all_new && attachment.outcome != MemberOutcome::Merged;
        members.push_back(
            {attachment.user_id, input.member_id, input.email, input.texts, input.attributes});
    }
    // The users' rows are locked, so no other transaction creates these members. If all members are
    // new, the cheaper statement suffices.
    if (all_new) {
        store::insert_members(org, members, now);
    } else {
        store::fill_members(org, members, now);
    }
    return attachments;
}

CreatedMember create_member(OrgTransaction& transaction, const rules::MemberFields& fields) {
    validate_attributes_of(transaction, fields);
    MemberInput input{
        UserId::create(),
        MemberId::create(),
        fields.email,
        {},
        rules::attribute_document(fields.attributes, rules::Provenance::Api, transaction.now)};
    for (std::size_t i = 0; i < input.texts.size(); ++i) {
        input.texts[i] = fields.*rules::kTextFields[i].sent;
    }
    const auto attached = create_or_attach(transaction.tx, transaction.org(), {&input, 1},
                                           Expect::NewUsers, transaction.now);
    const Attachment& attachment = attached.front();
    audit(transaction, "user." + std::string(text_of(attachment.outcome)),
          attachment.user_id.text());
    CreatedMember created{member_of(transaction, input, attachment), attachment.outcome};
    if (attachment.is_written) {
        emit(transaction, {event_of(attachment.outcome), attachment.user_id,
                           [&] { return to_json(rules::kUser, created.member); }});
    }
    return created;
}

void reject_attributes(const std::vector<rules::AttributesResult>& results) {
    Faults faults;
    for (const auto& fault : results) {
        const bool unknown = fault.result == rules::AttributeResult::UnknownKey;
        faults.add("attributes." + fault.key,
                   unknown ? FieldCode::UnknownAttribute : FieldCode::InvalidValue);
    }
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
}

}  // namespace muster::service
