// service/members/create.hpp: the three cases of create-or-attach (specification 3.4), and POST
// /v1/users.
#include "service/members/create.hpp"

#include "db/lookups.hpp"
#include "db/members.hpp"
#include "json/json_body.hpp"
#include "rules/attributes.hpp"
#include "rules/members/fields.hpp"
#include "rules/members/member.hpp"
#include "service/attributes.hpp"

using namespace muster;
using rules::MemberOutcome;
using service::Expect;
using test::Batch;
using test::code_of;
using test::kStart;
using test::parsed;
using test::texts_of;

BOOST_FIXTURE_TEST_SUITE(members, test::Members)

// ---------------------------------------------------------------------------- the three cases

BOOST_AUTO_TEST_CASE(an_unknown_address_becomes_a_user_and_a_member) {
    Batch batch;
    batch.add("ann@example.test", {"7", "Ann", "Lee", "Annie", "en", "GB", "1990-01-31"},
              R"({"phone":"1","tags":["a","b"]})");
    const auto inputs = batch.inputs();
    const auto attached = run(acme, batch);
    BOOST_TEST(attached.front().outcome == MemberOutcome::Created);
    BOOST_TEST(attached.front().user_id == inputs.front().user_id);
    const auto ann = member(acme, "ann@example.test");
    BOOST_TEST(ann.user_id == inputs.front().user_id);
    BOOST_TEST(ann.member_id == inputs.front().member_id);
    BOOST_TEST(ann.organization_id == acme);
    BOOST_TEST(ann.email == "ann@example.test");
    BOOST_TEST(texts_of(ann) ==
               (decltype(texts_of(ann)){"7", "Ann", "Lee", "Annie", "en", "GB", "1990-01-31"}));
    BOOST_TEST(
        ann.attributes ==
        R"({"phone":["1","import",1700000000000],"tags":[["a","b"],"import",1700000000000]})");
    BOOST_TEST(ann.status == "active");
    BOOST_TEST(!ann.locked_at.has_value());
    BOOST_TEST(ann.created_at == kStart);
    BOOST_TEST(ann.updated_at == kStart);
}

BOOST_AUTO_TEST_CASE(omitted_fields_are_null) {
    run(acme, Batch().add("bob@example.test"));
    const auto bob = member(acme, "bob@example.test");
    for (const auto& text : texts_of(bob)) BOOST_TEST(!text.has_value());
    BOOST_TEST(bob.attributes == "{}");
    BOOST_TEST(client.number("SELECT COUNT(*) FROM members WHERE COALESCE(external_id, first_name, "
                             "last_name, display_name, locale, country, dob) IS NOT NULL") == 0);
}

BOOST_AUTO_TEST_CASE(
    a_user_of_another_organization_is_attached_and_the_organizations_do_not_share_data) {
    run(acme, Batch().add("ann@example.test", {"7", "Ann"}, R"({"phone":"1"})"));
    const auto at_acme = member(acme, "ann@example.test");
    const auto before = client.snapshot(acme);
    const Timestamp later = kStart + Milliseconds(1000);
    BOOST_TEST(run_one(umbrella, Batch().add("ann@example.test", {"", "Anna"}), later) ==
               MemberOutcome::Attached);
    const auto at_umbrella = member(umbrella, "ann@example.test");
    BOOST_TEST(at_umbrella.user_id == at_acme.user_id);
    BOOST_TEST(at_umbrella.member_id != at_acme.member_id);
    BOOST_TEST(at_umbrella.first_name == "Anna");
    BOOST_TEST(!at_umbrella.external_id.has_value());
    BOOST_TEST(at_umbrella.attributes == "{}");
    BOOST_TEST(at_umbrella.created_at == later);
    BOOST_TEST(client.snapshot(acme) == before);
}

BOOST_AUTO_TEST_CASE(a_merge_only_fills_the_empty_fields_of_a_member) {
    run(acme, Batch().add("ann@example.test", {"", "Ann", "", "", "en"}, R"({"phone":"1"})"));
    const Timestamp later = kStart + Milliseconds(1000);
    BOOST_TEST(run_one(acme,
                       Batch().add("ann@example.test", {"7", "X", "Lee", "", "X", "GB"},
                                   R"({"phone":"9","shirt":"M"})", later),
                       later) == MemberOutcome::Merged);
    const auto ann = member(acme, "ann@example.test");
    BOOST_TEST(texts_of(ann) == (decltype(texts_of(ann)){"7", "Ann", "Lee", std::nullopt, "en",
                                                         "GB", std::nullopt}));
    BOOST_TEST(parsed(ann.attributes) == parsed(R"({"phone":["1","import",1700000000000],)"
                                                R"("shirt":["M","import",1700000001000]})"));
    BOOST_TEST(ann.created_at == kStart);
    BOOST_TEST(ann.updated_at == later);
}

