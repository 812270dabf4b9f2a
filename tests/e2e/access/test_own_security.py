"""An admin's own security: backup codes, the authenticator and the list of sessions (docs/api/sign-in.md "Changing the
second factor", "GET /v1/sessions")."""

import re
import uuid

import pytest
from support.admin import FACTOR, step_now, totp
from support.client import COOKIE, details_of, faults_of
from support.mail import wait_for_mail


@pytest.fixture
def admin(module_org):
    """An enrolled admin with a verified session and a fresh step."""
    admin = module_org.new_admin("admin")
    assert admin.api
    return admin


def fresh_code(admin):
    """A code that was not used: of the authenticator, or a backup code if all steps of the moment are used."""
    step = admin.fresh_step()
    return totp(admin.secret, step) if step else admin.backup_codes.pop()


def logged(admin, action):
    return admin.api.get_json("/v1/audit-log", params={"action": action})["audit_log"]


def wrong_code(secret):
    near = {totp(secret, step_now() + shift) for shift in range(-4, 5)}
    return next(code for code in map("{:06d}".format, range(100)) if code not in near)


# ---------------------------------------------------------------------------- backup codes


def test_an_admin_replaces_the_backup_codes_with_a_current_code(admin, module_org, stack):
    client, old = admin.api, admin.backup_codes.pop()
    left = client.get_json("/v1/session")["two_factor"]["backup_codes_left"]
    client.post(f"{FACTOR}/verify-backup-code", json={"code": admin.backup_codes.pop()}, expect=200)
    assert client.get_json("/v1/session")["two_factor"]["backup_codes_left"] == left - 1
    reply = client.post("/v1/two-factor/backup-codes", json={"code": fresh_code(admin)}, expect=200).json()
    stack.keys_issued += reply["backup_codes"]
    assert list(reply) == ["backup_codes"] and len(set(reply["backup_codes"])) == 10
    assert all(re.fullmatch(r"([a-z2-7]{4}-){5}[a-z2-7]{4}", code) for code in reply["backup_codes"])
    assert client.get_json("/v1/session")["two_factor"]["backup_codes_left"] == 10
    assert details_of(client.post(f"{FACTOR}/verify-backup-code", json={"code": old}, expect=401)) == {"reason": "WRONG_CODE"}
    client.post(f"{FACTOR}/verify-backup-code", json={"code": reply["backup_codes"][0]}, expect=200)
    assert [entry["actor_id"] for entry in logged(admin, "backup_codes.replaced")][0] == admin.id
    text = wait_for_mail(stack, admin.address, subject="new backup codes").text
    assert admin.address in text and not any(code in text for code in reply["backup_codes"])


@pytest.mark.parametrize("operation", ["backup-codes", "replace"])
def test_wrong_codes_pause_the_changes_too(admin, stack, operation):
    for _ in range(5):
        reply = admin.api.post(f"/v1/two-factor/{operation}", json={"code": wrong_code(admin.secret)}, expect=401)
        assert details_of(reply) == {"reason": "WRONG_CODE"}
    for path in (f"/v1/two-factor/{operation}", f"{FACTOR}/verify-totp", "/v1/two-factor/replace/confirm"):
        paused = admin.api.post(path, json={"code": totp(admin.secret, step_now())}, expect=429)
        assert 870 < int(paused.headers["Retry-After"]) <= 900
    assert len(logged(admin, "second_factor.paused")) >= 1
    admin.api.get("/v1/users", expect=200)  # the session continues


@pytest.mark.parametrize("path, code, fault", [
    ("backup-codes", "", "required"), ("backup-codes", "x" * 65, "too_long"), ("replace", None, "required"),
    ("replace", 123456, "wrong_type"), ("replace/confirm", "12345", "too_short"), ("replace/confirm", "12345a", "invalid_value")])
def test_a_malformed_code_is_422(module_org, path, code, fault):
    assert faults_of(module_org.admin().api.post(f"/v1/two-factor/{path}", json={"code": code}, expect=422)) == {"code": fault}


# ---------------------------------------------------------------------------- the authenticator


def test_an_admin_replaces_the_authenticator(admin, stack):
    client = admin.api
    client.post("/v1/two-factor/replace/confirm", json={"code": "123456"}, expect=409, code="INVALID_STATE")
    made = client.post("/v1/two-factor/replace", json={"code": fresh_code(admin)}, expect=200).json()
    stack.keys_issued.append(made["secret"])
    assert list(made) == ["totp_uri", "secret"] and f"secret={made['secret']}&" in made["totp_uri"]
    assert made["secret"] != admin.secret
    # Until it is confirmed, the first one signs in.
    client.post(f"{FACTOR}/verify-totp", json={"code": totp(made["secret"], step_now())}, expect=401)
    client.post("/v1/two-factor/replace/confirm", json={"code": wrong_code(made["secret"])}, expect=401)
    code = totp(made["secret"], step_now())
    assert client.post("/v1/two-factor/replace/confirm", json={"code": code}, expect=204).content == b""
    client.post(f"{FACTOR}/verify-totp", json={"code": code}, expect=401)  # used
    client.post(f"{FACTOR}/verify-totp", json={"code": totp(admin.secret, step_now() + 1)}, expect=401)
    client.post(f"{FACTOR}/verify-totp", json={"code": totp(made["secret"], step_now() + 1)}, expect=200)
    client.post(f"{FACTOR}/verify-backup-code", json={"code": admin.backup_codes.pop()}, expect=200)
    assert len(logged(admin, "second_factor.replaced")) == 1
    assert made["secret"] not in wait_for_mail(stack, admin.address, subject="new authenticator").text


