// service/members.hpp: create-or-attach against a model of it, with every batch run both ways, and
// under many hands at once.
#include "service/members.hpp"

#include "base/json.hpp"
#include "db/house.hpp"
#include "http/json_body.hpp"
#include "rules/attributes.hpp"
#include "service/attributes.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <set>

using namespace muster;
using rules::RowState;
using service::Attachment;
using service::Expect;
using service::MemberInput;
using test::code_of;
using test::House;
using test::side_by_side;

namespace {

const Timestamp kStart{1'700'000'000'000};

// A batch that owns its texts.
class Batch {
  public:
    Batch& add(std::string email, std::array<std::string, 7> texts = {},
               const std::string& attributes = "", Timestamp now = kStart) {
        owned_.push_back({std::move(email), std::move(texts),
                          rules::attribute_document(attributes, rules::Provenance::Import, now)});
        ids_.emplace_back(UserId::create(), MemberId::create());
        return *this;
    }

    std::vector<MemberInput> inputs() const {
        std::vector<MemberInput> inputs;
        for (std::size_t i = 0; i < owned_.size(); ++i) {
            MemberInput& input = inputs.emplace_back();
            std::tie(input.user_id, input.member_id) = ids_[i];
            input.email = owned_[i].email;
            std::copy(owned_[i].texts.begin(), owned_[i].texts.end(), input.texts.begin());
            input.attributes = owned_[i].attributes;
        }
        return inputs;
    }

  private:
    struct Owned {
        std::string email;
        std::array<std::string, 7> texts;
        std::string attributes;
    };
    std::vector<Owned> owned_;
    std::vector<std::pair<UserId, MemberId>> ids_;
};

std::array<std::optional<std::string>, 7> texts_of(const rules::Member& member) {
    return {member.external_id, member.first_name, member.last_name, member.display_name,
            member.locale,      member.country,    member.dob};
}

Json::Value parsed(const std::string& document) {
    Json::Value value;
    BOOST_TEST_REQUIRE(parse_json(document, value), document);
    return value;
}

struct Members : House {
    Members() { client.run("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"); }

    std::vector<Attachment> run(OrgId organization, const Batch& batch,
                                Expect expect = Expect::NewUsers, Timestamp now = kStart) {
        const auto inputs = batch.inputs();
        return database.transaction([&](db::Tx& tx) {
            return service::create_or_attach(tx, organization, inputs, expect, now);
        });
    }

    RowState run_one(OrgId organization, const Batch& batch, Timestamp now = kStart) {
        return run(organization, batch, Expect::NewUsers, now).front().outcome;
    }

    rules::Member member(OrgId organization, const std::string& email) {
        const auto id =
            Uuid::from_bytes(client.value("SELECT id FROM users WHERE email = ?", email));
        auto found = service::find_member(context, organization, UserId(*id));
        BOOST_TEST_REQUIRE(found.has_value(), email);
        return *found;
    }

    // Everything that create-or-attach can write.
    std::string everything() {
        return client.value(
                   "SELECT SHA2(CONCAT(COALESCE((SELECT GROUP_CONCAT(CONCAT_WS('|', "
                   "email, HEX(id), created_at) ORDER BY email) FROM users), ''), '#'), "
                   "256)") +
               client.snapshot(acme)["members"] + client.snapshot(umbrella)["members"];
    }

