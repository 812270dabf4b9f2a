// service/imports/lease.hpp: a claim whose connection is lost counts at most one attempt.
#include "service/imports/lease.hpp"

#include "db/imports.hpp"
#include "db/lossy_server.hpp"
#include "service/organization/status.hpp"
#include "store/imports/jobs.hpp"

#include <functional>

using namespace muster;
using rules::ImportState;
using test::DatabaseContext;
using test::ImportFixture;
using test::LossyServer;
using test::people;

namespace {

struct Claims : ImportFixture {
    static db::ConnectionSettings through(const LossyServer& server) {
        auto settings = test::connection_settings();
        settings.urls = {server.url()};
        return settings;
    }
    ImportId due() {
        const ImportId id = staged(people(1, 3));
        validate(id);
        return id;
    }

    ImportId due_in(OrgId organization) {
        const ImportId id = new_import(organization);
        client.execute("UPDATE import_jobs SET state = 'validating' WHERE id = ?", id);
        return id;
    }
    // The claim of a runner that waits for the transaction of these changes.
    std::optional<service::Lease> claim_during(const std::function<void()>& changes) {
        return result_after(changes, [] {
            DatabaseContext rival;
            return service::claim_due_import(rival.context, Uuid::v7());
        });
    }

    Uuid owner = Uuid::v7();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(import_claims, Claims)

BOOST_AUTO_TEST_CASE(a_claim_with_a_lost_reply_is_rolled_back_and_repeated) {
    const ImportId id = due();
    const LossyServer server(
        std::string(owner.bytes()));  // only the values of the claim contain it
    DatabaseContext worker(through(server));
    const auto lease = service::claim_due_import(worker.context, owner);
    BOOST_TEST(server.has_lost());
    BOOST_TEST_REQUIRE(lease.has_value());
    BOOST_TEST(lease->id == id);
    BOOST_TEST(job(id).attempts == 1);
}

BOOST_AUTO_TEST_CASE(a_claim_whose_commit_has_a_lost_reply_is_not_repeated) {
    const ImportId id = due();
    const LossyServer server(
        "\x03"
        "COMMIT");  // a separate query, unlike READ COMMITTED
    DatabaseContext worker(through(server));
    BOOST_TEST(test::kind_of([&] { service::claim_due_import(worker.context, owner); }) ==
               db::DbError::Kind::Gone);
    BOOST_TEST(server.has_lost());
    BOOST_TEST(job(id).attempts == 1);
    BOOST_TEST(!service::claim_due_import(worker.context, owner).has_value());
    client.run("UPDATE import_jobs SET lease_until = 0");
    BOOST_TEST(service::claim_due_import(worker.context, owner).has_value());
    BOOST_TEST(job(id).attempts == 2);
}

BOOST_AUTO_TEST_CASE(a_release_with_a_lost_reply_forgives_one_attempt) {
    const ImportId id = due();
    client.run("UPDATE import_jobs SET attempts = 1");
    const auto lease = service::claim_due_import(context, owner);
    BOOST_TEST_REQUIRE(lease.has_value());
    const LossyServer server(std::string(owner.bytes()));
    DatabaseContext worker(through(server));
    service::release_import(worker.context, *lease, service::AttemptPolicy::Forgive,
                            Milliseconds(0));
    BOOST_TEST(server.has_lost());
    BOOST_TEST(job(id).attempts == 1);
}

BOOST_AUTO_TEST_CASE(a_failure_with_a_lost_reply_is_stored) {
    const ImportId id = due();
    const auto lease = service::claim_due_import(context, owner);
    BOOST_TEST_REQUIRE(lease.has_value());
    const LossyServer server(std::string(owner.bytes()));
    DatabaseContext worker(through(server));
    service::fail_import(worker.context, *lease, ImportState::Validating, {"CODE", "why"});
    BOOST_TEST(server.has_lost());
    BOOST_TEST(job(id).state == ImportState::Failed);
}

BOOST_AUTO_TEST_CASE(a_job_of_a_disabled_organization_waits) {
    const ImportId id = due();
    const auto is_counted = [&] {
        return database.autocommit([](db::Tx& tx) {
            return !store::count_imports_in_progress(tx, Timestamp::now()).empty();
        });
    };
    BOOST_TEST(is_counted());
    BOOST_TEST(service::disable_organization(context, acme));
    BOOST_TEST(!is_counted());
    BOOST_TEST(!service::claim_due_import(context, owner).has_value());
    BOOST_TEST(service::enable_organization(context, acme));
    const auto lease = service::claim_due_import(context, owner);
    BOOST_TEST_REQUIRE(lease.has_value());
    BOOST_TEST(lease->id == id);
}

BOOST_AUTO_TEST_CASE(a_claim_that_waited_for_the_disabling_of_the_organization_finds_no_job) {
    due();
    const auto lease = claim_during([&] {
        client.run("UPDATE import_jobs SET lease_until = 0, revision = revision + 1");
        client.execute("UPDATE organizations SET disabled_at = 1 WHERE id = ?", acme);
    });
    BOOST_TEST(!lease.has_value());
}

BOOST_AUTO_TEST_CASE(a_runner_that_loses_a_job_to_another_takes_the_next_one) {
    const ImportId first = due();
    client.run("UPDATE import_jobs SET created_at = created_at - 1000");
    const ImportId second = due_in(organization("Other"));
    const auto lease = claim_during([&] {
        client.execute("UPDATE import_jobs SET lease_until = ? WHERE id = ?",
                       Timestamp::now() + Milliseconds(60'000), first);
    });
    BOOST_TEST_REQUIRE(lease.has_value());
    BOOST_TEST(lease->id == second);
}

BOOST_AUTO_TEST_CASE(disabling_ends_the_lease_of_the_runner) {
    due();
    const auto lease = service::claim_due_import(context, owner);
    BOOST_TEST_REQUIRE(lease.has_value());
    BOOST_TEST(service::disable_organization(context, acme));
    BOOST_CHECK_THROW(
        service::finish_stage(context, *lease, ImportState::Validating, ImportState::Validated),
        service::LeaseLost);
    BOOST_TEST(service::enable_organization(context, acme));
    BOOST_TEST(service::claim_due_import(context, owner).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
