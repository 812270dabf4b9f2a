// The statements of an operation, without the look-up of the credential. docs/scale.md "Statements"
// has the same numbers. A statement is a round trip to the database, so START TRANSACTION and
// COMMIT count.
#include "base/crypto.hpp"
#include "db/modules.hpp"
#include "rules/engagement/event_record.hpp"
#include "rules/members/fields.hpp"
#include "rules/members/member_record.hpp"
#include "service/attributes.hpp"
#include "service/collecting.hpp"
#include "service/failure.hpp"
#include "service/members/change.hpp"
#include "service/members/create.hpp"
#include "service/members/read.hpp"
#include "service/webhooks/endpoints.hpp"

#include "print.hpp"

using namespace muster;
using service::CollectedCall;
using service::CollectedMember;
using service::Outcome;
using service::StoredReply;

namespace {

service::IdempotencyClaim claim_of(const std::string& key) {
    return {sha256(key), sha256("body"), Secret(key)};
}

// What a request sends in addition to its address.
struct With {
    bool key = false;
    bool attributes = false;
    std::string first_name = {};
    std::optional<OrgId> organization = {};  // nullopt: acme
};

struct Statements : test::ModuleFixture {
    // After the first new member, the collector expects new users, whatever tests ran before. With
    // the first member, the first key and the first events it reads what the organization has used
    // today.
    Statements() {
        cost_of(creations(1, {.key = true}));
        cost_of(tracked(1, false));
        cost_of({pushed(user_of("new1@x.test"))});
    }

    // The number of statements of `work`.
    template <class Work>
    int cost(const Work& work) {
        service::reset_database_cost();
        work();
        return service::database_cost().statements;
    }
    int cost_of(const std::vector<CollectedCall>& calls) {
        return cost([&] {
            for (const Outcome& outcome : collector.collect(calls)) {
                BOOST_TEST(std::get_if<StoredReply>(&outcome));
            }
        });
    }

    CollectedCall creation(const std::string& email, const With& with) {
        CollectedMember call;
        call.actor.organization = with.organization.value_or(acme);
        if (with.key) call.claim = claim_of("key of " + email);
        rules::MemberFields fields;
        fields.email = email;
        fields.first_name = with.first_name;
        if (with.attributes) fields.attributes = R"({"phone":"1"})";
        call.fields = std::make_shared<const rules::MemberFields>(fields);
        call.reply = [](const service::CreatedMember& created) {
            return StoredReply{.status = 201, .body = to_json(rules::kUser, created.member)};
        };
        return {std::move(call)};
    }
    CollectedCall creation(const std::string& email) { return creation(email, {}); }
    // New members.
    std::vector<CollectedCall> creations(int count, const With& with = {}) {
        std::vector<CollectedCall> calls;
        for (int i = 0; i < count; ++i) {
            calls.push_back(creation("new" + std::to_string(++made) + "@x.test", with));
        }
        return calls;
    }

    static StoredReply counted(const rules::EventCounts& counts) {
        return {.status = 202, .body = to_json(rules::kEventCounts, counts)};
    }
    std::vector<CollectedCall> tracked(int count, bool has_ids) {
        std::vector<CollectedCall> calls;
        for (int i = 0; i < count; ++i) {
            service::TrackedEvent event;
            event.action = "seen";
            event.anonymous_id = "v";
            if (has_ids) event.client_event_id = std::to_string(++made);
            calls.push_back({service::CollectedEvents{
                service::TrackedCall{{acme, {}, {}, "r"}, {event}, {}, {}}, counted}});
        }
        return calls;
    }
    UserId user_of(const std::string& email) {
        return UserId(
            Uuid::from_bytes(client.value("SELECT id FROM users WHERE email = ?", email)).value());
    }
    CollectedCall pushed(UserId user) {
        service::PushedEvent event;
        event.action = "bought";
        event.user_id = user;
        const std::string id = std::to_string(++made);
        return {service::CollectedEvents{
            service::PushedCall{{acme, {}, {}, "r"}, claim_of("push " + id), shop, {event}},
            counted}};
    }

