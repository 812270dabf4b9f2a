// Questions to the person at the terminal.
#pragma once

#include "base/text.hpp"

#include <unistd.h>

#include <functional>
#include <iostream>
#include <string>
#include <string_view>

namespace muster::main_program {

inline bool ask_on_terminal(const std::string& question) {
    std::cerr << question << " [y/N] " << std::flush;
    std::string answer;
    if (!std::getline(std::cin, answer)) std::cerr << '\n';
    const std::string_view word = trimmed(answer);
    return equal_ignoring_case(word, "y") || equal_ignoring_case(word, "yes");
}

inline std::string ask_text_on_terminal(const std::string& question) {
    std::cerr << question << ' ' << std::flush;
    std::string answer;
    if (!std::getline(std::cin, answer)) std::cerr << '\n';
    return std::string(trimmed(answer));
}

// Empty unless standard input and standard error are a terminal.
inline std::function<bool(const std::string&)> terminal_question() {
    if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) return {};
    return ask_on_terminal;
}
inline std::function<std::string(const std::string&)> terminal_text_question() {
    if (!terminal_question()) return {};
    return ask_text_on_terminal;
}

}  // namespace muster::main_program
