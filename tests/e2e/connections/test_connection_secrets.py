"""Secrets of connections: tokens, codes, states, verifiers, client secrets and cookies are in no dump of the database,
no log, no list of processes and no reply; and sealed tokens open only in their own row."""

import os
import secrets
import subprocess
import uuid
from contextlib import contextmanager

import pytest
from support.client import Client
from support.connecting import (
    COOKIE, ROOT, another_browser, follow_redirect, authorizations, change_row, complete_authorization, connect, family, holding, listed, refresh, remove,
    row, run_due, status_of, wait_for_row, connect_and_authorize,
)
from support.oauth_answers import SERVER_ERROR
from support.oauth_server import OAuthServer
from support.stack import wait_for
from support.world import Organization
from test_zz_whole_run import holds_any

PROVIDER = "gitlab"


@pytest.fixture
def admin(module_org):
    return module_org.admin().api


def use_every_operation(admin, org, server):
    """Runs every operation on connections, so that every secret reaches every place where it could leak; returns the
    texts of all replies."""
    stack, answers = admin.stack, []
    for provider in ("gitlab", "slack", "notion", "mailchimp", "quickbooks"):
        key = {"Idempotency-Key": str(uuid.uuid4())}
        made = connect(admin, provider, headers=key)
        assert connect(admin, provider, headers=key) == made  # the reply is stored, including the state
        complete_authorization(admin, server.consent(made["redirectUrl"]))
        if provider != "mailchimp":
            with server.instead(provider, "token", SERVER_ERROR):
                change_row(stack, made["id"], refreshed_at=1)
                answers.append(refresh(admin, made["id"]).text)
            change_row(stack, made["id"], updated_at=1)
            answers.append(refresh(admin, made["id"]).text)
            generation = row(stack, made["id"])["token_generation"]
            change_row(stack, made["id"], refresh_due_at=1)
            wait_for_row(stack, made["id"], lambda values: values["token_generation"] > generation, "the runner")
    for error in ("invalid_grant", "invalid_client"):
        made = connect(admin, PROVIDER)
        with server.instead(PROVIDER, "token", OAuthServer.error(PROVIDER, error)):
            complete_authorization(admin, server.consent(made["redirectUrl"]))
    connect(admin, PROVIDER)  # this authorization is not completed
    remove(admin, connect_and_authorize(admin, PROVIDER))
    for path, query in ((f"{ROOT}/catalog", {}), (f"{ROOT}/connections", {"org": org.id}), ("/v1/audit-log", {"limit": 100}),
                        ("/metrics", {}), ("/openapi/partner.json", {})):
        answers.append(admin.get(path, params=query, expect=200).text)
    return answers


@pytest.fixture(scope="module")
def seen(module_org, oauth_server, stack):
    """The replies of a complete run, with a musterd at the most detailed log level, and the secrets to search for."""
    with stack.configured("[log]", "level = debug"):
        admin = module_org.admin().api
        answers = use_every_operation(admin, module_org, oauth_server)
    hidden = [*oauth_server.issued, *(cookie.value for cookie in admin.session.cookies)]
    kinds = {secret.partition("-")[0] for secret in hidden if "-" in secret}
    assert {"code", "at", "rt", "cs+/&=%"} <= kinds | {secret[:7] for secret in hidden}
    return answers, hidden


def test_no_reply_contains_a_secret(seen):
    answers, hidden = seen
    assert not holds_any("\n".join(answers), hidden)


def test_no_dump_of_the_database_contains_a_secret(seen, stack, module_org):
    _, hidden = seen
    name = f"Findable {uuid.uuid4()}"
    connect(module_org.admin().api, "slack", name=name)
    socket, database = stack.env["mysql_socket"], stack.env["database"]
    dump = subprocess.run(["mariadb-dump", "--no-defaults", "--user=root", f"--socket={socket}", "--skip-extended-insert", database],
                          capture_output=True, check=True, timeout=120).stdout.decode("latin-1")
    assert name in dump
    assert not holds_any(dump, hidden)
    as_hex = [secret.encode().hex() for secret in hidden]  # the formats in which binary columns may be dumped
    assert not holds_any(dump.lower(), as_hex)


def test_no_log_contains_a_secret(seen, stack):
    _, hidden = seen
    logs = sorted((stack.folder / "log").iterdir())
    assert {"musterd.log", "nginx.access.log", "nginx.error.log", "runner.log", "mail.log"} <= {path.name for path in logs}
    assert "external-data/callback" in stack.log("nginx.access")
    for path in logs:
        assert not holds_any(path.read_text(errors="replace"), hidden), f"{path.name} holds a secret"


