"""The life of an import job: creation, validation, dry run, commit, cancel, listing, purge (specification 3.1, 4.1, 8).

For staging see test_import_staging.py, for the results of rows test_import_rows.py, for the report
test_import_report.py.
"""

import datetime

import pytest
from support.client import details_of, faults_of
from support.stack import wait_for
from support.world import EMAIL_COLUMN, email, emails

ACTIVE_STATES = ["staging", "validating", "validated", "committing"]
DAY = 24 * 3600


def column(name, target, **keys):
    return {"sourceColumn": name, "target": target} | keys


def at(text):
    return datetime.datetime.fromisoformat(text[:-1]).replace(tzinfo=datetime.timezone.utc).timestamp()


def in_state(org, state):
    """A job in that state; without a runner it remains there."""
    run = org.stack.run_once
    job_id = org.staged([{"email": email()}])
    if state == "staging":
        return job_id
    if state == "canceled":
        org.cancel(job_id)
        return job_id
    org.validate(job_id)
    if state == "validating":
        return job_id
    run()
    if state == "validated":
        return job_id
    org.commit(job_id)
    if state == "committing":
        return job_id
    run()
    assert state == "completed"
    return job_id


# ---------------------------------------------------------------------------- creation


def test_a_new_job_is_staging_and_has_every_field(org):
    mapping = {"columns": [
        EMAIL_COLUMN,
        column("First", "core_field", fieldKey="first_name"),
        column("Size", "attribute", attributeKey="shirt_size"),
        column("Notes", "ignored"),
    ]}
    body = {"file_name": "  ünïcödé.csv ", "declared_total": 250_000, "mapping": mapping}
    reply = org.api.post("/v1/imports", json=body, expect=201)
    job = reply.json()
    assert reply.headers["Location"] == f"/v1/imports/{job['id']}"
    assert job["organization_id"] == org.id
    assert (job["created_by_id"], job["source"], job["state"]) == (None, "api", "staging")
    assert (job["file_name"], job["declared_total"], job["mapping"]) == ("ünïcödé.csv", 250_000, mapping)
    counts = [name for name in job if name.endswith(("_rows", "_count"))]
    assert len(counts) == 7 and all(job[name] == 0 for name in counts)
    assert all(job[name] is None for name in ("failure", "preview", "heartbeat_at", "completed_at"))
    assert at(job["expires_at"]) == pytest.approx(at(job["created_at"]) + 30 * DAY)
    assert job["updated_at"] == job["created_at"]
    assert org.job(job["id"]) == job
    assert org.api.get_json(reply.headers["Location"]) == job


@pytest.mark.parametrize(
    "change, faults",
    [
        ({"file_name": None}, {"file_name": "required"}),
        ({"file_name": ""}, {"file_name": "required"}),
        ({"file_name": "   "}, {"file_name": "required"}),
        ({"file_name": 7}, {"file_name": "wrong_type"}),
        ({"file_name": "x" * 256}, {"file_name": "too_long"}),
        ({"file_name": "a\u0007b"}, {"file_name": "invalid_value"}),
        ({"declared_total": None}, {"declared_total": "required"}),
        ({"declared_total": -1}, {"declared_total": "out_of_range"}),
        ({"declared_total": 250_001}, {"declared_total": "out_of_range"}),
        ({"declared_total": 2**63}, {"declared_total": "out_of_range"}),
        ({"declared_total": 1.5}, {"declared_total": "wrong_type"}),
        ({"declared_total": "5"}, {"declared_total": "wrong_type"}),
        ({"declared_total": True}, {"declared_total": "wrong_type"}),
        ({"mapping": None}, {"mapping": "required"}),
        ({"mapping": []}, {"mapping": "wrong_type"}),
        ({"mapping": {}}, {"mapping.columns": "required"}),
        ({"mapping": {"columns": []}}, {"mapping.columns": "too_short"}),
        ({"mapping": {"columns": [EMAIL_COLUMN] * 501}}, {"mapping.columns": "too_long"}),
        ({"mapping": {"columns": ["x"]}}, {"mapping.columns[0]": "wrong_type"}),
        ({"mapping": {"columns": [{"sourceColumn": 1, "target": [], "fieldKey": {}, "attributeKey": True}]}},
         {f"mapping.columns[0].{name}": "wrong_type" for name in ("sourceColumn", "target", "fieldKey", "attributeKey")}),
        ({"mapping": {"columns": [EMAIL_COLUMN | {"source_column": "x"}]}},
         {"mapping.columns[0].source_column": "unknown_field"}),
        ({"file_nam": "x"}, {"file_nam": "unknown_field"}),
        ({"organization_id": "x", "state": "completed"},
         {"organization_id": "unknown_field", "state": "unknown_field"}),
        ({"file_name": "", "declared_total": -1, "mapping": 3, "x": 1},
         {"file_name": "required", "declared_total": "out_of_range", "mapping": "wrong_type", "x": "unknown_field"}),
    ],
)
def test_a_malformed_job_is_rejected_with_every_fault(module_org, change, faults):
    body = {"file_name": "f.csv", "declared_total": 1, "mapping": {"columns": [EMAIL_COLUMN]}} | change
    reply = module_org.api.post("/v1/imports", json=body, expect=422, code="VALIDATION_ERROR")
    assert faults_of(reply) == faults
    assert module_org.api.get_json("/v1/imports", params={"state": "staging"})["imports"] == []


