// musterd: the FastCGI worker pool that answers the API behind nginx. musterd(8);
// process/worker_pool.hpp, api/pipeline.hpp.
#include "api/pipeline.hpp"
#include "api/routes.hpp"
#include "http/fcgi_io.hpp"
#include "main/wiring.hpp"
#include "process/worker_pool.hpp"
#include "service/operations/schema.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <optional>

namespace {

using namespace muster;

constexpr const char* kUsage =
    "Usage: musterd [--config FILE]\n"
    "Answers FastCGI requests on the socket of the configuration until SIGTERM; SIGHUP reads the configuration\n"
    "again and replaces the workers.\n"
    "  --config FILE    configuration (default $MUSTER_CONFIG or /etc/muster/muster.conf)\n"
    "  --print-config   print the configuration file with all defaults and end\n"
    "  --print-manual   print the settings for muster.conf(5) and end\n"
    "  --openapi        print the partners' OpenAPI description and end\n"
    "  --openapi-all    the same with the console's operations and content\n"
    "  --routes         print each endpoint, and the line of its row, and end\n"
    "  --nginx          print the locations of the endpoints for nginx and end\n"
    "  --help, --version\n";

constexpr std::string_view kExampleAddress = "https://api.example.org";

std::size_t resident_mebibytes() {
    std::ifstream statm("/proc/self/statm");
    std::size_t total = 0;
    std::size_t resident = 0;
    statm >> total >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) >> 20U;
}

// How a group takes requests, and how long it waits for a lock in the database. A collector waits
// less, because what it writes for others waits with it.
struct WorkerOptions {
    int listener;
    int most_at_once;
    int lock_timeout_seconds;
};
constexpr int kOneByOne = 1;
constexpr int kDrained = 64;

// A worker's life: requests one after the other, until a signal, its quota, or something nobody
// expected.
int work(const Settings& settings, const WorkerOptions& options, process::Metrics& metrics,
         process::RateLimiter& limiter, process::ConcurrencyLimit& concurrency) {
    const sigset_t unblocked = process::install_worker_signals();
    auto connection = service::connection_settings(settings);
    connection.lock_timeout_seconds = options.lock_timeout_seconds;
    db::Database database(std::move(connection));
    service::Context context = main_program::make_context(database, settings);
    api::Pipeline pipeline(context, metrics, limiter, concurrency);
    http::FcgiServer server(options.listener);
    process::announce_ready();
    const auto handler = [&](std::span<const http::Request> requests) {
        return pipeline.handle(requests);
    };
    int served = 0;
    int looked_at = 0;  // the memory, when so many were served
    while (served < settings.server_recycle_requests && !process::stop_requested()) {
        served += server.serve(unblocked, options.most_at_once, handler);
        if (pipeline.is_tainted()) return 1;
        constexpr int kMemoryCheck = 64;
        if (served - looked_at < kMemoryCheck) continue;
        looked_at = served;
        if (resident_mebibytes() > static_cast<std::size_t>(settings.server_recycle_memory)) break;
    }
    return 0;
}

int run(const std::string& config) {
    Settings settings = main_program::settings_of(config);
    main_program::set_log_level_from(settings);
    const auto mode = static_cast<unsigned>(std::stoul(settings.server_socket_mode, nullptr, 8));
    const int api_listener = http::open_listener(0, settings.server_socket, mode);
    const int collector_listener = http::open_listener(1, settings.server_collector_socket, mode);
    db::load_driver();
    std::vector<std::string_view> operations;
    for (const api::Endpoint* row : api::all_endpoints()) operations.push_back(row->operation);
    process::Metrics metrics(operations);
    process::RateLimiter limiter;
    process::ConcurrencyLimit concurrency;
    log_event(LogLevel::Info, "musterd.started",
              {{"version", MUSTER_VERSION},
               {"workers", settings.server_workers},
               {"collectors", settings.server_collectors}});
    const auto group = [&](int workers, const WorkerOptions& options) {
        return process::WorkerGroup{
            workers,
            [&, options] { return work(settings, options, metrics, limiter, concurrency); }};
    };
    const int status = process::run_pool([&, is_first = true]() mutable {
        if (!is_first) {
            settings = main_program::settings_of(config);
            main_program::set_log_level_from(settings);
        }
        is_first = false;
        return process::PoolConfig{
            group(settings.server_workers, {api_listener, kOneByOne, 5}),
            group(settings.server_collectors, {collector_listener, kDrained, 1})};
    });
    log_event(LogLevel::Info, "musterd.stopped");
    return status;
}

// A schema that does not fit stops the start; a database that is away does not: it may come back.
std::string schema_refusal(const std::string& config) {
    const Settings settings = main_program::settings_of(config);
    db::Database database(service::connection_settings(settings));
    service::Context context = main_program::make_context(database, settings);
    const auto report = service::check_readiness(context);
    return report.state == service::Readiness::WrongSchema ? report.problem : "";
}

bool printed(std::string_view option) {
    std::string text;
    if (option == "--print-config") text = shipped_settings(main_program::provider_ids());
    if (option == "--print-manual") text = settings_manual(main_program::provider_ids());
    if (option == "--openapi") text = openapi_document(kExampleAddress, api::Described::Published);
    if (option == "--openapi-all") text = openapi_document(kExampleAddress, api::Described::All);
    if (option == "--routes") text = api::routes_text();
    if (option == "--nginx") text = api::nginx_text();
    std::fputs(text.c_str(), stdout);
    return !text.empty();
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (main_program::answered_common(arguments, "musterd", kUsage)) return 0;
    if (arguments.size() == 1 && printed(arguments[0])) return 0;
    std::string config = main_program::default_config();
    if (arguments.size() == 2 && arguments[0] == "--config") {
        config = arguments[1];
    } else if (!arguments.empty()) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    try {
        if (const std::string refusal = schema_refusal(config); !refusal.empty()) {
            std::fprintf(stderr, "musterd: %s\n", refusal.c_str());
            return 1;
        }
        return run(config);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "musterd: %s\n", error.what());
        return 1;
    }
}
