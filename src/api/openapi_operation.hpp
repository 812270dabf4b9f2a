// An operation of the description, made from its row.
#pragma once

#include "api/groups.hpp"
#include "api/openapi_components.hpp"

namespace muster::api::openapi {

// The parameters and error responses of all rows, of which those that repeat are components.
struct Shared {
    SharedValues parameters{"parameters"};
    SharedValues responses{"responses"};
};
void add_to(Shared& shared, const Endpoint& row);

Json::Value operation_of(const Endpoint& row, std::string_view tag, const Shared& shared);

}  // namespace muster::api::openapi
