// service/api_keys.hpp: keys are shown once, listed, rotated, revoked, and let their organization
// in as long as they live.
#include "service/api_keys.hpp"

#include "db/house.hpp"
#include "service/audit.hpp"
#include "service/organizations.hpp"
#include "service/sessions.hpp"

#include <boost/test/unit_test.hpp>

#include <set>

using namespace muster;
using service::IssuedKey;
using test::code_of;
using test::House;

namespace {

constexpr Milliseconds kHour{3600L * 1000};
constexpr Milliseconds kDay = 24 * kHour;

struct ApiKeys : House {
    std::optional<service::Caller> identify(const Secret& secret) {
        return service::identify(context, secret.reveal());
    }
    IssuedKey issue(std::string name = "key", std::optional<Timestamp> expires_at = {}) {
        return service::issue_api_key(context, acme, {std::move(name), expires_at, {}, {}});
    }
    bool revoke(ApiKeyId id) { return service::revoke_api_key(context, acme, id); }
    std::vector<rules::ApiKey> list() {
        return service::list_api_keys(context, acme, std::nullopt, 100);
    }

    // As an admin, through the API.
    template <class Work>
    auto as_admin(const Work& work) {
        return database.transaction([&](db::Tx& tx) {
            service::Unit unit{tx, {acme, admin, std::nullopt, "req-1"}, Timestamp::now()};
            return work(unit);
        });
    }
    IssuedKey rotate(ApiKeyId id, Milliseconds overlap) {
        return as_admin(
            [&](service::Unit& unit) { return service::rotate_api_key(unit, id, overlap); });
    }
    std::vector<rules::AuditEntry> log() {
        return service::list_audit_log(context, acme, {}, {}, {}, 100);
    }

    std::string last_used() { return client.value("SELECT last_used_at FROM api_keys"); }

    OrgId acme = organization("Acme");
    AdminId admin = service::add_admin(context, acme, "ann@example.test", "owner").id;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(api_keys, ApiKeys)

BOOST_AUTO_TEST_CASE(a_key_is_stored_as_a_digest_and_lets_its_organization_in) {
    const auto issued = issue(" CRM ");
    const std::string& text = issued.secret.reveal();
    BOOST_TEST(text.starts_with("org_"));
    BOOST_TEST(issued.key.name == "CRM");
    BOOST_TEST(issued.key.last_four == text.substr(text.size() - 4));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM api_keys WHERE secret_hash = ?", sha256(text)) ==
               1);
    const auto caller = identify(issued.secret);
    BOOST_TEST_REQUIRE(caller.has_value());
    BOOST_TEST((caller->actor.organization == acme));
    BOOST_TEST((caller->actor.api_key == issued.key.id));
    BOOST_TEST(!caller->actor.admin.has_value());
    BOOST_TEST(!caller->session.has_value());
    const auto listed = list();
    BOOST_TEST_REQUIRE(listed.size() == 1);
    BOOST_TEST((listed.front().id == issued.key.id));
    BOOST_TEST(listed.front().last_used_at.has_value());
    BOOST_TEST(!listed.front().revoked_at.has_value());
}

BOOST_AUTO_TEST_CASE(whatever_is_not_a_live_key_lets_nobody_in) {
    const auto issued = issue();
    std::string mistyped = issued.secret.reveal();
    mistyped[10] = mistyped[10] == 'a' ? 'b' : 'a';
    for (const std::string& token :
         {std::string(), std::string("org_"), mistyped, issued.secret.reveal() + "x",
          create_credential("org_").reveal(), create_credential("mk_live_").reveal(),
          create_credential("").reveal(), issued.secret.reveal().substr(4),
          std::string("' OR '1'='1")}) {
        BOOST_TEST(!service::identify(context, token).has_value());
        BOOST_TEST(!service::verify_api_key(context, token).has_value());
    }
    BOOST_TEST(last_used() == "NULL");
}

BOOST_AUTO_TEST_CASE(a_mistyped_key_does_not_reach_the_database) {
    db::statistics() = {};
    (void)service::identify(context, "org_" + std::string(49, 'x'));
    (void)service::identify(context, std::string(49, 'x'));
    BOOST_TEST(db::statistics().statements == 0);
}

BOOST_AUTO_TEST_CASE(a_revoked_key_is_dead_with_the_next_request_and_is_revoked_once) {
    const auto issued = issue();
    const auto kept = issue("other");
    BOOST_TEST(identify(issued.secret).has_value());
    BOOST_TEST(revoke(issued.key.id));
    BOOST_TEST(!identify(issued.secret).has_value());
    BOOST_TEST(identify(kept.secret).has_value());
    const auto when = client.value("SELECT MAX(revoked_at) FROM api_keys");
    BOOST_TEST(!revoke(issued.key.id));
    BOOST_TEST(client.value("SELECT MAX(revoked_at) FROM api_keys") == when);
    BOOST_TEST(!revoke(ApiKeyId::create()));
}

BOOST_AUTO_TEST_CASE(a_key_ends_at_its_time) {
    const auto issued = issue("key", Timestamp::now() + kHour);
    BOOST_TEST(identify(issued.secret).has_value());
    client.execute("UPDATE api_keys SET expires_at = ?", Timestamp::now());
    BOOST_TEST(!identify(issued.secret).has_value());
}

BOOST_AUTO_TEST_CASE(the_last_use_is_written_at_most_once_a_minute) {
    const auto issued = issue();
    BOOST_TEST(last_used() == "NULL");
    (void)identify(issued.secret);
    const auto first = last_used();
    BOOST_TEST(first != "NULL");
    client.execute("UPDATE api_keys SET last_used_at = ?", Timestamp::now() - Milliseconds(50'000));
    const auto recent = last_used();
    (void)identify(issued.secret);
    BOOST_TEST(last_used() == recent);
    client.execute("UPDATE api_keys SET last_used_at = ?", Timestamp::now() - Milliseconds(61'000));
    const auto old = last_used();
    (void)identify(issued.secret);
    BOOST_TEST(last_used() != old);
}

BOOST_AUTO_TEST_CASE(a_key_that_is_not_let_in_leaves_no_trace_of_use) {
    const auto issued = issue();
    revoke(issued.key.id);
    (void)identify(issued.secret);
    BOOST_TEST(last_used() == "NULL");
}

BOOST_AUTO_TEST_CASE(a_name_has_1_to_255_characters) {
    std::string longest;
    for (int i = 0; i < 255; ++i) longest += "\u00eb";
    (void)issue(longest);
    for (const std::string& name :
         {std::string(), std::string(" \t\n"), longest + "x", std::string("\xff")}) {
        BOOST_CHECK_THROW((void)issue(name), std::invalid_argument);
    }
    BOOST_TEST(list().size() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
