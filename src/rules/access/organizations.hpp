// An organization, the tenant.
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"

#include <string>

namespace muster::rules {

struct Organization {
    OrgId id;
    std::string name;
    Timestamp created_at;
};

}  // namespace muster::rules
