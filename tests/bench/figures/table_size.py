"""P6: the complete job with ten times as many existing members, compared with the same job with fewer."""

import time

from lib.figure import AT_MOST, BrokenMeasurement, Figure
from lib.people import people, write_members

FEW, MANY = 100_000, 1_000_000
RUNS = 3


def whole_job(bench):
    few, many = (FEW // 10, MANY // 10) if bench.quick else (FEW, MANY)
    yesterday = int(time.time() * 1000) - 86_400_000
    write_members(bench.stack.file("few.tsv"), people(few, seed=1), yesterday)
    write_members(bench.stack.file("more.tsv"), people(many - few, seed=2), yesterday + 3_600_000)
    runs = []
    for _ in range(min(bench.runs, RUNS)):
        small = job_among(bench, few, "few.tsv")
        large = job_among(bench, many, "few.tsv", "more.tsv")
        runs.append((large, small))
    return [Figure("P6", f"whole job, {many:,} members there already; floor: {few:,}", "s", 1.3, AT_MOST,
                   runs)]


def job_among(bench, members, *files):
    bench.stack.reset()
    loaded = sum(bench.stack.load_written(name) for name in files)
    if loaded != members:
        raise BrokenMeasurement(f"{loaded} members were loaded instead of {members}")
    bench.stack.settle()
    return bench.run_job(created_count=bench.rows).whole

