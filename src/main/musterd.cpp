// musterd: the FastCGI worker pool that answers the API behind nginx (musterd(8),
// process/worker_pool.hpp, api/pipeline.hpp).
#include "api/pipeline.hpp"
#include "api/routes.hpp"
#include "base/command_line.hpp"
#include "base/config.h"
#include "base/core_dumps.hpp"
#include "base/memory.hpp"
#include "base/printable.hpp"
#include "base/settings.hpp"
#include "http/fcgi_io.hpp"
#include "http/listener.hpp"
#include "main/wiring.hpp"
#include "process/busy_workers.hpp"
#include "process/priority.hpp"
#include "process/worker_pool.hpp"
#include "service/operations/schema.hpp"
#include "service/quotas.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <utility>

namespace {

using namespace muster;

constexpr std::string_view kExampleAddress = "https://api.example.org";

std::size_t resident_mebibytes() {
    std::ifstream statm("/proc/self/statm");
    std::size_t total = 0;
    std::size_t resident = 0;
    statm >> total >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) >> 20U;
}

// How a group takes requests, and how long it waits for a lock in the database. A collector does
// not wait, because it would delay the other requests of the batch: it tries a request again later.
// A reader locks rows only for last_used_at and for counted ads.
struct WorkerOptions {
    int listener;
    std::size_t most_at_once;
    int lock_timeout_seconds;
    api::GroupShare share;
    process::BusyWorkers* busy = nullptr;  // nullptr: all workers of the group may be busy
    int niceness = 0;
};
// A request whose locks take longer is 503 (docs/api/limits.md "Locked rows").
constexpr std::chrono::seconds kLongestLockWait{5};
constexpr std::size_t kOneByOne = 1;
constexpr std::size_t kDrained = 64;
// One request of an API worker may compute for a quarter of a second (docs/operations/costs.md).
// nginx, the database, and the readers and collectors, which answer many requests with each batch,
// get the processor before it.
constexpr int kApiNiceness = 5;
// A worker checks its memory after each large body, and otherwise after kMemoryCheck batches.
constexpr std::size_t kLargeBody = std::size_t{1} << 20U;
constexpr int kMemoryCheck = 64;
// The weight of an organization's part of a batch that needs no permit: batches of small requests
// take a few milliseconds, and a collector mostly waits for its commit.
constexpr std::size_t kLightPart = std::size_t{64} << 10U;

bool may_have_large_body(const http::Request& request) {
    return request.content_length > kLargeBody || !request.content_encoding.empty();
}

// Waits until the worker should take requests, then until one arrives. Returns false after a
// signal.
bool wait_for_request(const sigset_t& unblocked, const process::BusyWorkers* busy,
                      const http::FcgiServer& server) {
    while (busy && !server.has_pending()) {
        const auto wait = busy->wait_time();
        if (wait.count() == 0) break;
        if (!busy->wait(wait, unblocked)) return false;
    }
    return server.wait(unblocked);
}

// How long a worker that ends lets deferred requests wait. After an error its place is empty until
// it has ended, so they are tried for the last time at once.
std::chrono::milliseconds last_wait(bool has_failed) {
    return has_failed ? std::chrono::milliseconds(0) : http::FcgiServer::kLongestWait;
}

db::ConnectionSettings connection_of(const Settings& settings, const WorkerOptions& options) {
    auto connection = service::connection_settings(settings.database);
    connection.lock_timeout_seconds = options.lock_timeout_seconds;
    connection.longest_lock_wait = kLongestLockWait;
    return connection;
}

