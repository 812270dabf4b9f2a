// service/webhooks/endpoints.hpp: endpoints are created under an installation, changed, paused,
// disabled, rotated and deleted; their secrets are stored sealed.
#include "service/webhooks/endpoints.hpp"
#include "rules/audit.hpp"
#include "service/operations/purge.hpp"

#include "db/webhooks.hpp"
#include "rules/seal_names.hpp"
#include "rules/webhook_wire.hpp"
#include "service/audit.hpp"
#include "service/operations/key_rotation.hpp"
#include "service/outbox.hpp"

#include <json/value.h>

#include "print.hpp"

#include <future>

using namespace muster;
using rules::EndpointStatus;
using service::IssuedEndpoint;
using test::code_of;

namespace {

struct Endpoints : test::EndpointFixture {
    // A sealed column of the endpoint's row, opened; "NULL" if it is not set.
    std::string opened(const char* column, EndpointId id, const KeyRing& keys) {
        const std::string sealed = client.value(
            std::string("SELECT ") + column + " FROM webhook_endpoints WHERE id = ?", id);
        if (sealed == "NULL") return sealed;
        const auto secret = keys.open(sealed, rules::endpoint_seal_name(id));
        return secret ? secret->reveal() : "(sealed)";
    }
    std::string opened(const char* column, EndpointId id) {
        return opened(column, id, context.keys);
    }
    IssuedEndpoint rotate(EndpointId id) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::rotate_endpoint_secret(transaction, context.keys, {shop, id});
        });
    }
    void remove(EndpointId id) {
        as_admin([&](service::OrgTransaction& transaction) {
            service::delete_webhook_endpoint(transaction, {shop, id});
        });
    }
    std::int64_t count(const std::string& table) {
        return client.number("SELECT COUNT(*) FROM " + table);
    }
    // {path: code} of the faults of these fields.
    std::map<std::string, std::string> faults(const std::optional<std::string>& url,
                                              const std::vector<std::string>& types) {
        const auto error =
            test::error_of([&] { service::check_endpoint_fields(context, url, types, true); });
        std::map<std::string, std::string> found;
        if (!error) return found;
        for (const auto& field : error->details()["fields"]) {
            found[field["path"].asString()] = field["code"].asString();
        }
        return found;
    }
    std::vector<std::string> actions() {
        std::vector<std::string> found;
        for (const auto& entry : service::newest_audit_entries(context, acme, std::nullopt, 100)) {
            if (entry.action.starts_with("webhook_")) found.push_back(entry.action);
        }
        return found;
    }
};

using Texts = std::map<std::string, std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(webhook_endpoints, Endpoints)

BOOST_AUTO_TEST_CASE(an_organization_has_a_limit_over_all_its_installations) {
    const auto first = create();
    const auto copies = static_cast<int>(service::kMostEndpointsInAll) - 1;
    client.execute(
        "INSERT INTO webhook_endpoints (organization_id, id, installation_id, url, event_types, "
        "status, secret, created_at, updated_at) SELECT organization_id, UNHEX(LEFT(SHA2(seq, 256), 32)), ?, url, "
        "event_types, status, secret, 1, 1 FROM webhook_endpoints, " +
            test::sequence(copies),
        install(acme, "other"));
    BOOST_TEST(code_of([&] { create(); }) == ErrorCode::InvalidState);
    remove(first.endpoint.id);
    create();
}

BOOST_AUTO_TEST_CASE(an_endpoint_starts_active_and_its_secret_is_stored_sealed) {
    const auto issued = create({"member.updated", "member.created"});
    const auto& endpoint = issued.endpoint;
    BOOST_TEST(issued.secret.reveal().starts_with("whsec_"));
    BOOST_TEST(endpoint.status == EndpointStatus::Active);
    BOOST_TEST(endpoint.organization_id == acme);
    BOOST_TEST(endpoint.module_installation_id == shop);
    BOOST_TEST(endpoint.subscribed_event_types ==
               (std::vector<std::string>{"member.created", "member.updated"}));
    BOOST_TEST(!endpoint.disabled_reason.has_value());
    BOOST_TEST(!endpoint.failing_since.has_value());
    const auto found = read(endpoint.id);
    BOOST_TEST(found.subscribed_event_types == endpoint.subscribed_event_types);
    BOOST_TEST(found.url == "https://example.org/hook");
    BOOST_TEST(found.created_at == endpoint.created_at);
    BOOST_TEST(opened("secret", endpoint.id) == issued.secret.reveal());
    BOOST_TEST(opened("previous_secret", endpoint.id) == "NULL");
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_endpoints WHERE created_by = ? AND "
                             "INSTR(secret, 'whsec_') = 0",
                             admin) == 1);
}

