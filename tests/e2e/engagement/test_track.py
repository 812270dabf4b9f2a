"""POST /v1/track: events that pages send with a tracking key (specification 4.6, 6; docs/engagement.md "Tracking")."""

import json
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.client import SHOP, details_of, faults_of
from support.stack import wait_for
from support.world import email, in_seconds
from test_ingest import stored

PLAIN = {"Content-Type": "text/plain;charset=UTF-8"}


def visit(**fields):
    return {"action": "page_viewed", "anonymous_id": "v-1"} | fields


def track(page, *events, expect=202, **options):
    """A batch in the format of a beacon."""
    return page.post("/v1/track", data=json.dumps({"events": events}), headers=PLAIN, expect=expect, **options)


def counts(accepted, duplicates=0):
    return {"accepted": accepted, "duplicates": duplicates}


@pytest.fixture(scope="module")
def page(module_org):
    return module_org.page_api


# ---------------------------------------------------------------------------- storage


def test_an_event_is_stored_as_it_was_sent(org):
    ann = org.create_user({"email": email("ann"), "external_id": "crm-1"})
    body = (f'{{ "action": " bought ", "user_id": "{ann["id"]}", "tags": ["a", "e\u0301"], "client_event_id": "e\u0301",\n'
            f'  "metadata": {{ "price" : 12.50, "big": 1e2 }}, "occurred_at": "{in_seconds(-60)}"}}')
    reply = org.page_api.post("/v1/track", data=body, headers={"Content-Type": "application/json"}, expect=202)
    assert reply.json() == counts(1)
    columns = ("action", "tags", "metadata", "client_event_id", "received_at - occurred_at", "HEX(member_id)",
               "anonymous_id", "installation_id", "geo_country")
    [row] = stored(org, *columns)
    assert row[:4] == ("bought", '["a","\u00e9"]', '{"price":12.50,"big":1e2}', "e\u0301")
    assert 59_000 < row[4] < 70_000
    assert row[5:] == (ann["member_id"].replace("-", "").upper(), None, None, None)


def test_a_batch_from_a_beacon_is_stored_in_order(org):
    metadata = [1.0, 10**30]
    assert track(org.page_api, visit(tags=["x"]), visit(metadata=None), visit(metadata=metadata)).json() == counts(3)
    assert stored(org, "tags", "metadata") == [('["x"]', None), ("[]", None), ("[]", json.dumps(metadata, separators=(",", ":")))]


def test_known_and_unknown_people_get_the_same_reply(org, new_org):
    other_org = new_org()
    ann = org.create_user({"email": email("ann"), "external_id": "crm-1"})
    theirs = other_org.create_user({"email": email("bob"), "external_id": "crm-2"})
    references = [{"user_id": ann["id"]}, {"member_id": ann["member_id"]}, {"member_external_id": "crm-1"},
                  {"user_id": str(uuid.uuid4())}, {"user_id": theirs["id"]}, {"member_id": theirs["member_id"]},
                  {"member_external_id": "crm-2"}, {"anonymous_id": "v-1"}]
    replies = [track(org.page_api, {"action": "x"} | reference) for reference in references]
    assert {reply.content for reply in replies} == {b'{"accepted":1,"duplicates":0}'}
    assert [link is not None for (link,) in stored(org, "member_id")] == [True] * 3 + [False] * 5
    assert stored(other_org, "id") == []


def test_null_is_the_same_as_a_field_left_out(org):
    empty = dict.fromkeys(("user_id", "member_id", "member_external_id", "tags", "metadata", "client_event_id", "occurred_at", "key"))
    # Sent as bytes, because the description has each shape without the fields of the other.
    sent = [empty | visit(events=None), empty | {"events": [visit()], "action": None, "anonymous_id": None}]
    for body in map(json.dumps, sent):
        reply = org.page_api.post("/v1/track", data=body, headers={"Content-Type": "application/json"}, expect=202)
        assert reply.json() == counts(1)
    assert stored(org, "action", "anonymous_id") == [("page_viewed", "v-1")] * 2
    assert faults_of(org.page_api.post("/v1/track", json={"events": None}, expect=422)) == {"event": "required", "action": "required"}


def test_a_repeated_event_is_counted_as_a_duplicate_and_not_stored_twice(org):
    page = org.page_api
    assert track(page, visit(client_event_id="a"), visit(client_event_id="b"), visit(client_event_id="a")).json() == counts(2, 1)
    assert track(page, visit(client_event_id="b"), visit(client_event_id="c")).json() == counts(1, 1)
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda _: track(page, visit(client_event_id="d")).json(), range(32)))
    assert sum(reply["accepted"] for reply in replies) == 1
    assert sum(reply["duplicates"] for reply in replies) == 31
    assert len(stored(org, "id")) == 4


