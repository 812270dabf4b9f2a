// muster-import: a partner's CSV client over the public API. This file wires the process to
// client/importer.hpp; muster-import(1) is its manual.
#include "base/command_line.hpp"
#include "base/text.hpp"
#include "client/importer.hpp"

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

bool ask_on_terminal(const std::string& question) {
    std::cerr << question << " [y/N] " << std::flush;
    std::string answer;
    if (!std::getline(std::cin, answer)) std::cerr << '\n';
    const std::string_view word = trimmed(answer);
    return equal_ignoring_case(word, "y") || equal_ignoring_case(word, "yes");
}

int run(const CommandLine& line) {
    const client::Options options = client::options_of(line);
    const Secret key = client::load_key(options, std::getenv("MUSTER_API_KEY"));
    watch_signals();
    const bool err_is_terminal = isatty(STDERR_FILENO) != 0;
    const bool can_ask = err_is_terminal && isatty(STDIN_FILENO) != 0;
    const client::Terminal terminal{
        .out = std::cout,
        .err = std::cerr,
        .err_is_terminal = err_is_terminal,
        .ask = can_ask ? ask_on_terminal : std::function<bool(const std::string&)>(),
        .stop = stop,
        .today = Date::of(Timestamp::now()),
    };
    return static_cast<int>(client::run_import(options, key, terminal));
}

}  // namespace

int main(int argc, char** argv) {
    return run_program(client::program(), argc, argv, run);
}
