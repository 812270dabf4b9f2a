"""POST /v1/ingest: signed batches of events from the backend of an installed module (specification 5 rule 8 and 6)."""

import json
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.client import details_of, faults_of, signature_of
from support.world import email, in_seconds
from test_api_keys import DAY

JSON = {"Content-Type": "application/json"}
MANIFEST = {"name": "Shop", "events": {"emits": ["shop.bought", "shop.returned"]}}


@pytest.fixture(scope="module")
def shop(module_org):
    """The backend of an installed module with its own event types."""
    return module_org.backend(module_org.install(module_org.published_module(MANIFEST, slug="shop")))


@pytest.fixture(scope="module")
def ann(module_org):
    return module_org.create_user({"email": email("ann"), "external_id": "crm-1"})


def stored(org, *columns):
    """The events of the organization in the order in which they were received."""
    return org.stack.sql(f"SELECT {', '.join(columns)} FROM engagement_events WHERE organization_id = "
                         "UNHEX(REPLACE(%s, '-', '')) ORDER BY id", org.id)


def by(user, **fields):
    return {"action": "visited", "user_id": user["id"]} | fields


# ---------------------------------------------------------------------------- storage


def test_events_are_stored_as_they_were_sent(org):
    ann = org.create_user({"email": email("ann"), "external_id": "crm-1"})
    shop = org.backend(org.install(org.published_module(MANIFEST, slug="shop")))
    body = (f'{{"events": [{{"action": " bought ", "type": "shop.bought", "user_id": "{ann["id"]}", "tags": ["a", "b"],\n'
            f'  "metadata": {{ "price" : 12.50, "big": 1e2, "k": "a  b", "deep": [ 1, {{}} ] }}, "client_event_id": "one",\n'
            f'  "occurred_at": "{in_seconds(-60)}"}}, {{"action": "left", "member_id": "{ann["member_id"]}", "metadata": null}}]}}')
    reply = shop.post("/v1/ingest", data=body, headers=JSON, expect=202)
    assert reply.json() == {"accepted": 2, "duplicates": 0}
    columns = ("action", "type", "tags", "metadata", "ingest_event_id", "received_at - occurred_at", "HEX(member_id)")
    member = ann["member_id"].replace("-", "").upper()
    first, second = stored(org, *columns)
    assert first[:5] == ("bought", "shop.bought", '["a","b"]', '{"price":12.50,"big":1e2,"k":"a  b","deep":[1,{}]}', "one")
    assert 59_000 < first[5] < 70_000 and first[6] == member
    assert second == ("left", None, "[]", None, None, 0, member)


@pytest.mark.parametrize("value", ['""', "0", "false", "[]", "{}", "-0", "1.10", '"\u00e9\\n"', "[[[1]]]", "18446744073709551615",
                                   "18446744073709551616", "[-123456789012345678901234567890]"])
def test_metadata_is_any_json(module_org, shop, ann, value):
    event = json.dumps(by(ann))[:-1] + f', "metadata": {value}}}'
    shop.post("/v1/ingest", data=f'{{"events":[{event}]}}', headers=JSON, expect=202)
    assert stored(module_org, "metadata")[-1] == (value,)


@pytest.mark.parametrize("reference", ["user_id", "member_id", "member_external_id", "email"])
def test_a_member_can_be_identified_in_four_ways(module_org, shop, ann, reference):
    value = ann[{"user_id": "id", "member_external_id": "external_id"}.get(reference, reference)]
    assert shop.push({"action": "visited", reference: value}).json() == {"accepted": 1, "duplicates": 0}
    shop.push({"action": "visited", "email": ann["email"].upper()})
    assert {row for row in stored(module_org, "HEX(member_id)")} == {(ann["member_id"].replace("-", "").upper(),)}


def test_a_batch_has_1_to_100_events(module_org, shop, ann):
    assert shop.push(*[by(ann)] * 100).json() == {"accepted": 100, "duplicates": 0}
    for events, fault in (([], "too_short"), ([by(ann)] * 101, "too_long")):
        assert faults_of(shop.push(*events, expect=422)) == {"events": fault}


# ---------------------------------------------------------------------------- all or nothing


def nowhere():
    return str(uuid.uuid4())


