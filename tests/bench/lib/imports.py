"""A complete import and the floors of its phases, for the figures P1 to P6.

A phase of the runner lasts from its claim of the job to its end, both by the time stamps of the server: the wait for
a runner is P15, and the complete job (P5) includes all of it and the polling.
"""

import json
import time
from dataclasses import dataclass

from lib.client import Client, Job, milliseconds
from lib.figure import BrokenMeasurement
from lib.meter import Meter
from lib.people import bodies, people, write_row_each

SEED = 20261120
USER_COLUMNS = "id, email, created_at"
MEMBER_COLUMNS = ("organization_id, user_id, id, email, external_id, first_name, last_name, display_name, "
                  "locale, country, dob, attributes, status, locked_at, lock_reason, created_at, updated_at")
CALLS_AT_ONCE = 2


@dataclass
class JobTimes:
    """Seconds; cpu: by phase and service; job: its last record."""

    staging: float
    dry_run: float
    commit: float
    whole: float
    cpu: dict
    job: dict


class ImportBench:
    """One data set, one organization. `rows`: per job; `quick`: shorter measurements."""

    def __init__(self, stack, rows, runs, quick, baseline=None):
        self.stack, self.rows, self.runs, self.quick, self.baseline = stack, rows, runs, quick, baseline
        self.running = []  # other stacks and the servers of floors, which are part of the bench
        self.bodies = bodies(people(rows, SEED))
        write_row_each(stack.file("staged.tsv"), people(rows, SEED))
        self.clients = [Client(stack) for _ in range(CALLS_AT_ONCE)]
        self.have_dumps = False
        self.measured = None
        self.disturbance = 0.0  # of cycles()

    # ------------------------------------------------------------------------ the product
    def run_job(self, **expected):
        """One job from its creation to `completed`; its counts must be the expected ones."""
        self.connect()
        times, cpu = {}, {}
        began = time.monotonic()
        job = Job(self.clients[0], self.rows)
        with self.meter() as meter:
            job.stage(self.bodies, self.clients)
        times["staging"], cpu["staging"] = meter.seconds, meter.cpu()
        for phase, verb, state, stamp in (("dry_run", "validate", "validated", "updated_at"),
                                          ("commit", "commit", "completed", "completed_at")):
            with self.meter() as meter:
                job.move(verb)
                claimed = self.claim_of(job)
                record = job.wait(state)
            times[phase], cpu[phase] = (milliseconds(record[stamp]) - claimed) / 1000, meter.cpu()
        whole = time.monotonic() - began
        counts = {"staged_rows": self.rows, "valid_rows": self.rows, "invalid_rows": 0, "failed_count": 0,
                  **expected}
        wrong = {name: record[name] for name, count in counts.items() if record[name] != count}
        if wrong:
            raise BrokenMeasurement(f"an import's counts are {json.dumps(wrong)} instead of {counts}")
        return JobTimes(**times, whole=whole, cpu=cpu, job=record)

    def claim_of(self, job):
        """When a runner first claimed the job, in milliseconds since 1970."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            claimed = self.stack.sql("SELECT served_at FROM import_jobs WHERE id = UNHEX(%s)",
                                     job.id.replace("-", ""))
            if claimed:
                return claimed
            time.sleep(0.005)  # lint: sleeps because it polls
        raise BrokenMeasurement("no runner claimed the job")

    def connect(self):
        """New connections: nginx closes one that was idle for a minute."""
        for client in self.clients:
            client.connect()

    def expect_preview(self, times, merged):
        if times.job["preview"]["existing_members"] != merged:
            raise BrokenMeasurement(f"{times.job['preview']} instead of existing members: {merged}")

    def meter(self):
        return Meter(self.stack.services(), [pid for other in self.running for pid in other.services().values()])

    # ------------------------------------------------------------------------ data
    def make_dumps(self):
        """The warm-up import, and its rows as files for LOAD DATA. Runs once."""
        if self.have_dumps:
            return
        stack = self.stack
        stack.reset()
        self.run_job(created_count=self.rows)
        merge, known = "ASCII(RIGHT(user_id, 1)) % 4 = 0", "ASCII(RIGHT(id, 1)) % 4 IN (0, 1)"
        self.dump("users", USER_COLUMNS, "users.tsv", "1")
        self.dump("members", MEMBER_COLUMNS, "members.tsv", "1")
        self.dump("users", USER_COLUMNS, "users-half.tsv", known)
        self.dump("members", MEMBER_COLUMNS, "members-quarter.tsv", merge)
        self.have_dumps = True

    def dump(self, table, columns, name, condition):
        path = self.stack.file(name)
        key = "id" if table == "users" else "organization_id, user_id"
        self.stack.sql(f"SELECT {columns} FROM {self.stack.database}.{table} "
                       f"WHERE {condition} ORDER BY {key} "
                       f"INTO OUTFILE '{path}' CHARACTER SET binary")

    def load_people(self, users="users.tsv", members="members.tsv", columns=MEMBER_COLUMNS, assignments=""):
        """Replaces all people by the given ones; the numbers of users and of members."""
        self.stack.reset()
        load, database = self.stack.load, self.stack.database
        counts = (load(users, f"{database}.users", USER_COLUMNS),
                  load(members, f"{database}.members", columns, assignments))
        self.stack.settle()
        return counts

    # ------------------------------------------------------------------------ floors
    def timed_load(self, *loads):
        """The total seconds of the LOAD DATA statements, each (file, table, columns, assignments)."""
        self.stack.empty(*(table for _, table, *_ in loads))
        self.stack.settle()
        began = time.monotonic()
        loaded = [self.stack.load(*load) for load in loads]
        seconds = time.monotonic() - began
        if set(loaded) != {self.rows}:
            raise BrokenMeasurement(f"LOAD DATA wrote {loaded} rows instead of {self.rows}")
        return seconds

    def load_final_rows(self):
        return self.timed_load(("users.tsv", "floor.users", USER_COLUMNS),
                               ("members.tsv", "floor.members", MEMBER_COLUMNS))

    def load_staged_rows(self):
        organization = self.stack.organizations[0]["id"].replace("-", "")
        columns = "row_no, email, external_id, first_name, last_name, country, dob, attributes"
        ids = f"SET organization_id = UNHEX('{organization}'), job_id = UNHEX('{organization}')"
        return self.timed_load(("staged.tsv", "floor.staged_rows", columns, ids))

    # ------------------------------------------------------------------------ P1, P3, P4, P5
    def cycles(self):
        """Per run: ({floor: seconds}, JobTimes), an import of new members and its floors. Measured once for all."""
        if self.measured is None:
            self.make_dumps()
            with self.meter() as meter:
                self.measured = [self.cycle() for _ in range(self.runs)]
            self.disturbance = meter.others_share()
        return self.measured

    def cycle(self):
        floors = {"load": self.load_final_rows(), "stage": self.load_staged_rows()}
        self.stack.reset()
        self.stack.settle()
        return floors, self.run_job(created_count=self.rows)
