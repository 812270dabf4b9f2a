// service/connections/authorization.hpp: who may begin an authorization, and who may complete it.
// The end-to-end tests cover the provider's side.
#include "service/connections/authorization.hpp"

#include "base/crypto.hpp"
#include "base/sealing.hpp"
#include "db/connecting.hpp"
#include "rules/connections/connection.hpp"
#include "rules/seal_names.hpp"

#include "print.hpp"

#include <atomic>
#include <future>
#include <set>

using namespace muster;
using service::CallbackRequest;
using service::CallbackResult;
using test::code_of;
using test::ConnectingFixture;
using test::kHour;
using test::kMinute;
using Reason = CallbackResult::Reason;

namespace {

struct Connecting : ConnectingFixture {
    // The faults of these settings: "path code" for each.
    static std::set<std::string> faults_in(service::ConnectRequest request) {
        Faults faults;
        service::validate_settings(request, faults);
        std::set<std::string> found;
        for (const Fault& fault : faults.list()) {
            found.insert(fault.path + " " + std::string(field_code_text(fault.code)));
        }
        return found;
    }

    // Completes an authorization that is rejected for that reason: the state is used up, and the
    // connection shows the error.
    void refused(const CallbackRequest& request, Reason reason) {
        const auto result = complete(request);
        BOOST_TEST(result.outcome == CallbackResult::Outcome::Failed);
        BOOST_TEST(text_of(result.reason) == text_of(reason));
        BOOST_TEST(result.connection.has_value() == (reason != Reason::Browser));
        BOOST_TEST(pending_authorizations() == 0);
        BOOST_TEST(status_of(made.id).starts_with("error: "));
        BOOST_TEST(status_of(made.id).find("GitLab") != std::string::npos);
    }

    service::ConnectLink made = begin();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(connecting, Connecting)

// ---------------------------------------------------------------------------- settings

BOOST_AUTO_TEST_CASE(settings_match_the_provider) {
    auto shop = request("shopify");
    BOOST_TEST(faults_in(shop) == std::set<std::string>{"settings.shop required"});
    shop.settings = {{"shop", "evil.example"}, {"host", "x"}};
    BOOST_TEST(faults_in(shop) == (std::set<std::string>{"settings.shop invalid_value",
                                                         "settings.host unknown_field"}));
    shop.settings = {{"shop", "acme"}};
    BOOST_TEST(faults_in(shop).empty());
    auto gitlab = request();
    gitlab.settings = {{"shop", "acme"}};
    BOOST_TEST(faults_in(gitlab) == std::set<std::string>{"settings.shop unknown_field"});
}

BOOST_AUTO_TEST_CASE(settings_may_be_omitted_for_a_connection_that_has_them) {
    auto shop = request("shopify");
    shop.connection = made.id;
    BOOST_TEST(faults_in(shop).empty());
    shop.settings = {{"shop", "acme"}};
    Faults faults;
    service::validate_settings(shop, faults);
    BOOST_TEST(shop.host.value() == "acme.myshopify.com");
}

// ---------------------------------------------------------------------------- beginning

BOOST_AUTO_TEST_CASE(neither_state_nor_verifier_is_stored_in_clear_text) {
    const auto arrived = callback(made);
    BOOST_TEST(arrived.state.size() == 43U);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM connection_authorizations WHERE state_hash = ?",
                             sha256(arrived.state)) == 1);
    const auto sealed = client.value("SELECT verifier FROM connection_authorizations");
    const auto verifier =
        console.keys.open(sealed, rules::authorization_seal_name(acme, made.id)).value();
    BOOST_TEST(verifier.reveal().size() == 43U);
    BOOST_TEST(made.redirect_url.find(verifier.reveal()) == std::string::npos);
    BOOST_TEST(actions(acme).at(0) == "connection.requested");
}

BOOST_AUTO_TEST_CASE(a_connection_has_one_pending_authorization_at_a_time) {
    auto again = request();
    again.connection = made.id;
    const auto second = begin(again);
    BOOST_TEST(second.id == made.id);
    BOOST_TEST(pending_authorizations() == 1);
    BOOST_TEST(complete(callback(made)).reason == Reason::State);
    BOOST_TEST(complete(callback(second)).reason == Reason::Unavailable);
}

