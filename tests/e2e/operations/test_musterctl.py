"""musterctl(8): each command on records and on the database, as text and as JSON."""

import json
import re
import socketserver
from threading import Thread

import pytest
from support.ctl import DONE, INIT, MIGRATE, NOT_DONE, NOWHERE, USAGE
from support.mail import wait_for_mail
from support.stack import AS_ROOT
from support.world import email


# ---------------------------------------------------------------------------- organizations, admins, keys


def test_organizations_are_created_and_listed(ctl, ask):
    made = ask("org", "create", "--name", "  Ünïcödé & Söhne  ")
    assert made["name"] == "Ünïcödé & Söhne" and set(made) == {"id", "name", "created_at", "state"}
    assert made in ask("org", "list")
    lines = ctl("org", "list").stdout.splitlines()
    assert lines[0].split() == ["ID", "CREATED", "STATE", "NAME"]
    assert any(line.split(maxsplit=3) == [made["id"], f"{made['created_at'][:19]}Z", "active", "Ünïcödé & Söhne"] for line in lines)
    plain = ctl("org", "create", "--name", "Same name twice").stdout
    assert ctl("org", "create", "--name", "Same name twice").stdout != plain and len(plain) == 37


@pytest.mark.parametrize("arguments, status", [
    (["--name", "   "], USAGE), (["--name", "x" * 256], USAGE), (["--name", ""], USAGE), ([], USAGE), (["--name"], USAGE),
    (["--name", "a", "b"], USAGE), (["--nam", "a"], USAGE),
])
def test_an_organization_needs_a_name(ctl, arguments, status):
    ctl("org", "create", *arguments, status=status)


def test_admins_get_one_seat_in_each_organization(ctl, ask, org_id):
    address = email("admin")
    first = ask("admin", "add", "--org", org_id, "--email", address.upper())
    assert first["role"] == "admin"
    other = ask("org", "create", "--name", "Other")["id"]
    second = ask("admin", "add", "--org", other, "--email", address, "--role", "owner")
    assert second == {"id": first["id"], "role": "owner"}
    assert "seat" in ctl("admin", "add", "--org", org_id, "--email", address, status=NOT_DONE).stderr
    ctl("admin", "add", "--org", org_id, "--email", email(), "--role", "king", status=USAGE)
    assert '--email is "broken": ' in ctl("admin", "add", "--org", org_id, "--email", "broken", status=USAGE).stderr
    ctl("admin", "add", "--org", NOWHERE, "--email", email(), status=NOT_DONE)


def test_seats_are_listed_and_removed(ctl, ask, org_id):
    address = email("admin")
    admin_id = ask("admin", "add", "--org", org_id, "--email", address, "--role", "viewer")["id"]
    seat = next(seat for seat in ask("admin", "list", "--org", org_id) if seat["id"] == admin_id)
    assert seat.pop("since")
    assert seat == {"id": admin_id, "email": address, "role": "viewer", "two_factor_enrolled": False, "status": "active",
                    "expires_at": None}
    heading, line = ctl("admin", "list", "--org", org_id).stdout.splitlines()
    assert heading.split() == ["ID", "ROLE", "STATE", "SINCE", "EMAIL"]
    assert line.startswith(f"{admin_id}  viewer  not enrolled  ") and line.endswith(f"Z  {address}")
    assert ask("admin", "remove", "--yes", "--org", org_id, "--email", address) == {"removed": True}
    assert admin_id not in ctl("admin", "list", "--org", org_id).stdout
    ctl("admin", "remove", "--yes", "--org", org_id, "--email", address, status=NOT_DONE)
    ctl("admin", "remove", "--yes", "--org", org_id, "--email", "broken", status=USAGE)
    ctl("admin", "list", "--org", NOWHERE, status=NOT_DONE)


