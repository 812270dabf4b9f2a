"""The controls of an admin for webhooks: pause, resume, delete, disable, send again, recover; and that endpoints do not
delay each other (docs/webhooks.md "Webhook endpoints", "Deliveries")."""

import json
import time
from datetime import datetime, timezone

import pytest
from support.modules import CANONICAL, DAY, delivering
from support.ports import free_port
from support.stack import wait_for
from support.world import email

A_MOMENT = 0.2  # seconds


def emit_events(module, count=1):
    """Emits events; returns the users' ids."""
    return [module.org.create_user({"email": email()})["id"] for _ in range(count)]


def ids_in(requests):
    return [json.loads(request.body)["data"]["id"] for request in requests]


@pytest.fixture
def hook(module, receiver):
    return module.endpoint(receiver.url("/hook"), ["member.created", "engagement.recorded"])


@pytest.fixture
def other(module, receiver):
    """Another endpoint for the same events: when its events have arrived, the others would have arrived too."""
    return module.endpoint(receiver.url("/other"))


# ---------------------------------------------------------------------------- pause, delete

def test_a_paused_endpoint_gets_its_deliveries_when_it_is_resumed(module, hook, other, receiver):
    hook.change(status="paused")
    held = emit_events(module, 3)
    receiver.wait_for(3, "/other")
    other.settled(succeeded=3)
    assert receiver.count("/hook") == 0 and hook.statuses() == {"pending": 3}
    hook.change(status="active")
    assert sorted(ids_in(receiver.wait_for(3, "/hook"))) == sorted(held)
    hook.settled(succeeded=3)


def test_a_disabled_endpoint_gets_no_deliveries_and_none_are_kept(module, hook, other, receiver):
    hook.change(status="disabled")
    emit_events(module)
    receiver.wait_for(1, "/other")
    other.settled(succeeded=1)
    hook.change(status="active")
    later = emit_events(module)
    assert ids_in(receiver.wait_for(1, "/hook")) == later
    hook.settled(succeeded=1)


def test_a_deleted_endpoint_gets_no_further_deliveries(stack, module, hook, other, receiver, no_runner):
    emit_events(module)
    hook.delete()
    assert hook.record() is None
    emit_events(module)
    with delivering(stack):
        receiver.wait_for(2, "/other")
        other.settled(succeeded=2)
    assert receiver.count("/hook") == 0 and hook.statuses() == {}


def test_deleting_an_endpoint_during_its_delivery_is_harmless(module, hook, other, receiver):
    gate = receiver.hold("/hook")
    emit_events(module)
    receiver.wait_for(1, "/hook")
    hook.delete()
    gate.open()
    emit_events(module)
    receiver.wait_for(2, "/other")
    other.settled(succeeded=2)
    assert receiver.count("/hook") == 1


def test_a_new_url_gets_the_waiting_deliveries(stack, module, hook, receiver, no_runner):
    (user,) = emit_events(module)
    assert hook.change(url=receiver.url("/moved"))["url"] == receiver.url("/moved")
    with delivering(stack):
        assert ids_in(receiver.wait_for(1, "/moved")) == [user]
        hook.settled(succeeded=1)
    assert receiver.count("/hook") == 0


def test_a_disabled_installation_gets_no_deliveries_immediately(stack, module, hook, new_module, receiver, no_runner):
    witness = new_module()
    watch = witness.endpoint(receiver.url("/watch"), ["member.created"])
    (user,) = emit_events(module)
    module.ingest([{"user_id": user, "action": "seen"}])
    module.disable()
    module.ingest([{"user_id": user, "action": "seen"}], expect=401, code="UNAUTHORIZED")
    emit_events(module)
    with delivering(stack):
        receiver.wait_for(2, "/watch")
        watch.settled(succeeded=2)
        wait_for(lambda: set(hook.statuses()) == {"canceled"}, "the waiting deliveries to be canceled")
    watch.test()
    with delivering(stack, DAY):
        watch.settled(succeeded=3)
    assert receiver.count("/hook") == 0
    module.enable()

    def arrived():
        return [json.loads(request.body)["data"].get("id") for request in receiver.at("/hook")]

    later = emit_events(module)
    module.ingest([{"user_id": user, "action": "seen"}])
    with delivering(stack):
        wait_for(lambda: later[0] in arrived(), "the event after the pause")
        wait_for(lambda: hook.statuses().get("pending", 0) == 0, "no waiting delivery")
    assert user not in arrived()


