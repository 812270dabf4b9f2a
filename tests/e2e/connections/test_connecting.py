"""Connecting a provider of external data, from the console to the provider's page and back (docs/external-data.md
"Connecting"), against an authorization server that is as strict as each provider (support/oauth_server.py)."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import parse_qsl, urlsplit

import pytest
from support.client import Client
from support.connecting import (
    CONNECTIONS, COOKIE, MINUTE, another_browser, follow_redirect, authorizations, change_row, changed, complete_authorization, connect, family,
    listed, row, status_of, state_of, connect_and_authorize,
)
from support.oauth_answers import DROPPED, HUGE, NO_JSON, NO_TOKEN, SERVER_ERROR, TOO_MANY, WRONG_TYPE, Answer
from support.oauth_kinds import KINDS
from support.oauth_server import OAuthServer
from support.ports import free_port
from support.stack import UNCONFIGURED

# This provider has PKCE, rotation and an issuer, so every check applies.
PROVIDER = "gitlab"


@pytest.fixture(autouse=True)
def _the_provider_finds_no_fault(oauth_server):
    """Every request must match the documentation of the provider."""
    oauth_server.faults.clear()
    yield
    assert oauth_server.faults == []


@pytest.fixture
def admin(module_org):
    return module_org.admin().api


@pytest.fixture
def authorization(admin, oauth_server):
    """An admin who has consented at the provider's page and has not returned yet: (connection, location)."""
    made = connect(admin, PROVIDER)
    return made["id"], oauth_server.consent(made["redirectUrl"])


def expect_failed(admin, org, result, connection, reason, error):
    """The console and the list of connections show the reason."""
    assert result == {"result": "failed", "reason": reason, "connection": connection}
    status, text = status_of(admin, org, connection)
    assert status == "error" and error in text and "script" not in text
    assert row(org.stack, connection)["tokens"] is None and authorizations(org.stack, connection) == 0


# ---------------------------------------------------------------------------- complete authorizations


@pytest.mark.parametrize("provider", KINDS)
def test_every_provider_can_be_connected(stack, oauth_server, module_org, admin, provider):
    kind = KINDS[provider]
    with ExitStack() as configured:
        if provider in UNCONFIGURED:
            configured.enter_context(stack.configured(f"[providers.{provider}]", *oauth_server.settings(provider)))
        made = connect(admin, provider, name=f"Our {provider}")
        waiting = {"id": made["id"], "name": f"Our {provider}", "connector": provider, "authStatus": "pending", "error": None}
        assert listed(admin, module_org)[made["id"]] == waiting
        result = complete_authorization(admin, oauth_server.consent(made["redirectUrl"]))
        assert result == {"result": "connected", "connection": made["id"]}
        assert listed(admin, module_org)[made["id"]] == waiting | {"authStatus": "connected"}
    kept = row(stack, made["id"])
    assert kind.kept.items() <= kept["details"].items()
    assert kept["tokens"] is not None and kept["token_generation"] == 1
    assert kept["host"] == ("acme.myshopify.com" if provider == "shopify" else "")
    assert authorizations(stack, made["id"]) == 0
    given = family(oauth_server, provider)
    assert len(given.access) == 1 and not any(token.encode() in kept["tokens"] for token in given.access + given.refresh)


def test_the_default_name_of_a_connection_is_the_name_of_its_provider(module_org, admin):
    connection = connect_and_authorize(admin, "slack")
    assert listed(admin, module_org)[connection]["name"] == "Slack"


def test_expiry_and_refresh_times_follow_the_provider(stack, admin):
    now = int(time.time() * 1000)
    # (provider, expiry of the access token, next action; both in minutes from now)
    for provider, ends, due in (("gitlab", 120, 105), ("hubspot", 30, 15), ("notion", None, 1440), ("mailchimp", None, None),
                                ("stripe", None, None), ("linkedin", 86400, 86400), ("posthog", 600, 585)):
        kept = row(stack, connect_and_authorize(admin, provider))
        for column, minutes in (("access_expires_at", ends), ("refresh_due_at", due)):
            seen = kept[column] and round((kept[column] - now) / MINUTE)
            assert seen == minutes, f"{provider}: {column}"


