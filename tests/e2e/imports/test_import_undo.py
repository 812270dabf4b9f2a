"""The undo of an import takes back exactly what was not changed since, whatever is killed meanwhile."""

import csv
import io
import json
import signal
import uuid

from support.client import details_of
from support.stack import wait_for
from support.world import email, emails
from test_shares import locked

ALL_IN, SOME_NOT_IN, STOPPED = 0, 2, 4
COUNTS = ("removed", "detached", "emptied", "kept", "unaffected")


def undo(org, job_id, expect=202, **options):
    return org.api.post(f"/v1/imports/{job_id}/undo", expect=expect, **options)


def predicted(org, job_id):
    return undo(org, job_id, json={"dry_run": True}).json()


def counts_of(job):
    return {name: job["undo"][name] for name in COUNTS if job["undo"][name]}


def every_member(org):
    """{address: the bytes of the list's entry, without updated_at}, page after page."""
    members, cursor = {}, None
    while True:
        page = org.api.get_json("/v1/users", params={"limit": 100} | ({"cursor": cursor} if cursor else {}), whole=True)
        for member in page["users"]:
            member.pop("updated_at")
            members[member["email"]] = member
        cursor = page["next_cursor"]
        if cursor is None:
            return members


def kill_during_undo(org, job_id, last_user):
    """Runs a runner, and kills it after its first units, while the row of the last member is locked. Returns the number of rows
    that were undone by then."""
    done = "SELECT removed_count + detached_count + emptied_count + kept_count FROM import_undos " \
           "WHERE job_id = UNHEX(REPLACE(%s, '-', ''))"
    with locked(org.stack, org, {"id": last_user}):
        runner = org.stack.spawn_runner()
        try:
            wait_for(lambda: org.stack.sql(done, job_id)[0][0] > 0, "the first unit of the undo", every=0.002)
        finally:
            runner.send_signal(signal.SIGKILL)
            runner.wait(20)
    org.stack.sql("UPDATE import_jobs SET lease_until = 0 WHERE id = UNHEX(REPLACE(%s, '-', ''))", job_id)
    return org.stack.sql(done, job_id)[0][0]


def test_an_undo_of_many_rows_takes_back_exactly_the_unchanged_ones(new_org, no_runner):
    org, other = new_org(), new_org()
    known, attached, fresh = emails(300), emails(200), emails(9_500)
    org.imported_without_runner([{"email": address, "first_name": "Old"} for address in known])
    other.imported_without_runner([{"email": address} for address in attached])
    before = every_member(org)

    payloads = [{"email": address, "first_name": "New", "country": "DE", "attributes": {"shirt_size": "M"}}
                for address in known + attached + fresh]
    job = org.imported_without_runner(payloads)
    imported = every_member(org)
    assert len(imported) == len(payloads)
    changed = known[:30] + attached[:30] + fresh[:940]
    for address in changed:
        org.update_user(imported[address]["id"], {"country": "FR"})
    touched = every_member(org)

    expected = {"removed": 8_560, "detached": 170, "emptied": 270, "kept": 1_000}
    assert counts_of(predicted(org, job["id"])) == expected
    assert every_member(org) == touched
    assert undo(org, job["id"]).json()["state"] == "undoing"
    undone_at_kill = kill_during_undo(org, job["id"], imported[fresh[-1]]["id"])
    assert 0 < undone_at_kill < len(payloads)
    org.stack.run_once()

    job = org.job(job["id"])
    assert (job["state"], counts_of(job), job["processed_rows"]) == ("undone", expected, len(payloads))
    assert not job["undo"]["is_estimate"]
    # The attribute of a merged row with a changed country is still the same, so it is emptied.
    kept = {address: touched[address] | ({"attributes": {}} if address in known else {}) for address in changed}
    assert every_member(org) == before | kept
    assert {row["user_id"] for row in org.rows(job["id"], state="kept", limit=1000)} == \
        {imported[address]["id"] for address in changed}
    assert job["errors"] == [{"error_code": "ROW_CHANGED_SINCE", "field": "country", "count": 1_000}]


