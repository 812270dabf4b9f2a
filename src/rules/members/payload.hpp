// A member's payload in a request body (json/schema.hpp), decoded into MemberFields by the rules of
// rules/members/fields.hpp.
#pragma once

#include "json/schema.hpp"
#include "rules/members/fields.hpp"
#include "rules/members/member.hpp"

namespace muster::rules {

// The normalized payload of specification 2.1. Attributes are a flat object of at most 100 keys and
// 4 KiB per value; the registry checks them later.
struct MemberPayload {
    using Value = MemberFields;
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                MemberFields& out) const;
    Json::Value schema() const;
};

// The same fields except email, as changes. Null and "" clear a field or an attribute; attributes
// that are not named keep their values.
struct MemberPatchPayload {
    using Value = MemberPatch;
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                MemberPatch& out) const;
    Json::Value schema() const;
};

}  // namespace muster::rules
