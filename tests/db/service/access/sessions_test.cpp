// service/access/sessions.hpp: the lifetime of a session, its organization, and its rights after
// its seat was removed.
#include "service/access/sessions.hpp"
#include "rules/access/roles.hpp"
#include "service/access/seats.hpp"

#include "base/crypto.hpp"
#include "base/error.hpp"
#include "db/admins.hpp"
#include "db/lookups.hpp"
#include "service/callers.hpp"
#include "service/quotas.hpp"

#include <algorithm>
#include <array>

using namespace muster;
using test::AdminFixture;
using test::error_of;
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

// Each switch writes to the audit log of the organization. The session is not read again, so each
// call switches from acme.
BOOST_AUTO_TEST_CASE(an_admin_switches_to_an_organization_at_most_fifty_times_a_day) {
    const OrgId second = organization("Second");
    const OrgId third = organization("Third");
    for (const OrgId& id : {second, third}) service::add_admin(context, id, kAnn, "viewer");
    service::add_admin(context, second, "bob@example.test", "viewer");
    const auto switch_to = [&](const OrgId& organization) {
        return error_of([&] {
            BOOST_TEST(
                service::set_active_organization(context, opened.session, organization, "r"));
        });
    };
    for (int i = 0; i < 50; ++i) BOOST_TEST(!switch_to(second).has_value(), i);
    const auto entries = log(second).size();
    BOOST_TEST(!switch_to(acme).has_value());
    const auto error = switch_to(second);
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::RateLimited);
    BOOST_TEST(error->retry_after() > 23 * 3600);
    BOOST_TEST(error->details()["reason"].asString().find("X-Organization") != std::string::npos);
    BOOST_TEST(log(second).size() == entries);
    BOOST_TEST(seen()->active_organization_id == acme);
    BOOST_TEST(!switch_to(third).has_value());
    const auto bob_s = sign_in("bob@example.test").session;
    auto elsewhere = bob_s;
    elsewhere.active_organization_id = third;
    BOOST_TEST(service::set_active_organization(context, elsewhere, second, "r"));
    advance_time(kDay);
    BOOST_TEST(!switch_to(second).has_value());
}

