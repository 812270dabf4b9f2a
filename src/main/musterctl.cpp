// musterctl: the operator's tool (musterctl(8)); its commands are rows in ctl/commands.cpp.
#include "base/core_dumps.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "ctl/command.hpp"
#include "main/terminal.hpp"
#include "main/wiring.hpp"
#include "service/failure.hpp"
#include "service/operations/schema.hpp"

#include <cstdio>
#include <stdexcept>

namespace {

using namespace muster;

// Long, because `db migrate` rebuilds large tables and the operator can interrupt it.
constexpr int kPatience = 86'400;  // seconds

// Before a command reads or writes. The command itself reports an unreachable database.
void expect_schema(service::Context& context) {
    const auto report = service::check_readiness(context);
    if (report.state == service::Readiness::WrongSchema) throw ctl::CommandError(report.problem);
}

int print(const CommandLine& line, const ctl::Result& result) {
    const std::string text = line.has("--json") ? json_text(result.json) + "\n" : result.text;
    std::fputs(text.c_str(), stdout);
    return result.status;
}

int run_call(const CommandLine& line, const ctl::Call& call, Settings settings) {
    settings.database.read_timeout = kPatience;
    db::load_driver();
    db::Database database(service::connection_settings(settings.database));
    auto nameless = service::connection_settings(settings.database);
    nameless.database.clear();
    db::Database without_database(nameless);
    service::Context context = main_program::make_context(database, settings);
    if (call.command.requires_schema) expect_schema(context);
    try {
        return print(
            line, call.command.run({context, without_database, main_program::config_of(line), line,
                                    call.arguments, main_program::terminal_question(),
                                    main_program::terminal_text_question()}));
    } catch (const UsageError& error) {
        if (!error.command.empty()) throw;
        throw UsageError(error.what(), call.command.words);
    }
}

int run_command(const CommandLine& line) {
    const ctl::Call call = ctl::find_call(line);
    Settings settings;
    try {
        settings = main_program::settings_of(main_program::config_of(line));
    } catch (const SettingsError& error) {
        if (call.command.run != ctl::show_health) throw;
        return print(line, ctl::show_health_without_configuration(error.what()));
    }
    return run_call(line, call, std::move(settings));
}

int answer(const CommandLine& line) {
    if (!line.has(ctl::kCompletionWords)) return run_command(line);
    std::fputs(ctl::completion_words().c_str(), stdout);
    return 0;
}

int run(const CommandLine& line) {
    try {
        return answer(line);
    } catch (const UsageError&) {
        throw;
    } catch (const SettingsError&) {
        throw;
    } catch (const Error& error) {
        const auto& entry = error_entry(error.code());
        throw ProgramError(std::string(entry.message), entry.text,
                           error.details().isNull() ? "" : json_text(error.details()));
    } catch (const std::exception& error) {
        throw std::runtime_error(service::explained(error));
    }
}

}  // namespace

int main(int argc, char** argv) {
    disable_core_dumps();
    set_log_level(LogLevel::Warning);  // the answer of the command says what happened
    return run_program(ctl::program(), argc, argv, run);
}
