#include "api/pipeline.hpp"

#include "api/event_pages.hpp"
#include "base/log.hpp"
#include "rules/members/member.hpp"
#include "service/failure.hpp"
#include "service/members/read.hpp"
#include "service/quotas.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>

namespace muster::api {
namespace {

using FlowsByMember = std::map<OrgId, std::map<UserId, std::vector<RequestFlow*>>>;

FlowsByMember wanted_members(std::vector<RequestFlow>& flows, bool is_last) {
    FlowsByMember wanted;
    for (RequestFlow& flow : flows) {
        if (flow.is_last() != is_last) continue;
        if (const auto ref = flow.wanted_member()) {
            wanted[ref->organization][ref->user].push_back(&flow);
        }
    }
    return wanted;
}

// Loads the members that the handlers need, with one query per organization. The flows borrow them.
// `is_last`: for the flows that run last, or for the others.
std::deque<rules::Member> load_members(service::Context& context, std::vector<RequestFlow>& flows,
                                       bool is_last) {
    std::deque<rules::Member> members;
    for (const auto& [organization, waiting] : wanted_members(flows, is_last)) {
        std::vector<UserId> users;
        for (const auto& [user, requests] : waiting) users.push_back(user);
        try {
            for (auto& found : service::find_members(context, organization, users)) {
                const rules::Member& member = members.emplace_back(std::move(found));
                for (RequestFlow* flow : waiting.at(member.user_id)) {
                    flow->set_member(member, member.attributes.size());
                }
            }
        } catch (const std::exception&) {
            for (const auto& [user, requests] : waiting) {
                for (RequestFlow* flow : requests) flow->fail(std::current_exception());
            }
        }
    }
    return members;
}

// Uploads of an organization, and of all, that wait in a worker for their turns.
constexpr std::size_t kMostTurns = 32;
constexpr std::size_t kMostTurnsOfAll = 128;
// Other requests that wait in a worker, of all organizations.
constexpr std::size_t kMostDeferred = 192;
static_assert(kMostTurnsOfAll + kMostDeferred <= http::FcgiServer::kMostDeferred);
// nginx waits for the answer longer (muster-credential.conf).
constexpr std::chrono::seconds kLongestUploadWait{20};

// Reading or answering this many bytes costs about as much as decoding one byte of a body.
constexpr std::size_t kReadBytesPerWeight = 4;

// Requests with the same address or Idempotency-Key are written one after another, each in a
// transaction of its own. A batch writes at most this many of them.
constexpr std::size_t kMostTransactions = 2;

// The end of the pause after this many attempts at a locked row: 10 ms to 640 ms from now.
std::chrono::steady_clock::time_point end_of_pause(int times) {
    constexpr std::chrono::milliseconds kShortest{10};
    return std::chrono::steady_clock::now() + kShortest * (1 << std::min(times, 6));
}

std::exception_ptr too_many_at_once() {
    return std::make_exception_ptr(
        Error(ErrorCode::RateLimited)
            .retry_after(1)
            .detail("reason", "too many requests of the organization run at once"));
}

// A step for many requests has no request id in its log lines.
void begin_shared_step(std::size_t requests) {
    if (requests > 1) set_log_request_id("");
}

}  // namespace

// One query per kind of credential for all requests. If the database is unavailable, each request
// gets the error. A damaged credential fails its own requests only.
service::Callers Pipeline::identify(std::vector<RequestFlow>& flows) {
    std::set<std::string> tokens;
    for (const RequestFlow& flow : flows) {
        if (!flow.is_answered() && !flow.token().empty()) tokens.insert(flow.token());
    }
    if (tokens.empty()) return {};
    try {
        return service::identify(worker_.context, tokens);
    } catch (const std::exception& error) {
        if (service::is_transient_failure(error)) {
            for (RequestFlow& flow : flows) {
                if (!flow.token().empty()) flow.fail(std::current_exception());
            }
            return {};
        }
    }
    return identify_one_by_one(flows, tokens);
}

service::Callers Pipeline::identify_one_by_one(std::vector<RequestFlow>& flows,
                                               const std::set<std::string>& tokens) {
    service::Callers callers;
    for (const std::string& token : tokens) {
        try {
            callers.merge(service::identify(worker_.context, {token}));
        } catch (const std::exception&) {
            for (RequestFlow& flow : flows) {
                if (flow.token() == token) flow.fail(std::current_exception());
            }
        }
    }
    return callers;
}

bool Pipeline::may_defer(const RequestFlow& flow) const {
    // An organization may take half of the free places, 64 if all are free. So the next one finds
    // a place too.
    const std::size_t free = kMostDeferred - std::min(kMostDeferred, deferred_.of_all());
    const bool has_place = deferred_.of(flow.share_subject()) < (free + 1) / 2;
    return flow.may_wait() && (flow.place() || has_place);
}

bool Pipeline::may_wait_for_turn(const RequestFlow& flow) const {
    return flow.may_wait() && turns_.of(flow.share_subject()) < kMostTurns &&
           turns_.of_all() < kMostTurnsOfAll;
}

// A request that is deferred again keeps its place, so that it is not counted twice and no other
// request gets its place.
void Pipeline::defer(const RequestFlow& flow, std::size_t index, http::Deferral deferral,
                     std::vector<http::Deferral>& deferred) {
    WaitingPlaces& places = deferral.is_turn ? turns_ : deferred_;
    deferral.place = deferral.is_turn ? nullptr : flow.place();
    if (!deferral.place) deferral.place = places.take(flow.share_subject());
    deferral.index = index;
    deferred.push_back(std::move(deferral));
}

// Takes the permits of the batch, and defers the requests that it has no place for.
std::vector<http::Deferral> Pipeline::share_out(std::vector<RequestFlow>& flows, Permits& held) {
    std::vector<std::size_t> indexes;
    std::vector<Demand> demands;
    for (std::size_t i = 0; i < flows.size(); ++i) {
        if (auto demand = flows[i].demand()) {
            const std::size_t bytes = sizes_.of(demand->organization, flows[i].operation());
            demand->weight = std::max(demand->weight, bytes / kReadBytesPerWeight);
            indexes.push_back(i);
            demands.push_back(std::move(*demand));
        }
    }
    const auto results = divide(demands, share_, held);
    if (!held.empty()) before_heavy_part_();
    std::vector<http::Deferral> deferred;
    for (std::size_t i = 0; i < indexes.size(); ++i) {
        RequestFlow& flow = flows[indexes[i]];
        if (results[i] == ShareResult::RunLast) flow.run_last();
        if (results[i] == ShareResult::Run || results[i] == ShareResult::RunLast) continue;
        if (!may_defer(flow)) {
            flow.fail(too_many_at_once());
            continue;
        }
        const bool waits = results[i] == ShareResult::NeedsPermit;
        defer(flow, indexes[i], flow.defer(waits ? demands[i].organization : ""), deferred);
    }
    return deferred;
}

// While other organizations send requests, nginx reads the bodies of one no faster than
// limits.upload_mib (docs/decisions/http.md). An upload that has waited is not charged again.
void Pipeline::pace_uploads(std::vector<RequestFlow>& flows,
                            std::vector<http::Deferral>& deferred) {
    for (std::size_t i = 0; i < flows.size(); ++i) {
        if (!flows[i].is_upload() || flows[i].had_turn()) continue;
        if (share_.active && share_.active->has_others(flows[i].share_subject())) {
            pace_upload(flows[i], i, deferred);
        }
    }
}

void Pipeline::pace_upload(RequestFlow& flow, std::size_t index,
                           std::vector<http::Deferral>& deferred) {
    const auto longest_wait =
        may_wait_for_turn(flow) ? kLongestUploadWait : std::chrono::seconds(0);
    const auto turn = flow.reserve_upload(longest_wait);
    if (!turn.allowed) {
        flow.fail(std::make_exception_ptr(
            Error(ErrorCode::RateLimited)
                .retry_after(turn.retry_after)
                .detail("reason",
                        "the organization uploads rows too fast while other "
                        "organizations are active; send this call later")));
        return;
    }
    if (turn.wait.count() == 0) return;
    auto deferral = flow.defer("");
    deferral.not_before = std::chrono::steady_clock::now() + turn.wait;
    deferral.is_turn = true;
    defer(flow, index, std::move(deferral), deferred);
}

// Removes the calls that would wait for many transactions of the batch, so that the others do not
// wait for them. They are left to the next batch. If the worker ends or their time is over, they
// stay in this one.
void Pipeline::leave_late_calls(std::vector<RequestFlow>& flows, CollectedBatch& batch,
                                std::vector<http::Deferral>& deferred) {
    const auto before = service::transactions_before(batch.calls);
    const auto is_late = [](std::size_t transactions) { return transactions >= kMostTransactions; };
    if (std::ranges::none_of(before, is_late)) return;
    CollectedBatch kept;
    for (std::size_t i = 0; i < batch.calls.size(); ++i) {
        RequestFlow& flow = flows[batch.indexes[i]];
        if (!is_late(before[i]) || !flow.may_wait()) {
            kept.indexes.push_back(batch.indexes[i]);
            kept.calls.push_back(std::move(batch.calls[i]));
        } else if (may_defer(flow)) {
            defer(flow, batch.indexes[i], flow.defer(""), deferred);
        } else {
            flow.fail(too_many_at_once());
        }
    }
    batch = std::move(kept);
}

// Writes the calls of the batch. Defers those whose rows are locked, with growing pauses.
void Pipeline::write(std::vector<RequestFlow>& flows, std::vector<http::Deferral>& deferred) {
    CollectedBatch batch;
    auto& [waiting, calls] = batch;
    for (std::size_t i = 0; i < flows.size(); ++i) {
        if (auto* call = flows[i].collected()) {
            waiting.push_back(i);
            calls.push_back(std::move(*call));
        }
    }
    if (calls.empty()) return;
    leave_late_calls(flows, batch, deferred);
    begin_shared_step(calls.size());
    const auto outcomes = collector_.collect(calls);
    std::size_t left = 0;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        RequestFlow& flow = flows[waiting[i]];
        const auto* locked = std::get_if<service::RowsLocked>(&outcomes[i]);
        if (!locked) {
            flow.complete(outcomes[i]);
        } else if (!may_defer(flow)) {
            flow.fail(locked->reason);
        } else {
            ++left;
            auto deferral = flow.defer("");
            deferral.not_before = std::max(locked->until, end_of_pause(flow.times_deferred()));
            defer(flow, waiting[i], std::move(deferral), deferred);
        }
    }
    if (left < calls.size()) worker_.metrics.count_collected(calls.size() - left);
}

