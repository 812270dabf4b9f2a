#include "service/ads/serving.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "db/transaction.hpp"
#include "rules/origins.hpp"
#include "store/ads/serving.hpp"

#include <algorithm>
#include <span>

namespace muster::service {
namespace {

using rules::AdCandidate;
using rules::AdCreative;
using rules::AdToken;
using rules::AdTokenKind;
using rules::AdVisitor;

// Reads only what the candidates ask for.
AdVisitor known_member(db::OrgStore& org, UserId user, std::span<const AdCandidate> candidates,
                       Timestamp now) {
    const auto has_cap = [](const AdCandidate& one) { return one.frequency_cap.has_value(); };
    AdVisitor visitor = store::find_ad_member(org, user).value_or(AdVisitor());
    if (visitor.member && std::ranges::any_of(candidates, has_cap)) {
        visitor.shown = store::find_shown_today(org, *visitor.member, rules::ad_day_of(now));
    }
    return visitor;
}

AdVisitor visitor_of(Context& context, OrgId organization, const AdRequest& ad_request,
                     std::span<const AdCandidate> candidates, Timestamp now) {
    AdVisitor visitor;
    if (ad_request.user) {
        visitor = context.database.autocommit([&](db::Tx& tx) {
            db::OrgStore org(tx, organization);
            return known_member(org, *ad_request.user, candidates, now);
        });
    }
    visitor.tags = ad_request.tags;
    if (ad_request.geo_country) visitor.country = ad_request.geo_country;
    if (ad_request.locale) visitor.locale = ad_request.locale;
    return visitor;
}

// Throws NOT_FOUND if the organization does not have the slot. An unknown slug is not cached, so
// requests with made-up slugs cannot fill the memory.
const std::vector<AdCandidate>& candidates_of(Context& context, AdServingCache& cache,
                                              OrgId organization, const std::string& slug,
                                              Timestamp now) {
    if (const auto* known = cache.find_slot(organization, slug, now)) return *known;
    auto found = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_ad_candidates(org, slug, now, now + AdServingCache::kLifetime);
    });
    if (!found) throw Error(ErrorCode::NotFound);
    return cache.keep_slot(organization, slug, std::move(*found), now);
}

// Returns false if the campaign was deleted in the meantime.
template <class Step>
bool false_if_deleted(const Step& step) {
    try {
        return step();
    } catch (const db::DbError& error) {
        if (error.kind() != db::DbError::Kind::BadData) throw;
        return false;
    }
}

// Reserves one impression for one visitor before it happens. Only campaigns with a budget or a cap
// are counted.
class Reservation {
  public:
    Reservation(Context& context, AdServingCache& cache, OrgId organization,
                const AdVisitor& visitor, Timestamp now)
        : context_(context),
          cache_(cache),
          organization_(organization),
          visitor_(visitor),
          now_(now) {}

    // Returns false if the budget or the cap is exhausted.
    bool make(const AdCandidate& candidate) {
        const bool is_capped = candidate.frequency_cap && visitor_.member;
        const bool is_ahead = cache_.has_reserved(candidate.campaign, day_);
        const bool takes_budget = candidate.daily_impressions && !is_ahead;
        if (takes_budget && cache_.is_full(candidate.campaign, now_)) return false;
        if (!write(candidate, is_capped, takes_budget)) return false;
        if (takes_budget) {
            const auto ahead = rules::reserved_at_once(*candidate.daily_impressions) - 1;
            cache_.keep_reserved(candidate.campaign, day_, ahead);
        } else if (candidate.daily_impressions) {
            cache_.take_reserved(candidate.campaign);
        }
        return true;
    }

  private:
    // Shows no counted ad while the counters are locked.
    bool write(const AdCandidate& candidate, bool is_capped, bool takes_budget) {
        if (!is_capped && !takes_budget) return true;
        if (cache_.is_locked(organization_, now_)) return false;
        try {
            return count(candidate, is_capped, takes_budget);
        } catch (const db::DbError& error) {
            if (error.kind() != db::DbError::Kind::LockTimeout) throw;
            cache_.keep_locked(organization_, now_);
            return false;
        }
    }

    bool count(const AdCandidate& candidate, bool is_capped, bool takes_budget) {
        const auto reserve_both = [&](db::Tx& tx) {
            db::OrgStore org(tx, organization_);
            // The member's row is locked first because all requests share the campaign's row.
            return tx.attempt_or_undo([&] {
                return reserve_for_member(org, candidate) && reserve_of_budget(org, candidate);
            });
        };
        return false_if_deleted([&] {
            if (is_capped && takes_budget) {
                return context_.database.transaction(reserve_both, db::OnLockTimeout::Throw);
            }
            return autocommit([&](db::OrgStore& org) {
                return is_capped ? reserve_for_member(org, candidate)
                                 : reserve_of_budget(org, candidate);
            });
        });
    }

