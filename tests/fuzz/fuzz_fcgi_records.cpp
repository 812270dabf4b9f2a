// http/fcgi_records.hpp: the verdict on a head never changes once it is known, a complete head
// stays complete whatever follows, and each of its parameters is found.
#include "http/fcgi_records.hpp"

#include "fuzz/fuzz.hpp"

#include <string>

using namespace muster;
using fuzz::must;
using http::HeadState;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(fuzz::text_of(data, size));
    const http::RequestHead whole = http::read_head(text);
    for (const std::size_t part : {size / 4, size / 2, size - size / 4}) {
        const HeadState state = http::read_head(std::string_view(text).substr(0, part)).state;
        must(state == HeadState::Incomplete || state == whole.state);
    }
    if (whole.state != HeadState::Incomplete) {
        must(http::read_head(text + "x").state == whole.state);
    }
    if (whole.state != HeadState::Complete) return 0;
    must(whole.size <= size);
    must(http::read_head(std::string_view(text).substr(0, whole.size)).pairs == whole.pairs);
    const http::Parameters parameters(whole.pairs);
    std::size_t bytes = 0;
    for (const std::string_view name : parameters.names()) {
        must(parameters.find(name) == parameters.find_all(name).front());
        bytes += name.size();
    }
    must(bytes <= whole.pairs.size());
    return 0;
}
