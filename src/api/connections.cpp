// Serves /v1/external-data/…: providers of external data, an organization's connections to them,
// and the OAuth authorization with its callback (specification 4.4, docs/external-data.md).
#include "api/groups.hpp"
#include "api/worker_state.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "http/query.hpp"
#include "rules/access/admins.hpp"
#include "rules/access/roles.hpp"
#include "rules/access/session.hpp"
#include "rules/connections/connection.hpp"
#include "service/connections/authorization.hpp"
#include "service/connections/catalogue.hpp"
#include "service/connections/tokens.hpp"

#include <algorithm>

namespace muster::api {
namespace {

using http::Method;
using http::Reply;
using rules::ProviderConnection;
using service::ConnectRequest;
using service::OrgTransaction;

// ---------------------------------------------------------------------------- bodies

std::vector<std::string> provider_ids() {
    std::vector<std::string> ids;
    for (const rules::Provider& provider : rules::providers()) ids.emplace_back(provider.id);
    return ids;
}

Json::Value provider_schema() {
    Json::Value schema = JsonType<std::string>::typed("string");
    for (const std::string& id : provider_ids()) schema["enum"].append(id);
    return schema;
}

struct ProviderId {
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                const rules::Provider*& out) const {
        const auto id = to.string(in, path);
        if (!id) return;
        out = rules::find_provider(*id);
        if (!out) to.fault(path, FieldCode::InvalidChoice, {.allowed = provider_ids()});
    }
    Json::Value schema() const { return provider_schema(); }
};

// Texts by name. service::validate_settings() checks the names for the provider.
struct ProviderSettings {
    static constexpr std::size_t kMost = 8;
    static constexpr json::Text kText{1, 255};

    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                std::map<std::string, std::string, std::less<>>& out) const {
        const auto object = to.object(in, path);
        if (!object) return;
        if (object->size() > kMost) return to.fault(path, FieldCode::TooLong, longest(kMost));
        for (const auto& [key, value] : *object) {
            kText.decode(value, json::Path(path, key), to, out[std::string(key)]);
        }
    }
    Json::Value schema() const {
        Json::Value schema = JsonType<std::string>::typed("object");
        schema["additionalProperties"] = kText.schema();
        schema["maxProperties"] = Json::UInt64(kMost);
        return schema;
    }
};

constexpr auto kConnectFields = json::object<ConnectRequest>(
    json::required("provider", &ConnectRequest::provider, ProviderId{}, "Provider to connect."),
    json::optional(
        "name", &ConnectRequest::name, json::Text{1, 255},
        "Name for the list. If omitted, not changed; a new connection gets the provider's name.",
        "Main shop"),
    json::optional(
        "settings", &ConnectRequest::settings, ProviderSettings{},
        "Settings of the provider, as texts by name. Shopify requires shop; other providers take "
        "none.",
        R"({"shop": "acme"})"),
    json::optional("connection_id", &ConnectRequest::connection, json::Uuid<ConnectionId>{},
                   "Id of the connection to authorize again. If omitted: a new connection."));

// The fields, with the settings validated for the provider.
struct ConnectBody {
    using Value = ConnectRequest;

    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                ConnectRequest& out) const {
        kConnectFields.decode(in, path, to, out);
        if (out.provider) service::validate_settings(out, to.faults);
    }
    Json::Value schema() const { return kConnectFields.schema(); }
};
constexpr ConnectBody kConnect;

// ---------------------------------------------------------------------------- replies

constexpr auto kCatalogEntry = record<service::CatalogEntry>(
    "CatalogEntry",
    field<&service::CatalogEntry::provider>("provider", "Id of the provider.").of(provider_schema),
    field<&service::CatalogEntry::name>("name", "Name of the provider.", "GitHub"),
    field<&service::CatalogEntry::description>("description", "What a connection can read.",
                                               "Reads your profile and organizations."),
    field<&service::CatalogEntry::ready>("ready", "Whether the operator has set the provider up."),
    field<&service::CatalogEntry::reason>("reason",
                                          "Setup that is missing; empty if the provider is ready.",
                                          "The operator has not set this provider up."));

