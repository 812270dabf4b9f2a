"""An admin who connects providers of external data, with an HTTP client that keeps cookies like a browser, and the
state of the connections (docs/external-data.md)."""

import json
import signal
from contextlib import contextmanager
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from .client import Client
from .oauth_kinds import KINDS
from .stack import wait_for

ROOT = "/v1/external-data"
CONNECTIONS = f"{ROOT}/connections"
COOKIE = "__Host-muster-connect"
FIELDS = {"id", "name", "connector", "authStatus", "error"}
COLUMNS = ("provider, name, host, status, error, tokens, token_generation, details, access_expires_at, refresh_due_at, "
           "refresh_attempts, refreshed_at, lease_owner, lease_until, removed_at")
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000  # milliseconds


def console_headers(stack):
    return {"Origin": stack.base_url}


def connect(client, provider, expect=200, headers=None, **fields):
    """Starts an authorization; returns the connect-link response. The client keeps the cookie."""
    settings = {"settings": KINDS[provider].settings} if KINDS[provider].settings and "connection_id" not in fields else {}
    body = {"provider": provider} | settings | fields
    made = client.post(f"{ROOT}/connect", json=body, headers=console_headers(client.stack) | (headers or {}), expect=expect)
    return made.json()


def changed(location, **parameters):
    """The address with other parameters; None removes one."""
    parts = urlsplit(location)
    query = dict(parse_qsl(parts.query, keep_blank_values=True)) | parameters
    return parts._replace(query=urlencode({name: value for name, value in query.items() if value is not None})).geturl()


def state_of(location):
    return parse_qs(urlsplit(location).query)["state"][0]


def follow_redirect(client, location, expect=303, **options):
    """The browser follows the redirect of the provider; returns the reply, whatever its status."""
    stack = client.stack
    assert location.startswith(f"{stack.redirect_uri}?"), location
    return client.get(location.removeprefix(stack.base_url), key=None, allow_redirects=False, expect=expect, **options)


def result_of(reply):
    """The result in the redirect to the console: {"result": …}. The redirect never leads elsewhere and never contains a
    secret."""
    location = reply.headers["Location"]
    page, _, query = location.partition("?")
    base_url = reply.request.url.partition("/v1/")[0]
    assert page == f"{base_url}/console/#/connections", location
    result = dict(parse_qsl(query, strict_parsing=True))
    assert set(result) <= {"result", "reason", "connection"}, location
    assert reply.content == b"" and reply.headers["Referrer-Policy"] == "no-referrer"
    return result


def complete_authorization(client, location, **options):
    """Follows the redirect of the provider; returns the result in the redirect to the console."""
    return result_of(follow_redirect(client, location, **options))


def connect_and_authorize(client, provider, **fields):
    """Connects a provider without failures; returns the connection's id."""
    made = connect(client, provider, **fields)
    result = complete_authorization(client, client.stack.oauth.consent(made["redirectUrl"]))
    assert result == {"result": "connected", "connection": made["id"]}, result
    return made["id"]


def family(server, provider):
    """The tokens that the provider issued last."""
    return next(found for found in reversed(server.families) if found.provider == provider)


def listed(client, org):
    """{id: record}, in the order of the list."""
    reply = client.get_json(CONNECTIONS, params={"org": org.id}, headers=console_headers(client.stack))
    assert all(set(record) == FIELDS for record in reply)
    return {record["id"]: record for record in reply}


def status_of(client, org, connection):
    """(authStatus, error) of a connection."""
    record = listed(client, org)[connection]
    return record["authStatus"], record["error"]


def refresh(client, connection, expect=200, **options):
    return client.post(f"{CONNECTIONS}/{connection}/refresh", headers=console_headers(client.stack), expect=expect, **options)


def remove(client, connection, expect=204):
    return client.delete(f"{CONNECTIONS}/{connection}", headers=console_headers(client.stack), expect=expect)


def row(stack, connection):
    """The database row of a connection, details decoded; None if it does not exist."""
    found = stack.sql(f"SELECT {COLUMNS} FROM connections WHERE id = UNHEX(REPLACE(%s, '-', ''))", connection)
    if not found:
        return None
    values = dict(zip(COLUMNS.split(", "), found[0]))
    return values | {"details": json.loads(values["details"])}


def change_row(stack, connection, **columns):
    """Sets columns of the row, to simulate time or a runner."""
    stack.sql(f"UPDATE connections SET {', '.join(f'{name} = %s' for name in columns)} "
              "WHERE id = UNHEX(REPLACE(%s, '-', ''))", *columns.values(), connection)


@contextmanager
def holding(stack, connection, tokens, **columns):
    """Gives the connection tokens that no key opens, for the block; then deletes its row. Such a row would stay in the
    database after the test, also after the connection is removed, and `musterctl health` would report it."""
    change_row(stack, connection, tokens=tokens, **columns)
    try:
        yield
    finally:
        stack.sql("DELETE FROM connections WHERE id = UNHEX(REPLACE(%s, '-', ''))", connection)


def authorizations(stack, connection):
    """The number of pending authorizations of a connection."""
    (count,), = stack.sql("SELECT COUNT(*) FROM connection_authorizations WHERE connection_id = "
                          "UNHEX(REPLACE(%s, '-', ''))", connection)
    return count


def another_browser(client):
    """The same admin's session in a browser without cookies."""
    return Client(client.stack, client.contract, client.key)


def run_due(stack, seconds=1, env=None):
    """A runner that processes connections for that long."""
    done = stack.program("muster-run", "--config", stack.config, "--for", f"{seconds}s", "connections", env=env)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def run_until(stack, connection, look, what, env=None):
    """A runner that processes connections until `look` is true for the row; returns the row."""
    runner = stack.spawn_runner(kind="connections", env=env)
    try:
        row = wait_for_row(stack, connection, look, what)
    finally:
        runner.terminate()
        runner.wait(30)
    assert runner.returncode in (0, -signal.SIGTERM), "muster-run failed: see own-runner.log"
    return row


def wait_for_row(stack, connection, look, what):
    """Waits until `look` is true for the row; returns the row."""
    def seen():
        values = row(stack, connection)
        return look(values) and (values or True)
    return wait_for(seen, what)
