// Turns requests into replies with the steps of api/request_flow.hpp. An API worker processes one
// request at a time. A collector processes all waiting requests together and commits their writes
// in one transaction.
#pragma once

#include "api/request_flow.hpp"

#include <optional>
#include <span>
#include <vector>

namespace muster::api {

class Pipeline {
  public:
    // Shared by all workers: metrics, rate limits and concurrency limits.
    Pipeline(service::Context& context, process::Metrics& metrics, process::RateLimiter& limiter,
             process::ConcurrencyLimit& concurrency)
        : worker_(context, metrics, limiter, concurrency) {}

    // The replies in the order of the requests; nullopt if the client disconnected. Never throws.
    std::vector<std::optional<http::Reply>> handle(std::span<const http::Request> requests);

    // true after an unexpected error: the worker should exit after these replies, so that no
    // inconsistent state remains.
    bool is_tainted() const { return tainted_; }

  private:
    PublishableKeys find_keys(std::vector<RequestFlow>& flows);
    void write(std::vector<RequestFlow>& flows);

    WorkerState worker_;
    bool tainted_ = false;
};

}  // namespace muster::api
