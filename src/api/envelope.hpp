// Turns exceptions into the error envelope (specification 2.15).
#pragma once

#include "base/error.hpp"
#include "http/message.hpp"

#include <exception>

namespace muster::api {

http::Reply error_reply(const Error& error);

// Makes a refusal one that nginx takes from a check: it accepts 403 with headers only, and sends
// what they say (muster-credential.conf). It treats 500 as no answer.
void pack_refusal(http::Reply& reply);

// The reply for an exception. If the exception was unexpected, the worker should exit, so that no
// inconsistent state remains. Logs the details that the caller must not see.
struct Failure {
    http::Reply reply;
    bool is_unexpected = false;
};
Failure reply_to(const std::exception_ptr& thrown);

}  // namespace muster::api
