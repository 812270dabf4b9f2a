// The statements of the tenancy suite on the audit log and the names of its records (see
// tenancy_test.cpp).
#include "db/two_tenants.hpp"
#include "store/audit_log.hpp"
#include "store/audit_subjects.hpp"

#include <algorithm>

using namespace muster;
using rules::SubjectKind;
using test::OrgStore;
using test::TwoTenants;

BOOST_FIXTURE_TEST_SUITE(tenancy, TwoTenants)

BOOST_AUTO_TEST_CASE(audit_log) {
    check({"audit_log.page"}, [&](OrgStore& org) {
        const auto entries = store::page_audit_log(org, {}, {}, 100);
        return std::any_of(entries.begin(), entries.end(),
                           [&](const auto& entry) { return entry.actor_id == owner.admin; });
    });
    const auto newest =
        client.value("SELECT MAX(id) FROM audit_log WHERE organization_id = ?", owner.id);
    check({"audit_log.find_at"}, [&](OrgStore& org) {
        return store::find_audit_entry_at(org, {}, 1).value_or(AuditId()).bytes() == newest;
    });
}

BOOST_AUTO_TEST_CASE(audit_subjects) {
    client.execute("UPDATE attributes SET attribute_key = 'theirs' WHERE id = ?", owner.attribute);
    const auto check_kind = [&](const char* name, SubjectKind kind, std::string_view id) {
        const std::string stored(id);
        check({name}, [&](OrgStore& org) {
            return !store::find_audit_subjects(org, kind, {&stored, 1}).empty();
        });
    };
    check_kind("audit_subjects.find_admins", SubjectKind::Admin, owner.admin.bytes());
    check_kind("audit_subjects.find_api_keys", SubjectKind::ApiKey, owner.key.bytes());
    check_kind("audit_subjects.find_articles", SubjectKind::Article, owner.article.bytes());
    check_kind("audit_subjects.find_attributes", SubjectKind::Attribute, "theirs");
    check_kind("audit_subjects.find_campaigns", SubjectKind::Campaign, owner.campaign.bytes());
    check_kind("audit_subjects.find_connections", SubjectKind::Connection,
               owner.connection.bytes());
    check_kind("audit_subjects.find_creatives", SubjectKind::Creative, owner.creative.bytes());
    check_kind("audit_subjects.find_credentials", SubjectKind::Credential,
               owner.credential.bytes());
    check_kind("audit_subjects.find_deliveries", SubjectKind::Delivery, owner.delivery.bytes());
    check_kind("audit_subjects.find_endpoints", SubjectKind::Endpoint, owner.endpoint.bytes());
    check_kind("audit_subjects.find_imports", SubjectKind::Import, owner.job.bytes());
    check_kind("audit_subjects.find_installations", SubjectKind::Installation,
               owner.installation.bytes());
    check_kind("audit_subjects.find_invitations", SubjectKind::Invitation,
               owner.invitation.bytes());
    check_kind("audit_subjects.find_members", SubjectKind::Member, owner.user.bytes());
    check_kind("audit_subjects.find_member_jobs", SubjectKind::MemberJob, owner.member_job.bytes());
    check_kind("audit_subjects.find_modules", SubjectKind::Module, owner.module.bytes());
    check_kind("audit_subjects.find_publishable_keys", SubjectKind::PublishableKey,
               owner.tracking_key.bytes());
    check_kind("audit_subjects.find_slots", SubjectKind::Slot, owner.slot.bytes());
}

BOOST_AUTO_TEST_SUITE_END()
