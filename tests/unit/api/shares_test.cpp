// api/shares.hpp: how a batch is divided among the organizations that wait.
#include "api/shares.hpp"

#include "print.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace muster::api;
using muster::process::OrganizationShares;

namespace {

constexpr std::size_t kLight = 64 << 10;

struct SharesFixture {
    std::vector<ShareResult> results(const std::vector<Demand>& demands) {
        return divide(demands, share, held);
    }
    static bool is_run(ShareResult result) {
        return result == ShareResult::Run || result == ShareResult::RunLast;
    }
    // How many requests of the organization run.
    static std::size_t running(const std::vector<Demand>& demands,
                               const std::vector<ShareResult>& results, const std::string& whose) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < demands.size(); ++i) {
            if (demands[i].organization == whose && is_run(results[i])) ++count;
        }
        return count;
    }

    OrganizationShares permits;
    muster::process::ActiveOrganizations active;
    GroupShare share{&permits, kLight, 32, {}, &active};
    std::vector<OrganizationShares::Permit> held;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shares, SharesFixture)

BOOST_AUTO_TEST_CASE(an_organization_alone_gets_the_whole_batch) {
    const std::vector<Demand> demands(64, Demand{"a", 500});
    BOOST_TEST(running(demands, results(demands), "a") == 64U);
    BOOST_TEST(held.empty());
}

BOOST_AUTO_TEST_CASE(an_organization_gets_at_most_half_while_others_wait) {
    std::vector<Demand> demands(62, Demand{"a", 500});
    demands.push_back({"b", 500});
    demands.push_back({"c", 500});
    const auto found = results(demands);
    BOOST_TEST(running(demands, found, "a") == 32U);
    BOOST_TEST(running(demands, found, "b") == 1U);
    BOOST_TEST(running(demands, found, "c") == 1U);
    BOOST_TEST((found[32] == ShareResult::NextBatch));
}

BOOST_AUTO_TEST_CASE(a_heavy_part_runs_after_the_other_organizations) {
    const auto mixed = results({{"a", kLight}, {"b", 500}, {"a", 500}});
    const std::vector<ShareResult> b_first = {ShareResult::RunLast, ShareResult::Run,
                                              ShareResult::RunLast};
    BOOST_TEST(mixed == b_first, boost::test_tools::per_element());
    held.clear();
    const auto alone = results({{"a", kLight}, {"a", 500}});
    BOOST_TEST((alone[0] == ShareResult::Run && alone[1] == ShareResult::Run));
}

BOOST_AUTO_TEST_CASE(the_heaviest_part_of_a_batch_is_bounded) {
    const std::vector<Demand> large(3, Demand{"a", 1 << 20});
    BOOST_TEST(running(large, results(large), "a") == 1U);  // a single request may be larger
    const std::vector<Demand> medium(64, Demand{"b", 16 << 10});
    BOOST_TEST(running(medium, results(medium), "b") == 16U);
}

BOOST_AUTO_TEST_CASE(a_heavy_part_needs_one_permit) {
    const std::vector<Demand> demands(10, Demand{"a", 16 << 10});
    BOOST_TEST(running(demands, results(demands), "a") == 10U);
    BOOST_TEST(held.size() == 1U);
}

BOOST_AUTO_TEST_CASE(without_a_permit_only_the_light_part_runs) {
    const auto elsewhere = permits.try_acquire("a", {1});
    std::vector<Demand> demands(10, Demand{"a", 16 << 10});
    demands.push_back({"b", 1 << 20});
    for (int i = 0; i < 9; ++i) demands.push_back({"c", 10});
    const auto found = results(demands);
    BOOST_TEST(running(demands, found, "a") == 3U);
    BOOST_TEST(std::count(found.begin(), found.end(), ShareResult::NeedsPermit) == 7);
    BOOST_TEST(running(demands, found, "b") == 1U);
}

BOOST_AUTO_TEST_CASE(each_request_needs_a_permit_where_no_part_is_light) {
    share.light = 0;
    const std::vector<Demand> one{{"a", 0}};
    BOOST_TEST((results(one)[0] == ShareResult::Run));
    BOOST_TEST((results(one)[0] == ShareResult::NeedsPermit));
    const std::vector<Demand> other{{"b", 0}};
    BOOST_TEST((results(other)[0] == ShareResult::Run));
    held.clear();
    BOOST_TEST((results(one)[0] == ShareResult::Run));
}

BOOST_AUTO_TEST_CASE(the_limit_of_young_permits_holds_while_others_send_requests) {
    share.limit = {.most = 4, .most_young = 1};
    share.light = 0;
    const std::vector<Demand> one{{"a", 0}};
    BOOST_TEST((results(one)[0] == ShareResult::Run));
    BOOST_TEST((results(one)[0] == ShareResult::Run));
    const std::vector<Demand> other{{"b", 0}};
    BOOST_TEST((results(other)[0] == ShareResult::Run));
    BOOST_TEST((results(one)[0] == ShareResult::NeedsPermit));
    BOOST_TEST(limit_of(share, "a").most_young == 1U);
}

BOOST_AUTO_TEST_CASE(an_organization_alone_may_occupy_more_workers) {
    share.limit = {.most = 1};
    share.most_alone = 2;
    share.light = 0;
    const std::vector<Demand> one{{"a", 0}};
    BOOST_TEST((results(one)[0] == ShareResult::Run));
    BOOST_TEST((results(one)[0] == ShareResult::Run));
    BOOST_TEST((results(one)[0] == ShareResult::NeedsPermit));
    BOOST_TEST((results(std::vector<Demand>{{"b", 0}})[0] == ShareResult::Run));
    BOOST_TEST(limit_of(share, "a").most == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
