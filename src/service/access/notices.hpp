// Mail to the people who answer for an organization (docs/api/sign-in.md "Security mail"): about
// new access to its data, guesses at a second factor, and disabled webhook endpoints. Queued in the
// transaction of the cause. Each organization has 60 mails of a kind a day, because one mail server
// sends the mail of all tenants.
#pragma once

#include "service/context.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
struct Admin;
}

namespace muster::service {

enum class NoticeKind : std::uint8_t { Webhook, Security };

struct Notice {
    NoticeKind kind = NoticeKind::Security;
    std::string subject;
    std::string text;
    std::optional<AdminId> except = {};  // an admin who gets no mail
    std::optional<AdminId> about = {};   // an admin who gets the mail too
};

// Queues the mail for the acting admin and `about`, and for the ten owners of the transaction's
// organization with the earliest seats, or for its admins if it has no owner. If fewer of the day's
// mails are left, the last of these get none.
void notify_owners(OrgTransaction& transaction, const KeyRing& keys, Notice notice);

// Something that gives access to the organization's data and outlives the session that made it.
struct NewAccess {
    std::string_view what;                    // "API key"
    std::string name;                         // or address; no secret
    std::string id;                           // "" if the name says enough
    std::vector<std::string> addresses = {};  // of pages that it is for, a bounded number
    std::string_view remedy;             // how to take it back: "revoke the key under API keys"
    std::optional<AdminId> except = {};  // an admin who gets no mail
};
void notify_of_access(OrgTransaction& transaction, const KeyRing& keys, const NewAccess& access);

// A seat, or the role of an owner, that an admin is about to lose. Call it before the change: the
// owners of that moment get the mail, and the admin.
struct LostAccess {
    AdminId admin;
    std::string email;
    std::string what;  // "the seat"
};
void notify_of_loss(OrgTransaction& transaction, const KeyRing& keys, const LostAccess& lost);

// A name as part of a mail's text: in one line, without what a terminal obeys, and cut.
std::string shown_name(std::string_view name);

// Queues mail about the first pause of the admin's second factor, for the admin and for 20 owners
// of the admin's organizations: equally many of each, ten at most, of 20 organizations. The mails
// to the owners count for their organizations. After three in a day for one admin it does nothing.
void notify_of_pause(db::Tx& tx, const KeyRing& keys, const rules::Admin& admin, Timestamp now);

// The same about a change that an admin made to their own second factor. Throws RATE_LIMITED after
// ten in a day, so that each has a mail and none of them fill the audit log.
enum class FactorChange : std::uint8_t { BackupCodes, Authenticator };
void notify_of_factor(db::Tx& tx, const KeyRing& keys, const rules::Admin& admin,
                      FactorChange change, Timestamp now);
// Throws RATE_LIMITED if notify_of_factor() would.
void require_factor_change(db::Tx& tx, AdminId admin, Timestamp now);
// Counts again from zero, for an admin whose factor was reset.
void forget_factor_changes(db::Tx& tx, AdminId admin, Timestamp now);

}  // namespace muster::service
