"""musterctl user erase: a person is deleted from every organization, and from the imports that the API still shows."""

import csv
import io
import json
import uuid

import pytest
from support.world import CORE_FIELDS, email

DONE, NOT_DONE, USAGE = 0, 1, 2
EMPTY = {field: None for field in CORE_FIELDS} | {"attributes": {}}


def person(address):
    return {"email": address, "first_name": "Annabel", "last_name": "Leeson", "external_id": "crm-77",
            "attributes": {"phone": "0123 456"}}


@pytest.fixture
def erase(stack):
    """Erases an address permanently, or previews that; returns the output. status: the expected exit status."""
    def run(address, status=DONE, permanently=True):
        done = stack.ctl_raw("--json", "user", "erase", "--email", address, *(["--yes"] if permanently else []))
        assert done.returncode == status, done
        return json.loads(done.stdout)
    return run


def lines_of(org, job_id):
    return list(csv.DictReader(io.StringIO(org.report(job_id).decode())))


def test_a_person_is_deleted_from_both_organizations_and_from_the_shown_imports(org, new_org, erase):
    other, address, bob = new_org(attributes=False), email("ann"), email("bob")
    job_id = org.imported([person(address), {"email": bob}, person(address)])["id"]
    user = other.create_user({"email": address, "first_name": "Ann"})
    assert user["outcome"] == "attached"
    before = org.rows(job_id)

    erased = erase(address)
    assert erased["complete"] and erased["user_id"] == user["id"] and not erased["is_admin"]
    assert [(entry["id"], entry["import_rows"]) for entry in erased["organizations"]] == [(org.id, 2), (other.id, 0)]
    for one in (org, other):
        one.api.get(f"/v1/users/{user['id']}", expect=404)
    assert list(org.members()) == [bob] and other.members() == {}

    after = org.rows(job_id)
    assert [row["payload"] for row in after] == [EMPTY, before[1]["payload"], EMPTY]
    for row in before + after:
        del row["payload"]
    assert after == before
    (line,) = lines_of(org, job_id)
    assert (line["row_number"], line["error_code"]) == ("3", "ROW_DUPLICATE_IN_FILE")
    assert not any(line[field] for field in [*CORE_FIELDS, "attributes"])
    for content in (json.dumps(org.rows(job_id)), org.report(job_id).decode(), org.report(job_id, raw="true").decode()):
        assert not any(word in content for word in (address, "Annabel", "Leeson", "crm-77", "0123 456"))
    assert org.job(job_id)["created_count"] == 2

    again = org.create_user({"email": address})  # a person who returns is a new user
    assert again["outcome"] == "created" and again["id"] != user["id"] and again["first_name"] is None


def test_a_recorded_reply_is_not_replayed_after_an_erasure(org, erase):
    body, headers = {"email": email("ann"), "first_name": "Annabel"}, {"Idempotency-Key": str(uuid.uuid4())}
    longer = {"email": "x" + body["email"]}, {"Idempotency-Key": str(uuid.uuid4())}
    first = org.api.post("/v1/users", json=body, headers=headers, expect=201)
    org.api.post("/v1/users", json=longer[0], headers=longer[1], expect=201)
    assert [entry["replies"] for entry in erase(body["email"])["organizations"]] == [1]
    second = org.api.post("/v1/users", json=body, headers=headers, expect=201)
    assert "Idempotency-Replayed" not in second.headers and second.json()["id"] != first.json()["id"]
    kept = org.api.post("/v1/users", json=longer[0], headers=longer[1], expect=201)
    assert kept.headers["Idempotency-Replayed"] == "true"


def test_without_yes_it_only_reports(org, erase, stack):
    address = email("ann")
    user = org.create_user({"email": address, "first_name": "Annabel"})
    job_id = org.imported([person(address)])["id"]
    reported = erase(address, permanently=False)
    assert not reported["erased"] and not reported["complete"] and reported["user_id"] == user["id"]
    assert [(entry["member_id"], entry["import_rows"]) for entry in reported["organizations"]] == [(user["member_id"], 1)]
    assert org.user(user["id"])["first_name"] == "Annabel"
    assert org.rows(job_id)[0]["payload"]["first_name"] == "Annabel"
    text = stack.ctl_raw("user", "erase", "--email", address)
    assert text.returncode == DONE and "--yes" in text.stdout and user["member_id"] in text.stdout
    assert address not in text.stdout
    text = stack.ctl_raw("user", "erase", "--email", address, "--yes")
    assert text.returncode == DONE and "erased:\n" in text.stdout and org.id in text.stdout
    text = stack.ctl_raw("user", "erase", "--email", address, "--yes")
    assert text.returncode == DONE and text.stdout.startswith("there is no data of this person to erase\n")


