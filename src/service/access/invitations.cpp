// Invitations to seats (service/access/team.hpp).
#include "store/access/invitations.hpp"
#include "base/crypto.hpp"
#include "base/error.hpp"
#include "base/printable.hpp"
#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "rules/access/organizations.hpp"
#include "rules/access/session.hpp"
#include "service/access/budgets.hpp"
#include "service/access/organizations.hpp"
#include "service/access/sessions.hpp"
#include "service/access/team_changes.hpp"
#include "service/mail.hpp"
#include "service/quotas.hpp"
#include "store/access/organizations.hpp"

#include <algorithm>

namespace muster::service {
namespace {

using rules::Invitation;
using rules::InvitationId;

constexpr Milliseconds kInvitationMailLife = std::chrono::days(3);
constexpr rules::Budget kMailsOfAnOrganization{50, std::chrono::days(1)};
// From one organization.
constexpr rules::Budget kMailsToAnAddress{3, std::chrono::days(1)};
// From all organizations. Above it, the mail is a decoy: an error would show that others invite
// the same person.
constexpr rules::Budget kMailsFromAll{10, std::chrono::days(1)};

// Counts one mail. Returns the seconds to wait if the mails of the day are used up.
std::optional<int> spend_mail(Context& context, db::Tx& tx, const std::string& subject,
                              rules::Budget budget, Timestamp now) {
    constexpr std::string_view kKind = "invitation";
    const std::string key = context.keys.derive("guess budgets").reveal();
    const std::string hash = hmac_sha256(key, "invitation " + subject);
    return try_spend(tx, kKind, hash, budget, now).wait_seconds;
}

// `what`: what the budget limits, for the caller.
void require_mail(Context& context, OrgTransaction& transaction, const std::string& subject,
                  rules::Budget budget, std::string_view what) {
    const auto seconds = spend_mail(context, transaction.tx, subject, budget, transaction.now);
    if (!seconds) return;
    throw Error(ErrorCode::RateLimited)
        .retry_after(*seconds)
        .detail("reason", "an organization sends at most " + std::to_string(budget.most) + " " +
                              std::string(what) + " within 24 hours");
}

std::string inviter_of(const Invitation& invitation) {
    return invitation.invited_by_email ? printable(*invitation.invited_by_email)
                                       : "The operator of Muster";
}

std::string rights_of(rules::Role role) {
    switch (role) {
        case rules::Role::Owner:
            return "owner: you read and change its data, and manage its team";
        case rules::Role::Admin:
            return "admin: you read and change its data";
        case rules::Role::Viewer:
            return "viewer: you read its data";
    }
    return "";
}

std::string text_of_mail(const Context& context, const OrgTransaction& transaction,
                         const std::string& organization, const Invitation& invitation) {
    const std::string link = context.settings.console.origin +
                             "/console/#/invitation?organization=" + transaction.org().text();
    return inviter_of(invitation) + " invites you to the organization\n\n    " +
           shown_name(organization) + "\n\nas " + rights_of(invitation.role) +
           ".\n\nTo accept or decline, open this page and sign in with this mail address:\n\n    " +
           link +
           "\n\nMuster mails you a code. If you have no seat in a team yet, you set up an "
           "authenticator\napp, and the sign-in accepts the invitation. If you have one, the page "
           "asks you. The invitation\nis valid until " +
           invitation.expires_at.text() +
           ".\n\nIf you did not expect this mail, ignore it or decline. Muster never asks for a "
           "code by mail or\non the phone.\n";
}

void send_invitation(Context& context, OrgTransaction& transaction, const Invitation& invitation) {
    const std::string organization = transaction.org().text();
    require_mail(context, transaction, organization, kMailsOfAnOrganization, "invitations");
    require_mail(context, transaction, organization + " " + invitation.email, kMailsToAnAddress,
                 "invitations to one address");
    const bool is_decoy =
        spend_mail(context, transaction.tx, invitation.email, kMailsFromAll, transaction.now)
            .has_value();
    db::OrgStore org(transaction.tx, transaction.org());
    const auto found = store::find_organization(org);
    queue_mail(transaction.tx, context.keys,
               {is_decoy ? "" : invitation.email, "You are invited to an organization in Muster",
                text_of_mail(context, transaction, found ? found->name : "", invitation)},
               transaction.now, transaction.now + kInvitationMailLife);
}

void notify_of_invitation(OrgTransaction& transaction, const KeyRing& keys,
                          const Invitation& invitation) {
    notify_of_seat(transaction, keys, "invitation", invitation.email, invitation.role,
                   "withdraw the invitation under Team");
}

// Deletes an expired invitation of the address. Throws CONFLICT if it has a valid one or a seat.
void delete_expired_or_reject(OrgTransaction& transaction, db::OrgStore& org,
                              const std::string& email) {
    const auto id = store::find_invitation_id(org, email);
    const auto invitation = id ? store::lock_invitation(org, *id) : std::nullopt;
    const bool is_valid = invitation && invitation->expires_at > transaction.now;
    if (is_valid || store::has_seat(org, email)) {
        throw Error(ErrorCode::Conflict).detail("field", "email");
    }
    if (invitation) store::delete_invitation(org, invitation->id);
}

void reject_full_team(const LockedTeam& team, db::OrgStore& org) {
    const std::int64_t invitations = store::count_invitations(org);
    const bool is_full = team.size() + invitations >= kMostSeats;
    if (!is_full && invitations < kMostInvitations) return;
    throw Error(ErrorCode::InvalidState)
        .detail("reason", is_full ? "a team has at most " + std::to_string(kMostSeats) +
                                        " seats and invitations; remove one first"
                                  : "a team has at most " + std::to_string(kMostInvitations) +
                                        " invitations; withdraw one first");
}

Invitation new_invitation(const OrgTransaction& transaction, const NewSeat& seat) {
    return {.id = InvitationId::create(),
            .email = seat.email,
            .role = seat.role,
            .invited_by = transaction.actor.admin,
            .invited_by_email = {},
            .created_at = transaction.now,
            .sent_at = transaction.now,
            .expires_at = transaction.now + kInvitationLife};
}

// Runs `change` for the operator on the invitation of the address; nullopt if it has none.
template <class Change>
auto with_invitation_of(Context& context, OrgId organization, std::string_view email,
                        const Change& change) {
    using Changed = std::invoke_result_t<Change, OrgTransaction&, InvitationId>;
    const std::string address = checked_address(email);
    return context.database.transaction([&](db::Tx& tx) -> std::optional<Changed> {
        OrgTransaction transaction{tx, {organization}, Timestamp::now()};
        db::OrgStore org(tx, organization);
        const auto id = store::find_invitation_id(org, address);
        if (!id) return std::nullopt;
        return change(transaction, *id);
    });
}

// Returns the role of the seat; nullopt if the invitation is not valid any more.
std::optional<rules::Role> accept(OrgTransaction& transaction, const KeyRing& keys,
                                  const rules::Admin& admin, InvitationId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto invitation = store::lock_invitation(org, id);
    if (!invitation || invitation->expires_at <= transaction.now) return std::nullopt;
    store::delete_invitation(org, id);
    const std::string role(text_of(invitation->role));
    // The operator may have added a seat with another role at the same time.
    if (!store::insert_seat(org, admin.id, role, transaction.now))
        return store::find_role(org, admin.id);
    audit(transaction, "seat.accepted", admin.id.text(),
          {{"role", role}, {"invitation_id", id.text()}});
    notify_of_seat(transaction, keys, "admin", admin.email, invitation->role, kRemoveSeat,
                   admin.id);
    return invitation->role;
}

OrgTransaction transaction_of(db::Tx& tx, OrgId organization, AdminId admin,
                              std::string_view request_id, Timestamp now) {
    return {tx, {organization, admin, std::nullopt, std::string(request_id)}, now};
}

// Runs `work` on an offer to the session's admin.
template <class Work>
rules::Offer with_offer(Context& context, const rules::Session& session, InvitationId id,
                        std::string_view request_id, const Work& work) {
    return context.database.transaction([&](db::Tx& tx) {
        const Timestamp now = Timestamp::now();
        const auto admin = store::lock_admin(tx, session.admin_id);
        if (!admin) throw Error(ErrorCode::NotFound);
        const auto offers = store::find_invitations_of(tx, admin->email, now, kMostOffers);
        const auto offer = std::ranges::find(offers, id, &rules::Offer::id);
        if (offer == offers.end()) throw Error(ErrorCode::NotFound);
        auto transaction = transaction_of(tx, offer->organization_id, admin->id, request_id, now);
        if (!work(transaction, *admin)) throw Error(ErrorCode::NotFound);
        return *offer;
    });
}

}  // namespace

rules::TeamSeat team_seat(const Invitation& invitation, Timestamp now) {
    rules::TeamSeat seat;
    seat.status =
        invitation.expires_at > now ? rules::SeatStatus::Invited : rules::SeatStatus::Expired;
    seat.invitation_id = invitation.id;
    seat.email = invitation.email;
    seat.role = invitation.role;
    seat.created_at = invitation.created_at;
    seat.invited_by = invitation.invited_by;
    seat.invited_by_email = invitation.invited_by_email;
    seat.sent_at = invitation.sent_at;
    seat.expires_at = invitation.expires_at;
    return seat;
}

rules::TeamSeat invite_admin(Context& context, OrgTransaction& transaction, const NewSeat& seat) {
    db::OrgStore org(transaction.tx, transaction.org());
    lock_counts(org, transaction.now);  // as add_admin(): an address gets one of the two
    const LockedTeam team(transaction);
    delete_expired_or_reject(transaction, org, seat.email);
    reject_full_team(team, org);
    const Invitation made = new_invitation(transaction, seat);
    if (!store::insert_invitation(org, made)) {
        throw Error(ErrorCode::Conflict).detail("field", "email");
    }
    audit_team(transaction, "seat.invited", made.id.text(),
               {{"role", std::string(text_of(seat.role))}});
    // With the inviter's address.
    const auto invitation = store::lock_invitation(org, made.id).value();
    send_invitation(context, transaction, invitation);
    notify_of_invitation(transaction, context.keys, invitation);
    return team_seat(invitation, transaction.now);
}

rules::TeamSeat resend_invitation(Context& context, OrgTransaction& transaction, InvitationId id) {
    const LockedTeam team(transaction);
    db::OrgStore org(transaction.tx, transaction.org());
    const auto before = store::lock_invitation(org, id);
    if (!before) throw Error(ErrorCode::NotFound);
    store::renew_invitation(org, id, transaction.actor.admin, transaction.now,
                            transaction.now + kInvitationLife);
    audit_team(transaction, "seat.invitation_resent", id.text());
    // With the sender's address.
    const auto invitation = store::lock_invitation(org, id).value();
    send_invitation(context, transaction, invitation);
    if (before->expires_at <= transaction.now)
        notify_of_invitation(transaction, context.keys, invitation);
    return team_seat(invitation, transaction.now);
}

void withdraw_invitation(OrgTransaction& transaction, InvitationId id) {
    const LockedTeam team(transaction);
    db::OrgStore org(transaction.tx, transaction.org());
    if (!store::delete_invitation(org, id)) throw Error(ErrorCode::NotFound);
    audit_team(transaction, "seat.invitation_withdrawn", id.text());
}

std::optional<rules::TeamSeat> find_invitation(Context& context, OrgId organization,
                                               InvitationId id) {
    const auto invitation = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_invitation(org, id);
    });
    return invitation ? std::optional(team_seat(*invitation, Timestamp::now())) : std::nullopt;
}

