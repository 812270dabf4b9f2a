// Invitations of service/access/team.hpp: who may accept them, how long, and how many mails they
// cause.
#include "db/team.hpp"
#include "service/access/team.hpp"
#include "service/operations/purge.hpp"
#include "service/organization/status.hpp"

#include <map>

using namespace muster;
using rules::InvitationId;
using rules::Role;
using rules::SeatStatus;
using test::kBob;
using test::kDay;
using test::TeamFixture;

BOOST_FIXTURE_TEST_SUITE(invitations, TeamFixture)

BOOST_AUTO_TEST_CASE(an_invitation_is_mailed_and_listed) {
    const auto invited = invite(kBob);
    BOOST_TEST((invited.status == SeatStatus::Invited));
    BOOST_TEST(!invited.admin_id.has_value());
    BOOST_TEST(invited.email == kBob);
    BOOST_TEST((invited.invited_by == ann));
    BOOST_TEST((invited.invited_by_email == std::string(kAnn)));
    BOOST_TEST((*invited.expires_at - invited.created_at == service::kInvitationLife));
    const auto listed = team();
    BOOST_TEST_REQUIRE(listed.size() == 2U);
    BOOST_TEST((listed[0].admin_id == ann));
    BOOST_TEST((listed[1].invitation_id == invited.invitation_id));
    const auto sent = invitations_sent();
    BOOST_TEST_REQUIRE(sent.size() == 1U);
    BOOST_TEST(sent[0].to == kBob);
    for (const std::string& part :
         {std::string(kAnn) + " invites you", std::string("\"Acme\""), std::string("as admin:"),
          "/console/#/invitation?organization=" + acme.text(), invited.expires_at->text()}) {
        BOOST_TEST(holds(sent[0].text, part), part << " is not in " << sent[0].text);
    }
    BOOST_TEST(!holds(sent[0].text, "/v1/"), "the mail names an operation: " << sent[0].text);
    // The owners, also the one who invited, hear of it.
    BOOST_TEST(mails().back().subject == "Muster: new invitation");
    BOOST_TEST(mails().back().to == kAnn);
    BOOST_TEST(holds(mails().back().text, "\"bob@example.test as admin\""));
    BOOST_TEST((actions(acme).at(0) == "seat.invited"));
    BOOST_TEST((log(acme).at(0).subject_id == invited.invitation_id->text()));
}

BOOST_AUTO_TEST_CASE(an_invitation_to_an_unknown_address_looks_like_one_to_an_admin) {
    service::add_admin(context, organization("Other"), kBob, "owner");
    client.run("DELETE FROM mail_outbox");
    const auto known = invite(kBob);
    const auto unknown = invite("cat@example.test");
    BOOST_TEST(known.is_enrolled == unknown.is_enrolled);
    BOOST_TEST(!known.admin_id.has_value());
    const auto sent = invitations_sent();
    BOOST_TEST_REQUIRE(sent.size() == 2U);
    BOOST_TEST(sent[0].size == sent[1].size);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM admins WHERE email = 'cat@example.test'") == 0);
}

BOOST_AUTO_TEST_CASE(an_address_with_a_seat_or_an_invitation_is_not_invited_again) {
    const auto first = invite(kBob);
    for (const std::string_view email : {kAnn, kBob}) {
        const auto error = error_of([&] { invite(email); });
        BOOST_TEST_REQUIRE(error.has_value());
        BOOST_TEST((error->code() == ErrorCode::Conflict));
        BOOST_TEST(error->details()["field"].asString() == "email");
    }
    move_invitations_back(service::kInvitationLife);
    BOOST_TEST((team()[1].status == SeatStatus::Expired));
    const auto second = invite(kBob, Role::Viewer);
    BOOST_TEST((second.invitation_id != first.invitation_id));
    BOOST_TEST_REQUIRE(team().size() == 2U);
    BOOST_TEST((team()[1].role == Role::Viewer));
}

