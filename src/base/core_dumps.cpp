#include "base/core_dumps.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>

namespace muster {

void disable_core_dumps() {
#ifndef MUSTER_SANITIZED  // LeakSanitizer attaches to the process at its end
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
}

}  // namespace muster
