// base/gzip.hpp: what is decompressed, and how far.
#include "base/gzip.hpp"

#include "unit/base/deflate_blocks.hpp"

#include "print.hpp"

#include <zlib.h>

#include <random>
#include <string>
#include <vector>

using muster::gunzip;
using muster::Gunzip;
using muster::test::DeflateBlocks;

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

// A text whose rows are flushed one by one.
std::string flushed(const std::vector<std::string>& rows, int level, int memory, int flush) {
    z_stream stream{};
    BOOST_TEST_REQUIRE(deflateInit2(&stream, level, Z_DEFLATED, 16 + MAX_WBITS, memory,
                                    Z_DEFAULT_STRATEGY) == Z_OK);
    std::string bytes;
    std::string piece(65'536, '\0');
    for (std::size_t i = 0; i <= rows.size(); ++i) {
        std::string row = i < rows.size() ? rows[i] : "";
        stream.next_in = reinterpret_cast<Bytef*>(row.data());
        stream.avail_in = static_cast<uInt>(row.size());
        do {
            stream.next_out = reinterpret_cast<Bytef*>(piece.data());
            stream.avail_out = static_cast<uInt>(piece.size());
            deflate(&stream, i < rows.size() ? flush : Z_FINISH);
            bytes.append(piece, 0, piece.size() - stream.avail_out);
        } while (stream.avail_out == 0);
    }
    deflateEnd(&stream);
    return bytes;
}

// `count` rows of `size` random characters of the first `letters` ones.
std::vector<std::string> random_rows(std::size_t count, std::size_t size, int letters) {
    std::minstd_rand random(7);  // NOLINT(cert-msc51-cpp): the same rows each time
    std::uniform_int_distribution<int> letter(0, letters - 1);
    std::vector<std::string> rows(count, std::string(size, ' '));
    for (auto& row : rows) {
        for (char& byte : row) byte = static_cast<char>(letter(random));
    }
    return rows;
}

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

BOOST_AUTO_TEST_CASE(a_text_in_small_pieces_is_decompressed) {
    constexpr std::size_t kLarge = 20'000'000;
    const auto check = [](const std::vector<std::string>& rows, const std::string& bytes) {
        std::string text;
        for (const std::string& row : rows) text += row;
        const auto found = gunzip(bytes, kLarge);
        BOOST_TEST((found.result == Gunzip::Complete), rows.size());
        BOOST_TEST((found.text == text), rows.size());
    };
    for (const int flush : {Z_SYNC_FLUSH, Z_BLOCK}) {
        for (const int letters : {1, 10, 256}) {
            for (const std::size_t size : {std::size_t{10}, std::size_t{100}}) {
                const auto rows = random_rows(12'000, size, letters);
                check(rows, flushed(rows, 6, 8, flush));
            }
        }
    }
    const auto bytes = random_rows(1, 1'000'000, 256);
    for (const int level : {0, 1, 9}) {
        for (const int memory : {1, 9}) check(bytes, flushed(bytes, level, memory, Z_NO_FLUSH));
    }
    const auto digits = random_rows(1, 1'000'000, 10);
    check(digits, flushed(digits, 9, 1, Z_NO_FLUSH));
}

// The end of the block is then in a byte that zlib has already taken.
BOOST_AUTO_TEST_CASE(a_text_that_fills_the_buffer_is_decompressed) {
    for (int letters = 1; letters <= 100; ++letters) {
        const std::string text = random_rows(1, 65'536, letters).front();
        const auto found = gunzip(gzipped(text) + gzipped(text), kLimit);
        BOOST_TEST((found.result == Gunzip::Complete), letters);
        BOOST_TEST((found.text == text + text), letters);
    }
}

BOOST_AUTO_TEST_CASE(dynamic_blocks_without_text_are_limited) {
    DeflateBlocks few;
    for (int i = 0; i < 8000; ++i) few.add_empty_dynamic();
    BOOST_TEST((gunzip(few.gzip_of(""), kLimit).result == Gunzip::Complete));
    DeflateBlocks many;
    while (many.size() < 1'000'000) many.add_empty_dynamic();
    BOOST_TEST((gunzip(many.gzip_of(""), kLimit).result == Gunzip::TooManyBlocks));
}

BOOST_AUTO_TEST_CASE(dynamic_blocks_are_limited_by_the_length_of_the_text) {
    // 57 KiB of text in each 64 KiB of bytes.
    constexpr int kCopies = 226;
    DeflateBlocks blocks;
    std::string text;
    for (int piece = 1; piece <= 16; ++piece) {
        blocks.add_repeated(kCopies);
        text += std::string(1 + kCopies * 258, 'x');
        while (blocks.size() < static_cast<std::size_t>(piece) * 65'536) blocks.add_empty_dynamic();
    }
    const std::string bytes = blocks.gzip_of(text);
    BOOST_TEST((gunzip(bytes, kLimit).result == Gunzip::TooManyBlocks));
}

BOOST_AUTO_TEST_SUITE_END()
