// P7's floor: a minimal prefork FastCGI program that writes one event per request with one prepared
// INSERT and replies after the commit. Usage: floor_track SOCKET WORKERS DATABASE-SOCKET
// ORGANIZATION; ends on SIGTERM, its workers first. Run by figures/tracking.py.
#include "bench/bare_server.hpp"
#include "bench/event_writer.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
    const auto organization = argc == 5 ? muster::Uuid::parse(argv[4]) : std::nullopt;
    if (!organization) {
        std::fputs("usage: floor_track SOCKET WORKERS DATABASE-SOCKET ORGANIZATION\n", stderr);
        return 2;
    }
    const std::string written = muster::bench::reply_of("202", R"({"accepted":1,"duplicates":0})");
    const std::string failed = muster::bench::reply_of("500", "{}");
    return muster::bench::serve(argv[1], std::atoi(argv[2]), [&](int listener) {
        muster::bench::EventWriter writer(argv[3], *organization, 1);
        muster::bench::answer_for_ever(listener, [&]() -> const std::string& {
            try {
                writer.write();
                return written;
            } catch (const std::exception& error) {
                std::fprintf(stderr, "floor_track: %s\n", error.what());
                return failed;
            }
        });
    });
}
