"""Refreshing the tokens of connections: on demand and by the runner, once for all callers, and the results of failures
at the provider (docs/external-data.md "Tokens")."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.connecting import (
    DAY, HOUR, MINUTE, another_browser, change_row, connect, family, listed, refresh, remove, row, run_due, stands,
    wait_for_row, whole_way,
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


class Kept:
    """A connection with tokens that were issued some time ago, and what the provider issued for it."""

    def __init__(self, admin, org, server, provider=PROVIDER):
        self.admin, self.org, self.server, self.stack, self.provider = admin, org, server, org.stack, provider
        self.id = whole_way(admin, provider)
        self.family = family(server, provider)
        self.age()

    def age(self, seconds=10):
        """Moves the last attempt into the past."""
        kept = self.row()
        changes = {"refreshed_at": kept["refreshed_at"] - seconds * 1000} if kept["refreshed_at"] else {}
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

    def stands(self):
        return stands(self.admin, self.org, self.id)

    def wait_for(self, look, what):
        return wait_for_row(self.stack, self.id, look, what)

    def has_settled(self, calls=1):
        """Waits until no refresh is running or due, and checks the number of calls."""
        kept = self.wait_for(lambda values: values["lease_owner"] is None and values["refresh_due_at"] > now(), "the end of it")
        assert len(self.calls()) == calls
        return kept


@pytest.fixture
def kept(admin, module_org, oauth_server):
    return Kept(admin, module_org, oauth_server)


@pytest.fixture
def keep(admin, module_org, oauth_server):
    return lambda provider: Kept(admin, module_org, oauth_server, provider)


# ---------------------------------------------------------------------------- on demand


def test_a_refresh_is_done_immediately(kept, module_org):
    before = kept.row()
    reply = kept.refresh().json()
    assert reply == listed(kept.admin, module_org)[kept.id] and reply["authStatus"] == "connected"
    after = kept.has_settled()
    assert len(kept.family.access) == 2 and after["token_generation"] == before["token_generation"] + 1
    assert after["tokens"] != before["tokens"] and after["refreshed_at"] > before["refreshed_at"]
    assert after["access_expires_at"] > now() + 119 * MINUTE


@pytest.mark.parametrize("provider", [provider for provider, kind in KINDS.items()
                                      if kind.refresh and provider not in ("stripe", "sentry", "youtube")])
def test_every_refresh_uses_the_latest_refresh_token(keep, provider):
    """The rotated token, or the old one if the reply has none."""
    kept = keep(provider)
    for count in (1, 2, 3):
        assert kept.refresh().json()["authStatus"] == "connected"
        kept.age()
        assert len(kept.calls()) == count
    tokens = [request.body["refresh_token"] for request in kept.calls()]
    rotates = KINDS[provider].refresh == "rotates"
    assert len(set(tokens)) == (3 if rotates else 1) and len(kept.family.access) == 4


def test_twenty_parallel_requests_make_one_call(kept):
    with ThreadPoolExecutor(20) as pool:
        replies = list(pool.map(lambda _: refresh(another_browser(kept.admin), kept.id, expect=None), range(20)))
    assert {reply.status_code for reply in replies} <= {200, 202} and 200 in {reply.status_code for reply in replies}
    assert {reply.json()["authStatus"] for reply in replies} == {"connected"}
    assert kept.has_settled()["token_generation"] == 2


def test_twenty_parallel_requests_make_one_call_to_a_slow_provider(kept, oauth_server):
    with oauth_server.hold(PROVIDER) as gate, ThreadPoolExecutor(20) as pool:
        first = pool.submit(kept.refresh)
        gate.wait_for(1)
        others = list(pool.map(lambda _: refresh(another_browser(kept.admin), kept.id, expect=202).json(), range(19)))
        assert {reply["authStatus"] for reply in others} == {"connected"} and gate.waiting == 1
        gate.open()
        first.result()
    assert kept.has_settled()["token_generation"] == 2


def test_without_a_free_worker_the_runner_does_the_refresh(keep, oauth_server):
    """A quarter of the workers may wait for providers. Other requests are passed to the runner."""
    stuck, other = [keep(PROVIDER), keep("hubspot")], keep("slack")
    with oauth_server.hold(PROVIDER) as gate, oauth_server.hold("hubspot") as second, ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(kept.refresh) for kept in stuck]
        gate.wait_for(1)
        second.wait_for(1)
        assert other.refresh(expect=202).json()["authStatus"] == "connected"
        other.wait_for(lambda values: values["token_generation"] == 2, "the runner to refresh it")
        gate.open()
        second.open()
        for future in waiting:
            future.result()
    for kept in (*stuck, other):
        kept.has_settled()


def test_a_recent_refresh_is_not_repeated(kept):
    for _ in range(3):
        kept.refresh()
    assert len(kept.calls()) < 3  # three take less than two seconds
    kept.age()
    calls = len(kept.calls())
    kept.refresh()
    assert len(kept.calls()) == calls + 1


def expect_nothing_to_refresh(admin, connection):
    error = refresh(admin, connection, expect=409, code="INVALID_STATE").json()["error"]
    assert error["details"]["reason"]


def test_a_connection_without_a_refresh_token_cannot_be_refreshed(keep, admin):
    for provider in ("linkedin", "mailchimp", "stripe"):
        expect_nothing_to_refresh(admin, keep(provider).id)
    expect_nothing_to_refresh(admin, connect(admin, PROVIDER)["id"])


@pytest.mark.parametrize("status", ["expired", "revoked"])
def test_an_ended_connection_cannot_be_refreshed(kept, status):
    change_row(kept.stack, kept.id, status=status, error="It has ended.")
    expect_nothing_to_refresh(kept.admin, kept.id)
    assert kept.calls() == []


def test_a_provider_without_a_configuration_is_unavailable(kept):
    with kept.stack.configured(f"[providers.{PROVIDER}]", "client_secret"):
        refresh(kept.admin, kept.id, expect=503, code="PROVIDER_UNAVAILABLE")
    assert kept.calls() == []
    kept.refresh()


# ---------------------------------------------------------------------------- the runner


def test_the_runner_refreshes_due_connections(kept):
    kept.due()
    after = kept.wait_for(lambda values: values["token_generation"] == 2, "the refresh")
    assert abs(after["refresh_due_at"] - (now() + 105 * MINUTE)) < MINUTE and after["lease_owner"] is None
    assert len(kept.calls()) == 1 and kept.stands() == ("connected", None)


@pytest.mark.parametrize("provider, minutes", [("gitlab", 105), ("notion", 1440), ("hubspot", 15), ("github", 465)])
def test_the_runner_refreshes_a_quarter_of_an_hour_before_expiry_and_at_least_daily(keep, no_runner, stack, provider, minutes):
    kept = keep(provider)
    run_due(stack, env={"MUSTER_CLOCK_OFFSET": str((minutes - 1) * 60)})
    assert kept.calls() == []
    run_due(stack, seconds=2, env={"MUSTER_CLOCK_OFFSET": str((minutes + 1) * 60)})
    assert len(kept.calls()) == 1 and kept.row()["token_generation"] == 2


def test_a_connection_without_a_refresh_token_ends_with_its_access_token(keep, stack, no_runner):
    kept = keep("linkedin")
    run_due(stack, env={"MUSTER_CLOCK_OFFSET": str(59 * 86400)})
    assert kept.stands() == ("connected", None)
    kept.due(access_expires_at=now() - 1)
    run_due(stack)
    status, error = kept.stands()
    assert status == "expired" and "LinkedIn" in error and kept.row()["refresh_due_at"] is None


def test_two_parallel_runners_use_no_refresh_token_twice(keep, stack, no_runner):
    connections = [keep(PROVIDER) for _ in range(8)]
    for kept in connections:
        kept.due()
    runners = [stack.spawn_runner(seconds=5, kind="connections") for _ in range(3)]
    assert [runner.wait(30) for runner in runners] == [0, 0, 0]
    for kept in connections:
        assert kept.has_settled()["token_generation"] == 2  # the fixture checks that no token was reused


def test_a_parallel_runner_and_admin_use_no_refresh_token_twice(kept, oauth_server):
    with oauth_server.hold(PROVIDER) as gate:
        kept.due()
        gate.wait_for(1)  # the runner
        kept.refresh(expect=202)
        gate.open()
    assert kept.has_settled()["token_generation"] == 2


def test_the_work_of_a_killed_runner_is_taken_over_when_its_lease_expires(kept, stack, oauth_server, no_runner):
    kept.due()
    with oauth_server.hold(PROVIDER) as gate:
        runner = stack.spawn_runner(kind="connections")
        gate.wait_for(1)
        runner.send_signal(signal.SIGKILL)
        runner.wait(10)
        leased = kept.row()
        assert leased["lease_owner"] is not None and leased["lease_until"] <= now() + MINUTE
        run_due(stack)
        kept.refresh(expect=202)  # no other refresh is allowed
        assert gate.waiting == 1 and len(kept.calls()) == 1
    change_row(stack, kept.id, lease_until=now() - 1)  # a minute later
    run_due(stack, seconds=2)
    assert kept.has_settled(calls=2)["token_generation"] == 2 and kept.stands() == ("connected", None)


def test_tokens_are_stored_even_if_the_lease_expired(kept, stack, oauth_server):
    """The provider has rotated the refresh token, so the new tokens are the only valid ones."""
    with oauth_server.hold(PROVIDER) as gate:
        kept.due()
        gate.wait_for(1)
        change_row(stack, kept.id, lease_owner=None, lease_until=0, refresh_due_at=now() + HOUR)
        gate.open()
        kept.wait_for(lambda values: values["token_generation"] == 2, "the tokens")
    kept.age()
    assert kept.refresh().json()["authStatus"] == "connected" and len(kept.family.access) == 3


def test_older_tokens_do_not_overwrite_those_of_a_new_consent(kept, oauth_server):
    with oauth_server.hold(PROVIDER, grant="refresh_token") as gate:
        kept.due()
        gate.wait_for(1)  # the runner, with the old refresh token
        assert whole_way(kept.admin, PROVIDER, connection_id=kept.id) == kept.id
        consented = kept.row()
        gate.open()
        wait_for(lambda: len(kept.family.access) == 2, "the provider to answer the runner")
    kept.age()
    new = family(oauth_server, PROVIDER)
    assert new is not kept.family and kept.refresh().json()["authStatus"] == "connected"
    assert len(new.access) == 2 and kept.row()["token_generation"] == consented["token_generation"] + 1


def test_tokens_received_during_a_database_outage_are_stored(kept, stack, oauth_server, no_runner):
    """The old refresh token is used up, so the new tokens must be written."""
    kept.due()
    with oauth_server.hold(PROVIDER) as gate:
        runner = stack.spawn_runner(seconds=20, kind="connections")
        gate.wait_for(1)
        with stack.without("mariadbd", verb="kill"):
            gate.open()
            wait_for(lambda: len(kept.family.access) == 2, "the provider to answer")
        after = kept.wait_for(lambda values: values["token_generation"] == 2, "the tokens")
    runner.terminate()
    runner.wait(30)
    assert after["refresh_due_at"] > now()
    kept.age()
    kept.refresh()
    assert len(kept.family.access) == 3


def test_an_unresponsive_provider_does_not_delay_others(keep, stack, oauth_server, no_runner):
    """For any number of due connections the provider gets one wait of ten seconds, and is then avoided for a minute."""
    stuck, others = [keep(PROVIDER) for _ in range(20)], [keep(provider) for provider in ("slack", "github", "notion")]
    for kept in (*stuck, *others):
        kept.due()
    with oauth_server.hold(PROVIDER) as gate:
        runner = stack.spawn_runner(kind="connections")
        for kept in others:
            kept.wait_for(lambda values: values["token_generation"] == 2, "the refresh beside those that hang")
        assert gate.waiting < len(stuck) / 2
        runner.terminate()
        assert runner.wait(30) == 0
    for kept in stuck:
        assert kept.row()["lease_owner"] is None
        kept.age()
        assert kept.refresh().json()["error"] is None


# ---------------------------------------------------------------------------- failures


@pytest.mark.parametrize("provider, code, status", [
    ("gitlab", "invalid_grant", "expired"), ("slack", "invalid_refresh_token", "expired"), ("slack", "token_revoked", "revoked"),
    ("slack", "account_inactive", "revoked"), ("github", "bad_refresh_token", "expired"), ("quickbooks", "invalid_grant", "expired"),
])
def test_a_rejected_refresh_ends_a_connection(keep, oauth_server, provider, code, status):
    kept = keep(provider)
    with oauth_server.instead(provider, "token", oauth_server.error(provider, code)):
        reply = kept.refresh().json()
    assert reply["authStatus"] == status and f"({code})" in reply["error"] and "Do not show" not in reply["error"]
    assert kept.row()["refresh_due_at"] is None
    expect_nothing_to_refresh(kept.admin, kept.id)
    assert whole_way(kept.admin, provider, connection_id=kept.id) == kept.id
    assert kept.stands() == ("connected", None)


def test_access_revoked_at_the_provider_ends_the_connection(kept):
    kept.family.is_live = False
    kept.due()
    kept.wait_for(lambda values: values["status"] == "expired", "the runner to notice")
    assert "GitLab" in kept.stands()[1] and len(kept.calls()) == 1


UNAVAILABLE = [("a 500", SERVER_ERROR, "http_500"), ("a 429", TOO_MANY, "http_429"), ("no JSON", NO_JSON, "no_json"),
               ("megabytes", HUGE, "too_large"), ("half an answer", DROPPED, "broken"), ("a redirect", ELSEWHERE, "redirect"),
               ("no token", NO_TOKEN, "invalid_answer"), ("another kind of token", WRONG_TYPE, "invalid_answer")]


@pytest.mark.parametrize("answer, code", [case[1:] for case in UNAVAILABLE], ids=[case[0] for case in UNAVAILABLE])
def test_a_temporary_failure_keeps_the_tokens(kept, oauth_server, answer, code):
    before = kept.row()
    with oauth_server.instead(PROVIDER, "token", answer):
        reply = kept.refresh().json()
    assert reply["authStatus"] == "connected" and f"({code})" in reply["error"]
    after = kept.row()
    assert (after["tokens"], after["token_generation"], after["refresh_attempts"]) == (before["tokens"], 1, 1)
    assert now() < after["refresh_due_at"] < now() + 2 * MINUTE
    assert oauth_server.at(PROVIDER, "elsewhere") == []
    kept.age()
    assert kept.refresh().json()["error"] is None and kept.row()["refresh_attempts"] == 0


def test_the_runner_calls_a_failing_provider_with_growing_delays(kept, stack, oauth_server, no_runner):
    with oauth_server.instead(PROVIDER, "token", SERVER_ERROR):
        for attempt, minutes in enumerate((1, 5, 15, 60, 60), 1):
            kept.due()
            run_due(stack)
            after = kept.row()
            assert (after["refresh_attempts"], after["status"]) == (attempt, "connected") and after["error"]
            assert abs(after["refresh_due_at"] - (now() + minutes * MINUTE)) < MINUTE / 2, attempt
            assert len(kept.calls()) == attempt
    kept.due()
    run_due(stack)
    assert kept.stands() == ("connected", None) and kept.row()["refresh_attempts"] == 0


@pytest.mark.parametrize("answer", [SERVER_ERROR, UNKNOWN_CLIENT], ids=["trouble", "a client it does not know"])
def test_a_connection_with_an_expired_token_is_in_error_until_it_is_refreshed(kept, oauth_server, answer):
    change_row(kept.stack, kept.id, access_expires_at=now() - 1)
    with oauth_server.instead(PROVIDER, "token", answer):
        assert kept.refresh().json()["authStatus"] == "error"
    kept.due()
    kept.wait_for(lambda values: values["status"] == "connected", "the runner to refresh it after all")
    assert kept.stands() == ("connected", None)


def test_an_unknown_client_is_reported_to_the_operator(kept, oauth_server):
    with oauth_server.instead(PROVIDER, "token", UNKNOWN_CLIENT):
        reply = kept.refresh().json()
    assert reply["authStatus"] == "connected" and "operator" in reply["error"]
    assert abs(kept.row()["refresh_due_at"] - (now() + HOUR)) < MINUTE
    kept.age()
    assert kept.refresh().json()["error"] is None


# ---------------------------------------------------------------------------- deletion


@pytest.mark.parametrize("provider", [provider for provider, kind in KINDS.items() if kind.revoke and provider != "youtube"])
def test_deleting_a_connection_revokes_its_tokens(keep, module_org, oauth_server, provider):
    kept = keep(provider)
    remove(kept.admin, kept.id)
    assert kept.id not in listed(kept.admin, module_org)
    remove(kept.admin, kept.id, expect=404)
    refresh(kept.admin, kept.id, expect=404)
    wait_for(lambda: kept.row() is None, "the tokens to be given back")
    given = kept.family.refresh if KINDS[provider].revokes == "refresh_token" and kept.family.refresh else kept.family.access
    assert given[-1] in oauth_server.revoked and not kept.family.is_live


@pytest.mark.parametrize("provider", ["linkedin", "mailchimp", "stripe", "shopify", "github"])
def test_a_connection_without_revocation_is_deleted_immediately(keep, no_runner, provider):
    kept = keep(provider)
    remove(kept.admin, kept.id)
    assert kept.row() is None


def test_tokens_that_cannot_be_revoked_are_kept_for_a_day(kept, stack, oauth_server, no_runner):
    remove(kept.admin, kept.id)
    with oauth_server.instead(PROVIDER, "revoke", SERVER_ERROR):
        run_due(stack)
        assert kept.row()["removed_at"] is not None and len(oauth_server.at(PROVIDER, "revoke")) >= 1
        change_row(stack, kept.id, removed_at=now() - DAY - MINUTE, refresh_due_at=now() - 1)
        run_due(stack)
    assert kept.row() is None


def test_an_unresponsive_provider_does_not_delay_a_deletion(kept, oauth_server, module_org):
    with oauth_server.hold(PROVIDER, "revoke") as gate:
        began = time.monotonic()
        remove(kept.admin, kept.id)
        assert time.monotonic() - began < 5 and kept.id not in listed(kept.admin, module_org)
        gate.wait_for(1)
        gate.open()
    wait_for(lambda: kept.row() is None, "the tokens to be given back")


def test_a_connection_deleted_during_a_refresh_remains_deleted(kept, oauth_server, module_org):
    with oauth_server.hold(PROVIDER) as gate:
        kept.due()
        gate.wait_for(1)
        remove(kept.admin, kept.id)
        gate.open()
        wait_for(lambda: kept.row() is None, "the tokens to be given back")
    assert kept.id not in listed(kept.admin, module_org)
    assert not kept.family.is_live and kept.family.refresh[-1] in oauth_server.revoked  # the newest one
