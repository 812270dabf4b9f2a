#include "rules/content/html_values.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace muster::rules::html_value {
namespace {

template <const auto& Choices>
std::optional<std::string> choice(std::string_view value) {
    std::string copy(trimmed_ascii(value));
    ascii_lower(copy);
    if (std::find(Choices.begin(), Choices.end(), copy) == Choices.end()) return std::nullopt;
    return copy;
}
constexpr std::array<std::string_view, 3> kDirections = {"ltr", "rtl", "auto"};
constexpr std::array<std::string_view, 4> kScopes = {"row", "col", "rowgroup", "colgroup"};

// Normalizes a URL as browsers do: removes white space and control characters around it, and line
// breaks and tabs inside ("java\tscript:").
std::string normalized_url(std::string_view url) {
    const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
    while (!url.empty() && is_blank(url.front())) url.remove_prefix(1);
    while (!url.empty() && is_blank(url.back())) url.remove_suffix(1);
    std::string read;
    for (const char c : url) {
        if (c != '\t' && c != '\n' && c != '\r') read += c;
    }
    return read;
}

// Returns an absolute URL with one of these schemes, the scheme in lower case. Rejects relative
// URLs, which would depend on the page that shows the article.
std::optional<std::string> address(std::string_view value,
                                   std::span<const std::string_view> schemes) {
    std::string url = normalized_url(value);
    if (has_control(url)) return std::nullopt;
    for (const std::string_view scheme : schemes) {
        if (url.size() <= scheme.size()) continue;
        if (!equal_ignoring_case(std::string_view(url).substr(0, scheme.size()), scheme)) continue;
        const char next = url[scheme.size()];
        if (next == '/' || next == '\\') return std::nullopt;
        return url.replace(0, scheme.size(), scheme);
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> any_text(std::string_view value) {
    return std::string(value);
}

std::optional<std::string> empty_text(std::string_view) {
    return "";
}

std::optional<std::string> number(std::string_view value) {
    constexpr unsigned kHighest = 65'534;
    const auto parsed = parse_number<unsigned>(trimmed_ascii(value));
    if (!parsed || *parsed > kHighest) return std::nullopt;
    return std::to_string(*parsed);
}

std::optional<std::string> direction(std::string_view value) {
    return choice<kDirections>(value);
}

std::optional<std::string> scope(std::string_view value) {
    return choice<kScopes>(value);
}

std::optional<std::string> language(std::string_view value) {
    constexpr std::size_t kLongest = 35;
    const bool is_one = value.size() <= kLongest &&
                        value.find_first_not_of(
                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") ==
                            std::string_view::npos;
    return is_one ? std::optional(std::string(value)) : std::nullopt;
}

std::optional<std::string> link(std::string_view value) {
    static constexpr std::array<std::string_view, 3> kSchemes = {"https://", "http://", "mailto:"};
    return address(value, kSchemes);
}

std::optional<std::string> page(std::string_view value) {
    static constexpr std::array<std::string_view, 2> kSchemes = {"https://", "http://"};
    return address(value, kSchemes);
}

std::optional<std::string> picture(std::string_view value) {
    static constexpr std::array<std::string_view, 1> kSchemes = {"https://"};
    return address(value, kSchemes);
}

}  // namespace muster::rules::html_value
