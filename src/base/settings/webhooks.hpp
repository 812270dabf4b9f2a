// [webhooks] of muster.conf: delivery to webhook endpoints.
#pragma once

#include <string>

namespace muster {

struct WebhooksSettings {
    bool loopback = false;
    int connections = 0;
    int endpoint_connections = 0;
    int backlog = 0;
    std::string ca_file;
    std::string dns;
};

}  // namespace muster
