"""How the costs grow with the number of members and events: `make bench ONLY=growth`.

Writes BUILD/bench-growth.json, and BUILD/bench-growth.svg as a plot of it. Every list page has the same number of entries at
each size, so only the tables grow.
"""

import json
import os
from urllib.parse import urlencode

from figures.single_requests import key, reading
from lib.client import Client
from lib.figure import AT_MOST, BrokenMeasurement, Figure, rounded
from lib.people import people, write_members
from lib.plot import write_plot
from lib.wrk import load, measured_load

SIZES = (10_000, 100_000, 1_000_000)
QUICK_SIZES = (1_000, 10_000, 100_000)
PREPARED = 1_760_000_000_000
PAGE = 50
PAGES = 10
EVENTS_EACH = PAGE  # of the members that have events: one full page
RUNS = 3
SCRIPT = "get_user.lua"
# One was received per millisecond.
EVENTS = f"""INSERT INTO engagement_events
    (organization_id, id, member_id, action, tags, client_event_id, occurred_at, received_at)
SELECT organization_id, UNHEX(CONCAT(LPAD(HEX({PREPARED} + n), 12, '0'), '7', LEFT(SHA2(CONCAT(HEX(id), n), 256), 19))), id,
    'page_viewed', '["pricing","spring"]', CONCAT(HEX(id), '-', n), {PREPARED} + n, {PREPARED} + n
FROM (SELECT organization_id, id, (ROW_NUMBER() OVER (ORDER BY external_id) - 1) + seq * %s AS n
      FROM (SELECT * FROM members ORDER BY external_id LIMIT %s) AS active JOIN seq_0_to_{EVENTS_EACH - 1}) AS numbered"""


def sizes(bench):
    found = [of_size(bench, size) for size in (QUICK_SIZES if bench.quick else SIZES)]
    bench.stack.reset()
    path = os.path.join(bench.stack.build, "bench-growth.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"settings": {**bench.stack.settings(), "rows": bench.rows, "quick": bench.quick}, "sizes": found},
                  file, indent=1)
        file.write("\n")
    write_plot(path, os.path.join(bench.stack.build, "bench-growth.svg"))
    return [growth_figure(name, found) for name in found[0]["cost"]]


def growth_figure(name, found):
    """The largest size, compared with the smallest one."""
    small, large = found[0], found[-1]
    high, low = large["cost"][name], small["cost"][name]
    what = f"{name}, {large['size']:,} members and events; floor: {small['size']:,}"
    return Figure("growth", what, high["unit"], None, AT_MOST, [(high["value"], low["value"])], cpu=[(high["cpu"], low["cpu"])])


def of_size(bench, size):
    print(f" {size:,}", end="", flush=True)
    fill(bench.stack, size)
    environment = reading(bench.stack)
    with open(environment["BENCH_PATHS"], encoding="ascii") as file:
        users = file.read().split()
    # The members with events are the first ones.
    events = [f"{user}/engagement/events?" + urlencode({"limit": PAGE}) for user in users[:size // EVENTS_EACH]]
    expect_full_pages(bench.stack, (events[0], events[-1]))
    cost = {
        "GET /v1/users/{id}": requests(bench, users),
        f"GET /v1/users, {PAGE} of them": requests(bench, list_paths(bench.stack)),
        f"GET …/engagement/events, {PAGE} of them": requests(bench, events),
        # At the end, because it adds members.
        f"import of {bench.rows:,} rows": import_rows(bench),
    }
    return {"size": size, "cost": cost}


def fill(stack, size):
    stack.reset()
    write_members(stack.file("many.tsv"), people(size, seed=31), PREPARED)
    active = size // EVENTS_EACH
    counts = stack.load_written("many.tsv"), stack.sql(EVENTS, active, active)
    if counts != (size, size):
        raise BrokenMeasurement(f"{counts} members and events were stored instead of {size} each")
    stack.settle()


def expect_full_pages(stack, paths):
    client = Client(stack)
    for path in paths:
        if client.call("GET", path).count(b'"received_at":') != PAGE:
            raise BrokenMeasurement(f"{path} is not a full page")


def list_paths(stack):
    """The first pages of GET /v1/users, each with its cursor."""
    client, paths = Client(stack), ["/v1/users?" + urlencode({"limit": PAGE})]
    while len(paths) < PAGES:
        following = json.loads(client.call("GET", paths[-1]))["next_cursor"]
        paths.append("/v1/users?" + urlencode({"limit": PAGE, "cursor": following}))
    return paths


def requests(bench, paths):
    """The processor time of a request in microseconds, over 64 connections; the median of some runs."""
    environment = {"BENCH_KEY": key(bench.stack), "BENCH_PATHS": bench.stack.file("growth-paths")}
    with open(environment["BENCH_PATHS"], "w", encoding="ascii") as file:
        file.writelines(path + "\n" for path in paths)
    load(bench.stack.port, SCRIPT, 1, environment)  # warm-up
    seconds = 1 if bench.quick else 4
    samples = [measured_load(bench, bench.stack, SCRIPT, seconds, environment)[1] for _ in range(RUNS)]
    middle = sorted(samples, key=lambda sample: sum(sample.cpu.values()))[RUNS // 2]
    return {"unit": "µs of CPU", "value": round(sum(middle.cpu.values()), 1), "cpu": middle.cpu, "rate": rounded(middle.rate),
            "others_share": middle.note["others_share"]}


def import_rows(bench):
    times = bench.run_job(created_count=bench.rows)
    return {"unit": "rows/s", "value": rounded(bench.rows / times.whole), "cpu": {}, "seconds": round(times.whole, 3)}
