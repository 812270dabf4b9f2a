// Decompresses request bodies (RFC 1952).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// Empty members cost time and no bytes of text.
inline constexpr int kMostGzipMembers = 1000;

enum class Gunzip : std::uint8_t { Complete, TooLong, Malformed };

struct Gunzipped {
    Gunzip result = Gunzip::Malformed;
    std::string text;  // only if Complete
};

// Decompresses one or more gzip members. It stops, with TooLong, as soon as the text exceeds
// `limit` bytes: a small input can stand for any amount. Malformed: not gzip, cut off, followed
// by other bytes, or more than kMostGzipMembers members.
[[nodiscard]] Gunzipped gunzip(std::string_view bytes, std::size_t limit);

}  // namespace muster
