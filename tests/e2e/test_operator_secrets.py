"""musterctl admin reset-2fa and secret rotate: what an operator does about lost and leaked secrets (docs/operations.md)."""

import json
import secrets

import pytest
from support.admin import FACTOR, step_now, totp
from support.client import Client
from support.world import Organization

DONE, NOT_DONE, USAGE = 0, 1, 2


# ---------------------------------------------------------------------------- admin reset-2fa


def test_a_reset_ends_all_sessions_and_lets_the_next_sign_in_enroll_anew(module_org, stack):
    admin = module_org.new_admin()
    sessions, old = [admin.api, admin.unverified()], admin.secret
    codes = list(admin.backup_codes)
    assert stack.ctl("admin", "reset-2fa", "--email", admin.address.upper()) == {"id": admin.id, "reset": True}
    for client in sessions:
        client.get("/v1/session", expect=401)
    signed_in = admin.signed_in()
    assert signed_in["two_factor"] == {"enrolled": False, "verified": False}
    client = Client(stack, module_org.api.contract, signed_in["token"])
    client.post(f"{FACTOR}/verify-totp", json={"code": totp(old, step_now())}, expect=409, code="INVALID_STATE")
    client.post(f"{FACTOR}/verify-backup-code", json={"code": codes[0]}, expect=409)
    admin.enable(client)
    assert admin.secret != old
    admin.last_step = 0
    admin.pass_second_factor(client).get("/v1/imports", expect=200)
    log = module_org.admin().api.get_json("/v1/audit-log", params={"action": "second_factor.reset"})["audit_log"]
    assert [(entry["actor"], entry["subject_id"]) for entry in log] == [("operator", admin.id)]


def test_a_reset_ends_the_pause_too(module_org, stack):
    admin = module_org.new_admin()
    for _ in range(5):
        admin.api.post(f"{FACTOR}/verify-backup-code", json={"code": "aaaa-bbbb-cccc-dddd"}, expect=401)
    stack.ctl("admin", "reset-2fa", "--email", admin.address)
    admin.secret, admin.last_step = None, 0
    admin.new_session().get("/v1/imports", expect=200)


@pytest.mark.parametrize("arguments, status", [
    (["--email", "nobody@e2e.example"], NOT_DONE), (["--email", "broken"], NOT_DONE), ([], USAGE),
])
def test_a_reset_wants_an_admins_address(stack, arguments, status):
    done = stack.ctl_raw("admin", "reset-2fa", *arguments)
    assert (done.returncode, done.stdout) == (status, "") and done.stderr


# ---------------------------------------------------------------------------- secret rotate


def keys(current, previous=None):
    """The settings of [security], as Stack.configured takes them."""
    return ("[security]", f"key_file = {current}", f"previous_key_file = {previous or ''}")


def restart_runner(stack):
    """It reads the configuration once: what it cannot open, it cannot send."""
    stack.service("stop", "runner")
    stack.service("start", "runner")


def sealed(stack, admin):
    return stack.sql("SELECT totp_secret FROM admins WHERE email = %s", admin.address)


def test_the_installations_key_is_rotated_without_losing_a_second_factor(strict_stack, contract):
    stack = strict_stack
    org = Organization(stack, contract, attributes=False)
    admin = org.admin()
    assert admin.api
    old, new = stack.folder / "muster.key", stack.folder / "muster.key.new"
    new.write_bytes(secrets.token_bytes(32))
    new.chmod(0o600)
    sealed_by_old = sealed(stack, admin)
    with stack.configured(*keys(new, old)):
        restart_runner(stack)
        admin.new_session().get("/v1/imports", expect=200)  # the factor is still opened with the old key
        counts = stack.ctl("secret", "rotate")
        assert counts and all(count["unreadable"] == 0 for count in counts.values())
        assert sum(count["resealed"] for count in counts.values()) >= 4  # the sandbox's three admins, and this one
        assert sum(count["resealed"] for count in stack.ctl("secret", "rotate").values()) == 0
        assert sealed(stack, admin) != sealed_by_old
        with stack.configured(*keys(new)):  # the old one is not needed any more
            admin.new_session().get("/v1/imports", expect=200)
            admin.api.get("/v1/imports", expect=200)  # nobody was signed out
        with stack.configured(*keys(old)):  # whoever uses the wrong key is told, and nothing is touched
            sealed_by_new = sealed(stack, admin)
            done = stack.ctl_raw("--json", "secret", "rotate")
            assert done.returncode == NOT_DONE
            assert sum(count["unreadable"] for count in json.loads(done.stdout).values()) >= 4
            assert sealed(stack, admin) == sealed_by_new
    with stack.configured(*keys(old, new)):  # and all the way back
        stack.ctl("secret", "rotate")
    restart_runner(stack)
    admin.new_session().get("/v1/imports", expect=200)
