// The records that travel between the floors: what store/ reads, service/ decides on and api/
// shows. Types only.
#pragma once

#include "base/ids.hpp"
#include "base/record.hpp"
#include "base/time.hpp"
#include "rules/attributes.hpp"
#include "rules/imports/block.hpp"
#include "rules/imports/mapping.hpp"
#include "rules/imports/states.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::rules {

// What an admin may do in one organization; each includes the ones before it.
enum class Role : std::uint8_t { Viewer, Admin, Owner };
inline std::string_view text_of(Role role) {
    constexpr std::array<std::string_view, 3> kTexts = {"viewer", "admin", "owner"};
    return kTexts[static_cast<std::size_t>(role)];
}
[[nodiscard]] inline std::optional<Role> role_of(std::string_view text) {
    for (const Role role : {Role::Viewer, Role::Admin, Role::Owner}) {
        if (text_of(role) == text) return role;
    }
    return std::nullopt;
}

struct Organization {
    OrgId id;
    std::string name;
    Timestamp created_at;
};

// One organization's member, with the global identity's id and address.
struct Member {
    UserId user_id;
    MemberId member_id;
    OrgId organization_id;
    std::string email;
    std::optional<std::string> external_id;
    std::optional<std::string> first_name;
    std::optional<std::string> last_name;
    std::optional<std::string> display_name;
    std::optional<std::string> locale;
    std::optional<std::string> country;
    std::optional<std::string> dob;
    std::string attributes;  // the document of attribute_document()
    std::string status;
    std::optional<Timestamp> locked_at;
    std::optional<std::string> lock_reason;
    Timestamp created_at;
    Timestamp updated_at;
};

struct AttributeRecord {
    AttributeId id;
    Attribute attribute;
    Timestamp created_at;
    Timestamp updated_at;
};

struct ApiKey {
    OrgId organization_id;
    ApiKeyId id;
    std::string name;
    std::string last_four;
    std::optional<std::int64_t> rate_per_second;  // nullopt: the installation's default
    std::optional<std::int64_t> burst;
    std::optional<AdminId> created_by;
    Timestamp created_at;
    std::optional<Timestamp> last_used_at;
    std::optional<Timestamp> expires_at;
    std::optional<Timestamp> revoked_at;
};

// A place of an admin's in an organization.
struct Seat {
    OrgId organization_id;
    std::string name;  // the organization's
    Role role = Role::Viewer;
};

// An admin as an organization's list shows one.
struct SeatHolder {
    AdminId admin_id;
    std::string email;
    Role role = Role::Viewer;
    bool is_enrolled = false;  // has a second factor
    Timestamp since;
};

struct Admin {
    AdminId id;
    std::string email;
    std::string totp_secret;  // sealed; "" = none
    std::optional<Timestamp> totp_enrolled_at;
    std::int64_t totp_last_step = 0;
    std::int64_t second_factor_failures = 0;
    Timestamp second_factor_paused_until;
};

// A signed-in admin, with the seat of the organization that the session acts on.
struct Session {
    SessionId id;
    AdminId admin_id;
    std::string email;
    bool is_enrolled = false;  // has a second factor
    OrgId active_organization_id;
    std::optional<Role> role;  // nullopt: the seat is gone
    std::optional<Timestamp> verified_at;
    Timestamp created_at;
    Timestamp last_used_at;
    Timestamp expires_at;
};

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

// Error: its webhooks were given up; it works on otherwise (docs/modules.md "Installations").
enum class InstallationStatus : std::uint8_t { Enabled, Disabled, Error };
inline std::string_view text_of(InstallationStatus status) {
    constexpr std::array<std::string_view, 3> kTexts = {"enabled", "disabled", "error"};
    return kTexts[static_cast<std::size_t>(status)];
}

// Specification 2.8.
struct Installation {
    InstallationId id;
    ModuleId module_id;
    OrgId organization_id;
    VersionId version_id;
    InstallationStatus status = InstallationStatus::Enabled;
    RawJson config;  // an object; "***" where a value is secret
    std::optional<AdminId> installed_by;
    Timestamp installed_at;
    Timestamp created_at;
    Timestamp updated_at;
};

// What a module's backend signs in with.
struct ModuleCredential {
    CredentialId id;
    InstallationId installation_id;
    OrgId organization_id;
    std::string name;
    std::string last_four;
    std::optional<AdminId> created_by;
    Timestamp created_at;
    std::optional<Timestamp> last_used_at;
    std::optional<Timestamp> expires_at;
    std::optional<Timestamp> revoked_at;
};

