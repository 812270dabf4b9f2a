// service/modules/credentials.hpp: shown once, stored as a digest and a sealed secret, and valid
// until the credential or its installation ends.
#include "service/modules/credentials.hpp"

#include "base/crypto.hpp"
#include "db/lookups.hpp"
#include "db/modules.hpp"
#include "rules/seal_names.hpp"
#include "service/callers.hpp"
#include "service/operations/key_rotation.hpp"

#include <future>

using namespace muster;
using service::IssuedModuleCredential;
using test::code_of;
using test::kDay;
using test::kHour;

namespace {

struct ModuleCredentials : test::ModuleFixture {
    IssuedModuleCredential issue(std::optional<Timestamp> expires_at = {}) {
        return issue(installation, expires_at);
    }
    IssuedModuleCredential issue(InstallationId of, std::optional<Timestamp> expires_at = {}) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::issue_module_credential(transaction, context.keys, of,
                                                    {"name", expires_at});
        });
    }
    void revoke(CredentialId id) {
        as_admin([&](service::OrgTransaction& transaction) {
            service::revoke_module_credential(transaction, installation, id);
            return true;
        });
    }
    std::optional<service::Caller> identify(const IssuedModuleCredential& issued) {
        return test::find_caller(context, issued.credential.reveal());
    }
    void disable() {
        as_admin([&](service::OrgTransaction& transaction) {
            return service::disable_installation(transaction, installation);
        });
    }
    std::vector<rules::ModuleCredential> list() {
        return service::list_module_credentials(context, acme, installation, {}, 100);
    }
    std::string last_used() { return client.value("SELECT last_used_at FROM module_credentials"); }

    InstallationId installation = install(published("shop").id).id;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(module_credentials, ModuleCredentials)

BOOST_AUTO_TEST_CASE(a_credential_identifies_its_installation) {
    const auto issued = issue();
    const std::string& text = issued.credential.reveal();
    BOOST_TEST(text.starts_with("mk_live_"));
    BOOST_TEST(issued.record.last_four == text.substr(text.size() - 4));
    BOOST_TEST(client.value("SELECT secret_hash FROM module_credentials") == sha256(text));
    const auto caller = identify(issued);
    BOOST_TEST_REQUIRE(caller.has_value());
    BOOST_TEST(caller->actor.organization == acme);
    BOOST_TEST(!caller->actor.admin.has_value());
    BOOST_TEST(!caller->session.has_value());
    BOOST_TEST(caller->rate_subject == std::string(issued.record.id.bytes()));
    BOOST_TEST_REQUIRE(caller->module.has_value());
    BOOST_TEST(caller->module->installation == installation);
    BOOST_TEST(caller->module->credential == issued.record.id);
    const auto opened = context.keys.open(caller->module->sealed_signing_secret,
                                          rules::credential_seal_name(issued.record.id));
    BOOST_TEST_REQUIRE(opened.has_value());
    BOOST_TEST(opened->reveal() == issued.signing_secret.reveal());
    BOOST_TEST(issued.signing_secret.reveal().starts_with("mks_"));
}

BOOST_AUTO_TEST_CASE(an_expired_or_revoked_credential_is_rejected_without_recording_a_use) {
    const auto issued = issue(Timestamp::now() + kHour);
    client.run("UPDATE module_credentials SET expires_at = 1");
    BOOST_TEST(!identify(issued).has_value());
    client.run("UPDATE module_credentials SET expires_at = NULL");
    disable();
    BOOST_TEST(!identify(issued).has_value());
    client.run("UPDATE module_installations SET status = 'enabled'");
    revoke(issued.record.id);
    BOOST_TEST(!identify(issued).has_value());
    BOOST_TEST(last_used() == "NULL");
    client.run("UPDATE module_credentials SET revoked_at = NULL");
    // An installation in status `error`, whose webhooks were disabled, still accepts credentials.
    client.run("UPDATE module_installations SET status = 'error'");
    BOOST_TEST(identify(issued).has_value());
    BOOST_TEST(!test::find_caller(context, create_credential("mk_live_").reveal()).has_value());
}

