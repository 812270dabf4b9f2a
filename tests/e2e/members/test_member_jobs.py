"""/v1/member-jobs: one change of all members that match a filter (docs/api/member-jobs.md "Member jobs")."""

import signal

import pytest
from support.client import details_of, faults_of
from support.stack import wait_for
from support.world import email, emails
from test_shares import locked
from test_users_list import listed


@pytest.fixture
def org(new_org):
    """An organization with seven members in Germany and two in France."""
    org = new_org(attributes=False)
    org.imported([{"email": email(f"m{number}"), "country": "DE" if number < 7 else "FR"} for number in range(9)])
    return org


def create(client, action="lock", expect=201, **fields):
    return client.post("/v1/member-jobs", json={"action": action, "filter": {"country": "de"}} | fields, expect=expect)


def state_is(client, job, state):
    wait_for(lambda: client.get_json(f"/v1/member-jobs/{job['id']}")["state"] == state, f"state {state}")
    return client.get_json(f"/v1/member-jobs/{job['id']}")


def run(client, **fields):
    """A job after its commit."""
    job = create(client, **fields).json()
    state_is(client, job, "validated")
    client.post(f"/v1/member-jobs/{job['id']}/commit", expect=202)
    return state_is(client, job, "completed")


def statuses(org):
    return sorted((member["country"], member["status"]) for member in listed(org))


def test_a_dry_run_counts_and_a_commit_locks(org, stack):
    client = org.admin().api
    reply = create(client, reason="Fees not paid")
    job = reply.json()
    assert reply.headers["Location"] == f"/v1/member-jobs/{job['id']}"
    assert reply.headers["Retry-After"] == "1"
    assert (job["state"], job["filter"], job["reason"]) == ("validating", {"country": "DE"}, "Fees not paid")
    assert (job["created_by_email"], job["preview"], job["failure"]) == (org.admin().address, None, None)
    validated = state_is(client, job, "validated")
    assert validated["preview"] == {"changed": 7, "unchanged": 0} and validated["changed_count"] == 0
    assert {status for _, status in statuses(org)} == {"active"}
    commits = [client.post(f"/v1/member-jobs/{job['id']}/commit", headers={"Idempotency-Key": "c"}, expect=202) for _ in range(2)]
    assert [commit.headers["Retry-After"] for commit in commits] == ["1", "1"]
    committing = commits[0].json()
    assert (committing["state"], committing["committed_by_email"]) == ("committing", org.admin().address)
    done = state_is(client, job, "completed")
    assert (done["changed_count"], done["unchanged_count"], done["processed_count"]) == (7, 0, 7)
    assert done["completed_at"] and done["failure"] is None
    assert statuses(org) == 7 * [("DE", "locked")] + 2 * [("FR", "active")]
    log = client.get_json("/v1/audit-log", params={"action": "user.", "limit": 100})["audit_log"]
    assert [entry["action"] for entry in log] == 7 * ["user.locked"]
    jobs = client.get_json("/v1/audit-log", params={"action": "member_job."})["audit_log"]
    assert [entry["action"] for entry in jobs] == ["member_job.committed", "member_job.created"]
    assert {entry["request_id"] for entry in log} == {jobs[0]["request_id"]}
    assert client.get_json("/v1/member-jobs")["member_jobs"] == [done]


def test_jobs_of_a_key_unlock_and_remove(org):
    run(org.api)
    assert run(org.api, action="unlock", filter={"status": "locked"})["changed_count"] == 7
    assert run(org.api, action="remove", filter={"country": "FR", "q": "m"})["changed_count"] == 2
    assert statuses(org) == 7 * [("DE", "active")]
    assert run(org.api, action="remove", filter={"updated_since": "1970-01-01T00:00:00Z"})["changed_count"] == 7
    assert org.members() == {}


