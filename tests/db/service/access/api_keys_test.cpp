// service/access/api_keys.hpp: keys are shown once, listed, rotated and revoked, and identify their
// organization while they are valid.
#include "service/access/api_keys.hpp"
#include "rules/audit.hpp"

#include "base/crypto.hpp"
#include "db/admins.hpp"
#include "db/lookups.hpp"
#include "service/access/organizations.hpp"
#include "service/access/team.hpp"
#include "service/audit.hpp"
#include "service/callers.hpp"

#include "print.hpp"

#include <functional>
#include <future>

using namespace muster;
using service::IssuedKey;
using test::code_of;
using test::Fixture;
using test::kDay;
using test::kHour;

namespace {

struct ApiKeys : Fixture {
    std::optional<service::Caller> identify(const Secret& secret) {
        return test::find_caller(context, secret.reveal());
    }
    IssuedKey issue(std::string name = "key", std::optional<Timestamp> expires_at = {}) {
        return service::issue_api_key(context, acme, {std::move(name), expires_at, {}, {}});
    }
    bool revoke(ApiKeyId id) { return service::revoke_api_key(context, acme, id); }
    std::vector<rules::ApiKey> list() {
        return service::list_api_keys(context, acme, std::nullopt, 100);
    }

    // As an admin, through the API.
    template <class Work>
    auto as_admin(const Work& work) {
        return database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{
                tx, {acme, admin, std::nullopt, "req-1"}, Timestamp::now()};
            return work(transaction);
        });
    }
    IssuedKey rotate(ApiKeyId id, Milliseconds overlap, const service::SuccessorEnd& end = {}) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::rotate_api_key(transaction, context.keys, id, overlap, end);
        });
    }
    rules::ApiKey change(ApiKeyId id, const service::ApiKeyChange& wanted) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::change_api_key(transaction, context.keys, id, wanted, {100, 200});
        });
    }
    std::vector<rules::AuditEntry> log() {
        return service::list_audit_log(context, acme, {}, {}, 100).entries;
    }

    std::string last_used() { return client.value("SELECT last_used_at FROM api_keys"); }

    OrgId acme = organization("Acme");
    AdminId admin = service::add_admin(context, acme, "ann@example.test", "owner").id;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(api_keys, ApiKeys)

BOOST_AUTO_TEST_CASE(a_key_is_stored_as_a_digest_and_identifies_its_organization) {
    const auto issued = issue(" CRM ");
    const std::string& text = issued.secret.reveal();
    BOOST_TEST(text.starts_with("org_"));
    BOOST_TEST(issued.key.name == "CRM");
    BOOST_TEST(issued.key.last_four == text.substr(text.size() - 4));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM api_keys WHERE secret_hash = ?", sha256(text)) ==
               1);
    const auto caller = identify(issued.secret);
    BOOST_TEST_REQUIRE(caller.has_value());
    BOOST_TEST(caller->actor.organization == acme);
    BOOST_TEST(caller->actor.api_key == issued.key.id);
    BOOST_TEST(!caller->actor.admin.has_value());
    BOOST_TEST(!caller->session.has_value());
    const auto listed = list();
    BOOST_TEST_REQUIRE(listed.size() == 1);
    BOOST_TEST(listed.front().id == issued.key.id);
    BOOST_TEST(listed.front().last_used_at.has_value());
    BOOST_TEST(!listed.front().revoked_at.has_value());
}

BOOST_AUTO_TEST_CASE(an_invalid_key_identifies_no_caller) {
    const auto issued = issue();
    std::string mistyped = issued.secret.reveal();
    mistyped[10] = mistyped[10] == 'a' ? 'b' : 'a';
    for (const std::string& token :
         {std::string(), std::string("org_"), mistyped, issued.secret.reveal() + "x",
          create_credential("org_").reveal(), create_credential("mk_live_").reveal(),
          create_credential("").reveal(), issued.secret.reveal().substr(4),
          std::string("' OR '1'='1")}) {
        BOOST_TEST(!test::find_caller(context, token).has_value());
        BOOST_TEST(service::verify_api_keys(context, std::array{token}).empty());
    }
    BOOST_TEST(last_used() == "NULL");
}

