#include "service/lease.hpp"

#include "base/settings.hpp"

namespace muster::service {

Timestamp lease_end(const Context& context, Timestamp now) {
    return now + Milliseconds(context.settings.jobs.lease * 1000);
}

}  // namespace muster::service
