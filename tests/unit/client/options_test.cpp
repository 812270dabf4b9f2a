// client/options.hpp: the command line of muster-import and its key.
#include "client/options.hpp"

#include "base/crypto.hpp"
#include "unit/client/scratch.hpp"

#include "print.hpp"

using namespace muster;
using namespace muster::client;

namespace {

Options parse_words(const std::vector<std::string>& words) {
    return options_of(parse_command_line(program(), words));
}

Options parse(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"members.csv", "--url", "https://api.example.org"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return parse_words(arguments);
}

void refuses_arguments(const std::vector<std::string>& more, std::string_view part) {
    BOOST_CHECK_EXCEPTION(static_cast<void>(parse(more)), UsageError, [&](const UsageError& error) {
        BOOST_TEST_MESSAGE(error.what());
        return std::string_view(error.what()).find(part) != std::string_view::npos;
    });
}

void refuses_url(const std::string& url) {
    BOOST_TEST_CONTEXT(url) {
        BOOST_CHECK_THROW(static_cast<void>(parse_words({"members.csv", "--url", url})),
                          UsageError);
    }
}

std::string accepted_url(const std::string& url) {
    return parse_words({"members.csv", "--url", url}).url;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_options)

BOOST_AUTO_TEST_CASE(all_options_are_accepted_with_and_without_equals_sign) {
    const Options options =
        parse({"--key-file=k", "--map", "A=B=email", "--map=Shirt=attribute:shirt_size", "--commit",
               "--errors", "e.csv", "--resume", "01900000-0000-7000-8000-000000000000",
               "--chunk=100", "--ca-file", "ca.pem", "--separator", ";", "--quiet", "--json"});
    BOOST_TEST(options.file == "members.csv");
    BOOST_TEST(options.key_file == "k");
    BOOST_REQUIRE(options.maps.size() == 2);
    BOOST_CHECK((options.maps[0] == MapOption{"A=B", "email"}));
    BOOST_CHECK((options.maps[1] == MapOption{"Shirt", "attribute:shirt_size"}));
    BOOST_TEST(options.errors == "e.csv");
    BOOST_TEST(options.chunk == 100U);
    BOOST_TEST(options.separator == ';');
    BOOST_TEST(options.commit);
    BOOST_TEST(options.quiet);
    BOOST_TEST(options.json);
    BOOST_TEST(!options.dry_run);
}

BOOST_AUTO_TEST_CASE(defaults_are_filled_in) {
    BOOST_TEST(parse({}).errors == "members-errors.csv");
    BOOST_TEST(parse({}).chunk == 5000U);
    BOOST_TEST(parse_words({"list.txt", "--url", "https://x.org"}).errors == "list.txt-errors.csv");
    BOOST_TEST(parse({"--separator", "tab"}).separator == '\t');
    const std::vector<std::string> alone = {"--help"};
    BOOST_TEST(parse_command_line(program(), alone).has("--help"));
}

BOOST_AUTO_TEST_CASE(a_key_on_the_command_line_is_rejected_and_not_repeated) {
    for (const char* argument : {"--key", "--key=org_secret", "--api-key", "--token=org_secret"}) {
        BOOST_CHECK_EXCEPTION(static_cast<void>(parse({argument, "org_secret"})), UsageError,
                              [](const UsageError& error) {
                                  const std::string_view text = error.what();
                                  return text.find("--key-file") != text.npos &&
                                         text.find("org_secret") == text.npos;
                              });
    }
}

BOOST_AUTO_TEST_CASE(invalid_command_lines_are_refused) {
    refuses_arguments({"other.csv"}, "unexpected argument other.csv; name one FILE");
    refuses_arguments({"--dry-run", "--commit"}, "--dry-run and --commit are both given");
    refuses_arguments({"--chunk", "0"}, "1 to 5000");
    refuses_arguments({"--chunk", "5001"}, "1 to 5000");
    refuses_arguments({"--chunk"}, "needs a value");
    refuses_arguments({"--map", "email"}, "Column=field");
    refuses_arguments({"--map", "=email"}, "Column=field");
    refuses_arguments({"--separator", ";;"}, "one character");
    refuses_arguments({"--resume", "7"}, "id of an import job");
    refuses_arguments({"--cancel", "7"}, "takes no FILE");
    refuses_arguments({"--url=https://x.org/v1/"}, "use https://x.org, without /v1");
    refuses_arguments({"--quiet=yes"}, "takes no value");
    refuses_arguments({"--comit"}, "unknown option --comit; did you mean --commit?");
    refuses_arguments({"--errors", "members.csv"}, "--errors is the imported file");
    refuses_arguments({"--format", "Birthday"}, "Column=FORMAT");
    refuses_arguments({"--date-format", "DD.MM"}, "YYYY-MM-DD, DD.MM.YYYY");
    refuses_arguments({"--strict", "--date-format", "DD.MM.YYYY"}, "are both given");
    refuses_arguments({"--list"}, "--list takes no FILE");
    BOOST_CHECK_THROW(static_cast<void>(parse_words({"--url", "https://x.org"})), UsageError);
    BOOST_CHECK_THROW(static_cast<void>(parse_words({"members.csv"})), UsageError);
}

BOOST_AUTO_TEST_CASE(options_override_the_defaults) {
    const Defaults defaults{"https://x.org/", "x.key", "x.pem", {}};
    const std::vector<std::string> words = {"members.csv"};
    const Options by_default = options_of(parse_command_line(program(), words), defaults);
    BOOST_TEST(by_default.url == "https://x.org");
    BOOST_TEST(by_default.key_file == "x.key");
    BOOST_TEST(by_default.ca_file == "x.pem");
    const std::vector<std::string> all = {"members.csv", "--url",     "https://y.org", "--key-file",
                                          "y.key",       "--ca-file", "y.pem"};
    const Options given = options_of(parse_command_line(program(), all), defaults);
    BOOST_TEST(given.url == "https://y.org");
    BOOST_TEST(given.key_file == "y.key");
    BOOST_TEST(given.ca_file == "y.pem");
}

BOOST_AUTO_TEST_CASE(a_job_is_canceled_without_a_file) {
    const std::string job = "01a1fd04-035b-72c3-8961-619ede6ecc85";
    const Options options =
        parse_words({"--cancel", job, "--url", "https://x.org", "--key-file", "my key"});
    BOOST_TEST(options.cancel == job);
    BOOST_TEST(options.file == "");
    BOOST_TEST(cancel_command(options, job) ==
               "muster-import --cancel " + job + " --url https://x.org --key-file 'my key'");
    BOOST_CHECK_THROW(static_cast<void>(parse_words({"--cancel", "7", "--url", "https://x.org"})),
                      UsageError);
}

BOOST_AUTO_TEST_CASE(a_job_is_undone_without_a_file) {
    const std::string job = "01a1fd04-035b-72c3-8961-619ede6ecc85";
    const Options options = parse_words({"--undo", job, "--yes", "--url", "https://x.org"});
    BOOST_TEST(options.undo == job);
    BOOST_TEST(options.yes);
    const auto is_refused = [](const std::vector<std::string>& words) {
        try {
            static_cast<void>(parse_words(words));
            return false;
        } catch (const UsageError&) {
            return true;
        }
    };
    BOOST_TEST(is_refused({"--undo", "7", "--url", "https://x.org"}));
    BOOST_TEST(is_refused({"--undo", job, "--list", "--url", "https://x.org"}));
    BOOST_TEST(is_refused({"list.csv", "--yes", "--url", "https://x.org"}));
    BOOST_TEST(is_refused({"list.csv", "--undo", job, "--url", "https://x.org"}));
}

BOOST_AUTO_TEST_CASE(reports_of_reports_are_numbered) {
    const auto errors_of = [](const char* file) {
        return parse_words({file, "--url", "https://x.org"}).errors;
    };
    BOOST_TEST(errors_of("a.csv") == "a-errors.csv");
    BOOST_TEST(errors_of("a-errors.csv") == "a-errors-2.csv");
    BOOST_TEST(errors_of("a-errors-2.csv") == "a-errors-3.csv");
    BOOST_TEST(errors_of("a-errors-x.csv") == "a-errors-x-errors.csv");
    BOOST_TEST(errors_of("a.csv.gz") == "a-errors.csv");
    BOOST_TEST(errors_of("-") == "import-errors.csv");
}

BOOST_AUTO_TEST_CASE(plain_http_is_for_the_loopback_only) {
    BOOST_TEST(accepted_url("https://api.example.org//") == "https://api.example.org");
    BOOST_TEST(accepted_url("http://127.0.0.1:8080") == "http://127.0.0.1:8080");
    BOOST_TEST(accepted_url("http://localhost") == "http://localhost");
    BOOST_TEST(accepted_url("http://[::1]:80") == "http://[::1]:80");
    refuses_url("http://api.example.org");
    refuses_url("http://127.0.0.1.example.org");
    refuses_url("http://localhost.example.org");
    refuses_url("https://name:word@api.example.org");
    refuses_url("https://api.example.org?x=1");
    refuses_url("ftp://api.example.org");
    refuses_url("api.example.org");
    refuses_url("https://");
}

BOOST_AUTO_TEST_CASE(the_key_file_overrides_the_environment) {
    const Secret key = create_credential("org_");
    const test::Scratch scratch;
    const std::string path = scratch.write("key", key.reveal() + "\n");
    BOOST_TEST(load_key(parse({"--key-file", path}), "org_else").reveal() == key.reveal());
    BOOST_TEST(load_key(parse({}), key.reveal().c_str()).reveal() == key.reveal());
    BOOST_TEST(load_key(parse({}), "session-token").reveal() == "session-token");
}

BOOST_AUTO_TEST_CASE(an_invalid_key_is_rejected) {
    std::string mistyped = create_credential("org_").reveal();
    mistyped.back() = mistyped.back() == 'a' ? 'b' : 'a';
    const std::string other = create_credential("ek_live_").reveal();
    for (const std::string& key :
         {mistyped, other, std::string("two words of text"), std::string(" ")}) {
        BOOST_CHECK_EXCEPTION(static_cast<void>(load_key(parse({}), key.c_str())), UsageError,
                              [&](const UsageError& error) {
                                  const std::string_view text = error.what();
                                  return key == " " || text.find(key) == std::string_view::npos;
                              });
    }
    BOOST_CHECK_THROW(static_cast<void>(load_key(parse({}), nullptr)), UsageError);
    BOOST_CHECK_THROW(static_cast<void>(load_key(parse({"--key-file", "/nowhere/key"}), nullptr)),
                      UsageError);
    BOOST_CHECK_THROW(static_cast<void>(load_key(parse({"--key-file", "/"}), nullptr)), UsageError);
}

BOOST_AUTO_TEST_CASE(the_resume_command_repeats_the_relevant_options_and_quotes_them) {
    const Options options = parse(
        {"--key-file", "my key", "--map", "It's=email", "--separator", "tab", "--chunk", "10"});
    BOOST_TEST(resume_command(options, "JOB", " --commit") ==
               "muster-import members.csv --url https://api.example.org --key-file 'my key' "
               "--map 'It'\\''s=email' --separator tab --chunk 10 --resume JOB --commit");
    const Options reading =
        parse({"--encoding", "cp850", "--no-header", "--date-format", "DD/MM/YYYY", "--format",
               "Fee=decimal-comma", "--reject-bad-values"});
    BOOST_TEST(resume_command(reading, "JOB", "") ==
               "muster-import members.csv --url https://api.example.org --encoding cp850 "
               "--no-header --date-format DD/MM/YYYY --format Fee=decimal-comma "
               "--reject-bad-values --resume JOB");
}

BOOST_AUTO_TEST_CASE(the_error_report_is_not_the_imported_file_under_another_name) {
    const test::Scratch scratch;
    const std::string file = scratch.write("members.csv", "Email\n");
    std::filesystem::create_symlink(file, scratch.file("symlink.csv"));
    std::filesystem::create_hard_link(file, scratch.file("hard-link.csv"));
    const auto words = [&](const std::string& errors) {
        return std::vector<std::string>{file, "--url", "https://api.example.org", "--errors",
                                        scratch.file(errors)};
    };
    for (const char* errors : {"./members.csv", "symlink.csv", "hard-link.csv"}) {
        BOOST_TEST_CONTEXT(errors) {
            BOOST_CHECK_THROW(static_cast<void>(parse_words(words(errors))), UsageError);
        }
    }
    scratch.write("older.csv", "Email\n");
    BOOST_TEST(parse_words(words("older.csv")).errors == scratch.file("older.csv"));
}

BOOST_AUTO_TEST_CASE(an_undo_takes_no_option_of_an_import) {
    const std::string job = "01900000-0000-7000-8000-000000000000";
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"--commit"}, std::vector<std::string>{"--resume", job}}) {
        std::vector<std::string> words = {"--undo", job, "--url", "https://api.example.org"};
        words.insert(words.end(), more.begin(), more.end());
        BOOST_CHECK_THROW(static_cast<void>(parse_words(words)), UsageError);
    }
}

BOOST_AUTO_TEST_SUITE_END()
