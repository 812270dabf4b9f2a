// An allocation that fails, for tests of what a piece of work does without memory.
#pragma once

#include <cstddef>

namespace muster::test {

// While it lives, the next `operator new` of exactly `size` bytes in this thread throws
// std::bad_alloc. Choose the size of a type that only the tested code creates. At most one lives in
// a thread.
class FailingAllocation {
  public:
    explicit FailingAllocation(std::size_t size);
    ~FailingAllocation();
    FailingAllocation(const FailingAllocation&) = delete;
    FailingAllocation& operator=(const FailingAllocation&) = delete;

    [[nodiscard]] bool has_failed() const;
};

}  // namespace muster::test
