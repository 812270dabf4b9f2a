// service/access/sessions.hpp: the lifetime of a session, its organization, and its rights after
// its seat was removed.
#include "service/access/sessions.hpp"
#include "rules/access/roles.hpp"

#include "base/crypto.hpp"
#include "db/admins.hpp"
#include "db/lookups.hpp"
#include "service/callers.hpp"

using namespace muster;
using test::AdminFixture;
using test::kDay;
using test::kHour;
using test::kMinute;

namespace {

struct Sessions : AdminFixture {
    std::optional<rules::Session> seen() { return session_of(opened.token); }
    std::string last_used() { return client.value("SELECT last_used_at FROM sessions"); }

    service::NewSession opened = sign_in();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(sessions, Sessions)

BOOST_AUTO_TEST_CASE(a_token_identifies_the_admin_the_seat_and_the_rate_subject) {
    const auto caller = test::find_caller(context, opened.token.reveal());
    BOOST_TEST_REQUIRE(caller.has_value());
    BOOST_TEST(caller->actor.admin == ann);
    BOOST_TEST(caller->actor.organization == acme);
    BOOST_TEST(!caller->actor.api_key.has_value());
    BOOST_TEST(!caller->rate_per_second.has_value());
    BOOST_TEST(caller->rate_subject == ann.bytes());
    BOOST_TEST_REQUIRE(caller->session.has_value());
    BOOST_TEST(caller->session->email == kAnn);
    BOOST_TEST(caller->session->role == rules::Role::Owner);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM sessions WHERE token_hash = ?",
                             sha256(opened.token.reveal())) == 1);
}

BOOST_AUTO_TEST_CASE(an_unknown_token_identifies_no_caller) {
    const std::string token = opened.token.reveal();
    for (const std::string& other :
         {std::string(), token + "0", token.substr(1), "org_" + token,
          create_credential("").reveal(), sha256(token), to_hex(sha256(token))}) {
        BOOST_TEST(!test::find_caller(context, other).has_value());
    }
}

BOOST_AUTO_TEST_CASE(a_session_ends_after_twelve_hours_without_use) {
    advance_time(12 * kHour - kMinute);
    BOOST_TEST(seen().has_value());  // that check was a use
    advance_time(12 * kHour - kMinute);
    BOOST_TEST(seen().has_value());
    advance_time(12 * kHour);
    BOOST_TEST(!seen().has_value());
    BOOST_TEST(!seen().has_value());
}

BOOST_AUTO_TEST_CASE(a_session_ends_after_seven_days_even_if_used) {
    for (int hours = 0; hours < 7 * 24 - 11; hours += 11) {
        BOOST_TEST(seen().has_value(), hours);
        advance_time(11 * kHour);
    }
    const auto left = Milliseconds(client.number("SELECT expires_at FROM sessions") -
                                   Timestamp::now().milliseconds());
    BOOST_TEST(left > Milliseconds(0));
    BOOST_TEST(left < 11 * kHour);
    BOOST_TEST(seen().has_value());
    advance_time(left);
    BOOST_TEST(!seen().has_value());
}

BOOST_AUTO_TEST_CASE(the_last_use_is_written_at_most_once_a_minute) {
    const auto first = last_used();
    BOOST_TEST(seen().has_value());
    BOOST_TEST(last_used() == first);
    advance_time(kMinute - Milliseconds(10'000));
    const auto recent = last_used();
    BOOST_TEST(seen().has_value());
    BOOST_TEST(last_used() == recent);
    advance_time(Milliseconds(10'000));
    const auto old = last_used();
    BOOST_TEST(seen().has_value());
    BOOST_TEST(last_used() != old);
    BOOST_TEST(Timestamp(std::stoll(last_used())) > Timestamp::now() - kMinute);
}

BOOST_AUTO_TEST_CASE(a_session_starts_with_the_earliest_seat) {
    const OrgId second = organization("Second");
    const OrgId third = organization("Third");
    service::add_admin(context, third, kAnn, "viewer");
    service::add_admin(context, second, kAnn, "admin");
    client.execute("UPDATE seats SET created_at = 5 WHERE organization_id = ?", third);
    client.execute("UPDATE seats SET created_at = 6 WHERE organization_id <> ?", third);
    const auto again = sign_in();
    BOOST_TEST(again.session.active_organization_id == third);
    BOOST_TEST(again.session.role == rules::Role::Viewer);
    const auto seats = service::seats_of(context, ann);
    BOOST_TEST_REQUIRE(seats.size() == 3U);
    BOOST_TEST(seats[0].organization_id == third);
    BOOST_TEST(seats[1].organization_id ==
               acme);  // of two equally old seats, the older organization
    BOOST_TEST(seats[2].organization_id == second);
    BOOST_TEST(seats[2].name == "Second");
}

BOOST_AUTO_TEST_CASE(a_session_acts_only_on_organizations_where_its_admin_has_a_seat) {
    const OrgId second = organization("Second");
    const OrgId foreign = organization("Foreign");
    service::add_admin(context, second, kAnn, "viewer");
    service::add_admin(context, foreign, "bob@example.test", "owner");
    const auto other = sign_in();
    BOOST_TEST(service::set_active_organization(context, opened.session, second, "r"));
    BOOST_TEST(seen()->active_organization_id == second);
    BOOST_TEST(seen()->role == rules::Role::Viewer);
    const auto switches = [&](OrgId organization) {
        return client.number(
            "SELECT COUNT(*) FROM audit_log WHERE action = 'session.switched' "
            "AND organization_id = ? AND request_id = 'r'",
            organization);
    };
    BOOST_TEST(switches(second) == 1);
    BOOST_TEST(session_of(other.token)->active_organization_id == acme);
    for (const OrgId none : {foreign, OrgId::create(), OrgId()}) {
        BOOST_TEST(!service::set_active_organization(context, opened.session, none, "r"));
        BOOST_TEST(seen()->active_organization_id == second);
    }
    BOOST_TEST(service::set_active_organization(context, opened.session, acme, "r"));
    BOOST_TEST(service::set_active_organization(context, opened.session, acme, "r"));
    BOOST_TEST(seen()->role == rules::Role::Owner);
}

BOOST_AUTO_TEST_CASE(a_session_without_a_seat_has_no_role_from_the_next_request_on) {
    const OrgId second = organization("Second");
    service::add_admin(context, second, kAnn, "viewer");
    client.execute("DELETE FROM seats WHERE organization_id = ?", acme);
    BOOST_TEST_REQUIRE(seen().has_value());
    BOOST_TEST(!seen()->role.has_value());
    BOOST_TEST(!service::set_active_organization(context, opened.session, acme, "r"));
    BOOST_TEST(service::set_active_organization(context, opened.session, second, "r"));
    BOOST_TEST(seen()->role == rules::Role::Viewer);
}

BOOST_AUTO_TEST_CASE(a_changed_role_applies_from_the_next_request_on) {
    client.run("UPDATE seats SET role = 'viewer'");
    BOOST_TEST(seen()->role == rules::Role::Viewer);
}

BOOST_AUTO_TEST_CASE(a_sign_out_ends_only_its_own_session) {
    const auto other = sign_in();
    service::close_session(context, opened.session);
    BOOST_TEST(!seen().has_value());
    BOOST_TEST(session_of(other.token).has_value());
    service::close_session(context, opened.session);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM sessions") == 1);
}

BOOST_AUTO_TEST_SUITE_END()