BOOST_AUTO_TEST_CASE(a_secret_opens_only_in_its_own_row) {
    const auto one = create();
    const auto two = create();
    client.execute(
        "UPDATE webhook_endpoints SET secret = ? WHERE id = ?",
        client.value("SELECT secret FROM webhook_endpoints WHERE id = ?", one.endpoint.id),
        two.endpoint.id);
    BOOST_TEST(opened("secret", two.endpoint.id) == "(sealed)");
}

BOOST_AUTO_TEST_CASE(event_types_must_be_known_and_distinct) {
    BOOST_TEST(faults({}, {"member.created", "shop.order_paid", "webhook_endpoint.disabled"}) ==
               Texts{});
    BOOST_TEST(faults({}, {"member.created", "member.udpated", "nonsense", "member.created",
                           "webhook_endpoint.test"}) ==
               (Texts{{"subscribed_event_types[1]", "invalid_choice"},
                      {"subscribed_event_types[2]", "invalid_choice"},
                      {"subscribed_event_types[3]", "duplicate"},
                      {"subscribed_event_types[4]", "invalid_choice"}}));
}

BOOST_AUTO_TEST_CASE(urls_and_event_types_are_validated_together) {
    BOOST_TEST(faults("http://192.0.2.1/hook", {"nonsense"}) ==
               (Texts{{"subscribed_event_types[0]", "invalid_choice"}, {"url", "invalid_url"}}));
    BOOST_TEST(
        (faults("https://10.0.0.1/hook", {"member.created"}) == Texts{{"url", "invalid_url"}}));
}

BOOST_AUTO_TEST_CASE(an_installation_accepts_endpoints_unless_it_is_disabled_or_full) {
    set_installation("disabled");
    BOOST_TEST(code_of([&] { create(); }) == ErrorCode::InvalidState);
    set_installation("error");
    for (int i = 0; i < 200; ++i) create();
    BOOST_TEST(code_of([&] { create(); }) == ErrorCode::InvalidState);
    BOOST_TEST(count("webhook_endpoints") == 200);
    shop = install(acme, "second");  // each installation has its own 200
    create();
}

BOOST_AUTO_TEST_CASE(two_parallel_requests_for_the_last_place_create_one) {
    for (int i = 0; i < 199; ++i) create();
    const auto take = [&](test::DatabaseContext& worker,
                          const std::function<void()>& before_the_end) {
        worker.as(acme, [&](service::OrgTransaction& transaction) {
            (void)service::create_webhook_endpoint(transaction, worker.context.keys, shop,
                                                   {"https://example.org/", {"member.created"}});
            before_the_end();
        });
    };
    std::future<std::optional<ErrorCode>> second;
    take(*this, [&] {
        second = std::async(std::launch::async, [&] {
            test::DatabaseContext worker;
            return code_of([&] { take(worker, [] {}); });
        });
        BOOST_TEST(test::until([&] { return client.has_lock_wait(); }));
    });
    BOOST_TEST(second.get() == ErrorCode::InvalidState);
    BOOST_TEST(count("webhook_endpoints") == 200);
}