@pytest.mark.parametrize("body", [[], "x", 1, True, None])
def test_a_job_that_is_not_an_object_is_rejected(module_org, body):
    reply = module_org.api.post("/v1/imports", json=body, expect=422, code="VALIDATION_ERROR")
    assert faults_of(reply) == {"": "wrong_type"}


@pytest.mark.parametrize(
    "columns, faults",
    [
        ([column("Name", "core_field", fieldKey="first_name")], {"mapping.columns": "required"}),
        ([EMAIL_COLUMN, {}, {"target": "ignored"}, {"sourceColumn": None, "target": None}],
         {"mapping.columns[1].sourceColumn": "required", "mapping.columns[1].target": "required",
          "mapping.columns[2].sourceColumn": "required",
          "mapping.columns[3].sourceColumn": "required", "mapping.columns[3].target": "required"}),
        ([EMAIL_COLUMN, column(" ", "ignored"), column("x" * 256, "ignored"), column("a\u0007b", "ignored")],
         {"mapping.columns[1].sourceColumn": "required", "mapping.columns[2].sourceColumn": "too_long",
          "mapping.columns[3].sourceColumn": "invalid_value"}),
        ([EMAIL_COLUMN, column("X", ""), column("Y", "x" * 300)],
         {"mapping.columns[1].target": "required", "mapping.columns[2].target": "invalid_choice"}),
        ([EMAIL_COLUMN, column("X", "elsewhere")], {"mapping.columns[1].target": "invalid_choice"}),
        ([EMAIL_COLUMN, column("X", "core_field")], {"mapping.columns[1].fieldKey": "required"}),
        ([EMAIL_COLUMN, column("X", "core_field", fieldKey="nickname")],
         {"mapping.columns[1].fieldKey": "invalid_choice"}),
        ([EMAIL_COLUMN, column("X", "core_field", fieldKey="attributes")],
         {"mapping.columns[1].fieldKey": "invalid_choice"}),
        ([EMAIL_COLUMN, column("X", "attribute")], {"mapping.columns[1].attributeKey": "required"}),
        ([EMAIL_COLUMN, column("X", "attribute", attributeKey="no_such")],
         {"mapping.columns[1].attributeKey": "unknown_attribute"}),
        ([EMAIL_COLUMN, column("X", "attribute", attributeKey="emergency_contact")],
         {"mapping.columns[1].attributeKey": "unknown_attribute"}),
        ([EMAIL_COLUMN, column("X", "attribute", attributeKey="points", fieldKey="locale")],
         {"mapping.columns[1].fieldKey": "unknown_field"}),
        ([EMAIL_COLUMN, column("X", "core_field", fieldKey="locale", attributeKey="points")],
         {"mapping.columns[1].attributeKey": "unknown_field"}),
        ([EMAIL_COLUMN, column("X", "attribute", attributeKey="x" * 65), column("Y", "core_field", fieldKey="x" * 65)],
         {"mapping.columns[1].attributeKey": "unknown_attribute", "mapping.columns[2].fieldKey": "invalid_choice"}),
        ([EMAIL_COLUMN, column("X", "attribute", attributeKey=""), column("Y", "core_field", fieldKey=""),
          column("Z", "ignored", fieldKey="", attributeKey="")],
         {"mapping.columns[1].attributeKey": "unknown_attribute", "mapping.columns[2].fieldKey": "invalid_choice",
          "mapping.columns[3].fieldKey": "unknown_field", "mapping.columns[3].attributeKey": "unknown_field"}),
        ([EMAIL_COLUMN, column("X", "ignored", fieldKey="locale")], {"mapping.columns[1].fieldKey": "unknown_field"}),
        ([EMAIL_COLUMN, column("Email", "ignored")], {"mapping.columns[1].sourceColumn": "duplicate"}),
        ([EMAIL_COLUMN, column("Mail 2", "core_field", fieldKey="email")],
         {"mapping.columns[1].fieldKey": "duplicate"}),
        ([EMAIL_COLUMN, column("A", "attribute", attributeKey="points"),
          column("B", "attribute", attributeKey="points")], {"mapping.columns[2].attributeKey": "duplicate"}),
    ],
)
def test_an_invalid_mapping_is_rejected(module_org, columns, faults):
    body = {"file_name": "f.csv", "declared_total": 1, "mapping": {"columns": columns}}
    reply = module_org.api.post("/v1/imports", json=body, expect=422, code="IMPORT_MAPPING_INVALID")
    assert faults_of(reply) == faults


