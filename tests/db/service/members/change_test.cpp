// service/members/change.hpp: concurrent changes, locking, the end of a membership.
#include "service/members/change.hpp"
#include "rules/attributes.hpp"
#include "rules/members/fields.hpp"

#include "db/lookups.hpp"
#include "db/members.hpp"
#include "rules/members/member.hpp"
#include "service/attributes.hpp"
#include "service/members/attributes.hpp"

#include "print.hpp"

#include <future>

using namespace muster;
using rules::Member;
using rules::MemberPatch;
using test::Batch;
using test::DatabaseContext;
using test::kStart;
using test::Members;
using test::parsed;

namespace {

MemberPatch with_attributes(std::string json) {
    MemberPatch patch;
    patch.attributes = std::move(json);
    return patch;
}

struct Changes : Members {
    Changes() {
        for (int i = 0; i < 20; ++i) {
            service::add_attribute(
                context, acme,
                {"k" + std::to_string(i), "K", rules::AttributeType::Text, {}, true});
        }
        run(acme, Batch().add("ann@x.test", {"E-1", "Ann"}, R"({"k0":"old","k1":"one"})"));
        run(umbrella, Batch().add("ann@x.test", {"E-2"}));
        ann = member(acme, "ann@x.test").user_id;
    }

    Member change(const MemberPatch& patch) { return change_at(*this, patch); }
    Member change_at(DatabaseContext& worker, const MemberPatch& patch) const {
        return worker.as(acme, [&](service::OrgTransaction& transaction) {
            return service::change_member(transaction, ann, patch, [](const Member&) {});
        });
    }
    Member lock(std::optional<std::string> reason) {
        return as(acme, [&](service::OrgTransaction& transaction) {
            return service::lock_member(transaction, ann, reason);
        });
    }
    Member unlock() {
        return as(acme, [&](service::OrgTransaction& transaction) {
            return service::unlock_member(transaction, ann);
        });
    }

