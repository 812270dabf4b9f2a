// service/privacy/erasure.hpp: an erasure deletes a person everywhere, affects no other person, and
// is completed by running it again.
#include "db/erasing.hpp"

#include "rules/access/roles.hpp"
#include "rules/imports/row_faults.hpp"
#include "rules/members/member.hpp"
#include "service/access/organizations.hpp"
#include "service/access/team.hpp"

using namespace muster;
using rules::ImportState;
using test::Erasing;
using test::people;
using test::row;
using test::SchemaChange;

namespace {

using Texts = std::vector<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(erasure, Erasing)

// ---------------------------------------------------------------------------- users, members

BOOST_AUTO_TEST_CASE(a_person_is_deleted_from_all_organizations_and_others_are_unchanged) {
    const UserId ann = member(acme, kAnn);
    member(other, kAnn);
    const UserId bob = member(acme, "bob@x.test");
    const OrgId third = organization("Third");
    const auto before = client.snapshot(third);
    const auto erased = erase(" Ann@X.TEST ");
    BOOST_TEST(erased.user == ann);
    BOOST_TEST_REQUIRE(erased.organizations.size() == 2);
    BOOST_TEST(erased.organizations[0].organization == acme);
    BOOST_TEST(erased.organizations[0].name == "Acme");
    BOOST_TEST(erased.organizations[0].member.has_value());
    BOOST_TEST(erased.organizations[1].organization == other);
    BOOST_TEST(erased.is_complete());
    BOOST_TEST(!test::find_member(context, acme, ann).has_value());
    BOOST_TEST(!test::find_member(context, other, ann).has_value());
    BOOST_TEST(test::find_member(context, acme, bob).has_value());
    BOOST_TEST(users() == 1);
    BOOST_TEST(noted(acme) == Texts{ann.text()});
    BOOST_TEST(noted(other) == Texts{ann.text()});
    BOOST_TEST(client.snapshot(third) == before);
    BOOST_TEST(traces(kAnn) == 0);
    BOOST_TEST(member(acme, kAnn) != ann);  // a person who returns is a new user
}

BOOST_AUTO_TEST_CASE(a_user_without_an_organization_is_erased_too) {
    const UserId ann = member(acme, kAnn);
    client.run("DELETE FROM members");
    const auto erased = erase();
    BOOST_TEST(erased.user == ann);
    BOOST_TEST(erased.organizations.empty());
    BOOST_TEST(users() == 0);
    BOOST_TEST(client.value("SELECT subject_id FROM audit_log WHERE action = 'user.erased' "
                            "AND organization_id IS NULL") == ann.text());
}

BOOST_AUTO_TEST_CASE(a_second_erasure_finds_nothing_and_logs_nothing) {
    member(acme, kAnn);
    erase();
    const auto again = erase();
    BOOST_TEST(!again.user.has_value());
    BOOST_TEST(again.organizations.empty());
    BOOST_TEST(again.is_complete());
    BOOST_TEST(noted(acme).size() == 1);
}

// ---------------------------------------------------------------------------- events

BOOST_AUTO_TEST_CASE(engagement_events_and_webhook_events_are_deleted_too) {
    const UserId ann = member(acme, kAnn);
    const UserId bob = member(acme, "bob@x.test");
    member(other, kAnn);
    put_events(acme, ann, 3, 2);
    put_events(other, ann, 1, 0);
    put_events(acme, bob, 1, 1);
    const auto erased = erase();
    BOOST_TEST_REQUIRE(erased.organizations.size() == 2);
    BOOST_TEST(erased.organizations[0].events == 3);
    BOOST_TEST(erased.organizations[0].webhooks == 2);
    BOOST_TEST(erased.organizations[1].events == 1);
    BOOST_TEST(erased.organizations[1].webhooks == 0);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM engagement_events") == 1);
    BOOST_TEST(
        (client.column("SELECT user_id FROM webhook_events") == Texts{std::string(bob.bytes())}));
    BOOST_TEST(noted(acme) == Texts{ann.text()});
}

BOOST_AUTO_TEST_CASE(webhook_events_of_a_former_member_are_deleted_and_logged_without_an_id) {
    const UserId ann = member(acme, kAnn);
    put_events(acme, ann, 0, 1500);
    client.run("DELETE FROM members");
    BOOST_TEST(preview().organizations.at(0).webhooks == 1500);
    const auto erased = erase();
    BOOST_TEST_REQUIRE(erased.organizations.size() == 1);
    BOOST_TEST(erased.organizations[0].webhooks == 1500);
    BOOST_TEST(!erased.organizations[0].member.has_value());
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_events") == 0);
    BOOST_TEST(noted(acme) == Texts{"NULL"});
}

BOOST_AUTO_TEST_CASE(an_erasure_interrupted_among_the_events_continues_in_the_next_run) {
    const UserId ann = member(acme, kAnn);
    put_events(acme, ann, 2500, 2500);
    for (const char* table : {"engagement_events", "webhook_events"}) {
        const SchemaChange broken(client,
                                  "CREATE TRIGGER break_off BEFORE DELETE ON " +
                                      std::string(table) +
                                      " FOR EACH ROW BEGIN IF (SELECT COUNT(*) FROM " + table +
                                      ") <= 1000 THEN SIGNAL SQLSTATE '45000'; END IF; END",
                                  "DROP TRIGGER break_off");
        BOOST_CHECK_THROW(erase(), std::exception);
        BOOST_TEST(client.number("SELECT COUNT(*) FROM " + std::string(table)) < 2500);
        BOOST_TEST(users() == 1);  // the user is needed to find the remaining rows
    }
    BOOST_TEST(erase().user.has_value());
    BOOST_TEST(client.number("SELECT COUNT(*) FROM engagement_events") == 0);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_events") == 0);
    BOOST_TEST(noted(acme).size() == 1);
}

BOOST_AUTO_TEST_CASE(an_invalid_address_is_rejected) {
    for (const std::string text : {"", "ann", "%@x.test' OR 1=1", "@"}) {
        BOOST_CHECK_THROW(erase(text), std::invalid_argument);
        BOOST_CHECK_THROW(preview(text), std::invalid_argument);
    }
}

BOOST_AUTO_TEST_CASE(an_admin_with_the_address_is_reported_and_kept) {
    service::add_admin(context, acme, kAnn, "owner");
    member(other, kAnn);
    BOOST_TEST(preview().is_admin);
    BOOST_TEST(erase().is_admin);
    BOOST_TEST(!preview("bob@x.test").is_admin);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM seats") == 1);
    BOOST_TEST(users() == 0);
}

BOOST_AUTO_TEST_CASE(invitations_of_the_address_are_reported_deleted_and_logged) {
    const auto invited = [&] { return service::list_team(context, acme).size(); };
    service::invite_admin(context, acme, kAnn, rules::Role::Viewer);
    service::invite_admin(context, acme, "bob@x.test", rules::Role::Viewer);
    BOOST_TEST(preview().organizations.at(0).is_invited);
    BOOST_TEST(invited() == 2U);
    BOOST_TEST(erase().organizations.at(0).is_invited);
    BOOST_TEST(invited() == 1U);
    BOOST_TEST(noted(acme) == Texts{"NULL"});
}

// ---------------------------------------------------------------------------- staged rows

BOOST_AUTO_TEST_CASE(rows_of_an_ended_job_are_emptied_and_keep_number_and_outcome) {
    const ImportId id = completed({full_row(1, kAnn), row(2, "bob@x.test"), full_row(7, kAnn),
                                   row(900, "bob@x.test"), full_row(1001, kAnn)});
    const auto before = rows(id);
    const auto job_before = job(id);
    const auto erased = erase();
    BOOST_TEST_REQUIRE(erased.organizations.size() == 1);
    BOOST_TEST(erased.organizations.front().import_rows == 3);
    const auto after = rows(id);
    BOOST_TEST_REQUIRE(after.size() == before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
        BOOST_TEST(after[i].row_number == before[i].row_number);
        BOOST_TEST(after[i].state == before[i].state);
        BOOST_TEST(after[i].error == before[i].error);
        BOOST_TEST(after[i].user_id == before[i].user_id);
        const bool is_hers = i % 2 == 0;
        BOOST_TEST(after[i].payload == (is_hers ? std::string(kEmpty) : before[i].payload));
    }
    BOOST_TEST(job(id).created_count == job_before.created_count);
    BOOST_TEST(job(id).invalid_rows == 3);
    const std::string text = report(id);
    BOOST_TEST(text.find("bob@x.test,,,,,,,,,900,ROW_DUPLICATE_IN_FILE") != std::string::npos);
    BOOST_TEST(text.find(",,,,,,,,,7,ROW_DUPLICATE_IN_FILE") == 0U);
    BOOST_TEST(text.find(",,,,,,,,,1001,ROW_DUPLICATE_IN_FILE") != std::string::npos);
    for (const std::string word : {"ann@", "Annabel", "Leeson", "crm-77", "0123 456"}) {
        BOOST_TEST(traces(word) == 0, word);
    }
}

BOOST_AUTO_TEST_CASE(a_longer_address_belongs_to_another_person) {
    const std::vector<std::string> others = {"joann@x.test", "ann@x.test.org", "x.ann@x.test",
                                             "bann@x.tests"};
    std::vector<service::NewRow> all;
    for (std::size_t i = 0; i < others.size(); ++i) {
        all.push_back(full_row(static_cast<std::int64_t>(i) + 1, others[i]));
        reply(acme, others[i], "{\"email\":\"" + others[i] + "\"}");
    }
    const ImportId id = completed(all);
    const auto before = client.snapshot(acme);
    BOOST_TEST(preview().organizations.empty());
    const auto erased = erase();
    BOOST_TEST(erased.organizations.empty());
    BOOST_TEST(!erased.user.has_value());
    BOOST_TEST(client.snapshot(acme) == before);
    const ImportId active = staged(all);  // the active job does not contain her
    BOOST_TEST(erase().is_complete());
    cancel(active);
    BOOST_TEST(rows(id).size() == others.size());
}

BOOST_AUTO_TEST_CASE(a_row_that_only_mentions_the_address_belongs_to_another_person) {
    auto friend_s = row(1, "bob@x.test", R"({"emergency_contact":"ann@x.test"})");
    friend_s.fields.display_name = "ann@x.test";
    const ImportId id = staged({friend_s});
    cancel(id);
    const auto before = rows(id).front().payload;
    BOOST_TEST(erase().organizations.empty());
    BOOST_TEST(rows(id).front().payload == before);
}

BOOST_AUTO_TEST_CASE(a_malformed_row_is_found_by_the_address_in_capitals_in_any_field) {
    const auto malformed = [](std::int64_t number, const std::string& email) {
        auto made = full_row(number, email);
        made.fields.attributes = rules::pack_faults({{"country", FieldCode::InvalidCountry}}, "");
        return made;
    };
    auto swapped = malformed(1, "");
    swapped.fields.first_name = "ANN@X.Test";
    const ImportId id = staged({swapped, malformed(2, "bob@x.test"), malformed(3, "o'ann@x.test")});
    BOOST_TEST(preview().active_jobs.size() == 1U);
    cancel(id);
    const auto before = rows(id);
    BOOST_TEST(erase().organizations.at(0).import_rows == 1);
    BOOST_TEST(rows(id).at(0).payload == kEmpty);
    for (const std::size_t at : {1U, 2U}) {
        BOOST_TEST(rows(id).at(at).payload == before.at(at).payload);
    }
}

BOOST_AUTO_TEST_CASE(the_rows_of_canceled_and_failed_jobs_are_emptied) {
    const ImportId canceled = staged({full_row(1, kAnn)});
    cancel(canceled);
    const ImportId failed = staged({full_row(1, kAnn), row(2, "bob@x.test")});
    validate(failed);
    service::fail_import(context, lease(), ImportState::Validating, {"X", "x"});
    const auto erased = erase();
    BOOST_TEST_REQUIRE(erased.organizations.size() == 1);
    BOOST_TEST(erased.organizations.front().import_rows == 2);
    BOOST_TEST(!erased.organizations.front().member.has_value());
    BOOST_TEST(rows(canceled).front().payload == kEmpty);
    BOOST_TEST(rows(failed).front().payload == kEmpty);
    BOOST_TEST(rows(failed).back().payload != kEmpty);
    // Acme never had her as a member, so its log does not reveal that others had.
    BOOST_TEST(noted(acme) == Texts{"NULL"});
}

BOOST_AUTO_TEST_CASE(an_active_job_is_reported_and_everything_else_is_erased) {
    const ImportId done = completed({full_row(1, kAnn)});
    reply(acme, "k", R"({"email":"ann@x.test"})");
    const ImportId active = staged({full_row(1, kAnn), row(2, "bob@x.test")});
    const auto check = [&](std::string_view state) {
        client.execute("UPDATE import_jobs SET state = ? WHERE id = ?", state, active);
        const auto data = client.value("SELECT data FROM import_blocks WHERE job_id = ?", active);
        const auto erased = erase();
        BOOST_TEST_REQUIRE(erased.active_jobs.size() == 1, state);
        BOOST_TEST(erased.active_jobs.front().id == active);
        BOOST_TEST(erased.active_jobs.front().organization == acme);
        BOOST_TEST(!erased.is_complete());
        BOOST_TEST(client.value("SELECT data FROM import_blocks WHERE job_id = ?", active) == data);
    };
    for (const auto state : {"staging", "validating", "validated", "committing"}) check(state);
    BOOST_TEST(users() == 0);
    BOOST_TEST(replies() == 0);
    BOOST_TEST(rows(done).front().payload == kEmpty);
    client.execute("UPDATE import_jobs SET state = 'canceled' WHERE id = ?", active);
    const auto erased = erase();
    BOOST_TEST(erased.is_complete());
    BOOST_TEST(erased.organizations.front().import_rows == 1);
    BOOST_TEST(traces(kAnn) == 0);
    BOOST_TEST(noted(acme).size() == 2);
}

BOOST_AUTO_TEST_CASE(a_person_is_found_in_every_block_of_a_large_job) {
    auto all = people(1, 5000);
    for (std::size_t i = 0; i < all.size(); i += 400) all[i].fields.email = kAnn;
    const ImportId id = new_import();
    stage(id, all);
    for (std::int64_t first = 1; first < 30; ++first) {  // more blocks than one scan reads
        stage(id, {row(first * 5000 + 7, kAnn)});
    }
    cancel(id);
    BOOST_TEST(preview().organizations.front().import_rows == 13 + 29);
    BOOST_TEST(erase().organizations.front().import_rows == 13 + 29);
    BOOST_TEST(traces(kAnn) == 0);
    BOOST_TEST(rows(id).size() == 5029);
}

BOOST_AUTO_TEST_CASE(an_unreadable_block_is_reported_and_does_not_stop_the_erasure) {
    const ImportId rotten = staged({full_row(1, kAnn)});
    cancel(rotten);
    client.execute("UPDATE import_blocks SET data = CONCAT(data, 'x')");
    const ImportId good = staged({full_row(1, kAnn)});
    cancel(good);
    member(other, kAnn);
    const auto erased = erase();
    BOOST_TEST_REQUIRE(erased.unreadable_jobs.size() == 1);
    BOOST_TEST(erased.unreadable_jobs.front().id == rotten);
    BOOST_TEST(!erased.is_complete());
    BOOST_TEST(users() == 0);
    BOOST_TEST(rows(good).front().payload == kEmpty);
}

// ---------------------------------------------------------------------------- recorded replies

BOOST_AUTO_TEST_CASE(recorded_replies_that_contain_the_address_are_deleted) {
    reply(acme, "1", R"({"id":1,"email":"ann@x.test","outcome":"created"})");
    reply(acme, "2", R"({"email":"bob@x.test"})");
    reply(other, "3", R"({"users":[{"email":"ann@x.test"}]})");
    reply(other, "4", R"({"email":"ann@x.test"})");
    client.execute("UPDATE idempotency_keys SET sealed = TRUE WHERE key_hash = ?", sha256("4"));
    BOOST_TEST(preview().organizations.size() == 2);
    BOOST_TEST(replies() == 4);
    const auto erased = erase();
    BOOST_TEST_REQUIRE(erased.organizations.size() == 2);
    for (const auto& here : erased.organizations) BOOST_TEST(here.replies == 1);
    BOOST_TEST(replies() == 2);
    BOOST_TEST(noted(acme).size() == 1);
    BOOST_TEST(noted(other).size() == 1);
}

BOOST_AUTO_TEST_CASE(an_address_that_json_escapes_is_found) {
    const std::string address = R"("a\"b"@x.test)";
    member(acme, address);
    reply(acme, "1", R"({"email":"\"a\\\"b\"@x.test"})");
    const auto erased = erase(address);
    BOOST_TEST_REQUIRE(erased.organizations.size() == 1);
    BOOST_TEST(erased.organizations.front().replies == 1);
    BOOST_TEST(replies() == 0);
    BOOST_TEST(users() == 0);
}

