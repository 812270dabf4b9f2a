// The field rules of a member; 250,000 rows pass through normalise() in an import, so the good path
// allocates nothing.
#include "rules/members/fields.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace muster::rules {
namespace {

constexpr std::string_view kCountries =
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ "
    "BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM "
    "DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS "
    "GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN "
    "KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ "
    "MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM "
    "PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV "
    "SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI "
    "VN VU WF WS YE YT ZA ZM ZW";

constexpr std::size_t kLetters = 26;

constexpr std::size_t pair_index(char first, char second) {
    return static_cast<std::size_t>(first - 'A') * kLetters +
           static_cast<std::size_t>(second - 'A');
}

constexpr std::array<bool, kLetters* kLetters> kIsCountry = [] {
    std::array<bool, kLetters * kLetters> table{};
    for (std::size_t i = 0; i < kCountries.size(); i += 3) {
        table[pair_index(kCountries[i], kCountries[i + 1])] = true;
    }
    return table;
}();
static_assert(std::count(kIsCountry.begin(), kIsCountry.end(), true) == 249);

constexpr bool is_letter_or_digit(unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// RFC 5322 atext.
constexpr std::array<bool, 256> kIsAtext = [] {
    std::array<bool, 256> table{};
    for (unsigned c = 0; c < 128; ++c) table[c] = is_letter_or_digit(static_cast<unsigned char>(c));
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
constexpr bool is_control(unsigned char c) {
    return c < 0x20 || c == 0x7f;
}

struct Range {
    char32_t first;
    char32_t last;
};

// Code points above ASCII that a reader cannot see, and so cannot tell one address from another by.
constexpr std::array kUnseen = {
    Range{0x80, 0xa0},     Range{0x1680, 0x1680}, Range{0x2000, 0x200f},
    Range{0x2028, 0x202f}, Range{0x205f, 0x2064}, Range{0x3000, 0x3000},
    Range{0xd800, 0xdfff}, Range{0xfeff, 0xfeff}, Range{0xfffe, 0xffff},
};

constexpr bool is_unseen(char32_t point) {
    return std::any_of(kUnseen.begin(), kUnseen.end(), [point](const Range& range) {
        return point >= range.first && point <= range.last;
    });
}

// The code point at `at` of valid UTF-8; moves `at` behind it.
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

bool has_unseen(std::string_view text) {
    if (std::all_of(text.begin(), text.end(), is_ascii)) return false;
    if (!is_utf8(text)) return true;
    for (std::size_t at = 0; at < text.size();) {
        if (is_unseen(next_code_point(text, at))) return true;
    }
    return false;
}

bool is_dot_string(std::string_view text) {
    bool may_end = false;  // an atom stands before this place
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

// With its quotes; inside, any visible character, `"` and `\` behind a `\` only.
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
    if (text.empty() || text.size() > kLongest || has_unseen(text)) return false;
    return text.front() == '"' ? is_quoted_string(text) : is_dot_string(text);
}

bool is_label(std::string_view text) {
    constexpr std::size_t kLongest = 63;
    if (text.empty() || text.size() > kLongest) return false;
    if (text.front() == '-' || text.back() == '-') return false;
    return std::all_of(text.begin(), text.end(),
                       [](unsigned char c) { return is_letter_or_digit(c) || c == '-'; });
}

bool is_domain(std::string_view text) {
    for (int labels = 1;; ++labels) {
        const std::size_t dot = text.find('.');
        if (!is_label(text.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return labels >= 2;
        text.remove_prefix(dot + 1);
    }
}

void trim(std::string& text) {
    const std::string_view kept = trimmed(text);
    if (kept.size() == text.size()) return;
    const auto front = static_cast<std::size_t>(kept.data() - text.data());
    text.erase(front + kept.size());
    text.erase(0, front);
}

bool is_too_long(std::string_view text, std::size_t most) {
    return text.size() > most && utf8_length(text) > most;
}

constexpr bool fields_stand_in_order() {
    for (std::size_t i = 0; i < kCoreFields.size(); ++i) {
        if (kCoreFields[i].field != static_cast<CoreField>(i)) return false;
    }
    return true;
}
static_assert(fields_stand_in_order());

const CoreFieldEntry& entry_of(CoreField field) {
    return kCoreFields[static_cast<std::size_t>(field)];
}

}  // namespace

std::optional<CoreField> core_field(std::string_view name) {
    for (const CoreFieldEntry& entry : kCoreFields) {
        if (entry.name == name) return entry.field;
    }
    return std::nullopt;
}

bool is_email(std::string_view email) {
    constexpr std::size_t kShortest = 3;
    constexpr std::size_t kLongest = 254;
    if (email.size() < kShortest || email.size() > kLongest) return false;
    const std::size_t at = email.find('@');
    if (at == std::string_view::npos) return false;
    return is_local_part(email.substr(0, at)) && is_domain(email.substr(at + 1));
}

bool is_country(std::string_view country) {
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    return country.size() == 2 && is_upper(country[0]) && is_upper(country[1]) &&
           kIsCountry[pair_index(country[0], country[1])];
}

bool is_birthday(std::string_view dob, Date today) {
    constexpr int kFirstYear = 1900;
    const std::optional<Date> date = Date::parse(dob);
    return date && date->year() >= kFirstYear && *date < today;
}

std::optional<FieldCode> normalise(CoreField field, std::string& text, Date today) {
    trim(text);
    if (text.empty()) {
        if (field == CoreField::Email) return FieldCode::Required;
        return std::nullopt;
    }
    if (std::any_of(text.begin(), text.end(), is_control)) return FieldCode::InvalidValue;

    switch (field) {
        case CoreField::Country:
            ascii_upper(text);
            if (!is_country(text)) return FieldCode::InvalidCountry;
            return std::nullopt;
        case CoreField::Dob:
            if (!is_birthday(text, today)) return FieldCode::InvalidDate;
            return std::nullopt;
        case CoreField::Email:
            ascii_lower(text);
            if (is_too_long(text, entry_of(field).max_length)) return FieldCode::TooLong;
            if (!is_email(text)) return FieldCode::InvalidEmail;
            return std::nullopt;
        case CoreField::ExternalId:
        case CoreField::FirstName:
        case CoreField::LastName:
        case CoreField::DisplayName:
        case CoreField::Locale:
            if (is_too_long(text, entry_of(field).max_length)) return FieldCode::TooLong;
            return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace muster::rules
