// The texts of the rules' enums (base/names.hpp); text_of() is found by its argument.
#pragma once

#include "base/names.hpp"

namespace muster::rules {
using muster::text_of;
}
