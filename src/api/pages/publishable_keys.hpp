// Bodies, record and handlers of publishable keys, for tracking_keys.cpp and content_keys.cpp
// (docs/engagement.md "Publishable keys"). The keys are public, so every reply contains them.
#pragma once

#include "service/pages/publishable_keys.hpp"

#include "api/authenticate.hpp"
#include "api/groups.hpp"
#include "base/settings.hpp"
#include "rules/origins.hpp"

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace muster::api {

// ---------------------------------------------------------------------------- bodies

// Stored in canonical form; "" after a fault.
struct AllowedOrigin {
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                std::string& out) const {
        std::string text;
        kText.decode(in, path, to, text);
        if (text.empty()) return;
        auto canonical = rules::canonical_allowed_origin(text);
        if (!canonical) return to.fault(path, FieldCode::InvalidUrl);
        out = std::move(*canonical);
    }
    Json::Value schema() const { return kText.schema(); }

  private:
    static constexpr json::Text kText{1, rules::kLongestAllowedOrigin};
};

// Two spellings of the same origin are duplicates.
struct AllowedOrigins {
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                std::vector<std::string>& out) const {
        kList.decode(in, path, to, out);
        std::set<std::string_view> seen;
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (out[i].empty() || seen.insert(out[i]).second) continue;
            to.fault(json::Path(path, i), FieldCode::Duplicate);
        }
    }
    Json::Value schema() const { return kList.schema(); }

  private:
    static constexpr auto kList = json::array_of(AllowedOrigin{}, 1, service::kMostOrigins);
};

using service::NewPublishableKey;
using service::PublishableKeyChange;

inline constexpr json::Text kKeyName{1, 255};

inline constexpr auto kNewPublishableKey = json::object<NewPublishableKey>(
    json::required("name", &NewPublishableKey::name, kKeyName,
                   "Name for people. It need not be unique.", "Club site"),
    json::required("allowed_origins", &NewPublishableKey::allowed_origins, AllowedOrigins{},
                   "Origins of the pages that may use the key, without duplicates.",
                   R"(["https://shop.example"])"),
    json::optional(
        "expires_at", &NewPublishableKey::expires_at, json::Instant{},
        "Future time when the key stops working. If omitted: valid until it is revoked."));

inline constexpr auto kPublishableKeyChange = json::object<PublishableKeyChange>(
    json::changeable("name", &PublishableKeyChange::name, kKeyName,
                     "Name for people. If omitted, not changed.", "Club site"),
    json::changeable("allowed_origins", &PublishableKeyChange::allowed_origins, AllowedOrigins{},
                     "All origins of the pages that may use the key. If omitted, not changed.",
                     R"(["https://shop.example"])"),
    json::clearable(
        "expires_at", &PublishableKeyChange::expires_at, json::Instant{},
        "Future time when the key stops working. null: no end. If omitted, not changed."));

// ---------------------------------------------------------------------------- replies

// The record of one kind of key, with its additional fields.
template <class... More>
constexpr auto publishable_key_record(std::string_view name, More... more) {
    using rules::PublishableKey;
    return record<PublishableKey>(
        name, field<&PublishableKey::id>("id", "Id of the record."),
        field<&PublishableKey::organization_id>(
            "organization_id", "Id of the organization that the record belongs to."),
        field<&PublishableKey::name>("name", "Name for people.", "Club site"),
        field<&PublishableKey::token>("key", "The key. It is public, because pages contain it.",
                                      "ek_live_..."),
        field<&PublishableKey::allowed_origins>(
            "allowed_origins", "Origins of the pages that may use the key, in lower case.",
            R"(["https://shop.example"])"),
        more...,
        field<&PublishableKey::created_by>(
            "created_by", "Id of the admin who created it; null if the operator did."),
        field<&PublishableKey::created_by_email>(
            "created_by_email", "Email address of that admin; null if there is none.",
            "ada@example.org"),
        field<&PublishableKey::created_at>("created_at", "Time when the record was created."),
        field<&PublishableKey::last_used_at>(
            "last_used_at", "Time of the last use, exact to the minute; null if never used."),
        field<&PublishableKey::expires_at>("expires_at",
                                           "Time when it stops working; null if it has no end."),
        field<&PublishableKey::revoked_at>("revoked_at",
                                           "Time when it was revoked; null while it is valid."));
}

// ---------------------------------------------------------------------------- handlers

using rules::PublishableKeyKind;

template <PublishableKeyKind kKind>
auto list_publishable_keys(Call& call) {
    auto keys = service::list_publishable_keys(call.context, call.org(), kKind,
                                               call.cursor_id<PublishableKeyId>(),
                                               call.query.integer("limit") + 1);
    return page_of(call, std::move(keys));
}

template <PublishableKeyKind kKind>
auto get_publishable_key(Call& call) {
    return service::find_publishable_key(call.context, call.org(), kKind,
                                         call.id<PublishableKeyId>());
}

inline service::InstallationRates tracking_rates(const Call& call) {
    const LimitsSettings& limits = call.context.settings.limits;
    return {limits.tracking_rate, limits.tracking_burst};
}

template <PublishableKeyKind kKind>
auto create_publishable_key(Call& call, service::OrgTransaction& transaction,
                            const NewPublishableKey& in) {
    service::check_key_bounds({in.rate_per_second, in.burst, in.expires_at}, tracking_rates(call),
                              transaction.now);
    auto key = service::issue_publishable_key(transaction, call.context.keys, kKind, in);
    std::string location = std::string(call.endpoint.path) + "/" + key.id.text();
    return Answer{std::move(key), std::move(location)};
}

template <PublishableKeyKind kKind>
auto change_publishable_key(Call& call, service::OrgTransaction& transaction,
                            const PublishableKeyChange& in) {
    // Pages can use the key after a stolen session has ended.
    const auto check_access = [&call] { require_recent_factor(call.caller); };
    return service::change_publishable_key(transaction, call.context.keys, kKind,
                                           call.id<PublishableKeyId>(), in, tracking_rates(call),
                                           check_access);
}

template <PublishableKeyKind kKind>
void revoke_publishable_key(Call& call, service::OrgTransaction& transaction) {
    const auto id = call.id<PublishableKeyId>();
    if (!service::revoke_publishable_key(transaction, kKind, id)) throw Error(ErrorCode::NotFound);
}

// ---------------------------------------------------------------------------- rows

inline constexpr std::array kPublishableKeyListQuery = {
    page_limit(),
    kPageCursor,
};
inline constexpr std::array kPublishableKeyCreateErrors = {ErrorCode::InvalidState};
inline constexpr std::array kPublishableKeyChangeErrors = {ErrorCode::InvalidState,
                                                           ErrorCode::TwoFactorTooOld};

}  // namespace muster::api
