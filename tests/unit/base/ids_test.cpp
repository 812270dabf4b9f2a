// base/ids.hpp: UUIDv7 texts and bytes, and the order of new ones.
#include "base/ids.hpp"

#include "base/time.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "print.hpp"

#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

using muster::MemberId;
using muster::OrgId;
using muster::Uuid;

namespace {

constexpr std::string_view kText = "0190a6b2-7c3d-7e4f-8a1b-0123456789ab";

}  // namespace

BOOST_AUTO_TEST_SUITE(ids)

BOOST_AUTO_TEST_CASE(a_new_id_is_a_version_7_uuid_of_the_rfc_variant) {
    for (int i = 0; i < 1000; ++i) {
        const std::string text = Uuid::v7().text();
        BOOST_TEST(text.size() == Uuid::kTextLength);
        BOOST_TEST(text[14] == '7');
        BOOST_TEST(std::string_view("89ab").find(text[19]) != std::string_view::npos);
    }
}

BOOST_AUTO_TEST_CASE(a_new_id_begins_with_the_milliseconds_of_its_creation) {
    const auto milliseconds = [](const Uuid& uuid) {
        std::int64_t value = 0;
        for (const char c : uuid.bytes().substr(0, 6)) {
            value = value << 8 | static_cast<unsigned char>(c);
        }
        return value;
    };
    const std::int64_t before = muster::Timestamp::now().milliseconds();
    const std::int64_t born = milliseconds(Uuid::v7());
    const std::int64_t after = muster::Timestamp::now().milliseconds();
    BOOST_TEST(born >= before);
    BOOST_TEST(born <=
               after + 1000);  // ids created faster than the counter allows are slightly ahead
}

BOOST_AUTO_TEST_CASE(new_ids_ascend_and_never_repeat) {
    Uuid last = Uuid::v7();
    for (int i = 0; i < 200000; ++i) {
        const Uuid next = Uuid::v7();
        BOOST_TEST_REQUIRE(last < next);
        last = next;
    }
}

// Two requests of a client, one after the other, may reach two workers in the same millisecond.
BOOST_AUTO_TEST_CASE(ids_that_two_processes_create_in_turns_ascend) {
    constexpr int kTurns = 200;
    int to_child[2];
    int to_parent[2];
    BOOST_TEST_REQUIRE((pipe(to_child) == 0 && pipe(to_parent) == 0));
    const pid_t child = fork();
    if (child == 0) {
        char turn = 0;
        for (int i = 0; i < kTurns && read(to_child[0], &turn, 1) == 1; ++i) {
            const std::string_view id = Uuid::v7().bytes();
            if (write(to_parent[1], id.data(), id.size()) != static_cast<ssize_t>(id.size())) break;
        }
        _exit(0);
    }
    BOOST_TEST_REQUIRE(child > 0);
    std::string last;
    for (int i = 0; i < kTurns; ++i) {
        const std::string own(Uuid::v7().bytes());
        std::string other(Uuid::kBytes, '\0');
        BOOST_TEST_REQUIRE(write(to_child[1], "x", 1) == 1);
        BOOST_TEST_REQUIRE(read(to_parent[0], other.data(), other.size()) ==
                           static_cast<ssize_t>(other.size()));
        BOOST_TEST((last < own), i);
        BOOST_TEST((own < other), i);
        last = other;
    }
    for (const int end : {to_child[0], to_child[1], to_parent[0], to_parent[1]}) close(end);
    BOOST_TEST(waitpid(child, nullptr, 0) == child);
}

BOOST_AUTO_TEST_CASE(texts_sort_like_their_ids) {
    std::string last = Uuid::v7().text();
    for (int i = 0; i < 1000; ++i) {
        const std::string next = Uuid::v7().text();
        BOOST_TEST(last < next);
        last = next;
    }
}