def test_an_admin_is_invited_and_gets_another_role(ctl, ask, org_id):
    address = email("admin")
    someone = ["--org", org_id, "--email", address]
    invited = ask("admin", "invite", *someone, "--role", "viewer")
    assert (invited["status"], invited["role"], invited["email"]) == ("invited", "viewer", address)
    assert invited in ask("admin", "list", "--org", org_id)
    assert invited["id"] in ctl("admin", "resend", *someone).stdout
    assert "already" in ctl("admin", "invite", *someone, status=NOT_DONE).stderr
    ctl("admin", "set-role", *someone, "--role", "owner", status=NOT_DONE)
    assert ask("admin", "withdraw", *someone) == {"withdrawn": True}
    for command in ("withdraw", "resend"):
        assert "no invitation" in ctl("admin", command, *someone, status=NOT_DONE).stderr
    ask("admin", "add", *someone)
    assert ask("admin", "set-role", *someone, "--role", "owner")["role"] == "owner"
    ctl("admin", "set-role", *someone, "--role", "king", status=USAGE)
    ctl("admin", "set-role", *someone, status=USAGE)


def test_keys_are_issued_shown_once_listed_and_revoked(ctl, ask, org_id, anyone, stack):
    issued = ask("key", "issue", "--org", org_id, "--name", "Server 1")
    stack.keys_issued.append(issued["key"])
    assert issued["key"].startswith("org_") and len(issued["key"]) == 4 + 43 + 6
    assert issued["last_four"] == issued["key"][-4:] and issued["organization_id"] == org_id
    plain = ctl("key", "issue", "--org", org_id, "--name", "Server 2").stdout
    stack.keys_issued.append(plain.strip())
    assert plain.startswith("org_") and plain.endswith("\n")
    listed = ask("key", "list", "--org", org_id)
    assert [key["name"] for key in listed] == ["Server 1", "Server 2"]
    assert not any("key" in key for key in listed) and issued["key"] not in json.dumps(listed)
    anyone.get("/v1/imports", key=issued["key"], expect=200)
    assert ask("key", "revoke", "--yes", "--org", org_id, "--id", issued["id"]) == {"id": issued["id"], "revoked": True}
    anyone.get("/v1/imports", key=issued["key"], expect=401)
    heading, *lines = ctl("key", "list", "--org", org_id).stdout.splitlines()
    assert heading.split("  ")[0] == "ID" and heading.endswith("LAST USED             EXPIRES  NAME")
    assert [("revoked" in line, "active" in line) for line in lines] == [(True, False), (False, True)]
    assert [line.split()[5] == "never" for line in lines] == [False, True]
    shown = [f"org_...{issued['last_four']}", "admin", "revoked", f"{issued['created_at'][:19]}Z"]
    assert lines[0].split()[1:5] == shown
    ctl("key", "revoke", "--yes", "--org", org_id, "--id", issued["id"], status=NOT_DONE)


def test_a_key_is_revoked_only_by_its_own_organization(ctl, ask, org_id):
    issued = ask("key", "issue", "--org", org_id, "--name", "k")
    other = ask("org", "create", "--name", "Other")["id"]
    ctl("key", "revoke", "--yes", "--org", other, "--id", issued["id"], status=NOT_DONE)
    assert ask("key", "list", "--org", org_id)[0]["revoked_at"] is None


# ---------------------------------------------------------------------------- keys of web pages

PAGES_KEYS = [("tracking-key", "ek_live_"), ("content-key", "ck_live_")]


