// The attribute registry of an organization (specification 2.2): the starter catalog, and
// listing, adding and enabling attributes.
#pragma once

#include "service/context.hpp"
#include "service/versions.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
class AttributeRegistry;
enum class AttributeType : std::uint8_t;
struct Attribute;
struct AttributeRecord;
}  // namespace muster::rules

namespace muster::service {

// The current registry, read in the given transaction or in a new one.
rules::AttributeRegistry attribute_registry(db::Tx& tx, OrgId organization);
rules::AttributeRegistry attribute_registry(Context& context, OrgId organization);
// The same, locked against changes until the end of the transaction. For transactions that write
// values.
rules::AttributeRegistry attribute_registry_for_writing(db::Tx& tx, OrgId organization);

// Adds the starter catalog to a new organization.
void add_starter_attributes(OrgTransaction& transaction, bool are_enabled);

// Whether the key is in the starter catalog.
[[nodiscard]] bool is_starter_attribute(std::string_view key);

// Attributes with a key greater than `after`, ordered by key. Returns up to `limit` + 1 rows; the
// extra row shows that there is a next page.
std::vector<rules::AttributeRecord> list_attributes(Context& context, OrgId organization,
                                                    std::string_view after, int limit);

std::optional<rules::AttributeRecord> find_attribute(Context& context, OrgId organization,
                                                     std::string_view key);

inline constexpr std::int64_t kMostAttributes = 200;  // of an organization
inline constexpr std::size_t kMostChoices = 500;
// The choices of all attributes of an organization, as JSON. Requests at the same time can exceed
// it, each by the size of its body.
inline constexpr std::int64_t kMostChoiceBytes = std::int64_t{1} << 20U;

// The body of PUT /v1/attributes/{key}. An absent label or list of choices is not changed; a new
// attribute defaults to its key as the label and to no choices.
struct AttributeChange {
    std::optional<std::string> label;
    rules::AttributeType type{};  // Text
    std::optional<std::vector<std::string>> choices;
    bool enabled = false;
};
// Creates or changes an attribute. `updated_at` changes only if a value does. Throws
// VALIDATION_ERROR if the attribute is invalid (the key is field `key`), INVALID_STATE for a new
// type of a starter attribute or of an attribute with stored values.
rules::AttributeRecord put_attribute(OrgTransaction& transaction, std::string_view key,
                                     const AttributeChange& change, const VersionCheck& check = {});

// For the operator. Throws std::invalid_argument if the key, type or choices are invalid.
void add_attribute(Context& context, OrgId organization, const rules::Attribute& attribute);
// Returns false if the organization does not have the key.
bool enable_attribute(Context& context, OrgId organization, std::string_view key, bool enabled);

}  // namespace muster::service
