// The reads and counts of ad serving, and the redemption of its tokens. Each race is decided by a
// single statement.
#pragma once

#include "db/transaction.hpp"
#include "rules/ads/choice.hpp"
#include "rules/ads/token.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

// The targeting data of a member. The caller adds the tags of the page and AdVisitor::shown.
// nullopt if the user is not a member.
std::optional<rules::AdVisitor> find_ad_member(db::OrgStore& org, UserId user);
// How often each campaign was shown to the member on this day.
std::map<CampaignId, std::int64_t> find_shown_today(db::OrgStore& org, MemberId member,
                                                    std::int64_t day);

// The active campaigns of a slot that run at some time in [from, until), with creatives of the
// slot's size but without their html. nullopt if the organization does not have the slot.
std::optional<std::vector<rules::AdCandidate>> find_ad_candidates(db::OrgStore& org,
                                                                  std::string_view slug,
                                                                  Timestamp from, Timestamp until);
std::optional<std::string> find_creative_html(db::OrgStore& org, CreativeId id);

// Adds `count` to the day's servings, or one to the member's, unless the sum would exceed `most`.
// Returns false if nothing was added. If the campaign was deleted, reserve_for_member() returns
// false without waiting for its row, and reserve_budget() throws DbError BadData.
bool reserve_budget(db::OrgStore& org, CampaignId campaign, std::int64_t day, std::int64_t count,
                    std::int64_t most, Timestamp now);
// Returns the servings without an impression to the day's budget, unless that was done, or the
// first serving reserved, after `before`. Returns whether there were some.
bool return_unseen(db::OrgStore& org, CampaignId campaign, std::int64_t day, Timestamp before,
                   Timestamp now);
bool reserve_for_member(db::OrgStore& org, CampaignId campaign, MemberId member, std::int64_t day,
                        std::int64_t most);

// False if a token of this serving and kind was already redeemed.
bool insert_redemption(db::OrgStore& org, const rules::AdToken& token, Timestamp now);
// Adds one impression or click to the day; nothing if the campaign was deleted.
void count_redemption(db::OrgStore& org, const rules::AdToken& token, std::int64_t day);
// The target of a click; nullopt if the creative was deleted.
std::optional<std::string> find_landing_url(db::OrgStore& org, CampaignId campaign,
                                            CreativeId creative);

// Deletes the ad views of a removed member.
void delete_ad_days_of(db::OrgStore& org, MemberId member);
void delete_ad_days_of(db::OrgStore& org, std::span<const MemberId> members);

}  // namespace muster::store
