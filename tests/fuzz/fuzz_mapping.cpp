// rules/imports/mapping.hpp: a mapping without a fault routes one column to the address and has no
// duplicate target. A line of input is a column: its name, target, fieldKey and attributeKey,
// separated by tabs.
#include "rules/attributes.hpp"
#include "rules/imports/mapping.hpp"

#include "base/text.hpp"
#include "fuzz/fuzz.hpp"

#include <set>

using namespace muster;
using fuzz::must;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const rules::AttributeRegistry registry(
        {{"phone", "Phone", rules::AttributeType::Text, {}, true},
         {"gender", "Gender", rules::AttributeType::SingleChoice, {"female"}, false}});
    rules::Mapping mapping;
    for (std::string_view line : split(fuzz::text_of(data, size), '\n')) {
        rules::MappingColumn& column = mapping.columns.emplace_back();
        for (auto* part : {&column.source_column, &column.target, &column.field_key}) {
            *part = fuzz::take(line, '\t');
        }
        column.attribute_key = line;
    }
    Faults faults;
    rules::check_mapping(mapping, registry, faults);
    for (const Fault& fault : faults.list()) must(fault.path.starts_with("mapping.columns"));
    if (!faults.empty()) return 0;
    std::set<std::string> sources;
    std::set<std::string> targets;
    for (const auto& column : mapping.columns) {
        must(sources.insert(column.source_column).second);
        must(column.field_key.empty() || column.attribute_key.empty());
        if (column.target == "ignored") continue;
        must(targets.insert(column.target + column.field_key + column.attribute_key).second);
    }
    must(targets.contains("core_fieldemail") && !targets.contains("attributegender"));
    return 0;
}
