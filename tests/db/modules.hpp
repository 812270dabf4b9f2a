// Modules for the database tests: an organization, its owner, and the steps to an installation.
#pragma once

#include "db/admins.hpp"
#include "rules/webhook_wire.hpp"
#include "service/modules/installations.hpp"
#include "service/modules/modules.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::test {

// The fixture: everything belongs to acme, and ann is the acting admin.
struct ModuleFixture : AdminFixture {
    template <class Work>
    auto as_admin(const Work& work) {
        return database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{
                tx, {acme, ann, std::nullopt, "req-1"}, Timestamp::now()};
            return work(transaction);
        });
    }

    rules::Module create(const std::string& slug) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::create_module(transaction, {slug, "Name", "Vendor"});
        });
    }
    rules::ModuleVersion draft(ModuleId module, const std::string& version,
                               const std::string& manifest = R"({"name":"N"})") {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::create_version(transaction, module, {version, {manifest}});
        });
    }
    rules::ModuleVersion publish(ModuleId module, VersionId version) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::publish_version(transaction, module, version);
        });
    }
    // A module with one published version of that manifest.
    rules::Module published(const std::string& slug,
                            const std::string& manifest = R"({"name":"N"})") {
        const auto module = create(slug);
        publish(module.id, draft(module.id, "1", manifest).id);
        return service::find_module(context, acme, module.id).value();
    }

    rules::Installation install(ModuleId module, const std::string& config = "{}",
                                std::optional<VersionId> version = {}) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::install_module(context, transaction,
                                           {module, version, RawJson{config}});
        });
    }
    // An endpoint that subscribes to these types.
    void subscribe(InstallationId installation, const std::vector<std::string>& types) {
        client.execute(
            "INSERT INTO webhook_endpoints (organization_id, id, installation_id, url, "
            "event_types, status, secret, created_at, updated_at) "
            "VALUES (?, ?, ?, 'https://example.test/', ?, 'active', 's', 1, 1)",
            acme, EndpointId::create(), installation, rules::joined_types(types));
    }
};

}  // namespace muster::test
