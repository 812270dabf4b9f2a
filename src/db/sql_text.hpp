// Statement texts concatenated at compile time, for statements that share a part or follow from a
// table:
//
//   static constexpr SystemSql kFind{"sessions.find", kWhy,
//                                    kSqlText<[] { return SqlText{"SELECT 1 FROM ", kTables}; }>};
//
// A template gives a function template in place of a lambda: kSqlText<page_text<kIndex>>. Clang 14
// gives the lambdas of all instances the same type, so all would have the first one's text.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace muster::db {

class SqlText {
  public:
    constexpr SqlText(std::initializer_list<std::string_view> parts) { add(parts); }

    constexpr SqlText& add(std::initializer_list<std::string_view> parts) {
        for (const std::string_view part : parts) {
            for (const char c : part) bytes_.at(size_++) = c;
        }
        return *this;
    }
    constexpr std::string_view view() const { return {bytes_.data(), size_}; }

  private:
    static constexpr std::size_t kMostBytes = 4096;
    std::array<char, kMostBytes> bytes_{};
    std::size_t size_ = 0;
};

// The text that `kMake()` returns, in an array of its exact size.
template <auto kMake>
inline constexpr auto kSqlBytes = [] {
    constexpr SqlText kText = kMake();
    std::array<char, kText.view().size()> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = kText.view()[i];
    return bytes;
}();

template <auto kMake>
inline constexpr std::string_view kSqlText{kSqlBytes<kMake>.data(), kSqlBytes<kMake>.size()};

}  // namespace muster::db
