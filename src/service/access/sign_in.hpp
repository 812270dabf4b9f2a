// The first factor of admin sign-in: a code sent by mail (specification 4.5, docs/api/sign-in.md
// "Admin sign-in"). Neither the reply nor its timing reveals whether the address belongs to an
// admin.
#pragma once

#include "service/access/sessions.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
struct Seat;  // rules/access/admins.hpp
}

namespace muster::service {

// Queues a mail with a new code, valid for five minutes, and replaces the previous code. For an
// address without a seat or an invitation, the queued mail has no recipient. Throws RATE_LIMITED:
// one request a minute and five an hour for each address.
void request_sign_in_code(Context& context, std::string_view email);

struct SignedIn {
    NewSession opened;
    std::vector<rules::Seat> seats;  // in order of creation
};
// Signs the admin in. An invited person becomes an admin, without the seat until the second factor
// (service/access/team.hpp): the session then has the organization of the invitation. A code is
// accepted once and allows at most five attempts. Returns nullopt if the code is wrong, used or
// expired, or the address is not that of an admin or an invited person. Throws RATE_LIMITED, also
// for a correct code, after 20 failures in an hour for the address, over all its codes. The first
// failure of each hour is logged in the admin's organizations. `previous`: the token of a session
// that ends with the sign-in.
std::optional<SignedIn> verify_sign_in_code(Context& context, std::string_view email,
                                            std::string_view code, std::string_view request_id,
                                            const rules::SessionClient& client = {},
                                            const std::optional<std::string>& previous = {});

}  // namespace muster::service
