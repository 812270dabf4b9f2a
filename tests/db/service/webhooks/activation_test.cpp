// service/webhooks/endpoints.hpp: an endpoint that is set active ends the error of its
// installation.
#include "db/webhooks.hpp"
#include "rules/audit.hpp"
#include "service/audit.hpp"

#include "print.hpp"

using namespace muster;
using rules::EndpointStatus;

namespace {

struct Activation : test::EndpointFixture {
    std::vector<std::string> actions() {
        std::vector<std::string> found;
        for (const auto& entry : service::newest_audit_entries(context, acme, std::nullopt, 100)) {
            found.push_back(entry.action);
        }
        return found;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(webhook_activation, Activation)

BOOST_AUTO_TEST_CASE(an_activation_that_ends_the_installations_error_is_logged_and_reported) {
    const auto id = create({"installation.enabled"}).endpoint.id;
    for (const char* status : {"active", "disabled"}) {
        client.execute("UPDATE webhook_endpoints SET status = ?", status);
        client.run("DELETE FROM webhook_outbox");
        set_installation("error");
        set_status(id, EndpointStatus::Active);
        BOOST_TEST(installation_status() == "enabled");
        BOOST_TEST(client.value("SELECT event_type FROM webhook_outbox") == "installation.enabled");
        const auto all = actions();
        BOOST_TEST(all.at(0) == "webhook_endpoint.changed");
        BOOST_TEST(all.at(1) == "installation.enabled");
        set_status(id, EndpointStatus::Active);
        BOOST_TEST(actions().size() == all.size());
    }
}

BOOST_AUTO_TEST_CASE(a_new_endpoint_ends_the_installations_error) {
    set_installation("error");
    create({"installation.enabled"});
    BOOST_TEST(installation_status() == "enabled");
    BOOST_TEST(client.value("SELECT event_type FROM webhook_outbox") == "installation.enabled");
    const auto all = actions();
    BOOST_TEST(all.at(0) == "installation.enabled");
    BOOST_TEST(all.at(1) == "webhook_endpoint.created");
}

BOOST_AUTO_TEST_SUITE_END()
