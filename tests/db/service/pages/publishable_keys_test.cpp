// service/pages/publishable_keys.hpp: keys of pages are issued up to a limit, listed, changed,
// revoked, and found while they are valid; a key of the other kind is not found.
#include "service/pages/publishable_keys.hpp"
#include "rules/audit.hpp"

#include "db/fixture.hpp"
#include "service/access/organizations.hpp"
#include "service/access/team.hpp"
#include "service/audit.hpp"

#include "print.hpp"

#include <atomic>
#include <stdexcept>

using namespace muster;
using rules::PublishableKey;
using rules::PublishableKeyKind;
using service::NewPublishableKey;
using service::PublishableKeyChange;
using test::code_of;
using test::Fixture;

namespace {

constexpr Milliseconds kHour{3600L * 1000};
constexpr Milliseconds kDay = 24 * kHour;
constexpr auto kTracking = PublishableKeyKind::Tracking;
constexpr auto kContent = PublishableKeyKind::Content;

NewPublishableKey fields(std::string name = "shop") {
    return {std::move(name), {"https://shop.example"}, {}, {}, {}};
}

struct PublishableKeys : Fixture {
    // As an admin, through the API.
    template <class Work>
    auto as_admin(const Work& work) {
        return database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{
                tx, {acme, admin, std::nullopt, "req-1"}, Timestamp::now()};
            return work(transaction);
        });
    }
    PublishableKey issue(PublishableKeyKind kind = kTracking,
                         const NewPublishableKey& in = fields()) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::issue_publishable_key(transaction, context.keys, kind, in);
        });
    }
    PublishableKey change(const PublishableKey& key, const PublishableKeyChange& change,
                          const service::AccessCheck& check_access = {}) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::change_publishable_key(transaction, context.keys, key.kind, key.id,
                                                   change, {100, 200}, check_access);
        });
    }
    bool revoke(PublishableKeyKind kind, PublishableKeyId id) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::revoke_publishable_key(transaction, kind, id);
        });
    }
    std::vector<PublishableKey> list(PublishableKeyKind kind = kTracking) {
        return service::list_publishable_keys(context, acme, kind, std::nullopt, 1000);
    }
    bool is_found(const PublishableKey& key) {
        return !service::find_publishable_keys(context, {&key.token, 1}).empty();
    }
    std::vector<std::string> log() {
        std::vector<std::string> lines;
        for (const auto& entry : service::newest_audit_entries(context, acme, std::nullopt, 100)) {
            if (entry.action.find("_key.") == std::string::npos) continue;
            lines.push_back(entry.action + " " + entry.subject_id.value_or("") + " " +
                            entry.details);
        }
        return lines;
    }

    OrgId acme = organization("Acme");
    AdminId admin = service::add_admin(context, acme, "ann@example.test", "owner").id;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(publishable_keys, PublishableKeys)

BOOST_AUTO_TEST_CASE(a_key_is_stored_as_requested_and_found_by_its_token) {
    const Timestamp end = Timestamp::now() + kHour;
    const auto key =
        issue(kTracking, {"shop", {"https://shop.example", "https://*.shop.example"}, end, 7, 9});
    BOOST_TEST(key.token.starts_with("ek_live_"));
    BOOST_TEST(key.created_by == admin);
    const auto found = service::find_publishable_keys(context, {&key.token, 1});
    BOOST_TEST_REQUIRE(found.size() == 1U);
    BOOST_TEST((found[0] == key));
    const auto listed = list();
    BOOST_TEST_REQUIRE(listed.size() == 1U);
    BOOST_TEST(listed[0].last_used_at.has_value());
    BOOST_TEST(issue(kContent).token.starts_with("ck_live_"));
}

BOOST_AUTO_TEST_CASE(a_change_keeps_a_higher_rate_of_the_operator_and_raises_none) {
    const auto key = service::issue_publishable_key(
        context, acme, kTracking, {"shop", {"https://shop.example"}, {}, 500, 900});
    service::PublishableKeyChange same;
    same.name = "store";
    same.rate_per_second = 500;
    same.burst = 900;
    BOOST_TEST((change(key, same).rate_per_second == 500));
    for (const int rate : {499, 501}) {
        service::PublishableKeyChange other;
        other.rate_per_second = rate;
        BOOST_TEST(code_of([&] { change(key, other); }) == ErrorCode::ValidationError);
    }
}

BOOST_AUTO_TEST_CASE(a_locked_key_row_does_not_fail_a_lookup) {
    const PublishableKey held = issue();
    const PublishableKey free = issue();
    auto settings = test::connection_settings();
    settings.lock_timeout_seconds = 1;
    test::DatabaseContext collector(settings);
    client.run("START TRANSACTION");
    client.query("SELECT 1 FROM publishable_keys WHERE token = ? FOR UPDATE", held.token);
    const std::vector<std::string> tokens{held.token, free.token};
    const std::size_t found = service::find_publishable_keys(collector.context, tokens).size();
    client.run("ROLLBACK");
    BOOST_TEST(found == 2U);
    BOOST_TEST(is_found(held));
    for (const PublishableKey& key : list()) BOOST_TEST(key.last_used_at.has_value());
}

