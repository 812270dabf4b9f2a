"""Decisions of nginx about the requests of pages before a worker gets them: key, origin, rates, countries
(docs/engagement.md "Origins")."""

import json
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

# How long a decision is cached at most, as docs/engagement.md documents.
KEPT = 10.0


@pytest.fixture
def key(module_org):
    """A new key for each test, so that nginx has not cached a decision for it."""
    return PageKey(module_org)


def refused(reply, status, code):
    """Checks an error reply of nginx against its required form."""
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
    for _ in range(2):  # queried, and from the cache
        reply = track(stack, token, **sent)
        refused(reply, 403, "ORIGIN_NOT_ALLOWED")
        is_missing = sent["origin"] is None and "referer" not in sent
        assert envelope(reply)["details"] == {"reason": "MISSING" if is_missing else "FOREIGN"}
    refused(call(stack, "OPTIONS", f"/v1/track?key={token}", headers=[("Access-Control-Request-Method", "POST")], **sent),
            403, "ORIGIN_NOT_ALLOWED")
    assert stored_events(org) == []
    assert track(stack, token).status == 202  # a foreign page does not affect the cache for the shop
    assert stored_events(org) == ["seen"]


ALLOWED = {
    "the very same": {"origin": SHOP},
    "in capitals": {"origin": "HTTPS://Shop.Example"},
    "with the scheme's port": {"origin": SHOP + ":443"},
    "with a foreign Referer": {"origin": SHOP, "referer": "https://evil.example/"},
}


@pytest.mark.parametrize("sent", ALLOWED.values(), ids=ALLOWED)
def test_an_allowed_origin_is_accepted_with_cors_headers(stack, key, sent):
    for _ in range(2):
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


def test_head_is_checked_like_get(stack, key):
    foreign = call(stack, "HEAD", f"/v1/track?key={key.token}", "https://evil.example")
    assert (foreign.status, foreign.body, cors_headers(foreign)) == (403, b"", [])
    own = call(stack, "HEAD", f"/v1/track?key={key.token}", SHOP)
    assert (own.status, own.body) == (405, b"")  # the reply of the worker


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
    for _ in range(2):
        refused(track(stack, token), 401, "UNAUTHORIZED")


def test_an_expired_or_revoked_key_is_rejected(stack, module_org):
    revoked, expired = PageKey(module_org), PageKey(module_org)
    revoked.revoke()
    stack.sql("UPDATE publishable_keys SET expires_at = 1 WHERE token = %s", expired.token)
    for key in (revoked, expired):
        refused(track(stack, key.token), 401, "UNAUTHORIZED")


def test_a_key_of_the_other_kind_is_rejected_by_the_worker(stack, module_org):
    reply = track(stack, PageKey(module_org, kind="content").token)
    assert (reply.status, envelope(reply)["code"]) == (403, "FORBIDDEN")


def test_a_key_in_the_body_is_checked_by_the_worker(stack, key):
    tracked = Counted(stack, "trackEvents")
    assert track(stack, None, body_key=key.token).status == 202
    assert track(stack, "", body_key=key.token).status in (202, 401)  # an empty key in the query counts as absent
    refused(track(stack, None, "https://evil.example", body_key=key.token), 403, "ORIGIN_NOT_ALLOWED")
    refused(track(stack, None, "null", body_key=key.token), 403, "ORIGIN_NOT_ALLOWED")
    refused(track(stack, None, body_key=unissued_token()), 401, "UNAUTHORIZED")
    refused(track(stack, None), 401, "UNAUTHORIZED")
    assert tracked.total() == 6


def test_an_encoded_key_parameter_is_checked_by_the_worker(stack, key):
    """Notations of the parameter that nginx does not recognize."""
    disguised = "k%65y=" + key.token
    assert call(stack, "POST", "/v1/track?" + disguised, SHOP, body=json.dumps(event()).encode()).status == 202
    refused(call(stack, "POST", "/v1/track?" + disguised, "https://evil.example", body=json.dumps(event()).encode()), 403,
            "ORIGIN_NOT_ALLOWED")
    encoded = "".join(f"%{ord(letter):02x}" for letter in key.token)
    assert track(stack, encoded).status == 202
    refused(track(stack, encoded, "https://evil.example"), 403, "ORIGIN_NOT_ALLOWED")
    key.revoke()
    refused(track(stack, unissued_token() + f"&key={key.token}"), 401, "UNAUTHORIZED")
    refused(call(stack, "POST", f"/v1/track?KEY={PageKey(key.org).token}&key={key.token}", SHOP,
                 body=json.dumps(event()).encode()), 401, "UNAUTHORIZED")


