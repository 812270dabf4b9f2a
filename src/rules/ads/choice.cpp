#include "rules/ads/choice.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "json/json_body.hpp"
#include "rules/attributes.hpp"
#include "rules/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

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

// The value of an attribute, or all entries of a multiple choice. Texts are composed, because older
// ones are stored as they were sent.
class KnownValue {
  public:
    explicit KnownValue(const json::JsonIn& value) {
        if (const auto entries = value.array()) {
            for (const json::JsonIn& entry : *entries) add(entry);
        } else {
            add(value);
        }
    }

    bool has(const json::JsonIn& wanted) const {
        std::string text = json::minified(wanted);
        if (!wanted.is_number()) {
            compose(text);
            return others_.contains(text);
        }
        return std::ranges::any_of(
            numbers_, [&](const std::string& number) { return is_same_number(text, number); });
    }

  private:
    void add(const json::JsonIn& value) {
        if (value.is_number()) {
            numbers_.push_back(json::minified(value));
        } else {
            std::string text = json::minified(value);
            compose(text);
            others_.insert(std::move(text));
        }
    }

    std::vector<std::string> numbers_;
    std::set<std::string> others_;
};

// A visitor's attributes. A member's document may have hundreds of KiB, and a page hundreds of
// campaigns with as many conditions. So the document is parsed once, when the first candidate asks,
// and each of its values is prepared once.
class VisitorAttributes {
  public:
    explicit VisitorAttributes(const std::string& document) : document_(document) {}

    // `wanted`: {"key": value, …}. False if a value differs or is missing.
    bool have(const std::string& wanted) {
        if (wanted == "{}") return true;
        if (document_.empty()) return false;
        const auto wishes = wishes_.parse_object(wanted);
        if (!wishes || !parse_values()) return false;
        for (const auto& [key, wish] : *wishes) {
            const KnownValue* known = known_value(std::string(key));
            if (!known || !known->has(wish)) return false;
        }
        return true;
    }

  private:
    bool parse_values() {
        if (!is_parsed_) values_ = document_parser_.parse_object(attribute_values(document_));
        is_parsed_ = true;
        return values_.has_value();
    }

    // nullptr if the visitor has no value of this key.
    const KnownValue* known_value(const std::string& key) {
        const auto prepared = prepared_.find(key);
        if (prepared != prepared_.end()) return &prepared->second;
        const auto value = values_->find(key);
        return value ? &prepared_.emplace(key, KnownValue(*value)).first->second : nullptr;
    }

    const std::string& document_;
    json::JsonParser wishes_;
    json::JsonParser document_parser_;
    std::optional<json::JsonObject> values_;
    std::map<std::string, KnownValue> prepared_;  // by key
    bool is_parsed_ = false;
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
