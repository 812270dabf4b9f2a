"""/v1/content/articles: the articles that an organization's sites read with a content key (docs/content.md
"Content")."""

import base64
import re
import uuid

import pytest
from support.client import SHOP, PageClient, faults_of
from support.page_keys import PageKey, call
from support.stack import wait_for
from support.world import slug

PATH = "/v1/content/articles"
CACHED = "public, max-age=60"
FIELDS = ["id", "slug", "title", "excerpt", "locale", "tags", "author", "cover_url", "published_at", "updated_at"]


@pytest.fixture
def reader(module_org):
    return module_org.reader_api


@pytest.fixture
def console(module_org):
    return module_org.admin().api


@pytest.fixture(scope="module")
def library(stack, contract):
    """An organization with eight articles, two of them drafts: (organization, published articles, newest first)."""
    from support.world import Organization
    org = Organization(stack, contract, attributes=False)
    titles = ["Ann", "änn", "Anna%x", "Anna_x", "Bob", "bob\\x"]
    made = [org.published_article(title=title, locale="de" if number % 2 else "en", tags=["cup"] if number < 4 else ["cup", "x"])
            for number, title in enumerate(titles)]
    org.create_article(title="Ann draft", locale="de", tags=["cup"])
    org.create_article(title="Bob draft", locale="en", tags=["x"])
    return org, sorted(made, key=lambda article: (article["published_at"], article["id"]), reverse=True)


def soon(look, what):
    """Waits until the cache of nginx, which lasts a second, has expired."""
    return wait_for(look, what, seconds=5, every=0.1)


