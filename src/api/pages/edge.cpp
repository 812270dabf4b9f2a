// Serves /edge/key, for nginx alone: may this publishable key be used from this origin? nginx asks
// before it lets a page's request through, keeps the answer for some seconds, and lets nobody else
// in (nginx/snippets/muster-page-key.conf). The workers judge again, by the same functions.
#include "api/groups.hpp"
#include "api/pages/cors.hpp"
#include "http/query.hpp"
#include "service/pages/publishable_keys.hpp"

namespace muster::api {
namespace {

using http::Method;

// Whether the key is of the kind that the operation takes, the operation's worker says.
void check_publishable_key(Call& call) {
    const std::string token = http::query_value(call.request.query, "key").value_or("");
    // In the body, if anywhere: only the worker reads that.
    if (token.empty()) return;
    if (!service::is_publishable_token(token)) throw Error(ErrorCode::Unauthorized);
    const auto keys = service::find_publishable_keys(call.context, {&token, 1});
    if (keys.empty()) throw Error(ErrorCode::Unauthorized);
    require_origin(keys.front(), call.request);
}

constexpr std::array kErrors = {ErrorCode::Unauthorized, ErrorCode::OriginNotAllowed};

constexpr std::array kEndpoints = {
    Endpoint{
        .method = Method::Get,
        .path = "/edge/key",
        .operation = "judgePublishableKey",
        .summary = "Whether a publishable key may be used from an origin",
        .description =
            "Answers nginx whether a publishable key may be used from an origin. No other client "
            "reaches it.",
        .access = Access::Open,
        .reply = {204, "It may, or there is none to judge."},
        .errors = kErrors,
        .handler = answers_nothing<check_publishable_key>,
        .is_published = false,
        .is_internal = true},
};
static_assert(well_formed(kEndpoints, "/edge/"));

}  // namespace

std::span<const Endpoint> edge_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