def test_no_log_contains_the_code_of_a_callback_during_an_outage(stack, admin, module_org, oauth_server):
    made = connect(admin, PROVIDER)
    location = oauth_server.consent(made["redirectUrl"])
    with stack.without("musterd"):
        assert follow_redirect(admin, location, expect=503).json()["error"]["code"] == "SERVICE_UNAVAILABLE"
    wait_for(stack.answers, "musterd to answer")
    for path in (stack.folder / "log").iterdir():
        assert not holds_any(path.read_text(errors="replace"), oauth_server.issued), f"{path.name} holds a secret"
    assert complete_authorization(admin, location) == {"result": "connected", "connection": made["id"]}  # the authorization can still be completed


def processes():
    """Command lines and environments of all processes except this one."""
    texts = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        for part in ("cmdline", "environ"):
            try:
                with open(f"/proc/{name}/{part}", "rb") as file:
                    texts.append(file.read().replace(b"\0", b" ").decode("latin-1"))
            except OSError:
                pass  # the process has ended
    return "\n".join(texts)


def test_no_list_of_processes_contains_a_secret(stack, admin, oauth_server, no_runner):
    connection = connect_and_authorize(admin, PROVIDER)
    change_row(stack, connection, refreshed_at=1, refresh_due_at=1)
    with oauth_server.hold(PROVIDER) as gate:
        runner = stack.spawn_runner(kind="connections")
        gate.wait_for(1)
        check = subprocess.Popen([stack.build / "musterctl", "--config", stack.config, "provider", "check", "--provider", PROVIDER],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        gate.wait_for(2)
        running = processes()
        gate.open()
        said = check.communicate(timeout=30)[0]
    runner.terminate()
    runner.wait(30)
    assert "musterctl" in running and "muster-run" in running and "musterd" in running
    assert not holds_any(running, oauth_server.issued)
    assert "accepted" in said and not holds_any(said, oauth_server.issued)


# ---------------------------------------------------------------------------- values bound to their row


def swap(stack, table, column, key, one, two):
    """Exchanges the sealed values of two rows."""
    select = f"SELECT {column} FROM {table} WHERE {key} = UNHEX(REPLACE(%s, '-', ''))"
    values = [stack.sql(select, name)[0][0] for name in (one, two)]
    for name, value in zip((one, two), reversed(values)):
        stack.sql(f"UPDATE {table} SET {column} = %s WHERE {key} = UNHEX(REPLACE(%s, '-', ''))", value, name)


def aged(admin, provider=PROVIDER):
    """A connection whose tokens were issued some time ago."""
    connection = connect_and_authorize(admin, provider)
    change_row(admin.stack, connection, refreshed_at=1)
    return connection


@contextmanager
def swapped(stack, table, column, key, one, two):
    """Exchanges the sealed values of two rows for the block."""
    swap(stack, table, column, key, one, two)
    try:
        yield
    finally:
        swap(stack, table, column, key, one, two)


@contextmanager
def moved(stack, connection, source, target):
    """Moves the connection's row to another organization for the block, with its id and all."""
    move = "UPDATE connections SET organization_id = UNHEX(REPLACE(%s, '-', '')) WHERE id = UNHEX(REPLACE(%s, '-', ''))"
    stack.sql(move, target.id, connection)
    try:
        yield
    finally:
        stack.sql(move, source.id, connection)


def expect_unreadable(admin, org, server, connection):
    """Neither an admin nor the runner causes a request, and the connection keeps its status."""
    calls, before = server.count(), status_of(admin, org, connection)
    refresh(admin, connection, expect=503, code="SERVICE_UNAVAILABLE")
    change_row(admin.stack, connection, refresh_due_at=1)
    run_due(admin.stack)
    assert server.count() == calls and status_of(admin, org, connection) == before


def test_tokens_open_only_in_their_own_row(stack, module_org, admin, oauth_server, no_runner):
    one, two = aged(admin), aged(admin)
    with swapped(stack, "connections", "tokens", "id", one, two):
        for connection in (one, two):
            expect_unreadable(admin, module_org, oauth_server, connection)
    for connection in (one, two):
        assert refresh(admin, connection).json()["authStatus"] == "connected"


def test_tokens_open_only_for_their_own_tenant(stack, module_org, admin, new_org, oauth_server, no_runner):
    other = new_org(attributes=False)
    theirs, ours = aged(other.admin().api), aged(admin)
    with swapped(stack, "connections", "tokens", "id", theirs, ours):
        expect_unreadable(admin, module_org, oauth_server, ours)
    with moved(stack, theirs, source=other, target=module_org):
        expect_unreadable(admin, module_org, oauth_server, theirs)


@pytest.mark.parametrize("tokens", [b"", b"\x00", b"sealed", secrets.token_bytes(200)], ids=["empty", "a byte", "a word", "noise"])
def test_garbage_is_not_accepted_as_tokens(stack, module_org, admin, oauth_server, no_runner, tokens):
    connection = aged(admin)
    with holding(stack, connection, tokens):
        calls = oauth_server.count()
        refresh(admin, connection, expect=503 if tokens else 409)
        change_row(stack, connection, refresh_due_at=1)
        run_due(stack)
        assert oauth_server.count() == calls
        remove(admin, connection)  # an admin can still remove it
        assert connection not in listed(admin, module_org)
    assert connect_and_authorize(admin, PROVIDER)


def test_a_verifier_opens_only_in_its_own_row(stack, admin, oauth_server):
    one, two = connect(admin, PROVIDER), connect(admin, PROVIDER)
    locations = [oauth_server.consent(made["redirectUrl"]) for made in (one, two)]
    with swapped(stack, "connection_authorizations", "verifier", "connection_id", one["id"], two["id"]):
        calls = oauth_server.count()
        for location in locations:
            follow_redirect(admin, location, expect=503)
        assert oauth_server.count() == calls
    assert [complete_authorization(admin, location)["result"] for location in locations] == ["connected"] * 2


def test_only_the_hash_of_a_state_is_stored(stack, admin, oauth_server):
    made = connect(admin, PROVIDER)
    (found,), = stack.sql("SELECT HEX(state_hash) FROM connection_authorizations WHERE connection_id = "
                          "UNHEX(REPLACE(%s, '-', ''))", made["id"])
    location = oauth_server.consent(made["redirectUrl"])
    for state in (found, found.lower()):
        result = complete_authorization(admin, f"{stack.redirect_uri}?state={state}&code=made-up")
        assert result == {"result": "failed", "reason": "state"}
    assert authorizations(stack, made["id"]) == 1 and complete_authorization(admin, location)["result"] == "connected"


def test_a_cookie_is_not_accepted_for_another_session(module_org, admin, oauth_server):
    thief = module_org.new_admin("admin").api
    connect(thief, PROVIDER)
    made = connect(admin, PROVIDER)
    location = oauth_server.consent(made["redirectUrl"])
    cookie = next(cookie.value for cookie in thief.session.cookies if cookie.name == COOKIE)
    result = complete_authorization(another_browser(admin), location, headers={"Cookie": f"{COOKIE}={cookie}"})
    assert result == {"result": "failed", "reason": "browser"}


# ---------------------------------------------------------------------------- the installation's key


def test_connections_survive_a_rotation_of_the_installation_key(strict_stack, contract, oauth_server):
    stack = strict_stack
    org = Organization(stack, contract, attributes=False)
    client = org.admin().api
    connection, given = aged(client), family(oauth_server, PROVIDER)
    made = connect(client, PROVIDER)  # its authorization is pending while the key changes
    location = oauth_server.consent(made["redirectUrl"])
    old, new = stack.folder / "muster.key", stack.folder / "connections.key"
    new.write_bytes(secrets.token_bytes(32))
    new.chmod(0o600)
    before = row(stack, connection)["tokens"]
    with stack.without("runner"), stack.with_keys(new, old):
        assert complete_authorization(client, location) == {"result": "connected", "connection": made["id"]}
        counts = stack.ctl("secret", "rotate")
        assert counts["connection tokens"]["resealed"] >= 1 and counts["connection tokens"]["unreadable"] == 0
        assert row(stack, connection)["tokens"] != before
        with stack.with_keys(new):  # the old key is not needed any more
            assert refresh(client, connection).json()["authStatus"] == "connected"
            assert len(given.access) == 2
            assert connect_and_authorize(client, "slack")
    with stack.without("runner"), stack.with_keys(old, new):
        stack.ctl("secret", "rotate")
    change_row(stack, connection, refreshed_at=1)
    assert refresh(client, connection).json()["authStatus"] == "connected" and len(given.access) == 3
    assert Client(stack, contract, client.key).get("/v1/session").status_code == 200
