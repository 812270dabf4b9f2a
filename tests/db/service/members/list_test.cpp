// service/members/list.hpp: pages of random members compared with a full read of the table, and the
// cost of a page.
#include "service/members/list.hpp"

#include "db/members.hpp"

#include "print.hpp"

#include <algorithm>
#include <random>
#include <set>

using namespace muster;
using service::MemberFilter;
using test::Batch;
using test::Members;

namespace {

using Ids = std::vector<std::string>;  // of users, as text

// Texts that a collation treats as equal, texts with wildcards, and texts with a common prefix.
const std::vector<std::string> kNames = {
    "",        "Ann",        "ann",         "\u00c4nn", "ANNA", "An",
    "a%b",     "a_b",        "a\\b",        "axb",      "Lee",  "\u00e9tienne",
    "Etienne", "\U0001f600", "\U0001f601x", "Anna Lee", "a",    "L\u00e9e",
};
const std::vector<std::string> kPrefixes = {"a",  "A",          "an",  "ann", "ANNA ",
                                            "a%", "a_",         "a\\", "lee", "\u00e9",
                                            "e",  "\U0001f600", "zz",  "%",   "ann@"};

struct Pages : Members {
    // The ids of all pages in sequence; no page may be longer than `limit`.
    Ids walk(const MemberFilter& filter, int limit) {
        Ids ids;
        std::string position;
        for (int page = 0; page < 5000; ++page) {
            const auto got = service::list_members(context, acme, filter, position, limit);
            BOOST_TEST(got.members.size() <= static_cast<std::size_t>(limit));
            for (const auto& member : got.members) ids.push_back(member.user_id.text());
            if (!got.next) return ids;
            position = *got.next;
        }
        BOOST_FAIL("the pages do not end");
        return ids;
    }

    // The expected result of the filter, computed without an index, a limit or a cursor.
    Ids expected(const MemberFilter& filter) {
        std::string terms = "SELECT user_id, '' AS term, 0 AS place FROM members";
        if (filter.prefix && !filter.external_id) {
            terms =
                "SELECT user_id, email AS term, 1 AS place FROM members UNION ALL "
                "SELECT user_id, search_name, 2 FROM members UNION ALL "
                "SELECT user_id, last_name, 3 FROM members";
        } else if (filter.updated_since && !filter.external_id) {
            terms = "SELECT user_id, LPAD(updated_at, 20, '0') AS term, 0 AS place FROM members";
        }
        std::string pattern;
        for (const char c : filter.prefix.value_or("")) {
            pattern += std::string_view("!%_").find(c) == std::string_view::npos ? "" : "!";
            pattern += c;
        }
        pattern += '%';
        auto rows = client.query(
            "SELECT t.user_id FROM (" + terms +
                ") t JOIN members m ON m.user_id = t.user_id AND m.organization_id = ? "
                "WHERE (? = 0 OR IF(? = 1, t.term LIKE ? ESCAPE '!', m.email LIKE ? ESCAPE '!' OR "
                "m.search_name LIKE ? ESCAPE '!' OR m.last_name LIKE ? ESCAPE '!')) AND (? IS NULL OR CAST(m.email AS BINARY) = ?) "
                "AND (? IS NULL OR m.external_id = ?) AND (? IS NULL OR m.status = ?) "
                "AND (? IS NULL OR m.updated_at >= ?) ORDER BY t.term, t.user_id, t.place",
            acme, filter.prefix ? 1 : 0, filter.external_id ? 0 : 1, pattern, pattern, pattern,
            pattern, filter.email, filter.email, filter.external_id, filter.external_id,
            filter.status, filter.status, filter.updated_since, filter.updated_since);
        Ids ids;
        std::set<std::string> seen;
        while (rows.next()) {
            const std::string id = rows.id<UserId>(1).text();
            if (seen.insert(id).second) ids.push_back(id);
        }
        return ids;
    }

