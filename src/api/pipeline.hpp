// The way of a request: route, authenticate, read and check the body, hand over, render; and the
// one place where whatever was thrown becomes an envelope (specification 2.15).
#pragma once

#include "api/routes.hpp"
#include "http/metrics.hpp"
#include "http/rate_limiter.hpp"

namespace muster::api {

class Pipeline {
  public:
    // What all workers share: figures and rate limits.
    Pipeline(service::Context& context, http::Metrics& metrics, http::RateLimiter& limiter)
        : context_(context), metrics_(metrics), limiter_(limiter) {}

    // Never throws, but http::Aborted.
    http::Reply handle(const http::Request& request);

    // True once something happened that no code here expected: the worker should end after this
    // reply, so that nothing half-done lives on.
    bool is_tainted() const { return tainted_; }

  private:
    http::Reply answer(const http::Request& request, const Match& match);
    // What every answer to a known caller carries, refusals too. Throws RATE_LIMITED.
    void meet(const service::Caller& caller);
    http::Reply answer_or_error(const http::Request& request, const Match& match);

    service::Context& context_;
    http::Metrics& metrics_;
    http::RateLimiter& limiter_;
    std::vector<http::Header> headers_;  // that this answer gets whatever becomes of it
    bool tainted_ = false;
};

}  // namespace muster::api