@pytest.mark.parametrize("noun, prefix", PAGES_KEYS)
def test_publishable_keys_are_issued_shown_listed_and_revoked(ctl, ask, org_id, noun, prefix):
    origins = "HTTPS://Shop.Example:443,https://*.shop.example"
    issued = ask(noun, "issue", "--org", org_id, "--name", "Shop", "--origins", origins, "--expires", "2099-01-01T00:00:00Z")
    assert issued["key"].startswith(prefix) and issued["organization_id"] == org_id
    assert issued["allowed_origins"] == ["https://shop.example", "https://*.shop.example"]
    assert issued["expires_at"] == "2099-01-01T00:00:00.000Z"
    plain = ctl(noun, "issue", "--org", org_id, "--name", "Blog", "--origins", "https://blog.example").stdout
    assert plain.startswith(prefix) and plain.endswith("\n")
    listed = ask(noun, "list", "--org", org_id)
    assert (listed[0], [key["key"] for key in listed]) == (issued, [issued["key"], plain.strip()])
    for other, _ in PAGES_KEYS:
        if other != noun:
            assert ask(other, "list", "--org", org_id) == []
            ctl(other, "revoke", "--yes", "--org", org_id, "--id", issued["id"], status=NOT_DONE)
    assert ask(noun, "revoke", "--yes", "--org", org_id, "--id", issued["id"]) == {"id": issued["id"], "revoked": True}
    heading, *lines = ctl(noun, "list", "--org", org_id).stdout.splitlines()
    assert heading.split() == "ID KEY STATE CREATED LAST USED EXPIRES NAME ORIGINS".split()
    assert lines[0].split()[5] == "2099-01-01T00:00:00Z"
    assert [("revoked" in line, "active" in line) for line in lines] == [(True, False), (False, True)]
    assert "https://*.shop.example" in lines[0]
    ctl(noun, "revoke", "--yes", "--org", org_id, "--id", issued["id"], status=NOT_DONE)
    ctl(noun, "revoke", "--yes", "--org", ask("org", "create", "--name", "Other")["id"], "--id", listed[1]["id"], status=NOT_DONE)
    ctl(noun, "revoke", "--yes", "--org", org_id, "--id", "first", status=USAGE)


def test_a_tracking_key_has_its_own_or_the_default_rate_and_a_content_key_has_none(ctl, ask, org_id):
    issue = ["tracking-key", "issue", "--org", org_id, "--name", "k", "--origins", "https://a.example"]
    rates = [(key["rate_limit_per_second"], key["burst"]) for key in (ask(*issue), ask(*issue, "--rate", "5", "--burst", "9"))]
    assert rates == [(None, None), (5, 9)]
    ctl(*issue, "--rate", "0", status=USAGE)
    ctl("content-key", *issue[1:], "--rate", "5", status=USAGE)


@pytest.mark.parametrize("noun, _", PAGES_KEYS)
@pytest.mark.parametrize("origins, status", [
    (None, USAGE), ("", USAGE), ("shop.example", USAGE), ("https://shop.example/", USAGE), ("*", USAGE),
    ("https://a.example,,https://b.example", USAGE), (",".join(f"https://a{n}.example" for n in range(51)), USAGE),
    (",".join(f"https://a{n}.example" for n in range(50)), DONE),
])
def test_a_publishable_key_requires_1_to_50_origins(ctl, org_id, noun, _, origins, status):
    ctl(noun, "issue", "--org", org_id, "--name", "k", *(["--origins", origins] if origins is not None else []), status=status)


# ---------------------------------------------------------------------------- expiry and rate of a key


@pytest.mark.parametrize("time, status", [
    ("2099-12-31T23:59:59Z", DONE), ("2099-12-31T23:59:59.5+02:00", DONE), ("2001-01-01T00:00:00Z", USAGE),
    ("2099-12-31", USAGE), ("tomorrow", USAGE), ("2099-02-30T00:00:00Z", USAGE),
])
def test_a_key_expires_at_a_future_time(ctl, org_id, time, status):
    ctl("key", "issue", "--org", org_id, "--name", "k", "--expires", time, status=status)


def test_the_expiry_of_a_key_is_kept_in_utc(ask, org_id):
    issued = ask("key", "issue", "--org", org_id, "--name", "k", "--expires", "2099-12-31T23:59:59.5+02:00")
    assert issued["expires_at"] == "2099-12-31T21:59:59.500Z"


def test_a_key_has_its_own_or_the_default_rate(ask, org_id):
    issue = ["key", "issue", "--org", org_id, "--name", "k"]
    rates = [(key["rate_limit_per_second"], key["burst"]) for key in (
        ask(*issue), ask(*issue, "--rate", "5"), ask(*issue, "--rate", "1", "--burst", "100000"))]
    assert rates == [(None, None), (5, None), (1, 100000)]


