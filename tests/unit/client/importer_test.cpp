// client/importer.hpp: complete runs of the importer against an API in memory, over real sockets.
#include "base/json_bounds.hpp"
#include "unit/client/import_environment.hpp"

#include "print.hpp"

#include <algorithm>

using namespace muster;
using namespace muster::client;
using namespace muster::test;

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
    BOOST_TEST(environment.counts("new members", "3"));
    BOOST_TEST(environment.says("Nothing was imported. The job is canceled"));
}

BOOST_AUTO_TEST_CASE(without_a_terminal_and_without_commit_it_stops_and_says_how_to_continue) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    BOOST_CHECK(is(environment.run("members.csv", {}), ExitCode::Stopped));
    BOOST_TEST(environment.api.state == "validated");
    BOOST_TEST(environment.says("--resume " + std::string(kJob) + " --commit"));

    environment.api.created_at = kAfterTheFile;
    BOOST_CHECK(
        is(environment.run("members.csv", {"--resume", kJob, "--commit"}), ExitCode::AllIn));
    BOOST_TEST(environment.api.state == "completed");
    BOOST_TEST(environment.api.count("POST /v1/imports/" + std::string(kJob) + "/rows") == 1);
}

BOOST_AUTO_TEST_CASE(an_answer_of_no_cancels_the_job) {
    Environment environment;
    std::string questions;
    environment.ask = [&](const std::string& text) {
        questions += text + " ";
        return false;
    };
    environment.scratch.write("members.csv", many_rows(3));
    BOOST_CHECK(is(environment.run("members.csv", {}), ExitCode::Stopped));
    BOOST_TEST(questions == "Import 3 members? Keep the job, to import it later? ");
    BOOST_TEST(environment.api.state == "canceled");
    BOOST_TEST(environment.says("Nothing was imported. The job is canceled"));
}

BOOST_AUTO_TEST_CASE(a_job_that_is_not_imported_now_can_be_kept) {
    Environment environment;
    int questions = 0;
    environment.ask = [&](const std::string&) { return ++questions == 2; };
    environment.scratch.write("members.csv", many_rows(3));
    BOOST_CHECK(is(environment.run("members.csv", {}), ExitCode::Stopped));
    BOOST_TEST(environment.api.state == "validated");
    BOOST_TEST(environment.says("--resume " + std::string(kJob) + " --commit"));
    environment.ask = [](const std::string&) { return true; };
    BOOST_CHECK(is(environment.run("members.csv", {"--resume", kJob}), ExitCode::AllIn));
}

BOOST_AUTO_TEST_CASE(the_document_says_why_a_valid_file_was_not_imported) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    BOOST_CHECK(is(environment.run("members.csv", {"--json"}), ExitCode::Stopped));
    BOOST_TEST(environment.json()["error"]["message"].asString() ==
               "nothing was imported: --commit is missing, and there is no terminal to ask on");
    int questions = 0;
    environment.ask = [&](const std::string&) { return ++questions == 2; };  // keeps the job
    BOOST_CHECK(
        is(environment.run("members.csv", {"--json", "--resume", kJob}), ExitCode::Stopped));
    BOOST_TEST(environment.json()["error"]["message"].asString() == "nothing was imported");
}

BOOST_AUTO_TEST_CASE(a_canceled_job_has_no_file_and_no_missing_rows) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(2) + "m1@example.org,,,\n");
    BOOST_CHECK(is(environment.run("members.csv", {}), ExitCode::Stopped));
    const std::vector<std::string> cancel = {"--cancel", kJob, "--url", environment.api.url(),
                                             "--quiet"};
    BOOST_CHECK(is(environment.run_words(cancel), ExitCode::AllIn));
    BOOST_TEST(environment.all() == "");
    BOOST_TEST(environment.api.state == "canceled");
    BOOST_CHECK(
        is(environment.run_words({"--cancel", kJob, "--url", environment.api.url(), "--json"}),
           ExitCode::AllIn));
    BOOST_TEST(environment.json()["invalid"].asInt() == 1);
    BOOST_TEST(environment.json()["file"].isNull());
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

BOOST_AUTO_TEST_CASE(a_reopened_job_is_validated_again) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    BOOST_CHECK(is(environment.run("members.csv", {}), ExitCode::Stopped));
    environment.api.state = "staging";  // POST .../reopen
    environment.api.before = [&](const ServedRequest&) -> std::optional<ServedResponse> {
        if (environment.api.log.size() > 100) environment.stop = true;  // it does not end
        return std::nullopt;
    };
    BOOST_CHECK(
        is(environment.run("members.csv", {"--resume", kJob, "--commit"}), ExitCode::AllIn));
    BOOST_TEST(environment.api.count("POST /v1/imports/" + std::string(kJob) + "/validate") == 2);
    BOOST_TEST(environment.api.state == "completed");
}

