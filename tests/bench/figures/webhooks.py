"""P13: webhooks to 100 endpoints, one of them unresponsive. P14: from a change to the first byte of its webhook."""

import random
import statistics
import time

from lib.client import Client, milliseconds
from lib.figure import AT_MOST, BrokenMeasurement, Figure, Sample, percentile, rate_figure
from lib.receiver import Receiver

ENDPOINTS = 100
EVENTS = 200  # per run, for every endpoint
CHANGES = 200
EVENT = "member.created"


def installation(bench, event=EVENT, organization=0):
    """A new installation of a new module that subscribes to the event: (the admin's client, the installation's path)."""
    admin = Client(bench.stack)
    # The sandbox may have begun more than 15 minutes ago, and an endpoint shows a secret.
    bench.stack.sql("UPDATE sessions SET verified_at = UNIX_TIMESTAMP() * 1000")
    admin.headers = {"Authorization": "Bearer " + bench.stack.organizations[organization]["session_token"]}
    slug = f"bench-{time.time_ns()}"
    module = admin.post("/v1/modules", {"slug": slug, "name": "Bench", "vendor": "Bench"}, expect=201)
    path = f"/v1/modules/{module['id']}/versions"
    manifest = {"name": "Bench", "events": {"subscribes": [event]}}
    version = admin.post(path, {"version": "1", "manifest": manifest}, expect=201)
    admin.post(f"{path}/{version['id']}/publish")
    made = admin.post("/v1/installations", {"module_id": module["id"]}, expect=201)
    return admin, f"/v1/installations/{made['id']}"


def subscribe(admin, path, url, event=EVENT):
    return admin.post(f"{path}/webhook-endpoints", {"url": url, "subscribed_event_types": [event]}, expect=201)


def create_users(client, count, tag):
    for number in range(count):
        yield client.post("/v1/users", {"email": f"hook-{tag}-{number}@example.org"}, expect=201)


# ---------------------------------------------------------------------------- P13
def isolation(bench):
    bench.stack.reset()
    events = EVENTS // 4 if bench.quick else EVENTS
    pairs = []
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
            pairs.append((with_dead, without))
        admin.call("DELETE", path)
    bench.stack.reset()
    return [rate_figure("P13", f"webhooks/s to {ENDPOINTS} endpoints, one dead; floor: without it", 0.95, pairs, unit="/s")]


def deliver(bench, alive, events, tag):
    """The Sample of the deliveries to the working endpoints. All events wait when the runner starts."""
    stack = bench.stack
    stack.script("service", "stop", "runner")
    alive.forget()
    for _ in create_users(Client(stack), events, tag):
        pass
    expected = events * (ENDPOINTS - 1)
    stack.script("service", "start", "runner")
    with bench.meter() as meter:
        wait_for(alive, expected)
    moments = alive.moments()
    services = {name: pid for name, pid in stack.services().items() if name in ("runner", "mariadbd")}
    return Sample((len(moments) - 1) / (max(moments) - min(moments)), meter.microseconds_each(services, expected),
                  {"deliveries": expected, "others_share": round(meter.others_share(), 2)})


def wait_for(alive, expected):
    end = time.monotonic() + 120
    while alive.count.value < expected:
        if time.monotonic() > end:
            raise BrokenMeasurement(f"{alive.count.value} of {expected} webhooks arrived in two minutes")
        time.sleep(0.01)  # lint: sleeps because it polls


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
                time.sleep(0.005)  # lint: sleeps because it polls
            waits.append(receiver.moments()[number] - changed)
        admin.call("DELETE", path)
    bench.stack.reset()
    p95 = percentile(waits, 95)
    return [Figure("P14", f"change to its webhook's first byte, p95 of {CHANGES}", "s", 1, AT_MOST, [(p95, None)],
                   compared="value",
                   notes={"median_s": round(statistics.median(waits), 3), "most_s": round(max(waits), 3)})]
