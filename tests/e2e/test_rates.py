"""Rates of keys, admins and client addresses, and their headers (docs/api/limits.md "Rate limits")."""

import itertools
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import wire
from support.ads import LANDING, Ads, path_of_url
from support.admin import AUTH
from support.client import SHOP, Client
from support.page_keys import PageKey, call
from support.stack import wait_for
from support.world import Organization, email


@pytest.fixture(scope="module")
def strict_org(strict_stack, contract):
    """An organization of the stack with the rates of production."""
    return Organization(strict_stack, contract, attributes=False)


def key_with(org, rate, burst):
    """A client with a key that has its own rate."""
    issued = org.admin().api.post(
        "/v1/api-keys", json={"name": "slow", "rate_limit_per_second": rate, "burst": burst}, expect=201).json()
    org.stack.keys_issued.append(issued["key"])
    return issued["key"]


def left(reply, policy="default"):
    """(requests left, seconds until the bucket is full) of the last policy, which must have this name."""
    pattern = rf'("default";r=\d+;t=\d+, )?"{policy}";r=(\d+);t=(\d+)'
    return tuple(map(int, re.fullmatch(pattern, reply.headers["RateLimit"]).groups()[1:]))


def use_up(burst, request, accepted=200, policy="default"):
    """Empties a full bucket whose rate is one request a second: `burst` requests are accepted, and then at most one for each
    second that has passed. Returns (all replies, the refused ones)."""
    began = time.monotonic()
    replies = [request(number) for number in range(burst + 9)]
    returned = int(time.monotonic() - began)  # tokens
    codes = [reply.status_code for reply in replies]
    assert codes[:burst] == [accepted] * burst and set(codes) == {accepted, 429}
    assert codes.count(accepted) <= burst + returned
    for number, reply in enumerate(replies[:burst], 1):
        remaining, full_in = left(reply, policy)
        assert burst - number <= remaining <= burst - number + returned
        assert number - returned <= full_in <= number
    refused = [reply for reply in replies if reply.status_code == 429]
    assert {left(reply, policy)[0] for reply in refused} == {0}
    return replies, refused


def test_a_key_has_its_own_rate(module_org):
    key = key_with(module_org, 1, 5)
    replies, refused = use_up(5, lambda _: module_org.api.get("/v1/imports", key=key))
    assert {reply.headers["RateLimit-Policy"] for reply in replies} == {'"default";q=5;w=5'}
    assert {reply.headers["Retry-After"] for reply in refused} == {"1"}
    assert all(reply.json()["error"]["code"] == "RATE_LIMITED" for reply in refused)
    module_org.api.get("/v1/imports", expect=200)  # another key has another bucket
    began = time.monotonic()
    wait_for(lambda: module_org.api.get("/v1/imports", key=key).status_code == 200, "the next request to pass", seconds=5)
    assert time.monotonic() - began < 2


def test_a_rejected_request_costs_and_changes_nothing(module_org):
    key = key_with(module_org, 1, 2)
    address, began = email(), time.monotonic()
    replies = [module_org.api.post("/v1/users", json={"email": address}, key=key) for _ in range(2)]
    assert {reply.status_code for reply in replies} <= {200, 201}
    with ThreadPoolExecutor(10) as pool:
        late = list(pool.map(lambda _: module_org.api.post("/v1/users", json={"email": email("late")}, key=key), range(30)))
    accepted = 30 - [reply.status_code for reply in late].count(429)
    assert accepted <= time.monotonic() - began  # one a second; the first two used up the bucket
    assert sum(member.startswith("late") for member in module_org.members()) == accepted


def test_a_rate_applies_across_all_workers(module_org):
    key = key_with(module_org, 1, 20)
    began = time.monotonic()
    with ThreadPoolExecutor(20) as pool:
        codes = list(pool.map(lambda _: module_org.api.get("/v1/imports", key=key).status_code, range(120)))
    spent = time.monotonic() - began
    assert 20 <= codes.count(200) <= 20 + spent + 1
    assert set(codes) == {200, 429}


