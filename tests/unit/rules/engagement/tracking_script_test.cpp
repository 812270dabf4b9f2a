// rules/engagement/tracking_script.hpp: the integrity is that of the script in the tree.
#include "rules/engagement/tracking_script.hpp"

#include <openssl/evp.h>

#include "print.hpp"

#include <array>
#include <fstream>
#include <iterator>
#include <string>

using namespace muster;

namespace {

std::string integrity_of(const std::string& file) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
    unsigned size = 0;
    EVP_Digest(file.data(), file.size(), hash.data(), &size, EVP_sha384(), nullptr);
    std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> text{};
    EVP_EncodeBlock(text.data(), hash.data(), static_cast<int>(size));
    return "sha384-" + std::string(reinterpret_cast<const char*>(text.data()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tracking_script)

BOOST_AUTO_TEST_CASE(the_integrity_is_that_of_the_file) {
    std::ifstream in("nginx/static/js/muster.js", std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    BOOST_TEST_REQUIRE(!file.empty());
    BOOST_TEST(rules::kTrackingScriptIntegrity == integrity_of(file));
}

BOOST_AUTO_TEST_SUITE_END()
