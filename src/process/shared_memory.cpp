#include "process/shared_memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <system_error>

namespace muster::process {

void* map_shared(std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    return memory;
}

void unmap_shared(void* memory, std::size_t bytes) {
    munmap(memory, bytes);
}

}  // namespace muster::process
