// Serves /v1/modules…: the organization's modules and their versions (specification 4.3,
// docs/modules.md "Modules"). installations.cpp installs them.
#include "service/modules/modules.hpp"

#include "api/groups.hpp"
#include "rules/access/roles.hpp"
#include "rules/event_types.hpp"
#include "rules/modules/manifest.hpp"

namespace muster::api {
namespace {

using http::Method;
using json::Text;
using rules::Module;
using rules::ModuleVersion;
using service::NewModule;
using service::NewVersion;
using service::OrgTransaction;

// ---------------------------------------------------------------------------- bodies

constexpr json::Slug kSlug{
    .is_one = rules::is_module_slug,
    .pattern = "^[a-z][a-z0-9-]{1,62}$",
    .meaning = "2 to 63 lower-case letters, digits and hyphens, beginning with a letter",
    .max = 63,
    .is_reserved = rules::is_reserved_slug,
    .reserved_meaning = "its event types belong to Muster; use another one"};

constexpr auto kNewModule = json::object<NewModule>(
    json::required(
        "slug", &NewModule::slug, kSlug,
        "Short name for URLs and event types, unique in the organization. It never changes.",
        "club-shop"),
    json::required("name", &NewModule::name, Text{1, 255}, "Name for people.", "Club shop"),
    json::required("vendor", &NewModule::vendor, Text{1, 255},
                   "Name of the company or team that develops the module.", "Riverside Software"));

constexpr auto kNewVersion = json::object<NewVersion>(
    json::required("version", &NewVersion::version, Text{1, 64},
                   "Version text, unique in the module.", "1.0.0"),
    json::required(
        "manifest", &NewVersion::manifest, json::AnyObject{rules::kMostManifestBytes},
        "The module contract: name, events, config_schema and permissions. Publishing validates it."));

constexpr std::string_view kNewVersionExample = R"({
  "version": "1.0.0",
  "manifest": {
    "name": "Loyalty",
    "events": {"emits": ["loyalty.points_awarded"], "subscribes": ["member.created"]},
    "config_schema": {"api_key": {"type": "string", "required": true, "secret": true}}}})";

// ---------------------------------------------------------------------------- replies

constexpr auto kModule = record<Module>(
    "Module", field<&Module::id>("id", "Id of the record."),
    field<&Module::slug>("slug", "Short name for URLs and event types, unique in the organization.",
                         "club-shop"),
    field<&Module::name>("name", "Name for people.", "Club shop"),
    field<&Module::vendor>("vendor", "Name of the company or team that develops the module.",
                           "Riverside Software"),
    field<&Module::kind>("kind",
                         "Kind of the module; proprietary for one that the organization created."),
    field<&Module::owner_organization_id>("owner_organization_id",
                                          "Id of the organization that owns the module."),
    field<&Module::current_version_id>(
        "current_version_id",
        "Id of the version that new installations get; null until a version is published."),
    field<&Module::status>(
        "status",
        "draft: no version is published; published: it can be installed; deprecated: no new "
        "installations."),
    field<&Module::created_at>("created_at", "Time when the record was created."),
    field<&Module::updated_at>("updated_at", "Time of the last change."));

constexpr auto kModuleVersion = record<ModuleVersion>(
    "ModuleVersion", field<&ModuleVersion::id>("id", "Id of the record."),
    field<&ModuleVersion::module_id>("module_id", "Id of the module."),
    field<&ModuleVersion::version>("version", "Version text, unique in the module.", "1.0.0"),
    field<&ModuleVersion::manifest>("manifest", "The module contract as it was sent."),
    field<&ModuleVersion::status>("status",
                                  "draft: it can be published; published: it never changes again."),
    field<&ModuleVersion::published_at>("published_at", "Time of publication; null for a draft."),
    field<&ModuleVersion::created_at>("created_at", "Time when the record was created."),
    field<&ModuleVersion::updated_at>("updated_at", "Time of the last change."));

constexpr auto kModuleList = list_of<kModule>("ModuleList", "modules");
constexpr auto kVersionList = list_of<kModuleVersion>("ModuleVersionList", "versions");

// ---------------------------------------------------------------------------- handlers

auto list_modules(Call& call) {
    auto modules = service::list_modules(call.context, call.org(), call.cursor_id<ModuleId>(),
                                         call.query.integer("limit") + 1);
    return page_of(call, std::move(modules));
}

auto create_module(Call&, OrgTransaction& transaction, const NewModule& in) {
    auto module = service::create_module(transaction, in);
    std::string location = "/v1/modules/" + module.id.text();
    return Answer{std::move(module), std::move(location)};
}

auto get_module(Call& call) {
    return service::find_module(call.context, call.org(), call.id<ModuleId>());
}

auto list_versions(Call& call) {
    auto versions =
        service::list_versions(call.context, call.org(), call.id<ModuleId>(),
                               call.cursor_id<VersionId>(), call.query.integer("limit") + 1);
    return page_of(call, std::move(versions));
}

