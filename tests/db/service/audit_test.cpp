// service/audit.hpp: which actions are recorded, and who reads them.
#include "rules/audit.hpp"
#include "rules/attributes.hpp"
#include "service/audit.hpp"

#include "base/json.hpp"
#include "db/fixture.hpp"
#include "service/access/organizations.hpp"
#include "service/access/team.hpp"
#include "service/attributes.hpp"

#include "print.hpp"

#include <unistd.h>

using namespace muster;
using test::Fixture;

namespace {

using Texts = std::vector<std::string>;

struct Audit : Fixture {
    Audit() { client.run("DELETE FROM audit_log"); }

    void note(OrgId organization, AdminId admin, std::string_view action,
              std::string_view subject = "") {
        database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{
                tx, {organization, admin, {}, "request-1"}, Timestamp::now()};
            service::audit(transaction, action, subject, {{"name", "Zo\u00eb \"Z\""}});
        });
    }
    std::vector<rules::AuditEntry> log(OrgId organization, std::optional<std::string> action = {},
                                       std::optional<std::string> subject = {}, int limit = 100,
                                       std::optional<AuditId> before = {}) {
        service::AuditFilter filter;
        filter.action = std::move(action);
        filter.subject_id = std::move(subject);
        return service::list_audit_log(context, organization, before, filter, limit).entries;
    }
    static Texts actions(const std::vector<rules::AuditEntry>& entries) {
        Texts texts;
        for (const auto& entry : entries) texts.push_back(entry.action);
        return texts;
    }
    Texts newest(const std::optional<OrgId>& organization, std::optional<std::string> action = {},
                 int limit = 100) {
        return actions(service::newest_audit_entries(context, organization, action, limit));
    }

    OrgId acme = organization("Acme");
    AdminId ann = service::add_admin(context, acme, "ann@example.test", "owner").id;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(audit, Audit)