def test_the_audit_log_names_the_admin_and_the_connection(module_org, admin, authorization):
    connection, location = authorization
    complete_authorization(admin, location)
    log = admin.get_json("/v1/audit-log", params={"limit": 100})["audit_log"]
    result = [(entry["action"], entry["actor"]) for entry in log if entry["subject_id"] == connection]
    assert result == [("connection.connected", "admin"), ("connection.requested", "admin")]


# ---------------------------------------------------------------------------- callbacks


def test_the_cookie_is_limited_to_this_origin_and_ten_minutes(admin):
    reply = admin.post("/v1/external-data/connect", json={"provider": PROVIDER}, headers={"Origin": admin.stack.base_url}, expect=200)
    name, *attributes = reply.headers["Set-Cookie"].split("; ")
    assert name.startswith(f"{COOKIE}=") and admin.key not in name
    assert {word.lower() for word in attributes} == {"path=/", "secure", "httponly", "samesite=lax", "max-age=600"}


def test_a_denial_is_reported(module_org, admin, oauth_server):
    made = connect(admin, PROVIDER)
    result = complete_authorization(admin, oauth_server.consent(made["redirectUrl"], "deny"))
    assert result == {"result": "denied", "connection": made["id"]}
    status, error = status_of(admin, module_org, made["id"])
    assert status == "error" and "GitLab" in error and "script" not in error


def test_an_unknown_state_is_rejected(admin, authorization, oauth_server):
    _, location = authorization
    calls = oauth_server.count()
    nowhere = {"result": "failed", "reason": "state"}
    wrong = "A" * len(state_of(location))
    for other in (wrong, "", None, "x" * 5000, "ä%00", state_of(location).swapcase()):
        result = complete_authorization(admin, changed(location, state=other))
        assert {**result, "reason": "state"} == nowhere and result["reason"] in ("state", "request"), other
    assert oauth_server.count() == calls
    assert complete_authorization(admin, location)["result"] == "connected"  # the right one remains valid


def test_a_state_is_accepted_once(module_org, admin, authorization, oauth_server):
    connection, location = authorization
    assert complete_authorization(admin, location)["result"] == "connected"
    calls = oauth_server.count()
    assert complete_authorization(admin, location) == {"result": "failed", "reason": "state"}
    assert oauth_server.count() == calls and status_of(admin, module_org, connection) == ("connected", None)


def test_a_failed_callback_uses_up_the_state(admin, authorization, oauth_server):
    _, location = authorization
    assert complete_authorization(admin, changed(location, code=None))["result"] == "failed"
    assert complete_authorization(admin, location) == {"result": "failed", "reason": "state"}


def test_a_state_in_two_parallel_callbacks_is_accepted_once(admin, authorization, oauth_server):
    connection, location = authorization
    cookies = admin.session.cookies.copy()

    def follow(_):
        browser = another_browser(admin)
        browser.session.cookies.update(cookies)
        return complete_authorization(browser, location)

    calls = len(oauth_server.at(PROVIDER))
    with ThreadPoolExecutor(8) as pool:
        results = sorted(result["result"] for result in pool.map(follow, range(8)))
    assert results == ["connected"] + ["failed"] * 7
    assert len(oauth_server.at(PROVIDER)) == calls + 1


def test_a_state_expires_after_ten_minutes(stack, module_org, admin, authorization, oauth_server):
    connection, location = authorization
    calls = oauth_server.count()
    with stack.later(601):
        assert status_of(admin, module_org, connection)[0] == "error"  # in the list of connections
        result = complete_authorization(admin, location)
        expect_failed(admin, module_org, result, connection, "expired", "GitLab")
    assert oauth_server.count() == calls