BOOST_AUTO_TEST_CASE(the_last_use_is_written_at_most_once_a_minute) {
    const auto issued = issue();
    BOOST_TEST(last_used() == "NULL");
    for (const auto& [ago, is_written] : {std::pair(61'000, true), std::pair(50'000, false)}) {
        client.execute("UPDATE module_credentials SET last_used_at = ?",
                       Timestamp::now() - Milliseconds(ago));
        const auto before = last_used();
        (void)identify(issued);
        BOOST_TEST((last_used() != before) == is_written);
    }
}

BOOST_AUTO_TEST_CASE(only_an_enabled_installation_gets_credentials_up_to_fifty) {
    const OrgId other = organization("Other");
    const auto foreign = [&] {
        as(other, [&](service::OrgTransaction& transaction) {
            return service::issue_module_credential(transaction, context.keys, installation,
                                                    {"n", {}});
        });
    };
    BOOST_TEST(code_of(foreign) == ErrorCode::NotFound);
    BOOST_TEST(code_of([&] { issue(InstallationId::create()); }) == ErrorCode::NotFound);
    BOOST_TEST(code_of([&] { issue(Timestamp::now()); }) == ErrorCode::ValidationError);
    const auto first = issue();
    for (int i = 1; i < 50; ++i) issue();
    BOOST_TEST(code_of([&] { issue(); }) == ErrorCode::InvalidState);
    revoke(first.record.id);
    issue();
    disable();
    BOOST_TEST(code_of([&] { issue(); }) == ErrorCode::InvalidState);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM module_credentials") == 51);
}

BOOST_AUTO_TEST_CASE(two_parallel_requests_for_the_last_credential_issue_one) {
    for (int i = 0; i < 49; ++i) issue();
    const auto issue_at = [&](test::DatabaseContext& worker,
                              const std::function<void()>& before_the_end) {
        worker.as(acme, [&](service::OrgTransaction& transaction) {
            (void)service::issue_module_credential(transaction, context.keys, installation,
                                                   {"n", {}});
            before_the_end();
        });
    };
    std::future<std::optional<ErrorCode>> second;
    issue_at(*this, [&] {
        second = std::async(std::launch::async, [&] {
            test::DatabaseContext worker;
            return code_of([&] { issue_at(worker, [] {}); });
        });
        BOOST_TEST(test::until([&] { return client.has_lock_wait(); }));
    });
    BOOST_TEST(second.get() == ErrorCode::InvalidState);
}

BOOST_AUTO_TEST_CASE(revoked_credentials_are_listed_for_thirty_days) {
    const auto dead = issue();
    const auto alive = issue();
    revoke(dead.record.id);
    const auto when = client.value("SELECT MAX(revoked_at) FROM module_credentials");
    revoke(dead.record.id);  // unchanged
    BOOST_TEST(client.value("SELECT MAX(revoked_at) FROM module_credentials") == when);
    BOOST_TEST(list().size() == 2U);
    client.execute("UPDATE module_credentials SET revoked_at = ? WHERE id = ?",
                   Timestamp::now() - 30 * kDay - Milliseconds(1), dead.record.id);
    BOOST_TEST_REQUIRE(list().size() == 1U);
    BOOST_TEST(list().front().id == alive.record.id);
    BOOST_TEST(code_of([&] { revoke(CredentialId::create()); }) == ErrorCode::NotFound);
    BOOST_TEST(actions(acme).front() == "module_credential.revoked");
}

BOOST_AUTO_TEST_CASE(a_signing_secret_is_re_encrypted_when_the_key_is_rotated) {
    const auto issued = issue();
    issue();
    const Secret next(std::string(32, 'n'));
    service::Context rotating{database, test::settings(),
                              KeyRing(next, test::settings().security.key)};
    for (const std::int64_t expected : {2, 0}) {
        const auto counts = service::rotate_secrets(rotating);
        const auto found = std::find_if(counts.begin(), counts.end(), [](const auto& count) {
            return count.what == "module credentials";
        });
        BOOST_TEST_REQUIRE((found != counts.end()));
        BOOST_TEST(found->resealed == expected);
        BOOST_TEST(found->current == 2 - expected);
    }
    const auto opened = KeyRing(next).open(identify(issued)->module->sealed_signing_secret,
                                           rules::credential_seal_name(issued.record.id));
    BOOST_TEST_REQUIRE(opened.has_value());
    BOOST_TEST(opened->reveal() == issued.signing_secret.reveal());
}

BOOST_AUTO_TEST_SUITE_END()
