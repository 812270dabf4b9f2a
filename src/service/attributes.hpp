// The attribute registry of an organization (specification 2.2): the starter catalogue, enabling,
// adding, listing.
#pragma once

#include "rules/records.hpp"
#include "service/context.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

// The live registry, inside a transaction or a read session.
rules::AttributeRegistry attribute_registry(db::Tx& tx, OrgId organization);
rules::AttributeRegistry attribute_registry(Context& context, OrgId organization);

// Puts the starter catalogue into a new organization, disabled.
void add_starter_attributes(Unit& unit);

// Whether the key is of the starter catalogue.
[[nodiscard]] bool is_starter_attribute(std::string_view key);

// A page by key behind `after`; one more than `limit` tells that there is more.
std::vector<rules::AttributeRecord> list_attributes(Context& context, OrgId organization,
                                                    std::string_view after, int limit);

// For the operator. Throws std::invalid_argument with a sentence for a key, type or choices that
// cannot be.
void add_attribute(Context& context, OrgId organization, const rules::Attribute& attribute);
// False for a key that the organization does not have.
bool enable_attribute(Context& context, OrgId organization, std::string_view key, bool enabled);

}  // namespace muster::service
