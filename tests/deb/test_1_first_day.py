"""The first day: from a new Debian to a finished import, with the commands of docs/operations/install.md; and the resulting
state."""

import json
import secrets
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from conftest import CA_FILE, HERE, documented_commands
from support.machine import wait_for
from support.root import ADMIN, NAME

CONFIGURATION = "/etc/muster/muster.conf"


@pytest.fixture(scope="module")
def installed(machine):
    """The documented commands, run one after the other in one shell; returns the output of the last one."""
    commands = documented_commands("From nothing to an import")
    # apt cannot ask questions here, and the packages are already downloaded.
    lines = [command.replace("sudo apt install", "sudo apt install -y") for command in commands]
    machine.put("set -e\n" + "\n".join(f"echo '# command {number}' >&2\n{line}" for number, line in enumerate(lines, 1)),
                "first-day.sh")
    return {"commands": commands, "printed": machine.run("bash first-day.sh 2>&1", seconds=300, user=ADMIN)}


def test_six_commands_lead_from_a_new_debian_to_a_finished_import_over_https(machine, installed):
    assert len(installed["commands"]) == 6
    print(installed["printed"][-1500:])
    members = int(machine.run("mariadb -N muster -e 'SELECT COUNT(*) FROM members'"))
    assert members == len(open(f"{machine.path}/usr/share/doc/muster-client/examples/members.csv", encoding="utf-8").readlines()) - 1
    assert machine.run("mariadb -N muster -e 'SELECT state FROM import_jobs'").split() == ["completed"]


@contextmanager
def restored(machine, path=None, service=None):
    """After the block the file is as before, the service has loaded it, and cron runs."""
    if path:
        machine.run(f"cp -a {path} restored")
    try:
        yield
    finally:
        steps = [f"cp -a restored {path}"] if path else []
        steps += [f"systemctl reload {service}"] if service else []
        machine.run("systemctl start cron")
        for step in steps:
            machine.run(step)


def stop_jobs(machine):
    """Stops cron and all runs."""
    machine.run("systemctl stop cron 'muster-run@*' 'muster-batch@*'; "
                "for i in $(seq 100); do pgrep -x muster-run >/dev/null || exit 0; sleep 0.1; done; exit 1")  # lint: sleeps because it polls


def test_cron_ran_the_jobs_without_output(machine, installed):
    """No runner was started by hand. Without a mail server cron reports in the journal that it discarded a mail."""
    said = machine.run("journalctl --no-pager -t CRON -t cron")
    assert "run-job imports" in said
    since = machine.run("mariadb -N muster -e 'SELECT MIN(created_at) DIV 1000 FROM import_jobs'").strip()
    assert "discarding output" not in machine.run(f"journalctl --no-pager -t CRON --since=@{since}")


def test_each_documented_cron_line_runs_under_cron(machine, installed):
    """The lines run silently and successfully with cron's shell, user and minimal environment."""
    lines = [line.split(None, 6)[5:] for line in machine.run("grep -E '^[0-9*]' /etc/cron.d/muster").splitlines()]
    assert len(lines) == 5
    with restored(machine):
        stop_jobs(machine)
        for user, command in lines:
            assert user == "root" and command.split()[-1] in ("55", "60", "3000")
            machine.put(f"{command.rsplit(None, 1)[0]} 1\n", "line.sh")
            done = machine.tried(f"chmod 644 line.sh; runuser -u {user} -- env -i SHELL=/bin/sh PATH=/usr/sbin:/usr/bin:/sbin:/bin "
                                 f"HOME=/nonexistent /bin/sh -c \"$(cat line.sh)\"", seconds=120)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), command


def test_all_units_run_and_health_is_ok(machine, installed):
    assert machine.run("systemctl is-active muster.service muster.socket mariadb nginx cron").split() == ["active"] * 5
    assert "muster" not in machine.run("systemctl --failed --no-legend --plain")
    health = json.loads(machine.run("sudo -u muster musterctl health --json"))
    assert health["healthy"], health


def test_a_worker_that_uses_too_much_memory_ends_alone(machine, installed):
    """By default systemd stops the whole service when the kernel kills one of its processes for that reason."""
    assert machine.run("systemctl show -P OOMPolicy muster.service").strip() == "continue"


