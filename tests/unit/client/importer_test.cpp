// client/importer.hpp: complete runs of the importer against an API in memory, over real sockets.
#include "client/importer.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "unit/client/fake_muster.hpp"
#include "unit/client/scratch.hpp"

#include "print.hpp"

#include <sstream>

using namespace muster;
using namespace muster::client;
using muster::test::FakeMuster;
using muster::test::ServedRequest;
using muster::test::ServedResponse;

namespace {

constexpr const char* kJob = FakeMuster::kJob;
const std::string kReportHeader =
    "email,external_id,first_name,last_name,display_name,locale,country,dob,attributes,row_number,"
    "error_code,"
    "error_message\r\n";

// The environment of one importer: a folder, an API, and the captured output.
struct Environment {
    test::Scratch scratch;
    FakeMuster api;
    std::atomic<bool> stop{false};
    std::function<bool(const std::string&)> ask;
    std::string out;
    std::string err;

    ExitCode run(const std::string& file, std::vector<std::string> more) {
        std::vector<std::string> arguments = {scratch.file(file), "--url", api.url()};
        arguments.insert(arguments.end(), more.begin(), more.end());
        std::ostringstream out_stream;
        std::ostringstream err_stream;
        const Terminal terminal{.out = out_stream,
                                .err = err_stream,
                                .err_is_terminal = false,
                                .ask = ask,
                                .stop = stop,
                                .today = *Date::parse("2026-11-20"),
                                .first_pause = Milliseconds(2),
                                .longest_pause = Milliseconds(10)};
        const ExitCode exit_code =
            run_import(options_of(parse_command_line(program(), arguments)),
                       Secret("session-token-that-is-never-printed"), terminal);
        out = out_stream.str();
        err = err_stream.str();
        BOOST_TEST(all().find("session-token") == std::string::npos);
        BOOST_TEST_MESSAGE(all());
        return exit_code;
    }
    std::string all() const { return out + err; }
    bool says(std::string_view text) const { return all().find(text) != std::string::npos; }
    // A line of counts: the label, spaces, the number.
    bool counts(const std::string& label, const std::string& number) const {
        for (auto at = all().find(label); at != std::string::npos; at = all().find(label, at + 1)) {
            const std::string line = all().substr(at, all().find('\n', at) - at);
            if (trimmed(std::string_view(line).substr(label.size())) == number) return true;
        }
        return false;
    }
    Json::Value json() const {
        Json::Value value;
        BOOST_TEST(parse_json(out, value));
        return value;
    }
};

const std::string kHeader = "Email,First Name,Birthday,Shirt Size\n";

std::string many_rows(int count) {
    std::string text = kHeader;
    for (int i = 1; i <= count; ++i)
        text += "m" + std::to_string(i) + "@example.org,Ann,1990-01-01,M\n";
    return text;
}

bool is(ExitCode left, ExitCode right) {
    return left == right;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_importer)

BOOST_AUTO_TEST_CASE(a_valid_file_is_imported) {
    Environment environment;
    environment.scratch.write("members.csv",
                              kHeader + "a@example.org,Ann,1990-01-01,M\nb@example.org,Bea,,\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::AllIn));
    BOOST_TEST(environment.api.state == "completed");
    BOOST_TEST(environment.api.created["file_name"].asString() == "members.csv");
    BOOST_TEST(environment.api.created["declared_total"].asInt() == 2);
    BOOST_TEST(json_text(environment.api.created["mapping"]["columns"][3]) ==
               R"({"attributeKey":"shirt_size","sourceColumn":"Shirt Size","target":"attribute"})");
    BOOST_TEST(
        json_text(environment.api.rows.at(1)) ==
        R"({"attributes":{"shirt_size":"M"},"dob":"1990-01-01","email":"a@example.org","first_name":"Ann"})");
    BOOST_TEST(environment.says("Shirt Size  -> attribute:shirt_size  (single_choice)"));
    BOOST_TEST(environment.counts("created", "2"));
    BOOST_TEST(!std::filesystem::exists(environment.scratch.file("members-errors.csv")));
    BOOST_TEST(environment.api.keys.size() == 3U);
}

BOOST_AUTO_TEST_CASE(ignored_columns_are_listed_on_one_line) {
    Environment environment;
    environment.scratch.write("members.csv", "Email,TAGS,Lucky\x1b Number\na@example.org,x,7\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::AllIn));
    BOOST_TEST(environment.says("\n  2 columns are ignored: TAGS, Lucky\\x1b Number\n"));
    BOOST_TEST(!environment.says("-> ignored"));
}

BOOST_AUTO_TEST_CASE(every_invalid_row_is_in_one_report_and_the_counts_add_up) {
    Environment environment;
    environment.scratch.write("members.csv", kHeader +
                                                 "good@example.org,Ann,1990-01-01,M\n"
                                                 "broken,Bad,,\n"
                                                 "\n"
                                                 "good@example.org,Twice,,\n"
                                                 ",,,\n"
                                                 "size@example.org,\"=cmd\",,XXS\n"
                                                 "day@example.org,,1990-02-30,\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit", "--json"}), ExitCode::SomeNotIn));
    BOOST_TEST(
        environment.scratch.read("members-errors.csv") ==
        kReportHeader +
            "broken,,Bad,,,,,,,2,LOCAL_INVALID_EMAIL,\"Email is \"\"broken\"\"; use an address such "
            "as ann@example.org\"\r\n" +
            "day@example.org,,,,,,,1990-02-30,,5,LOCAL_INVALID_DATE,\"Birthday is "
            "\"\"1990-02-30\"\"; use YYYY-MM-DD, from 1900-01-01 to yesterday\"\r\n" +
            "good@example.org,,,,,,,,,3,ROW_DUPLICATE_IN_FILE,no\r\n" +
            "size@example.org,,,,,,,,,4,ROW_ATTR_INVALID_VALUE,no\r\n");
    BOOST_TEST(environment.says("2 of 5 rows are rejected and written to "));
    BOOST_TEST(
        environment.says("  1 row: Birthday is \"1990-02-30\"; use YYYY-MM-DD, from 1900-01-01 to "
                         "yesterday (--map 'Birthday=ignored' imports it without the value)\n"));
    BOOST_TEST(
        environment.says("  1 row: Email is \"broken\"; use an address such as "
                         "ann@example.org\n"));
    const Json::Value summary = environment.json();
    BOOST_TEST(summary["rows"].asInt() == 5);
    BOOST_TEST(summary["refused"].asInt() == 2);
    BOOST_TEST(summary["staged"].asInt() == 3);
    BOOST_TEST(summary["invalid"].asInt() == 2);
    BOOST_TEST(summary["valid"].asInt() == 1);
    BOOST_TEST(summary["created"].asInt() == 1);
    BOOST_TEST(summary["exit_code"].asInt() == 2);
    BOOST_TEST(summary["state"].asString() == "completed");
    BOOST_TEST(summary["error"].isNull());
    BOOST_TEST(summary["errors_file"].asString() == environment.scratch.file("members-errors.csv"));
}

