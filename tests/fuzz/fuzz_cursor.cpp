// rules/cursor.hpp: a cursor opens only if sealing its content again gives the same cursor, and
// never for another scope. Input: the scope, a line end, the cursor.
#include "rules/cursor.hpp"

#include "base/crypto.hpp"
#include "fuzz/fuzz.hpp"

using namespace muster;
using fuzz::must;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const rules::CursorSealer sealer(Secret(std::string(kSivKeyBytes, 'k')));
    std::string_view rest = fuzz::text_of(data, size);
    std::string scope = "list";  // a scope is not empty
    scope.append(fuzz::take(rest, '\n'));
    if (const auto position = sealer.open(scope, rest)) must(sealer.seal(scope, *position) == rest);
    const std::string sealed = sealer.seal(scope, rest);
    must(sealer.open(scope, sealed) == rest);
    must(!sealer.open(scope + "x", sealed));
    must(!sealer.open(scope, sealed + "A"));
    return 0;
}
