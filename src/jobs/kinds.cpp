#include "jobs/kinds.hpp"

#include "base/log.hpp"
#include "jobs/imports.hpp"
#include "jobs/member_jobs.hpp"
#include "service/mail.hpp"
#include "service/operations/purge.hpp"
#include "service/organization/deletion.hpp"
#include "service/webhooks/dispatch.hpp"

#include <utility>

namespace muster::jobs {
namespace {

// Refreshes need no precise timing.
constexpr Milliseconds kConnectionInterval{1'000};
constexpr Milliseconds kPurgeInterval{10 * 60 * 1000};
constexpr Milliseconds kDeletionInterval{10'000};
// Short, because the sender of the signal waits. Unanswered events are sent again.
constexpr Milliseconds kAfterSignal{4'000};
// How soon a signal ends the wait for replies.
constexpr Milliseconds kReplyWait{50};

// A turn that, after it had nothing to do, pauses before it looks again.
template <class Turn>
auto with_idle_pause(Milliseconds pause, Turn turn) {
    return [pause, turn = std::move(turn),
            next = Deadline(Milliseconds(0))](const Deadline& deadline) mutable {
        if (!next.over()) return false;
        const bool has_worked = turn(deadline);
        if (!has_worked) next = Deadline(pause);
        return has_worked;
    };
}

bool purge_turn(service::Context& context) {
    const auto purged = service::purge_step(context);
    if (!purged.any()) return false;
    std::vector<LogField> fields;
    for (const auto& [name, rows] : purged.counts) fields.emplace_back(name, rows);
    log_event(LogLevel::Info, "purge.deleted", fields);
    return true;
}

}  // namespace

Work import_work(service::Context& context, std::vector<service::Context*> helpers) {
    const auto work = std::make_shared<ImportWork>(context, std::move(helpers));
    return {.name = "imports",
            .turn = [work](const Deadline& deadline) { return work->turn(deadline); },
            .has_sequels = true};
}

Work member_job_work(service::Context& context) {
    const auto work = std::make_shared<MemberJobWork>(context);
    return {.name = "member jobs",
            .turn = [work](const Deadline& deadline) { return work->turn(deadline); },
            .has_sequels = true};
}

Work webhook_work(service::Context& context) {
    const auto dispatch = std::make_shared<service::WebhookDispatch>(context);
    return {.name = "webhooks",
            .turn =
                [dispatch](const Deadline& deadline) {
                    while (!deadline.over()) dispatch->step();
                    return true;
                },
            .finish =
                [dispatch] {
                    dispatch->finish([] {
                        return Deadline::stopped() ? kAfterSignal
                                                   : service::WebhookDispatch::kLongestAttempt;
                    });
                },
            .while_paused =
                [dispatch](const Deadline& end) {
                    while (!end.over()) dispatch->collect_results(kReplyWait);
                }};
}

Work mail_work(service::Context& context) {
    const auto dispatch = std::make_shared<service::MailDispatch>(context);
    return {"mail", [dispatch](const Deadline& deadline) {
                return dispatch->step([&deadline] { return deadline.over(); }) > 0;
            }};
}

Work connection_work(service::Context& context, std::shared_ptr<service::ProviderLimits> limits) {
    const auto refresher =
        std::make_shared<service::ConnectionRefresher>(context, std::move(limits));
    return {"connections",
            with_idle_pause(kConnectionInterval, [refresher](const Deadline& deadline) {
                return refresher->step([&deadline] { return deadline.over(); }) > 0;
            })};
}

Work purge_work(service::Context& context, bool repeats) {
    return {"purge",
            with_idle_pause(kPurgeInterval,
                            [&context](const Deadline&) { return purge_turn(context); }),
            !repeats};
}

Work deletion_work(service::Context& context, bool repeats) {
    return {"deletions",
            with_idle_pause(kDeletionInterval,
                            [&context](const Deadline& deadline) {
                                return service::delete_organizations(
                                    context, [&deadline] { return deadline.over(); });
                            }),
            !repeats};
}

}  // namespace muster::jobs