BOOST_AUTO_TEST_CASE(a_sign_in_with_a_second_factor_accepts_the_invitation) {
    invite(kBob, Role::Viewer);
    auto opened = sign_in(kBob);
    BOOST_TEST((opened.session.active_organization_id == acme));
    BOOST_TEST(!session_of(opened.token)->role.has_value());
    BOOST_TEST(team().size() == 2U);
    BOOST_TEST((team()[1].status == SeatStatus::Invited));
    client.run("DELETE FROM mail_outbox");
    verify_factor(opened.token);
    BOOST_TEST((session_of(opened.token)->role == Role::Viewer));
    const auto listed = team();
    BOOST_TEST_REQUIRE(listed.size() == 2U);
    BOOST_TEST((listed[1].status == SeatStatus::Active));
    BOOST_TEST((listed[1].admin_id == opened.session.admin_id));
    BOOST_TEST(listed[1].is_enrolled);
    BOOST_TEST(mails().at(0).subject == "Muster: new admin");
    BOOST_TEST(mails().at(0).to == kAnn);
    BOOST_TEST(mails().size() == 1U);
    BOOST_TEST((actions(acme) == std::vector<std::string>{
                                     "session.opened", "second_factor.enrolled", "seat.accepted",
                                     "seat.invited", "seat.added", "organization.created"}));
    const auto accepted = log(acme).at(2);
    BOOST_TEST((accepted.actor_id == opened.session.admin_id));
    BOOST_TEST((accepted.subject_id == opened.session.admin_id.text()));
}

BOOST_AUTO_TEST_CASE(an_admin_with_a_seat_accepts_or_declines) {
    const OrgId other = organization("Other");
    const OrgId third = organization("Third");
    service::add_admin(context, other, kBob, "owner");
    const auto token = sign_in_with_two_factors(kBob);
    const auto offered = invite(kBob, Role::Viewer);
    const auto refused = service::invite_admin(context, third, kBob, Role::Owner);
    const auto cat = invite("cat@example.test");
    verify_factor(token);  // again: accepts nothing
    BOOST_TEST((team()[1].status == SeatStatus::Invited));
    const auto session = session_of(token).value();
    const auto offers = service::list_offers(context, session);
    BOOST_TEST_REQUIRE(offers.size() == 2U);
    BOOST_TEST((offers[0].id == offered.invitation_id));
    BOOST_TEST(offers[0].organization_name == "Acme");
    BOOST_TEST((offers[0].invited_by_email == std::string(kAnn)));
    BOOST_TEST(!offers[1].invited_by_email.has_value());
    const auto accept = [&](const auto& invited) {
        return service::accept_offer(context, session, *invited.invitation_id, "req-3");
    };
    BOOST_TEST(code_of([&] { accept(cat); }) == "NOT_FOUND");
    BOOST_TEST((accept(offered).role == Role::Viewer));
    BOOST_TEST(code_of([&] { accept(offered); }) == "NOT_FOUND");
    BOOST_TEST((team()[1].admin_id == session.admin_id));
    BOOST_TEST(actions(acme).at(0) == "seat.accepted");
    BOOST_TEST((session_of(token)->active_organization_id == other));
    service::decline_offer(context, session, *refused.invitation_id, "req-4");
    BOOST_TEST(code_of([&] { accept(refused); }) == "NOT_FOUND");
    BOOST_TEST(team(third).empty());
    BOOST_TEST(actions(third).at(0) == "seat.invitation_declined");
    BOOST_TEST(service::list_offers(context, session).empty());
}

BOOST_AUTO_TEST_CASE(a_seat_in_a_disabled_organization_counts_as_a_seat) {
    const OrgId other = organization("Other");
    service::add_admin(context, other, kBob, "owner");
    const auto open = sign_in_with_two_factors(kBob);
    const auto invited = invite(kBob);
    BOOST_TEST(service::disable_organization(context, other));
    verify_factor(open);
    BOOST_TEST((team()[1].status == SeatStatus::Invited));
    // A sign-in accepts nothing either, and its session can decide.
    const auto token = sign_in_with_two_factors(kBob);
    const auto session = session_of(token).value();
    BOOST_TEST((team()[1].status == SeatStatus::Invited));
    BOOST_TEST(session.verified_at.has_value());
    BOOST_TEST(!session.role.has_value());
    BOOST_TEST(actions(acme).at(0) == "seat.invited");
    service::accept_offer(context, session, *invited.invitation_id, "req-3");
    BOOST_TEST((session_of(token)->role == Role::Admin));
}

BOOST_AUTO_TEST_CASE(a_session_in_which_a_disabled_organization_is_deleted_accepts_nothing) {
    const OrgId other = organization("Other");
    service::add_admin(context, other, kBob, "owner");
    const auto token = sign_in_with_two_factors(kBob);
    invite(kBob);
    client.execute("DELETE FROM seats WHERE organization_id = ?", other);
    verify_factor(token);
    BOOST_TEST((team()[1].status == SeatStatus::Invited));
    BOOST_TEST(service::list_offers(context, session_of(token).value()).size() == 1U);
}