BOOST_AUTO_TEST_CASE(a_key_of_the_other_kind_or_organization_is_not_found) {
    const auto key = issue(kTracking);
    const auto foreign =
        service::issue_publishable_key(context, organization("Other"), kTracking, fields());
    auto other_kind = key;
    other_kind.kind = kContent;
    for (const auto& none : {other_kind, foreign}) {
        BOOST_TEST(!revoke(none.kind, none.id));
        BOOST_TEST(code_of([&] { change(none, {}); }) == ErrorCode::NotFound);
    }
    BOOST_TEST(!service::revoke_publishable_key(context, acme, kContent, key.id));
    BOOST_TEST(list(kContent).empty());
    BOOST_TEST(list().size() == 1U);
    BOOST_TEST(is_found(key));
    BOOST_TEST(is_found(foreign));
}

BOOST_AUTO_TEST_CASE(a_change_affects_only_its_fields_and_null_clears) {
    const Timestamp end = Timestamp::now() + kHour;
    issue(kTracking, {"shop", {"https://shop.example"}, end, 7, 9});
    const auto key = list().at(0);
    PublishableKeyChange rename;
    rename.name = "store";
    auto expected = key;
    expected.name = "store";
    BOOST_TEST((change(key, rename) == expected));
    PublishableKeyChange clear;
    clear.expires_at.emplace();
    clear.rate_per_second.emplace();
    clear.burst.emplace();
    clear.allowed_origins = {"https://a.example", "https://b.example"};
    expected.expires_at.reset();
    expected.rate_per_second.reset();
    expected.burst.reset();
    expected.allowed_origins = *clear.allowed_origins;
    BOOST_TEST((change(key, clear) == expected));
    BOOST_TEST((list().at(0) == expected));
}

BOOST_AUTO_TEST_CASE(an_expired_key_may_get_a_new_expiry_in_the_future) {
    const auto key = issue();
    client.execute("UPDATE publishable_keys SET expires_at = ?", Timestamp::now());
    BOOST_TEST(!is_found(key));
    PublishableKeyChange past;
    past.expires_at.emplace(Timestamp::now() - Milliseconds(1));
    BOOST_TEST(code_of([&] { change(key, past); }) == ErrorCode::ValidationError);
    PublishableKeyChange later;
    later.expires_at.emplace(Timestamp::now() + kHour);
    change(key, later);
    BOOST_TEST(is_found(key));
}

BOOST_AUTO_TEST_CASE(a_revoked_key_is_rejected_immediately_revoked_once_and_never_changed) {
    const auto key = issue();
    BOOST_TEST(is_found(key));
    BOOST_TEST(revoke(kTracking, key.id));
    BOOST_TEST(!is_found(key));
    const auto when = client.value("SELECT revoked_at FROM publishable_keys");
    BOOST_TEST(revoke(kTracking, key.id));
    BOOST_TEST(!service::revoke_publishable_key(context, acme, kTracking, key.id));
    BOOST_TEST(client.value("SELECT revoked_at FROM publishable_keys") == when);
    BOOST_TEST(code_of([&] { change(key, {}); }) == ErrorCode::InvalidState);
    BOOST_TEST(!revoke(kTracking, PublishableKeyId::create()));
}

