// Captures the log of a call, for unit and database tests.
#pragma once

#include "unit/client/scratch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <functional>
#include <string>

namespace muster::test {

// The text that `work` writes to standard error.
inline std::string logged(const std::function<void()>& work) {
    const Scratch scratch;
    const int file = open(scratch.file("log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int kept = dup(STDERR_FILENO);
    dup2(file, STDERR_FILENO);
    work();
    dup2(kept, STDERR_FILENO);
    close(file);
    close(kept);
    return scratch.read("log");
}

}  // namespace muster::test