def test_one_faulty_event_rejects_the_whole_batch_and_every_fault_is_reported(module_org, new_org, shop, ann):
    other = new_org(attributes=False)
    stranger = other.create_user({"email": email(), "external_id": "theirs"})
    for _ in range(2):
        module_org.create_user({"email": email(), "external_id": "shared"})
    before = stored(module_org, "HEX(id)")
    events = [by(ann, client_event_id="good"), {"action": "x"}, by(ann, email=ann["email"]),
              {"action": "x", "user_id": nowhere()}, {"action": "x", "user_id": stranger["id"]},
              {"action": "x", "member_id": stranger["member_id"]}, {"action": "x", "email": stranger["email"]},
              {"action": "x", "member_external_id": "theirs"}, {"action": "x", "member_external_id": "shared"},
              by(ann, type="shop.other"), by(ann, occurred_at=in_seconds(DAY + 60)),
              by(ann, occurred_at=in_seconds(-30 * DAY - 60)), by(ann, metadata="x" * 8191),
              {"action": "x", "user_id": nowhere(), "type": "member.created"}]
    assert faults_of(shop.push(*events, expect=422, code="VALIDATION_ERROR")) == {
        "events[1]": "required", "events[2]": "invalid_value", "events[3].user_id": "invalid_value",
        "events[4].user_id": "invalid_value", "events[5].member_id": "invalid_value", "events[6].email": "invalid_value",
        "events[7].member_external_id": "invalid_value", "events[8].member_external_id": "invalid_value",
        "events[9].type": "invalid_choice", "events[10].occurred_at": "out_of_range",
        "events[11].occurred_at": "out_of_range", "events[12].metadata": "too_long",
        "events[13].user_id": "invalid_value", "events[13].type": "invalid_choice"}
    assert stored(module_org, "HEX(id)") == before
    edges = [by(ann, occurred_at=in_seconds(DAY - 60)), by(ann, occurred_at=in_seconds(-30 * DAY + 60)),
             by(ann, metadata="x" * 8190)]
    assert shop.push(*edges).json()["accepted"] == 3


@pytest.mark.parametrize("fields, faults", [
    ({"action": None}, {"action": "required"}), ({"action": ""}, {"action": "required"}),
    ({"action": "x" * 129}, {"action": "too_long"}), ({"action": 1}, {"action": "wrong_type"}),
    ({"tags": ["x"] * 21}, {"tags": "too_long"}), ({"tags": ["x" * 65, "", 1]},
                                                  {"tags[0]": "too_long", "tags[1]": "required", "tags[2]": "wrong_type"}),
    ({"tags": "x"}, {"tags": "wrong_type"}), ({"client_event_id": "x" * 129}, {"client_event_id": "too_long"}),
    ({"client_event_id": ""}, {"client_event_id": "required"}), ({"occurred_at": "now"}, {"occurred_at": "invalid_timestamp"}),
    ({"user_id": "ann"}, {"user_id": "invalid_uuid"}), ({"user_id": None, "email": "ann"}, {"email": "invalid_email"}),
    ({"geo_country": "GB"}, {"geo_country": "unknown_field"}), ({"type": 1}, {"type": "wrong_type"}),
])
def test_a_faulty_field_is_422(shop, ann, fields, faults):
    event = {name: value for name, value in by(ann, **fields).items() if value is not None}
    reported = faults_of(shop.push(event, expect=422))
    assert reported == {f"events[0].{name}": code for name, code in faults.items()}


def test_a_fault_elsewhere_in_the_body_is_422(shop):
    assert faults_of(shop.post("/v1/ingest", json={}, expect=422)) == {"events": "required"}
    assert faults_of(shop.post("/v1/ingest", json=[], expect=422)) == {"": "wrong_type"}
    assert faults_of(shop.post("/v1/ingest", json={"events": [1]}, expect=422)) == {"events[0]": "wrong_type"}


# ---------------------------------------------------------------------------- duplicates


def test_a_known_id_is_counted_as_a_duplicate_and_not_stored_again(org):
    ann = org.create_user({"email": email()})
    shop = org.backend(org.install(org.published_module()))
    batch = [by(ann, client_event_id="a"), by(ann, client_event_id="b"), by(ann, client_event_id="a", action="again"), by(ann)]
    assert shop.push(*batch).json() == {"accepted": 3, "duplicates": 1}
    assert shop.push(by(ann, client_event_id="b"), by(ann, client_event_id="c")).json() == {"accepted": 1, "duplicates": 1}
    assert stored(org, "action", "ingest_event_id") == [
        ("visited", "a"), ("visited", "b"), ("visited", None), ("visited", "c")]
    another = org.backend(org.install(org.published_module()))  # each installation has ids of its own
    assert another.push(by(ann, client_event_id="c")).json() == {"accepted": 1, "duplicates": 0}


