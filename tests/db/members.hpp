// Shared by the tests of create-or-attach: batches of people, and two organizations for them.
#pragma once

#include "base/json.hpp"
#include "db/fixture.hpp"
#include "db/lookups.hpp"
#include "rules/members/member.hpp"
#include "service/members/create.hpp"

#include "print.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace muster::test {

using service::Attachment;
using service::Expect;
using service::MemberInput;

inline const Timestamp kStart{1'700'000'000'000};

// A batch that owns its texts.
class Batch {
  public:
    Batch& add(std::string email, std::array<std::string, 7> texts = {},
               const std::string& attributes = "", Timestamp now = kStart);

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

inline std::array<std::optional<std::string>, 7> texts_of(const rules::Member& member) {
    return {member.external_id, member.first_name, member.last_name, member.display_name,
            member.locale,      member.country,    member.dob};
}

inline Json::Value parsed(const std::string& document) {
    Json::Value value;
    BOOST_TEST_REQUIRE(parse_json(document, value), document);
    return value;
}

struct Members : Fixture {
    Members() { client.run("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"); }

    std::vector<Attachment> run(OrgId organization, const Batch& batch,
                                Expect expect = Expect::NewUsers, Timestamp now = kStart) {
        const auto inputs = batch.inputs();
        return database.transaction([&](db::Tx& tx) {
            return service::create_or_attach(tx, organization, inputs, expect, now);
        });
    }

    rules::MemberOutcome run_one(OrgId organization, const Batch& batch, Timestamp now = kStart) {
        return run(organization, batch, Expect::NewUsers, now).front().outcome;
    }

    rules::Member member(OrgId organization, const std::string& email) {
        const auto id =
            Uuid::from_bytes(client.value("SELECT id FROM users WHERE email = ?", email));
        auto found = test::find_member(context, organization, UserId(*id));
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

}  // namespace muster::test
