// What changes of a team have in common, for team.cpp and invitations.cpp.
#pragma once

#include "rules/access/admins.hpp"
#include "rules/access/roles.hpp"
#include "service/access/notices.hpp"
#include "service/access/team.hpp"
#include "service/audit.hpp"
#include "store/access/admins.hpp"

namespace muster::service {

// The seats, locked until the transaction ends.
class LockedTeam {
  public:
    // Throws FORBIDDEN if the transaction's admin is not an owner any more, except if the change is
    // about their own seat only.
    explicit LockedTeam(OrgTransaction& transaction, std::optional<AdminId> own = {});

    std::optional<rules::Role> role_of(AdminId admin) const;
    bool has_other_owner(AdminId admin) const;
    std::int64_t size() const { return static_cast<std::int64_t>(seats_.size()); }

  private:
    std::vector<store::HeldRole> seats_;
};

// Logs a change by an admin or the operator.
void audit_team(OrgTransaction& transaction, std::string_view action, std::string_view subject_id,
                AuditDetails details = {});

// Mails the owners about a new invitation, seat or role of the address. `what`: "invitation".
void notify_of_seat(OrgTransaction& transaction, const KeyRing& keys, std::string_view what,
                    const std::string& email, rules::Role role, std::string_view remedy,
                    std::optional<AdminId> except = {});

rules::TeamSeat team_seat(const rules::SeatHolder& holder);
rules::TeamSeat team_seat(const rules::Invitation& invitation, Timestamp now);

inline constexpr std::string_view kRemoveSeat = "remove the seat under Team";

}  // namespace muster::service
