// Checks the mapping of an import: each column by its target, then the columns together.
#include "rules/imports/mapping.hpp"

#include "base/text.hpp"
#include "rules/attributes.hpp"
#include "rules/members/core_fields.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace muster::rules {
namespace {

constexpr std::size_t kMostNameCharacters = 255;

std::vector<std::string> core_field_names() {
    std::vector<std::string> names;
    names.reserve(kCoreFields.size());
    for (const CoreFieldEntry& entry : kCoreFields) names.emplace_back(entry.name);
    return names;
}

class MappingCheck {
  public:
    MappingCheck(const AttributeRegistry& registry, Faults& faults)
        : registry_(registry), faults_(faults) {}

    void run(const Mapping& mapping) {
        for (index_ = 0; index_ < mapping.columns.size(); ++index_) check(mapping.columns[index_]);
        if (fields_.contains("email")) return;
        faults_.add("mapping.columns", FieldCode::Required,
                    "has no column for email; map one to fieldKey email");
    }

  private:
    void check(const MappingColumn& column) {
        check_name(column.source_column);
        const auto target = parse<MappingTarget>(column.target);
        if (!target) {
            const bool is_absent = column.target.empty();
            return fault("target", is_absent ? FieldCode::Required : FieldCode::InvalidChoice,
                         {.allowed = texts_of<MappingTarget>()});
        }
        switch (*target) {
            case MappingTarget::CoreField:
                check_field(column.field_key);
                return absent(column.attribute_key, "attributeKey");
            case MappingTarget::Attribute:
                absent(column.field_key, "fieldKey");
                return check_attribute(column.attribute_key);
            case MappingTarget::Ignored:
                absent(column.field_key, "fieldKey");
                return absent(column.attribute_key, "attributeKey");
        }
    }

    void check_name(std::string_view name) {
        constexpr std::string_view kName = "sourceColumn";
        if (name.empty()) return fault(kName, FieldCode::Required);
        if (utf8_length(name) > kMostNameCharacters) {
            return fault(kName, FieldCode::TooLong, longest(kMostNameCharacters));
        }
        if (has_control(name)) {
            return faults_.add(path_of(kName), FieldCode::InvalidValue,
                               "has a control character, such as a line break; remove it");
        }
        once(columns_, name, kName);
    }

    void check_field(std::string_view key) {
        if (key.empty()) return fault("fieldKey", FieldCode::Required);
        if (!core_field(key)) {
            return fault("fieldKey", FieldCode::InvalidChoice, {.allowed = core_field_names()});
        }
        once(fields_, key, "fieldKey");
    }

    void check_attribute(std::string_view key) {
        if (key.empty()) return fault("attributeKey", FieldCode::Required);
        if (!registry_.find(key)) {
            return fault("attributeKey", FieldCode::UnknownAttribute,
                         {.allowed = registry_.enabled_keys()});
        }
        once(attributes_, key, "attributeKey");
    }

    void absent(std::string_view key, std::string_view name) {
        if (!key.empty()) fault(name, FieldCode::UnknownField);
    }

    void once(std::set<std::string_view>& seen, std::string_view value, std::string_view name) {
        if (!seen.insert(value).second) fault(name, FieldCode::Duplicate);
    }

    std::string path_of(std::string_view name) const {
        std::string path = "mapping.columns[" + std::to_string(index_) + "].";
        path += name;
        return path;
    }

    void fault(std::string_view name, FieldCode code, FieldLimits limits = {}) {
        faults_.add(path_of(name), code, std::move(limits));
    }

    const AttributeRegistry& registry_;
    Faults& faults_;
    std::size_t index_ = 0;
    std::set<std::string_view> columns_;
    std::set<std::string_view> fields_;
    std::set<std::string_view> attributes_;
};

}  // namespace

void check_mapping(const Mapping& mapping, const AttributeRegistry& registry, Faults& faults) {
    MappingCheck(registry, faults).run(mapping);
}

}  // namespace muster::rules
