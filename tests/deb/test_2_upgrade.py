"""Upgrades under load: partners read, create and import while packages are replaced, without a failed request."""

import json
import os

import pytest

from conftest import CA_FILE
from support import root as roots
from support.machine import wait_for

IMPORT = (f"muster-import many.csv --url https://{roots.NAME} --ca-file {CA_FILE} --key-file riverside.key "
          "--commit --quiet --json")
ROWS = 30_000
MIGRATE = "musterctl db migrate --root-socket /run/mysqld/mysqld.sock"


def packages_of_version(version, packages, machine, folder):
    """The same packages with another version, in a folder of the administrator. dpkg treats them as an upgrade; the
    programs are the same."""
    for package in packages:
        roots.with_version(package, version, machine.outside(folder))
    return f"./{folder}"


@pytest.fixture(scope="module")
def next_version(packages, machine):
    return packages_of_version("0.1.1-1", packages, machine, "next")


@pytest.fixture
def older_schema(machine):
    """Makes the running database look as if this program's upgrade of the schema had not been run."""
    def take_back():
        machine.run("mariadb muster -e 'DELETE FROM schema_version; INSERT INTO schema_version (version, applied_at) VALUES (5, 0); "
                    "ALTER TABLE schema_version DROP COLUMN oldest_program'")
        assert machine.tried("sudo -u muster musterctl db status").returncode == 3
    return take_back


def main_pid(machine):
    """"0" if it is not running."""
    return machine.run("systemctl show -P MainPID muster.service").strip()


def installed_version(machine, package="muster"):
    return machine.run(f"dpkg-query -W -f '${{Version}}' {package}")


def start_import(machine):
    """A large import with the shipped client, in the background; its result is written to import.json."""
    with open(machine.outside("many.csv"), "w", encoding="utf-8") as out:
        out.write("Email,First name,Last name\n")
        out.writelines(f"row{number}@upgrade.example.org,First{number},Last{number}\n" for number in range(ROWS))
    machine.run(f"setsid bash -c '{IMPORT} >import.json 2>import.err; echo $? >import.code' >/dev/null 2>&1 &")


def test_an_upgrade_under_load_fails_no_request_and_no_import(machine, load, next_version):
    before, socket = main_pid(machine), machine.run("stat -c %i /run/muster.socket")
    start_import(machine)
    with load() as partners:
        machine.run(f"apt install -y {next_version}/*.deb", seconds=120)
        wait_for("the new musterd", 30, lambda: main_pid(machine) not in ("0", before))
        machine.run("systemctl is-active muster.service")
        wait_for("the import's end", 240, lambda: os.path.exists(machine.outside("import.code")))
    partners.assert_nothing_failed()
    assert installed_version(machine) == "0.1.1-1"
    assert machine.run("stat -c %i /run/muster.socket") == socket, "the socket was closed"
    with open(machine.outside("import.code"), encoding="ascii") as text:
        assert text.read().strip() == "0", open(machine.outside("import.err"), encoding="utf-8").read()
    count = "mariadb -N muster -e \"SELECT COUNT(*) FROM users WHERE email LIKE '%@upgrade.example.org'\""
    assert int(machine.run(count)) == ROWS


def test_while_the_schema_is_outdated_an_upgrade_keeps_the_old_musterd_running(machine, load, packages, older_schema):
    folder = packages_of_version("0.1.2-1", packages, machine, "after-next")
    before = main_pid(machine)
    with load() as partners:
        older_schema()
        said = machine.run(f"apt install -y {folder}/*.deb 2>&1", seconds=120)
        assert f"run `{MIGRATE}` as root" in said and "then run systemctl restart muster" in said
        assert main_pid(machine) == before
        machine.run(MIGRATE)
        machine.run("systemctl restart muster")
        assert main_pid(machine) not in ("0", before)
    partners.assert_nothing_failed()
    assert installed_version(machine) == "0.1.2-1"


def test_an_upgrade_does_not_start_programs_that_an_administrator_has_stopped(machine, packages):
    folder = packages_of_version("0.1.3-1", packages, machine, "stopped")
    machine.run("systemctl stop muster.socket muster.service")
    try:
        machine.run(f"apt install -y {folder}/*.deb", seconds=120)
        assert machine.tried("systemctl is-active muster.service muster.socket").stdout.split() == ["inactive"] * 2
    finally:
        machine.run("systemctl start muster.socket muster.service")
    machine.run("test ! -e /run/muster.stopped")


def test_while_the_database_hangs_an_upgrade_does_not_wait_and_keeps_the_old_musterd_running(machine, packages):
    folder = packages_of_version("0.1.4-1", packages, machine, "hanging")
    before = main_pid(machine)
    machine.run("setsid mariadb muster -e 'LOCK TABLES schema_version WRITE; SELECT SLEEP(300)' >/dev/null 2>&1 &")
    wait_for("the lock", 10, lambda: "SLEEP" in machine.run("mariadb -e 'SHOW PROCESSLIST'"))
    try:
        assert "the database does not answer" in machine.run(f"apt install -y {folder}/muster_*.deb 2>&1", seconds=100)
        assert main_pid(machine) == before
    finally:
        machine.run("mariadb -N -e \"SELECT CONCAT('KILL ', id, ';') FROM information_schema.processlist "
                    "WHERE info LIKE '%SLEEP(300)%' AND id <> CONNECTION_ID()\" | mariadb")
    machine.run("systemctl restart muster")


def test_with_a_configuration_that_it_rejects_an_upgrade_keeps_the_old_musterd_running(machine, packages):
    folder = packages_of_version("0.1.4-2", packages, machine, "rejected")
    before = main_pid(machine)
    machine.run("cp -a /etc/muster/muster.conf muster.conf.good")
    machine.run("printf '[webhooks]\\ndns = nowhere\\n' >>/etc/muster/muster.conf")
    try:
        said = machine.run(f"apt install -y {folder}/muster_*.deb 2>&1", seconds=100)
        assert "webhooks.dns is \"nowhere\"" in said and "correct the configuration" in said
        assert main_pid(machine) == before
    finally:
        machine.run("mv muster.conf.good /etc/muster/muster.conf")
    machine.run("systemctl restart muster")


def test_a_musterd_with_an_older_schema_names_the_command_and_starts_after_it(machine, older_schema):
    older_schema()
    machine.tried("systemctl restart muster")
    said = wait_for("the rejection", 10, lambda: machine.run("journalctl --no-pager -u muster -n 5 | grep 'db migrate' || true"))
    assert "--root-socket /run/mysqld/mysqld.sock" in said
    machine.run(MIGRATE)
    wait_for("musterd's start", 20, lambda: machine.tried("systemctl is-active muster").stdout.strip() == "active")


def test_all_programs_start_again_after_a_reboot(machine):
    machine.reboot()
    assert machine.run("systemctl is-active muster.service muster.socket").split() == ["active"] * 2
    wait_for("health after the start", 30, lambda: json.loads(machine.tried("sudo -u muster musterctl health --json").stdout or "{}")
             .get("healthy"))


def test_a_killed_musterd_is_replaced_and_answers(machine, load):
    before = main_pid(machine)
    assert before != "0"
    machine.run(f"kill -KILL {before}")
    wait_for("another musterd", 30, lambda: main_pid(machine) not in ("0", before))
    with load() as partners:
        pass
    partners.assert_nothing_failed()
