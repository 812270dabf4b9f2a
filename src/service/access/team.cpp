#include "service/access/team.hpp"

#include "base/error.hpp"
#include "db/transaction.hpp"
#include "service/access/organizations.hpp"
#include "service/access/team_changes.hpp"
#include "service/quotas.hpp"
#include "store/access/invitations.hpp"
#include "store/access/sessions.hpp"

#include <algorithm>
#include <limits>

namespace muster::service {
namespace {

// The operator is exempt, because the operator can make another owner at any time.
void require_other_owner(const OrgTransaction& transaction, const LockedTeam& team, AdminId admin) {
    if (!transaction.actor.admin || team.has_other_owner(admin)) return;
    throw Error(ErrorCode::InvalidState)
        .detail("reason",
                "an organization keeps at least one owner; make another admin owner first");
}

rules::Role require_seat(const LockedTeam& team, AdminId admin) {
    const auto role = team.role_of(admin);
    if (!role) throw Error(ErrorCode::NotFound);
    return *role;
}

// Somebody who lost the rights of an owner must not keep a way into the team.
void withdraw_invitations_of(OrgTransaction& transaction, AdminId inviter) {
    db::OrgStore org(transaction.tx, transaction.org());
    for (const auto id : store::lock_invitations_by(org, inviter)) {
        store::delete_invitation(org, id);
        audit_team(transaction, "seat.invitation_withdrawn", id.text(),
                   {{"invited_by", inviter.text()}});
    }
}

// Mails about the loss of rights, and withdraws the invitations of that admin. Called before the
// change to `role`; nullopt if the seat is removed.
void report_and_withdraw(Context& context, OrgTransaction& transaction,
                         const rules::SeatHolder& seat, std::optional<rules::Role> role) {
    const std::string what = role ? "the role owner, and is now " + std::string(text_of(*role))
                                  : "the seat as " + std::string(text_of(seat.role));
    notify_of_loss(transaction, context.keys, {seat.admin_id, seat.email, what});
    withdraw_invitations_of(transaction, seat.admin_id);
}

// Runs `change` for the operator on the seat of the address; nullopt if it has none.
template <class Change>
auto with_seat_of(Context& context, OrgId organization, std::string_view email,
                  const Change& change) {
    using Changed = std::invoke_result_t<Change, OrgTransaction&, AdminId>;
    const std::string address = checked_address(email);
    return context.database.transaction([&](db::Tx& tx) -> std::optional<Changed> {
        OrgTransaction transaction{tx, {organization}, Timestamp::now()};
        db::OrgStore org(tx, organization);
        const auto admin = store::find_admin(tx, address);
        if (!admin || !store::find_seat_holder(org, admin->id)) return std::nullopt;
        return change(transaction, admin->id);
    });
}

// The seats after `after`, then invitations.
std::vector<rules::TeamSeat> page_from(db::OrgStore& org, const std::optional<TeamPosition>& after,
                                       int limit, Timestamp now) {
    std::vector<rules::TeamSeat> page;
    const auto* invitation = after ? std::get_if<rules::InvitationId>(&*after) : nullptr;
    if (!invitation) {
        const AdminId admin = after ? std::get<AdminId>(*after) : AdminId();
        for (const auto& holder : store::page_seat_holders(org, admin, limit)) {
            page.push_back(team_seat(holder));
        }
    }
    const int room = limit - static_cast<int>(page.size());
    if (room == 0) return page;
    const auto begin = invitation ? *invitation : rules::InvitationId();
    for (const auto& invited : store::page_invitations(org, begin, room)) {
        page.push_back(team_seat(invited, now));
    }
    return page;
}

}  // namespace

LockedTeam::LockedTeam(OrgTransaction& transaction, std::optional<AdminId> own) {
    db::OrgStore org(transaction.tx, transaction.org());
    seats_ = store::lock_seats(org);
    const auto& actor = transaction.actor.admin;
    if (!actor || actor == own) return;
    if (role_of(*actor) != rules::Role::Owner) throw Error(ErrorCode::Forbidden);
}

std::optional<rules::Role> LockedTeam::role_of(AdminId admin) const {
    const auto found = std::ranges::find(seats_, admin, &store::HeldRole::admin_id);
    return found == seats_.end() ? std::nullopt : std::optional(found->role);
}

bool LockedTeam::has_other_owner(AdminId admin) const {
    return std::any_of(seats_.begin(), seats_.end(), [&](const store::HeldRole& seat) {
        return seat.role == rules::Role::Owner && seat.admin_id != admin;
    });
}

void audit_team(OrgTransaction& transaction, std::string_view action, std::string_view subject_id,
                AuditDetails details) {
    if (transaction.actor.admin) return audit(transaction, action, subject_id, details);
    audit_operator(transaction.tx, transaction.org(), action, subject_id, details, transaction.now);
}

void notify_of_seat(OrgTransaction& transaction, const KeyRing& keys, std::string_view what,
                    const std::string& email, rules::Role role, std::string_view remedy,
                    std::optional<AdminId> except) {
    notify_of_access(transaction, keys,
                     {.what = what,
                      .name = email + " as " + std::string(text_of(role)),
                      .id = {},
                      .remedy = remedy,
                      .except = except});
}

rules::TeamSeat team_seat(const rules::SeatHolder& holder) {
    rules::TeamSeat seat;
    seat.admin_id = holder.admin_id;
    seat.email = holder.email;
    seat.role = holder.role;
    seat.is_enrolled = holder.is_enrolled;
    seat.created_at = holder.since;
    return seat;
}

rules::TeamSeat change_role(Context& context, OrgTransaction& transaction, AdminId admin,
                            rules::Role role) {
    const LockedTeam team(transaction);
    const rules::Role old = require_seat(team, admin);
    db::OrgStore org(transaction.tx, transaction.org());
    if (old == rules::Role::Owner && role != old) {
        require_other_owner(transaction, team, admin);
        report_and_withdraw(context, transaction, store::find_seat_holder(org, admin).value(),
                            role);
    }
    if (role != old) {
        store::set_role(org, admin, text_of(role));
        audit_team(
            transaction, "seat.role_changed", admin.text(),
            {{"role", std::string(text_of(role))}, {"previous_role", std::string(text_of(old))}});
    }
    auto seat = team_seat(store::find_seat_holder(org, admin).value());
    if (role > old) {
        notify_of_seat(transaction, context.keys, "role", seat.email, role,
                       "change the role (PATCH /v1/seats/{adminId}, or\nmusterctl admin set-role)");
    }
    return seat;
}

void remove_seat(Context& context, OrgTransaction& transaction, AdminId admin) {
    const LockedTeam team(transaction, admin);
    const rules::Role role = require_seat(team, admin);
    if (role == rules::Role::Owner) require_other_owner(transaction, team, admin);
    // Removals from two organizations at the same time wait for each other, so one sees the last.
    (void)store::lock_admin(transaction.tx, admin);
    db::OrgStore org(transaction.tx, transaction.org());
    report_and_withdraw(context, transaction, store::find_seat_holder(org, admin).value(),
                        std::nullopt);
    store::delete_seat(org, admin);
    audit_team(transaction, "seat.removed", admin.text());
    if (store::find_seat_organizations(transaction.tx, admin).empty()) {
        store::delete_sessions_of(transaction.tx, admin);
    }
}

std::vector<rules::TeamSeat> page_team(Context& context, OrgId organization,
                                       const std::optional<TeamPosition>& after, int limit) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return page_from(org, after, limit, Timestamp::now());
    });
}

