"""musterctl org delete: it shows what goes, needs the name, and survives a kill (docs/operations/organizations.md "Rename,
disable or delete an organization")."""

import json
import signal
import subprocess

import pytest
from support.stack import numbers, wait_for
from support.world import email, emails

NOT_DONE = 1
MEMBERS = 6000


def age(stack, org):
    """The entries of the audit log are old enough to be deleted. Triggers refuse the programs' user; stack.sql is the
    owner of the schema."""
    stack.sql("UPDATE audit_log SET created_at = 1, id = UNHEX(CONCAT('00', SUBSTR(HEX(id), 3))) "
              "WHERE organization_id = UNHEX(REPLACE(%s, '-', ''))", org.id)


def left(stack, org):
    """The tables that still name the organization."""
    tables = [row[0] for row in stack.sql(
        "SELECT table_name FROM information_schema.columns WHERE table_schema = DATABASE() AND column_name = 'organization_id'")]
    return [table for table in tables if stack.sql(
        f"SELECT COUNT(*) FROM {table} WHERE organization_id = UNHEX(REPLACE(%s, '-', ''))", org.id)[0][0]]


def delete(stack, org, name="e2e"):
    return stack.ctl("org", "delete", "--confirm", name, org.id)


def test_without_the_name_it_only_shows_what_goes(new_org, stack):
    org = new_org(attributes=False)
    org.create_user({"email": email()})
    shown = stack.ctl("org", "delete", org.id)
    assert shown["state"] == "active" and {"table": "members", "rows": 1, "exact": True} in shown["tables"]
    text = stack.ctl_raw("org", "delete", org.id).stdout
    assert text.startswith("would be deleted (repeat with --confirm") and "1     members" in text
    wrong = stack.ctl_raw("org", "delete", "--confirm", "E2E", org.id)
    assert wrong.returncode == NOT_DONE and 'the name is "e2e", not "E2E"; nothing was changed' in wrong.stderr
    assert org.api.get_json("/v1/organization")["id"] == org.id


def test_nothing_is_left_but_the_audit_log_and_then_nothing_at_all(new_org, stack, anyone):
    org, other = new_org(), new_org(attributes=False)
    shared = email()
    for tenant in (org, other):
        tenant.create_user({"email": shared})
    org.imported([{"email": address} for address in emails(3)])
    org.records()
    org.page_api.post("/v1/track", json={"action": "seen", "anonymous_id": "v-1"}, expect=202)
    org.connect_provider()
    stack.sql("UPDATE connections SET tokens = NULL WHERE organization_id = UNHEX(REPLACE(%s, '-', ''))", org.id)
    deleted = delete(stack, org)
    assert deleted["state"] == "deleting" and [row["table"] for row in deleted["tables"]] == ["audit_log"]
    anyone.get("/v1/organization", key=org.key, expect=401)
    assert set(left(stack, org)) == {"audit_log", "organization_deletions"}
    refused = stack.ctl_raw("org", "enable", org.id)
    assert refused.returncode == NOT_DONE and "is being deleted" in refused.stderr
    for words in (["key", "issue", "--name", "late"], ["admin", "invite", "--email", "late@members.example"], ["attribute", "enable", "phone"]):
        late = stack.ctl_raw(*words, "--org", org.id)
        assert (late.returncode, late.stdout) == (NOT_DONE, "") and "is being deleted" in late.stderr
    assert stack.ctl("audit", "--org", org.id) != []
    age(stack, org)
    stack.run_once("purge")
    wait_for(lambda: left(stack, org) == [], "rows of the deleted organization are left")
    assert org.id not in [entry["id"] for entry in stack.ctl("org", "list")]
    assert [user["email"] for user in other.api.get_json("/v1/users")["users"]] == [shared]
    actions = {entry["action"] for entry in stack.ctl("audit", "--limit", "200") if entry["subject_id"] == org.id}
    assert {"organization.deletion_requested", "organization.deleted"} <= actions


