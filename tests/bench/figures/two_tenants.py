"""P18: the latency of one organization while another one sends 100 times its share, or its costliest requests at production's
rates, or waits for rows that are locked.

For the requests that workers answer in batches, because one slow request of a batch could delay the others. The organization
that is measured sends a steady number of requests per second, and a latency begins when its request was due. wrk cannot do
that: it sends the next request only after the reply to the one before.
"""

import http.client
import queue
import threading
import time
import uuid
from contextlib import contextmanager, nullcontext
from typing import NamedTuple
from urllib.parse import urlencode

import pymysql

from figures.single_requests import key, reading
from figures.tracking import page
from lib import costly, wrk
from lib.client import Client
from lib.figure import AT_MOST, BrokenMeasurement, Figure, percentile
from lib.people import people, write_members

BUSY, CALM = 0, 1  # the organizations
CONNECTIONS = 20
TIMES_ITS_SHARE = 100
SHARE = 10  # requests/s of the calm organization
SENDERS = 8
FAILED = 30.0  # seconds: what a failed request counts as
USERS = 1000
# In pairs: idle, then disturbed. One run of seconds has too few requests for a steady percentile.
RUNS, SECONDS, QUICK_SECONDS = 5, 10, 5
LOCK_RUNS, LOCK_SECONDS = 3, 30
WARM_UP_SECONDS = 45  # of costly requests: they must write to the whole buffer pool of the database once
PREPARED, DAY = 1_760_000_000_000, 86_400_000
# Every row of the organization that its requests read or extend, and the row that its new rows refer to.
LOCKS = (
    "SELECT COUNT(*) FROM organizations WHERE id = UNHEX(%s) FOR UPDATE",
    "SELECT COUNT(*) FROM members WHERE organization_id = UNHEX(%s) FOR UPDATE",
    "SELECT COUNT(*) FROM engagement_events WHERE organization_id = UNHEX(%s) FOR UPDATE",
    "SELECT COUNT(*) FROM attributes WHERE organization_id = UNHEX(%s) FOR UPDATE",
)


class Calm(NamedTuple):
    """The organization that is measured: its record in env.json, and the paths of its members."""

    organization: dict
    paths: list


class Operation(NamedTuple):
    """`script` loads wrk with `environment(stack)`; `call(client, calm, number)` sends one request."""

    what: str
    script: str
    environment: object
    call: object


# ---------------------------------------------------------------------------- the requests
def read_user(client, calm, number):
    client.call("GET", calm.paths[number % len(calm.paths)])


def create_user(client, _, number):
    client.post("/v1/users", {"email": f"calm-{number}-{uuid.uuid4().hex}@example.org"}, expect=201)


def track_event(client, calm, number):
    body = b'{"anonymous_id":"v-%d","action":"page_viewed","client_event_id":"%s"}' % (number, uuid.uuid4().hex.encode())
    client.headers = {"Origin": calm.organization["allowed_origin"]}
    client.call("POST", "/v1/track?" + urlencode({"key": calm.organization["tracking_key"]}), body, expect=202)


def unique_run():
    return f"busy-{time.time_ns()}"


OPERATIONS = (
    Operation("GET /v1/users/{id}", "get_user.lua", lambda stack: reading(stack, BUSY), read_user),
    Operation("POST /v1/users", "post_user.lua",
              lambda stack: {"BENCH_KEY": key(stack, BUSY), "BENCH_RUN": unique_run()}, create_user),
    Operation("POST /v1/track", "post_track.lua", lambda stack: page(stack, unique_run(), 1, BUSY), track_event),
)


# ---------------------------------------------------------------------------- the calm organization
class SteadyClient:
    """Requests of the calm organization at a steady rate. seconds_each(): from when a request was due to its reply."""

    def __init__(self, stack, calm, operation):
        self.calm, self.operation = calm, operation
        self.clients = [Client(stack, CALM) for _ in range(SENDERS)]
        self.due = queue.SimpleQueue()
        self.seconds, self.failed = [], 0
        self.lock = threading.Lock()

    def seconds_each(self, duration):
        threads = [threading.Thread(target=self.send, args=(client,)) for client in self.clients]
        for thread in threads:
            thread.start()
        began = time.monotonic()
        for number in range(int(duration * SHARE)):
            moment = began + number / SHARE
            time.sleep(max(0.0, moment - time.monotonic()))
            self.due.put((number, moment))
        for _ in threads:
            self.due.put(None)
        for thread in threads:
            thread.join()
        for client in self.clients:
            client.close()
        return self.seconds

    def send(self, client):
        while (item := self.due.get()) is not None:
            number, moment = item
            is_good = self.try_to_send(client, number)
            with self.lock:
                self.failed += not is_good
                self.seconds.append(time.monotonic() - moment if is_good else FAILED)

    def try_to_send(self, client, number):
        try:
            self.operation.call(client, self.calm, number)
        except (BrokenMeasurement, OSError, http.client.HTTPException):
            client.connect()
            return False
        return True


