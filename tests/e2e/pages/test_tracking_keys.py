"""/v1/engagement/keys, and the behavior of all publishable keys: each test with `keys` also runs for content keys
(docs/engagement.md "Publishable keys", specification 5)."""

import datetime
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.client import SHOP, PageClient, details_of, faults_of
from support.mail import mails_to, wait_for_mail
from support.publishable import PATHS, PREFIXES, Keys
from support.stack import numbers, wait_for
from support.world import in_seconds
from test_auth import checksum

DAY = 24 * 3600
BLOG = "https://blog.example"
SUBDOMAINS = "https://*.shop.example"


@pytest.fixture(params=PATHS)
def keys(request, module_org):
    return Keys(module_org, request.param)


@pytest.fixture
def tracking(module_org):
    return Keys(module_org, "tracking")


def status_of(org, key, origin=SHOP):
    """The status of the reply that a page of that origin gets with the tracking key."""
    page = PageClient(org.stack, org.api.contract, key)
    body = {"action": "viewed", "anonymous_id": "v"}
    return page.post("/v1/track", json=body, headers={"Origin": origin}).status_code


# ---------------------------------------------------------------------------- issue, list


def test_a_key_is_shown_in_every_answer(keys):
    key = keys.create(name=" shop ", allowed_origins=[SHOP, SUBDOMAINS], expires_at="2099-12-31T23:00:00+01:00")
    assert (key["name"], key["allowed_origins"], key["organization_id"]) == ("shop", [SHOP, SUBDOMAINS], keys.org.id)
    assert key["key"].startswith(PREFIXES[keys.kind]) and checksum(key["key"][:-6]) == key["key"][-6:]
    assert key["created_by"] == keys.org.admin().id and key["expires_at"] == "2099-12-31T22:00:00.000Z"
    assert key["last_used_at"] is None and key["revoked_at"] is None
    assert keys.record(key) == keys.change(key).json() == key


def test_keys_are_listed_page_by_page(new_org):
    org = new_org(attributes=False)
    made = {kind: [Keys(org, kind).create(name=str(number)) for number in range(5)] for kind in PATHS}
    for kind, expected in made.items():
        assert Keys(org, kind).listed(limit=2) == Keys(org, kind).listed() == expected


def test_origins_are_stored_in_canonical_form(keys):
    key = keys.create(allowed_origins=["HTTPS://Shop.Example:443", "http://localhost:3000", "https://*.Shop.example:8443"])
    assert key["allowed_origins"] == [SHOP, "http://localhost:3000", "https://*.shop.example:8443"]
    assert len(keys.create(allowed_origins=[f"https://a{n}.example" for n in range(50)])["allowed_origins"]) == 50


FAULTY_ORIGINS = [
    ([], {"allowed_origins": "too_short"}), (None, {"allowed_origins": "required"}), (SHOP, {"allowed_origins": "wrong_type"}),
    ([f"https://a{n}.example" for n in range(51)], {"allowed_origins": "too_long"}),
    ([SHOP, BLOG, 5, f"{SHOP}/path", "", "x" * 270],
     {"allowed_origins[2]": "wrong_type", "allowed_origins[3]": "invalid_url", "allowed_origins[4]": "required",
      "allowed_origins[5]": "too_long"}),
    ([SHOP, "HTTPS://SHOP.example:443", BLOG, SHOP], {"allowed_origins[1]": "duplicate", "allowed_origins[3]": "duplicate"}),
    ([f"{SHOP}\x01", "*", "null", "https://*.example", "ftp://shop.example"],
     {"allowed_origins[0]": "invalid_value", **{f"allowed_origins[{n}]": "invalid_url" for n in range(1, 5)}}),
    (["https://user@shop.example", "http://*.shop.example", f"{SHOP}.", f"{SHOP}:0", "shop.example"],
     {f"allowed_origins[{n}]": "invalid_url" for n in range(5)}),
]


@pytest.mark.parametrize("origins, faults", FAULTY_ORIGINS)
def test_faulty_origins_are_422_with_every_fault(keys, origins, faults):
    body = {"name": "", "allowed_origins": origins, "more": 1}
    reply = keys.admin.post(keys.path, json=body, expect=422)
    assert faults_of(reply) == faults | {"name": "required", "more": "unknown_field"}
    if origins is not None:  # a change without origins keeps them
        assert faults_of(keys.change(keys.create(), expect=422, allowed_origins=origins)) == faults


