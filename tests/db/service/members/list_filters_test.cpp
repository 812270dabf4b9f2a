// service/members/list.hpp: the filters by country and attribute, and the stable order.
#include "service/members/list.hpp"

#include "db/fixture.hpp"

#include "print.hpp"

#include <set>

using namespace muster;
using service::MemberFilter;
using service::MemberOrder;
using test::Fixture;

namespace {

struct Filters : Fixture {
    // `document`: of the attributes.
    void add(const std::string& name, const std::string& country = "",
             const std::string& document = "{}", std::optional<OrgId> organization = {}) {
        const UserId user = UserId::create();
        client.execute("INSERT INTO users (id, email, created_at) VALUES (?, ?, 1)", user,
                       name + "@x.test");
        client.execute(
            "INSERT INTO members (organization_id, user_id, id, email, country, attributes, "
            "created_at, updated_at) VALUES (?, ?, ?, ?, NULLIF(?, ''), ?, 1, 1)",
            organization.value_or(acme), user, MemberId::create(), name + "@x.test", country,
            document);
    }
    // The addresses of all pages, without their domain.
    std::string found(const MemberFilter& filter, int limit = 2) {
        std::string names;
        std::string position;
        for (;;) {
            const auto run = service::find_member_run(context, acme, filter, position, limit);
            for (const UserId& user : run.users) {
                const auto email = client.value("SELECT email FROM users WHERE id = ?", user);
                names += email.substr(0, email.find('@')) + " ";
            }
            if (!run.next) return names;
            position = *run.next;
        }
    }
    MemberFilter having(std::string key, std::string value) {
        MemberFilter filter;
        filter.attributes.push_back({std::move(key), std::move(value)});
        return filter;
    }
    void fill() {
        add("ann", "DE",
            R"({"size":["M","api",1],"points":[2.50,"api",1],"vip":[true,"api",1],"likes":[["a","b"],"api",1]})");
        add("bob", "FR", R"({"size":["L","api",1],"points":[2,"api",1]})");
        add("eve", "DE", R"({"likes":[["b"],"api",1],"vip":[false,"api",1]})");
        add("lee", "", "{\"size\":[\"\u00e9\\\"x\",\"api\",1]}");
        add("out", "DE", R"({"size":["M","api",1]})", organization("Other"));
    }

