#include "api/endpoint.hpp"

#include "api/worker_state.hpp"
#include "base/email.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "http/etag.hpp"
#include "http/query.hpp"
#include "service/callers.hpp"

#include <algorithm>
#include <set>

namespace muster::api {
namespace {

constexpr std::size_t kLongestText = 255;
// A position may contain the longest name, with four bytes for each character.
constexpr std::size_t kLongestCursor = 3072;

using Kind = QueryParameter::Kind;

bool is_choice(const QueryParameter& parameter, std::string_view value) {
    for (std::size_t i = 0; !parameter.choice(i).empty(); ++i) {
        if (parameter.choice(i) == value) return true;
    }
    return false;
}

std::optional<FieldCode> choice_fault(const QueryParameter& parameter, std::string_view text) {
    if (!parameter.is_list) {
        return is_choice(parameter, text) ? std::nullopt : std::optional(FieldCode::InvalidChoice);
    }
    std::set<std::string_view> seen;
    for (const std::string_view part : split(text, ',')) {
        if (!is_choice(parameter, part)) return FieldCode::InvalidChoice;
        if (!seen.insert(part).second) return FieldCode::Duplicate;
    }
    return std::nullopt;
}

// Validates and normalizes a text of the parameter's kind.
std::optional<FieldCode> text_fault(const QueryParameter& parameter, std::string& text) {
    if (parameter.choice) {
        if (const auto fault = choice_fault(parameter, text)) return fault;
    }
    if (parameter.kind == Kind::Email) {
        const auto fault = normalize_email(text);
        return fault == FieldCode::Required ? FieldCode::TooShort : fault;
    }
    if (parameter.kind == Kind::Timestamp) {
        const auto when = Timestamp::parse_since(text);
        if (!when) return FieldCode::InvalidTimestamp;
        text = when->text();
        return std::nullopt;
    }
    if (parameter.kind == Kind::Uuid) {
        const auto id = Uuid::parse(text);
        if (!id) return FieldCode::InvalidUuid;
        text = id->text();
        return std::nullopt;
    }
    const bool is_short = utf8_length(text) < static_cast<std::size_t>(parameter.least);
    return is_short ? std::optional(FieldCode::TooShort) : std::nullopt;
}

FieldLimits limits_of(const QueryParameter& parameter, FieldCode fault) {
    FieldLimits limits;
    if (fault == FieldCode::TooShort) limits.min_length = parameter.least;
    if (fault != FieldCode::InvalidChoice) return limits;
    for (std::size_t i = 0; !parameter.choice(i).empty(); ++i) {
        limits.allowed.emplace_back(parameter.choice(i));
    }
    return limits;
}

void add_errors_of_access(Access access, std::set<ErrorCode>& to) {
    if (access == Access::Open) return;
    to.insert(ErrorCode::Unauthorized);
    if (is_publishable(access) || access == Access::Console) to.insert(ErrorCode::OriginNotAllowed);
    if (is_publishable(access)) {
        to.insert(ErrorCode::Forbidden);  // a key of another kind
        return;
    }
    // X-Expect-Organization may be malformed or name another organization.
    to.insert({ErrorCode::BadRequest, ErrorCode::Conflict});
    if (access != Access::Session && access != Access::Module) {
        to.insert(ErrorCode::TwoFactorRequired);
    }
    // A credential of another kind, or a seat that has too low a role or was removed.
    to.insert(ErrorCode::Forbidden);
}

// The length comes first, so that a value cannot imitate the following filters.
void add_to_scope(std::string& scope, std::string_view name, std::string_view value) {
    scope.append("|").append(name).append("=");
    scope.append(std::to_string(value.size())).append(":").append(value);
}

bool names_a_record(std::string_view path) {
    const auto segments = split(path, '/');
    return std::any_of(segments.begin(), segments.end(), is_id_parameter);
}

// Errors of the pipeline itself: an unknown path id, an unknown parameter or field, an unreadable
// body, a used Idempotency-Key.
void add_errors_of_request(const Endpoint& endpoint, std::set<ErrorCode>& to) {
    const bool ignores_query =
        endpoint.access == Access::Open && endpoint.method == http::Method::Get;
    if (!ignores_query) to.insert(ErrorCode::ValidationError);
    if (names_a_record(endpoint.path)) to.insert(ErrorCode::NotFound);
    if (endpoint.body_limit > 0) {
        to.insert(
            {ErrorCode::BadRequest, ErrorCode::PayloadTooLarge, ErrorCode::UnsupportedMediaType});
    }
    if (endpoint.idempotency == IdempotencyKey::Ignored) return;
    to.insert(
        {ErrorCode::BadRequest, ErrorCode::IdempotencyConflict, ErrorCode::IdempotencyInProgress});
    if (endpoint.idempotency == IdempotencyKey::Required) {
        to.insert(ErrorCode::IdempotencyKeyRequired);
    }
}

// The ETag of a record, from its JSON.
std::string version_tag_of(std::string_view record) {
    Json::Value value;
    if (!parse_json(record, value)) throw std::logic_error("a reply is not JSON");
    return http::version_tag(value["updated_at"].asString());
}

}  // namespace

std::string_view text_of(Access access) {
    switch (access) {
        case Access::Open:
            return "open";
        case Access::Session:
            return "session";
        case Access::VerifiedSession:
            return "verified-session";
        case Access::Admin:
            return "admin";
        case Access::OrganizationOrAdmin:
            return "organization-or-admin";
        case Access::Module:
            return "module";
        case Access::Console:
            return "console";
        case Access::TrackingKey:
            return "tracking-key";
        case Access::ContentKey:
            return "content-key";
    }
    return "";
}

std::vector<ErrorCode> errors_of(const Endpoint& endpoint) {
    std::set<ErrorCode> errors(endpoint.errors.begin(), endpoint.errors.end());
    add_errors_of_access(endpoint.access, errors);
    if (needs_recent_factor(endpoint)) errors.insert(ErrorCode::TwoFactorTooOld);
    if (endpoint.takes_if_match) errors.insert(ErrorCode::PreconditionFailed);
    add_errors_of_request(endpoint, errors);
    return {errors.begin(), errors.end()};
}

std::optional<std::string> QueryValues::text(std::string_view name) const {
    const auto found = texts_.find(name);
    return found == texts_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> QueryValues::list(std::string_view name) const {
    const auto found = text(name);
    if (!found) return {};
    const auto parts = split(*found, ',');
    return {parts.begin(), parts.end()};
}

int QueryValues::integer(std::string_view name) const {
    return integers_.find(name)->second;
}

std::optional<Timestamp> QueryValues::timestamp(std::string_view name) const {
    const auto found = text(name);
    return found ? Timestamp::parse(*found) : std::nullopt;
}

std::map<std::string, std::string> QueryValues::map(std::string_view name) const {
    const auto found = maps_.find(name);
    return found == maps_.end() ? std::map<std::string, std::string>() : found->second;
}

QueryValues decode_query(const Endpoint& endpoint, std::string_view query) {
    Faults faults;
    http::Query in(query, faults);
    QueryValues values;
    // The key itself was validated before.
    if (is_publishable(endpoint.access)) in.text("key", kLongestText);
    for (const QueryParameter& parameter : endpoint.query) {
        const std::string name(parameter.name);
        if (parameter.kind == Kind::Integer) {
            values.integers_[name] =
                in.integer(name, parameter.fallback, parameter.least, parameter.most);
        } else if (parameter.kind == Kind::Map) {
            values.maps_[name] = in.all_of(name + ".", kLongestText);
        } else if (parameter.kind == Kind::Flag) {
            values.integers_[name] = in.flag(name) ? 1 : 0;
        } else {
            auto text =
                in.text(name, parameter.kind == Kind::Cursor ? kLongestCursor : kLongestText);
            if (!text) continue;
            const bool is_exact = parameter.choice || parameter.is_prefix;
            if (parameter.kind == Kind::Text && !is_exact) trim(*text);
            if (parameter.is_prefix || parameter.is_composed) compose(*text);
            if (const auto fault = text_fault(parameter, *text)) {
                faults.add(name, *fault, limits_of(parameter, *fault));
            }
            values.texts_[name] = std::move(*text);
        }
    }
    in.finish();
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
    return values;
}

const service::Actor& Call::actor() const {
    return caller.actor;
}

const OrgId& Call::org() const {
    return caller.actor.organization;
}

std::optional<rules::Role> Call::role() const {
    return service::role_of(caller);
}

const rules::Session& Call::session() const {
    return *caller.session;
}

const rules::Member& Call::loaded_member() const {
    if (!member) throw Error(ErrorCode::NotFound);
    return *member;
}

service::StoredReply Call::transact(
    const std::function<service::StoredReply(service::OrgTransaction&)>& work) const {
    return service::transact(context, caller.actor, claim, work);
}

http::Reply reply_of(service::StoredReply stored) {
    http::Reply reply = json_reply(stored.status, std::move(stored.body));
    if (!stored.location.empty()) reply.headers.emplace_back("Location", stored.location);
    if (stored.replayed) reply.headers.emplace_back("Idempotency-Replayed", "true");
    return reply;
}

std::string etag_of(const Endpoint& row, std::string_view body) {
    if (!row.reply.has_etag) return "";
    if (row.reply.has_version_tag) return version_tag_of(body);
    const auto tagged = row.handler.shape.tagged;
    return tagged ? http::etag_of(tagged(body)) : http::etag_of(body);
}

std::string Call::cursor_scope() const {
    std::string scope = std::string(endpoint.operation) + "|" + org().text();
    for (const std::string_view parameter : parameters) scope.append("|").append(parameter);
    for (const QueryParameter& parameter : endpoint.query) {
        for (const auto& [key, value] : query.map(parameter.name)) {
            std::string entry = key;
            add_to_scope(scope, parameter.name, entry.append("=").append(value));
        }
        const bool is_filter = parameter.kind == Kind::Text || parameter.kind == Kind::Email ||
                               parameter.kind == Kind::Timestamp || parameter.kind == Kind::Uuid;
        if (!is_filter) continue;
        add_to_scope(scope, parameter.name, query.text(parameter.name).value_or(""));
    }
    return scope;
}

std::string Call::seal_cursor(std::string_view position) const {
    return worker.cursors.seal(cursor_scope(), position);
}

std::optional<std::string> Call::cursor_position() const {
    const auto cursor = query.text("cursor");
    if (!cursor) return std::nullopt;
    auto position = worker.cursors.open(cursor_scope(), *cursor);
    if (!position) {
        Faults faults;
        faults.add("cursor", FieldCode::InvalidCursor);
        throw Error(ErrorCode::ValidationError).fields(faults);
    }
    return position;
}

http::Reply no_content() {
    http::Reply reply;
    reply.status = 204;
    return reply;
}

http::Reply json_reply(int status, std::string body) {
    http::Reply reply;
    reply.status = status;
    reply.body = std::move(body);
    return reply;
}

}  // namespace muster::api
