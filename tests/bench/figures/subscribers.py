"""P19: POST /v1/track while many webhook endpoints subscribe to the events, compared with one endpoint."""

from figures.tracking import SCRIPT, page, seconds
from figures.webhooks import installation, subscribe
from lib.figure import AT_MOST, Figure, alternate, disturbance_of
from lib.receiver import Receiver
from lib.wrk import load, measured_load

RUNS = 3
EVENT = "engagement.recorded"
ENDPOINTS_EACH, INSTALLATIONS = 167, 3  # an installation may have 200 endpoints, an organization 500
MANY, ONE = 0, 1  # the organizations


def tracking(bench):
    """The runner is stopped: it would deliver the events meanwhile."""
    stack = bench.stack
    stack.reset()
    stack.script("service", "stop", "runner")
    made = []
    try:
        with Receiver() as receiver:
            endpoints = subscribe_many(bench, receiver, made)
            made.append(installation(bench, EVENT, ONE))
            subscribe(*made[-1], receiver.url, EVENT)
            for organization in (ONE, MANY):  # warm-up
                load(stack.port, SCRIPT, 1, page(stack, f"warm-{organization}", 1, organization))
            pairs = alternate(RUNS, lambda: track(bench, MANY), lambda: track(bench, ONE))
    finally:
        remove(made)
        stack.reset()
        stack.script("service", "start", "runner")
    return [Figure("P19", f"POST /v1/track, {endpoints} subscribed endpoints; floor: one", "µs/event", 1.2, AT_MOST,
                   [(1e6 / many.rate, 1e6 / one.rate) for many, one in pairs],
                   cpu=[(many.cpu, one.cpu) for many, one in pairs],
                   disturbance=disturbance_of([sample for pair in pairs for sample in pair]))]


def subscribe_many(bench, receiver, made):
    """The number of endpoints; appends their installations to `made`."""
    total = min(ENDPOINTS_EACH * INSTALLATIONS, 500)
    for number in range(total):
        if number % ENDPOINTS_EACH == 0:
            made.append(installation(bench, EVENT, MANY))
        subscribe(*made[-1], f"{receiver.url}{number}", EVENT)
    return total


def track(bench, organization):
    stack = bench.stack
    stack.empty("webhook_attempts", "webhook_deliveries", "webhook_outbox", "webhook_events", "engagement_events")
    stack.settle()
    environment = page(stack, f"run-{organization}-{stack.sql('SELECT UUID_SHORT()')}", 1, organization)
    return measured_load(bench, stack, SCRIPT, seconds(bench), environment)[1]


def remove(installations):
    for admin, path in installations:
        admin.connect()
        admin.call("DELETE", path)
