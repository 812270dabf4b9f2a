// The attribute registry of an organization (specification 2.2): the starter catalogue, enabling,
// adding, listing.
#pragma once

#include "rules/attributes.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

// The live registry, inside a transaction or a read session.
rules::AttributeRegistry attribute_registry(db::Tx& tx, OrgId organization);
rules::AttributeRegistry attribute_registry(Context& context, OrgId organization);
// The same for one who writes values: nobody changes the registry until the transaction ends.
rules::AttributeRegistry attribute_registry_for_writing(db::Tx& tx, OrgId organization);

// Puts the starter catalogue into a new organization, disabled.
void add_starter_attributes(OrgTransaction& transaction);

// Whether the key is of the starter catalogue.
[[nodiscard]] bool is_starter_attribute(std::string_view key);

// A page by key behind `after`; one more than `limit` tells that there is more.
std::vector<rules::AttributeRecord> list_attributes(Context& context, OrgId organization,
                                                    std::string_view after, int limit);

inline constexpr std::size_t kMostChoices = 500;

// What PUT /v1/attributes/{key} asks for; label and choices that are absent stay as they are, or in
// a new attribute are the key and none.
struct AttributeChange {
    std::optional<std::string> label;
    rules::AttributeType type = rules::AttributeType::Text;
    std::optional<std::vector<std::string>> choices;
    bool enabled = false;
};
// Creates or changes an attribute; updated_at moves only where something changed. Throws
// VALIDATION_ERROR for what no attribute can be (the key is field `key`), and INVALID_STATE for
// another type of a starter attribute or of one that some member has a value of.
rules::AttributeRecord put_attribute(OrgTransaction& transaction, std::string_view key,
                                     const AttributeChange& change);

// For the operator. Throws std::invalid_argument with a sentence for a key, type or choices that
// cannot be.
void add_attribute(Context& context, OrgId organization, const rules::Attribute& attribute);
// False for a key that the organization does not have.
bool enable_attribute(Context& context, OrgId organization, std::string_view key, bool enabled);

}  // namespace muster::service
