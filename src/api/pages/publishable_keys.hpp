// What tracking_keys.cpp and content_keys.cpp share: bodies, the record and the handlers of keys
// that stand in web pages (docs/engagement.md "Publishable keys"). The key is public, so every
// answer shows it.
#pragma once

#include "service/pages/publishable_keys.hpp"

#include "api/groups.hpp"
#include "rules/origins.hpp"

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace muster::api {

// ---------------------------------------------------------------------------- bodies

// Stored canonical; "" where there was a fault.
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

// Two spellings of one origin are one too many.
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
    json::required("name", &NewPublishableKey::name, kKeyName),
    json::required("allowed_origins", &NewPublishableKey::allowed_origins, AllowedOrigins{}),
    json::optional("expires_at", &NewPublishableKey::expires_at, json::Instant{}));

inline constexpr auto kPublishableKeyChange = json::object<PublishableKeyChange>(
    json::optional("name", &PublishableKeyChange::name, kKeyName),
    json::optional("allowed_origins", &PublishableKeyChange::allowed_origins, AllowedOrigins{}),
    json::clearable("expires_at", &PublishableKeyChange::expires_at, json::Instant{}));

// The object with more fields.
template <class Object, class... More>
constexpr auto with_fields(const Object& object, More... more) {
    return std::apply(
        [&](const auto&... fields) {
            return json::object<typename Object::Value>(fields..., more...);
        },
        object.fields);
}

// ---------------------------------------------------------------------------- replies

// The record of the kind, with `more` of its own.
template <class... More>
constexpr auto publishable_key_record(std::string_view name, More... more) {
    using rules::PublishableKey;
    return record<PublishableKey>(name, field<&PublishableKey::id>("id"),
                                  field<&PublishableKey::organization_id>("organization_id"),
                                  field<&PublishableKey::name>("name"),
                                  field<&PublishableKey::token>("key"),
                                  field<&PublishableKey::allowed_origins>("allowed_origins"),
                                  more..., field<&PublishableKey::created_by>("created_by"),
                                  field<&PublishableKey::created_at>("created_at"),
                                  field<&PublishableKey::last_used_at>("last_used_at"),
                                  field<&PublishableKey::expires_at>("expires_at"),
                                  field<&PublishableKey::revoked_at>("revoked_at"));
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
auto create_publishable_key(Call&, service::OrgTransaction& transaction,
                            const NewPublishableKey& in) {
    return service::issue_publishable_key(transaction, kKind, in);
}

template <PublishableKeyKind kKind>
auto change_publishable_key(Call& call, service::OrgTransaction& transaction,
                            const PublishableKeyChange& in) {
    const auto id = call.id<PublishableKeyId>();
    return service::change_publishable_key(transaction, kKind, id, in);
}

template <PublishableKeyKind kKind>
void revoke_publishable_key(Call& call, service::OrgTransaction& transaction) {
    const auto id = call.id<PublishableKeyId>();
    if (!service::revoke_publishable_key(transaction, kKind, id)) throw Error(ErrorCode::NotFound);
}

// ---------------------------------------------------------------------------- rows

inline constexpr std::array kPublishableKeyListQuery = {
    page_limit("Keys a page."),
    kPageCursor,
};
inline constexpr std::array kPublishableKeyErrors = {ErrorCode::InvalidState};

}  // namespace muster::api