BOOST_AUTO_TEST_CASE(a_merge_reports_the_values_that_it_filled) {
    run(acme, Batch().add("m@example.test", {"id"}, R"({"b":1})"));
    for (const Expect expect : {Expect::NewUsers, Expect::KnownUsers}) {
        const std::string next = expect == Expect::NewUsers ? "a" : "c";
        std::array<std::string, 7> texts = {"other", "", "", "", "", "", ""};
        texts[expect == Expect::NewUsers ? 1 : 6] = "1990-01-31";
        const auto filled =
            run(acme, Batch().add("m@example.test", texts, R"({"b":2,")" + next + R"(":3})"),
                expect)
                .front()
                .filled;
        BOOST_TEST(filled.texts == (expect == Expect::NewUsers ? 0b10 : 0b1000000));
        BOOST_TEST((filled.attributes == std::vector<bool>{false, true}));
        BOOST_TEST(filled.any());
    }
    const auto again = run(acme, Batch().add("m@example.test", {"id"}, R"({"b":1})"));
    BOOST_TEST(!again.front().filled.any());
}

BOOST_AUTO_TEST_CASE(a_merge_fills_the_gaps_of_large_attributes) {
    const std::string large = R"({"b":")" + std::string(9000, 'x') + "\"}";
    run(acme, Batch().add("m@example.test", {}, large));
    std::string next = "c";
    for (const Expect expect : {Expect::NewUsers, Expect::KnownUsers, Expect::UnchangedMembers}) {
        const auto merge = [&](const std::string& attributes) {
            return run(acme, Batch().add("m@example.test", {}, attributes), expect).front();
        };
        BOOST_TEST(!merge("").is_written);
        BOOST_TEST(!merge(R"({"b":2})").is_written);
        const auto written = merge(R"({"b":2,")" + next + R"(":3})");
        BOOST_TEST(written.is_written);
        BOOST_TEST((written.filled.attributes == std::vector<bool>{false, true}));
        ++next.front();
    }
    const auto stored = parsed(member(acme, "m@example.test").attributes);
    BOOST_TEST(stored.size() == 4U);
    BOOST_TEST(stored["b"][0].asString().size() == 9000U);
    BOOST_TEST(stored["e"][0].asInt() == 3);
}

BOOST_AUTO_TEST_CASE(updated_at_changes_only_if_a_field_was_filled) {
    run(acme, Batch().add("ann@example.test", {"", "Ann"}, R"({"phone":"1"})"));
    const Timestamp later = kStart + Milliseconds(1000);
    const auto merge = [&](std::array<std::string, 7> texts, const std::string& attributes) {
        run(acme, Batch().add("ann@example.test", std::move(texts), attributes, later),
            Expect::NewUsers, later);
        return member(acme, "ann@example.test").updated_at;
    };
    BOOST_TEST(merge({}, "") == kStart);
    BOOST_TEST(merge({"", "Other"}, "") == kStart);
    BOOST_TEST(merge({}, R"({"phone":"2"})") == kStart);
    BOOST_TEST(merge({"", "Other"}, R"({"phone":"1"})") == kStart);
    BOOST_TEST(merge({"", "", "Lee"}, "") == later);
    client.execute("UPDATE members SET updated_at = ?", kStart);
    BOOST_TEST(merge({}, R"({"shirt":"M"})") == later);
}

BOOST_AUTO_TEST_CASE(members_that_gain_nothing_wait_for_no_lock) {
    Batch batch;
    batch.add("ann@example.test", {"7", "Ann"}).add("bob@example.test", {"8", "Bob"});
    const auto created = run(acme, batch);
    client.run("START TRANSACTION");
    client.query("SELECT 1 FROM users FOR UPDATE");
    client.query("SELECT 1 FROM members FOR UPDATE");
    const auto merged = run(acme, batch, Expect::UnchangedMembers);
    client.run("ROLLBACK");
    BOOST_TEST_REQUIRE(merged.size() == created.size());
    for (std::size_t i = 0; i < merged.size(); ++i) {
        BOOST_TEST(merged[i].outcome == MemberOutcome::Merged);
        BOOST_TEST(merged[i].user_id == created[i].user_id);
        BOOST_TEST(!merged[i].is_written);
    }
}

BOOST_AUTO_TEST_CASE(a_batch_may_contain_all_three_cases_and_keeps_its_order) {
    run(acme, Batch().add("merged@example.test"));
    run(umbrella, Batch().add("attached@example.test"));
    for (const Expect expect : {Expect::NewUsers, Expect::KnownUsers}) {
        Batch batch;
        const std::string suffix = expect == Expect::NewUsers ? "1" : "2";
        batch.add("new" + suffix + "@example.test")
            .add("merged@example.test")
            .add("other" + suffix + "@example.test");
        if (expect == Expect::NewUsers) batch.add("attached@example.test");
        std::vector<MemberOutcome> outcomes;
        for (const auto& attached : run(acme, batch, expect)) outcomes.push_back(attached.outcome);
        std::vector<MemberOutcome> expected = {MemberOutcome::Created, MemberOutcome::Merged,
                                               MemberOutcome::Created};
        if (expect == Expect::NewUsers) expected.push_back(MemberOutcome::Attached);
        BOOST_TEST(outcomes == expected);
    }
}

