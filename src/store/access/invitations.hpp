// Invitations to seats (table seat_invitations).
#pragma once

#include "db/transaction.hpp"
#include "rules/access/team.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace muster::store {

// False if the organization has an invitation of this address.
bool insert_invitation(db::OrgStore& org, const rules::Invitation& invitation);
// In the order of their ids, after this one.
std::vector<rules::Invitation> page_invitations(db::OrgStore& org, rules::InvitationId after,
                                                int limit);
// Those that this admin sent, locked until the transaction ends.
std::vector<rules::InvitationId> lock_invitations_by(db::OrgStore& org, AdminId inviter);
std::int64_t count_invitations(db::OrgStore& org);
std::optional<rules::Invitation> find_invitation(db::OrgStore& org, rules::InvitationId id);
// Locked until the transaction ends.
std::optional<rules::Invitation> lock_invitation(db::OrgStore& org, rules::InvitationId id);
std::optional<rules::InvitationId> find_invitation_id(db::OrgStore& org, std::string_view email);
// `by`: who sends it again; nullopt: the operator.
void renew_invitation(db::OrgStore& org, rules::InvitationId id, const std::optional<AdminId>& by,
                      Timestamp sent_at, Timestamp expires_at);
// False if there was no such invitation.
bool delete_invitation(db::OrgStore& org, rules::InvitationId id);

// The valid invitations of an address in all organizations, the next to expire first.
std::vector<rules::Offer> find_invitations_of(db::Tx& tx, std::string_view email, Timestamp now,
                                              int limit);

}  // namespace muster::store
