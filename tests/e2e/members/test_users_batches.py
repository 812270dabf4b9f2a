"""POST /v1/users through the collectors, which write waiting requests in one transaction: equal addresses and keys in parallel, locked
rows, and collectors that are killed."""

import os
import signal
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from support.client import error_of
from support.load import Background
from support.stack import wait_for
from support.world import email
from test_outage import workers
from test_shares import locked

PARALLEL = 24
LOCK_WAIT = 5  # seconds that a request waits for a locked row


def create(org, body, key=None):
    headers = {"Idempotency-Key": key} if key else {}
    return org.api.post("/v1/users", json=body, headers=headers)


def in_parallel(calls):
    with ThreadPoolExecutor(PARALLEL) as pool:
        return list(pool.map(lambda call: call(), calls))


def test_one_address_in_parallel_requests_of_two_organizations_is_one_user(org, new_org):
    other, address = new_org(attributes=False), email()
    replies = in_parallel([lambda whose=whose: create(whose, {"email": address}) for whose in (org, other) * PARALLEL])
    outcomes = [reply.json()["outcome"] for reply in replies]
    assert (outcomes.count("created"), outcomes.count("attached"), outcomes.count("merged")) == (1, 1, 2 * PARALLEL - 2)
    assert len({reply.json()["id"] for reply in replies}) == 1
    assert {reply.status_code for reply in replies} == {200, 201}


def test_requests_with_new_addresses_in_parallel_are_all_created(org):
    addresses = [email() for _ in range(5 * PARALLEL)]
    replies = in_parallel([lambda to=to: create(org, {"email": to, "first_name": to[:9]}) for to in addresses])
    assert {reply.status_code for reply in replies} == {201}
    for address, reply in zip(addresses, replies):
        assert (reply.json()["email"], reply.json()["first_name"]) == (address, address[:9])
        assert reply.headers["Location"] == f"/v1/users/{reply.json()['id']}"
    assert set(org.members()) >= set(addresses)


def test_parallel_repetitions_with_keys_get_the_same_bytes(org):
    requests_of = [(str(uuid.uuid4()), {"email": email()}) for _ in range(6)]
    replies = in_parallel([lambda key=key, body=body: (key, create(org, body, key)) for key, body in requests_of * 8])
    for key, body in requests_of:
        same = [reply for other, reply in replies if other == key]
        assert {reply.status_code for reply in same} == {201}
        assert len({reply.content for reply in same}) == 1
        assert [reply.headers.get("Idempotency-Replayed") for reply in same].count(None) == 1
        assert body["email"] in org.members()


def test_a_fault_in_one_of_many_requests_fails_that_one_only(org):
    bodies = [{"email": email(), "attributes": {"no_such": 1}} if i % 6 == 0 else {"email": email()} for i in range(2 * PARALLEL)]
    replies = in_parallel([lambda body=body: create(org, body) for body in bodies])
    members = org.members()
    for body, reply in zip(bodies, replies):
        assert reply.status_code == (422 if "attributes" in body else 201), reply.text
        assert (body["email"] in members) == ("attributes" not in body)


def test_requests_for_a_locked_row_wait_and_those_of_another_organization_do_not(stack, org, new_org):
    other, address = new_org(attributes=False), email()
    create(org, {"email": address}).raise_for_status()
    stopping, held = threading.Event(), []

    def insist():
        while not stopping.is_set():
            held.append(create(org, {"email": address}))

    holder = stack.connect(autocommit=False)
    threads = [threading.Thread(target=insist) for _ in range(4)]
    try:
        with holder.cursor() as cursor:
            cursor.execute("SELECT 1 FROM users WHERE email = %s FOR UPDATE", (address,))
        for thread in threads:
            thread.start()
        for _ in range(20):
            reply = create(other, {"email": email()})
            assert reply.status_code == 201
            assert reply.elapsed.total_seconds() < LOCK_WAIT - 1
        wait_for(lambda: held, "a request that waited as long as it may", seconds=4 * LOCK_WAIT)
        assert held[0].status_code == 503
        assert int(held[0].headers["Retry-After"]) >= 1
        assert held[0].elapsed.total_seconds() > LOCK_WAIT - 1
        refused = len(held)
    finally:
        holder.rollback()
        holder.close()
        # Those that wait now get the result of their own request.
        wait_for(lambda: len(held) > refused + 8, "the organization to be served again")
        stopping.set()
        for thread in threads:
            thread.join(60)
    assert {reply.status_code for reply in held} == {200, 503}
    assert [reply.status_code for reply in held[-4:]] == [200] * 4