def test_musterd_runs_in_its_sandbox_with_the_socket_login_of_the_database_user(machine, installed):
    """The user namespace of the unit must not hide the user from MariaDB, because no password is set."""
    assert machine.run("systemctl show -P PrivateUsers -P User muster.service").split() == ["yes", "muster"] or \
        machine.run("systemctl show -P User -P PrivateUsers muster.service").split() == ["muster", "yes"]
    plugin = machine.run("mariadb -N -e \"SELECT plugin FROM mysql.user WHERE user = 'muster'\"").split()
    assert plugin == ["unix_socket"]
    exposure = machine.run("systemd-analyze security --no-pager muster.service | tail -1")
    assert float(exposure.split(":")[1].split()[0]) <= 1.5, exposure


def test_api_workers_have_a_lower_priority_in_sessions_of_their_own(machine, installed):
    """The unit's filter of system calls must allow it, and the kernel must, although no worker may be dumped."""
    main = machine.run("systemctl show -P MainPID muster.service").strip()
    found = [line.split() for line in machine.run(f"ps -o pid=,sid=,ni= --ppid {main}").splitlines()]
    low = [pid for pid, _, niceness in found if niceness == "5"]
    assert len(low) == 8 and low == [pid for pid, session, _ in found if pid == session], found
    assert {niceness for pid, _, niceness in found if pid not in low} == {"0"}
    if machine.tried("test -e /proc/self/autogroup").returncode == 0:
        # The kernel accepts few changes at a time; the other workers try it again with each request.
        assert "nice 5" in machine.run("cat " + " ".join(f"/proc/{pid}/autogroup" for pid in low))


@pytest.fixture
def many_members(machine, installed):
    """8,000 members with long names, whose export has more than 4 MiB."""
    ids = "UNHEX(CONCAT('e0', SUBSTR(MD5(seq), 3)))"
    names = ", ".join(["REPEAT('x', 200)"] * 3)
    machine.run(f"""mariadb muster <<'SQL'
INSERT INTO users (id, email, created_at) SELECT {ids}, CONCAT(MD5(seq), '@many.example'), 1 FROM seq_1_to_8000;
INSERT INTO members (organization_id, user_id, id, email, first_name, last_name, display_name, attributes, created_at, updated_at)
    SELECT organizations.id, users.id, users.id, email, {names}, '{{}}', 1, 1 FROM organizations JOIN users
    WHERE email LIKE '%@many.example';
SQL""")
    yield 8000
    machine.run("mariadb muster -e \"DELETE FROM members WHERE email LIKE '%@many.example'; "
                "DELETE FROM users WHERE email LIKE '%@many.example'\"")


def test_musterd_in_its_sandbox_can_write_the_temporary_file_of_an_export(machine, many_members):
    with open(machine.outside("riverside.key"), encoding="utf-8") as key:
        options = f'header = "Authorization: Bearer {key.read().strip()}"\n'
    done = subprocess.run(
        machine.in_network("curl", "--silent", "--fail-with-body", "--max-time", "30", "--cacert", machine.path + CA_FILE,
                           "--resolve", f"{NAME}:443:127.0.0.1", "--config", "-", f"https://{NAME}/v1/users/export"),
        input=options, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-500:]
    assert len(done.stdout) > 4 << 20 and done.stdout.count("@many.example") == many_members


@contextmanager
def running(machine, unit):
    """The process id of a run in a unit, during the block. The unit's instance must end by itself or is stopped."""
    machine.run(f"systemctl start --no-block '{unit}'")
    try:
        yield wait_for(f"the run of {unit}", 20, lambda: machine.tried("pgrep -x muster-run").stdout.strip())
    finally:
        machine.run(f"systemctl stop '{unit}'")


