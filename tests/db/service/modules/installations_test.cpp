// service/modules/installations.hpp: one active installation per module, its config split into
// shown and sealed values, and its webhooks when it is disabled.
#include "service/modules/installations.hpp"
#include "rules/audit.hpp"

#include "db/fan_out.hpp"
#include "db/modules.hpp"
#include "rules/seal_names.hpp"
#include "service/operations/key_rotation.hpp"

#include "print.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <vector>

using namespace muster;
using rules::Installation;
using rules::InstallationStatus;
using test::code_of;
using test::error_of;

namespace {

constexpr const char* kWithSecret = R"({"name":"N","config_schema":{
    "key":{"type":"string","secret":true,"required":true},"rate":{"type":"number"}}})";

struct Installations : test::ModuleFixture {
    Installation change(InstallationId id, service::InstallationChange what) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::change_installation(context, transaction, id, what);
        });
    }
    Installation enable(InstallationId id) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::enable_installation(transaction, id);
        });
    }
    Installation disable(InstallationId id) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::disable_installation(transaction, id);
        });
    }

    // The stored secret values, opened; "" if there are none.
    std::string secrets_of(InstallationId id, const KeyRing& keys) {
        const auto sealed = client.value(
            "SELECT COALESCE(config_secrets, '') FROM module_installations WHERE id = ?", id);
        if (sealed.empty()) return "";
        return keys.open(sealed, rules::config_seal_name(id)).value().reveal();
    }
    std::string secrets_of(InstallationId id) { return secrets_of(id, context.keys); }

    // An endpoint of the installation that subscribes to installation events.
    EndpointId endpoint(InstallationId installation) {
        const auto id = EndpointId::create();
        client.execute(
            "INSERT INTO webhook_endpoints (organization_id, id, installation_id, url, "
            "event_types, status, secret, created_at, updated_at) VALUES (?, ?, ?, "
            "'https://example.test/', 'installation.changed installation.disabled "
            "installation.enabled', 'active', "
            "'s', 0, 0)",
            acme, id, installation);
        return id;
    }
    // Queues deliveries of one event.
    void pending(EndpointId to, int count) {
        const auto event = WebhookEventId::create();
        client.execute(
            "INSERT INTO webhook_events (organization_id, id, type, body, created_at) "
            "VALUES (?, ?, 'a.b', '{}', 1)",
            acme, event);
        client.execute(
            "INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, event_id, status, "
            "due_at, created_at, updated_at) SELECT ?, UNHEX(LEFT(SHA2(CONCAT(?, seq), 256), 32)), "
            "?, ?, 'pending', 1, 1, 1 FROM " +
                test::sequence(count),
            acme, to, to, event);
    }
    // "type status" of the deliveries of an endpoint, in order.
    std::vector<std::string> event_deliveries(EndpointId id) {
        test::fan_out(context);
        return client.column(
            "SELECT CONCAT(e.type, ' ', d.status) FROM webhook_deliveries d "
            "JOIN webhook_events e ON e.id = d.event_id WHERE d.endpoint_id = ? ORDER BY d.id",
            id);
    }
    std::string faults_of(const std::function<void()>& call) {
        const auto error = error_of(call);
        if (!error) return "";
        BOOST_TEST(error->code() == ErrorCode::ValidationError);
        std::string text;
        for (const auto& fault : error->details()["fields"]) {
            text += fault["path"].asString() + " " + fault["code"].asString() + ";";
        }
        return text;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(installations, Installations)

BOOST_AUTO_TEST_CASE(a_published_module_is_installed_in_its_current_version) {
    const auto module = published("shop");
    const auto installed = install(module.id);
    BOOST_TEST(installed.status == InstallationStatus::Enabled);
    BOOST_TEST(installed.version_id == module.current_version_id);
    BOOST_TEST(installed.installed_by == ann);
    BOOST_TEST(installed.config.text == "{}");
    const auto found = service::find_installation(context, acme, installed.id);
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST(found->module_id == module.id);
    BOOST_TEST(found->organization_id == acme);
    BOOST_TEST(found->installed_at == installed.installed_at);
    BOOST_TEST(secrets_of(installed.id).empty());
    BOOST_TEST(
        !service::find_installation(context, organization("Other"), installed.id).has_value());
}

BOOST_AUTO_TEST_CASE(a_backend_reads_the_whole_config_and_hears_of_its_changes) {
    const auto module = published("shop", R"({"name":"N","config_schema":{
        "key":{"type":"string","secret":true},"mode":{"type":"string"}}})");
    const auto installed = install(module.id, R"({"key":"s3cret","mode":"live"})");
    const auto hook = endpoint(installed.id);
    const auto config = [&] {
        return service::reveal_installation(context, acme, installed.id).config.reveal();
    };
    BOOST_TEST(config() == R"({"key":"s3cret","mode":"live"})");
    BOOST_TEST(change(installed.id, {{}, RawJson{R"({"key":"***","mode":"test"})"}}).config.text ==
               R"({"key":"***","mode":"test"})");
    BOOST_TEST(config() == R"({"key":"s3cret","mode":"test"})");
    BOOST_TEST(event_deliveries(hook) == std::vector<std::string>{"installation.changed pending"});
    BOOST_TEST(
        client.value("SELECT body FROM webhook_events ORDER BY id DESC LIMIT 1").find("s3cret") ==
        std::string::npos);
    BOOST_TEST(code_of([&] {
                   service::reveal_installation(context, organization("Other"), installed.id);
               }) == ErrorCode::NotFound);
}

