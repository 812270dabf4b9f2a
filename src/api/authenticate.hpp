// Authenticates the caller and checks access to an endpoint (specification 5,
// docs/api/authentication.md "Authentication").
#pragma once

#include "api/endpoint.hpp"

namespace muster::service {
struct ModuleCaller;
}

namespace muster::api {

// Lets a session past its second factor act on the organization in X-Organization, if the admin has
// a seat there. Otherwise authorize() rejects the request.
void act_on_named_organization(service::Context& context, service::Caller& caller,
                               const http::Request& request);

// Throws FORBIDDEN for another kind of credential, an insufficient role, or an organization in
// X-Organization on which the caller does not act; 2FA_REQUIRED; 2FA_TOO_OLD; BAD_REQUEST if one of
// the two headers is not an id; and CONFLICT if the caller acts on another organization than
// X-Expect-Organization.
void authorize(const Endpoint& endpoint, const service::Caller& caller,
               const http::Request& request);

// Throws 2FA_TOO_OLD if the caller is a session whose second factor is older than 15 minutes.
void require_recent_factor(const service::Caller& caller);

// Throws QUOTA_EXCEEDED if an admin's call may write an entry of the audit log and the log of the
// day is full. Deletions and the second factor are always possible.
void require_open_log(service::Context& context, const Endpoint& endpoint,
                      const service::Caller& caller);

// Verifies the module's signature of the Idempotency-Key and the body, whose timestamp must be
// within five minutes of now. Throws SIGNATURE_INVALID.
void require_signature(const service::Context& context, const service::ModuleCaller& module,
                       const http::Request& request, std::string_view body);

}  // namespace muster::api
