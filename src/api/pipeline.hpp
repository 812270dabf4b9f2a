// Turns requests into replies with the steps of api/request_flow.hpp. An API worker processes one
// request at a time. Readers and collectors process all waiting requests together: readers share
// the queries of the batch, collectors commit its writes in one transaction.
#pragma once

#include "api/read_sizes.hpp"
#include "api/request_flow.hpp"
#include "api/waiting_places.hpp"
#include "base/log.hpp"
#include "http/fcgi_io.hpp"

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace muster::api {

class Pipeline {
  public:
    // Shared by all workers: metrics, rate limits, concurrency limits and shares. Calls
    // `before_heavy_part` before it runs requests that hold a permit of their organization.
    Pipeline(
        service::Context& context, process::Metrics& metrics, process::RateLimiter& limiter,
        process::ConcurrencyLimit& concurrency, const GroupShare& share = {},
        std::function<void()> before_heavy_part = [] {})
        : worker_(context, metrics, limiter, concurrency),
          share_(share),
          collector_(context),
          before_heavy_part_(std::move(before_heavy_part)) {}

    // Answers the requests, each as soon as its reply is ready. Returns those whose organization
    // has its share of the workers or of this batch, whose rows are locked, or who would make the
    // batch wait. Throws only what `answer` throws, and std::bad_alloc; the worker is tainted then.
    std::vector<http::Deferral> handle(std::span<const http::Request> requests,
                                       const http::Answer& answer);

    // true after an unexpected error: the worker should exit after these replies, so that no
    // inconsistent state remains.
    bool is_tainted() const { return tainted_; }

  private:
    // Calls to write together, and their places in the batch of requests.
    struct CollectedBatch {
        std::vector<std::size_t> indexes;
        std::vector<service::CollectedCall> calls;
    };
    using Permits = std::vector<process::OrganizationShares::Permit>;
    std::vector<http::Deferral> handle_batch(std::span<const http::Request> requests,
                                             const http::Answer& answer);
    service::Callers identify(std::vector<RequestFlow>& flows);
    service::Callers identify_one_by_one(std::vector<RequestFlow>& flows,
                                         const std::set<std::string>& tokens);
    std::vector<http::Deferral> share_out(std::vector<RequestFlow>& flows, Permits& held);
    void leave_late_calls(std::vector<RequestFlow>& flows, CollectedBatch& batch,
                          std::vector<http::Deferral>& deferred);
    void write(std::vector<RequestFlow>& flows, std::vector<http::Deferral>& deferred);
    void run(std::vector<RequestFlow>& flows, std::vector<http::Deferral>& deferred,
             CollectedLines& lines, const std::function<void(std::size_t)>& send_ready);
    void pace_uploads(std::vector<RequestFlow>& flows, std::vector<http::Deferral>& deferred);
    void pace_upload(RequestFlow& flow, std::size_t index, std::vector<http::Deferral>& deferred);
    bool may_defer(const RequestFlow& flow) const;
    bool may_wait_for_turn(const RequestFlow& flow) const;
    void defer(const RequestFlow& flow, std::size_t index, http::Deferral deferral,
               std::vector<http::Deferral>& deferred);

    WorkerState worker_;
    GroupShare share_;
    service::Collector collector_;
    ReadSizes sizes_;
    std::function<void()> before_heavy_part_;
    WaitingPlaces turns_;     // uploads that wait for their turn
    WaitingPlaces deferred_;  // the other requests that were deferred
    bool tainted_ = false;
};

}  // namespace muster::api