// Serves requests until a signal, its quota or an unexpected error.
int work(const Settings& settings, const WorkerOptions& options, process::Metrics& metrics,
         process::RateLimiter& limiter, process::ConcurrencyLimit& concurrency) {
    const sigset_t unblocked = process::install_worker_signals();
    process::LowPriority priority(options.niceness);
    db::Database database(connection_of(settings, options));
    service::Context context = main_program::make_context(database, settings);
    std::optional<process::BusyWorkers::Batch> batch;
    const auto rest = [&batch] {
        if (batch) batch->rest();
    };
    api::Pipeline pipeline(context, metrics, limiter, concurrency, options.share, rest);
    http::FcgiServer server(options.listener, [&share = options.share](const std::string& whose) {
        return share.permits->has_room(whose, api::limit_of(share, whose));
    });
    process::announce_ready();
    bool had_large_body = false;
    const auto handler = [&](std::span<const http::Request> requests, const http::Answer& answer) {
        if (std::ranges::any_of(requests, may_have_large_body)) had_large_body = true;
        priority.apply();
        return pipeline.handle(requests, answer);
    };
    const auto most_memory = static_cast<std::size_t>(settings.server.recycle_memory);
    int batches = 0;
    while (batches < settings.server.recycle_requests && !process::stop_requested()) {
        if (!wait_for_request(unblocked, options.busy, server)) continue;
        if (options.busy) batch.emplace(options.busy->begin());
        const std::size_t served = server.serve(options.most_at_once, handler);
        batch.reset();
        if (served == 0) continue;
        if (pipeline.is_tainted()) break;
        const bool is_check_due =
            ++batches % kMemoryCheck == 0 || std::exchange(had_large_body, false);
        if (is_check_due && resident_mebibytes() > most_memory) break;
    }
    const bool has_failed = pipeline.is_tainted();
    server.finish(options.most_at_once, handler, last_wait(has_failed));
    service::write_all_sums(database);
    return has_failed ? 1 : 0;
}

// `database_problem`: the reason why the database cannot be used yet, or "".
void log_start(const ServerSettings& server, const std::string& database_problem) {
    log_event(LogLevel::Info, "musterd.started",
              {{"version", MUSTER_VERSION},
               {"workers", server.workers},
               {"collectors", server.collectors},
               {"readers", server.readers}});
    if (database_problem.empty()) return;
    log_event(LogLevel::Warning, "musterd.database_unavailable", {{"reason", database_problem}});
}

std::vector<std::string_view> operation_names() {
    std::vector<std::string_view> names;
    for (const api::Endpoint* row : api::all_endpoints()) names.push_back(row->operation);
    return names;
}

struct Listeners {
    int api;
    int collectors;
    int readers;
};

Listeners open_listeners(const ServerSettings& server) {
    const auto mode = static_cast<unsigned>(std::stoul(server.socket_mode, nullptr, 8));
    return {http::open_listener(0, server.socket, mode),
            http::open_listener(1, server.collector_socket, mode),
            http::open_listener(2, server.reader_socket, mode)};
}

struct Groups {
    WorkerOptions api;
    WorkerOptions collectors;
    WorkerOptions readers;
};

Groups groups_of(const Listeners& listeners, std::array<process::OrganizationShares, 3>& shares,
                 process::BusyWorkers& busy_readers) {
    return {.api = {.listener = listeners.api,
                    .most_at_once = kOneByOne,
                    .lock_timeout_seconds = 5,
                    .share = {&shares[0]},
                    .niceness = kApiNiceness},
            .collectors = {.listener = listeners.collectors,
                           .most_at_once = kDrained,
                           .lock_timeout_seconds = 0,
                           .share = {&shares[1], kLightPart}},
            .readers = {.listener = listeners.readers,
                        .most_at_once = kDrained,
                        .lock_timeout_seconds = 1,
                        .share = {&shares[2], kLightPart},
                        .busy = &busy_readers}};
}

// Reads the configuration, and prepares what the workers share.
Settings load_settings(const std::string& config) {
    Settings settings = main_program::settings_of(config);
    main_program::set_log_level_from(settings);
    api::prepare_description(settings.server.base_url);
    return settings;
}