def test_requests_rejected_for_another_reason_are_counted_too(module_org):
    key = key_with(module_org, 1, 3)
    use_up(3, lambda _: module_org.api.get("/v1/api-keys", key=key), accepted=403)


def test_an_unknown_credential_gets_no_rate_headers(anyone):
    reply = anyone.get("/v1/imports", expect=401)
    assert not [name for name in reply.headers if name.lower().startswith("ratelimit")]


# ---------------------------------------------------------------------------- rates of production


def test_a_key_has_100_a_second_and_200_at_once(strict_org):
    reply = strict_org.api.get("/v1/imports", expect=200)
    assert reply.headers["RateLimit-Policy"] == '"default";q=200;w=2'
    assert left(reply) == (199, 1)


def test_all_sessions_of_an_admin_share_a_rate(strict_stack, strict_org):
    admin, colleague = strict_org.admin(), strict_org.admin("viewer")
    sessions = [admin.api, admin.new_session()]
    assert colleague.api.get("/v1/session", expect=200).headers["RateLimit-Policy"] == '"default";q=200;w=2'
    with strict_stack.configured("[limits]", "key_rate = 1", "key_burst = 6"):
        replies, _ = use_up(6, lambda number: sessions[number % 2].get("/v1/session"))
        assert {reply.headers["RateLimit-Policy"] for reply in replies} == {'"default";q=6;w=6'}
        colleague.api.get("/v1/session", expect=200)  # another admin has another bucket


def test_an_organization_has_a_rate_over_all_its_callers(strict_stack, contract):
    org, other = (Organization(strict_stack, contract, attributes=False) for _ in range(2))
    second, page = strict_stack.issue_key(org.id)["key"], org.page_api
    with strict_stack.configured("[limits]", "organization_rate = 1", "organization_burst = 6"):
        replies, refused = use_up(6, lambda number: org.api.get("/v1/imports", key=(org.key, second)[number % 2]),
                                  policy="organization")
        assert {reply.headers["RateLimit-Policy"] for reply in replies} == {
            '"default";q=200;w=2, "organization";q=6;w=6'}
        assert 1 <= int(refused[-1].headers["Retry-After"]) <= 2
        # Pages have a bucket of their own, and so has another organization.
        page.post("/v1/track", json={"action": "viewed", "anonymous_id": "v"}, expect=202)
        other.api.get("/v1/imports", expect=200)


def test_ads_are_counted_within_a_rate_of_their_organization(strict_stack, contract):
    org, other = (Organization(strict_stack, contract, attributes=False) for _ in range(2))
    ads, others = Ads(org), Ads(other)
    slot, campaign = ads.running()
    other_slot, other_campaign = others.running()
    shown, theirs = [ads.serve(slot) for _ in range(30)], others.serve(other_slot)
    anyone = Client(strict_stack, contract)
    with strict_stack.configured("[limits]", "organization_rate = 1", "organization_burst = 6"):
        began = time.monotonic()
        for ad in shown:
            anyone.get(path_of_url(ad["impression_url"]), expect=200)
            reply = anyone.get(path_of_url(ad["click_url"]), expect=302, allow_redirects=False)
            assert reply.headers["Location"] == LANDING
        most = 6 + time.monotonic() - began + 1
        assert 6 <= sum(ads.counted(campaign)) <= most < 2 * len(shown)
        # Ads have a bucket of their own, and so has another organization.
        org.page_api.post("/v1/track", json={"action": "viewed", "anonymous_id": "v"}, expect=202)
        anyone.get(path_of_url(theirs["impression_url"]), expect=200)
        assert others.counted(other_campaign) == (1, 0)


