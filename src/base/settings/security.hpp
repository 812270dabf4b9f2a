// [security] of muster.conf: the installation's keys.
#pragma once

#include "base/secret.hpp"

namespace muster {

struct SecuritySettings {
    Secret key;
    Secret previous_key;
};

}  // namespace muster