// The only reply that allows no further fields, because specification 2.11 says so.
constexpr auto kConnection = closed(record<ProviderConnection>(
    "Connection", field<&ProviderConnection::id>("id", "Id of the connection."),
    field<&ProviderConnection::name>("name", "Name for the list.", "Main shop"),
    field<&ProviderConnection::provider>("connector", "Id of the provider.").of(provider_schema),
    field<&ProviderConnection::status>("authStatus", "State of the authorization."),
    field<&ProviderConnection::error>(
        "error", "Description of the problem, for an admin; null if there is none.",
        "The provider did not answer.")));

constexpr auto kConnectLink = record<service::ConnectLink>(
    "ConnectLink", field<&service::ConnectLink::id>("id", "Id of the connection."),
    field<&service::ConnectLink::redirect_url>(
        "redirectUrl",
        "Address of the provider's page, to open in the admin's browser within ten minutes.",
        "https://provider.example/authorize?state=abc"));

// A JSON array without pages (specification 4.4).
template <const auto& kRecord>
struct ArrayShape {
    std::string_view name;

    template <class Value>
    void write(JsonWriter& to, const std::vector<Value>& values) const {
        to.begin_array();
        for (const Value& value : values) kRecord.write(to, value);
        to.end_array();
    }
    Json::Value schema() const { return array_of_schema(kRecord.schema()); }
};
constexpr ArrayShape<kCatalogEntry> kCatalog{"Catalog"};
constexpr ArrayShape<kConnection> kConnectionList{"ConnectionList"};

// The URL contains the state, so the reply is recorded encrypted.
struct ConnectLinkShape {
    static constexpr bool kShowsSecrets = true;
    std::string_view name = kConnectLink.name;

    void write(JsonWriter& to, const service::ConnectLink& link) const {
        kConnectLink.write(to, link);
    }
    Json::Value schema() const { return kConnectLink.schema(); }
};
constexpr ConnectLinkShape kIssuedLink;

// ---------------------------------------------------------------------------- the cookie

constexpr std::string_view kCookie = "__Host-muster-connect";

// One cookie for all authorizations of the session. The callback does not delete it, because
// another tab may have one open.
http::Header set_cookie(std::string_view proof) {
    const auto life = std::chrono::duration_cast<std::chrono::seconds>(rules::kAuthorizationLife);
    std::string cookie(kCookie);
    cookie.append("=")
        .append(proof)
        .append("; Path=/; Max-Age=")
        .append(std::to_string(life.count()));
    cookie.append("; Secure; HttpOnly; SameSite=Lax");
    return {"Set-Cookie", std::move(cookie)};
}

// ---------------------------------------------------------------------------- handlers

auto list_providers(Call& call) {
    return service::provider_catalog(call.context.settings.providers);
}

OrgId requested_organization(const Call& call) {
    const auto text = call.query.text("org");
    const auto id = text ? OrgId::parse(*text) : std::nullopt;
    if (id) return *id;
    Faults faults;
    faults.add("org", text ? FieldCode::InvalidUuid : FieldCode::Required);
    throw Error(ErrorCode::ValidationError).fields(faults);
}

auto list_connections(Call& call) {
    const OrgId organization = requested_organization(call);
    return service::list_connections(call.context, call.session().admin_id, organization);
}

auto connect_provider(Call& call, OrgTransaction& transaction, const ConnectRequest& in) {
    return service::begin_authorization(transaction, call.context, in, call.session().id);
}

// A replay sets the cookie too.
template <auto kNext>
struct SetsCookie {
    static constexpr ReplyShape kShape = kNext.kShape;

    template <class Body>
    Reply operator()(Call& call, Body body) const {
        Reply reply = kNext(call, std::move(body));
        const auto proof = service::connect_proof(call.context.keys, call.session().id);
        reply.headers.push_back(set_cookie(proof));
        return reply;
    }
};
template <auto kNext>
inline constexpr SetsCookie<kNext> sets_cookie;

void delete_connection(Call& call, OrgTransaction& transaction) {
    service::remove_connection(transaction, call.context, call.id<ConnectionId>());
}

// Permits this request to wait for a provider. Acquired once and released with the request.
class ProviderPermit {
  public:
    explicit ProviderPermit(const Call& call) : call_(call) {}

