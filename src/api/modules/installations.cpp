// Serves /v1/installations…: the modules installed in the organization (specification 2.8, 3.2,
// 4.3; docs/modules.md "Installations"). Other files serve an installation's credentials and
// webhooks.
#include "service/modules/installations.hpp"

#include "api/groups.hpp"
#include "api/if_match.hpp"
#include "rules/access/admins.hpp"
#include "rules/access/roles.hpp"
#include "rules/modules/installation_record.hpp"
#include "rules/modules/installations.hpp"
#include "rules/modules/manifest.hpp"

namespace muster::api {
namespace {

using http::Method;
using rules::Installation;
using service::InstallationChange;
using service::NewInstallation;
using service::OrgTransaction;

// ---------------------------------------------------------------------------- bodies

constexpr json::AnyObject kConfig{rules::kMostConfigBytes};

constexpr auto kNewInstallation = json::object<NewInstallation>(
    json::required("module_id", &NewInstallation::module_id, json::Uuid<ModuleId>{},
                   "Id of the published module to install."),
    json::optional("version_id", &NewInstallation::version_id, json::Uuid<VersionId>{},
                   "Id of a published version. If omitted: the current version."),
    json::optional("config", &NewInstallation::config, kConfig,
                   "Values of the version's config_schema, by property."));

constexpr auto kInstallationChange = json::object<InstallationChange>(
    json::changeable("version_id", &InstallationChange::version_id, json::Uuid<VersionId>{},
                     "Id of the published version to move to. If omitted, not changed."),
    json::changeable(
        "config", &InstallationChange::config, kConfig,
        "The whole new config. *** keeps a stored secret value. If omitted, not changed."));

// ---------------------------------------------------------------------------- handlers

// Webhooks have the record without the address.
constexpr auto kInstallation =
    extended(rules::kInstallation, rules::kInstallation.name,
             field<&Installation::installed_by_email>(
                 "installed_by_email", "Email address of that admin; null if there is none.",
                 "ada@example.org"));
constexpr auto kInstallationList = list_of<kInstallation>("InstallationList", "installations");

auto list_installations(Call& call) {
    const auto after = call.cursor_id<InstallationId>();
    auto installations = service::list_installations(call.context, call.org(), after,
                                                     call.query.integer("limit") + 1);
    return page_of(call, std::move(installations));
}

auto install_module(Call& call, OrgTransaction& transaction, const NewInstallation& in) {
    auto installation = service::install_module(call.context, transaction, in);
    std::string location = "/v1/installations/" + installation.id.text();
    return Answer{std::move(installation), std::move(location)};
}

auto get_installation(Call& call) {
    return service::find_installation(call.context, call.org(), call.id<InstallationId>());
}

auto change_installation(Call& call, OrgTransaction& transaction,
                         const InstallationChange& change) {
    const auto id = call.id<InstallationId>();
    return service::change_installation(call.context, transaction, id, change, version_check(call));
}

auto enable_installation(Call& call, OrgTransaction& transaction, const Nothing&) {
    const auto id = call.id<InstallationId>();
    return service::enable_installation(transaction, id, version_check(call));
}

auto disable_installation(Call& call, OrgTransaction& transaction) {
    const auto id = call.id<InstallationId>();
    return service::disable_installation(transaction, id, version_check(call));
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kInstallationListQuery = {page_limit(), kPageCursor};
constexpr std::array kInstallErrors = {ErrorCode::NotFound, ErrorCode::Conflict,
                                       ErrorCode::InvalidState};
constexpr std::array kInstallationChangeErrors = {ErrorCode::InvalidState};
constexpr std::array kInstallationEnableErrors = {ErrorCode::Conflict};

constexpr std::array kInstallationEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/v1/installations",
             .operation = "listInstallations",
             .summary = "List the organization's installations",
             .description =
                 "Lists the organization's installations, including disabled ones. Secret "
                 "values of the config are shown as ***.",
             .query = kInstallationListQuery,
             .reply = {200, "A page of installations."},
             .handler = answers<kInstallationList, list_installations>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/installations",
        .operation = "installModule",
        .summary = "Install a published module",
        .description =
            "Installs a published module. The config must match the version's config_schema. A "
            "module is installed once per organization (409 CONFLICT). Repeat safely with an "
            "Idempotency-Key.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewInstallation",
        .body_schema = schema_of<kNewInstallation>,
        .body_example = R"({"module_id": "01970b5e-7c00-7000-8000-000000000001",
  "config": {"api_key": "…", "points_per_visit": 10}})",
        .reply = with_version({201, "The installation, enabled."}),
        .errors = kInstallErrors,
        .handler = decoded<kNewInstallation, answers<kInstallation, install_module>>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/installations/{id}",
        .operation = "getInstallation",
        .summary = "Get an installation",
        .description = "Returns one installation. Secret values of the config are shown as ***.",
        .reply = with_version({200, "The installation."}),
        .handler = answers<kInstallation, get_installation>},
    Endpoint{
        .method = Method::Patch,
        .path = "/v1/installations/{id}",
        .operation = "changeInstallation",
        .summary = "Change an installation's config or version",
        .description =
            "Replaces the config, moves to another version, or both. *** keeps a stored secret "
            "value. The config must match the config_schema of the version. A request that changes "
            "nothing emits no event.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .takes_if_match = true,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "InstallationChange",
        .body_schema = schema_of<kInstallationChange>,
        .body_example = R"({"config": {"api_key": "***", "points_per_visit": 20}})",
        .reply = with_version({200, "The installation."}),
        .errors = kInstallationChangeErrors,
        .handler = decoded<kInstallationChange, answers<kInstallation, change_installation>>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/installations/{id}/enable",
        .operation = "enableInstallation",
        .summary = "Enable an installation",
        .description =
            "Enables an installation that is disabled or has status error. Its credentials work "
            "again; its webhook endpoints keep their status. An enabled installation is not "
            "changed.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .takes_if_match = true,
        .body_limit = kSmallBody,
        .reply = with_version({200, "The installation, enabled."}),
        .errors = kInstallationEnableErrors,
        .handler = decoded<kNothing, answers<kInstallation, enable_installation>>},
    Endpoint{
        .method = Method::Delete,
        .path = "/v1/installations/{id}",
        .operation = "disableInstallation",
        .summary = "Disable an installation",
        .description =
            "Disables an installation. Its credentials are rejected with 401 at once, and pending "
            "webhook deliveries are canceled. Credentials and endpoints are kept for "
            "enableInstallation. The call can be repeated.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .takes_if_match = true,
        .reply = with_version({200, "The installation, disabled."}),
        .handler = answers<kInstallation, disable_installation>},
};
static_assert(well_formed(kInstallationEndpoints, "/v1/installations"));

}  // namespace

std::span<const Endpoint> installation_endpoints() {
    return kInstallationEndpoints;
}

}  // namespace muster::api