def test_a_content_key_has_a_rate_in_the_workers_even_if_nginx_does_not_see_it(strict_stack, contract):
    org = Organization(strict_stack, contract, attributes=False)
    token, *others = [PageKey(org, kind="content").token for _ in range(3)]

    def read(key, name="key"):
        return call(strict_stack, "GET", f"/v1/content/articles/none?{name}={key}", origin=SHOP)

    def read_beyond(burst, read_again):
        """A refused reply, after `burst` accepted ones, and one more each second."""
        began, replies = time.monotonic(), [read_again() for _ in range(burst + 9)]
        refused = [reply for reply in replies if reply.status == 429]
        accepted = [reply for reply in replies if reply.status == 404]
        assert burst <= len(accepted) <= burst + time.monotonic() - began + 1
        assert len(accepted) + len(refused) == len(replies)
        return refused[0]

    with strict_stack.configured("[limits]", "tracking_rate = 1", "tracking_burst = 3"):
        names = itertools.cycle(("key", "%6bey"))
        refused = read_beyond(3, lambda: read(token, next(names)))
        assert refused.values("Access-Control-Allow-Origin") == [SHOP]
        assert refused.values("Retry-After") == ["1"]
        assert read(others[0]).status == 404  # another key has another bucket
    with strict_stack.configured("[limits]", "organization_rate = 1", "organization_burst = 4"):
        keys = itertools.cycle(others)
        read_beyond(4, lambda: read(next(keys), "%6bey"))


def test_only_the_operator_issues_keys_with_higher_rates(strict_stack, contract):
    org = Organization(strict_stack, contract, attributes=False)
    admin = org.admin().api
    faults = admin.post("/v1/api-keys", json={"name": "k", "rate_limit_per_second": 101, "burst": 201}, expect=422).json()
    assert [(fault["path"], fault["code"], fault["maximum"]) for fault in faults["error"]["details"]["fields"]] == [
        ("rate_limit_per_second", "out_of_range", 100), ("burst", "out_of_range", 200)]
    admin.post("/v1/api-keys", json={"name": "k", "rate_limit_per_second": 100, "burst": 200}, expect=201)
    key = {"name": "k", "allowed_origins": ["https://shop.example"]}
    admin.post("/v1/engagement/keys", json=key | {"burst": 201}, expect=422)
    issued = admin.post("/v1/engagement/keys", json=key, expect=201).json()
    admin.request("PATCH", f"/v1/engagement/keys/{issued['id']}", json={"rate_limit_per_second": 101}, expect=422)
    higher = strict_stack.issue_key(org.id, "fast", "--rate", "1000", "--burst", "2000")["key"]
    reply = org.api.get("/v1/imports", key=higher, expect=200)
    assert reply.headers["RateLimit-Policy"].startswith('"default";q=2000;w=2')


def signing_in(stack, call, source, **fields):
    """A call of the sign-in, with a unique mail address and its own client address."""
    body = json.dumps({"email": email("client")} | fields).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    return wire.exchange(stack, wire.request_bytes("POST", f"{AUTH}/{call}", headers, body), source=source)


def send_until_refused(burst, per_second, send):
    """Sends requests to a full bucket until it refuses one: after `burst`, and at most one more for each token that has
    returned. Returns the accepted replies, and the refused one."""
    began, accepted = time.monotonic(), []
    while (reply := send()).status != 429:
        accepted.append(reply)
        assert len(accepted) <= burst + int((time.monotonic() - began) * per_second)
        assert len(accepted) < 10 * burst, "tokens return as fast as the requests are sent"
    assert len(accepted) >= burst
    return accepted, reply


def test_a_client_may_try_sixty_codes_a_minute(strict_stack):
    accepted, _ = send_until_refused(60, 1, lambda: signing_in(strict_stack, "verify", "127.0.0.9", otp="12345678"))
    assert {reply.status for reply in accepted} == {401}
    assert signing_in(strict_stack, "verify", "127.0.0.10", otp="12345678").status == 401  # another client


def test_a_client_may_request_ten_codes_a_minute(strict_stack):
    def ask(source):
        return signing_in(strict_stack, "request", source)

    accepted, refused = send_until_refused(10, 1 / 6, lambda: ask("127.0.0.7"))
    assert {reply.status for reply in accepted} == {200}
    assert 1 <= int(refused.values("Retry-After")[0]) <= 6
    assert json.loads(refused.body)["error"]["code"] == "RATE_LIMITED"
    assert ask("127.0.0.8").status == 200  # another client
