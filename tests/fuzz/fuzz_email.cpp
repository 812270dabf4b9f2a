// base/email.hpp: a normalized address is an address, and normalizing it again changes nothing.
#include "base/email.hpp"

#include "base/text.hpp"
#include "fuzz/fuzz.hpp"

#include <string>

using namespace muster;
using fuzz::must;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string once(fuzz::text_of(data, size));
    if (!is_utf8(once) || normalize_email(once)) return 0;
    must(is_email(once) && is_utf8(once));
    std::string twice = once;
    must(!normalize_email(twice) && twice == once);
    return 0;
}
