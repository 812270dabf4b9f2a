"""/v1/api-keys: keys are issued, listed, rotated and revoked by the admins of an organization (docs/api/keys.md "Keys",
specification 5)."""

import datetime
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.bodies import body_of, path_of
from support.client import error_of, faults_of
from support.stack import wait_for
from support.world import email, in_seconds
from test_auth import checksum, expire_in_a_second

DAY = 24 * 3600


@pytest.fixture
def admin(module_org):
    return module_org.admin().api


@pytest.fixture
def issue(admin, stack):
    """Issues a key over the API; returns the record with the key."""
    def run(name="k", **fields):
        issued = admin.post("/v1/api-keys", json={"name": name} | fields, expect=201).json()
        stack.keys_issued.append(issued["key"])
        return issued
    return run


def rotate(admin, key, stack=None, **options):
    reply = admin.post(f"/v1/api-keys/{key['id']}/rotate", **options)
    if reply.ok:
        admin.stack.keys_issued.append(reply.json()["key"])
    return reply


def works(module_org, key):
    return module_org.api.get("/v1/imports", key=key["key"]).status_code == 200


def listed(admin, key):
    """The record from the list, page by page; None if it is not listed."""
    cursor = None
    while True:
        page = admin.get_json("/v1/api-keys", params={"limit": 3} | ({"cursor": cursor} if cursor else {}))
        assert len(page["api_keys"]) <= 3
        for record in page["api_keys"]:
            if record["id"] == key["id"]:
                return record
        cursor = page["next_cursor"]
        if cursor is None:
            return None


# ---------------------------------------------------------------------------- issue


def test_a_key_is_issued_and_shown_once(module_org, admin, issue):
    key = issue("membership sync", rate_limit_per_second=50, burst=60, expires_at="2099-12-31T23:00:00+01:00")
    assert key["organization_id"] == module_org.id and key["name"] == "membership sync"
    assert (key["prefix"], key["last_four"]) == ("org_", key["key"][-4:])
    assert (key["rate_limit_per_second"], key["burst"]) == (50, 60)
    assert key["created_by"] == module_org.admin().id
    assert key["expires_at"] == "2099-12-31T22:00:00.000Z"
    assert key["last_used_at"] is None and key["revoked_at"] is None
    assert works(module_org, key)
    record = listed(admin, key)
    assert record == {name: value for name, value in key.items() if name != "key"} | {"last_used_at": record["last_used_at"]}
    assert key["key"] not in admin.get("/v1/api-keys", params={"limit": 100}).text


def test_a_key_has_256_random_bits_and_a_checksum(module_org, issue):
    keys = [issue()["key"] for _ in range(3)]
    for key in keys:
        assert key.startswith("org_") and len(key) == 4 + 43 + 6 and key[4:].isalnum()
        assert checksum(key[:-6]) == key[-6:]
    assert len({key[4:8] for key in keys}) == 3


def test_omitted_limits_are_null(issue):
    key = issue()
    assert key["rate_limit_per_second"] is None and key["burst"] is None and key["expires_at"] is None


@pytest.mark.parametrize("body, faults", [
    ({}, {"name": "required"}), ({"name": ""}, {"name": "required"}), ({"name": "  "}, {"name": "required"}),
    ({"name": "x" * 256}, {"name": "too_long"}), ({"name": 1}, {"name": "wrong_type"}),
    ({"name": "k", "rate_limit_per_second": 0}, {"rate_limit_per_second": "out_of_range"}),
    ({"name": "k", "rate_limit_per_second": 1.5, "burst": 0}, {"rate_limit_per_second": "wrong_type", "burst": "out_of_range"}),
    ({"name": "k", "burst": 100_001}, {"burst": "out_of_range"}),
    ({"name": "k", "expires_at": "2001-01-01T00:00:00Z"}, {"expires_at": "out_of_range"}),
    ({"name": "k", "expires_at": "soon"}, {"expires_at": "invalid_timestamp"}),
    ({"name": "k", "key": "org_mine"}, {"key": "unknown_field"}),
])
def test_a_faulty_key_is_422_with_every_fault(admin, body, faults):
    assert faults_of(admin.post("/v1/api-keys", json=body, expect=422)) == faults


