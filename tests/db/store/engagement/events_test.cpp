// store/engagement/events.hpp: how many index entries a page of a member's events reads. The number
// depends on the size of the page, not on its position or on the number of events at the same time.
#include "store/engagement/events.hpp"

#include "db/fixture.hpp"
#include "store/members/lookup.hpp"
#include "store/operations/purge.hpp"

#include "print.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

using namespace muster;
using db::OrgStore;
using store::EventPosition;

namespace {

constexpr int kEvents = 20'000;
constexpr int kPage = 50;
// Two ranges of one index; the row of each entry may count separately.
constexpr std::int64_t kOnePage = 2 * kPage + 10;
const Timestamp kWhen{1'790'000'000'000};

struct Costs : test::Fixture {
    // Adds an event for each of 20,000 milliseconds, which are the times in the ids. `share` events
    // in a row have the same occurred_at.
    void fill(OrgId organization, MemberId member, int share) {
        client.execute(
            "INSERT INTO engagement_events (organization_id, id, member_id, action, tags, "
            "occurred_at, received_at) SELECT ?, "
            "UNHEX(CONCAT(LPAD(HEX(? + seq), 12, '0'), LEFT(SHA2(seq, 256), 20))), "
            "?, 'visited', '[]', ? + (seq - 1) DIV ?, ? + seq FROM " +
                test::sequence(20'000),
            organization, kWhen, member, kWhen, share, kWhen);
    }

    std::int64_t entries_read() {
        return database.autocommit([](db::Tx& tx) { return test::entries_read(tx); });
    }
    template <class Call>
    std::int64_t cost_of(const Call& call) {
        const auto before = entries_read();
        database.transaction(call);
        return entries_read() - before;
    }

    // Reads a page at the newest event, one in the middle, and the last one.
    void check_pages(int share) {
        const auto page = [&](db::Tx& tx, const std::optional<EventPosition>& after) {
            OrgStore org(tx, acme);
            return store::page_engagement_events(org, ann, after, kPage);
        };
        const auto position_at = [&](int depth) -> std::optional<EventPosition> {
            if (depth == 0) return std::nullopt;
            auto rows = client.query(
                "SELECT occurred_at, id FROM engagement_events WHERE member_id = ? "
                "ORDER BY occurred_at DESC, id DESC LIMIT 1 OFFSET ?",
                ann, depth - 1);
            rows.next();
            return EventPosition{rows.timestamp(1), rows.id<EventId>(2)};
        };
        database.autocommit([&](db::Tx& tx) { page(tx, {}); });  // preparing a statement reads too
        for (const int depth : {0, kEvents / 2, kEvents - kPage}) {
            const auto after = position_at(depth);
            std::size_t found = 0;
            const auto cost = cost_of([&](db::Tx& tx) { found = page(tx, after).size(); });
            BOOST_TEST_CONTEXT("after " << depth << " events, " << share << " at the same time") {
                BOOST_TEST(found == std::size_t{kPage});
                BOOST_TEST(cost <= kOnePage);
            }
        }
    }

    OrgId acme = organization("Acme");
    OrgId umbrella = organization("Umbrella");
    MemberId ann = MemberId::create();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(store_engagement_events, Costs)

BOOST_AUTO_TEST_CASE(a_page_reads_the_same_at_any_position) {
    for (const int share : {1, 1000, kEvents}) {
        client.run("DELETE FROM engagement_events");
        fill(acme, ann, share);
        fill(umbrella, ann, share);
        client.query("ANALYZE TABLE engagement_events");
        check_pages(share);
    }
}

BOOST_AUTO_TEST_CASE(a_page_reads_the_same_with_outdated_table_statistics) {
    const test::SchemaChange uncounted(client,
                                       "ALTER TABLE engagement_events STATS_AUTO_RECALC = 0",
                                       "ALTER TABLE engagement_events STATS_AUTO_RECALC = DEFAULT");
    client.query("ANALYZE TABLE engagement_events");
    fill(acme, ann, 1000);
    check_pages(1000);
}

BOOST_AUTO_TEST_CASE(the_purge_reads_only_expired_events) {
    fill(acme, ann, 1);
    fill(umbrella, ann, 1);
    // Moves all but the oldest 100 events a day into the future.
    client.execute(
        "UPDATE engagement_events SET id = CONCAT(UNHEX(LPAD(HEX(? + 86400000), 12, '0')), "
        "SUBSTR(id, 7)), received_at = received_at + 86400000 WHERE received_at > ?",
        kWhen, kWhen + Milliseconds(100));
    client.query("ANALYZE TABLE engagement_events");
    const Timestamp until = kWhen + Milliseconds(100);
    const auto find = [&](db::Tx& tx, Timestamp when) {
        return store::find_old_events(tx, when, 20).size();
    };
    const auto purge = [&](db::Tx& tx, Timestamp when, int limit) {
        OrgStore org(tx, acme);
        return store::purge_engagement_events(org, when, limit);
    };
    database.transaction([&](db::Tx& tx) {  // preparing a statement reads too
        find(tx, Timestamp(1));
        purge(tx, Timestamp(1), 1);
    });
    std::int64_t deleted = 0;
    BOOST_TEST(cost_of([&](db::Tx& tx) { BOOST_TEST(find(tx, until) == 2); }) <= 10);
    BOOST_TEST(cost_of([&](db::Tx& tx) { deleted = purge(tx, until, 60); }) <= 2 * 60 + 10);
    BOOST_TEST(deleted == 60);
    BOOST_TEST(cost_of([&](db::Tx& tx) { deleted = purge(tx, until, 60); }) <= 2 * 40 + 10);
    BOOST_TEST(deleted == 40);
    BOOST_TEST(cost_of([&](db::Tx& tx) { deleted = purge(tx, until, 60); }) <= 10);
    BOOST_TEST(deleted == 0);
    BOOST_TEST(cost_of([&](db::Tx& tx) { BOOST_TEST(find(tx, until) == 1); }) <= 10);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM engagement_events") == 2 * kEvents - 100);
}

BOOST_AUTO_TEST_CASE(an_external_id_shared_by_many_members_reads_few_entries) {
    client.run(
        "INSERT INTO users (id, email, created_at) "
        "SELECT UNHEX(LEFT(SHA2(seq, 256), 32)), CONCAT('p', seq, '@x.test'), 0 FROM " +
        test::sequence(5000));
    client.execute(
        "INSERT INTO members (organization_id, user_id, id, email, external_id, attributes, "
        "created_at, updated_at) SELECT ?, UNHEX(LEFT(SHA2(seq, 256), 32)), UNHEX(LEFT(SHA2(seq, 256), 32)), "
        "CONCAT('p', seq, '@x.test'), IF(seq = 1, 'sole', 'shared'), '{}', 0, 0 FROM " +
            test::sequence(5000),
        acme);
    // The last id fills the batch up to a power of two.
    const std::vector<std::string> ids{"none", "shared", "sole"};
    for (const auto lock : {store::MemberLock::None, store::MemberLock::Share}) {
        std::map<std::string, int> found;
        const auto look = [&](db::Tx& tx) {
            OrgStore org(tx, acme);
            for (const auto& member : store::find_members_by_external_id(org, ids, lock)) {
                ++found[member.external_id.value()];
            }
        };
        database.transaction(look);  // preparing a statement reads too
        found.clear();
        BOOST_TEST(cost_of(look) <= 50);
        BOOST_TEST(found["sole"] == 1);
        BOOST_TEST(found["shared"] >= 2);
        BOOST_TEST(found["none"] == 0);
    }
}

BOOST_AUTO_TEST_SUITE_END()
