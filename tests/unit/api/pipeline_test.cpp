// api/pipeline.hpp: a request's path to its envelope, for the cases that need no database;
// tests/e2e covers the others.
#include "api/pipeline.hpp"

#include "base/crypto.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "rules/ads/token.hpp"
#include "unit/api/offline_context.hpp"
#include "unit/base/logged.hpp"

#include <array>
#include "print.hpp"

#include <fcntl.h>

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

using namespace muster;
using http::Method;
using http::Reply;
using http::Request;

namespace {

Request request(Method method, std::string path) {
    Request made;
    made.method = method;
    made.path = std::move(path);
    made.request_id = "r1";
    made.arrived = Timestamp::now();
    made.read_body = [](std::size_t) { return std::optional<std::string>(""); };
    return made;
}

std::string header_of(const Reply& reply, std::string_view name) {
    std::string found;
    for (const auto& [key, value] : reply.headers) {
        if (key == name) found += value;
    }
    return found;
}

struct PipelineFixture : test::OfflineContext {
    // The replies in the order of the requests.
    std::vector<std::optional<Reply>> answers(std::span<const Request> requests) {
        const test::StderrTo nowhere(open("/dev/null", O_WRONLY));
        std::vector<std::optional<Reply>> replies(requests.size());
        pipeline.handle(requests, [&](std::size_t index, std::optional<Reply> reply) {
            replies.at(index) = std::move(reply);
            sent.push_back(index);
        });
        return replies;
    }
    Reply answer(const Request& one) { return answers({&one, 1}).at(0).value(); }
    Reply answer(Method method, const std::string& path) { return answer(request(method, path)); }

