// The memory of this process, for tests of what a piece of work may hold.
#pragma once

#include <malloc.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace muster::test {

// The address sanitizer keeps freed memory for a while.
#ifdef MUSTER_SANITIZED
inline constexpr bool kIsMemoryFreed = false;
#else
inline constexpr bool kIsMemoryFreed = true;
#endif

// A line of /proc/self/status, in bytes.
inline std::int64_t status_bytes(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        std::int64_t kib = 0;
        if (word == name + ":" && status >> kib) return kib * 1024;
    }
    return 0;
}

// How much more memory than before the process had at the same time during `work`.
template <class Work>
std::int64_t peak_bytes(const Work& work) {
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";  // VmHWM begins again
    const std::int64_t before = status_bytes("VmRSS");
    work();
    return status_bytes("VmHWM") - before;
}

}  // namespace muster::test
