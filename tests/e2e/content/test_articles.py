"""/console/v1/articles: written, published, unpublished and deleted by the admins of the organization
(docs/content.md "Content")."""

import unicodedata
import uuid

import pytest
from support.client import details_of, error_of, faults_of
from support.stack import numbers, wait_for
from support.world import in_seconds, slug

PATH = "/console/v1/articles"


@pytest.fixture
def console(module_org):
    return module_org.admin().api


def listed(console, **query):
    articles, cursor = [], None
    while True:
        page = console.get_json(PATH, params={"limit": 2} | query | ({"cursor": cursor} if cursor else {}))
        assert len(page["articles"]) <= 2
        articles += page["articles"]
        cursor = page["next_cursor"]
        if cursor is None:
            return articles


def audited(console, article):
    log = console.get_json("/v1/audit-log", params={"subject_id": article["id"]})
    return [entry["action"] for entry in reversed(log["audit_log"])]


# ---------------------------------------------------------------------------- write


def test_an_article_is_written_published_unpublished_and_deleted(module_org, console):
    body = {"slug": slug("final"), "title": " Cup final ", "body_html": "<p>See you\nthere.</p>", "excerpt": "Soon",
            "locale": "de-AT", "tags": ["cup", "Fußball"], "author": "Ann", "cover_url": "https://cdn.example/a.png?b=c"}
    reply = console.post(PATH, json=body, expect=201)
    draft = reply.json()
    assert reply.headers["Location"] == f"{PATH}/{draft['id']}"
    assert {name: draft[name] for name in body} == body | {"title": "Cup final"}
    assert (draft["status"], draft["published_at"]) == ("draft", None)
    assert draft["organization_id"] == module_org.id and draft["created_by"] == module_org.admin().id
    path = f"{PATH}/{draft['id']}"
    assert console.get_json(path) == draft

    published = console.post(f"{path}/publish", expect=200).json()
    assert published["status"] == "published" and published["published_at"] == published["updated_at"]
    assert console.post(f"{path}/publish", json={}, expect=200).json() == published
    back = console.post(f"{path}/unpublish", expect=200).json()
    assert (back["status"], back["published_at"]) == ("draft", None)
    assert console.post(f"{path}/unpublish", expect=200).json() == back
    console.delete(path, expect=204)
    console.get(path, expect=404, code="NOT_FOUND")
    assert audited(console, draft) == ["article.created", "article.published", "article.unpublished", "article.deleted"]


def test_omitted_fields_are_null(module_org):
    article = module_org.create_article()
    assert [article[name] for name in ("excerpt", "locale", "author", "cover_url")] == [None] * 4
    assert article["tags"] == []


def test_a_change_affects_only_its_fields_and_null_clears(module_org, console):
    article = module_org.create_article(excerpt="e", locale="de", author="Ann", cover_url="https://a.example/b", tags=["cup"])
    path = f"{PATH}/{article['id']}"
    assert console.request("PATCH", path, json={}, expect=200).json() == article
    assert console.request("PATCH", path, json={"excerpt": "e", "tags": ["cup"]}, expect=200).json() == article
    cleared = {"excerpt": None, "locale": None, "author": None, "cover_url": None, "tags": []}
    changed = console.request("PATCH", path, json=cleared | {"title": "New"}, expect=200).json()
    assert changed == article | cleared | {"title": "New", "updated_at": changed["updated_at"]}
    assert console.get_json(path) == changed
    assert audited(console, article) == ["article.created", "article.updated"]


def test_a_slug_is_unique(module_org, console, new_org):
    first, second = module_org.create_article(), module_org.create_article()
    body = {"slug": first["slug"], "title": "t", "body_html": ""}
    refused = console.post(PATH, json=body, expect=409, code="CONFLICT")
    assert error_of(refused)["details"] == {"field": "slug"}
    console.request("PATCH", f"{PATH}/{second['id']}", json={"slug": first["slug"]}, expect=409, code="CONFLICT")
    new_org(attributes=False).create_article(slug=first["slug"])


GOOD = {"slug": "s", "title": "t", "body_html": "b"}


