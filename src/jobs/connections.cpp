#include "jobs/connections.hpp"

namespace muster::jobs {
namespace {

// Nobody waits for a refresh to the tenth of a second.
constexpr Milliseconds kLook{1'000};

}  // namespace

bool ConnectionWork::turn(const Deadline& deadline) {
    const Timestamp now = Timestamp::now();
    if (now < next_look_) return false;
    const bool has_worked = upkeep_.step([&deadline] { return deadline.over(); }) > 0;
    if (!has_worked) next_look_ = now + kLook;
    return has_worked;
}

}  // namespace muster::jobs
