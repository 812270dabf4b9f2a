// Articles of an organization for its sites (docs/content.md "Content"). Types and the check of
// a slug only.
#pragma once

#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/record.hpp"
#include "base/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

using muster::text_of;

inline constexpr std::int64_t kMostArticles = 10'000;                      // of an organization
inline constexpr std::size_t kMostArticleBytes = std::size_t{200} << 10U;  // of body_html
inline constexpr std::size_t kMostArticleTags = 20;

// An article is published at published_at, which may be in the future: the sites see it from then
// on, without a runner.
enum class ArticleStatus : std::uint8_t { Draft, Scheduled, Published };
inline constexpr Milliseconds kMostPublishAhead = std::chrono::days(366);

struct Article {
    OrgId organization_id;
    ArticleId id;
    std::string slug;
    std::string title;
    std::optional<std::string> excerpt;
    std::optional<std::string> locale;
    RawJson tags;  // an array of texts
    std::optional<std::string> author;
    std::optional<std::string> cover_url;
    std::optional<Timestamp> published_at;  // nullopt: a draft. A time in the future: scheduled.
    std::optional<AdminId> created_by;
    std::optional<std::string> created_by_email;  // set only when it is shown in the console
    Timestamp created_at;
    Timestamp updated_at;
    std::string body_html;  // sanitized; "" in lists

    // At the time of reading.
    ArticleStatus status = ArticleStatus::Draft;
    void set_status(Timestamp now) {
        status = !published_at          ? ArticleStatus::Draft
                 : *published_at <= now ? ArticleStatus::Published
                                        : ArticleStatus::Scheduled;
    }
};

// ^[a-z0-9][a-z0-9-]{0,127}$
[[nodiscard]] inline bool is_article_slug(std::string_view text) {
    constexpr std::size_t kLongest = 128;
    return !text.empty() && text.size() <= kLongest && text.front() != '-' &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") ==
               std::string_view::npos;
}

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::ArticleStatus> = {
    Name{rules::ArticleStatus::Draft, "draft"}, Name{rules::ArticleStatus::Scheduled, "scheduled"},
    Name{rules::ArticleStatus::Published, "published"}};

}  // namespace muster