BOOST_AUTO_TEST_CASE(endpoints_are_listed_page_by_page_under_their_own_installation) {
    std::vector<EndpointId> made;
    for (int i = 0; i < 5; ++i) made.push_back(create().endpoint.id);
    const InstallationId first = shop;
    shop = install(acme, "second");
    create();
    std::vector<EndpointId> found;
    for (std::optional<EndpointId> after;; after = found.back()) {
        const auto page = service::list_webhook_endpoints(context, acme, first, after, 2);
        for (const auto& endpoint : page) found.push_back(endpoint.id);
        if (page.size() < 2) break;
    }
    BOOST_TEST(found == made);
    for (const auto& [organization_id, installation] :
         {std::pair(acme, InstallationId::create()), std::pair(organization("Other"), first)}) {
        BOOST_TEST(code_of([&, o = organization_id, i = installation] {
                       (void)service::list_webhook_endpoints(context, o, i, {}, 10);
                   }) == ErrorCode::NotFound);
    }
}

// ---------------------------------------------------------------------------- changes

BOOST_AUTO_TEST_CASE(a_change_affects_only_its_fields) {
    const auto made = create().endpoint;
    const auto moved = change(made.id, {"https://example.org/new", {}, {}});
    BOOST_TEST(moved.url == "https://example.org/new");
    BOOST_TEST(moved.subscribed_event_types == made.subscribed_event_types);
    const auto other = change(made.id, {{}, {{"shop.sold", "member.locked"}}, {}});
    BOOST_TEST(
        (other.subscribed_event_types == std::vector<std::string>{"member.locked", "shop.sold"}));
    const auto found = read(made.id);
    BOOST_TEST(found.url == "https://example.org/new");
    BOOST_TEST(found.subscribed_event_types == other.subscribed_event_types);
    BOOST_TEST(found.status == EndpointStatus::Active);
}

BOOST_AUTO_TEST_CASE(a_new_url_is_checked_and_logged_in_255_characters) {
    const auto id = create().endpoint.id;
    const std::string longest = "https://example.org/" + std::string(300, 'x') + "?key=7";
    change(id, {longest, {}, {}});
    BOOST_TEST(client.column("SELECT details FROM audit_log ORDER BY id DESC LIMIT 1").at(0) ==
               R"({"previous_url":"https://example.org/hook","status":"active","url":")" +
                   longest.substr(0, 255) + R"(..."})");
    const auto reject = [] { throw Error(ErrorCode::TwoFactorTooOld); };
    const auto change_to = [&](const char* url) {
        as_admin([&](service::OrgTransaction& transaction) {
            (void)service::change_webhook_endpoint(transaction, context.keys, {shop, id},
                                                   {url, {}, {}}, {}, reject);
        });
    };
    BOOST_CHECK_THROW(change_to("https://example.org/other"), Error);
    BOOST_TEST(read(id).url == longest);
    change_to(longest.c_str());
}

BOOST_AUTO_TEST_CASE(a_change_to_the_current_values_has_no_effect) {
    const auto made = create().endpoint;
    client.run("UPDATE webhook_endpoints SET updated_at = 1000");
    change(made.id, {});
    change(made.id, {made.url, made.subscribed_event_types, EndpointStatus::Active});
    BOOST_TEST(client.number("SELECT updated_at FROM webhook_endpoints") == 1000);
    BOOST_TEST(actions() == std::vector<std::string>{"webhook_endpoint.created"});
}

BOOST_AUTO_TEST_CASE(activation_clears_the_failures_of_the_endpoint_and_its_installation) {
    const auto id = create().endpoint.id;
    const auto fail = [&](const char* status) {
        client.execute(
            "UPDATE webhook_endpoints SET status = ?, disabled_reason = 'failing', "
            "failing_since = 1000",
            status);
        set_installation("error");
    };
    for (const char* status : {"disabled", "active"}) {
        fail(status);
        const auto started = set_status(id, EndpointStatus::Active);
        BOOST_TEST(started.status == EndpointStatus::Active);
        BOOST_TEST(!started.disabled_reason.has_value());
        BOOST_TEST(!started.failing_since.has_value());
        BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_endpoints WHERE status = 'active' "
                                 "AND disabled_reason IS NULL AND failing_since IS NULL") == 1);
        BOOST_TEST(installation_status() == "enabled");
    }
    fail("disabled");
    change(id, {"https://example.org/new", {}, {}});
    BOOST_TEST(installation_status() == "error");
    BOOST_TEST(read(id).disabled_reason.value_or("") == "failing");
    const auto paused = set_status(id, EndpointStatus::Paused);
    BOOST_TEST(!paused.disabled_reason.has_value());
    BOOST_TEST(paused.failing_since.has_value());
    BOOST_TEST(installation_status() == "error");
    set_installation("disabled");
    set_status(id, EndpointStatus::Active);
    BOOST_TEST(installation_status() == "disabled");
}

