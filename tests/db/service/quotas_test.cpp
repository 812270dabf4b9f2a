// service/quotas.hpp: what an organization stores is bounded, and the purge frees all of it.
#include "service/quotas.hpp"

#include "base/crypto.hpp"
#include "base/json.hpp"
#include "db/imports.hpp"
#include "rules/pages/publishable_keys.hpp"
#include "service/access/api_keys.hpp"
#include "service/access/organizations.hpp"
#include "service/access/team.hpp"
#include "service/audit.hpp"
#include "service/idempotency.hpp"
#include "service/imports/discard.hpp"
#include "service/operations/purge.hpp"
#include "service/organization/usage.hpp"
#include "service/pages/publishable_keys.hpp"
#include "store/quotas.hpp"

#include <functional>

using namespace muster;
using rules::Quota;
using service::OrgTransaction;
using service::StoredReply;
using test::code_of;
using test::error_of;
using test::ImportFixture;
using test::in_parallel;
using test::row;

namespace {

Settings small_limits() {
    Settings small = test::settings();
    small.limits.staged_mib = 1;
    small.limits.reply_mib = 1;
    small.limits.audit_entries = 20;
    return small;
}

struct Quotas : ImportFixture {
    std::int64_t used(Quota quota, OrgId organization) {
        return database.autocommit([&](db::Tx& tx) {
            db::OrgStore org(tx, organization);
            return service::used_today(org, quota, Timestamp::now());
        });
    }
    std::int64_t used(Quota quota) { return used(quota, acme); }

    // A call with rows of about 4 KiB each.
    std::optional<Error> stage_heavy(ImportId id, std::int64_t first, std::int64_t count) {
        const std::string attributes = R"({"note":")" + std::string(4000, 'x') + "\"}";
        std::vector<service::NewRow> rows;
        for (std::int64_t i = first; i < first + count; ++i) {
            rows.push_back(row(i, "m" + std::to_string(i) + "@example.test", attributes));
        }
        return error_of([&] {
            as(acme, [&](OrgTransaction& transaction) {
                service::stage_rows(transaction, small.limits, id, rows);
            });
        });
    }
    std::optional<Error> create_and_cancel(const std::string& file_name) {
        return error_of([&] {
            const ImportId id = as(acme, [&](OrgTransaction& transaction) {
                return service::create_import(transaction, small.limits,
                                              {file_name, 1, test::email_mapping()})
                    .id;
            });
            cancel(id);
        });
    }

    StoredReply reply_of(OrgId organization, const std::string& key, std::size_t bytes) {
        const service::IdempotencyClaim claim{sha256(key), sha256("body"), Secret(key)};
        return service::transact(own, {organization}, claim, [&](OrgTransaction&) {
            return StoredReply{.status = 201, .body = std::string(bytes, 'r')};
        });
    }
    std::optional<Error> reply_error(const std::string& key, std::size_t bytes = 100'000) {
        return error_of([&] { reply_of(acme, key, bytes); });
    }

    template <class Work>
    auto as_admin(const Work& work) {
        return database.transaction([&](db::Tx& tx) {
            OrgTransaction transaction{tx, {acme, admin, {}, "r"}, Timestamp::now()};
            return work(transaction);
        });
    }
    void act() {
        as_admin([](OrgTransaction& transaction) { service::audit(transaction, "thing.done"); });
    }
    service::IssuedKey issue_key() {
        return as_admin([this](OrgTransaction& transaction) {
            return service::issue_api_key(transaction, context.keys, {"key", {}, {}, {}});
        });
    }
    void use_up(Quota quota, std::int64_t amount) {
        database.transaction([&](db::Tx& tx) {
            db::OrgStore org(tx, acme);
            service::add_use(org, quota, amount, Timestamp::now());
        });
    }

    void fill_imports() {
        for (std::int64_t first = 1;; first += 50) {
            const ImportId id = new_import();
            const auto error = stage_heavy(id, first, 50);
            cancel(id);
            if (error) return;
        }
    }
    void fill_replies() {
        for (int i = 0; !reply_error("fill" + std::to_string(i)); ++i) continue;
    }
    void fill_audit_log() {
        while (!error_of([&] { service::reject_full_audit_log(own, acme); })) act();
    }
    void fill_keys() {
        while (!error_of([&] { issue_key(); })) continue;
    }

