#include "service/members/change.hpp"

#include "base/error.hpp"
#include "db/transaction.hpp"
#include "rules/attributes.hpp"
#include "rules/event_types.hpp"
#include "rules/members/core_fields.hpp"
#include "rules/members/member.hpp"
#include "rules/members/member_record.hpp"
#include "rules/members/status.hpp"
#include "service/attributes.hpp"
#include "service/audit.hpp"
#include "service/members/create.hpp"
#include "service/members/list.hpp"
#include "service/outbox.hpp"
#include "service/quotas.hpp"
#include "service/versions.hpp"
#include "store/ads/serving.hpp"
#include "store/members/members.hpp"

#include <algorithm>
#include <unordered_set>

namespace muster::service {
namespace {

using rules::Member;

constexpr std::string_view kActive = text_of(rules::MemberStatus::Active);
constexpr std::string_view kLocked = text_of(rules::MemberStatus::Locked);

Member find_for_change(OrgTransaction& transaction, UserId user, const MemberCheck& check) {
    db::OrgStore org(transaction.tx, transaction.org());
    auto member = store::lock_member(org, user);
    if (!member) throw Error(ErrorCode::NotFound);
    if (check) check(*member);
    return std::move(*member);
}

// The time of the change: after the previous change, which it may have waited for.
Timestamp change_time(const OrgTransaction& transaction, const Member& member) {
    return next_version(member.updated_at, transaction.now);
}

// The audit action and the webhook event of a change.
struct MemberChange {
    std::string_view action;
    std::string_view event;
};
constexpr MemberChange kUpdated{"user.updated", rules::event_type::kMemberUpdated};
constexpr MemberChange kWasLocked{"user.locked", rules::event_type::kMemberLocked};
constexpr MemberChange kWasUnlocked{"user.unlocked", rules::event_type::kMemberUnlocked};
constexpr MemberChange kWasRemoved{"user.removed", rules::event_type::kMemberRemoved};

// Changes the values of the member. Returns false if it has the status already.
bool set_locked(Member& member, const std::optional<std::string>& reason, Timestamp when) {
    if (member.status == kLocked) return false;
    member.status = kLocked;
    member.locked_at = when;
    member.lock_reason = reason;
    return true;
}
bool set_active(Member& member) {
    if (member.status == kActive) return false;
    member.status = kActive;
    member.locked_at.reset();
    member.lock_reason.reset();
    return true;
}

std::string event_data(const MemberChange& change, const Member& member) {
    return change.event == kWasRemoved.event ? to_json(rules::kRemovedUser, member)
                                             : to_json(rules::kUser, member);
}

std::int64_t bytes_of_values(const Member& member) {
    std::size_t bytes = member.attributes.size();
    for (const auto& field : rules::kTextFields) {
        const auto& text = member.*field.stored;
        if (text) bytes += text->size();
    }
    return static_cast<std::int64_t>(bytes);
}

std::int64_t bytes_of_reason(const Member& member) {
    return member.lock_reason ? static_cast<std::int64_t>(member.lock_reason->size()) : 0;
}

// The audit entries and the events of the same change of several members. Counts MemberBytes in the
// transaction, because a runner keeps no sums. Removals do not count.
void report(OrgTransaction& transaction, const std::vector<Member>& members,
            const MemberChange& change) {
    std::vector<AuditedAction> actions;
    std::vector<Event> events;
    for (const Member& member : members) {
        actions.push_back({&transaction.actor, std::string(change.action), member.user_id.text()});
        events.push_back({change.event, member.user_id,
                          [&change, &member] { return event_data(change, member); }});
    }
    audit(transaction.tx, actions, transaction.now);
    auto bytes = emit(transaction, events);
    for (const Member& member : members) bytes += rules::kAuditEntryBytes + bytes_of_reason(member);
    if (change.action == kWasRemoved.action) return;
    db::OrgStore org(transaction.tx, transaction.org());
    add_use(org, rules::Quota::MemberBytes, bytes, transaction.now);
}

std::int64_t write_all(OrgTransaction& transaction, std::vector<Member>& members,
                       const MemberChange& change) {
    if (members.empty()) return 0;
    db::OrgStore org(transaction.tx, transaction.org());
    for (Member& member : members) {
        member.updated_at = change_time(transaction, member);
        store::update_member(org, member);
    }
    report(transaction, members, change);
    return static_cast<std::int64_t>(members.size());
}

// `growth`: how many bytes the values of the member gained.
void write(OrgTransaction& transaction, Member& member, const MemberChange& change,
           std::int64_t growth = 0) {
    member.updated_at = change_time(transaction, member);
    db::OrgStore org(transaction.tx, transaction.org());
    store::update_member(org, member);
    audit(transaction, change.action, member.user_id.text());
    const auto event = emit(
        transaction, {change.event, member.user_id, [&] { return to_json(rules::kUser, member); }});
    count_bytes(transaction, rules::Quota::MemberBytes,
                rules::kAuditEntryBytes + event + std::max<std::int64_t>(growth, 0));
}

// Returns whether a value changed.
bool apply(const rules::MemberPatch& patch, Member& member, Timestamp when) {
    bool is_changed = false;
    for (std::size_t i = 0; i < rules::kTextFields.size(); ++i) {
        if (!patch.texts[i]) continue;
        auto& text = member.*rules::kTextFields[i].stored;
        if (text.value_or("") == *patch.texts[i]) continue;
        text = patch.texts[i]->empty() ? std::nullopt : patch.texts[i];
        is_changed = true;
    }
    if (patch.attributes.empty()) return is_changed;
    auto document =
        rules::changed_document(member.attributes, patch.attributes, rules::Provenance::Api, when);
    if (!document) return is_changed;
    member.attributes = std::move(*document);
    return true;
}

std::int64_t remove_all(OrgTransaction& transaction, const std::vector<Member>& members) {
    if (members.empty()) return 0;
    std::vector<UserId> users;
    std::vector<MemberId> ids;
    for (const Member& member : members) {
        users.push_back(member.user_id);
        ids.push_back(member.member_id);
    }
    db::OrgStore org(transaction.tx, transaction.org());
    store::delete_members(org, users);
    store::delete_ad_days_of(org, ids);
    report(transaction, members, kWasRemoved);
    return static_cast<std::int64_t>(members.size());
}

// The members must be locked. Returns the number of members that were changed.
std::int64_t apply_to_all(OrgTransaction& transaction, std::vector<Member> members,
                          rules::MemberAction action, const std::optional<std::string>& reason) {
    switch (action) {
        case rules::MemberAction::Lock:
            std::erase_if(members, [&](Member& member) {
                return !set_locked(member, reason, change_time(transaction, member));
            });
            return write_all(transaction, members, kWasLocked);
        case rules::MemberAction::Unlock:
            std::erase_if(members, [](Member& member) { return !set_active(member); });
            return write_all(transaction, members, kWasUnlocked);
        case rules::MemberAction::Remove:
            return remove_all(transaction, members);
    }
    return 0;
}

}  // namespace

Member change_member(OrgTransaction& transaction, UserId user, const rules::MemberPatch& patch,
                     const MemberCheck& check) {
    // Locks the registry before the member, the lock order of every transaction that writes values.
    const auto registry = patch.attributes.empty()
                              ? rules::AttributeRegistry()
                              : attribute_registry_for_writing(transaction.tx, transaction.org());
    Member member = find_for_change(transaction, user, check);
    reject_attributes(registry, rules::validate_changes(registry, patch.attributes));
    const auto before = bytes_of_values(member);
    if (apply(patch, member, change_time(transaction, member))) {
        write(transaction, member, kUpdated, bytes_of_values(member) - before);
    }
    return member;
}

Member lock_member(OrgTransaction& transaction, UserId user,
                   const std::optional<std::string>& reason, const MemberCheck& check) {
    Member member = find_for_change(transaction, user, check);
    if (set_locked(member, reason, change_time(transaction, member))) {
        write(transaction, member, kWasLocked, bytes_of_reason(member));
    }
    return member;
}

Member unlock_member(OrgTransaction& transaction, UserId user, const MemberCheck& check) {
    Member member = find_for_change(transaction, user, check);
    if (set_active(member)) write(transaction, member, kWasUnlocked);
    return member;
}

void remove_member(OrgTransaction& transaction, UserId user, const MemberCheck& check) {
    const Member member = find_for_change(transaction, user, check);
    db::OrgStore org(transaction.tx, transaction.org());
    store::delete_member(org, user);
    store::delete_ad_days_of(org, member.member_id);
    audit(transaction, kWasRemoved.action, user.text());
    emit(transaction,
         {kWasRemoved.event, user, [&] { return to_json(rules::kRemovedUser, member); }});
}

MemberChanges change_matching_members(OrgTransaction& transaction, std::span<const UserId> users,
                                      const MemberFilter& filter, rules::MemberAction action,
                                      const std::optional<std::string>& reason) {
    db::OrgStore org(transaction.tx, transaction.org());
    auto members = store::lock_members(org, users);
    const auto found = matching_members(org, users, filter);
    const std::unordered_set<UserId> matching(found.begin(), found.end());
    std::erase_if(members,
                  [&](const Member& member) { return !matching.contains(member.user_id); });
    const auto all = static_cast<std::int64_t>(members.size());
    const auto changed = apply_to_all(transaction, std::move(members), action, reason);
    return {changed, all - changed};
}

}  // namespace muster::service
