"""The stack under test: a sandbox of the suite, started and stopped with tests/sandbox/start and stop.

Services can be stopped, killed and started individually; musterctl, muster-run and the database are available.
"""

import json
import os
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pymysql

from .ports import free_port

ROOT = Path(__file__).resolve().parents[3]
# Providers without a configuration in the stack.
UNCONFIGURED = ("sentry", "youtube")
# For statements that the programs' database user must not run: databases in addition to the stack's.
AS_ROOT = {"MUSTER_DATABASE_USER": "root", "MUSTER_DATABASE_PASSWORD": ""}
PATIENCE = 30.0  # seconds that a test waits for an event that is usually immediate


def wait_for(look, what, seconds=PATIENCE, every=None):
    """Calls `look` until it returns a true value, and returns that; fails after `seconds`. Between two calls it pauses for
    `every` seconds, or for a tenth of the time that it has waited: a long wait needs little of the processor."""
    began = time.monotonic()
    while True:
        seen = look()
        if seen:
            return seen
        waited = time.monotonic() - began
        if waited > seconds:
            raise AssertionError(f"waited {seconds} s for {what}; last seen: {seen!r}")
        time.sleep(every or min(max(waited / 10, 0.01), 0.2))


def numbers(count):
    """SQL for a table of the numbers 1 … count with the column `seq`, for use after FROM. MariaDB and MySQL have
    different syntax for it."""
    digits = " UNION ALL ".join(f"SELECT {digit} AS d" for digit in range(10))
    tables = " JOIN ".join(f"({digits}) AS d{place}" for place in range(len(str(count))))
    value = " + ".join(f"{10 ** place} * d{place}.d" for place in range(len(str(count))))
    return f"(SELECT seq FROM (SELECT {value} AS seq FROM {tables}) AS every_one WHERE seq BETWEEN 1 AND {count}) AS numbers"


