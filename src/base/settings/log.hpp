// [log] of muster.conf.
#pragma once

#include <string>

namespace muster {

struct LogSettings {
    std::string level;
};

}  // namespace muster
