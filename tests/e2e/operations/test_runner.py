"""The runner: killed at any moment, several in parallel, and rows and jobs that cannot be processed (docs/api/imports.md
"Imports").

These tests start their own runner with a short lease, so that the job of a killed one can be taken over immediately.
"""

import random
import signal
import time
from contextlib import contextmanager

import pytest
from support.stack import wait_for
from support.world import email, emails

pytestmark = pytest.mark.usefixtures("no_runner")
LARGE = 90  # seconds that a test waits for a large job, on a busy machine
# A runner that stops within a transaction keeps its locks until the server closes its connection.
SHORT_LEASE = {"MUSTER_JOBS_LEASE": "5", "MUSTER_DATABASE_IDLE_TIMEOUT": "10"}


def column(stack, job_id, name):
    ((value,),) = stack.sql(f"SELECT {name} FROM import_jobs WHERE id = UNHEX(REPLACE(%s, '-', ''))", job_id)
    return value


def expire_lease(stack, job_id):
    """Ends the lease of the job."""
    stack.sql("UPDATE import_jobs SET lease_until = 0 WHERE id = UNHEX(REPLACE(%s, '-', ''))", job_id)


def kill(runner):
    runner.send_signal(signal.SIGKILL)
    runner.wait(10)


@contextmanager
def running(stack, count=1, env=None):
    """Runners that are stopped at the end of the block."""
    runners = [stack.spawn_runner(seconds=600, env=SHORT_LEASE | (env or {})) for _ in range(count)]
    try:
        yield runners
    finally:
        for runner in runners:
            if runner.poll() is None:
                runner.send_signal(signal.SIGCONT)  # a stopped process would not receive SIGTERM
                runner.terminate()
        for runner in runners:
            runner.wait(20)


@contextmanager
def locked_address(stack, address):
    """Another transaction has inserted this user and is still open, so a transaction that writes the row waits."""
    holder = stack.connect(autocommit=False)
    try:
        with holder.cursor() as cursor:
            cursor.execute("INSERT INTO users (id, email, created_at) VALUES (UNHEX(LEFT(SHA2(%s, 256), 32)), %s, 0)", (address, address))
        yield
    finally:
        holder.rollback()
        holder.close()


@contextmanager
def rejected_addresses(stack, timing, table, condition):
    """Makes the database reject some rows."""
    name = f"e2e_refuse_{table}_{timing.split()[-1].lower()}"
    stack.sql(f"CREATE TRIGGER {name} {timing} ON {table} FOR EACH ROW BEGIN IF {condition} THEN "
              "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF; END")
    try:
        yield
    finally:
        stack.sql(f"DROP TRIGGER {name}")


@pytest.fixture
def large_import(new_org):
    """An organization with members, people known to another organization, new people, and some invalid rows."""
    org, elsewhere = new_org(), new_org(attributes=False)
    addresses = emails(40_000, "crowd")
    own, foreign = addresses[::3], addresses[1::6]
    for owner, known in ((org, own), (elsewhere, foreign)):
        job_id = owner.staged([{"email": address, "first_name": "Before", "locale": "xx"} for address in known])
        owner.validate(job_id)
        owner.stack.run_once()
        owner.commit(job_id)
        owner.stack.run_once()
    payloads = [{"email": address, "first_name": "After", "last_name": f"L{n}", "attributes": {"points": n}}
                for n, address in enumerate(addresses)]
    bad = set(range(50, 40_000, 400))
    for number in bad:
        payloads[number]["attributes"] = {"points": "x"}
    return org, payloads, {"own": set(own), "foreign": set(foreign), "bad": {addresses[n] for n in bad}}


