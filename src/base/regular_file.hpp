// A bounded read of a file that a setting names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster {

struct RegularFile {
    std::string bytes;
    std::string problem;  // the reason why it cannot be read, and what to do next; else ""
};

// The first `most` bytes at most. A folder, a device, a pipe and a socket are a problem: reading
// them may wait or never end.
[[nodiscard]] RegularFile read_regular_file(const std::string& path, std::size_t most);

// The reason for an errno of reading, and what to do next.
[[nodiscard]] std::string reading_problem(int error);

// Whether the text has a certificate in PEM format.
[[nodiscard]] bool has_certificate(std::string_view text);

}  // namespace muster
