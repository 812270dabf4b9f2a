// The first factor of an admin's sign-in: a code sent by mail (specification 4.5,
// docs/api/sign-in.md "Admin sign-in"). What is answered, and how long it takes, does not depend on
// whether the address is an admin's.
#pragma once

#include "service/access/sessions.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

// Queues a mail with a new code, valid for five minutes; the code before it is dead. The mail for
// an address that is no admin's goes to nobody. Throws RATE_LIMITED: one a minute and
// five an hour for an address.
void request_sign_in_code(Context& context, std::string_view email);

struct SignedIn {
    NewSession opened;
    std::vector<rules::Seat> seats;  // earliest first
};
// The code counts once, and at most five tries. nullopt for a wrong, used or expired one, or an
// address that is no admin's. Throws RATE_LIMITED after 20 failures within an hour for that
// address, whatever codes were sent meanwhile, and for a right code too.
std::optional<SignedIn> verify_sign_in_code(Context& context, std::string_view email,
                                            std::string_view code);

}  // namespace muster::service