BOOST_AUTO_TEST_CASE(a_job_that_is_reopened_during_the_run_ends_it_with_the_command_to_continue) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    environment.api.before = [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (environment.api.state == "validating" && request.method == "GET")
            environment.api.state = "staging";
        if (environment.api.log.size() > 100) environment.stop = true;  // it does not end
        return std::nullopt;
    };
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::Failed));
    BOOST_TEST(environment.says("is in staging again: another program reopened it"));
    BOOST_TEST(environment.says("--resume " + std::string(kJob) + " --commit"));
    BOOST_TEST(environment.api.count("POST /v1/imports/" + std::string(kJob) + "/validate") == 1);
}

BOOST_AUTO_TEST_CASE(a_call_of_an_earlier_run_that_arrives_late_is_not_an_error) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    environment.api.before = [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (request.path.ends_with("/validate")) environment.api.state = "validating";
        if (request.path.ends_with("/commit")) environment.api.state = "committing";
        return std::nullopt;
    };
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::AllIn));
    BOOST_TEST(environment.api.state == "completed");
}

BOOST_AUTO_TEST_CASE(a_call_that_the_state_of_the_job_does_not_allow_ends_the_run) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    environment.api.before = [](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!request.path.ends_with("/commit")) return std::nullopt;
        return ServedResponse{
            .status = 409,
            .body = R"({"error":{"code":"IMPORT_JOB_INVALID_STATE","status":409,"message":"no"}})",
            .headers = {}};
    };
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::Failed));
    BOOST_TEST(environment.says("409 IMPORT_JOB_INVALID_STATE"));
}

BOOST_AUTO_TEST_CASE(a_job_that_another_program_cancels_while_rows_are_sent_was_canceled) {
    for (const char* call : {"/rows", "/validate", "/commit"}) {
        BOOST_TEST_CONTEXT(call) {
            Environment environment;
            environment.scratch.write("members.csv", many_rows(3));
            environment.api.before = [&](const ServedRequest& request) {
                if (request.path.ends_with(call)) environment.api.state = "canceled";
                return std::optional<ServedResponse>();
            };
            BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::Stopped));
            BOOST_TEST(environment.says("job " + std::string(kJob) + " was canceled\n"));
            BOOST_TEST(!environment.says("--resume"));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_dry_run_that_another_program_starts_too_early_is_not_committed) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(20));
    environment.api.before = [&](const ServedRequest& request) {
        if (request.path.ends_with("/rows") && environment.api.rows.size() >= 10)
            environment.api.state = "validating";
        return std::optional<ServedResponse>();
    };
    BOOST_CHECK(is(environment.run("members.csv", {"--commit", "--chunk", "5"}), ExitCode::Failed));
    BOOST_TEST(environment.says("another program started its dry run too early"));
    BOOST_TEST(environment.says("--resume " + std::string(kJob) + " --commit"));
    BOOST_TEST(environment.api.state == "validated");
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

BOOST_AUTO_TEST_CASE(a_stop_after_the_import_does_not_say_that_nothing_was_imported) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    environment.api.before = [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        const bool is_poll = request.method == "GET" && environment.api.state == "committing";
        if (is_poll) environment.api.state = "completed";
        if (is_poll) environment.stop = true;
        return std::nullopt;
    };
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::Stopped));
    BOOST_TEST(environment.says("stopped; the import is complete, and its error report may not "));
    BOOST_TEST(!environment.says("nothing was imported"));
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
    BOOST_TEST(environment.says("or cancel it:"));
    BOOST_TEST(environment.api.state == "validated");
    environment.api.state = "completed";
    BOOST_CHECK(is(environment.run("members.csv", {"--resume", kJob}), ExitCode::Usage));
    BOOST_TEST(environment.says("Resume with the same file and the same options"));
    BOOST_TEST(!environment.says("cancel it"));
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

BOOST_AUTO_TEST_CASE(a_job_that_is_being_undone_cannot_be_continued_or_canceled) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    environment.api.state = "undoing";
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::Failed));
    BOOST_TEST(environment.says("is being undone; import the file when the undo has ended"));
    BOOST_TEST(!environment.says("--resume"));
    BOOST_TEST(!environment.says("--cancel"));
}

BOOST_AUTO_TEST_CASE(a_report_that_cannot_be_written_after_the_import_does_not_hide_its_counts) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(2) + "m1@example.org,,,\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::SomeNotIn));
    BOOST_CHECK(is(environment.run("members.csv", {"--resume", kJob, "--errors", "/dev/full"}),
                   ExitCode::SomeNotIn));
    BOOST_TEST(environment.says("the error report /dev/full cannot be written: No space left"));
    BOOST_TEST(environment.counts("created", "2"));
    BOOST_TEST(!environment.says("the reasons are in"));
}

