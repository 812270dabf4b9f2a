// Builds an operation of the OpenAPI document from its row.
#pragma once

#include "api/groups.hpp"
#include "api/openapi_components.hpp"

namespace muster::api::openapi {

// The parameters and error responses of all rows; repeated ones become components.
struct Shared {
    SharedValues parameters{"parameters"};
    SharedValues responses{"responses"};
};
void add_to(Shared& shared, const Endpoint& row);

Json::Value operation_of(const Endpoint& row, std::string_view tag, const Shared& shared);

}  // namespace muster::api::openapi
