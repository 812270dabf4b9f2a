// An organization, the tenant.
#pragma once

#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace muster::rules {

using muster::text_of;

// Disabled: no credential works, and the runner does nothing for it. Deleting: it is disabled, and
// its rows are being deleted.
enum class OrganizationState : std::uint8_t { Active, Disabled, Deleting };

struct Organization {
    OrgId id;
    std::string name;
    Timestamp created_at;
    OrganizationState state = OrganizationState::Active;
};

inline constexpr std::size_t kLongestOrganizationName = 255;  // in characters

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::OrganizationState> = {
    Name{rules::OrganizationState::Active, "active"},
    Name{rules::OrganizationState::Disabled, "disabled"},
    Name{rules::OrganizationState::Deleting, "deleting"}};

}  // namespace muster
