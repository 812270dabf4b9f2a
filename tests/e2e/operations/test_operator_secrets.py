"""musterctl admin reset-2fa and secret rotate: the operator's commands for lost and leaked secrets
(docs/operations/secrets.md)."""

import json
import secrets
from pathlib import Path

import pymysql
import pytest
from support.admin import AUTH, FACTOR, step_now, totp
from support.ads import Ads, path_of_url
from support.client import Client
from support.runbook import Machine, block
from support.stack import wait_for
from support.world import Organization, emails
from test_outage import Load, workers

DONE, NOT_DONE, USAGE = 0, 1, 2


# ---------------------------------------------------------------------------- admin reset-2fa


def test_a_reset_ends_all_sessions_and_the_next_sign_in_enrolls_again(module_org, stack):
    admin = module_org.new_admin()
    sessions, old = [admin.api, admin.unverified()], admin.secret
    codes = list(admin.backup_codes)
    assert stack.ctl("admin", "reset-2fa", "--yes", "--email", admin.address.upper()) == {"id": admin.id, "reset": True}
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
    stack.ctl("admin", "reset-2fa", "--yes", "--email", admin.address)
    admin.secret, admin.last_step = None, 0
    admin.new_session().get("/v1/imports", expect=200)


@pytest.mark.parametrize("arguments, status", [
    (["--email", "nobody@e2e.example"], NOT_DONE), (["--email", "broken"], USAGE), ([], USAGE),
])
def test_a_reset_requires_an_admins_address(stack, arguments, status):
    done = stack.ctl_raw("admin", "reset-2fa", "--yes", *arguments)
    assert (done.returncode, done.stdout) == (status, "") and done.stderr


# ---------------------------------------------------------------------------- secret rotate


def restart_runner(stack):
    """The runner reads its configuration once, and it cannot send mail that it cannot open."""
    stack.service("stop", "runner")
    stack.service("start", "runner")


def sealed(stack, admin):
    return stack.sql("SELECT totp_secret FROM admins WHERE email = %s", admin.address)


def test_rotating_the_installation_key_keeps_the_second_factors(strict_stack, contract):
    stack = strict_stack
    org = Organization(stack, contract, attributes=False)
    admin = org.admin()
    assert admin.api
    old, new = stack.folder / "muster.key", stack.folder / "muster.key.new"
    new.write_bytes(secrets.token_bytes(32))
    new.chmod(0o600)
    sealed_by_old = sealed(stack, admin)
    with stack.with_keys(new, old):
        restart_runner(stack)
        admin.new_session().get("/v1/imports", expect=200)  # the factor is still opened with the old key
        counts = stack.ctl("secret", "rotate")
        assert counts and all(count["unreadable"] == 0 for count in counts.values())
        assert sum(count["resealed"] for count in counts.values()) >= 4  # the three admins of the sandbox, and this one
        assert sum(count["resealed"] for count in stack.ctl("secret", "rotate").values()) == 0
        assert sealed(stack, admin) != sealed_by_old
        with stack.with_keys(new):  # the old key is not needed any more
            admin.new_session().get("/v1/imports", expect=200)
            admin.api.get("/v1/imports", expect=200)  # all sessions remain valid
        with stack.with_keys(old):  # a wrong key is reported, and no value is changed
            sealed_by_new = sealed(stack, admin)
            done = stack.ctl_raw("--json", "secret", "rotate")
            assert done.returncode == NOT_DONE
            assert sum(count["unreadable"] for count in json.loads(done.stdout).values()) >= 4
            assert sealed(stack, admin) == sealed_by_new
    with stack.with_keys(old, new):  # and back to the old key
        stack.ctl("secret", "rotate")
    restart_runner(stack)
    admin.new_session().get("/v1/imports", expect=200)


# ---------------------------------------------------------------------------- the documented procedures


def new_workers(stack, before):
    wait_for(lambda: workers(stack) and not set(workers(stack)) & set(before), "new workers")


def click(stack, contract, ad):
    return Client(stack, contract).get(path_of_url(ad["click_url"]), allow_redirects=False).status_code