@pytest.mark.parametrize("option", ["--rate", "--burst"])
@pytest.mark.parametrize("value", ["0", "-1", "100001", "1.5", "many", "99999999999999999999"])
def test_a_rate_must_be_a_number_within_its_range(ctl, org_id, option, value):
    ctl("key", "issue", "--org", org_id, "--name", "k", option, value, status=USAGE)


# ---------------------------------------------------------------------------- attributes


def test_attributes_are_listed_enabled_disabled_and_added(ctl, ask, org_id):
    assert {entry["key"] for entry in ask("attribute", "list", "--org", org_id) if entry["enabled"]} == set()
    assert ask("attribute", "enable", "--org", org_id, "phone", "gender") == ["phone", "gender"]
    assert ask("attribute", "disable", "--org", org_id, "gender") == ["gender"]
    added = ask("attribute", "add", "--org", org_id, "--key", "boat.class", "--type", "multi_choice", "--label", "Boat",
                "--choices", "single, double ,eight,vie\u0301r")
    assert added == {"key": "boat.class", "label": "Boat", "type": "multi_choice", "enabled": True,
                     "choices": ["single", "double", "eight", "vi\u00e9r"]}
    enabled = [entry for entry in ask("attribute", "list", "--org", org_id) if entry["enabled"]]
    assert [entry["key"] for entry in enabled] == ["boat.class", "phone"] and added in enabled
    rows = [line.split() for line in ctl("attribute", "list", "--org", org_id).stdout.splitlines()]
    assert rows[0] == ["KEY", "TYPE", "STATE", "LABEL", "CHOICES"]
    assert ["boat.class", "multi_choice", "enabled", "Boat", "single,", "double,", "eight,", "vi\u00e9r"] in rows


@pytest.mark.parametrize("arguments, status", [
    (["--key", "phone", "--type", "text"], NOT_DONE), (["--key", "Boat", "--type", "text"], USAGE),
    (["--key", "1st", "--type", "text"], USAGE), (["--key", "a..b", "--type", "text"], USAGE),
    (["--key", "x" * 65, "--type", "text"], USAGE), (["--key", "a", "--type", "color"], USAGE),
    (["--key", "a"], USAGE), (["--type", "text"], USAGE), (["--key", "a", "--type", "single_choice"], USAGE),
    (["--key", "a", "--type", "text", "--choices", "x,y"], USAGE),
    (["--key", "a", "--type", "single_choice", "--choices", "x,x"], USAGE),
    (["--key", "a", "--type", "single_choice", "--choices", "x,,y"], USAGE),
    (["--key", "x" * 64, "--type", "number"], DONE),
])
def test_attributes_are_validated(ctl, org_id, arguments, status):
    ctl("attribute", "add", "--org", org_id, *arguments, status=status)


def test_enabling_names_an_unknown_attribute(ctl, ask, org_id):
    assert "no_such" in ctl("attribute", "enable", "--org", org_id, "gender", "no_such", status=NOT_DONE).stderr
    ctl("attribute", "enable", "--org", org_id, status=USAGE)
    ctl("attribute", "enable", "--org", org_id, "phone")
    ctl("attribute", "enable", "--org", org_id, "phone")  # again: not an error
    assert [entry["key"] for entry in ask("attribute", "list", "--org", org_id) if entry["enabled"]] == ["phone"]


# ---------------------------------------------------------------------------- imports