std::optional<rules::TeamSeat> find_seat(Context& context, OrgId organization, AdminId admin) {
    const auto holder = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_seat_holder(org, admin);
    });
    return holder ? std::optional(team_seat(*holder)) : std::nullopt;
}

AddedAdmin add_admin(Context& context, OrgId organization, std::string_view email,
                     std::string_view role) {
    const std::string address = checked_address(email);
    const Timestamp now = Timestamp::now();
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        lock_counts(org, now);  // as invite_admin(): an address gets one of the two
        const AdminId admin = store::find_or_insert_admin(tx, address, now);
        const AddedAdmin added{admin, store::insert_seat(org, admin, role, now)};
        if (!added.is_new_seat) return added;
        if (const auto invitation = store::find_invitation_id(org, address)) {
            store::delete_invitation(org, *invitation);
        }
        OrgTransaction transaction{tx, {organization}, now};
        audit_team(transaction, "seat.added", admin.text(), {{"role", std::string(role)}});
        notify_of_seat(transaction, context.keys, "admin", address,
                       parse<rules::Role>(role).value_or(rules::Role::Viewer), kRemoveSeat, admin);
        return added;
    });
}

std::optional<rules::TeamSeat> change_role(Context& context, OrgId organization,
                                           std::string_view email, rules::Role role) {
    return with_seat_of(context, organization, email,
                        [&](OrgTransaction& transaction, AdminId admin) {
                            return change_role(context, transaction, admin, role);
                        });
}

bool remove_admin(Context& context, OrgId organization, std::string_view email) {
    return with_seat_of(context, organization, email,
                        [&](OrgTransaction& transaction, AdminId admin) {
                            remove_seat(context, transaction, admin);
                            return true;
                        })
        .has_value();
}

std::vector<rules::TeamSeat> list_team(Context& context, OrgId organization) {
    return page_team(context, organization, std::nullopt, std::numeric_limits<int>::max());
}

}  // namespace muster::service