BOOST_AUTO_TEST_CASE(another_published_version_can_be_requested) {
    const auto module = published("shop");
    const auto second = draft(module.id, "2");
    BOOST_TEST(code_of([&] { install(module.id, "{}", second.id); }) == ErrorCode::InvalidState);
    publish(module.id, second.id);
    const auto installed = install(module.id, "{}", module.current_version_id);
    BOOST_TEST(installed.version_id == module.current_version_id);
}

BOOST_AUTO_TEST_CASE(drafts_and_deprecated_modules_are_not_installed) {
    const auto unpublished = create("draft");
    const auto version = draft(unpublished.id, "1");
    BOOST_TEST(code_of([&] { install(unpublished.id); }) == ErrorCode::InvalidState);
    BOOST_TEST(
        (code_of([&] { install(unpublished.id, "{}", version.id); }) == ErrorCode::InvalidState));
    const auto old = published("old");
    const auto running = install(old.id);
    as_admin([&](service::OrgTransaction& transaction) {
        return service::deprecate_module(transaction, old.id);
    });
    disable(running.id);
    BOOST_TEST(code_of([&] { install(old.id); }) == ErrorCode::InvalidState);
    BOOST_TEST(enable(running.id).status == InstallationStatus::Enabled);  // not a new installation
}

BOOST_AUTO_TEST_CASE(a_version_of_another_module_or_organization_is_not_found) {
    const auto module = published("shop");
    const auto other_module = published("other");
    const auto installed = install(module.id);
    BOOST_TEST(code_of([&] { install(other_module.id, "{}", module.current_version_id); }) ==
               ErrorCode::NotFound);
    BOOST_TEST(code_of([&] { install(ModuleId::create()); }) == ErrorCode::NotFound);
    BOOST_TEST(code_of([&] {
                   change(installed.id, {other_module.current_version_id, {}});
               }) == ErrorCode::NotFound);
    const OrgId other = organization("Other");
    const auto is_hidden = [&](const auto& work) {
        return code_of([&] { as(other, work); }) == ErrorCode::NotFound;
    };
    BOOST_TEST(is_hidden([&](service::OrgTransaction& transaction) {
        service::install_module(context, transaction, {other_module.id, {}, {}});
    }));
    BOOST_TEST(is_hidden([&](service::OrgTransaction& transaction) {
        service::change_installation(context, transaction, installed.id, {});
    }));
    BOOST_TEST(is_hidden([&](service::OrgTransaction& transaction) {
        service::enable_installation(transaction, installed.id);
    }));
    BOOST_TEST(is_hidden([&](service::OrgTransaction& transaction) {
        service::disable_installation(transaction, installed.id);
    }));
    BOOST_TEST(is_hidden([&](service::OrgTransaction& transaction) {
        service::lock_installation(transaction, installed.id);
    }));
}

