// service/access/team.hpp: seats and roles, under control of the owners.
#include "service/access/team.hpp"

#include "db/team.hpp"

#include <algorithm>
#include <array>
#include <future>
#include <set>

using namespace muster;
using rules::Role;
using rules::SeatStatus;
using rules::TeamSeat;
using test::kBob;
using test::TeamFixture;

BOOST_FIXTURE_TEST_SUITE(team, TeamFixture)

// ---------------------------------------------------------------------------- the operator

BOOST_AUTO_TEST_CASE(an_admin_is_one_person_with_a_seat_in_each_organization) {
    const OrgId other = organization("Other");
    const auto first = service::add_admin(context, acme, " Ann@Example.TEST ", "owner");
    const auto second = service::add_admin(context, other, "ann@example.test", "viewer");
    const auto again = service::add_admin(context, acme, "ann@example.test", "admin");
    BOOST_TEST(first.id == second.id);
    BOOST_TEST(first.id == again.id);
    BOOST_TEST(!first.is_new_seat);
    BOOST_TEST(second.is_new_seat);
    BOOST_TEST(!again.is_new_seat);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM seats WHERE role = 'owner'") == 1);
    BOOST_CHECK_THROW(service::add_admin(context, acme, "not an address", "owner"),
                      std::invalid_argument);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM admins") == 1);
}

BOOST_AUTO_TEST_CASE(removing_a_seat_keeps_the_admin_and_the_other_seats) {
    const OrgId other = organization("Other");
    service::add_admin(context, other, "ann@example.test", "viewer");
    service::add_admin(context, acme, kBob, "viewer");
    const auto holders = service::list_team(context, acme);
    BOOST_TEST_REQUIRE(holders.size() == 2);
    BOOST_TEST(holders[0].admin_id == ann);
    BOOST_TEST(holders[0].role == Role::Owner);
    BOOST_TEST(holders[1].email == kBob);
    BOOST_TEST(!holders[1].is_enrolled);
    BOOST_TEST(service::remove_admin(context, acme, " Ann@example.test"));
    BOOST_TEST(!service::remove_admin(context, acme, "ann@example.test"));
    BOOST_TEST(!service::remove_admin(context, acme, "nobody@example.test"));
    BOOST_CHECK_THROW(service::remove_admin(context, acme, "no-address"), std::invalid_argument);
    BOOST_TEST(service::list_team(context, acme).size() == 1);
    BOOST_TEST(service::list_team(context, other).size() == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM audit_log WHERE action = 'seat.removed' "
                             "AND organization_id = ? AND subject_id = ?",
                             acme, ann.text()) == 1);
    BOOST_TEST(service::add_admin(context, acme, "ann@example.test", "viewer").is_new_seat);
}

