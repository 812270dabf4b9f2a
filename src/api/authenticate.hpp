// From the Authorization header to a caller, and whether that caller may use an endpoint
// (specification 5, docs/api/authentication.md "Authentication").
#pragma once

#include "api/endpoint.hpp"
#include "service/callers.hpp"

namespace muster::api {

// Throws UNAUTHORIZED.
service::Caller authenticate(service::Context& context, const http::Request& request);

// Throws FORBIDDEN (another kind of credential, or a seat that may not), 2FA_REQUIRED, BAD_REQUEST
// for an X-Expect-Organization that is no id, and CONFLICT for one that the caller does not act on.
void authorize(const Endpoint& endpoint, const service::Caller& caller,
               const http::Request& request);

// Throws SIGNATURE_INVALID unless the request carries the module's signature over its
// Idempotency-Key and these bytes, of the last or next five minutes.
void require_signature(const service::Context& context, const service::ModuleCaller& module,
                       const http::Request& request, std::string_view body);

}  // namespace muster::api