    UserId ann;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(service_member_changes, Changes)

BOOST_AUTO_TEST_CASE(a_change_overwrites_clears_and_keeps_the_other_fields) {
    MemberPatch patch = with_attributes(R"({"k0":null,"k1":"new","k2":"two"})");
    patch.texts[1] = "";     // first_name
    patch.texts[2] = "Lee";  // last_name
    const Member after = change(patch);
    BOOST_TEST(after.external_id == "E-1");
    BOOST_TEST(!after.first_name.has_value());
    BOOST_TEST(after.last_name == "Lee");
    const auto attributes = parsed(after.attributes);
    BOOST_TEST(!attributes.isMember("k0"));
    BOOST_TEST(attributes["k1"][0].asString() == "new");
    BOOST_TEST(attributes["k1"][1].asString() == "api");
    BOOST_TEST(attributes["k2"][2].asInt64() == after.updated_at.milliseconds());
    BOOST_TEST(after.updated_at > kStart);
    const Member stored = member(acme, "ann@x.test");
    BOOST_TEST(stored.attributes == after.attributes);
    BOOST_TEST(stored.updated_at == after.updated_at);
}

BOOST_AUTO_TEST_CASE(a_change_without_an_effect_writes_nothing) {
    const auto before = client.snapshot(acme);
    MemberPatch patch = with_attributes(R"({"k0":"old","k5":null})");
    patch.texts[0] = "E-1";
    patch.texts[3] = "";
    BOOST_TEST(change(patch).updated_at == kStart);
    change({});
    BOOST_TEST(client.snapshot(acme) == before);
}

BOOST_AUTO_TEST_CASE(an_unchanged_value_keeps_its_origin) {
    const auto attributes = parsed(change(with_attributes(R"({"k0":"old","k2":"x"})")).attributes);
    BOOST_TEST(attributes["k0"][1].asString() == "import");
    BOOST_TEST(attributes["k0"][2].asInt64() == kStart.milliseconds());
}

BOOST_AUTO_TEST_CASE(invalid_attributes_are_rejected_and_nothing_is_written) {
    const auto before = client.snapshot(acme);
    const auto error = test::error_of([&] {
        MemberPatch patch = with_attributes(R"({"nope":null,"k0":5,"k1":"x","phone":"1"})");
        patch.texts[1] = "Bea";
        change(patch);
    });
    BOOST_TEST_REQUIRE(error.has_value());
    const Json::Value details = error->details();
    BOOST_TEST(details["fields"].size() == 3U);
    BOOST_TEST(client.snapshot(acme) == before);
}

BOOST_AUTO_TEST_CASE(the_check_receives_the_member_and_can_reject_the_change) {
    const auto before = client.snapshot(acme);
    BOOST_TEST(test::code_of([&] {
                   as(acme, [&](service::OrgTransaction& transaction) {
                       MemberPatch patch;
                       patch.texts[1] = "Bea";
                       return service::change_member(transaction, ann, patch,
                                                     [](const Member& member) {
                                                         BOOST_TEST(member.first_name == "Ann");
                                                         throw Error(ErrorCode::PreconditionFailed);
                                                     });
                   });
               }) == ErrorCode::PreconditionFailed);
    BOOST_TEST(client.snapshot(acme) == before);
}

BOOST_AUTO_TEST_CASE(parallel_changes_of_different_keys_are_all_kept) {
    test::in_parallel(20, [&](int i) {
        DatabaseContext worker;
        const std::string number = std::to_string(i);
        change_at(worker, with_attributes("{\"k" + number + "\":\"v" + number + "\"}"));
    });
    const auto attributes = parsed(member(acme, "ann@x.test").attributes);
    for (int i = 0; i < 20; ++i) {
        BOOST_TEST(attributes["k" + std::to_string(i)][0].asString() == "v" + std::to_string(i));
    }
}

BOOST_AUTO_TEST_CASE(a_lock_keeps_its_first_reason_and_time) {
    const Member locked = lock("spam");
    BOOST_TEST(locked.status == "locked");
    BOOST_TEST(locked.lock_reason == "spam");
    BOOST_TEST(locked.locked_at == locked.updated_at);
    const auto before = client.snapshot(acme);
    BOOST_TEST(lock("again").lock_reason == "spam");
    BOOST_TEST(client.snapshot(acme) == before);
    const Member active = unlock();
    BOOST_TEST(active.status == "active");
    BOOST_TEST(!active.locked_at.has_value());
    BOOST_TEST(!active.lock_reason.has_value());
    BOOST_TEST(unlock().updated_at == active.updated_at);
    BOOST_TEST(!lock(std::nullopt).lock_reason.has_value());
}

BOOST_AUTO_TEST_CASE(a_membership_ends_for_one_organization_only) {
    const auto there = client.snapshot(umbrella);
    const auto remove = [&] {
        as(acme,
           [&](service::OrgTransaction& transaction) { service::remove_member(transaction, ann); });
    };
    remove();
    BOOST_TEST(!test::find_member(context, acme, ann).has_value());
    BOOST_TEST(client.snapshot(umbrella) == there);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users") == 1);
    BOOST_TEST(test::code_of(remove) == ErrorCode::NotFound);
    BOOST_TEST(run_one(acme, Batch().add("ann@x.test")) == rules::MemberOutcome::Attached);
    BOOST_TEST(member(acme, "ann@x.test").attributes == "{}");
}

BOOST_AUTO_TEST_CASE(a_check_that_fails_prevents_every_change) {
    const auto before = client.snapshot(acme);
    const service::MemberCheck fails = [](const Member& member) {
        BOOST_TEST(member.email == "ann@x.test");
        throw Error(ErrorCode::PreconditionFailed);
    };
    const auto attempt = [&](const auto& change) {
        return test::code_of([&] { as(acme, change); });
    };
    using Transaction = service::OrgTransaction;
    BOOST_TEST(attempt([&](Transaction& transaction) {
                   service::lock_member(transaction, ann, std::nullopt, fails);
               }) == ErrorCode::PreconditionFailed);
    BOOST_TEST(attempt([&](Transaction& transaction) {
                   service::unlock_member(transaction, ann, fails);
               }) == ErrorCode::PreconditionFailed);
    BOOST_TEST(attempt([&](Transaction& transaction) {
                   service::remove_member(transaction, ann, fails);
               }) == ErrorCode::PreconditionFailed);
    BOOST_TEST(client.snapshot(acme) == before);
}

BOOST_AUTO_TEST_CASE(an_unknown_member_cannot_be_changed) {
    ann = UserId::create();
    BOOST_TEST(test::code_of([&] { change({}); }) == ErrorCode::NotFound);
    BOOST_TEST(test::code_of([&] { lock("x"); }) == ErrorCode::NotFound);
    BOOST_TEST(test::code_of([&] { unlock(); }) == ErrorCode::NotFound);
}

BOOST_AUTO_TEST_CASE(parallel_creations_and_removals_are_consistent) {
    rules::MemberFields fields;
    fields.email = "ann@x.test";
    test::in_parallel(8, [&](int i) {
        DatabaseContext worker;
        for (int round = 0; round < 25; ++round) {
            worker.as(acme, [&](service::OrgTransaction& transaction) {
                if (i % 2 == 0) {
                    (void)service::create_member(transaction, fields);
                    return;
                }
                try {
                    service::remove_member(transaction, ann);
                } catch (const Error&) {  // another thread was faster
                }
            });
        }
    });
    const auto count =
        client.number("SELECT COUNT(*) FROM members WHERE organization_id = ?", acme);
    BOOST_TEST((count == 0 || count == 1));
}

BOOST_AUTO_TEST_CASE(a_creation_that_waited_for_a_removal_attaches_the_person_again) {
    rules::MemberFields fields;
    fields.email = "ann@x.test";
    fields.last_name = "Lee";  // a value to fill
    std::future<service::CreatedMember> creation;
    as(acme, [&](service::OrgTransaction& removing) {
        service::remove_member(removing, ann);
        creation = std::async(std::launch::async, [&] {
            DatabaseContext worker;
            return worker.as(acme, [&](service::OrgTransaction& transaction) {
                return service::create_member(transaction, fields);
            });
        });
        BOOST_TEST(test::until([&] { return client.has_lock_wait(); }));
        return 0;
    });
    const auto created = creation.get();
    BOOST_TEST((created.outcome == rules::MemberOutcome::Attached));
    BOOST_TEST(created.member.last_name == "Lee");
    BOOST_TEST(!created.member.external_id.has_value());
}

BOOST_AUTO_TEST_CASE(updated_at_increases_with_each_change) {
    Timestamp last = kStart;
    const auto changes = [&](const Member& member) {
        const bool is_later = member.updated_at > last;
        last = member.updated_at;
        return is_later && test::find_member(context, acme, ann)->updated_at == last;
    };
    // A transaction that waited for another one has an earlier time than that one.
    const auto at_start = [&](const auto& work) {
        return database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{tx, {acme}, kStart};
            return work(transaction);
        });
    };
    const auto rename = [&](const std::string& name) {
        MemberPatch patch;
        patch.texts[1] = name;
        return at_start(
            [&](auto& transaction) { return service::change_member(transaction, ann, patch); });
    };
    BOOST_TEST(changes(rename("Bea")));
    BOOST_TEST(changes(rename("Cleo")));
    BOOST_TEST(changes(
        at_start([&](auto& transaction) { return service::lock_member(transaction, ann, "x"); })));
    BOOST_TEST(changes(
        at_start([&](auto& transaction) { return service::unlock_member(transaction, ann); })));
    run(acme, Batch().add("ann@x.test", {"", "", "Lee"}));
    BOOST_TEST(changes(member(acme, "ann@x.test")));
}