    OrgId acme = organization("Acme");
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(member_list_filters, Filters)

BOOST_AUTO_TEST_CASE(a_country_selects_its_members) {
    fill();
    MemberFilter filter;
    filter.country = "DE";
    BOOST_TEST(found(filter) == "ann eve ");
    filter.status = "locked";
    BOOST_TEST(found(filter) == "");
    filter = {};
    filter.country = "FR";
    filter.order = MemberOrder::Newest;
    BOOST_TEST(found(filter) == "bob ");
    filter.country = "XX";
    BOOST_TEST(found(filter) == "");
    BOOST_TEST(service::count_members(context, acme, filter).exact);
}

BOOST_AUTO_TEST_CASE(an_attribute_selects_the_members_that_have_the_value) {
    fill();
    BOOST_TEST(found(having("size", "\"M\"")) == "ann ");
    BOOST_TEST(found(having("size", "\"m\"")) == "");
    BOOST_TEST(found(having("size", "\"\u00e9\\\"x\"")) == "lee ");
    BOOST_TEST(found(having("points", "2.5")) == "ann ");
    BOOST_TEST(found(having("points", "2")) == "bob ");
    BOOST_TEST(found(having("vip", "false")) == "eve ");
    BOOST_TEST(found(having("likes", "\"b\"")) == "ann eve ");
    BOOST_TEST(found(having("none", "\"M\"")) == "");
    auto both = having("likes", "\"b\"");
    both.attributes.push_back({"vip", "true"});
    BOOST_TEST(found(both) == "ann ");
    BOOST_TEST(service::count_members(context, acme, both).count == 1);
    both.country = "FR";
    BOOST_TEST(found(both) == "");
}

BOOST_AUTO_TEST_CASE(a_close_number_is_another_number) {
    add("ann", "DE", R"({"points":[0.3,"api",1]})");
    add("bob", "DE", R"({"points":[1e-13,"api",1]})");
    add("eve", "DE", R"({"points":[0,"api",1]})");
    BOOST_TEST(found(having("points", "0.3")) == "ann ");
    BOOST_TEST(found(having("points", "0.30000000000000004")) == "");
    BOOST_TEST(found(having("points", "0")) == "eve ");
    BOOST_TEST(found(having("points", "1e-13")) == "bob ");
    BOOST_TEST(found(having("points", "-0.0")) == "eve ");
}

BOOST_AUTO_TEST_CASE(a_long_number_is_found_in_each_spelling) {
    add("ann", "DE", R"({"card":[1e+16,"api",1]})");
    add("bob", "DE", R"({"card":[10000000000000000,"api",1]})");
    add("eve", "DE", R"({"card":[10000000000000001,"api",1]})");
    add("lee", "DE", R"({"card":["10000000000000000","api",1]})");
    for (const char* number : {"1e+16", "10000000000000000", "10000000000000000.0"}) {
        BOOST_TEST(found(having("card", number)) == "ann bob ", number);
    }
}

BOOST_AUTO_TEST_CASE(numbers_that_a_double_does_not_distinguish_are_compared_by_their_digits) {
    add("ann", "DE", R"({"card":[9007199254740992,"api",1]})");
    add("bob", "DE", R"({"card": [9007199254740993, "api", 1]})");  // written by the database
    add("eve", "DE", R"({"card":[18446744073709551617,"api",1],"likes":["x","api",1]})");
    add("lee", "DE", R"({"card":[-9007199254740993,"api",1]})");
    BOOST_TEST(found(having("card", "9007199254740992")) == "ann ");
    BOOST_TEST(found(having("card", "9007199254740993")) == "bob ");
    BOOST_TEST(found(having("card", "900719925474099")) == "");
    BOOST_TEST(found(having("card", "18446744073709551617")) == "eve ");
    BOOST_TEST(found(having("card", "18446744073709551616")) == "");
    BOOST_TEST(found(having("card", "-9007199254740993")) == "lee ");
    BOOST_TEST(found(having("card", "-9007199254740992")) == "");
}

BOOST_AUTO_TEST_CASE(a_page_reads_a_bounded_size_of_attributes) {
    for (int i = 0; i < 300; ++i) add("heavy" + std::to_string(i));
    client.execute(
        "UPDATE members SET attributes = CONCAT('{\"k\": [\"', REPEAT('x', 100000), "
        "'\", \"api\", 1]}')");
    const auto examined = [&](const MemberFilter& filter) {
        const auto run = service::find_member_run(context, acme, filter, "", 10'000);
        BOOST_TEST(run.users.empty());
        const auto last = Uuid::from_bytes(run.next.value().substr(0, Uuid::kBytes)).value();
        return client.value("SELECT COUNT(*) FROM members WHERE user_id <= ?", UserId(last));
    };
    auto filter = having("k", "\"y\"");
    BOOST_TEST(examined(filter) == "167");  // of 100 KB: 16 MiB
    BOOST_TEST(found(filter) == "");
    BOOST_TEST(!service::count_members(context, acme, filter).exact);
    filter.attributes.push_back({"k", "\"z\""});
    BOOST_TEST(examined(filter) == "83");  // half as much for each condition
    client.execute("UPDATE members SET attributes = ? WHERE email = 'heavy250@x.test'",
                   R"({"k":["y","api",1]})");
    BOOST_TEST(found(having("k", "\"y\"")) == "heavy250 ");
}

BOOST_AUTO_TEST_CASE(a_change_of_members_does_not_move_them_in_the_stable_order) {
    for (int i = 0; i < 9; ++i) add("m" + std::to_string(i));
    MemberFilter filter;
    filter.updated_since = Timestamp(1);
    filter.order = MemberOrder::Stable;
    std::string position;
    std::multiset<UserId> seen;
    for (bool has_more = true; has_more;) {
        const auto next = database.transaction([&](db::Tx& tx) {
            db::OrgStore org(tx, acme);
            return service::find_next_members(org, filter, position, 2);
        });
        seen.insert(next.users.begin(), next.users.end());
        client.run("UPDATE members SET updated_at = updated_at + 10, status = 'locked'");
        has_more = next.next.has_value();
        position = next.next.value_or("");
    }
    BOOST_TEST(seen.size() == 9U);
    BOOST_TEST(std::set<UserId>(seen.begin(), seen.end()).size() == 9U);
}

BOOST_AUTO_TEST_SUITE_END()
