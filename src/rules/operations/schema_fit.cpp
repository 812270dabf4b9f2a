#include "rules/operations/schema_fit.hpp"

namespace muster::rules {

SchemaFit fit_of(int program, const std::optional<SchemaRecord>& schema) {
    if (!schema || schema->version == 0) return SchemaFit::None;
    if (schema->version < program) return SchemaFit::Older;
    if (program < schema->oldest_program.value_or(schema->version)) return SchemaFit::NewerUnusable;
    return schema->version == program ? SchemaFit::Current : SchemaFit::NewerUsable;
}

std::string_view schema_fit_name(SchemaFit fit) {
    switch (fit) {
        case SchemaFit::None:
            return "none";
        case SchemaFit::Older:
            return "older";
        case SchemaFit::Current:
            return "current";
        case SchemaFit::NewerUsable:
            return "newer";
        case SchemaFit::NewerUnusable:
            return "too_new";
    }
    return "";
}

}  // namespace muster::rules
