// An entry of the audit log.
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

// System: Muster itself, where its runner decides something that admins must know.
enum class AuditActor : std::uint8_t { Admin, Operator, System };
inline std::string_view text_of(AuditActor actor) {
    constexpr std::array<std::string_view, 3> kTexts = {"admin", "operator", "system"};
    return kTexts[static_cast<std::size_t>(actor)];
}

struct AuditEntry {
    AuditId id;
    AuditActor actor = AuditActor::Operator;
    std::optional<AdminId> actor_id;
    std::string action;
    std::optional<std::string> subject_id;
    std::string details;  // JSON text, a flat object
    std::optional<std::string> request_id;
    Timestamp created_at;
    // Of an entry that was read: whose log it stands in, and the admin's address.
    std::optional<OrgId> organization_id;
    std::optional<std::string> actor_email;
};

}  // namespace muster::rules
