// service/imports/jobs.hpp: the life of an import job as the API drives it.
#include "service/imports/jobs.hpp"
#include "rules/audit.hpp"
#include "rules/imports/block.hpp"

#include "base/json.hpp"
#include "db/imports.hpp"
#include "service/attributes.hpp"
#include "service/audit.hpp"

#include <algorithm>
#include <map>
#include <random>

using namespace muster;
using rules::ImportState;
using test::code_of;
using test::error_of;
using test::ImportFixture;
using test::in_parallel;
using test::people;
using test::row;

namespace {

constexpr std::array kStates = {ImportState::Staging,   ImportState::Validating,
                                ImportState::Validated, ImportState::Committing,
                                ImportState::Completed, ImportState::Failed,
                                ImportState::Canceled};

struct Imports : ImportFixture {
    void put(ImportId id, ImportState state) {
        client.execute("UPDATE import_jobs SET state = ? WHERE id = ?", text_of(state), id);
    }
    std::optional<Error> create_error(const rules::Mapping& mapping) {
        return error_of([&] {
            as(acme, [&](service::OrgTransaction& transaction) {
                return service::create_import(transaction, context.settings.limits,
                                              {"f.csv", 1, mapping});
            });
        });
    }
    std::vector<std::string> emails(ImportId id) {
        std::vector<std::string> found;
        for (const auto& one : rows(id)) {
            Json::Value payload;
            BOOST_TEST_REQUIRE(parse_json(one.payload, payload));
            found.push_back(std::to_string(one.row_number) + " " + payload["email"].asString());
        }
        return found;
    }
};

using Texts = std::vector<std::string>;

// The paths of the faults in an error.
Texts paths(const std::optional<Error>& error) {
    Texts paths;
    if (!error) return paths;
    const Json::Value details = error->details();
    for (const Json::Value& field : details["fields"]) {
        paths.push_back(field["path"].asString() + " " + field["code"].asString());
    }
    return paths;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(imports, Imports)

// ---------------------------------------------------------------------------- creation

BOOST_AUTO_TEST_CASE(a_job_starts_in_staging_and_expires_in_thirty_days) {
    const auto before = Timestamp::now();
    const auto created = as(acme, [&](service::OrgTransaction& transaction) {
        return service::create_import(transaction, context.settings.limits,
                                      {"m.csv", 12, test::email_mapping()});
    });
    BOOST_TEST(created.state == ImportState::Staging);
    BOOST_TEST(created.source == rules::ImportSource::Api);
    BOOST_TEST(!created.created_by_id.has_value());
    BOOST_TEST(created.declared_total == 12);
    BOOST_TEST(created.mapping ==
               R"({"columns":[{"sourceColumn":"Mail","target":"core_field","fieldKey":"email"}]})");
    BOOST_TEST(created.created_at >= before);
    BOOST_TEST(created.created_at <= Timestamp::now());
    BOOST_TEST(created.expires_at - created.created_at == std::chrono::hours(30 * 24));
    const auto read = job(created.id);
    BOOST_TEST(read.mapping == created.mapping);
    BOOST_TEST(read.created_at == created.created_at);
    BOOST_TEST(read.expires_at == created.expires_at);
}

BOOST_AUTO_TEST_CASE(a_mapping_is_validated_against_the_current_registry) {
    auto mapping = test::email_mapping();
    mapping.columns.push_back({"Shirt", "attribute", "", "shirt_size"});
    const auto error = create_error(mapping);
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::ImportMappingInvalid);
    BOOST_TEST(paths(error) == Texts{"mapping.columns[1].attributeKey unknown_attribute"});
    service::enable_attribute(context, acme, "shirt_size", true);
    BOOST_TEST(!create_error(mapping).has_value());
}

BOOST_AUTO_TEST_CASE(a_second_active_job_is_rejected_and_the_first_is_named) {
    const ImportId id = new_import();
    const auto error = create_error(test::email_mapping());
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::ImportJobActiveExists);
    BOOST_TEST(error->details()["job_id"].asString() == id.text());
    cancel(id);
    BOOST_TEST(!create_error(test::email_mapping()).has_value());
}

// ---------------------------------------------------------------------------- staging

BOOST_AUTO_TEST_CASE(staged_rows_are_listed_by_row_number) {
    const ImportId id = staged({row(3, "c@x.test"), row(501, "d@x.test"), row(1, "a@x.test")});
    BOOST_TEST(emails(id) == (Texts{"1 a@x.test", "3 c@x.test", "501 d@x.test"}));
    BOOST_TEST(job(id).staged_rows == 3);
    BOOST_TEST(job(id).state == ImportState::Staging);
    BOOST_TEST(members() == 0);
}

