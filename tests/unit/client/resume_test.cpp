// client/resume.hpp: a resumed job imports the rows that the file holds.
#include "client/resume.hpp"

#include "unit/client/import_environment.hpp"

#include "print.hpp"

using namespace muster;
using namespace muster::client;
using namespace muster::test;

namespace {

const std::string kRowsPath = "POST /v1/imports/" + std::string(kJob) + "/rows";
const std::string kReopenPath = "POST /v1/imports/" + std::string(kJob) + "/reopen";
const std::vector<std::string> kResume = {"--resume", kJob, "--commit"};

// A job in `validated` that the run without --commit left behind.
struct KeptJob : Environment {
    KeptJob() {
        scratch.write("members.csv", many_rows(2));
        BOOST_CHECK(is(run("members.csv", {}), ExitCode::Stopped));
    }
    // The file with other names in the same number of rows.
    void edit() {
        scratch.write("members.csv", kHeader + "m1@example.org,Zoe,,\nm2@example.org,Zac,,\n");
    }
    std::string name(std::uint32_t row) const { return api.rows.at(row)["first_name"].asString(); }
    ExitCode resume() { return run("members.csv", kResume); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(client_resume, KeptJob)

BOOST_AUTO_TEST_CASE(an_edited_file_is_sent_again_to_a_validated_job) {
    edit();
    const std::size_t keys = api.keys.size();
    BOOST_CHECK(is(resume(), ExitCode::AllIn));
    BOOST_TEST(name(1) == "Zoe");
    BOOST_TEST(name(2) == "Zac");
    BOOST_TEST(api.count(kReopenPath) == 1);
    BOOST_TEST(api.keys.size() == keys + 3);  // reopen, validate, commit
    BOOST_TEST(says("may have changed since job " + std::string(kJob) + " was created"));
    BOOST_TEST(api.state == "completed");
}

BOOST_AUTO_TEST_CASE(an_edited_file_is_sent_again_to_a_staging_job_with_all_rows) {
    edit();
    api.state = "staging";
    api.created_at = kAfterTheFile;
    BOOST_CHECK(is(resume(), ExitCode::AllIn));
    BOOST_TEST(name(1) == "Zoe");
    BOOST_TEST(api.count(kReopenPath) == 0);
}

BOOST_AUTO_TEST_CASE(an_edited_file_is_sent_again_to_a_job_whose_dry_run_was_interrupted) {
    edit();
    api.state = "validating";
    BOOST_CHECK(is(resume(), ExitCode::AllIn));
    BOOST_TEST(name(2) == "Zac");
    BOOST_TEST(api.count(kReopenPath) == 1);
}

BOOST_AUTO_TEST_CASE(an_older_file_is_not_sent_again) {
    api.created_at = kAfterTheFile;
    BOOST_CHECK(is(resume(), ExitCode::AllIn));
    BOOST_TEST(api.count(kRowsPath) == 1);
    BOOST_TEST(api.count(kReopenPath) == 0);
}

BOOST_AUTO_TEST_CASE(a_late_clock_does_not_make_a_changed_file_older_than_the_job) {
    edit();
    api.created_at = kAfterTheFile;
    api.date = "Thu, 01 Jan 2099 00:05:00 GMT";
    BOOST_CHECK(is(resume(), ExitCode::AllIn));
    BOOST_TEST(name(1) == "Zoe");
    BOOST_TEST(api.count(kReopenPath) == 1);
}

BOOST_AUTO_TEST_CASE(an_early_clock_does_not_make_a_file_newer) {
    api.created_at = kAfterTheFile;
    api.date = "Wed, 01 Jan 2020 00:00:00 GMT";
    BOOST_CHECK(is(resume(), ExitCode::AllIn));
    BOOST_TEST(api.count(kReopenPath) == 0);
}

BOOST_AUTO_TEST_CASE(the_report_of_a_resumed_commit_says_which_rows_it_lacks) {
    api.rows.erase(2);  // as if it had been rejected in the first run
    api.state = "committing";
    BOOST_CHECK(is(resume(), ExitCode::SomeNotIn));
    BOOST_TEST(says("The report does not have 1 row that the server rejected in an earlier run"));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_read_with_options_is_sent_again) {
    api.created_at = kAfterTheFile;
    auto words = kResume;
    words.insert(words.end(), {"--map", "First Name=last_name"});
    BOOST_CHECK(is(run("members.csv", words), ExitCode::AllIn));
    BOOST_TEST(api.count(kReopenPath) == 1);
    BOOST_TEST(api.rows.at(1)["last_name"].asString() == "Ann");
    BOOST_TEST(says("The options may differ from those of the run that created job"));
}

BOOST_AUTO_TEST_CASE(a_job_that_is_imported_already_is_not_reopened) {
    BOOST_CHECK(is(resume(), ExitCode::AllIn));
    edit();
    BOOST_CHECK(is(resume(), ExitCode::AllIn));
    BOOST_TEST(name(1) == "Ann");
    BOOST_TEST(api.count(kReopenPath) == 1);
}

BOOST_AUTO_TEST_CASE(a_job_that_was_committed_meanwhile_is_followed) {
    edit();
    api.before = [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (request.path.ends_with("/reopen")) api.state = "committing";
        return std::nullopt;
    };
    BOOST_CHECK(is(resume(), ExitCode::AllIn));
    BOOST_TEST(api.state == "completed");
}

BOOST_AUTO_TEST_CASE(a_job_with_more_rows_than_the_file_is_refused) {
    api.rows[7] = api.rows[1];
    for (const char* state : {"staging", "validated"}) {
        api.state = state;
        BOOST_CHECK(is(resume(), ExitCode::Usage));
        BOOST_TEST(says("holds 3 rows, and " + scratch.file("members.csv") + " has 2 to import"));
        BOOST_TEST(says("\n  muster-import --cancel " + std::string(kJob)));
        BOOST_TEST(!says("--resume"));
        BOOST_TEST(api.state == state);
    }
}

BOOST_AUTO_TEST_CASE(a_row_that_the_edited_file_lost_is_not_imported) {
    api.state = "";
    api.rows.clear();
    scratch.write("members.csv", many_rows(2) + "broken,,,\n");
    BOOST_CHECK(is(run("members.csv", {}), ExitCode::Stopped));
    scratch.write("members.csv",
                  kHeader + "m1@example.org,,,\nbroken,,,\nm3@example.org,,,\n");  // again two
    BOOST_CHECK(is(resume(), ExitCode::Usage));
    BOOST_TEST(says("holds 3 rows, and " + scratch.file("members.csv") + " has 2 to import"));
    BOOST_TEST(!says("--resume"));
    BOOST_TEST(api.state == "validated");
}

BOOST_AUTO_TEST_CASE(the_reasons_of_rows_that_the_server_rejected_are_found_again) {
    api.state = "";
    api.rows.clear();
    api.faulty_emails = {"m2@example.org"};
    scratch.write("members.csv", many_rows(3) + "broken,,,\n");
    BOOST_CHECK(is(run("members.csv", {}), ExitCode::Stopped));
    const std::string report = scratch.read("members-errors.csv");
    BOOST_TEST(report.find("m2@example.org,Ann,1990-01-01,M,2,3,rejected,invalid_email,") !=
               std::string::npos);
    api.created_at = kAfterTheFile;
    BOOST_CHECK(is(resume(), ExitCode::SomeNotIn));
    BOOST_TEST(says("has 2 of the 3 rows"));
    BOOST_TEST(scratch.read("members-errors.csv") == report);
    BOOST_TEST(counts("created", "2"));
}

BOOST_AUTO_TEST_CASE(a_job_has_the_name_of_its_file_if_it_can_be_a_name) {
    BOOST_TEST(job_file_name("-") == "standard input");
    BOOST_TEST(job_file_name("/a/b/Mitglieder ä.csv") == "Mitglieder ä.csv");
    for (const char* name :
         {"", " ", "a\x1b[2J.csv", "a\n.csv", "a\x7f", "a\xC2\x9B.csv", "a\xFF.csv"})
        BOOST_TEST(job_file_name(std::string("x/") + name) == "import.csv");
    BOOST_TEST(job_file_name(std::string(255, 'x')) == std::string(255, 'x'));
    BOOST_TEST(job_file_name(std::string(256, 'x')) == "import.csv");
    BOOST_TEST(job_file_name("\xE2\x80\x8C.csv") == "\xE2\x80\x8C.csv");  // a zero-width non-joiner
}

BOOST_AUTO_TEST_SUITE_END()
