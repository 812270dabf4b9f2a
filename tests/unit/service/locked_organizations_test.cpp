// service/locked_organizations.hpp: how long a collector leaves the calls of an organization.
#include "service/locked_organizations.hpp"

#include "print.hpp"

using namespace muster;
using service::LockedOrganizations;
using Access = LockedOrganizations::Access;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

struct Locked {
    bool is(Access expected, OrgId organization = OrgId()) const {
        return locked.access(organization, now) == expected;
    }

    milliseconds left() const {
        return std::chrono::duration_cast<milliseconds>(locked.next_attempt(acme, now) - now);
    }

    LockedOrganizations locked;
    LockedOrganizations::Clock::time_point now = LockedOrganizations::Clock::now();
    OrgId acme = OrgId::create();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(locked_organizations, Locked)

BOOST_AUTO_TEST_CASE(an_organization_is_open_until_its_first_timeout) {
    BOOST_TEST(is(Access::Open, acme));
    locked.timed_out(acme, now);
    BOOST_TEST(is(Access::Closed, acme));
    BOOST_TEST(is(Access::Open, OrgId::create()));
}

BOOST_AUTO_TEST_CASE(the_time_doubles_up_to_half_a_second) {
    for (const int expected : {10, 20, 40, 80, 160, 320, 500, 500}) {
        locked.timed_out(acme, now);
        BOOST_TEST(left() == milliseconds(expected));
        now += milliseconds(expected - 1);
        BOOST_TEST(is(Access::Closed, acme));
        now += milliseconds(1);
        BOOST_TEST(is(Access::Probe, acme));
    }
}

BOOST_AUTO_TEST_CASE(the_time_is_at_least_the_wait_for_the_lock) {
    locked.timed_out(acme, now, seconds(1));
    BOOST_TEST(left() == seconds(1));
    locked.timed_out(acme, now, seconds(1));
    BOOST_TEST(left() == seconds(2));
    locked.timed_out(acme, now, seconds(60));
    BOOST_TEST(left() == seconds(8));
}

BOOST_AUTO_TEST_CASE(a_success_opens_it_and_the_next_timeout_is_a_first_one) {
    locked.timed_out(acme, now);
    locked.timed_out(acme, now);
    locked.succeeded(acme);
    BOOST_TEST(is(Access::Open, acme));
    locked.timed_out(acme, now);
    BOOST_TEST(left() == milliseconds(10));
}

BOOST_AUTO_TEST_CASE(a_full_table_drops_the_entry_that_ends_first) {
    locked.timed_out(acme, now);
    for (std::size_t i = 1; i < LockedOrganizations::kMost; ++i) {
        locked.timed_out(OrgId::create(), now + seconds(1));
    }
    BOOST_TEST(is(Access::Closed, acme));
    const OrgId last = OrgId::create();
    locked.timed_out(last, now);
    BOOST_TEST(is(Access::Open, acme));
    BOOST_TEST(is(Access::Closed, last));
}

BOOST_AUTO_TEST_SUITE_END()
