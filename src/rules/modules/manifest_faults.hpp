// The sentences about faults of a manifest. Each names what was received, shortened, and what is
// allowed. A manifest declares settings and does not contain their values, so it may be shown. Two
// faults show no value, because an author may have written the secret there: a flag, and a property
// that is not an object.
#pragma once

#include "json/json_in.hpp"

#include <string>
#include <string_view>

namespace muster::rules {

// The value as JSON, shortened to about 40 bytes.
[[nodiscard]] std::string shown_value(const json::JsonIn& value);

// `expected`: such as "a string". "is 5; use a string"
[[nodiscard]] std::string wrong_type_message(const json::JsonIn& value, std::string_view expected);

// Why a module with this slug cannot emit the type. "is \"other.paid\"; use a type that …"
[[nodiscard]] std::string emits_message(std::string_view slug, const json::JsonIn& type);

// Why no endpoint could subscribe to the type.
[[nodiscard]] std::string subscribes_message(const json::JsonIn& type);

}  // namespace muster::rules
