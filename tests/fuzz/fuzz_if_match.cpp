// If-Match: adding a matching tag to a header makes it match, and adding a weak one never does.
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
