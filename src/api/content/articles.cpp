// Serves /console/v1/articles…: articles that admins write for the organization's sites
// (docs/content.md "Content"). api/content/published.cpp serves them to the sites.
#include "service/content/articles.hpp"

#include "api/groups.hpp"
#include "api/if_match.hpp"
#include "rules/access/roles.hpp"
#include "rules/content/body.hpp"
#include "rules/content/preview.hpp"

namespace muster::api {
namespace {

using http::Method;
using json::Text;
using rules::Article;
using rules::ArticleStatus;
using service::ArticleChange;
using service::NewArticle;
using service::OrgTransaction;

// ---------------------------------------------------------------------------- bodies

constexpr json::Slug kSlug{
    .is_one = rules::is_article_slug,
    .pattern = "^[a-z0-9][a-z0-9-]{0,127}$",
    .meaning = "up to 128 lower-case letters, digits and hyphens, beginning with a letter or digit",
    .max = 128};

// Tags without duplicates.
struct Tags {
    static constexpr auto kTexts = json::array_of(Text{1, 64, true}, 0, rules::kMostArticleTags);

    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                std::vector<std::string>& out) const {
        kTexts.decode(in, path, to, out);
        for (auto tag = out.begin(); tag != out.end(); ++tag) {
            if (std::find(out.begin(), tag, *tag) == tag || tag->empty()) continue;
            to.fault(json::Path(path, static_cast<std::size_t>(tag - out.begin())),
                     FieldCode::Duplicate);
        }
    }
    Json::Value schema() const { return kTexts.schema(); }
};

constexpr rules::Html kBody{rules::kMostArticleBytes};
constexpr rules::HttpsUrl kCover{2048};
constexpr Text kTitle{1, 255, true};
constexpr Text kExcerpt{1, 1000};
constexpr Text kLocale{1, 35};
constexpr Text kAuthor{1, 255};

constexpr auto kNewArticle = json::object<NewArticle>(
    json::required("slug", &NewArticle::slug, kSlug,
                   "Short name for the article's URL, unique in the organization.", "cup-final"),
    json::required("title", &NewArticle::title, kTitle, "Title.", "The cup final"),
    json::required("body_html", &NewArticle::body_html, kBody,
                   "HTML text. It is sanitized when it is written and may be empty.",
                   "<p>We won.</p>"),
    json::optional("excerpt", &NewArticle::excerpt, kExcerpt, "Short text for lists.",
                   "How we won"),
    json::optional("locale", &NewArticle::locale, kLocale, "Language and region, such as en-GB.",
                   "en-GB"),
    json::optional("tags", &NewArticle::tags, Tags{}, "Tags, without duplicates.", R"(["cup"])"),
    json::optional("author", &NewArticle::author, kAuthor, "Name of the author.", "Ada Lovelace"),
    json::optional("cover_url", &NewArticle::cover_url, kCover,
                   "HTTPS address of the cover picture.", "https://img.example/final.png"));

constexpr auto kArticleChange = json::object<ArticleChange>(
    json::changeable(
        "slug", &ArticleChange::slug, kSlug,
        "Short name for the article's URL, unique in the organization. If omitted, not changed.",
        "cup-final"),
    json::changeable("title", &ArticleChange::title, kTitle, "Title. If omitted, not changed.",
                     "The cup final"),
    json::changeable(
        "body_html", &ArticleChange::body_html, kBody,
        "HTML text. It is sanitized when it is written and may be empty. If omitted, not changed.",
        "<p>We won.</p>"),
    json::clearable("excerpt", &ArticleChange::excerpt, kExcerpt,
                    "Short text for lists. null removes it. If omitted, not changed.",
                    "How we won"),
    json::clearable("locale", &ArticleChange::locale, kLocale,
                    "Language and region, such as en-GB. null removes it. If omitted, not changed.",
                    "en-GB"),
    json::changeable("tags", &ArticleChange::tags, Tags{},
                     "Tags, without duplicates. If omitted, not changed.", R"(["cup"])"),
    json::clearable("author", &ArticleChange::author, kAuthor,
                    "Name of the author. null removes it. If omitted, not changed.",
                    "Ada Lovelace"),
    json::clearable("cover_url", &ArticleChange::cover_url, kCover,
                    "HTTPS address of the cover picture. null removes it. If omitted, not changed.",
                    "https://img.example/final.png"));

struct PreviewText {
    rules::SanitizedHtml body;
};
constexpr auto kPreviewText = json::object<PreviewText>(
    json::required("body_html", &PreviewText::body, rules::ReportedHtml{rules::kMostArticleBytes},
                   "HTML text. It may be empty.", "<p>We won.</p>"));

struct Publication {
    std::optional<Timestamp> publish_at;
};
constexpr auto kPublication = json::object<Publication>(
    json::optional("publish_at", &Publication::publish_at, json::Instant{},
                   "Time of the publication, in the future. If omitted: now."));

// ---------------------------------------------------------------------------- replies

template <ArticleStatus kStatus>
void write_time_if(JsonWriter& to, const Article& article) {
    const bool is_shown = article.status == kStatus;
    JsonType<std::optional<Timestamp>>::write(to, is_shown ? article.published_at : std::nullopt);
}

// The record of lists, without the body.
constexpr auto kListedArticle = record<Article>(
    "ListedArticle", field<&Article::id>("id", "Id of the record."),
    field<&Article::organization_id>("organization_id",
                                     "Id of the organization that the record belongs to."),
    field<&Article::slug>("slug", "Short name for the article's URL, unique in the organization.",
                          "cup-final"),
    field<&Article::title>("title", "Title.", "The cup final"),
    field<&Article::excerpt>("excerpt", "Short text for lists.", "How we won"),
    field<&Article::locale>("locale", "Language and region, such as en-GB.", "en-GB"),
    field<&Article::tags>("tags", "Tags.").of(JsonType<std::vector<std::string>>::schema),
    field<&Article::author>("author", "Name of the author.", "Ada Lovelace"),
    field<&Article::cover_url>("cover_url", "HTTPS address of the cover picture.",
                               "https://img.example/final.png"),
    field<&Article::status>(
        "status",
        "draft: visible in the console only; scheduled: visible to the organization's sites from "
        "publish_at on; published: visible to them."),
    RecordField<Article>{"published_at", "Time of publication; null unless it is published.",
                         write_time_if<ArticleStatus::Published>,
                         JsonType<std::optional<Timestamp>>::schema},
    RecordField<Article>{"publish_at", "Time of the publication; null unless it is scheduled.",
                         write_time_if<ArticleStatus::Scheduled>,
                         JsonType<std::optional<Timestamp>>::schema},
    field<&Article::created_by>("created_by",
                                "Id of the admin who created it; null if the operator did."),
    field<&Article::created_by_email>("created_by_email",
                                      "Email address of that admin; null if there is none.",
                                      "ada@example.org"),
    field<&Article::created_at>("created_at", "Time when the record was created."),
    field<&Article::updated_at>("updated_at", "Time of the last change."));

constexpr auto kArticle =
    extended(kListedArticle, "Article",
             field<&Article::body_html>("body_html", "Sanitized HTML text.", "<p>We won.</p>"));

constexpr auto kArticleList = list_of<kListedArticle>("ArticleList", "articles");

constexpr auto kDroppedPart = record<rules::DroppedHtml>(
    "DroppedPart",
    field<&rules::DroppedHtml::reason>(
        "reason",
        "element: the tags of an element that is not allowed, its content is kept; content: an "
        "element with its content; attribute: an attribute that is not allowed; value: an attribute "
        "whose value is not allowed; address: a link or picture without a valid address; depth: the "
        "tags of an element that is nested too deep; comment: a comment; markup: all tags became "
        "text, because the HTML could overload a parser."),
    field<&rules::DroppedHtml::element>(
        "element", "Name of the element; null for a comment or markup.", "script"),
    field<&rules::DroppedHtml::attribute>(
        "attribute", "Name of the attribute; null for other parts.", "onclick"),
    field<&rules::DroppedHtml::line>("line", "Line of the first such part in the HTML, from 1.",
                                     "3"),
    field<&rules::DroppedHtml::count>("count", "Number of such parts.", "1"));

void write_dropped(JsonWriter& to, const PreviewText& text) {
    to.begin_array();
    for (const rules::DroppedHtml& part : text.body.dropped) kDroppedPart.write(to, part);
    to.end_array();
}

constexpr auto kSanitizedText = record<PreviewText>(
    "SanitizedText",
    field<&PreviewText::body, &rules::SanitizedHtml::html>(
        "body_html", "The text as it would be stored.", "<p>We won.</p>"),
    RecordField<PreviewText>{"dropped",
                             "What the sanitizer dropped, in the order of the text; the first 50 "
                             "kinds of parts.",
                             write_dropped, [] { return array_of_schema(kDroppedPart.schema()); }},
    field<&PreviewText::body, &rules::SanitizedHtml::dropped_count>(
        "dropped_count", "Number of all dropped parts.", "1"));

// ---------------------------------------------------------------------------- handlers

auto list_articles(Call& call) {
    const auto status = call.query.text("status");
    const service::ArticleFilter filter{status ? parse<ArticleStatus>(*status) : std::nullopt,
                                        call.query.text("q")};
    auto page =
        service::list_articles(call.context, call.org(), filter,
                               call.cursor_position().value_or(""), call.query.integer("limit"));
    return page_of(call, std::move(page.articles), page.next);
}

auto create_article(Call&, OrgTransaction& transaction, const NewArticle& in) {
    auto article = service::create_article(transaction, in);
    std::string location = "/console/v1/articles/" + article.id.text();
    return Answer{std::move(article), std::move(location)};
}

auto get_article(Call& call) {
    return service::find_article(call.context, call.org(), call.id<ArticleId>());
}

constexpr char kHtmlType[] = "text/html; charset=utf-8";

Document preview_article(Call& call) {
    const auto article = service::find_article(call.context, call.org(), call.id<ArticleId>());
    if (!article) throw Error(ErrorCode::NotFound);
    return {rules::preview_page(*article),
            {{"Content-Security-Policy", std::string(rules::kPreviewPolicy)}}};
}

// The decoder has sanitized the text.
auto preview_text(Call&, const PreviewText& text) {
    return text;
}

auto change_article(Call& call, OrgTransaction& transaction, const ArticleChange& change) {
    const auto id = call.id<ArticleId>();
    return service::change_article(transaction, id, change, version_check(call));
}

void delete_article(Call& call, OrgTransaction& transaction) {
    const auto id = call.id<ArticleId>();
    service::delete_article(transaction, id, version_check(call));
}

auto publish_article(Call& call, OrgTransaction& transaction, const Publication& in) {
    const auto id = call.id<ArticleId>();
    return service::publish_article(transaction, id, in.publish_at, version_check(call));
}

auto unpublish_article(Call& call, OrgTransaction& transaction, const Nothing&) {
    const auto id = call.id<ArticleId>();
    return service::unpublish_article(transaction, id, version_check(call));
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kArticleListQuery = {
    page_limit(),
    kPageCursor,
    QueryParameter{.name = "status",
                   .choice = name_at<ArticleStatus>,
                   .meaning = "Only articles in this status."},
    QueryParameter{.name = "q",
                   .least = 1,
                   .is_prefix = true,
                   .meaning = "Only titles that begin with this text, ignoring case and accents; "
                              "ordered by title."},
};
constexpr std::array kArticleCreateErrors = {ErrorCode::Conflict, ErrorCode::InvalidState};
constexpr std::array kArticleSlugErrors = {ErrorCode::Conflict};
constexpr std::array kPublishErrors = {ErrorCode::InvalidState};

constexpr std::array kArticleEndpoints = {
    Endpoint{
        .method = Method::Get,
        .path = "/console/v1/articles",
        .operation = "listArticles",
        .summary = "List articles, newest first",
        .description =
            "Lists all articles without their bodies, including drafts. status selects drafts, "
            "scheduled or published articles. Published articles are ordered by their time of "
            "publication, scheduled ones with the next first. With q, a page may be shorter than "
            "limit; continue until next_cursor is null.",
        .access = Access::Console,
        .query = kArticleListQuery,
        .reply = {200, "A page of articles, without their bodies."},
        .handler = answers<kArticleList, list_articles>,
        .is_published = false},
    Endpoint{
        .method = Method::Post,
        .path = "/console/v1/articles",
        .operation = "createArticle",
        .summary = "Create an article as a draft",
        .description =
            "Creates an article as a draft. body_html is sanitized; the reply shows the stored "
            "text. The slug is unique in the organization (409 CONFLICT). Repeat safely with an "
            "Idempotency-Key.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewArticle",
        .body_schema = schema_of<kNewArticle>,
        .body_example = R"({"slug": "cup-final", "title": "Cup final",
                 "body_html": "<p>See you there.</p>", "tags": ["cup"]})",
        .reply = with_version({201, "The article as stored."}),
        .errors = kArticleCreateErrors,
        .handler = decoded<kNewArticle, answers<kArticle, create_article>>,
        .is_published = false},
    Endpoint{
        .method = Method::Get,
        .path = "/console/v1/articles/{id}",
        .operation = "getArticle",
        .summary = "Read an article",
        .description =
            "Returns one article with its body, draft or published. The organization's sites use "
            "getContent instead.",
        .access = Access::Console,
        .reply = with_version({200, "The article."}),
        .handler = answers<kArticle, get_article>,
        .is_published = false},
    Endpoint{
        .method = Method::Get,
        .path = "/console/v1/articles/{id}/preview",
        .operation = "previewArticle",
        .summary = "Show an article as a page",
        .description =
            "Returns an HTML page with the article's title, cover and text, draft or published. Show "
            "it in a frame of the console: its Content-Security-Policy allows pictures and no "
            "scripts, and only the console's own site may frame it.",
        .access = Access::Console,
        .reply = {200, "The page."},
        .handler = sends<kHtmlType, preview_article>,
        .is_published = false},
    Endpoint{
        .method = Method::Post,
        .path = "/console/v1/articles/preview",
        .operation = "previewArticleText",
        .summary = "Sanitize the text of an article without storing it",
        .description =
            "Returns the text as createArticle and changeArticle would store it, and what they would "
            "drop from it. Nothing is stored or recorded. Use it to show a text while it is written.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "PreviewText",
        .body_schema = schema_of<kPreviewText>,
        .body_example = R"({"body_html": "<p onclick=\"x()\">See you there.</p>"})",
        .reply = {200, "The sanitized text, and what was dropped."},
        .handler = decoded<kPreviewText, answers<kSanitizedText, preview_text>>,
        .is_published = false},
    Endpoint{
        .method = Method::Patch,
        .path = "/console/v1/articles/{id}",
        .operation = "changeArticle",
        .summary = "Change an article",
        .description =
            "Changes the fields that are sent and keeps the others; null clears a field. A published "
            "article changes on the sites at once, except in caches of up to a minute.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .takes_if_match = true,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "ArticleChange",
        .body_schema = schema_of<kArticleChange>,
        .body_example = R"({"title": "Cup final, new time", "excerpt": null})",
        .reply = with_version({200, "The article as it is now."}),
        .errors = kArticleSlugErrors,
        .handler = decoded<kArticleChange, answers<kArticle, change_article>>,
        .is_published = false},
    Endpoint{
        .method = Method::Delete,
        .path = "/console/v1/articles/{id}",
        .operation = "deleteArticle",
        .summary = "Delete an article",
        .description =
            "Deletes a draft or a published article. It disappears from the sites at once, except "
            "from caches of up to a minute.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .takes_if_match = true,
        .reply = {204, "Deleted."},
        .handler = answers_nothing<delete_article>,
        .is_published = false},
    Endpoint{
        .method = Method::Post,
        .path = "/console/v1/articles/{id}/publish",
        .operation = "publishArticle",
        .summary = "Publish a draft, now or at a time",
        .description =
            "Publishes a draft: the organization's sites can read it. With publish_at, they can "
            "from that time on. A published article is not changed, so the call can be repeated; "
            "with publish_at it is 409 INVALID_STATE.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .takes_if_match = true,
        .body_limit = kSmallBody,
        .body_component = "Publication",
        .body_schema = schema_of<kPublication>,
        .body_example = R"({"publish_at": "2026-12-24T17:00:00Z"})",
        .reply = with_version({200, "The article, published or scheduled."}),
        .errors = kPublishErrors,
        .handler = decoded<kPublication, answers<kArticle, publish_article>>,
        .is_published = false},
    Endpoint{
        .method = Method::Post,
        .path = "/console/v1/articles/{id}/unpublish",
        .operation = "unpublishArticle",
        .summary = "Make a published article a draft again",
        .description =
            "Makes a published article a draft again. A draft is not changed, so the call can be "
            "repeated.",
        .access = Access::Console,
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .takes_if_match = true,
        .body_limit = kSmallBody,
        .reply = with_version({200, "The article, now a draft."}),
        .handler = decoded<kNothing, answers<kArticle, unpublish_article>>,
        .is_published = false},
};
static_assert(well_formed(kArticleEndpoints, "/console/v1/articles"));

}  // namespace

std::span<const Endpoint> article_endpoints() {
    return kArticleEndpoints;
}

}  // namespace muster::api
