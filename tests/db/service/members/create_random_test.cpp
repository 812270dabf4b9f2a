// service/members/create.hpp: random batches against a model of create-or-attach, each with both
// expectations, and parallel creations.
#include "base/json.hpp"
#include "db/lookups.hpp"
#include "db/members.hpp"
#include "rules/members/fields.hpp"
#include "rules/members/member.hpp"

#include <array>
#include <atomic>
#include <map>
#include <random>

using namespace muster;
using rules::MemberOutcome;
using service::Attachment;
using service::Expect;
using service::MemberInput;
using test::Batch;
using test::in_parallel;
using test::kStart;
using test::parsed;
using test::texts_of;

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

    MemberOutcome apply(OrgId organization, const MemberInput& input, Timestamp now) {
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
        if (is_new) return MemberOutcome::Created;
        return is_new_member ? MemberOutcome::Attached : MemberOutcome::Merged;
    }

    std::map<std::string, UserId> users;
    std::map<std::pair<OrgId, UserId>, Known> members;
};

void compare(const rules::Member& member, const Model::Known& known) {
    BOOST_TEST(member.member_id == known.id);
    BOOST_TEST(texts_of(member) == known.texts);
    BOOST_TEST(member.created_at == known.created_at);
    BOOST_TEST(member.updated_at == known.updated_at);
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

BOOST_FIXTURE_TEST_SUITE(members_random, test::Members)

BOOST_AUTO_TEST_CASE(random_batches_match_the_model_with_any_expectation) {
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
        const Expect wrong =
            right == Expect::NewUsers ? Expect::UnchangedMembers : Expect::NewUsers;
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
            const MemberOutcome expected = model.apply(organization, inputs[k], now);
            BOOST_TEST(done[k].outcome == expected, "batch " << i << " row " << k);
            BOOST_TEST(undone[k].outcome == expected, "batch " << i << " row " << k);
            const UserId user = model.users.at(std::string(inputs[k].email));
            BOOST_TEST(done[k].user_id == user);
            BOOST_TEST(undone[k].user_id == user);
        }
    }
    for (const auto& [place, known] : model.members) {
        const auto found = test::find_member(context, place.first, place.second);
        BOOST_TEST_REQUIRE(found.has_value());
        compare(*found, known);
    }
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users") ==
               static_cast<std::int64_t>(model.users.size()));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM members") ==
               static_cast<std::int64_t>(model.members.size()));
}

// ---------------------------------------------------------------------------- in parallel

BOOST_AUTO_TEST_CASE(fifty_parallel_creations_of_one_address_create_one_user) {
    constexpr int kThreads = 10;
    constexpr int kEach = 5;
    std::array<std::atomic<int>, 7> outcomes{};
    in_parallel(kThreads, [&](int i) {
        test::DatabaseContext worker;
        for (int k = 0; k < kEach; ++k) {
            rules::MemberFields fields;
            fields.email = "ann@example.test";
            fields.first_name = "by " + std::to_string(i * kEach + k);
            const auto created =
                worker.as(k % 2 ? acme : umbrella, [&](service::OrgTransaction& transaction) {
                    return service::create_member(transaction, fields);
                });
            ++outcomes[static_cast<std::size_t>(created.outcome)];
        }
    });
    const auto count = [&](MemberOutcome state) {
        return outcomes[static_cast<std::size_t>(state)].load();
    };
    BOOST_TEST(count(MemberOutcome::Created) == 1);
    BOOST_TEST(count(MemberOutcome::Attached) == 1);
    BOOST_TEST(count(MemberOutcome::Merged) == kThreads * kEach - 2);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM users") == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM members") == 2);
}

BOOST_AUTO_TEST_CASE(overlapping_batches_in_any_order_create_each_person_once) {
    constexpr int kThreads = 4;
    constexpr int kEach = 10;
    constexpr int kPeople = 60;
    std::atomic<int> created = 0;
    std::atomic<int> failed = 0;
    in_parallel(kThreads, [&](int i) {
        test::DatabaseContext worker;
        Dice dice(static_cast<unsigned>(i));
        for (int k = 0; k < kEach; ++k) {
            const Batch batch = dice.batch(kPeople, kStart);
            const auto inputs = batch.inputs();
            const auto expect = std::array{Expect::NewUsers, Expect::KnownUsers,
                                           Expect::UnchangedMembers}[dice.roll(3)];
            const OrgId organization = dice.roll(2) ? acme : umbrella;
            try {
                const auto attached = worker.database.transaction([&](db::Tx& tx) {
                    return service::create_or_attach(tx, organization, inputs, expect, kStart);
                });
                created += static_cast<int>(std::count_if(
                    attached.begin(), attached.end(),
                    [](const Attachment& one) { return one.outcome == MemberOutcome::Created; }));
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

BOOST_AUTO_TEST_SUITE_END()
