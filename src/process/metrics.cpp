#include "process/metrics.hpp"

#include "process/shared_memory.hpp"

#include <array>
#include <atomic>
#include <new>
#include <stdexcept>
#include <utility>

namespace muster::process {
namespace {

using Counter = std::atomic<std::uint64_t>;
static_assert(Counter::is_always_lock_free);

constexpr std::size_t kMostOperations = 256;
constexpr std::size_t kStatusClasses = 5;
constexpr std::array<std::int64_t, 9> kBounds = {1'000,   2'500,   5'000,     10'000,   25'000,
                                                 100'000, 250'000, 1'000'000, 5'000'000};

std::string seconds(std::int64_t microseconds) {
    std::string text = std::to_string(static_cast<double>(microseconds) / 1e6);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text;
}

}  // namespace

struct Metrics::Shared {
    struct Operation {
        std::array<Counter, kStatusClasses> by_status;
        std::array<Counter, kBounds.size() + 1> buckets;
        Counter microseconds;
    };

    std::array<Operation, kMostOperations + 1>
        operations;  // the last one counts requests without an operation
    Counter statements;
    Counter reruns;
    Counter batches;
    Counter batched_requests;
};

namespace {

std::string counter(std::string_view name, std::string_view help, const Counter& value) {
    std::string text = "# HELP ";
    text.append(name).append(" ").append(help).append("\n# TYPE ").append(name);
    text.append(" counter\n").append(name).append(" ").append(std::to_string(value)).append("\n");
    return text;
}

}  // namespace

Metrics::Metrics(std::vector<std::string_view> operations) : operations_(std::move(operations)) {
    if (operations_.size() > kMostOperations)
        throw std::length_error("kMostOperations is too small");
    operations_.resize(kMostOperations);
    operations_.emplace_back("none");
    shared_ = new (map_shared(sizeof(Shared))) Shared{};
}

Metrics::~Metrics() {
    unmap_shared(shared_, sizeof(Shared));
}

void Metrics::count(std::size_t operation, int status, std::int64_t microseconds) {
    Shared::Operation& to =
        shared_->operations[operation < kMostOperations ? operation : kMostOperations];
    const auto status_class = static_cast<std::size_t>(status / 100 - 1);
    if (status_class < kStatusClasses) ++to.by_status[status_class];
    std::size_t bucket = 0;
    while (bucket < kBounds.size() && microseconds > kBounds[bucket]) ++bucket;
    ++to.buckets[bucket];
    to.microseconds += static_cast<std::uint64_t>(microseconds);
}

void Metrics::count_database(int statements, int reruns) {
    shared_->statements += static_cast<std::uint64_t>(statements);
    shared_->reruns += static_cast<std::uint64_t>(reruns);
}

void Metrics::count_collected(std::size_t requests) {
    ++shared_->batches;
    shared_->batched_requests += requests;
}

std::string Metrics::text() const {
    std::string requests =
        "# HELP muster_requests_total Requests answered.\n# TYPE muster_requests_total counter\n";
    std::string times =
        "# HELP muster_request_seconds Time from the worker's start to the reply.\n"
        "# TYPE muster_request_seconds histogram\n";
    for (std::size_t i = 0; i < operations_.size(); ++i) {
        if (operations_[i].empty()) continue;
        const Shared::Operation& operation = shared_->operations[i];
        std::string label = "operation=\"";
        label.append(operations_[i]).append("\"");
        for (std::size_t status = 0; status < kStatusClasses; ++status) {
            requests += "muster_requests_total{" + label + ",status=\"" +
                        std::to_string(status + 1) + "xx\"} " +
                        std::to_string(operation.by_status[status]) + "\n";
        }
        std::uint64_t sum = 0;
        for (std::size_t bucket = 0; bucket <= kBounds.size(); ++bucket) {
            sum += operation.buckets[bucket];
            const std::string bound = bucket < kBounds.size() ? seconds(kBounds[bucket]) : "+Inf";
            times.append("muster_request_seconds_bucket{")
                .append(label)
                .append(",le=\"")
                .append(bound);
            times.append("\"} ").append(std::to_string(sum)).append("\n");
        }
        times += "muster_request_seconds_sum{" + label + "} " +
                 seconds(static_cast<std::int64_t>(operation.microseconds.load())) + "\n";
        times += "muster_request_seconds_count{" + label + "} " + std::to_string(sum) + "\n";
    }
    return requests + times +
           counter("muster_db_statements_total", "Statements sent to the database.",
                   shared_->statements) +
           counter("muster_db_reruns_total", "Transactions that were run again.", shared_->reruns) +
           counter("muster_collector_batches_total", "Batches that collectors wrote.",
                   shared_->batches) +
           counter("muster_collector_requests_total", "Requests that were written in batches.",
                   shared_->batched_requests);
}

}  // namespace muster::process
