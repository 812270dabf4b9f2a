// Modules and their versions (docs/modules.md).
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

enum class ModuleKind : std::uint8_t { Proprietary, InHouse, ThirdParty };

enum class ModuleStatus : std::uint8_t { Draft, Published, Deprecated };

// Specification 2.6. The owner's organization is the tenant.
struct Module {
    ModuleId id;
    OrgId owner_organization_id;
    std::string slug;
    std::string name;
    std::string vendor;
    ModuleKind kind = ModuleKind::Proprietary;
    ModuleStatus status = ModuleStatus::Draft;
    std::optional<VersionId> current_version_id;
    Timestamp created_at;
    Timestamp updated_at;
};

enum class VersionStatus : std::uint8_t { Draft, Published };

// Specification 2.7.
struct ModuleVersion {
    VersionId id;
    ModuleId module_id;
    std::string version;
    RawJson manifest;  // a JSON object, as sent
    VersionStatus status = VersionStatus::Draft;
    std::optional<Timestamp> published_at;
    Timestamp created_at;
    Timestamp updated_at;
};

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::ModuleKind> = {
    Name{rules::ModuleKind::Proprietary, "proprietary"},
    Name{rules::ModuleKind::InHouse, "in_house"},
    Name{rules::ModuleKind::ThirdParty, "third_party"}};

template <>
inline constexpr std::array kNames<rules::ModuleStatus> = {
    Name{rules::ModuleStatus::Draft, "draft"}, Name{rules::ModuleStatus::Published, "published"},
    Name{rules::ModuleStatus::Deprecated, "deprecated"}};

template <>
inline constexpr std::array kNames<rules::VersionStatus> = {
    Name{rules::VersionStatus::Draft, "draft"}, Name{rules::VersionStatus::Published, "published"}};

}  // namespace muster
