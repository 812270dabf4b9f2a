#include "rules/ads/choice.hpp"

#include "base/text.hpp"
#include "rules/attributes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace muster::rules {
namespace {

// "en" matches "en" and "en-GB". "en_GB" is accepted as a spelling of "en-GB".
bool is_of_locale(std::string_view wanted, std::string_view locale) {
    if (locale.size() < wanted.size()) return false;
    const auto same = [](char left, char right) {
        return left == right || (left == '-' && right == '_') || (left == '_' && right == '-');
    };
    std::string lower_wanted(wanted);
    std::string lower_locale(locale.substr(0, wanted.size()));
    ascii_lower(lower_wanted);
    ascii_lower(lower_locale);
    if (!std::equal(lower_wanted.begin(), lower_wanted.end(), lower_locale.begin(), same)) {
        return false;
    }
    return locale.size() == wanted.size() || locale[wanted.size()] == '-' ||
           locale[wanted.size()] == '_';
}

template <class Values, class Matches>
bool matches_any(const Values& values, const Matches& matches) {
    return values.empty() || std::any_of(values.begin(), values.end(), matches);
}

bool is_same(const Json::Value& wanted, const Json::Value& value) {
    if (wanted.isNumeric() && value.isNumeric()) return wanted.asDouble() == value.asDouble();
    return wanted == value;
}

// A multiple choice matches if it contains the value.
bool has_value(const Json::Value& wanted, const Json::Value& value) {
    if (!value.isArray()) return is_same(wanted, value);
    return std::any_of(value.begin(), value.end(),
                       [&](const Json::Value& entry) { return is_same(wanted, entry); });
}

// A visitor's attributes. A member's document may have hundreds of KiB, so it is parsed once for
// all candidates, when the first one asks.
class VisitorAttributes {
  public:
    explicit VisitorAttributes(const std::string& document) : document_(document) {}

    // `wanted`: {"key": value, …}. False if a value differs or is missing.
    bool have(const std::string& wanted) {
        if (wanted == "{}") return true;
        if (document_.empty()) return false;
        Json::Value wishes;
        if (!parse_json(wanted, wishes) || !wishes.isObject()) return false;
        const Json::Value& known = values();
        const auto keys = wishes.getMemberNames();
        return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
            return known.isMember(key) && has_value(wishes[key], known[key]);
        });
    }

  private:
    const Json::Value& values() {
        if (values_) return *values_;
        Json::Value& parsed = values_.emplace();
        if (!parse_json(attribute_values(document_), parsed)) parsed = Json::objectValue;
        return parsed;
    }

    const std::string& document_;
    std::optional<Json::Value> values_;
};

bool matches_targeting(const Targeting& targeting, const AdVisitor& visitor,
                       VisitorAttributes& attributes) {
    const auto is_tag_of_page = [&](const std::string& tag) {
        return std::find(visitor.tags.begin(), visitor.tags.end(), tag) != visitor.tags.end();
    };
    return matches_any(targeting.countries,
                       [&](const std::string& country) { return country == visitor.country; }) &&
           matches_any(targeting.locales,
                       [&](const std::string& locale) {
                           return visitor.locale && is_of_locale(locale, *visitor.locale);
                       }) &&
           matches_any(targeting.tags, is_tag_of_page) && attributes.have(targeting.attributes);
}

}  // namespace

std::int64_t paced_budget(std::int64_t budget, Timestamp starts_at,
                          std::optional<Timestamp> ends_at, Timestamp now) {
    const Timestamp midnight = Timestamp() + std::chrono::days(ad_day_of(now));
    const Timestamp from = std::max(midnight, starts_at);
    const Timestamp to =
        std::min(midnight + std::chrono::days(1), ends_at.value_or(Timestamp(INT64_MAX)));
    if (now < from || now >= to) return 0;
    const double passed =
        static_cast<double>((now - from).count()) / static_cast<double>((to - from).count());
    const auto in_step =
        static_cast<std::int64_t>(std::floor(static_cast<double>(budget) * passed));
    constexpr std::int64_t kAhead = 100;
    return std::min(budget, in_step + std::max<std::int64_t>(1, budget / kAhead));
}

std::vector<const AdCandidate*> eligible_candidates(std::span<const AdCandidate> candidates,
                                                    const AdVisitor& visitor, Timestamp now) {
    VisitorAttributes attributes(visitor.attributes);
    const auto is_eligible = [&](const AdCandidate& candidate) {
        if (candidate.creatives.empty() || candidate.weight < 1) return false;
        if (candidate.starts_at > now || (candidate.ends_at && *candidate.ends_at <= now)) {
            return false;
        }
        const auto shown = visitor.shown.find(candidate.campaign);
        const bool is_cap_reached = candidate.frequency_cap && shown != visitor.shown.end() &&
                                    shown->second >= *candidate.frequency_cap;
        return !is_cap_reached && candidate.targeting &&
               matches_targeting(*candidate.targeting, visitor, attributes);
    };
    std::vector<const AdCandidate*> found;
    for (const AdCandidate& candidate : candidates) {
        if (is_eligible(candidate)) found.push_back(&candidate);
    }
    return found;
}

std::size_t draw_by_weight(std::span<const AdCandidate* const> candidates, const AdChance& chance) {
    std::uint64_t in_all = 0;
    for (const AdCandidate* candidate : candidates) {
        in_all += static_cast<std::uint64_t>(candidate->weight);
    }
    std::uint64_t rest = chance(in_all);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const auto weight = static_cast<std::uint64_t>(candidates[i]->weight);
        if (rest < weight) return i;
        rest -= weight;
    }
    return candidates.size() - 1;
}

std::int64_t reserved_at_once(std::int64_t budget) {
    constexpr std::int64_t kShare = 1000;
    constexpr std::int64_t kMost = 100;
    return std::clamp<std::int64_t>(budget / kShare, 1, kMost);
}

}  // namespace muster::rules
