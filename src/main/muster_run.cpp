// muster-run: does the background work; cron starts it each minute (muster-run(8),
// jobs/runner.hpp).
#include "base/command_line.hpp"
#include "base/core_dumps.hpp"
#include "base/log.hpp"
#include "base/memory.hpp"
#include "base/printable.hpp"
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

// The database connections of a run with their contexts, one for each thread.
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
    std::list<RunnerConnection> connections_;  // a list, because references to elements are kept
};

constexpr int kConnectionLanes = 4;

// The jobs on members: imports, and changes of all members that match a filter.
std::vector<jobs::Work> imports(RunnerConnections& runner) {
    service::Context& own = runner.add();
    std::vector<service::Context*> helpers(
        static_cast<std::size_t>(runner.settings().jobs.connections));
    for (service::Context*& helper : helpers) helper = &runner.add();
    return {jobs::import_work(own, std::move(helpers)), jobs::member_job_work(runner.add())};
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
    KeyFiles keys;  // whether the work decrypts or encrypts values
    // `is_part_of_all`: the other kinds run in parallel.
    Works (*works)(RunnerConnections& runner, bool is_part_of_all);
};

// The kinds; `all` stands for every one of them.
constexpr std::array kKinds = {
    Kind{"imports", KeyFiles::Ignore,
         [](RunnerConnections& runner, bool) { return imports(runner); }},
    Kind{"webhooks", KeyFiles::Read,
         [](RunnerConnections& runner, bool) -> Kind::Works {
             return {jobs::webhook_work(runner.add())};
         }},
    Kind{"mail", KeyFiles::Read,
         [](RunnerConnections& runner, bool) -> Kind::Works {
             return {jobs::mail_work(runner.add())};
         }},
    Kind{"connections", KeyFiles::Read,
         [](RunnerConnections& runner, bool) { return connections(runner); }},
    Kind{"purge", KeyFiles::Ignore,
         [](RunnerConnections& runner, bool is_part_of_all) -> Kind::Works {
             return {jobs::purge_work(runner.add(), is_part_of_all),
                     jobs::deletion_work(runner.add(), is_part_of_all)};
         }},
};
constexpr std::string_view kAll = "all";

// The kinds and `all`.
std::string checked_kind(const CommandLine& line) {
    std::vector<std::string_view> names;
    names.reserve(kKinds.size() + 1);
    for (const Kind& kind : kKinds) names.push_back(kind.name);
    names.push_back(kAll);
    if (line.arguments.empty())
        throw UsageError("the kind of work is missing; use " + listed(names));
    if (line.arguments.size() > 1) {
        throw UsageError("unexpected argument " + printable(line.arguments[1]) +
                         "; name one kind of work");
    }
    const std::string& word = line.arguments.front();
    if (std::ranges::find(names, word) == names.end()) throw unknown_word("kind", word, names);
    return word;
}

// `all` needs the keys.
KeyFiles keys_of(std::string_view kind_name) {
    const auto* const kind = std::ranges::find(kKinds, kind_name, &Kind::name);
    return kind == kKinds.end() ? KeyFiles::Read : kind->keys;
}

constexpr std::array kOptions = {
    main_program::kConfigOption,
    CommandOption{"--for", "SECONDS[s]", "how long to run (default 55s)"},
    CommandOption{"--verbose", "",
                  "log completed work, as log.level permits;\n"
                  "without it, log failures only, which cron mails"},
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
    const std::string kind_name = checked_kind(line);
    const int seconds = seconds_of(line);
    const Settings settings =
        main_program::settings_of(main_program::config_of(line), keys_of(kind_name));
    main_program::set_log_level_from(settings);
    if (!line.has("--verbose") && settings.log.level != "error") set_log_level(LogLevel::Warning);
    db::load_driver();
    if (const auto problem = service::check_readiness(RunnerConnections(settings).add()).problem;
        !problem.empty()) {
        throw std::runtime_error(problem);
    }
    RunnerConnections runner(settings);
    std::vector<jobs::Work> work;
    const bool is_all = kind_name == kAll;
    for (const Kind& kind : kKinds) {
        if (!is_all && kind_name != kind.name) continue;
        std::ranges::move(kind.works(runner, is_all), std::back_inserter(work));
    }
    jobs::install_stop_signals();
    const jobs::Deadline deadline(Milliseconds(1000L * seconds));
    return jobs::run(work, deadline) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    disable_core_dumps();
    keep_freed_memory();
    const Program program{
        .name = "muster-run",
        .synopsis =
            "[--config FILE] [--for SECONDS[s]] [--verbose] "
            "imports|webhooks|mail|connections|purge|all",
        .description =
            "Does one kind of background work, or all. All kinds except the purge wait for more "
            "work\nuntil the time is over.",
        .options = kOptions,
    };
    return run_program(program, argc, argv, run);
}