int serve(const std::string& config, const std::string& database_problem) {
    Settings settings = load_settings(config);
    const Listeners listeners = open_listeners(settings.server);
    db::load_driver();
    process::Metrics metrics(operation_names());
    process::RateLimiter limiter;
    process::ConcurrencyLimit concurrency;
    process::BusyWorkers busy_readers(process::half_of_processors());
    process::ActiveOrganizations active;
    std::array<process::OrganizationShares, 3> shares;  // of the groups
    log_start(settings.server, database_problem);
    const auto group = [&](int workers, WorkerOptions options) {
        options.share.active = &active;
        options.share.limit = {process::half_of(workers), process::half_of_processors()};
        // Batches are short, so another organization that comes waits only for one.
        options.share.most_alone = options.most_at_once > kOneByOne ? std::size_t(workers) : 0;
        options.share.most_of_batch = process::half_of(static_cast<int>(options.most_at_once));
        return process::WorkerGroup{
            workers,
            [&, options] { return work(settings, options, metrics, limiter, concurrency); }};
    };
    const Groups groups = groups_of(listeners, shares, busy_readers);
    const auto load = [&, is_first = true]() mutable {
        if (!std::exchange(is_first, false)) settings = load_settings(config);
        return process::PoolConfig{group(settings.server.workers, groups.api),
                                   group(settings.server.collectors, groups.collectors),
                                   group(settings.server.readers, groups.readers)};
    };
    const int status = process::run_pool(load, [&](pid_t worker) {
        for (process::OrganizationShares& table : shares) table.release_all_of(worker);
    });
    log_event(LogLevel::Info, "musterd.stopped");
    return status;
}

// The reason why the database cannot be used yet, or "". Throws std::runtime_error for a wrong
// schema, which prevents the start. An unusable database does not, because it may come back.
std::string check_database(const std::string& config) {
    const Settings settings = main_program::settings_of(config);
    db::Database database(service::connection_settings(settings.database));
    service::Context context = main_program::make_context(database, settings);
    const auto report = service::check_readiness(context);
    if (report.state == service::Readiness::WrongSchema) throw std::runtime_error(report.problem);
    return report.problem;
}

struct PrintOption {
    CommandOption option;
    std::string (*text)();
};

const std::array kPrintOptions = {
    PrintOption{{"--print-config", "", "print the configuration file with all defaults"},
                [] { return shipped_settings(main_program::provider_ids()); }},
    PrintOption{{"--print-manual", "", "print the settings as in muster.conf(5)"},
                [] { return settings_manual(main_program::provider_ids()); }},
    PrintOption{{"--openapi", "", "print the OpenAPI description of the partner API"},
                [] { return openapi_document(kExampleAddress, api::Described::Published); }},
    PrintOption{{"--openapi-all", "", "print it with content and the operations of the console"},
                [] { return openapi_document(kExampleAddress, api::Described::All); }},
    PrintOption{{"--routes", "", "print each endpoint with the line of its row"},
                [] { return api::routes_text(); }},
    PrintOption{{"--nginx", "", "print the locations of the endpoints for nginx"},
                [] { return api::nginx_text(); }},
};

int run(const CommandLine& line) {
    if (!line.arguments.empty())
        throw UsageError("unexpected argument " + printable(line.arguments.front()));
    const PrintOption* asked = nullptr;
    for (const PrintOption& print : kPrintOptions) {
        if (!line.has(print.option.name)) continue;
        if (asked != nullptr) {
            throw UsageError(std::string(asked->option.name) + " and " +
                             std::string(print.option.name) + " print different texts; give one");
        }
        asked = &print;
    }
    if (asked != nullptr) {
        std::fputs(asked->text().c_str(), stdout);
        return 0;
    }
    const std::string config = main_program::config_of(line);
    return serve(config, check_database(config));
}

}  // namespace

int main(int argc, char** argv) {
    disable_core_dumps();
    keep_freed_memory();
    std::vector<CommandOption> options = {main_program::kConfigOption};
    for (const PrintOption& print : kPrintOptions) options.push_back(print.option);
    const Program program{
        .name = "musterd",
        .synopsis = "[--config FILE]",
        .description =
            "Answers FastCGI requests on the configured sockets until SIGTERM. SIGHUP reloads the\n"
            "configuration and replaces the workers.",
        .options = options,
    };
    return run_program(program, argc, argv, run);
}
