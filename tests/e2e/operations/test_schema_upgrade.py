"""Upgrades of the schema: interrupted at any moment, under load, behind a transaction that remains open; and what each
program reports about a schema that is older, newer and usable, or too new.

The database of the stack is put back to version 5 by removing what upgrade 6 added. What upgrades 7 and later added
remains, and they find it done. The other databases are separate.
"""

import json
import os
import random
import shutil
import subprocess
import time
from contextlib import contextmanager

import pymysql
import pytest
from support.load import Load
from support.stack import AS_ROOT, wait_for
from support.world import emails

NAME = "e2e_upgrade"
OWN_DATABASE = AS_ROOT | {"MUSTER_DATABASE_NAME": NAME}
DONE, NOT_DONE, MIGRATE, INIT = 0, 1, 3, 4
# The longest lock wait of a migration before it yields (service::MigrationTimeouts), and a margin for a busy machine.
LONGEST_WAIT = 2 + 3
TEN = "(SELECT 0 AS n" + "".join(f" UNION ALL SELECT {n}" for n in range(1, 10)) + ")"
NUMBERS = f"(SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n AS n FROM {TEN} a, {TEN} b, {TEN} c, {TEN} d) AS numbers"
PEOPLE = 10_000


def statements(path):
    text = "\n".join(line.split("--")[0] for line in path.read_text(encoding="utf-8").splitlines())
    return filter(str.strip, text.split(";"))


