// What a member job does with each of its members.
#pragma once

#include "base/names.hpp"

#include <array>
#include <cstdint>

namespace muster::rules {

using muster::text_of;

enum class MemberAction : std::uint8_t { Lock, Unlock, Remove };

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::MemberAction> = {
    Name{rules::MemberAction::Lock, "lock"}, Name{rules::MemberAction::Unlock, "unlock"},
    Name{rules::MemberAction::Remove, "remove"}};

}  // namespace muster
