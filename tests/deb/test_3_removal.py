"""The last day: packages are removed, and leave only the documented files."""

import pytest

# The database belongs to MariaDB; logs and the list of installed packages belong to Debian.
KEPT = r"^/(var/lib/mysql|proc|sys|dev|run/systemd|run/user|var/log/journal|var/cache/apt|home|var/lib/apt)(/|$)"


def test_removed_programs_stop_and_the_configuration_is_kept(machine):
    machine.run("apt remove -y muster muster-nginx muster-console muster-client", seconds=120)
    assert machine.tried("systemctl is-active muster.service muster.socket").stdout.split() == ["inactive"] * 2
    machine.run("test -s /etc/muster/muster.conf -a -s /etc/muster/muster.key")
    assert machine.tried("pgrep -x musterd").stdout == ""
    assert int(machine.run("mariadb -N muster -e 'SELECT COUNT(*) FROM organizations'")) == 1


def test_a_reinstallation_continues_with_the_same_key_and_database(machine):
    machine.run("apt install -y ./next/muster_*.deb ./next/muster-nginx_*.deb ./next/muster-console_*.deb ./next/muster-client_*.deb", seconds=120)
    machine.run("systemctl reload nginx || systemctl restart nginx")
    machine.run("sudo -u muster musterctl health")


@pytest.fixture(scope="module")
def purged(machine):
    return machine.run("apt purge -y muster muster-nginx muster-console muster-client 2>&1", seconds=120)


def test_a_purge_leaves_only_the_database_and_the_user(machine, purged):
    left = machine.run(f"find / /run -xdev -iname '*muster*' | grep -vE '{KEPT}' || true").split()
    # Debian's own records of enabled units, and of the user.
    assert left == [], purged
    assert machine.run("mariadb -N -e \"SHOW DATABASES LIKE 'muster'\"").strip() == "muster"
    machine.run("getent passwd muster")
    assert "muster" not in machine.run("systemctl list-units --all --no-legend --plain; systemctl list-unit-files --no-legend")


def test_nginx_still_starts_after_a_purge(machine, purged):
    machine.run("nginx -t && systemctl restart nginx")