    OrgId acme = organization("Acme");
    OrgId umbrella = organization("Umbrella");
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(members, Members)

// ---------------------------------------------------------------------------- the three cases

BOOST_AUTO_TEST_CASE(an_unknown_address_becomes_a_user_and_a_member) {
    Batch batch;
    batch.add("ann@example.test", {"7", "Ann", "Lee", "Annie", "en", "GB", "1990-01-31"},
              R"({"phone":"1","tags":["a","b"]})");
    const auto inputs = batch.inputs();
    const auto attached = run(acme, batch);
    BOOST_TEST((attached.front().outcome == RowState::Created));
    BOOST_TEST((attached.front().user_id == inputs.front().user_id));
    const auto ann = member(acme, "ann@example.test");
    BOOST_TEST((ann.user_id == inputs.front().user_id));
    BOOST_TEST((ann.member_id == inputs.front().member_id));
    BOOST_TEST((ann.organization_id == acme));
    BOOST_TEST(ann.email == "ann@example.test");
    BOOST_TEST((texts_of(ann) ==
                decltype(texts_of(ann)){"7", "Ann", "Lee", "Annie", "en", "GB", "1990-01-31"}));
    BOOST_TEST(
        ann.attributes ==
        R"({"phone":["1","import",1700000000000],"tags":[["a","b"],"import",1700000000000]})");
    BOOST_TEST(ann.status == "active");
    BOOST_TEST(!ann.locked_at.has_value());
    BOOST_TEST((ann.created_at == kStart && ann.updated_at == kStart));
}

BOOST_AUTO_TEST_CASE(what_was_not_given_is_null) {
    run(acme, Batch().add("bob@example.test"));
    const auto bob = member(acme, "bob@example.test");
    for (const auto& text : texts_of(bob)) BOOST_TEST(!text.has_value());
    BOOST_TEST(bob.attributes == "{}");
    BOOST_TEST(client.number("SELECT COUNT(*) FROM members WHERE COALESCE(external_id, first_name, "
                             "last_name, display_name, locale, country, dob) IS NOT NULL") == 0);
}

BOOST_AUTO_TEST_CASE(a_user_of_another_organization_is_attached_and_neither_sees_the_other_s_data) {
    run(acme, Batch().add("ann@example.test", {"7", "Ann"}, R"({"phone":"1"})"));
    const auto at_acme = member(acme, "ann@example.test");
    const auto before = client.snapshot(acme);
    const Timestamp later = kStart + Milliseconds(1000);
    BOOST_TEST((run_one(umbrella, Batch().add("ann@example.test", {"", "Anna"}), later) ==
                RowState::Attached));
    const auto at_umbrella = member(umbrella, "ann@example.test");
    BOOST_TEST((at_umbrella.user_id == at_acme.user_id));
    BOOST_TEST((at_umbrella.member_id != at_acme.member_id));
    BOOST_TEST((at_umbrella.first_name == "Anna"));
    BOOST_TEST(!at_umbrella.external_id.has_value());
    BOOST_TEST(at_umbrella.attributes == "{}");
    BOOST_TEST((at_umbrella.created_at == later));
    BOOST_TEST((client.snapshot(acme) == before));
}

BOOST_AUTO_TEST_CASE(a_member_s_gaps_are_filled_and_nothing_else) {
    run(acme, Batch().add("ann@example.test", {"", "Ann", "", "", "en"}, R"({"phone":"1"})"));
    const Timestamp later = kStart + Milliseconds(1000);
    BOOST_TEST((run_one(acme,
                        Batch().add("ann@example.test", {"7", "X", "Lee", "", "X", "GB"},
                                    R"({"phone":"9","shirt":"M"})", later),
                        later) == RowState::Merged));
    const auto ann = member(acme, "ann@example.test");
    BOOST_TEST((texts_of(ann) == decltype(texts_of(ann)){"7", "Ann", "Lee", std::nullopt, "en",
                                                         "GB", std::nullopt}));
    BOOST_TEST((parsed(ann.attributes) == parsed(R"({"phone":["1","import",1700000000000],)"
                                                 R"("shirt":["M","import",1700000001000]})")));
    BOOST_TEST((ann.created_at == kStart));
    BOOST_TEST((ann.updated_at == later));
}

BOOST_AUTO_TEST_CASE(updated_at_moves_only_when_something_was_filled) {
    run(acme, Batch().add("ann@example.test", {"", "Ann"}, R"({"phone":"1"})"));
    const Timestamp later = kStart + Milliseconds(1000);
    const auto merge = [&](std::array<std::string, 7> texts, const std::string& attributes) {
        run(acme, Batch().add("ann@example.test", std::move(texts), attributes, later),
            Expect::NewUsers, later);
        return member(acme, "ann@example.test").updated_at;
    };
    BOOST_TEST((merge({}, "") == kStart));
    BOOST_TEST((merge({"", "Other"}, "") == kStart));
    BOOST_TEST((merge({}, R"({"phone":"2"})") == kStart));
    BOOST_TEST((merge({"", "Other"}, R"({"phone":"1"})") == kStart));
    BOOST_TEST((merge({"", "", "Lee"}, "") == later));
    client.execute("UPDATE members SET updated_at = ?", kStart);
    BOOST_TEST((merge({}, R"({"shirt":"M"})") == later));
}

BOOST_AUTO_TEST_CASE(a_batch_holds_all_three_cases_and_keeps_its_order) {
    run(acme, Batch().add("merged@example.test"));
    run(umbrella, Batch().add("attached@example.test"));
    for (const Expect expect : {Expect::NewUsers, Expect::KnownUsers}) {
        Batch batch;
        const std::string suffix = expect == Expect::NewUsers ? "1" : "2";
        batch.add("new" + suffix + "@example.test")
            .add("merged@example.test")
            .add("other" + suffix + "@example.test");
        if (expect == Expect::NewUsers) batch.add("attached@example.test");
        std::vector<RowState> outcomes;
        for (const auto& attached : run(acme, batch, expect)) outcomes.push_back(attached.outcome);
        std::vector<RowState> expected = {RowState::Created, RowState::Merged, RowState::Created};
        if (expect == Expect::NewUsers) expected.push_back(RowState::Attached);
        BOOST_TEST((outcomes == expected));
    }
}

BOOST_AUTO_TEST_CASE(an_empty_batch_does_nothing) {
    for (const Expect expect : {Expect::NewUsers, Expect::KnownUsers}) {
        BOOST_TEST(run(acme, Batch(), expect).empty());
    }
}

BOOST_AUTO_TEST_CASE(addresses_that_differ_in_one_byte_are_two) {
    Batch batch;
    batch.add("zoe@example.test").add("zo\u00eb@example.test").add("zoe\u0301@example.test");
    for (const auto& attached : run(acme, batch)) {
        BOOST_TEST((attached.outcome == RowState::Created));
    }
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users") == 3);
}

BOOST_AUTO_TEST_CASE(attribute_values_survive_the_database_s_merge_exactly) {
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
    BOOST_TEST(http::canonical_json(http::JsonBody(after).root()) ==
               http::canonical_json(http::JsonBody(expected).root()));
}

// ---------------------------------------------------------------------------- against a model

namespace {

// Specification 3.4, in memory.
class Model {
  public:
    struct Known {
        MemberId id;
        std::array<std::optional<std::string>, 7> texts;
        std::map<std::string, std::string> attributes;
        Timestamp created_at;
        Timestamp updated_at;
    };