BOOST_AUTO_TEST_CASE(an_admin_added_in_parallel_is_created_once) {
    test::in_parallel(8, [&](int) {
        test::DatabaseContext worker;
        service::add_admin(worker.context, acme, kBob, "admin");
    });
    BOOST_TEST(client.number("SELECT COUNT(*) FROM admins WHERE email = ?", kBob) == 1);
    BOOST_TEST(team().size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_seat_of_an_address_that_is_being_invited_replaces_the_invitation) {
    std::future<service::AddedAdmin> added;
    as(acme, [&](service::OrgTransaction& transaction) {
        (void)service::invite_admin(context, transaction,
                                    service::NewSeat{std::string(kBob), Role::Viewer});
        added = std::async(std::launch::async, [&] {
            test::DatabaseContext worker;
            return service::add_admin(worker.context, acme, kBob, "admin");
        });
        BOOST_TEST(test::until([&] { return client.has_lock_wait(); }));
    });
    BOOST_TEST(added.get().is_new_seat);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM seat_invitations") == 0);
}

BOOST_AUTO_TEST_CASE(the_operator_uses_the_same_functions_by_address) {
    const auto invited = service::invite_admin(context, acme, " Bob@Example.test", Role::Viewer);
    BOOST_TEST(invited.email == kBob);
    BOOST_TEST(!invited.invited_by.has_value());
    BOOST_TEST(holds(invitations_sent().at(0).text, "The operator of Muster invites you"));
    BOOST_TEST(service::resend_invitation(context, acme, kBob).has_value());
    BOOST_TEST(!service::resend_invitation(context, acme, kAnn).has_value());
    BOOST_TEST(service::withdraw_invitation(context, acme, kBob));
    BOOST_TEST(!service::withdraw_invitation(context, acme, kBob));
    BOOST_TEST(!service::change_role(context, acme, kBob, Role::Owner).has_value());
    service::add_admin(context, acme, kBob, "viewer");
    BOOST_TEST((service::change_role(context, acme, kBob, Role::Admin)->role == Role::Admin));
    // The operator can make another owner at any time.
    BOOST_TEST(service::remove_admin(context, acme, kAnn));
    BOOST_TEST(team().size() == 1U);
    for (const auto& entry : log(acme)) {
        if (entry.action == "organization.created") continue;
        BOOST_TEST((entry.actor == rules::AuditActor::Operator), entry.action);
    }
}

BOOST_AUTO_TEST_CASE(a_seat_by_the_operator_replaces_the_invitation) {
    invite(kBob);
    service::add_admin(context, acme, kBob, "viewer");
    BOOST_TEST_REQUIRE(team().size() == 2U);
    BOOST_TEST((team()[1].status == SeatStatus::Active));
}

// ---------------------------------------------------------------------------- roles and removal

BOOST_AUTO_TEST_CASE(a_role_applies_from_the_next_request_and_a_higher_one_is_mailed) {
    const AdminId bob = service::add_admin(context, acme, kBob, "viewer").id;
    const auto token = sign_in_with_two_factors(kBob);
    client.run("DELETE FROM mail_outbox");
    BOOST_TEST((set_role(bob, Role::Owner, ann).role == Role::Owner));
    BOOST_TEST((session_of(token)->role == Role::Owner));
    BOOST_TEST(mails().at(0).subject == "Muster: new role");
    BOOST_TEST(mails().size() == 2U);  // to both owners
    set_role(bob, Role::Admin, ann);
    BOOST_TEST(mails().size() == 4U);  // the role of an owner is lost
    set_role(bob, Role::Admin, ann);   // no change
    set_role(bob, Role::Viewer, ann);
    set_role(bob, Role::Admin, ann);
    BOOST_TEST(mails().size() == 5U);  // the higher role
    BOOST_TEST((session_of(token)->role == Role::Admin));
    const auto entries = log(acme);
    BOOST_TEST(entries.at(2).action == "seat.role_changed");
    BOOST_TEST(entries.at(2).details == R"({"previous_role":"owner","role":"admin"})");
    BOOST_TEST(entries.at(3).action == "seat.role_changed");
    BOOST_TEST(entries.at(4).action != "seat.role_changed");
}

BOOST_AUTO_TEST_CASE(only_an_owner_changes_the_team) {
    const AdminId bob = service::add_admin(context, acme, kBob, "admin").id;
    const auto invited = invite("cat@example.test");
    const auto refused = [&](const auto& work) {
        BOOST_TEST(code_of([&] { as_admin(bob, work); }) == "FORBIDDEN");
    };
    refused([&](auto& transaction) {
        return service::invite_admin(context, transaction, {"dan@example.test", Role::Viewer});
    });
    refused([&](auto& transaction) {
        return service::change_role(context, transaction, bob, Role::Owner);
    });
    refused([&](auto& transaction) {
        service::remove_seat(context, transaction, ann);
        return 0;
    });
    refused([&](auto& transaction) {
        return service::resend_invitation(context, transaction, *invited.invitation_id);
    });
    refused([&](auto& transaction) {
        service::withdraw_invitation(transaction, *invited.invitation_id);
        return 0;
    });
}

BOOST_AUTO_TEST_CASE(the_last_owner_keeps_the_role_and_the_seat) {
    const AdminId bob = service::add_admin(context, acme, kBob, "admin").id;
    for (const Role role : {Role::Viewer, Role::Admin}) {
        BOOST_TEST(code_of([&] { set_role(ann, role, ann); }) == "INVALID_STATE");
    }
    BOOST_TEST(code_of([&] { remove(ann, ann); }) == "INVALID_STATE");
    set_role(ann, Role::Owner, ann);
    set_role(bob, Role::Owner, ann);
    set_role(ann, Role::Viewer, ann);  // an owner may take a lower role
    BOOST_TEST(code_of([&] { remove(bob, bob); }) == "INVALID_STATE");
}

BOOST_AUTO_TEST_CASE(two_owners_who_remove_each_other_at_once_leave_one) {
    for (int round = 0; round < 5; ++round) {
        const OrgId shared = organization("Shared " + std::to_string(round));
        service::add_admin(context, shared, kAnn, "owner");
        const AdminId bob = service::add_admin(context, shared, kBob, "owner").id;
        const std::array owners = {ann, bob};
        test::in_parallel(2, [&](int i) {
            test::DatabaseContext worker;
            try {
                worker.database.transaction([&](db::Tx& tx) {
                    service::OrgTransaction transaction{
                        tx, {shared, owners.at(static_cast<std::size_t>(i))}, Timestamp::now()};
                    service::remove_seat(worker.context, transaction,
                                         owners.at(static_cast<std::size_t>(1 - i)));
                });
            } catch (const Error&) {
            }
        });
        const auto left = team(shared);
        BOOST_TEST_REQUIRE(left.size() == 1U);
        BOOST_TEST((left[0].role == Role::Owner));
    }
}

BOOST_AUTO_TEST_CASE(two_owners_who_take_a_lower_role_at_once_leave_one) {
    for (int round = 0; round < 5; ++round) {
        const OrgId shared = organization("Shared " + std::to_string(round));
        service::add_admin(context, shared, kAnn, "owner");
        const AdminId bob = service::add_admin(context, shared, kBob, "owner").id;
        const std::array owners = {ann, bob};
        test::in_parallel(2, [&](int i) {
            test::DatabaseContext worker;
            const AdminId self = owners.at(static_cast<std::size_t>(i));
            try {
                worker.database.transaction([&](db::Tx& tx) {
                    service::OrgTransaction transaction{tx, {shared, self}, Timestamp::now()};
                    return service::change_role(worker.context, transaction, self, Role::Admin);
                });
            } catch (const Error&) {
            }
        });
        const auto left = team(shared);
        BOOST_TEST(std::count_if(left.begin(), left.end(), [](const TeamSeat& seat) {
                       return seat.role == Role::Owner;
                   }) == 1);
    }
}

BOOST_AUTO_TEST_CASE(a_removed_admin_loses_the_organization_and_without_another_one_the_sessions) {
    const OrgId other = organization("Other");
    const AdminId bob = service::add_admin(context, acme, kBob, "admin").id;
    service::add_admin(context, other, kBob, "viewer");
    const auto token = sign_in_with_two_factors(kBob);
    remove(bob, ann);
    BOOST_TEST(!session_of(token)->role.has_value());
    BOOST_TEST(service::remove_admin(context, other, kBob));
    BOOST_TEST(!session_of(token).has_value());
    BOOST_TEST(code_of([&] { remove(bob, ann); }) == "NOT_FOUND");
    BOOST_TEST(code_of([&] { set_role(bob, Role::Admin, ann); }) == "NOT_FOUND");
}

BOOST_AUTO_TEST_CASE(a_removed_admin_with_a_seat_in_a_disabled_organization_keeps_the_sessions) {
    const OrgId other = organization("Other");
    const AdminId bob = service::add_admin(context, acme, kBob, "admin").id;
    service::add_admin(context, other, kBob, "viewer");
    const auto token = sign_in_with_two_factors(kBob);
    client.execute("UPDATE organizations SET disabled_at = 1 WHERE id = ?", other);
    remove(bob, ann);
    BOOST_TEST_REQUIRE(session_of(token).has_value());
    BOOST_TEST(!session_of(token)->role.has_value());
    BOOST_TEST(service::remove_admin(context, other, kBob));
    BOOST_TEST(!session_of(token).has_value());
}

BOOST_AUTO_TEST_CASE(two_organizations_that_remove_an_admin_at_once_end_the_sessions) {
    const OrgId other = organization("Other");
    service::add_admin(context, acme, kBob, "admin");
    service::add_admin(context, other, kBob, "viewer");
    sign_in_with_two_factors(kBob);
    const std::array organizations = {acme, other};
    test::in_parallel(2, [&](int i) {
        test::DatabaseContext worker;
        service::remove_admin(worker.context, organizations.at(static_cast<std::size_t>(i)), kBob);
    });
    BOOST_TEST(client.number("SELECT COUNT(*) FROM sessions") == 0);
}

BOOST_AUTO_TEST_CASE(a_removed_or_demoted_owner_and_the_other_owners_get_mail) {
    const AdminId bob = service::add_admin(context, acme, kBob, "owner").id;
    service::add_admin(context, acme, "cat@example.test", "admin");
    const auto addressees = [&] {
        std::set<std::string> all;
        for (const auto& mail : mails()) {
            BOOST_TEST(mail.subject == "Muster: an admin lost rights");
            BOOST_TEST(holds(mail.text, kAnn), mail.text);
            all.insert(mail.to);
        }
        client.run("DELETE FROM mail_outbox");
        return all;
    };
    const std::set<std::string> owners = {std::string(kAnn), std::string(kBob)};
    client.run("DELETE FROM mail_outbox");
    set_role(ann, Role::Viewer, bob);  // bob takes over
    BOOST_TEST((addressees() == owners));
    set_role(ann, Role::Owner, bob);
    client.run("DELETE FROM mail_outbox");
    remove(ann, bob);
    BOOST_TEST((addressees() == owners));
}

BOOST_AUTO_TEST_CASE(the_invitations_of_a_removed_or_demoted_owner_are_withdrawn) {
    const AdminId bob = service::add_admin(context, acme, kBob, "owner").id;
    const auto kept = invite("kept@example.test");
    const auto invite_as_bob = [&](std::string_view email) {
        return as_admin(bob, [&](auto& transaction) {
            return service::invite_admin(context, transaction, {std::string(email), Role::Owner});
        });
    };
    const auto first = invite_as_bob("first@example.test");
    set_role(bob, Role::Admin, ann);
    BOOST_TEST(recipient_of_code("first@example.test").empty());
    set_role(bob, Role::Owner, ann);
    const auto second = invite_as_bob("second@example.test");
    BOOST_TEST(service::remove_admin(context, acme, kBob));
    BOOST_TEST(recipient_of_code("second@example.test").empty());
    BOOST_TEST_REQUIRE(team().size() == 2U);
    BOOST_TEST((team()[1].invitation_id == kept.invitation_id));
    std::vector<std::string> withdrawn;
    for (const auto& entry : log(acme)) {
        if (entry.action != "seat.invitation_withdrawn") continue;
        BOOST_TEST(entry.details == R"({"invited_by":")" + bob.text() + "\"}");
        withdrawn.push_back(entry.subject_id.value());
    }
    BOOST_TEST((withdrawn == std::vector<std::string>{second.invitation_id->text(),
                                                      first.invitation_id->text()}));
}

