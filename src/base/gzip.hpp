// Decompresses request bodies (RFC 1952).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// Empty members cost time and no bytes of text.
inline constexpr int kMostGzipMembers = 1000;

// A dynamic block without text has 11 bytes, and takes as long as 1 KB of text. Compressors write
// some thousand bytes of text into each, but a text may be flushed after each short row.
inline constexpr std::size_t kFreeDynamicBlocks = 8192;
inline constexpr std::size_t kTextPerDynamicBlock = 128;

enum class Gunzip : std::uint8_t { Complete, TooLong, TooManyBlocks, Malformed };

struct Gunzipped {
    Gunzip result = Gunzip::Malformed;
    std::string text;  // only if Complete
};

// Decompresses one or more gzip members. It stops, with TooLong, as soon as the text exceeds
// `limit` bytes: a small input can stand for any amount. TooManyBlocks: more
// dynamic blocks than kFreeDynamicBlocks, plus one for each kTextPerDynamicBlock bytes of the text
// before them. Malformed: not gzip, cut off, followed by other bytes, or more than kMostGzipMembers
// members.
[[nodiscard]] Gunzipped gunzip(std::string_view bytes, std::size_t limit);

}  // namespace muster
