// json/json_body.hpp: a body is rejected as BAD_REQUEST, or is UTF-8 with the same meaning after
// printing and reading it again.
#include "json/json_body.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "fuzz/fuzz.hpp"

using namespace muster;
using fuzz::must;

namespace {

struct Meaning {
    std::string canonical;
    std::string printed;
};

std::optional<Meaning> read(std::string_view text) {
    try {
        const json::JsonBody body(text);
        return Meaning{json::canonical_json(body.root()), json::minified(body.root())};
    } catch (const Error& error) {
        must(error.code() == ErrorCode::BadRequest);
        must(error.details()["reason"].isString());
        return std::nullopt;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto meaning = read(fuzz::text_of(data, size));
    if (!meaning) return 0;
    must(is_utf8(fuzz::text_of(data, size)) && is_utf8(meaning->canonical));
    const auto again = read(meaning->printed);
    must(again && again->canonical == meaning->canonical);
    return 0;
}