def test_another_browser_cannot_complete_the_authorization(module_org, admin, authorization, oauth_server):
    _, location = authorization
    calls = oauth_server.count()
    # An attacker with the address and the admin's session, but without the cookie, learns nothing.
    result = complete_authorization(another_browser(admin), location)
    assert result == {"result": "failed", "reason": "browser"}
    assert complete_authorization(admin, location) == {"result": "failed", "reason": "state"}
    assert oauth_server.count() == calls


@pytest.mark.parametrize("cookie", ["", "0" * 64, "not-hex", "x" * 3000])
def test_a_forged_cookie_is_rejected(admin, authorization, cookie):
    _, location = authorization
    result = complete_authorization(another_browser(admin), location, headers={"Cookie": f"{COOKIE}={cookie}"})
    assert result == {"result": "failed", "reason": "browser"}


def test_another_admin_cannot_complete_the_authorization(module_org, admin, authorization, oauth_server):
    """Login CSRF: an admin is sent to a callback that another person started."""
    _, location = authorization
    other = module_org.new_admin("owner").api
    connect(other, PROVIDER)  # this admin's browser has a cookie too
    calls = len(oauth_server.at(PROVIDER))
    assert complete_authorization(other, location) == {"result": "failed", "reason": "browser"}
    assert len(oauth_server.at(PROVIDER)) == calls


def test_another_session_of_the_same_admin_cannot_complete_the_authorization(module_org, oauth_server):
    person = module_org.new_admin("admin")
    one, two = person.api, person.new_session()
    made = connect(one, PROVIDER)
    connect(two, PROVIDER)
    assert complete_authorization(two, oauth_server.consent(made["redirectUrl"])) == {"result": "failed", "reason": "browser"}


def test_an_admin_who_signed_out_cannot_complete_the_authorization(module_org, oauth_server):
    client = module_org.new_admin("admin").api
    made = connect(client, PROVIDER)
    location = oauth_server.consent(made["redirectUrl"])
    client.delete("/v1/session", expect=204)
    result = complete_authorization(client, location)
    expect_failed(module_org.admin().api, module_org, result, made["id"], "session", "GitLab")


@pytest.mark.parametrize("role", [None, "viewer"])
def test_an_admin_who_lost_the_seat_cannot_complete_the_authorization(module_org, new_org, oauth_server, role):
    person = module_org.new_admin("admin")
    made = connect(person.api, PROVIDER)
    location = oauth_server.consent(made["redirectUrl"])
    calls = len(oauth_server.at(PROVIDER))
    if role:
        person.set_role(module_org.id, role)
    else:
        person.give_seat(new_org(attributes=False).id)
        person.take_seat(module_org.id)
    result = complete_authorization(person.api, location)
    expect_failed(module_org.admin().api, module_org, result, made["id"], "role", "GitLab")
    assert len(oauth_server.at(PROVIDER)) == calls


def test_an_admin_who_switched_organizations_completes_the_authorization_of_the_first(module_org, new_org, oauth_server):
    other, person = new_org(attributes=False), module_org.new_admin("admin")
    person.give_seat(other.id)
    client = person.api
    client.post("/v1/session/active-organization", json={"organizationId": module_org.id}, expect=200)
    made = connect(client, PROVIDER)
    client.post("/v1/session/active-organization", json={"organizationId": other.id}, expect=200)
    assert complete_authorization(client, oauth_server.consent(made["redirectUrl"]))["result"] == "connected"
    assert made["id"] in listed(client, module_org) and made["id"] not in listed(client, other)


# ---------------------------------------------------------------------------- replies of the provider


