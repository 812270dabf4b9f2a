// base/sealing.hpp: a value opens only if it was sealed for this context, and no changed value
// opens. Input: the context, a line end, the sealed bytes.
#include "base/crypto.hpp"
#include "base/sealing.hpp"

#include "fuzz/fuzz.hpp"

using namespace muster;
using fuzz::must;

namespace {

// Changes one bit, which the input selects.
std::string with_one_bit_changed(std::string sealed, std::string_view input) {
    std::size_t place = input.size();
    for (const char c : input) place = place * 31 + static_cast<unsigned char>(c);
    sealed[place / 8 % sealed.size()] =
        static_cast<char>(sealed[place / 8 % sealed.size()] ^ 1 << place % 8);
    return sealed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kFrame = 1 + 8 + 12 + 16;
    static const Secret kCurrent(std::string(32, 'k'));
    static const Secret kPrevious(std::string(32, 'p'));
    static const KeyRing kRing(kCurrent, kPrevious);
    static const KeyRing kOld(kPrevious);
    const std::string_view input = fuzz::text_of(data, size);
    std::string_view rest = input;
    const std::string context(fuzz::take(rest, '\n'));

    if (const auto plain = kRing.open(rest, context)) {
        must(plain->reveal().size() + kFrame == rest.size());
        must(!kRing.open(rest, context + "x"));
        must(!kRing.open(with_one_bit_changed(std::string(rest), input), context));
        must(kRing.is_current(rest) != kOld.is_current(rest));
    }
    (void)open_under(kCurrent, rest, context);

    const std::string sealed = kRing.seal(rest, context);
    must(kRing.is_current(sealed));
    must(kRing.open(sealed, context)->reveal() == rest);
    must(!kOld.open(sealed, context));
    must(!kRing.open(with_one_bit_changed(sealed, input), context));
    must(!kRing.open(sealed.substr(0, sealed.size() - 1), context));
    must(kRing.open(kOld.seal(rest, context), context)->reveal() == rest);
    return 0;
}
