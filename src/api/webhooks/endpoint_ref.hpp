// The webhook endpoint that the path of a request names.
#pragma once

#include "api/endpoint.hpp"
#include "service/webhooks/endpoints.hpp"

namespace muster::api {

// Of a path that begins with /v1/installations/{id}/webhook-endpoints/{endpointId}.
inline service::EndpointRef endpoint_ref(const Call& call) {
    return {call.id<InstallationId>(0), call.id<EndpointId>(1)};
}

}  // namespace muster::api
