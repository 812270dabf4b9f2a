// The module contract (docs/modules.md "Module contract"): what a version's manifest must hold to
// be published, and what an installation's config may hold by it.
//
//   {"name": …, "description": …, "events": {"emits": [type], "subscribes": [type]},
//    "config_schema": {property: {"type": …, "required": …, "secret": …, "enum": […]}},
//    "permissions": […]}
//
// Only `name` is required. What is left out is empty, not required and not secret.
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

// Gathers what is wrong with the manifest of a module of that slug; paths such as
// "manifest.events.emits[2]". Any bytes are judged.
void check_manifest(std::string_view slug, std::string_view manifest, Faults& faults);

// The event types that a published manifest emits. Of any other text, what can be read.
[[nodiscard]] std::vector<std::string> emitted_types(std::string_view manifest);

// What stands in a config where a value is secret, and in a new config for "as it is stored".
inline constexpr std::string_view kHiddenValue = "***";

// A config as it is stored: `shown` is JSON with "***" for each secret value, `secrets` a JSON
// object of those values, empty for none.
struct Config {
    std::string shown;
    Secret secrets;
};

// Holds a config (a JSON object, each key once) against the schema of a published manifest; paths
// such as "config.api_key". A secret property that says "***" gets its value from `kept`, the
// secrets of the config before. The result counts only if there was no fault.
[[nodiscard]] Config check_config(std::string_view manifest, std::string_view config,
                                  const Secret& kept, Faults& faults);

}  // namespace muster::rules
