#include "base/stop_signals.hpp"

#include <csignal>

namespace muster {
namespace {

std::atomic<bool> g_is_asked_to_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler writes it

void on_stop_signal(int /*signal*/) {
    g_is_asked_to_stop = true;
}

}  // namespace

const std::atomic<bool>& watch_stop_signals(std::initializer_list<int> signals) {
    struct sigaction action {};
    action.sa_handler = on_stop_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    for (const int signal : signals) {
        struct sigaction before {};
        sigaction(signal, nullptr, &before);
        if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
    }
    return g_is_asked_to_stop;
}

}  // namespace muster
