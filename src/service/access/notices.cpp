#include "service/access/notices.hpp"

#include "base/crypto.hpp"
#include "base/error.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "db/transaction.hpp"
#include "rules/access/admins.hpp"
#include "rules/access/guess_budget.hpp"
#include "rules/access/roles.hpp"
#include "service/access/budgets.hpp"
#include "service/access/sessions.hpp"
#include "service/mail.hpp"
#include "store/access/admins.hpp"
#include "store/access/organizations.hpp"
#include "store/access/sign_in.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace muster::service {
namespace {

constexpr Milliseconds kNoticeLife = std::chrono::days(3);
constexpr rules::Budget kNoticesOfAnOrganization{20, std::chrono::days(1)};
constexpr rules::Budget kNoticesOfAnAdmin{3, std::chrono::days(1)};
constexpr rules::Budget kChangesOfAFactor{10, std::chrono::days(1)};
constexpr std::size_t kMostOrganizations = 20;
// Names are chosen by admins. A long one could be a message of its own.
constexpr std::size_t kLongestShownName = 60;

constexpr std::string_view kLastNotice =
    "\nThis is the last mail of this kind today. The audit log has every action.\n";

std::string_view text_of(NoticeKind kind) {
    return kind == NoticeKind::Webhook ? "webhook_notice" : "security_notice";
}

enum class Spent : std::uint8_t { No, Yes, Last };

// Counts one notice, unless the subject's notices of the day are used up.
Spent spend_notice(db::Tx& tx, NoticeKind kind, std::string_view id, rules::Budget budget,
                   Timestamp now) {
    const auto spending = try_spend(tx, text_of(kind), sha256(id), budget, now);
    if (spending.wait_seconds) return Spent::No;
    return spending.is_last ? Spent::Last : Spent::Yes;
}

std::string subject_of_factor(AdminId admin) {
    return sha256("factor " + std::string(admin.bytes()));
}

void reject_factor_change(std::optional<int> wait_seconds) {
    if (!wait_seconds) return;
    throw Error(ErrorCode::RateLimited)
        .retry_after(*wait_seconds)
        .detail("reason", "an admin changes the own second factor at most ten times a day");
}

using Addresses = std::set<std::string>;

// The owners, or the admins if there is no owner; the actor and `about`; but not `except`.
Addresses recipients(const std::vector<rules::SeatHolder>& holders,
                     const std::optional<AdminId>& actor, const std::optional<AdminId>& about,
                     const std::optional<AdminId>& except) {
    const auto is_owner = [](const auto& holder) { return holder.role == rules::Role::Owner; };
    const rules::Role role = std::any_of(holders.begin(), holders.end(), is_owner)
                                 ? rules::Role::Owner
                                 : rules::Role::Admin;
    Addresses addresses;
    for (const rules::SeatHolder& holder : holders) {
        const bool is_concerned = holder.admin_id == actor || holder.admin_id == about;
        const bool is_addressed = holder.role == role || is_concerned;
        if (is_addressed && holder.admin_id != except) addresses.insert(holder.email);
    }
    return addresses;
}

void queue_notices(db::Tx& tx, const KeyRing& keys, const Addresses& addresses,
                   const Notice& notice, Timestamp now) {
    for (const std::string& address : addresses) {
        queue_mail(tx, keys, {address, notice.subject, notice.text}, now, now + kNoticeLife);
    }
}

// "Acme" (id …), by ada@example.org at …
std::string place_of(OrgTransaction& transaction) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto organization = store::find_organization(org);
    std::string actor = "the operator";
    for (const rules::SeatHolder& holder : store::list_seat_holders(org)) {
        if (holder.admin_id == transaction.actor.admin) actor = holder.email;
    }
    return "    organization: " + shown_name(organization ? organization->name : "") +
           "\n        " + transaction.org().text() + "\n    by: " + actor +
           "\n    at: " + transaction.now.text() + "\n";
}

Notice notice_of_pause(const rules::Admin& admin) {
    return {.subject = "Wrong codes for an admin's second factor",
            .text = "Five wrong codes were sent for the second factor of\n\n    " + admin.email +
                    "\n\nThe sender had signed in with a code that was mailed to this address. "
                    "Muster rejects\nall codes for 15 minutes, and for longer after more wrong "
                    "ones.\n\nIf you are this admin and mistyped the codes, wait and sign in "
                    "again. Otherwise\nsomebody else reads this mailbox: secure it, and ask the "
                    "operator of Muster to end\nthe sessions of the admin (musterctl admin "
                    "reset-2fa).\n"};
}