@pytest.mark.parametrize("unit", ["muster-run@mail-50-99.service", "muster-batch@imports-50-99.service"])
def test_each_run_has_the_restrictions_of_musterd(machine, installed, unit):
    with restored(machine):
        stop_jobs(machine)
        with running(machine, unit) as process:
            status = dict(line.split(":\t", 1) for line in machine.run(f"cat /proc/{process}/status").splitlines() if ":\t" in line)
            assert (status["NoNewPrivs"], status["Seccomp"], status["CapBnd"]) == ("1", "2", "0" * 16)
            assert machine.run(f"stat -c %U /proc/{process}").strip() in ("muster", "root")
            assert "/etc/muster" not in machine.run(f"cat /proc/{process}/environ | tr '\\0' '\\n'")
            assert machine.tried(f"nsenter -t {process} -m touch /etc/muster/mine").returncode
            # The runs that decrypt nothing find an empty file instead of the installation's key.
            key = machine.run(f"nsenter -t {process} -m stat -c %s /etc/muster/muster.key").strip()
            assert key == ("0" if "batch" in unit else "32")
    exposure = machine.run(f"systemd-analyze security --no-pager {unit} | tail -1")
    assert float(exposure.split(":")[1].split()[0]) <= 1.5, exposure


def logged(machine, event):
    """How often musterd logged the event."""
    return machine.run("journalctl --no-pager -u muster").count(f"event={event} ")