// -------------------------------------------------------------------------- preview, interruptions

BOOST_AUTO_TEST_CASE(a_preview_reports_what_will_be_erased_and_writes_nothing) {
    const ImportId id = completed({full_row(1, kAnn), full_row(2, kAnn)});
    cancel(staged({full_row(3, kAnn)}));
    const ImportId active = staged({full_row(3, kAnn)});
    member(other, kAnn);
    reply(other, "1", R"({"email":"ann@x.test"})");
    put_events(other, service::preview_erasure(context, kAnn).user.value(), 2, 3);
    const auto before = std::pair(client.snapshot(acme), client.snapshot(other));
    const auto previewed = preview();
    BOOST_TEST(std::pair(client.snapshot(acme), client.snapshot(other)) == before);
    BOOST_TEST(users() == 1);
    const auto erased = erase();
    BOOST_TEST(previewed.user == erased.user);
    BOOST_TEST_REQUIRE(previewed.organizations.size() == erased.organizations.size());
    for (std::size_t i = 0; i < previewed.organizations.size(); ++i) {
        const auto& left = previewed.organizations[i];
        const auto& right = erased.organizations[i];
        BOOST_TEST(left.organization == right.organization);
        BOOST_TEST(left.member == right.member);
        BOOST_TEST(left.import_rows == right.import_rows);
        BOOST_TEST(left.replies == right.replies);
        BOOST_TEST(left.events == right.events);
        BOOST_TEST(left.webhooks == right.webhooks);
    }
    BOOST_TEST_REQUIRE(previewed.active_jobs.size() == 1);
    BOOST_TEST(previewed.active_jobs.front().id == active);
    BOOST_TEST(rows(id).size() == 2);
}

