// An entry of the audit log.
#pragma once

#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

using muster::text_of;

// System: Muster itself, for decisions of its runner that admins must know.
enum class AuditActor : std::uint8_t { Admin, Operator, System };

struct AuditEntry {
    AuditId id;
    AuditActor actor = AuditActor::Operator;
    std::optional<AdminId> actor_id;
    std::string action;
    std::optional<std::string> subject_id;
    std::string details;  // JSON text, a flat object
    std::optional<std::string> request_id;
    Timestamp created_at;
    std::optional<OrgId> organization_id;    // of the log; nullopt: the installation's
    std::optional<std::string> actor_email;  // set only when an entry is read
    // Set only for the pages of an organization. Both are empty if the record does not exist now.
    std::optional<std::string> subject_name;
    std::vector<std::string> subject_parents;  // ids, the outermost first
};

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::AuditActor> = {
    Name{rules::AuditActor::Admin, "admin"}, Name{rules::AuditActor::Operator, "operator"},
    Name{rules::AuditActor::System, "system"}};

}  // namespace muster
