// service/attributes.hpp: the registry of an organization as the operator maintains it.
#include "service/attributes.hpp"

#include "db/fixture.hpp"
#include "rules/attributes.hpp"
#include "rules/members/fields.hpp"
#include "rules/stored_json.hpp"
#include "service/members/create.hpp"

#include "print.hpp"

#include <atomic>
#include <future>

using namespace muster;
using rules::AttributeType;
using service::AttributeChange;
using test::Client;
using test::DatabaseContext;
using test::Fixture;

namespace {

struct Registry : Fixture {
    std::vector<std::string> page(std::string_view after, int limit) {
        std::vector<std::string> keys;
        for (const auto& record : service::list_attributes(context, acme, after, limit)) {
            keys.push_back(record.attribute.key);
        }
        return keys;
    }
    rules::AttributeRecord put(DatabaseContext& worker, std::string_view key,
                               const service::AttributeChange& change) const {
        return worker.as(acme, [&](service::OrgTransaction& transaction) {
            return service::put_attribute(transaction, key, change);
        });
    }
    rules::AttributeRecord put(std::string_view key, const service::AttributeChange& change) {
        return put(*this, key, change);
    }
    std::vector<std::string> faults(std::string_view key, const service::AttributeChange& change) {
        const auto error = test::error_of([&] { put(key, change); });
        BOOST_TEST_REQUIRE(error.has_value());
        BOOST_TEST(error->code() == ErrorCode::ValidationError);
        std::vector<std::string> found;
        const Json::Value details = error->details();
        for (const Json::Value& field : details["fields"]) {
            found.push_back(field["path"].asString() + " " + field["code"].asString());
        }
        return found;
    }
    rules::MemberFields ann_with(std::string attributes) const {
        rules::MemberFields fields;
        fields.email = "ann@x.test";
        fields.attributes = std::move(attributes);
        return fields;
    }
    void create(DatabaseContext& worker, const rules::MemberFields& fields) const {
        worker.as(acme, [&](service::OrgTransaction& transaction) {
            (void)service::create_member(transaction, fields);
        });
    }

    // Members that change now, each with `attributes`.
    void add_members(int count, std::string_view attributes) {
        const Timestamp now = Timestamp::now();
        client.run(
            "INSERT INTO users (id, email, created_at) "
            "SELECT UNHEX(LEFT(SHA2(id, 256), 32)), CONCAT(id, '@x.test'), 1 "
            "FROM (SELECT UUID() AS id FROM " +
            test::sequence(count) + ") AS new_users");
        client.execute(
            "INSERT INTO members (organization_id, user_id, id, email, attributes, created_at, "
            "updated_at) SELECT ?, id, id, email, ?, ?, ? FROM users "
            "WHERE NOT EXISTS (SELECT 1 FROM members WHERE user_id = users.id)",
            acme, attributes, now, now);
    }
    std::string reason_of_refusal(std::string_view key, const AttributeChange& change) {
        const auto error = test::error_of([&] { put(key, change); });
        BOOST_TEST_REQUIRE(error.has_value());
        BOOST_TEST(error->code() == ErrorCode::InvalidState);
        return error->details()["reason"].asString();
    }

    OrgId acme = organization("Acme");
};

// A document of this many bytes without the attributes of the tests.
std::string document_of(std::size_t bytes) {
    constexpr std::string_view kBegin = R"({"other": [")";
    constexpr std::string_view kEnd = R"(", "api", 1]})";
    return std::string(kBegin) + std::string(bytes - kBegin.size() - kEnd.size(), 'x') +
           std::string(kEnd);
}

using Keys = std::vector<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(service_attributes, Registry)

BOOST_AUTO_TEST_CASE(attributes_are_paged_by_key) {
    BOOST_TEST(page("", 3) == (Keys{"address.city", "address.line1", "address.postcode"}));
    BOOST_TEST(page("address.postcode", 2) == (Keys{"emergency_contact", "favourite_team"}));
    BOOST_TEST(page("zzz", 2).empty());
    BOOST_TEST(page("", 100).size() == 8);
}

