// process/priority.hpp: in child processes, because a session cannot be left.
#include "process/priority.hpp"

#include "print.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

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

// Whether the session gets this niceness, or the kernel has no such groups. It accepts ten changes
// a second.
bool is_applied(LowPriority& priority, const std::string& niceness) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (std::chrono::steady_clock::now() < end) {
        const auto found = niceness_of_session();
        if (found == niceness || found.empty()) return true;
        priority.apply();
        std::this_thread::yield();
    }
    return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(priority)

BOOST_AUTO_TEST_CASE(a_process_gets_a_session_of_its_own_with_a_lower_priority) {
    const int status = status_in_child([] {
        LowPriority priority(7);
        if (!is_applied(priority, "7")) return 1;
        if (getpriority(PRIO_PROCESS, 0) != 7) return 2;
        return getsid(0) == getpid() ? 0 : 3;
    });
    BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(a_process_that_must_not_be_dumped_gets_it_too_and_stays_so) {
    const int status = status_in_child([] {
        constexpr uid_t kNobody = 65534;
        if (getuid() == 0 && setuid(kNobody) != 0) return 1;
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
        LowPriority priority(7);
        if (!is_applied(priority, "7")) return 2;
        return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
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
