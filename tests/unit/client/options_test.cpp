// client/options.hpp: the command line of muster-import and its key.
#include "client/options.hpp"

#include "base/crypto.hpp"
#include "unit/client/scratch.hpp"

#include "print.hpp"

#include <algorithm>

using namespace muster;
using namespace muster::client;

namespace {

Options parse_words(const std::vector<std::string>& words) {
    return options_of(parse_command_line(program(), words));
}

Options parse(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"members.csv"};
    if (std::ranges::none_of(more, [](const auto& word) { return word.starts_with("--url"); }))
        arguments.insert(arguments.end(), {"--url", "https://api.example.org"});
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

constexpr const char* kCertificate =
    "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n";

// What options_of() and load_key() say against the words.
std::string refusal_of(const std::vector<std::string>& more) {
    try {
        static_cast<void>(load_key(parse(more), "session-token"));
        return "";
    } catch (const UsageError& error) {
        return error.what();
    }
}

std::string accepted_url(const std::string& url) {
    return parse_words({"members.csv", "--url", url}).url;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_options)

BOOST_AUTO_TEST_CASE(all_options_are_accepted_with_and_without_equals_sign) {
    const test::Scratch scratch;
    const std::string ca_file = scratch.write("ca.pem", kCertificate);
    const Options options =
        parse({"--key-file=k", "--map", "A=B=email", "--map=Shirt=attribute:shirt_size", "--commit",
               "--errors", "e.csv", "--resume", "01900000-0000-7000-8000-000000000000",
               "--chunk=100", "--ca-file", ca_file, "--separator", ";", "--quiet", "--json"});
    BOOST_TEST(options.ca_file == ca_file);
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

BOOST_AUTO_TEST_CASE(a_key_in_the_place_of_another_value_is_rejected_and_not_repeated) {
    using Words = std::vector<std::string>;
    for (const char* prefix : {"org_", "mk_live_", "ek_live_", "ck_live_"}) {
        const std::string key = create_credential(prefix).reveal();
        for (const Words& words :
             {Words{key}, Words{"--map", key}, Words{"--map", "Email=" + key},
              Words{"--chunk", key}, Words{"--url", key}, Words{"--resume", key},
              Words{"--ca-file", key}, Words{"--key-file", key}}) {
            BOOST_TEST_CONTEXT(words.front()) {
                const std::string text = refusal_of(words);
                BOOST_TEST(text.find(key) == std::string::npos);
                BOOST_TEST(text.find(words.front() == "--key-file"
                                         ? "--key-file names a file, and it was given a key"
                                         : "a key on the command line is visible") == 0U);
            }
        }
        const std::string twice = refusal_of({"--key-file", key, "--key-file", "good"});
        BOOST_TEST(twice.find("--key-file is given twice") == 0U);
        BOOST_TEST(twice.find(key) == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(a_name_that_begins_as_a_key_is_not_a_key) {
    const test::Scratch scratch;
    const std::string key = create_credential("org_").reveal();
    BOOST_TEST(refusal_of({"--map", "org_unit=external_id", "--errors", "org_members.csv"}) == "");
    BOOST_TEST(refusal_of({"--key-file", scratch.write(key, key + "\n")}) == "");
}

BOOST_AUTO_TEST_CASE(the_help_of_quiet_names_what_it_prints) {
    const std::string help = help_text(program());
    BOOST_TEST(help.find("--quiet             print only errors, the question, and how many rows "
                         "were not imported\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(invalid_command_lines_are_refused) {
    refuses_arguments({"other.csv"}, "unexpected argument other.csv; name one FILE");
    refuses_arguments({"\x1b[31m.csv"}, "unexpected argument \\x1b[31m.csv; name one FILE");
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
    const test::Scratch scratch;
    const std::string x_file = scratch.write("x.pem", kCertificate);
    const std::string y_file = scratch.write("y.pem", kCertificate);
    const Defaults defaults{"https://x.org/", "x.key", x_file, {}};
    const std::vector<std::string> words = {"members.csv"};
    const Options by_default = options_of(parse_command_line(program(), words), defaults);
    BOOST_TEST(by_default.url == "https://x.org");
    BOOST_TEST(by_default.key_file == "x.key");
    BOOST_TEST(by_default.ca_file == x_file);
    const std::vector<std::string> all = {"members.csv", "--url",     "https://y.org", "--key-file",
                                          "y.key",       "--ca-file", y_file};
    const Options given = options_of(parse_command_line(program(), all), defaults);
    BOOST_TEST(given.url == "https://y.org");
    BOOST_TEST(given.key_file == "y.key");
    BOOST_TEST(given.ca_file == y_file);
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
    for (const char* const url :
         {"https://name:word@api.example.org", "https://name:word@api.example.org/v1",
          "ftp://name:word@api.example.org", "name:word@api.example.org"}) {
        BOOST_CHECK_EXCEPTION(
            static_cast<void>(accepted_url(url)), UsageError, [](const UsageError& error) {
                return std::string_view(error.what()).find("word@") == std::string_view::npos;
            });
    }
    refuses_url("https://api.example.org?x=1");
    refuses_arguments({"--url", "https://api.example.org/foo"}, "without a path or a query");
    refuses_arguments({"--url", "https://api.example.org/foo/v1"}, "without a path or a query");
    refuses_url("ftp://api.example.org");
    refuses_url("api.example.org");
    refuses_url("https://");
}

BOOST_AUTO_TEST_CASE(an_error_about_a_url_names_its_source) {
    for (const char* url : {"ftp://x.org", "https://x.org/v1", "https://x.org/a", "http://x.org",
                            "https://a:b@x.org"}) {
        const auto message = [&](const std::vector<std::string>& words, const Defaults& defaults) {
            try {
                static_cast<void>(options_of(parse_command_line(program(), words), defaults));
            } catch (const UsageError& error) {
                return std::string(error.what());
            }
            return std::string();
        };
        Defaults defaults;
        defaults.url = url;
        defaults.url_source = "MUSTER_URL";
        BOOST_TEST_CONTEXT(url) {
            BOOST_TEST(message({"--list"}, defaults).starts_with("MUSTER_URL "));
            BOOST_TEST(message({"--list", "--url", url}, defaults).starts_with("--url "));
        }
    }
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
}

BOOST_AUTO_TEST_CASE(a_key_file_that_cannot_be_used_is_named_with_the_reason) {
    const test::Scratch scratch;
    const std::string empty = scratch.write("empty", "");
    BOOST_TEST(refusal_of({"--key-file", "/nowhere/key"}) ==
               "the key file /nowhere/key cannot be read: No such file or directory");
    BOOST_TEST(refusal_of({"--key-file", "/"}) == "the key file / is a folder; use a file");
    BOOST_TEST(refusal_of({"--key-file", empty}) == "the key file " + empty + " is empty");
}

BOOST_AUTO_TEST_CASE(a_file_without_certificate_authorities_is_refused_with_its_option) {
    const test::Scratch scratch;
    const std::string text = scratch.write("text.pem", "hello\n");
    BOOST_TEST(refusal_of({"--ca-file", "/nowhere/ca.pem"}) ==
               "--ca-file /nowhere/ca.pem cannot be read: No such file or directory");
    BOOST_TEST(refusal_of({"--ca-file", "/"}) == "--ca-file / is a folder; use a file");
    BOOST_TEST(refusal_of({"--ca-file", text}) ==
               "--ca-file " + text + " has no certificate; name a file in PEM format");
    const std::vector<std::string> words = {"members.csv"};
    const Defaults defaults{"https://x.org", "x.key", "/nowhere/ca.pem", {}};
    BOOST_CHECK_EXCEPTION(
        static_cast<void>(options_of(parse_command_line(program(), words), defaults)), UsageError,
        [](const UsageError& error) {
            return std::string_view(error.what()).find("MUSTER_CA_FILE or the profile") !=
                   std::string_view::npos;
        });
    const std::string list = scratch.write("list.pem", std::string("# a list\n") + kCertificate);
    BOOST_TEST(refusal_of({"--ca-file", list}) == "");
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

BOOST_AUTO_TEST_CASE(a_command_without_a_file_takes_no_option_of_an_import) {
    using Words = std::vector<std::string>;
    const std::string job = "01900000-0000-7000-8000-000000000000";
    const auto is_accepted = [](Words words, const Words& more) {
        words.insert(words.end(), more.begin(), more.end());
        words.insert(words.end(), {"--url", "https://api.example.org"});
        try {
            static_cast<void>(parse_words(words));
            return true;
        } catch (const UsageError&) {
            return false;
        }
    };
    for (const Words& command : {Words{"--undo", job}, Words{"--cancel", job}, Words{"--list"}}) {
        BOOST_TEST_CONTEXT(command.front()) {
            BOOST_TEST(is_accepted(command, {}));
            BOOST_TEST(!is_accepted(command, {"--commit"}));
            BOOST_TEST(!is_accepted(command, {"--resume", job}));
            BOOST_TEST(is_accepted(command, {"--dry-run"}) == (command.front() == "--undo"));
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