void accept_first_invitation(db::Tx& tx, const KeyRing& keys, const rules::Admin& admin,
                             std::string_view request_id, Timestamp now) {
    if (!store::find_seat_organizations(tx, admin.id).empty()) return;
    for (const auto& offer : store::find_invitations_of(tx, admin.email, now, kMostOffers)) {
        auto transaction = transaction_of(tx, offer.organization_id, admin.id, request_id, now);
        if (accept(transaction, keys, admin, offer.id)) return;
    }
}

std::vector<rules::Offer> list_offers(Context& context, const rules::Session& session) {
    return context.database.autocommit([&](db::Tx& tx) {
        return store::find_invitations_of(tx, session.email, Timestamp::now(), kMostOffers);
    });
}

rules::Seat accept_offer(Context& context, const rules::Session& session, InvitationId id,
                         std::string_view request_id) {
    std::optional<rules::Role> role;
    const auto offer = with_offer(context, session, id, request_id,
                                  [&](OrgTransaction& transaction, const rules::Admin& admin) {
                                      role = accept(transaction, context.keys, admin, id);
                                      return role.has_value();
                                  });
    return {offer.organization_id, offer.organization_name, *role};
}

void decline_offer(Context& context, const rules::Session& session, InvitationId id,
                   std::string_view request_id) {
    with_offer(context, session, id, request_id,
               [&](OrgTransaction& transaction, const rules::Admin&) {
                   db::OrgStore org(transaction.tx, transaction.org());
                   if (!store::delete_invitation(org, id)) return false;
                   audit(transaction, "seat.invitation_declined", id.text());
                   return true;
               });
}

