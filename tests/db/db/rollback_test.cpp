// db/transaction.hpp: a transaction that cannot be rolled back leaves nothing to the next one.
#include "db/fixture.hpp"
#include "db/transaction.hpp"

#include "print.hpp"

#include <stdexcept>

using muster::db::Database;
using muster::db::Tx;
using muster::test::session_of;

BOOST_AUTO_TEST_SUITE(rollback)

BOOST_AUTO_TEST_CASE(a_connection_that_could_not_roll_back_is_replaced_without_a_rerun) {
    muster::test::Client killer;
    Database database(muster::test::connection_settings());
    std::int64_t lost = 0;
    const auto fails = [&](Tx& tx) {
        lost = session_of(tx);
        killer.kill(lost);
        throw std::runtime_error("x");
    };
    BOOST_CHECK_THROW(database.transaction(fails), std::runtime_error);
    const int reruns = muster::db::statistics().reruns;
    const auto next = database.transaction(session_of);
    BOOST_TEST(next != lost);
    BOOST_TEST(muster::db::statistics().reruns == reruns);
}

BOOST_AUTO_TEST_SUITE_END()