@pytest.mark.parametrize("change, reason, error", [
    ({"iss": "https://evil.example"}, "issuer", "did not come from"),
    ({"iss": ""}, "issuer", "did not come from"),
    ({"code": None}, "request", "GitLab"),
    ({"code": ""}, "request", "GitLab"),
    ({"code": "c" * 5000}, "request", "GitLab"),
    ({"code": None, "error": "e" * 300}, "request", "GitLab"),
    ({"code": None, "error": "server_error", "error_description": "<script>"}, "provider", "(server_error)"),
    ({"code": None, "error": "<script>alert(1)</script>"}, "provider", "GitLab"),
    ({"code": None, "error": "call_555-1234_to_reset"}, "provider", "GitLab answered with an error. Connect"),
    ({"code": None, "error": "temporarily_unavailable", "error_uri": "https://evil.example"}, "provider", "GitLab"),
])
def test_an_invalid_callback_fails_without_a_token_request(module_org, admin, authorization, oauth_server, change, reason, error):
    connection, location = authorization
    calls = len(oauth_server.at(PROVIDER))
    result = complete_authorization(admin, changed(location, **change))
    expect_failed(admin, module_org, result, connection, reason, error)
    assert len(oauth_server.at(PROVIDER)) == calls


def test_a_head_request_does_not_use_up_the_state(stack, admin, authorization):
    """Link scanners request an address before the browser does."""
    _, location = authorization
    admin.request("HEAD", location.removeprefix(stack.base_url), key=None, allow_redirects=False, expect=303)
    assert complete_authorization(admin, location)["result"] == "connected"


def test_a_callback_without_an_issuer_is_accepted(admin, authorization):
    connection, location = authorization
    assert complete_authorization(admin, changed(location, iss=None))["result"] == "connected"


def test_unknown_parameters_are_ignored(admin, authorization):
    _, location = authorization
    assert complete_authorization(admin, changed(location, session_state="x", authuser="0", hd="club.example"))["result"] == "connected"


@pytest.mark.parametrize("extra", ["error_description=abgelehnt+f%FCr", "x=%00", f"{'x' * 65}=1", "x=" + "y" * 5000])
def test_unknown_parameters_may_have_any_value(module_org, admin, authorization, extra):
    """Some providers send descriptions in other encodings. A denial must still be recognized."""
    connection, location = authorization
    result = complete_authorization(admin, f"{changed(location, code=None, error='access_denied')}&{extra}")
    assert result == {"result": "denied", "connection": connection}


def redirect_to(server):
    return Answer(302, headers={"Location": f"{server.url}/{PROVIDER}/elsewhere"})


FAILURES = [
    ("a 500", SERVER_ERROR, "unavailable", "http_500"),
    ("a 429", TOO_MANY, "unavailable", "http_429"),
    ("half a document", NO_JSON, "unavailable", "no_json"),
    ("a page", Answer(200, b"<html>Wait</html>"), "unavailable", "no_json"),
    ("megabytes", HUGE, "unavailable", "too_large"),
    ("half an answer", DROPPED, "unavailable", "broken"),
    ("a redirect", redirect_to, "unavailable", "redirect"),
    ("no token", NO_TOKEN, "unavailable", "invalid_answer"),
    ("another kind of token", WRONG_TYPE, "unavailable", "invalid_answer"),
    ("a rejection", OAuthServer.error(PROVIDER, "invalid_grant"), "refused", "invalid_grant"),
    ("another client", OAuthServer.error(PROVIDER, "invalid_client", 401), "configuration", "invalid_client"),
]


@pytest.mark.parametrize("answer, reason, error", [case[1:] for case in FAILURES], ids=[case[0] for case in FAILURES])
def test_a_failed_token_request_connects_nothing(module_org, admin, authorization, oauth_server, answer, reason, error):
    connection, location = authorization
    said = answer(oauth_server) if callable(answer) else answer
    calls = len(oauth_server.at(PROVIDER))
    with oauth_server.instead(PROVIDER, "token", said):
        result = complete_authorization(admin, location)
    expect_failed(admin, module_org, result, connection, reason, f"({error})")
    assert oauth_server.at(PROVIDER, "elsewhere") == []  # redirects are not followed, because they would expose secrets
    assert len(oauth_server.at(PROVIDER)) == calls + 1  # a code is sent once, with any result
    assert "Do not show" not in status_of(admin, module_org, connection)[1]


