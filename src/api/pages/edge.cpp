// Serves /edge/key, for nginx only: whether a publishable key may be used from an origin. nginx
// asks before it forwards a page's request and caches the answer for some seconds
// (nginx/snippets/muster-page-key.conf). The workers check the key again with the same functions.
#include "api/groups.hpp"
#include "api/pages/cors.hpp"
#include "http/query.hpp"
#include "service/pages/publishable_keys.hpp"

namespace muster::api {
namespace {

using http::Method;

// The worker that runs the operation checks the key's kind.
void check_publishable_key(Call& call) {
    const std::string token = http::query_value(call.request.query, "key").value_or("");
    // The key may be in the body, which only the worker reads.
    if (token.empty()) return;
    if (!service::is_publishable_token(token)) throw Error(ErrorCode::Unauthorized);
    const auto keys = service::find_publishable_keys(call.context, {&token, 1});
    if (keys.empty()) throw Error(ErrorCode::Unauthorized);
    require_origin(keys.front(), call.request);
}

constexpr std::array kEdgeErrors = {ErrorCode::Unauthorized, ErrorCode::OriginNotAllowed};

constexpr std::array kEdgeEndpoints = {
    Endpoint{
        .method = Method::Get,
        .path = "/edge/key",
        .operation = "checkPublishableKey",
        .summary = "Check whether a publishable key may be used from an origin",
        .description =
            "Reports to nginx whether a publishable key may be used from an origin. Other clients cannot "
            "call it.",
        .access = Access::Open,
        .reply = {204, "The key is valid, or the query has no key."},
        .errors = kEdgeErrors,
        .handler = answers_nothing<check_publishable_key>,
        .workers = WorkerGroup::Readers,
        .is_published = false,
        .is_internal = true},
};
static_assert(well_formed(kEdgeEndpoints, "/edge/"));

}  // namespace

std::span<const Endpoint> edge_endpoints() {
    return kEdgeEndpoints;
}

}  // namespace muster::api
