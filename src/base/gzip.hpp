// Decompresses request bodies (RFC 1952).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

enum class Gunzip : std::uint8_t { Complete, TooLong, Malformed };

struct Gunzipped {
    Gunzip result = Gunzip::Malformed;
    std::string text;  // only if Complete
};

// Decompresses one or more gzip members. It stops, with TooLong, as soon as the text exceeds
// `limit` bytes: a small input can stand for any amount. Malformed: not gzip, cut off, or followed
// by other bytes.
[[nodiscard]] Gunzipped gunzip(std::string_view bytes, std::size_t limit);

}  // namespace muster
