"""P20: the latency of one connection, and the rate of 256 connections compared with that of 64.

With --baseline the latencies are compared with those of another build, whose sandbox runs at the same time and is measured
in turns. Without it they are printed and have no verdict.
"""

import os
import time
from contextlib import contextmanager

from figures.single_requests import CREATE, READ, READ_USERS, key, reading
from lib.figure import AT_MOST, BrokenMeasurement, Figure, alternate, disturbance_of, rate_figure
from lib.floors import free_port
from lib.people import people, write_members
from lib.stack import Stack
from lib.wrk import CONNECTIONS, measured_load

RUNS = 5
MANY = 256
PREPARED = 1_760_000_000_000
OPERATIONS = {"GET /v1/users/{id}": READ, "POST /v1/users": CREATE}


def seconds(bench):
    return 2 if bench.quick else 5


def latency_and_connections(bench):
    fill(bench.stack)
    with baseline(bench) as before:
        figures = [figure for what, script in OPERATIONS.items() for figure in latencies(bench, before, what, script)]
    figures += [many_connections(bench, what, script) for what, script in OPERATIONS.items()]
    bench.stack.reset()
    return figures


def fill(stack):
    stack.reset()
    write_members(stack.file("few.tsv"), people(READ_USERS, seed=20), PREPARED)
    loaded = stack.load_written("few.tsv")
    if loaded != READ_USERS:
        raise BrokenMeasurement(f"{loaded} members were loaded instead of {READ_USERS}")
    stack.settle()


def tree_of(build):
    """The tree that a build belongs to: its sandbox fits its programs."""
    folder = build
    while not os.access(f"{folder}/tests/sandbox/start", os.X_OK):
        if folder == "/":
            raise BrokenMeasurement(f"--baseline {build} is not below a source tree")
        folder = os.path.dirname(folder)
    return folder


@contextmanager
def baseline(bench):
    """The stack of --baseline; None without it."""
    if not bench.baseline:
        yield None
        return
    stack = Stack(bench.baseline, free_port(), "bench-sandbox-baseline", tree_of(bench.baseline))
    try:
        stack.start()
        fill(stack)
        bench.running.append(stack)
        yield stack
    finally:
        bench.running = [other for other in bench.running if other is not stack]
        stack.stop()


def measure(bench, stack, script, connections):
    """(the Load, its Sample)"""
    environment = reading(stack) if script == READ else {"BENCH_KEY": key(stack), "BENCH_RUN": str(time.time_ns())}
    stack.settle()
    return measured_load(bench, stack, script, seconds(bench), environment, connections)


def latencies(bench, before, what, script):
    def of_one_connection(stack):
        seen, sample = measure(bench, stack, script, 1)
        return {"p50": seen.p50 * 1000, "p99": seen.p99 * 1000}, sample

    for stack in filter(None, (bench.stack, before)):
        of_one_connection(stack)  # warm-up
    if before:
        pairs = alternate(RUNS, lambda: of_one_connection(bench.stack), lambda: of_one_connection(before))
    else:
        pairs = [(of_one_connection(bench.stack), None) for _ in range(RUNS)]
    return [latency_figure(what, share, pairs, bool(before)) for share in ("p50", "p99")]


def latency_figure(what, share, pairs, is_compared):
    runs = [(value[0][share], floor[0][share] if floor else None) for value, floor in pairs]
    cpu = [(value[1].cpu, floor[1].cpu if floor else None) for value, floor in pairs]
    samples = [measured[1] for pair in pairs for measured in pair if measured]
    text = f"{what}, one connection, {share}" + ("; floor: the baseline" if is_compared else "")
    return Figure("P20", text, "µs", 1.0 if is_compared else None, AT_MOST, runs, within_spread=True, cpu=cpu,
                  disturbance=disturbance_of(samples))


def many_connections(bench, what, script):
    pairs = alternate(RUNS, lambda: measure(bench, bench.stack, script, MANY)[1],
                      lambda: measure(bench, bench.stack, script, CONNECTIONS)[1])
    return rate_figure("P20", f"{what}, {MANY} connections; floor: {CONNECTIONS}", 1.0, pairs, within_spread=True)
