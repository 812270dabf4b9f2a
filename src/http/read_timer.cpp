#include "http/read_timer.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace muster::http {
namespace {

using std::chrono::milliseconds;

// The timer repeats its signal. libfcgi answers some records of a peer itself, and a shutdown for
// reading does not end a write() that waits. A later signal interrupts it.
constexpr milliseconds kAgain{50};

static_assert(std::atomic<int>::is_always_lock_free);

// Shuts down instead of only interrupting read(), because the signal may come between two reads.
void shut_down(int /*signal*/, siginfo_t* info, void* /*context*/) {
    if (info->si_code != SI_TIMER) return;  // another process sent it
    const int saved = errno;
    const int fd = static_cast<std::atomic<int>*>(info->si_value.sival_ptr)->load();
    if (fd >= 0) shutdown(fd, SHUT_RD);
    errno = saved;
}

timespec timespec_of(milliseconds time) {
    return {time.count() / 1000, time.count() % 1000 * 1'000'000};
}

}  // namespace

ReadTimer::ReadTimer() {
    struct sigaction action {};
    action.sa_sigaction = shut_down;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMIN;
    event.sigev_value.sival_ptr = &fd_;
    if (sigaction(SIGRTMIN, &action, nullptr) != 0 ||
        timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) {
        throw std::system_error(errno, std::generic_category(), "timer");
    }
}

ReadTimer::~ReadTimer() {
    timer_delete(timer_);
}

void ReadTimer::start(int fd, milliseconds time) {
    fd_ = fd;
    const itimerspec spec{timespec_of(kAgain), timespec_of(time)};
    timer_settime(timer_, 0, &spec, nullptr);
}

void ReadTimer::stop() {
    fd_ = -1;
    const itimerspec never{};
    timer_settime(timer_, 0, &never, nullptr);
}

}  // namespace muster::http
