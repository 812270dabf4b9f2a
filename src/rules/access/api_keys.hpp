// An organization's API key, without its secret.
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace muster::rules {

struct ApiKey {
    OrgId organization_id;
    ApiKeyId id;
    std::string name;
    std::string last_four;
    std::optional<std::int64_t> rate_per_second;  // nullopt: the installation's default
    std::optional<std::int64_t> burst;
    std::optional<AdminId> created_by;
    Timestamp created_at;
    std::optional<Timestamp> last_used_at;
    std::optional<Timestamp> expires_at;
    std::optional<Timestamp> revoked_at;
};

}  // namespace muster::rules
