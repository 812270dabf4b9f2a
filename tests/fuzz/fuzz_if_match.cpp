// If-Match: a header lets a tag pass when one is added that holds it, and never a weak one.
#include "fuzz/fuzz.hpp"
#include "http/etag.hpp"

#include <string>

using namespace muster;
using fuzz::must;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string header(fuzz::text_of(data, size));
    const std::string tag = http::etag_of(header);
    must(!http::if_match_holds("W/" + tag, tag));
    must(http::if_match_holds(tag + "," + header, tag));
    (void)http::if_match_holds(header, "\"a\"");
    return 0;
}
