// Serves /v1/external-data/…: providers of external data, an organization's connections to them,
// and an admin's way to a provider's page and back (specification 4.4, docs/external-data.md).
#include "api/groups.hpp"
#include "api/worker_state.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "http/query.hpp"
#include "rules/access/admins.hpp"
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
using service::StoredReply;

// ---------------------------------------------------------------------------- bodies

Json::Value provider_schema() {
    Json::Value schema = JsonType<std::string>::typed("string");
    for (const rules::Provider& provider : rules::providers()) {
        schema["enum"].append(std::string(provider.id));
    }
    return schema;
}

struct ProviderId {
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                const rules::Provider*& out) const {
        const auto id = to.string(in, path);
        if (!id) return;
        out = rules::find_provider(*id);
        if (!out) to.fault(path, FieldCode::InvalidChoice);
    }
    Json::Value schema() const { return provider_schema(); }
};

// Texts by name; which ones there may be is the provider's to say.
struct ProviderSettings {
    static constexpr std::size_t kMost = 8;
    static constexpr json::Text kText{1, 255};

    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                std::map<std::string, std::string, std::less<>>& out) const {
        const auto object = to.object(in, path);
        if (!object) return;
        if (object->size() > kMost) return to.fault(path, FieldCode::TooLong);
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
        "Name for the list. Left out: the name stays; a new connection gets the provider's name.",
        "Main shop"),
    json::optional(
        "settings", &ConnectRequest::settings, ProviderSettings{},
        "Settings of the provider, as texts by name. Shopify requires shop; other providers take "
        "none.",
        R"({"shop": "acme"})"),
    json::optional("connection_id", &ConnectRequest::connection, json::Uuid<ConnectionId>{},
                   "Id of the connection to authorize again. Left out: a new connection."));

// The fields, and the settings held against the provider that they name.
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
    RecordField<service::CatalogEntry>{
        "provider", "Id of the provider.",
        [](JsonWriter& to, const service::CatalogEntry& entry) { to.string(entry.provider); },
        provider_schema},
    field<&service::CatalogEntry::name>("name", "Name of the provider.", "GitHub"),
    field<&service::CatalogEntry::description>("description", "What a connection can read.",
                                               "Reads your profile and organizations."),
    field<&service::CatalogEntry::ready>("ready", "Whether the operator has set the provider up."),
    field<&service::CatalogEntry::reason>(
        "reason", "What the operator has not set up; empty if the provider is ready.",
        "The operator has not set this provider up."));

// Specification 2.11: exactly these.
constexpr auto kConnection = record<ProviderConnection>(
    "Connection", field<&ProviderConnection::id>("id", "Id of the connection."),
    field<&ProviderConnection::name>("name", "Name for the list.", "Main shop"),
    RecordField<ProviderConnection>{"connector", "Id of the provider.",
                                    [](JsonWriter& to, const ProviderConnection& connection) {
                                        to.string(connection.provider);
                                    },
                                    provider_schema},
    field<&ProviderConnection::status>("authStatus", "State of the authorization."),
    field<&ProviderConnection::error>("error", "What is wrong, for an admin; null if nothing is.",
                                      "The provider did not answer."));

constexpr auto kConnectLink = record<service::ConnectLink>(
    "ConnectLink", field<&service::ConnectLink::id>("id", "Id of the connection."),
    field<&service::ConnectLink::redirect_url>(
        "redirectUrl",
        "Address of the provider's page, to open in the admin's browser within ten minutes.",
        "https://provider.example/authorize?state=abc"));

template <const auto& kRecord>
Json::Value array_schema() {
    return array_of_schema(kRecord.schema());
}

constexpr ReplyShape kCatalog{"application/json", "Catalog", array_schema<kCatalogEntry>};
constexpr ReplyShape kConnectionList{"application/json", "ConnectionList",
                                     array_schema<kConnection>};
constexpr ReplyShape kNoBody;

template <class Record, class Value>
Reply array_reply(const Record& record, const std::vector<Value>& values) {
    std::string body;
    JsonWriter writer(body);
    writer.begin_array();
    for (const Value& value : values) record.write(writer, value);
    writer.end_array();
    return json_reply(200, std::move(body));
}