    bool acquire_for(const rules::Provider& provider) {
        if (permit_) return true;
        if (auto permit = call_.worker.try_wait_for(provider.id)) {
            permit_.emplace(std::move(*permit));
        }
        return permit_.has_value();
    }

  private:
    const Call& call_;
    std::optional<process::ConcurrencyLimit::Permit> permit_;
};

auto get_connection(Call& call) {
    return service::find_connection(call.context, call.org(), call.id<ConnectionId>());
}

Answer<ProviderConnection> refresh_connection(Call& call, const Nothing&) {
    const auto id = call.id<ConnectionId>();
    ProviderPermit permit(call);
    const auto result = service::refresh_connection(
        call.context, call.actor(), id,
        [&](const rules::Provider& provider) { return permit.acquire_for(provider); });
    const bool is_done = result.state == service::RefreshState::Done;
    return {.value = service::current_state(result.connection, Timestamp::now()),
            .is_second = !is_done};
}

// ---------------------------------------------------------------------------- the callback

constexpr std::size_t kLongestState = 256;  // maximum length in the query, in characters
constexpr std::size_t kLongestField = 255;

bool is_read(std::string_view name) {
    constexpr std::array<std::string_view, 4> kOfAll = {"state", "code", "iss", "error"};
    if (std::find(kOfAll.begin(), kOfAll.end(), name) != kOfAll.end()) return true;
    const auto providers = rules::providers();
    return std::any_of(providers.begin(), providers.end(), [&](const rules::Provider& provider) {
        const auto& fields = provider.callback_fields;
        return !name.empty() && std::find(fields.begin(), fields.end(), name) != fields.end();
    });
}

// Providers may add parameters in any encoding, so unused ones may be malformed. Repeated
// parameters are rejected (RFC 6749 section 3.1).
bool is_readable(const Faults& faults) {
    const auto& list = faults.list();
    return !faults.truncated() && std::none_of(list.begin(), list.end(), [](const Fault& fault) {
        return fault.code == FieldCode::Duplicate || is_read(fault.path);
    });
}

// The parameters of the callback; nullopt if there is no state.
std::optional<service::CallbackRequest> callback_request(const http::Request& request) {
    Faults faults;
    http::Query in(request.query, faults);
    service::CallbackRequest callback;
    callback.state = in.text("state", kLongestState).value_or("");
    callback.code = in.text("code", service::kLongestAuthorizationCode);
    callback.issuer = in.text("iss", kLongestField);
    callback.error = in.text("error", kLongestField);
    for (const rules::Provider& provider : rules::providers()) {
        for (const std::string_view name : provider.callback_fields) {
            if (name.empty()) continue;
            auto value = in.text(name, kLongestField);
            if (value) callback.fields[std::string(name)] = std::move(*value);
        }
    }
    if (callback.state.empty() || faults.contains("state")) return std::nullopt;
    callback.is_readable = is_readable(faults);
    callback.proof = http::cookie_value(request.cookie, kCookie);
    callback.request_id = request.request_id;
    return callback;
}

// The console's page for the result. The cookie remains, because it belongs to the session and
// another authorization in the same browser may be open.
std::string console_address(const Call& call, const service::CallbackResult& result) {
    std::string address = call.context.settings.console.origin + "/console/#/connections?result=";
    address += text_of(result.outcome);
    const std::string_view reason = text_of(result.reason);
    if (!reason.empty()) address.append("&reason=").append(reason);
    if (result.connection) address += "&connection=" + result.connection->text();
    return address;
}

