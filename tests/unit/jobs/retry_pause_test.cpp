// jobs/retry_pause.hpp: the pause doubles up to a bound, for each number that jobs.attempts allows.
#include "jobs/retry_pause.hpp"

#include "print.hpp"

using namespace muster;
using jobs::retry_pause;

BOOST_AUTO_TEST_SUITE(job_retry_pause)

BOOST_AUTO_TEST_CASE(the_pause_doubles_with_each_attempt) {
    BOOST_TEST(retry_pause(0).count() == 2'000);
    BOOST_TEST(retry_pause(1).count() == 2'000);
    BOOST_TEST(retry_pause(2).count() == 4'000);
    BOOST_TEST(retry_pause(5).count() == 32'000);
}

BOOST_AUTO_TEST_CASE(no_number_of_attempts_gives_a_pause_above_the_bound) {
    for (const int attempts : {8, 9, 22, 54, 63, 64, 100}) {
        BOOST_TEST(retry_pause(attempts).count() == 256'000, attempts);
    }
}

BOOST_AUTO_TEST_SUITE_END()
