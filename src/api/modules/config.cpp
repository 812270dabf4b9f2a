// Serves /v1/module/config: a module's backend reads the config of its own installation
// (docs/modules.md "The config of an installation").
#include "api/groups.hpp"
#include "rules/modules/installations.hpp"
#include "service/callers.hpp"
#include "service/modules/installations.hpp"

namespace muster::api {
namespace {

using rules::Installation;
using service::RevealedInstallation;

constexpr auto kModuleConfig = record<RevealedInstallation>(
    "ModuleConfig",
    field<&RevealedInstallation::installation, &Installation::id>(
        "installation_id", "Id of the installation that the credential belongs to."),
    field<&RevealedInstallation::installation, &Installation::organization_id>(
        "organization_id", "Id of the organization that the record belongs to."),
    field<&RevealedInstallation::installation, &Installation::module_id>("module_id",
                                                                         "Id of the module."),
    field<&RevealedInstallation::installation, &Installation::version_id>(
        "version_id", "Id of the installed version, whose config_schema the config matches."),
    RecordField<RevealedInstallation>{"config", "The config with its secret values.",
                                      [](JsonWriter& to, const RevealedInstallation& revealed) {
                                          to.raw(revealed.config.reveal());
                                      },
                                      JsonType<RawJson>::schema},
    field<&RevealedInstallation::installation, &Installation::updated_at>(
        "updated_at", "Time of the last change."));

auto get_module_config(Call& call) {
    return service::reveal_installation(call.context, call.org(),
                                        call.caller.module.value().installation);
}

constexpr std::array kModuleConfigErrors = {ErrorCode::SignatureInvalid};

constexpr std::array kModuleConfigEndpoints = {
    Endpoint{
        .method = http::Method::Get,
        .path = "/v1/module/config",
        .operation = "getModuleConfig",
        .summary = "Read the config of the module's own installation",
        .description =
            "Returns the config of the installation that the credential belongs to, with its "
            "secret values. Sign t, the Idempotency-Key (empty if there is none) and an empty body. "
            "Read it again after the event installation.changed.",
        .access = Access::Module,
        .idempotency = IdempotencyKey::Ignored,
        .reply = {200, "The config."},
        .errors = kModuleConfigErrors,
        .handler = answers<kModuleConfig, get_module_config>},
};
static_assert(well_formed(kModuleConfigEndpoints, "/v1/module/"));

}  // namespace

std::span<const Endpoint> module_config_endpoints() {
    return kModuleConfigEndpoints;
}

}  // namespace muster::api
