// Decides whether a program can work with a schema. musterd, muster-run, musterctl, /readyz and
// `musterctl health` use this rule (service/operations/schema.hpp reads the record).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::rules {

// The newest row of the table schema_version.
struct SchemaRecord {
    int version = 0;
    // The oldest program that can work with this schema, as the schema version that it was written
    // for. nullopt in schemas before version 6: only programs of exactly this version.
    std::optional<int> oldest_program;
};

enum class SchemaFit : std::uint8_t {
    None,           // no schema, or an incomplete one
    Older,          // the schema must be upgraded
    Current,        // the versions are equal
    NewerUsable,    // newer, but upgrades only added to it
    NewerUnusable,  // the schema, or an unfinished upgrade, requires a newer program
};

// `program`: the schema version that the program was written for.
[[nodiscard]] SchemaFit fit_of(int program, const std::optional<SchemaRecord>& schema);

// "none", "older", "current", "newer" or "too_new", for `musterctl db status`.
[[nodiscard]] std::string_view schema_fit_name(SchemaFit fit);

}  // namespace muster::rules
