// Declares the columns of a row once: one constant gives the SELECT list of a statement and maps
// its rows to a struct.
//
//   constexpr auto kSlot = columns<AdSlot>(column<&AdSlot::id>("id"),
//                                          column<&AdSlot::width>("width"));
//   static constexpr OrgSql kFind{"ad_slots.find", kSlot,
//                                 "SELECT {columns} FROM ad_slots WHERE organization_id = :org"};
//
// A column has the type of its member: an id, time, number, text, enum (kNames), RawJson or list of
// texts (a JSON array). A nullable column is an optional of these.
#pragma once

#include "base/names.hpp"
#include "base/record.hpp"
#include "db/connection.hpp"

#include <array>
#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

namespace muster::db {

// Throws DbError for a stored value that does not fit its type.
[[noreturn]] void refuse_value(std::string_view what);
// Reads a JSON array of texts.
std::vector<std::string> texts_of(const std::string& json);

template <class>
inline constexpr bool kIsOptional = false;
template <class Value>
inline constexpr bool kIsOptional<std::optional<Value>> = true;

template <class Value>
Value read_column(const Rows& rows, unsigned at) {
    if constexpr (kIsOptional<Value>) {
        if (rows.is_null(at)) return std::nullopt;
        return read_column<typename Value::value_type>(rows, at);
    } else if constexpr (std::is_same_v<Value, bool>) {
        return rows.integer(at) != 0;
    } else if constexpr (std::is_integral_v<Value>) {
        return static_cast<Value>(rows.integer(at));
    } else if constexpr (Named<Value>) {
        const auto value = parse<Value>(rows.bytes(at));
        if (!value) refuse_value("a text is not a value of its enum");
        return *value;
    } else if constexpr (std::is_same_v<Value, Timestamp>) {
        return rows.timestamp(at);
    } else if constexpr (std::is_same_v<Value, std::string>) {
        return rows.bytes(at);
    } else if constexpr (std::is_same_v<Value, RawJson>) {
        return {rows.bytes(at)};
    } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
        return texts_of(rows.bytes(at));
    } else {
        return rows.id<Value>(at);
    }
}

// For converted<>(): reads NULL as an empty value.
template <class Value>
Value or_empty(std::optional<Value> value) {
    return value ? std::move(*value) : Value();
}

// The member at the end of a path of member pointers.
template <auto First, auto... Rest>
constexpr auto& member_at(auto& owner) {
    if constexpr (sizeof...(Rest) == 0) {
        return owner.*First;
    } else {
        return member_at<Rest...>(owner.*First);
    }
}

template <auto First, auto...>
struct OwnerOf {
    using Type = typename MemberOf<decltype(First)>::Owner;
};
template <auto... Path>
using TypeAt = std::remove_reference_t<decltype(member_at<Path...>(
    std::declval<typename OwnerOf<Path...>::Type&>()))>;

// A part of a list has kWidth columns and reads them into its member.
template <auto... Path>
struct Column {
    using Owner = typename OwnerOf<Path...>::Type;
    static constexpr std::size_t kWidth = 1;
    std::array<std::string_view, 1> sql;

    static void read(const Rows& rows, unsigned at, Owner& owner) {
        member_at<Path...>(owner) = read_column<TypeAt<Path...>>(rows, at);
    }
};

template <class>
struct ArgumentOf;
template <class Result, class Argument>
struct ArgumentOf<Result (*)(Argument)> {
    using Type = std::remove_cvref_t<Argument>;
};

template <auto kConvert, auto... Path>
struct Converted {
    using Owner = typename OwnerOf<Path...>::Type;
    static constexpr std::size_t kWidth = 1;
    std::array<std::string_view, 1> sql;

    static void read(const Rows& rows, unsigned at, Owner& owner) {
        using Stored = typename ArgumentOf<decltype(kConvert)>::Type;
        member_at<Path...>(owner) = kConvert(read_column<Stored>(rows, at));
    }
};

template <auto Member>
struct Elements {
    using Owner = typename OwnerOf<Member>::Type;
    using Array = TypeAt<Member>;
    static constexpr std::size_t kWidth = std::tuple_size_v<Array>;
    std::array<std::string_view, kWidth> sql;

    static void read(const Rows& rows, unsigned at, Owner& owner) {
        for (auto& element : owner.*Member) {
            element = read_column<typename Array::value_type>(rows, at++);
        }
    }
};

template <class List, auto... Path>
struct Nested {
    using Owner = typename OwnerOf<Path...>::Type;
    static constexpr std::size_t kWidth = List::kWidth;
    std::array<std::string_view, kWidth> sql;

    static void read(const Rows& rows, unsigned at, Owner& owner) {
        auto& member = member_at<Path...>(owner);
        if constexpr (kIsOptional<TypeAt<Path...>>) {
            if (!rows.is_null(at)) List::read(rows, at, member.emplace());
        } else {
            List::read(rows, at, member);
        }
    }
};

// A list may be a part of another list of the same struct.
template <class Struct, class... Parts>
struct Columns {
    using Row = Struct;
    using Owner = Struct;
    static constexpr std::size_t kWidth = (Parts::kWidth + ...);
    std::array<std::string_view, kWidth> sql{};

    static void read(const Rows& rows, unsigned at, Row& row) {
        ((Parts::read(rows, at, row), at += Parts::kWidth), ...);
    }
    static Row read(const Rows& rows) {
        Row row{};
        read(rows, 1, row);
        return row;
    }
};

// One column, read into the member at the end of the path (&Outer::inner, &Inner::member).
template <auto... Path>
constexpr Column<Path...> column(std::string_view sql) {
    return {{sql}};
}

// The same, but `kConvert` converts the stored value. The column has the type of its argument.
template <auto kConvert, auto... Path>
constexpr Converted<kConvert, Path...> converted(std::string_view sql) {
    return {{sql}};
}

// One column for each element of a std::array.
template <auto Member>
constexpr Elements<Member> elements(
    const std::array<std::string_view, Elements<Member>::kWidth>& sql) {
    return {sql};
}

// The columns of a member that has its own list. An optional member is absent if its first column
// is NULL.
template <auto... Path, class List>
constexpr Nested<List, Path...> nested(const List& list) {
    return {list.sql};
}

template <class Struct, class... Parts>
constexpr auto columns(const Parts&... parts) {
    static_assert((std::is_same_v<typename Parts::Owner, Struct> && ...));
    Columns<Struct, Parts...> list;
    std::size_t at = 0;
    const auto add = [&](const auto& names) {
        for (const std::string_view name : names) list.sql[at++] = name;
    };
    (add(parts.sql), ...);
    return list;
}

// A list whose rows are tuples, for statements without a struct.
template <class... Values>
struct TupleColumns {
    using Row = std::tuple<Values...>;
    std::array<std::string_view, sizeof...(Values)> sql;

    static Row read(const Rows& rows) {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return Row{read_column<Values>(rows, I + 1)...};
        }
        (std::index_sequence_for<Values...>());
    }
};
template <class... Values>
constexpr TupleColumns<Values...> row(std::same_as<const char*> auto... sql) {
    return {{sql...}};
}

// The single column of a statement that is read as one value.
template <class Value>
struct SingleColumn {
    using Row = Value;
    static Row read(const Rows& rows) { return read_column<Value>(rows, 1); }
};

}  // namespace muster::db