BOOST_AUTO_TEST_CASE(a_connection_of_another_provider_or_organization_is_rejected) {
    auto slack = request("slack");
    slack.connection = made.id;
    BOOST_TEST(code_of([&] { begin(slack); }) == ErrorCode::ValidationError);
    slack.connection = ConnectionId::create();
    BOOST_TEST(code_of([&] { begin(slack); }) == ErrorCode::NotFound);
    const ConnectionId theirs = ConnectionId::create();
    client.execute(
        "INSERT INTO connections SELECT ?, ?, provider, name, host, status, error, tokens, "
        "token_generation, details, access_expires_at, refresh_due_at, refresh_attempts, "
        "refreshed_at, lease_owner, lease_until, removed_at, created_by, created_at, updated_at "
        "FROM connections",
        organization("Globex"), theirs);
    auto foreign = request();
    foreign.connection = theirs;
    BOOST_TEST(code_of([&] { begin(foreign); }) == ErrorCode::NotFound);
}

BOOST_AUTO_TEST_CASE(an_error_without_tokens_becomes_pending_again) {
    client.run("UPDATE connections SET status = 'error', error = 'late'");
    auto again = request();
    again.connection = made.id;
    begin(again);
    BOOST_TEST(status_of(made.id) == "pending: ");
}

BOOST_AUTO_TEST_CASE(a_proof_depends_on_the_session_and_the_key) {
    const auto proof = service::connect_proof(console.keys, session());
    BOOST_TEST(proof.size() == 64U);
    BOOST_TEST(proof != service::connect_proof(console.keys, SessionId::create()));
    BOOST_TEST(proof != service::connect_proof(KeyRing(Secret(std::string(32, 'n'))), session()));
}

// ---------------------------------------------------------------------------- completing

BOOST_AUTO_TEST_CASE(a_callback_with_its_own_session_reaches_the_provider) {
    const auto result = complete(callback(made));
    BOOST_TEST(text_of(result.reason) == "unavailable");  // the provider does not respond
    BOOST_TEST(result.connection == made.id);
    BOOST_TEST(pending_authorizations() == 0);
    BOOST_TEST(complete(callback(made)).reason == Reason::State);
}

BOOST_AUTO_TEST_CASE(an_authorization_expires_after_ten_minutes) {
    client.execute("UPDATE connection_authorizations SET expires_at = ?", Timestamp::now());
    refused(callback(made), Reason::Expired);
}

BOOST_AUTO_TEST_CASE(another_browser_is_rejected) {
    CallbackRequest other = callback(made);
    other.proof = service::connect_proof(console.keys, SessionId::create());
    refused(other, Reason::Browser);
}

BOOST_AUTO_TEST_CASE(a_proof_from_before_a_key_rotation_is_accepted) {
    service::Context rotated{database, own,
                             KeyRing(Secret(std::string(32, 'n')), own.security.key)};
    const auto result =
        service::complete_authorization(rotated, callback(made), [](const auto&) { return true; });
    BOOST_TEST(text_of(result.reason) == "unavailable");
}

BOOST_AUTO_TEST_CASE(a_session_that_ended_is_rejected) {
    service::close_session(console, opened.session);
    refused(callback(made), Reason::Session);
}

BOOST_AUTO_TEST_CASE(an_expired_session_is_rejected) {
    advance_time(12 * kHour);
    refused(callback(made), Reason::Session);
}

BOOST_AUTO_TEST_CASE(an_unverified_session_is_rejected) {
    client.run("UPDATE sessions SET verified_at = NULL");
    refused(callback(made), Reason::Session);
}

BOOST_AUTO_TEST_CASE(a_viewer_or_an_admin_without_a_seat_is_rejected) {
    client.run("UPDATE seats SET role = 'viewer'");
    refused(callback(made), Reason::Role);
    client.run("UPDATE seats SET role = 'admin'");
    auto again = request();
    again.connection = made.id;
    const auto second = begin(again);
    client.run("DELETE FROM seats");
    refused(callback(second), Reason::Role);
}

BOOST_AUTO_TEST_CASE(a_session_that_switched_organizations_can_complete_the_authorization) {
    const OrgId other = organization("Globex");
    service::add_admin(context, other, kAnn, "viewer");
    BOOST_TEST(service::set_active_organization(context, opened.session, other, ""));
    BOOST_TEST(complete(callback(made)).reason == Reason::Unavailable);
}

BOOST_AUTO_TEST_CASE(another_issuer_is_rejected_and_the_right_one_is_accepted) {
    CallbackRequest evil = callback(made);
    evil.issuer = "https://evil.example";
    refused(evil, Reason::Issuer);
    CallbackRequest right = callback(begin());
    right.issuer = "https://gitlab.com";
    BOOST_TEST(complete(right).reason == Reason::Unavailable);
}

