// service/access/organizations.hpp: tenants and seats.
#include "service/access/organizations.hpp"
#include "rules/access/admins.hpp"
#include "rules/access/roles.hpp"

#include "db/fixture.hpp"
#include "rules/attributes.hpp"
#include "service/attributes.hpp"

#include "print.hpp"

#include <set>

using namespace muster;
using test::Fixture;

namespace {

struct Organizations : Fixture {
    OrgId acme = organization("Acme");
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(organizations, Organizations)

BOOST_AUTO_TEST_CASE(an_organization_has_a_trimmed_name_and_the_starter_attributes) {
    const auto made = service::create_organization(context, "  Zo\u00eb & Co \n");
    BOOST_TEST(made.name == "Zo\u00eb & Co");
    const auto list = service::list_organizations(context);
    BOOST_TEST_REQUIRE(list.size() == 2);
    BOOST_TEST(list.back().id == made.id);
    BOOST_TEST(list.back().name == made.name);
    const auto registry = service::attribute_registry(context, made.id);
    std::set<std::string> keys;
    for (const auto& attribute : registry.all()) {
        BOOST_TEST(attribute.enabled, attribute.key);
        BOOST_TEST(service::is_starter_attribute(attribute.key));
        keys.insert(attribute.key);
    }
    BOOST_TEST(keys == (std::set<std::string>{"phone", "gender", "address.line1", "address.city",
                                              "address.postcode", "favourite_team", "shirt_size",
                                              "emergency_contact"}));
}

BOOST_AUTO_TEST_CASE(an_organization_may_start_without_enabled_attributes) {
    const auto made =
        service::create_organization(context, "Zo\u00eb", service::StarterAttributes::Disabled);
    const auto registry = service::attribute_registry(context, made.id);
    BOOST_TEST(registry.all().size() == 8U);
    BOOST_TEST(registry.enabled_keys().empty());
}

BOOST_AUTO_TEST_CASE(a_name_has_1_to_255_characters) {
    std::string longest;
    for (int i = 0; i < 255; ++i) longest += "\u00eb";
    (void)service::create_organization(context, longest);
    for (const std::string& name :
         {std::string(), std::string(" \t\n"), longest + "x", std::string("\xff")}) {
        BOOST_CHECK_THROW((void)service::create_organization(context, name), std::invalid_argument);
    }
    BOOST_TEST(service::list_organizations(context).size() == 2);
}

BOOST_AUTO_TEST_CASE(organizations_are_found_by_their_exact_name) {
    const auto first = service::create_organization(context, "Zo\u00eb & Co").id;
    BOOST_TEST((service::organizations_named(context, "Zo\u00eb & Co") == std::vector{first}));
    for (const char* name : {"", "zo\u00eb & Co", "Zo\u00eb", "%", "Zo\u00eb & Co'"}) {
        BOOST_TEST(service::organizations_named(context, name).empty(), name);
    }
    const auto second = service::create_organization(context, "Zo\u00eb & Co").id;
    BOOST_TEST(
        (service::organizations_named(context, "Zo\u00eb & Co") == std::vector{first, second}));
    for (int more = 0; more < 10; ++more) {
        (void)service::create_organization(context, "Zo\u00eb & Co");
    }
    BOOST_TEST(service::organizations_named(context, "Zo\u00eb & Co").size() == 10U);
}

BOOST_AUTO_TEST_CASE(an_unknown_organization_is_rejected) {
    service::require_organization(context, acme);
    BOOST_CHECK_THROW(service::require_organization(context, OrgId::create()),
                      std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(an_admin_is_one_person_with_a_seat_in_each_organization) {
    const OrgId other = organization("Other");
    const auto first = service::add_admin(context, acme, " Ann@Example.TEST ", "owner");
    const auto second = service::add_admin(context, other, "ann@example.test", "viewer");
    const auto again = service::add_admin(context, acme, "ann@example.test", "admin");
    BOOST_TEST(first.id == second.id);
    BOOST_TEST(first.id == again.id);
    BOOST_TEST(first.is_new_seat);
    BOOST_TEST(second.is_new_seat);
    BOOST_TEST(!again.is_new_seat);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM seats WHERE role = 'owner'") == 1);
    BOOST_CHECK_THROW(service::add_admin(context, acme, "not an address", "owner"),
                      std::invalid_argument);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM admins") == 1);
}

BOOST_AUTO_TEST_CASE(removing_a_seat_keeps_the_admin_and_the_other_seats) {
    const OrgId other = organization("Other");
    const auto ann = service::add_admin(context, acme, "ann@example.test", "owner");
    service::add_admin(context, other, "ann@example.test", "viewer");
    service::add_admin(context, acme, "bob@example.test", "viewer");
    const auto holders = service::list_admins(context, acme);
    BOOST_TEST_REQUIRE(holders.size() == 2);
    BOOST_TEST(holders[0].admin_id == ann.id);
    BOOST_TEST(holders[0].role == rules::Role::Owner);
    BOOST_TEST(holders[1].email == "bob@example.test");
    BOOST_TEST(!holders[1].is_enrolled);
    BOOST_TEST(service::remove_admin(context, acme, " Ann@example.test"));
    BOOST_TEST(!service::remove_admin(context, acme, "ann@example.test"));
    BOOST_TEST(!service::remove_admin(context, acme, "nobody@example.test"));
    BOOST_CHECK_THROW(service::remove_admin(context, acme, "no-address"), std::invalid_argument);
    BOOST_TEST(service::list_admins(context, acme).size() == 1);
    BOOST_TEST(service::list_admins(context, other).size() == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM audit_log WHERE action = 'seat.removed' "
                             "AND organization_id = ? AND subject_id = ?",
                             acme, ann.id.text()) == 1);
    BOOST_TEST(service::add_admin(context, acme, "ann@example.test", "viewer").is_new_seat);
}

BOOST_AUTO_TEST_CASE(an_admin_added_in_parallel_is_created_once) {
    test::in_parallel(8, [&](int) {
        test::DatabaseContext worker;
        service::add_admin(worker.context, acme, "ann@example.test", "admin");
    });
    BOOST_TEST(client.number("SELECT COUNT(*) FROM admins") == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM seats") == 1);
}

BOOST_AUTO_TEST_SUITE_END()
