// http/query.hpp: a decoded value is UTF-8 without NUL that is unchanged by encoding and decoding,
// and a query without a fault contains only the requested parameters, each once.
#include "http/query.hpp"

#include "base/text.hpp"
#include "fuzz/fuzz.hpp"

using namespace muster;
using fuzz::must;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    if (const auto value = http::percent_decoded(text)) {
        must(is_utf8(*value) && value->find('\0') == std::string::npos);
        std::string encoded;
        for (const char c : *value) encoded += "%" + to_hex({&c, 1});
        must(http::percent_decoded(encoded) == value);
    }
    Faults faults;
    http::Query query(text, faults);
    const int limit = query.integer("limit", 50, 1, 100);
    must(limit >= 1 && limit <= 100);
    const auto state = query.text("state", 16);
    (void)query.flag("raw");
    query.finish();
    if (!faults.empty()) return 0;
    must(!state || utf8_length(*state) <= 16);
    int given = 0;
    for (const std::string_view pair : split(text, '&')) given += pair.empty() ? 0 : 1;
    must(given <= 3);
    return 0;
}
