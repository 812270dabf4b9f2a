// Serves /v1/content/…: published articles for the organization's sites, with a content key
// (docs/content.md "Content"). api/content/articles.cpp serves the admins.
#include "api/groups.hpp"
#include "service/content/articles.hpp"

namespace muster::api {
namespace {

using http::Method;
using rules::Article;

// ---------------------------------------------------------------------------- replies

// The record of lists, without the body.
constexpr auto kListedPublishedArticle = record<Article>(
    "ListedContentArticle", field<&Article::id>("id", "Id of the record."),
    field<&Article::slug>("slug", "Short name for the article's URL, unique in the organization.",
                          "cup-final"),
    field<&Article::title>("title", "Title.", "The cup final"),
    field<&Article::excerpt>("excerpt", "Short text for lists.", "How we won"),
    field<&Article::locale>("locale", "Language and region, such as en-GB.", "en-GB"),
    field<&Article::tags>("tags", "Tags.").of(JsonType<std::vector<std::string>>::schema),
    field<&Article::author>("author", "Name of the author.", "Ada Lovelace"),
    field<&Article::cover_url>("cover_url", "HTTPS address of the cover picture.",
                               "https://img.example/final.png"),
    field<&Article::published_at>("published_at", "Time of publication."),
    field<&Article::updated_at>("updated_at", "Time of the last change."));

constexpr auto kPublishedArticle =
    extended(kListedPublishedArticle, "ContentArticle",
             field<&Article::body_html>("body_html", "Sanitized HTML text.", "<p>We won.</p>"));

constexpr auto kPublishedArticleList = list_of<kListedPublishedArticle>("ContentList", "articles");

constexpr std::chrono::seconds kCacheTime{60};

template <class Value>
Answer<Value> cached(Value value, std::chrono::seconds at_most = kCacheTime) {
    return {.value = std::move(value),
            .headers = {{"Cache-Control", "public, max-age=" + std::to_string(at_most.count())}}};
}

// ---------------------------------------------------------------------------- handlers

auto list_content(Call& call) {
    const service::ContentFilter filter{call.query.text("q"), call.query.text("tag"),
                                        call.query.text("locale")};
    // One time for both, so that no publication falls between them.
    const Timestamp now = Timestamp::now();
    auto page = service::list_published_articles(call.context, call.org(), filter, now,
                                                 call.cursor_position().value_or(""),
                                                 call.query.integer("limit"));
    return cached(page_of(call, std::move(page.articles), page.next),
                  service::cache_time_of_articles(call.context, call.org(), now, kCacheTime));
}

auto get_content(Call& call) {
    auto article = service::find_published_article(call.context, call.org(), call.parameters.at(0));
    if (!article) throw Error(ErrorCode::NotFound);
    return cached(std::move(*article));
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kPublishedListQuery = {
    page_limit(),
    kPageCursor,
    QueryParameter{.name = "locale", .least = 1, .meaning = "Only articles of this locale."},
    QueryParameter{
        .name = "tag", .least = 1, .is_composed = true, .meaning = "Only articles with this tag."},
    QueryParameter{.name = "q",
                   .least = 1,
                   .is_prefix = true,
                   .meaning = "Only titles that begin with this text, ignoring case and accents; "
                              "ordered by title."},
};
constexpr std::array kPublishedSlugErrors = {ErrorCode::NotFound};

constexpr std::array kPublishedEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/v1/content/articles",
             .operation = "listContent",
             .summary = "List published articles, newest first",
             .description =
                 "Lists published articles without their bodies, the newest first. q searches the "
                 "beginning of titles and orders by title. Replies may be cached for one minute. A "
                 "page may be shorter than limit; continue until next_cursor is null.",
             .access = Access::ContentKey,
             .query = kPublishedListQuery,
             .reply = with_tag({200, "A page of articles, without their bodies."}),
             .second_reply = kNotModified,
             .handler = answers<kPublishedArticleList, list_content>,
             .workers = WorkerGroup::Readers,
             .is_published = false},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/content/articles/{slug}",
        .operation = "getContent",
        .summary = "Read a published article",
        .description =
            "Returns a published article by its slug. Replies may be cached for one minute; send "
            "the ETag as If-None-Match to avoid the transfer. A draft is 404.",
        .access = Access::ContentKey,
        .reply = with_tag({200, "The article, with its ETag."}),
        .second_reply = kNotModified,
        .errors = kPublishedSlugErrors,
        .handler = answers<kPublishedArticle, get_content>,
        .workers = WorkerGroup::Readers,
        .is_published = false},
};
static_assert(well_formed(kPublishedEndpoints, "/v1/content"));

}  // namespace

std::span<const Endpoint> content_endpoints() {
    return kPublishedEndpoints;
}

}  // namespace muster::api
