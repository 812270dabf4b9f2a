// service/access/organizations.hpp: tenants.
#include "service/access/organizations.hpp"

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

BOOST_AUTO_TEST_CASE(an_owner_and_the_operator_rename_an_organization) {
    const auto actions = [&] {
        return client.column(
            "SELECT CONCAT(actor, ' ', details) FROM audit_log "
            "WHERE action = 'organization.renamed' ORDER BY id");
    };
    const AdminId owner = service::add_admin(context, acme, "owner@x.test", "owner").id;
    const auto rename = [&](std::string_view name, const service::OrganizationCheck& check = {}) {
        return database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{tx, {acme, owner}, Timestamp::now()};
            return service::rename_organization(transaction, name, check);
        });
    };
    BOOST_TEST(rename(" New name ").name == "New name");
    BOOST_TEST(rename("New name").name == "New name");  // no change, no entry
    BOOST_TEST(service::rename_organization(context, acme, "Newer").name == "Newer");
    BOOST_TEST(service::find_organization(context, acme)->name == "Newer");
    BOOST_TEST(actions() == (std::vector<std::string>{"admin {\"name\":\"New name\"}",
                                                      "operator {\"name\":\"Newer\"}"}));
    const auto check = [](const rules::Organization& before) {
        if (before.name == "Newer") throw Error(ErrorCode::PreconditionFailed);
    };
    BOOST_TEST((test::code_of([&] { rename("Refused", check); }) == ErrorCode::PreconditionFailed));
    BOOST_TEST((test::code_of([&] {
                    service::rename_organization(context, OrgId::create(), "Unknown");
                }) == ErrorCode::NotFound));
    BOOST_CHECK_THROW(rename(" "), std::invalid_argument);
    BOOST_TEST(service::find_organization(context, acme)->name == "Newer");
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
    const auto named = [&] {
        std::vector<OrgId> ids;
        for (const auto& one : service::organizations_named(context, "Zo\u00eb & Co")) {
            ids.push_back(one.id);
        }
        return ids;
    };
    BOOST_TEST((named() == std::vector{first}));
    for (const char* name : {"", "zo\u00eb & Co", "Zo\u00eb", "%", "Zo\u00eb & Co'"}) {
        BOOST_TEST(service::organizations_named(context, name).empty(), name);
    }
    const auto second = service::create_organization(context, "Zo\u00eb & Co").id;
    BOOST_TEST((named() == std::vector{first, second}));
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

BOOST_AUTO_TEST_SUITE_END()