@pytest.mark.parametrize("changes, faults", [
    ({"slug": None, "title": None, "body_html": None}, {"slug": "required", "title": "required", "body_html": "required"}),
    ({"slug": "A"}, {"slug": "invalid_value"}), ({"slug": "-a"}, {"slug": "invalid_value"}), ({"slug": ""}, {"slug": "required"}),
    ({"slug": "a/b"}, {"slug": "invalid_value"}), ({"slug": "a" * 129}, {"slug": "too_long"}), ({"slug": 1}, {"slug": "wrong_type"}),
    ({"title": "t" * 256}, {"title": "too_long"}), ({"title": "a\nb"}, {"title": "invalid_value"}),
    ({"excerpt": "e" * 1001}, {"excerpt": "too_long"}), ({"locale": "l" * 36}, {"locale": "too_long"}),
    ({"author": "a" * 256}, {"author": "too_long"}), ({"body_html": 1}, {"body_html": "wrong_type"}),
    ({"body_html": "x" * (200 * 1024 + 1)}, {"body_html": "too_long"}),
    ({"tags": ["t"] * 21}, {"tags": "too_long"}), ({"tags": ["t" * 65, ""]}, {"tags[0]": "too_long", "tags[1]": "required"}),
    ({"tags": ["a", "b", " a "]}, {"tags[2]": "duplicate"}), ({"tags": "a"}, {"tags": "wrong_type"}),
    ({"cover_url": "http://a.example/"}, {"cover_url": "invalid_url"}), ({"cover_url": "javascript:alert(1)"}, {"cover_url": "invalid_url"}),
    ({"cover_url": "https:///x"}, {"cover_url": "invalid_url"}), ({"cover_url": "https://a.example/ b"}, {"cover_url": "invalid_url"}),
    ({"cover_url": "https://u:p@a.example/"}, {"cover_url": "invalid_url"}),
    ({"cover_url": 'https://a.example/"x'}, {"cover_url": "invalid_url"}), ({"cover_url": "https://a.example/<x"}, {"cover_url": "invalid_url"}),
    ({"cover_url": "https://a.example/" + "x" * 2048}, {"cover_url": "too_long"}),
    ({"status": "published", "id": "x"}, {"status": "unknown_field", "id": "unknown_field"}),
])
def test_a_faulty_article_is_422_with_every_fault(module_org, console, changes, faults):
    body = {name: value for name, value in (GOOD | changes).items() if value is not None}
    assert faults_of(console.post(PATH, json=body, expect=422)) == faults
    if "required" not in faults.values():
        article = module_org.create_article()
        changed = console.request("PATCH", f"{PATH}/{article['id']}", json=changes, expect=422)
        assert faults_of(changed) == faults


def test_a_body_of_the_maximum_size_is_accepted(module_org):
    assert len(module_org.create_article(body_html="x" * (200 * 1024))["body_html"]) == 200 * 1024


def test_a_repeated_post_writes_and_publishes_once(module_org, console):
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    body = {"slug": slug("once"), "title": "t", "body_html": ""}
    first = console.post(PATH, json=body, headers=headers, expect=201)
    again = console.post(PATH, json=body, headers=headers, expect=201)
    assert again.content == first.content and again.headers["Idempotency-Replayed"] == "true"
    console.post(PATH, json=body | {"title": "u"}, headers=headers, expect=409, code="IDEMPOTENCY_CONFLICT")
    path, headers = f"{PATH}/{first.json()['id']}", {"Idempotency-Key": str(uuid.uuid4())}
    for verb in ("publish", "unpublish"):
        replies = [console.post(f"{path}/{verb}", headers=headers, expect=200) for _ in range(2)]
        assert replies[0].content == replies[1].content and "Idempotency-Replayed" in replies[1].headers
        console.post(f"{path}/{verb}", json={}, headers=headers, expect=409, code="IDEMPOTENCY_CONFLICT")


# ---------------------------------------------------------------------------- read


def test_the_list_contains_all_articles_newest_first_without_bodies(new_org):
    org = new_org(attributes=False)
    console = org.admin().api
    made = [org.published_article() if number % 2 else org.create_article() for number in range(6)]
    newest = [article["id"] for article in reversed(made)]
    assert [article["id"] for article in listed(console)] == newest
    assert [article["id"] for article in listed(console, status="draft")] == newest[1::2]
    assert [article["id"] for article in listed(console, status="published")] == newest[::2]
    record = listed(console)[0]
    assert record == {name: value for name, value in made[-1].items() if name != "body_html"}
    cursor = console.get_json(PATH, params={"limit": 2})["next_cursor"]
    faults = faults_of(console.get(PATH, params={"cursor": cursor, "status": "draft"}, expect=422))
    assert faults == {"cursor": "invalid_cursor"}
    assert faults_of(console.get(PATH, params={"status": "gone"}, expect=422)) == {"status": "invalid_choice"}


# ---------------------------------------------------------------------------- permissions


