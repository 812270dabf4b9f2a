// The decoders of muster-import: a value that is converted has the API's form, and the bytes of a
// file are decoded in the same way in parts of any size.
#include "client/byte_streams.hpp"
#include "client/column_key.hpp"
#include "client/country_names.hpp"
#include "client/dates.hpp"
#include "client/encoding.hpp"
#include "client/value_format.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "fuzz/fuzz.hpp"
#include "rules/members/core_fields.hpp"

#include <sstream>
#include <stdexcept>

using namespace muster;
using namespace muster::client;
using fuzz::must;

namespace {

void check_values(std::string_view text) {
    const DateCell date = read_date(text);
    for (const DateOrder order :
         {DateOrder::YearFirst, DateOrder::DayFirst, DateOrder::MonthFirst, DateOrder::Serial}) {
        const auto iso = iso_date(date, order);
        must(!iso || Date::parse(*iso).has_value());
    }
    for (const DecimalMark mark : {DecimalMark::Unknown, DecimalMark::Point, DecimalMark::Comma}) {
        const auto number = json_number(text, mark);
        must(!number || is_json_number(*number));
    }
    const auto country = country_code(text);
    must(!country || rules::is_country(*country));
    for (const std::string_view part : list_parts(text, {}))
        must(!part.empty() && trimmed(part) == part);
}

std::string read_all(std::unique_ptr<std::streambuf> stream, std::streamsize part_bytes) {
    std::string all;
    std::string part(static_cast<std::size_t>(part_bytes), '\0');
    for (;;) {
        const std::streamsize count = stream->sgetn(part.data(), part_bytes);
        if (count == 0) return all;
        all.append(part, 0, static_cast<std::size_t>(count));
    }
}

std::unique_ptr<std::streambuf> stream_of(std::string_view text) {
    return std::make_unique<std::stringbuf>(std::string(text));
}

void check_decoders(std::string_view text) {
    EncodingDetector whole;
    EncodingDetector bytewise;
    whole.add(text);
    for (const char& c : text) bytewise.add({&c, 1});
    must(whole.name() == bytewise.name());
    must(!is_utf8(text) || whole.name() == "UTF-8");
    for (const char* encoding : {"windows-1252", "UTF-16LE", "UTF-16BE"}) {
        const std::string decoded = read_all(as_utf8(stream_of(text), encoding), 4096);
        must(decoded == read_all(as_utf8(stream_of(text), encoding), 1));
    }
    try {
        must(read_all(gunzipped(stream_of(text)), 4096).size() < (std::size_t{1} << 30U));
    } catch (const std::runtime_error&) {
        // damaged or incomplete
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    check_decoders(text);
    if (!is_utf8(text)) return 0;
    check_values(text);
    const std::string key = column_key(text);
    must(column_key(key) == key);
    return 0;
}