@pytest.mark.parametrize("provider, code", [("slack", "invalid_code"), ("github", "bad_verification_code")])
def test_an_error_in_a_200_reply_is_an_error(module_org, admin, oauth_server, provider, code):
    made = connect(admin, provider)
    location = oauth_server.consent(made["redirectUrl"])
    with oauth_server.instead(provider, "token", oauth_server.error(provider, code)):
        result = complete_authorization(admin, location)
    expect_failed(admin, module_org, result, made["id"], "refused", f"({code})")


def test_an_unreachable_provider_is_reported(stack, module_org, admin, authorization):
    connection, location = authorization
    with stack.configured(f"[providers.{PROVIDER}]", f"token_url = http://127.0.0.1:{free_port()}/token"):
        result = complete_authorization(admin, location)
    expect_failed(admin, module_org, result, connection, "unavailable", "(connect)")


def test_a_token_request_times_out_after_ten_seconds(module_org, admin, authorization, oauth_server):
    connection, location = authorization
    with oauth_server.hold(PROVIDER):
        began = time.monotonic()
        result = complete_authorization(admin, location)
        assert 9 < time.monotonic() - began < 15
    expect_failed(admin, module_org, result, connection, "unavailable", "(timeout)")


def test_a_code_with_another_verifier_is_rejected(module_org, admin, authorization, oauth_server):
    """The code of another authorization in this callback: PKCE rejects it."""
    connection, location = authorization
    other = oauth_server.consent(connect(admin, PROVIDER)["redirectUrl"])
    stolen = dict(parse_qsl(urlsplit(other).query))["code"]
    result = complete_authorization(admin, changed(location, code=stolen))
    expect_failed(admin, module_org, result, connection, "refused", "(invalid_grant)")


@pytest.mark.parametrize("answer", [Answer(500), NO_JSON, Answer.of(200, {"accountname": "Club"})], ids=["500", "no JSON", "no dc"])
def test_mailchimp_is_not_connected_without_its_lookup(module_org, admin, oauth_server, answer):
    made = connect(admin, "mailchimp")
    location = oauth_server.consent(made["redirectUrl"])
    with oauth_server.instead("mailchimp", "metadata", answer):
        result = complete_authorization(admin, location)
    expect_failed(admin, module_org, result, made["id"], "unavailable", "Mailchimp")


# ---------------------------------------------------------------------------- repeated authorizations


def test_two_tabs_can_connect_in_parallel(module_org, admin, oauth_server):
    links = [connect(admin, provider) for provider in ("gitlab", "gitlab", "slack")]
    for made in reversed(links):
        assert complete_authorization(admin, oauth_server.consent(made["redirectUrl"])) == {"result": "connected", "connection": made["id"]}
    assert len({made["id"] for made in links}) == 3


def test_the_last_of_two_authorizations_of_a_connection_is_valid(admin, oauth_server):
    made = connect(admin, PROVIDER)
    again = connect(admin, PROVIDER, connection_id=made["id"])
    assert again["id"] == made["id"] and state_of(again["redirectUrl"]) != state_of(made["redirectUrl"])
    assert complete_authorization(admin, oauth_server.consent(made["redirectUrl"])) == {"result": "failed", "reason": "state"}
    assert complete_authorization(admin, oauth_server.consent(again["redirectUrl"]))["result"] == "connected"


def test_a_connection_keeps_its_tokens_until_it_gets_new_ones(stack, module_org, admin, oauth_server):
    connection = connect_and_authorize(admin, PROVIDER)
    before = row(stack, connection)
    attempts = [("deny", None), ("allow", SERVER_ERROR), ("allow", OAuthServer.error(PROVIDER, "invalid_grant"))]
    for decision, answer in attempts:
        made = connect(admin, PROVIDER, connection_id=connection)
        assert made["id"] == connection and status_of(admin, module_org, connection) == ("connected", None)
        location = oauth_server.consent(made["redirectUrl"], decision)
        with oauth_server.instead(PROVIDER, "token", answer):
            assert complete_authorization(admin, location)["result"] in ("denied", "failed")
        after = row(stack, connection)
        assert (after["tokens"], after["status"]) == (before["tokens"], "connected"), decision
    assert connect_and_authorize(admin, PROVIDER, connection_id=connection) == connection
    after = row(stack, connection)
    assert after["tokens"] != before["tokens"] and after["token_generation"] == before["token_generation"] + 1


