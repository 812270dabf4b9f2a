// muster-import: a partner's CSV client of the public API (client/importer.hpp, muster-import(1)).
#include "base/command_line.hpp"
#include "base/stop_signals.hpp"
#include "client/importer.hpp"
#include "client/profile.hpp"
#include "main/terminal.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

namespace {

using namespace muster;

int run(const CommandLine& line) {
    const auto environment = [](const char* name) { return std::getenv(name); };
    const client::Options options = client::options_of(line, client::defaults_of(environment));
    const Secret key = client::load_key(options, std::getenv("MUSTER_API_KEY"));
    std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): cannot fail for SIGPIPE
    const client::Terminal terminal{
        .out = std::cout,
        .err = std::cerr,
        .err_is_terminal = isatty(STDERR_FILENO) != 0,
        .ask = main_program::terminal_question(),
        .stop = watch_stop_signals({SIGINT, SIGTERM}),
        .today = Date::of(Timestamp::now()),
    };
    return static_cast<int>(client::run_import(options, key, terminal));
}

}  // namespace

int main(int argc, char** argv) {
    return run_program(client::program(), argc, argv, run);
}