BOOST_AUTO_TEST_CASE(the_operator_changes_the_team_of_a_disabled_organization) {
    service::add_admin(context, acme, kBob, "owner");
    client.execute("UPDATE organizations SET disabled_at = 1 WHERE id = ?", acme);
    BOOST_TEST((service::change_role(context, acme, kBob, Role::Admin)->role == Role::Admin));
    BOOST_TEST(service::remove_admin(context, acme, kBob));
    BOOST_TEST(team().size() == 1U);
    service::reset_two_factor(context, kAnn);
    BOOST_TEST(actions(acme).at(0) == "second_factor.reset");
}

BOOST_AUTO_TEST_CASE(every_admin_may_leave_but_the_last_owner) {
    const OrgId other = organization("Other");
    service::add_admin(context, acme, kBob, "viewer");
    service::add_admin(context, other, kBob, "viewer");
    const auto bob = sign_in_with_two_factors(kBob);
    const auto leave = [&](const Secret& token, OrgId organization) {
        service::leave_organization(context, session_of(token).value(), organization, "req-3");
    };
    leave(bob, other);
    BOOST_TEST(team(other).empty());
    BOOST_TEST(actions(other).at(0) == "seat.removed");
    BOOST_TEST(code_of([&] { leave(bob, other); }) == "NOT_FOUND");
    leave(bob, acme);
    BOOST_TEST(!session_of(bob).has_value());
    const auto owner = sign_in_with_two_factors(kAnn);
    BOOST_TEST(code_of([&] { leave(owner, acme); }) == "INVALID_STATE");
}

