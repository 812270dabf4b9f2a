"""Requests of other sites' pages: keys, origins, rates and countries, and the articles that nginx caches
(docs/engagement.md "Origins", docs/content.md "Caching")."""

import json
import re
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import wire
from support.edge import Edge
from support.page_keys import SHOP, Counted, PageKey, call, cors_headers, event, unissued_token, stored_events, track
from support.publishable import Keys
from support.stack import wait_for
from support.world import Organization
from test_nginx import check_headers, envelope

# How long nginx caches an article at most, as docs/content.md documents.
KEPT = 2.0


@pytest.fixture
def key(module_org):
    """A new key for each test, so that it has its whole rate."""
    return PageKey(module_org)


@pytest.fixture(scope="module")
def article(module_org):
    return f"/v1/content/articles/{module_org.published_article()['slug']}"


def refused(reply, status, code):
    """Checks a rejection of a key or an origin against its required form."""
    assert reply.status == status and envelope(reply)["code"] == code, reply.body
    assert cors_headers(reply) == [] and reply.values("Vary") == ["Origin"]
    assert reply.values("WWW-Authenticate") == (["Bearer"] if status == 401 else [])


def check_readable(reply):
    """Checks that a page of SHOP can read an error of nginx."""
    assert reply.values("Access-Control-Allow-Origin") == [SHOP] and reply.values("Vary") == ["Origin"]
    assert reply.values("Access-Control-Expose-Headers") == ["Retry-After, X-Request-Id"]
    assert reply.values("Access-Control-Allow-Credentials") == []


# ---------------------------------------------------------------------------- origins

FOREIGN = {
    "another": {"origin": "https://evil.example"},
    "none": {"origin": None},
    "null": {"origin": "null"},
    "null with a good Referer": {"origin": "null", "referer": SHOP + "/cart"},
    "foreign with a good Referer": {"origin": "https://evil.example", "referer": SHOP + "/cart"},
    "wrong port": {"origin": SHOP + ":8443"},
    "wrong scheme": {"origin": "http://shop.example"},
    "subdomain": {"origin": "https://www.shop.example"},
    "look-alike in front": {"origin": "https://myshop.example"},
    "look-alike behind": {"origin": "https://shop.example.evil.example"},
    "look-alike as a user": {"origin": "https://shop.example@evil.example"},
    "look-alike with a dot": {"origin": "https://shop.example."},
    "with a path": {"origin": SHOP + "/"},
    "rubbish": {"origin": "\x80 \xff"},
    "long": {"origin": SHOP + "x" * 4000},
    "foreign Referer": {"origin": None, "referer": "https://evil.example/?https://shop.example/"},
    "look-alike Referer": {"origin": None, "referer": "https://shop.example.evil.example/"},
    "Referer with a user": {"origin": None, "referer": "https://shop.example@evil.example/"},
    "two": {"origin": [SHOP, "https://evil.example"]},
    "two the other way round": {"origin": ["https://evil.example", SHOP]},
    "the same twice": {"origin": [SHOP, SHOP]},
    "two in one": {"origin": SHOP + ", https://evil.example"},
}


