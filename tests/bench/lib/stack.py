"""The sandbox of the bench, and direct access to its database.

Rows are deleted, preloaded and dumped directly in MariaDB; measurements go through nginx.
"""

import json
import os
import re
import shutil
import subprocess
import time

import pymysql

from lib.client import Client
from lib.figure import BrokenMeasurement
from lib.workers import expected_groups, server_settings

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
# The order of foreign keys does not matter: their checks are off in the meantime.
WRITTEN_TABLES = ("webhook_attempts", "webhook_deliveries", "webhook_outbox", "webhook_events", "idempotency_keys", "audit_log",
                  "import_blocks", "import_jobs", "engagement_events", "members", "users")
WRITTEN_COLUMNS = "@user, @member, @email, @external, @given, @family, @country, @dob, @attributes"
STAGED_ROWS = """CREATE TABLE floor.staged_rows (
    organization_id BINARY(16) NOT NULL, job_id BINARY(16) NOT NULL, row_no INT NOT NULL,
    state ENUM('staged', 'valid', 'invalid') NOT NULL DEFAULT 'staged',
    email VARCHAR(254) NOT NULL, external_id VARCHAR(255) NULL, first_name VARCHAR(255) NULL,
    last_name VARCHAR(255) NULL, display_name VARCHAR(255) NULL, locale VARCHAR(35) NULL,
    country CHAR(2) NULL, dob CHAR(10) NULL, attributes MEDIUMTEXT NOT NULL,
    PRIMARY KEY (organization_id, job_id, row_no)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin"""

# A replaced worker would begin with cold caches in the middle of a measurement.
WITHOUT_RECYCLING = {"MUSTER_SERVER_RECYCLE_REQUESTS": "100000000", "MUSTER_SERVER_RECYCLE_MEMORY": "65536"}
ANSWERING = ("nginx", "musterd", "mariadbd")


