// A code of the second factor in a request, for sign_in.cpp and own_factor.cpp.
#pragma once

#include "api/endpoint.hpp"
#include "service/access/two_factor.hpp"

#include <string>

namespace muster::api {

struct FactorCode {
    std::string code;
};

inline service::FactorAttempt attempt_of(const Call& call, const FactorCode& in) {
    return {.session = call.session(), .code = in.code, .request_id = call.request.request_id};
}

// The session, if there is one, continues: the caller may type the code again.
[[noreturn]] inline void reject_code() {
    throw Error(ErrorCode::Unauthorized).detail("reason", "WRONG_CODE");
}

}  // namespace muster::api