    RowState apply(OrgId organization, const MemberInput& input, Timestamp now) {
        const auto [user, is_new] = users.emplace(std::string(input.email), input.user_id);
        const auto [member, is_new_member] = members.try_emplace({organization, user->second});
        Known& known = member->second;
        if (is_new_member) known = {input.member_id, {}, {}, now, now};
        for (std::size_t i = 0; i < input.texts.size(); ++i) {
            if (known.texts[i] || input.texts[i].empty()) continue;
            known.texts[i] = input.texts[i];
            known.updated_at = now;
        }
        const Json::Value document = parsed(input.attributes);
        for (const std::string& key : document.getMemberNames()) {
            if (known.attributes.emplace(key, json_text(document[key])).second) {
                known.updated_at = now;
            }
        }
        if (is_new) return RowState::Created;
        return is_new_member ? RowState::Attached : RowState::Merged;
    }

    std::map<std::string, UserId> users;
    std::map<std::pair<OrgId, UserId>, Known> members;
};

void compare(const rules::Member& member, const Model::Known& known) {
    BOOST_TEST((member.member_id == known.id));
    BOOST_TEST((texts_of(member) == known.texts));
    BOOST_TEST((member.created_at == known.created_at));
    BOOST_TEST((member.updated_at == known.updated_at));
    const Json::Value document = parsed(member.attributes);
    BOOST_TEST(document.size() == known.attributes.size());
    for (const auto& [key, entry] : known.attributes) BOOST_TEST(json_text(document[key]) == entry);
}

class Dice {
  public:
    explicit Dice(unsigned seed) : random_(seed) {}
    int roll(int sides) { return std::uniform_int_distribution<int>(0, sides - 1)(random_); }

