// service/organization/status.hpp: what stops while an organization is disabled, and continues
// after.
#include "service/organization/status.hpp"

#include "base/settings.hpp"
#include "db/two_tenants.hpp"
#include "rules/access/organizations.hpp"
#include "rules/access/roles.hpp"
#include "service/access/organizations.hpp"
#include "service/organization/deletion.hpp"
#include "store/access/admins.hpp"
#include "store/access/api_keys.hpp"
#include "store/access/invitations.hpp"
#include "store/access/organizations.hpp"
#include "store/access/sessions.hpp"
#include "store/connections/leases.hpp"
#include "store/imports/jobs.hpp"
#include "store/member_jobs/jobs.hpp"
#include "store/modules/credentials.hpp"
#include "store/pages/publishable_keys.hpp"
#include "store/webhooks/queue.hpp"

#include <algorithm>
#include <functional>
#include <future>

using namespace muster;
using test::kLater;
using test::kNow;
using test::TwoTenants;

namespace {

struct Stopping : TwoTenants {
    // Whether the look-up finds something of the owner: in an active organization, in a disabled
    // one, and in one that is active again.
    void check_stops(const char* what, const std::function<bool(db::Tx&)>& finds) {
        const auto found = [&] { return database.autocommit(finds); };
        BOOST_TEST_CONTEXT(what) {
            BOOST_TEST(found());
            BOOST_TEST(service::disable_organization(context, owner.id));
            BOOST_TEST(!found());
            BOOST_TEST(service::enable_organization(context, owner.id));
            BOOST_TEST(found());
        }
    }

    // The transaction of a unit takes a lock, and then another one while the operator's change
    // waits.
    void check_unit(const std::string& first, const std::string& second) {
        const auto check = [&](const std::function<void(service::Context&)>& change) {
            test::Client unit;
            unit.run("START TRANSACTION");
            BOOST_TEST_REQUIRE(!unit.column(first, owner.id).empty());
            auto changed = std::async(std::launch::async, [&] {
                test::DatabaseContext worker;
                change(worker.context);
            });
            BOOST_TEST(test::until([&] { return client.has_lock_wait(); }));
            BOOST_TEST(client.column(second + " SKIP LOCKED", owner.id).size() == 1U);
            unit.run("ROLLBACK");
            changed.get();
        };
        check([&](auto& with) { (void)service::disable_organization(with, owner.id); });
        check([&](auto& with) { service::request_organization_deletion(with, owner.id); });
    }

    std::string hash_in(const std::string& table) {
        return client.value("SELECT secret_hash FROM " + table + " WHERE organization_id = ?",
                            owner.id);
    }