    void check(const MemberFilter& filter, int limit) {
        BOOST_TEST_CONTEXT("q=" << filter.prefix.value_or("-")
                                << " external_id=" << filter.external_id.value_or("-")
                                << " status=" << filter.status.value_or("-") << " since="
                                << filter.updated_since.value_or(Timestamp()).milliseconds()
                                << " limit=" << limit) {
            BOOST_TEST(walk(filter, limit) == expected(filter), boost::test_tools::per_element());
        }
    }

    const std::string& any(const std::vector<std::string>& of) { return of[random() % of.size()]; }

    void fill(int count) {
        Batch batch;
        for (int i = 0; i < count; ++i) {
            const std::string local = any({"ann", "\u00e4nn", "anna", "bob", "lee", "a_b"});
            batch.add(local + std::to_string(i) + "@x.test",
                      {any({"", "x", "y", "X"}), any(kNames), any(kNames), any(kNames)});
        }
        run(acme, batch);
        client.execute(
            "UPDATE members SET updated_at = 1000 + CRC32(email) % 20, "
            "status = IF(CRC32(id) % 4 = 0, 'locked', 'active')");
    }

    // How many index entries and rows one page reads.
    std::int64_t cost_of(const MemberFilter& filter, const std::string& position) {
        const auto reads = [&] {
            return database.autocommit(
                [](db::Tx& tx) { return test::entries_read(tx, "rnd_next"); });
        };
        const auto before = reads();
        (void)service::list_members(context, acme, filter, position, 10);
        return reads() - before;
    }