    Batch batch(int people, Timestamp now) {
        std::vector<int> numbers(static_cast<std::size_t>(people));
        for (int i = 0; i < people; ++i) numbers[static_cast<std::size_t>(i)] = i;
        std::shuffle(numbers.begin(), numbers.end(), random_);
        numbers.resize(static_cast<std::size_t>(1 + roll(people / 2)));
        Batch batch;
        for (const int number : numbers) {
            std::array<std::string, 7> texts;
            for (auto& text : texts) text = roll(3) == 0 ? std::to_string(roll(100)) : "";
            batch.add("p" + std::to_string(number) + "@example.test", texts, attributes(), now);
        }
        return batch;
    }

  private:
    std::string attributes() {
        std::string json;
        for (const char key : {'a', 'b', 'c', 'd'}) {
            if (roll(4) != 0) continue;
            json += (json.empty() ? "{\"" : ",\"") + std::string(1, key) +
                    "\":" + std::to_string(roll(1000));
        }
        return json.empty() ? json : json + "}";
    }

    std::mt19937 random_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(random_batches_do_what_the_model_does_whatever_was_expected) {
    struct Undo {};
    constexpr int kBatches = 60;
    constexpr int kPeople = 40;
    Model model;
    Dice dice(20'261'120);
    for (int i = 0; i < kBatches; ++i) {
        const Timestamp now = kStart + Milliseconds(i);
        const Batch batch = dice.batch(kPeople, now);
        const auto inputs = batch.inputs();
        const OrgId organization = dice.roll(2) == 0 ? acme : umbrella;
        const Expect right = dice.roll(2) == 0 ? Expect::NewUsers : Expect::KnownUsers;
        const Expect wrong = right == Expect::NewUsers ? Expect::KnownUsers : Expect::NewUsers;
        std::vector<Attachment> undone;
        std::string undone_state;
        BOOST_CHECK_THROW(database.transaction([&](db::Tx& tx) {
            undone = service::create_or_attach(tx, organization, inputs, wrong, now);
            undone_state = everything();
            throw Undo{};
        }),
                          Undo);
        const auto done = run(organization, batch, right, now);
        BOOST_TEST(everything() == undone_state);
        BOOST_TEST_REQUIRE(done.size() == inputs.size());
        BOOST_TEST_REQUIRE(undone.size() == inputs.size());
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            const RowState expected = model.apply(organization, inputs[k], now);
            BOOST_TEST((done[k].outcome == expected), "batch " << i << " row " << k);
            BOOST_TEST((undone[k].outcome == expected), "batch " << i << " row " << k);
            const UserId user = model.users.at(std::string(inputs[k].email));
            BOOST_TEST((done[k].user_id == user && undone[k].user_id == user));
        }
    }
    for (const auto& [place, known] : model.members) {
        const auto found = service::find_member(context, place.first, place.second);
        BOOST_TEST_REQUIRE(found.has_value());
        compare(*found, known);
    }
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users") ==
               static_cast<std::int64_t>(model.users.size()));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM members") ==
               static_cast<std::int64_t>(model.members.size()));
}

// ---------------------------------------------------------------------------- many hands

BOOST_AUTO_TEST_CASE(fifty_parallel_creations_of_one_address_make_one_user) {
    constexpr int kThreads = 10;
    constexpr int kEach = 5;
    std::array<std::atomic<int>, 7> outcomes{};
    side_by_side(kThreads, [&](int i) {
        test::Desk desk;
        for (int k = 0; k < kEach; ++k) {
            rules::MemberFields fields;
            fields.email = "ann@example.test";
            fields.first_name = "by " + std::to_string(i * kEach + k);
            const auto created = desk.as(k % 2 ? acme : umbrella, [&](service::Unit& unit) {
                return service::create_member(unit, fields);
            });
            ++outcomes[static_cast<std::size_t>(created.outcome)];
        }
    });
    const auto count = [&](RowState state) {
        return outcomes[static_cast<std::size_t>(state)].load();
    };
    BOOST_TEST(count(RowState::Created) == 1);
    BOOST_TEST(count(RowState::Attached) == 1);
    BOOST_TEST(count(RowState::Merged) == kThreads * kEach - 2);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users") == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM members") == 2);
}

