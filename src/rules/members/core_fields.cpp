// The field rules of a member. An import passes up to 250,000 rows through normalize(), so a valid
// value causes no allocation.
#include "rules/members/core_fields.hpp"

#include "base/email.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

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

constexpr bool fields_are_in_order() {
    for (std::size_t i = 0; i < kCoreFields.size(); ++i) {
        if (kCoreFields[i].field != static_cast<CoreField>(i)) return false;
    }
    return true;
}
static_assert(fields_are_in_order());

const CoreFieldEntry& entry_of(CoreField field) {
    return kCoreFields[static_cast<std::size_t>(field)];
}

constexpr bool is_free_text(CoreField field) {
    return field != CoreField::Email && field != CoreField::Country && field != CoreField::Dob;
}

// The length in bytes of the run of spaces and control characters that `text` begins with.
std::size_t blank_run(std::string_view text) {
    std::size_t length = 0;
    while (length < text.size()) {
        const std::size_t size = text[length] == ' ' ? 1 : control_size(text.substr(length));
        if (size == 0) break;
        length += size;
    }
    return length;
}

// Replaces each run of spaces and control characters that has a control character by one space. A
// line break in a cell must not cost the text.
void join_lines(std::string& text) {
    std::string joined;
    joined.reserve(text.size());
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view run = rest.substr(0, blank_run(rest));
        joined += has_control(run) ? " " : run;
        rest.remove_prefix(run.size());
        if (rest.empty()) break;
        joined += rest.front();
        rest.remove_prefix(1);
    }
    text = std::move(joined);
    trim(text);
}

}  // namespace

std::optional<CoreField> core_field(std::string_view name) {
    for (const CoreFieldEntry& entry : kCoreFields) {
        if (entry.name == name) return entry.field;
    }
    return std::nullopt;
}

bool is_country(std::string_view country) {
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    return country.size() == 2 && is_upper(country[0]) && is_upper(country[1]) &&
           kIsCountry[pair_index(country[0], country[1])];
}

std::optional<FieldCode> normalize_country(std::string& text) {
    if (const auto fault = normalize(CoreField::Country, text, Date())) return fault;
    return text.empty() ? std::optional(FieldCode::InvalidCountry) : std::nullopt;
}

bool is_birthday(std::string_view dob, Date today) {
    constexpr int kFirstYear = 1900;
    const std::optional<Date> date = Date::parse(dob);
    return date && date->year() >= kFirstYear && *date < today;
}

FieldLimits limits_of(CoreField field, FieldCode fault) {
    const CoreFieldEntry& entry = entry_of(field);
    FieldLimits limits;
    if (fault == FieldCode::TooLong) limits = longest(entry.max_length);
    limits.format = entry.format;
    return limits;
}

std::optional<FieldCode> normalize(CoreField field, std::string& text, Date today) {
    if (field == CoreField::Email) return normalize_email(text);
    trim(text);
    if (text.empty()) return std::nullopt;
    if (has_control(text)) {
        if (!is_free_text(field)) return FieldCode::InvalidValue;
        join_lines(text);
        if (text.empty()) return std::nullopt;
    }

    switch (field) {
        case CoreField::Country:
            ascii_upper(text);
            if (!is_country(text)) return FieldCode::InvalidCountry;
            return std::nullopt;
        case CoreField::Dob:
            if (!is_birthday(text, today)) return FieldCode::InvalidDate;
            return std::nullopt;
        case CoreField::FirstName:
        case CoreField::LastName:
        case CoreField::DisplayName:
            compose(text);
            [[fallthrough]];
        case CoreField::Email:
        case CoreField::ExternalId:
        case CoreField::Locale:
            if (is_longer_than(text, entry_of(field).max_length)) return FieldCode::TooLong;
            return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace muster::rules