@pytest.mark.parametrize("stop", ["pause", "disable", "delete", "disable the installation"])
def test_deliveries_that_a_runner_has_claimed_are_not_started_after_a_stop(stack, module, hook, new_module, receiver, no_runner, stop):
    """The runner claims some ahead, for a tenth of a second, if a receiver was fast; those in progress may end."""
    (user,) = emit_events(module)
    new_module().endpoint(receiver.url("/witness"), ["member.created"])
    with delivering(stack):
        receiver.wait_for(1, "/hook")
        hook.settled(succeeded=1)
        gate = receiver.hold("/hook")
        module.ingest([{"user_id": user, "action": "seen"} for _ in range(100)])
        receiver.wait_for(9, "/hook")  # the most that may be in progress to one endpoint
        {"pause": lambda: hook.change(status="paused"), "disable": lambda: hook.change(status="disabled"),
         "delete": hook.delete, "disable the installation": module.disable}[stop]()
        stopped = time.monotonic()
        wait_for(lambda: time.monotonic() > stopped + A_MOMENT, "a short time")
        gate.open()
        for _ in range(3):  # the runner continues with others
            seen = receiver.count("/witness")
            emit_events(module)
            receiver.wait_for(seen + 1, "/witness")
    assert receiver.count("/hook") == 9


# ---------------------------------------------------------------------------- sending again

def test_a_redelivery_has_the_same_id(module, hook, receiver, verifier):
    emit_events(module)
    receiver.wait_for(1, "/hook")
    hook.settled(succeeded=1)
    first = hook.delivery()
    assert hook.redeliver(first["id"])["status"] == "pending"
    requests = receiver.wait_for(2, "/hook")
    hook.settled(succeeded=1)
    assert {request.webhook_id for request in requests} == {first["webhook_id"]}
    assert requests[0].body == requests[1].body
    assert verifier.verdicts([(hook.secret, request) for request in requests]) == ["ok"] * 2
    again = hook.delivery()
    assert (again["id"], len(again["attempts"])) == (first["id"], 2)


def test_a_redelivery_does_not_wait_for_the_next_attempt(stack, module, hook, receiver, no_runner):
    receiver.on("/hook", status=500)
    emit_events(module)
    with delivering(stack):
        hook.attempted(1)
    with delivering(stack, 10):
        delivery = hook.attempted(2)  # the next one is minutes away
    receiver.on("/hook", status=200)
    hook.redeliver(delivery["id"])
    with delivering(stack):
        hook.settled(succeeded=1)


def test_recover_resends_deliveries_that_failed_or_were_canceled_since_a_time(module, hook, other, receiver):
    (arrived,) = emit_events(module)
    receiver.wait_for(1, "/hook")
    hook.settled(succeeded=1)
    hook.change(status="paused")
    missed = emit_events(module, 3)
    hook.change(status="disabled")
    hook.settled(succeeded=1, canceled=3)
    hook.change(status="active")
    receiver.wait_for(4, "/other")
    since = min(delivery["created_at"] for delivery in hook.deliveries(status="canceled"))
    assert hook.recover(datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")) == 0
    assert hook.recover(since) == 3
    assert sorted(ids_in(receiver.wait_for(4, "/hook"))) == sorted([arrived, *missed])
    hook.settled(succeeded=4)
    assert hook.recover(since) == 0


# ---------------------------------------------------------------------------- isolation

EVENTS, HEALTHY = 50, 20


def end_of(attempt):
    """In seconds of the wall clock."""
    return datetime.fromisoformat(attempt["at"]).timestamp() + attempt["duration_ms"] / 1000


def test_unresponsive_and_failing_endpoints_do_not_delay_others(stack, module, receiver, no_runner):
    """All deliveries of the others arrive before the first attempt of the unresponsive one times out."""
    gate = receiver.hold("/hangs")
    hanging = module.endpoint(receiver.url("/hangs"), CANONICAL[6:7])
    refusing = module.endpoint(f"http://127.0.0.1:{free_port()}/", CANONICAL[6:7])
    healthy = [module.endpoint(receiver.url(f"/{number}"), CANONICAL[6:7]) for number in range(HEALTHY)]
    (user,) = emit_events(module)
    module.ingest([{"user_id": user, "action": "seen", "client_event_id": str(n)} for n in range(EVENTS)])
    with delivering(stack):
        for number in range(HEALTHY):
            receiver.wait_for(EVENTS, f"/{number}")
        assert receiver.count("/hangs") > 0
        for endpoint in healthy:
            endpoint.settled(succeeded=EVENTS)
        gate.open()
        hanging.settled(succeeded=EVENTS)
    first_end = min(end_of(delivery["attempts"][0]) for delivery in hanging.deliveries())
    for number in range(HEALTHY):
        assert receiver.at(f"/{number}")[-1].at < first_end, "its first attempt ended before"
    assert [delivery["attempts"][0]["class"] for delivery in refusing.deliveries() if delivery["attempts"]][0] == "connect"
    for number in range(HEALTHY):
        assert len({request.webhook_id for request in receiver.at(f"/{number}")}) == EVENTS
