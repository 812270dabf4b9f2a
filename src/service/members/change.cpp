#include "service/members/change.hpp"

#include "base/error.hpp"
#include "db/transaction.hpp"
#include "rules/attributes.hpp"
#include "rules/event_types.hpp"
#include "rules/members/core_fields.hpp"
#include "rules/members/member.hpp"
#include "rules/members/member_record.hpp"
#include "service/attributes.hpp"
#include "service/audit.hpp"
#include "service/members/create.hpp"
#include "service/outbox.hpp"
#include "store/ads/serving.hpp"
#include "store/members/members.hpp"

#include <algorithm>

namespace muster::service {
namespace {

using rules::Member;

constexpr std::string_view kActive = "active";
constexpr std::string_view kLocked = "locked";

Member find_for_change(OrgTransaction& transaction, UserId user, const MemberCheck& check) {
    db::OrgStore org(transaction.tx, transaction.org());
    auto member = store::lock_member(org, user);
    if (!member) throw Error(ErrorCode::NotFound);
    if (check) check(*member);
    return std::move(*member);
}

// The time of the change: never before the previous change, which it may have waited for.
Timestamp change_time(const OrgTransaction& transaction, const Member& member) {
    return std::max(transaction.now, member.updated_at);
}

// The audit action and the webhook event of a change.
struct MemberChange {
    std::string_view action;
    std::string_view event;
};
constexpr MemberChange kUpdated{"user.updated", rules::event_type::kMemberUpdated};
constexpr MemberChange kWasLocked{"user.locked", rules::event_type::kMemberLocked};
constexpr MemberChange kWasUnlocked{"user.unlocked", rules::event_type::kMemberUnlocked};

void write(OrgTransaction& transaction, Member& member, const MemberChange& change) {
    member.updated_at = change_time(transaction, member);
    db::OrgStore org(transaction.tx, transaction.org());
    store::update_member(org, member);
    audit(transaction, change.action, member.user_id.text());
    emit(transaction,
         {change.event, member.user_id, [&] { return to_json(rules::kUser, member); }});
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

}  // namespace

Member change_member(OrgTransaction& transaction, UserId user, const rules::MemberPatch& patch,
                     const MemberCheck& check) {
    // Locks the registry before the member, the lock order of every transaction that writes values.
    const auto registry = patch.attributes.empty()
                              ? rules::AttributeRegistry()
                              : attribute_registry_for_writing(transaction.tx, transaction.org());
    Member member = find_for_change(transaction, user, check);
    reject_attributes(registry, rules::validate_changes(registry, patch.attributes));
    if (apply(patch, member, change_time(transaction, member)))
        write(transaction, member, kUpdated);
    return member;
}

Member lock_member(OrgTransaction& transaction, UserId user,
                   const std::optional<std::string>& reason, const MemberCheck& check) {
    Member member = find_for_change(transaction, user, check);
    if (member.status == kLocked) return member;
    member.status = kLocked;
    member.locked_at = change_time(transaction, member);
    member.lock_reason = reason;
    write(transaction, member, kWasLocked);
    return member;
}

Member unlock_member(OrgTransaction& transaction, UserId user, const MemberCheck& check) {
    Member member = find_for_change(transaction, user, check);
    if (member.status == kActive) return member;
    member.status = kActive;
    member.locked_at.reset();
    member.lock_reason.reset();
    write(transaction, member, kWasUnlocked);
    return member;
}

void remove_member(OrgTransaction& transaction, UserId user, const MemberCheck& check) {
    const Member member = find_for_change(transaction, user, check);
    db::OrgStore org(transaction.tx, transaction.org());
    store::delete_member(org, user);
    store::delete_ad_days_of(org, member.member_id);
    audit(transaction, "user.removed", user.text());
    emit(transaction, {rules::event_type::kMemberRemoved, user,
                       [&] { return to_json(rules::kRemovedUser, member); }});
}

}  // namespace muster::service
