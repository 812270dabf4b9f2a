// The shared parts of operations. They appear once under /components and are referenced.
#pragma once

#include "api/endpoint.hpp"

#include <json/value.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace muster::api::openapi {

// {"$ref": "#/components/<kind>/<name>"}
Json::Value reference(std::string_view kind, std::string_view name);

Json::Value headers();
Json::Value security_schemes();

// References to these headers.
Json::Value header_references(const std::vector<std::string_view>& names);

// The component "ApiError", and an example for each error code.
Json::Value error_schema();
Json::Value error_examples();

// The response for a status with these error codes; its description has a sentence for each.
Json::Value error_response(const std::vector<ErrorCode>& codes);
// "UnauthorizedOr2faRequired"
std::string response_name(const std::vector<ErrorCode>& codes);

// Values that may repeat. A value that was added at least twice becomes a component, unless an
// earlier one has its name.
class SharedValues {
  public:
    explicit SharedValues(std::string_view kind) : kind_(kind) {}

    void add(std::string name, const Json::Value& value);
    // A reference to the component, or the value itself if it is not one.
    Json::Value use(const Json::Value& value) const;
    Json::Value components() const;

  private:
    struct Entry {
        std::string name;
        Json::Value value;
        int uses = 0;
    };
    bool is_component(const Entry& entry) const;

    std::string kind_;
    std::vector<Entry> entries_;
};

// Moves each schema with a title to `schemas` under that name, and replaces it by a reference.
void hoist(Json::Value& node, Json::Value& schemas);

// Removes unreferenced components.
void drop_unused_components(Json::Value& document);

}  // namespace muster::api::openapi
