// service/outbox.hpp: an event is in the outbox exactly if its change is committed, and only for
// its subscribers.
#include "service/outbox.hpp"
#include "rules/members/fields.hpp"

#include "base/json.hpp"
#include "db/fan_out.hpp"
#include "db/two_tenants.hpp"
#include "rules/event_types.hpp"
#include "service/members/change.hpp"
#include "service/members/create.hpp"
#include "service/privacy/erasure.hpp"

#include "print.hpp"

using namespace muster;
using test::TwoTenants;
namespace types = rules::event_type;

namespace {

struct Outbox : TwoTenants {
    Outbox() {
        client.run("DELETE FROM webhook_events");
        subscribe(
            "member.attached member.created member.locked member.removed member.unlocked "
            "member.updated");
    }

    // Sets the event types that the owner's endpoint subscribes to.
    void subscribe(std::string_view event_types) {
        client.execute(
            "UPDATE webhook_endpoints SET event_types = ?, indexed_at = NULL WHERE id = ?",
            event_types, owner.endpoint);
    }

    rules::Member create(const std::string& email, std::string first_name = "") {
        rules::MemberFields fields;
        fields.email = email;
        fields.first_name = std::move(first_name);
        return as(owner.id,
                  [&](service::OrgTransaction& transaction) {
                      return service::create_member(transaction, fields);
                  })
            .member;
    }

    // "type status" of every delivery to the owner's endpoint, in order.
    std::vector<std::string> deliveries() {
        test::fan_out(context);
        return client.column(
            "SELECT CONCAT(e.type, ' ', d.status) FROM webhook_deliveries d "
            "JOIN webhook_events e ON e.id = d.event_id WHERE d.endpoint_id = ? ORDER BY d.id",
            owner.endpoint);
    }
    Json::Value newest_body() {
        Json::Value body;
        BOOST_TEST_REQUIRE(parse_json(
            client.value("SELECT body FROM webhook_events ORDER BY id DESC LIMIT 1"), body));
        return body;
    }
    std::int64_t events() { return client.number("SELECT COUNT(*) FROM webhook_events"); }
};

using Types = std::vector<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(service_events, Outbox)

BOOST_AUTO_TEST_CASE(every_change_of_a_member_emits_one_event) {
    const UserId ann = create("ann@x.test").user_id;
    create("ann@x.test", "Ann");      // fills an empty field
    create("ann@x.test", "Ann");      // adds no value
    create("stranger@example.test");  // a member of another organization
    const auto in_unit = [&](const auto& work) { as(owner.id, work); };
    in_unit([&](service::OrgTransaction& transaction) {
        service::lock_member(transaction, ann, std::nullopt);
    });
    in_unit([&](service::OrgTransaction& transaction) {
        service::lock_member(transaction, ann, std::nullopt);
    });
    in_unit(
        [&](service::OrgTransaction& transaction) { service::unlock_member(transaction, ann); });
    in_unit(
        [&](service::OrgTransaction& transaction) { service::unlock_member(transaction, ann); });
    in_unit(
        [&](service::OrgTransaction& transaction) { service::remove_member(transaction, ann); });
    BOOST_TEST(deliveries() == Types({"member.created pending", "member.updated pending",
                                      "member.attached pending", "member.locked pending",
                                      "member.unlocked pending", "member.removed pending"}),
               boost::test_tools::per_element());
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_events WHERE user_id = ?", ann) == 5);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_events WHERE organization_id <> ?",
                             owner.id) == 0);
}

BOOST_AUTO_TEST_CASE(the_body_matches_the_reply_of_the_API) {
    const rules::Member ann = create("ann@x.test", "Ann");
    Json::Value body = newest_body();
    BOOST_TEST(body["type"].asString() == "member.created");
    BOOST_TEST(body["timestamp"].asString() == ann.created_at.text());
    BOOST_TEST(body["data"]["id"].asString() == ann.user_id.text());
    BOOST_TEST(body["data"]["first_name"].asString() == "Ann");
    BOOST_TEST(body["data"]["email"].asString() == "ann@x.test");
    as(owner.id, [&](service::OrgTransaction& transaction) {
        service::remove_member(transaction, ann.user_id);
    });
    body = newest_body();
    BOOST_TEST(body["data"].getMemberNames() ==
               Types({"external_id", "id", "member_id", "organization_id"}));
}