BOOST_AUTO_TEST_CASE(an_empty_batch_does_nothing) {
    for (const Expect expect : {Expect::NewUsers, Expect::KnownUsers, Expect::UnchangedMembers}) {
        BOOST_TEST(run(acme, Batch(), expect).empty());
    }
}

BOOST_AUTO_TEST_CASE(addresses_that_look_alike_belong_to_different_users) {
    Batch batch;
    batch.add("zoe@example.test").add("zo\u00eb@example.test").add("zoe\u0301@example.test");
    for (const auto& attached : run(acme, batch)) {
        BOOST_TEST(attached.outcome == MemberOutcome::Created);
    }
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users") == 3);
}

BOOST_AUTO_TEST_CASE(attribute_values_are_unchanged_by_the_merge_in_the_database) {
    const std::vector<std::string> values = {
        R"("")",
        R"("\"\\\/")",
        R"("\u0001\u001f\u007f\n\t")",
        R"("'--;%_")",
        R"("a\u0000b")",
        "\"Zo\u00eb \u4e2d \U0001f600 \u2028\"",
        R"([])",
        R"(["a","b\"c"])",
        R"(["]","[","{","}",",",":"])",
        "true",
        "false",
        "0",
        "-1",
        "0.1",
        "1.0",
        "1e300",
        "5e-324",
        "9007199254740993",
        "-9223372036854775808",
        "18446744073709551615",
        "\"" + std::string(4000, 'x') + "\"",
    };
    std::string all;
    for (std::size_t i = 0; i < values.size(); ++i) {
        all += (i ? ",\"k" : "{\"k") + std::to_string(i) + "\":" + values[i];
    }
    all += "}";
    run(acme, Batch().add("ann@example.test", {}, all));
    run(acme, Batch().add("ann@example.test", {}, R"({"gap":"filled","k0":"not this"})"));
    const std::string after = rules::attribute_values(member(acme, "ann@example.test").attributes);
    const std::string expected = all.substr(0, all.size() - 1) + R"(,"gap":"filled"})";
    BOOST_TEST(json::canonical_json(json::JsonBody(after).root()) ==
               json::canonical_json(json::JsonBody(expected).root()));
}

// ---------------------------------------------------------------------------- POST /v1/users

BOOST_AUTO_TEST_CASE(a_created_member_is_returned_with_the_outcome) {
    service::enable_attribute(context, acme, "phone", true);
    rules::MemberFields fields;
    fields.email = "ann@example.test";
    fields.country = "GB";
    fields.attributes = R"({"phone":"1"})";
    const auto create = [&] {
        return as(acme, [&](service::OrgTransaction& transaction) {
            return service::create_member(transaction, fields);
        });
    };
    const auto created = create();
    BOOST_TEST(created.outcome == MemberOutcome::Created);
    BOOST_TEST(created.member.country == "GB");
    BOOST_TEST(created.member.attributes.find(R"(["1","api",)") != std::string::npos);
    fields.first_name = "Ann";
    const auto merged = create();
    BOOST_TEST(merged.outcome == MemberOutcome::Merged);
    BOOST_TEST(merged.member.user_id == created.member.user_id);
    BOOST_TEST(merged.member.first_name == "Ann");
}

BOOST_AUTO_TEST_CASE(attributes_that_the_registry_rejects_write_nothing) {
    service::enable_attribute(context, acme, "shirt_size", true);
    const auto code = [&](const std::string& attributes) {
        rules::MemberFields fields;
        fields.email = "ann@example.test";
        fields.attributes = attributes;
        return code_of([&] {
            as(acme, [&](service::OrgTransaction& transaction) {
                return service::create_member(transaction, fields);
            });
        });
    };
    for (const std::string attributes : {R"({"phone":"1"})", R"({"no.such":1})",
                                         R"({"shirt_size":"huge"})", R"({"shirt_size":3})"}) {
        BOOST_TEST(code(attributes) == ErrorCode::ValidationError, attributes);
    }
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users") == 0);
    BOOST_TEST(!code(R"({"shirt_size":"M"})").has_value());
}

BOOST_AUTO_TEST_CASE(a_member_of_another_organization_is_not_found) {
    const auto ann = run(umbrella, Batch().add("ann@example.test")).front().user_id;
    BOOST_TEST(test::find_member(context, umbrella, ann).has_value());
    BOOST_TEST(!test::find_member(context, acme, ann).has_value());
    BOOST_TEST(!test::find_member(context, umbrella, UserId::create()).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
