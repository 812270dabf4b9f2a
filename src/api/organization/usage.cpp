// Serves /v1/organization/usage: what the organization uses of its limits (docs/api/limits.md).
#include "service/organization/usage.hpp"

#include "api/groups.hpp"

namespace muster::api {
namespace {

auto get_usage(Call& call) {
    return service::organization_usage(call.context, call.org());
}

constexpr std::array kOrganizationEndpoints = {
    Endpoint{
        .method = http::Method::Get,
        .path = "/v1/organization/usage",
        .operation = "getOrganizationUsage",
        .summary = "Get what the organization uses of its limits",
        .description =
            "Returns each limit of the organization with what is used of it: limits of a day, and "
            "numbers of records. Read it before a large import, or after 429 QUOTA_EXCEEDED. The "
            "limits of the day begin again at midnight UTC.",
        .reply = {200, "The limits and their use."},
        .handler = answers<rules::kOrganizationUsage, get_usage>},
};
static_assert(well_formed(kOrganizationEndpoints, "/v1/organization"));

}  // namespace

std::span<const Endpoint> organization_endpoints() {
    return kOrganizationEndpoints;
}

}  // namespace muster::api