BOOST_AUTO_TEST_CASE(a_revoked_key_is_listed_for_thirty_days) {
    const auto dead = issue();
    const auto alive = issue();
    revoke(kTracking, dead.id);
    const auto revoked_at = [&](Timestamp when) {
        client.execute("UPDATE publishable_keys SET revoked_at = ? WHERE id = ?", when, dead.id);
    };
    revoked_at(Timestamp::now() - 30 * kDay + Milliseconds(60'000));
    BOOST_TEST(list().size() == 2U);
    revoked_at(Timestamp::now() - 30 * kDay - Milliseconds(1));
    BOOST_TEST_REQUIRE(list().size() == 1U);
    BOOST_TEST(list()[0].id == alive.id);
}

BOOST_AUTO_TEST_CASE(keys_are_listed_page_by_page_in_order_of_creation) {
    std::vector<PublishableKeyId> made;
    for (int i = 0; i < 5; ++i) {
        made.push_back(issue().id);
        issue(kContent);
    }
    std::vector<PublishableKeyId> found;
    std::optional<PublishableKeyId> after;
    for (int page = 0; page < 3; ++page) {
        for (const auto& key : service::list_publishable_keys(context, acme, kTracking, after, 2)) {
            found.push_back(key.id);
        }
        after = found.back();
    }
    BOOST_TEST(found == made);
}

BOOST_AUTO_TEST_CASE(parallel_requests_do_not_exceed_two_hundred_keys_per_organization) {
    for (int i = 0; i < 196; ++i) issue(i % 2 == 0 ? kTracking : kContent);
    const auto dead = issue();
    revoke(kTracking, dead.id);  // does not count
    std::atomic<int> made{0};
    std::atomic<int> refused{0};
    test::in_parallel(12, [&](int) {
        test::DatabaseContext worker;
        const auto code = code_of([&] {
            worker.as(acme, [&](service::OrgTransaction& transaction) {
                (void)service::issue_publishable_key(transaction, worker.context.keys, kTracking,
                                                     fields());
            });
        });
        ++(code == ErrorCode::InvalidState ? refused : made);
    });
    BOOST_TEST(made == 4);
    BOOST_TEST(refused == 8);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM publishable_keys WHERE revoked_at IS NULL") ==
               200);
    BOOST_TEST(code_of([&] {
                   (void)service::issue_publishable_key(context, acme, kContent, fields());
               }) == ErrorCode::InvalidState);
    (void)service::issue_publishable_key(context, organization("Other"), kContent, fields());
}

BOOST_AUTO_TEST_CASE(origins_from_the_operator_are_validated_and_made_canonical) {
    auto in = fields();
    in.allowed_origins = {"HTTPS://Shop.Example:443", "https://shop.example",
                          "https://*.shop.example"};
    const auto key = service::issue_publishable_key(context, acme, kContent, in);
    const std::vector<std::string> expected = {"https://shop.example", "https://*.shop.example"};
    BOOST_TEST(key.allowed_origins == expected);
    BOOST_TEST(!key.created_by.has_value());
    const std::vector<std::vector<std::string>> bad = {
        {},
        {""},
        {"*"},
        {"https://shop.example/"},
        {"https://shop.example", "shop.example"},
        std::vector<std::string>(51, "https://shop.example")};
    for (const auto& origins : bad) {
        in.allowed_origins = origins;
        BOOST_CHECK_THROW((void)service::issue_publishable_key(context, acme, kContent, in),
                          std::invalid_argument);
    }
    BOOST_TEST(list(kContent).size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_new_origin_is_checked_before_the_change_and_a_known_one_is_not) {
    issue(kTracking, {"shop", {"https://a.example", "https://b.example"}, {}, {}, {}});
    const auto key = list().at(0);
    const auto reject = [] { throw Error(ErrorCode::TwoFactorTooOld); };
    const auto change_to = [&](std::vector<std::string> origins) {
        PublishableKeyChange moved;
        moved.name = "moved";
        moved.allowed_origins = std::move(origins);
        return code_of([&] { change(key, moved, reject); });
    };
    BOOST_TEST(
        (change_to({"https://a.example", "https://evil.example"}) == ErrorCode::TwoFactorTooOld));
    BOOST_TEST((list().at(0) == key));
    BOOST_TEST(!change_to({"https://b.example", "https://a.example"}).has_value());
    BOOST_TEST(!change_to({"https://a.example"}).has_value());
    BOOST_TEST((change_to({"https://b.example"}) == ErrorCode::TwoFactorTooOld));
}

BOOST_AUTO_TEST_CASE(a_later_end_is_checked_before_the_change_and_an_earlier_one_is_not) {
    issue(kTracking, {"shop", {"https://a.example"}, {}, {}, {}});
    const auto key = list().at(0);
    const auto reject = [] { throw Error(ErrorCode::TwoFactorTooOld); };
    const auto end_at = [&](std::optional<Timestamp> end) {
        PublishableKeyChange ended;
        ended.expires_at.emplace(end);
        return code_of([&] { change(key, ended, reject); });
    };
    const auto end = Timestamp::now() + std::chrono::days(2);
    BOOST_TEST(!end_at(end).has_value());  // it had none
    BOOST_TEST((end_at({}) == ErrorCode::TwoFactorTooOld));
    BOOST_TEST((end_at(end + Milliseconds(1)) == ErrorCode::TwoFactorTooOld));
    BOOST_TEST(!end_at(end - Milliseconds(1)).has_value());
}

BOOST_AUTO_TEST_CASE(the_log_records_changes_and_no_repetitions) {
    const auto key = issue(kTracking);
    PublishableKeyChange rename;
    rename.name = "store";
    change(key, rename);
    change(key, rename);
    revoke(kTracking, key.id);
    revoke(kTracking, key.id);
    const auto other = service::issue_publishable_key(context, acme, kContent, fields("blog"));
    service::revoke_publishable_key(context, acme, kContent, other.id);
    const std::string id = " " + key.id.text() + " ";
    const std::string other_id = " " + other.id.text() + " ";
    const std::vector<std::string> expected = {
        "content_key.revoked" + other_id + "{}",
        "content_key.issued" + other_id +
            R"({"added_origins":"https://shop.example","name":"blog"})",
        "tracking_key.revoked" + id + "{}",
        "tracking_key.updated" + id +
            R"({"added_origins":"none","expires_at":"never","name":"store",)" +
            R"("previous_expires_at":"never","removed_origins":"none"})",
        "tracking_key.issued" + id + R"({"added_origins":"https://shop.example","name":"shop"})"};
    BOOST_TEST(log() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