BOOST_AUTO_TEST_CASE(attributes_are_shown_with_type_origin_and_time) {
    change(with_attributes(R"({"k1":"new"})"));
    const auto attributes =
        service::list_member_attributes(context, *test::find_member(context, acme, ann));
    BOOST_TEST_REQUIRE(attributes.size() == 2U);
    BOOST_TEST(attributes[0].entry.key == "k0");
    BOOST_TEST(attributes[0].entry.value == "\"old\"");
    BOOST_TEST(attributes[0].entry.provenance == rules::Provenance::Import);
    BOOST_TEST(attributes[0].entry.updated_at == kStart);
    BOOST_TEST(attributes[0].type == rules::AttributeType::Text);
    BOOST_TEST(attributes[1].entry.provenance == rules::Provenance::Api);
}

BOOST_AUTO_TEST_CASE(actions_of_an_admin_are_in_the_audit_log) {
    const AdminId admin = AdminId::create();
    const auto as_admin = [&](const auto& work) {
        database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{tx, {acme, admin}, Timestamp::now()};
            work(transaction);
        });
    };
    MemberPatch patch;
    patch.texts[1] = "Bea";
    rules::MemberFields eve;
    eve.email = "eve@x.test";
    as_admin([&](auto& transaction) {
        service::change_member(transaction, ann, patch, [](const Member&) {});
    });
    as_admin([&](auto& transaction) {
        service::change_member(transaction, ann, patch, [](const Member&) {});
    });
    as_admin([&](auto& transaction) { service::lock_member(transaction, ann, "x"); });
    as_admin([&](auto& transaction) { service::unlock_member(transaction, ann); });
    as_admin([&](auto& transaction) { service::remove_member(transaction, ann); });
    as_admin([&](auto& transaction) { (void)service::create_member(transaction, eve); });
    as_admin([&](auto& transaction) {
        (void)service::put_attribute(transaction, "shoe",
                                     {{}, rules::AttributeType::Number, {}, true});
    });
    BOOST_TEST(
        client.column(
            "SELECT action FROM audit_log WHERE organization_id = ? AND actor = 'admin' ORDER BY id",
            acme) ==
        (std::vector<std::string>{"user.updated", "user.locked", "user.unlocked", "user.removed",
                                  "user.created", "attribute.changed"}));
}

BOOST_AUTO_TEST_SUITE_END()