def test_a_tracked_event_does_not_suppress_a_pushed_event_with_its_id(org):
    ann = org.create_user({"email": email("ann")})
    shop = org.backend(org.install(org.published_module()))
    track(org.page_api, visit(client_event_id="order-1"))
    order = {"action": "bought", "user_id": ann["id"], "client_event_id": "order-1"}
    assert shop.push(order).json() == counts(1, 0)
    assert shop.push(order).json() == counts(0, 1)
    (event,) = org.api.get(f"/v1/users/{ann['id']}/engagement/events", expect=200).json()["events"]
    assert event["source"] == "signed" and event["client_event_id"] == "order-1"


# ---------------------------------------------------------------------------- the key


def test_the_key_may_be_in_the_body(org):
    token = org.page_api.token
    for body in (visit(key=token), {"events": [visit()], "key": token}):
        assert org.page_api.post("/v1/track", json=body, key=None, expect=202).json() == counts(1)
    assert len(stored(org, "id")) == 2
    refused = org.page_api.post("/v1/track", json=visit(key=token), key=None, headers={"Origin": "https://evil.example"})
    assert refused.status_code == 403 and refused.json()["error"]["code"] == "ORIGIN_NOT_ALLOWED"


def test_two_different_keys_are_422(page, new_org):
    other_org = new_org()
    body = visit(key=other_org.page_api.token)
    assert faults_of(page.post("/v1/track", json=body, expect=422)) == {"key": "invalid_value"}
    assert stored(other_org, "id") == []


@pytest.mark.parametrize("body", ['{"key": 7, "action": "x"}', '{"key": null, "action": "x"}', '[]', '"x"'])
def test_a_body_without_a_key_is_401(page, body):
    page.post("/v1/track", data=body, headers=PLAIN, key=None, expect=401).headers["WWW-Authenticate"] == "Bearer"


def test_a_key_of_another_kind_is_forbidden(org):
    org.page_api.post("/v1/track", json=visit(key=org.reader_api.token), key=None, expect=403, code="FORBIDDEN")
    org.page_api.post("/v1/track", json=visit(), key=org.reader_api.token, expect=403, code="FORBIDDEN")
    assert stored(org, "id") == []


def test_a_revoked_key_stores_no_further_events_under_load(org):
    issued = org.issue_publishable_key("tracking")
    page = org.page_api
    sent = []

    def send(_):
        reply = page.post("/v1/track", json=visit(key=issued["key"]), key=None)
        sent.append(reply.status_code)
        return reply.status_code

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(send, range(64))) == {202}
        org.admin().api.delete(f"/v1/engagement/keys/{issued['id']}", expect=204)
        before = len(stored(org, "id"))
        assert set(pool.map(send, range(1000))) == {401}
    assert len(stored(org, "id")) == before == 64


def test_an_expired_key_is_rejected(org):
    issued = org.admin().api.post("/v1/engagement/keys", json={
        "name": "shop", "allowed_origins": [SHOP], "expires_at": in_seconds(3600)}, expect=201).json()
    org.stack.sql("UPDATE publishable_keys SET expires_at = 1 WHERE token = %s", issued["key"])
    assert org.page_api.post("/v1/track", json=visit(key=issued["key"]), key=None).status_code == 401


def test_the_rate_of_a_key_applies_to_keys_in_the_body_too(org):
    issued = org.issue_publishable_key("tracking", "--rate", "1", "--burst", "5")
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda _: org.page_api.post("/v1/track", json=visit(key=issued["key"]), key=None), range(40)))
    refused = [reply for reply in replies if reply.status_code == 429]
    assert 5 <= len(replies) - len(refused) <= 15
    for reply in refused:
        assert int(reply.headers["Retry-After"]) >= 1
        assert reply.headers["Access-Control-Allow-Origin"] == SHOP
    assert len(stored(org, "id")) == len(replies) - len(refused)


# ---------------------------------------------------------------------------- errors