// A reply does not wait for the slower ones of the batch. Its log line does not wait for queries,
// for a commit, or for the sums that the worker writes afterwards.
void Pipeline::run(std::vector<RequestFlow>& flows, std::vector<http::Deferral>& deferred,
                   CollectedLines& lines, const std::function<void(std::size_t)>& send_ready) {
    for (const bool is_last : {false, true}) {
        begin_shared_step(flows.size());
        const auto members = load_members(worker_.context, flows, is_last);
        EventPages event_pages(worker_.context, flows, is_last, sizes_);
        for (const bool is_quick : {true, false}) {
            for (std::size_t i = 0; i < flows.size(); ++i) {
                if (flows[i].is_last() != is_last || flows[i].is_quick() != is_quick) continue;
                if (flows[i].runs_queries()) {
                    lines.write();
                    event_pages.load(flows[i]);
                }
                flows[i].run();
                send_ready(i);
            }
        }
        lines.write();
        write(flows, deferred);
        for (std::size_t i = 0; i < flows.size(); ++i) send_ready(i);
    }
    lines.write();
}

std::vector<http::Deferral> Pipeline::handle(std::span<const http::Request> requests,
                                             const http::Answer& answer) {
    try {
        return handle_batch(requests, answer);
    } catch (...) {
        tainted_ = true;
        throw;
    }
}

