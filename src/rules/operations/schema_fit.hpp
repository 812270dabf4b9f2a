// Whether a program may work with a schema: the rule by which musterd, muster-run, musterctl,
// /readyz and `musterctl health` go (service/operations/schema.hpp asks the database).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::rules {

// What a schema says of itself, in the newest row of its table schema_version.
struct SchemaRecord {
    int version = 0;
    // The oldest program, by the schema that it was written for, that may work with this one.
    // nullopt, in schemas before version 6: none but that of this very version.
    std::optional<int> oldest_program;
};

enum class SchemaFit : std::uint8_t {
    None,           // no schema, or one that was not made to its end
    Older,          // the program wants an upgrade of the schema
    Current,        // made for each other
    NewerUsable,    // an upgrade has only added to what the program knows
    NewerUnusable,  // the schema, or an upgrade that has begun, wants a newer program
};

// `program`: the version of the schema that the program was written for.
[[nodiscard]] SchemaFit fit_of(int program, const std::optional<SchemaRecord>& schema);

// "none", "older", "current", "newer", "too_new": as `musterctl db status` shows it.
[[nodiscard]] std::string_view schema_fit_name(SchemaFit fit);

}  // namespace muster::rules
