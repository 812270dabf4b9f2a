"""Concurrent calls for one job or one organization: one succeeds, no row is lost, and no client gets a 5xx."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from support.client import details_of
from support.stack import wait_for
from support.world import EMAIL_COLUMN, email, emails
from test_runner import LARGE

NEW_IMPORT = {"file_name": "f.csv", "declared_total": 1, "mapping": {"columns": [EMAIL_COLUMN]}}


def at_once(*calls):
    """Runs the calls in parallel; returns their replies in order."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]


def statuses(replies):
    return sorted(reply.status_code for reply in replies)


def test_one_of_many_parallel_creations_succeeds_and_the_others_name_it(org):
    for _ in range(3):
        replies = at_once(*[lambda: org.api.post("/v1/imports", json=NEW_IMPORT)] * 16)
        assert statuses(replies) == [201] + [409] * 15
        (job_id,) = [reply.json()["id"] for reply in replies if reply.status_code == 201]
        for reply in replies:
            if reply.status_code == 409:
                assert reply.json()["error"]["code"] == "IMPORT_JOB_ACTIVE_EXISTS"
                assert details_of(reply) == {"job_id": job_id}
        org.cancel(job_id)


def test_creations_in_parallel_with_a_cancel_end_with_one_active_job(org):
    for _ in range(5):
        job_id = org.create_import()["id"]
        canceled, *created = at_once(lambda: org.cancel(job_id, expect=None),
                                     *[lambda: org.api.post("/v1/imports", json=NEW_IMPORT)] * 6)
        assert canceled.status_code == 200
        assert set(statuses(created)) <= {201, 409} and statuses(created).count(201) <= 1
        active = org.api.get_json("/v1/imports", params={"state": "staging"})["imports"]
        assert len(active) == statuses(created).count(201)
        for job in active:
            org.cancel(job["id"])


@pytest.mark.parametrize("step", ["validate", "commit"])
def test_one_of_many_parallel_transitions_succeeds(org, no_runner, step):
    job_id = org.staged([{"email": email()}])
    if step == "commit":
        org.validate(job_id)
        org.stack.run_once()
    replies = at_once(*[lambda: org.api.post(f"/v1/imports/{job_id}/{step}")] * 12)
    assert statuses(replies) == [202] + [409] * 11
    org.stack.run_once()
    assert org.job(job_id)["state"] == {"validate": "validated", "commit": "completed"}[step]


def test_a_commit_in_parallel_with_a_cancel_has_one_winner(org, no_runner):
    for _ in range(4):
        job = org.staged([{"email": email()}])
        org.validate(job)
        org.stack.run_once()
        before = len(org.members())
        committed, canceled = at_once(lambda: org.commit(job, expect=None), lambda: org.cancel(job, expect=None))
        assert {committed.status_code, canceled.status_code} in ({202, 409}, {200, 409})
        if committed.status_code == 202:
            org.stack.run_once()
        won = "completed" if committed.status_code == 202 else "canceled"
        assert org.job(job)["state"] == won
        assert len(org.members()) == before + (won == "completed")


def test_a_chunk_in_parallel_with_the_validation_is_stored_completely_or_rejected(org):
    addresses = emails(4000)
    job_id = org.create_import()["id"]
    chunks = [[(number, {"email": addresses[number - 1]}) for number in range(start, start + 500)]
              for start in range(1, 4001, 500)]
    calls = [lambda chunk=chunk: org.stage(job_id, chunk, expect=None) for chunk in chunks]
    *staged, validated = at_once(*calls, lambda: org.validate(job_id, expect=None))
    assert validated.status_code == 202 and set(statuses(staged)) <= {200, 409}
    job = org.state_is(job_id, "validated")
    taken = [number for reply, chunk in zip(staged, chunks) if reply.status_code == 200 for number, _ in chunk]
    assert job["staged_rows"] == job["valid_rows"] == len(taken)
    assert [row["row_number"] for row in org.rows(job_id, whole=False, limit=1000)] == sorted(taken)


