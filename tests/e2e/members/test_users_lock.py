"""Lock, unlock and the end of a membership: /v1/users/{userId} (docs/api/users.md "Users")."""

import uuid

import pytest
from support.client import faults_of
from support.world import email


@pytest.fixture
def ann(org):
    return org.create_user({"email": email(), "first_name": "Ann", "attributes": {"phone": "1"}})


def move(org, user, step, expect=200, **options):
    return org.api.post(f"/v1/users/{user['id']}/{step}", expect=expect, **options)


def test_a_member_is_locked_with_a_reason_and_a_time(org, ann):
    reply = move(org, ann, "lock", json={"reason": " spam "})
    locked = reply.json()
    assert (locked["status"], locked["lock_reason"]) == ("locked", "spam")
    assert locked["locked_at"] == locked["updated_at"] > ann["updated_at"]
    read = org.api.get(f"/v1/users/{ann['id']}", expect=200)
    assert (read.json(), read.headers["ETag"]) == (locked, reply.headers["ETag"])


@pytest.mark.parametrize("options", [{}, {"json": {}}, {"json": {"reason": None}}])
def test_a_reason_is_optional(org, ann, options):
    locked = move(org, ann, "lock", **options).json()
    assert (locked["status"], locked["lock_reason"]) == ("locked", None)


def test_a_second_lock_keeps_the_first_reason_and_time(org, ann):
    first = move(org, ann, "lock", json={"reason": "first"})
    second = move(org, ann, "lock", json={"reason": "second"})
    assert (second.content, second.headers["ETag"]) == (first.content, first.headers["ETag"])


def test_unlocking_clears_the_lock_and_can_be_repeated(org, ann):
    move(org, ann, "lock", json={"reason": "spam"})
    reply = move(org, ann, "unlock")
    active = reply.json()
    assert (active["status"], active["locked_at"], active["lock_reason"]) == ("active", None, None)
    again = move(org, ann, "unlock", json={})
    assert (again.content, again.headers["ETag"]) == (reply.content, reply.headers["ETag"])
    assert move(org, ann, "lock", json={"reason": "new"}).json()["lock_reason"] == "new"


def test_unlocking_an_active_member_changes_nothing(org, ann):
    assert move(org, ann, "unlock").json() == org.user(ann["id"])
    assert org.user(ann["id"])["updated_at"] == ann["updated_at"]


def test_an_import_fills_a_locked_member_and_keeps_the_lock(org, ann):
    locked = move(org, ann, "lock", json={"reason": "spam"}).json()
    org.imported([{"email": ann["email"], "last_name": "Lee"}])
    after = org.user(ann["id"])
    assert after["last_name"] == "Lee"
    assert [after[key] for key in ("status", "locked_at", "lock_reason")] == [
        locked[key] for key in ("status", "locked_at", "lock_reason")]


@pytest.mark.parametrize("body, faults", [
    ({"reason": ""}, {"reason": "required"}), ({"reason": "x" * 256}, {"reason": "too_long"}),
    ({"reason": 1}, {"reason": "wrong_type"}), ({"reason": "a\nb"}, {"reason": "invalid_value"}),
    ({"why": "x"}, {"why": "unknown_field"}), ([], {"": "wrong_type"})])
def test_a_faulty_reason_is_rejected(org, ann, body, faults):
    assert faults_of(move(org, ann, "lock", json=body, expect=422, code="VALIDATION_ERROR")) == faults
    assert org.user(ann["id"])["status"] == "active"


@pytest.mark.parametrize("step", ["lock", "unlock"])
def test_a_malformed_body_is_rejected(org, ann, step):
    json_type = {"Content-Type": "application/json"}
    move(org, ann, step, data="{", headers=json_type, expect=400, code="BAD_REQUEST")
    move(org, ann, step, data="{}", headers={"Content-Type": "text/plain"}, expect=415)
    move(org, ann, step, data='{"x": "' + "x" * 300_000 + '"}', headers=json_type, expect=413)
    assert faults_of(move(org, ann, step, json={"x": 1}, expect=422)) == {"x": "unknown_field"}


@pytest.mark.parametrize("step", ["lock", "unlock"])
def test_an_unknown_member_cannot_be_locked_or_unlocked(org, new_org, step):
    stranger = new_org().create_user({"email": email()})
    for user_id in (stranger["id"], str(uuid.uuid4()), "x"):
        move(org, {"id": user_id}, step, expect=404, code="NOT_FOUND")


@pytest.mark.parametrize("step, other", [("lock", "unlock"), ("unlock", "lock")])
def test_a_step_with_an_idempotency_key_is_done_once_and_replayed(org, ann, step, other):
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    move(org, ann, other)
    first = move(org, ann, step, json={}, headers=headers)
    move(org, ann, other)
    again = move(org, ann, step, json={}, headers=headers)
    assert again.headers["Idempotency-Replayed"] == "true" and "Idempotency-Replayed" not in first.headers
    assert (again.content, again.headers["ETag"]) == (first.content, first.headers["ETag"])
    assert org.user(ann["id"])["status"] == ("locked" if other == "lock" else "active")


def test_an_idempotency_key_with_another_reason_is_a_conflict(org, ann):
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    move(org, ann, "lock", json={"reason": "a"}, headers=headers)
    move(org, ann, "lock", json={"reason": "b"}, headers=headers, expect=409, code="IDEMPOTENCY_CONFLICT")
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    move(org, ann, "unlock", headers=headers)
    move(org, ann, "unlock", json={}, headers=headers, expect=409, code="IDEMPOTENCY_CONFLICT")


# ---------------------------------------------------------------------------- the end of a membership


def remove(org, user, expect=204, **options):
    return org.api.request("DELETE", f"/v1/users/{user['id']}", expect=expect, **options)


def test_a_membership_ends_with_its_values(org, ann):
    assert remove(org, ann).content == b""
    org.api.get(f"/v1/users/{ann['id']}", expect=404, code="NOT_FOUND")
    assert org.api.get_json("/v1/users")["users"] == []
    remove(org, ann, expect=404, code="NOT_FOUND")


def test_other_organizations_keep_their_member(org, ann, new_org):
    other = new_org()
    there = other.create_user({"email": ann["email"], "first_name": "There"})
    before = other.user(there["id"])
    remove(org, ann)
    assert other.user(there["id"]) == before


def test_a_removed_member_can_be_attached_again_and_starts_empty(org, ann):
    remove(org, ann)
    back = org.create_user({"email": ann["email"]})
    assert (back["id"], back["outcome"]) == (ann["id"], "attached")
    assert back["member_id"] != ann["member_id"]
    assert (back["first_name"], back["attributes"], back["status"]) == (None, {}, "active")


def test_a_removed_member_can_be_imported_again(org, ann):
    remove(org, ann)
    job = org.imported([{"email": ann["email"], "last_name": "Lee"}])
    assert (job["created_count"], job["attached_count"]) == (0, 1)
    assert org.user(ann["id"])["last_name"] == "Lee"


def test_an_unknown_member_cannot_be_removed(org, new_org):
    stranger = new_org().create_user({"email": email()})
    for user_id in (stranger["id"], str(uuid.uuid4()), "x"):
        remove(org, {"id": user_id}, expect=404, code="NOT_FOUND")


def test_a_removal_accepts_no_query(org, ann):
    assert faults_of(remove(org, ann, params={"x": "1"}, expect=422)) == {"x": "unknown_field"}