std::vector<http::Deferral> Pipeline::handle_batch(std::span<const http::Request> requests,
                                                   const http::Answer& answer) {
    CollectedLines lines(requests.size() > 1);
    service::reset_database_cost();
    std::vector<RequestFlow> flows;
    flows.reserve(requests.size());
    for (const http::Request& request : requests) flows.emplace_back(request, worker_);
    std::vector<bool> is_sent(flows.size());
    const auto send_ready = [&](std::size_t index) {
        RequestFlow& flow = flows[index];
        if (is_sent[index] || flow.is_deferred() || !flow.is_answered()) return;
        is_sent[index] = true;
        auto reply = flow.finish();
        if (reply && flow.is_identified()) {
            const std::size_t built = reply->body.size() + reply->omitted;
            sizes_.note(flow.share_subject(), flow.operation(), std::max(built, flow.bytes_read()));
        }
        answer(index, std::move(reply));
        tainted_ = tainted_ || flow.is_tainted();
    };
    for (RequestFlow& flow : flows) flow.route();
    begin_shared_step(flows.size());
    const service::Callers callers = identify(flows);
    for (RequestFlow& flow : flows) flow.authorize(callers);
    Permits held;
    auto deferred = share_out(flows, held);
    pace_uploads(flows, deferred);
    run(flows, deferred, lines, send_ready);
    set_log_request_id("");
    service::write_large_sums(worker_.context.database);
    const auto cost = service::database_cost();
    worker_.metrics.count_database(cost.statements, cost.reruns);
    return deferred;
}

}  // namespace muster::api