def test_a_backup_code_replaces_a_lost_authenticator(admin, stack):
    code = admin.backup_codes.pop().upper().replace("-", " ")
    made = admin.api.post("/v1/two-factor/replace", json={"code": code}, expect=200).json()
    stack.keys_issued.append(made["secret"])
    admin.api.post("/v1/two-factor/replace/confirm", json={"code": totp(made["secret"], step_now())}, expect=204)


def test_another_session_cannot_confirm_the_authenticator(admin, stack):
    made = admin.api.post("/v1/two-factor/replace", json={"code": admin.backup_codes.pop()}, expect=200).json()
    stack.keys_issued.append(made["secret"])
    other = admin.new_session()
    other.post("/v1/two-factor/replace/confirm", json={"code": totp(made["secret"], step_now())}, expect=409, code="INVALID_STATE")
    dump = str(stack.sql("SELECT next_totp_secret FROM sessions WHERE next_totp_secret IS NOT NULL"))
    assert made["secret"] not in dump


# ---------------------------------------------------------------------------- sessions


def test_an_admin_lists_their_own_sessions(admin, module_org):
    page = admin.console()
    admin.pass_second_factor(page)
    reply = page.get("/v1/sessions", expect=200).json()
    current, first = reply["sessions"]
    assert list(current) == ["id", "is_current", "is_verified", "user_agent", "country", "created_at", "last_used_at",
                             "idle_expires_at", "expires_at"]
    assert (current["is_current"], first["is_current"], current["is_verified"]) == (True, False, True)
    assert current["user_agent"].startswith("python-requests/") and current["country"] is None
    assert current["created_at"] > first["created_at"] and current["idle_expires_at"] < current["expires_at"]
    assert page.cookie not in str(reply) and reply["next_cursor"] is None
    unverified = admin.unverified()
    unverified.get("/v1/sessions", expect=401, code="2FA_REQUIRED")
    assert [session["is_verified"] for session in page.get_json("/v1/sessions")["sessions"]] == [False, True, True]
    one = page.get_json("/v1/sessions", params={"limit": 1})
    two = page.get_json("/v1/sessions", params={"limit": 2, "cursor": one["next_cursor"]})
    assert [session["id"] for session in two["sessions"]] == [current["id"], first["id"]] and two["next_cursor"] is None
    assert {session["id"] for session in module_org.admin().api.get_json("/v1/sessions")["sessions"]}.isdisjoint(
        {current["id"], first["id"]})


def test_the_country_of_the_sign_in_is_shown(admin, stack, module_org):
    stack.sql("UPDATE sessions SET country = 'GB' WHERE admin_id = UNHEX(REPLACE(%s, '-', ''))", admin.id)
    assert {session["country"] for session in admin.api.get_json("/v1/sessions")["sessions"]} == {"GB"}


def test_an_admin_ends_one_session(admin, module_org):
    other = admin.new_session()
    (ended,) = [session["id"] for session in admin.api.get_json("/v1/sessions")["sessions"] if not session["is_current"]]
    for stranger in (module_org.admin().api, module_org.viewer().api):
        stranger.delete(f"/v1/sessions/{ended}", expect=404, code="NOT_FOUND")
        stranger.get(f"/v1/sessions/{ended}", expect=404, code="NOT_FOUND")
    assert admin.api.get_json(f"/v1/sessions/{ended}") in admin.api.get_json("/v1/sessions")["sessions"]
    admin.api.delete(f"/v1/sessions/{uuid.uuid4()}", expect=404)
    admin.api.delete("/v1/sessions/no-uuid", expect=404)
    other.get("/v1/users", expect=200)
    assert admin.api.delete(f"/v1/sessions/{ended}", expect=204).content == b""
    assert details_of(other.get("/v1/users", expect=401)) == {"reason": "SESSION_ENDED"}
    admin.api.delete(f"/v1/sessions/{ended}", expect=404)
    admin.api.get(f"/v1/sessions/{ended}", expect=404)
    assert [entry["details"] for entry in logged(admin, "session.ended") if entry["actor_id"] == admin.id] == [{"count": "1"}]


def test_an_admin_ends_all_other_sessions(admin):
    others = [admin.new_session(), admin.unverified(), admin.console()]
    assert admin.api.delete("/v1/sessions", expect=200).json() == {"ended_count": 3}
    for other in others:
        assert details_of(other.get("/v1/session", expect=401)) == {"reason": "SESSION_ENDED"}
    assert admin.api.delete("/v1/sessions", expect=200).json() == {"ended_count": 0}
    admin.api.get("/v1/users", expect=200)


def test_ending_the_session_in_use_is_a_sign_out(admin):
    page = admin.pass_second_factor(admin.console())
    token = page.cookie
    (own,) = [session["id"] for session in page.get_json("/v1/sessions")["sessions"] if session["is_current"]]
    reply = page.delete(f"/v1/sessions/{own}", expect=204)
    assert page.cookie == "" and reply.headers["Clear-Site-Data"] == '"storage"'
    page.get("/v1/session", headers={"Cookie": f"{COOKIE}={token}"}, expect=401)
    admin.api.get("/v1/session", expect=200)
