// The second factor of an admin's sign-in: an authenticator's codes, and backup codes for the day
// it is lost (docs/api/sign-in.md "Admin sign-in", RFC 6238). Five failures pause all guessing for
// a quarter of an hour, per admin, whatever session they come from.
#pragma once

#include "base/secret.hpp"
#include "rules/access/admins.hpp"
#include "service/context.hpp"

#include <string_view>
#include <vector>

namespace muster::service {

// All shown this once.
struct Enrollment {
    Secret secret;
    Secret uri;
    std::vector<Secret> backup_codes;
};

// A new second factor; it counts once a code of it was verified, and until then another call takes
// its place. Throws INVALID_STATE for an admin who has one already.
Enrollment enable_two_factor(Context& context, const rules::Session& session);

// True, and the session is past its second factor, for a code of a time step that was never
// accepted before. Throws RATE_LIMITED while guessing is paused, INVALID_STATE without a second
// factor to verify.
bool verify_totp(Context& context, const rules::Session& session, std::string_view code,
                 std::string_view request_id);

// The same for a backup code, which is used up.
bool verify_backup_code(Context& context, const rules::Session& session, std::string_view code,
                        std::string_view request_id);

// Takes the admin's second factor, backup codes and sessions away: the next sign-in enrolls anew.
// For the operator. Throws std::invalid_argument for an address that is no admin's.
AdminId reset_two_factor(Context& context, std::string_view email);

}  // namespace muster::service
