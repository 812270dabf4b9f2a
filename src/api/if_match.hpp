// If-Match for records whose version is their updated_at (service/versions.hpp).
#pragma once

#include "api/endpoint.hpp"
#include "service/versions.hpp"

namespace muster::api {

// Throws PRECONDITION_FAILED if the record does not have an ETag of the request's If-Match. Accepts
// any version without If-Match.
service::VersionCheck version_check(const Call& call);

}  // namespace muster::api