BOOST_AUTO_TEST_CASE(a_repeated_row_number_replaces_its_row) {
    const ImportId id = staged({row(1, "a@x.test"), row(2, "b@x.test")});
    stage(id, {row(2, "new@x.test"), row(3, "c@x.test")});
    BOOST_TEST(emails(id) == (Texts{"1 a@x.test", "2 new@x.test", "3 c@x.test"}));
    BOOST_TEST(job(id).staged_rows == 3);
    stage(id, {row(1, "a@x.test")});
    BOOST_TEST(job(id).staged_rows == 3);
}

BOOST_AUTO_TEST_CASE(overlapping_chunks_across_blocks_store_each_row_once) {
    const ImportId id = staged(people(1, 800));
    stage(id, people(400, 700));
    stage(id, people(1200, 1));
    stage(id, people(450, 2));
    const auto all = rows(id);
    BOOST_TEST(all.size() == 1100);
    BOOST_TEST(job(id).staged_rows == 1100);
    std::int64_t number = 0;
    for (const auto& one : all) {
        number = number == 1099 ? 1200 : number + 1;
        BOOST_TEST(one.row_number == number);
        BOOST_TEST(one.id == id.text() + ":" + std::to_string(number));
        BOOST_TEST(one.state == rules::RowState::Staged);
    }
    BOOST_TEST(client.number("SELECT SUM(row_count) FROM import_blocks") == 1100);
}

BOOST_AUTO_TEST_CASE(unchanged_rows_keep_their_ids) {
    const ImportId id = staged({row(1, "a@x.test"), row(2, "b@x.test")});
    const auto ids = [&] {
        const auto block = client.value("SELECT data FROM import_blocks");
        const auto rows = rules::decode_rows(block);
        return std::vector{rows[0].user_id, rows[1].user_id};
    };
    const auto before = ids();
    stage(id, {row(2, "b@x.test")});
    BOOST_TEST(ids()[0] == before[0]);
    BOOST_TEST(ids()[1] != before[1]);
}

