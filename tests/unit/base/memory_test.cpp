// base/memory.hpp
#include "base/memory.hpp"

#include <boost/test/unit_test.hpp>

#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cstddef>
#include <memory>
#include <vector>

#ifndef MUSTER_SANITIZED  // the sanitizers have an allocator of their own

namespace {

using namespace muster;

constexpr std::size_t kMebibyte = std::size_t{1} << 20U;
constexpr std::size_t kPage = 4096;

// Page faults while a block of that size is allocated, written and freed.
long faults_of(std::size_t bytes) {
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);  // a huge page would be one fault
    const auto count = [] {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return usage.ru_minflt;
    };
    const long before = count();
    const auto block = std::make_unique_for_overwrite<char[]>(bytes);
    volatile char* written = block.get();
    for (std::size_t at = 0; at < bytes; at += kPage) written[at] = 1;
    return count() - before;
}

// Blocks of that size in all places of the heap that other tests have left free for one.
std::vector<std::unique_ptr<char[]>> blocks_in_free_places(std::size_t bytes) {
    std::vector<std::unique_ptr<char[]>> blocks;
    while (true) {
        const std::size_t mappings = mallinfo2().hblks;
        auto block = std::make_unique_for_overwrite<char[]>(bytes);
        if (mallinfo2().hblks > mappings) return blocks;  // it has a mapping of its own
        blocks.push_back(std::move(block));
    }
}

constexpr long pages(std::size_t bytes) {
    return static_cast<long>(bytes / kPage);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(memory)

BOOST_AUTO_TEST_CASE(freed_memory_of_a_large_reply_is_used_again) {
    keep_freed_memory();
    faults_of(8 * kMebibyte);
    BOOST_TEST(faults_of(8 * kMebibyte) < pages(kMebibyte));
}

BOOST_AUTO_TEST_CASE(freed_memory_above_16_MiB_is_returned_to_the_kernel) {
    keep_freed_memory();
    const auto others = blocks_in_free_places(24 * kMebibyte);
    for (int i = 0; i < 3; ++i) faults_of(24 * kMebibyte);  // by default the C library adapts
    BOOST_TEST(faults_of(24 * kMebibyte) > pages(20 * kMebibyte));
}

BOOST_AUTO_TEST_SUITE_END()

#endif