def test_the_same_events_in_parallel_under_different_keys_are_stored_once(org):
    ann = org.create_user({"email": email()})
    shop = org.backend(org.install(org.published_module()))
    ids = [f"event {number}" for number in range(20)]

    def push(order):
        return shop.push(*[by(ann, client_event_id=name) for name in (ids if order else reversed(ids))]).json()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(push, [True, False] * 8))
    assert sum(answer["accepted"] for answer in answers) == 20
    assert all(answer["accepted"] + answer["duplicates"] == 20 for answer in answers)
    assert sorted(stored(org, "ingest_event_id")) == sorted((name,) for name in ids)


def test_a_repetition_under_its_key_gets_the_recorded_reply(module_org, shop, ann):
    headers, batch = {"Idempotency-Key": str(uuid.uuid4())}, [by(ann, client_event_id=str(uuid.uuid4()))]
    first = shop.push(*batch, headers=headers)
    again = shop.push(*batch, headers=headers | {"x-svc-signature": signature_of(
        shop.secret, headers["Idempotency-Key"], json.dumps({"events": batch}).encode(), int(time.time()) - 100)})
    assert again.content == first.content == b'{"accepted":1,"duplicates":0}'
    assert again.headers["Idempotency-Replayed"] == "true" and "Idempotency-Replayed" not in first.headers
    shop.push(by(ann), headers=headers, expect=409, code="IDEMPOTENCY_CONFLICT")


def test_two_modules_of_one_organization_can_use_the_same_idempotency_key(module_org, shop, ann):
    other = module_org.backend(module_org.install(module_org.published_module()))
    headers = {"Idempotency-Key": "shared"}
    for client in (shop, other):
        reply = client.push(by(ann), headers=headers)
        assert reply.json() == {"accepted": 1, "duplicates": 0} and "Idempotency-Replayed" not in reply.headers


def test_a_new_credential_of_the_same_installation_shares_the_idempotency_keys(org):
    ann, installed = org.create_user({"email": email()}), org.install(org.published_module())
    headers = {"Idempotency-Key": "rotated"}
    first = org.backend(installed).push(by(ann), headers=headers)
    again = org.backend(installed).push(by(ann), headers=headers)
    assert again.content == first.content and again.headers["Idempotency-Replayed"] == "true"


# ---------------------------------------------------------------------------- signatures


def test_an_idempotency_key_is_required(shop, ann):
    shop.push(by(ann), headers={"Idempotency-Key": None}, expect=400, code="IDEMPOTENCY_KEY_REQUIRED")
    for headers in ({"Idempotency-Key": ""}, {"Idempotency-Key": "a b"}, {"Idempotency-Key": "x" * 256}):
        shop.push(by(ann), headers=headers, expect=400, code="BAD_REQUEST")


def signed(shop, body, **changes):
    """A valid request except for these changes: key, when, secret, signature, sent (the bytes)."""
    key = changes.get("key", "k")
    signature = signature_of(changes.get("secret", shop.secret), key, body, changes.get("when"))
    return shop.post("/v1/ingest", data=changes.get("sent", body), headers=JSON | {
        "Idempotency-Key": changes.get("sent_key", key), "x-svc-signature": changes.get("signature", signature)})


def body_of(ann):
    return json.dumps({"events": [by(ann, client_event_id=str(uuid.uuid4()))]}).encode()


def refused(reply):
    return reply.status_code == 401 and reply.json()["error"]["code"] == "SIGNATURE_INVALID" and bool(details_of(reply)["reason"])


def test_a_signature_covers_the_secret_the_key_the_body_and_the_time(module_org, shop, ann):
    before, body, now = stored(module_org, "HEX(id)"), body_of(ann), int(time.time())
    flipped = shop.secret[:-1] + ("A" if shop.secret[-1] != "A" else "B")
    wrong = [{"secret": flipped}, {"secret": shop.secret[4:]}, {"secret": shop.key}, {"sent_key": "other"},
             {"sent": body + b" "}, {"sent": body.replace(b"visited", b"Visited")}, {"when": now - 320}, {"when": now + 320},
             {"when": 0}, {"when": -now}, {"when": now * 1000}, {"signature": None}, {"signature": ""}]
    for changes in wrong:
        assert refused(signed(shop, body, **changes)), changes
    assert stored(module_org, "HEX(id)") == before
    assert signed(shop, body, key=str(uuid.uuid4()), when=now - 280).status_code == 202
    assert signed(shop, body, key=str(uuid.uuid4()), when=now + 280).json() == {"accepted": 0, "duplicates": 1}


