#include "process/active_organizations.hpp"

#include "process/shared_memory.hpp"

#include <atomic>
#include <functional>
#include <new>

// The two words of a place change one after the other. A worker that reads between them may see an
// organization as active for too long or too short a time, once.

namespace muster::process {
namespace {

std::uint64_t active_tag(std::string_view organization) {
    return std::uint64_t{std::hash<std::string_view>{}(organization)} | 1U;  // 0: a free place
}

std::int64_t active_milliseconds(ActiveOrganizations::Clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

struct ActiveOrganizations::Place {
    std::atomic<std::uint64_t> tag{0};
    std::atomic<std::int64_t> last{0};
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
};

ActiveOrganizations::ActiveOrganizations() {
    table_ = new (map_shared(kPlaces * sizeof(Place))) Place[kPlaces]{};
}

ActiveOrganizations::~ActiveOrganizations() {
    unmap_shared(table_, kPlaces * sizeof(Place));
}

void ActiveOrganizations::note(std::string_view organization, Clock::time_point now) {
    const std::uint64_t tag = active_tag(organization);
    const std::int64_t time = active_milliseconds(now);
    Place* oldest = table_;
    for (Place* place = table_; place != table_ + kPlaces; ++place) {
        if (place->tag.load(std::memory_order_relaxed) == tag) {
            place->last.store(time, std::memory_order_relaxed);
            return;
        }
        if (place->last.load(std::memory_order_relaxed) <
            oldest->last.load(std::memory_order_relaxed)) {
            oldest = place;
        }
    }
    oldest->tag.store(tag, std::memory_order_relaxed);
    oldest->last.store(time, std::memory_order_relaxed);
}

bool ActiveOrganizations::has_others(std::string_view organization, Clock::time_point now) const {
    const std::uint64_t own = active_tag(organization);
    const std::int64_t begin = active_milliseconds(now - kActive);
    for (const Place* place = table_; place != table_ + kPlaces; ++place) {
        const std::uint64_t tag = place->tag.load(std::memory_order_relaxed);
        if (tag == 0 || tag == own) continue;
        if (place->last.load(std::memory_order_relaxed) >= begin) return true;
    }
    return false;
}

}  // namespace muster::process