class Stack:
    source = ROOT

    def __init__(self, build, folder, rates=None, oauth=None, mariadb=()):
        """rates: "default" for those of production; otherwise very high ones. oauth: the server for its providers of
        external data, except UNCONFIGURED. mariadb: additional options of its mariadbd."""
        self.options = {"ACCESS_LOG": "direct", **({"RATES": rates} if rates else {})}
        self.options |= {"MARIADB": " ".join(mariadb)} if mariadb else {}
        self.build = Path(build).resolve()
        self.folder = Path(folder).resolve()
        self.port, self.mail_port = free_port(), free_port()
        self.oauth = oauth
        self.keys_issued = oauth.issued if oauth else []
        self.registry = None  # the id of the organization whose registry new ones get (support/world.py)

    # ------------------------------------------------------------------ services
    def _script(self, name, *arguments, env=None):
        environment = dict(os.environ, BUILD=str(self.build), SANDBOX=str(self.folder), PORT=str(self.port),
                           MAIL_PORT=str(self.mail_port))
        environment |= self.options | (env or {})
        done = subprocess.run(
            [ROOT / "tests/sandbox" / name, *arguments], env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, f"tests/sandbox/{name} {arguments}: {done.stdout}{done.stderr}"

    def start(self):
        if self.oauth is None:
            self._script("start")
            return
        self.oauth.redirect_uris.add(self.redirect_uri)
        providers = self.folder.with_name(f"{self.folder.name}-providers.ini")
        providers.write_text(self.oauth.configuration(without=UNCONFIGURED))
        self._script("start", env={"PROVIDERS": str(providers)})
        providers.unlink()

    def stop(self):
        self._script("stop")

    def service(self, verb, name, env=None):
        """verb: start, stop or kill (SIGKILL); name: mariadbd, mail, musterd, nginx or runner."""
        self._script("service", verb, name, env=env)

    @property
    def env(self):
        return json.loads((self.folder / "env.json").read_text())

    def pid(self, name):
        return self.env["pids"][name]

    def runs(self, name):
        """Whether the recorded process of the service still exists (tests/sandbox/lib.sh)."""
        try:
            pid, began = (self.folder / "pids" / name).read_text().split()
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        except OSError:
            return False
        return fields[0] != "Z" and fields[19] == began

    @property
    def base_url(self):
        return f"https://127.0.0.1:{self.port}"

    @property
    def redirect_uri(self):
        """The redirect URI of providers of external data."""
        return f"{self.base_url}/v1/external-data/callback"

    @property
    def ca_file(self):
        return str(self.folder / "ca.pem")

    @property
    def config(self):
        return str(self.folder / "muster.conf")

    def log(self, name):
        path = self.folder / "log" / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    @contextmanager
    def without(self, *names, verb="stop"):
        """Runs the block while these services are stopped."""
        for name in names:
            self.service(verb, name)
        try:
            yield
        finally:
            for name in reversed(names):
                if self.env["pids"][name] is None:
                    self.service("start", name)

    def restart_server(self, env=None):
        self.service("stop", "musterd")
        self.service("start", "musterd", env=env)
        wait_for(self.answers, "musterd to answer")

    def reload(self, name):
        """SIGHUP: musterd or nginx reloads its configuration; waits until all its workers are new ones."""
        pid = self.pid(name)
        children = Path(f"/proc/{pid}/task/{pid}/children")
        before = set(children.read_text().split())

        def all_are_new():
            now = set(children.read_text().split())
            return now and not now & before

        os.kill(pid, signal.SIGHUP)
        wait_for(all_are_new, f"{name} to have new workers")

    @contextmanager
    def configured(self, section, *lines):
        """Runs the block while the configuration of the server has these lines in that section; "key" alone removes
        one."""
        keys = tuple(line.split("=")[0].strip() + " =" for line in lines)
        kept, where = [], None
        for line in Path(self.config).read_text().splitlines():
            where = line if line.startswith("[") else where
            if where != section or not line.startswith(keys):
                kept.append(line)
        if section not in kept:
            kept.append(section)
        kept[kept.index(section) + 1:kept.index(section) + 1] = [line for line in lines if "=" in line]
        with self.configuration("\n".join(kept) + "\n"):
            yield

    def with_keys(self, current, previous=None):
        """Runs the block with that file of the installation's key, and of the previous one during a rotation."""
        return self.configured("[security]", f"key_file = {current}", f"previous_key_file = {previous or ''}")

    @contextmanager
    def configuration(self, text):
        """Runs the block with that configuration of the server. Programs that are running keep theirs."""
        path = Path(self.config)
        before = path.read_text()
        path.write_text(text)
        try:
            self.reload("musterd")
            yield
        finally:
            path.write_text(before)
            self.reload("musterd")

    @contextmanager
    def later(self, seconds):
        """Runs the block with the clock of the server ahead by that time."""
        self.restart_server({"MUSTER_CLOCK_OFFSET": str(seconds)})
        try:
            yield
        finally:
            self.restart_server()

    def answers(self):
        done = subprocess.run(
            ["curl", "-s", "-o", os.devnull, "-w", "%{http_code}", "--max-time", "5", "--cacert", self.ca_file,
             self.base_url + "/readyz"], capture_output=True, text=True
        )
        return done.stdout == "200"

    # ------------------------------------------------------------------ programs
    def program(self, name, *arguments, env=None, input=None, cwd=None, timeout=60):
        """Runs one of the programs to its end; returns the CompletedProcess with text."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("MUSTER_")} | (env or {})
        return subprocess.run(
            [self.build / name, *map(str, arguments)], env=environment, input=input, capture_output=True,
            text=True, timeout=timeout, cwd=cwd,
        )

    def ctl_raw(self, *arguments, env=None):
        return self.program("musterctl", "--config", self.config, *arguments, env=env)

    def ctl(self, *arguments):
        """The decoded JSON of a musterctl command that must succeed."""
        done = self.ctl_raw("--json", *arguments)
        assert done.returncode == 0, f"musterctl {arguments}: {done.returncode} {done.stdout}{done.stderr}"
        return json.loads(done.stdout)

    def issue_key(self, organization_id, name="e2e", *more):
        issued = self.ctl("key", "issue", "--org", organization_id, "--name", name, *more)
        self.keys_issued.append(issued["key"])
        return issued

    def run_once(self, kind="imports", env=None):
        """Runs muster-run once: until no import is moving, or the purge is complete."""
        if kind == "purge":
            done = self.program("muster-run", "--config", self.config, kind, env=env)
            assert done.returncode == 0, f"muster-run {kind}: {done.returncode} {done.stderr}"
            return
        moving = "SELECT COUNT(*) FROM import_jobs WHERE state IN ('validating', 'committing', 'undoing')"
        if self.sql(moving) == [(0,)]:  # lets it find out itself that no work is left
            assert self.spawn_runner(seconds=1, env=env).wait(20) == 0, "muster-run failed: see own-runner.log"
            return
        runner = self.spawn_runner(seconds=600, env=env)
        try:
            wait_for(lambda: self.sql(moving) == [(0,)], "no moving import", seconds=90, every=0.005)
        finally:
            runner.terminate()
            assert runner.wait(20) == 0, "muster-run failed: see own-runner.log"

    def spawn_runner(self, seconds=55, env=None, log_name="own-runner", kind="imports"):
        """Starts a muster-run; the caller must stop it."""
        log = open(self.folder / "log" / f"{log_name}.log", "ab")
        return subprocess.Popen(
            [self.build / "muster-run", "--config", self.config, "--for", f"{seconds}s", kind],
            env=os.environ | (env or {}), stdout=log, stderr=log, start_new_session=True,
        )

    # ------------------------------------------------------------------ database
    @contextmanager
    def locked(self, query, *parameters):
        """Another transaction locks the rows of the query during the block."""
        holder = self.connect(autocommit=False)
        try:
            with holder.cursor() as cursor:
                cursor.execute(f"{query} FOR UPDATE", parameters)
                assert cursor.fetchall(), "no row to lock"
            yield
        finally:
            holder.rollback()
            holder.close()

    def connect(self, **options):
        settings = {"autocommit": True, "charset": "utf8mb4", "database": self.env["database"]} | options
        return pymysql.connect(unix_socket=self.env["mysql_socket"], user="root", **settings)

    def sql(self, statement, *parameters):
        """Runs one statement; rows as tuples."""
        connection = self.connect()
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement, parameters)
                return list(cursor.fetchall())
        finally:
            connection.close()
