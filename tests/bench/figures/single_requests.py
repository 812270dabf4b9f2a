"""P9, P10: one member per request, read or created, over 64 keep-alive connections."""

from lib.client import Client
from lib.figure import BrokenMeasurement, alternate, rate_figure
from lib.floors import UserFloor, writing_program
from lib.wrk import CONNECTIONS, load, measured_load

RUNS = 5
READ_USERS = 1000
READ, CREATE = "get_user.lua", "post_user.lua"


def seconds(bench):
    return 2 if bench.quick else 6


def key(stack, organization=0):
    return stack.organizations[organization]["api_key"]


def read_user(bench):
    """Compared with a minimal FastCGI program that answers every request with the bytes of one such record."""
    bench.make_dumps()
    bench.load_people()
    environment = reading(bench.stack)
    with UserFloor(bench, one_answer(bench.stack, environment), environment) as floor:
        for port in (floor.server.port, bench.stack.port):  # warm-up
            load(port, READ, 1, environment)
        pairs = alternate(RUNS, lambda: measured_load(bench, bench.stack, READ, seconds(bench), environment)[1],
                          lambda: floor.measure(seconds(bench)))
    return [rate_figure("P9", "GET /v1/users/{id}; floor: a bare FastCGI program, fixed JSON", 0.6, pairs)]


def reading(stack, organization=0):
    """The environment of get_user.lua: the first members of the organization."""
    with stack.db.cursor() as cursor:
        cursor.execute("SELECT LOWER(HEX(user_id)) FROM members WHERE organization_id = UNHEX(%s) "
                       "ORDER BY external_id LIMIT %s",
                       (stack.organizations[organization]["id"].replace("-", ""), READ_USERS))
        ids = [row[0] for row in cursor.fetchall()]
    path = stack.file(f"paths-{organization}")
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"/v1/users/{i[:8]}-{i[8:12]}-{i[12:16]}-{i[16:20]}-{i[20:]}\n" for i in ids)
    return {"BENCH_KEY": key(stack, organization), "BENCH_PATHS": path}


def one_answer(stack, environment):
    with open(environment["BENCH_PATHS"], encoding="ascii") as file:
        return Client(stack).call("GET", file.readline().strip())


def create_user(bench):
    """Compared with the three rows that such a request writes, inserted without anything else."""
    bench.stack.reset()
    bench.stack.empty("floor.members", "floor.users", "floor.idempotency_keys")
    create(bench, "warm", 1)
    inserts(bench, 1)
    runs = (f"run{number}" for number in range(RUNS))
    pairs = alternate(RUNS, lambda: create(bench, next(runs), seconds(bench)), lambda: inserts(bench, seconds(bench)))
    return [rate_figure("P10", "POST /v1/users (new); floor: three prepared INSERTs, 8 connections", 0.9, pairs)]


def create(bench, run, duration):
    """Each request must have created a member. Requests that were in progress when the previous run ended belong to that run."""
    bench.stack.settle()
    environment = {"BENCH_KEY": key(bench.stack), "BENCH_RUN": run}
    seen, sample = measured_load(bench, bench.stack, CREATE, duration, environment)
    made = bench.stack.sql("SELECT COUNT(*) FROM members WHERE external_id LIKE %s", f"C-{run}-%")
    if not seen.requests <= made <= seen.requests + CONNECTIONS:
        raise BrokenMeasurement(f"{seen.requests} requests created {made} members")
    return sample


def inserts(bench, duration):
    bench.stack.settle()
    return writing_program(bench, "floor_inserts", duration)
