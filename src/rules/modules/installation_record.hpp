// How the API and webhooks show an installation.
#pragma once

#include "base/record.hpp"
#include "rules/modules/installations.hpp"

namespace muster::rules {

inline constexpr auto kInstallation = record<Installation>(
    "Installation", field<&Installation::id>("id"), field<&Installation::module_id>("module_id"),
    field<&Installation::organization_id>("organization_id"),
    field<&Installation::version_id>("version_id"), field<&Installation::status>("status"),
    field<&Installation::config>("config"), field<&Installation::installed_by>("installed_by"),
    field<&Installation::installed_at>("installed_at"),
    field<&Installation::created_at>("created_at"), field<&Installation::updated_at>("updated_at"));

}  // namespace muster::rules