BOOST_AUTO_TEST_CASE(a_full_log_is_reported_only_to_an_admin_with_a_seat) {
    const OrgId second = organization("Second");
    const OrgId foreign = organization("Foreign");
    service::add_admin(context, second, kAnn, "viewer");
    for (const OrgId& id : {second, foreign}) {
        database.transaction([&](db::Tx& tx) {
            db::OrgStore org(tx, id);
            service::add_use(org, rules::Quota::AuditEntries, 20'000, Timestamp::now());
        });
    }
    BOOST_TEST(!service::set_active_organization(context, opened.session, foreign, "r"));
    const auto error = error_of(
        [&] { (void)service::set_active_organization(context, opened.session, second, "r"); });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::QuotaExceeded);
    BOOST_TEST(seen()->active_organization_id == acme);
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

BOOST_AUTO_TEST_CASE(an_admin_sees_their_own_open_sessions_newest_first) {
    service::add_admin(context, acme, "bob@example.test", "owner");
    const auto bob_s = sign_in("bob@example.test");
    request();
    const auto second =
        service::verify_sign_in_code(context, kAnn, sent_code(), "r", {"Mozilla/5.0", "GB"})
            .value()
            .opened.session.id;
    const auto listed = service::list_sessions(context, ann, {}, 10);
    BOOST_TEST_REQUIRE(listed.size() == 2U);
    BOOST_TEST(listed[0].id == second);
    BOOST_TEST(listed[0].client.user_agent.value_or("") == "Mozilla/5.0");
    BOOST_TEST(listed[0].client.country.value_or("") == "GB");
    BOOST_TEST(listed[1].id == opened.session.id);
    BOOST_TEST(!listed[1].client.user_agent.has_value());
    BOOST_TEST((service::idle_end(listed[0]) == listed[0].last_used_at + 12 * kHour));
    BOOST_TEST(service::list_sessions(context, ann, {}, 1).size() == 1U);
    const auto older = service::list_sessions(context, ann, second, 10);
    BOOST_TEST_REQUIRE(older.size() == 1U);
    BOOST_TEST(older[0].id == opened.session.id);
    advance_time(12 * kHour - kMinute);
    BOOST_TEST(seen().has_value());
    advance_time(2 * kMinute);
    BOOST_TEST(service::list_sessions(context, ann, {}, 10).size() ==
               1U);  // the idle one has ended
    client.run("UPDATE sessions SET expires_at = 1");
    BOOST_TEST(service::list_sessions(context, ann, {}, 10).empty());
}

BOOST_AUTO_TEST_CASE(a_session_that_expires_soon_does_not_end_later_by_being_idle) {
    rules::ListedSession session;
    session.last_used_at = Timestamp(0);
    session.expires_at = Timestamp(5);
    BOOST_TEST((service::idle_end(session) == Timestamp(5)));
}

BOOST_AUTO_TEST_CASE(an_admin_ends_only_their_own_sessions) {
    const AdminId bob = service::add_admin(context, acme, "bob@example.test", "owner").id;
    const auto bob_s = sign_in("bob@example.test");
    const auto second = sign_in();
    BOOST_TEST(!service::end_session(context, opened.session, bob_s.session.id, "r"));
    BOOST_TEST(!service::end_session(context, opened.session, SessionId::create(), "r"));
    BOOST_TEST(service::end_session(context, opened.session, second.session.id, "r"));
    BOOST_TEST(!service::end_session(context, opened.session, second.session.id, "r"));
    BOOST_TEST(!session_of(second.token).has_value());
    const auto third = sign_in();
    const auto fourth = sign_in();
    BOOST_TEST(service::end_other_sessions(context, opened.session, "r") == 2);
    BOOST_TEST(service::end_other_sessions(context, opened.session, "r") == 0);
    BOOST_TEST(!session_of(third.token).has_value());
    BOOST_TEST(!session_of(fourth.token).has_value());
    BOOST_TEST(seen().has_value());
    BOOST_TEST(session_of(bob_s.token)->admin_id == bob);
    const auto all = actions(acme);
    BOOST_TEST(std::count(all.begin(), all.end(), "session.ended") == 2);
}

BOOST_AUTO_TEST_CASE(only_a_session_that_has_not_ended_is_ended_and_counted) {
    const auto idle = sign_in();
    const auto expired = sign_in();
    const auto open = sign_in();
    client.execute("UPDATE sessions SET last_used_at = last_used_at - ? WHERE id = ?",
                   (12 * kHour).count(), idle.session.id);
    client.execute("UPDATE sessions SET expires_at = 1 WHERE id = ?", expired.session.id);
    BOOST_TEST(!service::end_session(context, opened.session, idle.session.id, "r"));
    BOOST_TEST(!service::end_session(context, opened.session, expired.session.id, "r"));
    BOOST_TEST(actions(acme).at(0) != "session.ended");
    BOOST_TEST(service::end_other_sessions(context, opened.session, "r") == 1);
    BOOST_TEST(!session_of(open.token).has_value());
    BOOST_TEST(client.number("SELECT COUNT(*) FROM sessions") == 1);  // the ended ones are deleted
    const auto newest = log(acme).at(0);
    BOOST_TEST(newest.action == "session.ended");
    BOOST_TEST(newest.details.find(R"("1")") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_ended_session_is_in_the_log_of_the_earliest_seat_if_not_of_the_active_one) {
    const OrgId second = organization("Second");
    const OrgId third = organization("Third");
    service::add_admin(context, second, kAnn, "viewer");
    service::add_admin(context, third, kAnn, "viewer");
    client.execute("UPDATE seats SET created_at = created_at + 1000 WHERE organization_id = ?",
                   second);
    const auto ended = [&](OrgId organization) {
        const auto all = actions(organization);
        return std::count(all.begin(), all.end(), "session.ended");
    };
    const auto end = [&](const service::NewSession& other) {
        return service::end_session(context, opened.session, other.session.id, "r");
    };
    const std::array others = {sign_in(), sign_in(), sign_in()};
    client.execute("DELETE FROM seats WHERE organization_id = ?", acme);
    BOOST_TEST(end(others[0]));
    BOOST_TEST(ended(third) == 1);
    client.execute("UPDATE organizations SET disabled_at = 1 WHERE id = ?", third);
    BOOST_TEST(end(others[1]));
    BOOST_TEST(ended(second) == 1);
    client.run("DELETE FROM seats");
    BOOST_TEST(end(others[2]));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM audit_log WHERE action = 'session.ended'") == 2);
}

BOOST_AUTO_TEST_SUITE_END()
