// service/organization/deletion.hpp: no row of a deleted organization is left, however often the
// deletion is interrupted, and no row of another one is lost.
#include "service/organization/deletion.hpp"

#include "db/two_tenants.hpp"
#include "rules/access/organizations.hpp"
#include "service/access/organizations.hpp"
#include "service/organization/status.hpp"
#include "store/organization/deletion.hpp"

#include <algorithm>
#include <set>

using namespace muster;
using rules::OrganizationState;
using service::DeletionState;
using test::TwoTenants;

namespace {

// The columns that name an organization.
constexpr std::string_view kOrganizationColumns =
    "column_name IN ('organization_id', 'active_organization_id')";

struct Deletions : TwoTenants {
    // Tables that name an organization, also those that the code under test does not know.
    std::vector<std::pair<std::string, std::string>> naming_columns() {
        std::vector<std::pair<std::string, std::string>> columns;
        for (auto rows = client.query(
                 "SELECT table_name, column_name FROM information_schema.columns WHERE "
                 "table_schema = DATABASE() AND " +
                 std::string(kOrganizationColumns));
             rows.next();) {
            columns.emplace_back(rows.bytes(1), rows.bytes(2));
        }
        return columns;
    }

    // "table.column" of each column that names the organization in some row.
    std::set<std::string> traces_of(const OrgId& id) {
        std::set<std::string> traces;
        for (const auto& [table, column] : naming_columns()) {
            const auto rows =
                client.number("SELECT COUNT(*) FROM " + table + " WHERE " + column + " = ?", id);
            if (rows > 0) traces.insert(table + "." + column);
        }
        if (client.number("SELECT COUNT(*) FROM organizations WHERE id = ?", id) > 0) {
            traces.insert("organizations.id");
        }
        return traces;
    }

    // The rows that a deletion waits for: entries of the audit log become old, and the runner
    // revokes the tokens of connections.
    void end_waiting() {
        client.run(
            "UPDATE audit_log SET created_at = 1, id = UNHEX(CONCAT('00', SUBSTR(HEX(id), 3)))");
        client.run("UPDATE connections SET tokens = NULL");
    }

    DeletionState delete_fully(const OrgId& id) {
        return service::delete_organization(context, id, [] { return false; });
    }

    // Without a deletion by the fixture.
    Deletions() { client.run("DELETE FROM organization_deletions"); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(organization_deletion, Deletions)

BOOST_AUTO_TEST_CASE(every_table_that_names_an_organization_is_in_the_list) {
    std::set<std::string> listed{"organization_deletions"};
    for (const auto& table : store::tenant_tables()) listed.emplace(table.name);
    std::set<std::string> existing;
    for (const auto& [table, column] : naming_columns()) existing.insert(table);
    BOOST_TEST(listed == existing);
}

BOOST_AUTO_TEST_CASE(a_deletion_leaves_no_row_of_the_organization_and_all_rows_of_others) {
    const auto before = client.snapshot(stranger.id);
    service::request_organization_deletion(context, owner.id);
    end_waiting();
    BOOST_TEST((delete_fully(owner.id) == DeletionState::Done));
    BOOST_TEST(traces_of(owner.id).empty());
    auto after = client.snapshot(stranger.id);
    after["audit_log"] = before.at("audit_log");      // end_waiting()
    after["connections"] = before.at("connections");  // end_waiting()
    BOOST_TEST(after == before);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users WHERE id = ?", owner.user) == 0);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM admins WHERE id = ?", owner.admin) == 0);
    BOOST_TEST((delete_fully(owner.id) == DeletionState::Done));
}

BOOST_AUTO_TEST_CASE(a_deletion_that_is_interrupted_after_each_step_ends) {
    service::request_organization_deletion(context, owner.id);
    end_waiting();
    constexpr std::size_t kMostSteps = 200;
    // Each step is a new process: it begins with the first table.
    std::size_t steps = 0;
    for (auto state = DeletionState::Working; state != DeletionState::Done; ++steps) {
        BOOST_TEST_REQUIRE(steps < kMostSteps);
        int left = 60;
        state = service::delete_organization(context, owner.id, [&] { return --left == 0; });
    }
    BOOST_TEST(traces_of(owner.id).empty());
}

BOOST_AUTO_TEST_CASE(a_deletion_waits_for_tokens_and_young_entries_of_the_audit_log) {
    client.execute(
        "INSERT INTO audit_log (organization_id, id, actor, action, details, created_at) "
        "VALUES (?, ?, 'operator', 'a.b', '{}', ?)",
        owner.id, AuditId::create(), Timestamp::now());
    service::request_organization_deletion(context, owner.id);
    BOOST_TEST((delete_fully(owner.id) == DeletionState::Waiting));
    BOOST_TEST(
        traces_of(owner.id) ==
        (std::set<std::string>{"audit_log.organization_id", "connections.organization_id",
                               "organization_deletions.organization_id", "organizations.id"}));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM connections WHERE organization_id = ? AND "
                             "removed_at IS NOT NULL AND refresh_due_at = removed_at",
                             owner.id) == 1);
    BOOST_TEST(!service::delete_organizations(context, [] { return false; }));
    end_waiting();
    BOOST_TEST(service::delete_organizations(context, [] { return false; }));
    BOOST_TEST(traces_of(owner.id).empty());
}