BOOST_AUTO_TEST_CASE(disabling_cancels_waiting_deliveries_and_pausing_keeps_them) {
    const auto id = create().endpoint.id;
    const auto other = create().endpoint.id;
    const auto waiting = deliver(id, "pending");
    const auto under_way = deliver(id, "pending", "member.created", Timestamp::now(), Uuid::v7());
    const auto failed = deliver(id, "failed");
    const auto succeeded = deliver(id, "succeeded");
    const auto elsewhere = deliver(other, "pending");
    set_status(id, EndpointStatus::Paused);
    BOOST_TEST(state(waiting) == "pending 3 later");
    BOOST_TEST(state(under_way) == "pending 3 later leased");
    set_status(id, EndpointStatus::Disabled);
    BOOST_TEST(state(waiting) == "canceled 3");
    BOOST_TEST(state(under_way) == "canceled 3");
    BOOST_TEST(state(failed) == "failed 3");
    BOOST_TEST(state(succeeded) == "succeeded 3");
    BOOST_TEST(state(elsewhere) == "pending 3 later");
    BOOST_TEST(!read(id).disabled_reason.has_value());
}

BOOST_AUTO_TEST_CASE(disabling_cancels_a_bounded_number_of_deliveries) {
    constexpr int kMany = 1'500;
    constexpr int kCanceledAtOnce = 1'000;
    const auto id = create().endpoint.id;
    for (int i = 0; i < kMany; ++i) deliver(id, "pending");
    set_status(id, EndpointStatus::Disabled);
    // The runner cancels the others (dispatch_test.cpp).
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_deliveries WHERE status = 'canceled'") ==
               kCanceledAtOnce);
}

// ---------------------------------------------------------------------------- rotation

BOOST_AUTO_TEST_CASE(a_rotation_keeps_the_old_secret_valid_for_a_day) {
    const auto first = create();
    const EndpointId id = first.endpoint.id;
    const Timestamp before = Timestamp::now();
    const auto second = rotate(id);
    BOOST_TEST(second.secret.reveal() != first.secret.reveal());
    BOOST_TEST(second.endpoint.id == id);
    BOOST_TEST(opened("secret", id) == second.secret.reveal());
    BOOST_TEST(opened("previous_secret", id) == first.secret.reveal());
    const auto until = client.number("SELECT previous_secret_until FROM webhook_endpoints") -
                       rules::kSecretOverlap.count();
    BOOST_TEST(until >= before.milliseconds());
    BOOST_TEST(until <= Timestamp::now().milliseconds());
}

BOOST_AUTO_TEST_CASE(a_second_rotation_within_a_day_leaves_the_oldest_secret_its_own_end) {
    const auto first = create();
    const EndpointId id = first.endpoint.id;
    const auto second = rotate(id);
    const auto end = client.value("SELECT previous_secret_until FROM webhook_endpoints");
    const auto third = rotate(id);
    BOOST_TEST(opened("secret", id) == third.secret.reveal());
    BOOST_TEST(opened("previous_secret", id) == second.secret.reveal());
    BOOST_TEST(opened("older_secret", id) == first.secret.reveal());
    BOOST_TEST(client.value("SELECT older_secret_until FROM webhook_endpoints") == end);
}