Notice notice_of_factor(const rules::Admin& admin, FactorChange change, Timestamp now) {
    const std::string what = change == FactorChange::BackupCodes ? "backup codes" : "authenticator";
    return {.subject = "Muster: new " + what + " of an admin",
            .text = "An admin replaced the own " + what + ":\n\n    admin: " + admin.email +
                    "\n    at: " + now.text() +
                    "\n\nA current code of the second factor was sent for it. If the admin did "
                    "not do this,\nask the operator of Muster to end the sessions of the admin "
                    "(musterctl admin\nreset-2fa), and read the audit log in the console.\n"};
}

void notify_admin_and_owners(db::Tx& tx, const KeyRing& keys, const rules::Admin& admin,
                             const Notice& notice, Timestamp now) {
    Addresses addresses = {admin.email};
    auto seats = store::find_seats(tx, admin.id);
    seats.resize(std::min(seats.size(), kMostOrganizations));
    for (const OrgId& id : sorted_organizations_of(seats)) {
        if (spend_notice(tx, NoticeKind::Security, id.bytes(), kNoticesOfAnOrganization, now) ==
            Spent::No)
            continue;
        db::OrgStore org(tx, id);
        addresses.merge(recipients(store::list_seat_holders(org), {}, {}, {}));
    }
    queue_notices(tx, keys, addresses, notice, now);
}

}  // namespace

std::string shown_name(std::string_view name) {
    std::string shown(name);
    const bool is_cut = is_longer_than(name, kLongestShownName);
    while (is_longer_than(shown, kLongestShownName) || !is_utf8(shown)) shown.pop_back();
    return "\"" + printable(shown) + (is_cut ? "..." : "") + "\"";
}

void notify_owners(OrgTransaction& transaction, const KeyRing& keys, Notice notice) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto addresses = recipients(store::list_seat_holders(org), transaction.actor.admin,
                                      notice.about, notice.except);
    if (addresses.empty()) return;
    const Spent spent = spend_notice(transaction.tx, notice.kind, transaction.org().bytes(),
                                     kNoticesOfAnOrganization, transaction.now);
    if (spent == Spent::No) return;
    if (spent == Spent::Last) notice.text += kLastNotice;
    queue_notices(transaction.tx, keys, addresses, notice, transaction.now);
}

void notify_of_access(OrgTransaction& transaction, const KeyRing& keys, const NewAccess& access) {
    const std::string id = access.id.empty() ? "" : "\n        " + access.id;
    const std::string what(access.what);
    notify_owners(
        transaction, keys,
        {.subject = "Muster: new " + what,
         .text = "Your organization has a new " + what + ":\n\n    " + what + ": " +
                 shown_name(access.name) + id + "\n" + place_of(transaction) +
                 "\nIf you expected this, there is nothing to do. Otherwise sign in to the "
                 "console,\n" +
                 std::string(access.remedy) + ", and read the audit log.\n",
         .except = access.except});
}

void notify_of_loss(OrgTransaction& transaction, const KeyRing& keys, const LostAccess& lost) {
    notify_owners(transaction, keys,
                  {.subject = "Muster: an admin lost rights",
                   .text = "An admin of your organization lost rights:\n\n    admin: " +
                           shown_name(lost.email) + "\n    lost: " + lost.what + "\n" +
                           place_of(transaction) +
                           "\nIf you expected this, there is nothing to do. Otherwise ask the "
                           "operator of Muster to\nrestore the owners of the organization "
                           "(musterctl admin), and read the audit log\nin the console.\n",
                   .about = lost.admin});
}

void notify_of_pause(db::Tx& tx, const KeyRing& keys, const rules::Admin& admin, Timestamp now) {
    if (spend_notice(tx, NoticeKind::Security, admin.id.bytes(), kNoticesOfAnAdmin, now) ==
        Spent::No)
        return;
    notify_admin_and_owners(tx, keys, admin, notice_of_pause(admin), now);
}

void notify_of_factor(db::Tx& tx, const KeyRing& keys, const rules::Admin& admin,
                      FactorChange change, Timestamp now) {
    const auto spending = try_spend(tx, text_of(NoticeKind::Security), subject_of_factor(admin.id),
                                    kChangesOfAFactor, now);
    reject_factor_change(spending.wait_seconds);
    notify_admin_and_owners(tx, keys, admin, notice_of_factor(admin, change, now), now);
}

void require_factor_change(db::Tx& tx, AdminId admin, Timestamp now) {
    const rules::SpentTimes changes(
        store::lock_guess_budget(tx, text_of(NoticeKind::Security), subject_of_factor(admin)));
    reject_factor_change(changes.exhausted(kChangesOfAFactor, now));
}

void forget_factor_changes(db::Tx& tx, AdminId admin, Timestamp now) {
    store::write_guess_budget(tx, text_of(NoticeKind::Security), subject_of_factor(admin), "", now);
}

}  // namespace muster::service
