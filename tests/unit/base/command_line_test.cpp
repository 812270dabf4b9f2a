// base/command_line.hpp: the forms of an option, and errors that name it.
#include "base/command_line.hpp"

#include "base/log.hpp"
#include "base/settings.hpp"
#include "unit/base/logged.hpp"

#include "print.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

using namespace muster;

namespace {

constexpr std::array kOptions = {
    CommandOption{"--config", "FILE", "the configuration"},
    CommandOption{"--map", "A=B", "one line\nanother line", true},
    CommandOption{"--quiet", "", "say less"},
    CommandOption{"--longer-than-others", "", "on a line of its own"},
};
constexpr std::array kMore = {CommandOption{"--secret", "TEXT", ""}};

const Program kProgram{
    .name = "muster-test",
    .synopsis = "[OPTION]... KIND",
    .description = "Tests.",
    .options = kOptions,
    .command_options = kMore,
    .details = "The end.\n",
    .usage_error_status = 7,
    .failure_status = 8,
};

CommandLine parse(const std::vector<std::string>& words) {
    return parse_command_line(kProgram, words);
}

std::string refusal(const std::vector<std::string>& words) {
    try {
        static_cast<void>(parse(words));
        return "";
    } catch (const UsageError& error) {
        return error.what();
    }
}

int run(std::vector<std::string> words, const std::function<int(const CommandLine&)>& body) {
    words.insert(words.begin(), "muster-test");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return run_program(kProgram, static_cast<int>(argv.size()), argv.data(), body);
}

// The exit status of a program whose standard output is a file on a full disk.
int run_on_full_disk(const std::vector<std::string>& words,
                     const std::function<int(const CommandLine&)>& body) {
    std::fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    dup2(full, STDOUT_FILENO);
    const int status = run(words, body);
    dup2(kept, STDOUT_FILENO);
    close(full);
    close(kept);
    std::clearerr(stdout);
    std::cout.clear();
    return status;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(command_line)

BOOST_AUTO_TEST_CASE(a_value_follows_its_option_or_an_equals_sign) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--config", "a=b"}, {"--config=a=b"}}) {
        BOOST_TEST(parse(words).value("--config") == "a=b");
    }
    BOOST_TEST(parse({}).value("--config", "default") == "default");
    BOOST_TEST(!parse({}).has("--config"));
}

BOOST_AUTO_TEST_CASE(options_and_arguments_mix_until_two_hyphens) {
    const CommandLine line = parse({"a", "--quiet", "-", "--config", "f", "b", "--", "--quiet"});
    const std::vector<std::string> expected = {"a", "-", "b", "--quiet"};
    BOOST_TEST(line.arguments == expected);
    BOOST_TEST(line.has("--quiet"));
    BOOST_TEST(line.value("--config") == "f");
}

BOOST_AUTO_TEST_CASE(a_repeatable_option_keeps_all_values) {
    const CommandLine line = parse({"--map", "1", "--map=2", "--config", "x"});
    const std::vector<std::string> expected = {"1", "2"};
    BOOST_TEST(line.values("--map") == expected);
    BOOST_TEST(line.values("--quiet").empty());
    BOOST_TEST(line.value("--config") == "x");
}

BOOST_AUTO_TEST_CASE(a_second_value_is_rejected_and_not_shown) {
    BOOST_TEST(refusal({"--config", "x", "--config=hidden"}) ==
               "--config is given twice; give it once");
    BOOST_TEST(refusal({"--config", "x", "a", "--config", "x"}) ==
               "--config is given twice; give it once");
    BOOST_TEST(refusal({"--secret", "x", "--secret", "y"}) ==
               "--secret is given twice; give it once");
    BOOST_TEST(refusal({"--quiet", "--quiet", "-h", "--help"}) == "");
}

BOOST_AUTO_TEST_CASE(h_and_help_are_the_same) {
    BOOST_TEST(parse({"-h"}).has("--help"));
    BOOST_TEST(parse({"--help"}).has("--help"));
    BOOST_TEST(parse({"--version"}).has("--version"));
}

BOOST_AUTO_TEST_CASE(a_usage_error_names_the_option) {
    BOOST_TEST(refusal({"--confi", "x"}) == "unknown option --confi; did you mean --config?");
    BOOST_TEST(refusal({"--confi=secret"}) == "unknown option --confi; did you mean --config?");
    BOOST_TEST(refusal({"--secre"}) == "unknown option --secre");  // has no help
    BOOST_TEST(refusal({"-q"}) == "unknown option -q");
    BOOST_TEST(refusal({"--\x1b[31m\n"}) == "unknown option --\\x1b[31m\\x0a");
    BOOST_TEST(refusal({"--config"}) == "--config needs a value: --config FILE");
    BOOST_TEST(refusal({"--config", "--quiet"}) == "--config needs a value: --config FILE");
    BOOST_TEST(refusal({"--config="}) == "--config is empty; use --config FILE");
    BOOST_TEST(refusal({"--config", ""}) == "--config is empty; use --config FILE");
    BOOST_TEST(parse({"--config=--quiet"}).value("--config") == "--quiet");
    BOOST_TEST(refusal({"--quiet=yes"}) == "--quiet takes no value");
}