// A HEAD request, which link scanners send, must not use up the state.
std::string return_from_provider(Call& call) {
    const auto callback = callback_request(call.request);
    if (!callback || call.request.method != Method::Get) {
        return console_address(
            call, {.reason = service::CallbackResult::Reason::Request, .connection = {}});
    }
    ProviderPermit permit(call);
    const auto result = service::complete_authorization(
        call.context, *callback,
        [&](const rules::Provider& provider) { return permit.acquire_for(provider); });
    return console_address(call, result);
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kConnectionListQuery = {
    QueryParameter{.name = "org", .meaning = "One of the admin's organizations; required."},
};
constexpr std::array kListErrors = {ErrorCode::NotFound, ErrorCode::ProviderUnavailable};
constexpr std::array kConnectErrors = {ErrorCode::NotFound, ErrorCode::InvalidState,
                                       ErrorCode::ProviderUnavailable};
constexpr std::array kRefreshErrors = {ErrorCode::InvalidState, ErrorCode::ProviderUnavailable};

constexpr std::array kConnectionEndpoints = {
    Endpoint{
        .method = Method::Get,
        .path = "/v1/external-data/catalog",
        .operation = "listProviders",
        .summary = "List the providers of external data",
        .description =
            "Lists every provider that Muster knows and whether the operator has set it up. Only "
            "a ready provider can be connected.",
        .access = Access::Admin,
        .reply = {200, "All providers."},
        .handler = answers<kCatalog, list_providers>},
    Endpoint{.method = Method::Get,
             .path = "/v1/external-data/connections",
             .operation = "listConnections",
             .summary = "List an organization's connections with their state",
             .description =
                 "Lists the connections of one of the admin's organizations, the oldest first. "
                 "authStatus and error say whether a connection needs an admin.",
             .access = Access::Console,
             .query = kConnectionListQuery,
             .reply = {200, "All connections, oldest first."},
             .errors = kListErrors,
             .handler = answers<kConnectionList, list_connections>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/external-data/connect",
        .operation = "connectProvider",
        .summary = "Start to connect a provider",
        .description =
            "Creates a connection, or authorizes an existing one again. Open redirectUrl in the "
            "same browser within ten minutes. Replies 503 PROVIDER_UNAVAILABLE if the operator "
            "has not set the provider up. Repeat safely with an Idempotency-Key.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "ConnectRequest",
        .body_schema = schema_of<kConnect>,
        .body_example = R"({"provider": "shopify", "name": "Fan shop",
                 "settings": {"shop": "acme.myshopify.com"}})",
        .reply = with_cookie(
            {200,
             "The address to open within ten minutes, and a cookie that identifies the browser."}),
        .errors = kConnectErrors,
        .handler = decoded<kConnect, sets_cookie<answers<kIssuedLink, connect_provider>>>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/external-data/callback",
        .operation = "returnFromProvider",
        .summary = "Complete a connection (called by the admin's browser)",
        .description =
            "Receives the admin's browser from the provider's page and completes the connection. "
            "Only browsers call it. It redirects to the console with the result in "
            "the query, including the reason of a failure.",
        .access = Access::Open,
        .reply = {303, "Redirect to the console, with the result in the query."},
        .handler = redirects<return_from_provider>,
        .has_secret_query = true},
    Endpoint{.method = Method::Get,
             .path = "/v1/external-data/connections/{connectionId}",
             .operation = "getConnection",
             .summary = "Get a connection",
             .description =
                 "Returns one connection of the active organization with its state. authStatus and "
                 "error say whether it needs an admin.",
             .access = Access::Console,
             .reply = {200, "The connection."},
             .handler = answers<kConnection, get_connection>},
    Endpoint{
        .method = Method::Delete,
        .path = "/v1/external-data/connections/{connectionId}",
        .operation = "deleteConnection",
        .summary = "Delete a connection and revoke its tokens",
        .description =
            "Deletes a connection with its tokens. Muster revokes the tokens at providers that "
            "support it. To connect again, create a new connection.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .reply = {204, "Deleted."},
        .handler = answers_nothing<delete_connection>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/external-data/connections/{connectionId}/refresh",
        .operation = "refreshConnection",
        .summary = "Refresh a connection's tokens now",
        .description =
            "Requests a new access token from the provider now; the runner does this automatically in "
            "time. 202 means that another process is refreshing or will do so soon: read the list "
            "again later.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .body_limit = kSmallBody,
        .reply = {200, "The connection after the refresh."},
        .second_reply = ReplySpec{202, "The connection before the refresh, which is in progress."},
        .errors = kRefreshErrors,
        .handler = decoded<kNothing, answers<kConnection, refresh_connection>>},
};
static_assert(well_formed(kConnectionEndpoints, "/v1/external-data"));

}  // namespace

std::span<const Endpoint> external_data_endpoints() {
    return kConnectionEndpoints;
}

}  // namespace muster::api