def test_a_decision_is_cached_for_one_key_and_one_origin(stack, new_org):
    """The risk: a subrequest has no arguments, so a cache keyed by its own URI would share one decision among all."""
    ours, theirs = new_org(attributes=False), new_org(attributes=False)
    other = "https://other.example"
    keys = {SHOP: PageKey(ours, SHOP).token, other: PageKey(theirs, other).token}
    for _ in range(3):
        for allowed, token in keys.items():
            for origin in (SHOP, other):
                assert track(stack, token, origin).status == (202 if origin == allowed else 403)
                assert track(stack, token, None, referer=origin + "/x").status == (202 if origin == allowed else 403)
                assert track(stack, unissued_token(), origin).status == 401
            assert track(stack, token, None).status == 403
            assert track(stack, None, allowed, body_key=token).status == 202
    assert len(stored_events(ours)) == len(stored_events(theirs)) == 9


@pytest.mark.parametrize("origin, status", [(SHOP, 202), ("https://evil.example", 403)])
def test_a_decision_is_queried_once_for_many_requests(stack, key, origin, status):
    checks, tracked = Counted(stack, "checkPublishableKey"), Counted(stack, "trackEvents")
    began = time.monotonic()
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda _: track(stack, key.token, origin), range(200)))
    spent = time.monotonic() - began
    assert {reply.status for reply in replies} == {status}
    assert len({reply.values("X-Request-Id")[0] for reply in replies}) == 200
    # A request that waits longer than 100 ms for the query of another sends its own. A rejection is cached for two to three
    # seconds, and then all of the 16 may query it again.
    assert 1 <= checks.total() <= max(40, 16 * (1 + spent // 1)), checks.all()
    assert tracked.total() == (200 if status == 202 else 0)


def test_an_unknown_key_is_queried_once(stack):
    token = unissued_token()
    checks = Counted(stack, "checkPublishableKey")
    began = time.monotonic()
    for number in range(30):
        refused(track(stack, token), 401, "UNAUTHORIZED")
        refused(track(stack, f"{'x' * number}!"), 401, "UNAUTHORIZED")  # all malformed keys share one entry
    assert checks.total() <= 2 * (1 + time.monotonic() - began)  # each is cached for two seconds


def test_a_revoked_key_is_rejected_by_the_worker_immediately_and_by_nginx_within_ten_seconds(stack, new_org):
    org = new_org(attributes=False)
    key = PageKey(org)
    assert track(stack, key.token).status == 202
    before = len(stored_events(org))
    key.revoke()
    revoked = time.monotonic()
    tracked = Counted(stack, "trackEvents")
    refused_by_worker = 0

    def is_refused_at_the_edge():
        nonlocal refused_by_worker
        refused(track(stack, key.token), 401, "UNAUTHORIZED")
        reached = tracked.total()
        was_reached, refused_by_worker = reached > refused_by_worker, reached
        return not was_reached

    wait_for(is_refused_at_the_edge, "nginx to reject", KEPT, every=0.1)
    assert time.monotonic() - revoked <= KEPT + 0.5
    assert refused_by_worker >= 1  # nginx had not noticed yet, and the worker still rejected the requests
    assert len(stored_events(org)) == before


def test_a_newly_allowed_page_is_accepted_soon(stack, module_org):
    keys = Keys(module_org, "tracking")
    key, blog = keys.create(), "https://blog.example"
    refused(track(stack, key["key"], blog), 403, "ORIGIN_NOT_ALLOWED")
    keys.change(key, allowed_origins=[blog])
    wait_for(lambda: track(stack, key["key"], blog).status == 202, "the new origin to be accepted", 5, every=0.1)
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
    assert track(stack, key.token).status == 202
    with stack.without("musterd"):
        for token in (key.token, unissued_token()):  # a cached decision, and one that cannot be queried
            for method in ("POST", "OPTIONS", "GET"):
                reply = call(stack, method, f"/v1/track?key={token}", SHOP)
                assert (reply.status, envelope(reply)["code"]) == (503, "SERVICE_UNAVAILABLE")
                assert int(reply.values("Retry-After")[0]) >= 1
                check_readable(reply)
    wait_for(stack.answers, "the service to respond again")
    assert track(stack, key.token).status == 202


def test_unresponsive_workers_are_503_too(stack, key):
    path = f"{stack.folder}/tmp/silent-edge.sock"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(path)
        silent.listen(16)
        changes = [("snippets/muster-page-key.conf", "fastcgi_pass muster_reader;", f"fastcgi_pass unix:{path};"),
                   ("snippets/muster-page-key.conf", "fastcgi_read_timeout 5s", "fastcgi_read_timeout 1s")]
        with Edge(stack, "silent-key", changes) as edge:
            assert envelope(track(edge, key.token))["code"] == "SERVICE_UNAVAILABLE"


@pytest.mark.parametrize("path", ["/edge/key", "/edge/", "/edge", "/_muster/page-key", "/_muster/401", "/_muster/403",
                                  "/v1/track/../../edge/key", "/v1/../edge/key", "/%65dge/key", "//edge/key"])
def test_the_internal_endpoint_of_nginx_is_404_for_clients(stack, key, path):
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


# ---------------------------------------------------------------------------- caching of replies

# The location of articles, applied to a reply that every worker has: public, with an ETag.
PUBLIC = "/openapi/partner.json"
AS_CONTENT = [("snippets/muster-routes.conf", f"location = {PUBLIC} {{", "location = /elsewhere {"),
              ("snippets/muster-routes.conf", "location /v1/content/articles/ {", f"location = {PUBLIC} {{")]


def test_a_cached_public_reply_requires_an_allowed_key(stack, new_org):
    key = PageKey(new_org(attributes=False), SHOP, "https://other.example", kind="content")
    path = f"{PUBLIC}?key={key.token}"
    with Edge(stack, "content", AS_CONTENT) as edge:
        asked = Counted(stack, "getDescription")
        began = time.monotonic()
        replies = [call(edge, "GET", path, SHOP) for _ in range(20)]
        spent = time.monotonic() - began
        for reply in replies:
            check_headers(reply)
            assert reply.status == 200 and reply.body == replies[0].body
            assert reply.values("Cache-Control") == ["public, max-age=300"]
        assert len({reply.values("X-Request-Id")[0] for reply in replies}) == 20
        assert 1 <= asked.total() <= 2 + spent  # cached for a second
        etag = replies[0].values("ETag")[0]
        known = call(edge, "GET", path, SHOP, headers=[("If-None-Match", etag)])
        assert (known.status, known.body, known.values("ETag")) == (304, b"", [etag])
        check_headers(known)
        head = call(edge, "HEAD", path, SHOP)
        assert (head.status, head.body, head.values("ETag")) == (200, b"", [etag])
        assert call(edge, "GET", path, SHOP).body == replies[0].body
        assert call(edge, "GET", path, SHOP, headers=[("Range", "bytes=0-9")]).status == 200
        # Each allowed origin has its own cached reply, and a foreign one gets none.
        before = asked.total()
        assert call(edge, "GET", path, "https://other.example").status == 200
        assert asked.total() == before + 1
        refused(call(edge, "GET", path, "https://evil.example"), 403, "ORIGIN_NOT_ALLOWED")
        refused(call(edge, "GET", path, None, referer="https://evil.example/"), 403, "ORIGIN_NOT_ALLOWED")
        refused(call(edge, "GET", f"{PUBLIC}?key={unissued_token('ck_live_')}", SHOP), 401, "UNAUTHORIZED")


def test_a_revoked_key_does_not_get_cached_replies(stack, new_org):
    key = PageKey(new_org(attributes=False), kind="content")
    with Edge(stack, "content-revoked", AS_CONTENT) as edge:
        assert call(edge, "GET", f"{PUBLIC}?key={key.token}", SHOP).status == 200
        key.revoke()
        wait_for(lambda: call(edge, "GET", f"{PUBLIC}?key={key.token}", SHOP).status == 401, "nginx to reject", KEPT,
                 every=0.2)
        refused(call(edge, "GET", f"{PUBLIC}?key={key.token}", SHOP), 401, "UNAUTHORIZED")


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
