#include "db/failing_allocation.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t g_failing_size = 0;  // 0: none

}  // namespace

// They replace those of the whole program. Memory of any of them may be freed by any other.
void* operator new(std::size_t size) {
    if (g_failing_size != 0 && size == g_failing_size) {
        g_failing_size = 0;
        throw std::bad_alloc();
    }
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
    return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
    std::free(memory);
}

namespace muster::test {

FailingAllocation::FailingAllocation(std::size_t size) {
    g_failing_size = size;
}

FailingAllocation::~FailingAllocation() {
    g_failing_size = 0;
}

bool FailingAllocation::has_failed() const {
    return g_failing_size == 0;
}

}  // namespace muster::test
