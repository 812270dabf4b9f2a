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
#include "service/access/seats.hpp"
#include "service/mail.hpp"
#include "store/access/admins.hpp"
#include "store/access/organizations.hpp"
#include "store/access/sign_in.hpp"

#include <algorithm>
#include <vector>

namespace muster::service {
namespace {

constexpr Milliseconds kNoticeLife = std::chrono::days(3);
// One notice has 12 mails at most, so the first one of a day reaches all its recipients.
constexpr rules::Budget kNoticeMailsOfAnOrganization{60, std::chrono::days(1)};
constexpr rules::Budget kNoticesOfAnAdmin{3, std::chrono::days(1)};
constexpr rules::Budget kChangesOfAFactor{10, std::chrono::days(1)};
constexpr std::string_view kFactor = "factor";  // the name of that budget
constexpr std::size_t kMostOwners = 10;
constexpr std::size_t kMostOrganizations = 20;
// Of all organizations of an admin: at least one of each.
constexpr std::size_t kMostOwnersOfAll = 20;
// Names are chosen by admins. A long one could be a message of its own.
constexpr std::size_t kLongestShownName = 60;

constexpr std::string_view kLastNotice =
    "\nThis is the last mail of this kind today. The audit log has every action.\n";

std::string_view text_of(NoticeKind kind) {
    return kind == NoticeKind::Webhook ? "webhook_notice" : "security_notice";
}

using Addresses = std::vector<std::string>;

// Counts the mails, and removes the addresses whose mail exceeds those of the organization's day.
// Returns whether the mails of the day are used up now.
bool spend_mails(db::Tx& tx, NoticeKind kind, OrgId organization, Addresses& addresses,
                 Timestamp now) {
    const auto spending = spend_up_to(tx, text_of(kind), sha256(organization.bytes()),
                                      kNoticeMailsOfAnOrganization, addresses.size(), now);
    addresses.resize(spending.count);
    return spending.is_last;
}

void reject_factor_change(std::optional<int> wait_seconds) {
    if (!wait_seconds) return;
    throw Error(ErrorCode::RateLimited)
        .retry_after(*wait_seconds)
        .detail("reason", "an admin changes their own second factor at most ten times a day");
}

// The actor and `about`; then up to `most_owners` owners, or admins if there is no owner, in the
// order of `holders`; but not `except`.
Addresses recipients(const std::vector<rules::SeatHolder>& holders,
                     const std::optional<AdminId>& actor, const std::optional<AdminId>& about,
                     const std::optional<AdminId>& except, std::size_t most_owners = kMostOwners) {
    const auto is_owner = [](const auto& holder) { return holder.role == rules::Role::Owner; };
    const rules::Role role = std::any_of(holders.begin(), holders.end(), is_owner)
                                 ? rules::Role::Owner
                                 : rules::Role::Admin;
    Addresses concerned;
    Addresses owners;
    for (const rules::SeatHolder& holder : holders) {
        if (holder.admin_id == except) continue;
        if (holder.admin_id == actor || holder.admin_id == about) {
            concerned.push_back(holder.email);
        } else if (holder.role == role && owners.size() < most_owners) {
            owners.push_back(holder.email);
        }
    }
    concerned.insert(concerned.end(), owners.begin(), owners.end());
    return concerned;
}

void queue_notices(db::Tx& tx, const KeyRing& keys, const Addresses& addresses,
                   const Notice& notice, Timestamp now) {
    for (const std::string& address : addresses) {
        queue_mail(tx, keys, {address, notice.subject, notice.text}, now, now + kNoticeLife);
    }
}

// Addresses of pages, one in a line. A long one is cut at its beginning: its end says whose it is.
std::string shown_addresses(const std::vector<std::string>& addresses) {
    std::string lines;
    for (const std::string& address : addresses) {
        const bool is_cut = address.size() > kLongestShownName;
        lines += "\n        " +
                 (is_cut ? "..." + printable(address.substr(address.size() - kLongestShownName))
                         : printable(address));
    }
    return lines;
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
            .text = "An admin replaced their own " + what + ":\n\n    admin: " + admin.email +
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
    const std::size_t share = kMostOwnersOfAll / std::max<std::size_t>(seats.size(), 1);
    for (const OrgId& id : sorted_organizations_of(seats)) {
        db::OrgStore org(tx, id);
        auto owners = recipients(store::list_seat_holders(org), {}, {}, admin.id,
                                 std::min(share, kMostOwners));
        std::erase_if(owners, [&](const std::string& owner) {
            return std::ranges::find(addresses, owner) != addresses.end();
        });
        (void)spend_mails(tx, NoticeKind::Security, id, owners, now);
        addresses.insert(addresses.end(), owners.begin(), owners.end());
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
    auto addresses = recipients(store::list_seat_holders(org), transaction.actor.admin,
                                notice.about, notice.except);
    if (addresses.empty()) return;
    if (spend_mails(transaction.tx, notice.kind, transaction.org(), addresses, transaction.now))
        notice.text += kLastNotice;
    queue_notices(transaction.tx, keys, addresses, notice, transaction.now);
}

void notify_of_access(OrgTransaction& transaction, const KeyRing& keys, const NewAccess& access) {
    const std::string id = access.id.empty() ? "" : "\n        " + access.id;
    const std::string addresses = shown_addresses(access.addresses);
    const std::string what(access.what);
    notify_owners(
        transaction, keys,
        {.subject = "Muster: new " + what,
         .text = "Your organization has a new " + what + ":\n\n    " + what + ": " +
                 shown_name(access.name) + id + addresses + "\n" + place_of(transaction) +
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
    const auto spending = try_spend(tx, text_of(NoticeKind::Security), sha256(admin.id.bytes()),
                                    kNoticesOfAnAdmin, now);
    if (spending.wait_seconds) return;
    notify_admin_and_owners(tx, keys, admin, notice_of_pause(admin), now);
}

void notify_of_factor(db::Tx& tx, const KeyRing& keys, const rules::Admin& admin,
                      FactorChange change, Timestamp now) {
    const auto spending =
        try_spend(tx, kAdminBudget, admin_subject(kFactor, admin.id), kChangesOfAFactor, now);
    reject_factor_change(spending.wait_seconds);
    notify_admin_and_owners(tx, keys, admin, notice_of_factor(admin, change, now), now);
}

void require_factor_change(db::Tx& tx, AdminId admin, Timestamp now) {
    const rules::SpentTimes changes(
        store::lock_guess_budget(tx, kAdminBudget, admin_subject(kFactor, admin)));
    reject_factor_change(changes.exhausted(kChangesOfAFactor, now));
}

void forget_factor_changes(db::Tx& tx, AdminId admin, Timestamp now) {
    store::write_guess_budget(tx, kAdminBudget, admin_subject(kFactor, admin), "", now);
}

}  // namespace muster::service
