#include "process/priority.hpp"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace muster::process {

LowPriority::LowPriority(int niceness) : missing_(niceness) {
    if (niceness == 0) return;
    setpriority(PRIO_PROCESS, 0, niceness);
    setsid();
    apply();
}

void LowPriority::apply() {
    if (missing_ == 0) return;
    const int file = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
    const std::string text = std::to_string(missing_);
    const bool is_refused_for_now =
        file >= 0 && write(file, text.data(), text.size()) < 0 && errno == EAGAIN;
    if (file >= 0) close(file);
    if (!is_refused_for_now) missing_ = 0;  // it has it, or the kernel does not know sessions
}

}  // namespace muster::process