BOOST_AUTO_TEST_CASE(an_attribute_is_read_as_it_was_added) {
    const std::vector<std::string> choices = {"news", "Zo\u00eb's \"own\"", "a,b", "\\"};
    service::add_attribute(
        context, acme,
        {"interests", "Interests \U0001f600", AttributeType::MultiChoice, choices, true});
    const auto registry = service::attribute_registry(context, acme);
    const auto* interests = registry.find("interests");
    BOOST_TEST_REQUIRE(interests != nullptr);
    BOOST_TEST(interests->label == "Interests \U0001f600");
    BOOST_TEST(interests->type == AttributeType::MultiChoice);
    BOOST_TEST(interests->choices == choices);
}

BOOST_AUTO_TEST_CASE(choices_that_were_stored_decomposed_are_read_composed_and_once) {
    const std::vector<std::string> stored = {"Cafe\u0301", "Tee", "Caf\u00e9", "a", "a"};
    const std::vector<std::string> choices = {"Caf\u00e9", "Tee", "a"};
    service::add_attribute(context, acme,
                           {"drink", "Drink", AttributeType::SingleChoice, {"Tee"}, true});
    client.execute("UPDATE attributes SET choices = ? WHERE attribute_key = 'drink'",
                   rules::json_of_texts(stored));
    BOOST_TEST(service::attribute_registry(context, acme).find("drink")->choices == choices);
    BOOST_TEST(service::find_attribute(context, acme, "drink")->attribute.choices == choices);
    const AttributeChange same{{}, AttributeType::SingleChoice, choices, true};
    BOOST_TEST(put("drink", same).attribute.choices == choices);
}

BOOST_AUTO_TEST_CASE(an_attribute_is_enabled_and_disabled_by_its_key) {
    const auto is_enabled = [&](std::string_view key) {
        return service::attribute_registry(context, acme).find(key) != nullptr;
    };
    BOOST_TEST(!is_enabled("phone"));
    BOOST_TEST(service::enable_attribute(context, acme, "phone", true));
    BOOST_TEST(is_enabled("phone"));
    const auto written = [&] {
        return client.value(
            "SELECT CONCAT(updated_at, ' ', (SELECT COUNT(*) FROM audit_log)) "
            "FROM attributes WHERE attribute_key = 'phone'");
    };
    const std::string before = written();
    BOOST_TEST(service::enable_attribute(context, acme, "phone", true));
    BOOST_TEST(written() == before);
    BOOST_TEST(service::enable_attribute(context, acme, "phone", false));
    BOOST_TEST(written() != before);
    BOOST_TEST(!is_enabled("phone"));
    BOOST_TEST(!service::enable_attribute(context, acme, "no.such", true));
}

