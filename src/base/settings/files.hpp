// [files] of muster.conf.
#pragma once

#include <string>

namespace muster {

struct FilesSettings {
    std::string sql;
};

}  // namespace muster