auto create_version(Call& call, OrgTransaction& transaction, const NewVersion& in) {
    const auto module = call.id<ModuleId>();
    auto version = service::create_version(transaction, module, in);
    std::string location = "/v1/modules/" + module.text() + "/versions/" + version.id.text();
    return Answer{std::move(version), std::move(location)};
}

auto get_version(Call& call) {
    return service::find_version(call.context, call.org(), call.id<ModuleId>(),
                                 call.id<VersionId>(1));
}

auto publish_version(Call& call, OrgTransaction& transaction, const Nothing&) {
    const auto module = call.id<ModuleId>();
    const auto id = call.id<VersionId>(1);
    return service::publish_version(transaction, module, id);
}

auto deprecate_module(Call& call, OrgTransaction& transaction, const Nothing&) {
    const auto id = call.id<ModuleId>();
    return service::deprecate_module(transaction, id);
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kModulesQuery = {page_limit(), kPageCursor};
// A version is as large as its manifest.
constexpr std::array kVersionsQuery = {page_limit(100, 20), kPageCursor};
constexpr std::array kModuleCreateErrors = {ErrorCode::Conflict, ErrorCode::InvalidState};
constexpr std::array kCreateVersionErrors = {ErrorCode::Conflict, ErrorCode::InvalidState};
constexpr std::array kDeprecateErrors = {ErrorCode::InvalidState};
constexpr std::array kPublishErrors = {ErrorCode::InvalidState, ErrorCode::ManifestInvalid};

constexpr std::array kModuleEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/v1/modules",
             .operation = "listModules",
             .summary = "List the organization's modules",
             .description =
                 "Lists the modules that the organization can see. The list is paged by cursor.",
             .query = kModulesQuery,
             .reply = {200, "A page of modules."},
             .handler = answers<kModuleList, list_modules>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/modules",
        .operation = "createModule",
        .summary = "Create a module as a draft",
        .description =
            "Creates a module that the active organization owns, as a draft. The slug is unique "
            "and never changes (409 CONFLICT). Create a version next and publish it. Repeat "
            "safely with an Idempotency-Key.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewModule",
        .body_schema = schema_of<kNewModule>,
        .body_example = R"({"slug": "loyalty", "name": "Loyalty", "vendor": "Example Ltd"})",
        .reply = {201, "The module."},
        .errors = kModuleCreateErrors,
        .handler = decoded<kNewModule, answers<kModule, create_module>>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/modules/{moduleId}",
        .operation = "getModule",
        .summary = "Get a module",
        .description =
            "Returns one module with its status and current version. listModuleVersions shows the "
            "manifests.",
        .reply = {200, "The module."},
        .handler = answers<kModule, get_module>},
    Endpoint{.method = Method::Get,
             .path = "/v1/modules/{moduleId}/versions",
             .operation = "listModuleVersions",
             .summary = "List a module's versions with their manifests",
             .description =
                 "Lists the versions of a module with their manifests. A page holds up to 100 "
                 "versions, by default 20.",
             .query = kVersionsQuery,
             .reply = {200, "A page of versions."},
             .handler = answers<kVersionList, list_versions>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/modules/{moduleId}/versions",
        .operation = "createModuleVersion",
        .summary = "Create a version of a module as a draft",
        .description =
            "Creates a version of a module as a draft. The manifest is stored as a JSON value and "
            "validated at publication. Version texts are unique in the module (409 CONFLICT). "
            "Repeat safely with an Idempotency-Key.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewModuleVersion",
        .body_schema = schema_of<kNewVersion>,
        .body_example = kNewVersionExample,
        .reply = {201, "The version."},
        .errors = kCreateVersionErrors,
        .handler = decoded<kNewVersion, answers<kModuleVersion, create_version>>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/modules/{moduleId}/versions/{versionId}",
        .operation = "getModuleVersion",
        .summary = "Get a version of a module",
        .description = "Returns one version of a module with its manifest. A draft is shown too.",
        .reply = {200, "The version."},
        .handler = answers<kModuleVersion, get_version>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/modules/{moduleId}/versions/{versionId}/publish",
        .operation = "publishModuleVersion",
        .summary = "Publish a version of a module",
        .description =
            "Validates the manifest and publishes the version: it becomes the current one and never "
            "changes again. A manifest that violates the module contract is 422 MANIFEST_INVALID "
            "with all faults. Installations keep their version.",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .reply = {200, "The version, published."},
        .errors = kPublishErrors,
        .handler = decoded<kNothing, answers<kModuleVersion, publish_version>>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/modules/{moduleId}/deprecate",
        .operation = "deprecateModule",
        .summary = "Deprecate a module",
        .description =
            "Stops new installations of a module and new versions of it. Existing installations "
            "continue to work. A draft cannot be deprecated (409 INVALID_STATE).",
        .access = Access::Admin,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .reply = {200, "The module, deprecated."},
        .errors = kDeprecateErrors,
        .handler = decoded<kNothing, answers<kModule, deprecate_module>>},
};
static_assert(well_formed(kModuleEndpoints, "/v1/modules"));

}  // namespace

std::span<const Endpoint> module_endpoints() {
    return kModuleEndpoints;
}

}  // namespace muster::api
