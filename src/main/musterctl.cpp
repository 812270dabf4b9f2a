// musterctl: the operator's tool. musterctl(8); the commands are rows in ctl/commands.cpp.
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/settings.hpp"
#include "ctl/command.hpp"
#include "main/wiring.hpp"
#include "service/failure.hpp"
#include "service/operations/schema.hpp"

#include <algorithm>

namespace {

using namespace muster;

struct Line {
    std::string config = main_program::default_config();
    bool json = false;
    std::vector<std::string> words;
};

Line parse_line(const std::vector<std::string>& arguments) {
    Line line;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--json") {
            line.json = true;
        } else if (arguments[i] == "--config") {
            if (++i == arguments.size()) throw ctl::UsageError("--config wants a file");
            line.config = arguments[i];
        } else {
            line.words.push_back(arguments[i]);
        }
    }
    return line;
}

// Options and arguments behind the command's words, checked against its row.
void parse_options(const ctl::Command& command, const std::vector<std::string>& words,
                   ctl::Invocation& to) {
    std::string known(command.options);
    std::erase_if(known, [](char c) { return c == '[' || c == ']'; });
    const auto names = split(known, ' ');
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (!word.starts_with("--")) {
            if (command.arguments.empty()) throw ctl::UsageError("too many words: " + word);
            to.arguments.push_back(word);
            continue;
        }
        if (std::find(names.begin(), names.end(), word) == names.end()) {
            throw ctl::UsageError("`" + std::string(command.words) + "` has no option " + word);
        }
        if (ctl::is_flag(word)) {
            to.options[word] = "yes";
            continue;
        }
        if (i + 1 == words.size()) throw ctl::UsageError(word + " wants a value");
        to.options[word] = words[++i];
    }
    for (const std::string_view name : split(command.options, ' ')) {
        if (!name.empty() && name.front() == '-') static_cast<void>(to.required(name));
    }
}

constexpr int kPatience = 86'400;  // seconds

// Before anything is read or written. A database that is away is the command's to tell.
void expect_schema(service::Context& context) {
    const auto report = service::check_readiness(context);
    if (report.state == service::Readiness::WrongSchema) throw ctl::CommandError(report.problem);
}

int print(const Line& line, const ctl::Result& result) {
    const std::string text = line.json ? json_text(result.json) + "\n" : result.text;
    std::fputs(text.c_str(), stdout);
    return result.status;
}

int run(const Line& line, const ctl::Command& command, std::size_t used, Settings settings) {
    // An operator can wait, or end it: `db migrate` builds large tables anew.
    settings.database.read_timeout = kPatience;
    db::load_driver();
    db::Database database(service::connection_settings(settings.database));
    auto nameless = service::connection_settings(settings.database);
    nameless.database.clear();
    db::Database without_database(nameless);
    service::Context context = main_program::make_context(database, settings);
    ctl::Invocation invocation{context, without_database, line.config, {}, {}};
    parse_options(command,
                  {line.words.begin() + static_cast<std::ptrdiff_t>(used), line.words.end()},
                  invocation);
    if (command.wants_schema) expect_schema(context);
    return print(line, command.run(invocation));
}

int run(const Line& line) {
    std::size_t used = 0;
    const ctl::Command& command = ctl::find_command(line.words, used);
    Settings settings;
    try {
        settings = main_program::settings_of(line.config);
    } catch (const SettingsError& error) {
        if (command.run != ctl::show_health) throw;
        return print(line, ctl::show_health_without_configuration(error.what()));
    }
    return run(line, command, used, std::move(settings));
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (main_program::answered_common(arguments, "musterctl", ctl::usage().c_str())) return 0;
    if (arguments.size() == 1 && arguments[0] == "--completion-words") {
        std::fputs(ctl::completion_words().c_str(), stdout);
        return 0;
    }
    try {
        return run(parse_line(arguments));
    } catch (const ctl::UsageError& error) {
        std::fprintf(stderr, "musterctl: %s (see musterctl --help)\n", error.what());
        return 2;
    } catch (const Error& error) {
        const std::string_view message = error_entry(error.code()).message;
        const std::string details =
            error.details().isNull() ? "" : " " + json_text(error.details());
        std::fprintf(stderr, "musterctl: %.*s%s\n", static_cast<int>(message.size()),
                     message.data(), details.c_str());
        return 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "musterctl: %s\n", service::explained(error).c_str());
        return 1;
    }
}
