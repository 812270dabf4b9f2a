#include "base/email.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <array>

namespace muster {
namespace {

// RFC 5322 atext.
constexpr std::array<bool, 256> kIsAtext = [] {
    std::array<bool, 256> table{};
    for (unsigned c = 0; c < 128; ++c) table[c] = is_letter_or_digit(static_cast<char>(c));
    for (const char c : std::string_view("!#$%&'*+-/=?^_`{|}~")) {
        table[static_cast<unsigned char>(c)] = true;
    }
    return table;
}();

constexpr bool is_visible_ascii(unsigned char c) {
    return c > 0x20 && c < 0x7f;
}
constexpr bool is_ascii(unsigned char c) {
    return c < 0x80;
}

struct Range {
    char32_t first;
    char32_t last;
};

// Code points above ASCII that are invisible, so that two addresses could look the same: controls,
// spaces, surrogates, and those that Unicode calls default ignorable (DerivedCoreProperties.txt).
constexpr std::array kInvisible = {
    Range{0x80, 0xa0},       Range{0xad, 0xad},       Range{0x034f, 0x034f},
    Range{0x061c, 0x061c},   Range{0x115f, 0x1160},   Range{0x1680, 0x1680},
    Range{0x17b4, 0x17b5},   Range{0x180b, 0x180f},   Range{0x2000, 0x200f},
    Range{0x2028, 0x202f},   Range{0x205f, 0x206f},   Range{0x3000, 0x3000},
    Range{0x3164, 0x3164},   Range{0xd800, 0xdfff},   Range{0xfe00, 0xfe0f},
    Range{0xfeff, 0xfeff},   Range{0xffa0, 0xffa0},   Range{0xfff0, 0xfffb},
    Range{0xfffe, 0xffff},   Range{0x1bca0, 0x1bca3}, Range{0x1d173, 0x1d17a},
    Range{0xe0000, 0xe0fff},
};

constexpr bool is_invisible(char32_t point) {
    return std::any_of(kInvisible.begin(), kInvisible.end(), [point](const Range& range) {
        return point >= range.first && point <= range.last;
    });
}

// Returns the code point at `at` of valid UTF-8 and moves `at` to the next one.
char32_t next_code_point(std::string_view text, std::size_t& at) {
    const auto lead = static_cast<unsigned char>(text[at++]);
    if (is_ascii(lead)) return lead;
    const int tail = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    char32_t point = lead & (0x3fU >> static_cast<unsigned>(tail));
    for (int i = 0; i < tail; ++i) {
        point = point << 6U | (static_cast<unsigned char>(text[at++]) & 0x3fU);
    }
    return point;
}

bool has_non_ascii(std::string_view text) {
    return !std::all_of(text.begin(), text.end(), is_ascii);
}

bool has_invisible(std::string_view text) {
    if (!has_non_ascii(text)) return false;
    if (!is_utf8(text)) return true;
    for (std::size_t at = 0; at < text.size();) {
        if (is_invisible(next_code_point(text, at))) return true;
    }
    return false;
}

bool is_dot_string(std::string_view text) {
    bool may_end = false;  // the previous character belongs to an atom
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte == '.') {
            if (!may_end) return false;
            may_end = false;
        } else if (kIsAtext[byte] || !is_ascii(byte)) {
            may_end = true;
        } else {
            return false;
        }
    }
    return may_end;
}

// Includes its quotes. Inside, any visible character; `"` and `\` only after a `\`.
bool is_quoted_string(std::string_view text) {
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
    text = text.substr(1, text.size() - 2);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') return false;
        if (text[i] == '\\' && ++i == text.size()) return false;
        const auto byte = static_cast<unsigned char>(text[i]);
        if (is_ascii(byte) && !is_visible_ascii(byte)) return false;
    }
    return true;
}

bool is_local_part(std::string_view text) {
    constexpr std::size_t kLongest = 64;
    if (text.empty() || text.size() > kLongest || has_invisible(text)) return false;
    if (has_non_ascii(text) && !is_stream_safe(text)) return false;
    return text.front() == '"' ? is_quoted_string(text) : is_dot_string(text);
}

