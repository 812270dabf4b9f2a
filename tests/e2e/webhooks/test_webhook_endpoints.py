"""/v1/installations/{id}/webhook-endpoints: the webhook endpoints of an installation (docs/webhooks.md "Webhook
endpoints", specification 2.9, 4.3). For the deliveries see test_webhook_deliveries.py."""

import base64
import datetime
import json
import uuid

import pytest
from support.client import details_of, faults_of
from support.mail import mails_to, wait_for_mail
from support.stack import numbers
from support.webhooks import LONG_AGO, listed, patched, read, shown, tried
from support.world import NO_LISTENER

NEW = {"url": NO_LISTENER, "subscribed_event_types": ["member.created"]}
FIELDS = {"id", "module_installation_id", "organization_id", "url", "subscribed_event_types", "status", "disabled_reason",
          "failing_since", "backlog_dropped_at", "created_at", "updated_at", "description", "last_24_hours",
          "last_succeeded_at"}
DAY = 24 * 3600


@pytest.fixture
def admin(module_org):
    return module_org.admin().api


@pytest.fixture
def endpoints(installed):
    return f"/v1/installations/{installed['id']}/webhook-endpoints"


@pytest.fixture
def make(stack, admin, endpoints):
    """Creates an endpoint; returns the record with its secret."""
    def run(client=admin, path=endpoints, **fields):
        made = client.post(path, json=NEW | fields, expect=201).json()
        stack.keys_issued.append(made["signing_secret"])
        return made
    return run


@pytest.fixture
def endpoint(make, endpoints):
    """The path of a new endpoint."""
    return f"{endpoints}/{make()['id']}"


@pytest.fixture
def own(new_org):
    """A new organization with an installation: (organization, path of the installation)."""
    org = new_org(attributes=False)
    return org, f"/v1/installations/{org.install(org.published_module())['id']}"


# ---------------------------------------------------------------------------- create, list


def test_an_endpoint_is_created_and_its_secret_is_shown_once(module_org, admin, installed, endpoints, stack):
    types = ["member.updated", "member.created", "shop.sold"]
    reply = admin.post(endpoints, json={"url": NO_LISTENER, "subscribed_event_types": types}, expect=201)
    made = reply.json()
    stack.keys_issued.append(made["signing_secret"])
    assert set(made) == FIELDS | {"signing_secret"}
    assert (made["module_installation_id"], made["organization_id"]) == (installed["id"], module_org.id)
    assert (made["status"], made["disabled_reason"], made["failing_since"]) == ("active", None, None)
    assert made["subscribed_event_types"] == sorted(types)
    assert reply.headers["Location"] == f"{endpoints}/{made['id']}"
    prefix, key = made["signing_secret"][:6], made["signing_secret"][6:]
    assert prefix == "whsec_" and len(base64.b64decode(key, validate=True)) == 32
    assert shown(made) in listed(module_org.api, endpoints)
    assert made["signing_secret"] not in admin.get(endpoints, params={"limit": 100}).text
    assert made["signing_secret"] not in patched(admin, f"{endpoints}/{made['id']}", status="paused").text


def test_secrets_are_stored_sealed(stack, admin, make, endpoints):
    made = make()
    rotated = admin.post(f"{endpoints}/{made['id']}/rotate-secret", expect=200).json()
    stack.keys_issued.append(rotated["signing_secret"])
    ((secret, previous),) = stack.sql(
        "SELECT secret, previous_secret FROM webhook_endpoints WHERE id = UNHEX(REPLACE(%s, '-', ''))", made["id"])
    for stored in (secret, previous):
        assert stored is not None
        for shown_once in (made["signing_secret"], rotated["signing_secret"]):
            assert shown_once.encode() not in stored and base64.b64decode(shown_once[6:]) not in stored


