#include "service/connections/authorization.hpp"

#include "base/crypto.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "db/transaction.hpp"
#include "rules/connections/oauth.hpp"
#include "rules/seal_names.hpp"
#include "service/access/sessions.hpp"
#include "service/audit.hpp"
#include "service/connections/catalogue.hpp"
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
using Reason = Return::Reason;
using Result = Return::Result;

constexpr std::string_view kCookiePurpose = "connect cookie";
constexpr std::size_t kLongestCode = 4096;

// ---------------------------------------------------------------------------- setting out

[[noreturn]] void refuse_field(const std::string& path) {
    Faults faults;
    faults.add(path, FieldCode::InvalidValue);
    throw Error(ErrorCode::ValidationError).fields(faults);
}

ProviderConnection add_connection(OrgTransaction& transaction, const ConnectRequest& request) {
    db::OrgStore org(transaction.tx, transaction.org());
    if (store::count_connections_for_adding(org) >= rules::kMostConnections) {
        throw Error(ErrorCode::InvalidState)
            .detail("reason", "an organization has at most " +
                                  std::to_string(rules::kMostConnections) + " connections");
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

// Tokens are for the host that gave them.
void take_host(ProviderConnection& connection, const ConnectRequest& request) {
    if (!request.host || *request.host == connection.host) return;
    if (connection.token_generation > 0) {
        refuse_field("settings." + std::string(request.provider->host.setting));
    }
    connection.host = *request.host;
}

ProviderConnection renew_connection(OrgTransaction& transaction, const ConnectRequest& request,
                                    ProviderConnection connection) {
    db::OrgStore org(transaction.tx, transaction.org());
    take_host(connection, request);
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

// The connection that is to be authorized anew; nullopt where a new one is wanted.
std::optional<ProviderConnection> named_connection(OrgTransaction& transaction,
                                                   const ConnectRequest& request) {
    if (!request.connection) return std::nullopt;
    db::OrgStore org(transaction.tx, transaction.org());
    auto connection = store::lock_connection(org, *request.connection);
    if (!connection) throw Error(ErrorCode::NotFound);
    if (connection->provider != request.provider->id) refuse_field("provider");
    return connection;
}

// ---------------------------------------------------------------------------- coming back

// Somebody who came back, with all that is known of the way.
struct Traveller {
    const Authorization& authorization;
    const ProviderConnection& connection;
    const Provider* provider;
    const Arrival& arrival;
    Timestamp now;

    std::string name() const { return std::string(provider ? provider->name : "the provider"); }
};

// Why nothing comes of it, and what an admin is told; a text always.
struct Refusal {
    Reason reason = Reason::None;
    std::string text;
    Result result = Result::Failed;
};
using Judgement = std::optional<Refusal>;

Judgement check_age(const Traveller& traveller) {
    if (traveller.now < traveller.authorization.expires_at) return std::nullopt;
    return Refusal{Reason::Expired, overdue_text(traveller.provider)};
}

Judgement check_browser(const Traveller& traveller, const KeyRing& keys) {
    bool is_same = false;
    for (const Secret& key : keys.derive_all(kCookiePurpose)) {
        const std::string wanted =
            to_hex(hmac_sha256(key.reveal(), traveller.authorization.session_id.bytes()));
        is_same = equal_in_constant_time(traveller.arrival.proof, wanted) || is_same;
    }
    if (is_same) return std::nullopt;
    return Refusal{Reason::Browser, "Another browser came back from " + traveller.name() +
                                        " than the one that set out. Connect it again."};
}

Judgement check_session(const Traveller& traveller, const std::optional<rules::Session>& session) {
    if (session && session->verified_at) return std::nullopt;
    return Refusal{Reason::Session, "The session ended on the way to " + traveller.name() +
                                        ". Sign in and connect it again."};
}

Judgement check_role(const Traveller& traveller, const std::vector<rules::Seat>& seats) {
    const bool may = std::any_of(seats.begin(), seats.end(), [&](const rules::Seat& seat) {
        return seat.organization_id == traveller.connection.organization_id &&
               seat.role >= rules::Role::Admin;
    });
    if (may) return std::nullopt;
    return Refusal{Reason::Role, "Whoever set out to " + traveller.name() +
                                     " may not connect it any more. Connect it again."};
}

Judgement check_configuration(const Traveller& traveller, const Settings& settings) {
    if (traveller.provider &&
        rules::unready_reason(*traveller.provider, settings.providers).empty()) {
        return std::nullopt;
    }
    return Refusal{Reason::Configuration,
                   "This installation is not set up for " + traveller.name() + " any more."};
}

Judgement check_issuer(const Traveller& traveller, const rules::OAuthClient& client) {
    const auto& issuer = traveller.arrival.issuer;
    if (!issuer || *issuer == client.issuer) return std::nullopt;
    return Refusal{Reason::Issuer,
                   "Another server than " + traveller.name() + "'s answered. Connect it again."};
}

// Beside the standard's word, what LinkedIn says.
bool is_denial(std::string_view error) {
    constexpr std::array<std::string_view, 3> kDenials = {"access_denied", "user_cancelled_login",
                                                          "user_cancelled_authorize"};
    return std::find(kDenials.begin(), kDenials.end(), error) != kDenials.end();
}

Refusal unreadable(const Traveller& traveller) {
    return {Reason::Request,
            traveller.name() + " answered something that cannot be read. Connect it again."};
}

Judgement check_answer(const Traveller& traveller) {
    const Arrival& arrival = traveller.arrival;
    if (!arrival.is_readable) return unreadable(traveller);
    if (arrival.error && is_denial(*arrival.error)) {
        return Refusal{Reason::None, "Access was denied at " + traveller.name() + ".",
                       Result::Denied};
    }
    if (arrival.error) {
        std::string code = rules::plain_error_code(*arrival.error);
        if (!code.empty()) code = " (" + code + ")";
        return Refusal{Reason::Provider,
                       traveller.name() + " answered with an error" + code + ". Connect it again."};
    }
    const bool has_code = arrival.code && !arrival.code->empty();
    if (!has_code || arrival.code->size() > kLongestCode) return unreadable(traveller);
    return std::nullopt;
}

// The first thing that is wrong, in the order of the design: who comes back counts before what they
// bring.
Judgement judge(const Context& context, db::Tx& tx, const Traveller& traveller,
                const std::optional<rules::Session>& session) {
    if (auto refusal = check_age(traveller)) return refusal;
    if (auto refusal = check_browser(traveller, context.keys)) return refusal;
    if (auto refusal = check_session(traveller, session)) return refusal;
    if (auto refusal = check_role(traveller, store::find_seats(tx, session->admin_id))) {
        return refusal;
    }
    if (auto refusal = check_configuration(traveller, context.settings)) return refusal;
    const auto client = rules::oauth_client(*traveller.provider, context.settings.providers,
                                            traveller.connection.host);
    if (auto refusal = check_issuer(traveller, client)) return refusal;
    return check_answer(traveller);
}

std::map<std::string, std::string> kept_fields(const Traveller& traveller) {
    std::map<std::string, std::string> kept;
    for (const auto& [name, value] : traveller.arrival.fields) {
        const auto& names = traveller.provider->callback_fields;
        const bool is_wanted = std::find(names.begin(), names.end(), name) != names.end();
        if (is_wanted && !value.empty() && rules::is_kept_detail(value)) kept.emplace(name, value);
    }
    return kept;
}

Secret open_verifier(const Context& context, const Authorization& authorization) {
    auto verifier = context.keys.open(
        authorization.verifier,
        rules::authorization_seal_name(authorization.organization_id, authorization.connection_id));
    // While a key is rotated another worker may have the right one.
    if (!verifier) {
        throw Error(ErrorCode::ServiceUnavailable)
            .retry_after(1)
            .internal("the verifier of connection " + authorization.connection_id.text() +
                      " does not open");
    }
    return std::move(*verifier);
}

CodeGrant grant_of(const Context& context, const Traveller& traveller) {
    const Authorization& authorization = traveller.authorization;
    return {traveller.connection.id,
            *traveller.arrival.code,
            {authorization.redirect_uri, traveller.arrival.state,
             open_verifier(context, authorization).reveal()},
            kept_fields(traveller)};
}

// One that has tokens, or had some, stands as they do.
void note(db::OrgStore& org, ProviderConnection connection, ConnectionStatus status,
          const std::optional<std::string>& error, Timestamp now) {
    if (connection.token_generation > 0) return;
    connection.status = status;
    connection.error = error;
    connection.updated_at = now;
    store::set_connection_status(org, connection);
}

// What a transaction found out about somebody who came back.
struct Reception {
    Return where;
    std::optional<CodeGrant> grant;  // to be exchanged
    Actor actor = {};
};

Reception receive(Context& context, db::Tx& tx, const Arrival& arrival,
                  const TryAcquire& may_wait) {
    const std::string state_hash = sha256(arrival.state);
    const auto found = store::find_authorization(tx, state_hash);
    if (!found) return {{Result::Failed, Reason::State, std::nullopt}, std::nullopt};
    db::OrgStore org(tx, found->organization_id);
    const auto connection = store::lock_connection(org, found->connection_id);
    if (!store::spend_authorization(tx, state_hash))
        return {{Result::Failed, Reason::State, std::nullopt}, std::nullopt};
    if (!connection) return {{Result::Failed, Reason::Removed, std::nullopt}, std::nullopt};
    const Timestamp now = Timestamp::now();
    const Traveller traveller{*found, *connection, rules::find_provider(connection->provider),
                              arrival, now};
    const auto session = live_session(tx, found->session_id, now);
    if (const auto refusal = judge(context, tx, traveller, session)) {
        note(org, *connection, ConnectionStatus::Error, refusal->text, now);
        const bool is_stranger = refusal->reason == Reason::Browser;
        return {{refusal->result, refusal->reason,
                 is_stranger ? std::nullopt : std::optional(connection->id)},
                std::nullopt};
    }
    CodeGrant grant = grant_of(context, traveller);
    if (!may_wait(*traveller.provider)) throw Error(ErrorCode::ServiceUnavailable).retry_after(2);
    // It is pending for as long as the exchange takes, and this is when that began.
    note(org, *connection, connection->status, connection->error, now);
    return {{Result::Connected, Reason::None, connection->id},
            std::move(grant),
            {found->organization_id, session->admin_id, {}, arrival.request_id}};
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
        } else if (!faults.names(path)) {
            request.host = rules::settings_host(rule, value);
            if (!request.host) faults.add(path, FieldCode::InvalidValue);
        }
    }
    if (!takes_host || request.connection) return;
    const std::string path = "settings." + std::string(rule.setting);
    if (!request.host && !faults.names(path)) faults.add(path, FieldCode::Required);
}

Departure set_out(OrgTransaction& transaction, const Context& context,
                  const ConnectRequest& request, SessionId session) {
    auto named = named_connection(transaction, request);
    require_ready(*request.provider, context.settings.providers);
    const ProviderConnection connection =
        named ? renew_connection(transaction, request, std::move(*named))
              : add_connection(transaction, request);
    const rules::AuthorizationRequest authorization{
        context.settings.console.origin + "/v1/external-data/callback",
        create_signing_secret("").reveal(), create_signing_secret("").reveal()};
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

std::string_view text_of(Return::Result result) {
    constexpr std::array<std::string_view, 3> kTexts = {"connected", "denied", "failed"};
    return kTexts[static_cast<std::size_t>(result)];
}

std::string_view text_of(Return::Reason reason) {
    constexpr std::array<std::string_view, 13> kTexts = {
        "",     "request", "state",    "expired", "removed",       "browser",    "session",
        "role", "issuer",  "provider", "refused", "configuration", "unavailable"};
    return kTexts[static_cast<std::size_t>(reason)];
}

Return come_back(Context& context, const Arrival& arrival, const TryAcquire& may_wait) {
    Reception reception = context.database.transaction(
        [&](db::Tx& tx) { return receive(context, tx, arrival, may_wait); });
    if (!reception.grant) return reception.where;
    try {
        const auto failure = exchange_code(context, reception.actor, *reception.grant);
        if (failure) {
            reception.where.result = Result::Failed;
            reception.where.reason = reason_of(*failure);
        }
    } catch (const Error& error) {
        if (error.code() != ErrorCode::NotFound) throw;
        reception.where = {Result::Failed, Reason::Removed, std::nullopt};
    }
    return reception.where;
}

}  // namespace muster::service
