// One request's way through the pipeline: route, credential, limits, body, handler. Its steps are
// apart, because a collector takes many requests through each step together (api/pipeline.hpp).
#pragma once

#include "api/routes.hpp"
#include "api/worker_state.hpp"
#include "json/json_body.hpp"
#include "service/callers.hpp"
#include "service/engagement/collect.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace muster::api {

// The live publishable keys of some requests, by token.
using PublishableKeys = std::map<std::string, rules::PublishableKey, std::less<>>;

class RequestFlow {
  public:
    RequestFlow(const http::Request& request, WorkerState& worker);

    // Finds the row and, where it takes one, the publishable key's token.
    void route();
    // A text that could be a publishable key's token; "" where there is none to look up.
    const std::string& token() const { return token_; }
    // Decides on the credential, the body and the query, and runs the handler.
    void authorize_and_run(const PublishableKeys& keys);
    // What is to be written with others'; nullptr when the request is answered already.
    service::CollectedCall* collected();
    void complete(const service::Outcome& outcome);

    // The reply, counted and logged; nullopt when the client has gone.
    std::optional<http::Reply> finish();

    bool is_answered() const { return reply_ || is_aborted_; }
    // Something happened that no code here expected.
    bool is_tainted() const { return is_tainted_; }

  private:
    template <class Step>
    void attempt(const Step& step);
    void find_row();
    void find_token();
    void identify(const PublishableKeys& keys);
    void identify_page(const PublishableKeys& keys);
    void apply_rate_limit();
    void run();
    void answer(http::Reply reply);
    const std::string& body();
    const json::JsonIn* document();  // of the body; nullptr: none was sent
    void log(const http::Reply& reply, std::int64_t microseconds) const;

    const http::Request& request_;
    WorkerState& worker_;
    Match match_;
    CrossOrigin preflight_;  // where the request is a browser's question whether it may call
    const Endpoint* endpoint_ = nullptr;  // whose access is asked for
    service::Caller caller_;
    std::string token_;
    std::optional<std::string> body_;
    std::optional<json::JsonBody> document_;
    std::optional<service::CollectedCall> collected_;
    std::optional<http::Reply> reply_;
    std::vector<http::Header> headers_;  // that the answer gets whatever becomes of the request
    bool is_aborted_ = false;
    bool is_tainted_ = false;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace muster::api
