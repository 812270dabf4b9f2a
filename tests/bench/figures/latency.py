"""P15: how soon the runner claims a job. P16: a small job behind the large job of another tenant."""

import random
import statistics
import time

from lib.client import Client, Job, milliseconds
from lib.figure import AT_MOST, BrokenMeasurement, Figure, percentile
from lib.people import bodies, people

JOBS = 20
QUICK_POLL = 0.02


def runner_start(bench):
    """The time stamp of the heartbeat minus the time of the POST. The heartbeat may be that of the job's end, some
    milliseconds after its start, so this is an upper bound."""
    bench.stack.reset()
    client = Client(bench.stack)
    chance = random.Random(15)
    waits = []
    for number in range(JOBS):
        job = Job(client, 10)
        job.stage(bodies(people(10, seed=1000 + number)), [client])
        for verb, state in (("validate", "validated"), ("commit", "completed")):
            # Random: otherwise every POST would meet the runner at the same point of its cycle.
            time.sleep(chance.random() * 0.3)
            asked = job.move(verb)
            record = wait_for_heartbeat(job, asked)
            waits.append((milliseconds(record["heartbeat_at"]) - asked) / 1000)
            job.wait(state, QUICK_POLL)
    p95 = percentile(waits, 95)
    return [Figure("P15", f"POST validate/commit to the runner's start, p95 of {len(waits)}", "s", 1, AT_MOST,
                   [(p95, None)], compared="value",
                   notes={"median_s": round(statistics.median(waits), 3), "most_s": round(max(waits), 3)})]


def wait_for_heartbeat(job, asked):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        record = job.read()
        # One millisecond less: both clocks are truncated to milliseconds.
        if record["heartbeat_at"] and milliseconds(record["heartbeat_at"]) >= asked - 1:
            return record
        time.sleep(QUICK_POLL)
    raise BrokenMeasurement("the runner did not start within a minute")


# ---------------------------------------------------------------------------- P16
def small_job_behind_large(bench):
    bench.make_dumps()
    runs = []
    for number in range(2 if bench.quick else 3):
        bench.stack.reset()
        bench.stack.settle()
        idle = small_job(bench, 2 * number)
        behind = small_job_during_commit(bench, 2 * number + 1)
        runs.append((behind, idle))
    return [Figure("P16", f"100-row job while another tenant commits {bench.rows:,}; floor: idle", "s",
                   5, AT_MOST, runs, compared="value")]


def small_job(bench, seed):
    """Seconds from the creation to `completed`, for the second organization."""
    client = Client(bench.stack, organization=1)
    rows = bodies(people(100, seed=2000 + seed))
    began = time.monotonic()
    job = Job(client, 100)
    job.stage(rows, [client])
    job.move("validate")
    job.wait("validated", QUICK_POLL)
    job.move("commit")
    record = job.wait("completed", QUICK_POLL)
    if record["created_count"] != 100:
        raise BrokenMeasurement(f"the small job created {record['created_count']} members")
    return time.monotonic() - began


def small_job_during_commit(bench, seed):
    """The same, started when the large job of the first organization has committed its first rows."""
    bench.connect()
    large = Job(bench.clients[0], bench.rows)
    large.stage(bench.bodies, bench.clients)
    large.move("validate")
    large.wait("validated")
    large.move("commit")
    while not large.read()["created_count"]:
        time.sleep(QUICK_POLL)
    seconds = small_job(bench, seed)
    still = large.read()["state"]
    large.wait("completed")
    if still != "committing" and not bench.quick:
        raise BrokenMeasurement("the large job ended before the small one, so the measurement is invalid")
    return seconds
