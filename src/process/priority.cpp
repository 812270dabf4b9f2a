#include "process/priority.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cerrno>
#include <string>

namespace muster::process {
namespace {

// The files in /proc of a process that is not dumpable (base/core_dumps.hpp) belong to root. So the
// process is dumpable while it opens this one. Its limit for core dumps remains 0.
int open_group() {
    constexpr const char* kFile = "/proc/self/autogroup";
    const int file = open(kFile, O_WRONLY | O_CLOEXEC);
    if (file >= 0 || errno != EACCES) return file;
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    const int opened = open(kFile, O_WRONLY | O_CLOEXEC);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return opened;
}

}  // namespace

LowPriority::LowPriority(int niceness) : niceness_(niceness) {
    if (niceness == 0) return;
    setpriority(PRIO_PROCESS, 0, niceness);
    setsid();
    file_ = open_group();
    apply();
}

LowPriority::~LowPriority() {
    if (file_ >= 0) close(file_);
}

void LowPriority::apply() {
    if (file_ < 0) return;
    const std::string text = std::to_string(niceness_);
    if (write(file_, text.data(), text.size()) < 0 && errno == EAGAIN) return;
    close(file_);
    file_ = -1;
}

}  // namespace muster::process
