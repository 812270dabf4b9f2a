#include "service/monitoring.hpp"

#include "base/log.hpp"
#include "db/transaction.hpp"
#include "store/imports.hpp"
#include "store/mail_outbox.hpp"

namespace muster::service {
namespace {

std::string labelled(std::string_view name, rules::ImportState state, std::int64_t value) {
    return std::string(name) + "{state=\"" + std::string(text_of(state)) + "\"} " +
           std::to_string(value) + "\n";
}

std::string import_metrics(db::Tx& tx, Timestamp now) {
    const auto counts = store::count_moving_imports(tx, now);
    std::string text =
        "# HELP muster_imports_moving Import jobs that the runner works on or should.\n"
        "# TYPE muster_imports_moving gauge\n";
    for (const auto& count : counts) {
        text += labelled("muster_imports_moving", count.state, count.jobs);
    }
    text +=
        "# HELP muster_imports_oldest_heartbeat_seconds Since the longest unserved job was served.\n"
        "# TYPE muster_imports_oldest_heartbeat_seconds gauge\n";
    for (const auto& count : counts) {
        const auto age = now - Timestamp(count.oldest_heartbeat_ms);
        text +=
            labelled("muster_imports_oldest_heartbeat_seconds", count.state, age.count() / 1000);
    }
    return text;
}

std::string mail_metrics(db::Tx& tx, Timestamp now) {
    const auto backlog = store::count_waiting_mails(tx);
    const auto age = now - backlog.oldest.value_or(now);
    return "# HELP muster_mail_queued Mails that wait to be sent.\n"
           "# TYPE muster_mail_queued gauge\n"
           "muster_mail_queued " +
           std::to_string(backlog.mails) +
           "\n"
           "# HELP muster_mail_oldest_seconds Since the mail that waits longest was queued.\n"
           "# TYPE muster_mail_oldest_seconds gauge\n"
           "muster_mail_oldest_seconds " +
           std::to_string(age.count() / 1000) + "\n";
}

}  // namespace

std::string job_metrics(Context& context) {
    std::string text =
        "# HELP muster_database_up Whether the database answered.\n# TYPE muster_database_up gauge\n";
    try {
        const Timestamp now = Timestamp::now();
        const std::string figures = context.database.read(
            [&](db::Tx& tx) { return import_metrics(tx, now) + mail_metrics(tx, now); });
        text += "muster_database_up 1\n" + figures;
    } catch (const db::DbError& error) {
        log_event(LogLevel::Warning, "metrics.database_down", {{"reason", error.what()}});
        text += "muster_database_up 0\n";
    }
    return text;
}

}  // namespace muster::service