BOOST_AUTO_TEST_CASE(the_action_of_an_admin_is_read_back_with_all_fields) {
    note(acme, ann, "api_key.revoked", "subject");
    const auto entries = log(acme);
    BOOST_TEST_REQUIRE(entries.size() == 1);
    const auto& entry = entries.front();
    BOOST_TEST(entry.organization_id == acme);
    BOOST_TEST(entry.actor == rules::AuditActor::Admin);
    BOOST_TEST(entry.actor_id == ann);
    BOOST_TEST(entry.actor_email.value() == "ann@example.test");
    BOOST_TEST(entry.action == "api_key.revoked");
    BOOST_TEST(entry.subject_id.value() == "subject");
    BOOST_TEST(entry.request_id.value() == "request-1");
    Json::Value details;
    BOOST_TEST_REQUIRE(parse_json(entry.details, details));
    BOOST_TEST(details["name"].asString() == "Zo\u00eb \"Z\"");
    BOOST_TEST(Timestamp::now() - entry.created_at < Milliseconds(60'000));
}

BOOST_AUTO_TEST_CASE(an_organization_reads_only_its_own_log) {
    const OrgId other = organization("Other");
    client.run("DELETE FROM audit_log");
    note(acme, ann, "a.done");
    note(other, ann, "b.done");
    database.transaction([&](db::Tx& tx) {
        service::audit_operator(tx, std::nullopt, "c.done", "", {}, Timestamp::now());
    });
    BOOST_TEST(actions(log(acme)) == Texts{"a.done"});
    BOOST_TEST(actions(log(other)) == Texts{"b.done"});
    BOOST_TEST(newest(acme) == Texts{"a.done"});
    BOOST_TEST(newest({}) == (Texts{"c.done", "b.done", "a.done"}));
    BOOST_TEST(newest({}, "b.done") == Texts{"b.done"});
    BOOST_TEST(newest({}, {}, 2) == (Texts{"c.done", "b.done"}));
    const auto all = service::newest_audit_entries(context, std::nullopt, std::nullopt, 1);
    BOOST_TEST(!all.front().organization_id.has_value());
    BOOST_TEST(!all.front().actor_id.has_value());
    BOOST_TEST(!all.front().actor_email.has_value());
    BOOST_TEST(!all.front().subject_id.has_value());
    BOOST_TEST(!all.front().request_id.has_value());
    BOOST_TEST(all.front().actor == rules::AuditActor::Operator);
}

BOOST_AUTO_TEST_CASE(pages_are_newest_first_and_complete) {
    for (int i = 0; i < 7; ++i) note(acme, ann, "a.done", std::to_string(i));
    Texts subjects;
    std::optional<AuditId> before;
    do {
        const auto page = service::list_audit_log(context, acme, before, {}, 3);
        for (const auto& entry : page.entries) subjects.push_back(entry.subject_id.value());
        before = page.next;
    } while (before);
    BOOST_TEST(subjects == (Texts{"6", "5", "4", "3", "2", "1", "0"}));
}

BOOST_AUTO_TEST_CASE(the_programs_user_can_only_add_entries_and_delete_old_ones) {
    auto settings = test::connection_settings();
    const std::string account = "audit_" + std::to_string(getpid()) + "@localhost";
    client.run("CREATE USER IF NOT EXISTS " + account);
    client.run("GRANT SELECT, INSERT, UPDATE, DELETE ON `" + settings.database + "`.* TO " +
               account);
    settings.user = account.substr(0, account.find('@'));
    test::Client programs(settings);
    const auto put = [&](std::string_view action, Milliseconds age) {
        programs.execute(
            "INSERT INTO audit_log (organization_id, id, actor, action, details, created_at) "
            "VALUES (?, ?, 'operator', ?, '{}', ?)",
            acme, AuditId::create(), action, Timestamp::now() - age);
    };
    put("a.done", Milliseconds(0));
    put("b.done", std::chrono::hours(29 * 24 - 1));
    put("c.done", std::chrono::hours(31 * 24));

    const auto before = client.snapshot(acme);
    programs.run("SET SESSION timestamp = 2000000000");
    for (const char* statement :
         {"UPDATE audit_log SET created_at = 1", "DELETE FROM audit_log WHERE action = 'a.done'",
          "DELETE FROM audit_log WHERE action = 'b.done'", "DELETE FROM audit_log",
          "REPLACE INTO audit_log SELECT * FROM audit_log WHERE action = 'b.done'"}) {
        const auto kind = test::kind_of([&] { programs.run(statement); });
        BOOST_TEST((kind == db::DbError::Kind::BadData), statement);
    }
    BOOST_TEST((client.snapshot(acme) == before));
    for (const char* statement : {"DROP TRIGGER audit_log_delete", "TRUNCATE TABLE audit_log"}) {
        BOOST_TEST(test::kind_of([&] { programs.run(statement); }).has_value(), statement);
    }
    BOOST_TEST(programs.execute("DELETE FROM audit_log WHERE action = 'c.done'") == 1);
    client.run("DROP USER " + account);
}

BOOST_AUTO_TEST_CASE(the_cost_of_a_page_does_not_depend_on_its_position) {
    client.execute(
        "INSERT INTO audit_log (organization_id, id, actor, action, details, created_at) "
        "SELECT ?, UNHEX(LPAD(HEX(seq), 32, '0')), 'operator', 'a.done', '{}', 1 "
        "FROM " +
            test::sequence(20'000),
        acme);
    client.run("ANALYZE TABLE audit_log");
    const auto before = AuditId::parse("00000000-0000-0000-0000-000000002000");
    const auto reads = [&] {
        return database.autocommit([](db::Tx& tx) { return test::entries_read(tx); });
    };
    (void)reads();
    const auto first = reads();
    BOOST_TEST(log(acme, {}, {}, 50, before).size() == 50);
    BOOST_TEST(reads() - first < 2000);  // includes the table of the counters
}

BOOST_AUTO_TEST_CASE(the_log_is_filtered_by_action_and_subject) {
    note(acme, ann, "a.done", "1");
    note(acme, ann, "a.done", "2");
    note(acme, ann, "b.done", "1");
    BOOST_TEST(actions(log(acme, "a.done")) == (Texts{"a.done", "a.done"}));
    BOOST_TEST(actions(log(acme, {}, "1")) == (Texts{"b.done", "a.done"}));
    BOOST_TEST(actions(log(acme, "a.done", "2")) == Texts{"a.done"});
    BOOST_TEST(log(acme, "a.don").empty());
    BOOST_TEST(log(acme, "A.DONE").empty());
    BOOST_TEST(log(acme, "' OR 1=1 -- ").empty());
    BOOST_TEST(log(acme, {}, "").empty());
}

BOOST_AUTO_TEST_CASE(an_action_with_a_dot_at_its_end_selects_all_that_begin_with_it) {
    for (const char* action : {"api_key.issued", "api_key.revoked", "api_keys.x", "apixkey.issued"})
        note(acme, ann, action);
    BOOST_TEST(actions(log(acme, "api_key.")) == (Texts{"api_key.revoked", "api_key.issued"}));
    BOOST_TEST(log(acme, "API_KEY.").empty());
    BOOST_TEST(log(acme, "%.").empty());
}

BOOST_AUTO_TEST_CASE(the_log_is_filtered_by_actor) {
    const AdminId bob = service::add_admin(context, acme, "bob@example.test", "admin").id;
    client.run("DELETE FROM audit_log");
    note(acme, ann, "a.done");
    note(acme, bob, "b.done");
    as(acme, [](service::OrgTransaction& transaction) {
        service::audit_system(transaction, "c.done", "", {});
    });
    const auto found = [&](service::AuditFilter filter) {
        return actions(service::list_audit_log(context, acme, {}, filter, 100).entries);
    };
    BOOST_TEST(found({.actor_id = bob}) == Texts{"b.done"});
    BOOST_TEST(found({.actor = rules::AuditActor::Admin}) == (Texts{"b.done", "a.done"}));
    BOOST_TEST(found({.actor = rules::AuditActor::System}) == Texts{"c.done"});
    BOOST_TEST(found({.action = "a.done", .actor_id = bob}).empty());
    BOOST_TEST(found({.actor_id = AdminId::create()}).empty());
}

BOOST_AUTO_TEST_CASE(the_log_is_filtered_by_time) {
    const Timestamp noon(1'790'000'000'000);
    for (const int hour : {-1, 0, 1}) {
        const Timestamp when = noon + std::chrono::hours(hour);
        database.transaction([&](db::Tx& tx) {
            service::audit_operator(tx, acme, "a.done", std::to_string(hour), {}, when);
        });
        std::string id(Uuid::kBytes, '\0');
        // Ids are created after the time of the entry.
        auto left = when.milliseconds() + 1500;
        for (int i = 6; i-- > 0; left >>= 8) id[i] = static_cast<char>(left & 0xff);
        client.execute("UPDATE audit_log SET id = ? WHERE subject_id = ?", id,
                       std::to_string(hour));
    }
    const auto found = [&](service::AuditFilter filter) {
        Texts subjects;
        const auto page = service::list_audit_log(context, acme, {}, filter, 100);
        for (const auto& entry : page.entries) subjects.push_back(entry.subject_id.value());
        return subjects;
    };
    BOOST_TEST(found({.since = noon}) == (Texts{"1", "0"}));
    BOOST_TEST(found({.until = noon}) == Texts{"-1"});
    BOOST_TEST(found({.until = noon + Milliseconds(1)}) == (Texts{"0", "-1"}));
    BOOST_TEST(found({.since = noon, .until = noon + std::chrono::hours(1)}) == Texts{"0"});
    BOOST_TEST(found({.since = noon + Milliseconds(1), .until = noon + Milliseconds(2)}).empty());
    BOOST_TEST(found({.since = Timestamp(0)}) == (Texts{"1", "0", "-1"}));
}

BOOST_AUTO_TEST_CASE(a_filtered_page_examines_a_bounded_number_of_entries) {
    note(acme, ann, "rare.done");
    for (int i = 0; i < 7; ++i) note(acme, ann, "a.done");
    std::vector<std::size_t> sizes;
    std::optional<AuditId> before;
    do {
        const auto page = service::list_audit_log(context, acme, before, {.action = "rare."}, 2, 3);
        sizes.push_back(page.entries.size());
        before = page.next;
    } while (before);
    BOOST_TEST(sizes == (std::vector<std::size_t>{0, 0, 1}));
    const auto unfiltered = service::list_audit_log(context, acme, {}, {}, 5, 3);
    BOOST_TEST(unfiltered.entries.size() == 5);
}

BOOST_AUTO_TEST_CASE(the_key_of_an_organization_leaves_no_entry) {
    as(acme, [](service::OrgTransaction& transaction) { service::audit(transaction, "a.done"); });
    BOOST_TEST(log(acme).empty());
}

// ------------------------------------------------------------------------ commands of the operator

BOOST_AUTO_TEST_CASE(commands_of_the_operator_are_logged) {
    const OrgId other = service::create_organization(context, "Other").id;
    service::add_admin(context, other, "ann@example.test", "viewer");
    service::add_attribute(context, other, {"boat", "Boat", rules::AttributeType::Text, {}, true});
    service::enable_attribute(context, other, "phone", false);
    service::enable_attribute(context, other, "phone", true);
    BOOST_TEST(newest(other) == (Texts{"attribute.enabled", "attribute.disabled", "attribute.added",
                                       "seat.added", "organization.created"}));
    const auto entries = log(other);
    BOOST_TEST(entries[0].subject_id.value() == "phone");
    BOOST_TEST(entries[2].subject_id.value() == "boat");
    BOOST_TEST(entries[3].subject_id.value() == ann.text());
    BOOST_TEST(entries[3].details == R"({"role":"viewer"})");
    BOOST_TEST(entries[4].subject_id.value() == other.text());
    BOOST_TEST(client.number("SELECT COUNT(*) FROM audit_log WHERE actor <> 'operator' "
                             "OR details LIKE '%@%' OR subject_id LIKE '%@%'") == 0);
}

BOOST_AUTO_TEST_CASE(a_command_without_an_effect_is_not_logged) {
    service::add_admin(context, acme, "ann@example.test", "viewer");
    BOOST_TEST(!service::enable_attribute(context, acme, "no_such", true));
    BOOST_CHECK_THROW(service::add_attribute(
                          context, acme, {"phone", "Phone", rules::AttributeType::Text, {}, true}),
                      std::invalid_argument);
    BOOST_CHECK_THROW((void)service::create_organization(context, ""), std::invalid_argument);
    BOOST_TEST(newest({}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
