"""P13: webhooks to 100 endpoints, one of them unresponsive. P14: from a change to the first byte of its webhook."""

import random
import statistics
import time

from lib.client import Client, milliseconds
from lib.figure import AT_LEAST, AT_MOST, BrokenMeasurement, Figure, percentile
from lib.receiver import Receiver

ENDPOINTS = 100
EVENTS = 200  # per run, for every endpoint
CHANGES = 200
EVENT = "member.created"
MANIFEST = {"name": "Bench", "events": {"subscribes": [EVENT]}}


def installation(bench):
    """A new installation of a new module: (the admin's client, the path of its endpoints)."""
    admin = Client(bench.stack)
    admin.headers = {"Authorization": "Bearer " + bench.stack.organizations[0]["session_token"]}
    slug = f"bench-{time.time_ns()}"
    module = admin.post("/v1/modules", {"slug": slug, "name": "Bench", "vendor": "Bench"}, expect=201)
    path = f"/v1/modules/{module['id']}/versions"
    version = admin.post(path, {"version": "1", "manifest": MANIFEST}, expect=201)
    admin.post(f"{path}/{version['id']}/publish")
    made = admin.post("/v1/installations", {"module_id": module["id"]}, expect=201)
    return admin, f"/v1/installations/{made['id']}"


def subscribe(admin, path, url):
    return admin.post(f"{path}/webhook-endpoints", {"url": url, "subscribed_event_types": [EVENT]}, expect=201)


def create_users(client, count, tag):
    for number in range(count):
        yield client.post("/v1/users", {"email": f"hook-{tag}-{number}@example.org"}, expect=201)


# ---------------------------------------------------------------------------- P13
def isolation(bench):
    bench.stack.reset()
    events = EVENTS // 4 if bench.quick else EVENTS
    runs = []
    with Receiver() as alive, Receiver(is_dead=True) as dead:
        admin, path = installation(bench)
        for number in range(ENDPOINTS - 1):
            subscribe(admin, path, f"{alive.url}{number}")
        for run in range(bench.runs):
            bench.stack.settle()
            without = deliver(bench, alive, events, f"{run}-without")
            endpoint = subscribe(admin, path, dead.url)
            with_dead = deliver(bench, alive, events, f"{run}-with-dead")
            admin.call("DELETE", f"{path}/webhook-endpoints/{endpoint['id']}", expect=204)
            runs.append((with_dead, without))
        admin.call("DELETE", path)
    bench.stack.reset()
    return [Figure("P13", f"webhooks/s to {ENDPOINTS} endpoints, one dead; floor: without it", "/s", 0.95,
                   AT_LEAST, runs, notes={"events": events, "deliveries": events * (ENDPOINTS - 1)})]


def deliver(bench, alive, events, tag):
    """Deliveries per second to the working endpoints. All deliveries are pending when the runner starts."""
    stack = bench.stack
    stack.script("service", "stop", "runner")
    alive.forget()
    for _ in create_users(Client(stack), events, tag):
        pass
    expected = events * (ENDPOINTS - 1)
    stack.script("service", "start", "runner")
    end = time.monotonic() + 120
    while alive.count.value < expected:
        if time.monotonic() > end:
            raise BrokenMeasurement(f"{alive.count.value} of {expected} webhooks arrived in two minutes")
        time.sleep(0.01)
    moments = alive.moments()
    return (len(moments) - 1) / (max(moments) - min(moments))


# ---------------------------------------------------------------------------- P14
def latency(bench):
    """Measured from the timestamp of the change. It is taken at the start of the transaction, so the figure is an upper
    bound."""
    bench.stack.reset()
    chance = random.Random(14)
    waits = []
    with Receiver() as receiver:
        admin, path = installation(bench)
        subscribe(admin, path, receiver.url)
        client = Client(bench.stack)
        users = create_users(client, CHANGES, "latency")
        for number in range(CHANGES):
            time.sleep(chance.random() * 0.3)  # random, as for P15
            changed = milliseconds(next(users)["created_at"]) / 1000
            end = time.monotonic() + 30
            while receiver.count.value <= number:
                if time.monotonic() > end:
                    raise BrokenMeasurement("a webhook did not arrive within 30 seconds")
                time.sleep(0.005)
            waits.append(receiver.moments()[number] - changed)
        admin.call("DELETE", path)
    bench.stack.reset()
    p95 = percentile(waits, 95)
    return [Figure("P14", f"change to its webhook's first byte, p95 of {CHANGES}", "s", 1, AT_MOST, [(p95, None)],
                   compared="value",
                   notes={"median_s": round(statistics.median(waits), 3), "most_s": round(max(waits), 3)})]
