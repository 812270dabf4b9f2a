#include "service/webhooks/results.hpp"

#include "base/log.hpp"
#include "db/transaction.hpp"
#include "rules/webhooks/retry_schedule.hpp"
#include "service/webhooks/disabling.hpp"
#include "store/id_bounds.hpp"
#include "store/webhooks/deliveries.hpp"
#include "store/webhooks/endpoint_results.hpp"
#include "store/webhooks/queue.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace muster::service {
namespace {

using rules::DeliveryResult;

constexpr std::size_t kExcerptBytes = 1024;
// Most first attempts begin within this time after the delivery was created.
constexpr Milliseconds kUsualFirstWait{60'000};

using Results = std::vector<const AttemptResult*>;
using Totals = std::map<std::string_view, std::int64_t>;

struct Disabled {
    OrgEndpoint endpoint;
    std::string reason;
};

DeliveryResult delivery_result(const AttemptResult& result) {
    return rules::delivery_result(result.outcome, result.status);
}

// The delay of the next attempt after a failure; nullopt if the delivery has failed.
std::optional<Milliseconds> next_attempt(const AttemptResult& result) {
    if (delivery_result(result) == DeliveryResult::Gone) return std::nullopt;
    return rules::next_attempt_after(result.made, result.random, result.retry_after);
}

// The results of one endpoint.
struct EndpointSignals {
    bool delivered = false;           // at least once
    bool fails = false;               // since the last delivery; internal errors do not count
    std::set<std::string_view> gone;  // the URLs that were answered 410
    rules::RecentResults results;
};

void count(const AttemptResult& result, rules::RecentResults& to) {
    if (delivery_result(result) == DeliveryResult::Delivered) {
        ++to.succeeded;
        return;
    }
    ++to.failed_attempts;
    if (!next_attempt(result)) ++to.failed;
}

std::map<EndpointId, EndpointSignals> signals_in(const Results& results) {
    std::map<EndpointId, EndpointSignals> all;
    for (const AttemptResult* result : results) {
        EndpointSignals& signals = all[result->endpoint];
        const DeliveryResult delivery = delivery_result(*result);
        count(*result, signals.results);
        if (delivery == DeliveryResult::SenderFailed) continue;
        signals.delivered |= delivery == DeliveryResult::Delivered;
        signals.fails = delivery != DeliveryResult::Delivered;
        if (delivery == DeliveryResult::Gone) signals.gone.insert(result->url);
    }
    return all;
}

// Records the results of one organization.
class Recorder {
  public:
    Recorder(OrgTransaction& transaction, const KeyRing& keys, const Uuid& owner)
        : transaction_(transaction),
          keys_(keys),
          org_(transaction.tx, transaction.org()),
          owner_(owner) {}

    // Returns the results that were recorded.
    Results record(const Results& all) {
        Results results = without_held(still_claimed(all));
        if (results.empty()) return results;
        insert_attempts(results);
        delete_old_attempts(results);
        update_deliveries(results);
        const auto signals = signals_in(results);
        add_endpoint_results(signals);
        update_endpoints(signals);
        return results;
    }
    const std::vector<Disabled>& disabled() const { return disabled_; }
    // The results that have to be recorded later.
    const Results& held() const { return held_; }

  private:
    Results still_claimed(const Results& all) {
        std::vector<DeliveryId> ids;
        for (const AttemptResult* result : all) ids.push_back(result->delivery);
        const auto locked = store::lock_claimed(org_, ids, owner_);
        Results results;
        std::copy_if(all.begin(), all.end(), std::back_inserter(results), [&](const auto* result) {
            return std::binary_search(locked.begin(), locked.end(), result->delivery);
        });
        return results;
    }

    // Moves the answers of 410 whose endpoint cannot be disabled now to held_. Without waiting: the
    // other transaction may take long. If the runner dies, the lease ends, and the next attempt is
    // answered 410 too.
    Results without_held(const Results& all) {
        std::vector<EndpointId> gone;
        for (const AttemptResult* result : all) {
            if (delivery_result(*result) == DeliveryResult::Gone) gone.push_back(result->endpoint);
        }
        if (gone.empty()) return all;
        const auto locked = store::lock_endpoints(org_, gone);
        Results results;
        for (const AttemptResult* result : all) {
            const bool is_held =
                delivery_result(*result) == DeliveryResult::Gone &&
                !std::binary_search(locked.begin(), locked.end(), result->endpoint);
            (is_held ? held_ : results).push_back(result);
        }
        return results;
    }

    void insert_attempts(const Results& results) {
        std::vector<store::NewAttempt> attempts;
        for (const AttemptResult* result : results) {
            attempts.push_back({result->delivery, result->outcome, result->status,
                                result->duration.count(),
                                rules::readable_excerpt(result->excerpt, kExcerptBytes),
                                result->signature, result->began});
        }
        store::insert_attempts(org_, attempts);
    }

    // The first attempt of a delivery that was sent again. Otherwise each time would add attempts
    // without a bound.
    void delete_old_attempts(const Results& results) {
        std::vector<DeliveryId> sent_again;
        for (const AttemptResult* result : results) {
            const bool is_old =
                result->delivery.bytes() < store::id_before(result->began, kUsualFirstWait);
            if (result->made == 1 && is_old) sent_again.push_back(result->delivery);
        }
        store::delete_old_attempts(org_, sent_again);
    }

    void update_deliveries(const Results& results) {
        std::vector<DeliveryId> succeeded;
        for (const AttemptResult* result : results) {
            if (delivery_result(*result) == DeliveryResult::Delivered) {
                succeeded.push_back(result->delivery);
                continue;
            }
            const auto pause = next_attempt(*result);
            const auto next = pause ? std::optional(transaction_.now + *pause) : std::nullopt;
            store::set_attempted(org_, result->delivery, next, transaction_.now);
        }
        store::set_succeeded(org_, succeeded, transaction_.now);
    }

    void add_endpoint_results(const std::map<EndpointId, EndpointSignals>& all) {
        std::vector<store::EndpointResults> results;
        results.reserve(all.size());
        for (const auto& [endpoint, signals] : all) results.push_back({endpoint, signals.results});
        store::add_endpoint_results(org_, results, transaction_.now);
    }

    // The change of one endpoint.
    struct Change {
        bool recovered = false;
        bool newly_failing = false;
        bool gone = false;
        bool fails_too_long = false;
        bool any() const { return recovered || newly_failing || gone || fails_too_long; }
    };

    std::map<EndpointId, Change> changes_by(const std::map<EndpointId, EndpointSignals>& all) {
        std::vector<EndpointId> ids;
        ids.reserve(all.size());
        for (const auto& [endpoint, signals] : all) ids.push_back(endpoint);
        const auto failing = store::find_failing(org_, ids);
        const Timestamp too_long_ago = transaction_.now - rules::kFailingTooLong;
        std::map<EndpointId, Change> changes;
        for (const auto& [endpoint, signals] : all) {
            const auto since = failing.find(endpoint);
            const bool failed = since != failing.end();
            const bool too_long = failed && since->second <= too_long_ago;
            const Change change{
                signals.delivered && failed, signals.fails && (signals.delivered || !failed),
                !signals.gone.empty(), signals.fails && !signals.delivered && too_long};
            if (change.any()) changes.emplace(endpoint, change);
        }
        return changes;
    }

    void update_endpoints(const std::map<EndpointId, EndpointSignals>& all) {
        const auto changes = changes_by(all);
        if (changes.empty()) return;
        std::vector<EndpointId> ids;
        ids.reserve(changes.size());
        for (const auto& [endpoint, change] : changes) ids.push_back(endpoint);
        ids = store::lock_endpoints(org_, ids);
        std::vector<EndpointId> recovered;
        std::vector<EndpointId> newly_failing;
        for (const EndpointId& endpoint : ids) {
            if (changes.at(endpoint).recovered) recovered.push_back(endpoint);
            if (changes.at(endpoint).newly_failing) newly_failing.push_back(endpoint);
        }
        store::clear_failing(org_, recovered);
        store::set_failing(org_, newly_failing, transaction_.now);
        for (const EndpointId& endpoint : ids) {
            const Change& change = changes.at(endpoint);
            if (change.gone && has_url(endpoint, all.at(endpoint).gone)) {
                disable(endpoint, "gone", std::nullopt);
            } else if (change.fails_too_long) {
                disable(endpoint, "failing", transaction_.now - rules::kFailingTooLong);
            }
        }
    }

    // False if an admin has replaced the URL since it was called.
    bool has_url(EndpointId endpoint, const std::set<std::string_view>& urls) {
        const auto target = store::find_target(org_, endpoint);
        return target && urls.contains(target->url);
    }

    void disable(EndpointId endpoint, std::string_view reason,
                 std::optional<Timestamp> failing_before) {
        if (disable_webhook_endpoint(transaction_, keys_, endpoint, reason, failing_before))
            disabled_.push_back({{transaction_.org(), endpoint}, std::string(reason)});
    }

    OrgTransaction& transaction_;
    const KeyRing& keys_;
    db::OrgStore org_;
    const Uuid& owner_;
    std::vector<Disabled> disabled_;
    Results held_;
};

// The outcome of one transaction; created again if the transaction runs again.
struct Outcome {
    Results recorded;
    Results held;
    std::vector<Disabled> disabled;
};

void add_totals(db::Tx& tx, const Results& results) {
    Totals totals;
    for (const AttemptResult* result : results) ++totals[rules::counted_class(result->outcome)];
    std::vector<store::AttemptCount> counts;
    for (const auto& [name, attempts] : totals) counts.push_back({std::string(name), attempts});
    store::add_attempt_totals(tx, counts);
}

void log(const Outcome& outcome, std::size_t results) {
    for (const AttemptResult* result : outcome.recorded) {
        if (delivery_result(*result) == DeliveryResult::Delivered) continue;
        log_event(LogLevel::Info, "webhook.failed",
                  {{"endpoint", result->endpoint.text()},
                   {"delivery", result->delivery.text()},
                   {"attempt", result->made},
                   {"class", result->outcome}});
    }
    for (const Disabled& disabled : outcome.disabled) {
        log_event(LogLevel::Info, "webhook.endpoint_disabled",
                  {{"organization", disabled.endpoint.organization.text()},
                   {"endpoint", disabled.endpoint.endpoint.text()},
                   {"reason", disabled.reason}});
    }
    const std::size_t kept = outcome.recorded.size() + outcome.held.size();
    if (kept < results) {
        log_event(LogLevel::Info, "webhook.lease_lost", {{"results", results - kept}});
    }
}

}  // namespace

RecordedAttempts record_attempts(Context& context, const Uuid& owner,
                                 std::span<const AttemptResult> results) {
    std::map<OrgId, Results> by_organization;
    for (const AttemptResult& result : results) {
        by_organization[result.organization].push_back(&result);
    }
    const Outcome outcome = context.database.transaction([&](db::Tx& tx) {
        Outcome done;
        for (const auto& [organization, own] : by_organization) {
            OrgTransaction transaction{tx, {organization}, Timestamp::now()};
            Recorder recorder(transaction, context.keys, owner);
            const Results recorded = recorder.record(own);
            done.recorded.insert(done.recorded.end(), recorded.begin(), recorded.end());
            done.held.insert(done.held.end(), recorder.held().begin(), recorder.held().end());
            done.disabled.insert(done.disabled.end(), recorder.disabled().begin(),
                                 recorder.disabled().end());
        }
        add_totals(tx, done.recorded);  // last, because every runner locks these rows
        return done;
    });
    log(outcome, results.size());
    RecordedAttempts done;
    for (const Disabled& one : outcome.disabled) done.disabled.push_back(one.endpoint);
    for (const AttemptResult* result : outcome.held) done.held.push_back(*result);
    return done;
}

}  // namespace muster::service