@pytest.fixture
def old(stack):
    """A database of version 1 with 10,000 members, in addition to the stack's."""
    stack.sql(f"DROP DATABASE IF EXISTS {NAME}")
    stack.sql(f"CREATE DATABASE {NAME} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
    connection = stack.connect(database=NAME)
    with connection.cursor() as cursor:
        for statement in statements(stack.source / "tests/data/schema-1.sql"):
            cursor.execute(statement)
        cursor.execute("INSERT INTO schema_version VALUES (1, 1)")
        cursor.execute("INSERT INTO organizations VALUES (REPEAT('a', 16), 'Old', 1)")
        cursor.execute(f"INSERT INTO users SELECT UNHEX(LEFT(SHA2(n, 256), 32)), CONCAT('p', n, '@example.org'), n FROM {NUMBERS}")
        cursor.execute("INSERT INTO members (organization_id, user_id, id, first_name, attributes, created_at, updated_at) "
                       f"SELECT REPEAT('a', 16), UNHEX(LEFT(SHA2(n, 256), 32)), UNHEX(LEFT(SHA2(n + 1, 256), 32)), CONCAT('N', n), '{{}}', n, n FROM {NUMBERS}")
    connection.close()
    yield connection
    stack.sql(f"DROP DATABASE {NAME}")


def described(stack, name):
    columns = stack.sql("SELECT table_name, column_name, ordinal_position, column_type, is_nullable, column_default, "
                        "collation_name FROM information_schema.columns WHERE table_schema = %s ORDER BY 1, 3", name)
    keys = stack.sql("SELECT table_name, index_name, seq_in_index, column_name, non_unique "
                     "FROM information_schema.statistics WHERE table_schema = %s ORDER BY 1, 2, 3", name)
    return columns, keys


def holder_of(stack, name):
    """The connection that upgrades this database now."""
    return stack.sql("SELECT IS_USED_LOCK(CONCAT('muster.schema.', LEFT(SHA2(%s, 256), 32)))", name)[0][0]


def migration(stack, env=None):
    command = [stack.build / "musterctl", "--config", stack.config, "db", "migrate"]
    return subprocess.Popen(command, env=os.environ | (env or OWN_DATABASE), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def complete_upgrade(stack, name=NAME, env=None):
    """Runs the upgrade after the server has closed the connections of killed runs; returns its output."""
    wait_for(lambda: holder_of(stack, name) is None, "the server to close the killed connections")
    done = stack.ctl_raw("--json", "db", "migrate", env=env or OWN_DATABASE)
    assert done.returncode == DONE, done
    return json.loads(done.stdout)


def assert_whole(stack):
    assert described(stack, NAME) == described(stack, stack.env["database"])
    assert stack.sql(f"SELECT COUNT(*) FROM {NAME}.members JOIN {NAME}.users ON users.id = user_id "
                     "WHERE members.email = users.email COLLATE utf8mb4_bin AND first_name = CONCAT('N', users.created_at)") \
        == [(PEOPLE,)]
    assert stack.ctl_raw("db", "status", env=OWN_DATABASE).returncode == DONE


# ---------------------------------------------------------------------------- interrupted


def test_an_upgrade_killed_at_any_moment_is_completed_by_the_next(stack, old):
    moments = random.Random(6)
    killed = 0
    for patience in sorted(moments.uniform(0.0, 0.5) for _ in range(12)):  # an upgrade may take less than the longest
        running = migration(stack)
        try:
            _, said = running.communicate(timeout=patience)
            if running.returncode == DONE:
                break
            assert "another" in said, said  # the server still runs the last statement of the killed run
        except subprocess.TimeoutExpired:
            running.kill()
            running.communicate()
            killed += 1
    assert killed > 0
    complete_upgrade(stack)
    assert_whole(stack)


def test_an_upgrade_that_loses_its_connection_is_completed_by_itself_or_the_next(stack, old):
    moments = random.Random(7)
    lost = 0
    for patience in [moments.uniform(0.0, 0.1) for _ in range(12)]:
        running = migration(stack)
        while running.poll() is None:
            holder = holder_of(stack, NAME)
            if holder is None:
                continue
            time.sleep(patience)  # a random moment
            try:
                stack.sql(f"KILL {holder}")
                lost += 1
            except pymysql.Error:  # it has ended on its own
                pass
        said = running.communicate()[1]
        if running.returncode == DONE:
            break
        last = said.splitlines()[-1]  # after the lines of the log
        assert running.returncode == NOT_DONE and last.startswith("musterctl: ") and last.endswith("migrate` again"), said
    assert lost > 0
    complete_upgrade(stack)
    assert_whole(stack)


# ---------------------------------------------------------------------------- while the service is running


@contextmanager
def back_at_5(stack, more=()):
    """Runs the block with the stack's database at version 5, without what upgrade 6 added. What upgrades 7 and later
    added remains, and they find it done. Yields the environment of a migration with the root account whose upgrade to 6
    has the additional statements `more`, each with a statement that reverts it."""
    folder = stack.folder / "tmp" / "sql"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(stack.source / "sql", folder)
    with open(folder / "upgrades" / "6.sql", "a", encoding="utf-8") as upgrade:
        upgrade.writelines(f"{statement};\n" for statement, _ in more)
    before = stack.sql("SELECT version, applied_at, oldest_program FROM schema_version ORDER BY version")
    stack.sql("DELETE FROM schema_version")
    stack.sql("INSERT INTO schema_version (version, applied_at) VALUES (5, 1)")
    stack.sql("ALTER TABLE schema_version DROP COLUMN oldest_program")
    try:
        yield AS_ROOT | {"MUSTER_FILES_SQL": str(folder)}
    finally:
        complete_upgrade(stack, stack.env["database"], AS_ROOT)
        stack.sql("DELETE FROM schema_version")
        for row in before:
            stack.sql("INSERT INTO schema_version VALUES (%s, %s, %s)", *row)
        for _, undo in more:
            try:
                stack.sql(undo)
            except pymysql.Error:  # it was not applied
                pass
        wait_for(stack.answers, "the service to be ready again")


# Typical changes of large tables in later upgrades.
ONLINE = [
    ("ALTER TABLE members ADD COLUMN e2e_note VARCHAR(20) NULL, ALGORITHM = INSTANT", "ALTER TABLE members DROP COLUMN e2e_note"),
    ("ALTER TABLE members ADD KEY e2e_key (organization_id, locale, user_id), ALGORITHM = INPLACE, LOCK = NONE",
     "ALTER TABLE members DROP KEY e2e_key"),
    ("ALTER TABLE engagement_events ADD COLUMN e2e_note VARCHAR(20) NULL, ALGORITHM = INSTANT",
     "ALTER TABLE engagement_events DROP COLUMN e2e_note"),
]


def test_an_upgrade_under_load_fails_no_request_and_no_import(stack, org):
    job = org.validated([{"email": address, "first_name": "Ann"} for address in emails(20_000)])
    with Load(org) as load, back_at_5(stack, ONLINE) as env:
        load.wait_for_requests()
        assert stack.ctl_raw("db", "status").returncode == MIGRATE
        org.commit(job["id"])
        org.state_is(job["id"], "committing", "completed")
        done = stack.ctl_raw("--json", "db", "migrate", env=env)
        assert done.returncode == DONE, done
        assert json.loads(done.stdout)["upgrades"][0]["done_before"] == 0
        assert stack.ctl_raw("db", "status").returncode == DONE
        load.wait_for_requests()
        finished_job = org.state_is(job["id"], "completed", seconds=60)
        load.wait_for_requests()
    assert load.failures == [] and set(load.statuses) == {200, 201}
    assert finished_job["created_count"] == 20_000 and finished_job["failed_count"] == 0
    members = org.members()
    assert [address for address, _ in load.created if address not in members] == []


def test_behind_a_transaction_that_remains_open_neither_requests_nor_the_upgrade_hang(stack, org):
    user = org.create_user({"email": emails(1)[0]})["id"]
    with back_at_5(stack, ONLINE[:1]) as env:
        holder = stack.connect(autocommit=False)
        with holder.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM members")  # now the table cannot be changed
        running = migration(stack, env)
        try:
            for _ in range(3):
                waits = "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table metadata lock%%'"
                wait_for(lambda: stack.sql(waits) != [(0,)], "the upgrade to wait", every=0.01)
                for request in (lambda: org.user(user)["id"] == user, lambda: org.create_user({"email": emails(1)[0]})):
                    began = time.monotonic()
                    assert request()
                    assert time.monotonic() - began < LONGEST_WAIT
            assert running.poll() is None
            holder.commit()
            said, wrong = running.communicate(timeout=60)
            assert running.returncode == DONE, (said, wrong)
        finally:
            running.kill()
            holder.close()


def test_an_upgrade_that_times_out_reports_it_and_can_be_run_again(stack, org):
    with back_at_5(stack, ONLINE[:1]) as env:
        holder = stack.connect(autocommit=False)
        with holder.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM members")
        done = stack.ctl_raw("db", "migrate", env=env)
        holder_id = holder.thread_id()
        holder.close()
        assert done.returncode == NOT_DONE and done.stderr.count("\n") == 1
        assert "statement 2 of 2" in done.stderr and "run `musterctl db migrate` again" in done.stderr
        assert f"connection {holder_id}" in done.stderr
        again = json.loads(stack.ctl_raw("--json", "db", "migrate", env=env).stdout)
        assert again["upgrades"][0]["done_before"] == 1


def test_an_upgrade_that_cannot_run_online_fails_and_blocks_no_request(stack, org):
    wrong = [("ALTER TABLE members ADD COLUMN e2e_copy VARCHAR(20) AS (LEFT(attributes, 9)) STORED, "
              "ALGORITHM = INPLACE, LOCK = NONE", "ALTER TABLE members DROP COLUMN e2e_copy")]
    with back_at_5(stack, wrong) as env:
        done = stack.ctl_raw("db", "migrate", env=env)
        assert done.returncode == NOT_DONE and "upgrade to version 6, statement 2 of 2" in done.stderr, done
        assert stack.ctl_raw("db", "status").returncode == MIGRATE


# ---------------------------------------------------------------------------- reports of each program


class Verdicts:
    """The reports of all programs about the current schema of the stack."""

    def __init__(self, stack, anyone):
        self.stack, self.anyone = stack, anyone

    def status(self, code):
        done = self.stack.ctl_raw("--json", "db", "status")
        assert done.returncode == code and done.stderr == "", done
        reported = json.loads(done.stdout)
        text = self.stack.ctl_raw("db", "status")
        assert text.returncode == code and (reported["problem"] or "") in text.stdout
        return reported

    def starts(self, env=None):
        """Whether musterd starts with that schema; returns its error otherwise."""
        socket = self.stack.folder / "tmp" / "other.sock"
        server = subprocess.Popen(
            [self.stack.build / "musterd", "--config", self.stack.config], text=True, stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL, env=os.environ | (env or {}) | {
                "MUSTER_SERVER_SOCKET": str(socket), "MUSTER_SERVER_COLLECTOR_SOCKET": f"{socket}-collector",
                "MUSTER_SERVER_READER_SOCKET": f"{socket}-reader"})
        try:
            wait_for(lambda: socket.exists() or server.poll() is not None, "musterd to start or to report an error")
            if server.poll() is None:
                return True, ""
            return False, server.communicate()[1]
        finally:
            server.terminate()
            server.communicate(timeout=20)
            for suffix in ("", "-collector", "-reader"):
                socket.with_name(socket.name + suffix).unlink(missing_ok=True)

    def all_work(self):
        assert self.anyone.get("/readyz").status_code == 200
        assert self.starts() == (True, "")
        assert self.stack.program("muster-run", "--config", self.stack.config, "--for", "0s", "imports").returncode == DONE
        assert self.stack.ctl_raw("org", "list").returncode == DONE
        assert self.stack.ctl_raw("health").returncode == DONE

    def all_refuse(self, words):
        """Each reports the command that fixes the schema, and writes nothing."""
        reason = self.anyone.get("/readyz", expect=503).json()["error"]["details"]["reason"]
        assert words in reason
        started, said = self.starts()
        assert not started and said == f"musterd: {reason}\n"
        run = self.stack.program("muster-run", "--config", self.stack.config, "--for", "0s", "imports")
        assert (run.returncode, run.stderr) == (NOT_DONE, f"muster-run: {reason}\n")
        for command in (["org", "list"], ["org", "create", "--name", "Never"], ["audit"]):
            done = self.stack.ctl_raw(*command)
            assert (done.returncode, done.stdout, done.stderr) == (NOT_DONE, "", f"musterctl: {reason}\n")
        health = json.loads(self.stack.ctl_raw("--json", "health").stdout)
        assert health["problem"] == reason
        assert self.stack.sql("SELECT COUNT(*) FROM organizations WHERE name = 'Never'") == [(0,)]


@pytest.fixture
def verdicts(stack, anyone, no_runner):
    """The test may change the stack's table of versions."""
    before = stack.sql("SELECT version, applied_at, oldest_program FROM schema_version")
    yield Verdicts(stack, anyone)
    stack.sql("DELETE FROM schema_version")
    for row in before:
        stack.sql("INSERT INTO schema_version VALUES (%s, %s, %s)", *row)


@pytest.fixture
def supported(stack):
    return stack.ctl("db", "status")["supported"]


def test_the_programs_work_with_a_newer_schema_that_allows_them(stack, verdicts, supported):
    stack.sql("INSERT INTO schema_version VALUES (%s, 1, %s)", supported + 1, supported)
    reported = verdicts.status(DONE)
    assert reported == {"state": "newer", "version": supported + 1, "supported": supported, "oldest_program": supported, "problem": None}
    verdicts.all_work()
    migrated = stack.ctl_raw("--json", "db", "migrate")
    assert (migrated.returncode, json.loads(migrated.stdout)) == (DONE, {"version": supported + 1, "upgrades": []})
    assert json.loads(stack.ctl_raw("--json", "db", "init").stdout)["created"] is False


def test_a_schema_that_requires_newer_programs_is_rejected_by_all(stack, verdicts, supported):
    stack.sql("INSERT INTO schema_version VALUES (%s, 1, %s)", supported + 2, supported + 1)
    reported = verdicts.status(NOT_DONE)
    assert (reported["state"], reported["version"], reported["oldest_program"]) == ("too_new", supported + 2, supported + 1)
    verdicts.all_refuse("install the newer packages on this host")
    assert "install the newer packages on this host" in stack.ctl_raw("db", "migrate").stderr
    assert stack.sql("SELECT MAX(version) FROM schema_version") == [(supported + 2,)]


def test_the_programs_refuse_to_work_after_a_breaking_upgrade_has_started(stack, verdicts, supported):
    stack.sql("UPDATE schema_version SET oldest_program = %s WHERE version = %s", supported + 1, supported)
    assert verdicts.status(NOT_DONE)["state"] == "too_new"
    verdicts.all_refuse(f"version {supported + 1} or later")


def test_an_older_schema_is_rejected_by_all_with_the_command(stack, verdicts, supported):
    stack.sql("UPDATE schema_version SET version = version - 1, oldest_program = NULL")
    reported = verdicts.status(MIGRATE)
    assert (reported["state"], reported["version"], reported["oldest_program"]) == ("older", supported - 1, None)
    verdicts.all_refuse("musterctl db migrate --root-socket")
    unentitled = stack.ctl_raw("db", "migrate")
    assert unentitled.returncode == NOT_DONE and "--root-socket" in unentitled.stderr
    assert stack.sql("SELECT version, oldest_program FROM schema_version") == [(supported - 1, None)]
    again = stack.ctl_raw("db", "migrate", "--root-socket", stack.env["mysql_socket"])
    assert again.returncode == DONE, again
    verdicts.all_work()


def test_an_absent_schema_has_its_own_exit_status_and_an_unreachable_database_a_general_one(stack):
    def status(**env):
        return stack.ctl_raw("--json", "db", "status", env=AS_ROOT | env)
    absent = {"state": "none", "version": None, "oldest_program": None}
    nowhere = status(MUSTER_DATABASE_NAME="e2e_nowhere")
    reported = json.loads(nowhere.stdout)
    assert nowhere.returncode == INIT and absent.items() <= reported.items() and "musterctl db init" in reported["problem"]
    stack.sql(f"CREATE DATABASE {NAME}")
    try:
        bare = status(MUSTER_DATABASE_NAME=NAME)
    finally:
        stack.sql(f"DROP DATABASE {NAME}")
    assert bare.returncode == INIT and absent.items() <= json.loads(bare.stdout).items()
    away = status(MUSTER_DATABASE_URL=f"unix:{stack.folder}/nowhere.sock")
    assert away.returncode == NOT_DONE and away.stdout == "" and "does not answer" in away.stderr
