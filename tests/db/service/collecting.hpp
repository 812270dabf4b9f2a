// Calls of a collector (service/collecting.hpp) whose rows may be locked.
#pragma once

#include "db/fixture.hpp"
#include "service/collecting.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <vector>

namespace muster::test {

// A collector does not wait for a lock. MySQL has no shorter wait than one second.
inline db::ConnectionSettings collector_settings() {
    auto settings = connection_settings();
    settings.lock_timeout_seconds = 0;
    return settings;
}

inline bool is_left(const service::Outcome& outcome) {
    return std::holds_alternative<service::RowsLocked>(outcome);
}

// Collects the calls, and those whose rows are locked again, until each has another outcome.
inline std::vector<service::Outcome> collect_patiently(
    service::Collector& collector, std::span<const service::CollectedCall> calls) {
    auto outcomes = collector.collect(calls);
    const bool is_done = until([&] {
        std::vector<std::size_t> left;
        std::vector<service::CollectedCall> again;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            if (!is_left(outcomes[i])) continue;
            left.push_back(i);
            again.push_back(calls[i]);
        }
        auto next = collector.collect(again);
        for (std::size_t i = 0; i < left.size(); ++i) outcomes[left[i]] = std::move(next[i]);
        return std::ranges::none_of(outcomes, is_left);
    });
    if (!is_done) throw std::runtime_error("a row is still locked");
    return outcomes;
}

}  // namespace muster::test