@pytest.mark.parametrize("fields, faults", [
    ({"name": "x" * 256}, {"name": "too_long"}), ({"name": 1}, {"name": "wrong_type"}),
    ({"expires_at": "soon"}, {"expires_at": "invalid_timestamp"}),
    ({"expires_at": "2001-01-01T00:00:00Z"}, {"expires_at": "out_of_range"}),
    ({"key": "ek_live_mine"}, {"key": "unknown_field"}), ({"revoked_at": None}, {"revoked_at": "unknown_field"}),
])
def test_a_faulty_key_is_422_with_every_fault(keys, fields, faults):
    body = {"name": "k", "allowed_origins": [SHOP]} | fields
    assert faults_of(keys.admin.post(keys.path, json=body, expect=422)) == faults
    assert faults_of(keys.change(keys.create(), expect=422, **fields)) == faults


def test_a_replay_returns_the_same_key_and_issues_none(new_org, keys):
    own = Keys(new_org(attributes=False), keys.kind)
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    first = own.post(headers=headers, expect=201)
    again = own.post(headers=headers, expect=201)
    assert again.content == first.content and again.headers["Idempotency-Replayed"] == "true"
    own.post(name="other", headers=headers, expect=409, code="IDEMPOTENCY_CONFLICT")
    assert own.listed() == [first.json()]


def test_an_organization_has_200_keys_that_are_not_revoked(new_org, stack, keys):
    own = Keys(new_org(attributes=False), keys.kind)
    key = own.create()
    stack.sql("INSERT INTO publishable_keys (organization_id, id, kind, name, token, allowed_origins, created_at) "
              "SELECT organization_id, UNHEX(LPAD(HEX(seq), 32, '0')), IF(MOD(seq, 2), 'tracking', 'content'), 'k', "
              f"CONCAT(token, seq), allowed_origins, 0 FROM publishable_keys, {numbers(191)} WHERE token = %s", key["key"])

    def post(number):
        headers = {"Idempotency-Key": str(uuid.uuid4())} if number % 2 else {}
        return own.post(headers=headers)

    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(post, range(16)))
    assert sorted(reply.status_code for reply in replies) == [201] * 8 + [409] * 8
    refusal = own.post(expect=409, code="INVALID_STATE")
    assert "200" in details_of(refusal)["reason"]
    own.revoke(key)
    own.create()


# ---------------------------------------------------------------------------- change, revoke


def test_a_change_keeps_the_fields_that_it_does_not_name(keys):
    key = keys.create(expires_at=in_seconds(DAY))
    renamed = keys.change(key, name="store").json()
    assert renamed == key | {"name": "store"}
    moved = keys.change(key, allowed_origins=[BLOG]).json()
    assert moved == renamed | {"allowed_origins": [BLOG]}
    empty = {"name": None, "allowed_origins": None}
    assert faults_of(keys.change(key, expect=422, **empty)) == dict.fromkeys(empty, "required")
    assert keys.change(key, expires_at=None).json() == keys.record(key) == moved | {"expires_at": None}


def test_an_expired_key_gets_a_new_expiry(keys, stack):
    key = keys.create()
    stack.sql("UPDATE publishable_keys SET expires_at = 1000 WHERE token = %s", key["key"])
    later = in_seconds(DAY)
    assert keys.change(key, expires_at=later).json()["expires_at"] == later


def test_a_revoked_key_remains_listed_for_30_days_and_is_never_changed(keys, stack):
    key = keys.create()
    assert keys.revoke(key).content == b""
    revoked = keys.record(key)
    assert revoked["revoked_at"] is not None
    keys.revoke(key)  # again: the same result
    assert keys.record(key) == revoked
    assert details_of(keys.change(key, expect=409, name="more"))["reason"] == "the key is revoked"
    for age, is_listed in ((30 * DAY - 60, True), (30 * DAY + 1, False)):
        stack.sql("UPDATE publishable_keys SET revoked_at = %s WHERE token = %s",
                  int(datetime.datetime.now().timestamp() - age) * 1000, key["key"])
        assert (keys.record(key) is not None) == is_listed
    stack.run_once("purge")
    assert stack.sql("SELECT COUNT(*) FROM publishable_keys WHERE token = %s", key["key"]) == [(0,)]
    keys.revoke(key, expect=404)


def test_a_key_of_the_other_kind_is_not_found(module_org):
    kinds = [Keys(module_org, kind) for kind in PATHS]
    for mine, other in (kinds, kinds[::-1]):
        key = other.create()
        mine.revoke(key, expect=404)
        mine.change(key, expect=404, name="mine")
        assert mine.record(key) is None and other.record(key) == key


