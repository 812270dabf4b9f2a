// The module contract (docs/modules.md "Module contract"): the rules for the manifest of a
// published version and for the config of an installation.
//
//   {"name": …, "description": …, "events": {"emits": [type], "subscribes": [type]},
//    "config_schema": {property: {"type": …, "required": …, "secret": …, "enum": […]}},
//    "permissions": […]}
//
// Only `name` is required. By default a list is empty, and a property is neither required nor
// secret.
#pragma once

#include "base/faults.hpp"
#include "base/secret.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

inline constexpr std::size_t kMostManifestBytes = std::size_t{64} << 10U;
inline constexpr std::size_t kMostConfigBytes = std::size_t{64} << 10U;

// ^[a-z][a-z0-9-]{1,62}$
[[nodiscard]] bool is_module_slug(std::string_view text);

// Checks the manifest of a module with this slug. Accepts any bytes. Adds faults with paths such as
// "manifest.events.emits[2]".
void check_manifest(std::string_view slug, std::string_view manifest, Faults& faults);

// The event types that a published manifest emits. For any other text, those that can be read.
[[nodiscard]] std::vector<std::string> emitted_types(std::string_view manifest);

// Replaces a secret value in a config. In a new config, it keeps the stored value.
inline constexpr std::string_view kHiddenValue = "***";

// A config as stored. `shown` is JSON with "***" for each secret value. `secrets` is a JSON object
// of these values, or empty.
struct Config {
    std::string shown;
    Secret secrets;
};

// Validates a config (a JSON object without duplicate keys) against the schema of a published
// manifest. Adds faults with paths such as "config.api_key". A secret property with the value "***"
// gets its value from `kept`, the secrets of the previous config. Use the result only if there is
// no fault.
[[nodiscard]] Config check_config(std::string_view manifest, std::string_view config,
                                  const Secret& kept, Faults& faults);

// The config as it was sent: `shown` with the values of `secrets` (both as in Config). Values that
// `secrets` lacks remain hidden.
[[nodiscard]] Secret revealed_config(std::string_view shown, const Secret& secrets);

// Whether two configs as shown are the same: 5 is 5.0, and properties may have any order.
[[nodiscard]] bool is_same_config(std::string_view shown, std::string_view other);

}  // namespace muster::rules