    api::Pipeline pipeline{context, metrics, limiter, concurrency};
    std::vector<std::size_t> sent;  // the indexes in the order of the replies
};

Json::Value parsed(const Reply& reply) {
    Json::Value body;
    BOOST_TEST_REQUIRE(parse_json(reply.body, body), reply.body);
    return body;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(pipeline, PipelineFixture)

BOOST_AUTO_TEST_CASE(an_unknown_path_gets_only_the_envelope) {
    const Reply reply = answer(Method::Get, "/nowhere");
    BOOST_TEST(reply.status == 404);
    BOOST_TEST(reply.content_type == "application/json");
    BOOST_TEST(
        reply.body ==
        R"({"error":{"code":"NOT_FOUND","message":"No such path or record.","status":404}})");
    BOOST_TEST(header_of(reply, "Cache-Control") == "no-store");
    BOOST_TEST(header_of(reply, "Allow") == "");
}

BOOST_AUTO_TEST_CASE(the_lines_of_a_batch_are_one_write) {
    const std::vector<Request> both(2, request(Method::Get, "/nowhere"));
    std::size_t answered = 0;
    const auto seen = test::writes([&] {
        pipeline.handle(both, [&](std::size_t, const std::optional<Reply>&) { ++answered; });
    });
    BOOST_TEST(answered == 2U);
    BOOST_TEST_REQUIRE(seen.size() == 1U);
    BOOST_TEST(std::count(seen[0].begin(), seen[0].end(), '\n') == 2);
}

BOOST_AUTO_TEST_CASE(the_line_of_a_single_request_is_not_collected) {
    const Request one = request(Method::Get, "/nowhere");
    std::vector<std::string> during;
    const auto reply = [&](std::size_t, const std::optional<Reply>&) {
        during = test::writes([] { log_event(LogLevel::Info, "replied"); });
    };
    const auto seen = test::writes([&] { pipeline.handle({&one, 1}, reply); });
    BOOST_TEST_REQUIRE(during.size() == 1U);  // nothing was collected before it
    BOOST_TEST(during[0].starts_with("level=info event=replied"));
    BOOST_TEST_REQUIRE(seen.size() == 1U);
    BOOST_TEST(seen[0].starts_with("level=info event=request "));
}

BOOST_AUTO_TEST_CASE(an_unsupported_method_gets_the_allowed_methods) {
    const Reply reply = answer(Method::Delete, "/v1/imports");
    BOOST_TEST(reply.status == 405);
    BOOST_TEST(header_of(reply, "Allow") == "GET, HEAD, POST");
    BOOST_TEST(parsed(reply)["error"]["code"].asString() == "METHOD_NOT_ALLOWED");
}

BOOST_AUTO_TEST_CASE(liveness_needs_no_database) {
    const Reply reply = answer(Method::Get, "/healthz");
    BOOST_TEST(reply.status == 200);
    BOOST_TEST(reply.body == R"({"status":"ok"})");
    BOOST_TEST(answer(Method::Head, "/healthz").status == 200);
}

BOOST_AUTO_TEST_CASE(readiness_reports_an_unreachable_database) {
    const Reply reply = answer(Method::Get, "/readyz");
    BOOST_TEST(reply.status == 503);
    BOOST_TEST(header_of(reply, "Retry-After") == "1");
    const Json::Value error = parsed(reply)["error"];
    BOOST_TEST(error["code"].asString() == "SERVICE_UNAVAILABLE");
    BOOST_TEST(error["details"]["reason"].asString().find("/nowhere") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_description_is_cached_by_its_etag) {
    const Reply first = answer(Method::Get, "/openapi/partner.json");
    BOOST_TEST(first.status == 200);
    const std::string etag = header_of(first, "ETag");
    BOOST_TEST(etag.starts_with("\""));
    BOOST_TEST(header_of(first, "Cache-Control").starts_with("public"));
    Request again = request(Method::Get, "/openapi/partner.json");
    again.if_none_match = etag;
    const Reply second = answer(again);
    BOOST_TEST(second.status == 304);
    BOOST_TEST(second.body == "");
    BOOST_TEST(header_of(second, "ETag") == etag);
}

BOOST_AUTO_TEST_CASE(a_missing_credential_is_rejected_before_any_lookup) {
    for (const std::string authorization : {"", "Bearer", "Bearer ", "Bearer x", "Basic b3JnXw==",
                                            "Bearerorg_x", "org_x", "Bearer org_x y"}) {
        Request one = request(Method::Post, "/v1/imports");
        one.authorization = authorization;
        one.read_body = [](std::size_t) -> std::optional<std::string> {
            BOOST_ERROR("the body was read");
            return "";
        };
        const Reply reply = answer(one);
        BOOST_TEST(reply.status == 401, authorization);
        BOOST_TEST(header_of(reply, "WWW-Authenticate") == "Bearer");
        BOOST_TEST(parsed(reply)["error"]["code"].asString() == "UNAUTHORIZED");
        BOOST_TEST(parsed(reply)["error"]["details"]["reason"].asString() ==
                   (authorization.empty() ? "MISSING" : "INVALID"));
    }
    BOOST_TEST(answer(Method::Get, "/v1/users/no-uuid").status == 401);
}

BOOST_AUTO_TEST_CASE(an_unreachable_database_is_a_503_and_does_not_end_the_worker) {
    Request one = request(Method::Get, "/v1/imports");
    one.authorization = "bearer " + create_credential("org_").reveal();
    const Reply reply = answer(one);
    BOOST_TEST(reply.status == 503);
    BOOST_TEST(header_of(reply, "Retry-After") == "1");
    BOOST_TEST(reply.body.find("nowhere") == std::string::npos);
    BOOST_TEST(!pipeline.is_tainted());
}

BOOST_AUTO_TEST_CASE(the_cookie_of_the_consoles_session_is_a_credential_only_for_its_own_pages) {
    settings.console.origin = "https://console.example";
    Request one = request(Method::Get, "/v1/imports");
    one.cookie = "__Host-muster-session=" + create_credential("").reveal();
    one.fetch_site = "same-origin";
    BOOST_TEST(answer(one).status == 503);  // looked up
    one.fetch_site = "same-site";
    const Reply foreign = answer(one);
    BOOST_TEST(foreign.status == 401);
    BOOST_TEST(parsed(foreign)["error"]["details"]["reason"].asString() == "MISSING");
    one.fetch_site = "same-origin";
    one.cookie = "__Host-muster-session=" + create_credential("org_").reveal();
    BOOST_TEST(parsed(answer(one))["error"]["details"]["reason"].asString() == "INVALID");
    one.cookie = "__Host-muster-session=" + create_credential("").reveal();
    one.authorization = "Bearer x";
    BOOST_TEST(parsed(answer(one))["error"]["details"]["reason"].asString() == "INVALID");
    for (const char* path : {"/v1/track", "/v1/ads/serve", "/v1/content/articles"}) {
        Request page = one;
        page.path = path;
        page.query = "key=";
        page.authorization = "";
        page.method = page.path == "/v1/track" ? Method::Post : Method::Get;
        page.has_console_header = true;
        BOOST_TEST(answer(page).status == 401, path);
    }
}

BOOST_AUTO_TEST_CASE(a_request_that_waited_too_long_is_503) {
    Request one = request(Method::Get, "/healthz");
    one.arrived = Timestamp::now() - Milliseconds(31'000);
    const Reply reply = answer(one);
    BOOST_TEST(reply.status == 503);
    BOOST_TEST(parsed(reply)["error"]["code"].asString() == "SERVICE_UNAVAILABLE");
    BOOST_TEST(!parsed(reply)["error"].isMember("details"));
}

BOOST_AUTO_TEST_CASE(replies_are_counted_by_operation) {
    process::Metrics counted({"zero", "one"});
    api::Pipeline counting(context, counted, limiter, concurrency);
    const test::StderrTo nowhere(open("/dev/null", O_WRONLY));
    const std::array both{request(Method::Get, "/nowhere"), request(Method::Delete, "/v1/imports")};
    counting.handle(both, [](std::size_t, const std::optional<Reply>&) {});
    BOOST_TEST(counted.text().find(R"(muster_requests_total{operation="none",status="4xx"} 2)") !=
               std::string::npos);
}

// ---------------------------------------------------------------------------- pages of other sites

Request page_request(Method method, const std::string& query) {
    Request made = request(method, "/v1/track");
    made.query = query;
    made.origin = "https://shop.example";
    made.content_type = "text/plain";
    return made;
}

std::string good_token() {
    return create_credential("ek_live_").reveal();
}

BOOST_AUTO_TEST_CASE(a_page_without_a_key_is_rejected_without_a_database_lookup) {
    for (const std::string& query : {std::string("key="), std::string("key=ek_live_made_up"),
                                     "key=" + create_credential("org_").reveal()}) {
        const Reply reply = answer(page_request(Method::Post, query));
        BOOST_TEST(reply.status == 401);
        BOOST_TEST(header_of(reply, "Vary") == "Origin");
        BOOST_TEST(header_of(reply, "Access-Control-Allow-Origin").empty());
    }
}

BOOST_AUTO_TEST_CASE(the_key_may_be_in_the_body) {
    Request one = page_request(Method::Post, "");
    one.read_body = [](std::size_t) { return std::optional(R"({"key":")" + good_token() + "\"}"); };
    BOOST_TEST(answer(one).status == 503);  // looked up
    one.read_body = [](std::size_t) { return std::optional<std::string>(R"({"key":7})"); };
    BOOST_TEST(answer(one).status == 401);
    one.read_body = [](std::size_t) { return std::optional<std::string>("{"); };
    BOOST_TEST(answer(one).status == 400);
}

BOOST_AUTO_TEST_CASE(a_body_with_a_content_encoding_is_415) {
    Request one = page_request(Method::Post, "");
    one.read_body = [](std::size_t) { return std::optional<std::string>("\x1f\x8b"); };
    for (const std::string coding : {"gzip", "br", "deflate", "x-unknown", "gzip, gzip", "GZIP"}) {
        one.content_encoding = coding;
        const Reply reply = answer(one);
        BOOST_TEST(reply.status == 415, coding);
        BOOST_TEST(parsed(reply)["error"]["details"]["reason"].asString().find(
                       "Content-Encoding") != std::string::npos);
    }
    one.read_body = [](std::size_t) { return std::optional<std::string>(R"({"key":7})"); };
    for (const std::string coding : {"", "identity", " Identity "}) {
        one.content_encoding = coding;
        BOOST_TEST(answer(one).status == 401, coding);
    }
}

BOOST_AUTO_TEST_CASE(a_repeated_content_type_is_400) {
    Request one = page_request(Method::Post, "");
    one.read_body = [](std::size_t) { return std::optional<std::string>(R"({"key":7})"); };
    one.repeated_headers = {"Content-Type"};
    const Reply reply = answer(one);
    BOOST_TEST(reply.status == 400);
    BOOST_TEST(parsed(reply)["error"]["details"]["reason"].asString() ==
               "the header Content-Type is repeated; send it once");
}

BOOST_AUTO_TEST_CASE(the_key_in_the_query_decides_a_preflight) {
    BOOST_TEST(answer(page_request(Method::Options, "key=" + good_token())).status == 503);
    BOOST_TEST(answer(page_request(Method::Options, "")).status == 401);
    const Reply elsewhere = answer(Method::Options, "/v1/users");
    BOOST_TEST(elsewhere.status == 405);
    BOOST_TEST(header_of(answer(Method::Put, "/v1/track"), "Allow") == "OPTIONS, POST");
}

// ---------------------------------------------------------------------------- tokens of ads

const OrgId kAdvertiser = OrgId::create();

std::string impression_path(const api::WorkerState& worker, rules::AdTokenKind kind) {
    const rules::AdToken token{kind,
                               kAdvertiser,
                               ServingId::create(),
                               CampaignId::create(),
                               CreativeId::create(),
                               Timestamp::now() + rules::kAdTokenLife};
    return "/v1/ads/impressions/" + rules::encode_ad_token(worker.ads.keys().at(0), token);
}

BOOST_AUTO_TEST_CASE(an_ad_costs_the_organization_that_its_token_names) {
    const Request one =
        request(Method::Get, impression_path(worker, rules::AdTokenKind::Impression));
    api::RequestFlow flow(one, worker);
    flow.route();
    flow.authorize({});
    BOOST_TEST_REQUIRE(flow.demand().has_value());
    BOOST_TEST(flow.demand()->organization == std::string(kAdvertiser.bytes()));
}

BOOST_AUTO_TEST_CASE(an_ad_above_the_rate_of_its_organization_costs_no_statement) {
    settings.limits.organization_rate = 1;
    settings.limits.organization_burst = 2;
    const auto show = [&] {
        return answer(Method::Get, impression_path(worker, rules::AdTokenKind::Impression)).status;
    };
    BOOST_TEST(show() == 503);  // the database is unreachable
    BOOST_TEST(show() == 503);
    BOOST_TEST(show() == 200);
}

BOOST_AUTO_TEST_CASE(an_ad_that_was_deferred_is_not_charged_again) {
    settings.limits.organization_rate = 1;
    settings.limits.organization_burst = 2;
    Request one = request(Method::Get, impression_path(worker, rules::AdTokenKind::Impression));
    for (const bool is_above_rate : {false, true, false, false}) {
        one.deferral.emplace().is_above_rate = is_above_rate;
        BOOST_TEST(answer(one).status == (is_above_rate ? 200 : 503));
    }
}

BOOST_AUTO_TEST_CASE(a_forged_token_of_an_ad_costs_neither_a_statement_nor_a_share) {
    settings.limits.organization_rate = 1;
    settings.limits.organization_burst = 1;
    const std::string other_kind = impression_path(worker, rules::AdTokenKind::Click);
    for (const std::string& path : {other_kind, std::string("/v1/ads/impressions/x")}) {
        const Request forged = request(Method::Get, path);
        BOOST_TEST(answer(forged).status == 404);
        api::RequestFlow flow(forged, worker);
        flow.route();
        flow.authorize({});
        BOOST_TEST(!flow.demand());
    }
    BOOST_TEST(
        answer(Method::Get, impression_path(worker, rules::AdTokenKind::Impression)).status == 503);
}

BOOST_AUTO_TEST_CASE(
    each_request_of_a_batch_gets_its_reply_and_an_outage_affects_only_those_that_need_the_database) {
    std::vector<Request> batch = {
        request(Method::Get, "/nowhere"), page_request(Method::Post, "key=" + good_token()),
        request(Method::Get, "/healthz"), page_request(Method::Post, "key=" + good_token())};
    batch.push_back(page_request(Method::Post, ""));
    batch.back().read_body = [](std::size_t) -> std::optional<std::string> {
        throw http::Aborted{};
    };
    const auto replies = answers(batch);
    BOOST_TEST((std::set(sent.begin(), sent.end()) == std::set<std::size_t>{0, 1, 2, 3, 4}));
    BOOST_TEST(sent.size() == 5U);  // each exactly once
    BOOST_TEST(replies[0]->status == 404);
    BOOST_TEST(replies[1]->status == 503);
    BOOST_TEST(replies[2]->status == 200);
    BOOST_TEST(replies[3]->status == 503);
    BOOST_TEST(!replies[4]);  // its client has disconnected
    BOOST_TEST(!pipeline.is_tainted());
}

BOOST_AUTO_TEST_SUITE_END()