def test_a_second_job_is_rejected_while_one_is_active_and_the_first_is_named(new_org, no_runner):
    body = {"file_name": "f.csv", "declared_total": 1, "mapping": {"columns": [EMAIL_COLUMN]}}
    for state in ACTIVE_STATES:
        org = new_org(attributes=False)
        job_id = in_state(org, state)
        reply = org.api.post("/v1/imports", json=body, expect=409, code="IMPORT_JOB_ACTIVE_EXISTS")
        assert details_of(reply) == {"job_id": job_id}, state


def test_an_ended_job_frees_the_slot(new_org, no_runner):
    for state in ("canceled", "completed"):
        org = new_org(attributes=False)
        job_id = in_state(org, state)
        assert org.job(job_id)["completed_at"] is not None
        org.create_import()


# ---------------------------------------------------------------------------- from staging to completed


def test_a_job_passes_through_its_states_and_its_counts_add_up(org, no_runner):
    known = org.create_user({"email": email("known"), "first_name": "Kim"})
    rows = [{"email": known["email"], "first_name": "Other", "last_name": "Lee"}]
    rows += [{"email": address} for address in emails(3, "new")]
    rows += [{"email": rows[1]["email"]}, {"email": email("bad"), "attributes": {"shirt_size": "tent"}}]
    job_id = org.staged(rows, declared_total=6)
    job = org.job(job_id)
    assert (job["state"], job["staged_rows"], job["processed_rows"], job["preview"]) == ("staging", 6, 0, None)

    job = org.validate(job_id).json()
    assert job["state"] == "validating" and job["heartbeat_at"] is None and job["preview"] is None
    org.stack.run_once()
    job = org.job(job_id)
    assert (job["state"], job["processed_rows"], job["valid_rows"], job["invalid_rows"]) == ("validated", 6, 4, 2)
    assert job["preview"] == {"new_members": 3, "existing_members": 1}
    assert job["heartbeat_at"] is not None and job["completed_at"] is None

    job = org.commit(job_id).json()
    assert job["state"] == "committing"
    org.stack.run_once()
    job = org.job(job_id)
    assert (job["state"], job["processed_rows"]) == ("completed", 6)
    assert (job["created_count"], job["attached_count"], job["failed_count"]) == (3, 1, 0)
    assert job["created_count"] + job["attached_count"] + job["failed_count"] == job["valid_rows"]
    assert job["completed_at"] is not None and job["failure"] is None
    assert job["preview"] == {"new_members": 3, "existing_members": 1}