    // Uses no transaction, because one costs two more round trips for each page view. After a lost
    // connection, a reservation may count twice: fewer ads are shown, never more.
    template <class Statement>
    bool autocommit(const Statement& statement) {
        const auto run = [&](db::Tx& tx) {
            db::OrgStore org(tx, organization_);
            return statement(org);
        };
        return context_.database.autocommit(run, db::OnLockTimeout::Throw);
    }

    bool reserve_for_member(db::OrgStore& org, const AdCandidate& candidate) {
        return store::reserve_for_member(org, candidate.campaign, *visitor_.member, day_,
                                         *candidate.frequency_cap);
    }

    // Reserves some impressions for later requests too.
    bool reserve_of_budget(db::OrgStore& org, const AdCandidate& candidate) {
        const std::int64_t budget = *candidate.daily_impressions;
        const std::int64_t count = rules::reserved_at_once(budget);
        const std::int64_t most =
            rules::paced_budget(budget, candidate.starts_at, candidate.ends_at, now_);
        const auto reserve = [&] {
            return store::reserve_budget(org, candidate.campaign, day_, count, most, now_);
        };
        const bool has_room =
            reserve() || (store::return_unseen(org, candidate.campaign, day_,
                                               now_ - rules::kUnseenAfter, now_) &&
                          reserve());
        if (!has_room) cache_.keep_full(candidate.campaign, now_);
        return has_room;
    }

    Context& context_;
    AdServingCache& cache_;
    OrgId organization_;
    const AdVisitor& visitor_;
    Timestamp now_;
    std::int64_t day_ = rules::ad_day_of(now_);
};

const AdCandidate* draw(std::vector<const AdCandidate*> candidates, Reservation& reservation,
                        const rules::AdChance& chance) {
    while (!candidates.empty()) {
        const std::size_t index = rules::draw_by_weight(candidates, chance);
        if (reservation.make(*candidates[index])) return candidates[index];
        candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(index));
    }
    return nullptr;
}

std::optional<AdToken> opened(const AdServingCache& cache, AdTokenKind kind,
                              std::string_view token) {
    return rules::decode_ad_token(cache.keys(), kind, token);
}

void count(Context& context, const AdToken& token, Counting counting) {
    const Timestamp now = Timestamp::now();
    if (counting == Counting::Skip || token.expires_at <= now) return;
    context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, token.organization);
        if (!store::insert_redemption(org, token, now)) return;
        store::count_redemption(org, token, rules::ad_day_of(now));
    });
}

}  // namespace

std::optional<ServedAd> serve_ad(Context& context, AdServingCache& cache, OrgId organization,
                                 const AdRequest& ad_request, Timestamp now,
                                 const rules::AdChance& chance) {
    const auto& candidates = candidates_of(context, cache, organization, ad_request.slot, now);
    const AdVisitor visitor = visitor_of(context, organization, ad_request, candidates, now);
    Reservation reservation(context, cache, organization, visitor, now);
    const AdCandidate* chosen =
        draw(rules::eligible_candidates(candidates, visitor, now), reservation, chance);
    if (!chosen) return std::nullopt;
    AdCreative creative = chosen->creatives[chance(chosen->creatives.size())];
    if (creative.kind == rules::CreativeKind::Html) {
        creative.html = context.database.autocommit([&](db::Tx& tx) {
            db::OrgStore org(tx, organization);
            return store::find_creative_html(org, creative.id);
        });
        if (!creative.html) return std::nullopt;  // deleted in the meantime
    }
    AdToken token{AdTokenKind::Impression, organization, ServingId::create(),
                  chosen->campaign,        creative.id,  now + rules::kAdTokenLife};
    const Secret& key = cache.keys().at(0);
    ServedAd ad{std::move(creative), rules::encode_ad_token(key, token), {}};
    token.kind = AdTokenKind::Click;
    ad.click_token = rules::encode_ad_token(key, token);
    return ad;
}

std::uint64_t ad_chance(std::uint64_t bound) {
    std::uint64_t number = 0;
    draw_random(&number, sizeof number);
    return number % bound;  // The bounds are small, so the bias of the modulo is negligible.
}

std::optional<OrgId> organization_of_token(const AdServingCache& cache, AdTokenKind kind,
                                           std::string_view token) {
    const auto known = opened(cache, kind, token);
    return known ? std::optional(known->organization) : std::nullopt;
}

bool redeem_impression(Context& context, const AdServingCache& cache, std::string_view token,
                       Counting counting) {
    const auto known = opened(cache, AdTokenKind::Impression, token);
    if (!known) return false;
    count(context, *known, counting);
    return true;
}

std::string redeem_click(Context& context, const AdServingCache& cache, std::string_view token,
                         Counting counting) {
    const auto known = opened(cache, AdTokenKind::Click, token);
    if (!known) throw Error(ErrorCode::NotFound);
    auto landing = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, known->organization);
        return store::find_landing_url(org, known->campaign, known->creative);
    });
    if (!landing || !rules::is_web_url(*landing)) throw Error(ErrorCode::NotFound);
    count(context, *known, counting);
    return std::move(*landing);
}

}  // namespace muster::service
