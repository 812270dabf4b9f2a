// Serves /v1/installations/{id}/credentials…: what a module's backend signs in and signs with
// (specification 5 rule 8, docs/modules.md "Module credentials").
#include "service/modules/credentials.hpp"
#include "base/crypto.hpp"

#include "api/groups.hpp"
#include "api/issued.hpp"

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
    json::required("name", &NewModuleCredential::name, Text{1, 255}),
    json::optional("expires_at", &NewModuleCredential::expires_at, Instant{}));

// ---------------------------------------------------------------------------- replies

constexpr auto kCredentialFields = std::array{
    field<&ModuleCredential::id>("id"),
    field<&ModuleCredential::installation_id>("installation_id"),
    field<&ModuleCredential::organization_id>("organization_id"),
    field<&ModuleCredential::name>("name"),
    RecordField<ModuleCredential>{"prefix",
                                  [](JsonWriter& to, const ModuleCredential&) {
                                      to.string(service::kModuleCredentialPrefix);
                                  },
                                  JsonType<std::string>::schema},
    field<&ModuleCredential::last_four>("last_four"),
    field<&ModuleCredential::created_by>("created_by"),
    field<&ModuleCredential::created_at>("created_at"),
    field<&ModuleCredential::last_used_at>("last_used_at"),
    field<&ModuleCredential::expires_at>("expires_at"),
    field<&ModuleCredential::revoked_at>("revoked_at"),
};
constexpr Record<ModuleCredential, kCredentialFields.size()> kCredential{"ModuleCredential",
                                                                         kCredentialFields};

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
    return service::issue_module_credential(transaction, call.context.keys, installation, in);
}

void revoke_credential(Call& call, OrgTransaction& transaction) {
    const auto installation = call.id<InstallationId>();
    const auto id = call.id<CredentialId>(1);
    service::revoke_module_credential(transaction, installation, id);
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kListQuery = {
    page_limit("Credentials a page."),
    kPageCursor,
};
constexpr std::array kCreateErrors = {ErrorCode::InvalidState};

constexpr std::array kEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/v1/installations/{id}/credentials",
             .operation = "listModuleCredentials",
             .summary = "List an installation's credentials; revoked ones for 30 days",
             .access = Access::Admin,
             .query = kListQuery,
             .reply = {200, "A page of credentials."},
             .handler = answers<kCredentialList, list_credentials>},
    Endpoint{.method = Method::Post,
             .path = "/v1/installations/{id}/credentials",
             .operation = "createModuleCredential",
             .summary = "Issue a credential with its signing secret; both are shown this once",
             .access = Access::Admin,
             .role = rules::Role::Admin,
             .idempotency = IdempotencyKey::Accepted,
             .body_limit = kSmallBody,
             .body_required = true,
             .body_component = "NewModuleCredential",
             .body_schema = schema_of<kNewCredential>,
             .body_example = R"({"name": "shop backend"})",
             .reply = {201, "The credential."},
             .errors = kCreateErrors,
             .handler = decoded<kNewCredential, answers<kIssuedCredential, create_credential>>},
    Endpoint{.method = Method::Delete,
             .path = "/v1/installations/{id}/credentials/{credentialId}",
             .operation = "revokeModuleCredential",
             .summary = "Revoke a credential, from the next request on",
             .access = Access::Admin,
             .role = rules::Role::Admin,
             .reply = {204, "It is revoked."},
             .handler = answers_nothing<revoke_credential>},
};
static_assert(well_formed(kEndpoints, "/v1/installations"));

}  // namespace

std::span<const Endpoint> module_credential_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
