// A tenant cannot reach another: every statement of store/ that names an organization is run by a
// stranger on the rows of the owner, and by the owner as a control. A missing statement fails the
// last test case.
#include "db/two_tenants.hpp"
#include "rules/attributes.hpp"
#include "rules/imports/block.hpp"
#include "rules/imports/jobs.hpp"
#include "store/access/admins.hpp"
#include "store/access/api_keys.hpp"
#include "store/access/organizations.hpp"
#include "store/attributes.hpp"
#include "store/idempotency.hpp"
#include "store/imports/blocks.hpp"
#include "store/imports/jobs.hpp"
#include "store/imports/undo.hpp"
#include "store/members/members.hpp"
#include "store/outbox.hpp"
#include "store/privacy/erasure.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

using namespace muster;
using db::OrgStore;
using rules::ImportState;
using store::BlockKey;
using test::kHash;
using test::kLater;
using test::kNow;
using test::TwoTenants;

namespace {

// The text must have static lifetime.
boost::unit_test::decorator::depends_on after(const char* test_case) {
    return boost::unit_test::decorator::depends_on(test_case);
}

// The names in `OrgSql kFind{"imports.find", …}`.
std::vector<std::string> tenant_statements(std::string_view source) {
    std::vector<std::string> names;
    for (std::size_t at = 0; (at = source.find("OrgSql k", at)) != std::string_view::npos; ++at) {
        const std::size_t begin = source.find('"', at) + 1;
        names.emplace_back(source.substr(begin, source.find('"', begin) - begin));
    }
    return names;
}

bool has_block(const std::vector<store::Block>& blocks) {
    return !blocks.empty();
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tenancy, TwoTenants)

BOOST_AUTO_TEST_CASE(the_fixtures_fill_every_tenant_table) {
    for (const auto& [table, digest] : client.snapshot(owner.id)) BOOST_TEST(digest != "", table);
}

BOOST_AUTO_TEST_CASE(organizations_and_seats) {
    check(
        {"organizations.find"},
        [](OrgStore& org) { return store::find_organization(org).has_value(); }, OrgId::create());
    check({"seats.insert"},
          [&](OrgStore& org) { return !store::insert_seat(org, owner.admin, "viewer", kNow); });
    check({"seats.list"}, [&](OrgStore& org) {
        const auto holders = store::list_seat_holders(org);
        return holders.size() != 1 || holders.front().admin_id == owner.admin;
    });
    check({"seats.find_role"},
          [&](OrgStore& org) { return store::find_role(org, owner.admin).has_value(); });
    check({"seats.delete"}, [&](OrgStore& org) { return store::delete_seat(org, owner.admin); });
}

BOOST_AUTO_TEST_CASE(api_keys) {
    check({"api_keys.insert"}, [&](OrgStore& org) {
        return test::kind_of([&] { store::insert_api_key(org, api_key(owner), kHash); }) ==
               db::DbError::Kind::Duplicate;
    });
    check({"api_keys.page"}, [&](OrgStore& org) {
        const auto keys = store::page_api_keys(org, {}, kNow, 10);
        return keys.size() != 1 || keys.front().id == owner.key;
    });
    client.execute("UPDATE api_keys SET revoked_at = ? WHERE id = ?", kNow, stranger.key);
    check({"api_keys.count_live"},
          [&](OrgStore& org) { return store::count_live_api_keys(org, kNow, 10) == 1; });
    check({"api_keys.find"},
          [&](OrgStore& org) { return store::find_api_key(org, owner.key).has_value(); });
    check({"api_keys.lock"},
          [&](OrgStore& org) { return store::lock_api_key(org, owner.key).has_value(); });
    check({"api_keys.set_expiry"}, [&](OrgStore& org) {
        store::set_api_key_expiry(org, owner.key, kLater);
        return false;
    });
    check({"api_keys.write"}, [&](OrgStore& org) {
        auto key = api_key(owner);
        key.name = "changed";
        store::write_api_key(org, key);
        return false;
    });
    check({"api_keys.revoke"},
          [&](OrgStore& org) { return store::revoke_api_key(org, owner.key, kNow); });
    check({"api_keys.lock_to_touch"},
          [&](OrgStore& org) { return store::lock_api_key_to_touch(org, owner.key, kLater); });
    check({"api_keys.touch"}, [&](OrgStore& org) {
        store::touch_api_key(org, owner.key, kNow);
        return false;
    });
}

BOOST_AUTO_TEST_CASE(attributes) {
    check({"attributes.insert"}, [&](OrgStore& org) {
        // The stranger has no such key: the key of the owner does not block it.
        auto record = attribute(owner, "only.the.owner.has.it");
        record.id = AttributeId::create();
        if (org.org() == owner.id) record.attribute.key = "color";
        return !store::insert_attribute(org, record);
    });
    const auto has_owner_s = [&](const std::vector<rules::AttributeRecord>& records) {
        return std::any_of(records.begin(), records.end(),
                           [&](const auto& record) { return record.id == owner.attribute; });
    };
    check({"attributes.list"},
          [&](OrgStore& org) { return has_owner_s(store::list_attributes(org)); });
    const auto number_of = [&](OrgId organization) {
        return client.number("SELECT COUNT(*) FROM attributes WHERE organization_id = ?",
                             organization);
    };
    const auto owner_s = number_of(owner.id);
    const auto stranger_s = number_of(stranger.id);
    check({"attributes.count"}, [&](OrgStore& org) {
        const auto counted = store::count_attributes(org);
        return org.org() == owner.id ? counted == owner_s : counted != stranger_s;
    });
    client.execute("UPDATE attributes SET choices = IF(organization_id = ?, '[\"S\"]', NULL)",
                   owner.id);
    check({"attributes.sum_choice_bytes"},
          [&](OrgStore& org) { return store::sum_choice_bytes(org) > 0; });
    check({"attributes.page"},
          [&](OrgStore& org) { return has_owner_s(store::page_attributes(org, "", 100)); });
    check({"attributes.set_enabled"}, [&](OrgStore& org) {
        store::set_attribute_enabled(org, "color", false, kLater);
        return false;
    });
}

BOOST_AUTO_TEST_CASE(attributes_for_writing) {
    const auto is_owner_s = [&](const rules::AttributeRecord& record) {
        return record.id == owner.attribute;
    };
    check({"attributes.list_shared"}, [&](OrgStore& org) {
        const auto records = store::list_attributes_for_writing(org);
        return std::any_of(records.begin(), records.end(), is_owner_s);
    });
    check({"attributes.find_record"}, [&](OrgStore& org) {
        const auto record = store::find_attribute(org, "color");
        return record && is_owner_s(*record);
    });
    check({"attributes.lock"}, [&](OrgStore& org) {
        const auto record = store::lock_attribute(org, "color");
        return record && is_owner_s(*record);
    });
    check({"attributes.update"}, [&](OrgStore& org) {
        auto changed = attribute(owner, "color");
        changed.attribute.label = "Changed";
        store::update_attribute(org, changed);
        return false;
    });
}

BOOST_AUTO_TEST_CASE(idempotency_keys) {
    const auto reply = record();
    check({"idempotency.insert"}, [&](OrgStore& org) {
        return !store::insert_idempotency_records(org, {&reply, 1}, kNow);
    });
    check({"idempotency.find"}, [&](OrgStore& org) {
        return !store::find_idempotency_records(org, {&kHash, 1}, store::RecordLock::None).empty();
    });
    check({"idempotency.find_shared"}, [&](OrgStore& org) {
        return !store::find_idempotency_records(org, {&kHash, 1}, store::RecordLock::Share).empty();
    });
    check({"idempotency.delete_expired"}, [&](OrgStore& org) {
        store::delete_expired_idempotency_records(org, {&kHash, 1}, kLater);
        return false;
    });
}

BOOST_AUTO_TEST_CASE(erasure) {
    check({"erasure.scan_blocks"}, [&](OrgStore& org) {
        const auto blocks = store::scan_blocks(org, std::nullopt, "data", 100);
        return std::any_of(blocks.begin(), blocks.end(),
                           [&](const auto& block) { return block.place.job == owner.job; });
    });
    check({"erasure.lock_import_state"},
          [&](OrgStore& org) { return store::lock_import_state(org, owner.job).has_value(); });
    check({"erasure.replace_block_data"}, [&](OrgStore& org) {
        store::replace_block_data(org, {owner.job, {0, 0}}, "other");
        return false;
    });
    check({"erasure.scan_replies"}, [&](OrgStore& org) {
        const auto replies = store::scan_replies(org, "", "", 100);
        return std::any_of(replies.begin(), replies.end(),
                           [&](const auto& reply) { return reply.key_hash == kHash; });
    });
    check({"erasure.delete_replies"}, [&](OrgStore& org) {
        return store::delete_replies(org, {&kHash, 1}, "") > 0;
    });
}

BOOST_AUTO_TEST_CASE(members) {
    check({"members.find_memberships"}, [&](OrgStore& org) {
        return !store::find_memberships(org, {&owner.user, 1}).empty();
    });
    const std::string_view email = "owner@example.test";
    check({"members.count_among"}, [&](OrgStore& org) {
        return store::count_members_among(org, {&email, 1}) > 0;
    });
    check({"members.find_known_users"}, [&](OrgStore& org) {
        const auto known = store::find_known_users(org, {&email, 1});
        return known.at(std::string(email)).membership.has_value();
    });
    check({"members.fill"}, [&](OrgStore& org) {
        const auto member = empty_member(owner, "Ann");
        store::fill_members(org, {&member, 1}, kLater);
        return false;
    });
    const UserId newcomer = UserId::create();
    client.execute("INSERT INTO users (id, email, created_at) VALUES (?, 'new@example.test', 1)",
                   newcomer);
    check({"members.insert"}, [&](OrgStore& org) {
        const store::NewMember member{newcomer, MemberId::create(), "new@example.test", {}, "{}"};
        store::insert_members(org, {&member, 1}, kLater);
        return false;
    });
}

BOOST_AUTO_TEST_CASE(members_one_by_one) {
    check({"members.find_many"}, [&](OrgStore& org) {
        return !store::find_members(org, {&owner.user, 1}).empty();
    });
    check({"members.lock_many"}, [&](OrgStore& org) {
        return !store::lock_members(org, {&owner.user, 1}).empty();
    });
    check({"imports.find_members_with_events"}, [&](OrgStore& org) {
        return !store::find_members_with_events(org, {&owner.member, 1}).empty();
    });
    check({"members.lock"},
          [&](OrgStore& org) { return store::lock_member(org, owner.user).has_value(); });
    check({"members.update"}, [&](OrgStore& org) {
        rules::Member member;
        member.user_id = owner.user;
        member.attributes = "{}";
        member.status = "locked";
        member.updated_at = kLater;
        store::update_member(org, member);
        return false;
    });
    client.execute(
        "UPDATE members SET attributes = '{\"only.owner\": [\"x\", \"api\", 1]}' "
        "WHERE organization_id = ?",
        owner.id);
    check({"attributes.find_used"},
          [&](OrgStore& org) { return store::is_attribute_used(org, "only.owner", {}); });
    client.execute("UPDATE members SET updated_at = 1 WHERE organization_id = ?", stranger.id);
    check({"attributes.page_changed"}, [&](OrgStore& org) {
        return !store::page_changed_members(org, Timestamp(2), {}, 9).empty();
    });
    check({"members.delete_many"}, [&](OrgStore& org) {
        store::delete_members(org, {&owner.user, 1});
        return false;
    });
    check({"members.delete"}, [&](OrgStore& org) { return store::delete_member(org, owner.user); });
}

BOOST_AUTO_TEST_CASE(import_jobs) {
    const std::vector<std::string> insertion = {"imports.insert", "imports.free_expired_slot",
                                                "imports.find_active"};
    check(insertion,
          [&](OrgStore& org) { return store::insert_import(org, job(owner)) == owner.job; });
    check({"imports.find"},
          [&](OrgStore& org) { return store::find_import(org, owner.job, kNow).has_value(); });
    check({"imports.lock"},
          [&](OrgStore& org) { return store::lock_import(org, owner.job, kNow).has_value(); });
    const auto has_owner_s = [&](const std::vector<rules::ImportJob>& jobs) {
        return jobs.size() != 1 || jobs.front().id == owner.job;
    };
    check({"imports.page"},
          [&](OrgStore& org) { return has_owner_s(store::page_imports(org, {}, {}, 10, kNow)); });
    check({"imports.page_of_state"}, [&](OrgStore& org) {
        return has_owner_s(store::page_imports(org, {}, ImportState::Staging, 10, kNow));
    });
    check({"imports.add_staged_rows"},
          [&](OrgStore& org) { return store::add_staged_rows(org, owner.job, 1, 100, kNow); });
    check({"imports.move"}, [&](OrgStore& org) {
        return store::move_import(org, owner.job, ImportState::Staging, ImportState::Canceled,
                                  kNow);
    });
    check({"imports.move_to_validating"}, [&](OrgStore& org) {
        return store::move_import_to_validating(org, owner.job, true, kNow);
    });
    client.execute("UPDATE import_jobs SET state = 'validated', commit_requested = TRUE");
    check({"imports.start_requested_commit"},
          [&](OrgStore& org) { return store::start_requested_commit(org, owner.job, kNow); });
    check({"imports.move_to_staging"},
          [&](OrgStore& org) { return store::move_import_to_staging(org, owner.job, kNow); });
    put_job("staging");
    client.execute("UPDATE import_progress SET row_errors = '[]' WHERE organization_id = ?",
                   owner.id);
    check({"imports.clear_row_errors"}, [&](OrgStore& org) {
        store::clear_row_errors(org, owner.job);
        return false;
    });
    check({"imports.begin_phase"}, [&](OrgStore& org) {
        store::begin_import_phase(org, owner.job, kLater);
        return false;
    });
    client.execute("UPDATE import_jobs SET expires_at = ? WHERE organization_id = ?", kNow,
                   owner.id);
    check(insertion,
          [&](OrgStore& org) {  // only the slot of the owner is free
              auto next = job(owner);
              next.id = ImportId::create();
              return !store::insert_import(org, next);
          });
    client.execute("DELETE FROM import_blocks WHERE organization_id = ?", owner.id);
    check({"imports.delete"}, [&](OrgStore& org) {
        store::delete_import(org, owner.job);
        return false;
    });
}

BOOST_AUTO_TEST_CASE(leases_on_import_jobs) {
    const Uuid runner = Uuid::v7();
    put_job("validating");
    check({"imports.claim"},
          [&](OrgStore& org) { return store::claim_import(org, owner.job, runner, kNow, kLater); });
    put_job("validating", runner);
    check({"imports.release"}, [&](OrgStore& org) {
        store::release_import(org, owner.job, runner, true, kNow, kLater);
        return false;
    });
    check({"imports.add_progress"}, [&](OrgStore& org) {
        return store::add_import_progress(org, owner.job, runner, ImportState::Validating, {},
                                          BlockKey{1, 0}, kNow, kLater);
    });
    check({"imports.lock_row_errors", "imports.write_row_errors"}, [&](OrgStore& org) {
        rules::ErrorCounts more;
        more.add(rules::RowError::WriteFailed, "");
        store::add_row_errors(org, owner.job, more, kNow);
        return false;
    });
    put_job("completed");
    check({"imports.move_to_undoing", "imports.insert_undo"}, [&](OrgStore& org) {
        store::move_import_to_undoing(org, owner.job, kNow);
        return false;
    });
    put_job("validating", runner);
    check({"imports.add_undo_counts"}, [&](OrgStore& org) {
        store::add_undo_counts(org, owner.job, {.removed = 1});
        return false;
    });
    check({"imports.finish"}, [&](OrgStore& org) {
        return store::finish_import(org, owner.job, runner, ImportState::Validating,
                                    ImportState::Validated, std::nullopt, kNow);
    });
}

BOOST_AUTO_TEST_CASE(import_blocks) {
    const std::vector<std::uint32_t> numbers{0, 1};
    check({"import_blocks.find_parts"},
          [&](OrgStore& org) { return !store::find_parts(org, owner.job, numbers).empty(); });
    check({"import_blocks.read_parts"}, [&](OrgStore& org) {
        return store::read_block(org, owner.job, {0, 0}).has_value();
    });
    check({"import_blocks.delete"}, [&](OrgStore& org) {
        store::delete_parts(org, owner.job, std::array{rules::BlockKey{0, 0}});
        return false;
    });
    check({"import_blocks.insert"}, [&](OrgStore& org) {
        const store::NewBlock block{{2, 0}, 1, "data"};
        store::insert_blocks(org, owner.job, {&block, 1}, kNow);
        return false;
    });
    check({"import_blocks.find_uncommitted"}, [&](OrgStore& org) {
        return !store::find_uncommitted_blocks(org, owner.job, {}, 10).empty();
    });
    check({"import_blocks.lock_uncommitted"}, [&](OrgStore& org) {
        return store::lock_uncommitted_block(org, owner.job, {0, 0}).has_value();
    });
    client.run("UPDATE import_blocks SET state = 'committed', created_count = 1");
    check({"import_blocks.find_committed", "import_blocks.count_committed"}, [&](OrgStore& org) {
        return store::find_committed_blocks(org, owner.job, {}, 10).size() +
                   store::count_committed_rows(org, owner.job, {}, 10).size() >
               0;
    });
    check({"import_blocks.read_new_members"},
          [&](OrgStore& org) { return !store::read_new_members(org, owner.job, {}, 10).empty(); });
    check({"import_blocks.find_last"},
          [&](OrgStore& org) { return store::find_last_block(org, owner.job).has_value(); });
    check({"import_blocks.lock_committed"}, [&](OrgStore& org) {
        return store::lock_committed_block(org, owner.job, {0, 0}).has_value();
    });
    check({"import_blocks.write_outcome"}, [&](OrgStore& org) {
        store::write_outcome(org, owner.job, {0, 0}, store::BlockState::Committed, {}, kLater);
        return false;
    });
    check({"import_blocks.delete_some"},
          [&](OrgStore& org) { return store::delete_some_blocks(org, owner.job, 10) > 0; });
}

BOOST_AUTO_TEST_CASE(import_blocks_by_state) {
    check({"import_blocks.read"},
          [&](OrgStore& org) { return has_block(store::read_blocks(org, owner.job, {}, {}, 10)); });
    for (const auto& name : kNames<rules::RowState>) {
        check({"import_blocks.read_states"}, [&](OrgStore& org) {
            return has_block(store::read_blocks(org, owner.job, {}, {name.value}, 10));
        });
    }
}

BOOST_AUTO_TEST_CASE(webhook_outbox) {
    client.run("UPDATE webhook_endpoints SET event_types = CONCAT('a.', HEX(organization_id))");
    const std::string type = client.value(
        "SELECT event_types FROM webhook_endpoints WHERE organization_id = ?", owner.id);
    check({"webhook_outbox.has_subscription", "webhook_outbox.has_listener"},
          [&](OrgStore& org) { return store::has_listener(org, type); });
    check({"webhook_outbox.insert"}, [&](OrgStore& org) {
        const store::NewWebhookEvent event{owner.webhook_event, "a.b", "{}", {}};
        store::insert_outbox(org, {&event, 1}, kNow);
        return false;
    });
    check({"webhook_outbox.insert_events"}, [&](OrgStore& org) {
        const store::NewWebhookEvent event{WebhookEventId::create(), "a.b", "{}", {}};
        store::insert_webhook_events(org, {&event, 1}, kNow);
        return false;
    });
    check({"webhook_outbox.insert_deliveries"}, [&](OrgStore& org) {
        const store::NewDelivery delivery{DeliveryId::create(), owner.endpoint, owner.webhook_event,
                                          kNow};
        store::insert_deliveries(org, {&delivery, 1}, kNow);
        return false;
    });
}

// Boost runs the named cases before this one, whatever the filter.
BOOST_AUTO_TEST_CASE(
    every_tenant_statement_of_the_store_was_run,
    *after("tenancy/organizations_and_seats") * after("tenancy/seats_of_a_team") *
        after("tenancy/invitations") * after("tenancy/api_keys") * after("tenancy/attributes") *
        after("tenancy/audit_log") * after("tenancy/audit_subjects") * after("tenancy/erasure") *
        after("tenancy/idempotency_keys") * after("tenancy/members") *
        after("tenancy/import_jobs") * after("tenancy/leases_on_import_jobs") *
        after("tenancy/member_jobs") * after("tenancy/import_blocks") *
        after("tenancy/attributes_for_writing") * after("tenancy/members_one_by_one") *
        after("tenancy/pages_of_members") * after("tenancy/import_blocks_by_state") *
        after("tenancy/modules") * after("tenancy/module_versions") *
        after("tenancy/installations") * after("tenancy/configs_of_installations") *
        after("tenancy/webhook_outbox") * after("tenancy/webhook_endpoints") *
        after("tenancy/webhook_deliveries") * after("tenancy_webhook_queue/webhook_queue") *
        after("tenancy_webhook_queue/webhook_queue_under_a_lease") *
        after("tenancy_webhook_queue/webhook_queue_and_endpoints") *
        after("tenancy_webhook_fan_out/webhook_subscriptions") *
        after("tenancy_webhook_fan_out/webhook_fan_out") * after("tenancy/module_credentials") *
        after("tenancy/engagement_events") * after("tenancy/events_of_a_person") *
        after("tenancy/articles") * after("tenancy/tags_of_articles") *
        after("tenancy/pages_of_articles") * after("tenancy/publishable_keys") *
        after("tenancy/engagement_events_read_back") * after("tenancy_ads/ad_slots") *
        after("tenancy_ads/ad_campaigns") * after("tenancy_ads/ad_creatives") *
        after("tenancy_ads/figures_of_ad_campaigns") * after("tenancy_ads/ad_serving") *
        after("tenancy/connections") * after("tenancy/connection_authorizations") *
        after("tenancy_connection_leases/connection_leases") *
        after("tenancy_connection_leases/connections_under_a_lease") *
        after("tenancy_connection_leases/removed_connections") * after("tenancy/import_discards") *
        after("tenancy/quotas") * after("tenancy/counts_of_the_usage")) {
    std::set<std::string> defined;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(test::source_root() + "/src/store")) {
        if (!entry.is_regular_file()) continue;
        std::ifstream in(entry.path());
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        for (const std::string& name : tenant_statements(text)) {
            BOOST_TEST(defined.insert(name).second, "twice: " << name);
        }
    }
    BOOST_TEST(defined.size() > 40);
    for (const std::string& name : defined) BOOST_TEST(exercised.contains(name), name);
    for (const std::string& name : exercised) BOOST_TEST(defined.contains(name), name);
}

BOOST_AUTO_TEST_SUITE_END()