// ---------------------------------------------------------------------------- the cookie

constexpr std::string_view kCookie = "__Host-muster-connect";

// For all ways of the session: a callback leaves it alone, because another tab may be on its way.
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

Reply list_providers(Call& call) {
    return array_reply(kCatalogEntry, service::provider_catalog(call.context.settings.providers));
}

OrgId asked_organization(const Call& call) {
    const auto text = call.query.text("org");
    const auto id = text ? OrgId::parse(*text) : std::nullopt;
    if (id) return *id;
    Faults faults;
    faults.add("org", text ? FieldCode::InvalidUuid : FieldCode::Required);
    throw Error(ErrorCode::ValidationError).fields(faults);
}

Reply list_connections(Call& call) {
    const OrgId organization = asked_organization(call);
    return array_reply(kConnection, service::list_connections(call.context, call.session().admin_id,
                                                              organization));
}

Reply connect_provider(Call& call, const ConnectRequest& in) {
    const SessionId session = call.session().id;
    Reply reply = reply_of(call.transact([&](OrgTransaction& transaction) {
        const auto link = service::begin_authorization(transaction, call.context, in, session);
        StoredReply stored{200, "", to_json(kConnectLink, link), {}};
        stored.is_secret = true;
        return stored;
    }));
    reply.headers.push_back(set_cookie(service::connect_proof(call.context.keys, session)));
    return reply;
}

void delete_connection(Call& call, OrgTransaction& transaction) {
    service::remove_connection(transaction, call.context, call.id<ConnectionId>());
}

// Permits this request to wait for a provider: at most a quarter of the workers may. Acquired once,
// released with the request.
class ProviderPermit {
  public:
    explicit ProviderPermit(const Call& call) : call_(call) {}

    bool acquire_for(const rules::Provider& provider) {
        if (permit_) return true;
        const int most = std::max(1, call_.context.settings.server.workers / 4);
        if (auto permit =
                call_.worker.concurrency.try_acquire(static_cast<std::size_t>(most), provider.id)) {
            permit_.emplace(std::move(*permit));
        }
        return permit_.has_value();
    }

  private:
    const Call& call_;
    std::optional<process::ConcurrencyLimit::Permit> permit_;
};

Reply refresh_connection(Call& call, const Nothing&) {
    const auto id = call.id<ConnectionId>();
    ProviderPermit permit(call);
    const auto result = service::refresh_connection(
        call.context, call.actor(), id,
        [&](const rules::Provider& provider) { return permit.acquire_for(provider); });
    const bool is_done = result.state == service::RefreshState::Done;
    const ProviderConnection shown = service::current_state(result.connection, Timestamp::now());
    return json_reply(is_done ? 200 : 202, to_json(kConnection, shown));
}

// ---------------------------------------------------------------------------- the callback

constexpr std::size_t kLongestState = 256;  // of what a query may hold, in characters
constexpr std::size_t kLongestCode = 4096;
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

// Providers add sentences in who knows which encoding: what nobody reads may be anything, but
// nothing may come twice (RFC 6749 section 3.1).
bool is_readable(const Faults& faults) {
    const auto& list = faults.list();
    return !faults.truncated() && std::none_of(list.begin(), list.end(), [](const Fault& fault) {
        return fault.code == FieldCode::Duplicate || is_read(fault.path);
    });
}

