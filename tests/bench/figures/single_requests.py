"""P9, P10: one member per request, read or created, over 64 keep-alive connections."""

import os
import subprocess

from lib.client import Client
from lib.figure import AT_LEAST, BrokenMeasurement, Figure
from lib.wrk import CONNECTIONS, fixed_server, load, measured_load

RUNS = 3
READ_USERS = 1000


def seconds(bench):
    return 2 if bench.quick else 8


def key(bench):
    return bench.stack.organizations[0]["api_key"]


def read_user(bench):
    """Compared with a minimal FastCGI program that answers every request with the bytes of one such record."""
    bench.make_dumps()
    bench.load_people()
    environment = {"BENCH_KEY": key(bench), "BENCH_PATHS": write_paths(bench)}
    with open(environment["BENCH_PATHS"], encoding="ascii") as file:
        answer = Client(bench.stack).call("GET", file.readline().strip())
    runs, notes = [], []
    with fixed_server(bench.stack, answer) as fixed:
        for port in (fixed.port, bench.stack.port):  # warm-up
            load(port, "get_user.lua", 1, environment)
        for _ in range(RUNS):
            floor = load(fixed.port, "get_user.lua", seconds(bench), environment)
            seen, note = measured_load(bench, "get_user.lua", seconds(bench), environment)
            runs.append((seen.rate, floor.rate))
            notes.append(note)
    return [Figure("P9", "GET /v1/users/{id}; floor: a bare FastCGI program, fixed JSON", "req/s",
                   0.35, AT_LEAST, runs, notes={"of_each_run": notes})]


def write_paths(bench):
    with bench.stack.db.cursor() as cursor:
        cursor.execute(f"SELECT HEX(user_id) FROM members ORDER BY external_id LIMIT {READ_USERS}")
        ids = [row[0].lower() for row in cursor.fetchall()]
    path = bench.stack.file("paths")
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"/v1/users/{i[:8]}-{i[8:12]}-{i[12:16]}-{i[16:20]}-{i[20:]}\n" for i in ids)
    return path


def create_user(bench):
    """Compared with the three rows that such a request writes, inserted without anything else."""
    bench.stack.reset()
    bench.stack.empty("floor.members", "floor.users", "floor.idempotency_keys")
    create(bench, "warm", 1)
    inserts_per_second(bench, 1)
    runs, notes = [], []
    for number in range(RUNS):
        floor = inserts_per_second(bench, seconds(bench))
        rate, note = create(bench, f"run{number}", seconds(bench))
        runs.append((rate, floor))
        notes.append(note)
    return [Figure("P10", "POST /v1/users (new); floor: three prepared INSERTs, 8 connections", "req/s",
                   0.5, AT_LEAST, runs, notes={"of_each_run": notes})]


def create(bench, run, duration):
    """(requests/s, notes); each request must have created a member."""
    before = bench.stack.sql("SELECT COUNT(*) FROM members")
    bench.stack.settle()
    seen, note = measured_load(bench, "post_user.lua", duration, {"BENCH_KEY": key(bench), "BENCH_RUN": run})
    made = bench.stack.sql("SELECT COUNT(*) FROM members") - before
    if not seen.requests <= made <= seen.requests + CONNECTIONS:
        raise BrokenMeasurement(f"{seen.requests} requests created {made} members")
    return seen.rate, note


def inserts_per_second(bench, duration):
    bench.stack.settle()
    program = os.path.join(bench.stack.build, "bench", "floor_inserts")
    organization = bench.stack.organizations[0]["id"]
    shown = subprocess.run([program, bench.stack.socket, organization, "8", str(duration)], check=True,
                           capture_output=True, text=True)
    return float(shown.stdout)
