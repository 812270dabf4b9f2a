// api/nginx.cpp: the nginx locations that the rows require.
#include "api/routes.hpp"

#include "print.hpp"

#include <map>
#include <string>

using namespace muster;

namespace {

// The directives of the location on one line; "" if there is no such location.
std::string location(const std::string& matcher) {
    static const std::string kText = api::nginx_text();
    const std::string head = "\nlocation " + matcher + " {\n";
    const auto begin = kText.find(head);
    if (begin == std::string::npos) return "";
    const auto end = kText.find("\n}\n", begin);
    std::string directives;
    for (std::size_t i = begin + head.size(); i < end; ++i) {
        const char c = kText[i];
        if (c != ' ' || (!directives.empty() && directives.back() != '\n')) directives += c;
    }
    for (char& c : directives) c = c == '\n' ? ' ' : c;
    return directives;
}

std::string included(const std::string& name) {
    return "include snippets/muster-" + name + ".conf;";
}

std::string passed(const std::string& to) {
    return "fastcgi_pass " + to + "; " + included("fastcgi");
}

const std::string kAccepted = included("credential-accepted") + " ";
const std::string kClient = included("client-rate") + " " + included("client-connections");

// The directives of a location that asks about the credential, and then jumps to another one.
std::string asking_first(const std::string& then) {
    return included("credential-first") + " try_files /_muster/none " + then + ";";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nginx)

BOOST_AUTO_TEST_CASE(a_path_goes_to_the_workers_of_its_row) {
    BOOST_TEST(location("/v1/") == included("app"));
    BOOST_TEST(location("= /v1/ingest").ends_with(passed("muster_collector")));
    BOOST_TEST(location("~ ^/v1/users/[^/]+/attributes$") ==
               kClient + " " + passed("muster_reader"));
    BOOST_TEST(location("= /v1/users") == kClient + " " + passed("$muster_collecting"));
    BOOST_TEST(location("= /healthz") == included("local"));
    BOOST_TEST(location("/console/v1/") == included("console-only"));
    BOOST_TEST(location("= /v1/external-data/connect") == included("console-only"));
    BOOST_TEST(location("= /v1/external-data/catalog") == "");
}

BOOST_AUTO_TEST_CASE(page_endpoints_have_the_limits_of_pages) {
    const std::string page = included("page");
    BOOST_TEST(location("= /v1/track").find(page + " fastcgi_pass muster_collector;") !=
               std::string::npos);
    BOOST_TEST(location("= /v1/ads/serve") == page + " " + passed("muster_reader"));
    BOOST_TEST(location("/v1/content/articles/") ==
               page + " " + included("content") + " " + passed("muster_reader"));
    BOOST_TEST(location("~ ^/v1/ads/clicks/[^/]+$") == "");
}

BOOST_AUTO_TEST_CASE(body_limits_match_the_rows) {
    const std::string caps = "client_max_body_size 16m; client_body_buffer_size 272k; ";
    BOOST_TEST(location("~ ^/v1/imports/[^/]+/rows$") == caps + asking_first("@stageImportRows"));
    BOOST_TEST(location("@stageImportRows") ==
               caps + kAccepted + included("large-body") + " " + passed("muster"));
    BOOST_TEST(location("= /v1/track")
                   .starts_with("client_max_body_size 1m; client_body_buffer_size 1088k; "));
    BOOST_TEST(api::nginx_text().find("\nclient_max_body_size 256k;\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(long_answers_are_limited_for_callers_whose_credential_is_accepted) {
    for (const std::string operation : {"getImportErrorReport", "exportUsers"}) {
        BOOST_TEST(location("@" + operation) ==
                   kAccepted + included("long-answer") + " " + passed("muster"));
    }
    BOOST_TEST(location("= /v1/users/export") == asking_first("@exportUsers"));
    BOOST_TEST(location("~ ^/v1/imports/[^/]+/error-report$") ==
               asking_first("@getImportErrorReport"));
}

BOOST_AUTO_TEST_CASE(secret_queries_are_not_logged) {
    BOOST_TEST(location("= /v1/external-data/callback") ==
               "error_log /dev/null emerg; " + included("app"));
}

BOOST_AUTO_TEST_CASE(a_path_is_not_redirected_to_its_trailing_slash) {
    BOOST_TEST(location("= /v1") == "return 404;");
    BOOST_TEST(location("= /console/v1") == "return 404;");
    BOOST_TEST(location("= /v1/content/articles").ends_with(included("fastcgi")));
}

// The maps of muster-http.conf decide by the method.
BOOST_AUTO_TEST_CASE(reads_and_writes_of_one_path_can_have_different_workers) {
    BOOST_TEST(location("~ ^/v1/users/[^/]+$") == kClient + " " + passed("$muster_reading"));
}

// Everything else of a location cannot depend on the method.
BOOST_AUTO_TEST_CASE(rows_with_the_same_path_have_the_same_access) {
    std::map<std::string_view, const api::Endpoint*> first;
    for (const api::Endpoint* row : api::all_endpoints()) {
        const api::Endpoint& other = *first.emplace(row->path, row).first->second;
        BOOST_TEST(row->is_local == other.is_local, row->path);
        const auto needs = [](const api::Endpoint& of) {
            return api::is_publishable(of.access) || of.access == api::Access::Console
                       ? text_of(of.access)
                       : "";
        };
        BOOST_TEST(needs(*row) == needs(other), row->path);
    }
}

BOOST_AUTO_TEST_SUITE_END()