def test_imports_are_listed_shown_and_canceled(stack, ctl, ask, org):
    job_id = org.staged([{"email": email()}], file_name="list.csv")
    (listed,) = ask("import", "list", "--org", org.id)
    shown = ask("import", "show", "--org", org.id, "--id", job_id)
    assert listed == shown and (shown["id"], shown["state"], shown["staged_rows"]) == (job_id, "staging", 1)
    assert shown["heartbeat_at"] is None and shown["file_name"] == "list.csv"
    heading, line = ctl("import", "list", "--org", org.id).stdout.splitlines()
    assert heading.split() == ["ID", "STATE", "PROCESSED", "STAGED", "CREATED", "FILE"]
    assert line.split() == [job_id, "staging", "0", "1", f"{shown['created_at'][:19]}Z", "list.csv"]
    text = ctl("import", "show", "--org", org.id, "--id", job_id).stdout
    assert [line.split(": ")[0] for line in text.splitlines()] == [
        "id", "state", "file_name", "created_at", "phase_started_at", "heartbeat_at", "attempts", "staged_rows", "processed_rows", "valid_rows",
        "invalid_rows", "created_count", "attached_count", "failed_count"]
    assert "state: staging\n" in text and "staged_rows: 1\n" in text and "heartbeat_at: -\n" in text
    assert ask("import", "cancel", "--yes", "--org", org.id, "--id", job_id)["state"] == "canceled"
    assert org.job(job_id)["state"] == "canceled"
    ctl("import", "cancel", "--yes", "--org", org.id, "--id", job_id)  # again: not an error
    done = org.imported([])["id"]
    cancel = ["import", "cancel", "--yes", "--org", org.id, "--id", done]
    assert ctl(*cancel, status=NOT_DONE).stderr == (
        "musterctl: the job is completed; only a job in staging, validating or validated can be canceled\n")
    assert json.loads(stack.ctl_raw("--json", *cancel).stderr)["error"]["details"]["state"] == "completed"


def test_showing_a_job_does_not_change_it(ctl, org, no_runner):
    job_id = org.staged([{"email": email()}])
    org.commit(job_id, json={"dry_run": False})
    org.stack.run_once()
    for _ in range(2):
        ctl("import", "show", "--org", org.id, "--id", job_id)
        ctl("import", "list", "--org", org.id)
    assert org.stack.sql("SELECT state FROM import_jobs WHERE id = UNHEX(REPLACE(%s, '-', ''))", job_id) == [("validated",)]


def test_a_job_of_another_organization_is_not_found(ctl, org, org_id):
    job_id = org.create_import()["id"]
    for words in (["show"], ["cancel", "--yes"]):
        refused = ctl("import", *words, "--org", org_id, "--id", job_id, status=NOT_DONE)
        assert refused.stderr == f"musterctl: the organization has no import job {job_id}\n"
    assert org.job(job_id)["state"] == "staging"


@pytest.mark.parametrize("words", [
    ["key", "list"], ["key", "issue", "--name", "k"], ["attribute", "list"], ["attribute", "enable", "phone"],
    ["attribute", "add", "--key", "a", "--type", "text"], ["import", "list"], ["import", "show", "--id", NOWHERE],
    ["import", "cancel", "--id", NOWHERE], ["key", "revoke", "--id", NOWHERE],
    ["tracking-key", "list"], ["tracking-key", "issue", "--name", "k", "--origins", "https://a.example"],
    ["tracking-key", "revoke", "--id", NOWHERE], ["content-key", "list"], ["content-key", "revoke", "--id", NOWHERE],
    ["content-key", "issue", "--name", "k", "--origins", "https://a.example"],
])
def test_an_unknown_organization_and_a_malformed_id_are_different_errors(ctl, words):
    head, tail = words[:2], words[2:]
    ctl(*head, "--org", NOWHERE, *tail, status=NOT_DONE)
    ctl(*head, "--org", "nonsense", *tail, status=USAGE)
    ctl(*head, *tail, status=USAGE)
    if "--id" in tail:
        ctl(*head, "--org", NOWHERE, "--id", "nonsense", status=USAGE)


# ---------------------------------------------------------------------------- database and health


def test_the_schema_is_created_once_and_is_current(ctl, ask, stack):
    version = ask("db", "status")["supported"]
    upgrade = (stack.source / f"sql/upgrades/{version}.sql").read_text(encoding="utf-8")
    oldest = int(re.search(r"oldest program: (\d+)", upgrade).group(1))
    assert ask("db", "status") == {"state": "current", "version": version, "supported": version, "oldest_program": oldest,
                                   "problem": None}
    assert ask("db", "init") == {"created": False, "version": version, "triggers_created": []}
    assert ask("db", "migrate") == {"version": version, "upgrades": []}
    assert str(version) in ctl("db", "status").stdout