BOOST_AUTO_TEST_CASE(leaving_an_organization_of_others_waits_for_none_of_its_rows) {
    service::add_admin(context, organization("Other"), kBob, "viewer");
    const auto bob = session_of(sign_in_with_two_factors(kBob)).value();
    client.run("START TRANSACTION");
    client.query("SELECT 1 FROM seats WHERE organization_id = ? FOR UPDATE", acme);
    BOOST_TEST(code_of([&] { service::leave_organization(context, bob, acme, "req-3"); }) ==
               "NOT_FOUND");
}

BOOST_AUTO_TEST_CASE(a_disabled_organization_cannot_be_left) {
    service::add_admin(context, acme, kBob, "viewer");
    const auto bob = session_of(sign_in_with_two_factors(kBob)).value();
    client.execute("UPDATE organizations SET disabled_at = 1 WHERE id = ?", acme);
    BOOST_TEST(code_of([&] { service::leave_organization(context, bob, acme, "req-3"); }) ==
               "NOT_FOUND");
    BOOST_TEST(team().size() == 2U);
}

// ---------------------------------------------------------------------------- the list

BOOST_AUTO_TEST_CASE(the_team_is_listed_in_pages) {
    for (int i = 0; i < 3; ++i) {
        service::add_admin(context, acme, "s" + std::to_string(i) + "@example.test", "viewer");
    }
    for (int i = 0; i < 3; ++i) invite("i" + std::to_string(i) + "@example.test");
    const auto whole = team();
    BOOST_TEST_REQUIRE(whole.size() == 7U);
    for (int limit = 1; limit <= 8; ++limit) {
        std::vector<std::string> seen;
        std::optional<service::TeamPosition> after;
        for (;;) {
            const auto page = service::page_team(context, acme, after, limit);
            for (const TeamSeat& seat : page) seen.push_back(seat.email);
            BOOST_TEST_REQUIRE(seen.size() <= whole.size());
            if (static_cast<int>(page.size()) < limit) break;
            const TeamSeat& last = page.back();
            after = last.admin_id ? service::TeamPosition(*last.admin_id)
                                  : service::TeamPosition(*last.invitation_id);
        }
        BOOST_TEST_REQUIRE(seen.size() == whole.size());
        for (std::size_t i = 0; i < seen.size(); ++i) BOOST_TEST(seen[i] == whole[i].email);
    }
}

BOOST_AUTO_TEST_SUITE_END()
