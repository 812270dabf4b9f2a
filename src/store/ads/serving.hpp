// What serving an ad reads and counts, and what comes back by its tokens. One statement decides
// each race.
#pragma once

#include "db/transaction.hpp"
#include "rules/ads/choice.hpp"
#include "rules/ads/token.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

// Of a member what targeting asks for, and what of that day's campaigns was shown; tags are the
// page's. nullopt for nobody's user.
std::optional<rules::AdVisitor> find_ad_member(db::OrgStore& org, UserId user, std::int64_t day);

// A slot's active campaigns that run at some time of [from, until) and have creatives of its size.
// html is left out. nullopt for a slot that the organization does not have.
std::optional<std::vector<rules::AdCandidate>> find_ad_candidates(db::OrgStore& org,
                                                                  std::string_view slug,
                                                                  Timestamp from, Timestamp until);
std::optional<std::string> find_creative_html(db::OrgStore& org, CreativeId id);

// Counts `count` more of the day, or one for the member, unless that would be more than `most`.
// False for none counted. A campaign that is gone has none of a member's, without a wait for its
// row; of its budget it throws DbError BadData.
bool reserve_of_budget(db::OrgStore& org, CampaignId campaign, std::int64_t day, std::int64_t count,
                       std::int64_t most);
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