def titles(reader, limit=2, **query):
    found, cursor = [], None
    while True:
        page = reader.get_json(PATH, params={"limit": limit} | query | ({"cursor": cursor} if cursor else {}))
        assert len(page["articles"]) <= limit
        found += [article["title"] for article in page["articles"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


# ---------------------------------------------------------------------------- read


def test_a_published_article_is_read_by_its_slug(module_org, reader):
    article = module_org.published_article(excerpt="e", locale="de", tags=["b", "a"], author="Ann",
                                           cover_url="https://cdn.example/a.png")
    found = reader.get_json(f"{PATH}/{article['slug']}")
    assert found == {name: article[name] for name in [*FIELDS, "body_html"]}
    in_list = {name: article[name] for name in FIELDS}
    soon(lambda: reader.get_json(PATH)["articles"][0] == in_list, "the article to be listed")


def test_a_tag_is_found_in_composed_and_decomposed_spelling(module_org, reader):
    word = slug("word")
    made = [module_org.published_article(tags=[f"{fete}{word}"]) for fete in ("F\u00eate", "Fe\u0302te")]
    assert [article["tags"] for article in made] == [[f"F\u00eate{word}"]] * 2
    for fete in ("F\u00eate", "Fe\u0302te"):
        assert sorted(titles(reader, tag=f"{fete}{word}")) == sorted(article["title"] for article in made)


def test_an_unpublished_article_looks_like_an_unknown_one(module_org, reader, console, new_org):
    draft, back, gone = module_org.create_article(), module_org.published_article(), module_org.published_article()
    console.post(f"/console/v1/articles/{back['id']}/unpublish", expect=200)
    console.delete(f"/console/v1/articles/{gone['id']}", expect=204)
    foreign = new_org(attributes=False).published_article()
    slugs = [slug("none"), draft["slug"], back["slug"], gone["slug"], foreign["slug"], "No-Slug", "a%2Fb", "%25", "x" * 300]
    replies = [reader.get(f"{PATH}/{name}", expect=404, code="NOT_FOUND") for name in slugs]
    assert len({reply.content for reply in replies}) == 1
    listing = reader.get(PATH, params={"limit": 100}).text
    assert not any(article["id"] in listing for article in (draft, back, gone, foreign))


def test_a_change_of_a_published_article_is_visible_immediately(module_org, reader, console):
    article = module_org.published_article()
    console.request("PATCH", f"/console/v1/articles/{article['id']}", json={"title": "Changed", "tags": ["new"]}, expect=200)
    found = reader.get_json(f"{PATH}/{article['slug']}")
    assert (found["title"], found["tags"], found["published_at"]) == ("Changed", ["new"], article["published_at"])
    assert titles(reader, tag="new") == ["Changed"]


# ---------------------------------------------------------------------------- lists


def test_lists_are_newest_first_and_by_title_for_a_search(library):
    org, published = library
    reader = org.reader_api
    newest = [article["title"] for article in published]
    assert titles(reader) == newest
    german = [article["title"] for article in published if article["locale"] == "de"]
    assert titles(reader, locale="de") == german
    assert titles(reader, tag="x", limit=1) == [title for title in newest if title.lower().startswith("bob")]
    assert titles(reader, tag="x", locale="de") == ["bob\\x"]
    assert titles(reader, q="ANN") == ["Ann", "änn", "Anna%x", "Anna_x"]
    assert titles(reader, q="anna%") == ["Anna%x"] and titles(reader, q="anna_") == ["Anna_x"]
    assert titles(reader, q="bob\\") == ["bob\\x"] and titles(reader, q="%") == []
    assert titles(reader, q="a", locale="de", limit=1) == ["änn", "Anna_x"]
    assert titles(reader, q="b", tag="x", locale="en") == ["Bob"]
    assert titles(reader, locale="fr") == [] and titles(reader, tag="X") == []


def test_a_cursor_does_not_show_the_draft_that_the_page_ended_at(new_org):
    org = new_org()
    org.published_article(title="Alpha")
    org.published_article(title="Alphabet")
    draft = org.create_article(title="Alpha: takeover of Example Ltd on Monday")
    page = soon(lambda: org.reader_api.get_json(PATH, params={"limit": 1, "q": "alp"}), "the page")
    assert [article["title"] for article in page["articles"]] == ["Alpha"]
    cursor = page["next_cursor"]
    shown = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    assert b"takeover" not in shown and uuid.UUID(draft["id"]).bytes not in shown
    assert titles(org.reader_api, limit=1, q="alp") == ["Alpha", "Alphabet"]


def test_a_cursor_is_valid_only_for_its_list(library, reader):
    org, _ = library
    page = org.reader_api.get_json(PATH, params={"limit": 1, "tag": "cup"})
    cursor = page["next_cursor"]
    foreign = [(org.reader_api, {}), (org.reader_api, {"tag": "x"}), (org.reader_api, {"q": "a"}),
               (org.reader_api, {"tag": "cup", "locale": "de"}), (reader, {"tag": "cup"})]
    for client, query in foreign:
        assert faults_of(client.get(PATH, params=query | {"cursor": cursor}, expect=422)) == {"cursor": "invalid_cursor"}
    for bad in (cursor[:-1] + ("A" if cursor[-1] != "A" else "B"), cursor + "A", "x", "AAAA"):
        reply = org.reader_api.get(PATH, params={"tag": "cup", "cursor": bad}, expect=422)
        assert faults_of(reply) == {"cursor": "invalid_cursor"}


@pytest.mark.parametrize("query, faults", [
    ({"limit": 0}, {"limit": "out_of_range"}), ({"limit": 101}, {"limit": "out_of_range"}), ({"limit": "x"}, {"limit": "wrong_type"}),
    ({"q": ""}, {"q": "too_short"}), ({"tag": ""}, {"tag": "too_short"}), ({"locale": ""}, {"locale": "too_short"}),
    ({"q": "x" * 256}, {"q": "too_long"}), ({"page": 1}, {"page": "unknown_field"}),
])
def test_a_faulty_query_is_422(reader, query, faults):
    assert faults_of(reader.get(PATH, params=query, expect=422)) == faults


def test_a_single_article_accepts_only_the_key_in_its_query(module_org, reader):
    path = f"{PATH}/{module_org.published_article()['slug']}"
    assert faults_of(reader.get(path, params={"locale": "de"}, expect=422)) == {"locale": "unknown_field"}


# ---------------------------------------------------------------------------- caching


@pytest.mark.parametrize("kind", ["article", "list"])
def test_an_unchanged_reply_is_304(module_org, reader, console, kind):
    article = module_org.published_article()
    path = f"{PATH}/{article['slug']}" if kind == "article" else PATH
    first = reader.get(path, expect=200)
    etag = first.headers["ETag"]
    assert re.fullmatch(r'"[^"]+"', etag) and first.headers["Cache-Control"] == CACHED
    for header in (etag, f"W/{etag}", f'"x", {etag}', f'W/"x",W/{etag}', "*"):
        same = reader.get(path, headers={"If-None-Match": header}, expect=304)
        assert same.content == b"" and same.headers["ETag"] == etag and same.headers["Cache-Control"] == CACHED
        assert "Origin" in same.headers["Vary"] and same.headers["Access-Control-Allow-Origin"] == SHOP
    for header in ('"x"', "", etag.strip('"'), f"w/{etag}"):
        assert reader.get(path, headers={"If-None-Match": header}, expect=200).content == first.content
    head = reader.request("HEAD", path, expect=200)
    assert head.content == b"" and head.headers["ETag"] == etag
    assert reader.request("HEAD", path, headers={"If-None-Match": etag}, expect=304).headers["ETag"] == etag
    console.request("PATCH", f"/console/v1/articles/{article['id']}", json={"title": str(uuid.uuid4())}, expect=200)
    changed = soon(lambda: (reply := reader.get(path, headers={"If-None-Match": etag})).status_code == 200 and reply, "the change")
    assert changed.headers["ETag"] != etag


def test_errors_are_not_cached(module_org, reader):
    for reply in (reader.get(f"{PATH}/none", headers={"If-None-Match": "*"}, expect=404),
                  reader.get(PATH, params={"limit": 0}, headers={"If-None-Match": "*"}, expect=422),
                  reader.get(PATH, headers={"Origin": "https://evil.example", "If-None-Match": "*"}, expect=403)):
        assert reply.headers["Cache-Control"] == "no-store" and "ETag" not in reply.headers


# ---------------------------------------------------------------------------- permissions


@pytest.fixture(params=["article", "list"])
def path(request, module_org):
    return f"{PATH}/{module_org.published_article()['slug']}" if request.param == "article" else PATH


def test_only_the_origins_of_the_key_may_read(reader, path):
    assert reader.get(path, expect=200).headers["Access-Control-Allow-Origin"] == SHOP
    by_referer = {"Origin": None, "Referer": SHOP + "/page?x=1"}
    assert "Access-Control-Allow-Origin" not in reader.get(path, headers=by_referer, expect=200).headers
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null", "Referer": SHOP}, {"Origin": None},
                    {"Origin": SHOP + ".evil.example"}, {"Origin": "http://shop.example"}):
        reader.get(path, headers=headers, expect=403, code="ORIGIN_NOT_ALLOWED")


def test_a_key_that_nginx_does_not_recognize_is_checked_for_each_request(module_org, stack):
    """A worker reads %6bey as key and nginx does not, so nginx must not cache this reply for other callers."""
    token = PageKey(module_org, kind="content").token
    hidden = f"{PATH}?%6bey={token}"
    assert call(stack, "GET", hidden, referer=SHOP + "/").status == 200
    for foreign in ({}, {"referer": "https://evil.example/"}):
        assert call(stack, "GET", hidden, **foreign).status == 403


def test_only_a_valid_content_key_is_accepted(module_org, reader, path, stack, contract):
    reader.get(path, key=module_org.page_api.token, expect=403, code="FORBIDDEN")
    for key in (None, "", "ck_live_x", module_org.key):
        reader.get(path, key=key, expect=401, code="UNAUTHORIZED")
    issued = module_org.issue_publishable_key("content")
    page = PageClient(stack, contract, issued)
    page.get(path, expect=200)
    stack.ctl("content-key", "revoke", "--yes", "--org", module_org.id, "--id", issued["id"])
    soon(lambda: page.get(path).status_code != 200, "the rejection")
    page.get(path, expect=401, code="UNAUTHORIZED")


def test_a_preflight_allows_reading(reader, path):
    reply = reader.request("OPTIONS", path, headers={"Access-Control-Request-Method": "GET",
                                                     "Access-Control-Request-Headers": "if-none-match"}, expect=204)
    assert reply.headers["Access-Control-Allow-Methods"] == "GET, HEAD"
    reader.post(path, json={}, expect=405, code="METHOD_NOT_ALLOWED")


# ---------------------------------------------------------------------------- sanitizing

ATTACKS = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<a href=\"java\tscript:alert(1)\">x</a>",
    "<a href=\"&#106;avascript:alert(1)\">x</a>", "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "<p onclick=alert(1) style=\"background:url(javascript:alert(1))\">x</p>", "<iframe srcdoc=\"<script>alert(1)</script>\"></iframe>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">", "<form action=javascript:alert(1)><button formaction=javascript:x>x",
    "<base href=//evil.example><link rel=stylesheet href=//evil.example><meta http-equiv=refresh content=0>",
    "<img src=\"data:image/svg+xml,<svg onload=alert(1)>\" srcset=\"javascript:x\">", "<object data=javascript:x></object><embed src=x>",
]


def check_clean(html):
    tags = "".join(re.findall(r"<[^>]*>", html))
    assert "<h2>" in tags and not re.search(r"script|\bon\w+=|style|src|<(svg|math|form|base|iframe|object|!)", tags, re.I), html
    assert re.findall(r'href="([^"]*)"', html) == ["https://a.example/"], html


def test_no_script_handler_or_javascript_link_is_ever_returned(module_org, reader, console):
    good = "<h2>Hi</h2><p><a href='https://a.example/'>a</a></p>"
    article = module_org.published_article(body_html=good + ATTACKS[0])
    path = f"/console/v1/articles/{article['id']}"
    for attack in [*ATTACKS, "".join(ATTACKS)]:
        changed = console.request("PATCH", path, json={"body_html": good + attack}, expect=200).json()
        check_clean(changed["body_html"])
        # Sanitized HTML does not change when it is sanitized again.
        assert console.request("PATCH", path, json={"body_html": changed["body_html"]}, expect=200).json() == changed
    soon(lambda: reader.get_json(f"{PATH}/{article['slug']}")["body_html"] == changed["body_html"], "the change")
