// http/fcgi_records.hpp: the verdict on a head never changes once it is known, and a complete head
// stays complete whatever follows.
#include "http/fcgi_records.hpp"

#include "fuzz/fuzz.hpp"

#include <string>

using namespace muster;
using fuzz::must;
using http::RequestHead;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(fuzz::text_of(data, size));
    const RequestHead whole = http::check_request_head(text);
    for (const std::size_t part : {size / 4, size / 2, size - size / 4}) {
        const RequestHead head = http::check_request_head(std::string_view(text).substr(0, part));
        must(head == RequestHead::Incomplete || head == whole);
    }
    if (whole != RequestHead::Incomplete) must(http::check_request_head(text + "x") == whole);
    return 0;
}
