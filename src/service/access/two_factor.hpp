// The second factor of admin sign-in: TOTP codes of an authenticator app (RFC 6238), and backup
// codes in case it is lost (docs/api/sign-in.md "Admin sign-in"). Five failures pause all attempts
// of the admin, over all their sessions (rules/access/second_factor.hpp).
#pragma once

#include "base/secret.hpp"
#include "rules/access/admins.hpp"
#include "service/context.hpp"

#include <string_view>
#include <vector>

namespace muster::rules {
struct Session;
}

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

struct FactorAttempt {
    const rules::Session& session;
    std::string_view code;
    std::string_view request_id;
    // A right code replaces the session's token. The previous one is then invalid.
    bool replaces_token = false;
};
struct FactorResult {
    bool is_right = false;
    Secret new_token = Secret();  // if the attempt replaces the token
};

// Verifies a TOTP code. It is right, and marks the session as verified now, if it is of a time step
// that was never accepted before. The first right code of a session also accepts an invitation if
// the admin has no seat (service/access/team.hpp). A session may verify its second factor again.
// Throws RATE_LIMITED while attempts are paused, INVALID_STATE if there is no second factor.
FactorResult verify_totp(Context& context, const FactorAttempt& attempt);

// The same for a backup code. Each backup code works once.
FactorResult verify_backup_code(Context& context, const FactorAttempt& attempt);

// How many backup codes the admin has not used.
std::int64_t count_backup_codes(Context& context, AdminId admin);

// Replaces the backup codes. `codes` is empty if the attempt's code is wrong. The code is of the
// authenticator, or a backup code. Wrong ones count as in verify_totp().
std::vector<Secret> replace_backup_codes(Context& context, const FactorAttempt& attempt);

// Another authenticator for the admin. It replaces the current one when the same session confirms a
// code of it within 15 minutes; until then, another call replaces it.
struct NextAuthenticator {
    Secret secret;
    Secret uri;
};
// nullopt if the attempt's code is wrong. It is checked as in replace_backup_codes().
std::optional<NextAuthenticator> replace_authenticator(Context& context,
                                                       const FactorAttempt& attempt);
// False if the code is not one of the new authenticator. Throws INVALID_STATE if the session has
// begun no replacement, or too long ago.
bool confirm_authenticator(Context& context, const FactorAttempt& attempt);

// Deletes the admin's second factor, backup codes and sessions. The admin enrolls again at the next
// sign-in. For the operator. Throws std::invalid_argument if the address is not an admin's.
AdminId reset_two_factor(Context& context, std::string_view email);

}  // namespace muster::service
