// Whatever was thrown on the way of a request, as the error envelope (specification 2.15). The one
// place where it becomes one.
#pragma once

#include "base/error.hpp"
#include "http/message.hpp"

#include <exception>

namespace muster::api {

http::Reply error_reply(const Error& error);

// What an exception becomes, and whether nobody expected it: the worker should end then, so that
// nothing half-done lives on. Logs what the caller is not told.
struct Failure {
    http::Reply reply;
    bool is_unexpected = false;
};
Failure reply_to(const std::exception_ptr& thrown);

}  // namespace muster::api
