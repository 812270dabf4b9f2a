// Admins (people who sign in), their seats in organizations, and their second factor.
#pragma once

#include "db/transaction.hpp"
#include "rules/access/admins.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace muster::store {

// The admin with this address, created if missing.
AdminId find_or_insert_admin(db::Tx& tx, std::string_view email, Timestamp now);
// The admin with this address, for reading.
std::optional<rules::Admin> find_admin(db::Tx& tx, std::string_view email);
// The admin, locked until the transaction ends. The lock serializes checks of the second factor.
std::optional<rules::Admin> lock_admin(db::Tx& tx, AdminId admin);

// False if the admin already has a seat in the organization.
bool insert_seat(db::OrgStore& org, AdminId admin, std::string_view role, Timestamp now);
// False if there was no such seat.
bool delete_seat(db::OrgStore& org, AdminId admin);
void set_role(db::OrgStore& org, AdminId admin, std::string_view role);
struct HeldRole {
    AdminId admin_id;
    rules::Role role = {};
};
// All seats of the organization, locked until the transaction ends.
std::vector<HeldRole> lock_seats(db::OrgStore& org);
bool has_seat(db::OrgStore& org, std::string_view email);
std::optional<rules::SeatHolder> find_seat_holder(db::OrgStore& org, AdminId admin);
// In the order of the admins' ids, after this one.
std::vector<rules::SeatHolder> page_seat_holders(db::OrgStore& org, AdminId after, int limit);
// The role of the admin's seat; nullopt if there is no such seat.
std::optional<rules::Role> find_role(db::OrgStore& org, AdminId admin);
// The admins with a seat in the organization, earliest first.
std::vector<rules::SeatHolder> list_seat_holders(db::OrgStore& org);
// Those in organizations that are not disabled, earliest first.
std::vector<rules::Seat> find_seats(db::Tx& tx, AdminId admin);
// The organizations of all seats of the admin, also disabled ones.
std::vector<OrgId> find_seat_organizations(db::Tx& tx, AdminId admin);

// Replaces the second factor by a new one that is not enrolled yet.
void set_totp_secret(db::Tx& tx, AdminId admin, std::string_view sealed);
void set_totp_enrolled(db::Tx& tx, AdminId admin, Timestamp now);
// Replaces the enrolled second factor by another one, which has shown the code of this step.
void replace_totp_secret(db::Tx& tx, AdminId admin, std::string_view sealed, std::int64_t step,
                         Timestamp now);
void set_totp_last_step(db::Tx& tx, AdminId admin, std::int64_t step);
void set_second_factor_guesses(db::Tx& tx, AdminId admin,
                               const rules::SecondFactorGuesses& guesses);
// Removes the second factor and the backup codes.
void clear_second_factor(db::Tx& tx, AdminId admin);

void replace_backup_codes(db::Tx& tx, AdminId admin, const std::vector<std::string>& hashes,
                          Timestamp now);
std::int64_t count_backup_codes(db::Tx& tx, AdminId admin);
// False if the code does not exist or was used.
bool use_backup_code(db::Tx& tx, AdminId admin, std::string_view hash);

}  // namespace muster::store
