// process/supervisor.hpp, process/worker_pool.hpp: the messages to the service manager when all
// workers are ready, and on later changes.
#include "process/supervisor.hpp"

#include "process/worker_pool.hpp"

#include "print.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace muster::process;

namespace {

// The service manager's end: receives the messages one by one.
class Manager {
  public:
    // '@' for an abstract socket name.
    explicit Manager(const std::string& path) : fd_(socket(AF_UNIX, SOCK_DGRAM, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, path.data(), path.size());
        if (path[0] == '@') address.sun_path[0] = '\0';
        const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
        if (bind(fd_, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
            throw std::runtime_error("bind");
        }
        setenv("NOTIFY_SOCKET", path.c_str(), 1);
    }
    ~Manager() {
        close(fd_);
        unsetenv("NOTIFY_SOCKET");
    }
    Manager(const Manager&) = delete;
    Manager& operator=(const Manager&) = delete;

    // The next message; "" if none arrives in this time.
    std::string next(int milliseconds = 10'000) {
        pollfd waiting{fd_, POLLIN, 0};
        if (poll(&waiting, 1, milliseconds) != 1) return "";
        std::array<char, 256> text{};
        const ssize_t size = recv(fd_, text.data(), text.size(), 0);
        return {text.data(), static_cast<std::size_t>(size)};
    }

  private:
    int fd_;
};

std::string name_of_socket() {
    return "@muster-supervisor-test-" + std::to_string(getpid());
}

// The loop of a worker without requests.
int idle(const char* before) {
    const sigset_t unblocked = install_worker_signals();
    if (*before) notify_supervisor(before);
    announce_ready();
    while (!stop_requested()) sigsuspend(&unblocked);
    return 0;
}

// The second configuration is invalid, all others are valid.
std::function<PoolConfig()> with_invalid_second() {
    return [asked = 0]() mutable -> PoolConfig {
        if (++asked == 2) throw std::runtime_error("not valid");
        return {{2, [] { return idle(""); }}, {1, [] { return idle("STATUS=last"); }}};
    };
}

// Reports its begin and its end.
int reporting_worker() {
    const int status = idle("STATUS=begun");
    notify_supervisor("STATUS=ended");
    return status;
}

// Changes whether the process can start others.
void allow_forks(bool are_allowed) {
    rlimit limit{};
    getrlimit(RLIMIT_NPROC, &limit);
    limit.rlim_cur = are_allowed ? limit.rlim_max : 0;
    setrlimit(RLIMIT_NPROC, &limit);
}

// No worker can be started for the second configuration.
std::function<PoolConfig()> with_failing_second() {
    return [asked = 0]() mutable -> PoolConfig {
        allow_forks(++asked != 2);
        return {{1, reporting_worker}};
    };
}

// A pool in its own process, as a user whose processes can be limited.
class RunningPool {
  public:
    explicit RunningPool(const std::function<PoolConfig()>& load = with_invalid_second())
        : pid_(fork()) {
        if (pid_ != 0) return;
        constexpr uid_t kNobody = 65534;
        if (getuid() == 0 && setuid(kNobody) != 0) _exit(1);
        _exit(run_pool(load));
    }
    ~RunningPool() {
        if (pid_ > 0) kill(pid_, SIGKILL);
    }
    RunningPool(const RunningPool&) = delete;
    RunningPool& operator=(const RunningPool&) = delete;

    void signal(int number) const { kill(pid_, number); }
    int end() {
        int status = -1;
        waitpid(pid_, &status, 0);
        pid_ = 0;
        return status;
    }

  private:
    pid_t pid_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(supervisor)

BOOST_AUTO_TEST_CASE(a_state_is_one_datagram_to_a_name_or_a_path) {
    {
        Manager manager(name_of_socket());
        notify_supervisor("READY=1");
        BOOST_TEST(manager.next() == "READY=1");
    }
    const std::string path = std::filesystem::temp_directory_path() / name_of_socket().substr(1);
    {
        Manager manager(path);
        notify_supervisor("RELOADING=1\nMONOTONIC_USEC=1");
        BOOST_TEST(manager.next() == "RELOADING=1\nMONOTONIC_USEC=1");
    }
    std::filesystem::remove(path);
}

BOOST_AUTO_TEST_CASE(a_missing_supervisor_is_not_an_error) {
    unsetenv("NOTIFY_SOCKET");
    BOOST_CHECK_NO_THROW(notify_supervisor("READY=1"));
    for (const std::string& nowhere :
         {std::string(), std::string("@"), name_of_socket(), std::string(200, 'x')}) {
        setenv("NOTIFY_SOCKET", nowhere.c_str(), 1);
        BOOST_CHECK_NO_THROW(notify_supervisor("READY=1"));
    }
    unsetenv("NOTIFY_SOCKET");
}

BOOST_AUTO_TEST_CASE(a_pool_is_ready_when_its_last_worker_is) {
    Manager manager(name_of_socket());
    RunningPool pool;
    BOOST_TEST(manager.next() == "STATUS=last");
    BOOST_TEST(manager.next() == "READY=1");
    pool.signal(SIGTERM);
    BOOST_TEST(manager.next() == "STOPPING=1");
    BOOST_TEST(pool.end() == 0);
}

BOOST_AUTO_TEST_CASE(a_reload_reports_ready_whether_it_was_rejected_or_not) {
    Manager manager(name_of_socket());
    RunningPool pool;
    BOOST_TEST(manager.next() == "STATUS=last");
    BOOST_TEST(manager.next() == "READY=1");
    pool.signal(SIGHUP);  // rejected: no new workers
    BOOST_TEST(manager.next() == "RELOADING=1");
    BOOST_TEST(manager.next() == "READY=1");
    pool.signal(SIGHUP);
    BOOST_TEST(manager.next() == "RELOADING=1");
    BOOST_TEST(manager.next() == "STATUS=last");
    BOOST_TEST(manager.next() == "READY=1");
    pool.signal(SIGTERM);
    BOOST_TEST(manager.next() == "STOPPING=1");
    BOOST_TEST(pool.end() == 0);
}

BOOST_AUTO_TEST_CASE(a_reload_keeps_the_old_workers_until_a_new_one_exists) {
    Manager manager(name_of_socket());
    RunningPool pool(with_failing_second());
    BOOST_TEST(manager.next() == "STATUS=begun");
    BOOST_TEST(manager.next() == "READY=1");
    pool.signal(SIGHUP);
    BOOST_TEST(manager.next() == "RELOADING=1");
    BOOST_TEST(manager.next(200) == "");
    pool.signal(SIGHUP);
    BOOST_TEST(manager.next() == "RELOADING=1");
    std::vector<std::string> messages = {manager.next(), manager.next(), manager.next()};
    std::ranges::sort(messages);  // the two workers are independent
    const std::vector<std::string> expected = {"READY=1", "STATUS=begun", "STATUS=ended"};
    BOOST_TEST(messages == expected);
    pool.signal(SIGTERM);
    BOOST_TEST(manager.next() == "STOPPING=1");
    BOOST_TEST(pool.end() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