BOOST_AUTO_TEST_CASE(eight_parallel_installations_create_one) {
    const auto module = published("shop");
    std::atomic<int> made = 0;
    std::atomic<int> refused = 0;
    test::in_parallel(8, [&](int) {
        test::DatabaseContext worker;
        const auto code = code_of([&] {
            worker.as(acme, [&](service::OrgTransaction& transaction) {
                return service::install_module(worker.context, transaction, {module.id, {}, {}});
            });
        });
        made += code ? 0 : 1;
        refused += code == ErrorCode::Conflict ? 1 : 0;
    });
    BOOST_TEST(made == 1);
    BOOST_TEST(refused == 7);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM module_installations") == 1);
}

BOOST_AUTO_TEST_CASE(
    disabling_an_installation_frees_the_module_and_enabling_requires_it_to_be_free) {
    const auto module = published("shop");
    const auto first = install(module.id);
    const auto error = error_of([&] { install(module.id); });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::Conflict);
    BOOST_TEST(error->details()["field"].asString() == "module_id");
    disable(first.id);
    const auto second = install(module.id);
    BOOST_TEST(code_of([&] { enable(first.id); }) == ErrorCode::Conflict);
    client.execute("UPDATE module_installations SET status = 'error' WHERE id = ?", second.id);
    BOOST_TEST(code_of([&] { enable(first.id); }) ==
               ErrorCode::Conflict);  // status `error` is also active
    disable(second.id);
    BOOST_TEST(enable(first.id).status == InstallationStatus::Enabled);
}

BOOST_AUTO_TEST_CASE(two_parallel_enablings_enable_one) {
    const auto module = published("shop");
    std::vector<InstallationId> ids;
    for (int i = 0; i < 4; ++i) {
        ids.push_back(install(module.id).id);
        disable(ids.back());
    }
    std::atomic<int> enabled = 0;
    test::in_parallel(4, [&](int i) {
        test::DatabaseContext worker;
        const auto code = code_of([&] {
            worker.as(acme, [&](service::OrgTransaction& transaction) {
                return service::enable_installation(transaction, ids.at(i));
            });
        });
        enabled += code ? 0 : 1;
    });
    BOOST_TEST(enabled == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM module_installations "
                             "WHERE status = 'enabled'") == 1);
}

BOOST_AUTO_TEST_CASE(enabling_and_disabling_twice_has_no_further_effect) {
    const auto installed = install(published("shop").id);
    BOOST_TEST(enable(installed.id).updated_at == installed.updated_at);
    const auto disabled = disable(installed.id);
    BOOST_TEST(disabled.status == InstallationStatus::Disabled);
    BOOST_TEST(disable(installed.id).updated_at == disabled.updated_at);
    const auto enabled = enable(installed.id);
    BOOST_TEST(enabled.installed_at == installed.installed_at);
    client.run("UPDATE module_installations SET status = 'error'");
    BOOST_TEST(enable(installed.id).status == InstallationStatus::Enabled);
    std::vector<std::string> found;
    for (const auto& entry : log(acme)) {
        if (entry.subject_id == installed.id.text()) found.push_back(entry.action);
    }
    BOOST_TEST(
        (found == std::vector<std::string>{"installation.enabled", "installation.enabled",
                                           "installation.disabled", "installation.created"}));
}

// ---------------------------------------------------------------------------- config

