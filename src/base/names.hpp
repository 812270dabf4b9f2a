// The texts of an enum's values. text_of(), parse(), the choices of queries and bodies, and the
// mapping of database columns use kNames.
//
//   enum class Color : std::uint8_t { Red, Blue };
//
//   template <>
//   inline constexpr std::array muster::kNames<Color> = {Name{Color::Red, "red"},
//                                                         Name{Color::Blue, "blue"}};
//
// The enum's namespace needs `using muster::text_of;`, so that argument-dependent lookup finds
// text_of().
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace muster {

template <class Enum>
struct Name {
    Enum value;
    std::string_view text;
};
template <class Enum>
Name(Enum, std::string_view) -> Name<Enum>;

// All values, in the enum's order.
template <class Enum>
inline constexpr std::array<Name<Enum>, 0> kNames = {};

template <class Enum>
concept Named = std::is_enum_v<Enum> && !kNames<Enum>.empty();

namespace names {

// The compiler prints an enumerator by its name and any other value as a cast: "(Color)2".
template <auto kValue>
consteval bool is_enumerator() {
    const std::string_view printed = __PRETTY_FUNCTION__;
    const char last = printed[printed.rfind(')') + 1];
    return (last < '0' || last > '9') && last != '-';
}

template <class Enum>
constexpr int number_of(Enum value) {
    return static_cast<int>(value);
}

// The values are contiguous, and the enum has no value before the first or after the last one.
template <class Enum>
consteval bool are_complete() {
    constexpr auto& kAll = kNames<Enum>;
    for (std::size_t i = 0; i < kAll.size(); ++i) {
        if (number_of(kAll[i].value) != number_of(kAll.front().value) + static_cast<int>(i)) {
            return false;
        }
    }
    constexpr int kBefore = number_of(kAll.front().value) - 1;
    constexpr int kAfter = number_of(kAll.back().value) + 1;
    if constexpr (kBefore >= 0) {
        if (is_enumerator<static_cast<Enum>(kBefore)>()) return false;
    }
    return !is_enumerator<static_cast<Enum>(kAfter)>();
}

}  // namespace names

// The text of a value. Fails to compile if kNames is incomplete.
template <Named Enum>
constexpr std::string_view text_of(Enum value) {
    static_assert(names::are_complete<Enum>(), "kNames lists each value, in the enum's order");
    constexpr auto& kAll = kNames<Enum>;
    return kAll[static_cast<std::size_t>(names::number_of(value) -
                                         names::number_of(kAll.front().value))]
        .text;
}

// The value with this text, or nullopt.
template <Named Enum>
[[nodiscard]] constexpr std::optional<Enum> parse(std::string_view text) {
    for (const auto& name : kNames<Enum>) {
        if (name.text == text) return name.value;
    }
    return std::nullopt;
}

// The text at this index, or "" after the last one. For the choices of a query (api/endpoint.hpp).
template <Named Enum>
constexpr std::string_view name_at(std::size_t index) {
    return index < kNames<Enum>.size() ? kNames<Enum>[index].text : std::string_view();
}

// All texts, in the enum's order.
template <Named Enum>
[[nodiscard]] std::vector<std::string> texts_of() {
    std::vector<std::string> texts;
    texts.reserve(kNames<Enum>.size());
    for (const auto& name : kNames<Enum>) texts.emplace_back(name.text);
    return texts;
}

}  // namespace muster
