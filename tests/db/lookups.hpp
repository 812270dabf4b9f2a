// Looks up one record where the product looks up those of many requests. The caller includes the
// header of the record.
#pragma once

#include "service/context.hpp"

#include <optional>
#include <string>

namespace muster::rules {
struct Member;
}
namespace muster::service {
struct Caller;
}

namespace muster::test {

std::optional<service::Caller> find_caller(service::Context& context, const std::string& token);
std::optional<rules::Member> find_member(service::Context& context, OrgId organization,
                                         UserId user);

}  // namespace muster::test