BOOST_AUTO_TEST_CASE(enabling_and_disabling_always_increase_the_time_of_the_change) {
    const Timestamp ahead = Timestamp::now() + Milliseconds(60'000);
    client.execute("UPDATE attributes SET updated_at = ? WHERE attribute_key = 'phone'", ahead);
    for (const int changes : {1, 2}) {
        BOOST_TEST(service::enable_attribute(context, acme, "phone", changes == 1));
        BOOST_TEST(client.number("SELECT updated_at FROM attributes "
                                 "WHERE attribute_key = 'phone'") ==
                   ahead.milliseconds() + changes);
    }
}

BOOST_AUTO_TEST_CASE(an_invalid_attribute_is_rejected) {
    const std::string long_choice(256, 'x');
    std::vector<std::string> many;
    for (int i = 0; i < 501; ++i) many.push_back(std::to_string(i));
    const std::vector<rules::Attribute> bad = {
        {"Bad Key", "L", AttributeType::Text, {}, true},
        {"", "L", AttributeType::Text, {}, true},
        {"phone", "L", AttributeType::Text, {}, true},  // exists already
        {"a", "L", AttributeType::Text, {"x"}, true},
        {"a", "L", AttributeType::SingleChoice, {}, true},
        {"a", "L", AttributeType::MultiChoice, {"x", "x"}, true},
        {"a", "L", AttributeType::MultiChoice, {""}, true},
        {"a", "L", AttributeType::MultiChoice, {long_choice}, true},
        {"a", "L", AttributeType::MultiChoice, {"\xff"}, true},
        {"a", "L", AttributeType::MultiChoice, many, true},
    };
    for (const auto& attribute : bad) {
        BOOST_CHECK_THROW(service::add_attribute(context, acme, attribute), std::invalid_argument);
    }
    BOOST_TEST(page("", 100).size() == 8);
    many.pop_back();
    service::add_attribute(context, acme, {"a", "L", AttributeType::MultiChoice, many, true});
}

BOOST_AUTO_TEST_CASE(an_invalid_label_is_rejected) {
    for (const std::string& label : {std::string(256, 'x'), std::string("\xff")}) {
        BOOST_CHECK_THROW(
            service::add_attribute(context, acme, {"a", label, AttributeType::Text, {}, true}),
            std::invalid_argument);
    }
}

BOOST_AUTO_TEST_CASE(an_attribute_is_put_and_changed) {
    const auto made = put("shoe", {{}, AttributeType::SingleChoice, Keys{"S", "M"}, false});
    BOOST_TEST(made.attribute.label == "shoe");
    BOOST_TEST(made.created_at == made.updated_at);
    const auto changed = put("shoe", {"Shoe size", AttributeType::MultiChoice, {}, true});
    BOOST_TEST(changed.id == made.id);
    BOOST_TEST(changed.attribute.label == "Shoe size");
    BOOST_TEST(changed.attribute.choices == (Keys{"S", "M"}));
    BOOST_TEST(changed.created_at == made.created_at);
    const auto text = put("shoe", {{}, AttributeType::Text, {}, true});
    BOOST_TEST(text.attribute.label == "Shoe size");
    BOOST_TEST(text.attribute.choices.empty());
    const auto* stored = service::attribute_registry(context, acme).find("shoe");
    BOOST_TEST_REQUIRE(stored != nullptr);
}

BOOST_AUTO_TEST_CASE(a_put_without_a_change_writes_nothing) {
    put("shoe", {{}, AttributeType::Text, {}, true});
    client.execute("UPDATE attributes SET updated_at = 5 WHERE attribute_key = 'shoe'");
    put("shoe", {{}, AttributeType::Text, {}, true});
    BOOST_TEST(client.number("SELECT updated_at FROM attributes WHERE attribute_key = 'shoe'") ==
               5);
}

BOOST_AUTO_TEST_CASE(faults_of_an_attribute_are_reported_by_path) {
    BOOST_TEST(faults("Bad Key", {{}, AttributeType::Text, {}, true}) == Keys{"key invalid_value"});
    BOOST_TEST(faults("\xff", {{}, AttributeType::Text, Keys{"x"}, true}) ==
               (Keys{"key invalid_value", "choices invalid_value"}));
    BOOST_TEST(faults(std::string(65, 'x'), {{}, AttributeType::Text, {}, true}) ==
               Keys{"key invalid_value"});
    BOOST_TEST(faults("a", {{}, AttributeType::SingleChoice, {}, true}) ==
               Keys{"choices required"});
    BOOST_TEST(faults("a", {{}, AttributeType::MultiChoice, Keys{"x", "y", "x"}, true}) ==
               Keys{"choices[2] duplicate"});
    BOOST_TEST(page("", 100).size() == 8);
}

BOOST_AUTO_TEST_CASE(an_organization_has_at_most_200_attributes) {
    const AttributeChange text{{}, AttributeType::Text, {}, true};
    for (int i = 8; i < 200; ++i) put("k" + std::to_string(i), text);
    BOOST_TEST(faults("one_more", text) == Keys{"key out_of_range"});
    BOOST_CHECK_EXCEPTION(
        service::add_attribute(context, acme, {"one_more", "L", AttributeType::Text, {}, true}),
        std::invalid_argument, [](const std::invalid_argument& error) {
            return std::string_view(error.what()) ==
                   "key is new, and the organization already has 200 attributes; change one of "
                   "them";
        });
    put("k8", {std::string("Changed"), AttributeType::Text, {}, false});
    const OrgId other = organization("Other");
    as(other, [&](service::OrgTransaction& transaction) {
        (void)service::put_attribute(transaction, "one_more", text);
    });
}

BOOST_AUTO_TEST_CASE(attributes_that_are_added_at_the_same_time_are_counted) {
    const AttributeChange text{{}, AttributeType::Text, {}, true};
    for (int i = 8; i < 199; ++i) put("k" + std::to_string(i), text);
    std::future<bool> is_rejected;
    as(acme, [&](service::OrgTransaction& transaction) {
        (void)service::put_attribute(transaction, "first", text);
        is_rejected = std::async(std::launch::async, [&] {
            DatabaseContext worker;
            return test::code_of([&] { put(worker, "second", text); }) ==
                   ErrorCode::ValidationError;
        });
        BOOST_TEST(test::until([&] { return client.has_lock_wait(); }));
    });
    BOOST_TEST(is_rejected.get());
    BOOST_TEST(client.number("SELECT COUNT(*) FROM attributes") == 200);
}

BOOST_AUTO_TEST_CASE(the_choices_of_all_attributes_have_at_most_1_MiB) {
    client.execute("UPDATE attributes SET choices = NULL");  // of the starter attributes
    const AttributeChange choices{{}, AttributeType::SingleChoice, Keys{"abc", "def"}, true};
    const auto size = static_cast<std::int64_t>(std::string_view(R"(["abc","def"])").size());
    put("mine", choices);
    // The choices of another attribute take the rest.
    const auto fill = [&](std::int64_t bytes) {
        client.execute(
            "UPDATE attributes SET choices = REPEAT(' ', ?) "
            "WHERE organization_id = ? AND attribute_key = 'phone'",
            bytes, acme);
    };
    fill(service::kMostChoiceBytes - 2 * size);
    const OrgId other = organization("Other");
    put("a", choices);
    BOOST_TEST(faults("b", choices) == Keys{"choices too_long"});
    BOOST_CHECK_THROW(
        service::add_attribute(context, acme, {"b", "L", AttributeType::SingleChoice, {"x"}, true}),
        std::invalid_argument);
    BOOST_TEST(faults("a", {{}, AttributeType::MultiChoice, Keys{"abc", "defg"}, true}) ==
               Keys{"choices too_long"});
    put("b", {{}, AttributeType::Text, {}, true});
    as(other, [&](service::OrgTransaction& transaction) {
        (void)service::put_attribute(transaction, "b", choices);
    });
    // A registry that is larger can be used and reduced.
    fill(2 * service::kMostChoiceBytes);
    BOOST_TEST(put("a", {"Label", AttributeType::SingleChoice, {}, true}).attribute.choices ==
               (Keys{"abc", "def"}));
    put("a", {{}, AttributeType::SingleChoice, Keys{"uvw", "xyz"}, true});
    put("a", {{}, AttributeType::SingleChoice, Keys{"abc"}, true});
    BOOST_TEST(faults("a", choices) == Keys{"choices too_long"});
}

BOOST_AUTO_TEST_CASE(the_type_of_a_starter_attribute_is_fixed) {
    BOOST_TEST(test::code_of([&] {
                   put("phone", {{}, AttributeType::Number, {}, true});
               }) == ErrorCode::InvalidState);
    put("gender", {{}, AttributeType::SingleChoice, Keys{"f", "m"}, true});
    BOOST_TEST(put("phone", {{}, AttributeType::Text, {}, true}).attribute.enabled);
}

BOOST_AUTO_TEST_CASE(the_type_of_an_attribute_in_use_is_fixed) {
    put("a.b_c", {{}, AttributeType::Text, {}, true});
    put("a.bxc", {{}, AttributeType::Text, {}, true});
    create(*this, ann_with(R"({"a.b_c":"1"})"));
    const AttributeChange number{{}, AttributeType::Number, {}, true};
    BOOST_TEST(test::code_of([&] { put("a.b_c", number); }) == ErrorCode::InvalidState);
    BOOST_TEST(put("a.bxc", number).attribute.type == AttributeType::Number);
    const OrgId other = organization("Other");
    BOOST_TEST(as(other, [&](service::OrgTransaction& transaction) {
                   return service::put_attribute(transaction, "a.b_c", number);
               }).attribute.type == AttributeType::Number);
}

BOOST_AUTO_TEST_CASE(a_change_of_type_examines_at_most_10000_members) {
    put("size", {{}, AttributeType::Text, {}, true});
    add_members(10'000, "{}");
    BOOST_TEST(put("size", {{}, AttributeType::Number, {}, true}).attribute.type ==
               AttributeType::Number);
    add_members(1, "{}");
    const AttributeChange text{{}, AttributeType::Text, {}, true};
    BOOST_TEST(
        reason_of_refusal("size", text) ==
        "more than 10,000 members changed since an hour before the attribute was created; disable it and "
        "add one with another key");
    client.execute("UPDATE members SET updated_at = 1 LIMIT 1");  // before the attribute
    BOOST_TEST(put("size", text).attribute.type == AttributeType::Text);
}

BOOST_AUTO_TEST_CASE(a_change_of_type_examines_at_most_4_MiB_of_attributes) {
    put("size", {{}, AttributeType::Text, {}, true});
    constexpr int kMembers = 64;  // more than a page
    const std::string document = document_of((std::size_t{4} << 20U) / kMembers);
    add_members(kMembers, document);
    BOOST_TEST(put("size", {{}, AttributeType::Number, {}, true}).attribute.type ==
               AttributeType::Number);
    client.execute("UPDATE members SET attributes = CONCAT(attributes, ' ') LIMIT 1");
    const AttributeChange text{{}, AttributeType::Text, {}, true};
    BOOST_TEST(
        reason_of_refusal("size", text) ==
        "the members that changed since an hour before the attribute was created have more than 4 MiB of "
        "attributes; disable it and add one with another key");
    client.execute("UPDATE members SET updated_at = 1 LIMIT 1");  // before the attribute
    BOOST_TEST(put("size", text).attribute.type == AttributeType::Text);
}

BOOST_AUTO_TEST_CASE(a_change_of_type_waits_for_transactions_that_write_values) {
    put("size", {{}, AttributeType::Text, {}, true});
    std::optional<ErrorCode> refused;
    std::atomic<bool> written = false;
    test::in_parallel(2, [&](int i) {
        DatabaseContext worker;
        if (i == 0) {
            worker.as(acme, [&](service::OrgTransaction& transaction) {
                (void)service::create_member(transaction, ann_with(R"({"size":"L"})"));
                written = true;
                Client observer;
                if (!test::until([&] { return observer.has_lock_wait(); })) {
                    throw std::runtime_error("no transaction waits");
                }
            });
        } else {
            if (!test::until([&] { return written.load(); })) {
                throw std::runtime_error("no value was written");
            }
            refused = test::code_of([&] {
                put(worker, "size", {{}, AttributeType::Number, {}, true});
            });
        }
    });
    BOOST_TEST(refused == ErrorCode::InvalidState);
}

BOOST_AUTO_TEST_CASE(types_and_values_agree_after_parallel_changes) {
    for (int round = 0; round < 10; ++round) {
        const std::string key = "r" + std::to_string(round);
        put(key, {{}, AttributeType::Text, {}, true});
        test::in_parallel(4, [&](int i) {
            DatabaseContext worker;
            (void)test::error_of([&] {
                if (i < 2) {
                    put(worker, key, {{}, AttributeType::Number, {}, true});
                } else {
                    create(worker, ann_with("{\"" + key + "\":\"text\"}"));
                }
            });
        });
        const auto type = client.value("SELECT type FROM attributes WHERE attribute_key = ?", key);
        const auto users = client.number(
            "SELECT COUNT(*) FROM members WHERE JSON_CONTAINS_PATH(attributes, 'one', ?)",
            "$." + key);
        BOOST_TEST(type == (users == 0 ? "number" : "text"));
    }
}

BOOST_AUTO_TEST_CASE(parallel_puts_of_one_key_create_it_once) {
    test::in_parallel(8, [&](int) {
        DatabaseContext worker;
        put(worker, "many", {{}, AttributeType::Text, {}, true});
    });
    BOOST_TEST(client.number("SELECT COUNT(*) FROM attributes WHERE attribute_key = 'many'") == 1);
}

BOOST_AUTO_TEST_SUITE_END()