BOOST_AUTO_TEST_CASE(the_error_report_is_readable_by_its_owner_only) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(2) + "broken,,,\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::SomeNotIn));
    using std::filesystem::perms;
    const auto mode =
        std::filesystem::status(environment.scratch.file("members-errors.csv")).permissions();
    BOOST_TEST((mode == (perms::owner_read | perms::owner_write)));
}

BOOST_AUTO_TEST_CASE(the_document_says_that_the_counts_of_an_undo_are_an_estimate) {
    Summary summary;
    summary.job.emplace();
    summary.job->undo = ImportJob::Undo{.is_estimate = true};
    Json::Value document;
    BOOST_REQUIRE(parse_json(summary_json(summary, ExitCode::AllIn), document));
    BOOST_TEST(document["undo"]["is_estimate"].asBool());
}

BOOST_AUTO_TEST_CASE(a_quiet_run_says_that_rows_are_missing_and_a_clean_one_removes_its_report) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(2) + "broken,,,\n");
    BOOST_CHECK(is(environment.run("members.csv", {"--commit", "--quiet"}), ExitCode::SomeNotIn));
    BOOST_TEST(environment.all() ==
               "muster-import: 1 of 3 rows was not imported; the reasons are in " +
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

BOOST_AUTO_TEST_CASE(a_job_that_failed_is_a_failure) {
    Environment environment;
    environment.api.fails_in = "committing";
    environment.scratch.write("members.csv", many_rows(3));
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::Failed));
    BOOST_TEST(environment.says("RUNNER_GAVE_UP: after 5 attempts"));
}

BOOST_AUTO_TEST_CASE(jobs_are_listed) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    BOOST_CHECK(is(environment.run("members.csv", {}), ExitCode::Stopped));
    BOOST_CHECK(
        is(environment.run_words({"--list", "--url", environment.api.url()}), ExitCode::AllIn));
    BOOST_TEST(environment.out ==
               std::string(kJob) + "  2026-11-20T10:00  validated   3 rows  members.csv\n");
}

BOOST_AUTO_TEST_CASE(all_pages_of_the_list_of_jobs_are_read_up_to_a_bound) {
    Environment environment;
    environment.scratch.write("members.csv", many_rows(3));
    BOOST_CHECK(is(environment.run("members.csv", {}), ExitCode::Stopped));
    environment.api.list_pages = 3;
    const std::vector<std::string> words = {"--list", "--url", environment.api.url()};
    BOOST_CHECK(is(environment.run_words(words), ExitCode::AllIn));
    BOOST_TEST(std::count(environment.out.begin(), environment.out.end(), '\n') == 3);
    environment.api.list_pages = 100'000;
    BOOST_CHECK(is(environment.run_words(words), ExitCode::AllIn));
    BOOST_TEST(std::count(environment.out.begin(), environment.out.end(), '\n') == 200);
}

BOOST_AUTO_TEST_CASE(a_request_has_at_most_a_thousand_long_numbers) {
    Environment environment;
    const std::string number(25, '9');
    std::string file = "Email,Fee\n";
    for (int i = 1; i <= 2500; ++i)
        file += "m" + std::to_string(i) + "@example.org," + number + "\n";
    environment.scratch.write("members.csv", file);
    int numbers = 0;
    int most = 0;  // in one request
    environment.api.before = [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!request.path.ends_with("/rows")) return std::nullopt;
        const std::string fee = "\"fee\":" + number + "}";
        int found = 0;
        for (auto at = request.body.find(fee); at != std::string::npos;
             at = request.body.find(fee, at + 1)) {
            ++found;
        }
        most = std::max(most, found);
        numbers += found;
        return std::nullopt;
    };
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::AllIn));
    BOOST_TEST(most == 1000);
    BOOST_TEST(numbers == 2500);
    BOOST_TEST(environment.api.rows.size() == 2500U);
}

BOOST_AUTO_TEST_CASE(a_request_has_at_most_a_million_entries) {
    Environment environment;
    std::string courses = "c1";
    for (int i = 2; i <= 300; ++i) courses += ";c" + std::to_string(i);
    std::string file = "Email,Courses\n";
    for (int i = 1; i <= 3500; ++i)
        file += "m" + std::to_string(i) + "@example.org," + courses + "\n";
    environment.scratch.write("members.csv", file);
    std::vector<std::size_t> entries;  // in each request
    environment.api.before = [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!request.path.ends_with("/rows")) return std::nullopt;
        entries.push_back(count_json_parts(request.body).entries);
        return std::nullopt;
    };
    BOOST_CHECK(is(environment.run("members.csv", {"--commit"}), ExitCode::AllIn));
    BOOST_TEST(entries.size() == 2U);
    // The next row would have 306.
    BOOST_TEST(*std::max_element(entries.begin(), entries.end()) <= kMostJsonEntries);
    BOOST_TEST(*std::max_element(entries.begin(), entries.end()) > kMostJsonEntries - 306);
    BOOST_TEST(environment.api.rows.size() == 3500U);
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