    std::mt19937 random{20261121};
};

MemberFilter by_prefix(std::string prefix) {
    MemberFilter filter;
    filter.prefix = std::move(prefix);
    return filter;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(service_member_pages, Pages)

BOOST_AUTO_TEST_CASE(pages_match_a_full_read_of_the_table) {
    fill(400);
    run(umbrella, Batch().add("ann0@x.test", {"x", "Ann", "Ann", ""}).add("annb@x.test"));
    for (const int limit : {1, 7, 100}) check({}, limit);
    for (const std::string& prefix : kPrefixes) {
        for (const int limit : {1, 3, 100}) check(by_prefix(prefix), limit);
    }
}

BOOST_AUTO_TEST_CASE(names_that_differ_only_at_the_end_are_all_listed) {
    std::string name;
    for (int i = 0; i < 255; ++i) name += "\U0001f600";
    Batch batch;
    for (int i = 0; i < 5; ++i) {
        batch.add("long" + std::to_string(i) + "@x.test", {"", name, name});
    }
    run(acme, batch);
    for (const int limit : {1, 2, 100}) check(by_prefix(name), limit);
    BOOST_TEST(walk(by_prefix(name), 1).size() == 5U);
}

BOOST_AUTO_TEST_CASE(filters_are_combined_whichever_index_is_used) {
    fill(300);
    const auto maybe = [&](const std::vector<std::string>& of) {
        return random() % 2 == 0 ? std::nullopt : std::optional(any(of));
    };
    for (int round = 0; round < 150; ++round) {
        MemberFilter filter;
        filter.external_id = maybe({"x", "y", "X", "none"});
        filter.prefix = maybe(kPrefixes);
        filter.status = maybe({"active", "locked"});
        if (random() % 2 == 0) {
            filter.updated_since = Timestamp(990 + static_cast<std::int64_t>(random() % 35));
        }
        check(filter, 1 + static_cast<int>(random() % 40));
    }
}

BOOST_AUTO_TEST_CASE(an_address_finds_only_its_member) {
    run(acme, Batch().add("ann@x.test", {"x"}).add("\u00e4nn@x.test").add("bob@x.test"));
    run(umbrella, Batch().add("eve@x.test"));
    const auto found = [&](std::string email, std::optional<std::string> external_id = {}) {
        MemberFilter filter;
        filter.email = std::move(email);
        filter.external_id = std::move(external_id);
        return walk(filter, 1);
    };
    BOOST_TEST(found("ann@x.test") == Ids{member(acme, "ann@x.test").user_id.text()});
    BOOST_TEST(found("ann@x.test", "x").size() == 1U);
    BOOST_TEST(found("ann@x.test", "y").empty());
    BOOST_TEST(found("eve@x.test").empty());
    BOOST_TEST(found("nobody@x.test").empty());
}

BOOST_AUTO_TEST_CASE(a_page_reads_a_bounded_number_of_members) {
    fill(2500);
    client.execute("UPDATE members SET status = 'active'");
    MemberFilter filter;
    filter.status = "locked";
    filter.updated_since = Timestamp(0);
    const auto page = service::list_members(context, acme, filter, "", 10);
    BOOST_TEST(page.members.empty());
    BOOST_TEST(page.next.has_value());
    BOOST_TEST(walk(filter, 10).empty());
}

BOOST_AUTO_TEST_CASE(the_cost_of_a_page_does_not_depend_on_its_position) {
    fill(3000);
    client.query("ANALYZE TABLE members");  // the server does this automatically some seconds later
    std::vector<MemberFilter> filters(5);
    filters[1].status = "active";
    filters[2].updated_since = Timestamp(1000);
    filters[3].prefix = "a";
    filters[4].external_id = "x";
    for (const auto& filter : filters) {
        std::string position;
        for (int page = 0; page < 40; ++page) {
            position = *service::list_members(context, acme, filter, position, 10).next;
        }
        const auto first = cost_of(filter, "");
        const auto deep = cost_of(filter, position);
        BOOST_TEST(first < 300);
        BOOST_TEST(deep < 300);
    }
}

BOOST_AUTO_TEST_CASE(a_page_of_large_members_is_shortened) {
    Batch batch;
    for (int i = 0; i < 60; ++i) batch.add("heavy" + std::to_string(i) + "@x.test");
    run(acme, batch);
    client.execute(
        "UPDATE members SET attributes = CONCAT('{\"k\": [\"', REPEAT('x', 300000), "
        "'\", \"api\", 1]}')");
    const auto page = service::list_members(context, acme, {}, "", 100);
    BOOST_TEST(page.members.size() == 14U);  // the last one reaches 4 MiB
    BOOST_TEST(page.next.has_value());
    BOOST_TEST(walk({}, 100).size() == 60U);
}

BOOST_AUTO_TEST_CASE(a_forged_position_is_rejected) {
    BOOST_CHECK_THROW((void)service::list_members(context, acme, {}, "x", 10),
                      std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

// ---------------------------------------------------------------------------- order and total

namespace {

struct Ordered : Pages {
    // Attaches people whose user ids ascend while their member ids descend.
    void add_older(int from, int to) {
        for (int i = from; i < to; ++i) add(i, id_of(1000 - i));
    }
    void add(int number, const MemberId& id) {
        const std::string email = "m" + std::to_string(number) + "@x.test";
        client.execute("INSERT INTO users (id, email, created_at) VALUES (?, ?, 1)",
                       UserId::create(), email);
        client.execute(
            "INSERT INTO members (organization_id, user_id, id, email, attributes, created_at, "
            "updated_at) SELECT ?, id, ?, email, '{}', 1, 1 FROM users WHERE email = ?",
            acme, id, email);
    }
    static MemberId id_of(int number) {
        std::string bytes(Uuid::kBytes, '\0');
        bytes[0] = static_cast<char>(number >> 8);
        bytes[1] = static_cast<char>(number & 0xff);
        return MemberId(*Uuid::from_bytes(bytes));
    }
    Ids newest() {
        auto rows = client.query(
            "SELECT user_id FROM members WHERE organization_id = ? ORDER BY id DESC", acme);
        Ids ids;
        while (rows.next()) ids.push_back(rows.id<UserId>(1).text());
        return ids;
    }
    // The count, and a "+" if there may be more.
    std::string total(const MemberFilter& filter, int most) {
        const auto total = service::count_members(context, acme, filter, most);
        return std::to_string(total.count) + (total.exact ? "" : "+");
    }
    MemberFilter newest_first{{}, {}, {}, {}, {}, service::MemberOrder::Newest};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(member_order_and_total, Ordered)

BOOST_AUTO_TEST_CASE(the_newest_members_come_first_on_pages_of_any_size) {
    add_older(0, 20);
    run(umbrella, Batch().add("other@x.test"));
    for (const int limit : {1, 7, 20, 100}) {
        BOOST_TEST(walk(newest_first, limit) == newest(), boost::test_tools::per_element());
    }
    BOOST_TEST(newest() == walk({}, 100), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_member_added_between_two_pages_is_on_neither) {
    add_older(0, 20);
    const Ids before = newest();
    const auto first = service::list_members(context, acme, newest_first, "", 10);
    add(100, id_of(2000));
    Ids all;
    for (const auto& member : first.members) all.push_back(member.user_id.text());
    const auto second = service::list_members(context, acme, newest_first, *first.next, 20);
    for (const auto& member : second.members) all.push_back(member.user_id.text());
    BOOST_TEST(all == before, boost::test_tools::per_element());
    BOOST_TEST(!second.next.has_value());
    BOOST_TEST(walk(newest_first, 10) == newest(), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_status_filters_the_newest_members) {
    add_older(0, 20);
    client.execute("UPDATE members SET status = 'locked' WHERE email LIKE 'm1%'");
    newest_first.status = "locked";
    for (const int limit : {1, 4, 100}) {
        const Ids found = walk(newest_first, limit);
        BOOST_TEST(found.size() == 11U);
        BOOST_TEST(found.front() == member(acme, "m1@x.test").user_id.text());
        BOOST_TEST(found.back() == member(acme, "m19@x.test").user_id.text());
    }
}

BOOST_AUTO_TEST_CASE(a_position_of_another_order_is_rejected) {
    add_older(0, 3);
    MemberFilter since;
    since.updated_since = Timestamp(0);
    const auto page = service::list_members(context, acme, since, "", 1);
    BOOST_CHECK_THROW((void)service::list_members(context, acme, newest_first, *page.next, 1),
                      std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_total_is_exact_up_to_its_limit) {
    run(umbrella, Batch().add("other@x.test"));
    BOOST_TEST(total({}, 10) == "0");
    add_older(0, 9);
    BOOST_TEST(total({}, 10) == "9");
    add_older(9, 10);
    BOOST_TEST(total({}, 10) == "10");
    BOOST_TEST(total(newest_first, 10) == "10");
    add_older(10, 11);
    BOOST_TEST(total({}, 10) == "10+");
    BOOST_TEST(total(newest_first, 10) == "10+");
}

BOOST_AUTO_TEST_CASE(a_total_counts_the_members_that_match_all_filters) {
    add_older(0, 12);
    client.execute(
        "UPDATE members SET status = 'locked' WHERE email IN ('m1@x.test', 'm2@x.test')");
    MemberFilter filter;
    filter.status = "locked";
    BOOST_TEST(total(filter, 10) == "2");
    filter.updated_since = Timestamp(0);
    BOOST_TEST(total(filter, 10) == "2");
    BOOST_TEST(total(filter, 1) == "1+");
    filter.email = "m1@x.test";
    BOOST_TEST(total(filter, 10) == "1");
    filter.email = "other@x.test";
    BOOST_TEST(total(filter, 10) == "0");
}

BOOST_AUTO_TEST_CASE(a_total_examines_a_bounded_number_of_members) {
    add_older(0, 260);
    MemberFilter filter;
    filter.status = "locked";
    filter.updated_since = Timestamp(0);
    BOOST_TEST(total(filter, 249) == "0+");
    BOOST_TEST(total(filter, 250) == "0");
}

BOOST_AUTO_TEST_SUITE_END()

// ---------------------------------------------------------------------------- the export

namespace {

struct Export : test::Fixture {
    Export() {
        for (int i = 0; i < 60; ++i) add("m" + std::to_string(1000 + i) + "@x.test");
    }
    void add(const std::string& email) {
        client.execute("INSERT INTO users (id, email, created_at) VALUES (?, ?, 1)",
                       UserId::create(), email);
        client.execute(
            "INSERT INTO members (organization_id, user_id, id, email, attributes, created_at, "
            "updated_at) SELECT ?, id, id, email, '{}', 1, 1 FROM users WHERE email = ?",
            acme, email);
    }
    std::vector<UserId> users(int limit = service::kMostExported) {
        return service::find_member_run(context, acme, {}, "", limit).users;
    }
    // The number of pieces.
    std::size_t pieces(const std::function<void(std::size_t)>& after_piece) {
        std::size_t count = 0;
        service::write_member_export(context, acme, users(), false,
                                     [&](std::string_view) { after_piece(++count); });
        return count;
    }
    OrgId acme = organization("Acme");
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(member_export, Export)

BOOST_AUTO_TEST_CASE(a_run_ends_at_its_limit_and_continues_after_its_position) {
    const auto first = service::find_member_run(context, acme, {}, "", 25);
    BOOST_TEST(first.users.size() == 25U);
    BOOST_TEST_REQUIRE(first.next.has_value());
    const auto second = service::find_member_run(context, acme, {}, *first.next, 35);
    BOOST_TEST(second.users.size() == 35U);
    BOOST_TEST(!second.next.has_value());
    BOOST_TEST((first.users.back() < second.users.front()));
}

BOOST_AUTO_TEST_CASE(an_export_ends_before_its_size_limit_and_continues_after_its_last_member) {
    const auto all = service::find_member_run(context, acme, {}, "", 60);
    std::string text;
    const auto append = [&](std::string_view piece) { text += piece; };
    // The first member is never refused.
    BOOST_TEST(service::write_member_export(context, acme, all.users, false, append, {.text = 1}) ==
               1U);
    std::vector<std::size_t> ends;  // of the header and of each member
    text.clear();
    service::write_member_export(context, acme, all.users, false, [&](std::string_view piece) {
        text += piece;
        ends.push_back(text.size());
    });
    BOOST_TEST_REQUIRE(ends.size() == 61U);
    const std::size_t most = ends[30] + 1;
    text.clear();
    const std::size_t done =
        service::write_member_export(context, acme, all.users, false, append, {.text = most});
    BOOST_TEST(done == 30U);
    BOOST_TEST(text.size() == ends[30]);
    const auto rest = service::find_member_run(context, acme, {}, all.positions.at(done - 1), 60);
    BOOST_TEST_REQUIRE(rest.users.size() == 60 - done);
    BOOST_TEST((rest.users.front() == all.users.at(done)));
}

BOOST_AUTO_TEST_CASE(an_export_ends_when_it_has_read_many_attributes) {
    const std::string attributes = R"({"unknown":["x","api",1]})";
    client.execute("UPDATE members SET attributes = ?", attributes);
    const auto exported = [&](std::size_t most) {
        return service::write_member_export(context, acme, users(), false, [](std::string_view) {},
                                            {.attributes = most});
    };
    BOOST_TEST(exported(30 * attributes.size()) == 30U);
    BOOST_TEST(exported(0) == 1U);
}

BOOST_AUTO_TEST_CASE(an_export_fails_when_the_database_fails_between_two_reads) {
    const auto fail_after_first = [&] {
        return pieces([&](std::size_t count) {
            if (count == 2) client.run("RENAME TABLE members TO members_away");
        });
    };
    BOOST_CHECK_THROW(fail_after_first(), db::DbError);
    client.run("RENAME TABLE members_away TO members");
    BOOST_TEST(pieces([](std::size_t) {}) == 61U);  // the header and 60 members
}

BOOST_AUTO_TEST_CASE(a_member_who_is_removed_during_the_export_is_left_out) {
    const auto all = users();
    client.execute("DELETE FROM members WHERE user_id = ?", all.back());
    std::string text;
    service::write_member_export(context, acme, all, false,
                                 [&](std::string_view piece) { text += piece; });
    BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 60);
}

BOOST_AUTO_TEST_SUITE_END()