def assert_imported_once(org, job_id, payloads, sets):
    """Counts, row outcomes and members equal those of one uninterrupted commit."""
    job = org.job(job_id)
    good = [payload for payload in payloads if payload["email"] not in sets["bad"]]
    merged = sum(payload["email"] in sets["own"] for payload in good)
    attached = sum(payload["email"] in sets["foreign"] for payload in good)
    assert job["state"] == "completed" and job["processed_rows"] == job["staged_rows"] == len(payloads)
    assert (job["valid_rows"], job["invalid_rows"]) == (len(good), len(sets["bad"]))
    assert job["preview"] == {"new_members": len(good) - merged, "existing_members": merged}
    assert (job["created_count"], job["attached_count"], job["failed_count"]) == (
        len(good) - merged - attached, attached + merged, 0)
    rows = org.rows(job_id, whole=False, limit=1000)
    assert [row["row_number"] for row in rows] == list(range(1, len(payloads) + 1))
    members = org.members()
    assert set(members) == sets["own"] | {payload["email"] for payload in good}
    for row, payload in zip(rows, payloads):
        address = payload["email"]
        if address in sets["bad"]:
            assert row["state"] == "invalid" and row["user_id"] is None
            continue
        want = "merged" if address in sets["own"] else "attached" if address in sets["foreign"] else "created"
        member = members[address]
        assert row["state"] == want, row
        assert row["user_id"].replace("-", "") == member["user_id"].hex()
        assert member["first_name"] == ("Before" if want == "merged" else "After")
        assert (member["last_name"], member["attributes"]["points"][:2]) == (
            payload["last_name"], [payload["attributes"]["points"], "import"])
    (count,) = org.stack.sql("SELECT COUNT(*) FROM users WHERE email LIKE 'crowd.%%'")
    assert count[0] >= len(payloads) - len(sets["bad"])


# ---------------------------------------------------------------------------- killed


def work_and_kill(stack, job_id, until, seed):
    """Kills the runner at random moments: every third time at any moment, otherwise after some progress.
    Returns how many kills happened in the middle of the work."""
    dice, kills = random.Random(seed), 0
    first = column(stack, job_id, "processed_rows")
    for number in range(100):
        before = column(stack, job_id, "processed_rows")
        runner = stack.spawn_runner(env=SHORT_LEASE)
        if number % 3 != 2:
            wait_for(
                lambda: column(stack, job_id, "processed_rows") > before or column(stack, job_id, "state") == until,
                "progress of the runner", every=0.002,
            )
        time.sleep(dice.uniform(0, 0.06))  # a random moment, not a wait for an event
        kill(runner)
        if column(stack, job_id, "state") == until:
            break
        kills += column(stack, job_id, "processed_rows") > first
        expire_lease(stack, job_id)
    assert column(stack, job_id, "state") == until
    return kills


def test_a_commit_killed_repeatedly_applies_every_row_once(large_import, stack):
    org, payloads, sets = large_import
    job_id = org.staged(payloads)
    org.validate(job_id)
    stack.run_once()
    org.commit(job_id)
    assert work_and_kill(stack, job_id, "completed", 20261121) >= 2
    assert_imported_once(org, job_id, payloads, sets)


def test_a_dry_run_killed_repeatedly_counts_every_row_once(large_import, stack):
    org, payloads, sets = large_import
    job_id = org.staged(payloads)
    org.validate(job_id)
    assert work_and_kill(stack, job_id, "validated", 7) >= 2
    org.commit(job_id)
    stack.run_once()
    assert_imported_once(org, job_id, payloads, sets)


def test_duplicates_are_found_across_an_interrupted_dry_run(org, stack):
    addresses = emails(12_000)
    job_id = org.staged([{"email": address} for address in addresses + addresses[:3000]])
    org.validate(job_id)
    last_block = ("SELECT 1 FROM import_blocks WHERE organization_id = UNHEX(REPLACE(%s, '-', '')) AND job_id = UNHEX(REPLACE(%s, '-', '')) "
                  "ORDER BY block_no DESC, part DESC LIMIT 1")
    with stack.locked(last_block, org.id, job_id):
        runner = stack.spawn_runner(env=SHORT_LEASE)
        wait_for(lambda: column(stack, job_id, "processed_rows") > 0, "the dry run to begin", every=0.001)
        kill(runner)
    assert column(stack, job_id, "state") == "validating" and 0 < column(stack, job_id, "processed_rows") < 15_000
    expire_lease(stack, job_id)
    stack.run_once()
    job = org.job(job_id)
    assert (job["valid_rows"], job["invalid_rows"]) == (12_000, 3000)
    assert [row["row_number"] for row in org.rows(job_id, whole=False, state="invalid", limit=1000)] == list(
        range(12_001, 15_001))


