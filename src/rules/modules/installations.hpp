// A module installed in an organization, and the credentials of its backend.
#pragma once

#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/record.hpp"
#include "base/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

using muster::text_of;

// Error: Muster disabled its webhooks; the rest of it works (docs/modules.md "Installations").
enum class InstallationStatus : std::uint8_t { Enabled, Disabled, Error };

// Specification 2.8.
struct Installation {
    InstallationId id;
    ModuleId module_id;
    OrgId organization_id;
    VersionId version_id;
    InstallationStatus status = InstallationStatus::Enabled;
    RawJson config;  // an object; "***" where a value is secret
    std::optional<AdminId> installed_by;
    std::optional<std::string> installed_by_email;  // set only when it is shown to the organization
    Timestamp installed_at;
    Timestamp created_at;
    Timestamp updated_at;
};

// A credential of a module's backend.
struct ModuleCredential {
    CredentialId id;
    InstallationId installation_id;
    OrgId organization_id;
    std::string name;
    std::string last_four;
    std::optional<AdminId> created_by;
    std::optional<std::string> created_by_email;  // set only when a credential is shown
    Timestamp created_at;
    std::optional<Timestamp> last_used_at;
    std::optional<Timestamp> expires_at;
    std::optional<Timestamp> revoked_at;
};

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::InstallationStatus> = {
    Name{rules::InstallationStatus::Enabled, "enabled"},
    Name{rules::InstallationStatus::Disabled, "disabled"},
    Name{rules::InstallationStatus::Error, "error"}};

}  // namespace muster
