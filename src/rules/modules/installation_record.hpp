// The JSON form of an installation in the API and in webhooks.
#pragma once

#include "base/record.hpp"
#include "rules/modules/installations.hpp"

namespace muster::rules {

inline Json::Value config_schema() {
    Json::Value value;
    for (const char* type : {"string", "number", "boolean"}) value["type"].append(type);
    return map_of(std::move(value));
}

inline constexpr auto kInstallation = record<Installation>(
    "Installation", field<&Installation::id>("id", "Id of the record."),
    field<&Installation::module_id>("module_id", "Id of the installed module."),
    field<&Installation::organization_id>("organization_id",
                                          "Id of the organization that the record belongs to."),
    field<&Installation::version_id>("version_id", "Id of the installed version."),
    field<&Installation::status>(
        "status",
        "enabled: works; disabled: stopped by an admin; error: Muster disabled its last active "
        "endpoint."),
    field<&Installation::config>(
        "config",
        "Values of the version's config_schema, by property. A secret value is shown as ***.",
        R"({"points_per_visit": 10})")
        .of(config_schema),
    field<&Installation::installed_by>("installed_by",
                                       "Id of the admin who installed it; null if unknown."),
    field<&Installation::installed_at>("installed_at", "Time of the installation."),
    field<&Installation::created_at>("created_at", "Time when the record was created."),
    field<&Installation::updated_at>("updated_at", "Time of the last change."));

}  // namespace muster::rules
