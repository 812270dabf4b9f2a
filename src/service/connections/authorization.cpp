#include "service/connections/authorization.hpp"

#include "base/crypto.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "db/transaction.hpp"
#include "rules/access/roles.hpp"
#include "rules/connections/oauth.hpp"
#include "rules/seal_names.hpp"
#include "service/access/sessions.hpp"
#include "service/audit.hpp"
#include "service/connections/catalogue.hpp"
#include "service/connections/provider_client.hpp"
#include "store/access/admins.hpp"
#include "store/connections/authorizations.hpp"
#include "store/connections/connections.hpp"

#include <algorithm>
#include <array>

namespace muster::service {
namespace {

using rules::ConnectionStatus;
using rules::HostSource;
using rules::Provider;
using rules::ProviderConnection;
using store::Authorization;
using Outcome = CallbackResult::Outcome;
using Reason = CallbackResult::Reason;

constexpr std::string_view kCookiePurpose = "connect cookie";

// ---------------------------------------------------------------------------- the start

[[noreturn]] void reject_field(const std::string& path) {
    Faults faults;
    faults.add(path, FieldCode::InvalidValue);
    throw Error(ErrorCode::ValidationError).fields(faults);
}

ProviderConnection add_connection(OrgTransaction& transaction, const ConnectRequest& request) {
    db::OrgStore org(transaction.tx, transaction.org());
    if (store::lock_and_count_connections(org) >= rules::kMostConnections) {
        throw Error(ErrorCode::InvalidState)
            .detail("reason", "an organization has at most " +
                                  std::to_string(rules::kMostConnections) +
                                  " connections; delete one first");
    }
    ProviderConnection connection;
    connection.organization_id = transaction.org();
    connection.id = ConnectionId::create();
    connection.provider = request.provider->id;
    connection.name = request.name.value_or(std::string(request.provider->name));
    connection.host = request.host.value_or("");
    connection.created_by = transaction.actor.admin;
    connection.created_at = connection.updated_at = transaction.now;
    store::insert_connection(org, connection);
    return connection;
}

// Tokens are valid only for the host that issued them.
void set_host(ProviderConnection& connection, const ConnectRequest& request) {
    if (!request.host || *request.host == connection.host) return;
    if (connection.token_generation > 0) {
        reject_field("settings." + std::string(request.provider->host.setting));
    }
    connection.host = *request.host;
}

ProviderConnection renew_connection(OrgTransaction& transaction, const ConnectRequest& request,
                                    ProviderConnection connection) {
    db::OrgStore org(transaction.tx, transaction.org());
    set_host(connection, request);
    connection.name = request.name.value_or(connection.name);
    connection.updated_at = transaction.now;
    store::rename_connection(org, connection);
    if (connection.token_generation == 0) {
        connection.status = ConnectionStatus::Pending;
        connection.error = std::nullopt;
        store::set_connection_status(org, connection);
    }
    return connection;
}

// The connection to authorize again; nullopt to create a new one.
std::optional<ProviderConnection> named_connection(OrgTransaction& transaction,
                                                   const ConnectRequest& request) {
    if (!request.connection) return std::nullopt;
    db::OrgStore org(transaction.tx, transaction.org());
    auto connection = store::lock_connection(org, *request.connection);
    if (!connection) throw Error(ErrorCode::NotFound);
    if (connection->provider != request.provider->id) reject_field("provider");
    return connection;
}

// ---------------------------------------------------------------------------- the callback

// A callback request and the state of its authorization.
struct Callback {
    const Authorization& authorization;
    const ProviderConnection& connection;
    const Provider* provider;
    std::optional<rules::OAuthClient> client;  // nullopt: the provider is not set up
    const CallbackRequest& request;
    Timestamp now;