BOOST_AUTO_TEST_CASE(deletions_that_wait_do_not_hold_up_the_others) {
    // Their ids come first, and a young entry of the audit log makes each of them wait.
    const std::string waiting = "UNHEX(LPAD(HEX(seq), 32, '0'))";
    const std::string from = " FROM " + test::sequence(101);
    client.run("INSERT INTO organizations (id, name, created_at, disabled_at) SELECT " + waiting +
               ", 'Waiting', 1, 1" + from);
    client.run("INSERT INTO organization_deletions (organization_id, requested_at) SELECT " +
               waiting + ", 1" + from);
    service::request_organization_deletion(context, owner.id);
    end_waiting();
    client.execute(
        "INSERT INTO audit_log (organization_id, id, actor, action, details, created_at) SELECT " +
            waiting +
            ", UNHEX(CONCAT(LEFT(HEX(?), 30), LPAD(HEX(seq), 2, '0'))), 'operator', 'a.b', '{}', ?" +
            from,
        AuditId::create(), Timestamp::now());
    BOOST_TEST(service::delete_organizations(context, [] { return false; }));
    BOOST_TEST(traces_of(owner.id).empty());
    BOOST_TEST(client.number("SELECT COUNT(*) FROM organization_deletions") == 101);
}

BOOST_AUTO_TEST_CASE(users_and_admins_of_other_organizations_stay) {
    client.execute(
        "INSERT INTO members (organization_id, user_id, id, email, attributes, created_at, "
        "updated_at) SELECT ?, user_id, ?, email, attributes, 1, 1 FROM members "
        "WHERE organization_id = ?",
        stranger.id, MemberId::create(), owner.id);
    client.execute(
        "INSERT INTO seats (organization_id, admin_id, role, created_at) VALUES (?, ?, 'viewer', "
        "1)",
        stranger.id, owner.admin);
    service::request_organization_deletion(context, owner.id);
    end_waiting();
    BOOST_TEST((delete_fully(owner.id) == DeletionState::Done));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users WHERE id = ?", owner.user) == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM admins WHERE id = ?", owner.admin) == 1);
}

// Without the user, an erasure would not find the event.
BOOST_AUTO_TEST_CASE(a_user_about_whom_another_organization_has_a_webhook_event_stays) {
    client.execute(
        "INSERT INTO webhook_events (organization_id, id, type, body, user_id, created_at) "
        "VALUES (?, ?, 'member.removed', '{}', ?, 1)",
        stranger.id, WebhookEventId::create(), owner.user);
    service::request_organization_deletion(context, owner.id);
    end_waiting();
    BOOST_TEST((delete_fully(owner.id) == DeletionState::Done));
    BOOST_TEST(traces_of(owner.id).empty());
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users WHERE id = ?", owner.user) == 1);
}

BOOST_AUTO_TEST_CASE(an_admin_whom_a_record_of_another_organization_names_stays) {
    client.execute("UPDATE api_keys SET created_by = ? WHERE organization_id = ?", owner.admin,
                   stranger.id);
    service::request_organization_deletion(context, owner.id);
    end_waiting();
    BOOST_TEST((delete_fully(owner.id) == DeletionState::Done));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM admins WHERE id = ?", owner.admin) == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM sessions WHERE admin_id = ?", owner.admin) == 0);
}

BOOST_AUTO_TEST_CASE(a_deletion_goes_on_after_rows_that_were_written_meanwhile) {
    service::request_organization_deletion(context, owner.id);
    end_waiting();
    service::OrganizationDeletion deletion(context, owner.id);
    // All tables but the record of the organization.
    for (std::size_t i = 0; i < store::tenant_tables().size() + 2; ++i) (void)deletion.step();
    client.execute(
        "INSERT INTO engagement_events (organization_id, id, action, tags, occurred_at, "
        "received_at) SELECT id, ?, 'late', '[]', 1, 1 FROM organizations WHERE id = ?",
        EventId::create(), owner.id);
    BOOST_TEST((delete_fully(owner.id) == DeletionState::Done));
    BOOST_TEST(traces_of(owner.id).empty());
}

BOOST_AUTO_TEST_CASE(the_request_is_logged_for_the_installation_and_cannot_be_undone) {
    service::request_organization_deletion(context, owner.id);
    service::request_organization_deletion(context, owner.id);
    BOOST_CHECK_THROW((void)service::enable_organization(context, owner.id), std::invalid_argument);
    BOOST_TEST(!service::disable_organization(context, owner.id));
    BOOST_TEST(
        (service::find_organization(context, owner.id)->state == OrganizationState::Deleting));
    end_waiting();
    BOOST_TEST((delete_fully(owner.id) == DeletionState::Done));
    BOOST_TEST(
        client.column("SELECT action FROM audit_log WHERE organization_id IS NULL AND "
                      "subject_id = ? ORDER BY created_at, action",
                      owner.id.text()) ==
        (std::vector<std::string>{"organization.deletion_requested", "organization.deleted"}));
    BOOST_TEST((test::code_of([&] { service::request_organization_deletion(context, owner.id); }) ==
                ErrorCode::NotFound));
}

BOOST_AUTO_TEST_CASE(the_preview_counts_the_rows_of_each_table) {
    const auto counts = service::preview_organization_deletion(context, owner.id);
    BOOST_TEST(counts.size() == store::tenant_tables().size());
    for (const auto& [table, rows] : counts) BOOST_TEST(rows >= 1, table);
    BOOST_TEST(service::preview_organization_deletion(context, OrgId::create()).empty());
}

BOOST_AUTO_TEST_SUITE_END()