@pytest.mark.parametrize("sent", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_origin_is_rejected_without_cors_headers(stack, new_org, sent):
    org = new_org(attributes=False)
    token = PageKey(org).token
    reply = track(stack, token, **sent)
    refused(reply, 403, "ORIGIN_NOT_ALLOWED")
    is_missing = sent["origin"] is None and "referer" not in sent
    assert envelope(reply)["details"] == {"reason": "MISSING" if is_missing else "FOREIGN"}
    refused(call(stack, "OPTIONS", f"/v1/track?key={token}", headers=[("Access-Control-Request-Method", "POST")], **sent),
            403, "ORIGIN_NOT_ALLOWED")
    assert stored_events(org) == []
    assert track(stack, token).status == 202  # the key itself is valid
    assert stored_events(org) == ["seen"]


ALLOWED = {
    "the very same": {"origin": SHOP},
    "in capitals": {"origin": "HTTPS://Shop.Example"},
    "with the scheme's port": {"origin": SHOP + ":443"},
    "with a foreign Referer": {"origin": SHOP, "referer": "https://evil.example/"},
}


@pytest.mark.parametrize("sent", ALLOWED.values(), ids=ALLOWED)
def test_an_allowed_origin_is_accepted_with_cors_headers(stack, key, sent):
    reply = track(stack, key.token, **sent)
    check_headers(reply)
    assert (reply.status, json.loads(reply.body)) == (202, {"accepted": 1, "duplicates": 0})
    assert reply.values("Access-Control-Allow-Origin") == [SHOP] and reply.values("Vary") == ["Origin"]


def test_a_referer_replaces_a_missing_origin_header(stack, key):
    for path in ("", "/", "/cart?x=https://evil.example/", "/#x"):
        reply = track(stack, key.token, None, referer=SHOP + path)
        assert reply.status == 202 and cors_headers(reply) == []


def test_an_allowed_page_gets_a_preflight_reply(stack, key):
    reply = call(stack, "OPTIONS", f"/v1/track?key={key.token}", SHOP,
                 headers=[("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "content-type")])
    check_headers(reply)
    assert reply.status == 204 and reply.body == b"" and reply.values("Access-Control-Allow-Origin") == [SHOP]
    assert "POST" in reply.values("Access-Control-Allow-Methods")[0] and reply.values("Vary") == ["Origin"]


def test_head_is_checked_like_get(stack, module_org, article):
    path = f"{article}?key={PageKey(module_org, kind='content').token}"
    foreign = call(stack, "HEAD", path, "https://evil.example")
    assert (foreign.status, foreign.body, cors_headers(foreign)) == (403, b"", [])
    own = call(stack, "HEAD", path, SHOP)
    assert (own.status, own.body) == (200, b"")


def test_a_large_body_is_passed_on_completely(stack, new_org):
    org = new_org(attributes=False)
    body = json.dumps({"events": [event(metadata={"x": "y" * 8000}) for _ in range(100)]}).encode()
    reply = call(stack, "POST", f"/v1/track?key={PageKey(org).token}", SHOP, body=body)
    assert (reply.status, json.loads(reply.body)) == (202, {"accepted": 100, "duplicates": 0})
    assert len(stored_events(org)) == 100


# ---------------------------------------------------------------------------- keys


@pytest.mark.parametrize("token", [*(pytest.param(unissued_token(prefix), id=prefix + "made up")
                                     for prefix in ("ek_live_", "ck_live_", "xk_live_")), "ek_live_", "x",
                                   "a|b", "%00", "%ff", "x" * 3000, "%20", "../edge"])
def test_a_malformed_key_is_rejected(stack, token):
    refused(track(stack, token), 401, "UNAUTHORIZED")


def test_an_expired_or_revoked_key_is_rejected(stack, module_org):
    revoked, expired = PageKey(module_org), PageKey(module_org)
    revoked.revoke()
    stack.sql("UPDATE publishable_keys SET expires_at = 1 WHERE token = %s", expired.token)
    for key in (revoked, expired):
        refused(track(stack, key.token), 401, "UNAUTHORIZED")


def test_a_key_of_the_other_kind_is_rejected(stack, module_org):
    reply = track(stack, PageKey(module_org, kind="content").token)
    assert (reply.status, envelope(reply)["code"]) == (403, "FORBIDDEN")


def test_a_key_in_the_body_is_checked_like_one_in_the_query(stack, key):
    tracked = Counted(stack, "trackEvents")
    assert track(stack, None, body_key=key.token).status == 202
    assert track(stack, "", body_key=key.token).status in (202, 401)  # an empty key in the query counts as absent
    refused(track(stack, None, "https://evil.example", body_key=key.token), 403, "ORIGIN_NOT_ALLOWED")
    refused(track(stack, None, "null", body_key=key.token), 403, "ORIGIN_NOT_ALLOWED")
    refused(track(stack, None, body_key=unissued_token()), 401, "UNAUTHORIZED")
    refused(track(stack, None), 401, "UNAUTHORIZED")
    assert tracked.total() == 6


def test_an_encoded_key_parameter_is_checked_like_a_plain_one(stack, key):
    """Notations of the parameter that nginx does not recognize."""
    disguised = "k%65y=" + key.token
    assert call(stack, "POST", "/v1/track?" + disguised, SHOP, body=json.dumps(event()).encode()).status == 202
    refused(call(stack, "POST", "/v1/track?" + disguised, "https://evil.example", body=json.dumps(event()).encode()), 403,
            "ORIGIN_NOT_ALLOWED")
    encoded = "".join(f"%{ord(letter):02x}" for letter in key.token)
    assert track(stack, encoded).status == 202
    refused(track(stack, encoded, "https://evil.example"), 403, "ORIGIN_NOT_ALLOWED")
    refused(track(stack, unissued_token() + f"&key={key.token}"), 401, "UNAUTHORIZED")  # the first one counts
    refused(call(stack, "POST", f"/v1/track?KEY={key.token}&key={unissued_token()}", SHOP,
                 body=json.dumps(event()).encode()), 401, "UNAUTHORIZED")


def test_each_key_works_for_its_own_origins_only(stack, new_org):
    ours, theirs = new_org(attributes=False), new_org(attributes=False)
    other = "https://other.example"
    keys = {SHOP: PageKey(ours, SHOP).token, other: PageKey(theirs, other).token}
    for allowed, token in keys.items():
        for origin in (SHOP, other):
            assert track(stack, token, origin).status == (202 if origin == allowed else 403)
            assert track(stack, token, None, referer=origin + "/x").status == (202 if origin == allowed else 403)
            assert track(stack, unissued_token(), origin).status == 401
        assert track(stack, token, None).status == 403
        assert track(stack, None, allowed, body_key=token).status == 202
    assert len(stored_events(ours)) == len(stored_events(theirs)) == 3


def test_a_revoked_key_is_rejected_with_the_next_request(stack, key):
    assert track(stack, key.token).status == 202
    key.revoke()
    refused(track(stack, key.token), 401, "UNAUTHORIZED")


def test_a_changed_origin_holds_with_the_next_request(stack, module_org):
    keys = Keys(module_org, "tracking")
    key, blog = keys.create(), "https://blog.example"
    refused(track(stack, key["key"], blog), 403, "ORIGIN_NOT_ALLOWED")
    keys.change(key, allowed_origins=[blog])
    assert track(stack, key["key"], blog).status == 202
    refused(track(stack, key["key"]), 403, "ORIGIN_NOT_ALLOWED")


# ---------------------------------------------------------------------------- rates


def flood(send, least):
    """The replies to requests of 16 clients at the same time, and the seconds that they took: to at least so many requests,
    and until some were accepted and some limited."""
    began, replies, statuses = time.monotonic(), [], set()
    is_over = threading.Event()

    def go_on(_):
        while not is_over.is_set():
            reply = send()
            replies.append(reply)
            statuses.add(reply.status)
            if len(replies) >= least and {202, 429} <= statuses or time.monotonic() - began > 60:
                is_over.set()

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(go_on, range(16)))
    return replies, time.monotonic() - began


def test_one_client_has_twenty_a_second_and_forty_at_once(strict_stack, contract):
    token = PageKey(Organization(strict_stack, contract, attributes=False)).token
    replies, spent = flood(lambda: track(strict_stack, token, source="127.0.0.21"), 150)
    statuses = [reply.status for reply in replies]
    assert set(statuses) == {202, 429} and 40 <= statuses.count(202) <= 42 + 20 * spent
    limited = next(reply for reply in replies if reply.status == 429)
    assert envelope(limited)["code"] == "RATE_LIMITED" and int(limited.values("Retry-After")[0]) >= 1
    check_readable(limited)
    assert track(strict_stack, token, source="127.0.0.22").status == 202
    # A key in the body counts for the client too.
    bodies, spent = flood(lambda: track(strict_stack, None, body_key=token, source="127.0.0.23"), 60)
    assert {reply.status for reply in bodies} == {202, 429}
    assert 40 <= [reply.status for reply in bodies].count(202) <= 42 + 20 * spent


def test_one_key_has_a_limit_over_all_clients(stack, module_org):
    changes = [("snippets/muster-rates.conf", "zone=muster_key:10m rate=100000r/s", "zone=muster_key:10m rate=1r/s"),
               ("snippets/muster-page.conf", "zone=muster_key burst=2000", "zone=muster_key burst=5")]
    busy, idle = PageKey(module_org).token, PageKey(module_org).token
    with Edge(stack, "key-rate", changes) as edge:
        replies = [track(edge, busy, source=f"127.0.0.{30 + number}") for number in range(20)]
        assert [reply.status for reply in replies][:6] == [202] * 6
        limited = [reply for reply in replies if reply.status == 429]
        assert len(limited) >= 10 and envelope(limited[-1])["code"] == "RATE_LIMITED"
        assert track(edge, idle).status == 202
        assert track(edge, None, body_key=busy).status == 202  # the worker counts it


# ---------------------------------------------------------------------------- errors that pages can read


@pytest.mark.parametrize("framing", [[("Content-Length", str(2 << 20))], [("Transfer-Encoding", "chunked")]])
def test_a_page_can_read_that_its_body_is_too_large(stack, key, framing):
    head = [("Origin", SHOP), ("Content-Type", "text/plain"), *framing]
    reply = wire.exchange(stack, wire.request_bytes("POST", f"/v1/track?key={key.token}", head, b"200000\r\nx"))
    assert reply.status == 413 and envelope(reply)["code"] == "PAYLOAD_TOO_LARGE"
    check_readable(reply)


@pytest.mark.parametrize("origin", [None, "null", "file://", "javascript:x", "rubbish \x80"])
def test_an_error_of_nginx_names_no_origin_that_no_page_has(stack, key, origin):
    sent = [("Origin", origin)] * (origin is not None) + [("Content-Length", str(2 << 20))]
    reply = wire.exchange(stack, wire.request_bytes("POST", f"/v1/track?key={key.token}", sent))
    assert reply.status == 413 and cors_headers(reply) == [] and reply.values("Vary") == ["Origin"]


def test_errors_of_nginx_outside_page_operations_carry_no_cors_headers(stack):
    for target in ("/v1/users?page", "/v1/users"):
        sent = [("Origin", SHOP), ("Content-Length", str(20 << 20))]
        reply = wire.exchange(stack, wire.request_bytes("POST", target, sent))
        assert reply.status == 413 and cors_headers(reply) == [] and reply.values("Vary") == []


# ---------------------------------------------------------------------------- outages


def test_without_workers_pages_get_503(stack, key):
    with stack.without("musterd"):
        for method in ("POST", "OPTIONS", "GET"):
            reply = call(stack, method, f"/v1/track?key={key.token}", SHOP)
            assert (reply.status, envelope(reply)["code"]) == (503, "SERVICE_UNAVAILABLE")
            assert int(reply.values("Retry-After")[0]) >= 1
            check_readable(reply)
    wait_for(stack.answers, "the service to respond again")
    assert track(stack, key.token).status == 202


def test_unresponsive_workers_are_503_too(stack, key):
    path = f"{stack.folder}/tmp/silent-edge.sock"
    collector = re.search(r"server unix:\S+/collector\.sock", (stack.folder / "nginx/nginx.conf").read_text()).group()
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(path)
        silent.listen(16)
        changes = [("nginx.conf", collector, f"server unix:{path}"),
                   ("snippets/muster-server.conf", "fastcgi_read_timeout 60s", "fastcgi_read_timeout 1s")]
        with Edge(stack, "silent", changes) as edge:
            reply = track(edge, key.token)
            assert envelope(reply)["code"] == "SERVICE_UNAVAILABLE"
            check_readable(reply)


@pytest.mark.parametrize("path", ["/edge/key", "/_muster/403", "/_muster/429", "/v1/track/../../_muster/403"])
def test_the_internal_paths_of_nginx_are_404_for_clients(stack, key, path):
    for method in ("GET", "POST"):
        reply = call(stack, method, f"{path}?key={key.token}", SHOP)
        assert (reply.status, envelope(reply)["code"]) == (404, "NOT_FOUND")


# ---------------------------------------------------------------------------- countries


def country_of(org):
    return stack_rows(org)[-1]


def stack_rows(org):
    return org.stack.sql("SELECT geo_country, geo_region FROM engagement_events WHERE organization_id = "
                         "UNHEX(REPLACE(%s, '-', '')) ORDER BY id", org.id)


def test_an_event_has_the_country_of_its_client(stack, new_org):
    org = new_org(attributes=False)
    token = PageKey(org).token
    changes = [("nginx.conf", "daemon off;", "daemon off;\nload_module /usr/lib/nginx/modules/ngx_http_geoip_module.so;"),
               ("nginx.conf", "include snippets/muster-country.conf;",
                "include snippets/muster-country-geoip.conf;\n    geoip_proxy 127.0.0.1;")]
    with Edge(stack, "geoip", changes) as edge:
        for address, country in [("8.8.8.8", "US"), ("193.99.144.80", "DE"), ("2a02:2e0:3fe:1001::1", "DE"),
                                 ("127.0.0.1", None), ("10.1.2.3", None), ("rubbish", None)]:
            assert track(edge, token, headers=[("X-Forwarded-For", address)]).status == 202
            assert country_of(org) == (country, None), address
        assert track(edge, token).status == 202
        assert country_of(org) == (None, None)
        # For a client whose X-Forwarded-For nginx does not trust, only its own address counts.
        assert track(edge, token, headers=[("X-Forwarded-For", "8.8.8.8")], source="127.0.0.2").status == 202
        assert country_of(org) == (None, None)


def test_a_client_cannot_choose_its_country(stack, new_org):
    org = new_org(attributes=False)
    names = ["GEO_COUNTRY", "Geo-Country", "GEO_REGION", "HTTP_GEO_COUNTRY", "X-Country", "CF-IPCountry", "muster_country",
             "X-Forwarded-For"]
    assert track(stack, PageKey(org).token, headers=[(name, "US") for name in names]).status == 202
    assert country_of(org) == (None, None)


# ---------------------------------------------------------------------------- cached articles


def test_nginx_caches_an_article_for_a_second(stack, module_org, article):
    path = f"{article}?key={PageKey(module_org, kind='content').token}"
    asked = Counted(stack, "getContent")
    began = time.monotonic()
    replies = [call(stack, "GET", path, SHOP) for _ in range(20)]
    spent = time.monotonic() - began
    for reply in replies:
        check_headers(reply)
        assert reply.status == 200 and reply.body == replies[0].body
        assert reply.values("Cache-Control") == ["public, max-age=60"]
    assert len({reply.values("X-Request-Id")[0] for reply in replies}) == 20
    assert 1 <= asked.total() <= 2 + spent
    etag = replies[0].values("ETag")[0]
    known = call(stack, "GET", path, SHOP, headers=[("If-None-Match", etag)])
    assert (known.status, known.body, known.values("ETag")) == (304, b"", [etag])
    check_headers(known)
    head = call(stack, "HEAD", path, SHOP)
    assert (head.status, head.body, head.values("ETag")) == (200, b"", [etag])
    assert call(stack, "GET", path, SHOP).body == replies[0].body
    assert call(stack, "GET", path, SHOP, headers=[("Range", "bytes=0-9")]).status == 200


def test_a_cached_article_is_for_one_key_and_one_origin(stack, module_org, article):
    other = "https://other.example"
    path = f"{article}?key={PageKey(module_org, SHOP, other, kind='content').token}"
    for sent in ({"origin": SHOP}, {"origin": other}, {"referer": SHOP + "/cart"}):
        asked = Counted(stack, "getContent")
        assert call(stack, "GET", path, **sent).status == 200
        assert asked.total() == 1, "the answer to another origin"
        for foreign in ({}, {"origin": ""}, {"referer": "x " + SHOP}, *FOREIGN.values()):
            assert call(stack, "GET", path, **foreign).status == 403, foreign
        refused(call(stack, "GET", f"{article}?key={unissued_token('ck_live_')}", **sent), 401, "UNAUTHORIZED")


def test_a_condition_that_fails_is_an_error_that_a_page_can_read(stack, module_org, article):
    path = f"{article}?key={PageKey(module_org, kind='content').token}"
    with Edge(stack, "condition") as edge:  # nginx logs an alert, because it does not store the answer
        reply = call(edge, "GET", path, SHOP, headers=[("If-Match", '"another"')])
    assert reply.status == 412 and envelope(reply)["code"] == "PRECONDITION_FAILED"
    check_readable(reply)


def test_a_revoked_key_gets_a_cached_article_for_two_seconds_at_most(stack, module_org, article):
    key = PageKey(module_org, kind="content")
    path = f"{article}?key={key.token}"
    assert call(stack, "GET", path, SHOP).status == 200
    key.revoke()
    revoked = accepted = time.monotonic()

    def is_rejected():
        nonlocal accepted
        sent = time.monotonic()
        if call(stack, "GET", path, SHOP).status == 401:
            return True
        accepted = sent
        return False

    wait_for(is_rejected, "the rejection", every=0.05)
    assert accepted - revoked <= KEPT
    refused(call(stack, "GET", path, SHOP), 401, "UNAUTHORIZED")


# ---------------------------------------------------------------------------- the snippet's file


def test_any_page_may_load_and_cache_the_snippet(stack):
    reply = wire.exchange(stack, wire.request_bytes("GET", "/js/muster.js", [("Origin", "https://any.example")]))
    check_headers(reply)
    assert reply.status == 200 and len(reply.body) < 2304
    assert reply.body == (stack.source / "nginx/static/js/muster.js").read_bytes()
    assert reply.values("Content-Type") == ["text/javascript; charset=utf-8"]
    assert reply.values("Cache-Control") == ["public, max-age=3600"]
    assert reply.values("Cross-Origin-Resource-Policy") == ["cross-origin"]
    assert reply.values("Access-Control-Allow-Origin") == ["*"]
    known = call(stack, "GET", "/js/muster.js", headers=[("If-None-Match", reply.values("ETag")[0])])
    assert known.status == 304
    assert call(stack, "POST", "/js/muster.js").status == 405
    for path in ("/js/", "/js", "/js/muster.js/", "/js/../js/muster.js.map", "/js/..%2f..%2fmuster.conf"):
        assert envelope(call(stack, "GET", path))["code"] in ("NOT_FOUND", "BAD_REQUEST")
