// What the sanitizer drops from HTML (html_sanitizer.hpp), for the person who wrote it.
#pragma once

#include "base/names.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

using muster::text_of;

enum class DropReason : std::uint8_t {
    Element,    // the element is not allowed: its tags are dropped, its content is kept
    Content,    // the element is dropped with its content
    Attribute,  // the attribute is not allowed
    Value,      // the value of an allowed attribute is not allowed
    Address,    // a link or picture without a valid address: the link's text is kept
    Depth,      // nested too deep: the tags are dropped, the content is kept
    Comment,
    Markup,  // HTML that could overload a parser: all of it became text
};

// Equal parts are one entry.
struct DroppedHtml {
    DropReason reason = DropReason::Element;
    std::optional<std::string> element;    // nullopt: a comment, or all markup
    std::optional<std::string> attribute;  // nullopt: the part is not an attribute
    std::size_t line = 1;                  // of the first one in the source
    std::size_t count = 1;
};

// Counts dropped parts. Names come from a stranger's HTML, so they are shortened and contain
// visible ASCII only.
class DroppedParts {
  public:
    static constexpr std::size_t kMostEntries = 50;
    static constexpr std::size_t kLongestName = 64;

    void add(DropReason reason, std::string_view element, std::string_view attribute,
             std::size_t line);

    // The first kMostEntries, in the order of the source.
    const std::vector<DroppedHtml>& entries() const { return entries_; }
    // Of all parts, also those without an entry.
    std::size_t count() const { return count_; }

  private:
    std::vector<DroppedHtml> entries_;
    std::size_t count_ = 0;
};

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::DropReason> = {
    Name{rules::DropReason::Element, "element"},     Name{rules::DropReason::Content, "content"},
    Name{rules::DropReason::Attribute, "attribute"}, Name{rules::DropReason::Value, "value"},
    Name{rules::DropReason::Address, "address"},     Name{rules::DropReason::Depth, "depth"},
    Name{rules::DropReason::Comment, "comment"},     Name{rules::DropReason::Markup, "markup"}};

}  // namespace muster