def test_a_malformed_signature_is_rejected(shop, ann):
    body = body_of(ann)
    right = signature_of(shop.secret, "k", body)
    moment, digest = right.split(",")
    for header in (moment, digest, f"{digest},{moment}", f"{moment}, {digest}", f"{right},", f"{moment},{moment},{digest}",
                   f"t=+{moment[2:]},{digest}", f"t= {moment[2:]},{digest}", f"{moment}.0,{digest}", f"t=,{digest}",
                   f"{moment},v1=", f"{right}0", right[:-1], right[:-1] + "g", f"{moment},v0={digest[3:]}", f"{right},v0=1",
                   f"{moment};{digest}", digest[3:], f"T={moment[2:]},{digest}", f"{right}\x7f", "t=1,v1=" + "0" * 8000):
        assert refused(signed(shop, body, signature=header)), header
    for header in (f"{moment},v1={'0' * 64},{digest}", f"{right},v1={'0' * 64}", f"{moment},v1={digest[3:].upper()}"):
        assert signed(shop, body, signature=header).status_code == 202, header


def test_an_unreadable_secret_is_a_temporary_error(org, stack):
    ann = org.create_user({"email": email("ann")})
    shop = org.backend(org.install(org.published_module(MANIFEST, slug="shop")))
    mine = "UPDATE module_credentials SET signing_secret = %s WHERE id = UNHEX(REPLACE(%s, '-', ''))"
    sealed = stack.sql("SELECT signing_secret FROM module_credentials WHERE id = UNHEX(REPLACE(%s, '-', ''))",
                       shop.credential["id"])[0][0]
    stack.sql(mine, b"rotten", shop.credential["id"])
    try:
        reply = shop.post("/v1/ingest", json={"events": [by(ann)]}, expect=503)
    finally:
        stack.sql(mine, sealed, shop.credential["id"])
    assert reply.json()["error"]["code"] == "SERVICE_UNAVAILABLE" and reply.headers["Retry-After"] == "1"
    shop.post("/v1/ingest", json={"events": [by(ann)]}, expect=202)


def test_the_size_is_checked_before_the_signature_and_the_signature_before_the_body(shop):
    for body in (b"{", b"[]", b'{"events":[]}'):
        assert refused(signed(shop, body, secret="mks_wrong"))
        assert signed(shop, body, key=str(uuid.uuid4())).status_code in (400, 422)
    shop.post("/v1/ingest", data=b"", headers=JSON, expect=400, code="BAD_REQUEST")
    shop.post("/v1/ingest", data=b"{}", headers={"Content-Type": "text/plain", "x-svc-signature": "x"}, expect=415)
    shop.post("/v1/ingest", data=b" " * (2**20 + 1), headers=JSON | {"x-svc-signature": "x"}, expect=413)


def test_an_expected_organization_is_optional_and_must_match_the_module(module_org, shop, ann):
    shop.push(by(ann), headers={"X-Expect-Organization": module_org.id})
    shop.push(by(ann), headers={"X-Expect-Organization": nowhere()}, expect=409, code="CONFLICT")
    shop.push(by(ann), headers={"X-Expect-Organization": "x"}, expect=400, code="BAD_REQUEST")


def test_the_events_of_an_erased_member_are_deleted(org, new_org, stack):
    other, address = new_org(attributes=False), email("ann")
    bob = org.create_user({"email": email("bob")})
    for one in (org, other):
        ann = one.create_user({"email": address})
        shop = one.backend(one.install(one.published_module()))
        shop.push(*[by(ann)] * 3)
        if one is org:
            shop.push(by(bob))
    reported = stack.ctl("user", "erase", "--email", address)
    erased = stack.ctl("user", "erase", "--email", address, "--yes")
    for result in (reported, erased):
        assert [(entry["id"], entry["events"], entry["webhooks"]) for entry in result["organizations"]] == [
            (org.id, 3, 0), (other.id, 3, 0)]
    assert len(stored(org, "id")) == 1 and stored(other, "id") == []
