// [console] of muster.conf.
#pragma once

#include <string>

namespace muster {

struct ConsoleSettings {
    std::string origin;
};

}  // namespace muster
