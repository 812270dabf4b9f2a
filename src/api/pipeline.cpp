#include "api/pipeline.hpp"

#include "base/log.hpp"
#include "rules/members/member.hpp"
#include "service/failure.hpp"
#include "service/members/read.hpp"

#include <deque>
#include <map>
#include <set>

namespace muster::api {
namespace {

using FlowsByMember = std::map<OrgId, std::map<UserId, std::vector<RequestFlow*>>>;

FlowsByMember wanted_members(std::vector<RequestFlow>& flows) {
    FlowsByMember wanted;
    for (RequestFlow& flow : flows) {
        if (const auto ref = flow.wanted_member()) {
            wanted[ref->organization][ref->user].push_back(&flow);
        }
    }
    return wanted;
}

// Loads the members that the handlers need, with one query per organization. The flows borrow them.
std::deque<rules::Member> load_members(service::Context& context, std::vector<RequestFlow>& flows) {
    std::deque<rules::Member> members;
    for (const auto& [organization, waiting] : wanted_members(flows)) {
        std::vector<UserId> users;
        for (const auto& [user, requests] : waiting) users.push_back(user);
        try {
            for (auto& found : service::find_members(context, organization, users)) {
                const rules::Member& member = members.emplace_back(std::move(found));
                for (RequestFlow* flow : waiting.at(member.user_id)) flow->set_member(member);
            }
        } catch (const std::exception&) {
            for (const auto& [user, requests] : waiting) {
                for (RequestFlow* flow : requests) flow->fail(std::current_exception());
            }
        }
    }
    return members;
}

// The log lines of a step for many requests carry the id of none.
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

// Takes the permits of the batch, and defers the requests that it has no place for.
std::vector<http::Deferral> Pipeline::share_out(std::vector<RequestFlow>& flows, Permits& held) {
    std::vector<std::size_t> indexes;
    std::vector<Demand> demands;
    for (std::size_t i = 0; i < flows.size(); ++i) {
        if (auto demand = flows[i].demand()) {
            indexes.push_back(i);
            demands.push_back(std::move(*demand));
        }
    }
    const auto results = divide(demands, share_, held);
    std::vector<http::Deferral> deferred;
    for (std::size_t i = 0; i < indexes.size(); ++i) {
        if (results[i] == ShareResult::Run) continue;
        if (!demands[i].may_wait) {
            flows[indexes[i]].fail(std::make_exception_ptr(
                Error(ErrorCode::RateLimited)
                    .retry_after(1)
                    .detail("reason", "too many requests of the organization run at once")));
            continue;
        }
        const bool waits = results[i] == ShareResult::NeedsPermit;
        deferred.push_back(flows[indexes[i]].defer(waits ? demands[i].organization : ""));
        deferred.back().index = indexes[i];
    }
    return deferred;
}

void Pipeline::write(std::vector<RequestFlow>& flows) {
    std::vector<RequestFlow*> waiting;
    std::vector<service::CollectedCall> calls;
    for (RequestFlow& flow : flows) {
        if (auto* call = flow.collected()) {
            waiting.push_back(&flow);
            calls.push_back(std::move(*call));
        }
    }
    if (calls.empty()) return;
    begin_shared_step(calls.size());
    worker_.metrics.count_collected(calls.size());
    const auto outcomes = collector_.collect(calls);
    for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i]->complete(outcomes[i]);
}

std::vector<http::Deferral> Pipeline::handle(std::span<const http::Request> requests,
                                             const http::Answer& answer) {
    service::reset_database_cost();
    std::vector<RequestFlow> flows;
    flows.reserve(requests.size());
    for (const http::Request& request : requests) flows.emplace_back(request, worker_);
    std::vector<bool> is_sent(flows.size());
    const auto send_ready = [&](std::size_t index) {
        RequestFlow& flow = flows[index];
        if (is_sent[index] || flow.is_deferred() || !flow.is_answered()) return;
        is_sent[index] = true;
        answer(index, flow.finish());
        tainted_ = tainted_ || flow.is_tainted();
    };
    for (RequestFlow& flow : flows) flow.route();
    begin_shared_step(flows.size());
    const service::Callers callers = identify(flows);
    for (RequestFlow& flow : flows) flow.authorize(callers);
    Permits held;
    auto deferred = share_out(flows, held);
    begin_shared_step(flows.size());
    const auto members = load_members(worker_.context, flows);
    // A reply does not wait for the slower ones of the batch.
    for (const bool is_quick : {true, false}) {
        for (std::size_t i = 0; i < flows.size(); ++i) {
            if (flows[i].is_quick() == is_quick) flows[i].run();
            send_ready(i);
        }
    }
    write(flows);
    for (std::size_t i = 0; i < flows.size(); ++i) send_ready(i);
    set_log_request_id("");
    const auto cost = service::database_cost();
    worker_.metrics.count_database(cost.statements, cost.reruns);
    return deferred;
}

}  // namespace muster::api
