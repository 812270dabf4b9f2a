"""`musterctl db init` creates the database, the least-privilege user and the schema, from the root socket or as SQL; and
the checks of `musterctl health`.

The tests use the stack's database server, with a second database. The same command creates the user of the stack
(tests/sandbox/start), so the whole suite shows that the programs work with such a user.
"""

import json
import os
import re
import socket
import subprocess
import threading

import pymysql
import pytest
from support.stack import wait_for

NOT_DONE, USAGE = 1, 2
NAME, USER, PASSWORD = "e2e_first_run", "e2e_daily", "s3cret-pass'w\\ord"
DAILY = {"MUSTER_DATABASE_NAME": NAME, "MUSTER_DATABASE_USER": USER}
DENIED = (1044, 1142, 1227)


class FirstRun:
    def __init__(self, stack):
        self.stack, self.socket = stack, stack.env["mysql_socket"]
        secret = stack.folder / "tmp" / "daily.password"
        secret.write_text(PASSWORD + "\n")
        self.env = DAILY | {"MUSTER_DATABASE_PASSWORD": f"file:{secret}"}

    def run(self, *words, status=0, env=None):
        done = self.stack.ctl_raw(*words, env=self.env | (env or {}))
        assert done.returncode == status, done
        assert PASSWORD not in done.stdout + done.stderr
        return done

    def init(self, *more, **options):
        return self.run("--json", "db", "init", "--root-socket", self.socket, *more, **options)

    def health(self, status=0, env=None):
        return json.loads(self.run("--json", "health", status=status, env=env).stdout)

    def connect(self, **options):
        return pymysql.connect(unix_socket=self.socket, user=USER, **({"password": PASSWORD, "database": NAME} | options))

    def refuses(self, statement):
        """The least-privilege user has no permission for the statement."""
        with self.connect() as connection, connection.cursor() as cursor, pytest.raises(pymysql.Error) as caught:
            cursor.execute(statement)
        assert caught.value.args[0] in DENIED, (statement, caught.value)

    def grants(self):
        return [grant for (grant,) in self.stack.sql(f"SHOW GRANTS FOR {USER}@localhost")][1:]

    def clear(self):
        self.stack.sql(f"DROP DATABASE IF EXISTS {NAME}")
        for host in ("localhost", "%"):
            self.stack.sql(f"DROP USER IF EXISTS {USER}@'{host}'".replace("%", "%%"))


@pytest.fixture
def first(stack):
    made = FirstRun(stack)
    made.clear()
    yield made
    made.clear()


def is_mariadb(stack):
    return "MariaDB" in stack.sql("SELECT VERSION()")[0][0]


def tables(stack, name):
    return stack.sql("SELECT table_name FROM information_schema.tables WHERE table_schema = %s ORDER BY 1", name)


def test_root_creates_everything_once_and_the_daily_user_works_with_it(first, stack):
    assert "db init --root-socket" in first.health(status=NOT_DONE)["problem"]
    version = stack.ctl("db", "status")["supported"]
    assert json.loads(first.init().stdout) == {"created": True, "version": version, "users": [f"{USER}@localhost"],
                                               "users_with_other_rights": [], "triggers_created": []}
    assert json.loads(first.init().stdout)["created"] is False
    assert json.loads(first.run("--json", "db", "init").stdout)["created"] is False  # needs no permission
    assert first.health()["healthy"] is True
    assert tables(stack, NAME) == tables(stack, "muster")
    first.run("org", "create", "--name", "First")


def test_the_daily_user_can_only_read_and_write(first, stack):
    first.init()
    only = ["GRANT SELECT, INSERT, UPDATE, DELETE ON `e2e\\_first\\_run`.* TO `e2e_daily`@`localhost`"]
    assert [grant.replace("\\\\", "\\") for grant in first.grants()] == only
    for statement in ("ALTER TABLE organizations ADD COLUMN x INT", "DROP TABLE organizations", "CREATE TABLE x (x INT)",
                      "TRUNCATE TABLE organizations", "SELECT * FROM mysql.user", "SELECT * FROM muster.organizations",
                      "CREATE DATABASE e2e_other", "CREATE USER x@localhost", "CREATE TEMPORARY TABLE x (x INT)"):
        first.refuses(statement)
    # The user also has no access to a database whose name matches only if the underscore is a wildcard.
    stack.sql("CREATE DATABASE e2eXfirstXrun")
    try:
        with pytest.raises(pymysql.Error) as caught:
            first.connect(database="e2eXfirstXrun")
        assert caught.value.args[0] == 1044
    finally:
        stack.sql("DROP DATABASE e2eXfirstXrun")


