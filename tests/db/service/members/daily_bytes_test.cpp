// The bytes of a day that members and their webhook events have (docs/api/limits.md "Limits of a
// day").
#include "service/quotas.hpp"

#include "base/crypto.hpp"
#include "db/modules.hpp"
#include "db/service/collecting.hpp"
#include "rules/members/fields.hpp"
#include "rules/members/member.hpp"
#include "rules/quotas.hpp"
#include "service/members/change.hpp"
#include "service/members/create.hpp"
#include "service/webhooks/endpoints.hpp"

#include "print.hpp"

using namespace muster;
using rules::Quota;
using service::CollectedCall;
using service::CollectedMember;
using service::Outcome;
using service::StoredReply;

namespace {

constexpr std::int64_t kNew = rules::kMemberRowBytes + rules::kAuditEntryBytes;
constexpr std::int64_t kMost = std::int64_t{1} << 20U;

Settings small_limits() {
    Settings small = test::settings();
    small.limits.member_mib = 1;
    return small;
}

struct MemberBytes : test::ModuleFixture {
    CollectedCall creation(OrgId organization, const std::string& email,
                           const std::string& first_name = {}, const std::string& key = {}) {
        const auto fields = std::make_shared<rules::MemberFields>();
        fields->email = email;
        fields->first_name = first_name;
        std::optional<service::IdempotencyClaim> claim;
        if (!key.empty()) claim = {sha256(key), sha256(email), Secret(key)};
        return {
            CollectedMember{{organization, {}, {}, "r"}, claim, fields, [](const auto& created) {
                                return StoredReply{.body = created.member.user_id.text()};
                            }}};
    }
    std::vector<Outcome> collect(const std::vector<CollectedCall>& calls) {
        return collecting.collect(calls);
    }
    UserId create(const std::string& email, const std::string& first_name = {}) {
        const auto outcomes = collect({creation(acme, email, first_name)});
        return UserId(Uuid::parse(std::get<StoredReply>(outcomes[0]).body).value());
    }
    void rename(UserId user, const std::string& first_name) {
        rules::MemberPatch patch;
        patch.texts[1] = first_name;
        as(acme, [&](service::OrgTransaction& transaction) {
            service::reject_full(transaction, Quota::MemberBytes, own.settings.limits);
            return service::change_member(transaction, user, patch);
        });
    }
    void subscribe(const std::string& type) {
        as_admin([&](service::OrgTransaction& transaction) {
            return service::create_webhook_endpoint(transaction, context.keys, shop,
                                                    {"https://example.org/hook", {type}});
        });
    }
    // Writes what this worker has counted.
    std::int64_t used() {
        service::write_all_sums(database);
        return database.autocommit([&](db::Tx& tx) {
            db::OrgStore org(tx, acme);
            return service::used_today(org, Quota::MemberBytes, Timestamp::now());
        });
    }
    void use_up() {
        database.transaction([&](db::Tx& tx) {
            db::OrgStore org(tx, acme);
            service::add_use(org, Quota::MemberBytes, kMost, Timestamp::now());
        });
    }
    std::int64_t bytes_of_events() {
        return client.number(
            "SELECT COALESCE(SUM(LENGTH(body)), 0) + 300 * COUNT(*) FROM webhook_events");
    }

