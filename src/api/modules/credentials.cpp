// Serves /v1/installations/{id}/credentials…: the credentials and signing secrets of modules'
// backends (specification 5 rule 8, docs/modules.md "Module credentials").
#include "service/modules/credentials.hpp"

#include "api/groups.hpp"
#include "api/issued.hpp"
#include "base/crypto.hpp"
#include "rules/access/roles.hpp"

namespace muster::api {
namespace {

using http::Method;
using json::Instant;
using json::Text;
using rules::ModuleCredential;
using service::OrgTransaction;

// ---------------------------------------------------------------------------- bodies

using service::NewModuleCredential;
constexpr auto kNewCredential = json::object<NewModuleCredential>(
    json::required("name", &NewModuleCredential::name, Text{1, 255},
                   "Name for people. It need not be unique.", "shop backend"),
    json::optional(
        "expires_at", &NewModuleCredential::expires_at, Instant{},
        "Future time when the credential stops working. If omitted: valid until it is revoked."));

// ---------------------------------------------------------------------------- replies

constexpr auto kCredential = record<ModuleCredential>(
    "ModuleCredential", field<&ModuleCredential::id>("id", "Id of the record."),
    field<&ModuleCredential::installation_id>(
        "installation_id", "Id of the installation that the credential belongs to."),
    field<&ModuleCredential::organization_id>("organization_id",
                                              "Id of the organization that the record belongs to."),
    field<&ModuleCredential::name>("name", "Name for people.", "shop backend"),
    RecordField<ModuleCredential>{"prefix", "First characters of every module credential.",
                                  [](JsonWriter& to, const ModuleCredential&) {
                                      to.string(service::kModuleCredentialPrefix);
                                  },
                                  JsonType<std::string>::schema},
    field<&ModuleCredential::last_four>(
        "last_four", "Last four characters of the secret, to recognize it.", "X6WS"),
    field<&ModuleCredential::created_by>(
        "created_by", "Id of the admin who created it; null if the operator did."),
    field<&ModuleCredential::created_by_email>(
        "created_by_email", "Email address of that admin; null if there is none.",
        "ada@example.org"),
    field<&ModuleCredential::created_at>("created_at", "Time when the record was created."),
    field<&ModuleCredential::last_used_at>(
        "last_used_at", "Time of the last use, exact to the minute; null if never used."),
    field<&ModuleCredential::expires_at>("expires_at",
                                         "Time when it stops working; null if it has no end."),
    field<&ModuleCredential::revoked_at>("revoked_at",
                                         "Time when it was revoked; null while it is valid."));

using service::IssuedModuleCredential;
constexpr IssuedShape<kCredential, &IssuedModuleCredential::record,
                      &IssuedModuleCredential::credential, &IssuedModuleCredential::signing_secret>
    kIssuedCredential{"IssuedModuleCredential", {"credential", "signing_secret"}};

constexpr auto kCredentialList = list_of<kCredential>("ModuleCredentialList", "credentials");

// ---------------------------------------------------------------------------- handlers

auto list_credentials(Call& call) {
    auto credentials = service::list_module_credentials(
        call.context, call.org(), call.id<InstallationId>(), call.cursor_id<CredentialId>(),
        call.query.integer("limit") + 1);
    return page_of(call, std::move(credentials));
}

auto create_credential(Call& call, OrgTransaction& transaction, const NewModuleCredential& in) {
    const auto installation = call.id<InstallationId>();
    auto issued =
        service::issue_module_credential(transaction, call.context.keys, installation, in);
    std::string location =
        "/v1/installations/" + installation.text() + "/credentials/" + issued.record.id.text();
    return Answer{std::move(issued), std::move(location)};
}

auto get_credential(Call& call) {
    return service::find_module_credential(call.context, call.org(), call.id<InstallationId>(),
                                           call.id<CredentialId>(1));
}

void revoke_credential(Call& call, OrgTransaction& transaction) {
    const auto installation = call.id<InstallationId>();
    const auto id = call.id<CredentialId>(1);
    service::revoke_module_credential(transaction, installation, id);
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kCredentialListQuery = {
    page_limit(),
    kPageCursor,
};
constexpr std::array kCredentialCreateErrors = {ErrorCode::InvalidState};

constexpr std::array kCredentialEndpoints = {
    Endpoint{
        .method = Method::Get,
        .path = "/v1/installations/{id}/credentials",
        .operation = "listModuleCredentials",
        .summary = "List an installation's credentials",
        .description =
            "Lists the credentials of an installation. Revoked credentials are listed for 30 days. The "
            "secrets are not shown.",
        .access = Access::Admin,
        .query = kCredentialListQuery,
        .reply = {200, "A page of credentials."},
        .handler = answers<kCredentialList, list_credentials>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/installations/{id}/credentials",
        .operation = "createModuleCredential",
        .summary = "Issue a credential with its signing secret",
        .description =
            "Issues a credential for the module's backend, with the secret that signs its "
            "requests. Only this reply and its replays contain them. An installation has at most "
            "50 unrevoked credentials. Use an Idempotency-Key that others cannot guess.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewModuleCredential",
        .body_schema = schema_of<kNewCredential>,
        .body_example = R"({"name": "shop backend"})",
        .reply = {201, "The credential."},
        .errors = kCredentialCreateErrors,
        .handler = decoded<kNewCredential, answers<kIssuedCredential, create_credential>>},
    Endpoint{.method = Method::Get,
             .path = "/v1/installations/{id}/credentials/{credentialId}",
             .operation = "getModuleCredential",
             .summary = "Get a credential",
             .description =
                 "Returns one credential of an installation without its secrets. A revoked "
                 "credential is 404 after 30 days.",
             .access = Access::Admin,
             .reply = {200, "The credential."},
             .handler = answers<kCredential, get_credential>},
    Endpoint{
        .method = Method::Delete,
        .path = "/v1/installations/{id}/credentials/{credentialId}",
        .operation = "revokeModuleCredential",
        .summary = "Revoke a credential",
        .description =
            "Revokes a credential permanently. The next request with it is 401. The call can be "
            "repeated for 30 days; then it is 404.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .reply = {204, "Revoked."},
        .handler = answers_nothing<revoke_credential>},
};
static_assert(well_formed(kCredentialEndpoints, "/v1/installations"));

}  // namespace

std::span<const Endpoint> module_credential_endpoints() {
    return kCredentialEndpoints;
}

}  // namespace muster::api
