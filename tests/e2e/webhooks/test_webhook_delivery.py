"""Delivered webhooks: every canonical event once, signed so that an independent library verifies it, only to its own
tenant (docs/webhooks.md "Event types", "Receiving webhooks")."""

import base64
import hashlib
import hmac
import json
import re
import time
from collections import Counter

import pytest
from support.modules import CANONICAL, DAY, MINUTE, delivering
from support.receiver import Answer, Receiver
from support.stack import wait_for
from support.world import email, emails

WEBHOOK_ID = re.compile(r"msg_[0-9A-Za-z]+")


def payloads(requests):
    return [json.loads(request.body) for request in requests]


def of_type(requests, kind):
    """The data of the one event of that type."""
    found = [body["data"] for body in payloads(requests) if body["type"] == kind]
    assert len(found) == 1, f"{len(found)} of {kind}"
    return found[0]


@pytest.fixture
def hook(module, receiver):
    """An endpoint that subscribes to all types."""
    return module.endpoint(receiver.url("/hook"), [*CANONICAL, module.own_type])


# ---------------------------------------------------------------------------- events

def test_each_change_of_a_member_is_delivered_once_with_the_reply_of_a_get(module, hook, receiver, new_org):
    org, elsewhere, known = module.org, new_org(attributes=False), email()
    created = org.create_user({"email": email(), "first_name": "Ada", "external_id": "E-1"})
    elsewhere.create_user({"email": known})
    attached = org.create_user({"email": known})
    assert of_type(receiver.wait_for(2, "/hook"), "member.created") == org.user(created["id"])
    assert of_type(receiver.at("/hook"), "member.attached") == org.user(attached["id"])
    org.update_user(created["id"], {"first_name": "Grace"})
    assert of_type(receiver.wait_for(3, "/hook"), "member.updated") == org.user(created["id"])
    org.api.post(f"/v1/users/{created['id']}/lock", json={"reason": "asked for"}, expect=200)
    assert of_type(receiver.wait_for(4, "/hook"), "member.locked") == org.user(created["id"])
    org.api.post(f"/v1/users/{created['id']}/unlock", json={}, expect=200)
    assert of_type(receiver.wait_for(5, "/hook"), "member.unlocked") == org.user(created["id"])
    org.api.delete(f"/v1/users/{created['id']}", expect=204)
    removed = of_type(receiver.wait_for(6, "/hook"), "member.removed")
    assert removed == {name: created[name] for name in ("id", "member_id", "organization_id", "external_id")}
    hook.settled(succeeded=6)
    assert Counter(body["type"] for body in payloads(receiver.at("/hook"))) == Counter(CANONICAL[:6])
    org.create_user({"email": known, "last_name": "Gap"}, expect=200)
    assert payloads(receiver.wait_for(7, "/hook"))[6] | {"timestamp": None} == {
        "type": "member.updated", "timestamp": None, "data": org.user(attached["id"])}


def test_a_change_without_an_effect_emits_no_event(module, hook, receiver):
    made = module.org.create_user({"email": email(), "first_name": "Ada"})
    module.org.create_user({"email": made["email"]}, expect=200)
    module.org.update_user(made["id"], {"first_name": "Ada"})
    module.org.create_user({"email": "no address"}, expect=422)
    last = module.org.create_user({"email": email()})
    wait_for(lambda: any(last["id"].encode() in request.body for request in receiver.at("/hook")), "the last event")
    assert [body["type"] for body in payloads(receiver.at("/hook"))] == ["member.created"] * 2


def test_an_import_emits_nothing(module, hook, receiver):
    module.org.create_user({"email": (known := email())})
    receiver.wait_for(1, "/hook")
    job = module.org.imported([{"email": known, "first_name": "Filled"}, *({"email": one} for one in emails(99))])
    assert (job["created_count"], job["failed_count"]) == (99, 0)
    module.org.create_user({"email": email()})
    receiver.wait_for(2, "/hook")
    hook.settled(succeeded=2)
    assert receiver.count() == 2


def without_address(installation):
    return {key: value for key, value in installation.items() if key != "installed_by_email"}


def test_the_states_of_an_installation_are_sent_to_the_other_modules(module, hook, new_module, receiver):
    other = new_module()
    assert of_type(receiver.wait_for(1, "/hook"), "installation.enabled")["id"] == other.installation
    disabled = other.disable()
    assert disabled == other.record()
    assert of_type(receiver.wait_for(2, "/hook"), "installation.disabled") == without_address(disabled)
    enabled = other.enable()
    assert enabled == other.record()
    receiver.wait_for(3, "/hook")
    assert [body["data"] for body in payloads(receiver.at("/hook"))][2] == without_address(enabled)
    assert other.enable() == enabled and other.record() == enabled
    hook.settled(succeeded=3)