def test_staging_and_the_dry_run_change_no_member(org):
    known = org.create_user({"email": email()})
    job = org.validated([{"email": known["email"], "first_name": "New"}, {"email": email()}])
    assert org.user(known["id"]) == {k: v for k, v in known.items() if k != "outcome"}
    assert list(org.members()) == [known["email"]]
    assert all(row["user_id"] is None for row in org.rows(job["id"]))


def test_a_job_without_rows_can_be_completed(org):
    job = org.imported([])
    assert job["staged_rows"] == job["valid_rows"] == job["created_count"] == 0
    assert job["preview"] == {"new_members": 0, "existing_members": 0}


def test_validation_ends_the_staging(org, no_runner):
    job_id = org.staged([{"email": email()}])
    org.validate(job_id)
    org.stage(job_id, [{"email": email()}], first=2, expect=409, code="IMPORT_JOB_INVALID_STATE")
    org.stack.run_once()
    org.stage(job_id, [{"email": email()}], first=2, expect=409, code="IMPORT_JOB_INVALID_STATE")
    assert org.job(job_id)["staged_rows"] == 1


@pytest.mark.parametrize("state", ["validating", "validated", "committing", "completed", "canceled"])
def test_only_a_staging_job_can_be_staged_or_validated(new_org, no_runner, state):
    org = new_org(attributes=False)
    job_id = in_state(org, state)
    before = org.job(job_id)
    for reply in (
        org.stage(job_id, [{"email": email()}], expect=409, code="IMPORT_JOB_INVALID_STATE"),
        org.validate(job_id, expect=409, code="IMPORT_JOB_INVALID_STATE"),
    ):
        assert details_of(reply) == {"state": state, "expected": "staging"}
    assert org.job(job_id) == before


@pytest.mark.parametrize(
    "body, allowed",
    [
        (None, {"validated": "committing"}),
        ({}, {"validated": "committing"}),
        ({"dry_run": None}, {"validated": "committing"}),
        ({"dry_run": False}, {"validated": "committing", "staging": "validating"}),
        ({"dry_run": True}, {"validated": "validated"}),
    ],
)
def test_commit_from_each_state(new_org, no_runner, body, allowed):
    for state in ACTIVE_STATES + ["completed", "canceled"]:
        org = new_org(attributes=False)
        job_id = in_state(org, state)
        options = {} if body is None else {"json": body}
        if state in allowed:
            job = org.commit(job_id, **options).json()
            assert job["state"] == allowed[state], (state, body)
            assert org.members() == {}
        else:
            reply = org.commit(job_id, expect=409, code="IMPORT_JOB_INVALID_STATE", **options)
            assert details_of(reply) == {"state": state, "expected": "validated"}


@pytest.mark.parametrize(
    "body, faults",
    [
        ({"dry_run": "false"}, {"dry_run": "wrong_type"}),
        ({"dry_run": 0}, {"dry_run": "wrong_type"}),
        ({"dryRun": False}, {"dryRun": "unknown_field"}),
        ([], {"": "wrong_type"}),
    ],
)
def test_a_malformed_commit_changes_nothing(module_org, body, faults):
    job_id = module_org.create_import()["id"]
    reply = module_org.commit(job_id, json=body, expect=422, code="VALIDATION_ERROR")
    assert faults_of(reply) == faults
    assert module_org.job(job_id)["state"] == "staging"
    module_org.cancel(job_id)


def test_validate_and_cancel_accept_no_fields(org):
    job_id = org.create_import()["id"]
    for path in ("validate", "cancel"):
        url = f"/v1/imports/{job_id}/{path}"
        assert faults_of(org.api.post(url, json={"force": True}, expect=422)) == {"force": "unknown_field"}
    assert org.job(job_id)["state"] == "staging"
    org.validate(job_id, json={})


