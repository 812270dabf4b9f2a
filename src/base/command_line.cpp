#include "base/command_line.hpp"

#include "base/config.h"
#include "base/words.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace muster {
namespace {

constexpr std::array kCommonOptions = {
    CommandOption{"--help", "", "show this help"},
    CommandOption{"--version", "", "show the version"},
};

const CommandOption& find_option(const Program& program, std::string_view name) {
    if (name == "-h") name = "--help";
    for (const std::span<const CommandOption> table :
         {program.options, program.command_options,
          std::span<const CommandOption>(kCommonOptions)}) {
        const auto found = std::ranges::find(table, name, &CommandOption::name);
        if (found != table.end()) return *found;
    }
    throw UsageError("unknown option " + std::string(name));
}

bool is_option(std::string_view word) {
    return word.size() > 1 && word.front() == '-';
}

// The value of words[at], an option with `equals` in it or npos. Moves `at` to a value of its own.
std::string value_of(const CommandOption& option, std::span<const std::string> words,
                     std::size_t& at, std::size_t equals) {
    const bool is_attached = equals != std::string::npos;
    if (option.value.empty()) {
        if (is_attached) throw UsageError(std::string(option.name) + " takes no value");
        return "";
    }
    const bool has_value = is_attached || at + 1 < words.size();
    std::string value = !has_value ? "" : is_attached ? words[at].substr(equals + 1) : words[++at];
    if (value.empty()) {
        throw UsageError(std::string(option.name) + " needs a value: " + std::string(option.name) +
                         " " + std::string(option.value));
    }
    return value;
}

void report(const Program& program, std::string_view reason, std::string_view advice) {
    const std::string line =
        std::string(program.name) + ": " + std::string(reason) + std::string(advice) + "\n";
    std::fputs(line.c_str(), stderr);
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
        line.options[std::string(option.name)].push_back(value_of(option, words, at, equals));
    }
    return line;
}

std::string help_row(const CommandOption& option) {
    constexpr std::size_t kColumn = 22;
    std::string text = "  " + std::string(option.name);
    if (!option.value.empty()) text.append(" ").append(option.value);
    text.append(text.size() + 1 < kColumn ? kColumn - text.size() : 2, ' ');
    for (const char c : option.help) {
        text += c;
        if (c == '\n') text.append(kColumn, ' ');
    }
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
    return UsageError("unknown " + std::string(what) + " \"" + std::string(word) + "\"; use " +
                      listed(known));
}

UsageError invalid_value(std::string_view option, std::string_view value,
                         std::string_view allowed) {
    return UsageError(std::string(option) + " is \"" + std::string(value) + "\"; use " +
                      std::string(allowed));
}

int run_program(const Program& program, int argc, char** argv,
                const std::function<int(const CommandLine&)>& run) {
    try {
        const std::vector<std::string> words(argv + 1, argv + argc);
        const CommandLine line = parse_command_line(program, words);
        if (line.has("--help")) {
            const std::string text = program.help ? program.help(line) : help_text(program);
            std::fputs(text.c_str(), stdout);
            return 0;
        }
        if (line.has("--version")) {
            std::printf("%s %s\n", std::string(program.name).c_str(), MUSTER_VERSION);
            return 0;
        }
        return run(line);
    } catch (const UsageError& error) {
        report(program, error.what(), " (see " + std::string(program.name) + " --help)");
        return program.usage_error_status;
    } catch (const std::exception& error) {
        report(program, error.what(), "");
        return program.failure_status;
    }
}

}  // namespace muster
