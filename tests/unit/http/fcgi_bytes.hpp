// FastCGI records as nginx sends them, for tests.
#pragma once

#include <cstddef>
#include <string>

namespace muster::test {

inline std::string fcgi_record(char type, const std::string& content, std::size_t padding = 0) {
    const std::string header = {1,
                                type,
                                0,
                                1,
                                static_cast<char>(content.size() >> 8U),
                                static_cast<char>(content.size()),
                                static_cast<char>(padding),
                                0};
    return header + content + std::string(padding, '\0');
}

inline std::string fcgi_begin(char role = 1) {
    return fcgi_record(1, {0, role, 0, 0, 0, 0, 0, 0});
}

// A text in which no part is like the part before it.
inline std::string text_of_size(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t at = 0; at < size; ++at) text[at] = static_cast<char>('a' + at % 23);
    return text;
}

}  // namespace muster::test
