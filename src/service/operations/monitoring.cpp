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

// A metric with one value, in the text format of Prometheus. `type`: gauge or counter.
std::string metric(std::string_view type, std::string_view name, std::string_view help,
                   std::int64_t value) {
    const std::string of(name);
    return "# HELP " + of + " " + std::string(help) + "\n# TYPE " + of + " " + std::string(type) +
           "\n" + of + " " + std::to_string(value) + "\n";
}

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
    return metric("gauge", "muster_mail_queued", "Mails waiting to be sent.", backlog.mails) +
           metric("gauge", "muster_mail_oldest_seconds",
                  "Time since the oldest waiting mail was queued.", age.count() / 1000);
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
    return text + metric("counter", "muster_webhook_dropped_total",
                         "Deliveries that were not created because too many of their organization "
                         "waited.",
                         dropped);
}

std::string webhook_metrics(db::Tx& tx, Timestamp now) {
    const auto backlog = store::measure_webhook_backlog(tx);
    const auto outbox = store::measure_outbox(tx);
    const Timestamp oldest = std::min(backlog.oldest.value_or(now), outbox.oldest.value_or(now));
    const auto age = std::max(now - oldest, Milliseconds(0));
    const std::string up_to = ", counted up to " + std::to_string(store::kMostCounted) + ".";
    return metric("gauge", "muster_webhook_outbox",
                  "Events whose deliveries the runner has not created yet" + up_to, outbox.events) +
           metric("gauge", "muster_webhook_pending",
                  "Deliveries that wait or are in flight" + up_to, backlog.pending) +
           metric("gauge", "muster_webhook_queue_age_seconds",
                  "Time since the oldest waiting event occurred, or the oldest waiting delivery to "
                  "an active endpoint was due.",
                  age.count() / 1000) +
           attempt_metrics(tx);
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
    return text + metric("gauge", "muster_connection_refresh_overdue_seconds",
                         "Time since the connection that waits longest for the runner was due.",
                         refresh_overdue(tx, now).count() / 1000);
}

}  // namespace

std::string job_metrics(Context& context) {
    const auto database_up = [](std::int64_t is_up) {
        return metric("gauge", "muster_database_up", "Whether the database answered.", is_up);
    };
    try {
        const Timestamp now = Timestamp::now();
        return database_up(1) + context.database.autocommit([&](db::Tx& tx) {
            return import_metrics(tx, now) + mail_metrics(tx, now) + webhook_metrics(tx, now) +
                   connection_metrics(tx, now);
        });
    } catch (const db::DbError& error) {
        log_event(LogLevel::Warning, "metrics.database_down", {{"reason", error.what()}});
        return database_up(0);
    }
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