bool leave_organization(Context& context, const rules::Session& session, OrgId organization,
                        std::string_view request_id) {
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        // Checks the seat first, so that an organization of others looks like an unknown one, and
        // none of its rows is locked. A disabled one has no seats either.
        if (!store::find_role(org, session.admin_id)) throw Error(ErrorCode::NotFound);
        auto transaction =
            transaction_of(tx, organization, session.admin_id, request_id, Timestamp::now());
        remove_seat(context, transaction, session.admin_id);
        return !find_active_session(tx, session.id, transaction.now);
    });
}

rules::TeamSeat invite_admin(Context& context, OrgId organization, std::string_view email,
                             rules::Role role) {
    const NewSeat seat{checked_address(email), role};
    return context.database.transaction([&](db::Tx& tx) {
        OrgTransaction transaction{tx, {organization}, Timestamp::now()};
        return invite_admin(context, transaction, seat);
    });
}

std::optional<rules::TeamSeat> resend_invitation(Context& context, OrgId organization,
                                                 std::string_view email) {
    return with_invitation_of(context, organization, email,
                              [&](OrgTransaction& transaction, InvitationId id) {
                                  return resend_invitation(context, transaction, id);
                              });
}

bool withdraw_invitation(Context& context, OrgId organization, std::string_view email) {
    return with_invitation_of(context, organization, email,
                              [](OrgTransaction& transaction, InvitationId id) {
                                  withdraw_invitation(transaction, id);
                                  return true;
                              })
        .has_value();
}

}  // namespace muster::service