def test_the_job_of_a_killed_runner_is_taken_over_when_its_lease_expires(org, stack):
    payloads = [{"email": address} for address in emails(20_000)]
    job_id = org.staged(payloads)
    org.validate(job_id)
    stack.run_once()
    org.commit(job_id)
    with locked_address(stack, payloads[-1]["email"]):
        runner = stack.spawn_runner(seconds=600, env=SHORT_LEASE)
        wait_for(lambda: column(stack, job_id, "created_count") >= 15_000, "all but the last unit", seconds=LARGE)
        kill(runner)
    assert org.job(job_id)["state"] == "committing"
    owner = column(stack, job_id, "lease_owner")
    killed_at = time.monotonic()
    with running(stack):
        wait_for(lambda: column(stack, job_id, "lease_owner") != owner, "another runner to take over", every=0.02)
        assert time.monotonic() - killed_at < 15
        job = org.state_is(job_id, "completed", seconds=LARGE)
    assert (job["created_count"], job["failed_count"]) == (20_000, 0)
    assert len(org.members()) == 20_000


def test_a_runner_that_is_stopped_releases_its_job_immediately(org, stack):
    job_id = org.staged([{"email": address} for address in emails(20_000)])
    org.validate(job_id)
    stack.run_once()
    org.commit(job_id)
    with running(stack, env={"MUSTER_JOBS_LEASE": "600"}) as (runner,):
        wait_for(lambda: column(stack, job_id, "created_count") > 0, "the commit to begin", every=0.002)
        runner.terminate()
        assert runner.wait(20) == 0
    stack.run_once()  # would wait ten minutes for a lease that was not released
    assert org.job(job_id)["created_count"] == 20_000


# ---------------------------------------------------------------------------- several


def test_several_runners_process_each_row_once(large_import, new_org, stack):
    org, payloads, sets = large_import
    others = [new_org(attributes=False) for _ in range(3)]
    job_id = org.staged(payloads)
    other_jobs = [other.staged([{"email": address} for address in emails(2000)]) for other in others]
    org.validate(job_id)
    for other, other_id in zip(others, other_jobs):
        other.commit(other_id, json={"dry_run": False})
    with running(stack, count=4):
        org.state_is(job_id, "validated", seconds=LARGE)
        org.commit(job_id)
        for other, other_id in zip(others, other_jobs):
            wait_for(lambda: other.job(other_id)["state"] == "completed", "a small job")
        org.state_is(job_id, "completed", seconds=LARGE)
    assert_imported_once(org, job_id, payloads, sets)
    for other, other_id in zip(others, other_jobs):
        assert other.job(other_id)["created_count"] == len(other.members()) == 2000


def test_a_small_job_does_not_wait_for_a_large_one(new_org, stack):
    large, small = new_org(attributes=False), new_org(attributes=False)
    large_id = large.staged([{"email": address} for address in emails(120_000, "large")])
    small_id = small.staged([{"email": address} for address in emails(100, "small")])
    large.commit(large_id, json={"dry_run": False})
    with running(stack):
        wait_for(lambda: column(stack, large_id, "processed_rows") > 0, "the large job to begin", every=0.002)
        small.commit(small_id, json={"dry_run": False})
        wait_for(lambda: small.job(small_id)["state"] == "completed", "the small job")
        assert large.job(large_id)["state"] in ("validating", "validated", "committing")
        wait_for(lambda: large.job(large_id)["state"] == "completed", "the large job", seconds=LARGE)
    assert large.job(large_id)["created_count"] == 120_000


def test_a_job_canceled_during_its_dry_run_remains_canceled(org, stack):
    job_id = org.staged([{"email": address} for address in emails(40_000)])
    org.validate(job_id)
    with running(stack):
        wait_for(lambda: column(stack, job_id, "processed_rows") > 0, "the dry run to begin", every=0.001)
        job = org.cancel(job_id).json()
        next_id = org.staged([{"email": email()}])
        org.validate(next_id)
        org.state_is(next_id, "validated")
    assert org.job(job_id) == job and job["state"] == "canceled"
    assert {row["state"] for row in org.rows(job_id, whole=False, limit=1000)} <= {"staged", "valid"}


def test_a_runner_that_was_suspended_past_its_lease_is_harmless(large_import, stack):
    org, payloads, sets = large_import
    job_id = org.staged(payloads)
    org.validate(job_id)
    stack.run_once()
    org.commit(job_id)
    first = column(stack, job_id, "processed_rows")
    with running(stack) as (sleeper,):
        wait_for(lambda: column(stack, job_id, "processed_rows") > first, "the commit to begin", every=0.002)
        sleeper.send_signal(signal.SIGSTOP)
        owner = column(stack, job_id, "lease_owner")
        expire_lease(stack, job_id)
        with running(stack):
            wait_for(lambda: column(stack, job_id, "lease_owner") != owner, "another runner to take over", every=0.002)
            sleeper.send_signal(signal.SIGCONT)
            org.state_is(job_id, "completed", seconds=LARGE)
    assert_imported_once(org, job_id, payloads, sets)


