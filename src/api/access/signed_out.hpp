// The end of the caller's session, for session.cpp and own_seats.cpp.
#pragma once

#include "api/console_session.hpp"
#include "api/endpoint.hpp"

#include <vector>

namespace muster::api {

// The headers of the reply with which the caller's session ends.
inline std::vector<http::Header> signed_out(const Call& call) {
    return call.has_session_cookie ? console_session_end() : std::vector<http::Header>();
}

}  // namespace muster::api
