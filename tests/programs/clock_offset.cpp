// Part of the programs that the tests run, and of no installed program (Makefile): the environment
// variable MUSTER_CLOCK_OFFSET (seconds) shifts the clock, for tests of retention and expiry.
#include "base/test_clock.hpp"
#include "base/text.hpp"

#include <cstdlib>

namespace muster {

Milliseconds test_clock_offset() {
    static const Milliseconds kOffset = [] {
        const char* seconds = std::getenv("MUSTER_CLOCK_OFFSET");
        const auto value = seconds ? parse_number<std::int64_t>(seconds) : std::nullopt;
        return Milliseconds(value.value_or(0) * 1000);
    }();
    return kOffset;
}

}  // namespace muster