# ---------------------------------------------------------------------------- rows that cannot be written


def test_a_row_that_the_database_rejects_fails_alone(org, new_org, stack):
    elsewhere = new_org(attributes=False)
    payloads = [{"email": address, "first_name": "New"} for address in emails(1600)]
    refused = {0, 1, 499, 500, 777, 1599}
    for number in (777, 778):
        elsewhere.create_user({"email": payloads[number]["email"]})
    for number in (499, 498):
        org.create_user({"email": payloads[number]["email"]})
    job_id = org.staged(payloads)
    org.validate(job_id)
    stack.run_once()
    org.commit(job_id)
    listed = ",".join(f"'{payloads[number]['email']}'" for number in refused)
    by_user = f"(SELECT email FROM users WHERE id = NEW.user_id) IN ({listed})"
    with rejected_addresses(stack, "BEFORE INSERT", "members", by_user), \
            rejected_addresses(stack, "BEFORE UPDATE", "members", by_user):
        stack.run_once()
    job = org.job(job_id)
    assert job["state"] == "completed" and job["failed_count"] == len(refused)
    assert (job["created_count"], job["attached_count"]) == (1600 - 4 - 4, 2)
    failed = org.rows(job_id, state="failed")
    assert {row["row_number"] - 1 for row in failed} == refused
    assert {(row["error_code"], row["user_id"]) for row in failed} == {("ROW_WRITE_FAILED", None)}
    assert org.report(job_id).count(b"ROW_WRITE_FAILED") == len(refused)
    members = org.members()
    assert {n for n, payload in enumerate(payloads) if payload["email"] not in members} == refused - {499}
    assert members[payloads[499]["email"]]["first_name"] is None

    again = org.staged([payloads[number] for number in sorted(refused)])
    org.validate(again)
    stack.run_once()
    org.commit(again)
    stack.run_once()
    assert (org.job(again)["created_count"], org.job(again)["attached_count"]) == (4, 2)


def test_a_rejected_address_leaves_no_partial_rows(org, stack):
    payloads = [{"email": address} for address in emails(10)]
    job_id = org.staged(payloads)
    org.validate(job_id)
    stack.run_once()
    org.commit(job_id)
    with rejected_addresses(stack, "BEFORE INSERT", "users", f"NEW.email = '{payloads[4]['email']}'"):
        stack.run_once()
    assert org.outcomes(job_id)[5] == "ROW_WRITE_FAILED" and len(org.members()) == 9
    with rejected_addresses(stack, "BEFORE INSERT", "members", f"NEW.organization_id = UNHEX('{org.id.replace('-', '')}')"):
        late = org.staged([{"email": email("half")}])
        org.validate(late)
        stack.run_once()
        org.commit(late)
        stack.run_once()
    assert org.job(late)["failed_count"] == 1
    assert stack.sql("SELECT COUNT(*) FROM users WHERE email LIKE 'half.%%'") == [(0,)]


def test_a_job_with_unreadable_rows_fails_after_its_attempts(org, stack):
    payloads = [{"email": address} for address in emails(1000)]
    job_id = org.staged(payloads)
    org.validate(job_id)
    stack.run_once()
    stack.sql("UPDATE import_blocks SET data = CONCAT(data, 'x') WHERE block_no = 1 AND "
              "job_id = UNHEX(REPLACE(%s, '-', ''))", job_id)
    org.commit(job_id)
    with running(stack):
        wait_for(lambda: column(stack, job_id, "state") == "failed" or expire_lease(stack, job_id),
                 "the job to fail", every=0.05)
    job = org.job(job_id)
    assert job["failure"]["code"] == "IMPORT_ATTEMPTS_EXHAUSTED" and job["failure"]["message"]
    assert job["completed_at"] is not None and job["preview"] == {"new_members": 1000, "existing_members": 0}
    for word in ("corrupt", "block", "std::", "SELECT"):
        assert word not in job["failure"]["message"].lower()
    org.commit(job_id, expect=409, code="IMPORT_JOB_INVALID_STATE")
    org.cancel(job_id, expect=409, code="IMPORT_JOB_INVALID_STATE")
    assert [entry["id"] for entry in org.api.get_json("/v1/imports", params={"state": "failed"})["imports"]] == [job_id]
    org.create_import()  # the slot is free


