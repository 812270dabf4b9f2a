// A member's payload as a body holds it (json/schema.hpp): decoded into MemberFields by the rules
// of rules/members/fields.hpp.
#pragma once

#include "json/schema.hpp"
#include "rules/members/fields.hpp"
#include "rules/members/member.hpp"

namespace muster::rules {

// The payload of specification 2.1, normalised; attributes are a flat object of at most 100 keys
// and 4 KiB a value, which the registry checks later.
struct MemberPayload {
    using Value = MemberFields;
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                MemberFields& out) const;
    Json::Value schema() const;
};

// The same fields save email, as changes: null and "" clear. Of attributes each key that is named
// changes, null and "" clear it.
struct MemberPatchPayload {
    using Value = MemberPatch;
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                MemberPatch& out) const;
    Json::Value schema() const;
};

}  // namespace muster::rules
