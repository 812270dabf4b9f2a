// service/organizations.hpp: tenants, seats, keys, and who is let in.
#include "service/organizations.hpp"

#include "db/house.hpp"
#include "service/attributes.hpp"

#include <boost/test/unit_test.hpp>

#include <set>

using namespace muster;
using test::House;

namespace {

struct Organizations : House {
    std::optional<service::Actor> verify(const Secret& secret) {
        return service::verify_api_key(context, secret.reveal());
    }
    std::string last_used() { return client.value("SELECT last_used_at FROM api_keys"); }

    OrgId acme = organization("Acme");
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(organizations, Organizations)

// ---------------------------------------------------------------------------- organizations, seats

BOOST_AUTO_TEST_CASE(an_organization_has_a_trimmed_name_and_the_starter_attributes_disabled) {
    const auto made = service::create_organization(context, "  Zo\u00eb & Co \n");
    BOOST_TEST(made.name == "Zo\u00eb & Co");
    const auto list = service::list_organizations(context);
    BOOST_TEST_REQUIRE(list.size() == 2);
    BOOST_TEST((list.back().id == made.id));
    BOOST_TEST(list.back().name == made.name);
    const auto registry = service::attribute_registry(context, made.id);
    std::set<std::string> keys;
    for (const auto& attribute : registry.all()) {
        BOOST_TEST(!attribute.enabled, attribute.key);
        BOOST_TEST(service::is_starter_attribute(attribute.key));
        keys.insert(attribute.key);
    }
    BOOST_TEST((keys == std::set<std::string>{"phone", "gender", "address.line1", "address.city",
                                              "address.postcode", "favourite_team", "shirt_size",
                                              "emergency_contact"}));
}

BOOST_AUTO_TEST_CASE(a_name_has_1_to_255_characters) {
    std::string longest;
    for (int i = 0; i < 255; ++i) longest += "\u00eb";
    (void)service::create_organization(context, longest);
    for (const std::string& name :
         {std::string(), std::string(" \t\n"), longest + "x", std::string("\xff")}) {
        BOOST_CHECK_THROW((void)service::create_organization(context, name), std::invalid_argument);
        BOOST_CHECK_THROW((void)service::issue_api_key(context, acme, name, {}),
                          std::invalid_argument);
    }
    BOOST_TEST(service::list_organizations(context).size() == 2);
}

BOOST_AUTO_TEST_CASE(an_organization_that_is_none_is_told) {
    service::require_organization(context, acme);
    BOOST_CHECK_THROW(service::require_organization(context, OrgId::create()),
                      std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(an_admin_is_one_person_with_a_seat_in_each_organization) {
    const OrgId other = organization("Other");
    const auto first = service::add_admin(context, acme, " Ann@Example.TEST ", "owner");
    const auto second = service::add_admin(context, other, "ann@example.test", "viewer");
    const auto again = service::add_admin(context, acme, "ann@example.test", "admin");
    BOOST_TEST((first.id == second.id && first.id == again.id));
    BOOST_TEST(first.is_new_seat);
    BOOST_TEST(second.is_new_seat);
    BOOST_TEST(!again.is_new_seat);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM seats WHERE role = 'owner'") == 1);
    BOOST_CHECK_THROW(service::add_admin(context, acme, "not an address", "owner"),
                      std::invalid_argument);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM admins") == 1);
}

BOOST_AUTO_TEST_CASE(one_admin_added_from_many_sides_at_once_is_one) {
    test::side_by_side(8, [&](int) {
        test::Desk desk;
        service::add_admin(desk.context, acme, "ann@example.test", "admin");
    });
    BOOST_TEST(client.number("SELECT COUNT(*) FROM admins") == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM seats") == 1);
}

// ---------------------------------------------------------------------------- keys

BOOST_AUTO_TEST_CASE(a_key_is_stored_as_a_digest_and_lets_its_organization_in) {
    const auto issued = service::issue_api_key(context, acme, " CRM ", {});
    const std::string& text = issued.secret.reveal();
    BOOST_TEST(text.starts_with("org_"));
    BOOST_TEST(issued.key.name == "CRM");
    BOOST_TEST(issued.key.last_four == text.substr(text.size() - 4));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM api_keys WHERE secret_hash = ?", sha256(text)) ==
               1);
    const auto actor = verify(issued.secret);
    BOOST_TEST_REQUIRE(actor.has_value());
    BOOST_TEST((actor->organization == acme));
    BOOST_TEST(!actor->admin.has_value());
    const auto listed = service::list_api_keys(context, acme);
    BOOST_TEST_REQUIRE(listed.size() == 1);
    BOOST_TEST((listed.front().id == issued.key.id));
    BOOST_TEST(listed.front().last_used_at.has_value());
    BOOST_TEST(!listed.front().revoked_at.has_value());
}

BOOST_AUTO_TEST_CASE(whatever_is_not_a_live_key_lets_nobody_in) {
    const auto issued = service::issue_api_key(context, acme, "key", {});
    std::string mistyped = issued.secret.reveal();
    mistyped[10] = mistyped[10] == 'a' ? 'b' : 'a';
    for (const std::string& token :
         {std::string(), std::string("org_"), mistyped, issued.secret.reveal() + "x",
          create_credential("org_").reveal(), create_credential("mk_live_").reveal(),
          std::string("' OR '1'='1")}) {
        BOOST_TEST(!service::verify_api_key(context, token).has_value());
    }
    BOOST_TEST(last_used() == "NULL");
}

BOOST_AUTO_TEST_CASE(a_mistyped_key_does_not_reach_the_database) {
    db::statistics() = {};
    (void)service::verify_api_key(context, "org_" + std::string(49, 'x'));
    BOOST_TEST(db::statistics().statements == 0);
}

BOOST_AUTO_TEST_CASE(a_revoked_key_is_dead_with_the_next_request_and_is_revoked_once) {
    const auto issued = service::issue_api_key(context, acme, "key", {});
    const auto kept = service::issue_api_key(context, acme, "other", {});
    BOOST_TEST(verify(issued.secret).has_value());
    BOOST_TEST(service::revoke_api_key(context, acme, issued.key.id));
    BOOST_TEST(!verify(issued.secret).has_value());
    BOOST_TEST(verify(kept.secret).has_value());
    const auto when = client.value("SELECT MAX(revoked_at) FROM api_keys");
    BOOST_TEST(!service::revoke_api_key(context, acme, issued.key.id));
    BOOST_TEST(client.value("SELECT MAX(revoked_at) FROM api_keys") == when);
    BOOST_TEST(!service::revoke_api_key(context, acme, ApiKeyId::create()));
}

BOOST_AUTO_TEST_CASE(a_key_ends_at_its_time) {
    const auto issued =
        service::issue_api_key(context, acme, "key", Timestamp::now() + std::chrono::hours(1));
    BOOST_TEST(verify(issued.secret).has_value());
    client.execute("UPDATE api_keys SET expires_at = ?", Timestamp::now());
    BOOST_TEST(!verify(issued.secret).has_value());
}

BOOST_AUTO_TEST_CASE(the_last_use_is_written_at_most_once_a_minute) {
    const auto issued = service::issue_api_key(context, acme, "key", {});
    BOOST_TEST(last_used() == "NULL");
    (void)verify(issued.secret);
    const auto first = last_used();
    BOOST_TEST(first != "NULL");
    client.execute("UPDATE api_keys SET last_used_at = ?", Timestamp::now() - Milliseconds(50'000));
    const auto recent = last_used();
    (void)verify(issued.secret);
    BOOST_TEST(last_used() == recent);
    client.execute("UPDATE api_keys SET last_used_at = ?", Timestamp::now() - Milliseconds(61'000));
    const auto old = last_used();
    (void)verify(issued.secret);
    BOOST_TEST(last_used() != old);
}

BOOST_AUTO_TEST_CASE(a_key_that_is_not_let_in_leaves_no_trace_of_use) {
    const auto issued = service::issue_api_key(context, acme, "key", {});
    service::revoke_api_key(context, acme, issued.key.id);
    (void)verify(issued.secret);
    BOOST_TEST(last_used() == "NULL");
}

BOOST_AUTO_TEST_SUITE_END()
