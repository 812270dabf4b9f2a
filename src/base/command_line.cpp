#include "base/command_line.hpp"

#include "base/config.h"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/settings.hpp"
#include "base/words.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>

namespace muster {
namespace {

constexpr std::array kCommonOptions = {
    CommandOption{"--help", "", "show this help; -h is the same"},
    CommandOption{"--version", "", "show the version"},
};

UsageError unknown_option(const Program& program, std::string_view name) {
    std::vector<std::string_view> known = {"--help", "--version"};
    for (const auto& table : {program.options, program.command_options}) {
        for (const CommandOption& option : table) {
            if (!option.help.empty()) known.push_back(option.name);
        }
    }
    const std::string text = "unknown option " + printable(name);
    const auto meant = nearest(name, known);
    return UsageError(meant ? text + "; did you mean " + std::string(*meant) + "?" : text);
}

const CommandOption& find_option(const Program& program, std::string_view name) {
    if (name == "-h") name = "--help";
    for (const std::span<const CommandOption> table :
         {program.options, program.command_options,
          std::span<const CommandOption>(kCommonOptions)}) {
        const auto found = std::ranges::find(table, name, &CommandOption::name);
        if (found != table.end()) return *found;
    }
    throw unknown_option(program, name);
}

bool is_option(std::string_view word) {
    return word.size() > 1 && word.front() == '-';
}

UsageError missing_value(const CommandOption& option) {
    return UsageError(std::string(option.name) + " needs a value: " + std::string(option.name) +
                      " " + std::string(option.value));
}

// The value of words[at], an option with `equals` in it or npos. Moves `at` to a separate value.
std::string value_of(const CommandOption& option, std::span<const std::string> words,
                     std::size_t& at, std::size_t equals) {
    const std::string name(option.name);
    const bool is_attached = equals != std::string::npos;
    if (option.value.empty()) {
        if (is_attached) throw UsageError(name + " takes no value");
        return "";
    }
    // A value that begins with two hyphens follows an equals sign; else it is the next option.
    const bool is_next = at + 1 < words.size() && !words[at + 1].starts_with("--");
    if (!is_attached && !is_next) throw missing_value(option);
    std::string value = is_attached ? words[at].substr(equals + 1) : words[++at];
    if (value.empty()) {
        throw UsageError(name + " is empty; use " + name + " " + std::string(option.value));
    }
    return value;
}

// The values are not shown: one of them may be a secret.
void add_value(CommandLine& line, const CommandOption& option, std::string value) {
    const std::string name(option.name);
    std::vector<std::string>& values = line.options[name];
    if (!values.empty() && !option.value.empty() && !option.is_repeatable) {
        throw UsageError(name + " is given twice; give it once");
    }
    values.push_back(std::move(value));
}

struct Failure {
    std::string message;
    std::string advice;
    std::string code;
    std::string details;
    int status;
};

std::string failure_json(const Failure& failure) {
    std::string text;
    JsonWriter json(text);
    const auto add = [&](std::string_view name, std::string_view value) {
        json.key(name);
        if (value.empty()) {
            json.null();
        } else {
            json.string(value);
        }
    };
    json.begin_object();
    json.key("error");
    json.begin_object();
    add("code", failure.code);
    json.key("message");
    json.string(failure.message);
    json.key("details");
    json.raw(failure.details.empty() ? "null" : failure.details);
    json.end_object();
    json.key("exit_code");
    json.number(failure.status);
    json.end_object();
    return text;
}

int report(const Program& program, const Failure& failure, bool as_json) {
    std::string line = std::string(program.name) + ": " + failure.message;
    if (!failure.details.empty()) line += " " + failure.details;
    line = (as_json ? failure_json(failure) : line + failure.advice) + "\n";
    std::fputs(line.c_str(), stderr);
    return failure.status;
}

std::string faults_json(const SettingsError& error) {
    std::string text;
    JsonWriter json(text);
    json.begin_object();
    json.key("faults");
    json.begin_array();
    for (const SettingFault& fault : error.faults) {
        json.begin_object();
        for (const auto& [name, value] :
             {std::pair<std::string_view, std::string>{"place", fault.place},
              {"setting", fault.setting},
              {"message", fault.reason}}) {
            json.key(name);
            json.string(value);
        }
        json.end_object();
    }
    json.end_array();
    json.key("left_out");
    json.number(static_cast<std::int64_t>(error.left_out));
    json.end_object();
    return text;
}

// A line for each fault.
int report_settings(const Program& program, const SettingsError& error, bool as_json) {
    if (as_json) {
        return report(program, {error.what(), "", "", faults_json(error), program.failure_status},
                      as_json);
    }
    const std::string beginning = std::string(program.name) + ": ";
    std::string lines;
    for (const SettingFault& fault : error.faults) lines += beginning + fault.text() + "\n";
    if (error.left_out > 0) {
        lines += beginning + "faults that are not shown: " + std::to_string(error.left_out) + "\n";
    }
    std::fputs(lines.c_str(), stderr);
    return program.failure_status;
}

// Also where the rest of the line cannot be parsed.
bool asks_json(const Program& program, std::span<const std::string> words) {
    const auto options = words.first(std::ranges::find(words, "--") - words.begin());
    return program.has_json_errors && std::ranges::find(options, "--json") != options.end();
}

std::string help_of(const Program& program, std::span<const std::string> words) {
    return program.help ? program.help(words) : help_text(program);
}

// `key issue --help` and `help key issue` are the same.
std::optional<std::string> asked_help(const Program& program, const CommandLine& line) {
    std::span<const std::string> words = line.arguments;
    const bool has_word = !words.empty() && words.front() == "help";
    if (!has_word && !line.has("--help")) return std::nullopt;
    return help_of(program, has_word ? words.subspan(1) : words);
}

// A file or connection that took the number of a closed standard output would receive its text.
// Opened for reading only, so that writing fails as before.
void occupy_standard_descriptors() {
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(standard, F_GETFD) < 0 && errno == EBADF) {
            static_cast<void>(open("/dev/null", O_RDONLY));  // takes the lowest free number
        }
    }
}