def test_an_engagement_event_is_delivered_also_under_the_modules_own_type(module, hook, receiver):
    user = module.org.create_user({"email": email(), "external_id": "E-7"})
    receiver.wait_for(1, "/hook")
    event = {"user_id": user["id"], "action": "earned", "tags": ["shop"], "metadata": {"points": 5, "ratio": 0.5},
             "client_event_id": "c-1", "type": module.own_type,
             "occurred_at": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - DAY))}
    assert module.ingest([event, {"user_id": user["id"], "action": "seen"}]).json()["accepted"] == 2
    receiver.wait_for(4, "/hook")
    hook.settled(succeeded=4)
    found = payloads(receiver.at("/hook"))[1:]
    assert Counter(body["type"] for body in found) == {"engagement.recorded": 2, module.own_type: 1}
    recorded = {body["data"]["action"]: body["data"] for body in found if body["type"] == "engagement.recorded"}
    sent = {name: event[name] for name in event if name != "type"}
    assert recorded["earned"] == recorded["earned"] | sent | {"member_id": user["member_id"], "member_external_id": "E-7"}
    assert set(recorded["seen"]) >= {"id", "member_id", "member_external_id", "user_id", "action", "tags", "metadata",
                                     "client_event_id", "occurred_at", "received_at", "geo_country", "geo_region",
                                     "source", "type"}
    (own,) = [body["data"] for body in found if body["type"] == module.own_type]
    assert own == recorded["earned"]
    module.ingest([event])  # the same client_event_id again: a duplicate, so no event
    module.ingest([{"user_id": user["id"], "action": "last"}])
    receiver.wait_for(5, "/hook")
    hook.settled(succeeded=5)


def test_an_endpoint_gets_its_subscribed_types_and_test_events(module, receiver):
    few = module.endpoint(receiver.url("/few"), ["member.locked"])
    user = module.org.create_user({"email": email()})
    module.org.api.post(f"/v1/users/{user['id']}/lock", json={}, expect=200)
    delivery = few.test()
    receiver.wait_for(2, "/few")
    assert {body["type"] for body in payloads(receiver.at("/few"))} == {"member.locked", "webhook_endpoint.test"}
    few.settled(succeeded=2)
    sent = next(one for one in few.deliveries() if one["id"] == delivery["id"])
    assert sent["event_type"] == "webhook_endpoint.test"
    assert [attempt["class"] for attempt in sent["attempts"]] == ["204"]


def test_no_endpoint_gets_an_event_of_another_organization(new_org, new_module, receiver):
    modules = [new_module(new_org(attributes=False)) for _ in range(3)]
    hooks = [module.endpoint(receiver.url(f"/{number}")) for number, module in enumerate(modules)]
    shared = email()
    for number, module in enumerate(modules):
        user = module.org.create_user({"email": shared, "external_id": f"of-{number}"})
        module.org.update_user(user["id"], {"first_name": f"of-{number}"})
        module.ingest([{"user_id": user["id"], "action": f"of-{number}"}])
    for number, module in enumerate(modules):
        receiver.wait_for(3, f"/{number}")
        hooks[number].settled(succeeded=3)
        for request in receiver.at(f"/{number}"):
            assert {int(digit) for digit in re.findall(rb"of-(\d)", request.body)} == {number}
            assert not [other for other in modules if other is not module and other.org.id.encode() in request.body]


# ---------------------------------------------------------------------------- signatures

