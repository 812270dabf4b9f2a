// muster-import: a partner's CSV client of the public API (client/importer.hpp, muster-import(1)).
#include "base/command_line.hpp"
#include "client/importer.hpp"
#include "client/profile.hpp"
#include "main/terminal.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

namespace {

using namespace muster;

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // the handler may touch it

void on_signal(int /*signal*/) {
    stop = true;
}

// The first Ctrl-C asks the run to stop, a second one ends the process at once.
void watch_signals() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): cannot fail for SIGPIPE
}

int run(const CommandLine& line) {
    const auto environment = [](const char* name) { return std::getenv(name); };
    const client::Options options = client::options_of(line, client::defaults_of(environment));
    const Secret key = client::load_key(options, std::getenv("MUSTER_API_KEY"));
    watch_signals();
    const client::Terminal terminal{
        .out = std::cout,
        .err = std::cerr,
        .err_is_terminal = isatty(STDERR_FILENO) != 0,
        .ask = main_program::terminal_question(),
        .stop = stop,
        .today = Date::of(Timestamp::now()),
    };
    return static_cast<int>(client::run_import(options, key, terminal));
}

}  // namespace

int main(int argc, char** argv) {
    return run_program(client::program(), argc, argv, run);
}
