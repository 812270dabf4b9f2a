// Serves /v1/modules…: the organization's own modules and their versions, made by its admins
// (specification 4.3, docs/modules.md "Modules"). Installing them is installations.cpp.
#include "service/modules/modules.hpp"

#include "api/groups.hpp"
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

constexpr json::Slug kSlug{rules::is_module_slug, "^[a-z][a-z0-9-]{1,62}$"};

constexpr auto kNewModule =
    json::object<NewModule>(json::required("slug", &NewModule::slug, kSlug),
                            json::required("name", &NewModule::name, Text{1, 255}),
                            json::required("vendor", &NewModule::vendor, Text{1, 255}));

constexpr auto kNewVersion = json::object<NewVersion>(
    json::required("version", &NewVersion::version, Text{1, 64}),
    json::required("manifest", &NewVersion::manifest, json::AnyObject{rules::kMostManifestBytes}));

constexpr std::string_view kNewVersionExample = R"({
  "version": "1.0.0",
  "manifest": {
    "name": "Loyalty",
    "events": {"emits": ["loyalty.points_awarded"], "subscribes": ["member.created"]},
    "config_schema": {"api_key": {"type": "string", "required": true, "secret": true}}}})";

// ---------------------------------------------------------------------------- replies

constexpr auto kModule = record<Module>(
    "Module", field<&Module::id>("id"), field<&Module::slug>("slug"), field<&Module::name>("name"),
    field<&Module::vendor>("vendor"), field<&Module::kind>("kind"),
    field<&Module::owner_organization_id>("owner_organization_id"),
    field<&Module::current_version_id>("current_version_id"), field<&Module::status>("status"),
    field<&Module::created_at>("created_at"), field<&Module::updated_at>("updated_at"));

constexpr auto kModuleVersion = record<ModuleVersion>(
    "ModuleVersion", field<&ModuleVersion::id>("id"), field<&ModuleVersion::module_id>("module_id"),
    field<&ModuleVersion::version>("version"), field<&ModuleVersion::manifest>("manifest"),
    field<&ModuleVersion::status>("status"), field<&ModuleVersion::published_at>("published_at"),
    field<&ModuleVersion::created_at>("created_at"),
    field<&ModuleVersion::updated_at>("updated_at"));

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
    return service::create_version(transaction, module, in);
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

constexpr std::array kModulesQuery = {page_limit("Modules a page."), kPageCursor};
// A version is as long as its manifest.
constexpr std::array kVersionsQuery = {page_limit("Versions a page.", 100, 20), kPageCursor};
constexpr std::array kCreateErrors = {ErrorCode::Conflict, ErrorCode::InvalidState};
constexpr std::array kCreateVersionErrors = {ErrorCode::Conflict, ErrorCode::InvalidState};
constexpr std::array kDeprecateErrors = {ErrorCode::InvalidState};
constexpr std::array kPublishErrors = {ErrorCode::InvalidState, ErrorCode::ManifestInvalid};

constexpr std::array kEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/v1/modules",
             .operation = "listModules",
             .summary = "List the organization's modules",
             .query = kModulesQuery,
             .reply = {200, "A page of modules."},
             .handler = answers<kModuleList, list_modules>},
    Endpoint{.method = Method::Post,
             .path = "/v1/modules",
             .operation = "createModule",
             .summary = "Create a module, a draft that the active organization owns",
             .access = Access::Admin,
             .role = rules::Role::Admin,
             .idempotency = IdempotencyKey::Accepted,
             .body_limit = kSmallBody,
             .body_required = true,
             .body_component = "NewModule",
             .body_schema = schema_of<kNewModule>,
             .body_example = R"({"slug": "loyalty", "name": "Loyalty", "vendor": "Example Ltd"})",
             .reply = {201, "The module."},
             .errors = kCreateErrors,
             .handler = decoded<kNewModule, answers<kModule, create_module>>},
    Endpoint{.method = Method::Get,
             .path = "/v1/modules/{moduleId}",
             .operation = "getModule",
             .summary = "Get a module",
             .reply = {200, "The module."},
             .handler = answers<kModule, get_module>},
    Endpoint{.method = Method::Get,
             .path = "/v1/modules/{moduleId}/versions",
             .operation = "listModuleVersions",
             .summary = "List a module's versions with their manifests",
             .query = kVersionsQuery,
             .reply = {200, "A page of versions."},
             .handler = answers<kVersionList, list_versions>},
    Endpoint{.method = Method::Post,
             .path = "/v1/modules/{moduleId}/versions",
             .operation = "createModuleVersion",
             .summary = "Create a version, a draft; its manifest is checked when it is published",
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
    Endpoint{.method = Method::Post,
             .path = "/v1/modules/{moduleId}/versions/{versionId}/publish",
             .operation = "publishModuleVersion",
             .summary = "Publish a version: it becomes the current one and never changes again",
             .access = Access::Admin,
             .role = rules::Role::Admin,
             .idempotency = IdempotencyKey::Accepted,
             .body_limit = kSmallBody,
             .reply = {200, "The version, published."},
             .errors = kPublishErrors,
             .handler = decoded<kNothing, answers<kModuleVersion, publish_version>>},
    Endpoint{.method = Method::Post,
             .path = "/v1/modules/{moduleId}/deprecate",
             .operation = "deprecateModule",
             .summary = "Allow no new installations of a module; those there are run on",
             .access = Access::Admin,
             .role = rules::Role::Admin,
             .idempotency = IdempotencyKey::Accepted,
             .body_limit = kSmallBody,
             .reply = {200, "The module, deprecated."},
             .errors = kDeprecateErrors,
             .handler = decoded<kNothing, answers<kModule, deprecate_module>>},
};
static_assert(well_formed(kEndpoints, "/v1/modules"));

}  // namespace

std::span<const Endpoint> module_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
