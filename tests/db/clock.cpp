#include "db/clock.hpp"

#include "base/test_clock.hpp"

#include <atomic>

namespace {

std::atomic<std::int64_t> g_milliseconds{0};

}  // namespace

namespace muster {

Milliseconds test_clock_offset() {
    return Milliseconds(g_milliseconds);
}

}  // namespace muster

namespace muster::test {

ClockChange::ClockChange(Milliseconds by) {
    g_milliseconds = by.count();
}

ClockChange::~ClockChange() {
    g_milliseconds = 0;
}

}  // namespace muster::test
