// The command line of each program: one parser, one form of help and of errors. A program is a
// table of its options. `--x y` and `--x=y` are the same; options may precede, separate and follow
// arguments, up to a `--`.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// The command line, or a file that it names, cannot be used; what() is one line.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
    // `about`: the words of the command whose --help explains more; "" for the program's.
    UsageError(const std::string& what, std::string_view about)
        : std::runtime_error(what), command(about) {}
    std::string command;
};

// A failure with a code of the error catalog and details, both of which may be empty.
struct ProgramError : std::runtime_error {
    ProgramError(const std::string& message, std::string_view its_code, std::string its_details)
        : std::runtime_error(message), code(its_code), details(std::move(its_details)) {}
    std::string code;
    std::string details;  // a JSON document
};

struct CommandOption {
    std::string_view name;       // "--config"
    std::string_view value;      // its name in the help, "FILE"; "" for a flag
    std::string_view help;       // a line end starts another line
    bool is_repeatable = false;  // with a value; a flag always is
};

struct CommandLine {
    // By name; a flag has one empty value each time that it is given.
    std::map<std::string, std::vector<std::string>, std::less<>> options;
    std::vector<std::string> arguments;

    bool has(std::string_view option) const { return options.contains(option); }
    // The value, of a repeatable option the last one; `fallback` for an option that is not given.
    std::string value(std::string_view option, std::string_view fallback = "") const;
    std::vector<std::string> values(std::string_view option) const;
};

struct Program {
    std::string_view name;
    std::string_view synopsis;  // what follows the name in the help
    std::string_view description;
    std::span<const CommandOption> options;  // without --help and --version, which all have
    std::span<const CommandOption> command_options = {};  // accepted, but not in the program's help
    std::string details = {};                             // the end of the help
    // Replaces help_text(); gets the words of a command, or nothing.
    std::string (*help)(std::span<const std::string>) = nullptr;
    bool has_json_errors = false;  // with --json
    int usage_error_status = 2;
    int failure_status = 1;
};

// `words`: without the program's name. Throws UsageError for an unknown option, for a value that is
// missing or not expected, and for a second value of an option that is not repeatable.
[[nodiscard]] CommandLine parse_command_line(const Program& program,
                                             std::span<const std::string> words);

// Two aligned columns.
[[nodiscard]] std::string help_row(const CommandOption& option);
[[nodiscard]] std::string help_text(const Program& program);

// `unknown kind "frob"; use imports, mail or all`, or `unknown kind "mial"; did you mean "mail"?`
// The word is made printable, so the error is one line.
[[nodiscard]] UsageError unknown_word(std::string_view what, std::string_view word,
                                      std::span<const std::string_view> known);

// `--for is "x"; use a number of seconds`. The value is made printable.
[[nodiscard]] UsageError invalid_value(std::string_view option, std::string_view value,
                                       std::string_view allowed);

// Answers `help`, --help and --version, else calls `run`. An exception is one line on standard
// error: text, or with --json a document {"error": {"code", "message", "details"}, "exit_code"}.
// A SettingsError is a line for each fault, or one document with all of them. With --json no event
// is logged, so that standard error has only the document.
// Standard output that cannot be written is a failure too.
int run_program(const Program& program, int argc, char** argv,
                const std::function<int(const CommandLine&)>& run);

}  // namespace muster
