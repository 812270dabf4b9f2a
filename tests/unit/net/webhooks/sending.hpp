// Shared helpers of the tests of net/webhooks/sender.hpp.
#pragma once

#include "net/webhooks/sender.hpp"
#include "unit/client/loopback_server.hpp"
#include "unit/net/loopback_dns.hpp"

#include "print.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace muster::test {

using net::Post;
using net::PostResult;
using net::SenderSettings;
using net::WebhookSender;

using Clock = std::chrono::steady_clock;

struct Sending {
    LoopbackDns no_names{knowing({})};

    SenderSettings settings(bool loopback = true, const LoopbackDns* dns = nullptr) const {
        SenderSettings settings;
        settings.policy = {loopback, (dns != nullptr ? *dns : no_names).address()};
        settings.connect_seconds = 1;
        settings.total_seconds = 2;
        return settings;
    }
};

inline Post post_to(const std::string& url, std::uint64_t tag = 1) {
    return {tag,
            url,
            {{"webhook-id", "msg_1"}},
            std::make_shared<const std::string>(R"({"type":"member.created"})")};
}

inline std::vector<PostResult> all_of(WebhookSender& sender) {
    std::vector<PostResult> results;
    const auto ends_at = Clock::now() + std::chrono::seconds(20);
    while (sender.pending_count() > 0 && Clock::now() < ends_at) {
        auto more = sender.wait(Milliseconds(500));
        std::move(more.begin(), more.end(), std::back_inserter(results));
    }
    return results;
}

inline PostResult send(WebhookSender& sender, const Post& post) {
    sender.start(post);
    const auto results = all_of(sender);
    BOOST_REQUIRE_EQUAL(results.size(), 1U);
    BOOST_TEST(results[0].tag == post.tag);
    return results[0];
}

inline PostResult send(const SenderSettings& settings, const std::string& url) {
    WebhookSender sender(settings);
    return send(sender, post_to(url));
}

inline LoopbackServer::Handler answering(const ServedResponse& response) {
    return [response](const ServedRequest&) { return response; };
}

inline std::string port_of(const LoopbackServer& server) {
    return server.url().substr(server.url().rfind(':'));
}

}  // namespace muster::test