URL_FAULTS = [
    "http://example.org/hook", "ftp://example.org/", "file:///etc/passwd", "gopher://example.org/", "javascript:alert(1)",
    "example.org/hook", "//example.org/hook", "https://", "https:///hook", "https://user@example.org/",
    "https://user:word@example.org/",
    "https://10.0.0.1/", "https://172.16.0.1/", "https://192.168.1.1/", "https://169.254.169.254/latest/meta-data/",
    "https://100.64.0.1/", "https://0.0.0.0/", "https://224.0.0.1/", "https://192.0.2.1/", "https://255.255.255.255/",
    "https://[::]/", "https://[fe80::1]/", "https://[fc00::1]/", "https://[::ffff:10.0.0.1]/", "https://[64:ff9b::a00:1]/",
    "https://167772161/", "https://0x0a000001/", "https://10.1/", "http://10.0.0.1/", "https://example.org:0/",
    "https://example.org:99999/", "https://exa mple.org/", "https://example.org/#part", "https://example.org\\@10.0.0.1/",
    "https://ex%61mple.org/", "https://münchen.example/",
]


@pytest.mark.parametrize("url", URL_FAULTS)
def test_a_forbidden_url_is_422_with_its_reason(admin, endpoints, endpoint, url):
    made = admin.post(endpoints, json=NEW | {"url": url}, expect=422, code="VALIDATION_ERROR")
    changed = admin.request("PATCH", endpoint, json={"url": url}, expect=422, code="VALIDATION_ERROR")
    for reply in (made, changed):
        (fault,) = details_of(reply)["fields"]
        assert (fault["path"], fault["code"]) == ("url", "invalid_url") and fault["message"]


@pytest.mark.parametrize("url", ["https://hook.no-such-name.example/path?with=query", "https://9.9.9.9/", NO_LISTENER,
                                 "https://[2620:fe::fe]:8443/x", "http://[::1]:9/", "HTTPS://Example.ORG/"])
def test_an_allowed_url_is_stored_unchanged(admin, make, endpoints, url):
    made = make(url=url)
    assert made["url"] == url
    patched(admin, f"{endpoints}/{made['id']}", status="disabled")  # so that no request is sent to it


@pytest.mark.parametrize("body, faults", [
    ({}, {"url": "required", "subscribed_event_types": "required"}),
    ({"url": ""}, {"url": "required", "subscribed_event_types": "required"}),
    (NEW | {"url": 1}, {"url": "wrong_type"}),
    (NEW | {"url": "https://example.org/" + "x" * 2029}, {"url": "too_long"}),
    (NEW | {"subscribed_event_types": []}, {"subscribed_event_types": "too_short"}),
    (NEW | {"subscribed_event_types": [f"shop.t{number}" for number in range(101)]}, {"subscribed_event_types": "too_long"}),
    (NEW | {"subscribed_event_types": "member.created"}, {"subscribed_event_types": "wrong_type"}),
    (NEW | {"subscribed_event_types": [7]}, {"subscribed_event_types[0]": "wrong_type"}),
    (NEW | {"subscribed_event_types": ["shop." + "x" * 124]}, {"subscribed_event_types[0]": "too_long"}),
    (NEW | {"subscribed_event_types": ["member.udpated", "member.created", "Member.created", "member", "webhook_endpoint.test",
                                       "member.created"]},
     {"subscribed_event_types[0]": "invalid_choice", "subscribed_event_types[2]": "invalid_choice",
      "subscribed_event_types[3]": "invalid_choice", "subscribed_event_types[4]": "invalid_choice",
      "subscribed_event_types[5]": "duplicate"}),
    ({"url": "http://example.org/", "subscribed_event_types": ["nonsense"]},
     {"url": "invalid_url", "subscribed_event_types[0]": "invalid_choice"}),
    (NEW | {"signing_secret": "whsec_mine"}, {"signing_secret": "unknown_field"}),
    (NEW | {"status": "paused"}, {"status": "unknown_field"}),
])
def test_a_faulty_endpoint_is_422_with_every_fault(admin, endpoints, body, faults):
    assert faults_of(admin.post(endpoints, json=body, expect=422)) == faults


def test_every_subscribable_type_is_accepted(make):
    types = [*(f"member.{what}" for what in ("created", "attached", "updated", "locked", "unlocked", "removed")),
             "engagement.recorded", "installation.enabled", "installation.disabled", "installation.changed",
             "webhook_endpoint.disabled", "webhook_endpoint.backlog_dropped",
             "shop.order.paid"]
    assert make(subscribed_event_types=types)["subscribed_event_types"] == sorted(types)
    assert len(make(subscribed_event_types=[f"shop.t{number}" for number in range(100)])["subscribed_event_types"]) == 100


