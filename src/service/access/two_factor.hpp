// The second factor of admin sign-in: TOTP codes of an authenticator app (RFC 6238), and backup
// codes in case it is lost (docs/api/sign-in.md "Admin sign-in"). Five failures pause all attempts
// of the admin, over all their sessions (rules/access/second_factor.hpp).
#pragma once

#include "base/secret.hpp"
#include "rules/access/admins.hpp"
#include "rules/access/session.hpp"
#include "service/context.hpp"

#include <string_view>
#include <vector>

namespace muster::service {

// Each value is returned only here.
struct Enrollment {
    Secret secret;
    Secret uri;
    std::vector<Secret> backup_codes;
};

// Creates a second factor. It is enrolled when one of its codes is verified; until then, another
// call replaces it. Throws INVALID_STATE if the admin already has one.
Enrollment enable_two_factor(Context& context, const rules::Session& session);

// Verifies a TOTP code. Returns true, and marks the session as verified now, for a code of a time
// step that was never accepted before. A session may verify its second factor again. Throws
// RATE_LIMITED while attempts are paused, INVALID_STATE if there is no second factor.
bool verify_totp(Context& context, const rules::Session& session, std::string_view code,
                 std::string_view request_id);

// The same for a backup code. Each backup code works once.
bool verify_backup_code(Context& context, const rules::Session& session, std::string_view code,
                        std::string_view request_id);

// Deletes the admin's second factor, backup codes and sessions. The admin enrolls again at the next
// sign-in. For the operator. Throws std::invalid_argument if the address is not an admin's.
AdminId reset_two_factor(Context& context, std::string_view email);

}  // namespace muster::service
