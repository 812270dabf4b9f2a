// The statements of the tenancy suite on member jobs (see tenancy_test.cpp).
#include "db/two_tenants.hpp"
#include "store/member_jobs/jobs.hpp"

using namespace muster;
using rules::MemberJobState;
using test::kLater;
using test::kNow;
using test::OrgStore;
using test::TwoTenants;

BOOST_FIXTURE_TEST_SUITE(tenancy, TwoTenants)

BOOST_AUTO_TEST_CASE(member_jobs) {
    const std::vector<std::string> insertion = {"member_jobs.free_expired_slot",
                                                "member_jobs.insert", "member_jobs.find_active"};
    check(insertion, [&](OrgStore& org) {
        return store::insert_member_job(org, member_job(owner)) == owner.member_job;
    });
    check({"member_jobs.find"}, [&](OrgStore& org) {
        return store::find_member_job(org, owner.member_job, kNow).has_value();
    });
    check({"member_jobs.lock"}, [&](OrgStore& org) {
        return store::lock_member_job(org, owner.member_job, kNow).has_value();
    });
    check({"member_jobs.page"}, [&](OrgStore& org) {
        const auto jobs = store::page_member_jobs(org, {}, 10, kNow);
        return jobs.size() != 1 || jobs.front().id == owner.member_job;
    });
    check({"member_jobs.cancel"}, [&](OrgStore& org) {
        store::cancel_member_job(org, owner.member_job, kNow);
        return false;
    });
    client.execute("UPDATE member_jobs SET state = 'validated'");
    check({"member_jobs.move_to_committing"}, [&](OrgStore& org) {
        store::move_member_job_to_committing(org, owner.member_job, owner.admin, "r", kNow);
        return false;
    });
    client.execute("UPDATE member_jobs SET state = 'validating'");
    const Uuid runner = Uuid::v7();
    check({"member_jobs.claim"}, [&](OrgStore& org) {
        return store::claim_member_job(org, owner.member_job, runner, kNow, kLater);
    });
    client.execute("UPDATE member_jobs SET lease_owner = ? WHERE organization_id = ?", runner,
                   owner.id);
    check({"member_jobs.release"}, [&](OrgStore& org) {
        store::release_member_job(org, owner.member_job, runner, false, kNow, kLater);
        return false;
    });
    check({"member_jobs.add_progress"}, [&](OrgStore& org) {
        return store::add_member_job_progress(org, member_job(owner), runner, {1, 1}, "p", kNow,
                                              kLater);
    });
    check({"member_jobs.finish"}, [&](OrgStore& org) {
        return store::finish_member_job(org, owner.member_job, runner, MemberJobState::Validating,
                                        MemberJobState::Validated, std::nullopt, kNow);
    });
}

BOOST_AUTO_TEST_SUITE_END()
