// Prints both values of a failed BOOST_TEST comparison, for all types with a text: those with
// text(), enums, optionals, collections, tuples, JSON. Includes Boost.Test, because a test that
// compares before these templates are visible would use others.
#pragma once

#include "base/text.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <ranges>
#include <ratio>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace muster::test {

template <class T>
concept Text = std::convertible_to<const T&, std::string_view>;
template <class T>
concept HasText = requires(const T& value) {
    { value.text() } -> Text;
};
template <class T>
concept HasJson = requires(const T& value) {
    value.toStyledString();
};
template <class T>
concept Duration = std::same_as<T, std::chrono::duration<typename T::rep, typename T::period>>;
template <class T>
concept Moment = Duration<typename T::duration> && requires(T value) {
    value.time_since_epoch();
};
template <class T>
concept Maybe = requires(const T& value) {
    value.has_value();
    *value;
};
template <class T>
concept Variant = requires {
    std::variant_size<T>::value;
};
template <class T>
concept Collection = std::ranges::range<const T> && !Text<T> && !HasText<T> && !HasJson<T>;
// Boost.Test treats these as collections.
template <class T>
concept Iterable = Collection<T> || HasJson<T>;
template <class T>
concept Tuple = requires {
    std::tuple_size<T>::value;
}
&&!Collection<T>;

// Unchanged, or in hexadecimal if it is not text.
inline std::string readable(std::string_view bytes) {
    const bool is_text = is_utf8(bytes) && std::ranges::none_of(bytes, [](unsigned char c) {
                             return (c < ' ' && c != '\n' && c != '\r' && c != '\t') || c == 0x7f;
                         });
    return is_text ? std::string(bytes) : "x'" + to_hex(bytes) + "'";
}

// The compiler's own list of the enumerators with the values 0, 1, 2 …: "{ErrorCode::BadRequest,
// …}", and "(ErrorCode)7" for a value without one.
template <auto... Values>
constexpr std::string_view enumerators() {
    return __PRETTY_FUNCTION__;
}
template <class Enum, std::size_t... I>
std::string enumerator(Enum value, std::index_sequence<I...>) {
    std::string_view list = enumerators<static_cast<Enum>(I)...>();
    list.remove_prefix(list.find('{') + 1);
    for (auto left = static_cast<std::size_t>(value); left > 0; --left) {
        list.remove_prefix(list.find(", ") + 2);
    }
    std::string name(list.substr(0, list.find_first_of(",}")));
    for (const std::string_view outer : {"muster::", "{anonymous}::"}) {
        if (const auto at = name.find(outer); at != name.npos) name.erase(at, outer.size());
    }
    return name;
}

template <class T>
void print(std::ostream& to, const T& value);

template <class T>
void print_all(std::ostream& to, const T& values) {
    const char* between = "";
    to << '{';
    for (const auto& value : values) {
        to << std::exchange(between, ", ");
        print(to, value);
    }
    to << '}';
}

template <class T>
void print_tuple(std::ostream& to, const T& values) {
    const char* between = "";
    to << '{';
    std::apply(
        [&](const auto&... each) { ((to << std::exchange(between, ", "), print(to, each)), ...); },
        values);
    to << '}';
}