def session_of_an_admin(machine):
    """The token of a new session past its second factor."""
    organization = machine.run("mariadb -N muster -e 'SELECT LOWER(HEX(id)) FROM organizations LIMIT 1'").strip()
    machine.run(f"sudo -u muster musterctl admin add --org {organization[:8]}-{organization[8:12]}-{organization[12:16]}-"
                f"{organization[16:20]}-{organization[20:]} --email owner@example.org --role owner")
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    token = "".join(secrets.choice(digits) for _ in range(43))
    number, check = zlib.crc32(token.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        check = digits[digit] + check
    now = "UNIX_TIMESTAMP() * 1000"
    machine.run("mariadb muster -e \"INSERT INTO sessions (id, token_hash, admin_id, active_organization_id, verified_at, created_at, "
                f"last_used_at, expires_at) SELECT RANDOM_BYTES(16), UNHEX(SHA2('{token}{check}', 256)), id, UNHEX('{organization}'), "
                f"{now}, {now}, {now}, {now} + 3600000 FROM admins WHERE email = 'owner@example.org'\"")
    return token + check


def test_a_run_in_its_sandbox_delivers_webhooks(machine, installed):
    """cron's command signs and delivers an event, with a key that it reads in the unit's sandbox."""
    with restored(machine, CONFIGURATION, "muster"):
        stop_jobs(machine)
        reloads = logged(machine, "pool.reloaded")
        machine.run(f"printf '[webhooks]\\nloopback = yes\\n' >>{CONFIGURATION}; systemctl reload muster")
        wait_for("the reload", 10, lambda: logged(machine, "pool.reloaded") > reloads)
        receiver = subprocess.Popen(
            machine.in_network(sys.executable, f"{HERE}/support/receiver.py", f"https://{NAME}", machine.path + CA_FILE,
                               session_of_an_admin(machine), "9099"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with receiver, ThreadPoolExecutor(1) as pool:
            try:
                assert receiver.stdout.readline() == "queued\n", receiver.communicate()[1]
                job = pool.submit(machine.run, "/usr/lib/muster/run-job webhooks 30 2>&1", 120)
                received, _ = receiver.communicate(timeout=130)
            finally:
                receiver.kill()
                machine.tried("systemctl kill 'muster-run@webhooks-30-*'")  # a run then ends at once, and has succeeded
            assert job.result() == ""
        assert json.loads(received) == {"type": "webhook_endpoint.test", "verified": True}


def test_a_run_that_fails_says_why_and_cron_mails_it(machine, installed):
    with restored(machine, CONFIGURATION):
        machine.run(f"echo 'nonsense = 1' >>{CONFIGURATION}")
        done = machine.tried("/usr/lib/muster/run-job mail 1")
    assert done.returncode == 1 and ": unknown key in [" in done.stdout and done.stdout.count("\n") == 1


def test_a_worker_may_dump_no_core_and_is_replaced_after_a_crash(machine, installed):
    """The kernel dumps no process that is not dumpable; its files in /proc then belong to root."""
    assert machine.run("systemctl show -P LimitCORE muster.service muster-run@mail-1-99.service").split() == ["0", "0"]
    main = machine.run("systemctl show -P MainPID muster.service").strip()
    worker = machine.run(f"pgrep -P {main}").split()[0]
    assert machine.run(f"stat -c %U /proc/{worker}/environ").strip() == "root"
    machine.run(f"kill -SEGV {worker}")
    wait_for("the worker's end", 10, lambda: "pool.worker_died" in machine.run("journalctl --no-pager -u muster"))
    assert machine.run("systemctl is-active muster.service").strip() == "active"


def test_only_their_group_can_read_secrets(machine, installed):
    modes = machine.run("stat -c '%n %a %U:%G' /etc/muster /etc/muster/muster.conf /etc/muster/muster.key /run/muster.socket")
    assert modes.splitlines() == ["/etc/muster 755 root:root", "/etc/muster/muster.conf 640 root:muster",
                                  "/etc/muster/muster.key 640 root:muster", "/run/muster.socket 660 muster:www-data"]
    assert machine.tried("cat /etc/muster/muster.key", user="daemon").returncode


def test_the_database_user_has_only_the_required_permissions(machine, installed):
    for statement in ("DROP TABLE muster.members", "CREATE TABLE muster.mine (a INT)", "SELECT * FROM mysql.user"):
        done = machine.tried(f"mariadb -e '{statement}'", user="muster")
        assert "denied" in done.stderr, statement


def test_an_invalid_configuration_fails_the_reload_and_changes_nothing(machine, installed, load):
    before = machine.run("systemctl show -P MainPID muster.service")
    with load() as partners:
        with restored(machine, CONFIGURATION, "muster"):
            machine.run(f"echo 'nonsense = 1' >>{CONFIGURATION}")
            began = machine.run("date +%s").strip()
            done = machine.tried("systemctl reload muster")
            assert done.returncode, "the reload of an invalid configuration should fail"

            def is_explained():
                said = machine.run(f"journalctl --no-pager -u muster --since=@{began}")
                return f"{CONFIGURATION}:" in said and "unknown key in [" in said

            wait_for("the reason", 10, is_explained)
            rejections, reloads = logged(machine, "pool.reload_refused"), logged(machine, "pool.reloaded")
            machine.run("kill -HUP \"$(systemctl show -P MainPID muster.service)\"")
            wait_for("the rejected signal", 10, lambda: logged(machine, "pool.reload_refused") > rejections)
            assert machine.run("systemctl is-active muster.service").strip() == "active"
        wait_for("the reload", 10, lambda: logged(machine, "pool.reloaded") > reloads)
    partners.assert_nothing_failed()
    assert machine.run("systemctl show -P MainPID muster.service") == before


def test_an_invalid_nginx_configuration_fails_its_reload_and_changes_nothing(machine, installed, load):
    rates = "/etc/nginx/snippets/muster-rates.conf"
    with load() as partners, restored(machine, rates, "nginx"):
        machine.run(f"echo 'nonsense;' >>{rates}")
        assert machine.tried("systemctl reload nginx").returncode
    partners.assert_nothing_failed()


def test_a_certificate_authority_finds_its_token_over_plain_http(machine, installed):
    """Let's Encrypt requests the file that certbot --webroot writes (RFC 8555 section 8.3); every other request is
    redirected."""
    machine.run("mkdir -p /var/www/html/.well-known/acme-challenge && echo token.thumb >/var/www/html/.well-known/acme-challenge/token")
    get = f"muster-curl() {{ exec 3<>/dev/tcp/127.0.0.1/80; printf 'GET %s HTTP/1.0\\r\\nHost: {NAME}\\r\\n\\r\\n' \"$1\" >&3; cat <&3; }}\n"
    assert machine.run(get + "muster-curl /.well-known/acme-challenge/token").endswith("token.thumb\n")
    assert f"Location: https://{NAME}/v1/users" in machine.run(get + "muster-curl /v1/users")
    machine.run("rm -r /var/www/html/.well-known")


def test_the_manual_pages_and_completions_are_installed(machine, installed):
    machine.run("for page in musterd.8 muster-run.8 musterctl.8 muster.conf.5 muster-api.7 muster-import.1; do "
                "test -s /usr/share/man/man${page##*.}/$page.gz || { echo no $page >&2; exit 1; }; done")
    assert "complete" in machine.run("bash -c '. /usr/share/bash-completion/completions/musterctl; complete -p musterctl'")
