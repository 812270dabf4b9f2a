// Roles of admins in an organization.
#pragma once

#include "base/names.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace muster::rules {

using muster::text_of;

// The rights of an admin in one organization. Each role includes the previous ones.
enum class Role : std::uint8_t { Viewer, Admin, Owner };

// For the OpenAPI description.
inline constexpr std::string_view kRoleMeaning =
    "viewer: reads; admin: also writes; owner: also manages the team, and renames the organization.";

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::Role> = {Name{rules::Role::Viewer, "viewer"},
                                                   Name{rules::Role::Admin, "admin"},
                                                   Name{rules::Role::Owner, "owner"}};

}  // namespace muster