def test_a_wrong_name_of_the_database_is_named_as_a_cause(first):
    """The server rejects the user of `db init` at any other database, whether it exists or not."""
    first.init()
    refused = first.run("org", "list", status=NOT_DONE, env={"MUSTER_DATABASE_NAME": "e2e_nowhere"}).stderr
    assert refused.startswith("musterctl: access denied for database.user: ") and "database.name is wrong" in refused


def test_existing_objects_are_brought_to_the_same_state(first, stack):
    stack.sql(f"CREATE DATABASE {NAME} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
    stack.sql(f"CREATE USER {USER}@localhost IDENTIFIED BY 'another'")
    stack.sql(f"GRANT ALL PRIVILEGES ON `e2e\\_first\\_run`.* TO {USER}@localhost WITH GRANT OPTION")
    assert json.loads(first.init().stdout)["created"] is True
    first.refuses("ALTER TABLE organizations ADD COLUMN x INT")
    assert len(first.grants()) == 1 and "GRANT OPTION" not in first.grants()[0] and "DELETE HISTORY" not in first.grants()[0]


def test_triggers_of_a_user_who_made_the_schema_work_after_its_privileges_are_revoked(first, stack):
    stack.sql(f"CREATE USER {USER}@localhost IDENTIFIED BY %s", PASSWORD)
    stack.sql(f"GRANT ALL PRIVILEGES ON `{NAME}`.* TO {USER}@localhost")
    stack.sql("SET GLOBAL log_bin_trust_function_creators = 1")  # MySQL has a binary log
    try:
        made = json.loads(first.run("--json", "db", "init").stdout)
    finally:
        stack.sql("SET GLOBAL log_bin_trust_function_creators = 0")
    assert made == {"created": True, "version": stack.ctl("db", "status")["supported"], "triggers_created": []}
    assert first.health()["healthy"] is True
    stack.sql(f"REVOKE ALL PRIVILEGES ON `{NAME}`.* FROM {USER}@localhost")
    assert json.loads(first.init().stdout)["triggers_created"] == ["audit_log_update", "audit_log_delete"]
    assert first.health()["healthy"] is True
    stack.sql(f"INSERT INTO {NAME}.audit_log (id, actor, action, details, created_at) VALUES (RANDOM_BYTES(16), 'operator', 'x', '{{}}', 1)")
    with first.connect() as connection, connection.cursor() as cursor:
        assert cursor.execute("DELETE FROM audit_log WHERE created_at = 1") == 1  # as the purge does


@pytest.mark.parametrize("grant", [
    "ALL PRIVILEGES ON *.*", "FILE ON *.*", "SELECT ON mysql.*", "ALL PRIVILEGES ON `e2e_first_run`.*", "SELECT ON muster.organizations",
    "SELECT (id) ON muster.organizations",
])
def test_grants_from_elsewhere_are_reported(first, stack, grant):
    """Grants beyond those of `db init`. One names the database with unescaped underscores, which are wildcards."""
    stack.sql(f"CREATE USER {USER}@localhost")
    stack.sql(f"GRANT {grant} TO {USER}@localhost")
    for words in ([], ["--json"]):
        output = first.run(*words, "db", "init", "--root-socket", first.socket).stdout
        assert ("SHOW GRANTS" in output and "no more" not in output) if not words else \
            json.loads(output)["users_with_other_rights"] == [f"{USER}@localhost"]


def test_an_interrupted_run_is_completed_by_running_it_again(first, stack):
    """Killed at several moments."""
    command = [stack.build / "musterctl", "--config", stack.config, "db", "init", "--root-socket", first.socket]
    for seconds in (0.005, 0.01, 0.02, 0.04, 0.08, 0.16):
        try:
            subprocess.run(command, env=os.environ | first.env, timeout=seconds, capture_output=True)
        except subprocess.TimeoutExpired:
            pass
    # The server may still run the last statement of the killed client.
    wait_for(lambda: stack.sql("SELECT COUNT(*) FROM information_schema.processlist WHERE db = %s", NAME) == [(0,)],
             "the end of its statements")
    if stack.sql("SELECT 1 FROM information_schema.tables WHERE table_schema = %s AND table_name = 'webhook_events'", NAME):
        stack.sql(f"DELETE FROM {NAME}.schema_version")
        stack.sql(f"DROP TABLE IF EXISTS {NAME}.guess_budgets")
    assert json.loads(first.init().stdout)["created"] is True
    assert tables(stack, NAME) == tables(stack, "muster")
    assert first.health()["healthy"] is True


def test_an_old_schema_is_rejected_with_the_command_for_this_user(first, stack):
    first.init()
    stack.sql(f"UPDATE {NAME}.schema_version SET version = version - 1")
    advice = f"`musterctl db migrate --root-socket {stack.env['mysql_socket']}` as root"
    assert advice in first.health(status=NOT_DONE)["problem"]
    server = stack.program("musterd", "--config", stack.config, env=first.env | {
        "MUSTER_SERVER_SOCKET": f"{stack.folder}/tmp/other.sock"}, timeout=20)
    assert server.returncode == 1 and advice in server.stderr
    assert "--root-socket" in first.run("db", "migrate", status=NOT_DONE).stderr
    first.run("db", "migrate", "--root-socket", first.socket)
    assert first.health()["healthy"] is True


def test_the_printed_sql_runs_unchanged_and_contains_no_password(first, stack):
    env = {"MUSTER_DATABASE_URL": "unix:/nowhere.sock"}  # uses no database
    script = first.run("db", "init", "--print-sql", env=env).stdout
    client = ["mariadb", "--no-defaults", "--user=root", f"--socket={first.socket}"]
    for _ in range(2):
        done = subprocess.run(client, input=script.replace("PUT-THE-PASSWORD-HERE", "filled-in"), text=True, capture_output=True)
        assert done.returncode == 0 and done.stderr == "", done
    filled = {"MUSTER_DATABASE_PASSWORD": "filled-in"}
    assert first.health(env=filled)["healthy"] is True
    first.connect(password="filled-in").close()
    assert tables(stack, NAME) == tables(stack, "muster")


def test_without_a_password_the_database_user_is_the_system_user(first, stack):
    env = {"MUSTER_DATABASE_PASSWORD": ""}
    first.init(env=env)
    plugin = "VIA unix_socket" if is_mariadb(stack) else "WITH 'auth_socket'"
    assert plugin in stack.sql(f"SHOW CREATE USER {USER}@localhost")[0][0]
    assert "access denied for database.user" in first.health(status=NOT_DONE, env=env)["problem"]  # the test runs as another system user
    script = first.run("db", "init", "--print-sql", env=env).stdout
    assert "IDENTIFIED VIA unix_socket" in script and "-- CREATE USER" in script and "auth_socket" in script


def test_mysql_without_its_plugin_is_reported(first, stack):
    if is_mariadb(stack):
        pytest.skip("MariaDB has the plugin built in")
    stack.sql("UNINSTALL PLUGIN auth_socket")
    try:
        assert "INSTALL PLUGIN auth_socket SONAME 'auth_socket.so'" in first.init(
            status=NOT_DONE, env={"MUSTER_DATABASE_PASSWORD": ""}).stderr
    finally:
        stack.sql("INSTALL PLUGIN auth_socket SONAME 'auth_socket.so'")


def test_over_a_network_a_password_is_required_and_the_client_host_is_named(first, stack):
    network = {"MUSTER_DATABASE_URL": "tcp://db.example:3306", "MUSTER_DATABASE_TLS_CA": stack.ca_file}
    script = first.run("db", "init", "--print-sql", "--client-host", "10.0.%", env=network).stdout
    assert f"'{USER}'@'10.0.%' IDENTIFIED BY 'PUT-THE-PASSWORD-HERE' REQUIRE SSL;" in script
    assert json.loads(first.init(env=network).stdout)["users"] == [f"{USER}@%"]
    empty = network | {"MUSTER_DATABASE_PASSWORD": ""}
    assert "database.password is empty" in first.init(status=NOT_DONE, env=empty).stderr


def test_a_client_host_is_refused_if_only_unix_sockets_are_used(first):
    refused = first.run("db", "init", "--print-sql", "--client-host", "10.0.%", status=NOT_DONE)
    assert 'the client host is "10.0.%", but database.url uses only Unix sockets' in refused.stderr


@pytest.mark.parametrize("env, words", [
    ({"MUSTER_DATABASE_USER": "a'b"}, []), ({"MUSTER_DATABASE_USER": "root"}, []), ({"MUSTER_DATABASE_USER": "a" * 33}, []),
    ({"MUSTER_DATABASE_NAME": "a`b"}, []), ({"MUSTER_DATABASE_NAME": "a-b"}, []),
    ({"MUSTER_DATABASE_URL": "tcp://db:1"}, ["--client-host", "x'y"]), ({}, ["--root-user", "unknown_user"]),
], ids=str)
def test_an_invalid_name_changes_nothing(first, stack, env, words):
    everything = "SELECT (SELECT COUNT(*) FROM mysql.user), (SELECT COUNT(*) FROM information_schema.schemata)"
    before = stack.sql(everything)
    first.init(*words, status=NOT_DONE, env=env)
    assert stack.sql(everything) == before


@pytest.mark.parametrize("words", [
    ["--root-socket", "mysql.sock"], ["--root-socket", ""], ["--root-user", "root"], ["--client-host", "%"],
    ["--print-sql", "--root-socket", "/run/x"],
], ids=str)
def test_a_wrong_command_line_is_reported(first, words):
    first.run("db", "init", *words, status=USAGE)


def test_an_unreachable_socket_is_reported(first):
    assert "no database answers" in first.run("db", "init", "--root-socket", "/nowhere", status=NOT_DONE).stderr


def test_the_password_is_in_no_log_and_no_process_list(first, stack):
    log = stack.folder / "tmp" / "general.log"
    stack.sql("SET GLOBAL general_log_file = %s", str(log))
    stack.sql("SET GLOBAL general_log = ON")
    seen, over = [], threading.Event()

    def watch():
        while not over.is_set():
            seen.extend(str(row) for row in stack.sql("SELECT info FROM information_schema.processlist"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        first.init()
    finally:
        over.set()
        watcher.join()
        stack.sql("SET GLOBAL general_log = OFF")
    logged = log.read_text(errors="replace")
    assert "CREATE USER" in logged and "s3cret" not in logged
    assert seen and not any("s3cret" in line for line in seen)


# ---------------------------------------------------------------------------- health


def problem_of(found, name):
    return next(check["problem"] for check in found["checks"] if check["name"] == name)


def health(stack, **env):
    return json.loads(stack.ctl_raw("--json", "health", env=env).stdout)


def test_health_lists_every_check_on_one_screen(stack):
    lines = stack.ctl_raw("health").stdout.splitlines()
    assert [line.split()[:2] for line in lines[:-1]] == [["WARN" if name == "addresses" else "ok", name] for name in (
        "configuration", "database", "settings", "clock", "schema", "key", "audit", "imports", "mail", "webhooks", "connections", "addresses",
        "providers", "server", "collectors", "readers")]
    assert lines[-1] == "healthy" and len(lines) <= 24


PUBLIC = {"MUSTER_SERVER_BASE_URL": "https://api.example.org", "MUSTER_MAIL_FROM": "muster@example.org",
          "MUSTER_CONSOLE_ORIGIN": "https://console.example.org"}


@pytest.mark.parametrize("name, variable, value", [
    ("server.base_url", "MUSTER_SERVER_BASE_URL", "https://localhost"), ("server.base_url", "MUSTER_SERVER_BASE_URL", "https://127.0.0.1:8443"),
    ("mail.from", "MUSTER_MAIL_FROM", "muster@localhost"), ("console.origin", "MUSTER_CONSOLE_ORIGIN", "https://localhost:8443"),
])
def test_health_warns_of_an_address_on_this_host_and_is_healthy(stack, name, variable, value):
    found = health(stack, **PUBLIC | {variable: value})
    warnings = [check["warning"] for check in found["checks"] if check["warning"]]
    assert len(warnings) == 1 and warnings[0].startswith(f"{name} is {value}: ") and found["healthy"] is True
    assert all(check["ok"] and check["problem"] is None for check in found["checks"])
    assert not any(check["warning"] for check in health(stack, **PUBLIC)["checks"])


def test_health_names_the_server(stack):
    (version,), = stack.sql("SELECT VERSION()")
    product = "MariaDB" if is_mariadb(stack) else "MySQL"
    line = stack.ctl_raw("health").stdout.splitlines()[1]
    assert line.split() == f"ok database {product} {version} over its Unix socket".split()


@pytest.mark.parametrize("name, value", [
    ("innodb_flush_log_at_trx_commit", 2), ("max_allowed_packet", 1 << 20),
    ("max_prepared_stmt_count", 1000),
])
def test_health_reports_settings_that_lose_data_or_break_imports(stack, name, value):
    (before,), = stack.sql(f"SELECT @@GLOBAL.{name}")
    stack.sql(f"SET GLOBAL {name} = {value}")
    try:
        found = health(stack)
    finally:
        stack.sql(f"SET GLOBAL {name} = {before}")
    assert name in problem_of(found, "settings") and found["healthy"] is False
    assert health(stack)["healthy"] is True


def test_health_reports_a_wrong_key(stack, tmp_path):
    other = tmp_path / "other.key"
    other.write_bytes(os.urandom(32))
    found = health(stack, MUSTER_SECURITY_KEY_FILE=str(other))
    assert "security.key_file" in problem_of(found, "key") and found["healthy"] is False


@pytest.mark.parametrize("name", ["audit_log_update", "audit_log_delete"])
def test_health_names_a_lost_trigger_and_the_command_that_creates_it(first, stack, name):
    first.init()
    stack.sql(f"DROP TRIGGER {NAME}.{name}")
    problem = problem_of(first.health(status=NOT_DONE), "audit")
    assert f"the trigger {name} is missing" in problem
    command = re.search("`musterctl (.*?)` as root", problem).group(1).split()
    assert command[:3] == ["db", "init", "--root-socket"]
    assert f"the trigger {name} was created" in first.run(*command).stdout
    found = first.health()
    assert problem_of(found, "audit") is None and found["healthy"] is True
    assert stack.sql(f"SELECT COUNT(*) FROM {NAME}.audit_log") == [(0,)]


def test_health_reports_clocks_that_differ(stack):
    assert "behind" in problem_of(health(stack, MUSTER_CLOCK_OFFSET="60"), "clock")
    assert "ahead" in problem_of(health(stack, MUSTER_CLOCK_OFFSET="-60"), "clock")


def test_health_warns_of_a_database_on_another_host_without_tls(stack):
    far = {"MUSTER_DATABASE_URL": "tcp://nowhere.invalid:3306", "MUSTER_DATABASE_PASSWORD": "x"}
    check = next(check for check in health(stack, **far)["checks"] if check["name"] == "database")
    assert "nowhere.invalid:3306 is not encrypted" in check["warning"] and "tls_ca" in check["warning"]


def test_health_reports_a_socket_without_a_listener(stack, tmp_path):
    left = tmp_path / "left.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(left))
    assert "does not answer" in problem_of(health(stack, MUSTER_SERVER_SOCKET=str(left)), "server")
    assert problem_of(health(stack, MUSTER_SERVER_SOCKET="/nowhere.sock"), "server") is None


def test_health_reports_an_invalid_configuration(stack, tmp_path):
    broken = tmp_path / "muster.conf"
    broken.write_text("[server]\nworkers = many\n")
    done = stack.program("musterctl", "--config", broken, "--json", "health")
    assert done.returncode == NOT_DONE
    found = json.loads(done.stdout)
    assert found["problem"].startswith(f"{broken}:2:") and [check["name"] for check in found["checks"]] == ["configuration"]


def test_health_reports_a_partly_configured_provider(stack, tmp_path):
    config = tmp_path / "muster.conf"
    text = open(stack.config, encoding="utf-8").read()
    config.write_text(text + "\n[providers.sentry]\nclient_id = x\n")
    done = stack.program("musterctl", "--config", config, "--json", "health")
    assert "client_secret" in problem_of(json.loads(done.stdout), "providers")


def test_checking_the_sockets_causes_no_errors(stack, anyone):
    def logged():
        return [line for line in stack.log("musterd").splitlines() if line.startswith(("level=warning ", "level=error "))]
    before = logged()
    for _ in range(20):
        assert health(stack)["healthy"] is True
    anyone.get("/healthz", expect=200)
    assert logged() == before
