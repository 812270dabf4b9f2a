// The body of PATCH /v1/users/{userId}. Decoding reports faults, or gives a patch that is the same
// after it is written and read again. Applying a patch twice changes a document once.
#include "base/error.hpp"
#include "base/json.hpp"
#include "fuzz/fuzz.hpp"
#include "json/json_body.hpp"
#include "rules/attributes.hpp"
#include "rules/members/core_fields.hpp"
#include "rules/members/payload.hpp"

#include <optional>
#include <string>

using namespace muster;
using fuzz::must;

namespace {

std::optional<rules::MemberPatch> read(std::string_view text) {
    try {
        const json::JsonBody body(text);
        return json::decode(rules::MemberPatchPayload{}, body.root(), *Date::parse("2026-11-20"));
    } catch (const Error& error) {
        if (error.code() == ErrorCode::BadRequest) return std::nullopt;
        must(error.code() == ErrorCode::ValidationError);
        const Json::Value details = error.details();
        must(!details["fields"].empty() && details["fields"].size() <= Faults::kMost);
        return std::nullopt;
    }
}

std::string printed(const rules::MemberPatch& patch) {
    std::string text;
    JsonWriter to(text);
    to.begin_object();
    for (std::size_t i = 0; i < patch.texts.size(); ++i) {
        if (!patch.texts[i]) continue;
        to.key(rules::kCoreFields[i + 1].name);
        to.string(*patch.texts[i]);
    }
    if (!patch.attributes.empty()) {
        to.key("attributes");
        to.raw(patch.attributes);
    }
    to.end_object();
    return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto patch = read(fuzz::text_of(data, size));
    if (!patch) return 0;
    must(read(printed(*patch)) == patch);
    constexpr auto kApi = rules::Provenance::Api;
    const std::string stored = R"({"a":[1,"import",5],"k":["x","api",6]})";
    const auto once = rules::changed_document(stored, patch->attributes, kApi, Timestamp(7));
    must(!rules::changed_document(once.value_or(stored), patch->attributes, kApi, Timestamp(8)));
    (void)rules::attribute_entries(once.value_or(stored));
    return 0;
}