BOOST_AUTO_TEST_CASE(an_erasure_interrupted_anywhere_is_completed_by_running_it_again) {
    const std::vector<std::string> places = {
        "BEFORE DELETE ON members", "BEFORE DELETE ON users", "BEFORE UPDATE ON import_blocks",
        "BEFORE DELETE ON idempotency_keys", "BEFORE INSERT ON audit_log"};
    for (const std::string& place : places) BOOST_TEST_CONTEXT(place) {
            const UserId ann = member(acme, kAnn);
            member(other, kAnn);
            cancel(staged({full_row(1, kAnn)}));
            reply(other, place, R"({"email":"ann@x.test"})");
            client.run("DELETE FROM audit_log");
            {
                const SchemaChange broken(
                    client,
                    "CREATE TRIGGER broken " + place + " FOR EACH ROW SIGNAL SQLSTATE '45000'",
                    "DROP TRIGGER broken");
                BOOST_CHECK_THROW(erase(), db::DbError);
            }
            // The person is in both organizations or in neither of them.
            const auto members_left =
                client.number("SELECT COUNT(*) FROM members WHERE user_id = ?", ann);
            BOOST_TEST((members_left == 2 || members_left == 0));
            BOOST_TEST(noted(acme).size() == (members_left == 2 ? 0U : 1U));
            BOOST_TEST(erase().is_complete());
            BOOST_TEST(traces(kAnn) == 0);
            BOOST_TEST(traces("Annabel") == 0);
            BOOST_TEST(users() == 0);
            BOOST_TEST(noted(acme).front() == ann.text());
        }
}

BOOST_AUTO_TEST_CASE(an_erasure_in_parallel_with_creations_leaves_a_whole_person_or_none) {
    test::in_parallel(5, [&](int number) {
        test::DatabaseContext worker;
        rules::MemberFields fields;
        fields.email = kAnn;
        for (int i = 0; i < 20; ++i) {
            if (number == 0) {
                (void)service::erase_person(worker.context, kAnn, {});
            } else {
                worker.as(number % 2 == 0 ? acme : other,
                          [&](service::OrgTransaction& transaction) {
                              return service::create_member(transaction, fields).member.user_id;
                          });
            }
        }
    });
    BOOST_TEST(client.number("SELECT COUNT(*) FROM members m LEFT JOIN users u ON u.id = m.user_id "
                             "WHERE u.id IS NULL") == 0);
    BOOST_TEST(users() <= 1);
    erase();
    BOOST_TEST(traces(kAnn) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