def test_endpoints_are_listed_page_by_page(own, make):
    org, place = own
    client = org.admin().api
    made = [shown(make(client, f"{place}/webhook-endpoints")) for _ in range(5)]
    assert listed(org.api, f"{place}/webhook-endpoints", limit=2) == made
    assert listed(org.viewer().api, f"{place}/webhook-endpoints") == made
    cursor = client.get_json(f"{place}/webhook-endpoints", params={"limit": 2})["next_cursor"]
    second = org.install(org.published_module())["id"]
    reply = client.get(f"/v1/installations/{second}/webhook-endpoints", params={"cursor": cursor}, expect=422)
    assert faults_of(reply) == {"cursor": "invalid_cursor"}


def test_a_disabled_installation_accepts_no_endpoint(own, make):
    org, place = own
    client = org.admin().api
    kept = make(client, f"{place}/webhook-endpoints")
    client.delete(place, expect=200)
    reply = client.post(f"{place}/webhook-endpoints", json=NEW, expect=409, code="INVALID_STATE")
    assert details_of(reply) == {"reason": "the installation is disabled; enable it first"}
    endpoint = f"{place}/webhook-endpoints/{kept['id']}"
    client.post(f"{endpoint}/test", expect=409, code="INVALID_STATE")
    assert len(listed(client, f"{place}/webhook-endpoints")) == 1
    assert client.get_json(f"{endpoint}/deliveries")["deliveries"] == []


def test_an_installation_has_at_most_200_endpoints(own, make, stack):
    org, place = own
    client = org.admin().api
    make(client, f"{place}/webhook-endpoints")
    stack.sql("INSERT INTO webhook_endpoints (organization_id, id, installation_id, url, event_types, status, secret, "
              "created_at, updated_at) SELECT e.organization_id, UNHEX(LEFT(SHA2(CONCAT(HEX(e.id), seq), 256), 32)), e.installation_id, e.url, "
              "e.event_types, e.status, e.secret, e.created_at, e.updated_at FROM webhook_endpoints e "
              f"JOIN {numbers(199)} WHERE e.organization_id = UNHEX(REPLACE(%s, '-', ''))", org.id)
    client.post(f"{place}/webhook-endpoints", json=NEW, expect=409, code="INVALID_STATE")
    stack.sql("DELETE FROM webhook_endpoints WHERE organization_id = UNHEX(REPLACE(%s, '-', '')) LIMIT 1", org.id)
    make(client, f"{place}/webhook-endpoints")


# ---------------------------------------------------------------------------- change, delete


def test_a_change_affects_only_its_fields(admin, make, endpoints):
    made = shown(make())
    path = f"{endpoints}/{made['id']}"
    assert patched(admin, path).json() == made
    moved = patched(admin, path, url="http://127.0.0.1:9/other").json()
    assert moved == made | {"url": "http://127.0.0.1:9/other", "updated_at": moved["updated_at"]}
    other = patched(admin, path, subscribed_event_types=["member.locked"], status="paused").json()
    assert other == moved | {"subscribed_event_types": ["member.locked"], "status": "paused", "updated_at": other["updated_at"]}
    named = patched(admin, path, description=" CRM ").json()
    assert named == other | {"description": "CRM", "updated_at": named["updated_at"]}
    other = patched(admin, path, description=None).json()
    assert other["description"] is None
    assert [record for record in listed(admin, endpoints) if record["id"] == made["id"]] == [other]


@pytest.mark.parametrize("changes, faults", [
    ({"status": "gone"}, {"status": "invalid_choice"}), ({"status": 1}, {"status": "wrong_type"}),
    ({"subscribed_event_types": []}, {"subscribed_event_types": "too_short"}),
    ({"subscribed_event_types": ["a"], "url": "x"}, {"subscribed_event_types[0]": "invalid_choice", "url": "invalid_url"}),
    ({"failing_since": None}, {"failing_since": "unknown_field"}), ({"description": "x" * 256}, {"description": "too_long"}),
])
def test_a_faulty_change_is_422_and_changes_nothing(admin, endpoint, endpoints, changes, faults):
    before = settings_of(admin, endpoints)
    assert faults_of(patched(admin, endpoint, expect=422, **changes)) == faults
    assert settings_of(admin, endpoints) == before


