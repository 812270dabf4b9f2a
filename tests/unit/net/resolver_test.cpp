// net/resolver.hpp: look-ups over a real socket. tests/unit/net/webhooks has more of them.
#include "net/resolver.hpp"

#include "unit/net/loopback_dns.hpp"

#include "print.hpp"

#include <stdexcept>

using namespace muster;
using test::LoopbackDns;

BOOST_AUTO_TEST_SUITE(net_resolver)

BOOST_AUTO_TEST_CASE(an_exception_of_one_look_up_does_not_lose_the_others) {
    const LoopbackDns dns([](const std::string&, int) { return std::nullopt; });
    net::Resolver resolver(dns.address());
    std::vector<int> done;
    for (int i = 0; i < 3; ++i) {
        resolver.look_up("silent.example", Milliseconds(0), [&done, i](const auto& addresses) {
            BOOST_TEST(addresses.empty());
            done.push_back(i);
            throw std::runtime_error("made up by a test");
        });
    }
    for (int i = 0; i < 3; ++i) BOOST_CHECK_THROW(resolver.proceed(), std::runtime_error);
    resolver.proceed();
    BOOST_TEST((done == std::vector{0, 1, 2}));
}

BOOST_AUTO_TEST_SUITE_END()
