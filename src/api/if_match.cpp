#include "api/if_match.hpp"

#include "http/etag.hpp"

namespace muster::api {

service::VersionCheck version_check(const Call& call) {
    const auto& if_match = call.request.if_match;
    if (!if_match) return {};
    return [&if_match](std::optional<Timestamp> updated_at) {
        const bool holds =
            updated_at && http::if_match_holds(*if_match, http::version_tag(updated_at->text()));
        if (!holds) throw Error(ErrorCode::PreconditionFailed);
    };
}

}  // namespace muster::api
