// store/id_bounds.hpp: the bounds of the ids that were created in a time.
#include "store/id_bounds.hpp"

#include "base/text.hpp"

#include "print.hpp"

using namespace muster;
using store::id_after;
using store::id_at;
using store::id_before;

namespace {

const Milliseconds kNoMargin{0};

}  // namespace

BOOST_AUTO_TEST_SUITE(id_bounds)

BOOST_AUTO_TEST_CASE(an_id_begins_with_its_time) {
    BOOST_TEST(to_hex(id_at(Timestamp(0x0123456789ab), '\0')) ==
               "0123456789ab" + std::string(20, '0'));
    BOOST_TEST(to_hex(id_at(Timestamp(1), '\xff')) == "000000000001" + std::string(20, 'f'));
}

BOOST_AUTO_TEST_CASE(the_bounds_enclose_the_ids_of_a_time_with_the_margin) {
    const Timestamp when = Timestamp::now();
    const Uuid id = Uuid::v7();
    const Milliseconds margin{3'600'000};  // the process may be paused between the two times
    BOOST_TEST((id_before(when, margin) < id.bytes()));
    BOOST_TEST((id.bytes() < id_after(when, margin)));
    BOOST_TEST((id_before(when, margin) == id_at(when - margin, '\0')));
    BOOST_TEST((id_after(when, margin) == id_at(when + margin, '\xff')));
}

// A retention of 100 years begins before 1970.
BOOST_AUTO_TEST_CASE(a_time_before_1970_has_the_bounds_of_1970) {
    const Timestamp early(-1);
    BOOST_TEST((id_before(early, kNoMargin) == std::string(Uuid::kBytes, '\0')));
    BOOST_TEST((id_before(Timestamp(5), Milliseconds(6)) == std::string(Uuid::kBytes, '\0')));
    BOOST_TEST((id_after(early, kNoMargin) == id_after(Timestamp(0), kNoMargin)));
}

BOOST_AUTO_TEST_SUITE_END()
