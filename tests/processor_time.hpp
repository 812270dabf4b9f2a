// The processor time of a call, and the time that one request may take. Processor time hardly
// depends on what else the machine does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::test {

template <class Call>
double processor_milliseconds(const Call& call) {
    const auto now = [] {
        timespec time{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
    };
    const double began = now();
    call();
    return now() - began;
}

// How many times slower this build and this machine run a loop over pieces of a text than the
// release build on the machine of docs/performance.md; at least 1.
inline double slowness() {
    constexpr double kReleaseMilliseconds = 10;
    const double used = processor_milliseconds([] {
        constexpr std::size_t kPiece = 8;
        const std::string text(std::size_t{1} << 20U, 'a');
        std::vector<std::string_view> pieces;
        std::size_t sum = 0;
        for (int round = 0; round < 8; ++round) {
            pieces.clear();
            for (std::string_view rest(text); !rest.empty(); rest.remove_prefix(kPiece)) {
                pieces.push_back(rest.substr(0, kPiece));
            }
            for (const std::string_view piece : pieces) {
                for (const char c : piece) sum = sum * 31 + static_cast<unsigned char>(c);
            }
            sum += static_cast<std::size_t>(std::count_if(
                pieces.begin(), pieces.end(),
                [&](std::string_view piece) { return std::optional(piece)->size() == sum % 9; }));
        }
        volatile std::size_t kept = sum;
        static_cast<void>(kept);
    });
    return std::max(1.0, used / kReleaseMilliseconds);
}

// What the costliest legal request of an operation may take.
inline double processor_limit() {
    constexpr double kMilliseconds = 250;
    return kMilliseconds * slowness();
}

}  // namespace muster::test
