#include "api/answers.hpp"

#include "http/etag.hpp"

#include <algorithm>

namespace muster::api {

http::Reply complete(const Call& call, service::StoredReply stored,
                     std::vector<http::Header> headers) {
    // A replay may follow a run that was rolled back. The headers of that run are not its own.
    if (stored.replayed) headers.clear();
    http::Reply reply = reply_of(std::move(stored));
    for (http::Header& header : headers) reply.headers.push_back(std::move(header));
    const Endpoint& row = call.endpoint;
    const std::string etag = etag_of(row, reply.body);
    if (etag.empty()) return reply;
    reply.headers.emplace_back("ETag", etag);
    const bool may_be_known = row.second_reply && row.second_reply->status == kNotModified.status;
    if (may_be_known && http::if_none_match_matches(call.request.if_none_match, etag)) {
        reply.status = kNotModified.status;
        reply.omitted = reply.body.size();
        reply.body.clear();
    }
    return reply;
}

bool is_replayed(const http::Reply& reply) {
    return std::any_of(reply.headers.begin(), reply.headers.end(), [](const http::Header& header) {
        return header.first == "Idempotency-Replayed";
    });
}

}  // namespace muster::api
