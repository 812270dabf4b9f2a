// base/time.hpp: a time or day that was read has one written form, which is read as the same value.
#include "base/time.hpp"

#include "fuzz/fuzz.hpp"
#include "rules/members/core_field_checks.hpp"

using namespace muster;
using fuzz::must;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    if (const auto when = Timestamp::parse(text)) {
        must(when->milliseconds() >= 0);
        must(when->text().size() == 24);
        must(Timestamp::parse(when->text()) == when);
        must(Date::of(*when).text() == when->text().substr(0, 10));
    }
    if (const auto day = Date::parse(text)) {
        must(day->text() == text);
        must(day->year() >= 1 && day->year() <= 9999);
    }
    if (rules::is_birthday(text, *Date::parse("2026-11-20"))) {
        must(text >= "1900-01-01" && text < "2026-11-20");
    }
    return 0;
}
