// muster-run: works on what waits in the database, started by cron each minute. muster-run(8);
// jobs/runner.hpp.
#include "base/config.h"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "db/transaction.hpp"
#include "jobs/kinds.hpp"
#include "main/wiring.hpp"
#include "service/operations/schema.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace muster;

constexpr const char* kUsage =
    "Usage: muster-run [--config FILE] [--for SECONDS[s]] [--verbose] "
    "imports|webhooks|mail|connections|purge|all\n"
    "Works on what waits and, unless it is the purge, waits for more until its time is over.\n"
    "  --config FILE    configuration (default $MUSTER_CONFIG or /etc/muster/muster.conf)\n"
    "  --for 55s        how long to run (default 55s)\n"
    "  --verbose        log what was done, as log.level says; else only what went wrong: cron mails it\n"
    "  --help, --version\n";

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

bool is_kind(std::string_view word) {
    return word == kAll || std::any_of(kKinds.begin(), kKinds.end(),
                                       [&](const Kind& kind) { return kind.name == word; });
}

struct Options {
    std::string config = main_program::default_config();
    int seconds = 55;
    bool verbose = false;
    std::string kind;
};

// nullopt when the arguments are wrong.
std::optional<Options> parse(const std::vector<std::string>& arguments) {
    Options options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        const bool has_value = i + 1 < arguments.size();
        if (argument == "--config" && has_value) {
            options.config = arguments[++i];
        } else if (argument == "--for" && has_value) {
            std::string_view text = arguments[++i];
            if (text.ends_with('s')) text.remove_suffix(1);
            const auto seconds = parse_number<int>(text);
            if (!seconds || *seconds < 0) return std::nullopt;
            options.seconds = *seconds;
        } else if (argument == "--verbose") {
            options.verbose = true;
        } else if (options.kind.empty() && is_kind(argument)) {
            options.kind = argument;
        } else {
            return std::nullopt;
        }
    }
    if (options.kind.empty()) return std::nullopt;
    return options;
}

int run(const Options& options) {
    const Settings settings = main_program::settings_of(options.config);
    main_program::set_log_level_from(settings);
    if (!options.verbose && settings.log.level != "error") set_log_level(LogLevel::Warning);
    db::load_driver();
    if (const auto problem = service::check_readiness(RunnerConnections(settings).add()).problem;
        !problem.empty()) {
        std::fprintf(stderr, "muster-run: %s\n", problem.c_str());
        return 1;
    }
    RunnerConnections runner(settings);
    std::vector<jobs::Work> work;
    const bool is_all = options.kind == kAll;
    for (const Kind& kind : kKinds) {
        if (!is_all && options.kind != kind.name) continue;
        std::ranges::move(kind.works(runner, is_all), std::back_inserter(work));
    }
    jobs::install_stop_signals();
    const jobs::Deadline deadline(Timestamp::now() + Milliseconds(1000L * options.seconds));
    return jobs::run(work, deadline) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (main_program::answered_common(arguments, "muster-run", kUsage)) return 0;
    const auto options = parse(arguments);
    if (!options) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    try {
        return run(*options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "muster-run: %s\n", error.what());
        return 1;
    }
}