BOOST_AUTO_TEST_CASE(overlapping_batches_in_any_order_make_each_person_once) {
    constexpr int kThreads = 4;
    constexpr int kEach = 10;
    constexpr int kPeople = 60;
    std::atomic<int> created = 0;
    std::atomic<int> failed = 0;
    side_by_side(kThreads, [&](int i) {
        test::Desk desk;
        Dice dice(static_cast<unsigned>(i));
        for (int k = 0; k < kEach; ++k) {
            const Batch batch = dice.batch(kPeople, kStart);
            const auto inputs = batch.inputs();
            const auto expect = dice.roll(2) ? Expect::NewUsers : Expect::KnownUsers;
            const OrgId organization = dice.roll(2) ? acme : umbrella;
            try {
                const auto attached = desk.database.transaction([&](db::Tx& tx) {
                    return service::create_or_attach(tx, organization, inputs, expect, kStart);
                });
                created += static_cast<int>(std::count_if(
                    attached.begin(), attached.end(),
                    [](const Attachment& one) { return one.outcome == RowState::Created; }));
            } catch (const db::DbError&) {
                ++failed;
            }
        }
    });
    BOOST_TEST(failed == 0);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users") == created);
    BOOST_TEST(created <= kPeople);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM members m LEFT JOIN users u ON u.id = m.user_id "
                             "WHERE u.id IS NULL") == 0);
}

// ---------------------------------------------------------------------------- POST /v1/users

BOOST_AUTO_TEST_CASE(a_created_member_is_told_with_what_happened) {
    service::enable_attribute(context, acme, "phone", true);
    rules::MemberFields fields;
    fields.email = "ann@example.test";
    fields.country = "GB";
    fields.attributes = R"({"phone":"1"})";
    const auto create = [&] {
        return as(acme, [&](service::Unit& unit) { return service::create_member(unit, fields); });
    };
    const auto created = create();
    BOOST_TEST((created.outcome == RowState::Created));
    BOOST_TEST((created.member.country == "GB"));
    BOOST_TEST(created.member.attributes.find(R"(["1","api",)") != std::string::npos);
    fields.first_name = "Ann";
    const auto merged = create();
    BOOST_TEST((merged.outcome == RowState::Merged));
    BOOST_TEST((merged.member.user_id == created.member.user_id));
    BOOST_TEST((merged.member.first_name == "Ann"));
}

BOOST_AUTO_TEST_CASE(attributes_that_the_registry_refuses_write_nothing) {
    service::enable_attribute(context, acme, "shirt_size", true);
    const auto code = [&](const std::string& attributes) {
        rules::MemberFields fields;
        fields.email = "ann@example.test";
        fields.attributes = attributes;
        return code_of([&] {
            as(acme, [&](service::Unit& unit) { return service::create_member(unit, fields); });
        });
    };
    for (const std::string attributes : {R"({"phone":"1"})", R"({"no.such":1})",
                                         R"({"shirt_size":"huge"})", R"({"shirt_size":3})"}) {
        BOOST_TEST((code(attributes) == ErrorCode::ValidationError), attributes);
    }
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users") == 0);
    BOOST_TEST(!code(R"({"shirt_size":"M"})").has_value());
}

BOOST_AUTO_TEST_CASE(a_member_of_another_organization_or_of_none_is_not_found) {
    const auto ann = run(umbrella, Batch().add("ann@example.test")).front().user_id;
    BOOST_TEST(service::find_member(context, umbrella, ann).has_value());
    BOOST_TEST(!service::find_member(context, acme, ann).has_value());
    BOOST_TEST(!service::find_member(context, umbrella, UserId::create()).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
