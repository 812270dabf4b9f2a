#include "service/ad_serving.hpp"

#include "base/crypto.hpp"
#include "base/error.hpp"
#include "db/transaction.hpp"
#include "rules/ad_token.hpp"
#include "store/ad_serving.hpp"

namespace muster::service {
namespace {

using rules::AdCandidate;
using rules::AdCreative;
using rules::AdToken;
using rules::AdTokenKind;
using rules::AdVisitor;

constexpr std::string_view kKeyPurpose = "ads";

AdVisitor visitor_of(db::OrgStore& org, const AdQuestion& question) {
    AdVisitor visitor;
    visitor.tags = question.tags;
    if (question.user) {
        if (auto member = store::find_ad_member(org, *question.user)) {
            visitor.member = member->member;
            visitor.country = std::move(member->country);
            visitor.locale = std::move(member->locale);
            visitor.attributes = std::move(member->attributes);
        }
    }
    if (question.geo_country) visitor.country = question.geo_country;
    if (question.locale) visitor.locale = question.locale;
    return visitor;
}

// A campaign that was deleted meanwhile has nothing to give.
template <class Step>
bool unless_gone(const Step& step) {
    try {
        return step();
    } catch (const db::DbError& error) {
        if (error.kind() != db::DbError::Kind::BadData) throw;
        return false;
    }
}

// Counts one showing; false where the budget or the cap has no room. A campaign without either
// writes nothing.
bool reserve(Context& context, OrgId organization, const AdCandidate& candidate,
             const AdVisitor& visitor, Timestamp now) {
    const std::int64_t day = rules::ad_day_of(now);
    const bool is_capped = candidate.frequency_cap && visitor.member;
    const auto for_member = [&](db::OrgStore& org) {
        return store::reserve_for_member(org, candidate.campaign, *visitor.member, day,
                                         *candidate.frequency_cap);
    };
    const auto of_budget = [&](db::OrgStore& org) {
        const auto most = rules::paced_budget(*candidate.daily_impressions, candidate.starts_at,
                                              candidate.ends_at, now);
        return store::reserve_of_budget(org, candidate.campaign, day, most);
    };
    if (!is_capped && !candidate.daily_impressions) return true;
    return unless_gone([&] {
        if (is_capped && candidate.daily_impressions) {
            return context.database.transaction([&](db::Tx& tx) {
                db::OrgStore org(tx, organization);
                // The member's row first: the campaign's is everybody's.
                return tx.attempt_or_undo([&] { return for_member(org) && of_budget(org); });
            });
        }
        return context.database.read([&](db::Tx& tx) {  // one statement, a transaction of its own
            db::OrgStore org(tx, organization);
            return is_capped ? for_member(org) : of_budget(org);
        });
    });
}

std::optional<AdCandidate> draw(Context& context, OrgId organization,
                                std::vector<AdCandidate> candidates, const AdVisitor& visitor,
                                Timestamp now, const rules::AdChance& chance) {
    rules::keep_showable(candidates, visitor, now);
    while (!candidates.empty()) {
        const std::size_t place = rules::draw_by_weight(candidates, chance);
        if (reserve(context, organization, candidates[place], visitor, now)) {
            return std::move(candidates[place]);
        }
        candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(place));
    }
    return std::nullopt;
}

std::optional<AdToken> opened(const Context& context, AdTokenKind kind, std::string_view token) {
    return rules::decode_ad_token(context.keys.derive_all(kKeyPurpose), kind, token);
}

void count(Context& context, const AdToken& token, Counting counting) {
    const Timestamp now = Timestamp::now();
    if (counting == Counting::Looks || token.expires_at <= now) return;
    context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, token.organization);
        if (!store::insert_redemption(org, token, now)) return;
        store::count_redemption(org, token, rules::ad_day_of(now));
    });
}

}  // namespace

std::optional<ServedAd> serve_ad(Context& context, OrgId organization, const AdQuestion& question,
                                 Timestamp now, const rules::AdChance& chance) {
    AdVisitor visitor;
    auto candidates = context.database.read([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        visitor = visitor_of(org, question);
        return store::find_ad_candidates(org, question.slot, visitor.member, now);
    });
    if (!candidates) throw Error(ErrorCode::NotFound);
    auto chosen = draw(context, organization, std::move(*candidates), visitor, now, chance);
    if (!chosen) return std::nullopt;
    AdCreative& creative = chosen->creatives[chance(chosen->creatives.size())];
    if (creative.kind == rules::CreativeKind::Html) {
        creative.html = context.database.read([&](db::Tx& tx) {
            db::OrgStore org(tx, organization);
            return store::find_creative_html(org, creative.id);
        });
        if (!creative.html) return std::nullopt;  // gone meanwhile
    }
    AdToken token{AdTokenKind::Impression, organization, ServingId::create(),
                  chosen->campaign,        creative.id,  now + rules::kAdTokenLife};
    const Secret key = context.keys.derive(kKeyPurpose);
    ServedAd ad{std::move(creative), rules::encode_ad_token(key, token), {}};
    token.kind = AdTokenKind::Click;
    ad.click_token = rules::encode_ad_token(key, token);
    return ad;
}

std::uint64_t ad_chance(std::uint64_t bound) {
    std::uint64_t number = 0;
    random_bytes(&number, sizeof number);
    return number % bound;  // bounds are small: no place is likelier by a noticeable share
}

bool redeem_impression(Context& context, std::string_view token, Counting counting) {
    const auto known = opened(context, AdTokenKind::Impression, token);
    if (!known) return false;
    count(context, *known, counting);
    return true;
}

std::string redeem_click(Context& context, std::string_view token, Counting counting) {
    const auto known = opened(context, AdTokenKind::Click, token);
    if (!known) throw Error(ErrorCode::NotFound);
    auto landing = context.database.read([&](db::Tx& tx) {
        db::OrgStore org(tx, known->organization);
        return store::find_landing_url(org, known->campaign, known->creative);
    });
    if (!landing || !rules::is_web_url(*landing)) throw Error(ErrorCode::NotFound);
    count(context, *known, counting);
    return std::move(*landing);
}

}  // namespace muster::service
