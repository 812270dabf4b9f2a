#include "service/members/create.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "db/transaction.hpp"
#include "rules/attributes.hpp"
#include "rules/event_types.hpp"
#include "rules/members/core_fields.hpp"
#include "rules/members/fields.hpp"
#include "rules/members/member.hpp"
#include "rules/members/member_record.hpp"
#include "rules/members/status.hpp"
#include "service/attributes.hpp"
#include "service/audit.hpp"
#include "service/members/by_user.hpp"
#include "service/outbox.hpp"
#include "service/quotas.hpp"
#include "store/members/members.hpp"

#include <algorithm>
#include <deque>
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

using Emails = std::vector<std::string_view>;

template <class Rows>
Emails emails_of(const Rows& rows) {
    Emails emails;
    emails.reserve(rows.size());
    for (const auto& row : rows) emails.push_back(row.email);
    return emails;
}

// The existing users of the batch, by address. All others are inserted with their new id.
// `expected`: the addresses that probably exist. They are looked up first.
store::UsersByEmail find_or_insert_users(db::Tx& tx, std::span<const MemberInput> inputs,
                                         const Emails& expected, Timestamp now) {
    auto known = store::find_users(tx, expected, store::UserLock::ForUpdate);
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

// The document of an input without attributes, which need not be compared.
constexpr std::string_view kNoAttributes = "{}";

// Returns false if the input adds nothing to the member, as for most rows of a file that is sent
// again. The statement for the other rows fills only empty fields, whatever changed since the
// query. Returns true if the input has attributes and those of the member were not read.
bool may_add(const MemberInput& input, const store::Membership& membership) {
    for (std::size_t i = 0; i < input.texts.size(); ++i) {
        if (!input.texts[i].empty() && !membership.has_text[i]) return true;
    }
    if (input.attributes == kNoAttributes) return false;
    return !membership.attributes || rules::fills_gap(input.attributes, *membership.attributes);
}

// For each attribute of the input: whether the member lacks it. Reads the member's attributes if
// they are large and the input has some, so only one large document is in memory.
std::vector<bool> lacking_attributes(db::OrgStore& org, const MemberInput& input, UserId user,
                                     const store::Membership& membership) {
    if (input.attributes == kNoAttributes) return {};
    if (membership.attributes) {
        return rules::lacking_keys(input.attributes, *membership.attributes);
    }
    return rules::lacking_keys(input.attributes, store::lock_member(org, user).value().attributes);
}

// The values that the input fills. Exact if the membership was read under a lock.
rules::FilledValues filled_by(db::OrgStore& org, const MemberInput& input, UserId user,
                              const store::Membership& membership) {
    rules::FilledValues filled;
    for (std::size_t i = 0; i < input.texts.size(); ++i) {
        const bool is_filled = !input.texts[i].empty() && !membership.has_text[i];
        filled.texts |= static_cast<std::uint8_t>((is_filled ? 1U : 0U) << i);
    }
    filled.attributes = lacking_attributes(org, input, user, membership);
    return filled;
}

// The member as just inserted, without a query.
rules::Member member_as_inserted(OrgId organization, const MemberInput& input, UserId user,
                                 Timestamp now) {
    rules::Member member;
    member.user_id = user;
    member.member_id = input.member_id;
    member.organization_id = organization;
    member.email = input.email;
    for (std::size_t i = 0; i < input.texts.size(); ++i) {
        if (!input.texts[i].empty()) member.*rules::kTextFields[i].stored = input.texts[i];
    }
    member.attributes = input.attributes;
    member.status = text_of(rules::MemberStatus::Active);
    member.created_at = member.updated_at = now;
    return member;
}

store::Membership membership_of(const rules::Member& member) {
    store::Membership membership{{}, member.attributes};
    for (std::size_t i = 0; i < membership.has_text.size(); ++i) {
        membership.has_text[i] = (member.*rules::kTextFields[i].stored).has_value();
    }
    return membership;
}

std::string_view event_of(MemberOutcome outcome) {
    if (outcome == MemberOutcome::Created) return rules::event_type::kMemberCreated;
    if (outcome == MemberOutcome::Attached) return rules::event_type::kMemberAttached;
    return rules::event_type::kMemberUpdated;
}

// Locks the users of the inputs and writes their members.
std::vector<Attachment> write_members(db::Tx& tx, OrgId organization,
                                      std::span<const MemberInput> inputs, const Emails& expected,
                                      Timestamp now) {
    db::OrgStore org(tx, organization);
    const auto known = find_or_insert_users(tx, inputs, expected, now);
    const auto memberships = memberships_of(org, known);
    std::vector<Attachment> attachments;
    std::vector<store::NewMember> members;
    std::deque<std::string> lacking;  // documents of `members`
    attachments.reserve(inputs.size());
    members.reserve(inputs.size());
    bool all_new = true;
    for (const MemberInput& input : inputs) {
        Attachment& attachment = attachments.emplace_back(attachment_of(input, known, memberships));
        if (attachment.outcome == MemberOutcome::Merged) {
            const UserId user = attachment.user_id;
            attachment.filled = filled_by(org, input, user, memberships.at(user));
            attachment.is_written = attachment.filled.any();
            attachment.is_large = attachment.is_written && !memberships.at(user).attributes;
        }
        if (!attachment.is_written) continue;
        members.push_back(
            {attachment.user_id, input.member_id, input.email, input.texts, input.attributes});
        if (attachment.outcome != MemberOutcome::Merged) continue;
        all_new = false;
        lacking.push_back(rules::lacking_part(input.attributes, attachment.filled.attributes));
        members.back().attributes = lacking.back();
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

// The inputs that write something, with their places in the batch.
struct Writes {
    std::vector<MemberInput> inputs;
    std::vector<std::size_t> places;
    Emails expected;
};

// Settles the inputs that add nothing to existing members, by one read without locks, and returns
// the others.
Writes settle_unchanged(db::Tx& tx, OrgId organization, std::span<const MemberInput> inputs,
                        std::vector<Attachment>& attachments) {
    db::OrgStore org(tx, organization);
    const auto known = store::find_known_users(org, emails_of(inputs));
    Writes writes;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto user = known.find(std::string(inputs[i].email));
        const bool is_known = user != known.end();
        if (is_known && user->second.membership && !may_add(inputs[i], *user->second.membership)) {
            attachments[i] = {MemberOutcome::Merged, user->second.id, false};
            continue;
        }
        if (is_known) writes.expected.push_back(inputs[i].email);
        writes.inputs.push_back(inputs[i]);
        writes.places.push_back(i);
    }
    return writes;
}

}  // namespace

std::vector<Attachment> create_or_attach(db::Tx& tx, OrgId organization,
                                         std::span<const MemberInput> inputs, Expect expect,
                                         Timestamp now) {
    if (expect != Expect::UnchangedMembers) {
        const auto expected = expect == Expect::KnownUsers ? emails_of(inputs) : Emails();
        return write_members(tx, organization, inputs, expected, now);
    }
    std::vector<Attachment> attachments(inputs.size());
    const auto writes = settle_unchanged(tx, organization, inputs, attachments);
    if (writes.inputs.empty()) return attachments;
    const auto written = write_members(tx, organization, writes.inputs, writes.expected, now);
    for (std::size_t i = 0; i < written.size(); ++i) attachments[writes.places[i]] = written[i];
    return attachments;
}

namespace {

MemberInput input_of(const rules::MemberFields& fields, Timestamp now) {
    MemberInput input{UserId::create(),
                      MemberId::create(),
                      fields.email,
                      {},
                      rules::attribute_document(fields.attributes, rules::Provenance::Api, now)};
    for (std::size_t i = 0; i < input.texts.size(); ++i) {
        input.texts[i] = fields.*rules::kTextFields[i].sent;
    }
    return input;
}

// What the input adds to the database at most: a member, or values of a member.
std::int64_t stored_bytes(const MemberInput& input, rules::MemberOutcome outcome) {
    std::size_t texts = input.attributes.size();
    for (const std::string_view text : input.texts) texts += text.size();
    if (outcome == rules::MemberOutcome::Merged) return static_cast<std::int64_t>(texts);
    const std::size_t addresses = 2 * input.email.size();  // of the member and of the user
    return rules::kMemberRowBytes + static_cast<std::int64_t>(texts + addresses);
}

// Creates members of any organizations. Each statement is for all of them, or for those of one
// organization.
class MemberCreator {
  public:
    MemberCreator(db::Tx& tx, std::span<const MemberCreation> creations, Timestamp now)
        : tx_(tx), creations_(creations), now_(now), created_(creations.size()) {
        for (std::size_t i = 0; i < creations.size(); ++i) {
            inputs_.push_back(input_of(*creations[i].fields, now));
            by_organization_[creations[i].actor->organization].push_back(i);
        }
    }

    std::vector<CreatedMember> run() {
        find_or_insert();
        for (const auto& [organization, indexes] : by_organization_) attach(organization, indexes);
        write_audit_entries();
        for (const auto& [organization, indexes] : by_organization_) emit_events(indexes);
        return std::move(created_);
    }

  private:
    // Predicts from the last call whether most users exist.
    void find_or_insert() {
        thread_local Expect expect = Expect::NewUsers;
        const auto expected = expect == Expect::KnownUsers ? emails_of(inputs_) : Emails();
        known_ = find_or_insert_users(tx_, inputs_, expected, now_);
        expect = known_.size() * 2 > inputs_.size() ? Expect::KnownUsers : Expect::NewUsers;
    }

    void attach(OrgId organization, const std::vector<std::size_t>& indexes) {
        db::OrgStore org(tx_, organization);
        auto found = find_known(org, indexes);
        std::vector<store::NewMember> rows;
        std::vector<UserId> filled;
        std::deque<std::string> lacking;  // documents of `rows`
        for (const std::size_t i : indexes) {
            const MemberInput& input = inputs_[i];
            rules::FilledValues fills;  // of an existing member
            const auto user = known_.find(std::string(input.email));
            const bool is_known = user != known_.end();
            const UserId id = is_known ? user->second : input.user_id;
            const auto member = found.find(id);
            if (member == found.end()) {
                created_[i] = {member_as_inserted(organization, input, id, now_),
                               is_known ? MemberOutcome::Attached : MemberOutcome::Created};
            } else {
                fills = filled_by(org, input, id, membership_of(member->second));
                created_[i] = {std::move(member->second), MemberOutcome::Merged, fills.any()};
                if (!fills.any()) continue;
                filled.push_back(id);
            }
            rows.push_back({id, input.member_id, input.email, input.texts, input.attributes});
            if (created_[i].outcome != MemberOutcome::Merged) continue;
            lacking.push_back(rules::lacking_part(input.attributes, fills.attributes));
            rows.back().attributes = lacking.back();
        }
        // The users' rows are locked, so no other transaction creates these members.
        filled.empty() ? store::insert_members(org, rows, now_)
                       : store::fill_members(org, rows, now_);
        read_filled(org, indexes, filled);
    }

    std::unordered_map<UserId, rules::Member> find_known(db::OrgStore& org,
                                                         const std::vector<std::size_t>& indexes) {
        std::vector<UserId> users;
        for (const std::size_t i : indexes) {
            const auto user = known_.find(std::string(inputs_[i].email));
            if (user != known_.end()) users.push_back(user->second);
        }
        return members_of(org, users);
    }

    static std::unordered_map<UserId, rules::Member> members_of(db::OrgStore& org,
                                                                std::span<const UserId> users) {
        if (users.empty()) return {};
        return by_user(store::find_members(org, users));
    }

    void read_filled(db::OrgStore& org, const std::vector<std::size_t>& indexes,
                     const std::vector<UserId>& filled) {
        auto members = members_of(org, filled);
        for (const std::size_t i : indexes) {
            const auto member = members.find(created_[i].member.user_id);
            if (member == members.end()) continue;
            // The member was removed after it was read, so the statement inserted a new one.
            if (member->second.member_id != created_[i].member.member_id) {
                throw db::RetryTransaction{"a member was removed concurrently"};
            }
            created_[i].member = std::move(member->second);
        }
    }

    void write_audit_entries() {
        std::vector<AuditedAction> actions;
        for (std::size_t i = 0; i < created_.size(); ++i) {
            actions.push_back({creations_[i].actor,
                               "user." + std::string(text_of(created_[i].outcome)),
                               created_[i].member.user_id.text()});
        }
        audit(tx_, actions, now_);
    }

    // Emits the events, and counts MemberBytes.
    void emit_events(const std::vector<std::size_t>& indexes) {
        std::vector<Event> events;
        std::int64_t bytes = 0;
        for (const std::size_t i : indexes) {
            const CreatedMember& created = created_[i];
            bytes += rules::kAuditEntryBytes;
            if (!created.is_written) continue;
            bytes += stored_bytes(inputs_[i], created.outcome);
            events.push_back({event_of(created.outcome), created.member.user_id,
                              [&created] { return to_json(rules::kUser, created.member); }});
        }
        OrgTransaction transaction{tx_, *creations_[indexes.front()].actor, now_};
        bytes += emit(transaction, events);
        count_bytes(transaction, rules::Quota::MemberBytes, bytes);
    }

    db::Tx& tx_;
    std::span<const MemberCreation> creations_;
    Timestamp now_;
    std::vector<MemberInput> inputs_;
    std::map<OrgId, std::vector<std::size_t>> by_organization_;
    store::UsersByEmail known_;
    std::vector<CreatedMember> created_;
};

}  // namespace

std::vector<CreatedMember> create_members(db::Tx& tx, std::span<const MemberCreation> creations,
                                          Timestamp now) {
    if (creations.empty()) return {};
    return MemberCreator(tx, creations, now).run();
}

CreatedMember create_member(OrgTransaction& transaction, const rules::MemberFields& fields) {
    if (!fields.attributes.empty()) {
        check_attributes(attribute_registry_for_writing(transaction.tx, transaction.org()), fields);
    }
    const MemberCreation creation{&transaction.actor, &fields};
    return std::move(create_members(transaction.tx, {&creation, 1}, transaction.now).front());
}

void check_attributes(const rules::AttributeRegistry& registry, const rules::MemberFields& fields) {
    if (fields.attributes.empty()) return;
    reject_attributes(registry, rules::validate_all_attributes(registry, fields.attributes));
}

void reject_attributes(const rules::AttributeRegistry& registry,
                       const std::vector<rules::AttributesResult>& results) {
    Faults faults;
    for (const auto& fault : results) {
        const bool is_unknown = fault.result == rules::AttributeResult::UnknownKey;
        const auto* attribute = registry.find(fault.key);
        faults.add("attributes." + fault.key,
                   is_unknown ? FieldCode::UnknownAttribute : FieldCode::InvalidValue,
                   attribute ? rules::value_limits(*attribute)
                             : FieldLimits{.allowed = registry.enabled_keys()});
    }
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
}

}  // namespace muster::service
