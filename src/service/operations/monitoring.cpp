#include "service/operations/monitoring.hpp"

#include "base/log.hpp"
#include "db/transaction.hpp"
#include "rules/webhooks/deliveries.hpp"
#include "store/connections/leases.hpp"
#include "store/imports/jobs.hpp"
#include "store/mail_outbox.hpp"
#include "store/webhooks/fan_out.hpp"
#include "store/webhooks/queue.hpp"

#include <algorithm>
#include <map>

namespace muster::service {
namespace {

// Longer than a runner leaves a job waiting: the gap between two runs plus a lease.
constexpr Milliseconds kOverdueAfter{120'000};
constexpr Milliseconds kDroppedLately = std::chrono::hours(1);
// Tokens are refreshed 15 minutes before they expire.
constexpr Milliseconds kRefreshOverdueAfter{600'000};

std::string labeled(std::string_view name, rules::ImportState state, std::int64_t value) {
    return std::string(name) + "{state=\"" + std::string(text_of(state)) + "\"} " +
           std::to_string(value) + "\n";
}

std::string import_metrics(db::Tx& tx, Timestamp now) {
    const auto counts = store::count_imports_in_progress(tx, now);
    std::string text =
        "# HELP muster_imports_moving Import jobs that the runner processes or that wait for it.\n"
        "# TYPE muster_imports_moving gauge\n";
    for (const auto& count : counts) {
        text += labeled("muster_imports_moving", count.state, count.jobs);
    }
    text +=
        "# HELP muster_imports_oldest_heartbeat_seconds Time since a runner last served the job that waits longest.\n"
        "# TYPE muster_imports_oldest_heartbeat_seconds gauge\n";
    for (const auto& count : counts) {
        const auto age = now - Timestamp(count.oldest_heartbeat_ms);
        text += labeled("muster_imports_oldest_heartbeat_seconds", count.state, age.count() / 1000);
    }
    return text;
}

std::string mail_metrics(db::Tx& tx, Timestamp now) {
    const auto backlog = store::count_waiting_mails(tx);
    const auto age = now - backlog.oldest.value_or(now);
    return "# HELP muster_mail_queued Mails waiting to be sent.\n"
           "# TYPE muster_mail_queued gauge\n"
           "muster_mail_queued " +
           std::to_string(backlog.mails) +
           "\n"
           "# HELP muster_mail_oldest_seconds Time since the oldest waiting mail was queued.\n"
           "# TYPE muster_mail_oldest_seconds gauge\n"
           "muster_mail_oldest_seconds " +
           std::to_string(age.count() / 1000) + "\n";
}

std::string attempt_metrics(db::Tx& tx) {
    std::string text =
        "# HELP muster_webhook_attempts_total Delivery attempts by result.\n"
        "# TYPE muster_webhook_attempts_total counter\n";
    std::int64_t dropped = 0;
    for (const auto& count : store::list_attempt_totals(tx)) {
        if (count.attempt_class == rules::kDroppedClass) {
            dropped = count.attempts;
            continue;
        }
        text += "muster_webhook_attempts_total{class=\"" + count.attempt_class + "\"} " +
                std::to_string(count.attempts) + "\n";
    }
    return text +
           "# HELP muster_webhook_dropped_total Deliveries that were not created because too many "
           "of their organization waited.\n"
           "# TYPE muster_webhook_dropped_total counter\n"
           "muster_webhook_dropped_total " +
           std::to_string(dropped) + "\n";
}

std::string webhook_metrics(db::Tx& tx, Timestamp now) {
    const auto backlog = store::measure_webhook_backlog(tx);
    const auto outbox = store::measure_outbox(tx);
    const Timestamp oldest = std::min(backlog.oldest.value_or(now), outbox.oldest.value_or(now));
    const auto age = std::max(now - oldest, Milliseconds(0));
    return "# HELP muster_webhook_outbox Events whose deliveries the runner has not created yet, "
           "counted up to " +
           std::to_string(store::kMostCounted) +
           ".\n"
           "# TYPE muster_webhook_outbox gauge\n"
           "muster_webhook_outbox " +
           std::to_string(outbox.events) +
           "\n"
           "# HELP muster_webhook_pending Deliveries that wait or are in flight, counted up to " +
           std::to_string(store::kMostCounted) +
           ".\n"
           "# TYPE muster_webhook_pending gauge\n"
           "muster_webhook_pending " +
           std::to_string(backlog.pending) +
           "\n"
           "# HELP muster_webhook_queue_age_seconds Time since the oldest "
           "waiting event occurred, or the oldest waiting delivery to an active endpoint was due.\n"
           "# TYPE muster_webhook_queue_age_seconds gauge\n"
           "muster_webhook_queue_age_seconds " +
           std::to_string(age.count() / 1000) + "\n" + attempt_metrics(tx);
}

Milliseconds refresh_overdue(db::Tx& tx, Timestamp now) {
    return std::max(now - store::first_connection_due(tx).value_or(now), Milliseconds(0));
}

std::string connection_metrics(db::Tx& tx, Timestamp now) {
    std::map<rules::ConnectionStatus, std::int64_t> counts;
    for (const auto& count : store::count_connections_by_status(tx)) {
        counts[count.status] = count.connections;
    }
    std::string text =
        "# HELP muster_connections Connections to providers of external data.\n"
        "# TYPE muster_connections gauge\n";
    for (const auto& [status, name] : kNames<rules::ConnectionStatus>) {
        text.append("muster_connections{status=\"").append(name).append("\"} ");
        text.append(std::to_string(counts[status])).append("\n");
    }
    return text +
           "# HELP muster_connection_refresh_overdue_seconds Time since the connection that "
           "waits longest for the runner was due.\n"
           "# TYPE muster_connection_refresh_overdue_seconds gauge\n"
           "muster_connection_refresh_overdue_seconds " +
           std::to_string(refresh_overdue(tx, now).count() / 1000) + "\n";
}

}  // namespace

std::string job_metrics(Context& context) {
    std::string text =
        "# HELP muster_database_up Whether the database answered.\n# TYPE muster_database_up gauge\n";
    try {
        const Timestamp now = Timestamp::now();
        const std::string figures = context.database.autocommit([&](db::Tx& tx) {
            return import_metrics(tx, now) + mail_metrics(tx, now) + webhook_metrics(tx, now) +
                   connection_metrics(tx, now);
        });
        text += "muster_database_up 1\n" + figures;
    } catch (const db::DbError& error) {
        log_event(LogLevel::Warning, "metrics.database_down", {{"reason", error.what()}});
        text += "muster_database_up 0\n";
    }
    return text;
}

std::string import_problem(Context& context) {
    const Timestamp now = Timestamp::now();
    const auto counts = context.database.autocommit(
        [&](db::Tx& tx) { return store::count_imports_in_progress(tx, now); });
    Milliseconds longest{0};
    for (const auto& count : counts) {
        longest = std::max(longest, now - Timestamp(count.oldest_heartbeat_ms));
    }
    if (longest <= kOverdueAfter) return "";
    return "an import has been waiting for " + std::to_string(longest.count() / 60'000) +
           " minutes: check that cron starts muster-run imports, and its log";
}

std::string webhook_problem(Context& context) {
    const Timestamp now = Timestamp::now();
    const Timestamp oldest = context.database.autocommit([&](db::Tx& tx) {
        const auto backlog = store::measure_webhook_backlog(tx);
        const auto outbox = store::measure_outbox(tx);
        return std::min(backlog.oldest_of_healthy.value_or(now), outbox.oldest.value_or(now));
    });
    if (now - oldest <= kOverdueAfter) return "";
    return "webhooks have been waiting for " + std::to_string((now - oldest).count() / 60'000) +
           " minutes: check that cron starts muster-run, and webhooks.* in the configuration";
}

std::string webhook_warning(Context& context) {
    const Timestamp since = Timestamp::now() - kDroppedLately;
    const auto endpoints =
        context.database.autocommit([&](db::Tx& tx) { return store::count_dropping(tx, since); });
    if (endpoints == 0) return "";
    return "deliveries to " + std::to_string(endpoints) +
           " webhook endpoints were dropped within the last hour, because webhooks.backlog of "
           "their organization wait (musterctl webhook list)";
}

std::string connection_problem(Context& context) {
    const auto overdue = context.database.autocommit(
        [](db::Tx& tx) { return refresh_overdue(tx, Timestamp::now()); });
    if (overdue <= kRefreshOverdueAfter) return "";
    return "connections have been waiting for a refresh for " +
           std::to_string(overdue.count() / 60'000) +
           " minutes: check that cron starts muster-run connections, and its log";
}

}  // namespace muster::service
