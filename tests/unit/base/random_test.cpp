// base/random.hpp: bytes never repeat, neither across refills and threads nor after a fork.
#include "base/random.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "print.hpp"

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <thread>

using muster::draw_random;

namespace {

constexpr std::size_t kDraw = 8;
constexpr std::size_t kDraws = 1000;  // twice the buffer

std::string drawn(std::size_t count) {
    std::string bytes(count, '\0');
    draw_random(bytes.data(), bytes.size());
    return bytes;
}

std::string draws() {
    std::string all;
    for (std::size_t i = 0; i < kDraws; ++i) all += drawn(kDraw);
    return all;
}

std::set<std::string> pieces(const std::string& all) {
    std::set<std::string> seen;
    for (std::size_t at = 0; at + kDraw <= all.size(); at += kDraw) {
        seen.insert(all.substr(at, kDraw));
    }
    return seen;
}

// Forks, and returns what the child draws. The child's own child draws too if `depth` is 2.
std::string draws_of_child(int depth) {
    std::array<int, 2> ends{};
    BOOST_TEST_REQUIRE(pipe(ends.data()) == 0);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        std::string all = draws();
        if (depth > 1) all += draws_of_child(depth - 1);
        const auto size = static_cast<ssize_t>(all.size());
        _exit(write(ends[1], all.data(), all.size()) == size ? 0 : 1);
    }
    close(ends[1]);
    std::string all;
    std::array<char, 4096> piece{};
    for (ssize_t got = 0; (got = read(ends[0], piece.data(), piece.size())) > 0;) {
        all.append(piece.data(), static_cast<std::size_t>(got));
    }
    close(ends[0]);
    int status = 1;
    BOOST_TEST_REQUIRE(waitpid(child, &status, 0) == child);
    BOOST_TEST(status == 0);
    return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_pool)

BOOST_AUTO_TEST_CASE(draws_of_any_size_fill_the_whole_buffer) {
    for (const std::size_t size : {0U, 1U, 10U, 100U, 4095U, 4096U, 4097U, 100'000U}) {
        std::string both(size, '\0');
        for (int i = 0; i < 16; ++i) {  // a byte that stays zero is not written
            const std::string bytes = drawn(size);
            for (std::size_t at = 0; at < size; ++at) {
                both[at] = static_cast<char>(both[at] | bytes[at]);
            }
        }
        BOOST_TEST(both.find('\0') == std::string::npos, size);
    }
}

BOOST_AUTO_TEST_CASE(draws_never_repeat) {
    BOOST_TEST(pieces(draws()).size() == kDraws);
}

BOOST_AUTO_TEST_CASE(a_forked_process_draws_bytes_different_from_its_parent) {
    std::string all = drawn(kDraw);  // fills the buffer that the child copies
    all += draws_of_child(2);
    all += draws_of_child(1);
    all += draws();
    BOOST_TEST(all.size() == (1 + 4 * kDraws) * kDraw);
    BOOST_TEST(pieces(all).size() == 1 + 4 * kDraws);
}

BOOST_AUTO_TEST_CASE(threads_draw_different_bytes) {
    std::array<std::string, 4> each;
    std::array<std::thread, 4> threads;
    for (std::size_t i = 0; i < threads.size(); ++i) {
        threads[i] = std::thread([&, i] { each[i] = draws(); });
    }
    std::string all = draws();
    for (std::size_t i = 0; i < threads.size(); ++i) {
        threads[i].join();
        all += each[i];
    }
    BOOST_TEST(pieces(all).size() == 5 * kDraws);
}

BOOST_AUTO_TEST_SUITE_END()