    std::string name() const { return std::string(provider ? provider->name : "the provider"); }
};

// Why the callback is rejected, and the message for the admin (never empty).
struct Rejection {
    Reason reason = Reason::None;
    std::string text;
    Outcome outcome = Outcome::Failed;
};
using CheckResult = std::optional<Rejection>;

CheckResult check_age(const Callback& callback) {
    if (callback.now < callback.authorization.expires_at) return std::nullopt;
    return Rejection{Reason::Expired, overdue_text(callback.provider)};
}

CheckResult check_browser(const Callback& callback, const KeyRing& keys) {
    bool is_same = false;
    for (const Secret& key : keys.derive_all(kCookiePurpose)) {
        const std::string expected =
            to_hex(hmac_sha256(key.reveal(), callback.authorization.session_id.bytes()));
        is_same = equal_in_constant_time(callback.request.proof, expected) || is_same;
    }
    if (is_same) return std::nullopt;
    return Rejection{Reason::Browser, "A different browser returned from " + callback.name() +
                                          ". Connect it again in one browser."};
}

CheckResult check_session(const Callback& callback, const std::optional<rules::Session>& session) {
    if (session && session->verified_at) return std::nullopt;
    return Rejection{Reason::Session, "The session ended before the return from " +
                                          callback.name() + ". Sign in and connect it again."};
}

CheckResult check_role(const Callback& callback, const std::vector<rules::Seat>& seats) {
    const bool is_permitted = std::any_of(seats.begin(), seats.end(), [&](const rules::Seat& seat) {
        return seat.organization_id == callback.connection.organization_id &&
               seat.role >= rules::Role::Admin;
    });
    if (is_permitted) return std::nullopt;
    return Rejection{Reason::Role, "The admin who started to connect " + callback.name() +
                                       " no longer has permission. Connect it again."};
}

CheckResult check_configuration(const Callback& callback) {
    if (callback.client) return std::nullopt;
    return Rejection{Reason::Configuration,
                     callback.name() + " is no longer set up in this installation."};
}

CheckResult check_issuer(const Callback& callback) {
    const auto& issuer = callback.request.issuer;
    if (!issuer || *issuer == callback.client->issuer) return std::nullopt;
    return Rejection{Reason::Issuer,
                     "The answer did not come from " + callback.name() + ". Connect it again."};
}

// The standard's code, and two codes of LinkedIn.
bool is_denial(std::string_view error) {
    constexpr std::array<std::string_view, 3> kDenials = {"access_denied", "user_cancelled_login",
                                                          "user_cancelled_authorize"};
    return std::find(kDenials.begin(), kDenials.end(), error) != kDenials.end();
}

Rejection unreadable(const Callback& callback) {
    return {Reason::Request,
            callback.name() + " sent an answer that cannot be read. Connect it again."};
}

CheckResult check_answer(const Callback& callback) {
    const CallbackRequest& request = callback.request;
    if (!request.is_readable) return unreadable(callback);
    if (request.error && is_denial(*request.error)) {
        return Rejection{Reason::None, "Access was denied at " + callback.name() + ".",
                         Outcome::Denied};
    }
    if (request.error) {
        std::string code = rules::known_error_code(*callback.provider, *request.error);
        if (!code.empty()) code = " (" + code + ")";
        return Rejection{Reason::Provider, callback.name() + " answered with an error" + code +
                                               ". Connect it again."};
    }
    const bool has_code = request.code && !request.code->empty();
    if (!has_code || request.code->size() > kLongestAuthorizationCode) return unreadable(callback);
    return std::nullopt;
}

// The first failing check. The identity of the caller is checked before the content of the answer.
CheckResult check_callback(const Context& context, db::Tx& tx, const Callback& callback,
                           const std::optional<rules::Session>& session) {
    if (auto rejection = check_age(callback)) return rejection;
    if (auto rejection = check_browser(callback, context.keys)) return rejection;
    if (auto rejection = check_session(callback, session)) return rejection;
    if (auto rejection = check_role(callback, store::find_seats(tx, session->admin_id))) {
        return rejection;
    }
    if (auto rejection = check_configuration(callback)) return rejection;
    if (auto rejection = check_issuer(callback)) return rejection;
    return check_answer(callback);
}

std::map<std::string, std::string> kept_fields(const Callback& callback) {
    std::map<std::string, std::string> kept;
    for (const auto& [name, value] : callback.request.fields) {
        const auto& names = callback.provider->callback_fields;
        const bool is_kept = std::find(names.begin(), names.end(), name) != names.end();
        if (is_kept && !value.empty() && rules::is_kept_detail(value)) kept.emplace(name, value);
    }
    return kept;
}

Secret open_verifier(const Context& context, const Authorization& authorization) {
    auto verifier = context.keys.open(
        authorization.verifier,
        rules::authorization_seal_name(authorization.organization_id, authorization.connection_id));
    // During a key rotation, another worker may have the right key.
    if (!verifier) {
        throw Error(ErrorCode::ServiceUnavailable)
            .retry_after(1)
            .internal("the verifier of connection " + authorization.connection_id.text() +
                      " cannot be decrypted");
    }
    return std::move(*verifier);
}

CodeGrant grant_of(const Context& context, const Callback& callback) {
    const Authorization& authorization = callback.authorization;
    return {callback.connection,
            *callback.client,
            *callback.request.code,
            {authorization.redirect_uri, callback.request.state,
             open_verifier(context, authorization).reveal()},
            kept_fields(callback)};
}

// Sets the status. A connection that has or had tokens keeps its status.
void set_unconnected_status(db::OrgStore& org, ProviderConnection& connection,
                            ConnectionStatus status, const std::optional<std::string>& error,
                            Timestamp now) {
    if (connection.token_generation > 0) return;
    connection.status = status;
    connection.error = error;
    connection.updated_at = now;
    store::set_connection_status(org, connection);
}

// The result of the callback's transaction.
struct Decision {
    CallbackResult result;
    std::optional<CodeGrant> grant = std::nullopt;  // to exchange for tokens
    Actor actor = {};
};

Decision failed_for(Reason reason) {
    return {.result = {.outcome = Outcome::Failed, .reason = reason, .connection = std::nullopt}};
}

Decision refuse(db::OrgStore& org, ProviderConnection& connection, const Rejection& rejection,
                Timestamp now) {
    set_unconnected_status(org, connection, ConnectionStatus::Error, rejection.text, now);
    Decision decision{.result = {rejection.outcome, rejection.reason, connection.id}};
    // A different browser must not learn which connection it was.
    if (rejection.reason == Reason::Browser) decision.result.connection.reset();
    return decision;
}

Decision process_callback(Context& context, db::Tx& tx, const CallbackRequest& request,
                          const TryAcquire& try_acquire) {
    const std::string state_hash = sha256(request.state);
    const auto found = store::find_authorization(tx, state_hash);
    if (!found) return failed_for(Reason::State);
    db::OrgStore org(tx, found->organization_id);
    auto connection = store::lock_connection(org, found->connection_id);
    if (!store::consume_authorization(tx, state_hash)) return failed_for(Reason::State);
    if (!connection) return failed_for(Reason::Removed);
    const Timestamp now = Timestamp::now();
    const Callback callback{
        *found,
        *connection,
        rules::find_provider(connection->provider),
        client_of(context.settings.providers, connection->provider, connection->host),
        request,
        now};
    const auto session = find_active_session(tx, found->session_id, now);
    if (const auto rejection = check_callback(context, tx, callback, session)) {
        return refuse(org, *connection, *rejection, now);
    }
    CodeGrant grant = grant_of(context, callback);
    if (!try_acquire(*callback.provider)) throw Error(ErrorCode::ServiceUnavailable).retry_after(2);
    // Only updated_at changes: kExchangeLife counts from it, and note_failed_exchange() recognizes
    // a newer authorization by it.
    set_unconnected_status(org, grant.connection, connection->status, connection->error, now);
    return {{Outcome::Connected, Reason::None, connection->id},
            std::move(grant),
            {found->organization_id, session->admin_id, {}, request.request_id}};
}

Reason reason_of(const rules::TokenFailure& failure) {
    using Kind = rules::TokenFailure::Kind;
    if (failure.kind == Kind::Misconfigured) return Reason::Configuration;
    return failure.kind == Kind::Unavailable ? Reason::Unavailable : Reason::Refused;
}

}  // namespace

void validate_settings(ConnectRequest& request, Faults& faults) {
    const rules::HostRule& rule = request.provider->host;
    const bool takes_host = rule.source == HostSource::Settings;
    for (const auto& [key, value] : request.settings) {
        const std::string path = "settings." + key;
        if (!takes_host || key != rule.setting) {
            faults.add(path, FieldCode::UnknownField);
        } else if (!faults.contains(path)) {
            request.host = rules::settings_host(rule, value);
            if (!request.host) faults.add(path, FieldCode::InvalidValue);
        }
    }
    if (!takes_host || request.connection) return;
    const std::string path = "settings." + std::string(rule.setting);
    if (!request.host && !faults.contains(path)) faults.add(path, FieldCode::Required);
}

ConnectLink begin_authorization(OrgTransaction& transaction, const Context& context,
                                const ConnectRequest& request, SessionId session) {
    auto named = named_connection(transaction, request);
    require_ready(*request.provider, context.settings.providers);
    const ProviderConnection connection =
        named ? renew_connection(transaction, request, std::move(*named))
              : add_connection(transaction, request);
    const rules::AuthorizationRequest authorization{callback_url(context.settings),
                                                    create_random_text().reveal(),
                                                    create_random_text().reveal()};
    db::OrgStore org(transaction.tx, transaction.org());
    store::replace_authorization(
        org, {transaction.org(), connection.id, sha256(authorization.state), session,
              context.keys.seal(authorization.verifier,
                                rules::authorization_seal_name(transaction.org(), connection.id)),
              authorization.redirect_uri, transaction.now + rules::kAuthorizationLife});
    audit(transaction, "connection.requested", connection.id.text(),
          {{"provider", connection.provider}});
    const auto client =
        rules::oauth_client(*request.provider, context.settings.providers, connection.host);
    return {connection.id, rules::authorization_url(client, authorization)};
}

std::string connect_proof(const KeyRing& keys, SessionId session) {
    return to_hex(hmac_sha256(keys.derive(kCookiePurpose).reveal(), session.bytes()));
}

CallbackResult complete_authorization(Context& context, const CallbackRequest& request,
                                      const TryAcquire& try_acquire) {
    const Decision decision = context.database.transaction(
        [&](db::Tx& tx) { return process_callback(context, tx, request, try_acquire); });
    if (!decision.grant) return decision.result;
    try {
        const auto failure = exchange_code(context, decision.actor, *decision.grant);
        if (!failure) return decision.result;
        return {Outcome::Failed, reason_of(*failure), decision.result.connection};
    } catch (const Error& error) {
        if (error.code() != ErrorCode::NotFound) throw;
        return failed_for(Reason::Removed).result;
    }
}

}  // namespace muster::service