def test_a_key_cannot_issue_another(module_org, issue):
    key = issue()
    for method, path in (("GET", ""), ("POST", ""), ("DELETE", f"/{key['id']}"), ("POST", f"/{key['id']}/rotate")):
        body = {"json": {"name": "more"}} if (method, path) == ("POST", "") else {}
        module_org.api.request(method, "/v1/api-keys" + path, expect=403, code="FORBIDDEN", key=key["key"], **body)
    assert works(module_org, key)


# ---------------------------------------------------------------------------- roles


def test_the_key_of_a_viewer_reads_and_cannot_write(module_org, issue, contract):
    key = issue("reader", role="viewer")
    assert key["role"] == "viewer"
    ids = module_org.records() | {"import": uuid.uuid4()}
    open_to_keys = [operation for operation in contract.operations if operation.takes_organization_key]
    assert len(open_to_keys) > 20
    for operation in open_to_keys:
        reply = module_org.api.request(operation.method, path_of(operation, ids), key=key["key"], **body_of(operation))
        assert (reply.status_code == 403) == (operation.method not in ("GET", "HEAD")), operation.id


def test_a_viewer_s_key_starts_no_requested_commit(new_org, stack):
    org = new_org(attributes=False)
    key = org.admin().api.post("/v1/api-keys", json={"name": "reader", "role": "viewer"}, expect=201).json()["key"]
    stack.keys_issued.append(key)
    job = org.staged([{"email": email()}])
    org.api.post(f"/v1/imports/{job}/commit", json={"dry_run": False}, expect=202)
    wait_for(lambda: org.api.get_json(f"/v1/imports/{job}", key=key)["state"] == "validated", "the dry run")
    assert org.api.get_json(f"/v1/imports/{job}", key=key)["state"] == "validated"
    assert org.api.get_json(f"/v1/imports/{job}")["state"] == "committing"


def test_the_operator_issues_keys_with_a_role(stack, new_org):
    org = new_org(attributes=False)
    issued = stack.ctl("key", "issue", "--org", org.id, "--name", "reader", "--role", "viewer")
    stack.keys_issued.append(issued["key"])
    assert [key["role"] for key in stack.ctl("key", "list", "--org", org.id)] == ["admin", "viewer"]
    org.api.get("/v1/users", key=issued["key"], expect=200)
    org.api.post("/v1/users", key=issued["key"], json={"email": email()}, expect=403)


# ---------------------------------------------------------------------------- change


def test_a_key_is_changed(module_org, admin, issue):
    key = issue("before", rate_limit_per_second=50)
    changed = admin.request("PATCH", f"/v1/api-keys/{key['id']}", expect=200,
                          json={"name": "after", "expires_at": "2099-12-31T23:00:00Z", "rate_limit_per_second": None, "burst": 7})
    assert changed.json() == {name: value for name, value in key.items() if name != "key"} | {
        "name": "after", "expires_at": "2099-12-31T23:00:00.000Z", "rate_limit_per_second": None, "burst": 7}
    assert listed(admin, key) == changed.json()
    assert works(module_org, key)
    assert key["created_by_email"] == module_org.admin().address


@pytest.mark.parametrize("body, faults", [
    ({"name": ""}, {"name": "required"}), ({"name": None}, {"name": "required"}), ({"role": "viewer"}, {"role": "unknown_field"}),
    ({"rate_limit_per_second": 100_001}, {"rate_limit_per_second": "out_of_range"}),
    ({"expires_at": "2001-01-01T00:00:00Z"}, {"expires_at": "out_of_range"})])
def test_a_faulty_change_of_a_key_is_422(admin, issue, body, faults):
    key = issue()
    assert faults_of(admin.request("PATCH", f"/v1/api-keys/{key['id']}", json=body, expect=422)) == faults


def test_a_revoked_key_is_not_changed(admin, issue):
    key = issue()
    admin.delete(f"/v1/api-keys/{key['id']}", expect=204)
    admin.request("PATCH", f"/v1/api-keys/{key['id']}", json={"name": "x"}, expect=409, code="INVALID_STATE")


