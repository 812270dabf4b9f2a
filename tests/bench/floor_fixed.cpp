// P9's and P12's floor: a minimal prefork FastCGI program that answers every request with the same
// JSON. Usage: floor_fixed SOCKET WORKERS FILE; ends on SIGTERM, its workers first. Run by
// lib/wrk.py.
#include "bench/bare_server.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>

int main(int argc, char** argv) {
    std::ifstream file(argc == 4 ? argv[3] : "");
    const std::string body((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    const int workers = argc == 4 ? std::atoi(argv[2]) : 0;
    if (workers < 1 || body.empty()) {
        std::fputs("usage: floor_fixed SOCKET WORKERS FILE\n", stderr);
        return 2;
    }
    const std::string reply = muster::bench::reply_of("200", body);
    const auto answer = [&]() -> const std::string& { return reply; };
    return muster::bench::serve(
        argv[1], workers, [&](int listener) { muster::bench::answer_for_ever(listener, answer); });
}