bool is_label(std::string_view text) {
    constexpr std::size_t kLongest = 63;
    if (text.empty() || text.size() > kLongest) return false;
    if (text.front() == '-' || text.back() == '-') return false;
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return is_letter_or_digit(c) || c == '-'; });
}

bool is_domain(std::string_view text) {
    for (int labels = 1;; ++labels) {
        const std::size_t dot = text.find('.');
        if (!is_label(text.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return labels >= 2;
        text.remove_prefix(dot + 1);
    }
}

// The position of the last code point of valid UTF-8.
std::size_t last_code_point(std::string_view text) {
    std::size_t at = text.size() - 1;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U) --at;
    return at;
}

bool is_blank(char32_t point) {
    return is_invisible(point) || point == ' ' || (point >= '\t' && point <= '\r');
}

std::string_view without_blank_ends(std::string_view text) {
    while (!text.empty()) {
        std::size_t next = 0;
        if (!is_blank(next_code_point(text, next))) break;
        text.remove_prefix(next);
    }
    while (!text.empty()) {
        std::size_t last = last_code_point(text);
        const std::size_t begin = last;
        if (!is_blank(next_code_point(text, last))) break;
        text = text.substr(0, begin);
    }
    return text;
}

// Not a text that takes long to fold: utf8proc sorts combining marks in quadratic time.
bool can_be_folded(std::string_view text) {
    return text.size() <= kMostFoldedBytes && is_utf8(text) && is_stream_safe(text);
}

// Without this check every ordinary address would be copied.
bool may_have_blank_ends(std::string_view text) {
    return !text.empty() && (!is_ascii(static_cast<unsigned char>(text.front())) ||
                             !is_ascii(static_cast<unsigned char>(text.back())));
}

// Whether an address that follows `text` is the end of a longer one. An address may also have `=`
// and similar characters. In a text they usually separate a name from an address, so they do not
// join. A dot and an apostrophe join only if something before them does.
bool joins_before(std::string_view text) {
    constexpr std::string_view kJoining = "!#$%&+-^_~";
    if (text.ends_with('.') || text.ends_with('\'')) text.remove_suffix(1);
    if (text.empty()) return false;
    return kJoining.find(text.back()) != std::string_view::npos || ends_in_word(text);
}

bool joins_after(std::string_view text) {
    const auto is_joining = [](char c) {
        return is_letter_or_digit(c) || c == '-' || c == '_' || c == '+';
    };
    if (text.starts_with('.')) text.remove_prefix(1);
    return !text.empty() && is_joining(text.front());
}

}  // namespace

bool is_email(std::string_view email) {
    constexpr std::size_t kShortest = 3;
    if (email.size() < kShortest || email.size() > kLongestEmail) return false;
    const std::size_t at = email.find('@');
    if (at == std::string_view::npos) return false;
    return is_local_part(email.substr(0, at)) && is_domain(email.substr(at + 1));
}

void fold_email(std::string& text) {
    // Not both: ascii_lower() would separate an I from its combining dot.
    if (has_non_ascii(text) && can_be_folded(text)) {
        text = folded(text);
    } else {
        ascii_lower(text);
    }
}

bool mentions_email(std::string_view text, std::string_view email) {
    for (std::size_t at = text.find(email); at != std::string_view::npos;
         at = text.find(email, at + 1)) {
        if (!joins_before(text.substr(0, at)) && !joins_after(text.substr(at + email.size()))) {
            return true;
        }
    }
    return false;
}

std::optional<FieldCode> normalize_email(std::string& text) {
    trim(text);
    if (may_have_blank_ends(text) && is_utf8(text)) text = std::string(without_blank_ends(text));
    if (text.empty()) return FieldCode::Required;
    if (has_control(text)) return FieldCode::InvalidValue;
    if (text.size() > kMostFoldedBytes) return FieldCode::TooLong;
    fold_email(text);
    if (is_longer_than(text, kLongestEmail)) return FieldCode::TooLong;
    if (!is_email(text)) return FieldCode::InvalidEmail;
    return std::nullopt;
}

}  // namespace muster
