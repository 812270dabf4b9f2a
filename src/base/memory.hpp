// What the C library does with freed memory.
#pragma once

namespace muster {

// Keeps up to 16 MiB of freed memory at the end of each heap for later use. By default the C
// library returns most of it to the kernel after a large reply, and the next one pays a page fault
// for each 4 KiB. Call it once, at the start of the program. Source: mallopt(3), M_TRIM_THRESHOLD
// and M_MMAP_THRESHOLD.
void keep_freed_memory();

// Returns freed memory to the kernel, except what keep_freed_memory keeps. For after work that
// needed much more memory than usual.
void release_freed_memory();

}  // namespace muster
