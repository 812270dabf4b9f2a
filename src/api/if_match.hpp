// The conditions of a change: If-Match and If-None-Match (RFC 9110 section 13.1).
#pragma once

#include "api/endpoint.hpp"
#include "service/versions.hpp"

#include <optional>
#include <string>

namespace muster::api {

// Whether the change depends on the record's ETag.
[[nodiscard]] bool has_condition(const Call& call);

// `etag`: of the record that the transaction has locked; nullopt if there is no such record. Throws
// PRECONDITION_FAILED if If-Match does not have the ETag, or If-None-Match has it.
void check_condition(const Call& call, const std::optional<std::string>& etag);

// The same check for records whose version is their updated_at (service/versions.hpp). Accepts any
// version if the request has no condition.
service::VersionCheck version_check(const Call& call);

}  // namespace muster::api