BOOST_AUTO_TEST_CASE(rows_that_only_the_server_rejects_are_set_aside_and_the_rest_is_sent_again) {
    Environment environment;
    environment.api.faulty_emails = {"m2@example.org", "m5@example.org"};
    environment.scratch.write("members.csv", many_rows(7));
    BOOST_CHECK(
        is(environment.run("members.csv", {"--commit", "--chunk", "3"}), ExitCode::SomeNotIn));
    BOOST_TEST(environment.api.rows.size() == 5U);
    BOOST_TEST(!environment.api.rows.contains(2));
    BOOST_TEST(environment.api.rows.contains(7));
    const std::string report = environment.scratch.read("members-errors.csv");
    BOOST_TEST(
        report.find(
            "m2@example.org,,Ann,,,,,1990-01-01,\"{\"\"shirt_size\"\":\"\"M\"\"}\",2,invalid_email,"
            "email is not an email address\r\n") != std::string::npos);
    BOOST_TEST(report.find(",5,invalid_email,") != std::string::npos);
    BOOST_TEST(environment.counts("rejected before staging", "2"));
}

BOOST_AUTO_TEST_CASE(a_whole_chunk_may_be_rejected) {
    Environment environment;
    environment.api.faulty_emails = {"m1@example.org"};
    environment.scratch.write("members.csv", many_rows(1));
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::SomeNotIn));
    BOOST_TEST(environment.api.state == "canceled");
}

