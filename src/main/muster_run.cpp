// muster-run: works on what waits in the database, started by cron each minute. muster-run(8);
// jobs/runner.hpp.
#include "base/config.h"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "db/transaction.hpp"
#include "jobs/connections.hpp"
#include "jobs/imports.hpp"
#include "jobs/mail.hpp"
#include "jobs/purge.hpp"
#include "jobs/webhooks.hpp"
#include "main/wiring.hpp"
#include "service/operations/schema.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
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
            : database(service::connection_settings(settings)),
              context(main_program::make_context(database, settings)) {}
        db::Database database;
        service::Context context;
    };

    const Settings& settings_;
    std::list<RunnerConnection> connections_;  // they stay where they are
};

using Works = std::vector<std::unique_ptr<jobs::Work>>;

constexpr int kConnectionLanes = 4;

void imports(RunnerConnections& connections, bool, Works& works) {
    service::Context& own = connections.add();
    std::vector<service::Context*> helpers(
        static_cast<std::size_t>(connections.settings().jobs_connections));
    for (service::Context*& helper : helpers) helper = &connections.add();
    works.push_back(std::make_unique<jobs::ImportWork>(own, std::move(helpers)));
}

void webhooks(RunnerConnections& connections, bool, Works& works) {
    works.push_back(std::make_unique<jobs::WebhookWork>(connections.add()));
}

void mail(RunnerConnections& connections, bool, Works& works) {
    works.push_back(std::make_unique<jobs::MailWork>(connections.add()));
}

void connections(RunnerConnections& connections, bool, Works& works) {
    const auto traffic = std::make_shared<service::ProviderTraffic>();
    for (int lane = 0; lane < kConnectionLanes; ++lane) {
        works.push_back(std::make_unique<jobs::ConnectionWork>(connections.add(), traffic));
    }
}

void purge(RunnerConnections& connections, bool beside_others, Works& works) {
    works.push_back(std::make_unique<jobs::PurgeWork>(connections.add(), beside_others));
}

struct Kind {
    std::string_view name;
    // Adds what works on it. `beside_others`: as a part of `all`.
    void (*add)(RunnerConnections& connections, bool beside_others, Works& works);
};

// What may be asked for, besides `all`, which is every one of them.
constexpr std::array kKinds = {Kind{"imports", imports}, Kind{"webhooks", webhooks},
                               Kind{"mail", mail}, Kind{"connections", connections},
                               Kind{"purge", purge}};
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
    if (!options.verbose && settings.log_level != "error") set_log_level(LogLevel::Warning);
    db::load_driver();
    if (const auto problem = service::check_readiness(RunnerConnections(settings).add()).problem;
        !problem.empty()) {
        std::fprintf(stderr, "muster-run: %s\n", problem.c_str());
        return 1;
    }
    RunnerConnections connections(settings);
    Works works;
    const bool is_all = options.kind == kAll;
    for (const Kind& kind : kKinds) {
        if (is_all || options.kind == kind.name) kind.add(connections, is_all, works);
    }
    jobs::install_stop_signals();
    const jobs::Deadline deadline(Timestamp::now() + Milliseconds(1000L * options.seconds));
    return jobs::run(works, deadline) ? 0 : 1;
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
