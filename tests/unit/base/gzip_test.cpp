// base/gzip.hpp: what is decompressed, and how far.
#include "base/gzip.hpp"

#include "print.hpp"

#include <zlib.h>

#include <string>

using muster::gunzip;
using muster::Gunzip;

namespace {

std::string gzipped(const std::string& text, int window = 16 + MAX_WBITS) {
    z_stream stream{};
    BOOST_TEST_REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string bytes(deflateBound(&stream, text.size()) + 64, '\0');
    std::string copy = text;
    stream.next_in = reinterpret_cast<Bytef*>(copy.data());
    stream.avail_in = static_cast<uInt>(copy.size());
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_out = static_cast<uInt>(bytes.size());
    BOOST_TEST_REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    bytes.resize(bytes.size() - stream.avail_out);
    deflateEnd(&stream);
    return bytes;
}

constexpr std::size_t kLimit = 1'000'000;

}  // namespace

BOOST_AUTO_TEST_SUITE(gzip)

BOOST_AUTO_TEST_CASE(a_text_up_to_the_limit_is_decompressed) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kLimit - 1, kLimit}) {
        const std::string text(size, 'x');
        const auto found = gunzip(gzipped(text), kLimit);
        BOOST_TEST((found.result == Gunzip::Complete), size);
        BOOST_TEST((found.text == text), size);
    }
    BOOST_TEST(gunzip(gzipped("one") + gzipped("two"), kLimit).text == "onetwo");
}

BOOST_AUTO_TEST_CASE(a_longer_text_is_not_decompressed) {
    BOOST_TEST((gunzip(gzipped(std::string(kLimit + 1, 'x')), kLimit).result == Gunzip::TooLong));
    const std::string bomb = gzipped(std::string(50'000'000, '\0'));
    const auto found = gunzip(bomb, kLimit);
    BOOST_TEST((found.result == Gunzip::TooLong));
    BOOST_TEST(found.text.empty());
    const std::string half(kLimit / 2 + 1, 'x');
    BOOST_TEST((gunzip(gzipped(half) + gzipped(half), kLimit).result == Gunzip::TooLong));
}

BOOST_AUTO_TEST_CASE(other_bytes_are_malformed) {
    const std::string good = gzipped("some text that is long enough");
    std::string damaged = good;
    damaged[good.size() - 5] ^= 1;  // the checksum
    for (const std::string& bytes :
         {std::string(), std::string("{}"), good.substr(0, good.size() - 1), good.substr(0, 10),
          good + "x", damaged, gzipped("zlib", MAX_WBITS), gzipped("deflate", -MAX_WBITS)}) {
        BOOST_TEST((gunzip(bytes, kLimit).result == Gunzip::Malformed), bytes.size());
    }
}

BOOST_AUTO_TEST_CASE(the_number_of_members_is_limited) {
    std::string members;
    for (int i = 0; i < muster::kMostGzipMembers; ++i) members += gzipped("");
    BOOST_TEST((gunzip(members, kLimit).result == Gunzip::Complete));
    BOOST_TEST((gunzip(members + gzipped(""), kLimit).result == Gunzip::Malformed));
}

BOOST_AUTO_TEST_SUITE_END()
