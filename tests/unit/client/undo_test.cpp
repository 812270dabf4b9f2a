// client/undo.hpp: the question before an undo, and the result in the document.
#include "unit/client/import_environment.hpp"

#include "print.hpp"

using namespace muster;
using namespace muster::client;
using namespace muster::test;

namespace {

// A completed job.
struct CompletedJob : Environment {
    CompletedJob() {
        api.state = "completed";
        predict(2, 1, 0);
    }
    void predict(int removed, int detached, int emptied) {
        api.undo["removed"] = removed;
        api.undo["detached"] = detached;
        api.undo["emptied"] = emptied;
    }
    ExitCode undo(std::vector<std::string> words) {
        words.insert(words.end(), {"--undo", kJob, "--url", api.url()});
        return run_words(words);
    }
    // The question that is answered with no.
    std::string question() {
        std::string asked;
        ask = [&](const std::string& text) {
            asked = text;
            return false;
        };
        BOOST_CHECK(is(undo({"--quiet"}), ExitCode::Stopped));
        return asked;
    }
    std::string message() const { return json()["error"]["message"].asString(); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(client_undo, CompletedJob)

BOOST_AUTO_TEST_CASE(the_question_has_the_number_of_members) {
    BOOST_TEST(question() == "Undo the import, and remove 3 members?");
    predict(1, 0, 0);
    BOOST_TEST(question() == "Undo the import, and remove 1 member?");
    predict(0, 0, 2);
    BOOST_TEST(question() == "Undo the import, and empty values of 2 members?");
    predict(1200, 0, 2);
    BOOST_TEST(question() ==
               "Undo the import, and remove 1,200 members, and empty values of 2 members?");
    predict(0, 0, 0);
    BOOST_TEST(question() == "Undo the import?");
    BOOST_TEST(api.state == "completed");
}

BOOST_AUTO_TEST_CASE(the_question_says_that_the_number_is_an_estimate) {
    api.undo["is_estimate"] = true;
    BOOST_TEST(question() == "Undo the import, and remove about 3 members?");
}

BOOST_AUTO_TEST_CASE(the_document_says_why_nothing_was_undone) {
    BOOST_CHECK(is(undo({"--json"}), ExitCode::Stopped));
    BOOST_TEST(message() ==
               "nothing was undone: --yes is missing, and there is no terminal to ask on");
    ask = [](const std::string&) { return false; };
    BOOST_CHECK(is(undo({"--json"}), ExitCode::Stopped));
    BOOST_TEST(message() == "nothing was undone");
}

BOOST_AUTO_TEST_CASE(rows_that_are_kept_are_named_with_the_call_that_lists_them) {
    predict(1, 1, 0);
    api.undo["kept"] = 2;
    const std::string line = "2 rows were changed since and are kept; GET " + api.url() +
                             "/v1/imports/" + kJob +
                             "/rows?state=kept lists them, and .../error-report has them as CSV\n";
    BOOST_CHECK(is(undo({"--yes"}), ExitCode::SomeNotIn));
    BOOST_TEST(out.ends_with(line));
    BOOST_CHECK(is(undo({"--yes", "--quiet"}), ExitCode::SomeNotIn));
    BOOST_TEST(all() == "muster-import: " + line);
}

BOOST_AUTO_TEST_CASE(the_document_has_the_failure_of_an_undo) {
    api.fails_in = "undoing";
    BOOST_CHECK(is(undo({"--json", "--yes"}), ExitCode::Failed));
    BOOST_TEST(message() == "the undo failed: RUNNER_GAVE_UP: after 5 attempts");
    BOOST_TEST(says("muster-import: " + message() + "\n"));
}

BOOST_AUTO_TEST_CASE(a_stop_while_undoing_names_the_command_that_waits_for_the_undo) {
    api.before = [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (request.path.ends_with("/undo") && request.body.find("true") == std::string::npos)
            stop = true;
        return std::nullopt;
    };
    BOOST_CHECK(is(undo({"--yes"}), ExitCode::Stopped));
    BOOST_TEST(says("stopped waiting; the service continues the undo"));
    BOOST_TEST(says("to wait for its end:\n  muster-import --undo " + std::string(kJob)));
    stop = false;
    BOOST_CHECK(is(undo({"--yes"}), ExitCode::AllIn));
}

BOOST_AUTO_TEST_CASE(the_document_of_an_undo_has_no_file_and_no_error) {
    BOOST_CHECK(is(undo({"--json", "--yes"}), ExitCode::AllIn));
    BOOST_TEST(api.state == "undone");
    BOOST_TEST(json()["file"].isNull());
    BOOST_TEST(json()["error"].isNull());
    BOOST_TEST(json()["undo"]["removed"].asInt() == 2);
}

BOOST_AUTO_TEST_SUITE_END()
