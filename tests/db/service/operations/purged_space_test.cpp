// service/operations/purge.hpp: the purge frees the space of events, deliveries and jobs. The space
// of what organizations stage and record is tested in quotas_test.cpp, and the rows in
// purge_test.cpp.
#include "db/read_costs.hpp"
#include "service/operations/purge.hpp"

#include <map>
#include <string>

using namespace muster;

namespace {

constexpr int kFewRows = 10;
constexpr int kManyRows = 20'000;

struct PurgedSpace : test::ReadCosts {
    PurgedSpace() {
        settings.jobs.engagement_days = 1;
        fill(acme, 1, kFewRows);
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(purged_space, PurgedSpace)

BOOST_AUTO_TEST_CASE(after_the_purge_events_and_jobs_take_the_space_that_they_took_before) {
    const std::vector<std::string> tables{"engagement_events", "webhook_events",
                                          "webhook_deliveries", "webhook_attempts", "member_jobs"};
    std::map<std::string, std::int64_t> before;
    for (const auto& table : tables) before[table] = client->bytes_of(table);
    fill(acme, kFewRows + 1, kManyRows);
    for (const auto& table : tables) BOOST_TEST(client->bytes_of(table) > 2 * before[table], table);
    database->run("SET FOREIGN_KEY_CHECKS = 1");  // deliveries are deleted with their events
    while (service::purge_step(*context).any()) continue;
    for (const auto& table : tables) {
        BOOST_TEST(client->number("SELECT COUNT(*) FROM " + table) == 0, table);
        // InnoDB frees the pages of deleted rows in the background.
        BOOST_TEST(test::until([&] { return client->bytes_of(table) <= before[table]; }),
                   table << ": " << before[table] << " bytes before, " << client->bytes_of(table));
    }
}

BOOST_AUTO_TEST_SUITE_END()
