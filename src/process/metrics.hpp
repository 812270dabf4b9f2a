// Counters that all workers share (memory mapped before the fork) and /metrics prints in
// Prometheus' text format.
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
    // `operations`: the ids of all endpoint rows; the index of one is its place here.
    explicit Metrics(std::vector<std::string_view> operations);
    ~Metrics();
    Metrics(const Metrics&) = delete;
    Metrics& operator=(const Metrics&) = delete;

    static constexpr std::size_t kNoOperation = static_cast<std::size_t>(-1);

    void count(std::size_t operation, int status, std::int64_t microseconds);
    void count_database(int statements, int reruns);
    // A transaction of a collector, with what so many requests brought.
    void count_collected(std::size_t requests);
    std::string text() const;

  private:
    struct Shared;
    std::vector<std::string_view> operations_;
    Shared* shared_;
};

}  // namespace muster::process