@pytest.mark.parametrize(("event", "path", "code"), [
    ({"action": "x"}, "event", "required"),
    (visit(user_id=str(uuid.uuid4())), "event", "invalid_value"),
    ({"anonymous_id": "v"}, "action", "required"),
    (visit(action=" "), "action", "required"),
    (visit(action="x" * 129), "action", "too_long"),
    (visit(anonymous_id="x" * 129), "anonymous_id", "too_long"),
    ({"action": "x", "user_id": "7"}, "user_id", "invalid_uuid"),
    (visit(email="ann@example.test"), "email", "unknown_field"),
    (visit(type="shop.bought"), "type", "unknown_field"),
    (visit(tags=["x"] * 21), "tags", "too_long"),
    (visit(tags="x"), "tags", "wrong_type"),
    (visit(metadata="x" * 8191), "metadata", "too_long"),
    (visit(client_event_id="x" * 129), "client_event_id", "too_long"),
    (visit(occurred_at="yesterday"), "occurred_at", "invalid_timestamp"),
    (visit(occurred_at=in_seconds(25 * 3600)), "occurred_at", "out_of_range"),
    (visit(occurred_at=in_seconds(-31 * 86400)), "occurred_at", "out_of_range"),
])
def test_a_faulty_event_is_reported_with_its_path(org, event, path, code):
    page = org.page_api
    assert faults_of(page.post("/v1/track", json=event, expect=422)) == {path: code}
    batch = page.post("/v1/track", json={"events": [visit(), event]}, expect=422)
    assert faults_of(batch) == {"events[1]" if path == "event" else f"events[1].{path}": code}
    assert stored(org, "id") == []


def test_the_length_of_metadata_is_counted_as_stored(org):
    text = "\u00e4\U0001f600" * 1365  # 6 bytes each, and 18 as escapes
    assert len(json.dumps(text)) > 20_000
    assert track(org.page_api, visit(metadata=text)).json() == counts(1)
    assert stored(org, "metadata") == [(f'"{text}"',)]
    assert faults_of(org.page_api.post("/v1/track", data=json.dumps(visit(metadata=text + "x")), headers=PLAIN, expect=422)) == {
        "metadata": "too_long"}


def test_the_length_of_metadata_includes_the_notation_of_numbers(org):
    body = '{"action": "x", "anonymous_id": "v", "metadata": 1.%s}' % ("0" * 9000)
    assert faults_of(org.page_api.post("/v1/track", data=body, headers=PLAIN, expect=422)) == {"metadata": "too_long"}
    assert stored(org, "id") == []


def test_every_fault_of_every_event_is_reported_at_once(page):
    events = [visit(), {"action": "x"}, {"anonymous_id": "v"}, visit(action=7, occurred_at=in_seconds(25 * 3600)),
              visit(metadata="x" * 8191, color="red")]
    assert faults_of(page.post("/v1/track", json={"events": events}, expect=422)) == {
        "events[1]": "required", "events[2].action": "required", "events[3].action": "wrong_type",
        "events[3].occurred_at": "out_of_range", "events[4].metadata": "too_long", "events[4].color": "unknown_field"}


@pytest.mark.parametrize(("body", "path"), [
    ({"events": []}, "events"), ({"events": [visit()] * 101}, "events"), ({"events": {}}, "events"),
    ({"events": [visit()], "action": "x"}, "action"), ({"events": [7]}, "events[0]"),
])
def test_a_batch_has_one_to_a_hundred_events_and_no_other_fields(page, body, path):
    assert path in faults_of(page.post("/v1/track", json=body, expect=422))


def test_a_body_that_is_not_strict_json_is_rejected(page):
    page.post("/v1/track", data="", headers=PLAIN, expect=400)
    page.post("/v1/track", data="{", headers=PLAIN, expect=400)
    page.post("/v1/track", data=b'{"action":"\xff"}', headers=PLAIN, expect=400)
    page.post("/v1/track", data="a=1", headers={"Content-Type": "application/x-www-form-urlencoded"}, expect=415)
    page.post("/v1/track", data="{}", headers={"Content-Type": ""}, expect=415)
    large = json.dumps({"events": [visit(metadata="x" * 8000)] * 100}) + " " * (1 << 20)
    page.post("/v1/track", data=large, headers=PLAIN, expect=413)
    assert faults_of(page.post("/v1/track", json=visit(), params={"user": "x"}, expect=422)) == {"user": "unknown_field"}


def test_an_allowed_page_can_read_the_details_of_an_error(page):
    reply = page.post("/v1/track", json={}, expect=422)
    assert reply.headers["Access-Control-Allow-Origin"] == SHOP
    assert details_of(reply)["fields"]


# ---------------------------------------------------------------------------- webhooks


def test_modules_get_the_events_that_pages_track(module_org):
    org = module_org
    installation = org.install(org.published_module())
    endpoint = org.create_endpoint(installation, subscribed_event_types=["engagement.recorded"])
    track(org.page_api, visit(client_event_id="order-1"), visit(client_event_id="order-1"))
    path = f"/v1/installations/{installation['id']}/webhook-endpoints/{endpoint['id']}/deliveries"

    def types():
        return [delivery["event_type"] for delivery in org.admin().api.get_json(path)["deliveries"]]

    wait_for(types, "the runner to create the delivery")
    assert types() == ["engagement.recorded"]