def test_the_rows_the_report_and_the_audit_log_show_what_was_undone(org, no_runner):
    old, new, changed, locked = emails(4)
    org.create_user({"email": old})
    job = org.imported_without_runner([{"email": address, "first_name": "Ann"} for address in (old, new, changed, locked)])
    users = {row["payload"]["email"]: row["user_id"] for row in org.rows(job["id"])}
    org.update_user(users[changed], {"first_name": "Bea"})
    org.api.post(f"/v1/users/{users[locked]}/lock", json={}, expect=200)
    admin = org.admin().api
    assert admin.post(f"/v1/imports/{job['id']}/undo", json={}, expect=202).headers["Retry-After"] == "1"
    org.stack.run_once()

    rows = {row["payload"]["email"]: row for row in org.rows(job["id"])}
    assert [(rows[address]["state"], rows[address]["error_code"], rows[address]["user_id"] == users[address])
            for address in (old, new, changed, locked)] == [
        ("emptied", None, True), ("removed", None, True), ("kept", "ROW_CHANGED_SINCE", True),
        ("kept", "ROW_CHANGED_SINCE", True)]
    report = list(csv.DictReader(io.StringIO(org.report(job["id"]).decode())))
    assert [(line["email"], line["error_code"], line["error_message"]) for line in report] == [
        (changed, "ROW_CHANGED_SINCE", "first_name was changed since the import."),
        (locked, "ROW_CHANGED_SINCE", "status was changed since the import.")]
    assert [row["row_number"] for row in org.rows(job["id"], error_code="ROW_CHANGED_SINCE")] == [3, 4]
    assert [row["row_number"] for row in org.rows(job["id"], state="removed,emptied")] == [1, 2]
    log = admin.get_json("/v1/audit-log", params={"subject_id": job["id"]})["audit_log"]
    assert [entry["action"] for entry in log] == ["import.undone"]
    shown = org.stack.ctl("import", "show", "--org", org.id, "--id", job["id"])
    assert shown["undo"] == {"removed": 1, "detached": 0, "emptied": 1, "kept": 2, "unaffected": 0}


def test_mirrors_see_emptied_members_and_receive_no_webhook(org, no_runner):
    old, new = emails(2)
    user = org.create_user({"email": old})
    job = org.imported_without_runner([{"email": old, "first_name": "Ann"}, {"email": new}])
    imported = org.user(user["id"])
    events = org.stack.sql("SELECT COUNT(*) FROM webhook_events")
    undo(org, job["id"])
    org.stack.run_once()
    after = org.user(user["id"])
    assert after["updated_at"] > imported["updated_at"] and after["first_name"] is None
    since = org.api.get_json("/v1/users", params={"updated_since": after["updated_at"]})["users"]
    assert user["id"] in [member["id"] for member in since]
    assert org.stack.sql("SELECT COUNT(*) FROM webhook_events") == events


def test_an_undo_is_an_active_job(org, no_runner):
    job = org.imported_without_runner([{"email": email()}])
    active = org.create_import()["id"]
    refused = undo(org, job["id"], expect=409, code="IMPORT_JOB_ACTIVE_EXISTS")
    assert details_of(refused) == {"job_id": active}
    org.cancel(active)
    key = {"Idempotency-Key": str(uuid.uuid4())}
    first = undo(org, job["id"], json={}, headers=key)
    assert undo(org, job["id"], json={}, headers=key).json() == first.json()
    undo(org, job["id"], json={}, expect=409, code="IMPORT_JOB_INVALID_STATE")
    org.create_import(expect=409)
    org.cancel(job["id"], expect=409)
    org.stack.run_once()
    undo(org, job["id"], json={}, expect=409, code="IMPORT_JOB_INVALID_STATE")
    org.cancel(org.create_import()["id"])


def test_an_erased_person_and_an_expired_job_leave_nothing_to_undo(org, no_runner, stack):
    gone, kept = emails(2)
    job = org.imported_without_runner([{"email": gone}, {"email": kept}])
    stack.ctl("user", "erase", "--email", gone, "--yes")
    assert counts_of(predicted(org, job["id"])) == {"removed": 1, "unaffected": 1}
    undo(org, job["id"])
    stack.run_once()
    assert [row["state"] for row in org.rows(job["id"])] == ["created", "removed"]
    stack.sql("UPDATE import_jobs SET expires_at = 1 WHERE id = UNHEX(REPLACE(%s, '-', ''))", job["id"])
    undo(org, job["id"], expect=404, code="NOT_FOUND")


def test_muster_import_shows_the_counts_asks_and_undoes(org, stack, tmp_path):
    """muster-import --undo: first the counts, nothing without a confirmation, then the undo with its result."""
    fresh, changed = emails(2)
    job_id = org.imported([{"email": fresh}, {"email": changed}])["id"]
    user = {row["payload"]["email"]: row["user_id"] for row in org.rows(job_id)}[changed]
    org.update_user(user, {"first_name": "Ann"})
    key_file = tmp_path / "key"
    key_file.write_text(org.key + "\n")

    def run(*options):
        done = stack.program("muster-import", "--undo", job_id, "--url", stack.base_url, "--key-file", key_file,
                             "--ca-file", stack.ca_file, *options)
        return done.returncode, done.stdout, done.stderr

    status, shown, errors = run()
    assert status == STOPPED and "--yes is missing" in errors and org.job(job_id)["state"] == "completed"
    assert [line.split()[-1] for line in shown.splitlines()[1:]] == ["1", "0", "0", "1"]
    assert run("--dry-run")[0] == ALL_IN and len(org.members()) == 2
    status, shown, errors = run("--yes")
    assert status == SOME_NOT_IN and f"Import {job_id} is undone" in shown and list(org.members()) == [changed]
    status, shown, errors = run("--yes", "--json")
    assert status == SOME_NOT_IN
    assert json.loads(shown)["undo"] == {"removed": 1, "detached": 0, "emptied": 0, "kept": 1, "unaffected": 0,
                                         "is_estimate": False}