def with_members(stack, org):
    """Gives the organization MEMBERS members. Returns a function that counts those that are left."""
    digits = "LEFT(SHA2(CONCAT(%s, seq), 256), 32)"
    stack.sql(f"INSERT INTO users (id, email, created_at) SELECT UNHEX({digits}), CONCAT({digits}, '@x.test'), 1 "
              f"FROM {numbers(MEMBERS)}", org.id, org.id)
    stack.sql("INSERT INTO members (organization_id, user_id, id, email, attributes, created_at, updated_at) "
              f"SELECT UNHEX(REPLACE(%s, '-', '')), UNHEX({digits}), UNHEX({digits}), CONCAT({digits}, '@x.test'), '{{}}', 1, 1 "
              f"FROM {numbers(MEMBERS)}", *[org.id] * 4)

    def members():
        return stack.sql("SELECT COUNT(*) FROM members WHERE organization_id = UNHEX(REPLACE(%s, '-', ''))", org.id)[0][0]

    assert members() == MEMBERS
    return members


def states(stack, org):
    return [entry["state"] for entry in stack.ctl("org", "list") if entry["id"] == org.id]


def test_a_killed_deletion_goes_on(new_org, stack, no_runner):
    org = new_org(attributes=False)
    members = with_members(stack, org)
    command = [stack.build / "musterctl", "--config", stack.config, "org", "delete", "--confirm", "e2e", org.id]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        wait_for(lambda: members() < MEMBERS, "the deletion has not begun")
        running.send_signal(signal.SIGKILL)
    assert states(stack, org) == ["deleting"]
    age(stack, org)
    again = json.loads(stack.ctl_raw("--json", "org", "delete", org.id).stdout)
    assert again["state"] == "deleted" and left(stack, org) == []


def test_a_deletion_under_nohup_outlives_its_terminal(new_org, stack, no_runner):
    org = new_org(attributes=False)
    members = with_members(stack, org)
    command = ["nohup", stack.build / "musterctl", "--config", stack.config, "--json", "org", "delete", "--confirm", "e2e", org.id]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        wait_for(lambda: members() < MEMBERS, "the deletion has not begun")
        running.send_signal(signal.SIGHUP)
        said, errors = running.communicate(timeout=60)
    assert running.returncode == 0, errors
    assert json.loads(said)["id"] == org.id and members() == 0


@pytest.fixture
def kept_attributes(stack):
    """The database refuses to delete attributes, after the members. Returns a function that ends this."""
    def end():
        stack.sql("DROP TRIGGER IF EXISTS keeps_attributes")

    stack.sql("CREATE TRIGGER keeps_attributes BEFORE DELETE ON attributes FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'kept'")
    yield end
    end()


@pytest.mark.parametrize("as_json", [False, True])
def test_a_deletion_that_fails_midway_says_how_to_continue_it(new_org, stack, no_runner, kept_attributes, as_json):
    org = new_org(attributes=False)
    org.create_user({"email": email()})
    failed = stack.ctl_raw(*["--json"] * as_json, "org", "delete", "--confirm", "e2e", org.id)
    assert (failed.returncode, failed.stdout) == (NOT_DONE, "")
    said = failed.stderr
    if as_json:
        document = json.loads(said)
        assert document["exit_code"] == NOT_DONE and set(document["error"]) == {"code", "message", "details"}
        said = document["error"]["message"]
    assert "kept" in said and ("the deletion has begun and is not complete; run `musterctl org delete "
                               f"{org.id}` again to continue it, or `muster-run purge` will") in said
    assert states(stack, org) == ["deleting"] and {"attributes", "members"} & set(left(stack, org)) == {"attributes"}
    kept_attributes()
    age(stack, org)
    assert stack.ctl("org", "delete", org.id)["state"] == "deleted" and left(stack, org) == []


def test_an_interrupted_deletion_says_how_to_continue_it(new_org, stack, no_runner):
    org = new_org(attributes=False)
    members = with_members(stack, org)
    command = [stack.build / "musterctl", "--config", stack.config, "org", "delete", "--confirm", "e2e", org.id]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        wait_for(lambda: members() < MEMBERS, "the deletion has not begun")
        running.send_signal(signal.SIGINT)
        said = running.communicate(timeout=60)
    assert (running.returncode, said) == (NOT_DONE, (
        "", "musterctl: interrupted: the deletion has begun and is not complete; run `musterctl org delete "
        f"{org.id}` again to continue it, or `muster-run purge` will\n"))
    assert states(stack, org) == ["deleting"]
    age(stack, org)
    assert stack.ctl("org", "delete", org.id)["state"] == "deleted" and left(stack, org) == []
