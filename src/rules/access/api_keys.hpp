// An organization's API key, without its secret.
#pragma once

#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/time.hpp"
#include "rules/access/roles.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace muster::rules {

using muster::text_of;

// What a key may do: everything that is open to keys, or reads only.
enum class KeyRole : std::uint8_t { Admin, Viewer };

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
    KeyRole role = KeyRole::Admin;
    std::optional<std::string> created_by_email = {};  // set only when a key is shown

    bool operator==(const ApiKey&) const = default;
};

// The rights of a seat that the key's requests have.
constexpr Role role_of(const ApiKey& key) {
    return key.role == KeyRole::Viewer ? Role::Viewer : Role::Admin;
}

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::KeyRole> = {Name{rules::KeyRole::Admin, "admin"},
                                                      Name{rules::KeyRole::Viewer, "viewer"}};

}  // namespace muster