    int made = 0;
    InstallationId shop = install(published("shop").id).id;
    service::Collector collector{context};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(statements, Statements)

BOOST_AUTO_TEST_CASE(one_new_member) {
    BOOST_TEST(cost_of(creations(1)) == 5);
    BOOST_TEST(cost_of(creations(1, {.key = true})) == 7);
    service::enable_attribute(context, acme, "phone", true);
    BOOST_TEST(cost_of(creations(1, {.attributes = true})) == 6);
    BOOST_TEST(cost_of(creations(1, {.key = true, .attributes = true})) == 8);
}

BOOST_AUTO_TEST_CASE(one_existing_member) {
    cost_of({creation("ann@x.test")});
    BOOST_TEST(cost_of({creation("ann@x.test")}) == 5);
    // From the second on, the collector expects known users.
    BOOST_TEST(cost_of({creation("ann@x.test")}) == 4);
    BOOST_TEST(cost_of({creation("ann@x.test", {.first_name = "Ann"})}) == 7);
    BOOST_TEST(cost_of({creation("ann@x.test", {.key = true})}) == 6);
    BOOST_TEST(cost_of({creation("ann@x.test", {.key = true})}) == 3);  // a replay
    BOOST_TEST(cost_of(creations(1)) == 6);                             // after existing users
}

BOOST_AUTO_TEST_CASE(new_members_together) {
    for (const int count : {2, 13, 16, 48, 64}) BOOST_TEST(cost_of(creations(count)) == 5, count);
    for (const int count : {2, 13, 16, 48, 64}) {
        BOOST_TEST(cost_of(creations(count, {.key = true})) == 7, count);
    }
    service::enable_attribute(context, acme, "phone", true);
    BOOST_TEST(cost_of(creations(64, {.key = true, .attributes = true})) == 8);
    // Other numbers take two: 63 is 48 + 15.
    BOOST_TEST(cost_of(creations(63)) == 3 + 2 * 2);
    BOOST_TEST(cost_of(creations(63, {.key = true})) == 4 + 2 * 3);
}

BOOST_AUTO_TEST_CASE(new_members_of_several_organizations_together) {
    const OrgId other = organization("Other");
    cost_of(creations(1, {.key = true, .organization = other}));
    auto calls = creations(32, {.key = true});
    for (auto& call : creations(32, {.key = true, .organization = other})) {
        calls.push_back(std::move(call));
    }
    // START, users and COMMIT once; look-up, members, subscriptions and records for each.
    BOOST_TEST(cost_of(calls) == 3 + 2 * 4);
}

BOOST_AUTO_TEST_CASE(existing_members_together) {
    const auto again = [&] {
        std::vector<CollectedCall> calls;
        for (int i = 0; i < 64; ++i) {
            calls.push_back(creation("old" + std::to_string(i) + "@x.test"));
        }
        return cost_of(calls);
    };
    BOOST_TEST(again() == 5);  // creates them
    BOOST_TEST(again() == 5);
    BOOST_TEST(again() == 4);
    BOOST_TEST(cost_of(creations(64)) == 6);
}

BOOST_AUTO_TEST_CASE(replays_together) {
    std::vector<CollectedCall> calls;
    for (int i = 0; i < 64; ++i) {
        calls.push_back(creation("old" + std::to_string(i) + "@x.test", {.key = true}));
    }
    cost_of(calls);
    BOOST_TEST(cost_of(calls) == 3);
}

BOOST_AUTO_TEST_CASE(audit_entries_and_webhooks) {
    auto calls = creations(64);
    for (CollectedCall& call : calls) std::get<CollectedMember>(call.call).actor.admin = ann;
    BOOST_TEST(cost_of(calls) == 7);
    as_admin([&](service::OrgTransaction& transaction) {
        return service::create_webhook_endpoint(transaction, context.keys, shop,
                                                {"https://example.org/hook", {"member.created"}});
    });
    BOOST_TEST(cost_of(creations(1)) == 8);
    BOOST_TEST(cost_of(creations(64)) == 8);
    // The subscription of one organization adds no statement to the calls of another.
    const OrgId other = organization("Other");
    cost_of(creations(1, {.organization = other}));
    BOOST_TEST(cost_of(creations(1, {.organization = other})) == 5);
}

BOOST_AUTO_TEST_CASE(tracked_events) {
    BOOST_TEST(cost_of(tracked(1, false)) == 4);
    BOOST_TEST(cost_of(tracked(1, true)) == 5);
    BOOST_TEST(cost_of(tracked(64, false)) == 4);
    BOOST_TEST(cost_of(tracked(64, true)) == 5);
    BOOST_TEST(cost_of(tracked(63, true)) == 4 + 2);
}

BOOST_AUTO_TEST_CASE(pushed_events) {
    cost_of({creation("ann@x.test")});
    const UserId user = user_of("ann@x.test");
    BOOST_TEST(cost_of({pushed(user)}) == 7);
    // Each request has its own statements and a savepoint; the transaction is shared.
    BOOST_TEST(cost_of({pushed(user), pushed(user), pushed(user)}) == 2 + 3 * 6);
}

BOOST_AUTO_TEST_CASE(reading_and_changing_a_member) {
    cost_of({creation("ann@x.test")});
    const UserId user = user_of("ann@x.test");
    BOOST_TEST(cost([&] { service::find_members(context, acme, {&user, 1}); }) == 1);
    const std::vector<UserId> batch(64, user);
    BOOST_TEST(cost([&] { service::find_members(context, acme, batch); }) == 1);
    rules::MemberPatch patch;
    patch.texts[1] = "Ann";
    const auto change = [&] {
        as(acme, [&](service::OrgTransaction& transaction) {
            return service::change_member(transaction, user, patch, [](const rules::Member&) {});
        });
    };
    BOOST_TEST(cost(change) == 5);  // START, lock, UPDATE, subscriptions, COMMIT
    BOOST_TEST(cost(change) == 3);  // changes nothing
}

BOOST_AUTO_TEST_SUITE_END()
