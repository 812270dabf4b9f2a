// Processes one request: route, credential, rate limit, body, handler. The steps are separate
// functions because a collector runs each step for many requests together (api/pipeline.hpp).
#pragma once

#include "api/routes.hpp"
#include "api/shares.hpp"
#include "api/worker_state.hpp"
#include "json/json_body.hpp"
#include "service/callers.hpp"
#include "service/collecting.hpp"
#include "service/engagement/events.hpp"

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::api {

struct MemberRef {
    OrgId organization;
    UserId user;
};

class RequestFlow {
  public:
    RequestFlow(const http::Request& request, WorkerState& worker);

    // Finds the row and the token of its credential.
    void route();
    // "" if there is no token to look up.
    const std::string& token() const { return token_; }
    // Validates the credential and the caller's rights.
    void authorize(const service::Callers& callers);
    // What the request costs its organization; nullopt if it is already answered, or has none.
    std::optional<Demand> demand() const;
    // nginx asks whether it may read a body.
    bool is_upload() const;
    // When nginx may read the body whose credential it asks about.
    process::RateResult reserve_upload(std::chrono::microseconds longest_wait);
    // Leaves the request, which has changed nothing, to a later batch. That batch begins with its
    // first step. `share`: what it waits for; "": the next batch.
    http::Deferral defer(std::string share);
    // Whether it may be left to a later batch.
    bool may_wait() const { return request_.may_wait; }
    // How often it was left.
    int times_deferred() const { return request_.deferral ? request_.deferral->times : 0; }
    // Whose request it is, as in demand().
    std::string share_subject() const;
    // Whether the caller is known, so that share_subject() is.
    bool is_identified() const { return is_identified_; }
    // "" if no row matches.
    std::string_view operation() const { return endpoint_ ? endpoint_->operation : ""; }
    // Its place among those that wait for another reason than their turn; nullptr: it has none.
    std::shared_ptr<const void> place() const {
        return request_.deferral && !request_.deferral->is_turn ? request_.deferral->place
                                                                : nullptr;
    }
    // Whether it was left until its turn, which has come.
    bool had_turn() const { return request_.deferral && request_.deferral->is_turn; }
    // Runs after the replies to the other organizations of the batch.
    void run_last() { is_last_ = true; }
    bool is_last() const { return is_last_; }
    // The member to load before the handler runs. nullopt if the row loads no member, or if the
    // request is already answered.
    std::optional<MemberRef> wanted_member() const;
    // Borrows the member, which was read with so many bytes, until the flow has run.
    void set_member(const rules::Member& member, std::size_t bytes) {
        member_ = &member;
        bytes_read_ += bytes;
    }
    // The first page of its member's events, which is loaded before the handler runs. nullopt if
    // the row loads none, or if the handler needs another one.
    std::optional<service::FirstPage> wanted_events() const;
    void set_events(service::EventPage events, std::size_t bytes) {
        events_ = std::move(events);
        bytes_read_ += bytes;
    }
    // The bytes that were loaded for it, and that the handler read from the database by itself.
    std::size_t bytes_read() const { return bytes_read_; }
    // Whether the reply needs no query of its own.
    bool is_quick() const {
        return request_.is_credential_check || (endpoint_ && endpoint_->is_quick);
    }
    // Validates the body and the query, and runs the handler.
    void run();
    // Whether run() has queries of its own.
    bool runs_queries() const {
        return !is_answered() && !is_quick() && !events_ && endpoint_ &&
               !endpoint_->handler.collect;
    }
    // The call to write together with others; nullptr if the request is already answered.
    service::CollectedCall* collected();
    // For every outcome except RowsLocked.
    void complete(const service::Outcome& outcome);
    // Answers a request that has no reply yet with this error.
    void fail(const std::exception_ptr& reason);

    // Counts and logs the reply; nullopt if the client disconnected.
    std::optional<http::Reply> finish();

    // No further step is needed.
    bool is_answered() const { return reply_ || is_aborted_ || is_deferred_; }
    bool is_deferred() const { return is_deferred_; }
    // An unexpected error occurred.
    bool is_tainted() const { return is_tainted_; }

  private:
    template <class Step>
    void attempt(const Step& step);
    void find_row();
    void find_token();
    void find_page_token();
    void identify(const service::Callers& callers);
    void find_organization();
    void accept_page();
    [[noreturn]] void reject_unknown();
    void accept_bearer();
    void check_rights();
    void apply_rate_limit();
    void run_handler();
    void answer(http::Reply reply);
    const std::string& body();
    const json::JsonIn* document();  // the parsed body; nullptr: no body was sent
    void accept_check();
    bool has_effect() const;
    void count_and_log(const http::Reply& reply) const;
    void log(const http::Reply& reply, std::int64_t microseconds) const;

    const http::Request& request_;
    WorkerState& worker_;
    Match match_;
    CrossOrigin preflight_;               // set if the request is a CORS preflight
    const Endpoint* endpoint_ = nullptr;  // the row whose access is required
    service::Caller caller_;
    const rules::Member* member_ = nullptr;
    std::optional<service::EventPage> events_;
    std::size_t bytes_read_ = 0;
    std::string token_;            // "" if there is none to look up
    bool has_credential_ = false;  // the request has one, well-formed or not
    bool is_in_cookie_ = false;
    bool is_identified_ = false;  // the credential is valid; it may be of the wrong kind
    bool is_above_rate_ = false;
    std::optional<std::string> body_;
    std::optional<json::JsonBody> document_;
    std::optional<service::CollectedCall> collected_;
    std::optional<http::Reply> reply_;
    std::vector<http::Header> headers_;  // headers of every reply to this request
    bool is_aborted_ = false;
    bool is_deferred_ = false;
    bool is_last_ = false;
    bool is_tainted_ = false;
    std::chrono::steady_clock::time_point began_;
};

}  // namespace muster::api
