// rules/cursor.hpp: a cursor opens only if sealing its content again gives the same cursor, and
// never for another scope. Input: the scope, a line end, the cursor.
#include "rules/cursor.hpp"

#include "fuzz/fuzz.hpp"

using namespace muster;
using fuzz::must;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const rules::CursorSealer sealer(std::string(32, 'k'));
    std::string_view rest = fuzz::text_of(data, size);
    const std::string scope(fuzz::take(rest, '\n'));
    if (const auto position = sealer.open(scope, rest)) must(sealer.seal(scope, *position) == rest);
    const std::string sealed = sealer.seal(scope, rest);
    must(sealer.open(scope, sealed) == rest);
    must(!sealer.open(scope + "x", sealed));
    must(!sealer.open(scope, sealed + "A"));
    return 0;
}