def test_an_unexpected_error_does_not_lose_the_waiting_requests_of_another_organization(stack, org, new_org):
    """A collector ends after such an error. It answers first what it has accepted, without waiting for a lock."""
    damaged, other = new_org(), new_org(attributes=False)
    body = {"email": email()}
    user = create(org, body).json()
    stack.sql("UPDATE attributes SET choices = 'rubbish' "
              "WHERE organization_id = UNHEX(REPLACE(%s, '-', '')) AND choices IS NOT NULL", damaged.id)
    with ThreadPoolExecutor(PARALLEL) as pool:
        with locked(stack, org, user):
            waiting = [pool.submit(create, org, body) for _ in range(PARALLEL)]
            for _ in range(8):  # more often than there are collectors
                reply = create(damaged, {"email": email(), "attributes": {"interests": ["news"]}})
                assert error_of(reply)["code"] == "INTERNAL_ERROR", reply.text
                calm = create(other, {"email": email()})
                assert calm.status_code == 201 and calm.elapsed.total_seconds() < LOCK_WAIT - 1
        for reply in [done.result() for done in waiting]:
            assert reply.status_code == 200 or error_of(reply)["code"] == "SERVICE_UNAVAILABLE", reply.text
            assert "RateLimit" in reply.headers  # it comes from the worker, not from nginx


class Creators(Background):
    """Threads that create users, each with a key of its own, until stopped."""

    def __init__(self, org, threads=12):
        super().__init__(threads)
        self.org = org
        self.created, self.unknown, self.unexpected = [], [], []

    def work(self, number):
        while not self.stopping.is_set():
            request = (str(uuid.uuid4()), {"email": email("crash")})
            try:
                reply = create(self.org, request[1], request[0])
            except requests.RequestException:
                self.unknown.append(request)
                continue
            if reply.status_code == 201:
                self.created.append((*request, reply.content))
            elif reply.status_code in (502, 503):
                self.unknown.append(request)
                self.stopping.wait(0.1)  # a refused client pauses
            else:
                self.unexpected.append(reply.text)

    def wait_for_users(self, count=60):
        goal = len(self.created) + count
        wait_for(lambda: len(self.created) >= goal, "further users", 60)


def kill_collectors(stack):
    for pid in workers(stack):
        os.kill(pid, signal.SIGKILL)


def kill_database(stack):
    with stack.without("mariadbd", verb="kill"):
        pass


@pytest.mark.parametrize("kill", [kill_collectors, kill_database])
def test_a_kill_loses_no_acknowledged_user_and_repetitions_replay(stack, org, kill):
    kills = 0
    with Creators(org) as creators:
        while kills < 4 or (kills < 20 and not creators.unknown):  # a kill may meet idle collectors
            creators.wait_for_users()
            kill(stack)
            kills += 1
        creators.wait_for_users()
    assert creators.unknown, "the kills disturbed no request"
    assert creators.unexpected == []
    listed = org.members()
    assert {body["email"] for _, body, _ in creators.created} <= set(listed)
    for key, body, content in creators.created:
        again = create(org, body, key)
        assert (again.status_code, again.content) == (201, content)
        assert again.headers["Idempotency-Replayed"] == "true"
    # A request without an answer was written or not; its repetition has the effect once.
    for key, body in creators.unknown:
        assert create(org, body, key).json()["outcome"] == "created"
    [(count,)] = stack.sql("SELECT COUNT(*) FROM members WHERE organization_id = UNHEX(REPLACE(%s, '-', '')) "
                           "AND email LIKE 'crash%%'", org.id)
    assert count == len(creators.created) + len(creators.unknown)
