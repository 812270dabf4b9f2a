// The status of a member.
#pragma once

#include "base/names.hpp"

#include <array>
#include <cstdint>

namespace muster::rules {

using muster::text_of;

enum class MemberStatus : std::uint8_t { Active, Locked };

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::MemberStatus> = {
    Name{rules::MemberStatus::Active, "active"}, Name{rules::MemberStatus::Locked, "locked"}};

}  // namespace muster
