// rules/attributes.hpp: any bytes are validated; a valid object becomes a document that returns it
// unchanged.
#include "rules/attributes.hpp"

#include "base/text.hpp"
#include "fuzz/fuzz.hpp"
#include "json/json_body.hpp"

using namespace muster;
using fuzz::must;

namespace {

using rules::AttributeType;

const rules::AttributeRegistry kRegistry(
    {{"text", "", AttributeType::Text, {}, true},
     {"number", "", AttributeType::Number, {}, true},
     {"day", "", AttributeType::Date, {}, true},
     {"flag", "", AttributeType::Boolean, {}, true},
     {"one", "", AttributeType::SingleChoice, {"a", "b"}, true},
     {"many", "", AttributeType::MultiChoice, {"a", "b"}, true}});

std::string canonical(const std::string& json) {
    return json::canonical_json(json::JsonBody(json).root());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string json(fuzz::text_of(data, size));
    (void)rules::attribute_values(json);
    const auto faults = rules::validate_all_attributes(kRegistry, json);
    const auto first = rules::validate_attributes(kRegistry, json).result;
    must(faults.empty() == (first == rules::AttributeResult::Good));
    const bool escapes =
        json.find("\\u") != std::string::npos;  // a body never contains a lone surrogate
    if (!faults.empty() || json.empty() || escapes) return 0;
    const std::string document =
        rules::attribute_document(json, rules::Provenance::Import, Timestamp(1'763'632'800'123));
    must(is_utf8(document) && !rules::fills_gap(document, document));
    must(canonical(rules::attribute_values(document)) == canonical(json));
    return 0;
}