BOOST_AUTO_TEST_CASE(a_dry_run_imports_nothing_and_frees_the_slot) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    BOOST_CHECK(is(environment.run("members.csv", {"--dry-run"}), ExitCode::AllIn));
    BOOST_TEST(environment.api.state == "canceled");
    BOOST_TEST(environment.counts("to create", "3"));
    BOOST_TEST(environment.says("Nothing was imported. The job is canceled"));
}

BOOST_AUTO_TEST_CASE(without_a_terminal_and_without_commit_it_stops_and_says_how_to_continue) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    BOOST_CHECK(is(environment.run("members.csv", {}), ExitCode::Stopped));
    BOOST_TEST(environment.api.state == "validated");
    BOOST_TEST(environment.says("--resume " + std::string(kJob) + " --commit"));

    BOOST_CHECK(
        is(environment.run("members.csv", {"--resume", kJob, "--commit"}), ExitCode::AllIn));
    BOOST_TEST(environment.api.state == "completed");
    BOOST_TEST(environment.api.count("POST /v1/imports/" + std::string(kJob) + "/rows") == 1);
}

BOOST_AUTO_TEST_CASE(the_answer_to_the_question_decides) {
    Environment environment;
    std::string question;
    bool answer = false;
    environment.ask = [&](const std::string& text) {
        question = text;
        return answer;
    };
    environment.scratch.write("members.csv", many_rows(3));
    BOOST_CHECK(is(environment.run("members.csv", {}), ExitCode::Stopped));
    BOOST_TEST(question == "Import 3 members?");
    BOOST_TEST(environment.api.state == "validated");
    BOOST_TEST(environment.says("nothing was imported"));
    answer = true;
    BOOST_CHECK(is(environment.run("members.csv", {"--resume", kJob}), ExitCode::AllIn));
}

BOOST_AUTO_TEST_CASE(an_interrupted_staging_can_be_resumed_without_losing_or_repeating_rows) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(50));
    environment.api.before = [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (request.path.ends_with("/rows") && environment.api.rows.size() >= 20)
            environment.stop = true;
        return std::nullopt;
    };
    BOOST_CHECK(
        is(environment.run("members.csv", {"--commit", "--chunk", "10"}), ExitCode::Stopped));
    BOOST_TEST(environment.api.state == "staging");
    BOOST_TEST(environment.says("--resume " + std::string(kJob) + " --commit"));
    BOOST_TEST(environment.api.rows.size() < 50U);
    environment.stop = false;
    environment.api.before = nullptr;
    BOOST_CHECK(is(environment.run("members.csv", {"--commit", "--chunk", "7", "--resume", kJob}),
                   ExitCode::AllIn));
    BOOST_TEST(environment.api.rows.size() == 50U);
    BOOST_TEST(environment.api.rows.at(50)["email"].asString() == "m50@example.org");
}

BOOST_AUTO_TEST_CASE(a_stop_while_committing_leaves_the_commit_to_the_service) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    environment.api.before = [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (request.path.ends_with("/commit")) environment.stop = true;
        return std::nullopt;
    };
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::Stopped));
    BOOST_TEST(environment.says("the service continues the import"));
    BOOST_TEST(!environment.says("cancel it"));
    environment.stop = false;
    BOOST_CHECK(is(environment.run("members.csv", {"--resume", kJob}), ExitCode::AllIn));
    BOOST_CHECK(
        is(environment.run("members.csv", {"--resume", kJob, "--dry-run"}), ExitCode::Usage));
}

BOOST_AUTO_TEST_CASE(another_file_cannot_resume_a_job) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    environment.scratch.write("others.csv", many_rows(3));
    BOOST_CHECK(is(environment.run("members.csv", {}), ExitCode::Stopped));
    BOOST_CHECK(is(environment.run("others.csv", {"--resume", kJob, "--commit"}), ExitCode::Usage));
    environment.scratch.write("members.csv", many_rows(4));
    BOOST_CHECK(
        is(environment.run("members.csv", {"--resume", kJob, "--commit"}), ExitCode::Usage));
    BOOST_TEST(environment.says("was created for members.csv with 3 valid rows"));
    BOOST_TEST(environment.api.state == "validated");
}