BOOST_AUTO_TEST_CASE(the_highest_row_number_has_its_own_block) {
    const ImportId id = staged({row(2'147'483'647, "z@x.test"), row(1, "a@x.test")});
    BOOST_TEST(emails(id) == (Texts{"1 a@x.test", "2147483647 z@x.test"}));
}

BOOST_AUTO_TEST_CASE(rows_far_apart_are_staged_in_one_call) {
    const ImportId id = staged(people(1, 5000, 501));
    BOOST_TEST(job(id).staged_rows == 5000);
    BOOST_TEST(rows(id).size() == 5000);
}

BOOST_AUTO_TEST_CASE(a_large_block_is_split_and_read_back_completely) {
    const std::string value(4000, 'v');
    const auto heavy = [&](std::int64_t number) {
        std::string attributes;
        for (int i = 0; i < 30; ++i) {
            attributes += (i ? ",\"k" : "{\"k") + std::to_string(i) + "\":\"" + value + '"';
        }
        return row(number, "m" + std::to_string(number) + "@x.test", attributes + "}");
    };
    std::vector<service::NewRow> first;
    for (std::int64_t number = 1; number <= 100; number += 2) first.push_back(heavy(number));
    const ImportId id = staged(first);
    std::vector<service::NewRow> second;
    for (std::int64_t number = 2; number <= 100; number += 2) second.push_back(heavy(number));
    stage(id, second);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM import_blocks") == 3);
    BOOST_TEST(client.number("SELECT MAX(LENGTH(data)) FROM import_blocks") <=
               static_cast<std::int64_t>(rules::kMaxPartBytes));
    const auto all = rows(id);
    BOOST_TEST_REQUIRE(all.size() == 100);
    for (std::size_t i = 0; i < all.size(); ++i) {
        BOOST_TEST(all[i].row_number == static_cast<std::int64_t>(i + 1));
        BOOST_TEST(all[i].payload.find(heavy(1).fields.attributes) != std::string::npos);
    }
    std::vector<service::NewRow> light;
    for (std::int64_t number = 1; number <= 100; ++number) light.push_back(row(number, "a@x.test"));
    stage(id, light);
    BOOST_TEST(client.number("SELECT SUM(LENGTH(data)) FROM import_blocks") < 10'000);
    BOOST_TEST(rows(id).size() == 100);
}

BOOST_AUTO_TEST_CASE(small_and_large_rows_in_any_order_match_a_model) {
    // Rows of 200 kB make parts of twenty; the numbers 1..600 lie in two blocks.
    std::mt19937 random(7);
    const auto roll = [&](int sides) {
        return std::uniform_int_distribution<int>(0, sides - 1)(random);
    };
    std::string weight = R"({"k":"")";
    for (int i = 0; i < 50; ++i)
        weight += ",\"k" + std::to_string(i) + "\":\"" + std::string(4000, 'v') + '"';
    weight += "}";
    std::map<std::int64_t, std::string> model;
    const ImportId id = new_import();
    for (int call = 0; call < 25; ++call) {
        std::map<std::int64_t, service::NewRow> chunk;
        for (int i = roll(12); i >= 0; --i) {
            const std::int64_t number = 1 + roll(600);
            const std::string email =
                "r" + std::to_string(call) + "-" + std::to_string(i) + "@x.test";
            chunk[number] = row(number, email, roll(2) ? weight : "");
            model[number] = email;
        }
        std::vector<service::NewRow> sent;
        for (const auto& [number, one] : chunk) {
            sent.push_back(one);
            model[number] = one.fields.email;
        }
        std::shuffle(sent.begin(), sent.end(), random);
        stage(id, sent);
    }
    Texts expected;
    for (const auto& [number, email] : model)
        expected.push_back(std::to_string(number) + " " + email);
    BOOST_TEST(emails(id) == expected);
    BOOST_TEST(job(id).staged_rows == static_cast<std::int64_t>(model.size()));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM import_blocks") > 4);
    BOOST_TEST(client.number("SELECT MAX(LENGTH(data)) FROM import_blocks") <=
               static_cast<std::int64_t>(rules::kMaxPartBytes));
    BOOST_TEST(client.number("SELECT SUM(row_count) FROM import_blocks") ==
               static_cast<std::int64_t>(model.size()));
}

BOOST_AUTO_TEST_CASE(a_duplicate_row_number_in_a_call_is_rejected_before_staging) {
    const ImportId id = new_import();
    const auto error = error_of([&] {
        stage(id, {row(1, "a@x.test"), row(2, "b@x.test"), row(1, "c@x.test"), row(1, "d@x.test")});
    });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::ValidationError);
    BOOST_TEST(paths(error) ==
               (Texts{"rows[2].rowNumber duplicate", "rows[3].rowNumber duplicate"}));
    BOOST_TEST(job(id).staged_rows == 0);
}

BOOST_AUTO_TEST_CASE(a_job_accepts_250_000_rows_and_no_more) {
    const ImportId id = staged({row(1, "a@x.test")});
    client.execute("UPDATE import_jobs SET staged_rows = 249999");
    stage(id, {row(1, "again@x.test"), row(2, "b@x.test")});
    BOOST_TEST(job(id).staged_rows == 250'000);
    const auto error = error_of([&] { stage(id, {row(2, "b@x.test"), row(3, "c@x.test")}); });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::ImportRowLimitExceeded);
    BOOST_TEST(error->details()["staged_rows"].asInt64() == 250'000);
    BOOST_TEST(error->details()["limit"].asInt64() == 250'000);
    BOOST_TEST(emails(id) == (Texts{"1 again@x.test", "2 b@x.test"}));
    stage(id, {row(2, "still@x.test")});
}

BOOST_AUTO_TEST_CASE(rows_are_staged_only_in_staging) {
    const ImportId id = new_import();
    for (const ImportState state : kStates) {
        put(id, state);
        const auto error = error_of([&] { stage(id, people(1, 1)); });
        BOOST_TEST(error.has_value() == (state != ImportState::Staging), text_of(state));
        if (!error) continue;
        BOOST_TEST(error->code() == ErrorCode::ImportJobInvalidState);
        BOOST_TEST(error->details()["state"].asString() == text_of(state));
        BOOST_TEST(error->details()["expected"].asString() == "staging");
    }
}

BOOST_AUTO_TEST_CASE(parallel_calls_for_the_same_block_lose_no_row) {
    constexpr int kThreads = 8;
    constexpr int kEach = 40;
    const ImportId id = new_import();
    in_parallel(kThreads, [&](int i) {
        test::DatabaseContext worker;
        const auto own = people(1 + i, kEach, kThreads);  // all of them in one block
        worker.as(acme, [&](service::OrgTransaction& transaction) {
            service::stage_rows(transaction, context.settings.limits, id, own);
        });
    });
    BOOST_TEST(job(id).staged_rows == kThreads * kEach);
    BOOST_TEST(rows(id).size() == kThreads * kEach);
}

// ---------------------------------------------------------------------------- state transitions

BOOST_AUTO_TEST_CASE(validation_starts_only_from_staging) {
    const ImportId id = new_import();
    for (const ImportState state : kStates) {
        put(id, state);
        const auto error = error_of([&] { validate(id); });
        if (state == ImportState::Staging) {
            BOOST_TEST(!error.has_value());
            BOOST_TEST(job(id).state == ImportState::Validating);
        } else {
            BOOST_TEST_REQUIRE(error.has_value());
            BOOST_TEST(error->code() == ErrorCode::ImportJobInvalidState, text_of(state));
            BOOST_TEST(error->details()["expected"].asString() == "staging");
            BOOST_TEST(job(id).state == state);
        }
    }
}

BOOST_AUTO_TEST_CASE(only_a_validated_job_is_reopened_and_a_staging_job_is_not_changed) {
    const ImportId id = new_import();
    for (const ImportState state : kStates) {
        put(id, state);
        const auto before = job(id);
        const auto error = error_of([&] { reopen(id); });
        if (state == ImportState::Validated || state == ImportState::Staging) {
            BOOST_TEST(!error.has_value());
            BOOST_TEST(job(id).state == ImportState::Staging);
        } else {
            BOOST_TEST_REQUIRE(error.has_value());
            BOOST_TEST(error->code() == ErrorCode::ImportJobInvalidState, text_of(state));
            BOOST_TEST(job(id).state == state);
        }
        const bool is_changed = state == ImportState::Validated;
        BOOST_TEST((job(id).updated_at != before.updated_at) == is_changed, text_of(state));
        BOOST_TEST((job(id).expires_at == before.expires_at));
    }
}

BOOST_AUTO_TEST_CASE(a_reopened_job_keeps_its_rows_and_starts_its_counts_again) {
    auto all = people(1, 1100);
    all[1].fields.email = all[0].fields.email;
    all[1050].fields.attributes = R"({"hobby":"chess"})";
    const ImportId id = validated(all);
    const auto reopened = reopen(id);
    BOOST_TEST(reopened.staged_rows == 1100);
    BOOST_TEST(reopened.processed_rows + reopened.valid_rows + reopened.invalid_rows == 0);
    BOOST_TEST(!reopened.preview.has_value());
    BOOST_TEST(reopened.errors.empty());
    BOOST_TEST(outcomes(id).at(2) == "invalid ROW_DUPLICATE_IN_FILE");

    // A corrected row is staged again; the other rows of its block keep their results.
    stage(id, {row(2, "corrected@example.test")});
    BOOST_TEST(outcomes(id).at(2) == "staged");
    BOOST_TEST(outcomes(id).at(3) == "valid");
    BOOST_TEST(rows(id, rules::RowState::Invalid).size() == 1U);
    BOOST_TEST(rows(id, rules::RowState::Staged).size() == 1U);

    validate(id);
    check_rest(lease());
    BOOST_TEST(job(id).valid_rows == 1099);
    BOOST_TEST(job(id).invalid_rows == 1);
    BOOST_TEST(job(id).preview->new_members == 1099);
    BOOST_TEST(job(id).errors.size() == 1U);
    request_commit(id);
    commit_rest(lease());
    BOOST_TEST(job(id).created_count == 1099);
    BOOST_TEST(members() == 1099);
}

BOOST_AUTO_TEST_CASE(a_row_that_lost_its_address_to_a_corrected_row_is_invalid) {
    const ImportId id = validated({row(1, "a@x.test"), row(700, "b@x.test")});
    reopen(id);
    stage(id, {row(1, "b@x.test")});
    validate(id);
    check_rest(lease());
    BOOST_TEST(outcomes(id).at(1) == "valid");
    BOOST_TEST(outcomes(id).at(700) == "invalid ROW_DUPLICATE_IN_FILE");
}

BOOST_AUTO_TEST_CASE(reopening_withdraws_a_requested_commit) {
    const ImportId id = staged(people(1, 3));
    request_commit(id, false);
    check_rest(lease());
    BOOST_TEST(job(id).commit_requested);
    reopen(id);
    BOOST_TEST(!job(id).commit_requested);
    validate(id);
    check_rest(lease());
    BOOST_TEST((service::poll_import(context, acme, id)->state == ImportState::Validated));
}

BOOST_AUTO_TEST_CASE(a_commit_depends_on_the_state_and_the_body) {
    const ImportId id = new_import();
    for (const ImportState state : kStates) {
        for (const std::optional<bool> dry_run :
             {std::optional<bool>(), std::optional(false), std::optional(true)}) {
            put(id, state);
            client.execute("UPDATE import_jobs SET commit_requested = FALSE");
            auto expected = state;
            bool refused = true;
            if (state == ImportState::Validated) {
                refused = false;
                if (dry_run != true) expected = ImportState::Committing;
            } else if (state == ImportState::Staging && dry_run == false) {
                refused = false;
                expected = ImportState::Validating;
            }
            const auto error = error_of([&] { request_commit(id, dry_run); });
            BOOST_TEST(error.has_value() == refused, text_of(state));
            BOOST_TEST(job(id).state == expected, text_of(state));
            BOOST_TEST(job(id).commit_requested ==
                       (expected == ImportState::Validating && state == ImportState::Staging));
            if (!error) continue;
            BOOST_TEST(error->code() == ErrorCode::ImportJobInvalidState);
            BOOST_TEST(error->details()["state"].asString() == text_of(state));
            BOOST_TEST(error->details()["expected"].asString() == "validated");
        }
    }
}

BOOST_AUTO_TEST_CASE(a_job_can_be_canceled_until_it_commits_and_remains_canceled) {
    const ImportId id = new_import();
    for (const ImportState state : kStates) {
        put(id, state);
        const auto error = error_of([&] { cancel(id); });
        const bool may = rules::can_cancel(state) || state == ImportState::Canceled;
        BOOST_TEST(error.has_value() == !may, text_of(state));
        BOOST_TEST(job(id).state == (may ? ImportState::Canceled : state));
        if (error) BOOST_TEST(error->code() == ErrorCode::ImportJobInvalidState);
    }
    BOOST_TEST(!create_error(test::email_mapping()).has_value());
}

BOOST_AUTO_TEST_CASE(a_poll_starts_the_requested_commit_of_a_validated_job) {
    const ImportId id = staged(people(1, 3));
    request_commit(id, false);
    const auto poll = [&] {
        const auto polled = service::poll_import(context, acme, id);
        BOOST_TEST_REQUIRE(polled.has_value());
        return polled->state;
    };
    BOOST_TEST(poll() == ImportState::Validating);
    check_rest(lease());
    BOOST_TEST(job(id).state == ImportState::Validated);
    BOOST_TEST(poll() == ImportState::Committing);
    BOOST_TEST(!job(id).commit_requested);
    BOOST_TEST(poll() == ImportState::Committing);
}

BOOST_AUTO_TEST_CASE(a_commit_does_not_start_after_its_request_was_withdrawn) {
    const ImportId id = validated(people(1, 2));
    const bool is_started = as(acme, [&](service::OrgTransaction& transaction) {
        db::OrgStore org(transaction.tx, acme);
        return store::start_requested_commit(org, id, transaction.now);
    });
    BOOST_TEST(!is_started);
    BOOST_TEST((job(id).state == rules::ImportState::Validated));
}

BOOST_AUTO_TEST_CASE(a_poll_does_not_change_a_job_without_a_requested_commit) {
    const ImportId id = validated(people(1, 3));
    const auto polled = service::poll_import(context, acme, id);
    BOOST_TEST(polled->state == ImportState::Validated);
}

BOOST_AUTO_TEST_CASE(an_unknown_or_foreign_job_is_not_found) {
    const OrgId other = organization("Other");
    const ImportId theirs = new_import(other);
    for (const ImportId id : {ImportId::create(), theirs}) {
        BOOST_TEST(code_of([&] { stage(id, people(1, 1)); }) == ErrorCode::NotFound);
        BOOST_TEST(code_of([&] { validate(id); }) == ErrorCode::NotFound);
        BOOST_TEST(code_of([&] { request_commit(id, false); }) == ErrorCode::NotFound);
        BOOST_TEST(code_of([&] { cancel(id); }) == ErrorCode::NotFound);
        BOOST_TEST(!service::read_import(context, acme, id).has_value());
        BOOST_TEST(!service::poll_import(context, acme, id).has_value());
        BOOST_TEST(!service::list_import_rows(context, acme, id, 0, {}, 10).has_value());
    }
    BOOST_TEST(service::read_import(context, other, theirs)->state == ImportState::Staging);
}

BOOST_AUTO_TEST_CASE(a_job_canceled_by_the_operator_is_logged_once) {
    const ImportId id = new_import();
    cancel(id);
    cancel(id);
    const auto log = service::newest_audit_entries(context, acme, "import.canceled", 10);
    BOOST_TEST_REQUIRE(log.size() == 1);
    BOOST_TEST(log.front().subject_id.value() == id.text());
}

BOOST_AUTO_TEST_SUITE_END()