def test_an_endpoint_can_be_paused_disabled_and_reactivated(stack, admin, endpoint, no_runner):
    waiting = tried(admin, endpoint)
    assert patched(admin, endpoint, status="paused").json()["status"] == "paused"
    assert read(admin, endpoint, waiting)["status"] == "pending"
    for path, body in (("/test", {}), ("/recover", {"since": LONG_AGO}), (f"/deliveries/{waiting['id']}/redeliver", {})):
        reply = admin.post(endpoint + path, json=body, expect=409, code="INVALID_STATE")
        assert details_of(reply) == {"reason": "the endpoint is paused; set it active first"}
    assert patched(admin, endpoint, status="disabled").json()["status"] == "disabled"
    canceled = read(admin, endpoint, waiting)
    assert (canceled["status"], canceled["next_attempt_at"]) == ("canceled", None)
    patched(admin, endpoint, status="active")
    assert read(admin, endpoint, waiting)["status"] == "canceled"  # a recovery queues it again
    assert admin.post(f"{endpoint}/recover", json={"since": LONG_AGO}, expect=202).json()["queued"] == 1
    assert read(admin, endpoint, waiting)["status"] == "pending"


def test_activation_clears_the_failures_of_an_endpoint_and_its_installation(own, make, stack):
    org, place = own
    client = org.admin().api
    made = make(client, f"{place}/webhook-endpoints")
    stack.sql("UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = 'failing', failing_since = 1700000000000 "
              "WHERE id = UNHEX(REPLACE(%s, '-', ''))", made["id"])
    stack.sql("UPDATE module_installations SET status = 'error' WHERE organization_id = UNHEX(REPLACE(%s, '-', ''))", org.id)
    (before,) = listed(client, f"{place}/webhook-endpoints")
    assert (before["disabled_reason"], before["failing_since"]) == ("failing", "2023-11-14T22:13:20.000Z")
    after = patched(client, f"{place}/webhook-endpoints/{made['id']}", status="active").json()
    assert (after["status"], after["disabled_reason"], after["failing_since"]) == ("active", None, None)
    assert client.get_json(place)["status"] == "enabled"


def test_a_deleted_endpoint_is_deleted_with_its_deliveries(stack, admin, endpoint, endpoints):
    delivery = tried(admin, endpoint)
    assert admin.delete(endpoint, expect=204).content == b""
    for method, path in (("DELETE", ""), ("GET", "/deliveries"), ("GET", f"/deliveries/{delivery['id']}"), ("POST", "/test")):
        admin.request(method, endpoint + path, expect=404, code="NOT_FOUND")
    assert endpoint.split("/")[-1] not in admin.get(endpoints, params={"limit": 100}).text
    assert stack.sql("SELECT 1 FROM webhook_deliveries WHERE id = UNHEX(REPLACE(%s, '-', ''))", delivery["id"]) == []


# ---------------------------------------------------------------------------- secrets


def test_a_rotated_secret_is_new_and_the_old_one_is_valid_for_a_day(stack, admin, make, endpoints):
    made = make()
    before = datetime.datetime.now().timestamp()
    reply = admin.post(f"{endpoints}/{made['id']}/rotate-secret", json={}, expect=200)
    rotated = reply.json()
    stack.keys_issued.append(rotated["signing_secret"])
    assert set(rotated) == set(made) and rotated["id"] == made["id"]
    assert rotated["signing_secret"] != made["signing_secret"]
    ((until,),) = stack.sql(
        "SELECT previous_secret_until FROM webhook_endpoints WHERE id = UNHEX(REPLACE(%s, '-', ''))", made["id"])
    assert before + DAY - 1 <= until / 1000 <= datetime.datetime.now().timestamp() + DAY + 1


def test_a_third_rotation_within_a_day_is_409(stack, admin, make, endpoints):
    path = f"{endpoints}/{make()['id']}/rotate-secret"
    stack.keys_issued += [admin.post(path, json={}, expect=200).json()["signing_secret"] for _ in range(2)]
    admin.post(path, json={}, expect=409, code="INVALID_STATE")