def test_a_commit_of_a_staging_job_starts_at_the_next_poll(org, no_runner):
    job_id = org.staged([{"email": email()}])
    assert org.commit(job_id, json={"dry_run": False}).json()["state"] == "validating"
    org.stack.run_once()
    listed = org.api.get_json("/v1/imports")["imports"][0]
    assert listed["state"] == "validated"  # neither the list nor the runner polls the job
    org.stack.run_once()
    assert org.members() == {}
    assert org.job(job_id)["state"] == "committing"
    org.stack.run_once()
    assert org.job(job_id)["state"] == "completed"
    assert len(org.members()) == 1


def test_only_the_poll_of_a_caller_who_may_write_starts_the_commit(org, no_runner):
    job_id = org.staged([{"email": email()}])
    org.commit(job_id, json={"dry_run": False})
    org.stack.run_once()
    path = f"/v1/imports/{job_id}"
    assert org.viewer().api.get_json(path)["state"] == "validated"
    for client in (org.api, org.admin().api):
        client.request("HEAD", path, expect=200)
    assert org.viewer().api.get_json(path)["state"] == "validated"
    assert org.admin("admin").api.get_json(path)["state"] == "committing"


def test_a_commit_of_a_staging_job_starts_with_a_second_commit_call(org, no_runner):
    job_id = org.staged([{"email": email()}])
    org.commit(job_id, json={"dry_run": False})
    reply = org.commit(job_id, json={"dry_run": False}, expect=409, code="IMPORT_JOB_INVALID_STATE")
    assert details_of(reply)["state"] == "validating"
    org.stack.run_once()
    assert org.commit(job_id).json()["state"] == "committing"


def test_a_page_of_large_mappings_ends_early_and_the_cursor_continues(org):
    columns = [EMAIL_COLUMN] + [{"sourceColumn": f"{number:03}" + "c" * 240, "target": "ignored"} for number in range(499)]
    jobs = []
    for _ in range(40):  # of 140 KiB each
        jobs.insert(0, org.create_import(mapping={"columns": columns})["id"])
        org.cancel(jobs[0])
    found, sizes, cursor = [], [], ""
    while cursor is not None:
        reply = org.api.get("/v1/imports", params={"limit": 100} | ({"cursor": cursor} if cursor else {}), expect=200)
        found += [job["id"] for job in reply.json()["imports"]]
        sizes.append(len(reply.content))
        cursor = reply.json()["next_cursor"]
    assert found == jobs
    assert len(sizes) == 2 and max(sizes) < 5 << 20


def test_moving_jobs_report_when_to_poll_again(org, no_runner):
    job_id = org.staged([{"email": email()}])
    url = f"/v1/imports/{job_id}"
    assert "Retry-After" not in org.api.get(url, expect=200).headers
    assert org.validate(job_id).headers["Retry-After"] == "1"
    assert org.api.get(url, expect=200).headers["Retry-After"] == "1"
    org.stack.run_once()
    assert "Retry-After" not in org.api.get(url, expect=200).headers
    assert org.commit(job_id).headers["Retry-After"] == "1"
    assert org.api.get(url, expect=200).headers["Retry-After"] == "1"
    org.stack.run_once()
    assert "Retry-After" not in org.api.get(url, expect=200).headers


# ---------------------------------------------------------------------------- cancel


@pytest.mark.parametrize("state", ["staging", "validating", "validated", "canceled"])
def test_a_job_can_be_canceled_before_its_commit(new_org, no_runner, state):
    org = new_org(attributes=False)
    job_id = in_state(org, state)
    job = org.cancel(job_id).json()
    assert job["state"] == "canceled" and job["completed_at"] is not None
    assert org.cancel(job_id).json() == job
    if state == "validating":
        org.stack.run_once()
    assert org.job(job_id) == job
    assert org.members() == {}
    wait_for(lambda: org.stack.run_once() or org.rows(job_id) == [], "the rows to be deleted")
    org.create_import()