BOOST_AUTO_TEST_CASE(the_reply_to_an_acceptance_has_the_role_of_the_seat) {
    service::add_admin(context, organization("Other"), kBob, "owner");
    const auto token = sign_in_with_two_factors(kBob);
    const auto session = session_of(token).value();
    const auto invited = invite(kBob, Role::Owner);
    // As if the operator had added the seat at the same time.
    client.execute(
        "INSERT INTO seats (organization_id, admin_id, role, created_at) "
        "VALUES (?, ?, 'viewer', 1)",
        acme, session.admin_id);
    const auto seat = service::accept_offer(context, session, *invited.invitation_id, "req-3");
    BOOST_TEST((seat.role == Role::Viewer));
}

BOOST_AUTO_TEST_CASE(the_first_sign_in_accepts_one_invitation) {
    const OrgId other = organization("Other");
    invite(kBob, Role::Viewer);
    service::invite_admin(context, other, kBob, Role::Owner);
    const auto token = sign_in_with_two_factors(kBob);
    BOOST_TEST((team()[1].status == SeatStatus::Active));
    BOOST_TEST((team(other).at(0).status == SeatStatus::Invited));
    BOOST_TEST(service::list_offers(context, session_of(token).value()).size() == 1U);
}

BOOST_AUTO_TEST_CASE(an_expired_invitation_that_is_sent_again_is_that_of_the_sender) {
    const AdminId bob = service::add_admin(context, acme, kBob, "owner").id;
    const auto made = invite("cat@example.test");
    const auto resend_as_bob = [&] {
        client.run("DELETE FROM mail_outbox");
        return as_admin(bob, [&](auto& transaction) {
            return service::resend_invitation(context, transaction, *made.invitation_id);
        });
    };
    BOOST_TEST((resend_as_bob().invited_by == bob));
    BOOST_TEST(mails().size() == 1U);
    move_invitations_back(service::kInvitationLife);
    BOOST_TEST((resend_as_bob().invited_by_email == std::string(kBob)));
    BOOST_TEST(holds(invitations_sent().at(0).text, std::string(kBob) + " invites you"));
    BOOST_TEST(mails().size() == 3U);  // and to both owners
    BOOST_TEST(mails().back().subject == "Muster: new invitation");
}

BOOST_AUTO_TEST_CASE(a_session_of_a_withdrawn_invitation_ends_and_leaves_no_trace_in_the_log) {
    const auto invited = invite(kBob);
    const auto opened = sign_in(kBob);
    withdraw(*invited.invitation_id);
    const auto before = actions(acme);
    BOOST_TEST(code_of([&] { verify_factor(opened.token); }) == "UNAUTHORIZED");
    BOOST_TEST((actions(acme) == before));
    BOOST_TEST(!session_of(opened.token).has_value());
}

BOOST_AUTO_TEST_CASE(a_sign_in_without_a_seat_in_the_active_organization_is_logged_elsewhere) {
    const OrgId other = organization("Other");
    service::add_admin(context, acme, kBob, "viewer");
    service::add_admin(context, other, kBob, "viewer");
    const auto opened = sign_in(kBob);
    service::remove_admin(context, acme, kBob);
    const auto before = actions(acme);
    verify_factor(opened.token);
    BOOST_TEST((actions(acme) == before));
    BOOST_TEST(actions(other).at(1) == "second_factor.enrolled");
    BOOST_TEST(actions(other).at(0) == "session.opened");
    BOOST_TEST((session_of(opened.token)->active_organization_id == other));
}

BOOST_AUTO_TEST_CASE(a_sign_in_during_the_removal_of_the_last_seat_leaves_no_session) {
    for (int round = 0; round < 8; ++round) {
        service::add_admin(context, acme, kBob, "viewer");
        request(kBob);
        const auto code = sent_code();
        forget_requests();
        test::in_parallel(2, [&](int i) {
            test::DatabaseContext worker;
            if (i == 0) {
                service::remove_admin(worker.context, acme, kBob);
            } else {
                (void)service::verify_sign_in_code(worker.context, kBob, code, "req-1");
            }
        });
        BOOST_TEST(client.number("SELECT COUNT(*) FROM sessions") == 0);
        client.run("DELETE FROM guess_budgets");
    }
}

