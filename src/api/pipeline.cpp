#include "api/pipeline.hpp"

#include "service/failure.hpp"
#include "service/pages/publishable_keys.hpp"

#include <set>

namespace muster::api {

// One look-up for all; a database that is away is each request's own answer.
PublishableKeys Pipeline::find_keys(std::vector<Passage>& passages) {
    std::set<std::string> tokens;
    for (const Passage& passage : passages) {
        if (!passage.is_answered() && !passage.token().empty()) tokens.insert(passage.token());
    }
    PublishableKeys keys;
    if (tokens.empty()) return keys;
    try {
        const std::vector<std::string> wanted(tokens.begin(), tokens.end());
        for (auto& key : service::find_publishable_keys(shared_.context, wanted)) {
            keys.emplace(key.token, std::move(key));
        }
    } catch (const std::exception&) {
        for (Passage& passage : passages) {
            if (!passage.token().empty()) passage.conclude(std::current_exception());
        }
    }
    return keys;
}

void Pipeline::write(std::vector<Passage>& passages) {
    std::vector<Passage*> waiting;
    std::vector<service::CollectedCall> calls;
    for (Passage& passage : passages) {
        if (auto* call = passage.collected()) {
            waiting.push_back(&passage);
            calls.push_back(std::move(*call));
        }
    }
    if (calls.empty()) return;
    shared_.metrics.count_collected(calls.size());
    const auto outcomes = service::collect(shared_.context, calls);
    for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i]->conclude(outcomes[i]);
}

std::vector<std::optional<http::Reply>> Pipeline::handle(std::span<const http::Request> requests) {
    service::reset_database_cost();
    std::vector<Passage> passages;
    passages.reserve(requests.size());
    for (const http::Request& request : requests) passages.emplace_back(request, shared_);
    for (Passage& passage : passages) passage.receive();
    const PublishableKeys keys = find_keys(passages);
    for (Passage& passage : passages) passage.decide(keys);
    write(passages);
    const auto cost = service::database_cost();
    shared_.metrics.count_database(cost.statements, cost.reruns);
    std::vector<std::optional<http::Reply>> replies;
    replies.reserve(passages.size());
    for (Passage& passage : passages) {
        replies.push_back(passage.finish());
        tainted_ = tainted_ || passage.is_tainted();
    }
    return replies;
}

}  // namespace muster::api