// What a provider sent; nullopt where that has no state.
std::optional<service::CallbackRequest> callback_request(const http::Request& request) {
    Faults faults;
    http::Query in(request.query, faults);
    service::CallbackRequest callback;
    callback.state = in.text("state", kLongestState).value_or("");
    callback.code = in.text("code", kLongestCode);
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

// The console's page, which says what came of it. The cookie stays: it is the session's, and
// another way of the same browser may still be open.
Reply console_reply(const Call& call, const service::CallbackResult& result) {
    std::string address = call.context.settings.console.origin + "/console/#/connections?result=";
    address += text_of(result.outcome);
    const std::string_view reason = text_of(result.reason);
    if (!reason.empty()) address.append("&reason=").append(reason);
    if (result.connection) address += "&connection=" + result.connection->text();
    Reply reply = no_content();
    reply.status = 303;
    reply.headers.emplace_back("Location", std::move(address));
    return reply;
}

// What looks at addresses before a browser goes there (HEAD) must not use a state up.
Reply return_from_provider(Call& call) {
    const auto callback = callback_request(call.request);
    if (!callback || call.request.method != Method::Get) {
        return console_reply(
            call, {.reason = service::CallbackResult::Reason::Request, .connection = {}});
    }
    ProviderPermit permit(call);
    const auto result = service::complete_authorization(
        call.context, *callback,
        [&](const rules::Provider& provider) { return permit.acquire_for(provider); });
    return console_reply(call, result);
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kListQuery = {
    QueryParameter{.name = "org", .meaning = "One of the admin's organizations; required."},
};
constexpr std::array kListErrors = {ErrorCode::NotFound, ErrorCode::ProviderUnavailable};
constexpr std::array kConnectErrors = {ErrorCode::NotFound, ErrorCode::InvalidState,
                                       ErrorCode::ProviderUnavailable};
constexpr std::array kRefreshErrors = {ErrorCode::InvalidState, ErrorCode::ProviderUnavailable};

constexpr std::array kEndpoints = {
    Endpoint{
        .method = Method::Get,
        .path = "/v1/external-data/catalog",
        .operation = "listProviders",
        .summary = "List the providers of external data, and whether they can be connected",
        .description =
            "Lists every provider that Muster knows and whether the operator has set it up. Only "
            "a ready provider can be connected.",
        .access = Access::Admin,
        .reply = {200, "All of them."},
        .handler = raw<kCatalog, list_providers>},
    Endpoint{.method = Method::Get,
             .path = "/v1/external-data/connections",
             .operation = "listConnections",
             .summary = "List an organization's connections, and how they stand",
             .description =
                 "Lists the connections of one of the admin's organizations, the oldest first. "
                 "authStatus and error say whether a connection needs an admin.",
             .access = Access::Console,
             .query = kListQuery,
             .reply = {200, "All of them, oldest first."},
             .errors = kListErrors,
             .handler = raw<kConnectionList, list_connections>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/external-data/connect",
        .operation = "connectProvider",
        .summary = "Connect a provider: the address of its page, where the admin consents",
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
        .reply = {200,
                  "Where the browser has to go within ten minutes; a cookie says that it set out."},
        .errors = kConnectErrors,
        .handler = decoded<kConnect, raw<json_shape<kConnectLink>, connect_provider>>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/external-data/callback",
        .operation = "returnFromProvider",
        .summary = "Where a provider sends the admin's browser back to",
        .description =
            "Receives the admin's browser from the provider's page and completes the connection. "
            "Browsers call it, programs do not. It redirects to the console with the result in "
            "the query; a failure has a reason there.",
        .access = Access::Open,
        .reply = {303, "To the console, which says what came of it."},
        .handler = raw<kNoBody, return_from_provider>,
        .has_secret_query = true},
    Endpoint{
        .method = Method::Delete,
        .path = "/v1/external-data/connections/{connectionId}",
        .operation = "deleteConnection",
        .summary = "Delete a connection, and give its tokens back where the provider takes them",
        .description =
            "Deletes a connection with its tokens. Muster returns the tokens to providers that "
            "support it. To connect again, create a new connection.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .reply = {204, "It is gone."},
        .handler = answers_nothing<delete_connection>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/external-data/connections/{connectionId}/refresh",
        .operation = "refreshConnection",
        .summary = "Have the provider renew a connection's tokens now",
        .description =
            "Asks the provider for a new access token now; the runner does this by itself in "
            "time. 202 means that another process is refreshing, or will at once: read the list "
            "again later.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .body_limit = kSmallBody,
        .reply = {200, "The connection after it."},
        .second_reply =
            ReplySpec{202, "The connection as it is: somebody is at it, or will be at once."},
        .errors = kRefreshErrors,
        .handler = decoded<kNothing, raw<json_shape<kConnection>, refresh_connection>>},
};
static_assert(well_formed(kEndpoints, "/v1/external-data"));

}  // namespace

std::span<const Endpoint> external_data_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
