#include "api/if_match.hpp"

#include "http/etag.hpp"

namespace muster::api {

bool has_condition(const Call& call) {
    return call.request.if_match || !call.request.if_none_match.empty();
}

void check_condition(const Call& call, const std::optional<std::string>& etag) {
    const http::Request& sent = call.request;
    const bool is_expected =
        !sent.if_match || (etag && http::if_match_holds(*sent.if_match, *etag));
    const bool is_excluded = etag && http::if_none_match_matches(sent.if_none_match, *etag);
    if (!is_expected || is_excluded) throw Error(ErrorCode::PreconditionFailed);
}

service::VersionCheck version_check(const Call& call) {
    if (!has_condition(call)) return {};
    return [&call](std::optional<Timestamp> updated_at) {
        std::optional<std::string> etag;
        if (updated_at) etag = http::version_tag(updated_at->text());
        check_condition(call, etag);
    };
}

}  // namespace muster::api
