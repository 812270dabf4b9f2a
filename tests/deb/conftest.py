"""Shared by the tests of the packages: the packages, a Debian root, and one machine that the files of this folder use
in the order of their names, like the days of a system administrator. packaging/check-deb calls them."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from support import root as roots  # noqa: E402
from support.machine import Machine, wait_for  # noqa: E402

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
FOLDER = os.path.join(TOP, os.environ.get("BUILD", "build"), "check-deb")
CA_FILE = "/etc/ssl/certs/ssl-cert-snakeoil.pem"
LONGEST = 35  # seconds that a partner waits for a reply: the 30 in which musterd finishes its requests, and a margin


@pytest.fixture(scope="session")
def packages():
    return roots.built_packages(f"{TOP}/build/deb")  # where `make deb` writes them, whatever BUILD is


@pytest.fixture(scope="session")
def debian_root(packages):
    os.makedirs(FOLDER, exist_ok=True)
    if "DEBIAN_ROOT" in os.environ:
        return os.path.abspath(os.environ["DEBIAN_ROOT"])
    return roots.make_root(f"{FOLDER}/root", packages, os.environ.get("DEBIAN_MIRROR"))


@pytest.fixture(scope="session")
def machine(debian_root):
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch, roots.Layer(debian_root, f"{scratch}/layer") as layer:
        log = f"{FOLDER}/machine.log"
        open(log, "wb").close()
        booted = Machine(layer.path, log)
        try:
            yield booted
        finally:
            try:
                with open(f"{FOLDER}/journal.log", "w", encoding="utf-8") as out:
                    out.write(booted.tried("journalctl --no-pager -o short-precise").stdout)
            finally:
                booted.stop()


def documented_commands(heading):
    """The indented commands below a heading of docs/operations/install.md, up to the next heading, as a system administrator
    types them."""
    with open(f"{TOP}/docs/operations/install.md", encoding="utf-8") as text:
        section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text.read(), re.M | re.S).group(1)
    return re.findall(r"^    (\S.*)$", section, re.M)


class Load:
    """Partners that use the machine during a `with` block; afterwards `report` contains their observations."""

    def __init__(self, machine, threads=4):
        self.machine, self.threads, self.report = machine, threads, None

    def __enter__(self):
        self.process = subprocess.Popen(
            self.machine.in_network(sys.executable, f"{HERE}/support/load.py", f"https://{roots.NAME}",
                                    self.machine.path + CA_FILE, self.machine.outside("riverside.key"), str(self.threads)),
            stdout=subprocess.PIPE, text=True)
        try:
            before = self.members()
            wait_for("the first creations", 20, lambda: self.members() > before + 20)
        except AssertionError:
            self.__exit__()
            self.assert_nothing_failed()
            raise
        return self

    def members(self):
        return int(self.machine.run("mariadb -N muster -e 'SELECT COUNT(*) FROM members'"))

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        text, _ = self.process.communicate(timeout=180)
        self.report = json.loads(text)

    def assert_nothing_failed(self):
        assert self.report["failures"] == []
        assert self.report["created"], "the load created no user"
        assert self.report["longest"] < LONGEST
        emails = self.machine.run("mariadb -N muster -e \"SELECT email FROM users WHERE email LIKE '%@load.example.org'\"").split()
        assert set(self.report["created"]) <= set(emails), "an acknowledged member is missing"


@pytest.fixture
def load(machine):
    return lambda threads=4: Load(machine, threads)