// Specification 2.10. The member's ids are those of the membership that the event was linked to.
struct EngagementEvent {
    EventId id;
    std::optional<MemberId> member_id;
    std::optional<std::string> member_external_id;
    std::optional<UserId> user_id;
    std::optional<std::string> type;
    std::string action;
    std::vector<std::string> tags;
    std::optional<RawJson> metadata;
    std::optional<std::string> client_event_id;
    Timestamp occurred_at;
    Timestamp received_at;
    std::optional<std::string> geo_country;
    std::optional<std::string> geo_region;
    std::optional<std::string> anonymous_id;  // a visitor's, where no member is named; never shown
};

// What became of the events of one request.
struct EventCounts {
    std::int64_t accepted = 0;    // newly stored
    std::int64_t duplicates = 0;  // with a client_event_id that the organization has already
};

enum class EndpointStatus : std::uint8_t { Active, Paused, Disabled };
inline std::string_view text_of(EndpointStatus status) {
    constexpr std::array<std::string_view, 3> kTexts = {"active", "paused", "disabled"};
    return kTexts[static_cast<std::size_t>(status)];
}
[[nodiscard]] inline std::optional<EndpointStatus> endpoint_status_of(std::string_view text) {
    for (const auto status :
         {EndpointStatus::Active, EndpointStatus::Paused, EndpointStatus::Disabled}) {
        if (text_of(status) == text) return status;
    }
    return std::nullopt;
}

// Specification 2.9, without its secrets.
struct WebhookEndpoint {
    EndpointId id;
    InstallationId module_installation_id;
    OrgId organization_id;
    std::string url;
    std::vector<std::string> subscribed_event_types;
    EndpointStatus status = EndpointStatus::Active;
    std::optional<std::string> disabled_reason;  // "gone", "failing": Muster did it; else nullopt
    std::optional<Timestamp> failing_since;
    Timestamp created_at;
    Timestamp updated_at;
};

enum class DeliveryStatus : std::uint8_t { Pending, Succeeded, Failed, Canceled };
inline std::string_view text_of(DeliveryStatus status) {
    constexpr std::array<std::string_view, 4> kTexts = {"pending", "succeeded", "failed",
                                                        "canceled"};
    return kTexts[static_cast<std::size_t>(status)];
}
[[nodiscard]] inline std::optional<DeliveryStatus> delivery_status_of(std::string_view text) {
    for (const auto status : {DeliveryStatus::Pending, DeliveryStatus::Succeeded,
                              DeliveryStatus::Failed, DeliveryStatus::Canceled}) {
        if (text_of(status) == text) return status;
    }
    return std::nullopt;
}

struct WebhookAttempt {
    Timestamp at;
    std::optional<std::int64_t> status_code;
    std::string attempt_class;  // rules/webhook_wire.hpp
    std::int64_t duration_ms = 0;
    std::optional<std::string> response_excerpt;
};

struct WebhookDelivery {
    DeliveryId id;
    std::string webhook_id;  // msg_…
    std::string event_type;
    DeliveryStatus status = DeliveryStatus::Pending;
    std::vector<WebhookAttempt> attempts;
    std::optional<Timestamp> next_attempt_at;
    Timestamp created_at;
};

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

enum class ImportSource : std::uint8_t { Api, Console };
inline std::string_view text_of(ImportSource source) {
    return source == ImportSource::Api ? "api" : "console";
}

struct ImportFailure {
    std::string code;
    std::string message;
};

// What a commit would do at the moment of the dry run.
struct ImportPreview {
    std::int64_t create = 0;
    std::int64_t attach = 0;
    std::int64_t merge = 0;
};

struct ImportJob {
    ImportId id;
    OrgId organization_id;
    std::optional<AdminId> created_by_id;
    ImportSource source = ImportSource::Api;
    ImportState state = ImportState::Staging;
    std::string mapping;  // JSON text {"columns":[…]}
    std::string file_name;
    std::int64_t declared_total = 0;
    std::int64_t staged_rows = 0;
    std::int64_t processed_rows = 0;
    std::int64_t valid_rows = 0;
    std::int64_t invalid_rows = 0;
    std::int64_t created_count = 0;
    std::int64_t attached_count = 0;
    std::int64_t failed_count = 0;
    std::optional<ImportFailure> failure;
    std::optional<ImportPreview> preview;
    bool commit_requested = false;
    BlockKey next_block;
    int attempts = 0;
    std::optional<Timestamp> heartbeat_at;
    std::optional<Timestamp> completed_at;
    Timestamp expires_at;
    Timestamp created_at;
    Timestamp updated_at;
};

// A row as the API shows it.
struct ImportRow {
    std::string id;  // <job_id>:<row_number>
    ImportId job_id;
    std::int64_t row_number = 0;
    RowState state = RowState::Staged;
    RowError error = RowError::None;
    std::string error_key;
    std::optional<UserId> user_id;
    std::string payload;  // JSON text
    Timestamp created_at;
    Timestamp updated_at;
};

}  // namespace muster::rules