def test_an_active_job_is_reported_and_erased_after_it_ends(org, erase, no_runner, stack):
    address = email("ann")
    user = org.create_user({"email": address})
    job_id = org.staged([person(address)])
    job = {"id": job_id, "organization_id": org.id}
    assert erase(address, permanently=False)["active_imports"] == [job]
    first = erase(address, status=NOT_DONE)
    assert first["active_imports"] == [job] and not first["complete"] and first["user_id"] == user["id"]
    org.api.get(f"/v1/users/{user['id']}", expect=404)
    assert org.rows(job_id)[0]["payload"]["email"] == address
    text = stack.ctl_raw("user", "erase", "--email", address, "--yes")
    assert text.returncode == NOT_DONE and "repeat the command when the jobs have ended" in text.stdout
    assert job_id in text.stdout
    org.cancel(job_id)
    assert erase(address)["organizations"][0]["import_rows"] == 1
    assert org.rows(job_id)[0]["payload"] == EMPTY


def test_an_admin_with_the_address_is_kept(org, erase, stack):
    address = email("admin")
    stack.ctl("admin", "add", "--org", org.id, "--email", address)
    reported = erase(address)
    assert reported["is_admin"] and reported["complete"] and reported["organizations"] == []
    assert "admins are not erased" in stack.ctl_raw("user", "erase", "--email", address).stdout
    assert stack.sql("SELECT COUNT(*) FROM admins WHERE email = %s", address) == [(1,)]


def test_an_invalid_address_is_rejected(stack):
    for arguments, status in ((["--email", "ann"], USAGE), ([], USAGE), (["--yes"], USAGE), (["--email"], USAGE),
                              (["--email", "a@x.test", "--no"], USAGE), (["--email", "a@x.test", "--yes", "x"], USAGE)):
        done = stack.ctl_raw("user", "erase", *arguments)
        assert done.returncode == status and done.stdout == "" and "a@x.test" not in done.stderr, done


def test_the_erasure_is_in_the_log_of_each_organization_without_the_address(org, new_org, erase, stack):
    other, third, address = new_org(attributes=False), new_org(attributes=False), email("ann")
    user = org.create_user({"email": address})
    other.create_user({"email": address})
    erase(address)
    for one, subjects in ((org, [user["id"]]), (other, [user["id"]]), (third, [])):
        entries = stack.ctl("audit", "--org", one.id, "--action", "user.erased")
        assert [entry["subject_id"] for entry in entries] == subjects
        assert all(entry["actor"] == "operator" and entry["organization_id"] == one.id for entry in entries)
        assert address not in json.dumps(stack.ctl("audit", "--org", one.id))


# ---------------------------------------------------------------------------- the log itself, for the operator


def test_the_log_shows_the_actions_of_the_operator_newest_first(stack, org):
    stack.ctl("admin", "add", "--org", org.id, "--email", email("admin"), "--role", "viewer")
    org.set_enabled("phone", False)
    job_id = org.staged([])
    stack.ctl("import", "cancel", "--yes", "--org", org.id, "--id", job_id)
    entries = stack.ctl("audit", "--org", org.id, "--limit", "100")
    actions = [entry["action"] for entry in entries if not entry["action"].startswith("api_key.")]
    assert actions[:3] == ["import.canceled", "attribute.disabled", "seat.added"]
    assert actions[-1] == "organization.created"
    assert entries[0]["subject_id"] == job_id and entries[0]["actor"] == "operator"
    times = [entry["created_at"] for entry in entries]
    assert times == sorted(times, reverse=True)
    assert entries[:2] == stack.ctl("audit", "--org", org.id, "--limit", "2")
    assert [entry["details"] for entry in stack.ctl("audit", "--org", org.id, "--action", "seat.added")] == [
        {"role": "viewer"}]
    text = stack.ctl_raw("audit", "--org", org.id, "--limit", "1").stdout
    assert text.count("\n") == 2 and f"{org.id}  operator  import.canceled  {job_id}  {{}}\n" in text


def test_without_an_organization_the_log_covers_all(stack, new_org):
    made = [new_org(attributes=False).id for _ in range(2)]
    entries = stack.ctl("audit", "--action", "organization.created", "--limit", "2")
    assert [entry["organization_id"] for entry in entries] == made[::-1]
    for arguments, status in ((["--limit", "0"], USAGE), (["--limit", "1001"], USAGE), (["--limit", "x"], USAGE),
                              (["--org", "x"], USAGE), (["--org", str(uuid.uuid4())], NOT_DONE), (["x"], USAGE)):
        assert stack.ctl_raw("audit", *arguments).returncode == status, arguments