BOOST_AUTO_TEST_CASE(a_third_rotation_within_a_day_is_rejected_and_changes_no_secret) {
    const auto first = create();
    const EndpointId id = first.endpoint.id;
    const auto second = rotate(id);
    const auto third = rotate(id);
    BOOST_TEST(code_of([&] { rotate(id); }) == ErrorCode::InvalidState);
    BOOST_TEST(opened("secret", id) == third.secret.reveal());
    BOOST_TEST(opened("older_secret", id) == first.secret.reveal());
    client.execute("UPDATE webhook_endpoints SET older_secret_until = ?", Timestamp::now());
    const auto fourth = rotate(id);
    BOOST_TEST(opened("secret", id) == fourth.secret.reveal());
    BOOST_TEST(opened("previous_secret", id) == third.secret.reveal());
    BOOST_TEST(opened("older_secret", id) == second.secret.reveal());
}

BOOST_AUTO_TEST_CASE(a_rotation_after_the_overlap_drops_the_expired_secrets) {
    const auto first = create();
    const EndpointId id = first.endpoint.id;
    const auto second = rotate(id);
    client.execute("UPDATE webhook_endpoints SET previous_secret_until = ?", Timestamp::now());
    rotate(id);
    BOOST_TEST(opened("previous_secret", id) == second.secret.reveal());
    BOOST_TEST(opened("older_secret", id) == "NULL");
}

BOOST_AUTO_TEST_CASE(all_secrets_are_re_encrypted_when_the_key_of_the_installation_is_rotated) {
    const OrgId other = organization("Other");
    const auto first = create();
    const auto second = rotate(first.endpoint.id);
    const auto third = rotate(first.endpoint.id);
    std::vector<IssuedEndpoint> many;  // more than a page, in two organizations
    for (int i = 0; i < 110; ++i) many.push_back(create());
    const auto foreign_shop = install(other);
    const auto foreign = as(other, [&](service::OrgTransaction& transaction) {
        return service::create_webhook_endpoint(transaction, context.keys, foreign_shop,
                                                {"https://example.org/", {"member.created"}});
    });
    const Secret next("another key of at least 32 bytes, for these tests");
    service::Context rotating{database, test::settings(),
                              KeyRing(next, test::settings().security.key)};
    const KeyRing after(next);
    const auto counts = service::rotate_secrets(rotating);
    const auto resealed = [&](std::string_view what) {
        for (const auto& count : counts) {
            if (count.what == what && count.unreadable == 0) return count.resealed;
        }
        return std::int64_t{-1};
    };
    BOOST_TEST(resealed("webhook secrets") == 112);
    BOOST_TEST(resealed("previous webhook secrets") == 1);
    BOOST_TEST(resealed("older webhook secrets") == 1);
    BOOST_TEST(opened("secret", first.endpoint.id, after) == third.secret.reveal());
    BOOST_TEST(opened("previous_secret", first.endpoint.id, after) == second.secret.reveal());
    BOOST_TEST(opened("older_secret", first.endpoint.id, after) == first.secret.reveal());
    BOOST_TEST(opened("secret", foreign.endpoint.id, after) == foreign.secret.reveal());
    for (const auto& issued : many) {
        BOOST_TEST(opened("secret", issued.endpoint.id, after) == issued.secret.reveal());
    }
}

// ---------------------------------------------------------------------------- deletion, audit log

BOOST_AUTO_TEST_CASE(deleting_an_endpoint_deletes_only_its_own_deliveries) {
    const auto id = create().endpoint.id;
    const auto other = create().endpoint.id;
    attempt(deliver(id, "pending"), "timeout", {});
    const auto kept = deliver(other, "pending");
    remove(id);
    BOOST_TEST(count("webhook_endpoints") == 1);
    BOOST_TEST(count("webhook_attempts") == 0);
    BOOST_TEST(count("webhook_deliveries") == 1);
    BOOST_TEST(state(kept) == "pending 3 later");
    BOOST_TEST(code_of([&] { remove(id); }) == ErrorCode::NotFound);
}

