#include "rules/imports/kept_payload.hpp"

#include "base/email.hpp"
#include "base/text.hpp"
#include "rules/imports/row_faults.hpp"
#include "rules/members/core_fields.hpp"
#include "rules/members/payload.hpp"

namespace muster::rules {
namespace {

// Longer than every field allows, so that a shortened value is not valid when it is imported again.
constexpr std::size_t kMostKeptBytes = 1024;
constexpr std::string_view kShortened = "\xE2\x80\xA6";  // an ellipsis
// Otherwise an erasure would not find an address in a kept text.
static_assert(kMostKeptBytes + kShortened.size() <= kMostFoldedBytes);

void shorten(std::string& text) {
    if (text.size() <= kMostKeptBytes) return;
    std::size_t size = kMostKeptBytes;
    while (!is_utf8(std::string_view(text).substr(0, size))) --size;
    text.resize(size);
    text += kShortened;
}

// MemberPayload leaves out values that are not strings.
void keep_other_types(const json::JsonObject& object, MemberFields& out) {
    for (const auto& entry : kCoreFields) {
        const auto value = object.find(entry.name);
        if (value && !value->is_null() && !value->is_string()) {
            out.*entry.sent = minified(*value);
        }
    }
}

}  // namespace

void KeptPayload::decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                         MemberFields& out) const {
    const auto object = to.object(in, path);
    if (!object) return;
    json::Decoding own;
    own.faults = Faults(kMostRowFaults);
    own.today = to.today;
    own.scratch.swap(to.scratch);  // lent, because each row has a Decoding of its own
    MemberPayload{}.decode(in, json::Path(), own, out);
    own.scratch.swap(to.scratch);
    if (own.faults.empty()) return;
    keep_other_types(*object, out);
    for (const auto& entry : kCoreFields) shorten(out.*entry.sent);
    // As a valid address is stored, so that an erasure finds it.
    fold_email(out.email);
    std::vector<RowFault> faults;
    for (const Fault& fault : own.faults.list()) faults.push_back({fault.path, fault.code});
    out.attributes = pack_faults(std::move(faults), out.attributes);
}

}  // namespace muster::rules