BOOST_AUTO_TEST_CASE(a_forked_process_creates_ids_different_from_its_parent) {
    (void)Uuid::v7();  // fills the parent's random buffer, which the child would share
    int ends[2];
    BOOST_TEST_REQUIRE(pipe(ends) == 0);
    constexpr std::size_t kCount = 50;
    const pid_t child = fork();
    if (child == 0) {
        std::string bytes;
        for (std::size_t i = 0; i < kCount; ++i) bytes += Uuid::v7().bytes();
        const bool written =
            write(ends[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
        _exit(written ? 0 : 1);
    }
    BOOST_TEST_REQUIRE(child > 0);
    std::unordered_set<std::string> tails;  // after the milliseconds and the counter
    for (std::size_t i = 0; i < kCount; ++i) tails.emplace(Uuid::v7().bytes().substr(8));
    std::string bytes(kCount * Uuid::kBytes, '\0');
    int status = 0;
    BOOST_TEST_REQUIRE(waitpid(child, &status, 0) == child);
    BOOST_TEST(status == 0);
    BOOST_TEST_REQUIRE(read(ends[0], bytes.data(), bytes.size()) ==
                       static_cast<ssize_t>(bytes.size()));
    close(ends[0]);
    close(ends[1]);
    for (std::size_t i = 0; i < kCount; ++i) {
        tails.insert(bytes.substr(i * Uuid::kBytes + 8, 8));
    }
    BOOST_TEST(tails.size() == 2 * kCount);
}

BOOST_AUTO_TEST_CASE(canonical_text_is_parsed_and_printed_unchanged) {
    for (const std::string_view text :
         {kText, std::string_view("00000000-0000-0000-0000-000000000000"),
          std::string_view("ffffffff-ffff-ffff-ffff-ffffffffffff"),
          std::string_view("f47ac10b-58cc-4372-a567-0e02b2c3d479")}) {
        const auto uuid = Uuid::parse(text);
        BOOST_TEST_REQUIRE(uuid.has_value());
        BOOST_TEST(uuid->text() == text);
    }
    for (int i = 0; i < 100; ++i) {
        const Uuid uuid = Uuid::v7();
        BOOST_TEST(Uuid::parse(uuid.text()) == uuid);
        BOOST_TEST(Uuid::from_bytes(uuid.bytes()) == uuid);
    }
}

BOOST_AUTO_TEST_CASE(any_other_text_is_not_an_id) {
    for (const std::string_view text : {
             "",
             "0190a6b2",
             "0190A6B2-7C3D-7E4F-8A1B-0123456789AB",
             "0190a6b2-7c3d-7e4f-8a1b-0123456789aB",
             "0190a6b27c3d7e4f8a1b0123456789ab",
             "0190a6b27c3d7e4f8a1b0123456789ab0000",
             "{0190a6b2-7c3d-7e4f-8a1b-0123456789ab}",
             "urn:uuid:0190a6b2-7c3d-7e4f-8a1b-0123456789ab",
             "0190a6b2-7c3d-7e4f-8a1b-0123456789a",
             "0190a6b2-7c3d-7e4f-8a1b-0123456789abc",
             "0190a6b2-7c3d-7e4f-8a1b-0123456789ag",
             "0190a6b2-7c3d-7e4f-8a1b_0123456789ab",
             "0190a6b-27c3d-7e4f-8a1b-0123456789ab",
             "0190a6b2-7c3d-7e4f-8a1-b0123456789ab",
             "0190a6b2-7c3d-7e4f-8a1b-0123456789a ",
             " 190a6b2-7c3d-7e4f-8a1b-0123456789ab",
             "0190a6b2-7c3d-7e4f-8a1b-+123456789ab",
             "------------------------------------",
         }) {
        BOOST_TEST(!Uuid::parse(text).has_value(), text);
    }
    for (std::size_t at = 0; at < kText.size(); ++at) {
        std::string changed(kText);
        changed[at] = '/';
        BOOST_TEST(!Uuid::parse(changed).has_value(), changed);
        changed[at] = '\0';
        BOOST_TEST(!Uuid::parse(changed).has_value(), at);
        changed[at] = '\xc3';
        BOOST_TEST(!Uuid::parse(changed).has_value(), at);
    }
}

BOOST_AUTO_TEST_CASE(the_16_bytes_have_the_order_of_the_text) {
    const auto uuid = Uuid::parse(kText);
    BOOST_TEST_REQUIRE(uuid.has_value());
    const std::string expected = "\x01\x90\xa6\xb2\x7c\x3d\x7e\x4f\x8a\x1b\x01\x23\x45\x67\x89\xab";
    BOOST_TEST(uuid->bytes() == expected);
    for (const std::size_t size : {0, 1, 15, 17, 36}) {
        BOOST_TEST(!Uuid::from_bytes(std::string(size, 'x')).has_value(), size);
    }
}

BOOST_AUTO_TEST_CASE(ids_of_different_types_do_not_convert) {
    static_assert(!std::is_convertible_v<OrgId, MemberId>);
    static_assert(!std::is_constructible_v<OrgId, MemberId>);
    static_assert(!std::is_convertible_v<Uuid, OrgId>);
    const OrgId id = OrgId::create();
    BOOST_TEST(OrgId::parse(id.text()) == id);
    BOOST_TEST(!OrgId::parse("nonsense").has_value());
    BOOST_TEST(id.bytes().size() == Uuid::kBytes);
    BOOST_TEST(OrgId() == OrgId::parse("00000000-0000-0000-0000-000000000000"));
}

BOOST_AUTO_TEST_CASE(ids_can_be_hashed) {
    std::unordered_set<OrgId> known;
    const OrgId id = OrgId::create();
    known.insert(id);
    known.insert(id);
    known.insert(OrgId::create());
    BOOST_TEST(known.size() == 2U);
    BOOST_TEST(known.contains(id));
}

BOOST_AUTO_TEST_SUITE_END()