def test_a_database_is_created(stack, ask, ctl):
    env = AS_ROOT | {"MUSTER_DATABASE_NAME": "e2e_fresh"}
    try:
        assert ctl("health", status=NOT_DONE, env=env).stdout
        assert ask("db", "init", env=env)["created"] is True
        assert ask("health", env=env)["healthy"] is True
        assert ask("org", "list", env=env) == []
        stack.sql("UPDATE e2e_fresh.schema_version SET version = version + 1")
        stack.sql("UPDATE e2e_fresh.schema_version SET oldest_program = version")
        assert "newer" in ctl("db", "migrate", status=NOT_DONE, env=env).stderr
        assert ask("db", "status", status=NOT_DONE, env=env)["version"] == ask("db", "status")["version"] + 1
    finally:
        stack.sql("DROP DATABASE IF EXISTS e2e_fresh")


def test_an_old_database_is_upgraded_once(stack, ask, ctl):
    env = AS_ROOT | {"MUSTER_DATABASE_NAME": "e2e_old"}
    schema = "\n".join(line.split("--")[0] for line in
                       (stack.source / "tests/data/schema-1.sql").read_text(encoding="utf-8").splitlines())
    try:
        stack.sql("CREATE DATABASE e2e_old CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
        connection = stack.connect(database="e2e_old")
        with connection.cursor() as cursor:
            for statement in filter(str.strip, schema.split(";")):
                cursor.execute(statement)
            cursor.execute("INSERT INTO schema_version VALUES (1, 1)")
            cursor.execute("INSERT INTO organizations VALUES (REPEAT('a', 16), 'Old', 1)")
        connection.close()
        assert "musterctl db migrate" in ctl("health", status=NOT_DONE, env=env).stdout
        assert ask("db", "status", status=MIGRATE, env=env)["version"] == 1
        upgraded = ask("db", "migrate", env=env)
        version = upgraded["version"]
        assert [step["version"] for step in upgraded["upgrades"]] == list(range(2, version + 1))
        assert all(step["statements"] > 0 and step["done_before"] == 0 for step in upgraded["upgrades"])
        assert ask("health", env=env)["healthy"] is True
        assert [entry["name"] for entry in ask("org", "list", env=env)] == ["Old"]
        # As if the last version had not been recorded: every step was done before, except those that must be repeated.
        stack.sql("DELETE FROM e2e_old.schema_version WHERE version = %s", version)
        again = ctl("db", "migrate", env=env).stdout.splitlines()
        assert len(again) == 2 and again[0].startswith(f"upgraded to version {version}: ") and "already done" in again[0]
        assert ctl("db", "migrate", env=env).stdout == again[1] + "\n"
    finally:
        stack.sql("DROP DATABASE IF EXISTS e2e_old")


@pytest.mark.parametrize("words", [["audit"], ["db", "migrate"], ["org", "list"]])
def test_a_database_that_cannot_be_used_is_reported_in_one_sentence(stack, ctl, words):
    def reported(**env):
        return ctl(*words, status=NOT_DONE, env=env).stderr
    assert reported(**AS_ROOT, MUSTER_DATABASE_NAME="e2e_nowhere") == (
        "musterctl: the database in database.name does not exist: run `musterctl db init`\n")
    away = "musterctl: the database does not answer: check database.url in the configuration\n"
    assert reported(MUSTER_DATABASE_URL=f"unix:{stack.folder}/nowhere.sock") == away
    assert reported(MUSTER_DATABASE_URL="tcp://127.0.0.1:1") == away
    refused = reported(MUSTER_DATABASE_USER="no_such_user", MUSTER_DATABASE_PASSWORD="s3cret")
    assert refused == ("musterctl: access denied for database.user: check its password and grants, or create it as "
                       "root with `musterctl db init --root-socket SOCKET`\n")


def test_a_database_without_a_schema_is_reported(stack, ctl):
    env = AS_ROOT | {"MUSTER_DATABASE_NAME": "e2e_bare"}
    try:
        stack.sql("CREATE DATABASE e2e_bare")
        assert "musterctl db init" in ctl("db", "migrate", status=NOT_DONE, env=env).stderr
        assert "schema: none" in ctl("db", "status", status=INIT, env=env).stdout
        assert "musterctl db init" in ctl("org", "list", status=NOT_DONE, env=env).stderr
    finally:
        stack.sql("DROP DATABASE IF EXISTS e2e_bare")


def test_health_reports_a_problem(stack, ctl, ask):
    well = ask("health")
    assert well["healthy"] is True and well["problem"] is None
    assert all(check["ok"] and check["problem"] is None for check in well["checks"])
    away = {"MUSTER_DATABASE_URL": f"unix:{stack.folder}/nowhere.sock"}
    found = ask("health", status=NOT_DONE, env=away)
    assert found["healthy"] is False
    assert [check["problem"] for check in found["checks"] if not check["ok"]] == [found["problem"]]
    for words in (["org", "list"], ["db", "status"], ["db", "init"], ["org", "create", "--name", "x"]):
        ctl(*words, status=NOT_DONE, env=away)


# ---------------------------------------------------------------------------- names of organizations


def test_an_organization_is_named_by_its_exact_name_or_its_id(ctl, ask):
    name = f"Näme {email()} --x"
    first = ask("org", "create", "--name", name)["id"]
    assert ask("key", "issue", "--org", name, "--name", "k")["organization_id"] == first
    assert ask("key", "list", f"--org={name}") == ask("key", "list", "--org", first) != []
    said = ctl("key", "list", "--org", name.upper(), status=USAGE).stderr
    assert "use an id or an exact name of `musterctl org list`" in said
    second = ask("org", "create", "--name", name)["id"]
    assert f"use an id: {first} {second}" in ctl("key", "list", "--org", name, status=USAGE).stderr


# ---------------------------------------------------------------------------- mail


def test_a_test_message_shows_what_the_mail_server_answers(stack, ctl, ask):
    address = email("operator")
    sent = ask("mail", "test", address)
    assert sent["accepted"] is True and sent["answer"].startswith("250") and sent["reason"] is None
    assert "Muster: test message" in wait_for_mail(stack, address).subject
    assert f"accepted a message for {address}\n" in ctl("mail", "test", address).stdout
    away = {"MUSTER_MAIL_URL": "smtp://127.0.0.1:1", "MUSTER_MAIL_PASSWORD": "s3cret", "MUSTER_MAIL_USER": "u"}
    refused = ctl("mail", "test", address, status=NOT_DONE, env=away)
    assert "did not accept a message" in refused.stdout and "s3cret" not in refused.stdout + refused.stderr
    assert 'ADDRESS is "broken": ' in ctl("mail", "test", "broken", status=USAGE).stderr
    ctl("mail", "test", status=USAGE)
    ctl("mail", "test", address, address, status=USAGE)


class RejectingMailServer(socketserver.StreamRequestHandler):
    """Rejects each sender, in ISO-8859-1."""

    def handle(self):
        self.wfile.write(b"220 mail.example\r\n")
        for line in self.rfile:
            is_greeting = line[:4].upper() in (b"EHLO", b"HELO")
            self.wfile.write(b"250 mail.example\r\n" if is_greeting else "550 Absender ungültig\r\n".encode("latin-1"))


def test_a_mail_servers_answer_in_another_encoding_is_shown_as_escapes(ctl, ask):
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), RejectingMailServer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        env = {"MUSTER_MAIL_URL": f"smtp://127.0.0.1:{server.server_address[1]}"}
        address, escaped = email("operator"), "550 Absender ung\\xfcltig"
        try:
            assert ask("mail", "test", address, status=NOT_DONE, env=env)["answer"] == escaped
            assert f"its answer: {escaped}\n" in ctl("mail", "test", address, status=NOT_DONE, env=env).stdout
        finally:
            server.shutdown()