def test_a_change_of_a_key_needs_a_recent_second_factor(new_org, stack):
    org = new_org(attributes=False)
    path = f"/v1/api-keys/{org.key_id}"
    org.admin().api.request("PATCH", path, json={"name": "changed"}, expect=200)
    with stack.later(16 * 60):
        org.admin().api.request("PATCH", path, json={"name": "later"}, expect=401, code="2FA_TOO_OLD")
    org.viewer().api.request("PATCH", path, json={"name": "viewer"}, expect=403)


# ---------------------------------------------------------------------------- replays


def test_a_replay_returns_the_same_key_byte_for_byte_and_issues_none(stack, new_org):
    org = new_org(attributes=False)
    admin, headers = org.admin().api, {"Idempotency-Key": str(uuid.uuid4())}
    first = admin.post("/v1/api-keys", json={"name": "once"}, headers=headers, expect=201)
    key = first.json()
    stack.keys_issued.append(key["key"])
    again = admin.post("/v1/api-keys", data='{ "name" : "once" }', expect=201,
                       headers=headers | {"Content-Type": "application/json"})
    assert again.content == first.content and again.headers["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first.headers
    assert len(admin.get_json("/v1/api-keys")["api_keys"]) == 2  # and the initial key of the organization
    admin.post("/v1/api-keys", json={"name": "other"}, headers=headers, expect=409, code="IDEMPOTENCY_CONFLICT")

    path, turn = f"/v1/api-keys/{key['id']}/rotate", {"Idempotency-Key": "turn"}
    rotated = admin.post(path, json={"overlap_seconds": 5}, headers=turn, expect=201)
    stack.keys_issued.append(rotated.json()["key"])
    assert admin.post(path, json={"overlap_seconds": 5}, headers=turn, expect=201).content == rotated.content
    admin.post(path, json={"overlap_seconds": 6}, headers=turn, expect=409, code="IDEMPOTENCY_CONFLICT")
    assert len(admin.get_json("/v1/api-keys")["api_keys"]) == 3

    (bodies,) = zip(*stack.sql("SELECT body FROM idempotency_keys WHERE organization_id = UNHEX(REPLACE(%s, '-', ''))", org.id))
    for secret in (key["key"], rotated.json()["key"]):
        assert not any(secret in (body if isinstance(body, str) else body.decode("latin-1")) for body in bodies)


# ---------------------------------------------------------------------------- use and expiry


def test_the_last_use_is_recorded(module_org, admin, issue):
    key = issue()
    assert listed(admin, key)["last_used_at"] is None
    before = in_seconds(-1)
    assert works(module_org, key)
    assert before < listed(admin, key)["last_used_at"] < in_seconds(1)


def test_a_key_works_until_it_expires(module_org, issue, stack):
    key = issue(expires_at=in_seconds(3600))
    assert works(module_org, key)
    end = expire_in_a_second(stack, key)
    wait_for(lambda: not works(module_org, key), "the key to expire")
    assert time.time() * 1000 >= end
    later = issue(expires_at=in_seconds(DAY))
    with stack.later(DAY - 60):
        assert works(module_org, later)
    with stack.later(DAY + 1):
        assert not works(module_org, later)


def test_a_revoked_key_is_rejected_and_remains_listed_for_30_days(module_org, admin, issue, stack):
    key = issue()
    assert works(module_org, key)
    assert admin.delete(f"/v1/api-keys/{key['id']}", expect=204).content == b""
    assert not works(module_org, key)
    revoked_at = listed(admin, key)["revoked_at"]
    admin.delete(f"/v1/api-keys/{key['id']}", expect=204)  # again: the same result
    assert listed(admin, key)["revoked_at"] == revoked_at is not None
    for age, is_listed in ((30 * DAY - 60, True), (30 * DAY + 1, False)):
        stack.sql("UPDATE api_keys SET revoked_at = %s WHERE id = UNHEX(REPLACE(%s, '-', ''))",
                  int(datetime.datetime.now().timestamp() - age) * 1000, key["id"])
        assert (listed(admin, key) is not None) == is_listed


def list_imports(client, _, key):
    return client.get("/v1/imports", key=key, whole=False)


def get_user(client, user, key):
    return client.get(f"/v1/users/{user}", key=key, whole=False)


def create_user(client, _, key):
    return client.post("/v1/users", key=key, json={"email": email()}, whole=False)


@pytest.mark.parametrize("request_of", [list_imports, get_user, create_user], ids=["workers", "readers", "collectors"])
def test_no_request_of_a_thousand_succeeds_after_the_revocation_was_acknowledged(module_org, admin, issue, request_of):
    key, user = issue(), module_org.create_user({"email": email()})["id"]
    revoked, late = threading.Event(), []

    def ask(_):
        was_revoked = revoked.is_set()
        status = request_of(module_org.api, user, key["key"]).status_code
        if was_revoked and status != 401:
            late.append(status)
        return status

    with ThreadPoolExecutor(20) as pool:
        before = [pool.submit(ask, number) for number in range(400)]  # keeps all workers busy
        wait_for(lambda: any(future.done() for future in before), "the first answer")
        admin.delete(f"/v1/api-keys/{key['id']}", expect=204)
        revoked.set()
        after = list(pool.map(ask, range(1000)))
    assert set(after) == {401} and late == []
    assert {future.result() for future in before} & {200, 201}


# ---------------------------------------------------------------------------- rotation


def test_a_rotated_key_works_until_the_end_of_the_overlap(module_org, admin, issue, stack):
    key = issue("sync", rate_limit_per_second=7, burst=9)
    successor = rotate(admin, key, json={"overlap_seconds": DAY}, expect=201).json()
    assert successor["id"] != key["id"] and successor["key"] != key["key"]
    assert [successor[name] for name in ("name", "rate_limit_per_second", "burst", "expires_at")] == ["sync", 7, 9, None]
    assert works(module_org, key) and works(module_org, successor)
    assert in_seconds(DAY - 10) < listed(admin, key)["expires_at"] <= in_seconds(DAY)
    with stack.later(DAY - 60):
        assert works(module_org, key)
    with stack.later(DAY + 1):
        assert not works(module_org, key) and works(module_org, successor)


@pytest.mark.parametrize("body", [{}, {"json": {}}, {"json": {"overlap_seconds": 0}}])
def test_without_an_overlap_the_old_key_is_rejected_immediately(module_org, admin, issue, body):
    key = issue()
    successor = rotate(admin, key, expect=201, **body).json()
    assert not works(module_org, key) and works(module_org, successor)
    assert listed(admin, key)["revoked_at"] is not None


def test_an_overlap_does_not_extend_the_life_of_a_key(admin, issue):
    key = issue(expires_at=in_seconds(60))
    rotate(admin, key, json={"overlap_seconds": 604_800}, expect=201)
    assert listed(admin, key)["expires_at"] == key["expires_at"]


def test_a_revoked_or_expired_key_cannot_be_rotated(admin, issue, stack):
    revoked, expired = issue(), issue(expires_at=in_seconds(60))
    admin.delete(f"/v1/api-keys/{revoked['id']}", expect=204)
    stack.sql("UPDATE api_keys SET expires_at = 1000 WHERE id = UNHEX(REPLACE(%s, '-', ''))", expired["id"])
    for key in (revoked, expired):
        reply = rotate(admin, key, json={"overlap_seconds": 60}, expect=409)
        assert error_of(reply)["code"] == "INVALID_STATE"


@pytest.mark.parametrize("value, fault", [(-1, "out_of_range"), (604_801, "out_of_range"), ("60", "wrong_type")])
def test_an_overlap_is_at_most_a_week(admin, issue, value, fault):
    reply = rotate(admin, issue(), json={"overlap_seconds": value}, expect=422)
    assert faults_of(reply) == {"overlap_seconds": fault}


def test_an_admin_session_is_accepted_where_the_key_is(module_org, admin):
    user = module_org.create_user({"email": email()})
    assert admin.get_json(f"/v1/users/{user['id']}") == module_org.user(user["id"])
