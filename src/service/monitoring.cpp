#include "service/monitoring.hpp"

#include "base/log.hpp"
#include "db/transaction.hpp"
#include "store/imports.hpp"

namespace muster::service {
namespace {

std::string labelled(std::string_view name, rules::ImportState state, std::int64_t value) {
    return std::string(name) + "{state=\"" + std::string(text_of(state)) + "\"} " +
           std::to_string(value) + "\n";
}

}  // namespace

std::string job_metrics(Context& context) {
    std::string text =
        "# HELP muster_database_up Whether the database answered.\n# TYPE muster_database_up gauge\n";
    try {
        const auto counts = context.database.read(
            [](db::Tx& tx) { return store::count_moving_imports(tx, Timestamp::now()); });
        text +=
            "muster_database_up 1\n"
            "# HELP muster_imports_moving Import jobs that the runner works on or should.\n"
            "# TYPE muster_imports_moving gauge\n";
        for (const auto& count : counts) {
            text += labelled("muster_imports_moving", count.state, count.jobs);
        }
        text +=
            "# HELP muster_imports_oldest_heartbeat_seconds Since the longest unserved job was served.\n"
            "# TYPE muster_imports_oldest_heartbeat_seconds gauge\n";
        for (const auto& count : counts) {
            const auto age = Timestamp::now() - Timestamp(count.oldest_heartbeat_ms);
            text += labelled("muster_imports_oldest_heartbeat_seconds", count.state,
                             age.count() / 1000);
        }
    } catch (const db::DbError& error) {
        log_event(LogLevel::Warning, "metrics.database_down", {{"reason", error.what()}});
        text += "muster_database_up 0\n";
    }
    return text;
}

}  // namespace muster::service