def test_a_failed_dry_run_ends_the_job_and_writes_nothing(org, stack):
    job_id = org.staged([{"email": email()}])
    stack.sql("UPDATE import_blocks SET data = 'x' WHERE job_id = UNHEX(REPLACE(%s, '-', ''))", job_id)
    org.validate(job_id)
    with running(stack, env={"MUSTER_JOBS_ATTEMPTS": "2"}):
        job = org.state_is(job_id, "failed")
    assert job["preview"] is None and org.members() == {}


def test_a_job_that_crashes_its_runners_fails(org, stack):
    payloads = [{"email": email()}]
    job_id = org.staged(payloads)
    org.validate(job_id)
    stack.run_once()
    org.commit(job_id)
    with locked_address(stack, payloads[0]["email"]):
        for number in range(5):
            runner = stack.spawn_runner(env=SHORT_LEASE)
            wait_for(lambda: column(stack, job_id, "attempts") == number + 1, "the next attempt", every=0.005)
            kill(runner)
            expire_lease(stack, job_id)
    stack.run_once()
    assert org.job(job_id)["state"] == "failed"
    assert org.members() == {}


def test_one_failing_job_does_not_block_the_others(org, new_org, stack):
    bad_id = org.staged([{"email": email()}])
    stack.sql("UPDATE import_blocks SET data = 'x' WHERE job_id = UNHEX(REPLACE(%s, '-', ''))", bad_id)
    org.validate(bad_id)
    other = new_org(attributes=False)
    other_id = other.staged([{"email": address} for address in emails(50)])
    other.commit(other_id, json={"dry_run": False})
    with running(stack):
        wait_for(lambda: other.job(other_id)["state"] == "completed", "the other job")
    assert org.job(bad_id)["state"] == "validating"
    org.cancel(bad_id)


# ---------------------------------------------------------------------------- the program


@pytest.mark.parametrize("arguments, status", [
    ([], 2), (["nonsense"], 2), (["imports", "purge"], 2), (["--for", "x", "imports"], 2), (["--for", "-1", "imports"], 2),
    (["--unknown", "imports"], 2), (["--help"], 0), (["--version"], 0), (["--for", "0", "imports"], 0),
])
def test_help_version_and_errors_of_the_command_line(stack, arguments, status):
    done = stack.program("muster-run", *arguments, env={"MUSTER_CONFIG": stack.config})
    assert done.returncode == status, done
    assert ("Usage:" in done.stdout) == (arguments == ["--help"])
    assert ("(see muster-run --help)" in done.stderr) == (status == 2)


@pytest.mark.parametrize("arguments, reason", [
    ([], "the kind of work is missing; use imports, webhooks, mail, connections, purge or all"),
    (["frob"], 'unknown kind "frob"; use imports, webhooks, mail, connections, purge or all'),
    (["imports", "purge"], "unexpected argument purge; name one kind of work"),
    (["--for=x", "imports"], '--for is "x"; use a number of seconds such as 55s'),
    (["--fro", "1", "imports"], "unknown option --fro; did you mean --for?"),
    (["imports", "--for"], "--for needs a value: --for SECONDS[s]"),
])
def test_an_error_of_the_command_line_is_one_line(stack, arguments, reason):
    assert stack.program("muster-run", *arguments).stderr == f"muster-run: {reason} (see muster-run --help)\n"


def test_at_log_level_warning_it_prints_nothing(org, stack):
    job_id = org.staged([{"email": email()}])
    org.validate(job_id)
    done = stack.program("muster-run", "--config", stack.config, "--for", "1s", "all", env={"MUSTER_LOG_LEVEL": "warning"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert org.job(job_id)["state"] == "validated"


def test_without_its_database_it_exits_with_1_and_a_reason(stack):
    done = stack.program("muster-run", "--config", stack.config, "--for", "1s", "imports",
                         env={"MUSTER_DATABASE_URL": f"unix:{stack.folder}/nowhere.sock"})
    assert done.returncode == 1
    assert done.stderr == "muster-run: the database does not answer: check database.url in the configuration\n"


def test_a_rejected_database_user_is_the_reason(stack):
    done = stack.program("muster-run", "--config", stack.config, "--for", "1s", "imports",
                         env={"MUSTER_DATABASE_PASSWORD": "s3cret"})
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("muster-run: access denied for database.user: check its password and grants, or")
    assert "s3cret" not in done.stderr