def test_a_space_at_the_end_of_q_counts_as_in_the_list(new_org):
    org = new_org(attributes=False)
    for first, last in (("Ann", "Bo"), ("Anna", "Bo")):
        org.api.post("/v1/users", json={"email": email(), "first_name": first, "last_name": last}, expect=201)
    listed = org.api.get_json("/v1/users", params={"q": "ann "})["users"]
    assert [user["first_name"] for user in listed] == ["Ann"]
    job = run(org.api, action="lock", filter={"q": "ann "})
    assert job["changed_count"] == 1 and job["filter"]["q"] == "ann "
    org.api.post("/v1/member-jobs", json={"action": "lock", "filter": {"q": "a" + 255 * " "}}, expect=422)


def test_the_q_of_a_job_is_composed_as_in_the_list(new_org):
    org = new_org(attributes=False)
    org.create_user({"email": email(), "last_name": "B\u00e9rg"})
    assert run(org.api, action="lock", filter={"q": "be\u0301r"})["changed_count"] == 1


@pytest.mark.parametrize("zero", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "1969-12-31T23:59:59Z"])
def test_a_time_before_1970_selects_all_members(new_org, zero):
    org = new_org(attributes=False)
    org.create_user({"email": email()})
    job = create(org.api, filter={"updated_since": zero}).json()
    assert job["filter"] == {"updated_since": "1970-01-01T00:00:00.000Z"}
    assert state_is(org.api, job, "validated")["preview"] == {"changed": 1, "unchanged": 0}


def test_members_of_an_import_with_an_attribute_are_removed(new_org):
    org = new_org(attributes=False)
    org.admin().api.request("PUT", "/v1/attributes/points", json={"type": "number", "enabled": True})
    org.create_user({"email": email(), "attributes": {"points": 3}})
    job = org.imported([{"email": email(), "attributes": {"points": points}} for points in (3, 3, 4)])["id"]
    done = run(org.api, action="remove", filter={"imported_by": job, "attributes": {"points": 3}})
    assert done["filter"] == {"imported_by": job, "attributes": {"points": 3}}
    assert done["changed_count"] == 2 and len(org.members()) == 2


@pytest.mark.parametrize("body, faults", [
    ({}, {"action": "required", "filter": "required"}), ({"action": "erase", "filter": {}}, {"action": "invalid_choice"}),
    ({"action": "lock", "filter": {}}, {"filter": "required"}),
    ({"action": "lock", "filter": {"email": "a@x.test"}}, {"filter.email": "unknown_field"}),
    ({"action": "remove", "reason": "x", "filter": {"country": "DE"}}, {"reason": "invalid_value"}),
    ({"action": "lock", "filter": {"country": "Germany", "attributes": {"none": 1}}},
     {"filter.country": "invalid_country", "filter.attributes.none": "unknown_attribute"}),
    ({"action": "lock", "filter": {"attributes": {"a": [1], "b": {"x": 1}, "c": None, "d": 1}}},
     {f"filter.attributes.{key}": "wrong_type" for key in "abc"}),
    ({"action": "lock", "filter": {"attributes": {"a": 17_000 * "x"}}}, {"filter.attributes": "too_long"}),
    ({"action": "lock", "filter": {"attributes": [1]}}, {"filter.attributes": "wrong_type"}),
    ({"action": "lock", "filter": {"status": "gone", "imported_by": "me", "updated_since": "now"}},
     {"filter.status": "invalid_choice", "filter.imported_by": "invalid_uuid", "filter.updated_since": "invalid_timestamp"}),
])
def test_a_faulty_job_is_422_with_every_fault(module_org, body, faults):
    assert faults_of(module_org.api.post("/v1/member-jobs", json=body, expect=422)) == faults


