// Looks up or creates one record where the product handles those of many requests. The caller
// includes the header of the record.
#pragma once

#include "service/context.hpp"

#include <optional>
#include <string>

namespace muster::rules {
struct Member;
struct MemberFields;
}  // namespace muster::rules
namespace muster::service {
struct Caller;
}

namespace muster::test {

struct DatabaseContext;

std::optional<service::Caller> find_caller(service::Context& context, const std::string& token);
std::optional<rules::Member> find_member(service::Context& context, OrgId organization,
                                         UserId user);
// Creates a member as POST /v1/users does.
UserId add_member(DatabaseContext& worker, OrgId organization, const rules::MemberFields& fields);

}  // namespace muster::test
