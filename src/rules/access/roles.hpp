// Roles of admins in an organization.
#pragma once

#include "base/names.hpp"

#include <array>
#include <cstdint>

namespace muster::rules {

using muster::text_of;

// The rights of an admin in one organization. Each role includes the previous ones.
enum class Role : std::uint8_t { Viewer, Admin, Owner };

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::Role> = {Name{rules::Role::Viewer, "viewer"},
                                                   Name{rules::Role::Admin, "admin"},
                                                   Name{rules::Role::Owner, "owner"}};

}  // namespace muster
