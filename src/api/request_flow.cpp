#include "api/request_flow.hpp"

#include "api/authenticate.hpp"
#include "api/console_session.hpp"
#include "api/envelope.hpp"
#include "api/pages/cors.hpp"
#include "api/rates.hpp"
#include "api/request_body.hpp"
#include "base/crypto.hpp"
#include "base/ids.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "http/query.hpp"
#include "json/json_body.hpp"
#include "service/failure.hpp"
#include "service/pages/publishable_keys.hpp"

namespace muster::api {
namespace {

using http::Reply;
using http::Request;

constexpr std::size_t kLongestKey = 255;
// A reader's statement costs about as much as decoding so many bytes.
constexpr std::size_t kQueryWeight = std::size_t{4} << 10U;

// --------------------------------------------------------------------------- checks

void reject_stale(const Request& request, int limit_seconds) {
    // The request waited so long for a worker that its client has timed out; skip the work.
    const auto waited = Timestamp::now() - request.arrived;
    if (waited > Milliseconds(1000L * limit_seconds)) {
        throw Error(ErrorCode::ServiceUnavailable).retry_after(1).internal("stale request");
    }
}

// A path id that is not a UUID is NOT_FOUND, whatever else is wrong.
void reject_malformed_ids(const Endpoint& endpoint,
                          const std::vector<std::string_view>& parameters) {
    std::size_t index = 0;
    for (const std::string_view segment : split(endpoint.path, '/')) {
        if (!segment.starts_with('{')) continue;
        if (is_id_parameter(segment) && !Uuid::parse(parameters[index]))
            throw Error(ErrorCode::NotFound);
        ++index;
    }
}

// Why no caller has the token. A token with the form of a session's belongs to one that has ended.
const char* reason_of_unknown(const std::string& token) {
    return service::is_session_token(token) ? "SESSION_ENDED" : "INVALID";
}

bool has_idempotency_key(const Request& request, const Endpoint& endpoint) {
    return endpoint.idempotency != IdempotencyKey::Ignored && request.has_idempotency_key;
}

void check_idempotency_key(const Request& request, const Endpoint& endpoint) {
    if (!has_idempotency_key(request, endpoint)) {
        if (endpoint.idempotency != IdempotencyKey::Required) return;
        throw Error(ErrorCode::IdempotencyKeyRequired);
    }
    reject_repeated(request, "Idempotency-Key");
    const std::string& key = request.idempotency_key;
    bool is_valid = !key.empty() && key.size() <= kLongestKey;
    for (const char c : key) is_valid = is_valid && c > ' ' && c < 0x7f;
    if (!is_valid) {
        throw Error(ErrorCode::BadRequest)
            .detail("reason", "Idempotency-Key must have 1 to 255 visible ASCII characters");
    }
}

// A module's Idempotency-Keys have their own scope, separate from other installations. Only the
// last part of the scope may contain a line break.
std::optional<service::IdempotencyClaim> claim_of(const Call& call) {
    const Request& request = call.request;
    if (!has_idempotency_key(request, call.endpoint)) return std::nullopt;
    std::string scope = std::string(text_of(request.method)) + '\n' + request.path + '\n';
    if (call.caller.module) scope += call.caller.module->installation.text() + '\n';
    scope += request.idempotency_key;
    return service::IdempotencyClaim{
        sha256(scope), sha256(call.body ? json::canonical_json(*call.body) : ""), Secret(scope)};
}

// A parsed document is up to ten times as large as its body, and a collector holds those of all
// waiting requests. Larger bodies are parsed again.
constexpr std::size_t kKeptDocument = std::size_t{64} << 10U;

// The key in the body.
std::string token_in(const json::JsonIn& body) {
    const auto key = body.member("key");
    return std::string(key ? key->string().value_or("") : "");
}

// ---------------------------------------------------------------------------- replies

void add_if_absent(Reply& reply, const http::Header& header) {
    for (const auto& [name, value] : reply.headers) {
        if (name == header.first) return;
    }
    reply.headers.push_back(header);
}

constexpr int kFirstError = 400;

Reply not_matched(const Match& match) {
    if (!match.path_known) return error_reply(Error(ErrorCode::NotFound));
    Reply reply = error_reply(Error(ErrorCode::MethodNotAllowed));
    reply.headers.emplace_back("Allow", match.allow);
    return reply;
}

}  // namespace

RequestFlow::RequestFlow(const Request& request, WorkerState& worker)
    : request_(request),
      worker_(worker),
      began_(request.deferral ? request.deferral->began : std::chrono::steady_clock::now()) {}

// Runs a step unless the request is already answered. An exception becomes the reply.
template <class Step>
void RequestFlow::attempt(const Step& step) {
    if (is_answered()) return;
    set_log_request_id(request_.request_id);
    try {
        step();
    } catch (const http::Aborted&) {
        is_aborted_ = true;
    } catch (const std::exception&) {
        Failure failure = reply_to(std::current_exception());
        is_tainted_ = is_tainted_ || failure.is_unexpected;
        answer(std::move(failure.reply));
    }
}

void RequestFlow::answer(Reply reply) {
    reply_ = std::move(reply);
}

// ---------------------------------------------------------------------------- steps

void RequestFlow::route() {
    attempt([&] {
        find_row();
        if (is_answered()) return;
        if (!request_.deferral) {
            reject_stale(request_, worker_.context.settings.server.stale_after);
        }
        find_token();
    });
}

void RequestFlow::find_row() {
    match_ = match(request_.method, request_.path);
    endpoint_ = match_.endpoint;
    if (!endpoint_ && request_.method == http::Method::Options) {
        preflight_ = cross_origin(request_.path);
        endpoint_ = preflight_.endpoint;
    }
    if (!endpoint_) answer(not_matched(match_));
}

void RequestFlow::find_token() {
    if (endpoint_->access == Access::Open) return;
    if (request_.deferral) {  // its body need not be decoded again to find the credential
        if (is_publishable(endpoint_->access)) headers_.emplace_back("Vary", "Origin");
        token_ = request_.deferral->token;
        has_credential_ = true;
        is_in_cookie_ = !is_publishable(endpoint_->access) && request_.authorization.empty();
    } else if (is_publishable(endpoint_->access)) {
        find_page_token();
    } else if (const auto in_cookie =
                   console_session_token(worker_.context.settings.console.origin, request_)) {
        token_ = *in_cookie;
        has_credential_ = is_in_cookie_ = true;
    } else {
        token_ = http::bearer_token(request_);
        has_credential_ = !request_.authorization.empty();
    }
}

void RequestFlow::find_page_token() {
    headers_.emplace_back("Vary", "Origin");
    auto token = http::query_value(request_.query, "key");
    const bool may_be_in_body = endpoint_->body_limit > 0 && !preflight_.endpoint;
    if (!token && may_be_in_body && document()) token = token_in(*document());
    if (body_ && body_->size() > kKeptDocument) document_.reset();
    has_credential_ = token && !token->empty();
    if (token && service::is_publishable_token(*token)) token_ = std::move(*token);
}

const std::string& RequestFlow::body() {
    if (!body_) body_ = endpoint_->body_limit > 0 ? read_body(request_, *endpoint_) : "";
    return *body_;
}

const json::JsonIn* RequestFlow::document() {
    if (!document_ && !body().empty()) document_.emplace(body());
    return document_ ? &document_->root() : nullptr;
}

void RequestFlow::authorize(const service::Callers& callers) {
    if (!endpoint_) return;
    attempt([&] {
        if (endpoint_->access == Access::Open) {
            find_organization();
        } else {
            identify(callers);
        }
    });
}

// The organization that a signed token in the path names, without a statement.
void RequestFlow::find_organization() {
    if (!endpoint_->organization_of) return;
    const auto organization = endpoint_->organization_of(worker_, match_.parameters.at(0));
    if (!organization) throw Error(ErrorCode::NotFound);
    caller_.actor.organization = *organization;
    is_identified_ = true;
    is_above_rate_ = request_.deferral ? request_.deferral->is_above_rate
                                       : !charge_token(worker_, *organization);
}

void RequestFlow::identify(const service::Callers& callers) {
    const auto found = callers.find(token_);
    if (found == callers.end()) reject_unknown();
    caller_ = found->second;
    is_identified_ = true;
    caller_.actor.request_id = request_.request_id;
    is_publishable(endpoint_->access) ? accept_page() : accept_bearer();
}

void RequestFlow::reject_unknown() {
    const bool is_sign_out =
        endpoint_->access == Access::Session && endpoint_->method == http::Method::Delete;
    // Not with other operations: one of another window may have the value before the second factor.
    if (is_sign_out && is_in_cookie_) {
        for (auto& header : console_session_end()) headers_.push_back(std::move(header));
    }
    throw Error(ErrorCode::Unauthorized)
        .detail("reason", has_credential_ ? reason_of_unknown(token_) : "MISSING");
}

void RequestFlow::accept_bearer() {
    apply_rate_limit();
    check_rights();
}

void RequestFlow::check_rights() {
    api::authorize(*endpoint_, caller_, request_);
    if (endpoint_->access == Access::Console) {
        require_console(worker_.context.settings.console.origin, request_);
    }
    reject_malformed_ids(*endpoint_, match_.parameters);
    require_open_log(worker_.context, *endpoint_, caller_);
}

void RequestFlow::accept_page() {
    using Kind = rules::PublishableKeyKind;
    const rules::PublishableKey& key = caller_.publishable_key.value();
    const bool is_tracking = endpoint_->access == Access::TrackingKey;
    if ((key.kind == Kind::Tracking) != is_tracking) throw Error(ErrorCode::Forbidden);
    require_origin(key, request_);
    for (auto& header : cors_headers(request_)) headers_.push_back(std::move(header));
    if (!preflight_.endpoint) apply_rate_limit();
}

// Adds the headers of every reply to an identified caller, also of errors. A deferred request was
// charged before, and so was one whose credential nginx has asked about. A caller above its own
// rate causes no statement that finds its role in the named organization.
void RequestFlow::apply_rate_limit() {
    if (request_.deferral) {
        act_on_named_organization(worker_.context, caller_, request_);
        headers_ = request_.deferral->headers;
        return;
    }
    const bool is_charged = !request_.charged_rate.empty();
    ChargedRates rates = is_charged ? ChargedRates{request_.charged_policy, request_.charged_rate}
                                    : charge_caller(worker_, caller_);
    const bool is_above_own = rates.retry_after > 0;
    if (!is_above_own) act_on_named_organization(worker_.context, caller_, request_);
    if (!is_charged) charge_organization(worker_, caller_, rates);
    if (caller_.session && !(is_above_own && request_.organization)) {
        headers_.emplace_back("X-Active-Organization", caller_.actor.organization.text());
    }
    // nginx and browsers cache articles, and would show figures of the past.
    if (endpoint_->access != Access::ContentKey) {
        headers_.emplace_back("RateLimit-Policy", std::move(rates.policies));
        headers_.emplace_back("RateLimit", std::move(rates.left));
    }
    if (rates.retry_after > 0) {
        throw Error(ErrorCode::RateLimited).retry_after(rates.retry_after);
    }
}

std::optional<Demand> RequestFlow::demand() const {
    if (is_answered() || !endpoint_ || preflight_.endpoint) return std::nullopt;
    if (endpoint_->access == Access::Open && !endpoint_->organization_of) return std::nullopt;
    if (request_.is_credential_check) return std::nullopt;
    const bool has_query = endpoint_->workers == WorkerGroup::Readers && !endpoint_->is_quick;
    return Demand{share_subject(), request_.content_length + (has_query ? kQueryWeight : 0)};
}

std::string RequestFlow::share_subject() const {
    const OrgId& organization = caller_.actor.organization;
    return organization == OrgId{} ? caller_.rate_subject : std::string(organization.bytes());
}

// A link of an ad counts. Clients that send a change may leave without its reply.
bool RequestFlow::has_effect() const {
    if (request_.is_credential_check) return false;
    return !http::is_safe(request_.method) || endpoint_->access == Access::Open;
}

bool RequestFlow::is_upload() const {
    return !is_answered() && request_.is_credential_check && endpoint_->body_limit > 0;
}

process::RateResult RequestFlow::reserve_upload(std::chrono::microseconds longest_wait) {
    return api::reserve_upload(worker_, caller_.actor.organization,
                               expected_length(request_, *endpoint_), longest_wait);
}

http::Deferral RequestFlow::defer(std::string share) {
    is_deferred_ = true;
    return {.index = 0,
            .share = std::move(share),
            .has_effect = has_effect(),
            .headers = std::move(headers_),
            .body = std::move(body_),
            .token = token_,
            .is_above_rate = is_above_rate_,
            .began = began_};
}

std::optional<MemberRef> RequestFlow::wanted_member() const {
    if (is_answered() || !endpoint_->loads_member) return std::nullopt;
    const auto user = UserId::parse(match_.parameters.at(0));
    return user ? std::optional(MemberRef{caller_.actor.organization, *user}) : std::nullopt;
}

std::optional<service::FirstPage> RequestFlow::wanted_events() const {
    if (is_answered() || !member_ || !endpoint_->loads_events) return std::nullopt;
    try {
        const QueryValues query = decode_query(*endpoint_, request_.query);
        if (query.text("cursor") || query.flag("total")) return std::nullopt;
        return service::FirstPage{member_, query.integer("limit")};
    } catch (const Error&) {  // the handler answers with it
        return std::nullopt;
    }
}

void RequestFlow::run() {
    const std::size_t bytes_before = service::database_cost().bytes;
    attempt([&] {
        if (preflight_.endpoint) {
            answer(preflight_reply(preflight_.methods));
        } else if (request_.is_credential_check) {
            accept_check();
        } else {
            run_handler();
        }
    });
    bytes_read_ += service::database_cost().bytes - bytes_before;
    document_.reset();
}

// The reply to nginx, which reads the body now.
void RequestFlow::accept_check() {
    Reply reply = no_content();
    reply.headers.emplace_back("X-Muster-Organization", caller_.actor.organization.text());
    answer(std::move(reply));
}

void RequestFlow::run_handler() {
    Call call{.request = request_,
              .endpoint = *endpoint_,
              .context = worker_.context,
              .worker = worker_,
              .caller = caller_,
              .has_session_cookie = caller_.session && request_.authorization.empty(),
              .parameters = match_.parameters,
              .query = {},
              .claim = std::nullopt,
              .member = member_,
              .events = events_ ? &*events_ : nullptr,
              .is_above_rate = is_above_rate_};
    // Probes and the OpenAPI document ignore their query.
    if (endpoint_->access == Access::Open && endpoint_->method == http::Method::Get) {
        answer(endpoint_->handler.run(call));
        return;
    }
    check_idempotency_key(request_, *endpoint_);
    call.body_text = body();
    if (caller_.module) {
        require_signature(worker_.context, *caller_.module, request_, call.body_text);
    }
    call.body = document();
    call.query = decode_query(*endpoint_, request_.query);
    call.claim = claim_of(call);
    try {
        if (endpoint_->handler.collect) {
            collected_ = endpoint_->handler.collect(call);
        } else {
            answer(endpoint_->handler.run(call));
        }
    } catch (const Error& error) {
        if (error.code() == ErrorCode::ValidationError && call.claim) {
            service::reject_conflict(call.context, call.org(), *call.claim);
        }
        throw;
    }
}

service::CollectedCall* RequestFlow::collected() {
    return is_answered() || !collected_ ? nullptr : &*collected_;
}

void RequestFlow::complete(const service::Outcome& outcome) {
    attempt([&] {
        if (const auto* thrown = std::get_if<std::exception_ptr>(&outcome)) {
            std::rethrow_exception(*thrown);
        }
        Reply reply = reply_of(std::get<service::StoredReply>(outcome));
        const std::string etag = etag_of(*endpoint_, reply.body);
        if (!etag.empty()) reply.headers.emplace_back("ETag", etag);
        answer(std::move(reply));
    });
}

void RequestFlow::fail(const std::exception_ptr& reason) {
    attempt([&] { std::rethrow_exception(reason); });
}

std::optional<Reply> RequestFlow::finish() {
    if (is_aborted_) return std::nullopt;
    set_log_request_id(request_.request_id);
    Reply& reply = *reply_;
    headers_.emplace_back("Cache-Control", "no-store");
    for (const auto& header : headers_) add_if_absent(reply, header);
    // A request that nginx passes on is counted and logged when it arrives.
    const bool is_passed_on = request_.is_credential_check && reply.status < kFirstError;
    if (!is_passed_on) count_and_log(reply);
    if (request_.is_credential_check && !is_passed_on) pack_refusal(reply);
    return std::move(reply_);
}

void RequestFlow::count_and_log(const Reply& reply) const {
    const auto spent = std::chrono::steady_clock::now() - began_;
    const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(spent).count();
    worker_.metrics.count(match_.endpoint ? match_.index : process::Metrics::kNoOperation,
                          reply.status, microseconds);
    log(reply, microseconds);
}

// The database costs are those of all requests processed together.
void RequestFlow::log(const Reply& reply, std::int64_t microseconds) const {
    const auto cost = service::database_cost();
    const std::string organization =
        is_identified_ ? caller_.actor.organization.text() : std::string("none");
    log_event(LogLevel::Info, "request",
              {{"org", organization},
               {"caller", service::name_of(caller_)},
               {"method", text_of(request_.method)},
               {"operation", match_.endpoint ? match_.endpoint->operation : "none"},
               {"status", reply.status},
               {"us", microseconds},
               {"db_statements", cost.statements},
               {"db_us", cost.microseconds}});
}

}  // namespace muster::api
