"""P7, P8: events that pages send to POST /v1/track, one or fifty per call, over 64 keep-alive connections."""

import os
import subprocess

from lib.figure import AT_LEAST, BrokenMeasurement, Figure
from lib.wrk import CONNECTIONS, BareServer, load, measured_load

RUNS = 3
BATCH = 50
SCRIPT = "post_track.lua"


def seconds(bench):
    return 2 if bench.quick else 8


def page(bench, run, events):
    """The parameters of the load script."""
    organization = bench.stack.organizations[0]
    return {"BENCH_KEY": organization["tracking_key"], "BENCH_ORIGIN": organization["allowed_origin"],
            "BENCH_RUN": run, "BENCH_EVENTS": str(events)}


def events_per_second(bench, events, run, duration):
    """(events/s, notes); each answered request must have stored all its events."""
    stack = bench.stack
    stack.sql("TRUNCATE TABLE engagement_events")
    stack.settle()
    seen, note = measured_load(bench, SCRIPT, duration, page(bench, run, events))
    # At the end each connection may have one uncounted request in progress, whose events may still be written.
    counts = stack.sql("SELECT CONCAT(COUNT(*), ' ', COUNT(DISTINCT client_event_id)) FROM engagement_events")
    stored, different = map(int, counts.split())
    if stored != different or not seen.requests * events <= stored <= (seen.requests + CONNECTIONS) * events:
        raise BrokenMeasurement(f"{seen.requests} calls of {events} stored {stored} events, {different} different ones")
    return seen.rate * events, note


def figure(bench, name, what, bar, events, measure_floor):
    """`measure_floor(seconds)`: the events per second of the floor."""
    stack = bench.stack
    stack.reset()
    stack.empty("floor.engagement_events")
    events_per_second(bench, events, f"{name}-warm", 1)
    measure_floor(1)
    runs, notes = [], []
    for number in range(RUNS):
        stack.sql("TRUNCATE TABLE floor.engagement_events")
        stack.settle()
        floor = measure_floor(seconds(bench))
        rate, note = events_per_second(bench, events, f"{name}-{number}", seconds(bench))
        runs.append((rate, floor))
        notes.append(note)
    stack.reset()
    stack.empty("floor.engagement_events")
    return [Figure(name, what, "events/s", bar, AT_LEAST, runs, notes={"of_each_run": notes})]


def single(bench):
    """Compared with a minimal FastCGI program behind the same nginx that inserts and commits one event per request."""
    stack = bench.stack
    with BareServer(stack, "floor_track", stack.socket, stack.organizations[0]["id"]) as bare:
        def measure_floor(duration):
            before = stack.sql("SELECT COUNT(*) FROM floor.engagement_events")
            seen = load(bare.port, SCRIPT, duration, page(bench, f"floor-{before}", 1))
            stored = stack.sql("SELECT COUNT(*) FROM floor.engagement_events") - before
            if not seen.requests <= stored <= seen.requests + CONNECTIONS:
                raise BrokenMeasurement(f"{seen.requests} requests of the floor stored {stored} events")
            return seen.rate

        return figure(bench, "P7", "POST /v1/track, one event; floor: a bare FastCGI program, one INSERT a request",
                      1.5, 1, measure_floor)


def batches(bench):
    """Compared with INSERTs of as many rows over plain connections, without nginx or requests."""
    program = os.path.join(bench.stack.build, "bench", "floor_events")
    arguments = (bench.stack.socket, bench.stack.organizations[0]["id"], "8")

    def measure_floor(duration):
        shown = subprocess.run([program, *arguments, str(duration), str(BATCH)], check=True, capture_output=True, text=True)
        return float(shown.stdout)

    return figure(bench, "P8", f"POST /v1/track, {BATCH} events; floor: an INSERT of {BATCH} rows, 8 connections",
                  0.6, BATCH, measure_floor)