def test_viewers_read_articles_and_foreign_origins_are_rejected(module_org, console):
    article = module_org.create_article()
    viewer, path = module_org.viewer().api, f"{PATH}/{article['id']}"
    assert viewer.get_json(path) == article and viewer.get_json(PATH)["articles"]
    viewer.post(PATH, json=GOOD, expect=403, code="FORBIDDEN")
    viewer.request("PATCH", path, json={}, expect=403, code="FORBIDDEN")
    viewer.delete(path, expect=403, code="FORBIDDEN")
    viewer.post(f"{PATH}/preview", json={"body_html": ""}, expect=403, code="FORBIDDEN")
    for verb in ("publish", "unpublish"):
        viewer.post(f"{path}/{verb}", expect=403, code="FORBIDDEN")
    for origin in (None, "null", "https://evil.example", "https://shop.example"):
        headers = {"Origin": origin}
        console.get(PATH, headers=headers, expect=403, code="ORIGIN_NOT_ALLOWED")
        console.delete(path, headers=headers, expect=403, code="ORIGIN_NOT_ALLOWED")
        console.post(f"{path}/publish", headers=headers, expect=403, code="ORIGIN_NOT_ALLOWED")
    assert console.get_json(path) == article


def test_an_organization_has_at_most_10000_articles(new_org, stack):
    org = new_org(attributes=False)
    console = org.admin().api
    made = org.create_article()
    stack.sql("INSERT INTO articles (organization_id, id, slug, title, body_html, tags, created_at, updated_at) "
              "SELECT UNHEX(REPLACE(%s, '-', '')), UNHEX(LPAD(HEX(seq), 32, '0')), CONCAT('full-', seq), 't', '', '[]', 0, 0 "
              f"FROM {numbers(9_999)}", org.id)
    body = {"slug": slug("last"), "title": "Last", "body_html": ""}
    reply = console.post(PATH, json=body, expect=409, code="INVALID_STATE")
    assert details_of(reply)["reason"] == "an organization has at most 10000 articles; delete one first"
    console.delete(f"{PATH}/{made['id']}", expect=204)
    console.post(PATH, json=body, expect=201)


# ---------------------------------------------------------------------------- schedule, search, preview


def test_a_scheduled_article_appears_on_the_sites_at_its_time(module_org, console):
    draft = module_org.create_article(tags=["soon"])
    path = f"{PATH}/{draft['id']}"
    site, soon = module_org.reader_api, 10
    at = in_seconds(soon)
    scheduled = console.post(f"{path}/publish", json={"publish_at": at}, expect=200).json()
    assert (scheduled["status"], scheduled["publish_at"], scheduled["published_at"]) == ("scheduled", at, None)
    site.get(f"/v1/content/articles/{draft['slug']}", expect=404)
    before = site.get("/v1/content/articles", params={"tag": "soon"}, expect=200)
    assert before.json()["articles"] == []
    assert int(before.headers["Cache-Control"].removeprefix("public, max-age=")) <= soon
    assert draft["id"] in [article["id"] for article in listed(console, status="scheduled")]
    wait_for(lambda: site.get(f"/v1/content/articles/{draft['slug']}").status_code == 200, "the time of publication", 30)
    assert in_seconds(0) >= at
    after = site.get("/v1/content/articles", params={"tag": "soon", "limit": 5}, expect=200)
    assert [article["slug"] for article in after.json()["articles"]] == [draft["slug"]]
    assert after.headers["ETag"] != before.headers["ETag"]
    shown = console.get_json(path)
    assert (shown["status"], shown["publish_at"], shown["published_at"]) == ("published", None, at)
    console.post(f"{path}/publish", json={"publish_at": in_seconds(60)}, expect=409, code="INVALID_STATE")
    assert audited(console, draft) == ["article.created", "article.scheduled"]


def test_a_scheduled_article_can_be_published_now_or_made_a_draft(module_org, console):
    draft = module_org.create_article()
    path = f"{PATH}/{draft['id']}"
    console.post(f"{path}/publish", json={"publish_at": in_seconds(3600)}, expect=200)
    assert console.post(f"{path}/unpublish", expect=200).json()["status"] == "draft"
    console.post(f"{path}/publish", json={"publish_at": in_seconds(3600)}, expect=200)
    assert console.post(f"{path}/publish", expect=200).json()["status"] == "published"


@pytest.mark.parametrize("at, fault", [("2026-01-01T00:00:00Z", "out_of_range"), ("2199-01-01T00:00:00Z", "out_of_range"),
                                       ("soon", "invalid_timestamp"), (5, "wrong_type")])
def test_a_faulty_time_of_publication_is_422(module_org, console, at, fault):
    draft = module_org.create_article()
    reply = console.post(f"{PATH}/{draft['id']}/publish", json={"publish_at": at}, expect=422)
    assert faults_of(reply) == {"publish_at": fault}


def test_articles_are_found_by_the_beginning_of_their_title(module_org, console):
    word = slug("word")
    made = [module_org.create_article(title=f"{word} {number}") for number in range(3)]
    console.post(f"{PATH}/{made[1]['id']}/publish", expect=200)
    assert [article["id"] for article in listed(console, q=word.upper())] == [article["id"] for article in made]
    assert [article["id"] for article in listed(console, q=word, status="published")] == [made[1]["id"]]
    assert [article["id"] for article in listed(console, q=word, status="draft")] == [made[0]["id"], made[2]["id"]]
    assert listed(console, q=f"x{word}") == []


