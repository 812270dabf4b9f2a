// muster-run: works on what waits in the database, started by cron each minute. muster-run(8);
// jobs/runner.hpp.
#include "base/command_line.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "db/transaction.hpp"
#include "jobs/kinds.hpp"
#include "main/wiring.hpp"
#include "service/operations/schema.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace muster;

// The connections of a run, each with its context: one for each thread.
class RunnerConnections {
  public:
    explicit RunnerConnections(const Settings& settings) : settings_(settings) {}

    const Settings& settings() const { return settings_; }
    service::Context& add() { return connections_.emplace_back(settings_).context; }

  private:
    struct RunnerConnection {
        explicit RunnerConnection(const Settings& settings)
            : database(service::connection_settings(settings.database)),
              context(main_program::make_context(database, settings)) {}
        db::Database database;
        service::Context context;
    };

    const Settings& settings_;
    std::list<RunnerConnection> connections_;  // they stay where they are
};

constexpr int kConnectionLanes = 4;

std::vector<jobs::Work> imports(RunnerConnections& runner) {
    service::Context& own = runner.add();
    std::vector<service::Context*> helpers(
        static_cast<std::size_t>(runner.settings().jobs.connections));
    for (service::Context*& helper : helpers) helper = &runner.add();
    return {jobs::import_work(own, std::move(helpers))};
}

std::vector<jobs::Work> connections(RunnerConnections& runner) {
    const auto limits = std::make_shared<service::ProviderLimits>();
    std::vector<jobs::Work> lanes;
    lanes.reserve(kConnectionLanes);
    for (int lane = 0; lane < kConnectionLanes; ++lane) {
        lanes.push_back(jobs::connection_work(runner.add(), limits));
    }
    return lanes;
}

struct Kind {
    using Works = std::vector<jobs::Work>;

    std::string_view name;
    // What works on it. `beside_others`: as a part of `all`.
    Works (*works)(RunnerConnections& runner, bool beside_others);
};

// What may be asked for, besides `all`, which is every one of them.
constexpr std::array kKinds = {
    Kind{"imports", [](RunnerConnections& runner, bool) { return imports(runner); }},
    Kind{"webhooks",
         [](RunnerConnections& runner, bool) -> Kind::Works {
             return {jobs::webhook_work(runner.add())};
         }},
    Kind{"mail",
         [](RunnerConnections& runner, bool) -> Kind::Works {
             return {jobs::mail_work(runner.add())};
         }},
    Kind{"connections", [](RunnerConnections& runner, bool) { return connections(runner); }},
    Kind{"purge",
         [](RunnerConnections& runner, bool beside_others) -> Kind::Works {
             return {jobs::purge_work(runner.add(), beside_others)};
         }},
};
constexpr std::string_view kAll = "all";

// The kinds and `all`.
std::string checked_kind(const CommandLine& line) {
    std::vector<std::string_view> names;
    names.reserve(kKinds.size() + 1);
    for (const Kind& kind : kKinds) names.push_back(kind.name);
    names.push_back(kAll);
    if (line.arguments.empty()) throw UsageError("KIND is missing; use " + listed(names));
    if (line.arguments.size() > 1) throw UsageError("unexpected argument " + line.arguments[1]);
    const std::string& word = line.arguments.front();
    if (std::ranges::find(names, word) == names.end()) throw unknown_word("kind", word, names);
    return word;
}

constexpr std::array kOptions = {
    main_program::kConfigOption,
    CommandOption{"--for", "SECONDS[s]", "how long to run (default 55s)"},
    CommandOption{"--verbose", "",
                  "log what was done, as log.level says;\n"
                  "without it only failures, which cron mails"},
};

int seconds_of(const CommandLine& line) {
    const std::string text = line.value("--for", "55s");
    std::string_view digits = text;
    if (digits.ends_with('s')) digits.remove_suffix(1);
    const auto seconds = parse_number<int>(digits);
    if (!seconds || *seconds < 0) {
        throw invalid_value("--for", text, "a number of seconds such as 55s");
    }
    return *seconds;
}

int run(const CommandLine& line) {
    const std::string wanted = checked_kind(line);
    const int seconds = seconds_of(line);
    const Settings settings = main_program::settings_of(main_program::config_of(line));
    main_program::set_log_level_from(settings);
    if (!line.has("--verbose") && settings.log.level != "error") set_log_level(LogLevel::Warning);
    db::load_driver();
    if (const auto problem = service::check_readiness(RunnerConnections(settings).add()).problem;
        !problem.empty()) {
        throw std::runtime_error(problem);
    }
    RunnerConnections runner(settings);
    std::vector<jobs::Work> work;
    const bool is_all = wanted == kAll;
    for (const Kind& kind : kKinds) {
        if (!is_all && wanted != kind.name) continue;
        std::ranges::move(kind.works(runner, is_all), std::back_inserter(work));
    }
    jobs::install_stop_signals();
    const jobs::Deadline deadline(Timestamp::now() + Milliseconds(1000L * seconds));
    return jobs::run(work, deadline) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const Program program{
        .name = "muster-run",
        .synopsis =
            "[--config FILE] [--for SECONDS[s]] [--verbose] "
            "imports|webhooks|mail|connections|purge|all",
        .description =
            "Does the work that waits in the database. All kinds but the purge then wait for "
            "more\nuntil the time is over.",
        .options = kOptions,
    };
    return run_program(program, argc, argv, run);
}