def test_an_independent_library_verifies_every_delivery(module, hook, receiver, verifier):
    for name in ("Ada", "Zoë \U0001f600", "\"\\ </script>"):
        module.org.create_user({"email": email(), "first_name": name})
    requests = receiver.wait_for(3, "/hook")
    assert verifier.verdicts([(hook.secret, request) for request in requests]) == ["ok"] * 3
    for request in requests:
        assert request.method == "POST" and request.headers["content-type"] == "application/json"
        assert WEBHOOK_ID.fullmatch(request.webhook_id)
        assert abs(request.timestamp - request.at) < MINUTE
        assert list(json.loads(request.body)) == ["type", "timestamp", "data"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", json.loads(request.body)["timestamp"])
    assert len({request.webhook_id for request in requests}) == 3
    request = requests[0]  # and rejects any change
    changed = [request.body + b" ", request.body.replace(b"Ada", b"Eve")]
    others = [type(request)(**(vars(request) | {"body": body})) for body in changed]
    for name, value in (("webhook-id", "msg_1"), ("webhook-timestamp", str(request.timestamp + 1))):
        others.append(type(request)(**(vars(request) | {"headers": request.headers | {name: value}})))
    assert "ok" not in verifier.verdicts([(hook.secret, other) for other in others])


def test_the_exact_bytes_are_signed_with_the_decoded_secret(module, hook, receiver):
    module.org.create_user({"email": email()})
    (request,) = receiver.wait_for(1, "/hook")
    key = base64.b64decode(hook.secret.removeprefix("whsec_"), validate=True)
    assert len(key) == 32
    signed = f"{request.webhook_id}.{request.timestamp}.".encode() + request.body
    mac = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    assert request.headers["webhook-signature"] == f"v1,{mac}"


def test_endpoints_of_one_event_share_its_id_and_sign_with_their_own_secrets(module, receiver, verifier):
    one, two = module.endpoint(receiver.url("/one")), module.endpoint(receiver.url("/two"))
    module.org.create_user({"email": email()})
    (first,), (second,) = receiver.wait_for(1, "/one"), receiver.wait_for(1, "/two")
    assert (first.webhook_id, first.body) == (second.webhook_id, second.body)
    cases = [(one.secret, first), (two.secret, second), (one.secret, second), (two.secret, first)]
    assert verifier.verdicts(cases) == ["ok", "ok"] + ["No matching signature found"] * 2


def test_a_retry_keeps_the_id_and_has_a_new_timestamp_and_signature(module, hook, receiver, verifier):
    answers = iter([Answer(500), Answer(200)])
    receiver.on("/hook", lambda request: next(answers))
    module.org.create_user({"email": email()})
    first, second = receiver.wait_for(2, "/hook")
    assert (first.webhook_id, first.body) == (second.webhook_id, second.body)
    assert second.timestamp > first.timestamp
    assert second.headers["webhook-signature"] != first.headers["webhook-signature"]
    assert 4 <= second.at - first.at < 20  # 5 s minus at most a fifth; the load of the machine may add more
    assert verifier.verdicts([(hook.secret, request) for request in (first, second)]) == ["ok"] * 2
    hook.settled(succeeded=1)
    (listed,) = hook.deliveries()
    shown = module.admin.get_json(f"{hook.path}/deliveries/{listed['id']}")
    assert shown["payload"].encode() == first.body
    names = ("content-type", "webhook-id", "webhook-timestamp", "webhook-signature")
    assert shown["request_headers"] == [{name: request.headers[name] for name in names} for request in (first, second)]
    assert hook.secret not in json.dumps(shown)
    endpoint = module.admin.get_json(hook.path)
    assert endpoint["last_24_hours"] == {"succeeded": 1, "failed": 0, "failed_attempts": 1}
    assert endpoint["last_succeeded_at"] >= shown["attempts"][1]["at"]


def test_after_a_rotation_both_secrets_sign_for_a_day(stack, module, hook, receiver, verifier, no_runner):
    old = hook.rotate()
    module.org.create_user({"email": email()})
    with delivering(stack):
        (both,) = receiver.wait_for(1, "/hook")
    assert len(both.headers["webhook-signature"].split(" ")) == 2
    assert verifier.verdicts([(secret, both) for secret in (old, hook.secret)]) == ["ok"] * 2
    for offset, signatures, verdict in ((DAY - 5 * MINUTE, 2, "ok"), (DAY + 1, 1, "No matching signature found")):
        seen = receiver.count("/hook")
        module.org.create_user({"email": email()})
        with delivering(stack, offset):
            request = receiver.wait_for(seen + 1, "/hook")[-1]
        assert len(request.headers["webhook-signature"].split(" ")) == signatures
        now = time.time() + offset
        assert verifier.verdicts([(hook.secret, request, now), (old, request, now)]) == ["ok", verdict]


def test_after_a_second_rotation_all_three_secrets_sign(module, hook, receiver, verifier):
    first = hook.rotate()
    second = hook.rotate()
    module.org.create_user({"email": email()})
    (request,) = receiver.wait_for(1, "/hook")
    cases = [(secret, request) for secret in (hook.secret, second, first)]
    assert verifier.verdicts(cases) == ["ok", "ok", "ok"]


# ---------------------------------------------------------------------------- connections

def test_proxy_variables_are_ignored(stack, module, hook, receiver, no_runner):
    with Receiver() as proxy:
        names = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        with delivering(stack, env={name: proxy.url() for name in names} | {"no_proxy": "", "NO_PROXY": ""}):
            module.org.create_user({"email": email()})
            receiver.wait_for(1, "/hook")
            hook.settled(succeeded=1)
        assert proxy.connections == 0


def test_connections_are_reused_and_a_closed_one_is_not_a_failure(module, hook, receiver):
    for _ in range(20):
        module.org.create_user({"email": email()})
    requests = receiver.wait_for(20, "/hook")
    hook.settled(succeeded=20)
    assert len({request.connection for request in requests}) < 20
    for transport in list(receiver.open_connections):
        receiver.call(transport.abort)
    wait_for(lambda: not receiver.open_connections, "the connections to end")
    module.org.create_user({"email": email()})
    receiver.wait_for(21, "/hook")
    hook.settled(succeeded=21)
