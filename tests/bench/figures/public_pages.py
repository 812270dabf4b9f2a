"""P12: the requests of pages with a publishable key, for an ad or a list of articles, over 64 keep-alive connections.

The floor is P9's: the same nginx with TLS in front of a bare program, without a cache. nginx
would let the requests of a floor for articles wait for each other (fastcgi_cache_lock), which makes it too slow to compare
with.
"""

from urllib.parse import urlencode

from figures.single_requests import READ_USERS, one_answer, reading
from lib.client import Client
from lib.figure import BrokenMeasurement, alternate, rate_figure
from lib.floors import UserFloor
from lib.people import people
from lib.wrk import load, measured_load

RUNS = 5
SCRIPT = "get_page.lua"
MEMBERS, CAMPAIGNS, ARTICLES = 1000, 5, 20
WIDTH, HEIGHT = 728, 90


def seconds(bench):
    return 2 if bench.quick else 5


def reads(bench):
    bench.stack.reset()
    console = console_of(bench.stack)
    for payload in people(READ_USERS // 10, seed=12):
        console.post("/v1/users", payload, expect=201)
    environment = reading(bench.stack)
    with UserFloor(bench, one_answer(bench.stack, environment), environment) as floor:
        load(floor.server.port, floor.SCRIPT, 1, environment)  # warm-up
        return serve_ads(bench, console, floor) + list_articles(bench, console, floor)


def console_of(stack):
    """An admin in the console."""
    console = Client(stack)
    console.headers = {"Authorization": "Bearer " + stack.organizations[0]["session_token"],
                       "Origin": stack.console_origin}
    return console


def page_of(stack):
    """The browser of a visitor, on a page that has a key."""
    page = Client(stack)
    page.headers = {"Origin": stack.organizations[0]["allowed_origin"]}
    return page


def figure(bench, floor, what, bar, paths, etag=""):
    """The paths requested in turn, compared with the floor."""
    environment = {"BENCH_ORIGIN": bench.stack.organizations[0]["allowed_origin"], "BENCH_PATHS": bench.stack.file("paths")}
    if etag:
        environment["BENCH_ETAG"] = etag
    with open(environment["BENCH_PATHS"], "w", encoding="ascii") as file:
        file.writelines(path + "\n" for path in paths)
    load(bench.stack.port, SCRIPT, 1, environment)  # warm-up
    pairs = alternate(RUNS, lambda: measured_load(bench, bench.stack, SCRIPT, seconds(bench), environment)[1],
                      lambda: floor.measure(seconds(bench)))
    return rate_figure("P12", f"GET {what}; floor: P9's", bar, pairs)


# ---------------------------------------------------------------------------- ads
def serve_ads(bench, console, floor):
    """To members in turn, from campaigns with every kind of matching condition."""
    stack = bench.stack
    users = [console.post("/v1/users", {"email": f"ad-{number}@example.org", "country": "DE", "locale": "de-DE"},
                          expect=201)["id"] for number in range(MEMBERS // 10 if bench.quick else MEMBERS)]
    slot = console.post("/console/v1/ads/slots", {"slug": "bench-top", "name": "Top", "width": WIDTH, "height": HEIGHT},
                        expect=201)
    campaigns = [create_campaign(console, slot, number) for number in range(CAMPAIGNS)]
    query = {"key": stack.organizations[0]["tracking_key"], "slot": slot["slug"]}
    paths = ["/v1/ads/serve?" + urlencode(query | {"user_id": user}) for user in users]
    answer = page_of(stack).call("GET", paths[0])
    if b'"click_url":' not in answer:
        raise BrokenMeasurement(f"no ad was served: {answer[:300]!r}")
    measured = figure(bench, floor, "/v1/ads/serve", 0.5, paths)
    console.connect()  # nginx has closed idle connections
    for campaign in campaigns:
        console.call("DELETE", f"/console/v1/ads/campaigns/{campaign['id']}", expect=204)
    console.call("DELETE", f"/console/v1/ads/slots/{slot['id']}", expect=204)
    return [measured]


def create_campaign(console, slot, number):
    """Some by country, some by locale; every second one with a daily budget that is not spent here."""
    campaign = {"name": f"Bench {number}", "slot_ids": [slot["id"]], "status": "active", "weight": number + 1,
                "targeting": {"countries": ["DE", "AT"]} if number % 2 else {"locales": ["de-DE"]}}
    if number % 2:
        campaign["daily_impressions"] = 100_000_000
    made = console.post("/console/v1/ads/campaigns", campaign, expect=201)
    console.post("/console/v1/ads/creatives",
                 {"campaign_id": made["id"], "kind": "image", "image_url": "https://img.example/a.png", "alt": "Cup",
                  "width": WIDTH, "height": HEIGHT, "landing_url": "https://shop.example/cup"}, expect=201)
    return made


# ---------------------------------------------------------------------------- content
def list_articles(bench, console, floor):
    articles = [publish(console, number) for number in range(ARTICLES)]
    path = "/v1/content/articles?" + urlencode({"key": bench.stack.organizations[0]["content_key"], "limit": ARTICLES})
    page = page_of(bench.stack)
    answer = page.call("GET", path)
    if answer.count(b'"slug":') < ARTICLES:
        raise BrokenMeasurement(f"{path} does not list the articles")
    etag = page.last_headers["ETag"]
    page.call("GET", path, expect=304, **{"If-None-Match": etag})
    what = f"/v1/content/articles, {ARTICLES} of them"
    figures = [figure(bench, floor, what, 1.0, [path]), figure(bench, floor, what + ", 304", 1.0, [path], etag)]
    console.connect()
    for article in articles:
        console.call("DELETE", f"/console/v1/articles/{article['id']}", expect=204)
    return figures


def publish(console, number):
    article = console.post("/console/v1/articles", {
        "slug": f"bench-{number}", "title": f"News of the day, number {number}", "excerpt": "What happened today. " * 8,
        "body_html": "<p>What happened today, at length.</p>" * 40, "locale": "en", "tags": ["cup", "news"],
        "author": "Ann Lee", "cover_url": "https://img.example/cover.png"}, expect=201)
    console.post(f"/console/v1/articles/{article['id']}/publish")
    return article
