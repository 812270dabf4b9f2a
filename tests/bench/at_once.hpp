// The rate of several writers that run at the same time: for the floors that write without a
// server.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace muster::bench {

// Calls each writer's write() repeatedly, in its own thread. Returns the calls per second of all
// together; nullopt if one failed, which is reported on stderr.
template <class Writer>
std::optional<double> calls_per_second(const std::vector<std::unique_ptr<Writer>>& writers,
                                       int seconds) {
    using Clock = std::chrono::steady_clock;
    std::atomic<long> written{0};
    std::atomic<bool> failed{false};
    const auto end = Clock::now() + std::chrono::seconds(seconds);
    const auto write = [&](Writer& writer) {
        long count = 0;
        try {
            for (; Clock::now() < end; ++count) writer.write();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
            failed = true;
        }
        written += count;
    };
    {
        std::vector<std::jthread> threads;
        for (const auto& writer : writers) threads.emplace_back([&] { write(*writer); });
    }
    if (failed) return std::nullopt;
    return static_cast<double>(written) / seconds;
}

}  // namespace muster::bench