template <class T>
void print(std::ostream& to, const T& value) {
    if constexpr (std::same_as<T, bool>) {
        to << (value ? "true" : "false");
    } else if constexpr (Text<T>) {
        to << '"' << readable(value) << '"';
    } else if constexpr (std::is_enum_v<T>) {
        constexpr std::size_t kNamed = 64;
        const auto number = static_cast<std::int64_t>(value);
        if (number >= 0 && number < static_cast<std::int64_t>(kNamed)) {
            to << enumerator(value, std::make_index_sequence<kNamed>());
        } else {
            to << number;
        }
    } else if constexpr (HasText<T>) {
        to << value.text();
    } else if constexpr (HasJson<T>) {
        to << value.toStyledString();
    } else if constexpr (Duration<T>) {
        if constexpr (std::ratio_less_v<typename T::period, std::milli>) {
            to << std::chrono::duration_cast<std::chrono::microseconds>(value).count() << " us";
        } else {
            to << std::chrono::duration_cast<std::chrono::milliseconds>(value).count() << " ms";
        }
    } else if constexpr (Moment<T>) {
        print(to, value.time_since_epoch());
    } else if constexpr (std::same_as<T, std::nullopt_t> || std::same_as<T, std::monostate>) {
        to << "nothing";
    } else if constexpr (Maybe<T>) {
        if (!value.has_value()) {
            to << "nothing";
        } else {
            print(to, *value);
        }
    } else if constexpr (Variant<T>) {
        std::visit([&](const auto& held) { print(to, held); }, value);
    } else if constexpr (Collection<T>) {
        print_all(to, value);
    } else if constexpr (Tuple<T>) {
        print_tuple(to, value);
    } else if constexpr (std::integral<T>) {
        to << +value;
    } else {
        to << value;
    }
}

}  // namespace muster::test

namespace boost::test_tools {

template <class T>
requires(std::is_class_v<T> || std::is_enum_v<T>) struct tt_detail::print_log_value<T> {
    void operator()(std::ostream& to, const T& value) {
        if constexpr (muster::test::Text<T>) {
            to << muster::test::readable(value);
        } else {
            muster::test::print(to, value);
        }
    }
};

namespace assertion {

// Compare with the pointer, as C++ does. Otherwise the compiler makes comparisons and reports for
// each length of a literal: an eighth of its time in the largest unit that was measured.
template <class T, std::size_t N>
auto operator==(value_expr<T>&& left, const char (&right)[N]) {
    return std::move(left).operator==(static_cast<const char*>(right));
}
template <class T, std::size_t N>
auto operator!=(value_expr<T>&& left, const char (&right)[N]) {
    return std::move(left).operator!=(static_cast<const char*>(right));
}

}  // namespace assertion

namespace assertion::op {

// Boost.Test's own comparisons of collections report no values. They have this third argument, so
// the ones below differ only in additional constraints.
template <class Lhs, class Rhs>
using WhenBothAreCollections =
    typename boost::enable_if_c<unit_test::is_forward_iterable<Lhs>::value &&
                                !unit_test::is_cstring_comparable<Lhs>::value &&
                                unit_test::is_forward_iterable<Rhs>::value &&
                                !unit_test::is_cstring_comparable<Rhs>::value>::type;
template <class T>
using Element = typename unit_test::bt_iterator_traits<T>::value_type;

template <class Lhs, class Rhs>
requires std::same_as<Lhs, Rhs> && muster::test::Iterable<Lhs>
struct EQ<Lhs, Rhs, WhenBothAreCollections<Lhs, Rhs>> {
    using result_type = assertion_result;
    using inverse = NE<Lhs, Rhs>;
    using elem_op = EQ<Element<Lhs>, Element<Rhs>>;

    static assertion_result eval(const Lhs& left, const Rhs& right) { return left == right; }
    template <class Left>
    static void report(std::ostream& to, const Left& left, const Rhs& right) {
        left.report(to);
        to << " != " << tt_detail::print_helper(right);
    }
    static const char* forward() { return " == "; }
    static const char* revert() { return " != "; }
};

template <class Lhs, class Rhs>
requires std::same_as<Lhs, Rhs> && muster::test::Iterable<Lhs>
struct NE<Lhs, Rhs, WhenBothAreCollections<Lhs, Rhs>> {
    using result_type = assertion_result;
    using inverse = EQ<Lhs, Rhs>;
    using elem_op = NE<Element<Lhs>, Element<Rhs>>;

    static assertion_result eval(const Lhs& left, const Rhs& right) { return left != right; }
    template <class Left>
    static void report(std::ostream& to, const Left& left, const Rhs& right) {
        left.report(to);
        to << " == " << tt_detail::print_helper(right);
    }
    static const char* forward() { return " != "; }
    static const char* revert() { return " == "; }
};

}  // namespace assertion::op
}  // namespace boost::test_tools