BOOST_AUTO_TEST_CASE(a_mistyped_key_does_not_reach_the_database) {
    db::statistics() = {};
    (void)test::find_caller(context, "org_" + std::string(49, 'x'));
    (void)test::find_caller(context, std::string(49, 'x'));
    BOOST_TEST(db::statistics().statements == 0);
}

BOOST_AUTO_TEST_CASE(a_revoked_key_is_rejected_on_the_next_request_and_revoked_once) {
    const auto issued = issue();
    const auto kept = issue("other");
    BOOST_TEST(identify(issued.secret).has_value());
    BOOST_TEST(revoke(issued.key.id));
    BOOST_TEST(!identify(issued.secret).has_value());
    BOOST_TEST(identify(kept.secret).has_value());
    const auto when = client.value("SELECT MAX(revoked_at) FROM api_keys");
    BOOST_TEST(!revoke(issued.key.id));
    BOOST_TEST(client.value("SELECT MAX(revoked_at) FROM api_keys") == when);
    BOOST_TEST(!revoke(ApiKeyId::create()));
}

BOOST_AUTO_TEST_CASE(a_key_expires_at_its_time) {
    const auto issued = issue("key", Timestamp::now() + kHour);
    BOOST_TEST(identify(issued.secret).has_value());
    client.execute("UPDATE api_keys SET expires_at = ?", Timestamp::now());
    BOOST_TEST(!identify(issued.secret).has_value());
}