BOOST_AUTO_TEST_CASE(an_erasure_event_contains_only_ids) {
    const UserId ann = create("ann@x.test", "Ann").user_id;
    service::erase_person(context, "ann@x.test", {});
    BOOST_TEST(deliveries() ==
               Types({"member.removed pending"}));  // the erasure deleted the first one
    const Json::Value body = newest_body();
    BOOST_TEST(body["data"]["id"].asString() == ann.text());
    BOOST_TEST(body["data"]["external_id"].isNull());
    BOOST_TEST(client.column("SELECT COALESCE(user_id, '-') FROM webhook_events") == Types({"-"}));
    service::erase_person(context, "ann@x.test", {});
    BOOST_TEST(deliveries().size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_rolled_back_change_emits_no_event) {
    struct Undo {};
    const auto create_and_undo = [&] {
        as(owner.id, [&](service::OrgTransaction& transaction) {
            rules::MemberFields fields;
            fields.email = "ann@x.test";
            service::create_member(transaction, fields);
            throw Undo{};
        });
    };
    BOOST_CHECK_THROW(create_and_undo(), Undo);
    BOOST_TEST(events() == 0);
}

BOOST_AUTO_TEST_CASE(an_import_emits_no_events) {
    const std::string email = "ann@x.test";
    const service::MemberInput input{UserId::create(), MemberId::create(), email, {}, "{}"};
    database.transaction([&](db::Tx& tx) {
        service::create_or_attach(tx, owner.id, {&input, 1}, service::Expect::NewUsers, test::kNow);
    });
    BOOST_TEST(events() == 0);
}

BOOST_AUTO_TEST_CASE(only_subscribers_get_events_and_a_paused_endpoint_gets_them_later) {
    const auto emit_event = [&] {
        as(owner.id, [](service::OrgTransaction& transaction) {
            service::emit(transaction, {types::kMemberCreated, {}, [] { return "{}"; }});
        });
        return deliveries().size();
    };
    BOOST_TEST(emit_event() == 1U);
    const auto set = [&](const std::string& table, const std::string& status) {
        client.execute("UPDATE " + table + " SET status = ?", status);
    };
    set("webhook_endpoints", "paused");
    BOOST_TEST(emit_event() == 2U);
    set("webhook_endpoints", "disabled");
    BOOST_TEST(emit_event() == 2U);
    set("webhook_endpoints", "active");
    set("module_installations", "disabled");
    BOOST_TEST(emit_event() == 2U);
    set("module_installations", "error");
    BOOST_TEST(emit_event() == 3U);
    subscribe("member.createds a.member.created");
    BOOST_TEST(emit_event() == 3U);
    BOOST_TEST(events() == 3);  // an event without subscribers is not stored
}

BOOST_AUTO_TEST_CASE(the_data_of_an_event_without_subscribers_is_not_built) {
    bool is_made = false;
    as(owner.id, [&](service::OrgTransaction& transaction) {
        service::emit(transaction, {types::kEngagementRecorded, {}, [&] {
                                        is_made = true;
                                        return "{}";
                                    }});
    });
    BOOST_TEST(!is_made);
}

BOOST_AUTO_TEST_CASE(many_events_for_many_endpoints_are_written_and_delivered_in_chunks) {
    subscribe("engagement.recorded");
    client.execute(
        "INSERT INTO webhook_endpoints (organization_id, id, installation_id, url, event_types, "
        "status, secret, created_at, updated_at) "
        "SELECT organization_id, RANDOM_BYTES(16), installation_id, url, event_types, status, "
        "secret, 1, 1 FROM webhook_endpoints, (SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION "
        "SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7) AS seven WHERE id = ?",
        owner.endpoint);
    const std::vector<service::Event> all(
        100, service::Event{types::kEngagementRecorded, owner.user, [] { return "{}"; }});
    as(owner.id, [&](service::OrgTransaction& transaction) { service::emit(transaction, all); });
    BOOST_TEST(events() == 100);
    test::fan_out(context);
    BOOST_TEST(client.number("SELECT COUNT(DISTINCT endpoint_id, event_id) FROM "
                             "webhook_deliveries WHERE due_at IS NOT NULL") == 800);
}

BOOST_AUTO_TEST_CASE(a_test_event_goes_to_one_endpoint_with_any_subscription) {
    subscribe("a.b");
    as(owner.id, [&](service::OrgTransaction& transaction) {
        service::emit_to(transaction, owner.endpoint,
                         {types::kEndpointTest, {}, [] { return "{}"; }});
    });
    BOOST_TEST(deliveries() == Types({"webhook_endpoint.test pending"}));
}

BOOST_AUTO_TEST_SUITE_END()
