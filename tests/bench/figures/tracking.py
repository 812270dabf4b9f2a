"""P7, P8: events that pages send to POST /v1/track, one or fifty per call, over 64 keep-alive connections."""

import time

from lib.figure import BrokenMeasurement, Sample, alternate, rate_figure
from lib.floors import BareServer, writing_program
from lib.wrk import CONNECTIONS, measured_load

RUNS = 5
BATCH = 50
SCRIPT = "post_track.lua"


def seconds(bench):
    return 2 if bench.quick else 5


def page(stack, run, events, organization=0):
    """The parameters of the load script."""
    organization = stack.organizations[organization]
    return {"BENCH_KEY": organization["tracking_key"], "BENCH_ORIGIN": organization["allowed_origin"],
            "BENCH_RUN": run, "BENCH_EVENTS": str(events)}


def sample_of(sample, events):
    """The sample with its rate in events per second; the cost remains that of a request."""
    return Sample(sample.rate * events, sample.cpu, sample.note)


def track(bench, events, run, duration):
    """Each answered request must have stored all its events."""
    stack = bench.stack
    stack.sql("TRUNCATE TABLE engagement_events")
    stack.settle()
    seen, sample = measured_load(bench, stack, SCRIPT, duration, page(stack, run, events))
    # At the end each connection may have one uncounted request in progress, whose events may still be written.
    counts = stack.sql("SELECT CONCAT(COUNT(*), ' ', COUNT(DISTINCT client_event_id)) FROM engagement_events "
                       "WHERE client_event_id LIKE %s", f"{run}-%")
    stored, different = map(int, counts.split())
    if stored != different or not seen.requests * events <= stored <= (seen.requests + CONNECTIONS) * events:
        raise BrokenMeasurement(f"{seen.requests} calls of {events} stored {stored} events, {different} different ones")
    return sample_of(sample, events)


def wait_for_writers(stack):
    """The floor answers requests that were in progress when the previous run ended; its events do not name their run."""
    end, unchanged, before = time.monotonic() + 10, 0, None
    while unchanged < 10:
        count = stack.sql("SELECT COUNT(*) FROM floor.engagement_events")
        unchanged = unchanged + 1 if count == before else 0
        before = count
        if time.monotonic() > end:
            raise BrokenMeasurement("the floor keeps writing events after its load has ended")
        time.sleep(0.05)  # lint: sleeps because it polls


def figure(bench, name, what, bar, events, measure_floor):
    """`measure_floor(seconds)`: the sample of the floor, in events per second."""
    stack = bench.stack
    stack.reset()
    stack.empty("floor.engagement_events")
    track(bench, events, f"{name}-warm", 1)
    measure_floor(1)
    runs = (f"{name}-{number}" for number in range(RUNS))

    def floor():
        wait_for_writers(stack)
        stack.sql("TRUNCATE TABLE floor.engagement_events")
        stack.settle()
        return measure_floor(seconds(bench))

    pairs = alternate(RUNS, lambda: track(bench, events, next(runs), seconds(bench)), floor)
    stack.reset()
    stack.empty("floor.engagement_events")
    return [rate_figure(name, what, bar, pairs, unit="events/s")]


def single(bench):
    """Compared with a minimal FastCGI program behind the same nginx that inserts and commits one event per request."""
    stack = bench.stack
    with BareServer(bench, "floor_track", stack.socket, stack.organizations[0]["id"]) as bare:
        def measure_floor(duration):
            before = stack.sql("SELECT COUNT(*) FROM floor.engagement_events")
            seen, sample = measured_load(bench, bare, SCRIPT, duration, page(stack, f"floor-{before}", 1))
            stored = stack.sql("SELECT COUNT(*) FROM floor.engagement_events") - before
            if not seen.requests <= stored <= seen.requests + CONNECTIONS:
                raise BrokenMeasurement(f"{seen.requests} requests of the floor stored {stored} events")
            return sample

        return figure(bench, "P7", "POST /v1/track, one event; floor: a bare FastCGI program, one INSERT a request",
                      2.0, 1, measure_floor)


def batches(bench):
    """Compared with INSERTs of as many rows over plain connections, without nginx or requests."""
    def measure_floor(duration):
        return writing_program(bench, "floor_events", duration, BATCH, requests_each=BATCH)

    return figure(bench, "P8", f"POST /v1/track, {BATCH} events; floor: an INSERT of {BATCH} rows, 8 connections",
                  0.8, BATCH, measure_floor)