    // Every row of the organization's uses is older than its retention.
    void age() {
        for (const char* change :
             {"UPDATE import_jobs SET expires_at = 1", "UPDATE idempotency_keys SET expires_at = 1",
              "UPDATE audit_log SET created_at = 1, "
              "id = UNHEX(CONCAT('000000000001', SUBSTR(HEX(id), 13)))",
              "UPDATE api_keys SET revoked_at = 1", "UPDATE organization_days SET day = 1"}) {
            client.run(change);
        }
    }

    Settings small = small_limits();
    service::Context own{database, small, context.keys};
    AdminId admin = service::add_admin(context, acme, "ann@example.test", "owner").id;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(quotas, Quotas)

BOOST_AUTO_TEST_CASE(a_day_ends_at_midnight_utc) {
    const Timestamp noon = *Timestamp::parse("2026-11-22T12:00:00Z");
    BOOST_TEST(rules::end_of_quota_day(noon) == *Timestamp::parse("2026-11-23T00:00:00Z"));
    BOOST_TEST(rules::end_of_quota_day(*Timestamp::parse("2026-11-23T00:00:00Z")) ==
               *Timestamp::parse("2026-11-24T00:00:00Z"));
    database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, acme);
        service::add_use(org, Quota::AuditEntries, 5, noon);
        service::add_use(org, Quota::AuditEntries, 5, noon);
        BOOST_TEST(service::used_today(org, Quota::AuditEntries, noon) == 10);
        BOOST_TEST(service::used_today(org, Quota::AuditEntries, noon + std::chrono::days(1)) == 0);
        BOOST_TEST(service::used_today(org, Quota::IssuedKeys, noon) == 0);
    });
}

// ---------------------------------------------------------------------------- staged bytes

