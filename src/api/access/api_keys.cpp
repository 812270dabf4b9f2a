// Serves /v1/api-keys…: the organization's API keys, managed by its admins (specification 5,
// docs/api/keys.md "Keys"). An org_ key cannot create another key.
#include "service/access/api_keys.hpp"

#include "api/groups.hpp"
#include "api/issued.hpp"
#include "base/settings.hpp"
#include "rules/access/roles.hpp"

namespace muster::api {
namespace {

using http::Method;
using json::Instant;
using json::Integer;
using json::Text;
using rules::ApiKey;
using service::OrgTransaction;

// ---------------------------------------------------------------------------- bodies

using service::NewApiKey;
constexpr auto kNewKey = json::object<NewApiKey>(
    json::required("name", &NewApiKey::name, Text{1, 255},
                   "Name for people. It need not be unique.", "membership sync"),
    json::optional(
        "expires_at", &NewApiKey::expires_at, Instant{},
        "Future time when the key stops working. If omitted: valid until it is revoked."),
    json::optional("rate_limit_per_second", &NewApiKey::rate_per_second,
                   Integer{1, service::kHighestRate},
                   "Requests per second, up to the installation's default. If omitted: this "
                   "default. Only the operator issues keys with higher rates."),
    json::optional("burst", &NewApiKey::burst, Integer{1, service::kHighestRate},
                   "Maximum burst of requests, up to the installation's default. If omitted: this "
                   "default."),
    json::optional("role", &NewApiKey::role, json::Choice<rules::KeyRole>{},
                   "admin: all operations that are open to keys. viewer: only those that read. If "
                   "omitted: admin."));

using service::ApiKeyChange;
constexpr auto kKeyChange = json::object<ApiKeyChange>(
    json::changeable("name", &ApiKeyChange::name, Text{1, 255},
                     "Name for people. If omitted, not changed.", "membership sync"),
    json::clearable(
        "expires_at", &ApiKeyChange::expires_at, Instant{},
        "Future time when the key stops working. null: no end. If omitted, not changed."),
    json::clearable("rate_limit_per_second", &ApiKeyChange::rate_per_second,
                    Integer{1, service::kHighestRate},
                    "Requests per second, up to the installation's default. null: this default. If "
                    "omitted, not changed."),
    json::clearable("burst", &ApiKeyChange::burst, Integer{1, service::kHighestRate},
                    "Maximum burst of requests, up to the installation's default. null: this "
                    "default. If omitted, not changed."));

struct Rotation {
    std::int64_t overlap_seconds = 0;
    service::SuccessorEnd expires_at;
};
constexpr auto kRotation = json::object<Rotation>(
    json::optional("overlap_seconds", &Rotation::overlap_seconds,
                   Integer{0, service::kLongestOverlap},
                   "How long the old key stays valid. If omitted or 0, it is revoked at once."),
    json::clearable("expires_at", &Rotation::expires_at, Instant{},
                    "Future time when the new key stops working. null: it has no end. If omitted: "
                    "the end of the old key."));

// ---------------------------------------------------------------------------- replies

constexpr auto kKey = record<ApiKey>(
    "ApiKey", field<&ApiKey::id>("id", "Id of the record."),
    field<&ApiKey::organization_id>("organization_id",
                                    "Id of the organization that the record belongs to."),
    field<&ApiKey::name>("name", "Name for people.", "membership sync"),
    RecordField<ApiKey>{
        "prefix", "First characters of every API key.",
        [](JsonWriter& to, const ApiKey&) { to.string(service::kOrganizationKeyPrefix); },
        JsonType<std::string>::schema},
    field<&ApiKey::last_four>("last_four", "Last four characters of the secret, to recognize it.",
                              "X6WS"),
    field<&ApiKey::role>("role", "admin: may write. viewer: may call only operations that read."),
    field<&ApiKey::rate_per_second>("rate_limit_per_second",
                                    "Requests per second; null for the installation's default."),
    field<&ApiKey::burst>("burst",
                          "Maximum burst of requests; null for the installation's default."),
    field<&ApiKey::created_by>("created_by",
                               "Id of the admin who created it; null if the operator did."),
    field<&ApiKey::created_by_email>("created_by_email",
                                     "Email address of that admin; null if there is none.",
                                     "ada@example.org"),
    field<&ApiKey::created_at>("created_at", "Time when the record was created."),
    field<&ApiKey::last_used_at>("last_used_at",
                                 "Time of the last use, exact to the minute; null if never used."),
    field<&ApiKey::expires_at>("expires_at", "Time when it stops working; null if it has no end."),
    field<&ApiKey::revoked_at>("revoked_at", "Time when it was revoked; null while it is valid."));

// The only reply that contains the key.
constexpr IssuedShape<kKey, &service::IssuedKey::key, &service::IssuedKey::secret> kIssuedKey{
    "IssuedApiKey", {"key"}};

// ---------------------------------------------------------------------------- handlers

auto list_keys(Call& call) {
    auto keys = service::list_api_keys(call.context, call.org(), call.cursor_id<ApiKeyId>(),
                                       call.query.integer("limit") + 1);
    return page_of(call, std::move(keys));
}

auto get_key(Call& call) {
    return service::find_api_key(call.context, call.org(), call.id<ApiKeyId>());
}

Answer<service::IssuedKey> issued(service::IssuedKey key) {
    std::string location = "/v1/api-keys/" + key.key.id.text();
    return {std::move(key), std::move(location)};
}

service::InstallationRates installation_rates(const Call& call) {
    const LimitsSettings& limits = call.context.settings.limits;
    return {limits.key_rate, limits.key_burst};
}

auto create_key(Call& call, OrgTransaction& transaction, const NewApiKey& in) {
    service::check_key_bounds({in.rate_per_second, in.burst, in.expires_at},
                              installation_rates(call), transaction.now);
    return issued(service::issue_api_key(transaction, call.context.keys, in));
}

auto rotate_key(Call& call, OrgTransaction& transaction, const Rotation& in) {
    const auto id = call.id<ApiKeyId>();
    return issued(service::rotate_api_key(transaction, call.context.keys, id,
                                          Milliseconds(1000 * in.overlap_seconds), in.expires_at));
}

auto change_key(Call& call, OrgTransaction& transaction, const ApiKeyChange& change) {
    const auto id = call.id<ApiKeyId>();
    return service::change_api_key(transaction, call.context.keys, id, change,
                                   installation_rates(call));
}

void revoke_key(Call& call, OrgTransaction& transaction) {
    const auto id = call.id<ApiKeyId>();
    if (!service::revoke_api_key(transaction, id)) throw Error(ErrorCode::NotFound);
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kApiKeyListQuery = {
    page_limit(),
    kPageCursor,
};
constexpr std::array kKeyErrors = {ErrorCode::InvalidState};

constexpr auto kKeyList = list_of<kKey>("ApiKeyList", "api_keys");

constexpr std::array kApiKeyEndpoints = {
    Endpoint{
        .method = Method::Get,
        .path = "/v1/api-keys",
        .operation = "listApiKeys",
        .summary = "List the organization's API keys",
        .description =
            "Lists the API keys of the organization, the oldest first. Revoked and expired keys are "
            "listed for 30 days. The secrets are not shown.",
        .access = Access::Admin,
        .query = kApiKeyListQuery,
        .reply = {200, "A page of keys."},
        .handler = answers<kKeyList, list_keys>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/api-keys",
        .operation = "createApiKey",
        .summary = "Issue an API key",
        .description =
            "Issues an API key for a program. Only this reply and its replays contain the key; the "
            "service stores its hash. Use an Idempotency-Key that others cannot guess, because it "
            "protects the recorded reply. An organization has at most 100 valid keys; a further one "
            "is 409 INVALID_STATE.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewApiKey",
        .body_schema = schema_of<kNewKey>,
        .body_example = R"({"name": "membership sync", "rate_limit_per_second": 50})",
        .reply = {201, "The key."},
        .errors = kKeyErrors,
        .handler = decoded<kNewKey, answers<kIssuedKey, create_key>>},
    Endpoint{.method = Method::Get,
             .path = "/v1/api-keys/{id}",
             .operation = "getApiKey",
             .summary = "Get an API key",
             .description =
                 "Returns one API key without its secret. A revoked or expired key is 404 after 30 "
                 "days.",
             .access = Access::Admin,
             .reply = {200, "The key."},
             .handler = answers<kKey, get_key>},
    Endpoint{
        .method = Method::Patch,
        .path = "/v1/api-keys/{id}",
        .operation = "changeApiKey",
        .summary = "Change an API key's name, end or rates",
        .description =
            "Changes the fields that are sent and keeps the others. A rate can be set up to the "
            "installation's default; a higher one that the operator set is kept while it is not "
            "changed. The role never changes. A revoked or expired key is 409 INVALID_STATE.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "ApiKeyChange",
        .body_schema = schema_of<kKeyChange>,
        .body_example = R"({"name": "membership sync", "expires_at": null})",
        .reply = {200, "The key."},
        .errors = kKeyErrors,
        .handler = decoded<kKeyChange, answers<kKey, change_key>>,
        .changes_access = true},
    Endpoint{
        .method = Method::Delete,
        .path = "/v1/api-keys/{id}",
        .operation = "revokeApiKey",
        .summary = "Revoke an API key",
        .description =
            "Revokes a key permanently. The next request with it is 401. The call can be repeated "
            "for 30 days; then it is 404.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .reply = {204, "Revoked."},
        .handler = answers_nothing<revoke_key>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/api-keys/{id}/rotate",
        .operation = "rotateApiKey",
        .summary = "Replace an API key",
        .description =
            "Issues a new key with the name, role, limits and end of an existing one. The old key stays "
            "valid for overlap_seconds, so that programs can change over. A revoked or expired "
            "key is 409 INVALID_STATE.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_component = "Rotation",
        .body_schema = schema_of<kRotation>,
        .body_example = R"({"overlap_seconds": 3600})",
        .reply = {201, "The new key."},
        .errors = kKeyErrors,
        .handler = decoded<kRotation, answers<kIssuedKey, rotate_key>>},
};
static_assert(well_formed(kApiKeyEndpoints, "/v1/api-keys"));

}  // namespace

std::span<const Endpoint> api_key_endpoints() {
    return kApiKeyEndpoints;
}

}  // namespace muster::api
