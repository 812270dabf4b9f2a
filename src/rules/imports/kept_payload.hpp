// A payload of a row that may be malformed (docs/api/imports.md "Malformed rows").
#pragma once

#include "json/schema.hpp"
#include "rules/members/fields.hpp"

namespace muster::rules {

// Decodes like MemberPayload. A malformed object adds no fault: its valid values are normalized,
// its invalid ones are kept after trimming and case folding, up to about a kilobyte each, and its
// faults are packed with its attributes (rules/imports/row_faults.hpp).
struct KeptPayload {
    using Value = MemberFields;
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                MemberFields& out) const;
};

}  // namespace muster::rules