def test_a_replay_returns_the_same_secret_byte_for_byte(stack, own):
    org, place = own
    client, headers = org.admin().api, {"Idempotency-Key": str(uuid.uuid4())}
    path = f"{place}/webhook-endpoints"
    first = client.post(path, json=NEW, headers=headers, expect=201)
    again = client.post(path, data=json.dumps(NEW, indent=1), headers=headers | {"Content-Type": "application/json"}, expect=201)
    assert again.content == first.content and again.headers["Location"] == first.headers["Location"]
    assert again.headers["Idempotency-Replayed"] == "true" and len(listed(client, path)) == 1
    client.post(path, json=NEW | {"url": NO_LISTENER + "other"}, headers=headers, expect=409, code="IDEMPOTENCY_CONFLICT")

    endpoint, turn = f"{path}/{first.json()['id']}", {"Idempotency-Key": "turn"}
    rotated = client.post(f"{endpoint}/rotate-secret", headers=turn, expect=200)
    assert client.post(f"{endpoint}/rotate-secret", headers=turn, expect=200).content == rotated.content
    stack.keys_issued += [first.json()["signing_secret"], rotated.json()["signing_secret"]]
    test = client.post(f"{endpoint}/test", headers=turn, expect=202)
    assert client.post(f"{endpoint}/test", headers=turn, expect=202).content == test.content
    assert len(listed(client, f"{endpoint}/deliveries", "deliveries")) == 1
    (bodies,) = zip(*stack.sql("SELECT body FROM idempotency_keys WHERE organization_id = UNHEX(REPLACE(%s, '-', ''))", org.id))
    for secret in (first.json()["signing_secret"], rotated.json()["signing_secret"]):
        assert not any(secret in (body if isinstance(body, str) else body.decode("latin-1")) for body in bodies)


@pytest.mark.parametrize("where, one, other", [
    ("rotate-secret", None, {}), ("test", None, {}), ("recover", {"since": LONG_AGO}, {"since": "2026-01-02T00:00:00Z"}),
    ("redeliver", None, {}),
])
def test_a_key_with_another_body_is_409(stack, admin, endpoint, where, one, other):
    path = f"{endpoint}/deliveries/{tried(admin, endpoint)['id']}/redeliver" if where == "redeliver" else f"{endpoint}/{where}"
    headers = {"Idempotency-Key": "x"}
    first = admin.post(path, headers=headers, **({} if one is None else {"json": one}))
    assert first.ok
    if where == "rotate-secret":
        stack.keys_issued.append(first.json()["signing_secret"])
    admin.post(path, headers=headers, json=other, expect=409, code="IDEMPOTENCY_CONFLICT")


# ---------------------------------------------------------------------------- permissions


def operations(endpoint, delivery_id):
    collection = endpoint.rsplit("/", 1)[0]
    delivery = f"{endpoint}/deliveries/{delivery_id}"
    reads = [("GET", collection, None), ("GET", f"{endpoint}/deliveries", None), ("GET", delivery, None)]
    writes = [("POST", collection, NEW), ("PATCH", endpoint, {"status": "paused"}), ("DELETE", endpoint, None),
              ("POST", f"{endpoint}/rotate-secret", {}), ("POST", f"{endpoint}/test", {}),
              ("POST", f"{endpoint}/recover", {"since": LONG_AGO}), ("POST", f"{delivery}/redeliver", {})]
    return reads, writes


def call(client, method, path, body, **options):
    return client.request(method, path, **({} if body is None else {"json": body}), **options)


def settings_of(admin, endpoints):
    """The fields that admins set: the runner may change the failure state at any moment."""
    changing = dict.fromkeys(("failing_since", "last_24_hours", "last_succeeded_at"))
    return [record | changing for record in listed(admin, endpoints, limit=100)]


def test_keys_and_viewers_read_and_change_nothing(module_org, admin, endpoint, endpoints):
    reads, writes = operations(endpoint, tried(admin, endpoint)["id"])
    before = settings_of(admin, endpoints)
    for client in (module_org.api, module_org.viewer().api):
        for method, path, body in reads:
            call(client, method, path, body, expect=200)
        for method, path, body in writes:
            call(client, method, path, body, expect=403, code="FORBIDDEN")
    assert settings_of(admin, endpoints) == before


