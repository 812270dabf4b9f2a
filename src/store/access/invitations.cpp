#include "store/access/invitations.hpp"

#include "rules/access/roles.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::OrgSql;
using db::SystemSql;
using db::Why;
using rules::Invitation;
using rules::InvitationId;
using rules::Offer;

namespace {

constexpr auto kInvitation = columns<Invitation>(
    column<&Invitation::id>("i.id"), column<&Invitation::email>("i.email"),
    column<&Invitation::role>("i.role"), column<&Invitation::invited_by>("i.invited_by"),
    column<&Invitation::invited_by_email>("a.email"),
    column<&Invitation::created_at>("i.created_at"), column<&Invitation::sent_at>("i.sent_at"),
    column<&Invitation::expires_at>("i.expires_at"));

constexpr auto kOffer = columns<Offer>(
    column<&Offer::id>("i.id"), column<&Offer::organization_id>("i.organization_id"),
    column<&Offer::organization_name>("o.name"), column<&Offer::role>("i.role"),
    column<&Offer::invited_by_email>("a.email"), column<&Offer::expires_at>("i.expires_at"));

}  // namespace

bool insert_invitation(db::OrgStore& org, const Invitation& invitation) {
    static constexpr OrgSql kInsert{
        "seat_invitations.insert",
        "INSERT INTO seat_invitations (organization_id, id, email, role, invited_by, created_at, "
        "sent_at, expires_at) VALUES (:org, ?, ?, ?, ?, ?, ?, ?)"};
    return db::try_unique([&] {
        org.execute(kInsert, invitation.id, invitation.email, text_of(invitation.role),
                    invitation.invited_by, invitation.created_at, invitation.sent_at,
                    invitation.expires_at);
    });
}

std::vector<Invitation> page_invitations(db::OrgStore& org, InvitationId after, int limit) {
    static constexpr OrgSql kPage{
        "seat_invitations.page", kInvitation,
        "SELECT {columns} FROM seat_invitations i FORCE INDEX (PRIMARY) "
        "LEFT JOIN admins a ON a.id = i.invited_by "
        "WHERE i.organization_id = :org AND i.id > ? ORDER BY i.id LIMIT ?"};
    return org.all(kPage, after, limit);
}

std::vector<InvitationId> lock_invitations_by(db::OrgStore& org, AdminId inviter) {
    static constexpr OrgSql kLock{
        "seat_invitations.lock_by",
        "SELECT id FROM seat_invitations FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND invited_by = ? ORDER BY id FOR UPDATE"};
    return org.all<InvitationId>(kLock, inviter);
}

std::int64_t count_invitations(db::OrgStore& org) {
    static constexpr OrgSql kCount{"seat_invitations.count",
                                   "SELECT COUNT(*) FROM seat_invitations FORCE INDEX (PRIMARY) "
                                   "WHERE organization_id = :org"};
    return org.value<std::int64_t>(kCount);
}

std::optional<Invitation> find_invitation(db::OrgStore& org, InvitationId id) {
    static constexpr OrgSql kFind{
        "seat_invitations.find", kInvitation,
        "SELECT {columns} FROM seat_invitations i LEFT JOIN admins a ON a.id = i.invited_by "
        "WHERE i.organization_id = :org AND i.id = ?"};
    return org.one(kFind, id);
}

std::optional<Invitation> lock_invitation(db::OrgStore& org, InvitationId id) {
    // Without the join, so that the inviter is not locked.
    static constexpr OrgSql kLock{
        "seat_invitations.lock",
        "SELECT 1 FROM seat_invitations WHERE organization_id = :org AND id = ? FOR UPDATE"};
    return org.exists(kLock, id) ? find_invitation(org, id) : std::nullopt;
}

std::optional<InvitationId> find_invitation_id(db::OrgStore& org, std::string_view email) {
    static constexpr OrgSql kFind{
        "seat_invitations.find_id",
        "SELECT id FROM seat_invitations WHERE organization_id = :org AND email = ?"};
    return org.one<InvitationId>(kFind, email);
}

void renew_invitation(db::OrgStore& org, InvitationId id, const std::optional<AdminId>& by,
                      Timestamp sent_at, Timestamp expires_at) {
    static constexpr OrgSql kRenew{
        "seat_invitations.renew",
        "UPDATE seat_invitations SET invited_by = ?, sent_at = ?, expires_at = ? "
        "WHERE organization_id = :org AND id = ?"};
    org.execute(kRenew, by, sent_at, expires_at, id);
}

bool delete_invitation(db::OrgStore& org, InvitationId id) {
    static constexpr OrgSql kDelete{
        "seat_invitations.delete",
        "DELETE FROM seat_invitations WHERE organization_id = :org AND id = ?"};
    return org.execute(kDelete, id) == 1;
}

std::vector<Offer> find_invitations_of(db::Tx& tx, std::string_view email, Timestamp now,
                                       int limit) {
    static constexpr SystemSql kFind{
        "seat_invitations.find_of", Why{"a person signs in to all inviting organizations"}, kOffer,
        "SELECT {columns} FROM seat_invitations i FORCE INDEX (address) "
        "STRAIGHT_JOIN organizations o ON o.id = i.organization_id "
        "LEFT JOIN admins a ON a.id = i.invited_by "
        "WHERE i.email = ? AND i.expires_at > ? AND o.disabled_at IS NULL "
        "ORDER BY i.expires_at, i.organization_id, i.id LIMIT ?"};
    return tx.all(kFind, email, now, limit);
}

}  // namespace muster::store
