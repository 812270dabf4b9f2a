"""Deliveries under SIGKILL: every event arrives at least once, and repetitions have the same id (docs/webhooks.md
"Deliveries")."""

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.load import Load
from support.modules import MINUTE, start_delivering
from support.stack import wait_for
from support.world import email
from test_outage import workers

pytestmark = pytest.mark.usefixtures("no_runner")
ENDPOINTS, CALLS, EVENTS_A_CALL = 10, 10, 100
EVENTS = CALLS * EVENTS_A_CALL
DELIVERIES = ENDPOINTS * EVENTS
LEASE = 2 * MINUTE  # more than the lease of a runner; the clock of the next runner is ahead by that


@pytest.fixture
def queued(module, receiver):
    """10,000 waiting deliveries: the module, the paths of its endpoints, and the ids of the events in the module's
    notation."""
    paths = [f"/{number}" for number in range(ENDPOINTS)]
    for path in paths:
        module.endpoint(receiver.url(path), ["engagement.recorded"])
    user = module.org.create_user({"email": email()})["id"]

    def push(call):
        names = [f"{module.installation}-{call}-{number}" for number in range(EVENTS_A_CALL)]
        events = [{"user_id": user, "action": "seen", "client_event_id": name} for name in names]
        assert module.ingest(events).json()["accepted"] == EVENTS_A_CALL
        return names

    with ThreadPoolExecutor(4) as pool:
        names = [name for names in pool.map(push, range(CALLS)) for name in names]
    return module, paths, set(names)


def statuses(module):
    """The number of the organization's deliveries by status."""
    found = module.stack.sql("SELECT status, COUNT(*) FROM webhook_deliveries WHERE organization_id = "
                             "UNHEX(REPLACE(%s, '-', '')) GROUP BY status", module.org.id)
    return dict(found)


def expect_everything(queued, receiver):
    """Each endpoint got each event; one event has one id and one body in all deliveries."""
    _, paths, names = queued
    ids, bodies = {}, {}
    for path in paths:
        arrived = set()
        for request in receiver.at(path):
            name = json.loads(request.body)["data"]["client_event_id"]
            arrived.add(name)
            assert ids.setdefault(name, request.webhook_id) == request.webhook_id
            assert bodies.setdefault(name, request.body) == request.body
        assert arrived == names, f"{path} misses {len(names - arrived)}"
    assert len(set(ids.values())) == EVENTS


def end(runner):
    if runner.poll() is None:
        runner.terminate()
    runner.wait(30)


def test_a_repeatedly_killed_runner_loses_no_event(stack, queued, receiver):
    kills = 0
    runner = start_delivering(stack)
    try:
        while receiver.count() < DELIVERIES * 0.9:
            goal = receiver.count() + DELIVERIES // 8
            wait_for(lambda: receiver.count() >= goal, "the deliveries to continue", every=0.002)
            runner.send_signal(signal.SIGKILL)
            runner.wait(10)
            kills += 1
            runner = start_delivering(stack, kills * LEASE)
        wait_for(lambda: statuses(queued[0]) == {"succeeded": DELIVERIES}, "all deliveries to succeed", 60, every=0.1)
    finally:
        end(runner)
    assert kills >= 5
    expect_everything(queued, receiver)


def test_a_repeatedly_killed_database_loses_no_event(stack, queued, receiver):
    restarts = 0
    runner = start_delivering(stack)
    try:
        while receiver.count() < DELIVERIES * 0.8 and restarts < 4:
            goal = receiver.count() + DELIVERIES // 20  # on a busy machine many more arrive
            wait_for(lambda: receiver.count() >= goal, "the deliveries to continue", every=0.002)
            with stack.without("mariadbd", verb="kill"):
                pass
            restarts += 1
            if runner.poll() is not None:  # cron starts another
                runner = start_delivering(stack)
        end(runner)
        runner = start_delivering(stack, LEASE)
        wait_for(lambda: statuses(queued[0]) == {"succeeded": DELIVERIES}, "all deliveries to succeed", 60, every=0.1)
    finally:
        end(runner)
    wait_for(stack.answers, "the server to respond again")
    assert restarts >= 2
    expect_everything(queued, receiver)


def test_several_parallel_runners_send_each_event_once(stack, queued, receiver):
    runners = [start_delivering(stack) for _ in range(3)]
    try:
        wait_for(lambda: statuses(queued[0]) == {"succeeded": DELIVERIES}, "all deliveries to succeed", 60, every=0.1)
    finally:
        for runner in runners:
            end(runner)
    expect_everything(queued, receiver)
    assert receiver.count() == DELIVERIES


def test_a_stopping_runner_releases_its_deliveries(stack, queued, receiver):
    """The next runner need not wait for a lease, and deliveries that were acknowledged are not sent again."""
    for quarter in range(1, 4):
        runner = start_delivering(stack)
        wait_for(lambda: receiver.count() >= quarter * DELIVERIES // 4, "a quarter more", 60, every=0.002)
        end(runner)
        assert runner.returncode == 0
    runner = start_delivering(stack)
    try:
        wait_for(lambda: statuses(queued[0]) == {"succeeded": DELIVERIES}, "all deliveries to succeed", 60, every=0.1)
    finally:
        end(runner)
    expect_everything(queued, receiver)
    assert receiver.count() == DELIVERIES


def test_killed_workers_emit_events_for_exactly_the_committed_changes(stack, module, receiver):
    """Each member who exists after the crashes has exactly one event, and no other events exist."""
    hook = module.endpoint(receiver.url("/hook"), ["member.created"])
    org = module.org
    before = set(org.members())
    with Load(org) as load:
        for _ in range(5):
            goal = len(load.created) + 40
            wait_for(lambda: len(load.created) >= goal or load.failures, "the load to continue")
            for worker in workers(stack)[::2]:
                os.kill(worker, signal.SIGKILL)
        goal = len(load.created) + 40
        wait_for(lambda: len(load.created) >= goal or load.failures, "the load to continue")
    assert load.failures == []
    made = set(org.members()) - before
    assert made >= {address for address, _ in load.created}
    runner = start_delivering(stack)
    try:
        hook.settled(succeeded=len(made))
    finally:
        end(runner)
    emitted = [json.loads(request.body)["data"]["email"] for request in receiver.at("/hook")]
    assert len(emitted) == len(made) and set(emitted) == made