BOOST_AUTO_TEST_CASE(secret_values_are_stored_sealed_and_never_shown) {
    const auto module = published("shop", kWithSecret);
    const auto installed = install(module.id, R"({"key":"s3cret","rate":1.50})");
    BOOST_TEST(installed.config.text == R"({"key":"***","rate":1.5})");
    BOOST_TEST(service::find_installation(context, acme, installed.id)->config.text ==
               installed.config.text);
    BOOST_TEST(secrets_of(installed.id) == R"({"key":"s3cret"})");
    BOOST_TEST(client.number("SELECT COUNT(*) FROM module_installations "
                             "WHERE CONCAT(config, config_secrets) LIKE '%s3cret%'") == 0);
    for (const auto& entry : log(acme)) {
        BOOST_TEST(entry.details.find("s3cret") == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(an_invalid_config_installs_nothing) {
    const auto module = published("shop", kWithSecret);
    BOOST_TEST(faults_of([&] { install(module.id, R"({"rate":"1","more":1})"); }) ==
               "config.rate wrong_type;config.more unknown_field;config.key required;");
    BOOST_TEST(faults_of([&] { install(module.id, R"({"key":"***"})"); }) ==
               "config.key invalid_value;");
    BOOST_TEST(client.number("SELECT COUNT(*) FROM module_installations") == 0);
}

BOOST_AUTO_TEST_CASE(a_new_config_replaces_the_old_one_except_for_kept_secrets) {
    const auto module = published("shop", kWithSecret);
    const auto id = install(module.id, R"({"key":"old","rate":1})").id;
    BOOST_TEST(change(id, {{}, RawJson{R"({"key":"***"})"}}).config.text == R"({"key":"***"})");
    BOOST_TEST(secrets_of(id) == R"({"key":"old"})");
    change(id, {{}, RawJson{R"({"key":"new","rate":2})"}});
    BOOST_TEST(secrets_of(id) == R"({"key":"new"})");
    BOOST_TEST(faults_of([&] { change(id, {{}, RawJson{"{}"}}); }) == "config.key required;");
    BOOST_TEST(secrets_of(id) == R"({"key":"new"})");
    const auto before = service::find_installation(context, acme, id)->updated_at;
    BOOST_TEST(change(id, {}).updated_at == before);
}

BOOST_AUTO_TEST_CASE(a_change_without_an_effect_is_not_recorded) {
    const auto module = published("shop", kWithSecret);
    const auto installed = install(module.id, R"({"key":"old","rate":1.50})");
    const auto hook = endpoint(installed.id);
    const RawJson hidden{R"({"key":"***","rate":1.5})"};
    const RawJson plain{R"({"key":"old","rate":1.50})"};
    for (const service::InstallationChange& what :
         std::vector<service::InstallationChange>{{{}, hidden},
                                                  {{}, plain},
                                                  {installed.version_id, {}},
                                                  {installed.version_id, plain}}) {
        const auto found = change(installed.id, what);
        BOOST_TEST(found.updated_at == installed.updated_at);
        BOOST_TEST(found.config.text == hidden.text);
    }
    BOOST_TEST(event_deliveries(hook).empty());
    BOOST_TEST(actions(acme).front() == "installation.created");
    const auto changed = change(installed.id, {{}, RawJson{R"({"key":"new","rate":1.5})"}});
    BOOST_TEST(changed.updated_at > installed.updated_at);
    BOOST_TEST(event_deliveries(hook) == std::vector<std::string>{"installation.changed pending"});
    BOOST_TEST(actions(acme).front() == "installation.changed");
    BOOST_TEST(secrets_of(installed.id) == R"({"key":"new"})");
}

BOOST_AUTO_TEST_CASE(the_old_config_must_match_the_new_version) {
    const auto module = published("shop", kWithSecret);
    const auto id = install(module.id, R"({"key":"old","rate":1})").id;
    const auto version = [&](const std::string& name, const std::string& schema) {
        const auto made =
            draft(module.id, name, R"({"name":"N","config_schema":)" + schema + "}").id;
        return publish(module.id, made).id;
    };
    const auto open = version("open", R"({"key":{"type":"string"},"rate":{"type":"number"}})");
    const auto bare = version("bare", "{}");
    const auto more =
        version("more", R"({"key":{"type":"string","secret":true},"rate":{"type":"number"},
                    "also":{"type":"boolean","required":true}})");
    BOOST_TEST(faults_of([&] { change(id, {open, {}}); }) == "config.key invalid_value;");
    BOOST_TEST(faults_of([&] {
                   change(id, {bare, {}});
               }) == "config.key unknown_field;config.rate unknown_field;");
    BOOST_TEST(faults_of([&] { change(id, {more, {}}); }) == "config.also required;");
    BOOST_TEST(
        (service::find_installation(context, acme, id)->version_id == module.current_version_id));
    const auto moved = change(id, {more, RawJson{R"({"key":"***","also":true})"}});
    BOOST_TEST(moved.version_id == more);
    BOOST_TEST(secrets_of(id) == R"({"key":"old"})");
    const auto emptied = change(id, {bare, RawJson{"{}"}});
    BOOST_TEST(emptied.config.text == "{}");
    BOOST_TEST(secrets_of(id).empty());
    const auto next = draft(module.id, "draft").id;
    BOOST_TEST(code_of([&] { change(id, {next, {}}); }) == ErrorCode::InvalidState);
}

BOOST_AUTO_TEST_CASE(a_config_is_re_encrypted_with_the_other_secrets) {
    const auto id = install(published("shop", kWithSecret).id, R"({"key":"old"})").id;
    const Secret next(std::string(32, 'n'));
    service::Context rotating{database, test::settings(),
                              KeyRing(next, test::settings().security.key)};
    const auto counts = service::rotate_secrets(rotating);
    const auto found = std::find_if(counts.begin(), counts.end(), [](const auto& count) {
        return count.what == "module configs";
    });
    BOOST_TEST_REQUIRE((found != counts.end()));
    BOOST_TEST(found->resealed == 1);
    BOOST_TEST(found->unreadable == 0);
    BOOST_TEST(secrets_of(id, KeyRing(next)) == R"({"key":"old"})");
}

BOOST_AUTO_TEST_CASE(an_unreadable_config_is_fixed_by_a_complete_one) {
    const auto module = published("shop", kWithSecret);
    const auto id = install(module.id, R"({"key":"old"})").id;
    client.execute("UPDATE module_installations SET config_secrets = 'rotten' WHERE id = ?", id);
    BOOST_TEST(faults_of([&] {
                   change(id, {{}, RawJson{R"({"key":"***"})"}});
               }) == "config.key invalid_value;");
    change(id, {{}, RawJson{R"({"key":"new"})"}});
    BOOST_TEST(secrets_of(id) == R"({"key":"new"})");
}

// ---------------------------------------------------------------------------- webhooks

BOOST_AUTO_TEST_CASE(
    other_modules_get_the_events_and_endpoints_of_a_disabled_installation_get_none) {
    const auto listener = install(published("listener").id);
    const auto ears = endpoint(listener.id);
    const auto id = install(published("shop").id).id;
    BOOST_TEST(event_deliveries(ears).size() == 1U);
    const auto own = endpoint(id);
    BOOST_TEST(client.value("SELECT body FROM webhook_events").find(id.text()) !=
               std::string::npos);
    disable(listener.id);  // `own` gets a pending delivery
    BOOST_TEST(event_deliveries(own) == std::vector<std::string>{"installation.disabled pending"});
    enable(listener.id);
    // An event of the millisecond in which its endpoint is disabled gets no delivery.
    client.execute("UPDATE webhook_outbox SET created_at = created_at - 1");
    disable(id);
    BOOST_TEST(event_deliveries(own) ==
               (std::vector<std::string>{"installation.disabled canceled",
                                         "installation.enabled canceled"}));
    // Deliveries that waited for the listener while it was disabled are canceled too.
    BOOST_TEST(
        event_deliveries(ears) ==
        (std::vector<std::string>{"installation.enabled canceled", "installation.enabled pending",
                                  "installation.disabled pending"}));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_deliveries WHERE status = 'canceled' "
                             "AND due_at IS NULL AND lease_owner IS NULL") == 3);
    enable(id);
    BOOST_TEST(event_deliveries(own).back() == "installation.enabled pending");
}

BOOST_AUTO_TEST_CASE(disabling_an_installation_cancels_a_bounded_number_of_deliveries) {
    constexpr int kEach = 800;
    constexpr int kCanceledAtOnce = 1'000;
    const auto id = install(published("shop").id).id;
    const auto other = install(published("news").id).id;
    for (const auto& of : {id, id, other}) pending(endpoint(of), kEach);
    disable(id);
    // The runner cancels the others (tests/db/service/webhooks/dispatch_test.cpp).
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_deliveries WHERE status = 'canceled'") ==
               kCanceledAtOnce);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_deliveries d "
                             "JOIN webhook_endpoints e ON e.id = d.endpoint_id "
                             "WHERE d.status = 'pending' AND e.installation_id = ?",
                             other) == kEach);
}

BOOST_AUTO_TEST_SUITE_END()