BOOST_AUTO_TEST_CASE(a_provider_without_a_configuration_is_not_called) {
    own.providers.erase("gitlab");
    bool was_asked = false;
    const auto result = service::complete_authorization(
        console, callback(made), [&](const rules::Provider&) { return was_asked = true; });
    BOOST_TEST(result.reason == Reason::Configuration);
    BOOST_TEST(!was_asked);
    BOOST_TEST(pending_authorizations() == 0);
    BOOST_TEST(status_of(made.id).starts_with("error: "));
}

BOOST_AUTO_TEST_CASE(a_malformed_callback_is_rejected) {
    CallbackRequest without = callback(made);
    without.code.reset();
    refused(without, Reason::Request);
    made = begin();
    CallbackRequest broken = callback(made);
    broken.is_readable = false;
    refused(broken, Reason::Request);
}

BOOST_AUTO_TEST_CASE(a_denial_and_an_error_are_distinguished) {
    CallbackRequest denied = callback(made);
    denied.error = "access_denied";
    const auto result = complete(denied);
    BOOST_TEST(result.outcome == CallbackResult::Outcome::Denied);
    BOOST_TEST(text_of(result.reason) == "");
    BOOST_TEST(status_of(made.id) == "error: Access was denied at GitLab.");
    made = begin();
    CallbackRequest error = callback(made);
    error.error = "<b>";
    refused(error, Reason::Provider);
    BOOST_TEST(status_of(made.id).find('<') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(without_a_free_worker_the_state_remains_valid) {
    const auto none = [](const rules::Provider&) { return false; };
    BOOST_TEST(code_of([&] { service::complete_authorization(console, callback(made), none); }) ==
               ErrorCode::ServiceUnavailable);
    BOOST_TEST(pending_authorizations() == 1);
    BOOST_TEST(status_of(made.id) == "pending: ");
    BOOST_TEST(complete(callback(made)).reason == Reason::Unavailable);
}

BOOST_AUTO_TEST_CASE(a_denied_callback_requires_no_free_worker) {
    CallbackRequest denied = callback(made);
    denied.error = "access_denied";
    bool was_asked = false;
    service::complete_authorization(console, denied,
                                    [&](const rules::Provider&) { return was_asked = true; });
    BOOST_TEST(!was_asked);
}

BOOST_AUTO_TEST_CASE(a_connection_with_tokens_keeps_its_status_after_a_denial) {
    client.run(
        "UPDATE connections SET status = 'connected', tokens = 'sealed', token_generation = 1");
    CallbackRequest denied = callback(made);
    denied.error = "access_denied";
    BOOST_TEST(complete(denied).outcome == CallbackResult::Outcome::Denied);
    BOOST_TEST(status_of(made.id) == "connected: ");
}

BOOST_AUTO_TEST_CASE(beginning_and_completing_in_parallel_do_not_deadlock) {
    service::ConnectRequest again = request();
    again.connection = made.id;
    const auto deadlocks = [&] {
        return client.number(
            "SELECT count FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'");
    };
    const auto before = deadlocks();
    std::atomic<int> denied = 0;
    const auto go_and_come_back = [&] {
        test::DatabaseContext tab;
        service::Context tabs_own{tab.database, own, console.keys};
        for (int i = 0; i < 50; ++i) {
            const auto way = tab.database.transaction([&](db::Tx& tx) {
                service::OrgTransaction transaction{tx, {acme, ann}, Timestamp::now()};
                return service::begin_authorization(transaction, tabs_own, again, session());
            });
            CallbackRequest back = callback(way);
            back.error = "access_denied";
            const auto result =
                service::complete_authorization(tabs_own, back, [](const auto&) { return true; });
            if (result.outcome == CallbackResult::Outcome::Denied) ++denied;
        }
    };
    std::vector<std::future<void>> tabs;
    for (int i = 0; i < 4; ++i) tabs.push_back(std::async(std::launch::async, go_and_come_back));
    for (auto& tab : tabs) tab.get();
    BOOST_TEST(denied > 0);
    BOOST_TEST(deadlocks() == before);
}

BOOST_AUTO_TEST_CASE(the_authorization_of_a_removed_connection_cannot_be_completed) {
    client.run("UPDATE connections SET removed_at = 1");
    const auto result = complete(callback(made));
    BOOST_TEST(result.reason == Reason::Removed);
    BOOST_TEST(!result.connection.has_value());
}

BOOST_AUTO_TEST_CASE(deleting_a_connection_deletes_its_authorization) {
    client.run("DELETE FROM connections");
    bool was_asked = false;
    const auto result = service::complete_authorization(
        console, callback(made), [&](const rules::Provider&) { return was_asked = true; });
    BOOST_TEST(result.reason == Reason::State);
    BOOST_TEST(!result.connection.has_value());
    BOOST_TEST(!was_asked);
}

BOOST_AUTO_TEST_SUITE_END()
