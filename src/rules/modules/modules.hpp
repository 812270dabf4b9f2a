// Modules and their versions (docs/modules.md).
#pragma once

#include "base/ids.hpp"
#include "base/record.hpp"
#include "base/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

enum class ModuleKind : std::uint8_t { Proprietary, InHouse, ThirdParty };
inline std::string_view text_of(ModuleKind kind) {
    constexpr std::array<std::string_view, 3> kTexts = {"proprietary", "in_house", "third_party"};
    return kTexts[static_cast<std::size_t>(kind)];
}

enum class ModuleStatus : std::uint8_t { Draft, Published, Deprecated };
inline std::string_view text_of(ModuleStatus status) {
    constexpr std::array<std::string_view, 3> kTexts = {"draft", "published", "deprecated"};
    return kTexts[static_cast<std::size_t>(status)];
}

// Specification 2.6. The owner is the tenant.
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
inline std::string_view text_of(VersionStatus status) {
    return status == VersionStatus::Draft ? "draft" : "published";
}

// Specification 2.7.
struct ModuleVersion {
    VersionId id;
    ModuleId module_id;
    std::string version;
    RawJson manifest;  // an object, as it was sent
    VersionStatus status = VersionStatus::Draft;
    std::optional<Timestamp> published_at;
    Timestamp created_at;
    Timestamp updated_at;
};

}  // namespace muster::rules