class Stack:
    """Started by start(); everything is in build/`name`, the dumps in its folder "rows". `root`: the tree of the build, whose
    scripts and schema it uses."""

    def __init__(self, build, port, name="bench-sandbox", root=ROOT):
        self.build, self.root = build, root
        self.folder = os.path.join(build, name)
        self.rows_folder = os.path.join(self.folder, "rows")
        self.port = port
        self.environment = dict(os.environ, BUILD=build, SANDBOX=self.folder, PORT=str(port), **WITHOUT_RECYCLING)
        self.environment.pop("RATES", None)

    def script(self, name, *arguments, **environment):
        subprocess.run([f"{self.root}/tests/sandbox/{name}", *arguments], check=True, cwd=self.root,
                       env={**self.environment, **environment}, stdout=subprocess.DEVNULL)

    def start(self):
        self.script("start")
        os.makedirs(self.rows_folder)
        with open(f"{self.folder}/env.json", encoding="utf-8") as file:
            env = json.load(file)
        self.organizations, self.ca_file = env["organizations"], env["ca_file"]
        self.console_origin = env["console_origin"]
        self.socket, self.database = env["mysql_socket"], env["database"]
        self.db = pymysql.connect(unix_socket=self.socket, user="root", autocommit=True, charset="utf8mb4",
                                  read_timeout=600, database=self.database)
        self.check_sessions()
        self.make_floor_database()

    def check_sessions(self):
        """Each service must lead a session of its own (lib/meter.py)."""
        for name, pid in self.services().items():
            if os.getsid(pid) != pid:
                raise BrokenMeasurement(f"{name} shares the session of process {os.getsid(pid)}")

    def stop(self):
        """Stops it and frees the disk space; the logs are kept."""
        self.script("stop")
        for name in ("data", "rows"):
            shutil.rmtree(os.path.join(self.folder, name), ignore_errors=True)

    def restart_musterd(self, **environment):
        self.script("service", "stop", "musterd")
        self.script("service", "start", "musterd", **environment)
        end = time.monotonic() + 30
        while not self.is_ready():
            if time.monotonic() > end:
                raise BrokenMeasurement("musterd was not ready 30 s after its restart; see log/ of the sandbox")
            time.sleep(0.02)  # lint: sleeps because it polls

    def is_ready(self):
        try:
            Client(self).call("GET", "/readyz")
        except BrokenMeasurement:
            return False
        return True

    def worker_sockets(self):
        """The paths of the sockets at which nginx reaches API workers, collectors and readers."""
        with open(f"{self.folder}/nginx/nginx.conf", encoding="utf-8") as file:
            return re.findall(r"server unix:(\S+)", file.read())

    def pids(self):
        with open(f"{self.folder}/env.json", encoding="utf-8") as file:
            return json.load(file)["pids"]

    def services(self):
        """{name: the leader of its session} of those that run."""
        return {name: pid for name, pid in self.pids().items() if pid}

    def answering(self):
        """The services whose time a request costs."""
        services = self.services()
        return {name: services[name] for name in ANSWERING}

    # ------------------------------------------------------------------------ SQL
    def sql(self, statement, *values):
        """Runs it; returns the first column of the first row, or the number of changed rows."""
        with self.db.cursor() as cursor:
            changed = cursor.execute(statement, values or None)
            row = cursor.fetchone() if cursor.description else None
            return row[0] if row else changed

    def make_floor_database(self):
        """Tables with the same indexes and foreign keys, used only by the floors."""
        self.sql("CREATE DATABASE floor CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
        self.sql("USE floor")
        with open(f"{self.root}/sql/schema.sql", encoding="utf-8") as file:
            for statement in re.split(r";\s*$", file.read(), flags=re.MULTILINE):
                if re.sub(r"^--.*$", "", statement, flags=re.MULTILINE).strip():
                    self.sql(statement)
        self.sql(f"USE {self.database}")
        self.sql(f"INSERT INTO floor.organizations SELECT * FROM {self.database}.organizations")
        self.sql(STAGED_ROWS)

    def empty(self, *tables):
        self.sql("SET foreign_key_checks = 0")
        for table in tables:
            self.sql(f"TRUNCATE TABLE {table}")
        self.sql("SET foreign_key_checks = 1")

    def reset(self):
        """Deletes users, members and imports; organizations, keys and attributes are kept. An older build (P20) may not have
        all of the tables."""
        self.empty(*(f"{self.database}.{table}" for table in WRITTEN_TABLES if self.sql("SHOW TABLES LIKE %s", table)))

    def load(self, name, table, columns, assignments=""):
        """LOAD DATA by the server itself, which is faster than LOCAL; returns the number of rows."""
        path = self.file(name)
        os.chmod(path, 0o644)  # the server requires that every user may read it
        return self.sql(f"LOAD DATA INFILE '{path}' INTO TABLE {table} "
                        f"CHARACTER SET binary ({columns}) {assignments}")

    def load_written(self, name, organization=0, **expressions):
        """Loads users and members from a file of lib.people.write_members; returns the number of members.
        `expressions`: SQL for columns that are not taken from the file."""
        users = {"id": "UNHEX(@user)", "email": "@email", "created_at": "1763000000000"}
        users.update({name: text for name, text in expressions.items() if name in users})
        members = {"organization_id": f"UNHEX('{self.organizations[organization]['id'].replace('-', '')}')",
                   "user_id": "UNHEX(@user)", "id": "UNHEX(@member)", "email": "@email",
                   "external_id": "@external", "first_name": "@given", "last_name": "@family",
                   "country": "@country", "dob": "@dob", "attributes": "@attributes",
                   "created_at": "1763000000000", "updated_at": "1763000000000", **expressions}
        for table, values in (("users", users), ("members", members)):
            assignments = ", ".join(f"{column} = {text}" for column, text in values.items())
            loaded = self.load(name, f"{self.database}.{table}", WRITTEN_COLUMNS, "SET " + assignments)
        return loaded

    def settle(self):
        """Makes the engine write its dirty pages, so that every measurement starts in the same state."""
        hurry = {"innodb_max_dirty_pages_pct": 0, "innodb_io_capacity_max": 100_000,
                 "innodb_io_capacity": 100_000}
        usual = {name: self.sql(f"SELECT @@{name}") for name in hurry}
        try:
            for name, value in hurry.items():
                self.sql(f"SET GLOBAL {name} = {value}")
            end = time.monotonic() + 60
            while self.status("Innodb_buffer_pool_pages_dirty") > 100:
                if time.monotonic() > end:
                    raise BrokenMeasurement("more than 100 pages are still dirty after 60 s")
                time.sleep(0.05)  # lint: sleeps because it polls
        finally:
            for name, value in reversed(usual.items()):
                self.sql(f"SET GLOBAL {name} = {value}")

    def status(self, name):
        with self.db.cursor() as cursor:
            cursor.execute("SHOW GLOBAL STATUS LIKE %s", (name,))
            return int(cursor.fetchone()[1])

    def file(self, name):
        return os.path.join(self.rows_folder, name)

    def settings(self):
        """The settings that a reader needs to interpret the figures."""
        names = ("version", "innodb_flush_log_at_trx_commit", "innodb_buffer_pool_size",
                 "innodb_log_file_size", "innodb_flush_method", "innodb_doublewrite", "log_bin")
        settings = {name: str(self.sql(f"SELECT @@{name}")) for name in names}
        shown = subprocess.run([NGINX, "-v"], capture_output=True, text=True, check=True).stderr
        with open("/proc/sys/kernel/sched_autogroup_enabled", encoding="ascii") as file:
            by_session = file.read().strip()
        server = server_settings(self)
        groups = {f"musterd.{name}": count for name, (_, count) in expected_groups(server).items()}
        return {**{f"mariadb.{name}": value for name, value in settings.items()},
                "nginx": shown.strip().rpartition("/")[2], "tls": "nginx, HTTP/1.1, kept alive", **groups,
                "musterd.recycle_requests": server["recycle_requests"], "scheduler.groups_by_session": by_session}
