// P8's floor: events written by one prepared INSERT of many rows, repeatedly on several
// connections. Usage: floor_events SOCKET ORGANIZATION CONNECTIONS SECONDS ROWS; prints events per
// second. Run by figures/tracking.py.
#include "bench/at_once.hpp"
#include "bench/event_writer.hpp"

#include <cstdio>
#include <cstdlib>

using muster::bench::EventWriter;

int main(int argc, char** argv) {
    const auto organization = argc == 6 ? muster::Uuid::parse(argv[2]) : std::nullopt;
    if (!organization) {
        std::fputs("usage: floor_events SOCKET ORGANIZATION CONNECTIONS SECONDS ROWS\n", stderr);
        return 2;
    }
    const int rows = std::atoi(argv[5]);
    std::vector<std::unique_ptr<EventWriter>> writers;
    for (int i = 0; i < std::atoi(argv[3]); ++i) {
        writers.push_back(std::make_unique<EventWriter>(argv[1], *organization, rows));
    }
    const auto rate = muster::bench::calls_per_second(writers, std::atoi(argv[4]));
    if (!rate) return 1;
    std::printf("%.1f\n", *rate * rows);
}
