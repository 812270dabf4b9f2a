// Ids: UUIDv7 (RFC 9562) as 16 bytes. Each kind of record has its own type, so that the compiler
// rejects an organization's id where a user's id is expected.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

class Uuid {
  public:
    static constexpr std::size_t kBytes = 16;
    static constexpr std::size_t kTextLength = 36;

    constexpr Uuid() = default;
    // A new UUIDv7: milliseconds and their fraction, then random bits. The ids of one thread
    // ascend, and those of processes that create them at least half a microsecond apart.
    static Uuid v7();
    // Canonical lower-case text (8-4-4-4-12), or nullopt.
    static std::optional<Uuid> parse(std::string_view text);
    // Exactly 16 bytes as the database holds them, or nullopt.
    static std::optional<Uuid> from_bytes(std::string_view bytes);

    std::string text() const;
    std::string_view bytes() const {
        return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
    }
    auto operator<=>(const Uuid&) const = default;

  private:
    std::array<std::uint8_t, kBytes> bytes_{};
};

template <class Tag>
class Id {
  public:
    constexpr Id() = default;
    constexpr explicit Id(Uuid uuid) : uuid_(uuid) {}
    static Id create() { return Id(Uuid::v7()); }
    static std::optional<Id> parse(std::string_view text) {
        auto uuid = Uuid::parse(text);
        return uuid ? std::optional<Id>(Id(*uuid)) : std::nullopt;
    }
    const Uuid& uuid() const { return uuid_; }
    std::string text() const { return uuid_.text(); }
    std::string_view bytes() const { return uuid_.bytes(); }
    auto operator<=>(const Id&) const = default;

  private:
    Uuid uuid_;
};

using OrgId = Id<struct OrgTag>;
using UserId = Id<struct UserTag>;
using MemberId = Id<struct MemberTag>;
using AdminId = Id<struct AdminTag>;
using ApiKeyId = Id<struct ApiKeyTag>;
using ImportId = Id<struct ImportTag>;
using AttributeId = Id<struct AttributeTag>;
using SessionId = Id<struct SessionTag>;
using MailId = Id<struct MailTag>;
using AuditId = Id<struct AuditTag>;
using ModuleId = Id<struct ModuleTag>;
using VersionId = Id<struct VersionTag>;
using InstallationId = Id<struct InstallationTag>;
using CredentialId = Id<struct CredentialTag>;
using EventId = Id<struct EventTag>;  // of an engagement event
using EndpointId = Id<struct EndpointTag>;
using WebhookEventId = Id<struct WebhookEventTag>;
using DeliveryId = Id<struct DeliveryTag>;
using AttemptId = Id<struct AttemptTag>;
using PublishableKeyId = Id<struct PublishableKeyTag>;
using SlotId = Id<struct SlotTag>;
using CampaignId = Id<struct CampaignTag>;
using CreativeId = Id<struct CreativeTag>;
using ServingId = Id<struct ServingTag>;  // one ad served once
using ArticleId = Id<struct ArticleTag>;
using ConnectionId = Id<struct ConnectionTag>;  // to a provider of external data

}  // namespace muster

template <class Tag>
struct std::hash<muster::Id<Tag>> {
    std::size_t operator()(const muster::Id<Tag>& id) const noexcept {
        return std::hash<std::string_view>{}(id.bytes());
    }
};