BOOST_AUTO_TEST_CASE(an_active_job_is_reported_with_the_commands_to_continue_and_cancel) {
    Environment environment;
    environment.api.state = "staging";
    environment.scratch.write("members.csv", many_rows(3));
    BOOST_CHECK(is(environment.run("members.csv", {"--commit", "--json"}), ExitCode::Failed));
    BOOST_TEST(environment.says("409 IMPORT_JOB_ACTIVE_EXISTS"));
    BOOST_TEST(environment.says("X-Request-Id: req-1"));
    BOOST_TEST(environment.says("--resume " + std::string(kJob)));
    BOOST_TEST(environment.says("muster-import --cancel " + std::string(kJob) + " --url "));
    BOOST_TEST(environment.json()["error"]["details"]["job_id"].asString() == kJob);
}

BOOST_AUTO_TEST_CASE(a_job_of_another_file_is_not_offered_for_this_one) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    environment.scratch.write("others.csv", many_rows(3));
    BOOST_CHECK(is(environment.run("members.csv", {}), ExitCode::Stopped));
    BOOST_CHECK(is(environment.run("others.csv", {"--commit"}), ExitCode::Failed));
    BOOST_TEST(
        environment.says("It was created for members.csv. To continue it, import that file"));
    BOOST_TEST(!environment.says("others.csv --url"));
}

BOOST_AUTO_TEST_CASE(a_quiet_run_says_that_rows_are_missing_and_a_clean_one_removes_its_report) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(2) + "broken,,,\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit", "--quiet"}), ExitCode::SomeNotIn));
    BOOST_TEST(environment.all() ==
               "muster-import: 1 of 3 rows were not imported; the reasons are in " +
                   environment.scratch.file("members-errors.csv") + "\n");
    BOOST_TEST(environment.scratch.exists("members-errors.csv"));
    environment.api.state = "";
    environment.scratch.write("members.csv", many_rows(2));
    BOOST_CHECK(is(environment.run("members.csv", {"--commit", "--quiet"}), ExitCode::AllIn));
    BOOST_TEST(environment.all() == "");
    BOOST_TEST(!environment.scratch.exists("members-errors.csv"));
    environment.scratch.write("members-errors.csv", "email,mine\n");
    environment.api.state = "";
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::AllIn));
    BOOST_TEST(environment.scratch.exists("members-errors.csv"));
}

BOOST_AUTO_TEST_CASE(a_first_line_of_values_and_too_many_columns_touch_no_job) {
    Environment environment;
    environment.scratch.write("members.csv", "ann@example.org,Ann\nbob@example.org,Bob\n");
    BOOST_CHECK(
        is(environment.run("members.csv", {"--map", "ann@example.org=email"}), ExitCode::Usage));
    BOOST_TEST(
        environment.says("has no column names: its first line holds the address ann@example.org"));
    std::string header = "Email";
    for (int column = 1; column <= 500; ++column) header += ",c" + std::to_string(column);
    environment.scratch.write("members.csv", header + "\nann@example.org\n");
    BOOST_CHECK(is(environment.run("members.csv", {}), ExitCode::Usage));
    BOOST_TEST(environment.says("has 501 columns; a file may have 500"));
    BOOST_TEST(environment.api.state == "");
}

BOOST_AUTO_TEST_CASE(temporary_failures_are_retried_with_the_same_key) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    int failures = 0;
    environment.api.before = [&](const ServedRequest&) -> std::optional<ServedResponse> {
        constexpr int kStatuses[] = {429, 502, 503, 504};
        ++failures;
        if (failures % 2 == 0) return std::nullopt;
        if (failures % 3 == 0) return ServedResponse{.body = "", .headers = {}, .hang_up = true};
        return ServedResponse{.status = kStatuses[failures % 4], .body = "<html>", .headers = {}};
    };
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::AllIn));
    BOOST_TEST(environment.says("trying again in"));
    BOOST_TEST(environment.api.rows.size() == 3U);
    const std::set<std::string> distinct(environment.api.keys.begin(), environment.api.keys.end());
    BOOST_TEST(distinct.size() == 3U);
    BOOST_TEST(environment.api.keys.size() > 3U);
}

BOOST_AUTO_TEST_CASE(an_unreachable_service_ends_the_run_with_the_command_to_continue) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    environment.api.before = [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!request.path.ends_with("/validate")) return std::nullopt;
        return ServedResponse{.status = 503, .body = "", .headers = {}};
    };
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::Failed));
    BOOST_TEST(environment.api.count("POST /v1/imports/" + std::string(kJob) + "/validate") == 8);
    BOOST_TEST(environment.says("--resume " + std::string(kJob) + " --commit"));
}

