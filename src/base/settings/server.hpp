// [server] of muster.conf: musterd's sockets and workers.
#pragma once

#include <string>

namespace muster {

struct ServerSettings {
    std::string socket;
    std::string socket_mode;
    int workers = 0;
    std::string collector_socket;
    int collectors = 0;
    std::string reader_socket;
    int readers = 0;
    int recycle_requests = 0;
    int recycle_memory = 0;
    int stale_after = 0;
    std::string base_url;
};

}  // namespace muster