@pytest.mark.parametrize("state", ["committing", "completed"])
def test_a_committed_job_cannot_be_canceled(new_org, no_runner, state):
    org = new_org(attributes=False)
    job_id = in_state(org, state)
    reply = org.cancel(job_id, expect=409, code="IMPORT_JOB_INVALID_STATE")
    assert details_of(reply)["state"] == state
    assert org.job(job_id)["state"] == state


# ---------------------------------------------------------------------------- list


def test_the_list_is_newest_first_and_paged(org):
    made = []
    for number in range(5):
        made.append(org.create_import(file_name=f"{number}.csv")["id"])
        org.cancel(made[-1])
    made.append(org.create_import()["id"])
    everything = org.api.get_json("/v1/imports")
    assert [job["id"] for job in everything["imports"]] == made[::-1] and everything["next_cursor"] is None
    assert everything["imports"][1] == org.job(made[-2])
    seen, cursor = [], None
    for size in (2, 2, 2):
        params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = org.api.get_json("/v1/imports", params=params)
        assert len(page["imports"]) == size
        seen += [job["id"] for job in page["imports"]]
        cursor = page["next_cursor"]
    assert seen == made[::-1] and cursor is None


def test_the_list_can_be_filtered_by_state(org):
    canceled = []
    for _ in range(3):
        canceled.append(org.create_import()["id"])
        org.cancel(canceled[-1])
    current = org.create_import()["id"]
    listed = {
        state: [job["id"] for job in org.api.get_json("/v1/imports", params={"state": state})["imports"]]
        for state in ACTIVE_STATES + ["completed", "failed", "canceled"]
    }
    assert listed.pop("canceled") == canceled[::-1]
    assert listed.pop("staging") == [current]
    assert not any(listed.values())
    page = org.api.get_json("/v1/imports", params={"state": "canceled", "limit": 2})
    rest = org.api.get_json(
        "/v1/imports", params={"state": "canceled", "limit": 2, "cursor": page["next_cursor"]}
    )
    assert [job["id"] for job in page["imports"] + rest["imports"]] == canceled[::-1]


# ---------------------------------------------------------------------------- retention


def test_a_job_is_purged_exactly_30_days_after_its_creation(new_org, no_runner):
    orgs = {state: new_org(attributes=False) for state in ("staging", "completed", "canceled")}
    jobs = {state: in_state(org, state) for state, org in orgs.items()}
    members = orgs["completed"].members()

    def purge(offset):
        orgs["staging"].stack.run_once("purge", env={"MUSTER_CLOCK_OFFSET": str(offset)})

    purge(30 * DAY - 60)
    for state, org in orgs.items():
        assert org.job(jobs[state])["state"] == state
    purge(30 * DAY + 1)
    for state, org in orgs.items():
        for path in ("", "/rows", "/error-report"):
            org.api.get(f"/v1/imports/{jobs[state]}{path}", expect=404, code="NOT_FOUND")
        assert org.api.get_json("/v1/imports")["imports"] == []
        org.create_import()  # whether or not the job had completed: the slot is free
    assert orgs["completed"].members() == members
    count = orgs["staging"].stack.sql(
        "SELECT COUNT(*) FROM import_blocks WHERE job_id IN "
        "(UNHEX(REPLACE(%s, '-', '')), UNHEX(REPLACE(%s, '-', '')), UNHEX(REPLACE(%s, '-', '')))", *jobs.values()
    )
    assert count == [(0,)]


def test_the_runner_purges_too(org, stack):
    job_id = org.staged([{"email": email()}])
    stack.sql("UPDATE import_jobs SET expires_at = 1 WHERE id = UNHEX(REPLACE(%s, '-', ''))", job_id)
    runner = stack.program("muster-run", "--config", stack.config, "--for", "2s", "all")
    assert runner.returncode == 0, runner.stderr
    wait_for(lambda: org.api.get(f"/v1/imports/{job_id}").status_code == 404, "the job to be gone")
