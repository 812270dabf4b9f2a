// The records that entries of an audit log are about (docs/api/audit-log.md "Actions").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::rules {

enum class SubjectKind : std::uint8_t {
    Admin,
    ApiKey,
    Article,
    Attribute,
    Campaign,
    Connection,
    Creative,
    Credential,
    Delivery,
    Endpoint,
    Import,
    Installation,
    Invitation,
    Member,
    MemberJob,
    Module,
    PublishableKey,
    Slot,
};

struct AuditSubject {
    std::string id;  // as stored: the bytes of a UUID, or the key of an attribute
    std::string name;
    std::optional<std::string> outer;  // the bytes of the ids of the records that it belongs to
    std::optional<std::string> inner;
};

// The kind of the record that actions of this name are about. nullopt: none, or one without a name.
constexpr std::optional<SubjectKind> subject_kind_of(std::string_view action) {
    constexpr std::array kKinds = {
        std::pair{std::string_view("seat.invit"), SubjectKind::Invitation},
        std::pair{std::string_view("seat."), SubjectKind::Admin},
        std::pair{std::string_view("sign_in."), SubjectKind::Admin},
        std::pair{std::string_view("second_factor."), SubjectKind::Admin},
        std::pair{std::string_view("api_key."), SubjectKind::ApiKey},
        std::pair{std::string_view("article."), SubjectKind::Article},
        std::pair{std::string_view("attribute."), SubjectKind::Attribute},
        std::pair{std::string_view("ad_campaign."), SubjectKind::Campaign},
        std::pair{std::string_view("ad_creative."), SubjectKind::Creative},
        std::pair{std::string_view("ad_slot."), SubjectKind::Slot},
        std::pair{std::string_view("connection."), SubjectKind::Connection},
        std::pair{std::string_view("module_credential."), SubjectKind::Credential},
        std::pair{std::string_view("webhook_delivery."), SubjectKind::Delivery},
        std::pair{std::string_view("webhook_endpoint."), SubjectKind::Endpoint},
        std::pair{std::string_view("import."), SubjectKind::Import},
        std::pair{std::string_view("installation."), SubjectKind::Installation},
        std::pair{std::string_view("user."), SubjectKind::Member},
        std::pair{std::string_view("member_job."), SubjectKind::MemberJob},
        std::pair{std::string_view("module."), SubjectKind::Module},
        std::pair{std::string_view("tracking_key."), SubjectKind::PublishableKey},
        std::pair{std::string_view("content_key."), SubjectKind::PublishableKey},
    };
    for (const auto& [prefix, kind] : kKinds) {
        if (action.starts_with(prefix)) return kind;
    }
    return std::nullopt;
}

}  // namespace muster::rules
