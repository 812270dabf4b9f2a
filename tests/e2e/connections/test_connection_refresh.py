"""Refreshing the tokens of connections: on demand and by the runner, once for all callers, and the results of failures
at the provider (docs/external-data.md "Tokens")."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.connecting import (
    DAY, HOUR, MINUTE, another_browser, change_row, connect, family, listed, refresh, remove, row, run_due, run_until,
    status_of, wait_for_row, connect_and_authorize,
)
from support.oauth_answers import DROPPED, HUGE, NO_JSON, NO_TOKEN, SERVER_ERROR, TOO_MANY, WRONG_TYPE, Answer
from support.oauth_kinds import KINDS
from support.oauth_server import OAuthServer
from support.stack import wait_for

PROVIDER = "gitlab"  # its refresh tokens rotate
ELSEWHERE = Answer(307, headers={"Location": "/gitlab/elsewhere"})
REFUSED = OAuthServer.error(PROVIDER, "invalid_grant")
UNKNOWN_CLIENT = OAuthServer.error(PROVIDER, "invalid_client", 401)


@pytest.fixture(autouse=True)
def _the_provider_finds_no_fault(oauth_server):
    """No refresh token was used twice, and every request matched the documentation of the provider."""
    oauth_server.faults.clear()
    oauth_server.reused.clear()
    yield
    assert (oauth_server.faults, oauth_server.reused) == ([], [])


@pytest.fixture
def admin(module_org):
    return module_org.admin().api


def now():
    return int(time.time() * 1000)


class RefreshableConnection:
    """A connection with tokens that were issued some time ago, and what the provider issued for it."""

    def __init__(self, admin, org, server, provider=PROVIDER):
        self.admin, self.org, self.server, self.stack, self.provider = admin, org, server, org.stack, provider
        self.id = connect_and_authorize(admin, provider)
        self.family = family(server, provider)
        self.age()

    def age(self, seconds=10):
        """Moves the last attempt into the past."""
        values = self.row()
        changes = {"refreshed_at": values["refreshed_at"] - seconds * 1000} if values["refreshed_at"] else {}
        change_row(self.stack, self.id, updated_at=now() - seconds * 1000, **changes)

    def row(self):
        return row(self.stack, self.id)

    def due(self, **columns):
        """Makes the connection due for the runner."""
        self.age()
        change_row(self.stack, self.id, refresh_due_at=now() - 1, **columns)

    def calls(self):
        """The token requests with a refresh token of this connection."""
        return [request for request in self.server.at(self.provider, grant="refresh_token")
                if request.body["refresh_token"] in self.family.refresh]

    def refresh(self, expect=200):
        return refresh(self.admin, self.id, expect=expect)

    def status_of(self):
        return status_of(self.admin, self.org, self.id)

    def wait_for(self, look, what):
        return wait_for_row(self.stack, self.id, look, what)

    def run_until(self, look, what, env=None):
        return run_until(self.stack, self.id, look, what, env)

    def has_settled(self, calls=1):
        """Waits until no refresh is running or due, and checks the number of calls."""
        values = self.wait_for(lambda values: values["lease_owner"] is None and values["refresh_due_at"] > now(), "the end of the refresh")
        assert len(self.calls()) == calls
        return values


@pytest.fixture
def connection(admin, module_org, oauth_server):
    return RefreshableConnection(admin, module_org, oauth_server)


@pytest.fixture
def make_connection(admin, module_org, oauth_server):
    return lambda provider: RefreshableConnection(admin, module_org, oauth_server, provider)


# ---------------------------------------------------------------------------- on demand


def test_a_refresh_is_done_immediately(connection, module_org):
    before = connection.row()
    reply = connection.refresh().json()
    assert reply == listed(connection.admin, module_org)[connection.id] and reply["authStatus"] == "connected"
    after = connection.has_settled()
    assert len(connection.family.access) == 2 and after["token_generation"] == before["token_generation"] + 1
    assert after["tokens"] != before["tokens"] and after["refreshed_at"] > before["refreshed_at"]
    assert after["access_expires_at"] > now() + 119 * MINUTE


@pytest.mark.parametrize("provider", [provider for provider, kind in KINDS.items()
                                      if kind.refresh and provider not in ("stripe", "sentry", "youtube")])
def test_every_refresh_uses_the_latest_refresh_token(make_connection, provider):
    """The rotated token, or the old one if the reply has none."""
    connection = make_connection(provider)
    for count in (1, 2, 3):
        assert connection.refresh().json()["authStatus"] == "connected"
        connection.age()
        assert len(connection.calls()) == count
    tokens = [request.body["refresh_token"] for request in connection.calls()]
    rotates = KINDS[provider].refresh == "rotates"
    assert len(set(tokens)) == (3 if rotates else 1) and len(connection.family.access) == 4


def test_twenty_parallel_requests_make_one_call(connection):
    with ThreadPoolExecutor(20) as pool:
        replies = list(pool.map(lambda _: refresh(another_browser(connection.admin), connection.id, expect=None), range(20)))
    assert {reply.status_code for reply in replies} <= {200, 202} and 200 in {reply.status_code for reply in replies}
    assert {reply.json()["authStatus"] for reply in replies} == {"connected"}
    assert connection.has_settled()["token_generation"] == 2


def test_twenty_parallel_requests_make_one_call_to_a_slow_provider(connection, oauth_server):
    with oauth_server.hold(PROVIDER) as gate, ThreadPoolExecutor(20) as pool:
        first = pool.submit(connection.refresh)
        gate.wait_for(1)
        others = list(pool.map(lambda _: refresh(another_browser(connection.admin), connection.id, expect=202).json(), range(19)))
        assert {reply["authStatus"] for reply in others} == {"connected"} and gate.waiting == 1
        gate.open()
        first.result()
    assert connection.has_settled()["token_generation"] == 2


def test_without_a_free_worker_the_runner_does_the_refresh(make_connection, oauth_server):
    """A quarter of the workers may wait for providers. Other requests are passed to the runner."""
    stuck, other = [make_connection(PROVIDER), make_connection("hubspot")], make_connection("slack")
    with oauth_server.hold(PROVIDER) as gate, oauth_server.hold("hubspot") as second, ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(connection.refresh) for connection in stuck]
        gate.wait_for(1)
        second.wait_for(1)
        assert other.refresh(expect=202).json()["authStatus"] == "connected"
        other.wait_for(lambda values: values["token_generation"] == 2, "the runner to refresh it")
        gate.open()
        second.open()
        for future in waiting:
            future.result()
    for connection in (*stuck, other):
        connection.has_settled()


def test_a_recent_refresh_is_not_repeated(connection):
    for _ in range(3):
        connection.refresh()
    assert len(connection.calls()) < 3  # three take less than two seconds
    connection.age()
    calls = len(connection.calls())
    connection.refresh()
    assert len(connection.calls()) == calls + 1


def expect_nothing_to_refresh(admin, connection):
    error = refresh(admin, connection, expect=409, code="INVALID_STATE").json()["error"]
    assert error["details"]["reason"]


def test_a_connection_without_a_refresh_token_cannot_be_refreshed(make_connection, admin):
    for provider in ("linkedin", "mailchimp", "stripe"):
        expect_nothing_to_refresh(admin, make_connection(provider).id)
    expect_nothing_to_refresh(admin, connect(admin, PROVIDER)["id"])


@pytest.mark.parametrize("status", ["expired", "revoked"])
def test_an_ended_connection_cannot_be_refreshed(connection, status):
    change_row(connection.stack, connection.id, status=status, error="It has ended.")
    expect_nothing_to_refresh(connection.admin, connection.id)
    assert connection.calls() == []


def test_a_provider_without_a_configuration_is_unavailable(connection):
    with connection.stack.configured(f"[providers.{PROVIDER}]", "client_secret"):
        refresh(connection.admin, connection.id, expect=503, code="PROVIDER_UNAVAILABLE")
    assert connection.calls() == []
    connection.refresh()


# ---------------------------------------------------------------------------- the runner


def test_the_runner_refreshes_due_connections(connection):
    connection.due()
    after = connection.wait_for(lambda values: values["token_generation"] == 2, "the refresh")
    assert abs(after["refresh_due_at"] - (now() + 105 * MINUTE)) < MINUTE and after["lease_owner"] is None
    assert len(connection.calls()) == 1 and connection.status_of() == ("connected", None)


@pytest.mark.parametrize("provider, minutes", [("gitlab", 105), ("notion", 1440), ("hubspot", 15), ("github", 465)])
def test_the_runner_refreshes_a_quarter_of_an_hour_before_expiry_and_at_least_daily(make_connection, no_runner, stack, provider, minutes):
    connection = make_connection(provider)
    run_due(stack, env={"MUSTER_CLOCK_OFFSET": str((minutes - 1) * 60)})
    assert connection.calls() == []
    connection.run_until(lambda values: values["token_generation"] == 2, "the refresh", {"MUSTER_CLOCK_OFFSET": str((minutes + 1) * 60)})
    assert len(connection.calls()) == 1


def test_a_connection_without_a_refresh_token_ends_with_its_access_token(make_connection, stack, no_runner):
    connection = make_connection("linkedin")
    run_due(stack, env={"MUSTER_CLOCK_OFFSET": str(59 * 86400)})
    assert connection.status_of() == ("connected", None)
    connection.due(access_expires_at=now() - 1)
    connection.run_until(lambda values: values["status"] == "expired", "the end of the connection")
    status, error = connection.status_of()
    assert status == "expired" and "LinkedIn" in error and connection.row()["refresh_due_at"] is None


def test_two_parallel_runners_use_no_refresh_token_twice(make_connection, stack, no_runner):
    connections = [make_connection(PROVIDER) for _ in range(8)]
    for connection in connections:
        connection.due()
    runners = [stack.spawn_runner(seconds=5, kind="connections") for _ in range(3)]
    assert [runner.wait(30) for runner in runners] == [0, 0, 0]
    for connection in connections:
        assert connection.has_settled()["token_generation"] == 2  # the fixture checks that no token was reused


def test_a_parallel_runner_and_admin_use_no_refresh_token_twice(connection, oauth_server):
    with oauth_server.hold(PROVIDER) as gate:
        connection.due()
        gate.wait_for(1)  # the runner
        connection.refresh(expect=202)
        gate.open()
    assert connection.has_settled()["token_generation"] == 2


def test_the_work_of_a_killed_runner_is_taken_over_when_its_lease_expires(connection, stack, oauth_server, no_runner):
    connection.due()
    with oauth_server.hold(PROVIDER) as gate:
        runner = stack.spawn_runner(kind="connections")
        gate.wait_for(1)
        runner.send_signal(signal.SIGKILL)
        runner.wait(10)
        leased = connection.row()
        assert leased["lease_owner"] is not None and leased["lease_until"] <= now() + MINUTE
        run_due(stack)
        connection.refresh(expect=202)  # no other refresh is allowed
        assert gate.waiting == 1 and len(connection.calls()) == 1
    change_row(stack, connection.id, lease_until=now() - 1)  # a minute later
    connection.run_until(lambda values: values["token_generation"] == 2, "the refresh")
    assert connection.has_settled(calls=2)["token_generation"] == 2 and connection.status_of() == ("connected", None)


def test_tokens_are_stored_even_if_the_lease_expired(connection, stack, oauth_server):
    """The provider has rotated the refresh token, so the new tokens are the only valid ones."""
    with oauth_server.hold(PROVIDER) as gate:
        connection.due()
        gate.wait_for(1)
        change_row(stack, connection.id, lease_owner=None, lease_until=0, refresh_due_at=now() + HOUR)
        gate.open()
        connection.wait_for(lambda values: values["token_generation"] == 2, "the tokens")
    connection.age()
    assert connection.refresh().json()["authStatus"] == "connected" and len(connection.family.access) == 3


def test_older_tokens_do_not_overwrite_those_of_a_new_consent(connection, oauth_server):
    with oauth_server.hold(PROVIDER, grant="refresh_token") as gate:
        connection.due()
        gate.wait_for(1)  # the runner, with the old refresh token
        assert connect_and_authorize(connection.admin, PROVIDER, connection_id=connection.id) == connection.id
        consented = connection.row()
        gate.open()
        wait_for(lambda: len(connection.family.access) == 2, "the provider to answer the runner")
    connection.age()
    new = family(oauth_server, PROVIDER)
    assert new is not connection.family and connection.refresh().json()["authStatus"] == "connected"
    assert len(new.access) == 2 and connection.row()["token_generation"] == consented["token_generation"] + 1


def test_tokens_received_during_a_database_outage_are_stored(connection, stack, oauth_server, no_runner):
    """The old refresh token is used up, so the new tokens must be written."""
    connection.due()
    with oauth_server.hold(PROVIDER) as gate:
        runner = stack.spawn_runner(seconds=120, kind="connections")
        gate.wait_for(1)
        with stack.without("mariadbd", verb="kill"):
            gate.open()
            wait_for(lambda: len(connection.family.access) == 2, "the provider to answer")
        after = connection.wait_for(lambda values: values["token_generation"] == 2, "the tokens")
    runner.terminate()
    runner.wait(30)
    assert after["refresh_due_at"] > now()
    connection.age()
    connection.refresh()
    assert len(connection.family.access) == 3


def test_an_unresponsive_provider_does_not_delay_others(make_connection, stack, oauth_server, no_runner):
    """For any number of due connections the provider gets one wait of ten seconds, and is then avoided for a minute."""
    stuck, others = [make_connection(PROVIDER) for _ in range(20)], [make_connection(provider) for provider in ("slack", "github", "notion")]
    for connection in (*stuck, *others):
        connection.due()
    with oauth_server.hold(PROVIDER) as gate:
        runner = stack.spawn_runner(kind="connections")
        for connection in others:
            connection.wait_for(lambda values: values["token_generation"] == 2, "the refresh of the other connection")
        assert gate.waiting < len(stuck) / 2
        runner.terminate()
        assert runner.wait(30) == 0
    for connection in stuck:
        assert connection.row()["lease_owner"] is None
        connection.age()
        assert connection.refresh().json()["error"] is None


# ---------------------------------------------------------------------------- failures


@pytest.mark.parametrize("provider, code, status", [
    ("gitlab", "invalid_grant", "expired"), ("slack", "invalid_refresh_token", "expired"), ("slack", "token_revoked", "revoked"),
    ("slack", "account_inactive", "revoked"), ("github", "bad_refresh_token", "expired"), ("quickbooks", "invalid_grant", "expired"),
])
def test_a_rejected_refresh_ends_a_connection(make_connection, oauth_server, provider, code, status):
    connection = make_connection(provider)
    with oauth_server.instead(provider, "token", oauth_server.error(provider, code)):
        reply = connection.refresh().json()
    assert reply["authStatus"] == status and f"({code})" in reply["error"] and "Do not show" not in reply["error"]
    assert connection.row()["refresh_due_at"] is None
    expect_nothing_to_refresh(connection.admin, connection.id)
    assert connect_and_authorize(connection.admin, provider, connection_id=connection.id) == connection.id
    assert connection.status_of() == ("connected", None)


def test_access_revoked_at_the_provider_ends_the_connection(connection):
    connection.family.is_live = False
    connection.due()
    connection.wait_for(lambda values: values["status"] == "expired", "the runner to notice")
    assert "GitLab" in connection.status_of()[1] and len(connection.calls()) == 1


UNAVAILABLE = [("a 500", SERVER_ERROR, "http_500"), ("a 429", TOO_MANY, "http_429"), ("no JSON", NO_JSON, "no_json"),
               ("megabytes", HUGE, "too_large"), ("half an answer", DROPPED, "broken"), ("a redirect", ELSEWHERE, "redirect"),
               ("no token", NO_TOKEN, "invalid_answer"), ("another kind of token", WRONG_TYPE, "invalid_answer")]


@pytest.mark.parametrize("answer, code", [case[1:] for case in UNAVAILABLE], ids=[case[0] for case in UNAVAILABLE])
def test_a_temporary_failure_keeps_the_tokens(connection, oauth_server, answer, code):
    before = connection.row()
    with oauth_server.instead(PROVIDER, "token", answer):
        reply = connection.refresh().json()
    assert reply["authStatus"] == "connected" and f"({code})" in reply["error"]
    after = connection.row()
    assert (after["tokens"], after["token_generation"], after["refresh_attempts"]) == (before["tokens"], 1, 1)
    assert now() < after["refresh_due_at"] < now() + 2 * MINUTE
    assert oauth_server.at(PROVIDER, "elsewhere") == []
    connection.age()
    assert connection.refresh().json()["error"] is None and connection.row()["refresh_attempts"] == 0


def test_the_runner_calls_a_failing_provider_with_growing_delays(connection, oauth_server, no_runner):
    with oauth_server.instead(PROVIDER, "token", SERVER_ERROR):
        for attempt, minutes in enumerate((1, 5, 15, 60, 60), 1):
            connection.due()
            after = connection.run_until(lambda values: values["refresh_attempts"] == attempt, "the attempt")
            assert after["status"] == "connected" and after["error"]
            assert abs(after["refresh_due_at"] - (now() + minutes * MINUTE)) < MINUTE / 2, attempt
            assert len(connection.calls()) == attempt
    connection.due()
    connection.run_until(lambda values: values["refresh_attempts"] == 0, "the refresh")
    assert connection.status_of() == ("connected", None)


@pytest.mark.parametrize("answer", [SERVER_ERROR, UNKNOWN_CLIENT], ids=["trouble", "a client it does not know"])
def test_a_connection_with_an_expired_token_is_in_error_until_it_is_refreshed(connection, oauth_server, answer):
    change_row(connection.stack, connection.id, access_expires_at=now() - 1)
    with oauth_server.instead(PROVIDER, "token", answer):
        assert connection.refresh().json()["authStatus"] == "error"
    connection.due()
    connection.wait_for(lambda values: values["status"] == "connected", "the runner to refresh it after all")
    assert connection.status_of() == ("connected", None)


def test_an_unknown_client_is_reported_to_the_operator(connection, oauth_server):
    with oauth_server.instead(PROVIDER, "token", UNKNOWN_CLIENT):
        reply = connection.refresh().json()
    assert reply["authStatus"] == "connected" and "operator" in reply["error"]
    assert abs(connection.row()["refresh_due_at"] - (now() + HOUR)) < MINUTE
    connection.age()
    assert connection.refresh().json()["error"] is None


# ---------------------------------------------------------------------------- deletion


@pytest.mark.parametrize("provider", [provider for provider, kind in KINDS.items() if kind.revoke and provider != "youtube"])
def test_deleting_a_connection_revokes_its_tokens(make_connection, module_org, oauth_server, provider):
    connection = make_connection(provider)
    remove(connection.admin, connection.id)
    assert connection.id not in listed(connection.admin, module_org)
    remove(connection.admin, connection.id, expect=404)
    refresh(connection.admin, connection.id, expect=404)
    wait_for(lambda: connection.row() is None, "the revocation")
    given = connection.family.refresh if KINDS[provider].revokes == "refresh_token" and connection.family.refresh else connection.family.access
    assert given[-1] in oauth_server.revoked and not connection.family.is_live


@pytest.mark.parametrize("provider", ["linkedin", "mailchimp", "stripe", "shopify", "github"])
def test_a_connection_without_revocation_is_deleted_immediately(make_connection, no_runner, provider):
    connection = make_connection(provider)
    remove(connection.admin, connection.id)
    assert connection.row() is None


def test_tokens_that_cannot_be_revoked_are_kept_for_a_day(connection, stack, oauth_server, no_runner):
    remove(connection.admin, connection.id)
    requests = len(oauth_server.at(PROVIDER, "revoke"))
    with oauth_server.instead(PROVIDER, "revoke", SERVER_ERROR):
        after = connection.run_until(lambda values: values is None or values["refresh_attempts"] == 1, "the attempt")
        assert after["removed_at"] is not None and len(oauth_server.at(PROVIDER, "revoke")) == requests + 1
        change_row(stack, connection.id, removed_at=now() - DAY - MINUTE, refresh_due_at=now() - 1)
        connection.run_until(lambda values: values is None, "the deletion")


def test_an_unresponsive_provider_does_not_delay_a_deletion(connection, oauth_server, module_org):
    with oauth_server.hold(PROVIDER, "revoke") as gate:
        began = time.monotonic()
        remove(connection.admin, connection.id)
        assert time.monotonic() - began < 5 and connection.id not in listed(connection.admin, module_org)
        gate.wait_for(1)
        gate.open()
    wait_for(lambda: connection.row() is None, "the revocation")


def test_a_connection_deleted_during_a_refresh_remains_deleted(connection, oauth_server, module_org):
    with oauth_server.hold(PROVIDER) as gate:
        connection.due()
        gate.wait_for(1)
        remove(connection.admin, connection.id)
        gate.open()
        wait_for(lambda: connection.row() is None, "the revocation")
    assert connection.id not in listed(connection.admin, module_org)
    assert not connection.family.is_live and connection.family.refresh[-1] in oauth_server.revoked  # the newest one
