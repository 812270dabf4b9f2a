"""Three MariaDB nodes as a Galera cluster behind haproxy, with the files in docs/examples.

Each node has its own address in 127/8 and the ports of production. Only addresses, folders and sizes differ from
production (`adapt`), so that a file that fails here would fail there.
"""

import csv
import ctypes
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

import pymysql

from .certificates import make_authority, make_certificate
from .stack import ROOT, Stack, wait_for

EXAMPLES = ROOT / "docs/examples"
NODES = ("db1", "db2", "db3")
PORTS = (3306, 4567, 4568, 4444)  # clients, replication, incremental and full state transfer
PATIENCE = 120.0
RECOVERIES = 3  # tries of a node to find its position, each for an equal part of PATIENCE
WELL = {"wsrep_ready": "ON", "wsrep_cluster_status": "Primary", "wsrep_local_state_comment": "Synced"}
PR_SET_PDEATHSIG = 1


def die_with_parent():
    """Cleans up after an interrupted test run."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def missing_packages():
    """The programs for a cluster that the host lacks; packaging/install-deps check installs them."""
    programs = {"haproxy": "haproxy", "socat": "socat", "mariabackup": "mariadb-backup", "mariadbd": "mariadb-server"}
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    missing = [package for program, package in programs.items() if not shutil.which(program, path=path)]
    return missing + ([] if Path("/usr/lib/galera/libgalera_smm.so").exists() else ["galera-4"])


def free_network():
    """"127.x.y." with unused addresses."""
    for _ in range(100):
        network = f"127.{random.randint(1, 254)}.{random.randint(0, 255)}."
        try:
            for host in (11, 31, 32, 33):
                for port in PORTS:
                    with closing(socket.socket()) as probe:
                        probe.bind((f"{network}{host}", port))
            return network
        except OSError:
            continue
    raise AssertionError("no free network on the loopback")


def last_lines(log):
    return "\n".join(Path(log).read_text(errors="replace").splitlines()[-25:])


class Process:
    """A program in its own session, with its output in a file."""

    def __init__(self, log, *command, **env):
        self.log = log
        with open(log, "ab") as out:
            self._process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                             env=os.environ | {name: str(value) for name, value in env.items()},
                                             start_new_session=True, preexec_fn=die_with_parent)

    @property
    def pid(self):
        return self._process.pid

    @property
    def runs(self):
        return self._process.poll() is None

    def end(self, number=signal.SIGTERM, seconds=PATIENCE):
        """Sends the signal, waits for the end, and kills the remaining processes of the session."""
        if self.runs:
            self._process.send_signal(number)
        try:
            self._process.wait(seconds)
        finally:
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self._process.wait(10)

    def tail(self):
        return last_lines(self.log)


class Node:
    def __init__(self, cluster, name, address):
        self.cluster, self.name, self.address = cluster, name, address
        self.folder = cluster.folder / name
        self.log = cluster.logs / f"{name}.log"
        self.socket = f"{cluster.temporary}/{name}.sock"
        self.process = None
        self.data = Path(cluster.temporary) / name
        for folder in (self.data, self.folder / "tmp"):
            folder.mkdir(parents=True)
        (self.folder / "galera.cnf").write_text(cluster.adapt("galera.cnf", self))

    # ------------------------------------------------------------------ starting and stopping
    def _command(self, *more):
        return ["/usr/sbin/mariadbd", f"--defaults-file={self.folder}/galera.cnf", f"--user={cluster_user()}",
                f"--datadir={self.data}", f"--tmpdir={self.folder}/tmp", f"--socket={self.socket}",
                f"--pid-file={self.folder}/mariadbd.pid", *more]

    def make_data(self):
        """The files that Debian's package creates at its installation."""
        done = subprocess.run(
            ["mariadb-install-db", "--no-defaults", f"--user={cluster_user()}", f"--datadir={self.data}",
             "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"],
            capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr

    def _position(self):
        """Finds the last position of a crashed node, like galera_recovery, which systemd runs before each start."""
        state = self.data / "grastate.dat"
        if not state.exists() or not re.search(r"(?m)^seqno: *-1$", state.read_text()):
            return []  # a new node, or one that was stopped cleanly
        found = re.findall(r"WSREP: Recovered position:? *([0-9a-f-]+:-?\d+)", self._recovered())
        return [f"--wsrep-start-position={found[-1]}"] if found else []

    def _recovered(self):
        """What mariadbd prints about its position. It once did not end, under load, for two minutes. So this kills it
        and tries again, like the operator with docs/operations/galera.md."""
        for _ in range(RECOVERIES):
            try:
                return subprocess.run(self._command("--wsrep-recover"), text=True, timeout=PATIENCE / RECOVERIES,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
            except subprocess.TimeoutExpired as late:
                with open(self.log, "ab") as log:
                    log.write((late.stdout or b"") + b"mariadbd --wsrep-recover did not end\n")
        raise AssertionError(f"{self.name} finds no position: {last_lines(self.log)}")

    def start(self, first=False):
        """first: the first node of a new cluster, as galera_new_cluster starts it. Returns immediately."""
        more = ["--wsrep-new-cluster"] if first else self._position()
        self.process = Process(self.log, *self._command(*more), TMPDIR=self.folder / "tmp")

    def kill(self):
        self.process.end(signal.SIGKILL)

    def stop(self):
        self.process.end()

    def wipe(self):
        """Simulates a replaced disk."""
        shutil.rmtree(self.data)
        self.data.mkdir()

    def wait_until_synced(self, seconds=PATIENCE):
        def synced():
            assert self.process.runs, f"{self.name} ended: {self.process.tail()}"
            return self.is_synced()
        try:
            wait_for(synced, f"{self.name} to join", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.process.tail()}") from None

    def is_synced(self):
        try:
            status = self.status()
        except pymysql.Error:
            return False
        return all(status.get(name) == value for name, value in WELL.items())

    # ------------------------------------------------------------------ SQL
    def connect(self, **options):
        """As root. Like Muster, it reads everything that was committed on any node before."""
        settings = {"autocommit": True, "charset": "utf8mb4", "database": "muster",
                    "init_command": "SET SESSION wsrep_sync_wait = 1"} | options
        return pymysql.connect(unix_socket=self.socket, user="root", **settings)

    def sql(self, statement, *parameters, **options):
        with closing(self.connect(**options)) as connection, connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return list(cursor.fetchall())

    def make_primary(self):
        """The command of docs/operations/galera.md for the last node of a cluster that lost its majority."""
        self.sql("SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'", database=None, init_command=None)

    def status(self):
        return dict(self.sql("SHOW GLOBAL STATUS LIKE 'wsrep%%'", database=None, init_command=None, connect_timeout=2,
                             read_timeout=5))


def cluster_user():
    return subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()


class Cluster:
    """Three nodes and a haproxy: after `start` Muster reaches the first node at `url`, and the others are joining."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.logs = self.folder / "log"
        self.logs.mkdir(parents=True)
        # For data and sockets. The address of a socket has at most 107 bytes.
        self.temporary = tempfile.mkdtemp(prefix="muster-", dir=os.environ["DATA_IN"] or None)
        self.network = free_network()
        self.haproxy = None
        self.nodes = []

    @property
    def url(self):
        return f"tcp://{self.network}11:3306"

    @property
    def ca_file(self):
        return f"{self.folder}/ca.pem"

    # ------------------------------------------------------------------ files
    def adapt(self, name, node=None):
        """An example file as shipped, with the addresses, folders and sizes of this cluster."""
        changes = [(r"\b10\.0\.0\.", self.network)]
        if node:
            # Only "this node" differs between hosts.
            changes += [(rf"(?m)^(?!wsrep_cluster_address)(.*){re.escape(self.network)}31\b(.*# this node.*)$",
                         rf"\g<1>{node.address}\g<2>"), (r"= db1( *# this node)", rf"= {node.name}\1"),
                        ("/etc/mysql/tls", str(self.folder)), ("gcache.size=1G", "gcache.size=64M"), ("= mysql:", "= root:"),
                        ("(?m)^ssl-mode.*$", r"\g<0>\nsst-log-archive = 0")]
        else:
            changes += [(r"\b127\.0\.0\.1:", f"{self.network}11:"), ("/run/haproxy", self.temporary),
                        (r"(?m)^    (log|user|group|chroot) .*\n", ""), (r"\brise 20\b", "rise 3")]
        text = (EXAMPLES / name).read_text()
        for pattern, replacement in changes:
            text, count = re.subn(pattern, replacement, text)
            assert count, f"{name} no longer contains {pattern}"
        return text

    def _make_certificate(self):
        """Makes the nodes' certificate as docs/operations/galera.md does. It has no extended key usage, because a node is also a
        client of the others."""
        names = ",".join(f"IP:{self.network}{host}" for host in (11, 31, 32, 33))
        make_certificate(make_authority(self.folder), self.folder, "node", names, usage="")

    # ------------------------------------------------------------------ starting and stopping
    def start(self):
        self._make_certificate()
        self.nodes = [Node(self, name, f"{self.network}{31 + i}") for i, name in enumerate(NODES)]
        first, *others = self.nodes
        first.make_data()
        first.start(first=True)
        first.wait_until_synced()
        first.sql("CREATE USER haproxy@'127.%%'", database=None)
        first.stop()
        for node in others:  # by hand: Galera's own way takes a quarter of a minute each
            shutil.copytree(first.data, node.data, dirs_exist_ok=True, ignore=shutil.ignore_patterns("galera.cache"))
        first.start(first=True)
        first.wait_until_synced()
        (self.folder / "haproxy.cfg").write_text(self.adapt("haproxy.cfg"))
        self.haproxy = Process(self.logs / "haproxy.log", "/usr/sbin/haproxy", "-db", "-f", self.folder / "haproxy.cfg")
        wait_for(lambda: self.writer() == first, "haproxy to know the first node", PATIENCE)

    def wait_until_complete(self):
        """Starts the stopped ones, and waits until all have joined and the first one has the connections."""
        for node in self.nodes:  # one by one: two nodes that join at once could be mistaken for each other by their ports
            if not node.process or not node.process.runs:
                node.start()
            node.wait_until_synced()
        wait_for(lambda: self.writer() == self.nodes[0], "haproxy to return to the first node", PATIENCE)

    def stop(self):
        for process in [self.haproxy, *[node.process for node in self.nodes]]:
            if process:
                process.end(signal.SIGKILL)  # the data is temporary, so no clean shutdown
        shutil.rmtree(self.temporary, ignore_errors=True)

    # ------------------------------------------------------------------ haproxy
    def haproxy_reply(self, command):
        """A reply of the admin socket, as an operator gets it with `socat`."""
        with closing(socket.socket(socket.AF_UNIX)) as admin:
            admin.settimeout(10)
            admin.connect(f"{self.temporary}/admin.sock")
            admin.sendall(command.encode() + b"\n")
            return b"".join(iter(lambda: admin.recv(65536), b"")).decode()

    def states(self):
        """The state of each server in haproxy: {"db1": "UP", ...}."""
        rows = csv.DictReader(self.haproxy_reply("show stat").lstrip("# ").splitlines())
        return {row["svname"]: row["status"] for row in rows if row["type"] == "2"}

    def writer(self):
        """The node to which haproxy sends all connections; None if there is none."""
        try:
            states = self.states()
        except OSError:  # it has just been started
            return None
        return next((node for node in self.nodes if states[node.name].startswith("UP")), None)

    # ------------------------------------------------------------------ contents of the tables
    def contents(self, node):
        """{table: checksum over its rows} of Muster's database on one node, after everything committed on any node was
        applied."""
        with closing(node.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'muster'")
            tables = ", ".join(f"`{name}`" for name, in cursor.fetchall())
            cursor.execute(f"CHECKSUM TABLE {tables} EXTENDED")
            return dict(cursor.fetchall())


class GaleraStack(Stack):
    """musterd, nginx, the runner and a mail server on a cluster. Its SQL goes to the node that has the connections."""

    def __init__(self, build, folder, cluster):
        super().__init__(build, folder)
        self.cluster = cluster

    def start(self):
        lines = self.cluster.folder / "database.ini"
        lines.write_text(f"url = {self.cluster.url}\ntls_ca = {self.cluster.ca_file}\n")
        self._script("start", env={"DATABASE": str(lines), "ROOT_SOCKET": self.cluster.nodes[0].socket})

    def connect(self, **options):
        return (self.cluster.writer() or self.cluster.nodes[0]).connect(**options)