BOOST_AUTO_TEST_CASE(the_help_has_a_row_for_each_option_of_the_program) {
    BOOST_TEST(help_text(kProgram) ==
               "Usage: muster-test [OPTION]... KIND\n"
               "Tests.\n\n"
               "  --config FILE       the configuration\n"
               "  --map A=B           one line\n"
               "                      another line\n"
               "  --quiet             say less\n"
               "  --longer-than-others\n"
               "                      on a line of its own\n"
               "  --help              show this help; -h is the same\n"
               "  --version           show the version\n"
               "\nThe end.\n");
    BOOST_TEST(parse({"--secret", "x"}).value("--secret") == "x");
}

BOOST_AUTO_TEST_CASE(an_unknown_word_is_rejected_with_the_valid_ones) {
    constexpr std::array<std::string_view, 3> kKinds = {"imports", "mail", "all"};
    BOOST_TEST(std::string(unknown_word("kind", "frob", kKinds).what()) ==
               "unknown kind \"frob\"; use imports, mail or all");
    BOOST_TEST(std::string(unknown_word("kind", "mial", kKinds).what()) ==
               "unknown kind \"mial\"; did you mean \"mail\"?");
    BOOST_TEST(std::string(unknown_word("kind", "\x1b[31m\n", kKinds).what()) ==
               "unknown kind \"\\x1b[31m\\x0a\"; use imports, mail or all");
    BOOST_TEST(std::string(invalid_value("--for", "x", "a number").what()) ==
               "--for is \"x\"; use a number");
    BOOST_TEST(std::string(invalid_value("--for", "x\ny\xff", "a number").what()) ==
               "--for is \"x\\x0ay\\xff\"; use a number");
}

BOOST_AUTO_TEST_CASE(the_exit_status_distinguishes_usage_errors) {
    BOOST_TEST(run({"x"}, [](const CommandLine& line) {
                   return line.arguments.front() == "x" ? 3 : 4;
               }) == 3);
    const auto never = [](const CommandLine&) { return 5; };
    BOOST_TEST(run({"--frob"}, never) == 7);
    BOOST_TEST(run({"--help"}, never) == 0);
    BOOST_TEST(run({"help"}, never) == 0);
    BOOST_TEST(run({"help", "imports"}, never) == 0);
    BOOST_TEST(run({"--version", "x"}, never) == 0);
    BOOST_TEST(run({}, [](const CommandLine&) -> int { throw UsageError("no"); }) == 7);
    BOOST_TEST(run({}, [](const CommandLine&) -> int { throw std::runtime_error("no"); }) == 8);
}

BOOST_AUTO_TEST_CASE(with_json_standard_error_has_only_the_document) {
    Program with_json = kProgram;
    with_json.has_json_errors = true;
    constexpr std::array kJson = {CommandOption{"--json", "", "print JSON"}};
    with_json.options = kJson;
    std::string json = "--json";
    std::string name = "muster-test";
    std::array<char*, 2> argv = {name.data(), json.data()};
    const std::string written = test::logged([&] {
        run_program(with_json, 2, argv.data(), [](const CommandLine&) -> int {
            log_event(LogLevel::Error, "db.rerun");
            throw SettingsError({{"muster.conf:2", "log.level", "log.level is \"x\""},
                                 {"muster.conf:3", "", "neither"}});
        });
    });
    set_log_level(LogLevel::Info);
    BOOST_TEST(written ==
               "{\"error\":{\"code\":null,\"message\":\"muster.conf:2: log.level is \\\"x\\\"; "
               "muster.conf:3: neither\",\"details\":{\"faults\":[{\"place\":\"muster.conf:2\","
               "\"setting\":\"log.level\",\"message\":\"log.level is \\\"x\\\"\"},{\"place\":"
               "\"muster.conf:3\",\"setting\":\"\",\"message\":\"neither\"}],\"left_out\":0}},"
               "\"exit_code\":8}\n");
}

BOOST_AUTO_TEST_CASE(the_faults_of_a_configuration_are_a_line_each) {
    const auto fail = [](const CommandLine&) -> int {
        throw SettingsError(std::vector<SettingFault>(21, {"muster.conf:2", "", "x"}));
    };
    std::string expected;
    for (int line = 0; line < 20; ++line) expected += "muster-test: muster.conf:2: x\n";
    int status = 0;
    BOOST_TEST(test::logged([&] { status = run({}, fail); }) ==
               expected + "muster-test: faults that are not shown: 1\n");
    BOOST_TEST(status == 8);
}

BOOST_AUTO_TEST_CASE(output_that_cannot_be_written_is_a_failure) {
    const auto silent = [](const CommandLine&) { return 0; };
    const auto put = [](const CommandLine&) {
        std::fputs("the secret\n", stdout);
        return 0;
    };
    const auto stream = [](const CommandLine&) {
        std::cout << "the counts" << std::endl;
        return 0;
    };
    BOOST_TEST(run_on_full_disk({}, silent) == 0);
    BOOST_TEST(run_on_full_disk({}, put) == 8);
    BOOST_TEST(run_on_full_disk({}, stream) == 8);
    BOOST_TEST(run_on_full_disk({"--help"}, silent) == 8);
}

BOOST_AUTO_TEST_SUITE_END()
