// [database] of muster.conf: how the programs reach the database.
#pragma once

#include "base/secret.hpp"

#include <string>

namespace muster {

struct DatabaseSettings {
    std::string url;
    std::string name;
    std::string user;
    Secret password;
    std::string tls_ca;
    int connect_timeout = 0;
    int read_timeout = 0;
    int idle_timeout = 0;
};

}  // namespace muster
