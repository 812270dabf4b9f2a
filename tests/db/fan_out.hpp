// Creates the deliveries of events, as the runner does.
#pragma once

#include "service/webhooks/fan_out.hpp"

namespace muster::test {

// Until no event waits.
inline void fan_out(service::Context& context) {
    service::FanOut runner(context);
    while (runner.turn()) {
    }
}

}  // namespace muster::test