BOOST_AUTO_TEST_CASE(rows_beyond_the_bytes_of_a_day_are_refused_and_nothing_is_staged) {
    const ImportId id = new_import();
    const auto before = used(Quota::StagedBytes);
    BOOST_TEST(!stage_heavy(id, 1, 200).has_value());
    const auto counted = used(Quota::StagedBytes);
    BOOST_TEST(counted - before > 800'000);
    const auto error = stage_heavy(id, 201, 100);
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::QuotaExceeded);
    const Json::Value details = error->details();
    BOOST_TEST(details["quota"].asString() == "staged_bytes");
    BOOST_TEST(details["maximum"].asInt64() == 1 << 20);
    BOOST_TEST(details["used"].asInt64() == counted);
    const auto frees_at = Timestamp::parse(details["frees_at"].asString());
    BOOST_TEST_REQUIRE(frees_at.has_value());
    BOOST_TEST((*frees_at > Timestamp::now()));
    BOOST_TEST(error->retry_after() <= 86'400);
    BOOST_TEST(error->retry_after() >= (*frees_at - Timestamp::now()).count() / 1000);
    BOOST_TEST(job(id).staged_rows == 200);
    BOOST_TEST(used(Quota::StagedBytes) == counted);
    // A smaller call for another block still fits, and another organization is not affected.
    BOOST_TEST(!stage_heavy(id, 501, 10).has_value());
    BOOST_TEST(used(Quota::StagedBytes, organization("Other")) == 0);
}

BOOST_AUTO_TEST_CASE(rows_that_are_sent_again_count_again) {
    const ImportId id = new_import();
    BOOST_TEST(!stage_heavy(id, 1, 10).has_value());
    const auto once = used(Quota::StagedBytes);
    BOOST_TEST(!stage_heavy(id, 1, 10).has_value());
    BOOST_TEST(used(Quota::StagedBytes) > once + 40'000);
    BOOST_TEST(job(id).staged_rows == 10);
}

BOOST_AUTO_TEST_CASE(staged_rows_that_a_call_writes_again_count_too) {
    const ImportId id = new_import();
    BOOST_TEST(!stage_heavy(id, 1, 100).has_value());
    const auto once = used(Quota::StagedBytes);
    BOOST_TEST(!stage_heavy(id, 101, 1).has_value());
    BOOST_TEST(used(Quota::StagedBytes) > once + 250'000);
    const auto twice = used(Quota::StagedBytes);
    BOOST_TEST(!stage_heavy(id, 501, 1).has_value());  // another block
    BOOST_TEST(used(Quota::StagedBytes) < twice + 5'000);
}

BOOST_AUTO_TEST_CASE(a_block_of_small_rows_counts_only_the_rows_that_are_sent) {
    const ImportId id = new_import();
    BOOST_TEST(!stage_heavy(id, 1, 30).has_value());
    const auto once = used(Quota::StagedBytes);
    BOOST_TEST(!stage_heavy(id, 31, 1).has_value());  // writes 124 KiB
    BOOST_TEST(used(Quota::StagedBytes) < once + 5'000);
}

BOOST_AUTO_TEST_CASE(parallel_calls_do_not_exceed_the_bytes_of_a_day) {
    const ImportId id = new_import();
    std::atomic<int> staged = 0;
    in_parallel(6, [&](int n) {
        test::DatabaseContext rival;
        std::vector<service::NewRow> rows;
        for (int i = 0; i < 60; ++i) {
            rows.push_back(row(1 + n * 500 + i, "m" + std::to_string(n * 500 + i) + "@x.test",
                               R"({"note":")" + std::string(4000, 'x') + "\"}"));
        }
        const auto error = error_of([&] {
            rival.as(acme, [&](OrgTransaction& transaction) {
                service::stage_rows(transaction, small.limits, id, rows);
            });
        });
        if (!error) ++staged;
    });
    BOOST_TEST(staged.load() == 4);
    BOOST_TEST(used(Quota::StagedBytes) <= 1 << 20);
}

BOOST_AUTO_TEST_CASE(jobs_without_rows_count_too) {
    use_up(Quota::StagedBytes, (1 << 20) - 4000);
    int created = 0;
    std::optional<Error> error;
    while (!(error = create_and_cancel("members.csv"))) ++created;
    BOOST_TEST(error->code() == ErrorCode::QuotaExceeded);
    BOOST_TEST(created == 3);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM import_jobs") == 3);
}

// ---------------------------------------------------------------------------- recorded replies

BOOST_AUTO_TEST_CASE(replies_beyond_the_bytes_of_a_day_are_refused_but_replayed) {
    int recorded = 0;
    std::optional<Error> error;
    while (!(error = reply_error("key" + std::to_string(recorded)))) ++recorded;
    BOOST_TEST(error->code() == ErrorCode::QuotaExceeded);
    BOOST_TEST(error->details()["quota"].asString() == "reply_bytes");
    BOOST_TEST(error->details()["reason"].asString().find("without an Idempotency-Key") !=
               std::string::npos);
    BOOST_TEST(recorded == 11);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM idempotency_keys") == 11);
    BOOST_TEST(reply_of(acme, "key3", 1).replayed);
    BOOST_TEST(reply_of(acme, "key3", 1).body.size() == 100'000);
    BOOST_TEST(!error_of([&] { reply_of(organization("Other"), "key", 100'000); }).has_value());
    // Without a key nothing is recorded.
    const auto without = service::transact(own, {acme}, {}, [](OrgTransaction&) {
        return StoredReply{.status = 200, .body = "done"};
    });
    BOOST_TEST(without.body == "done");
}

BOOST_AUTO_TEST_CASE(small_replies_are_counted_in_sums) {
    for (int i = 0; i < 200; ++i) {
        reply_of(acme, "small" + std::to_string(i), 300);
        service::write_large_sums(database);  // after each batch
    }
    const auto counted = used(Quota::ReplyBytes);
    BOOST_TEST(counted > 200 * 500 - 16'384 - 500);
    BOOST_TEST(counted <= 200 * 500);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM organization_days") <= 8);
    // A worker that ends writes the rest.
    service::write_all_sums(database);
    BOOST_TEST(used(Quota::ReplyBytes) == 200 * 500);
    service::write_all_sums(database);
    BOOST_TEST(used(Quota::ReplyBytes) == 200 * 500);
}

BOOST_AUTO_TEST_CASE(a_worker_that_knows_many_uses_writes_some_sums_and_loses_none) {
    service::write_all_sums(database);
    client.run("DELETE FROM organization_days");
    std::vector<OrgId> organizations(10'000, OrgId{});
    std::string rows;
    for (OrgId& id : organizations) {
        id = OrgId::create();
        rows +=
            (rows.empty() ? "" : ",") + ("(UNHEX(REPLACE('" + id.text() + "', '-', '')), '', 1)");
    }
    client.run("INSERT INTO organizations (id, name, created_at) VALUES " + rows);
    database.transaction([&](db::Tx& tx) {
        for (const OrgId& id : organizations) {
            const OrgTransaction transaction{tx, {id}, Timestamp::now()};
            service::reject_full(transaction, Quota::TrackedBytes, test::settings().limits);
            service::count_bytes(transaction, Quota::TrackedBytes, 1);
        }
    });
    const auto written = [&] {
        return client.number("SELECT COALESCE(SUM(amount), 0) FROM organization_days");
    };
    service::write_large_sums(database);
    BOOST_TEST(written() == 100);
    service::write_large_sums(database);  // 9,900 are left, so there is no need
    BOOST_TEST(written() == 100);
    service::write_all_sums(database);
    BOOST_TEST(written() == 10'000);
}

// ---------------------------------------------------------------------------- audit entries

BOOST_AUTO_TEST_CASE(entries_beyond_those_of_a_day_are_refused) {
    for (int i = 0; i < 20; ++i) {
        service::reject_full_audit_log(own, acme);
        act();
    }
    BOOST_TEST(used(Quota::AuditEntries) == 20);
    const auto error = error_of([&] { service::reject_full_audit_log(own, acme); });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::QuotaExceeded);
    BOOST_TEST(error->details()["quota"].asString() == "audit_entries");
    service::reject_full_audit_log(own, organization("Other"));
}

BOOST_AUTO_TEST_CASE(entries_of_the_operator_do_not_count) {
    const auto before = used(Quota::AuditEntries);
    service::issue_api_key(context, acme, {"key", {}, {}, {}});
    BOOST_TEST(used(Quota::AuditEntries) == before);
}

// ---------------------------------------------------------------------------- keys

BOOST_AUTO_TEST_CASE(an_organization_has_at_most_a_hundred_valid_api_keys) {
    const auto first = issue_key();
    for (int i = 1; i < 100; ++i) issue_key();
    const auto error = error_of([&] { issue_key(); });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::InvalidState);
    BOOST_TEST(error->details()["reason"].asString() ==
               "an organization has at most 100 valid API keys; revoke one first");
    const auto rotate = [&](Milliseconds overlap) {
        return code_of([&] {
            as_admin([&](OrgTransaction& transaction) {
                return service::rotate_api_key(transaction, context.keys, first.key.id, overlap);
            });
        });
    };
    BOOST_TEST((rotate(Milliseconds(1000)) == ErrorCode::InvalidState));
    BOOST_TEST(!rotate(Milliseconds(0)).has_value());
    BOOST_TEST((code_of([&] { issue_key(); }) == ErrorCode::InvalidState));
    client.run("UPDATE api_keys SET expires_at = 1 WHERE revoked_at IS NULL LIMIT 1");
    BOOST_TEST(!code_of([&] { issue_key(); }).has_value());
}

BOOST_AUTO_TEST_CASE(keys_of_all_kinds_are_bounded_by_day) {
    use_up(Quota::IssuedKeys, rules::kMostIssuedKeys - 2);
    issue_key();
    const auto issue_page_key = [&] {
        return code_of([&] {
            as_admin([&](OrgTransaction& transaction) {
                return service::issue_publishable_key(
                    transaction, context.keys, rules::PublishableKeyKind::Tracking,
                    {"page", {"https://shop.example"}, {}, {}, {}});
            });
        });
    };
    BOOST_TEST(!issue_page_key().has_value());
    BOOST_TEST((issue_page_key() == ErrorCode::QuotaExceeded));
    BOOST_TEST((code_of([&] { issue_key(); }) == ErrorCode::QuotaExceeded));
    // The operator can always help.
    service::issue_api_key(context, acme, {"key", {}, {}, {}});
}

// ---------------------------------------------------------------------------- usage

BOOST_AUTO_TEST_CASE(the_usage_counts_each_limit) {
    issue_key();
    new_import();
    std::map<std::string, std::int64_t> used;
    std::map<std::string, std::int64_t> maximum;
    for (const auto& use : service::organization_usage(own, acme).usage) {
        used[use.quota] = use.used;
        maximum[use.quota] = use.maximum.value_or(-1);
        const bool is_daily = maximum.size() <= 8;
        BOOST_TEST(use.frees_at.has_value() == is_daily, use.quota);
    }
    BOOST_TEST(used.size() == 18);
    BOOST_TEST(used["staged_bytes"] > 1024);
    BOOST_TEST(maximum["staged_bytes"] == 1 << 20);
    BOOST_TEST(used["issued_keys"] == 1);
    BOOST_TEST(maximum["member_jobs"] == rules::kMostMemberJobs);
    BOOST_TEST(used["audit_entries"] == 1);
    BOOST_TEST(maximum["audit_entries"] == 20);
    BOOST_TEST(used["api_keys"] == 1);
    BOOST_TEST(maximum["api_keys"] == 100);
    BOOST_TEST(used["attributes"] == client.number("SELECT COUNT(*) FROM attributes"));
    BOOST_TEST(used["articles"] == 0);
    BOOST_TEST(maximum["waiting_deliveries"] == small.webhooks.backlog);
    for (const auto& use : service::organization_usage(own, organization("Other")).usage) {
        BOOST_TEST((use.used == 0 || use.quota == "attributes"), use.quota);
    }
}

// ---------------------------------------------------------------------------- discarded blocks

BOOST_AUTO_TEST_CASE(a_canceled_job_loses_its_blocks_in_pieces_and_keeps_its_record) {
    const ImportId id = staged(test::people(1, 45, 500));
    const auto blocks = [&] { return client.number("SELECT COUNT(*) FROM import_blocks"); };
    BOOST_TEST(!service::delete_discarded_blocks(context));
    cancel(id);
    BOOST_TEST(blocks() == 45);
    const ImportId next = staged(test::people(1, 3));
    std::vector<std::int64_t> left;
    while (service::delete_discarded_blocks(context)) left.push_back(blocks());
    BOOST_TEST(left == (std::vector<std::int64_t>{26, 6, 1}));
    BOOST_TEST(job(id).state == rules::ImportState::Canceled);
    BOOST_TEST(job(id).staged_rows == 45);
    BOOST_TEST(rows(id).empty());
    BOOST_TEST(rows(next).size() == 3);
}

BOOST_AUTO_TEST_CASE(a_job_that_failed_loses_its_blocks_only_if_no_commit_began) {
    const ImportId checked = staged(test::people(1, 3));
    validate(checked);
    service::fail_import(context, lease(), rules::ImportState::Validating, {"CODE", "text"});
    const ImportId committed = validated(test::people(1, 3));
    request_commit(committed);
    service::fail_import(context, lease(), rules::ImportState::Committing, {"CODE", "text"});
    while (service::delete_discarded_blocks(context)) continue;
    BOOST_TEST(rows(checked).empty());
    BOOST_TEST(rows(committed).size() == 3);
    BOOST_TEST(job(checked).failure->code == "CODE");
}

BOOST_AUTO_TEST_CASE(two_runners_do_not_wait_for_each_other) {
    cancel(staged(test::people(1, 45, 500)));
    db::Database second(test::short_lock_timeout());
    service::Context other{second, context.settings, context.keys};
    database.transaction([&](db::Tx& tx) {
        tx.execute(db::SystemSql{"test.lock", db::Why{"as a runner that works does"},
                                 "DELETE FROM import_discards WHERE job_id <> ''"});
        BOOST_TEST(!service::delete_discarded_blocks(other));
    });
}

// ---------------------------------------------------------------------------- the whole

BOOST_AUTO_TEST_CASE(after_the_purge_a_filled_organization_takes_the_space_that_it_took_before) {
    const std::vector<std::string> tables{"import_blocks", "import_jobs",       "idempotency_keys",
                                          "audit_log",     "organization_days", "api_keys"};
    std::map<std::string, std::int64_t> before;
    for (const auto& table : tables) {
        client.run("ALTER TABLE " + table + " FORCE");  // without the deleted rows of other tests
        before[table] = client.bytes_of(table);
    }
    fill_imports();
    fill_replies();
    fill_audit_log();
    fill_keys();
    BOOST_TEST(client.bytes_of("import_blocks") > before["import_blocks"] + 500'000);
    BOOST_TEST(client.bytes_of("idempotency_keys") > before["idempotency_keys"] + 1'000'000);
    while (service::delete_discarded_blocks(context)) continue;
    BOOST_TEST(client.number("SELECT COUNT(*) FROM import_blocks") == 0);
    age();
    while (service::purge_step(context).any()) continue;
    for (const auto& table : tables) {
        if (table == "audit_log") continue;
        BOOST_TEST(client.number("SELECT COUNT(*) FROM " + table) == 0, table);
    }
    // InnoDB frees the pages of deleted rows in the background.
    for (const auto& table : tables) {
        BOOST_TEST(test::until([&] { return client.bytes_of(table) <= before[table]; }),
                   table << ": " << before[table] << " bytes before, " << client.bytes_of(table));
    }
}

BOOST_AUTO_TEST_SUITE_END()
