#include "service/access/credentials.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"

namespace muster::service {

void reject_past_expiry(const std::optional<Timestamp>& expires_at, Timestamp now) {
    if (!expires_at || *expires_at > now) return;
    Faults faults;
    faults.add("expires_at", FieldCode::OutOfRange);
    throw Error(ErrorCode::ValidationError).fields(faults);
}

}  // namespace muster::service
