#include "base/memory.hpp"

#include <malloc.h>

namespace muster {
namespace {

// Holds a usual reply of up to 7 MiB and the copies that are made while it is built. A larger block
// has a mapping of its own, which the C library returns at once.
constexpr int kKeptBytes = 16 << 20;

}  // namespace

void keep_freed_memory() {
    ::mallopt(M_MMAP_THRESHOLD, kKeptBytes);
    ::mallopt(M_TRIM_THRESHOLD, kKeptBytes);
}

void release_freed_memory() {
    ::malloc_trim(kKeptBytes);
}

}  // namespace muster
