// The statements of the tenancy suite on modules, their versions and installations (see
// tenancy_test.cpp).
#include "db/two_tenants.hpp"
#include "store/modules/installations.hpp"
#include "store/modules/modules.hpp"
#include "store/outbox.hpp"

using namespace muster;
using test::kLater;
using test::kNow;
using test::OrgStore;
using test::TwoTenants;

BOOST_FIXTURE_TEST_SUITE(tenancy, TwoTenants)

BOOST_AUTO_TEST_CASE(modules) {
    rules::Module module;
    module.id = ModuleId::create();
    module.slug = "another";
    check({"modules.insert"}, [&](OrgStore& org) {
        (void)store::insert_module(org, module, {});
        return false;
    });
    client.execute(
        "INSERT INTO modules (organization_id, id, slug, name, vendor, kind, status, created_at, "
        "updated_at) VALUES (?, ?, 'second', '', '', 'proprietary', 'draft', 0, 0)",
        owner.id, module.id);
    check({"modules.count"}, [&](OrgStore& org) { return store::count_modules(org) == 2; });
    check({"modules.find"},
          [&](OrgStore& org) { return store::find_module(org, owner.module).has_value(); });
    check({"modules.lock"},
          [&](OrgStore& org) { return store::lock_module(org, owner.module).has_value(); });
    check({"modules.page"}, [&](OrgStore& org) {
        const auto page = store::page_modules(org, {}, 10);
        return page.size() != 1 || page.front().id == owner.module;
    });
    check({"modules.update"}, [&](OrgStore& org) {
        module.id = owner.module;
        module.updated_at = kLater;
        store::update_module(org, module);
        return false;
    });
}

BOOST_AUTO_TEST_CASE(module_versions) {
    rules::ModuleVersion version;
    version.id = VersionId::create();
    version.module_id = owner.module;
    version.version = "2";
    version.manifest.text = "{}";
    check({"module_versions.insert"}, [&](OrgStore& org) {
        (void)store::insert_version(org, version, {});
        return false;
    });
    check({"module_versions.count"},
          [&](OrgStore& org) { return store::count_versions(org, owner.module) > 0; });
    check({"module_versions.find"}, [&](OrgStore& org) {
        return store::find_version(org, owner.module, owner.version).has_value();
    });
    check({"module_versions.lock"}, [&](OrgStore& org) {
        return store::lock_version(org, owner.module, owner.version).has_value();
    });
    check({"module_versions.page"},
          [&](OrgStore& org) { return !store::page_versions(org, owner.module, {}, 10).empty(); });
    check({"module_versions.publish"}, [&](OrgStore& org) {
        store::publish_version(org, owner.version, kLater);
        return false;
    });
}

BOOST_AUTO_TEST_CASE(installations) {
    rules::Installation installation;
    installation.id = InstallationId::create();
    installation.module_id = owner.module;
    installation.version_id = owner.version;
    installation.status = rules::InstallationStatus::Disabled;
    installation.config.text = "{}";
    check({"installations.insert"}, [&](OrgStore& org) {
        (void)store::insert_installation(org, installation, "");
        return false;
    });
    check({"installations.find"}, [&](OrgStore& org) {
        return store::find_installation(org, owner.installation).has_value();
    });
    check({"installations.lock"}, [&](OrgStore& org) {
        return store::lock_installation(org, owner.installation).has_value();
    });
    check({"installations.page"}, [&](OrgStore& org) {
        const auto page = store::page_installations(org, {}, 10);
        return page.size() != 1 || page.front().id == owner.installation;
    });
    check({"installations.set_status"}, [&](OrgStore& org) {
        (void)store::set_installation_status(org, owner.installation,
                                             rules::InstallationStatus::Disabled, kLater);
        return false;
    });
}

BOOST_AUTO_TEST_CASE(configs_of_installations) {
    client.execute("UPDATE module_installations SET config_secrets = 'sealed' WHERE id = ?",
                   owner.installation);
    check({"installations.find_secrets"}, [&](OrgStore& org) {
        return !store::find_config_secrets(org, owner.installation).empty();
    });
    check({"installations.find_sealed"}, [&](OrgStore& org) {
        return store::find_sealed_installation(org, owner.installation).has_value();
    });
    check({"installations.set_config"}, [&](OrgStore& org) {
        rules::Installation changed;
        changed.id = owner.installation;
        changed.version_id = org.org() == owner.id ? owner.version : stranger.version;
        changed.config.text = "{}";
        changed.updated_at = kLater;
        store::set_installation_config(org, changed, "");
        return false;
    });
    check({"webhook_outbox.cancel_deliveries"}, [&](OrgStore& org) {
        store::cancel_deliveries(org, owner.installation, kNow, 10);
        return false;
    });
}

BOOST_AUTO_TEST_SUITE_END()