    Settings small = small_limits();
    service::Context own{database, small, context.keys};
    service::Collector collecting{own};
    InstallationId shop = install(published("shop").id).id;
};

void refuses(const Outcome& outcome) {
    const auto error =
        test::error_of([&] { std::rethrow_exception(std::get<std::exception_ptr>(outcome)); });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::QuotaExceeded);
    BOOST_TEST(error->details()["quota"].asString() == "member_bytes");
    BOOST_TEST(error->details()["maximum"].asInt64() == kMost);
    BOOST_TEST(error->retry_after() > 0);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(member_bytes, MemberBytes)

BOOST_AUTO_TEST_CASE(a_new_member_counts_its_row_its_texts_and_its_entry) {
    create("ann@x.test");
    const std::int64_t empty = used();
    BOOST_TEST(empty >= kNew + 2 * 10);  // the address
    BOOST_TEST(empty < kNew + 2 * 10 + 10);
    create("bea@x.test", std::string(100, 'b'));
    BOOST_TEST(used() == 2 * empty + 100);
    create("ann@x.test");  // adds nothing
    BOOST_TEST(used() == 2 * empty + 100 + rules::kAuditEntryBytes);
}

BOOST_AUTO_TEST_CASE(a_change_counts_what_it_adds_and_its_entry) {
    const UserId user = create("ann@x.test");
    const std::int64_t before = used();
    rename(user, std::string(100, 'a'));
    BOOST_TEST(used() == before + 100 + rules::kAuditEntryBytes);
    rename(user, std::string(100, 'a'));  // changes nothing
    BOOST_TEST(used() == before + 100 + rules::kAuditEntryBytes);
    rename(user, "A");
    BOOST_TEST(used() == before + 100 + 2 * rules::kAuditEntryBytes);
}

BOOST_AUTO_TEST_CASE(a_lock_counts_its_reason) {
    const UserId user = create("ann@x.test");
    const std::int64_t before = used();
    as(acme, [&](service::OrgTransaction& transaction) {
        service::reject_full(transaction, Quota::MemberBytes, own.settings.limits);
        return service::lock_member(transaction, user, std::string(100, 'r'));
    });
    BOOST_TEST(used() == before + 100 + rules::kAuditEntryBytes);
}

BOOST_AUTO_TEST_CASE(webhook_events_of_members_count) {
    subscribe("member.created");
    const UserId user = create("ann@x.test");
    const std::int64_t events = bytes_of_events();
    BOOST_TEST(events > 500);
    const std::int64_t before = used();
    BOOST_TEST(before >= kNew + events);
    rename(user, "Ann");  // has no subscriber
    BOOST_TEST(used() == before + 3 + rules::kAuditEntryBytes);
    subscribe("member.updated");
    rename(user, "Bea");
    BOOST_TEST(used() == before + 3 + 2 * rules::kAuditEntryBytes + bytes_of_events() - events);
}

BOOST_AUTO_TEST_CASE(members_beyond_the_bytes_of_a_day_are_refused) {
    const OrgId other = organization("Other");
    collect({creation(acme, "old@x.test", {}, "k1")});
    use_up();
    BOOST_TEST(used() > kMost);  // the worker knows it now
    const auto outcomes =
        collect({creation(acme, "ann@x.test"), creation(other, "bea@x.test"),
                 creation(acme, "old@x.test", {}, "k1"), creation(acme, "cid@x.test")});
    refuses(outcomes[0]);
    BOOST_TEST(std::get_if<StoredReply>(&outcomes[1]));
    BOOST_TEST_REQUIRE(std::get_if<StoredReply>(&outcomes[2]));
    BOOST_TEST(std::get<StoredReply>(outcomes[2]).replayed);
    refuses(outcomes[3]);
    refuses(collect({creation(acme, "ann@x.test")})[0]);  // alone
    BOOST_TEST(client.column("SELECT email FROM members ORDER BY email") ==
               (std::vector<std::string>{"bea@x.test", "old@x.test"}));
}

BOOST_AUTO_TEST_CASE(a_member_can_be_removed_when_the_bytes_are_used_up) {
    const UserId user = create("ann@x.test");
    use_up();
    BOOST_TEST(used() > kMost);
    BOOST_TEST(test::code_of([&] { rename(user, "Ann"); }) == ErrorCode::QuotaExceeded);
    as(acme,
       [&](service::OrgTransaction& transaction) { service::remove_member(transaction, user); });
    BOOST_TEST(client.number("SELECT COUNT(*) FROM members") == 0);
}

BOOST_AUTO_TEST_SUITE_END()
