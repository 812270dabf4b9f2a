// service/audit.hpp: the names that a page of the audit log has for its records.
#include "db/two_tenants.hpp"
#include "rules/audit.hpp"
#include "service/audit.hpp"
#include "service/failure.hpp"

using namespace muster;
using test::kNow;
using test::TwoTenants;

namespace {

using Texts = std::vector<std::string>;

struct AuditNames : TwoTenants {
    AuditNames() { client.run("DELETE FROM audit_log"); }

    void note(const Tenant& tenant, std::string_view action, const std::string& subject) {
        database.transaction(
            [&](db::Tx& tx) { service::audit_operator(tx, tenant.id, action, subject, {}, kNow); });
    }
    std::vector<rules::AuditEntry> log(const Tenant& tenant) {
        return service::list_audit_log(context, tenant.id, {}, {}, 100).entries;
    }
    // The name of the record in the newest entry; "" without a name.
    std::string name_of(std::string_view action, const std::string& subject) {
        note(owner, action, subject);
        return log(owner).front().subject_name.value_or("");
    }
    Texts parents() { return log(owner).front().subject_parents; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(audit_names, AuditNames)

BOOST_AUTO_TEST_CASE(each_kind_of_record_has_its_name) {
    client.execute("UPDATE attributes SET label = 'Color' WHERE id = ?", owner.attribute);
    BOOST_TEST(name_of("api_key.rotated", owner.key.text()) == "key");
    BOOST_TEST(name_of("article.published", owner.article.text()) == "News");
    BOOST_TEST(name_of("attribute.changed", "color") == "Color");
    BOOST_TEST(name_of("ad_campaign.changed", owner.campaign.text()) == "Cup");
    BOOST_TEST(name_of("ad_slot.created", owner.slot.text()) == "Top");
    BOOST_TEST(name_of("connection.refreshed", owner.connection.text()) == "Chat");
    BOOST_TEST(name_of("import.committed", owner.job.text()) == "f.csv");
    BOOST_TEST(name_of("installation.enabled", owner.installation.text()) == "Shop");
    BOOST_TEST(name_of("member_job.created", owner.member_job.text()) == "lock");
    BOOST_TEST(name_of("module.published", owner.module.text()) == "Shop");
    BOOST_TEST(name_of("tracking_key.issued", owner.tracking_key.text()) == "Shop");
    BOOST_TEST(name_of("seat.role_changed", owner.admin.text()) == "owner@example.test");
    BOOST_TEST(name_of("sign_in.refused", owner.admin.text()) == "owner@example.test");
    BOOST_TEST(name_of("seat.invited", owner.invitation.text()) == "guest@example.test");
    BOOST_TEST(name_of("seat.invitation_resent", owner.invitation.text()) == "guest@example.test");
    BOOST_TEST(parents().empty());
}

BOOST_AUTO_TEST_CASE(a_member_has_its_name_or_else_its_address) {
    BOOST_TEST(name_of("user.updated", owner.user.text()) == "m@example.test");
    client.run("UPDATE members SET first_name = 'Ann', last_name = 'Berg'");
    BOOST_TEST(name_of("user.updated", owner.user.text()) == "Ann Berg");
    client.run("UPDATE members SET display_name = 'Annie'");
    BOOST_TEST(name_of("user.updated", owner.user.text()) == "Annie");
}

BOOST_AUTO_TEST_CASE(a_record_of_another_record_names_its_parents) {
    BOOST_TEST(name_of("webhook_endpoint.changed", owner.endpoint.text()) ==
               "https://example.test/");
    BOOST_TEST(parents() == Texts{owner.installation.text()});
    BOOST_TEST(name_of("webhook_delivery.redelivered", owner.delivery.text()) == "member.created");
    BOOST_TEST(parents() == (Texts{owner.installation.text(), owner.endpoint.text()}));
    BOOST_TEST(name_of("module_credential.issued", owner.credential.text()) == "n");
    BOOST_TEST(parents() == Texts{owner.installation.text()});
    BOOST_TEST(name_of("ad_creative.changed", owner.creative.text()) == "728x90");
    BOOST_TEST(parents() == Texts{owner.campaign.text()});
}

BOOST_AUTO_TEST_CASE(a_name_has_at_most_255_characters) {
    client.execute("UPDATE webhook_endpoints SET url = ?",
                   "https://" + std::string(2000, 'a') + ".test/");
    BOOST_TEST(name_of("webhook_endpoint.tested", owner.endpoint.text()) ==
               "https://" + std::string(247, 'a'));
    client.run(
        "UPDATE members SET display_name = NULL, first_name = REPEAT('x', 255), last_name = 'y'");
    BOOST_TEST(name_of("user.updated", owner.user.text()) == std::string(255, 'x'));
}

BOOST_AUTO_TEST_CASE(a_record_that_does_not_exist_has_no_name) {
    BOOST_TEST(name_of("api_key.issued", ApiKeyId::create().text()) == "");
    BOOST_TEST(name_of("api_key.issued", "not an id") == "");
    BOOST_TEST(name_of("attribute.changed", "missing") == "");
    BOOST_TEST(name_of("secrets.rotated", "") == "");
    BOOST_TEST(name_of("organization.renamed", owner.id.text()) == "");
    client.run("UPDATE webhook_endpoints SET removed_at = 1");
    client.run("UPDATE connections SET removed_at = 1");
    BOOST_TEST(name_of("webhook_endpoint.deleted", owner.endpoint.text()) == "");
    BOOST_TEST(name_of("webhook_delivery.redelivered", owner.delivery.text()) == "");
    BOOST_TEST(name_of("connection.removed", owner.connection.text()) == "");
    BOOST_TEST(parents().empty());
}

BOOST_AUTO_TEST_CASE(ids_of_another_organization_have_no_names) {
    note(stranger, "api_key.issued", owner.key.text());
    note(stranger, "user.updated", owner.user.text());
    note(stranger, "seat.added", owner.admin.text());
    note(stranger, "webhook_delivery.redelivered", owner.delivery.text());
    const auto entries = log(stranger);
    BOOST_TEST_REQUIRE(entries.size() == 4);
    for (const auto& entry : entries) {
        BOOST_TEST(!entry.subject_name.has_value(), entry.action);
        BOOST_TEST(entry.subject_parents.empty());
    }
}

BOOST_AUTO_TEST_CASE(a_page_runs_one_statement_for_each_kind) {
    for (int i = 0; i < 3; ++i) {
        note(owner, "api_key.issued", owner.key.text());
        note(owner, "api_key.rotated", ApiKeyId::create().text());
        note(owner, "user.updated", owner.user.text());
    }
    const auto statements = [&] {
        service::reset_database_cost();
        (void)log(owner);
        return service::database_cost().statements;
    };
    BOOST_TEST(statements() == 3);  // the page, keys and members
    client.run("DELETE FROM audit_log");
    note(owner, "session.opened", "");
    BOOST_TEST(statements() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