@pytest.mark.parametrize("status", ["expired", "revoked", "error"])
def test_an_ended_connection_can_be_connected_again(stack, module_org, admin, status):
    connection = connect_and_authorize(admin, PROVIDER)
    change_row(stack, connection, status=status, error="It has ended.", refresh_attempts=7)
    assert connect_and_authorize(admin, PROVIDER, connection_id=connection) == connection
    assert status_of(admin, module_org, connection) == ("connected", None)
    assert row(stack, connection)["refresh_attempts"] == 0


def test_a_connection_deleted_before_the_callback_remains_deleted(stack, module_org, admin, authorization, oauth_server):
    connection, location = authorization
    admin.delete(f"{CONNECTIONS}/{connection}", headers={"Origin": stack.base_url}, expect=204)
    result = complete_authorization(admin, location)
    assert result["result"] == "failed" and "connection" not in result
    assert row(stack, connection) is None and connection not in listed(admin, module_org)


def test_a_connection_deleted_during_the_token_request_remains_deleted(stack, module_org, admin, authorization, oauth_server):
    connection, location = authorization
    with oauth_server.hold(PROVIDER) as gate, ThreadPoolExecutor(1) as pool:
        cookies, browser = admin.session.cookies.copy(), another_browser(admin)

        def follow():
            browser.session.cookies.update(cookies)
            return complete_authorization(browser, location)

        coming = pool.submit(follow)
        gate.wait_for(1)
        admin.delete(f"{CONNECTIONS}/{connection}", headers={"Origin": stack.base_url}, expect=204)
        gate.open()
        result = coming.result()
    assert result == {"result": "failed", "reason": "removed"}
    assert connection not in listed(admin, module_org)


# ---------------------------------------------------------------------------- unresponsive providers


def test_an_unresponsive_provider_does_not_block_others(stack, module_org, admin, oauth_server):
    """A quarter of the eight workers may wait for providers, and all but one of these for the same provider."""
    made = [connect(admin, PROVIDER) for _ in range(8)]
    locations = [oauth_server.consent(authorization["redirectUrl"]) for authorization in made]
    other = connect(admin, "slack")
    other_location = oauth_server.consent(other["redirectUrl"])
    cookies = admin.session.cookies.copy()

    def follow(location):
        browser = another_browser(admin)
        browser.session.cookies.update(cookies)
        return follow_redirect(browser, location, expect=None)

    anyone = Client(stack, module_org.api.contract, module_org.key)
    with oauth_server.hold(PROVIDER) as gate, ThreadPoolExecutor(8) as pool:
        waiting = pool.submit(follow, locations[0])
        gate.wait_for(1)
        refused = list(pool.map(follow, locations[1:]))
        assert {reply.status_code for reply in refused} == {503}
        assert {reply.json()["error"]["code"] for reply in refused} == {"SERVICE_UNAVAILABLE"}
        assert complete_authorization(admin, other_location) == {"result": "connected", "connection": other["id"]}
        began = time.monotonic()
        list(pool.map(lambda _: anyone.get("/v1/imports", expect=200), range(50)))
        assert time.monotonic() - began < 5
        assert gate.waiting == 1 and not waiting.done()
        gate.open()
        assert waiting.result().status_code == 303
    # A rejected callback is not lost: reloading the page completes it.
    for authorization, location in zip(made[1:], locations[1:]):
        assert complete_authorization(admin, location) == {"result": "connected", "connection": authorization["id"]}
