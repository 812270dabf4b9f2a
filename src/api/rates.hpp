// The rates of a request: that of its credential, and that of all callers of its organization
// (docs/api/limits.md "Rate limits").
#pragma once

#include "api/worker_state.hpp"
#include "service/callers.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace muster::api {

struct ChargedRates {
    std::string policies;        // RateLimit-Policy
    std::string left;            // RateLimit
    int retry_after = 0;         // seconds; 0 if the request is accepted
    std::int64_t remaining = 0;  // of the caller's own rate
};

// Charges one request to the caller.
ChargedRates charge_caller(WorkerState& worker, const service::Caller& caller);
// Charges it to the caller's organization too, unless the caller is above its own rate.
void charge_organization(WorkerState& worker, const service::Caller& caller, ChargedRates& charged);

// Charges a request without a credential, whose signed token names the organization. Returns false
// above the organization's rate for such requests.
bool charge_token(WorkerState& worker, const OrgId& organization);

// Reserves the upload of a body of this length, in bytes, for the organization. The upload then
// waits for the result's `wait`. Not allowed, and not charged: it would wait longer than
// `longest_wait`. Bodies below 64 KiB are free.
process::RateResult reserve_upload(WorkerState& worker, const OrgId& organization,
                                   std::size_t length, std::chrono::microseconds longest_wait);

}  // namespace muster::api
