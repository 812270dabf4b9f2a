// Credentials: the only reader of them.
#pragma once

#include "http/message.hpp"
#include "service/context.hpp"

namespace muster::api {

// The actor behind `Authorization: Bearer …`. Throws UNAUTHORIZED.
service::Actor authenticate(service::Context& context, const http::Request& request);

}  // namespace muster::api
