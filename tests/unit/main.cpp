// The unit tests' main(): Boost.Test's own. tests/unit mirrors src/, one test file per source file.
#define BOOST_TEST_MODULE muster
#include <boost/test/unit_test.hpp>
