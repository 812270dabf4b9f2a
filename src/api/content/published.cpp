// Serves /v1/content/…: published articles for the organization's sites, by a content key
// (docs/engagement.md "Content"). Written at /console/v1/articles (api/content/articles.cpp).
#include "api/groups.hpp"
#include "service/content/articles.hpp"

namespace muster::api {
namespace {

using http::Method;
using rules::Article;

// ---------------------------------------------------------------------------- replies

Json::Value tags_schema() {
    return JsonType<std::vector<std::string>>::schema();
}

// The list shows all but the body.
constexpr auto kListed = record<Article>(
    "ListedContentArticle", field<&Article::id>("id"), field<&Article::slug>("slug"),
    field<&Article::title>("title"), field<&Article::excerpt>("excerpt"),
    field<&Article::locale>("locale"),
    RecordField<Article>{"tags",
                         [](JsonWriter& to, const Article& article) { to.raw(article.tags.text); },
                         tags_schema},
    field<&Article::author>("author"), field<&Article::cover_url>("cover_url"),
    field<&Article::published_at>("published_at"), field<&Article::updated_at>("updated_at"));

constexpr auto kArticle = std::apply(
    [](const auto&... fields) {
        return record<Article>("ContentArticle", fields...,
                               field<&Article::body_html>("body_html"));
    },
    kListed.fields);

constexpr auto kArticleList = list_of<kListed>("ContentList", "articles");

// Anybody may keep it for a minute.
template <class Value>
Answer<Value> cached(Value value) {
    return {.value = std::move(value), .headers = {{"Cache-Control", "public, max-age=60"}}};
}

// ---------------------------------------------------------------------------- handlers

auto list_content(Call& call) {
    const service::ContentFilter filter{call.query.text("q"), call.query.text("tag"),
                                        call.query.text("locale")};
    auto page = service::list_published_articles(call.context, call.org(), filter,
                                                 call.cursor_position().value_or(""),
                                                 call.query.integer("limit"));
    return cached(page_of(call, std::move(page.articles), page.next));
}

auto get_content(Call& call) {
    auto article = service::find_published_article(call.context, call.org(), call.parameters.at(0));
    if (!article) throw Error(ErrorCode::NotFound);
    return cached(std::move(*article));
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kListQuery = {
    page_limit("Articles a page; there can be fewer although next_cursor is given."),
    kPageCursor,
    QueryParameter{.name = "locale", .least = 1, .meaning = "Only articles of this locale."},
    QueryParameter{.name = "tag", .least = 1, .meaning = "Only articles with this tag."},
    QueryParameter{.name = "q",
                   .least = 1,
                   .meaning = "Only titles that begin with it, ignoring case and accents; the "
                              "list is then by title."},
};
constexpr std::array kSlugErrors = {ErrorCode::NotFound};

constexpr std::array kEndpoints = {
    Endpoint{.method = Method::Get,
             .path = "/v1/content/articles",
             .operation = "listContent",
             .summary = "List published articles, newest first",
             .access = Access::ContentKey,
             .query = kListQuery,
             .reply = with_tag({200, "A page of articles, without their bodies."}),
             .second_reply = kNotModified,
             .handler = answers<kArticleList, list_content>,
             .is_published = false},
    Endpoint{.method = Method::Get,
             .path = "/v1/content/articles/{slug}",
             .operation = "getContent",
             .summary = "Read a published article",
             .access = Access::ContentKey,
             .reply = with_tag({200, "The article, with its ETag."}),
             .second_reply = kNotModified,
             .errors = kSlugErrors,
             .handler = answers<kArticle, get_content>,
             .is_published = false},
};
static_assert(well_formed(kEndpoints, "/v1/content"));

}  // namespace

std::span<const Endpoint> content_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
