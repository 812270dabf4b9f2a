// client/error_advice.hpp: what a run says about errors of the service, lists, and one row.
#include "client/error_advice.hpp"

#include "unit/client/import_environment.hpp"
#include "unit/net/loopback_listener.hpp"

#include "print.hpp"

#include <array>
#include <atomic>
#include <thread>
#include <utility>

using namespace muster;
using namespace muster::client;
using namespace muster::test;

namespace {

// Answers every connection at once with an error in plain HTTP, as nginx does on a port without
// TLS.
class PlainServer {
  public:
    PlainServer() : acceptor_([this] { serve(); }) {}
    PlainServer(const PlainServer&) = delete;
    PlainServer& operator=(const PlainServer&) = delete;
    ~PlainServer() {
        listener_.end();
        acceptor_.join();
    }
    std::string https_url() const { return "https://" + listener_.authority(); }
    int connections() const { return connections_; }

  private:
    void serve() {
        constexpr std::string_view kReply = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
        for (;;) {
            const int socket = listener_.accept();
            if (socket < 0) return;
            ++connections_;
            std::array<char, 4096> hello{};
            if (recv(socket, hello.data(), hello.size(), 0) > 0)
                static_cast<void>(send(socket, kReply.data(), kReply.size(), MSG_NOSIGNAL));
            close(socket);
        }
    }

    LoopbackListener listener_{64};
    std::atomic<int> connections_{0};
    std::jthread acceptor_;
};

// Every call of the API gets this answer.
void answer_all(Environment& environment, int status, const std::string& body) {
    environment.api.before = [=](const ServedRequest&) -> std::optional<ServedResponse> {
        return ServedResponse{.status = status, .body = body, .headers = {}};
    };
}

std::string envelope(const std::string& code, const std::string& details) {
    return R"({"error":{"code":")" + code + R"(","message":"no","details":)" + details + "}}";
}

// A run without a file, such as {"--list"}.
ExitCode run_command(Environment& environment, std::vector<std::string> words) {
    words.insert(words.end(), {"--url", environment.api.url()});
    return environment.run_words(words);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_error_advice)

BOOST_AUTO_TEST_CASE(a_key_that_is_not_accepted_is_named_with_the_next_step) {
    Environment environment;
    answer_all(environment, 401, envelope("UNAUTHORIZED", R"({"reason":"INVALID"})"));
    BOOST_CHECK(is(run_command(environment, {"--list", "--key-file", "my.key"}), ExitCode::Failed));
    BOOST_TEST(environment.says("the service does not accept the key of my.key: it is unknown, "));
    BOOST_CHECK(is(run_command(environment, {"--list"}), ExitCode::Failed));
    BOOST_TEST(environment.says("the service does not accept the key of MUSTER_API_KEY: "));
    answer_all(environment, 401, envelope("UNAUTHORIZED", R"({"reason":"SESSION_ENDED"})"));
    BOOST_CHECK(is(run_command(environment, {"--list"}), ExitCode::Failed));
    BOOST_TEST(environment.says("and no such session is open"));
    answer_all(environment, 401, envelope("UNAUTHORIZED", R"({"reason":"MISSING"})"));
    BOOST_CHECK(is(run_command(environment, {"--list"}), ExitCode::Failed));
    BOOST_TEST(environment.says("the service did not receive the key of MUSTER_API_KEY"));
}

BOOST_AUTO_TEST_CASE(another_server_is_recognized) {
    Environment environment;
    const std::string advice = environment.api.url() + " does not answer as a Muster service; ";
    const std::vector<std::pair<int, std::string>> answers = {
        {404, "<html>"},
        {400, "<html>"},
        {401, ""},
        {404, envelope("NOT_FOUND", "null")},
        {400, envelope("BAD_REQUEST", "null")}};
    for (const auto& [status, body] : answers) {
        BOOST_TEST_CONTEXT(status << " " << body) {
            answer_all(environment, status, body);
            BOOST_CHECK(is(run_command(environment, {"--list"}), ExitCode::Failed));
            BOOST_TEST(environment.says(advice + "check --url"));
        }
    }
    answer_all(environment, 400, envelope("BAD_REQUEST", R"({"reason":"not JSON"})"));
    BOOST_CHECK(is(run_command(environment, {"--list"}), ExitCode::Failed));
    BOOST_TEST(!environment.says(advice));
}

BOOST_AUTO_TEST_CASE(an_unknown_job_is_named) {
    Environment environment;
    for (const char* option : {"--cancel", "--undo"}) {
        BOOST_CHECK(is(run_command(environment, {option, kJob}), ExitCode::Failed));
        BOOST_TEST(environment.says("the organization has no import job " + std::string(kJob) +
                                    "; see muster-import --list"));
    }
}

BOOST_AUTO_TEST_CASE(a_state_that_does_not_allow_a_call_is_shown_with_the_required_one) {
    Environment environment;
    answer_all(environment, 409,
               envelope("IMPORT_JOB_INVALID_STATE",
                        R"({"state":"completed","expected":"staging or validated"})"));
    BOOST_CHECK(is(run_command(environment, {"--cancel", kJob}), ExitCode::Failed));
    BOOST_TEST(environment.says("\n  the job is completed; it must be staging or validated\n"));
}

BOOST_AUTO_TEST_CASE(a_limit_of_a_day_is_shown_with_its_name_its_reason_and_its_end) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(1));
    environment.api.before = [](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!request.path.ends_with("/rows")) return std::nullopt;
        return ServedResponse{
            .status = 429,
            .body = envelope("QUOTA_EXCEEDED",
                             R"({"quota":"staged_bytes","frees_at":"2026-11-24T00:00:00.000Z",)"
                             R"("reason":"the organization has used 7 of 7\u001b[2J bytes"})"),
            .headers = {{"Retry-After", "3600"}}};
    };
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::Failed));
    BOOST_TEST(environment.says("\n  reason: the organization has used 7 of 7\\x1b[2J bytes\n"));
    BOOST_TEST(environment.says("\n  quota staged_bytes frees at 2026-11-24T00:00:00.000Z\n"));
    BOOST_TEST(
        environment.says("muster-import: wait until 2026-11-24T00:00:00.000Z, then continue\n"));
    BOOST_TEST(environment.says("--resume " + std::string(kJob) + " --commit"));
}

