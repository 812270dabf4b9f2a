// store/members/list.hpp: what each statement reads. The cost depends on the size of a page, not on
// its position, the number of members, or the statistics of the server.
#include "store/members/list.hpp"

#include "db/members.hpp"
#include "store/members/members.hpp"

#include <functional>
#include <map>
#include <vector>

using namespace muster;
using db::OrgStore;
using store::MemberKey;
using test::Batch;
using test::Fixture;
using test::kStart;
using test::SchemaChange;

namespace {

constexpr int kMembers = 20'000;
constexpr int kBatch = 1000;
constexpr int kPage = 50;
// One entry into an index for each range of its terms.
constexpr std::int64_t kOneIndex = kPage + 5;
// Three indexes: their entries are merged and sorted, and the member of each is read.
constexpr std::int64_t kThreeIndexes = 12 * kPage;

using Keys = std::vector<MemberKey>;
using Page = std::function<Keys(OrgStore&, const MemberKey& after, int limit)>;

struct Costs : Fixture {
    // All three terms of every member begin with p, and many members share a millisecond.
    void fill(OrgId organization, const std::string& domain) {
        for (int from = 0; from < kMembers; from += kBatch) {
            Batch batch;
            for (int i = from; i < from + kBatch; ++i) {
                const std::string number = std::to_string(kMembers + i);
                batch.add("p" + number + "@" + domain + ".test",
                          {"C-" + std::to_string(i % 2), "Pat" + number, "Parker" + number});
            }
            const auto inputs = batch.inputs();
            as(organization, [&](service::OrgTransaction& transaction) {
                service::create_or_attach(transaction.tx, organization, inputs,
                                          service::Expect::NewUsers,
                                          kStart + Milliseconds(from * 4 / kMembers));
            });
        }
    }

    template <class Call>
    auto on_store(const Call& call) {
        return database.autocommit([&](db::Tx& tx) {
            OrgStore org(tx, acme);
            return call(org);
        });
    }

    std::int64_t entries_read() {
        return database.autocommit([](db::Tx& tx) { return test::entries_read(tx); });
    }
    // How many entries of tables and indexes, including temporary ones, the call reads.
    template <class Call>
    std::int64_t cost_of(const Call& call) {
        on_store(call);  // the first call prepares the statement, which reads too
        const auto before = entries_read();
        on_store(call);
        return entries_read() - before;
    }

    // At the beginning, in the middle, and near the end.
    void check(const std::string& what, std::int64_t most, const Page& page) {
        const Keys all = on_store([&](OrgStore& org) { return page(org, {}, 4 * kMembers); });
        BOOST_TEST_REQUIRE(all.size() >= std::size_t{kMembers} / 2);
        for (const std::size_t depth : {std::size_t{0}, all.size() / 2, all.size() - kPage}) {
            BOOST_TEST_CONTEXT(what << " behind " << depth << " of " << all.size()) {
                const MemberKey after = depth == 0 ? MemberKey{} : all[depth - 1];
                Keys found;
                const auto cost = cost_of([&](OrgStore& org) { found = page(org, after, kPage); });
                BOOST_TEST_REQUIRE(found.size() == std::size_t{kPage});
                BOOST_TEST(found.front().user_id == all[depth].user_id);
                BOOST_TEST(cost <= most);
            }
        }
    }

    void check_pages() {
        check("all", kOneIndex, [](OrgStore& org, const MemberKey& after, int limit) {
            return store::page_members(org, after.user_id, limit);
        });
        check("newest", kOneIndex, [](OrgStore& org, const MemberKey& after, int limit) {
            const std::string last(Uuid::kBytes, '\xff');
            const auto before = Uuid::from_bytes(after.term.empty() ? last : after.term);
            return store::page_newest_members(org, MemberId(*before), limit);
        });
        check("status", kOneIndex, [](OrgStore& org, const MemberKey& after, int limit) {
            return store::page_members_of_status(org, "active", after.user_id, limit);
        });
        check("external_id", kOneIndex, [](OrgStore& org, const MemberKey& after, int limit) {
            return store::page_members_of_external_id(org, "C-1", after.user_id, limit);
        });
        check("updated_since", kOneIndex, [](OrgStore& org, const MemberKey& after, int limit) {
            const Timestamp when = after.term.empty() ? kStart : Timestamp(std::stoll(after.term));
            return store::page_members_updated(org, when, after.user_id, limit);
        });
        check("prefix", kThreeIndexes, [](OrgStore& org, const MemberKey& after, int limit) {
            return store::page_members_by_prefix(org, "p", after, limit);
        });
    }

    // Reads individual members, as many as a page or a round requests.
    void check_look_ups() {
        std::vector<UserId> users;
        for (const MemberKey& key :
             on_store([](OrgStore& org) { return store::page_members(org, {}, kMembers); })) {
            if (users.size() < 250) users.push_back(key.user_id);
        }
        for (const std::size_t count : {1U, 10U, 25U}) {
            const std::vector<UserId> some(users.begin(), users.begin() + count);
            BOOST_TEST_CONTEXT(count << " members") {
                BOOST_TEST(cost_of([&](OrgStore& org) { store::find_members(org, some); }) <=
                           static_cast<std::int64_t>(2 * count));
            }
        }
        const store::MemberConditions conditions{"C-1", "active", kStart, "p"};
        BOOST_TEST(cost_of([&](OrgStore& org) { store::filter_members(org, users, conditions); }) <=
                   500);
        BOOST_TEST(
            cost_of([&](OrgStore& org) { store::find_member_key(org, "p30000@acme.test"); }) <= 2);
        BOOST_TEST(cost_of([&](OrgStore& org) {
                       store::page_members_by_prefix(org, "p30000@", {}, kPage);
                   }) <= 20);
    }

    OrgId acme = organization("Acme");
    OrgId umbrella = organization("Umbrella");
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(store_member_pages, Costs)

BOOST_AUTO_TEST_CASE(a_statement_reads_the_same_at_any_position) {
    fill(acme, "acme");
    fill(umbrella, "umbrella");
    client.query("ANALYZE TABLE members");
    check_pages();
    check_look_ups();
}

BOOST_AUTO_TEST_CASE(a_statement_reads_the_same_with_outdated_table_statistics) {
    // As after a large import: the server updates its statistics automatically, but later.
    const SchemaChange uncounted(client, "ALTER TABLE members STATS_AUTO_RECALC = 0",
                                 "ALTER TABLE members STATS_AUTO_RECALC = DEFAULT");
    client.query("ANALYZE TABLE members");
    fill(acme, "acme");
    check_pages();
    check_look_ups();
}

BOOST_AUTO_TEST_SUITE_END()