// A secret that is shown once would be lost. std::cout writes through stdout.
void require_written_output() {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
    throw std::runtime_error(
        "standard output cannot be written; the command may have changed data, so check before you "
        "run it again");
}

int answer(const Program& program, std::span<const std::string> words,
           const std::function<int(const CommandLine&)>& run) {
    const CommandLine line = parse_command_line(program, words);
    if (const auto help = asked_help(program, line)) {
        std::fputs(help->c_str(), stdout);
        return 0;
    }
    if (line.has("--version")) {
        std::printf("%s %s\n", std::string(program.name).c_str(), MUSTER_VERSION);
        return 0;
    }
    return run(line);
}

}  // namespace

std::string CommandLine::value(std::string_view option, std::string_view fallback) const {
    const auto found = options.find(option);
    return found == options.end() ? std::string(fallback) : found->second.back();
}

std::vector<std::string> CommandLine::values(std::string_view option) const {
    const auto found = options.find(option);
    return found == options.end() ? std::vector<std::string>() : found->second;
}

CommandLine parse_command_line(const Program& program, std::span<const std::string> words) {
    CommandLine line;
    for (std::size_t at = 0; at < words.size(); ++at) {
        const std::string& word = words[at];
        if (word == "--") {
            const auto rest = words.subspan(at + 1);
            line.arguments.insert(line.arguments.end(), rest.begin(), rest.end());
            break;
        }
        if (!is_option(word)) {
            line.arguments.push_back(word);
            continue;
        }
        const std::size_t equals = word.find('=');
        const CommandOption& option = find_option(program, word.substr(0, equals));
        add_value(line, option, value_of(option, words, at, equals));
    }
    return line;
}

std::string help_row(const CommandOption& option) {
    constexpr std::size_t kColumn = 22;
    const std::string next_line = "\n" + std::string(kColumn, ' ');
    std::string text = "  " + std::string(option.name);
    if (!option.value.empty()) text.append(" ").append(option.value);
    const bool has_room = text.size() + 1 < kColumn;
    text += has_room ? std::string(kColumn - text.size(), ' ') : next_line;
    for (const char c : option.help) text += c == '\n' ? next_line : std::string(1, c);
    return text + "\n";
}

std::string help_text(const Program& program) {
    std::string text = "Usage: ";
    text.append(program.name).append(" ").append(program.synopsis).append("\n");
    text.append(program.description).append("\n\n");
    for (const CommandOption& option : program.options) text += help_row(option);
    for (const CommandOption& option : kCommonOptions) text += help_row(option);
    if (!program.details.empty()) text.append("\n").append(program.details);
    return text;
}

UsageError unknown_word(std::string_view what, std::string_view word,
                        std::span<const std::string_view> known) {
    const std::string text = "unknown " + std::string(what) + " " + in_quotes(word) + "; ";
    const auto meant = nearest(word, known);
    return UsageError(meant ? text + "did you mean \"" + std::string(*meant) + "\"?"
                            : text + "use " + listed(known));
}

UsageError invalid_value(std::string_view option, std::string_view value,
                         std::string_view allowed) {
    return UsageError(std::string(option) + " is " + in_quotes(value) + "; use " +
                      std::string(allowed));
}

int run_program(const Program& program, int argc, char** argv,
                const std::function<int(const CommandLine&)>& run) {
    occupy_standard_descriptors();
    const std::vector<std::string> words(argv + 1, argv + argc);
    const bool as_json = asks_json(program, words);
    if (as_json) set_log_level(LogLevel::Off);
    try {
        const int status = answer(program, words, run);
        require_written_output();
        return status;
    } catch (const UsageError& error) {
        std::string command(program.name);
        if (!error.command.empty()) command += " " + error.command;
        return report(
            program,
            {error.what(), " (see " + command + " --help)", "", "", program.usage_error_status},
            as_json);
    } catch (const SettingsError& error) {
        return report_settings(program, error, as_json);
    } catch (const ProgramError& error) {
        return report(program,
                      {error.what(), "", error.code, error.details, program.failure_status},
                      as_json);
    } catch (const std::exception& error) {
        return report(program, {error.what(), "", "", "", program.failure_status}, as_json);
    }
}

}  // namespace muster
