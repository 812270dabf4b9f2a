// From requests to replies, through the steps of api/request_flow.hpp. A worker of the API takes
// one request at a time; a collector takes all that wait, and what they write is committed
// together.
#pragma once

#include "api/request_flow.hpp"

#include <optional>
#include <span>
#include <vector>

namespace muster::api {

class Pipeline {
  public:
    // What all workers share: figures, rate limits, and slots for what is slow.
    Pipeline(service::Context& context, process::Metrics& metrics, process::RateLimiter& limiter,
             process::ConcurrencyLimit& concurrency)
        : worker_(context, metrics, limiter, concurrency) {}

    // Replies in the order of the requests; nullopt for a client that has gone. Never throws.
    std::vector<std::optional<http::Reply>> handle(std::span<const http::Request> requests);

    // True once something happened that no code here expected: the worker should end after these
    // replies, so that nothing half-done lives on.
    bool is_tainted() const { return tainted_; }

  private:
    PublishableKeys find_keys(std::vector<RequestFlow>& flows);
    void write(std::vector<RequestFlow>& flows);

    WorkerState worker_;
    bool tainted_ = false;
};

}  // namespace muster::api