def test_an_endpoint_is_found_only_under_its_own_installation_and_organization(module_org, new_org, admin, endpoint,
                                                                               endpoints, make, no_runner):
    delivery = tried(admin, endpoint)
    endpoint_id = endpoint.split("/")[-1]
    second = module_org.install(module_org.published_module())["id"]
    other = new_org(attributes=False)
    theirs = other.install(other.published_module())["id"]
    strange = [(admin, f"/v1/installations/{second}/webhook-endpoints/{endpoint_id}"), (other.admin().api, endpoint),
               (other.admin().api, f"/v1/installations/{theirs}/webhook-endpoints/{endpoint_id}"),
               (admin, f"{endpoints}/{uuid.uuid4()}"), (admin, f"{endpoints}/no-uuid"),
               (admin, f"/v1/installations/x/webhook-endpoints/{endpoint_id}")]
    bodies = set()
    for client, path in strange:
        reads, writes = operations(path, delivery["id"])
        for method, where, body in reads[1:] + writes[1:]:
            bodies.add(call(client, method, where, body, expect=404, code="NOT_FOUND").content)
    for path in (f"{endpoints}/{make()['id']}", endpoint):
        for delivery_id in (delivery["id"], str(uuid.uuid4()), "no-uuid"):
            if (path, delivery_id) != (endpoint, delivery["id"]):
                bodies.add(admin.get(f"{path}/deliveries/{delivery_id}", expect=404).content)
                bodies.add(admin.post(f"{path}/deliveries/{delivery_id}/redeliver", expect=404).content)
    for client, path in ((other.admin().api, endpoints), (admin, f"/v1/installations/{uuid.uuid4()}/webhook-endpoints")):
        bodies.add(client.get(path, expect=404).content)
        bodies.add(client.post(path, json=NEW, expect=404).content)
    assert len(bodies) == 1
    assert read(admin, endpoint, delivery).items() >= delivery.items()


def test_actions_of_admins_are_in_the_log(own, make):
    org, place = own
    client = org.admin().api
    made = make(client, f"{place}/webhook-endpoints")
    endpoint = f"{place}/webhook-endpoints/{made['id']}"
    delivery = tried(client, endpoint)
    client.post(f"{endpoint}/deliveries/{delivery['id']}/redeliver", expect=202)
    client.post(f"{endpoint}/recover", json={"since": LONG_AGO}, expect=202)
    client.stack.keys_issued.append(client.post(f"{endpoint}/rotate-secret", expect=200).json()["signing_secret"])
    patched(client, endpoint, status="paused")
    client.delete(endpoint, expect=204)
    log = client.get_json("/v1/audit-log", params={"limit": 7})["audit_log"]
    assert [(entry["action"], entry["subject_id"]) for entry in log] == [
        ("webhook_endpoint.deleted", made["id"]), ("webhook_endpoint.changed", made["id"]),
        ("webhook_endpoint.secret_rotated", made["id"]), ("webhook_endpoint.recovered", made["id"]),
        ("webhook_delivery.redelivered", delivery["id"]), ("webhook_endpoint.tested", made["id"]),
        ("webhook_endpoint.created", made["id"])]


def test_the_owners_get_mail_about_a_new_endpoint_and_a_new_url(own, make, stack):
    org, place = own
    owner, client = org.new_admin("owner"), org.admin().api
    made = make(client, f"{place}/webhook-endpoints", url=NO_LISTENER + "?key=7")
    endpoint = f"{place}/webhook-endpoints/{made['id']}"
    patched(client, endpoint, description="no mail about this")
    patched(client, endpoint, url=NO_LISTENER + "moved?key=8")
    for subject, url in (("new webhook endpoint", NO_LISTENER), ("new address of a webhook endpoint", NO_LISTENER + "moved")):
        text = wait_for_mail(stack, owner.address, subject=f"Muster: {subject}").text
        assert f'"{url}"' in text and made["id"] in text and org.id in text and org.admin().address in text
        assert "key=" not in text and made["signing_secret"] not in text
    assert len(mails_to(stack, owner.address, subject="webhook endpoint")) == 2
