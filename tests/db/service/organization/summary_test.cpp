// service/organization/summary.hpp: the numbers of an organization.
#include "service/organization/summary.hpp"

#include "db/two_tenants.hpp"
#include "rules/ads/ads.hpp"

using namespace muster;
using test::kLater;
using test::kNow;
using test::TwoTenants;

namespace {

struct Summaries : TwoTenants {
    rules::OrganizationSummary summary() {
        return service::summarize_organization(context, owner.id);
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(organization_summary, Summaries)

BOOST_AUTO_TEST_CASE(an_organization_without_records_has_zeros) {
    const auto empty = service::summarize_organization(context, organization("Empty"));
    BOOST_TEST(empty.members.active.count == 0);
    BOOST_TEST(empty.members.active.exact);
    BOOST_TEST(!empty.active_import);
    BOOST_TEST(empty.keys_expiring_in_30_days.api_keys == 0);
    BOOST_TEST(empty.ads_in_7_days.impressions == 0);
}

BOOST_AUTO_TEST_CASE(members_are_counted_by_status_and_by_change) {
    client.execute("UPDATE members SET updated_at = ?", kNow);
    BOOST_TEST(summary().members.active.count == 1);
    BOOST_TEST(summary().members.changed_in_7_days.count == 1);
    client.execute("UPDATE members SET status = 'locked', updated_at = ?",
                   kNow - std::chrono::days(8));
    BOOST_TEST(summary().members.active.count == 0);
    BOOST_TEST(summary().members.locked.count == 1);
    BOOST_TEST(summary().members.changed_in_7_days.count == 0);
}

BOOST_AUTO_TEST_CASE(members_are_counted_up_to_a_bound) {
    const auto add = [&](int count, int from) {
        const std::string number = "seq + " + std::to_string(from);
        client.run("INSERT INTO users (id, email, created_at) SELECT UNHEX(LPAD(HEX(" + number +
                   "), 32, '0')), CONCAT(" + number + ", '@x.test'), 1 FROM " +
                   test::sequence(count));
        client.execute(
            "INSERT INTO members (organization_id, user_id, id, email, attributes, created_at, "
            "updated_at) SELECT ?, u.id, u.id, u.email, '{}', 1, 1 FROM users u "
            "LEFT JOIN members m ON m.user_id = u.id WHERE m.user_id IS NULL",
            owner.id);
    };
    add(rules::kMostSummarized - 1, 0);
    BOOST_TEST(summary().members.active.count == rules::kMostSummarized);
    BOOST_TEST(summary().members.active.exact);
    add(1, rules::kMostSummarized);
    BOOST_TEST(summary().members.active.count == rules::kMostSummarized);
    BOOST_TEST(!summary().members.active.exact);
}

BOOST_AUTO_TEST_CASE(only_a_job_that_is_not_finished_is_the_active_import) {
    put_job("staging");
    BOOST_TEST_REQUIRE(summary().active_import.has_value());
    BOOST_TEST(summary().active_import->id == owner.job);
    client.run("UPDATE import_jobs SET invalid_rows = 3");
    BOOST_TEST(summary().active_import->invalid_rows == 3);
    put_job("completed");
    BOOST_TEST(!summary().active_import);
}

BOOST_AUTO_TEST_CASE(keys_are_counted_that_are_valid_and_expire_within_30_days) {
    const auto put = [&](const char* table, Timestamp expires_at) {
        client.execute("UPDATE " + std::string(table) + " SET expires_at = ?", expires_at);
    };
    for (const char* table : {"api_keys", "publishable_keys", "module_credentials"}) {
        put(table, kLater);
    }
    auto keys = summary().keys_expiring_in_30_days;
    BOOST_TEST(keys.api_keys == 1);
    BOOST_TEST(keys.tracking_keys == 1);
    BOOST_TEST(keys.content_keys == 0);
    BOOST_TEST(keys.module_credentials == 1);
    put("api_keys", kNow + std::chrono::days(31));
    put("publishable_keys", kNow - std::chrono::days(1));
    client.execute("UPDATE module_credentials SET revoked_at = ?", kNow);
    keys = summary().keys_expiring_in_30_days;
    BOOST_TEST(keys.api_keys + keys.tracking_keys + keys.module_credentials == 0);
}

BOOST_AUTO_TEST_CASE(valid_keys_are_counted_with_and_without_an_end) {
    const auto sum = [&] {
        const auto keys = summary().valid_keys;
        return std::vector<std::int64_t>{keys.api_keys, keys.tracking_keys, keys.content_keys,
                                         keys.module_credentials};
    };
    using Counts = std::vector<std::int64_t>;
    for (const char* table : {"api_keys", "publishable_keys", "module_credentials"}) {
        client.run("UPDATE " + std::string(table) + " SET expires_at = NULL, revoked_at = NULL");
    }
    BOOST_TEST(sum() == (Counts{1, 1, 0, 1}));
    client.run("UPDATE publishable_keys SET kind = 'content'");
    client.execute("UPDATE api_keys SET expires_at = ?", kLater);
    BOOST_TEST(sum() == (Counts{1, 0, 1, 1}));
    client.execute("UPDATE api_keys SET expires_at = ?", kNow - std::chrono::days(1));
    client.execute("UPDATE module_credentials SET revoked_at = ?", kNow);
    BOOST_TEST(sum() == (Counts{0, 0, 1, 0}));
}

BOOST_AUTO_TEST_CASE(seats_and_valid_invitations_are_counted_by_role) {
    const auto team = [&] {
        const auto counts = summary().team;
        return std::vector<std::int64_t>{counts.owners, counts.admins, counts.viewers,
                                         counts.invited_owners, counts.invited_others};
    };
    using Counts = std::vector<std::int64_t>;
    const auto put = [&](const char* role) {
        client.run("UPDATE seats SET role = '" + std::string(role) + "'");
        client.execute("UPDATE seat_invitations SET role = ?, expires_at = ?", role, kLater);
    };
    put("owner");
    BOOST_TEST(team() == (Counts{1, 0, 0, 1, 0}));
    put("admin");
    BOOST_TEST(team() == (Counts{0, 1, 0, 0, 1}));
    put("viewer");
    BOOST_TEST(team() == (Counts{0, 0, 1, 0, 1}));
    client.execute("UPDATE seat_invitations SET expires_at = ?", kNow - std::chrono::days(1));
    BOOST_TEST(team() == (Counts{0, 0, 1, 0, 0}));
}

BOOST_AUTO_TEST_CASE(only_enabled_attributes_are_counted) {
    client.run("UPDATE attributes SET enabled = 0");
    BOOST_TEST(summary().enabled_attributes == 0);
    client.execute("UPDATE attributes SET enabled = 1 WHERE organization_id = ? LIMIT 1", owner.id);
    BOOST_TEST(summary().enabled_attributes == 1);
}

BOOST_AUTO_TEST_CASE(endpoints_connections_and_articles_are_counted_by_state) {
    const auto endpoints = [&](const char* status, const char* failing_since) {
        client.run("UPDATE webhook_endpoints SET status = '" + std::string(status) +
                   "', failing_since = " + failing_since);
        const auto counts = summary().webhook_endpoints;
        return std::vector<std::int64_t>{counts.active, counts.failing, counts.paused,
                                         counts.disabled};
    };
    using Counts = std::vector<std::int64_t>;
    BOOST_TEST(endpoints("active", "NULL") == (Counts{1, 0, 0, 0}));
    BOOST_TEST(endpoints("active", "5") == (Counts{0, 1, 0, 0}));
    BOOST_TEST(endpoints("paused", "5") == (Counts{0, 0, 1, 0}));
    BOOST_TEST(endpoints("disabled", "5") == (Counts{0, 0, 0, 1}));
    BOOST_TEST(summary().connections.connected == 1);
    client.run("UPDATE connections SET status = 'expired'");
    BOOST_TEST(summary().connections.expired == 1);
    client.run("UPDATE connections SET removed_at = 1");
    BOOST_TEST(summary().connections.expired == 0);
    BOOST_TEST(summary().articles.published == 1);
    BOOST_TEST(summary().articles.draft == 0);
    client.execute("UPDATE articles SET published_at = ?", Timestamp::now() + std::chrono::days(1));
    BOOST_TEST(summary().articles.published == 0);
    BOOST_TEST(summary().articles.scheduled == 1);
    client.run("UPDATE articles SET published_at = NULL");
    BOOST_TEST(summary().articles.scheduled == 0);
    BOOST_TEST(summary().articles.draft == 1);
}

BOOST_AUTO_TEST_CASE(ads_of_today_and_the_six_days_before_are_added) {
    client.run("DELETE FROM ad_campaign_days");
    const auto today = rules::ad_day_of(Timestamp::now());
    for (const std::int64_t ago : {0, 6, 7}) {
        client.execute(
            "INSERT INTO ad_campaign_days (organization_id, campaign_id, day, impressions, clicks) "
            "VALUES (?, ?, ?, ?, 1)",
            owner.id, owner.campaign, today - ago, ago == 7 ? 1000 : 10);
    }
    BOOST_TEST(summary().ads_in_7_days.impressions == 20);
    BOOST_TEST(summary().ads_in_7_days.clicks == 2);
}

BOOST_AUTO_TEST_SUITE_END()
