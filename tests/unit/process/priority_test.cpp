// process/priority.hpp: in child processes, because a session cannot be left.
#include "process/priority.hpp"

#include "print.hpp"

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using muster::process::LowPriority;

namespace {

// The exit status of a child process that runs this.
int status_in_child(const std::function<int()>& run) {
    const pid_t child = fork();
    if (child == 0) _exit(run());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The last word of "/autogroup-25 nice 5"; "" if the kernel has no such groups.
std::string niceness_of_session() {
    std::ifstream file("/proc/self/autogroup");
    std::string word;
    while (file >> word) {
    }
    return word;
}

bool has_groups() {
    return !niceness_of_session().empty();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(priority)

BOOST_AUTO_TEST_CASE(a_process_gets_a_session_of_its_own_with_a_lower_priority) {
    const int status = status_in_child([] {
        LowPriority priority(7);
        // The kernel accepts such a change ten times a second.
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (has_groups() && niceness_of_session() != "7") {
            if (std::chrono::steady_clock::now() > end) return 1;
            priority.apply();
            std::this_thread::yield();
        }
        if (getpriority(PRIO_PROCESS, 0) != 7) return 2;
        return getsid(0) == getpid() ? 0 : 3;
    });
    BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(a_niceness_of_0_changes_nothing) {
    const auto session = getsid(0);
    const int before = getpriority(PRIO_PROCESS, 0);
    const int status = status_in_child([&] {
        LowPriority priority(0);
        priority.apply();
        return getsid(0) == session && getpriority(PRIO_PROCESS, 0) == before ? 0 : 1;
    });
    BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_SUITE_END()
