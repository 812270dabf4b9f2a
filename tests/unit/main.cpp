// The unit tests' main(): Boost.Test's own. The tests mirror src/, a file for a file.
#define BOOST_TEST_MODULE muster
#include <boost/test/unit_test.hpp>
