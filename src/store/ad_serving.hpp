// What serving an ad reads and counts, and what comes back by its tokens. One statement decides
// each race.
#pragma once

#include "db/transaction.hpp"
#include "rules/ad_choice.hpp"
#include "rules/ad_token.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

// Of a member what targeting asks for.
struct AdMember {
    MemberId member;
    std::optional<std::string> country;
    std::optional<std::string> locale;
    std::string attributes;
};
std::optional<AdMember> find_ad_member(db::OrgStore& org, UserId user);

// A slot with the campaigns that run in it at `now` and have creatives of its size, with what of
// today (for the member, if one is given) has been counted. html is left out. nullopt for a slot
// that the organization does not have.
std::optional<std::vector<rules::AdCandidate>> find_ad_candidates(
    db::OrgStore& org, std::string_view slug, const std::optional<MemberId>& member, Timestamp now);
std::optional<std::string> find_creative_html(db::OrgStore& org, CreativeId id);

// Counts one more of the day, unless `most` are counted. False for none counted. A campaign that is
// gone has none of a member's, without a wait for its row; of its budget it throws DbError BadData.
bool reserve_of_budget(db::OrgStore& org, CampaignId campaign, std::int64_t day, std::int64_t most);
bool reserve_for_member(db::OrgStore& org, CampaignId campaign, MemberId member, std::int64_t day,
                        std::int64_t most);

// False when a token of that serving and kind was redeemed before.
bool insert_redemption(db::OrgStore& org, const rules::AdToken& token, Timestamp now);
// One more impression or click of the day; of a campaign that is gone, none.
void count_redemption(db::OrgStore& org, const rules::AdToken& token, std::int64_t day);
// Where a click leads; nullopt for a creative that is gone.
std::optional<std::string> find_landing_url(db::OrgStore& org, CampaignId campaign,
                                            CreativeId creative);

// What was shown to a member who is one no more.
void delete_ad_days_of(db::OrgStore& org, MemberId member);

}  // namespace muster::store