    Stopping() { client.run("DELETE FROM organization_deletions"); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(organization_status, Stopping)

BOOST_AUTO_TEST_CASE(no_credential_of_a_disabled_organization_is_found) {
    const std::string key = hash_in("api_keys");
    check_stops("API key", [&](db::Tx& tx) {
        return !store::find_api_keys(tx, {&key, 1}).empty();
    });
    const std::string credential = hash_in("module_credentials");
    check_stops("module credential", [&](db::Tx& tx) {
        return !store::find_module_credentials(tx, {&credential, 1}).empty();
    });
    const std::string token =
        client.value("SELECT token FROM publishable_keys WHERE organization_id = ?", owner.id);
    check_stops("publishable key", [&](db::Tx& tx) {
        return !store::find_publishable_keys(tx, {&token, 1}).empty();
    });
}

BOOST_AUTO_TEST_CASE(an_admin_has_no_seat_in_a_disabled_organization) {
    const auto session = SessionId(*Uuid::parse(client.value(
        "SELECT LOWER(CONCAT_WS('-', SUBSTR(HEX(id), 1, 8), SUBSTR(HEX(id), 9, 4), "
        "SUBSTR(HEX(id), 13, 4), SUBSTR(HEX(id), 17, 4), SUBSTR(HEX(id), 21))) FROM sessions "
        "WHERE active_organization_id = ?",
        owner.id)));
    check_stops("session", [&](db::Tx& tx) {
        return store::find_session(tx, session).value().role.has_value();
    });
    check_stops("role", [&](db::Tx& tx) {
        db::OrgStore org(tx, owner.id);
        return store::find_role(org, owner.admin).has_value();
    });
    check_stops("invitation", [&](db::Tx& tx) {
        const auto found = store::find_invitations_of(tx, "guest@example.test", kNow, 9);
        return std::any_of(found.begin(), found.end(), [&](const auto& invitation) {
            return invitation.organization_id == owner.id;
        });
    });
    check_stops("seats", [&](db::Tx& tx) { return !store::find_seats(tx, owner.admin).empty(); });
}

BOOST_AUTO_TEST_CASE(the_runner_finds_no_work_of_a_disabled_organization) {
    client.execute("UPDATE connections SET refresh_due_at = NULL WHERE organization_id = ?",
                   stranger.id);
    check_stops("connection", [&](db::Tx& tx) {
        return !store::find_due_connections(tx, kLater, {}, 9).empty();
    });
    check_stops("first connection",
                [&](db::Tx& tx) { return store::first_connection_due(tx).has_value(); });
    client.execute("UPDATE webhook_endpoints SET status = 'paused' WHERE organization_id = ?",
                   stranger.id);
    client.execute("UPDATE webhook_deliveries SET status = 'pending', due_at = 1");
    client.execute("UPDATE webhook_endpoints SET failing_since = NULL");
    check_stops("webhook",
                [&](db::Tx& tx) { return !store::find_due_endpoints(tx, false, kNow, 9).empty(); });
    client.execute("UPDATE member_jobs SET state = 'canceled' WHERE organization_id = ?",
                   stranger.id);
    check_stops("member job",
                [&](db::Tx& tx) { return store::find_due_member_job(tx, kNow).has_value(); });
    check_stops("webhook backlog",
                [&](db::Tx& tx) { return store::measure_webhook_backlog(tx).oldest.has_value(); });
}

// Also if the operator's command is killed before it ends the leases.
BOOST_AUTO_TEST_CASE(a_job_of_a_disabled_organization_makes_no_progress) {
    const Uuid runner = Uuid::v7();
    const auto set_disabled = [&](std::optional<Timestamp> since) {
        database.autocommit([&](db::Tx& tx) {
            db::OrgStore org(tx, owner.id);
            store::set_organization_disabled(org, since);
        });
    };
    const auto check = [&](const std::function<bool(db::OrgStore&)>& progress) {
        const auto done = [&] {
            return database.autocommit([&](db::Tx& tx) {
                db::OrgStore org(tx, owner.id);
                return progress(org);
            });
        };
        BOOST_TEST(done());
        set_disabled(kNow);
        BOOST_TEST(!done());
        set_disabled(std::nullopt);
        BOOST_TEST(done());
    };
    put_job("committing", runner);
    check([&](db::OrgStore& org) {
        return store::add_import_progress(org, owner.job, runner, rules::ImportState::Committing,
                                          {}, {}, kNow, kLater);
    });
    client.execute("UPDATE member_jobs SET lease_owner = ?", runner);
    check([&](db::OrgStore& org) {
        const auto job = store::find_member_job(org, owner.member_job, kNow).value();
        return store::add_member_job_progress(org, job, runner, {1, 1}, "p", kNow, kLater);
    });
}

BOOST_AUTO_TEST_CASE(a_job_that_was_running_gets_its_attempt_back) {
    const auto attempts = [&](const std::string& table) {
        return client.column("SELECT attempts FROM " + table + " WHERE organization_id = ?",
                             owner.id);
    };
    put_job("committing", Uuid::v7());
    client.execute("UPDATE import_jobs SET attempts = 2");
    client.execute("UPDATE member_jobs SET attempts = 2, lease_owner = NULL");
    BOOST_TEST(service::disable_organization(context, owner.id));
    BOOST_TEST(attempts("import_jobs") == std::vector<std::string>{"1"});
    BOOST_TEST(attempts("member_jobs") == std::vector<std::string>{"2"});  // no runner had it
}

BOOST_AUTO_TEST_CASE(tokens_of_a_removed_connection_are_revoked_all_the_same) {
    client.execute("UPDATE connections SET removed_at = ? WHERE organization_id = ?", kNow,
                   owner.id);
    client.execute("UPDATE connections SET refresh_due_at = NULL WHERE organization_id = ?",
                   stranger.id);
    BOOST_TEST(service::disable_organization(context, owner.id));
    const auto due = database.autocommit(
        [&](db::Tx& tx) { return store::find_due_connections(tx, kLater, {}, 9); });
    BOOST_TEST(due.size() == 1U);
}

BOOST_AUTO_TEST_CASE(each_change_of_the_state_happens_once_and_is_logged) {
    BOOST_TEST(!service::enable_organization(context, owner.id));
    BOOST_TEST(service::disable_organization(context, owner.id));
    BOOST_TEST(!service::disable_organization(context, owner.id));
    BOOST_TEST(service::enable_organization(context, owner.id));
    BOOST_TEST(client.column("SELECT action FROM audit_log WHERE organization_id = ? AND action "
                             "LIKE 'organization.%abled' ORDER BY id",
                             owner.id) ==
               (std::vector<std::string>{"organization.disabled", "organization.enabled"}));
    BOOST_TEST((test::code_of([&] {
                    (void)service::disable_organization(context, OrgId::create());
                }) == ErrorCode::NotFound));
}

BOOST_AUTO_TEST_CASE(a_unit_of_a_job_does_not_wait_for_the_operator_who_waits_for_it) {
    const std::string import_job =
        "SELECT id FROM import_jobs WHERE organization_id = ? AND active_job = 1 FOR UPDATE";
    const std::string member_job =
        "SELECT id FROM member_jobs WHERE organization_id = ? AND active_job = 1 FOR UPDATE";
    // The rows of members and of the audit log lock their organization by a foreign key.
    const std::string organization = "SELECT id FROM organizations WHERE id = ? ";
    check_unit(member_job, organization + "FOR UPDATE");
    check_unit(organization + "LOCK IN SHARE MODE", import_job);
}

BOOST_AUTO_TEST_SUITE_END()