def test_the_same_rows_sent_in_parallel_are_staged_once(org):
    job_id = org.create_import()["id"]
    chunk = [{"email": address} for address in emails(1200)]
    replies = at_once(*[lambda: org.stage(job_id, chunk, expect=None)] * 8)
    assert statuses(replies) == [200] * 8
    assert org.job(job_id)["staged_rows"] == 1200


def test_many_polls_of_a_job_with_a_requested_commit_start_it_once(org, no_runner):
    job_id = org.staged([{"email": email()}])
    org.commit(job_id, json={"dry_run": False})
    org.stack.run_once()
    replies = at_once(*[lambda: org.api.get(f"/v1/imports/{job_id}")] * 16, lambda: org.commit(job_id, expect=None))
    assert statuses(replies[:-1]) == [200] * 16 and replies[-1].status_code in (202, 409)
    assert {reply.json()["state"] for reply in replies[:-1]} == {"committing"}
    org.stack.run_once()
    assert org.job(job_id)["created_count"] == 1


def test_a_reader_of_a_running_import_sees_consistent_states(org):
    """Counts of a moving job never decrease and never exceed its rows."""
    job_id = org.staged([{"email": address} for address in emails(20_000)])
    org.commit(job_id, json={"dry_run": False})
    seen = []

    def is_completed():
        job = org.job(job_id)
        assert job["state"] not in ("failed", "canceled"), job["failure"]
        if not seen or job != seen[-1]:
            seen.append(job)
        return job["state"] == "completed"

    wait_for(is_completed, "the import", seconds=LARGE, every=0.005)
    for before, after in zip(seen, seen[1:]):
        assert before["state"] in ("validating", "validated", "committing")
        for name in ("valid_rows", "created_count"):
            assert before[name] <= after[name] <= 20_000
        assert after["created_count"] <= after["processed_rows"] <= 20_000
        assert after["heartbeat_at"] or not before["heartbeat_at"]
    assert seen[-1]["created_count"] == 20_000


def test_a_reopened_job_takes_corrected_rows_and_is_validated_again(org):
    twice = email()
    job_id = org.validated([{"email": twice}, {"email": twice}, {"email": email(), "attributes": {"x": 1}}])["id"]
    assert org.reopen(job_id).json()["state"] == "staging"
    org.reopen(job_id)  # changes nothing
    fixed = emails(2)
    org.stage(job_id, [{"email": address} for address in fixed], first=2)
    org.validate(job_id)
    job = org.state_is(job_id, "validated")
    assert (job["valid_rows"], job["invalid_rows"], job["errors"]) == (3, 0, [])
    org.commit(job_id)
    org.state_is(job_id, "completed")
    assert set(org.members()) == {twice, *fixed}
    org.reopen(job_id, expect=409)


def test_a_reopening_with_an_idempotency_key_is_replayed_after_the_next_dry_run(org):
    job_id = org.validated([{"email": email()}])["id"]
    headers = {"Idempotency-Key": "reopen-" + job_id}
    first = org.reopen(job_id, headers=headers)
    org.validate(job_id)
    org.state_is(job_id, "validated")
    again = org.reopen(job_id, headers=headers)
    assert again.content == first.content and again.headers["Idempotency-Replayed"] == "true"
    assert org.job(job_id)["state"] == "validated"


def test_of_reopen_commit_and_cancel_at_the_same_time_one_wins(org):
    for _ in range(5):
        job_id = org.validated([{"email": email()}])["id"]
        calls = [lambda: org.reopen(job_id, expect=None), lambda: org.commit(job_id, expect=None),
                 lambda: org.cancel(job_id, expect=None)]
        with ThreadPoolExecutor(3) as pool:
            reopened, committed, canceled = [future.result().status_code for future in [pool.submit(call) for call in calls]]
        # A reopened job can still be canceled; every other pair excludes each other.
        assert (reopened, committed, canceled) in {(200, 409, 200), (409, 202, 409), (409, 409, 200)}
        job = org.state_is(job_id, "canceled", "completed")
        assert (job["state"] == "completed") == (committed == 202)
        assert len(org.members()) == job["created_count"]
        if job["state"] == "completed":
            return