def test_the_documented_key_rotation_fails_no_request_and_loses_only_what_is_documented(strict_stack, contract):
    stack, machine = strict_stack, Machine(strict_stack)
    org = Organization(stack, contract, attributes=False)
    for address in emails(3):
        org.create_user({"email": address})
    admin, ads = org.admin(), Ads(org)
    slot, _ = ads.running()
    code = admin.ask_for_code()
    cursor = org.api.get_json("/v1/users", params={"limit": 1})["next_cursor"]
    shown = ads.serve(slot)
    config, kept = Path(stack.config), Path(stack.config).read_text()
    before = workers(stack)
    with Load(org, threads=1) as load:
        machine.run(block("Rotate the installation key", "sudo cp"))
        previous = machine.here(block("Rotate the installation key", "[security]")).removeprefix("[security]\n")
        config.write_text(kept.replace("[security]\n", f"[security]\n{previous}"))
        machine.run(block("Rotate the installation key", "sudo mv"))
        new_workers(stack, before)
        load.wait_for_requests()
        for again in (False, True):
            said = machine.run(block("Rotate the installation key", "sudo -u muster musterctl secret rotate"))
            assert " 0 unreadable" in said and (" 0 re-encrypted" in said) and not (again and " 1 re-encrypted" in said)
        assert click(stack, contract, shown) == 302
        before = workers(stack)
        config.write_text(kept)
        machine.run("sudo systemctl reload muster")
        new_workers(stack, before)
        load.wait_for_requests()
    restart_runner(stack)
    assert load.failures == [] and set(load.statuses) <= {200, 201, 429}  # the rates of production
    assert click(stack, contract, shown) == 404
    org.api.get("/v1/users", params={"limit": 1, "cursor": cursor}, expect=422)
    Client(stack, contract).post(f"{AUTH}/verify", json={"email": admin.address, "otp": code}, expect=401)
    admin.api.get("/v1/session", expect=200)
    admin.new_session().get("/v1/session", expect=200)
    assert stack.ctl("health")["healthy"]


@pytest.fixture
def database_user(stack):
    """Restores the database user and the configuration of the stack."""
    config = Path(stack.config)
    kept = config.read_text()
    yield kept
    config.write_text(kept)
    stack.ctl("db", "init", "--root-socket", stack.env["mysql_socket"])
    stack.reload("musterd")
    restart_runner(stack)
    stack.sql("DROP USER IF EXISTS muster2@localhost")


def test_the_documented_change_of_the_database_password_fails_no_request(stack, new_org, database_user):
    org, machine, before = new_org(attributes=False), Machine(stack), workers(stack)
    heading = "Change the database password"
    with Load(org) as load:
        load.wait_for_requests()
        machine.run(block(heading, "sudo sh -c"))
        load.wait_for_requests()
        section, *lines = machine.here(block(heading, "[database]")).splitlines()
        kept = [line for line in database_user.splitlines() if not line.startswith(("user = muster", "password = file:"))]
        kept[kept.index(section) + 1:kept.index(section) + 1] = lines
        Path(stack.config).write_text("\n".join(kept) + "\n")
        machine.run(block(heading, "sudo systemctl reload"))
        new_workers(stack, before)
        restart_runner(stack)
        machine.run(block(heading, "sudo mariadb -e"))
        load.wait_for_requests(200)
    assert load.failures == [] and set(load.statuses) == {200, 201}
    assert {user for (user,) in stack.sql("SELECT user FROM information_schema.processlist WHERE db = 'muster'")} <= {"muster2", "root"}
    old, new = ((stack.folder / f"database{number}.password").read_text().strip() for number in ("", "2"))
    stack.keys_issued += [old, new]
    socket = stack.env["mysql_socket"]
    pymysql.connect(unix_socket=socket, user="muster2", password=new).close()
    with pytest.raises(pymysql.Error, match="Access denied"):
        pymysql.connect(unix_socket=socket, user="muster", password=old)
    assert stack.ctl("health")["healthy"]
