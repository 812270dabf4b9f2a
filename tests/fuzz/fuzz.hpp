// Shared by the fuzz targets. A target states a property of one decoder: it throws only its
// declared error, and a decoded value is equal after encoding and decoding it again. libFuzzer
// calls LLVMFuzzerTestOneInput (tests/fuzz/run-fuzzers), and so does replay.cpp with the corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace muster::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

// Aborts the process if the property does not hold. (clang 14 has no std::source_location.)
inline void must(bool holds, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (holds) return;
    std::fprintf(stderr, "%s:%d: does not hold\n", file, line);
    std::abort();
}

// Splits the text after its first `separator`; the rest remains.
inline std::string_view take(std::string_view& text, char separator) {
    const std::size_t end = text.find(separator);
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return taken;
}

}  // namespace muster::fuzz