BOOST_AUTO_TEST_CASE(an_endpoint_with_many_deliveries_is_invisible_at_once_and_deleted_in_pieces) {
    const auto id = create().endpoint.id;
    const auto other = create().endpoint.id;
    const auto first = deliver(id, "pending");
    const auto kept = deliver(other, "pending");
    client.execute(
        "INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, event_id, status, "
        "created_at, updated_at) SELECT d.organization_id, "
        "UNHEX(CONCAT(SUBSTR(HEX(d.id), 1, 22), LPAD(HEX(seq), 10, '0'))), d.endpoint_id, "
        "d.event_id, 'failed', d.created_at, d.updated_at "
        "FROM webhook_deliveries d JOIN " +
            test::sequence(999) + " WHERE d.id = ?",
        first);
    remove(id);
    BOOST_TEST(count("webhook_deliveries") == 801);
    BOOST_TEST(!service::find_webhook_endpoint(context, acme, {shop, id}).has_value());
    std::vector<std::int64_t> left;
    while (service::purge_step(context)["removed_endpoints"] > 0) {
        left.push_back(count("webhook_deliveries"));
    }
    BOOST_TEST(left == (std::vector<std::int64_t>{601, 401, 201, 1, 1}));
    BOOST_TEST(count("webhook_endpoints") == 1);
    BOOST_TEST(state(kept) == "pending 3 later");
}

BOOST_AUTO_TEST_CASE(an_endpoint_is_not_found_under_another_installation_or_organization) {
    const auto id = create().endpoint.id;
    const InstallationId first = shop;
    const auto before = client.snapshot(acme);
    const OrgId other = organization("Other");
    const auto second = install(acme, "second");
    const auto foreign = install(other);
    const std::vector<std::pair<OrgId, service::EndpointRef>> places = {
        {acme, {second, id}},
        {acme, {first, EndpointId::create()}},
        {other, {first, id}},
        {other, {foreign, id}}};
    for (const auto& [organization_id, place] : places) {
        const auto refused = [&, o = organization_id](const auto& work) {
            return code_of([&] { as(o, work); }) == ErrorCode::NotFound;
        };
        BOOST_TEST(refused([&, p = place](service::OrgTransaction& transaction) {
            service::change_webhook_endpoint(transaction, context.keys, p,
                                             {{}, {}, EndpointStatus::Disabled});
        }));
        BOOST_TEST(refused([&, p = place](service::OrgTransaction& transaction) {
            (void)service::rotate_endpoint_secret(transaction, context.keys, p);
        }));
        BOOST_TEST(refused([&, p = place](service::OrgTransaction& transaction) {
            service::delete_webhook_endpoint(transaction, p);
        }));
    }
    BOOST_TEST(client.snapshot(acme)["webhook_endpoints"] == before.at("webhook_endpoints"));
}

BOOST_AUTO_TEST_CASE(the_log_records_changes_and_no_secrets) {
    const auto issued = create();
    const auto rotated = rotate(issued.endpoint.id);
    set_status(issued.endpoint.id, EndpointStatus::Paused);
    remove(issued.endpoint.id);
    BOOST_TEST(actions() == (std::vector<std::string>{
                                "webhook_endpoint.deleted", "webhook_endpoint.changed",
                                "webhook_endpoint.secret_rotated", "webhook_endpoint.created"}));
    for (const auto& details : client.column("SELECT details FROM audit_log")) {
        BOOST_TEST(details.find("whsec") == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(the_operator_sees_every_endpoint_with_waiting_and_failed_deliveries) {
    const auto id = create().endpoint.id;
    const auto idle = create().endpoint.id;
    deliver(id, "pending");
    deliver(id, "pending");
    deliver(id, "failed");
    deliver(id, "succeeded");
    const auto list = service::list_endpoint_health(context, acme);
    BOOST_TEST_REQUIRE(list.size() == 2U);
    BOOST_TEST(list[0].endpoint.id == id);
    BOOST_TEST(list[0].pending == 2);
    BOOST_TEST(list[0].failed == 1);
    BOOST_TEST(list[1].endpoint.id == idle);
    BOOST_TEST(list[1].pending + list[1].failed == 0);
    BOOST_TEST(service::list_endpoint_health(context, organization("Other")).empty());
}

BOOST_AUTO_TEST_SUITE_END()
