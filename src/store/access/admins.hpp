// Admins (people who sign in), their seats in organizations, and their second factor.
#pragma once

#include "db/transaction.hpp"
#include "rules/access/admins.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace muster::store {

// The admin of that address, made if need be.
AdminId find_or_insert_admin(db::Tx& tx, std::string_view email, Timestamp now);
// The admin of that address, for reading.
std::optional<rules::Admin> find_admin(db::Tx& tx, std::string_view email);
// The admin, locked until the transaction ends: whoever judges a second factor goes one by one.
std::optional<rules::Admin> lock_admin(db::Tx& tx, AdminId admin);

// False when the admin has a seat in the organization already.
bool insert_seat(db::OrgStore& org, AdminId admin, std::string_view role, Timestamp now);
// False when there was none.
bool delete_seat(db::OrgStore& org, AdminId admin);
// Who has a seat in the organization, earliest first.
std::vector<rules::SeatHolder> list_seat_holders(db::OrgStore& org);
// Earliest first.
std::vector<rules::Seat> find_seats(db::Tx& tx, AdminId admin);

// A new second factor, not enrolled yet; what was there is forgotten.
void set_totp_secret(db::Tx& tx, AdminId admin, std::string_view sealed);
void set_totp_enrolled(db::Tx& tx, AdminId admin, Timestamp now);
void set_totp_last_step(db::Tx& tx, AdminId admin, std::int64_t step);
void set_second_factor_failures(db::Tx& tx, AdminId admin, std::int64_t failures,
                                Timestamp paused_until);
// Back to an admin who has no second factor.
void clear_second_factor(db::Tx& tx, AdminId admin);

void replace_backup_codes(db::Tx& tx, AdminId admin, const std::vector<std::string>& hashes,
                          Timestamp now);
// False when there is no such code (any more).
bool use_backup_code(db::Tx& tx, AdminId admin, std::string_view hash);

}  // namespace muster::store