def test_one_job_is_active_and_a_canceled_one_frees_the_place(org):
    job = create(org.api).json()
    reply = create(org.api, expect=409)
    assert details_of(reply)["job_id"] == job["id"]
    state_is(org.api, job, "validated")
    canceled = org.api.post(f"/v1/member-jobs/{job['id']}/cancel", expect=200).json()
    assert canceled["state"] == "canceled" and canceled["completed_at"]
    assert org.api.post(f"/v1/member-jobs/{job['id']}/cancel", expect=200).json() == canceled
    org.api.post(f"/v1/member-jobs/{job['id']}/commit", expect=409, code="INVALID_STATE")
    done = run(org.api)
    org.api.post(f"/v1/member-jobs/{done['id']}/cancel", expect=409, code="INVALID_STATE")
    pages = [org.api.get_json("/v1/member-jobs", params={"limit": 1})]
    pages.append(org.api.get_json("/v1/member-jobs", params={"limit": 1, "cursor": pages[0]["next_cursor"]}))
    assert [page["member_jobs"][0]["id"] for page in pages] == [done["id"], job["id"]]
    assert pages[1]["next_cursor"] is None


def test_a_viewer_reads_jobs_and_starts_none(org):
    job = create(org.api).json()
    viewer = org.viewer().api
    viewer.get(f"/v1/member-jobs/{job['id']}", expect=200)
    create(viewer, expect=403)
    for verb in ("commit", "cancel"):
        viewer.post(f"/v1/member-jobs/{job['id']}/{verb}", expect=403)


def test_a_killed_runner_loses_and_repeats_no_member(new_org, no_runner, stack):
    org = new_org(attributes=False)
    org.imported_without_runner([{"email": address} for address in emails(3_000)])
    client = org.admin().api
    job = create(client, filter={"updated_since": "1970-01-01T00:00:00Z"}).json()
    (last,), = stack.sql("SELECT HEX(MAX(user_id)) FROM members WHERE organization_id = UNHEX(REPLACE(%s, '-', ''))", org.id)
    with locked(stack, org, {"id": last}):
        runner = stack.spawn_runner()
        try:
            state_is(client, job, "validated")
            client.post(f"/v1/member-jobs/{job['id']}/commit", expect=202)
            wait_for(lambda: client.get_json(f"/v1/member-jobs/{job['id']}")["changed_count"] > 0, "the first unit", every=0.002)
        finally:
            runner.send_signal(signal.SIGKILL)
            runner.wait(20)
    assert client.get_json(f"/v1/member-jobs/{job['id']}")["changed_count"] < 3_000
    stack.sql("UPDATE member_jobs SET lease_until = 0")
    runner = stack.spawn_runner()
    try:
        done = state_is(client, job, "completed")
    finally:
        runner.terminate()
        runner.wait(20)
    assert (done["changed_count"], done["unchanged_count"]) == (3_000, 0)
    assert {member["status"] for member in listed(org, limit=100)} == {"locked"}
    (entries,), = stack.sql("SELECT COUNT(*) FROM audit_log WHERE action = 'user.locked' AND actor_id = "
                            "UNHEX(REPLACE(%s, '-', ''))", org.admin().id)
    assert entries == 3_000


def test_an_idempotency_key_with_another_body_is_a_conflict(org):
    client = org.admin().api
    conflict = {"expect": 409, "code": "IDEMPOTENCY_CONFLICT"}
    body = {"action": "lock", "filter": {"country": "de"}}
    headers = {"Idempotency-Key": "create-1"}
    job = client.post("/v1/member-jobs", json=body, headers=headers, expect=201).json()
    client.post("/v1/member-jobs", json=body | {"action": "unlock"}, headers=headers, **conflict)
    state_is(client, job, "validated")
    for step, status in (("commit", 202), ("cancel", 200)):
        path, headers = f"/v1/member-jobs/{job['id']}/{step}", {"Idempotency-Key": step}
        client.post(path, headers=headers, expect=status)
        client.post(path, json={}, headers=headers, **conflict)
        if step == "commit":
            state_is(client, job, "completed")
            job = create(client).json()