BOOST_AUTO_TEST_CASE(the_last_use_is_written_at_most_once_a_minute) {
    const auto issued = issue();
    BOOST_TEST(last_used() == "NULL");
    (void)identify(issued.secret);
    const auto first = last_used();
    BOOST_TEST(first != "NULL");
    client.execute("UPDATE api_keys SET last_used_at = ?", Timestamp::now() - Milliseconds(50'000));
    const auto recent = last_used();
    (void)identify(issued.secret);
    BOOST_TEST(last_used() == recent);
    client.execute("UPDATE api_keys SET last_used_at = ?", Timestamp::now() - Milliseconds(61'000));
    const auto old = last_used();
    (void)identify(issued.secret);
    BOOST_TEST(last_used() != old);
}

BOOST_AUTO_TEST_CASE(a_rejected_key_does_not_update_the_last_use) {
    const auto issued = issue();
    revoke(issued.key.id);
    (void)identify(issued.secret);
    BOOST_TEST(last_used() == "NULL");
}

BOOST_AUTO_TEST_CASE(a_key_has_its_own_rates_or_the_defaults) {
    const auto own = service::issue_api_key(context, acme, {"key", {}, 7, 9});
    const auto caller = identify(own.secret);
    BOOST_TEST(caller->rate_per_second == 7);
    BOOST_TEST(caller->burst == 9);
    BOOST_TEST(caller->rate_subject == own.key.id.bytes());
    const auto plain = identify(issue().secret);
    BOOST_TEST(!plain->rate_per_second.has_value());
    BOOST_TEST(!plain->burst.has_value());
    BOOST_TEST(plain->rate_subject != caller->rate_subject);
}

// ---------------------------------------------------------------------------- issued by an admin

BOOST_AUTO_TEST_CASE(the_key_of_an_admin_records_its_creator_and_expires_in_the_future) {
    const auto issued = as_admin([&](service::OrgTransaction& transaction) {
        return service::issue_api_key(transaction, context.keys,
                                      {"CRM", transaction.now + kHour, 5, 6});
    });
    BOOST_TEST(issued.key.created_by == admin);
    BOOST_TEST(identify(issued.secret).has_value());
    const auto listed = list();
    BOOST_TEST_REQUIRE(listed.size() == 1U);
    BOOST_TEST(listed[0].created_by == admin);
    BOOST_TEST(listed[0].expires_at == issued.key.expires_at);
    BOOST_TEST(listed[0].rate_per_second == 5);
    BOOST_TEST(listed[0].last_four == issued.key.last_four);
    const auto error = test::error_of([&] {
        as_admin([&](service::OrgTransaction& transaction) {
            return service::issue_api_key(transaction, context.keys,
                                          {"late", transaction.now, {}, {}});
        });
    });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::ValidationError);
    BOOST_TEST(error->details()["fields"][0]["path"].asString() == "expires_at");
    BOOST_TEST(list().size() == 1U);
}

// ---------------------------------------------------------------------------- roles, changes

BOOST_AUTO_TEST_CASE(a_key_has_a_role_which_its_successor_keeps) {
    const auto reader =
        service::issue_api_key(context, acme, {"reader", {}, {}, {}, rules::KeyRole::Viewer});
    BOOST_TEST((identify(reader.secret)->key_role == rules::Role::Viewer));
    BOOST_TEST((identify(issue().secret)->key_role == rules::Role::Admin));
    BOOST_TEST((list()[0].role == rules::KeyRole::Viewer));
    const auto next = rotate(reader.key.id, Milliseconds(0));
    BOOST_TEST((next.key.role == rules::KeyRole::Viewer));
    BOOST_TEST((identify(next.secret)->key_role == rules::Role::Viewer));
}

BOOST_AUTO_TEST_CASE(a_listed_key_names_the_address_of_its_creator) {
    const auto by_operator = issue();
    const auto by_admin = as_admin([&](service::OrgTransaction& transaction) {
        transaction.actor.admin_email = "ann@example.test";
        return service::issue_api_key(transaction, context.keys, {"CRM", {}, {}, {}});
    });
    BOOST_TEST(by_admin.key.created_by_email.value() == "ann@example.test");
    BOOST_TEST(!by_operator.key.created_by_email.has_value());
    const auto listed = list();
    BOOST_TEST(!listed[0].created_by_email.has_value());
    BOOST_TEST(listed[1].created_by_email.value() == "ann@example.test");
}

BOOST_AUTO_TEST_CASE(a_change_of_a_key_keeps_what_it_does_not_name) {
    const auto issued = service::issue_api_key(context, acme, {"CRM", {}, 5, 6});
    const Timestamp end = Timestamp::now() + kHour;
    change(issued.key.id, {.name = "shop", .expires_at = end});
    auto key = list()[0];
    BOOST_TEST(key.name == "shop");
    BOOST_TEST(key.expires_at == end);
    BOOST_TEST(key.rate_per_second == 5);
    BOOST_TEST(key.burst == 6);
    const std::optional<Timestamp> never;
    const std::optional<std::int64_t> none;
    change(issued.key.id, {.expires_at = never, .rate_per_second = none, .burst = 7});
    key = list()[0];
    BOOST_TEST(key.name == "shop");
    BOOST_TEST(!key.expires_at.has_value());
    BOOST_TEST(!key.rate_per_second.has_value());
    BOOST_TEST(key.burst == 7);
    BOOST_TEST(identify(issued.secret).has_value());
    const auto entries = log();
    BOOST_TEST(entries[0].action == "api_key.updated");
    change(issued.key.id, {.name = "shop"});
    BOOST_TEST(log().size() == entries.size());
}

BOOST_AUTO_TEST_CASE(an_admin_raises_no_rate_above_that_of_the_installation) {
    const auto issued = service::issue_api_key(context, acme, {"CRM", {}, 500, {}});
    const auto code = [&](service::ApiKeyChange wanted) {
        return code_of([&] { change(issued.key.id, wanted); });
    };
    BOOST_TEST(code({.rate_per_second = 501}) == ErrorCode::ValidationError);
    BOOST_TEST(code({.rate_per_second = 499}) == ErrorCode::ValidationError);
    BOOST_TEST(code({.burst = 201}) == ErrorCode::ValidationError);
    BOOST_TEST(!code({.name = "kept", .rate_per_second = 500, .burst = 200}).has_value());
    BOOST_TEST(!code({.rate_per_second = 100}).has_value());
    const auto error = test::error_of([&] {
        change(issued.key.id, {.expires_at = Timestamp::now() - kHour, .rate_per_second = 500});
    });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->details()["fields"].size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_key_that_no_longer_works_is_not_changed) {
    const auto revoked = issue();
    revoke(revoked.key.id);
    const auto expired = issue("key", Timestamp::now() + kHour);
    client.execute("UPDATE api_keys SET expires_at = ? WHERE id = ?", Timestamp::now(),
                   expired.key.id);
    const auto foreign =
        service::issue_api_key(context, organization("Other"), {"key", {}, {}, {}});
    const auto code = [&](ApiKeyId id) { return code_of([&] { change(id, {.name = "x"}); }); };
    BOOST_TEST(code(revoked.key.id) == ErrorCode::InvalidState);
    BOOST_TEST(code(expired.key.id) == ErrorCode::InvalidState);
    BOOST_TEST(code(foreign.key.id) == ErrorCode::NotFound);
    BOOST_TEST(code(ApiKeyId::create()) == ErrorCode::NotFound);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM api_keys WHERE name = 'x'") == 0);
}

// ---------------------------------------------------------------------------- rotation

BOOST_AUTO_TEST_CASE(both_keys_work_during_the_overlap_of_a_rotation) {
    const auto old = service::issue_api_key(context, acme, {"CRM", {}, 5, 6});
    const Timestamp before = Timestamp::now();
    const auto next = rotate(old.key.id, kHour);
    BOOST_TEST(next.key.id != old.key.id);
    BOOST_TEST(next.secret.reveal() != old.secret.reveal());
    BOOST_TEST(next.key.name == "CRM");
    BOOST_TEST(next.key.rate_per_second == 5);
    BOOST_TEST(next.key.burst == 6);
    BOOST_TEST(next.key.created_by == admin);
    BOOST_TEST(!next.key.expires_at.has_value());
    BOOST_TEST(identify(old.secret).has_value());
    BOOST_TEST(identify(next.secret).has_value());
    const auto listed = list();
    BOOST_TEST_REQUIRE(listed.size() == 2U);
    BOOST_TEST(listed[0].id == old.key.id);
    BOOST_TEST_REQUIRE(listed[0].expires_at.has_value());
    BOOST_TEST(*listed[0].expires_at >= before + kHour);
    BOOST_TEST(*listed[0].expires_at <= Timestamp::now() + kHour);
    client.execute("UPDATE api_keys SET expires_at = ? WHERE id = ?", Timestamp::now(), old.key.id);
    BOOST_TEST(!identify(old.secret).has_value());
    BOOST_TEST(identify(next.secret).has_value());
}

BOOST_AUTO_TEST_CASE(without_an_overlap_the_old_key_is_rejected_immediately) {
    const auto old = issue();
    const auto next = rotate(old.key.id, Milliseconds(0));
    BOOST_TEST(!identify(old.secret).has_value());
    BOOST_TEST(identify(next.secret).has_value());
    BOOST_TEST(list()[0].revoked_at.has_value());
}

BOOST_AUTO_TEST_CASE(an_overlap_does_not_extend_the_life_of_a_key) {
    const Timestamp end = Timestamp::now() + kHour;
    const auto old = issue("key", end);
    rotate(old.key.id, 2 * kHour);
    BOOST_TEST(list()[0].expires_at == end);
}

BOOST_AUTO_TEST_CASE(a_second_rotation_leaves_the_oldest_key_its_own_end) {
    const auto first = issue();
    const auto second = rotate(first.key.id, kHour);
    const auto end = list()[0].expires_at;
    const auto third = rotate(second.key.id, 2 * kHour);
    BOOST_TEST((list()[0].expires_at == end));
    for (const auto& issued : {first, second, third}) {
        BOOST_TEST(identify(issued.secret).has_value());
    }
}

BOOST_AUTO_TEST_CASE(a_successor_ends_when_the_old_key_would_unless_another_end_is_given) {
    const Timestamp end = Timestamp::now() + kHour;
    const auto old = issue("key", end);
    BOOST_TEST(rotate(old.key.id, kHour).key.expires_at == end);
    const Timestamp later = end + kDay;
    BOOST_TEST(rotate(old.key.id, kHour, later).key.expires_at == later);
    const std::optional<Timestamp> never;
    BOOST_TEST(!rotate(old.key.id, kHour, never).key.expires_at.has_value());
    const std::optional<Timestamp> past = Timestamp::now() - kHour;
    BOOST_TEST(code_of([&] { rotate(old.key.id, kHour, past); }) == ErrorCode::ValidationError);
}

BOOST_AUTO_TEST_CASE(a_key_is_found_as_long_as_it_is_listed) {
    const auto issued = issue();
    const auto found = service::find_api_key(context, acme, issued.key.id);
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST(found->name == issued.key.name);
    BOOST_TEST(!service::find_api_key(context, organization("Other"), issued.key.id).has_value());
    revoke(issued.key.id);
    BOOST_TEST(service::find_api_key(context, acme, issued.key.id).has_value());
    client.execute("UPDATE api_keys SET revoked_at = ? WHERE id = ?", Timestamp::now() - 31 * kDay,
                   issued.key.id);
    BOOST_TEST(!service::find_api_key(context, acme, issued.key.id).has_value());
}

BOOST_AUTO_TEST_CASE(a_revoked_key_and_a_key_of_another_organization_are_not_rotated) {
    const auto revoked = issue();
    revoke(revoked.key.id);
    const auto expired = issue("key", Timestamp::now() + kHour);
    client.execute("UPDATE api_keys SET expires_at = ? WHERE id = ?", Timestamp::now(),
                   expired.key.id);
    for (const auto& dead : {revoked, expired}) {
        BOOST_TEST(code_of([&] { rotate(dead.key.id, kHour); }) == ErrorCode::InvalidState);
    }
    const OrgId other = organization("Other");
    const auto foreign = service::issue_api_key(context, other, {"key", {}, {}, {}});
    for (const ApiKeyId none : {foreign.key.id, ApiKeyId::create()}) {
        BOOST_TEST(code_of([&] { rotate(none, kHour); }) == ErrorCode::NotFound);
    }
    BOOST_TEST(client.number("SELECT COUNT(*) FROM api_keys") == 3);
    BOOST_TEST(identify(foreign.secret).has_value());
}

BOOST_AUTO_TEST_CASE(two_parallel_rotations_without_overlap_create_one_key) {
    const auto old = issue();
    const auto rotate_it = [&](test::DatabaseContext& worker,
                               const std::function<void()>& before_the_end) {
        worker.as(acme, [&](service::OrgTransaction& transaction) {
            (void)service::rotate_api_key(transaction, context.keys, old.key.id, Milliseconds(0));
            before_the_end();
        });
    };
    std::future<std::optional<ErrorCode>> second;
    rotate_it(*this, [&] {
        second = std::async(std::launch::async, [&] {
            test::DatabaseContext worker;
            return code_of([&] { rotate_it(worker, [] {}); });
        });
        BOOST_TEST(test::until([&] { return client.has_lock_wait(); }));
    });
    BOOST_TEST(second.get() == ErrorCode::InvalidState);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM api_keys WHERE revoked_at IS NULL") == 1);
}

// ---------------------------------------------------------------------------- lists, revocation

BOOST_AUTO_TEST_CASE(a_revoked_key_is_listed_for_thirty_days) {
    const auto dead = issue("dead");
    const auto alive = issue("alive");
    revoke(dead.key.id);
    BOOST_TEST(list().size() == 2U);
    const auto revoked_at = [&](Timestamp when) {
        client.execute("UPDATE api_keys SET revoked_at = ? WHERE id = ?", when, dead.key.id);
    };
    revoked_at(Timestamp::now() - 30 * kDay + Milliseconds(60'000));
    BOOST_TEST(list().size() == 2U);
    revoked_at(Timestamp::now() - 30 * kDay - Milliseconds(1));
    const auto listed = list();
    BOOST_TEST_REQUIRE(listed.size() == 1U);
    BOOST_TEST(listed[0].id == alive.key.id);
}

BOOST_AUTO_TEST_CASE(keys_are_listed_page_by_page_in_order_of_creation) {
    std::vector<ApiKeyId> made;
    for (int i = 0; i < 5; ++i) made.push_back(issue().key.id);
    service::issue_api_key(context, organization("Other"), {"key", {}, {}, {}});
    std::vector<ApiKeyId> found;
    std::optional<ApiKeyId> after;
    for (int page = 0; page < 3; ++page) {
        for (const auto& key : service::list_api_keys(context, acme, after, 2)) {
            found.push_back(key.id);
        }
        after = found.back();
    }
    BOOST_TEST(found == made);
}

BOOST_AUTO_TEST_CASE(an_admin_revokes_a_key_once_and_a_repetition_changes_nothing) {
    const auto issued = issue();
    const auto revoke_it = [&](ApiKeyId id) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::revoke_api_key(transaction, id);
        });
    };
    BOOST_TEST(revoke_it(issued.key.id));
    const auto when = client.value("SELECT revoked_at FROM api_keys");
    BOOST_TEST(revoke_it(issued.key.id));
    BOOST_TEST(client.value("SELECT revoked_at FROM api_keys") == when);
    BOOST_TEST(!revoke_it(ApiKeyId::create()));
    const auto foreign =
        service::issue_api_key(context, organization("Other"), {"key", {}, {}, {}});
    BOOST_TEST(!revoke_it(foreign.key.id));
    BOOST_TEST(identify(foreign.secret).has_value());
}

// ---------------------------------------------------------------------------- audit log

BOOST_AUTO_TEST_CASE(the_log_records_issue_rotation_and_revocation_without_secrets) {
    const auto by_operator = issue("CRM");
    const auto issued = as_admin([&](service::OrgTransaction& transaction) {
        return service::issue_api_key(transaction, context.keys, {"Console", {}, {}, {}});
    });
    const auto next = rotate(issued.key.id, kHour);
    as_admin([&](service::OrgTransaction& transaction) {
        return service::revoke_api_key(transaction, next.key.id);
    });
    as_admin([&](service::OrgTransaction& transaction) {
        return service::revoke_api_key(transaction, next.key.id);
    });
    revoke(by_operator.key.id);
    revoke(by_operator.key.id);
    struct Expected {
        std::string action;
        ApiKeyId subject;
        bool is_admin_s;
        std::string details;
    };
    const std::vector<Expected> expected = {
        {"api_key.revoked", by_operator.key.id, false, "{}"},
        {"api_key.revoked", next.key.id, true, "{}"},
        {"api_key.rotated", issued.key.id, true, R"({"successor":")" + next.key.id.text() + "\"}"},
        {"api_key.issued", issued.key.id, true, R"({"name":"Console"})"},
        {"api_key.issued", by_operator.key.id, false, R"({"name":"CRM"})"}};
    const auto entries = log();
    BOOST_TEST_REQUIRE(entries.size() >= expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        BOOST_TEST(entries[i].action == expected[i].action, i);
        BOOST_TEST(entries[i].subject_id == expected[i].subject.text(), i);
        BOOST_TEST(entries[i].details == expected[i].details, i);
        const bool is_admin_s = entries[i].actor == rules::AuditActor::Admin;
        BOOST_TEST(is_admin_s == expected[i].is_admin_s, i);
        BOOST_TEST(entries[i].actor_id == (is_admin_s ? std::optional(admin) : std::nullopt), i);
        BOOST_TEST(entries[i].request_id.value_or("") == (is_admin_s ? "req-1" : ""), i);
    }
}

BOOST_AUTO_TEST_CASE(a_name_has_1_to_255_characters) {
    std::string longest;
    for (int i = 0; i < 255; ++i) longest += "\u00eb";
    (void)issue(longest);
    for (const std::string& name :
         {std::string(), std::string(" \t\n"), longest + "x", std::string("\xff")}) {
        BOOST_CHECK_THROW((void)issue(name), std::invalid_argument);
    }
    BOOST_TEST(list().size() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
