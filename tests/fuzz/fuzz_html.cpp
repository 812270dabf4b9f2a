// rules/content/html_sanitizer.hpp: sanitizing the output again does not change it. The output has
// only allowed elements, allowed attributes in double quotes, and addresses with allowed schemes.
// The report of what was dropped is bounded, and empty for the output.
// The lexer here shares no code with the parser, so that both cannot have the same mistake.
#include "base/text.hpp"
#include "fuzz/fuzz.hpp"
#include "rules/content/html_sanitizer.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

using namespace muster;
using fuzz::must;

namespace {

constexpr std::string_view kElements =
    " p h1 h2 h3 h4 h5 h6 div section aside blockquote pre figure figcaption ul ol li dl dt dd table "
    "caption colgroup thead tbody tfoot tr th td a span em strong b i u s small mark del ins sub sup "
    "code kbd samp var q cite abbr time br hr img col wbr ";
constexpr std::string_view kAttributes =
    " lang dir title href src alt width height cite datetime start reversed span colspan rowspan "
    "scope rel ";

bool listed(std::string_view list, std::string_view word) {
    return !word.empty() && word.find(' ') == std::string_view::npos &&
           list.find(" " + std::string(word) + " ") != std::string_view::npos;
}

bool begins_with_one_of(std::string_view text, std::span<const std::string_view> beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](std::string_view beginning) { return text.starts_with(beginning); });
}

void check_attribute(std::string_view name, std::string_view value) {
    static constexpr std::array<std::string_view, 3> kLinks = {"https://", "http://", "mailto:"};
    static constexpr std::array<std::string_view, 1> kPictures = {"https://"};
    must(listed(kAttributes, name));
    must(value.find_first_of("<>\"") == std::string_view::npos);
    if (name == "href" || name == "cite") must(begins_with_one_of(value, kLinks));
    if (name == "src") must(begins_with_one_of(value, kPictures));
}

// `tag` is the text between '<' and '>'.
void check_tag(std::string_view tag) {
    if (tag.starts_with('/')) return must(listed(kElements, tag.substr(1)));
    must(listed(kElements, fuzz::take(tag, ' ')));
    while (!tag.empty()) {
        const std::string_view name = fuzz::take(tag, '=');
        must(tag.starts_with('"'));
        tag.remove_prefix(1);
        must(tag.find('"') != std::string_view::npos);
        check_attribute(name, fuzz::take(tag, '"'));
        must(tag.empty() || tag.starts_with(' '));
        if (!tag.empty()) tag.remove_prefix(1);
    }
}

bool is_visible(const std::optional<std::string>& name) {
    return !name ||
           std::all_of(name->begin(), name->end(), [](char c) { return c > ' ' && c <= '~'; });
}

// The report is for the same result, is bounded, and is empty for the result itself.
void check_report(std::string_view html, std::string_view clean) {
    const auto report = rules::sanitized_with_report(html);
    must(report.html == clean);
    must(report.dropped.size() <= rules::DroppedParts::kMostEntries);
    must(report.dropped.size() <= report.dropped_count);
    for (const auto& part : report.dropped) {
        must(is_visible(part.element) && is_visible(part.attribute));
        must(part.line >= 1 && part.count >= 1);
    }
    must(rules::sanitized_with_report(clean).dropped_count == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string clean = rules::sanitized_html(fuzz::text_of(data, size));
    must(rules::sanitized_html(clean) == clean);
    must(is_utf8(clean));
    check_report(fuzz::text_of(data, size), clean);
    std::string_view rest = clean;
    while (!rest.empty()) {
        must(fuzz::take(rest, '<').find('>') == std::string_view::npos);
        if (rest.empty()) break;
        must(rest.find('>') != std::string_view::npos);
        check_tag(fuzz::take(rest, '>'));
    }
    return 0;
}