def test_the_log_records_who_did_what(keys):
    key = keys.create(name="noted")
    renamed = {"name": "renamed", "added_origins": "none", "removed_origins": "none", "expires_at": "never",
               "previous_expires_at": "never"}
    keys.change(key, name="renamed")
    keys.change(key, name="renamed")  # no change, so no entry
    keys.revoke(key)
    keys.revoke(key)
    log = keys.admin.get_json("/v1/audit-log", params={"subject_id": key["id"]})["audit_log"]
    assert [(entry["action"], entry["details"], entry["actor_id"]) for entry in log] == [
        (f"{keys.kind}_key.{verb}", details, keys.org.admin().id) for verb, details in
        (("revoked", {}), ("updated", renamed), ("issued", {"name": "noted", "added_origins": SHOP}))]


@pytest.mark.parametrize("kind", PATHS)
def test_the_owners_get_mail_about_a_new_key_and_a_new_origin(new_org, stack, kind):
    org = new_org(attributes=False)
    owner, own = org.new_admin("owner"), Keys(org, kind)
    key = own.create(name="noted")
    own.change(key, name="no mail about this")
    own.change(key, allowed_origins=[SHOP, BLOG])
    for subject, name in ((f"new {kind} key", '"noted"'), (f"new origin of a {kind} key", f"        {BLOG}\r\n")):
        text = wait_for_mail(stack, owner.address, subject=f"Muster: {subject}").text
        assert name in text and key["id"] in text and org.id in text and org.admin().address in text
        assert key["key"] not in text
    assert len(mails_to(stack, owner.address, subject=f"{kind} key")) == 2


# ---------------------------------------------------------------------------- tracking keys only


def test_a_key_has_its_own_or_the_default_rate(module_org, tracking):
    plain = tracking.create()
    assert (plain["rate_limit_per_second"], plain["burst"]) == (None, None)
    key = tracking.create(rate_limit_per_second=5, burst=7)
    page = PageClient(module_org.stack, module_org.api.contract, key)
    event = {"action": "viewed", "anonymous_id": "v"}
    assert page.post("/v1/track", json=event, expect=202).headers["RateLimit-Policy"] == '"default";q=7;w=2'
    changed = tracking.change(key, rate_limit_per_second=100_000, burst=None).json()
    assert (changed["rate_limit_per_second"], changed["burst"]) == (100_000, None)
    assert tracking.change(key, rate_limit_per_second=None).json()["rate_limit_per_second"] is None


@pytest.mark.parametrize("value, fault", [
    (0, "out_of_range"), (100_001, "out_of_range"), ("5", "wrong_type"), (1.5, "wrong_type"),
])
def test_a_rate_must_be_within_its_range(tracking, value, fault):
    rates = {"rate_limit_per_second": value, "burst": value}
    faults = dict.fromkeys(rates, fault)
    assert faults_of(tracking.post(expect=422, **rates)) == faults
    assert faults_of(tracking.change(tracking.create(), expect=422, **rates)) == faults


def test_a_change_applies_to_the_next_request(module_org, tracking, stack):
    key = tracking.create()
    assert (status_of(module_org, key), status_of(module_org, key, BLOG)) == (202, 403)
    tracking.change(key, allowed_origins=[BLOG, SUBDOMAINS])
    assert status_of(module_org, key) == 403
    # nginx caches a rejection for two seconds.
    wait_for(lambda: status_of(module_org, key, BLOG) == 202, "the new origin to be accepted", seconds=5)
    assert status_of(module_org, key, "https://a.shop.example") == 202
    assert status_of(module_org, key, "https://a.b.shop.example") == 403
    assert tracking.record(key)["last_used_at"] is not None
    stack.sql("UPDATE publishable_keys SET expires_at = 1000 WHERE token = %s", key["key"])
    assert status_of(module_org, key, BLOG) == 401
    tracking.change(key, expires_at=None)
    wait_for(lambda: status_of(module_org, key, BLOG) == 202, "the key to be valid again", seconds=5)
    tracking.revoke(key)
    assert status_of(module_org, key, BLOG) == 401


def test_the_key_of_an_organization_cannot_issue_a_tracking_key(module_org, tracking):
    body = {"name": "k", "allowed_origins": [SHOP]}
    module_org.api.post(tracking.path, json=body, expect=403, code="FORBIDDEN")
    module_org.api.get(tracking.path, expect=403, code="FORBIDDEN")
