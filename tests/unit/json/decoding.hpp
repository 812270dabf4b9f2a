// Decodes a body with a schema, on a fixed day: the value, or the faults.
#pragma once

#include "base/error.hpp"
#include "json/json_body.hpp"
#include "json/schema.hpp"

#include "print.hpp"

#include <json/value.h>

#include <string>
#include <string_view>
#include <vector>

namespace muster::test {

using Texts = std::vector<std::string>;

template <class Schema>
typename Schema::Value decoded(const Schema& schema, std::string_view text) {
    const json::JsonBody body(text);
    return json::decode(schema, body.root(), *Date::parse("2026-11-20"));
}

// "path code" of each fault; empty if the text is accepted.
template <class Schema>
Texts faults(const Schema& schema, std::string_view text) {
    try {
        (void)decoded(schema, text);
        return {};
    } catch (const Error& error) {
        BOOST_TEST(error.code() == ErrorCode::ValidationError);
        Texts found;
        const Json::Value details = error.details();
        for (const Json::Value& field : details["fields"]) {
            found.push_back(field["path"].asString() + " " + field["code"].asString());
        }
        return found;
    }
}

}  // namespace muster::test