# ---------------------------------------------------------------------------- the busy organization
class Flood:
    """The requests of the operation, as many as the busy organization gets answered."""

    def __init__(self, stack, operation):
        self.port, self.script, self.environment = stack.port, operation.script, operation.environment(stack)
        self.process = None

    def start(self, seconds):
        self.process = wrk.start(self.port, self.script, seconds, self.environment, CONNECTIONS)

    def result(self, most):
        """wrk prints no latency if no request was answered, as may happen while rows are locked."""
        try:
            return {"any": wrk.result(self.process, most).requests}
        except BrokenMeasurement:
            return {"any": 0}


@contextmanager
def locked_rows(stack):
    """A transaction that holds the rows of the busy organization."""
    organization = stack.organizations[BUSY]["id"].replace("-", "")
    connection = pymysql.connect(unix_socket=stack.socket, user="root", database=stack.database, autocommit=False)
    try:
        with connection.cursor() as cursor:
            # Otherwise gaps next to the rows are locked too, into which the calm organization inserts.
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
            for statement in LOCKS:
                cursor.execute(statement, (organization,))
        yield
        connection.rollback()
    finally:
        connection.close()


def latencies_of(stack, calm, operation, duration, load=None, are_locked=False):
    """(the seconds of each request of the calm organization, note). `load`: of the busy one."""
    steady = SteadyClient(stack, calm, operation)
    stack.settle()
    with locked_rows(stack) if are_locked else nullcontext():
        if load:
            load.start(duration)
        seconds = steady.seconds_each(duration)
    if steady.failed and not load:
        raise BrokenMeasurement(f"{operation.what}: {steady.failed} of {len(seconds)} requests failed while idle")
    note = {"p95_ms": round(p95(seconds), 2), "median_ms": round(percentile(seconds, 50) * 1000, 2), "most_ms": round(max(seconds) * 1000, 1),
            "requests": len(seconds), "failed": steady.failed}
    if load:
        replies = load.result(duration + 60)
        note["busy_replies"] = replies
        answered = sum(count for reply, count in replies.items() if not reply.endswith("broken"))
        note["busy_requests_per_second"] = round(answered / duration)
    return seconds, note


def p95(seconds):
    return percentile(seconds, 95) * 1000


def in_pairs(bench, calm, operation, disturbance, load, runs=RUNS, duration=SECONDS, are_locked=False):
    """The percentiles are those of all runs together. `load()`: the busy organization's requests of one run."""
    duration = QUICK_SECONDS if bench.quick else duration
    idle, busy, notes = [], [], []
    for _ in range(runs):
        idle_seconds, idle_note = latencies_of(bench.stack, calm, operation, duration)
        busy_seconds, note = latencies_of(bench.stack, calm, operation, duration, load(), are_locked)
        idle, busy = idle + idle_seconds, busy + busy_seconds
        notes.append({"idle": idle_note, "busy": note})
    what = f"p95 of one organization, {operation.what}, {disturbance}; floor: idle"
    return Figure("P18", what, "ms", 3, AT_MOST, [(p95(busy), p95(idle))], notes={"of_each_run": notes})


def with_flood(bench, calm, operation):
    figure = in_pairs(bench, calm, operation, f"another sends {TIMES_ITS_SHARE} × its share",
                      lambda: Flood(bench.stack, operation))
    slowest = min(run["busy"]["busy_requests_per_second"] for run in figure.notes["of_each_run"])
    if slowest < TIMES_ITS_SHARE * SHARE:
        raise BrokenMeasurement(f"the busy organization sent only {slowest} requests/s")
    return figure


def with_locks(bench, calm, operation):
    return in_pairs(bench, calm, operation, "the rows of another are locked", lambda: Flood(bench.stack, operation),
                    LOCK_RUNS, LOCK_SECONDS, are_locked=True)


def with_costly_requests(bench, calm):
    """At production's rates, so that a request is either costly or refused at once."""
    load = costly.CostlyLoad(bench.stack, BUSY, CONNECTIONS)
    try:
        bench.stack.restart_musterd(**costly.DEFAULT_RATES)
        load.warm_up(QUICK_SECONDS if bench.quick else WARM_UP_SECONDS)
        figures = [in_pairs(bench, calm, operation, "another sends its costliest requests", load.renewed)
                   for operation in OPERATIONS]
        load.check()
    finally:
        bench.stack.restart_musterd()  # without the rates, and before its workers could count for a deleted organization
        load.remove()
    return figures


def latencies(bench):
    stack = bench.stack
    stack.reset()
    for organization in (BUSY, CALM):
        write_members(stack.file("few.tsv"), people(USERS, seed=18 + organization), PREPARED + organization * DAY)
        stack.load_written("few.tsv", organization)
    with open(reading(stack, CALM)["BENCH_PATHS"], encoding="ascii") as file:
        calm = Calm(stack.organizations[CALM], file.read().split())
    figures = [measure(bench, calm, operation) for operation in OPERATIONS for measure in (with_flood, with_locks)]
    figures += with_costly_requests(bench, calm)
    stack.reset()
    return figures
