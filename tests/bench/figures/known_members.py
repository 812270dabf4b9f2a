"""P2: the commit of rows of people who are already members, with all or some of their values, compared with P1's
floor."""

from lib.figure import AT_LEAST, Figure
from lib.imports import MEMBER_COLUMNS

# A member with empty fields: the file fills them, and existing values must be kept.
WITH_GAPS = MEMBER_COLUMNS.replace("dob, attributes", "@dob, @attributes")
GAPS = "SET dob = NULL, attributes = JSON_REMOVE(@attributes, '$.favourite_team')"
RUNS = 3


def commit(bench):
    bench.make_dumps()
    return [run(bench, "all existing members", "users.tsv", "members.tsv"),
            run(bench, "half new, quarter attach, quarter merge", "users-half.tsv", "members-quarter.tsv")]


def run(bench, what, users, members):
    runs, cpu = [], {}
    for _ in range(min(bench.runs, RUNS)):
        floor = bench.load_final_rows()
        known, merged = bench.load_people(users, members, WITH_GAPS, GAPS)
        times = bench.run_job(created_count=bench.rows - known, attached_count=known)
        bench.expect_preview(times, merged)
        runs.append((bench.rows / times.commit, bench.rows / floor))
        cpu = times.cpu["commit"]
    return Figure("P2", f"commit, {what}; floor as P1", "rows/s", 0.9, AT_LEAST, runs,
                  notes={"cpu_seconds_of_last_run": cpu})
