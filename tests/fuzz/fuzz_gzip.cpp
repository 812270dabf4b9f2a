// base/gzip.hpp: a text is never longer than the limit, and a greater limit changes a text only
// from too long to complete.
#include "base/gzip.hpp"

#include "fuzz/fuzz.hpp"

using namespace muster;
using fuzz::must;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kSmall = 1000;
    constexpr std::size_t kLarge = 100'000;
    const std::string_view bytes = fuzz::text_of(data, size);
    const Gunzipped small = gunzip(bytes, kSmall);
    const Gunzipped large = gunzip(bytes, kLarge);
    must(small.text.size() <= kSmall && large.text.size() <= kLarge);
    if (small.result == Gunzip::Complete) {
        must(large.result == Gunzip::Complete && small.text == large.text);
    }
    if (small.result == Gunzip::Malformed) must(large.result == Gunzip::Malformed);
    if (large.result == Gunzip::TooLong) must(small.result == Gunzip::TooLong);
    return 0;
}
