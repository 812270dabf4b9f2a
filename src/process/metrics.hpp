// Counters that all workers share in memory mapped before the fork. text() prints them in the
// Prometheus text format for /metrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace muster::process {

class Metrics {
  public:
    // `operations`: the ids of all endpoint rows. count() takes an index of this list.
    explicit Metrics(std::vector<std::string_view> operations);
    ~Metrics();
    Metrics(const Metrics&) = delete;
    Metrics& operator=(const Metrics&) = delete;

    static constexpr std::size_t kNoOperation = static_cast<std::size_t>(-1);

    // Counts one request. `operation` is an index, or kNoOperation if no endpoint matched; `status`
    // is the HTTP status.
    void count(std::size_t operation, int status, std::int64_t microseconds);
    // Adds statements and rerun transactions.
    void count_database(int statements, int reruns);
    // Counts one batch of a collector that wrote this many requests.
    void count_collected(std::size_t requests);
    // All metrics in the Prometheus text format.
    std::string text() const;

  private:
    struct Shared;
    std::vector<std::string_view> operations_;
    Shared* shared_;
};

}  // namespace muster::process