BOOST_AUTO_TEST_CASE(a_key_that_may_only_read_is_reported_with_the_role_that_may_import) {
    Environment environment;
    answer_all(environment, 403, envelope("FORBIDDEN", "null"));
    BOOST_CHECK(is(run_command(environment, {"--cancel", kJob}), ExitCode::Failed));
    BOOST_TEST(environment.says(
        "the key of MUSTER_API_KEY may not do this: a key with the role viewer only reads; use a "
        "key with the role admin"));
}

BOOST_AUTO_TEST_CASE(the_reason_of_an_error_is_bounded_and_safe_for_a_terminal) {
    Environment environment;
    answer_all(environment, 403,
               envelope("FORBIDDEN", R"({"reason":")" + std::string(5000, 'r') + R"("})"));
    BOOST_CHECK(is(run_command(environment, {"--list"}), ExitCode::Failed));
    BOOST_TEST(environment.says("\n  reason: " + std::string(300, 'r') + "...\n"));
    answer_all(environment, 409,
               R"({"error":{"code":"CONFLICT","message":"no\u001b[2J","details":null}})");
    BOOST_CHECK(is(run_command(environment, {"--list"}), ExitCode::Failed));
    BOOST_TEST(environment.says("409 CONFLICT: no\\x1b[2J\n"));
}

BOOST_AUTO_TEST_CASE(a_port_without_tls_is_not_tried_again) {
    const PlainServer server;
    Environment environment;
    environment.scratch.write("members.csv", many_rows(1));
    BOOST_CHECK(is(environment.run_words(
                       {environment.scratch.file("members.csv"), "--url", server.https_url()}),
                   ExitCode::Failed));
    BOOST_TEST(environment.says("the port does not accept TLS, so check --url"));
    BOOST_TEST(server.connections() == 1);
}

BOOST_AUTO_TEST_CASE(the_source_of_a_wrong_url_is_named) {
    Environment environment;
    answer_all(environment, 404, "<html>");
    environment.defaults.url = environment.api.url();
    environment.defaults.url_source = "MUSTER_URL";
    BOOST_CHECK(is(environment.run_words({"--list"}), ExitCode::Failed));
    BOOST_TEST(environment.says(" does not answer as a Muster service; check MUSTER_URL"));
    BOOST_TEST(!environment.says("--url"));
}

BOOST_AUTO_TEST_CASE(a_certificate_that_is_not_trusted_is_reported_with_the_option) {
    Options options;
    options.url = "https://x.org";
    const std::string reason = "SSL certificate problem";
    BOOST_TEST(unreachable_text(options, reason) ==
               "https://x.org cannot be reached: SSL certificate problem; --ca-file PEM names the "
               "authority of a service that signs its own certificates");
    options.ca_file = "ca.pem";
    BOOST_TEST(unreachable_text(options, reason) ==
               "https://x.org cannot be reached: SSL certificate problem; check --ca-file ca.pem");
}

BOOST_AUTO_TEST_CASE(an_interrupted_list_does_not_speak_of_an_import) {
    Environment environment;
    environment.api.before = [&](const ServedRequest&) -> std::optional<ServedResponse> {
        environment.stop = true;
        return ServedResponse{.status = 503, .body = "", .headers = {}};
    };
    BOOST_CHECK(is(run_command(environment, {"--list"}), ExitCode::Stopped));
    BOOST_TEST(environment.says("muster-import: stopped\n"));
    BOOST_TEST(!environment.says("imported"));
}

BOOST_AUTO_TEST_CASE(the_document_of_a_list_has_the_jobs) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    BOOST_CHECK(is(environment.run("members.csv", {"--json"}), ExitCode::Stopped));
    BOOST_TEST(environment.json()["jobs"].isNull());
    BOOST_CHECK(is(run_command(environment, {"--list", "--json"}), ExitCode::AllIn));
    BOOST_TEST(
        json_text(environment.json()["jobs"]) ==
        R"([{"created_at":"2026-11-20T10:00:00.000Z","declared_total":3,"file_name":"members.csv",)"
        R"("id":")" +
            std::string(kJob) + R"(","state":"validated"}])");
    environment.api.before = [](const ServedRequest&) -> std::optional<ServedResponse> {
        return ServedResponse{.body = R"({"imports":[]})", .headers = {}};
    };
    BOOST_CHECK(is(run_command(environment, {"--list", "--json"}), ExitCode::AllIn));
    BOOST_TEST(json_text(environment.json()["jobs"]) == "[]");
}

BOOST_AUTO_TEST_CASE(one_row_is_counted_in_the_singular) {
    Environment environment;
    environment.scratch.write("members.csv", kHeader + "broken,,,\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::SomeNotIn));
    BOOST_TEST(environment.says("1 of 1 row is rejected and written to "));
    environment.scratch.write("members.csv", many_rows(1));
    BOOST_CHECK(is(environment.run("members.csv", {}), ExitCode::Stopped));
    BOOST_CHECK(is(run_command(environment, {"--list"}), ExitCode::AllIn));
    BOOST_TEST(environment.says("  1 row  members.csv"));
    environment.scratch.write("others.csv", many_rows(2));
    BOOST_CHECK(is(environment.run("others.csv", {"--resume", kJob}), ExitCode::Usage));
    BOOST_TEST(environment.says("was created for members.csv with 1 valid row; this is"));
    environment.api.state = "";
    environment.api.rows.clear();
    environment.scratch.write("members.csv", many_rows(1) + "m1@example.org,,,\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::SomeNotIn));
    BOOST_TEST(environment.says("The server rejected 1 row, which is written to "));
    BOOST_TEST(environment.says("1 of 2 rows was not imported; the reasons are in "));
}

BOOST_AUTO_TEST_SUITE_END()