BOOST_AUTO_TEST_CASE(an_expired_or_withdrawn_invitation_is_not_accepted) {
    const auto bob = invite(kBob);
    auto opened = sign_in(kBob);
    withdraw(*bob.invitation_id);
    BOOST_TEST(!session_of(opened.token)->role.has_value());
    BOOST_TEST(recipient_of_code(kBob).empty());
    const auto cat = invite("cat@example.test");
    BOOST_TEST(recipient_of_code("cat@example.test") == "cat@example.test");
    move_invitations_back(service::kInvitationLife - Milliseconds(60'000));
    BOOST_TEST(recipient_of_code("cat@example.test") == "cat@example.test");
    move_invitations_back(Milliseconds(60'000));
    BOOST_TEST(recipient_of_code("cat@example.test").empty());
    BOOST_TEST(code_of([&] { withdraw(*bob.invitation_id); }) == "NOT_FOUND");
    BOOST_TEST(code_of([&] { resend(*bob.invitation_id); }) == "NOT_FOUND");
    BOOST_TEST((resend(*cat.invitation_id).status == SeatStatus::Invited));
    BOOST_TEST(recipient_of_code("cat@example.test") == "cat@example.test");
    sign_in_with_two_factors("cat@example.test");
    BOOST_TEST(team().size() == 2U);
    BOOST_TEST(code_of([&] { resend(*cat.invitation_id); }) == "NOT_FOUND");
}

BOOST_AUTO_TEST_CASE(an_expired_invitation_is_purged_after_30_days) {
    invite(kBob);
    move_invitations_back(service::kInvitationLife + service::kExpiredInvitationLife -
                          Milliseconds(60'000));
    BOOST_TEST(service::purge_step(context)["invitations"] == 0);
    move_invitations_back(Milliseconds(60'000));
    BOOST_TEST(service::purge_step(context)["invitations"] == 1);
}

// ---------------------------------------------------------------------------- bounds

BOOST_AUTO_TEST_CASE(an_address_gets_three_mails_a_day_from_an_organization) {
    auto id = *invite(kBob).invitation_id;
    resend(id);
    withdraw(id);
    id = *invite(kBob).invitation_id;
    const auto error = error_of([&] { resend(id); });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST((error->code() == ErrorCode::RateLimited));
    BOOST_TEST(error->details()["reason"].asString() ==
               "an organization sends at most 3 invitations to one address within 24 hours");
    withdraw(id);
    BOOST_TEST(code_of([&] { invite(kBob); }) == "RATE_LIMITED");
    BOOST_TEST(team().size() == 1U);
    BOOST_TEST(invitations_sent().size() == 3U);
    advance_time(kDay);
    invite(kBob);
    BOOST_TEST(invitations_sent().size() == 4U);
}

BOOST_AUTO_TEST_CASE(an_address_gets_ten_mails_a_day_from_all_and_the_reply_does_not_show_it) {
    const auto from = [&](int number) {
        return service::invite_admin(context, organization("Org " + std::to_string(number)), kBob,
                                     Role::Viewer);
    };
    for (int i = 0; i < 12; ++i) BOOST_TEST((from(i).status == SeatStatus::Invited));
    std::map<std::string, int> recipients;
    for (const auto& mail : invitations_sent()) ++recipients[mail.to];
    BOOST_TEST(recipients[std::string(kBob)] == 10);
    BOOST_TEST(recipients[""] == 2);
}

BOOST_AUTO_TEST_CASE(an_organization_sends_fifty_mails_a_day) {
    for (int i = 0; i < 50; ++i) {
        const auto made = invite("a" + std::to_string(i) + "@example.test");
        withdraw(*made.invitation_id);
    }
    const auto error = error_of([&] { invite(kBob); });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->details()["reason"].asString() ==
               "an organization sends at most 50 invitations within 24 hours");
    service::invite_admin(context, organization("Other"), kBob, Role::Viewer);
    advance_time(kDay);
    invite(kBob);
}

BOOST_AUTO_TEST_CASE(a_team_has_a_bounded_number_of_seats_and_invitations) {
    const auto fill = [&](std::string_view table, int count) {
        for (int i = 0; i < count; ++i) {
            const std::string email = std::string(table) + std::to_string(i) + "@x.test";
            if (table == "seats") {
                service::add_admin(context, acme, email, "viewer");
            } else {
                client.execute(
                    "INSERT INTO seat_invitations (organization_id, id, email, role, created_at, "
                    "sent_at, expires_at) VALUES (?, ?, ?, 'viewer', 1, 1, 1)",
                    acme, InvitationId::create(), email);
            }
        }
    };
    fill("invitations", service::kMostInvitations - 1);
    invite(kBob);
    const auto error = error_of([&] { invite("cat@example.test"); });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST((error->code() == ErrorCode::InvalidState));
    BOOST_TEST(holds(error->details()["reason"].asString(), "50 invitations"));
    client.run("DELETE FROM seat_invitations");
    fill("seats", service::kMostSeats - 2);
    invite("cat@example.test");
    const auto full = error_of([&] { invite("dan@example.test"); });
    BOOST_TEST_REQUIRE(full.has_value());
    BOOST_TEST(holds(full->details()["reason"].asString(), "200 seats"));
}

BOOST_AUTO_TEST_SUITE_END()