BOOST_AUTO_TEST_CASE(a_permanent_error_is_not_retried) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    environment.api.before = [](const ServedRequest&) -> std::optional<ServedResponse> {
        return ServedResponse{
            .status = 401,
            .body = R"({"error":{"code":"UNAUTHORIZED","status":401,"message":"who?"}})",
            .headers = {}};
    };
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::Failed));
    BOOST_TEST(environment.says("the server answered 401 UNAUTHORIZED: who?"));
    BOOST_TEST(environment.api.log.size() == 1U);
}

BOOST_AUTO_TEST_CASE(an_interrupted_download_of_the_report_is_repeated) {
    Environment environment;
    environment.scratch.write("members.csv",
                              kHeader + "a@example.org,,,\na@example.org,,,\nx,,,\n");
    int downloads = 0;
    environment.api.before = [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!request.path.ends_with("/error-report") || ++downloads > 1) return std::nullopt;
        return ServedResponse{
            .body = kReportHeader + std::string(500, 'y'), .headers = {}, .cut_body_after = 300};
    };
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::SomeNotIn));
    BOOST_TEST(environment.scratch.read("members-errors.csv") ==
               kReportHeader +
                   "x,,,,,,,,,3,LOCAL_INVALID_EMAIL,\"Email is \"\"x\"\"; use an address such as "
                   "ann@example.org\"\r\n" +
                   "a@example.org,,,,,,,,,2,ROW_DUPLICATE_IN_FILE,no\r\n");
}

BOOST_AUTO_TEST_CASE(a_job_that_failed_is_a_failure) {
    Environment environment;
    environment.api.fails_in = "committing";
    environment.scratch.write("members.csv", many_rows(3));
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::Failed));
    BOOST_TEST(environment.says("RUNNER_GAVE_UP: after 5 attempts"));
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_imported_create_no_job) {
    Environment environment;
    environment.scratch.write("empty.csv", "");
    environment.scratch.write("header.csv", kHeader);
    environment.scratch.write("quote.csv", kHeader + "a@example.org,\"open,,\n");
    environment.scratch.write("utf16.csv", std::string("\xFF\xFE"
                                                       "E\0m\0",
                                                       6));
    environment.scratch.write("latin1.csv",
                              "E-Mail,Stra\xDF"
                              "e\na@example.org,x\n");
    environment.scratch.write("nomail.csv", "Name,Phone\nAnn,1\n");
    for (const char* file : {"missing.csv", ".", "empty.csv", "header.csv", "quote.csv",
                             "utf16.csv", "latin1.csv", "nomail.csv"}) {
        BOOST_TEST_CONTEXT(file) {
            BOOST_CHECK(is(environment.run(file, {"--commit"}), ExitCode::Usage));
        }
    }
    environment.scratch.write("allbad.csv", kHeader + "broken,,,\n");
    BOOST_CHECK(is(environment.run("allbad.csv", {"--commit"}), ExitCode::SomeNotIn));
    BOOST_TEST(environment.api.state == "");
}

BOOST_AUTO_TEST_CASE(a_report_can_be_corrected_and_imported) {
    Environment environment;
    environment.scratch.write("members.csv", kHeader + "a@example.org,Ann,,M\nbroken,Bea,,S\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::SomeNotIn));
    std::string report = environment.scratch.read("members-errors.csv");
    report.replace(report.find("broken"), 6, "b@example.org");
    environment.scratch.write("corrected.csv", report);
    environment.api.state.clear();
    environment.api.rows.clear();
    BOOST_CHECK(is(environment.run("corrected.csv", {"--commit"}), ExitCode::AllIn));
    BOOST_TEST(json_text(environment.api.rows.at(1)) ==
               R"({"attributes":{"shirt_size":"S"},"email":"b@example.org","first_name":"Bea"})");
}

BOOST_AUTO_TEST_CASE(two_requests_are_sent_at_a_time) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(200));
    BOOST_CHECK(is(environment.run("members.csv", {"--commit", "--chunk", "5", "--quiet"}),
                   ExitCode::AllIn));
    BOOST_TEST(environment.api.rows.size() == 200U);
    BOOST_TEST(environment.all() == "");
}

BOOST_AUTO_TEST_SUITE_END()
