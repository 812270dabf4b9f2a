// What makes a large JSON body costly, and how much of it the API accepts (docs/api/conventions.md
// "Conventions"). The server refuses more, and clients split what they send.
#pragma once

#include <cstddef>
#include <string_view>

namespace muster {

// An integer of at most this many characters, its sign included, fits in 64 bits.
inline constexpr std::size_t kShortInteger = 19;

// A number of more than 19 digits may take the parser 5 microseconds, so that 16 MiB of them would
// take 3 seconds. An integer beyond 64 bits becomes a string of more than three times its length.
inline constexpr std::size_t kMostLongNumbers = 1'000;

// Each takes some 50 nanoseconds and 24 bytes of the parsed document. Of one-digit numbers, 16 MiB
// hold 8 million.
inline constexpr std::size_t kMostJsonEntries = 1'000'000;

struct JsonParts {
    // The numbers of more than kShortInteger digits. A minus before that many digits counts as one.
    std::size_t long_numbers = 0;
    // The entries of arrays and the members of objects. An empty array or object counts as one
    // more.
    std::size_t entries = 0;

    JsonParts& operator+=(const JsonParts& more) {
        long_numbers += more.long_numbers;
        entries += more.entries;
        return *this;
    }
};

// Whether the text may have more than kMostLongNumbers or kMostJsonEntries. Fast, because it does
// not look for strings, so that their contents count too. false is certain.
[[nodiscard]] bool may_exceed_json_bounds(std::string_view json);

// The parts of a JSON text, outside its strings. The text need not be well-formed.
[[nodiscard]] JsonParts count_json_parts(std::string_view json);

}  // namespace muster