def test_a_title_is_found_in_composed_and_decomposed_spelling(module_org, console):
    title = f"Fête {slug('word')}"
    article = module_org.create_article(title=unicodedata.normalize("NFD", title))
    assert article["title"] == title
    for form in ("NFC", "NFD"):
        sent = {"title": unicodedata.normalize(form, title)}
        assert console.request("PATCH", f"{PATH}/{article['id']}", json=sent, expect=200).json()["title"] == title
        assert [found["id"] for found in listed(console, q=unicodedata.normalize(form, title))] == [article["id"]]
    assert [found["id"] for found in listed(console, q=title.replace("ê", "e"))] == [article["id"]]


def test_a_preview_is_a_page_that_runs_nothing(module_org, console):
    draft = module_org.create_article(title="<Cup> & final", body_html="<p>See you <b>there</b>.</p>",
                                      cover_url="https://img.example/a.png")
    for reader in (console, module_org.viewer().api):
        page = reader.get(f"{PATH}/{draft['id']}/preview", expect=200)
        assert page.headers["Content-Type"] == "text/html; charset=utf-8"
        assert page.headers["Content-Security-Policy"] == (
            "sandbox; default-src 'none'; img-src https: data:; frame-ancestors 'self'")
        assert page.headers["Cache-Control"] == "no-store"
        assert "X-Frame-Options" not in page.headers
        assert "<h1>&lt;Cup&gt; &amp; final</h1>" in page.text and "<p>See you <b>there</b>.</p>" in page.text
        assert '<img src="https://img.example/a.png"' in page.text
    console.get(f"{PATH}/{draft['id']}/preview", headers={"Origin": "https://evil.example"}, expect=403)


# ---------------------------------------------------------------------------- preview of a text


def dropped_of(reply):
    return [(part["line"], part["reason"], part["element"], part["attribute"], part["count"]) for part in reply["dropped"]]


def test_a_text_is_sanitized_as_it_would_be_stored_and_not_stored(module_org, console, stack):
    article = module_org.create_article()
    text = ('<h2 onclick="x()">See <b>you</b></h2>\n<script>x()</script><script>y()</script>\n'
            '<a href="/home">Home</a><!-- later -->')

    def records():
        return [stack.sql(f"SELECT COUNT(*) FROM {table} WHERE organization_id = %s", uuid.UUID(module_org.id).bytes)
                for table in ("audit_log", "articles", "idempotency_keys")]

    before = records()
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    replies = [console.post(f"{PATH}/preview", json={"body_html": text}, headers=headers, expect=200) for _ in range(2)]
    assert replies[0].content == replies[1].content and "Idempotency-Replayed" not in replies[1].headers
    preview = replies[0].json()
    assert dropped_of(preview) == [(1, "attribute", "h2", "onclick", 1), (2, "content", "script", None, 2),
                                   (3, "address", "a", None, 1), (3, "comment", None, None, 1)]
    assert preview["dropped_count"] == 5
    assert records() == before
    assert console.get_json(f"{PATH}/{article['id']}") == article
    stored = console.request("PATCH", f"{PATH}/{article['id']}", json={"body_html": text}, expect=200).json()
    assert preview["body_html"] == stored["body_html"]
    again = console.post(f"{PATH}/preview", json={"body_html": stored["body_html"]}, expect=200).json()
    assert again == {"body_html": stored["body_html"], "dropped": [], "dropped_count": 0}


def test_the_preview_of_a_text_has_the_limits_of_an_article(console):
    path = f"{PATH}/preview"
    assert console.post(path, json={"body_html": ""}, expect=200).json()["body_html"] == ""
    most = "x" * (200 * 1024)
    assert len(console.post(path, json={"body_html": most}, expect=200).json()["body_html"]) == 200 * 1024
    for body, faults in (({"body_html": most + "x"}, {"body_html": "too_long"}), ({"body_html": 1}, {"body_html": "wrong_type"}),
                         ({}, {"body_html": "required"}), ({"body_html": "", "title": "t"}, {"title": "unknown_field"})):
        assert faults_of(console.post(path, json=body, expect=422)) == faults
    text = console.post(path, json={"body_html": "<br>" * 5001}, expect=200).json()
    assert text["body_html"].startswith("&lt;br&gt;") and dropped_of(text) == [(1, "markup", None, None, 1)]
    names = "".join(f"<x-{number}>" for number in range(60))
    bounded = console.post(path, json={"body_html": names}, expect=200).json()
    assert (len(bounded["dropped"]), bounded["dropped_count"]) == (50, 60)
