#include "json/json_in.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "json/large_number.hpp"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster::json {
namespace {

namespace dom = simdjson::dom;

template <class View>
constexpr bool kIsAlike = sizeof(View) == sizeof(JsonIn) &&
                          alignof(View) == alignof(JsonIn) && std::is_trivially_copyable_v<View>;
static_assert(kIsAlike<dom::element> && kIsAlike<dom::array> && kIsAlike<dom::object>);
static_assert(kIsAlike<dom::array::iterator> && kIsAlike<dom::object::iterator>);
static_assert(std::is_trivially_copyable_v<JsonIn>);

constexpr bool is_kind(JsonKind kind, dom::element_type type) {
    return static_cast<char>(kind) == static_cast<char>(type);
}
static_assert(is_kind(JsonKind::Null, dom::element_type::NULL_VALUE) &&
              is_kind(JsonKind::Boolean, dom::element_type::BOOL) &&
              is_kind(JsonKind::Signed, dom::element_type::INT64) &&
              is_kind(JsonKind::Unsigned, dom::element_type::UINT64) &&
              is_kind(JsonKind::Double, dom::element_type::DOUBLE) &&
              is_kind(JsonKind::String, dom::element_type::STRING) &&
              is_kind(JsonKind::Array, dom::element_type::ARRAY) &&
              is_kind(JsonKind::Object, dom::element_type::OBJECT));

dom::element element_of(const JsonIn& value) {
    return std::bit_cast<dom::element>(value);
}
dom::array array_of(const JsonIn& value) {
    return element_of(value).get_array().value_unsafe();
}
dom::object object_of(const JsonIn& value) {
    return element_of(value).get_object().value_unsafe();
}

template <class Value>
std::optional<Value> valued(simdjson::simdjson_result<Value> result) {
    Value value{};
    if (std::move(result).get(value)) return std::nullopt;
    return value;
}

}  // namespace

std::optional<std::int64_t> whole_number(const JsonIn& value) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    if (value.kind() != JsonKind::Double) return value.integer();
    const double number = *value.number();
    if (number < -kExact || number > kExact || number != std::trunc(number)) return std::nullopt;
    return static_cast<std::int64_t>(number);
}

namespace {

void append_canonical(std::string& to, const dom::element& element) {
    if (element.is_array()) {
        to += '[';
        const dom::array entries = element.get_array().value_unsafe();
        for (const dom::element entry : entries) {
            append_canonical(to, entry);
            to += ',';
        }
        to += ']';
    } else if (element.is_object()) {
        std::vector<std::pair<std::string_view, dom::element>> members;
        const dom::object object = element.get_object().value_unsafe();
        for (const auto& [key, value] : object) {
            members.emplace_back(key, value);
        }
        std::sort(members.begin(), members.end(),
                  [](const auto& left, const auto& right) { return left.first < right.first; });
        to += '{';
        for (const auto& [key, value] : members) {
            append_json_string(to, key);
            to += ':';
            append_canonical(to, value);
            to += ',';
        }
        to += '}';
    } else if (const auto whole = whole_number(std::bit_cast<JsonIn>(element))) {
        to += std::to_string(*whole);  // 5, 5.0 and 5e0 are the same number
    } else {
        to += simdjson::minify(element);
    }
}

}  // namespace

JsonKind JsonIn::kind() const {
    const dom::element element = element_of(*this);
    const dom::element_type type = element.type();
    if (type == dom::element_type::STRING && large_number(element.get_string().value_unsafe())) {
        return JsonKind::Large;
    }
    return static_cast<JsonKind>(type);
}

std::optional<std::string_view> JsonIn::string() const {
    const dom::element element = element_of(*this);
    if (element.type() != dom::element_type::STRING) return std::nullopt;
    const std::string_view text = element.get_string().value_unsafe();
    return large_number(text) ? std::nullopt : std::optional(text);
}

std::optional<bool> JsonIn::boolean() const {
    return valued(element_of(*this).get_bool());
}

std::optional<std::int64_t> JsonIn::integer() const {
    return valued(element_of(*this).get_int64());
}

std::optional<double> JsonIn::number() const {
    if (kind() != JsonKind::Large) return valued(element_of(*this).get_double());
    return parse_number<double>(*large_number(element_of(*this).get_string().value_unsafe()));
}

std::optional<JsonArray> JsonIn::array() const {
    return is_array() ? std::optional(JsonArray(*this)) : std::nullopt;
}

std::optional<JsonObject> JsonIn::object() const {
    return is_object() ? std::optional(JsonObject(*this)) : std::nullopt;
}

std::optional<JsonIn> JsonIn::member(std::string_view key) const {
    return is_object() ? JsonObject(*this).find(key) : std::nullopt;
}

std::size_t JsonArray::size() const {
    return array_of(array_).size();
}

JsonArray::Iterator JsonArray::begin() const {
    return Iterator(std::bit_cast<JsonIn>(array_of(array_).begin()));
}

JsonArray::Iterator JsonArray::end() const {
    return Iterator(std::bit_cast<JsonIn>(array_of(array_).end()));
}

JsonArray::Iterator& JsonArray::Iterator::operator++() {
    at_ = std::bit_cast<JsonIn>(++std::bit_cast<dom::array::iterator>(at_));
    return *this;
}

std::size_t JsonObject::size() const {
    return object_of(object_).size();
}

JsonObject::Iterator JsonObject::begin() const {
    return Iterator(std::bit_cast<JsonIn>(object_of(object_).begin()));
}

JsonObject::Iterator JsonObject::end() const {
    return Iterator(std::bit_cast<JsonIn>(object_of(object_).end()));
}

std::optional<JsonIn> JsonObject::find(std::string_view key) const {
    const auto found = valued(object_of(object_).at_key(key));
    return found ? std::optional(std::bit_cast<JsonIn>(*found)) : std::nullopt;
}

JsonMember JsonObject::Iterator::operator*() const {
    const auto at = std::bit_cast<dom::object::iterator>(at_);
    return {at.key(), std::bit_cast<JsonIn>(at.value())};
}

JsonObject::Iterator& JsonObject::Iterator::operator++() {
    at_ = std::bit_cast<JsonIn>(++std::bit_cast<dom::object::iterator>(at_));
    return *this;
}

std::string minified(const JsonIn& value) {
    return unmarked(simdjson::minify(element_of(value)));
}

void append_value(std::string& to, const JsonIn& value) {
    if (const auto text = value.string()) {
        append_json_string(to, *text);
    } else if (const auto flag = value.boolean()) {
        to += *flag ? "true" : "false";
    } else {
        to += minified(value);
    }
}

std::string canonical_json(const JsonIn& value) {
    std::string text;
    append_canonical(text, element_of(value));
    return unmarked(std::move(text));
}

}  // namespace muster::json
