#include "api/pipeline.hpp"

#include "service/failure.hpp"
#include "service/pages/publishable_keys.hpp"

#include <set>

namespace muster::api {

// One look-up for all requests. If the database is unavailable, each request gets the error.
PublishableKeys Pipeline::find_keys(std::vector<RequestFlow>& flows) {
    std::set<std::string> tokens;
    for (const RequestFlow& flow : flows) {
        if (!flow.is_answered() && !flow.token().empty()) tokens.insert(flow.token());
    }
    PublishableKeys keys;
    if (tokens.empty()) return keys;
    try {
        const std::vector<std::string> unique(tokens.begin(), tokens.end());
        for (auto& key : service::find_publishable_keys(worker_.context, unique)) {
            keys.emplace(key.token, std::move(key));
        }
    } catch (const std::exception&) {
        for (RequestFlow& flow : flows) {
            if (!flow.token().empty()) flow.complete(std::current_exception());
        }
    }
    return keys;
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
    worker_.metrics.count_collected(calls.size());
    const auto outcomes = service::collect(worker_.context, calls);
    for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i]->complete(outcomes[i]);
}

std::vector<std::optional<http::Reply>> Pipeline::handle(std::span<const http::Request> requests) {
    service::reset_database_cost();
    std::vector<RequestFlow> flows;
    flows.reserve(requests.size());
    for (const http::Request& request : requests) flows.emplace_back(request, worker_);
    for (RequestFlow& flow : flows) flow.route();
    const PublishableKeys keys = find_keys(flows);
    for (RequestFlow& flow : flows) flow.authorize_and_run(keys);
    write(flows);
    const auto cost = service::database_cost();
    worker_.metrics.count_database(cost.statements, cost.reruns);
    std::vector<std::optional<http::Reply>> replies;
    replies.reserve(flows.size());
    for (RequestFlow& flow : flows) {
        replies.push_back(flow.finish());
        tainted_ = tainted_ || flow.is_tainted();
    }
    return replies;
}

}  // namespace muster::api
