"""Idempotency-Key: replay, conflict, scope, races, expiry (specification 1; docs/api/idempotency.md "Idempotency")."""

import hashlib
import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import wire
from support.bodies import KINDS, body_of, path_of
from support.world import EMAIL_COLUMN, email
from test_outage import READERS, all_workers

NEW_IMPORT = {"file_name": "f.csv", "declared_total": 1, "mapping": {"columns": [EMAIL_COLUMN]}}
DAY = 24 * 3600


def key():
    return str(uuid.uuid4())


def with_key(value):
    return {"Idempotency-Key": value}


def assert_replay(first, second):
    """The second reply equals the first one, byte for byte."""
    assert "Idempotency-Replayed" not in first.headers
    assert second.headers["Idempotency-Replayed"] == "true"
    assert (second.status_code, second.content) == (first.status_code, first.content)
    assert second.headers.get("Location") == first.headers.get("Location")


def accepting(contract):
    """The operations that accept an Idempotency-Key."""
    return [operation for operation in contract.operations
            if any(entry["name"] == "Idempotency-Key" for entry in operation.row.get("parameters", []))]


def test_every_operation_that_creates_or_changes_a_state_accepts_a_key(contract):
    assert {operation.id for operation in accepting(contract)} >= {
        "createImport", "validateImport", "commitImport", "reopenImport", "cancelImport", "undoImport", "createUser",
        "createInvitation", "createApiKey", "rotateApiKey", "createTrackingKey", "createContentKey", "createModule", "createModuleVersion", "publishModuleVersion",
        "deprecateModule", "installModule", "enableInstallation"}


# ---------------------------------------------------------------------------- replay


def test_creating_a_user_twice_with_a_key_replays(org):
    body, headers = {"email": email(), "first_name": "Ann"}, with_key(key())
    first = org.api.post("/v1/users", json=body, headers=headers, expect=201)
    org.create_user({"email": body["email"], "last_name": "Later"}, expect=200)
    assert_replay(first, org.api.post("/v1/users", json=body, headers=headers))
    assert len(org.members()) == 1


@pytest.mark.parametrize("first, again", [
    ('{"name": "k", "burst": 5}', '{"burst": 5.0, "name": "k"}'), ('{"name": "k", "burst": 50}', '{"name": "k", "burst": 5e1}')])
def test_two_spellings_of_a_number_are_the_same_body(module_org, first, again):
    headers = with_key(key()) | {"Content-Type": "application/json"}
    admin = module_org.admin().api
    reply = admin.post("/v1/api-keys", data=first, headers=headers, expect=201)
    module_org.stack.keys_issued.append(reply.json()["key"])
    assert_replay(reply, admin.post("/v1/api-keys", data=again, headers=headers))


def test_no_body_and_an_empty_object_are_different_bodies(org):
    user, headers = org.create_user({"email": email()}), with_key(key())
    path = f"/v1/users/{user['id']}/unlock"
    first = org.api.post(path, headers=headers, expect=200)
    assert_replay(first, org.api.post(path, headers=headers))
    org.api.post(path, json={}, headers=headers, expect=409, code="IDEMPOTENCY_CONFLICT")


def test_a_merge_is_replayed_as_200(org):
    user = org.create_user({"email": email()})
    body, headers = {"email": user["email"], "first_name": "Ann"}, with_key(key())
    first = org.api.post("/v1/users", json=body, headers=headers, expect=200)
    assert_replay(first, org.api.post("/v1/users", json=body, headers=headers))


def test_an_import_can_use_keys_and_each_step_replays(org, no_runner):
    keys = {step: with_key(key()) for step in ("create", "validate", "commit")}
    first = org.api.post("/v1/imports", json=NEW_IMPORT, headers=keys["create"], expect=201)
    job_id = first.json()["id"]
    assert_replay(first, org.api.post("/v1/imports", json=NEW_IMPORT, headers=keys["create"]))
    org.stage(job_id, [{"email": email()}])
    first = org.validate(job_id, headers=keys["validate"])
    assert_replay(first, org.validate(job_id, headers=keys["validate"]))
    org.stack.run_once()
    assert_replay(first, org.validate(job_id, headers=keys["validate"]))  # although validated by now
    first = org.commit(job_id, headers=keys["commit"], json={})
    org.stack.run_once()
    assert_replay(first, org.commit(job_id, headers=keys["commit"], json={}))
    assert org.job(job_id)["created_count"] == 1
    # The creation of the finished job is still the reply to its key and creates no second job.
    again = org.api.post("/v1/imports", json=NEW_IMPORT, headers=keys["create"], expect=201)
    assert again.json()["id"] == job_id
    assert len(org.api.get_json("/v1/imports")["imports"]) == 1


def test_a_cancel_replays(org):
    job_id, headers = org.create_import()["id"], with_key(key())
    assert_replay(org.cancel(job_id, headers=headers), org.cancel(job_id, headers=headers))


# ---------------------------------------------------------------------------- same body


def test_another_body_conflicts_and_has_no_effect(org):
    body, headers = {"email": email(), "first_name": "Ann"}, with_key(key())
    org.api.post("/v1/users", json=body, headers=headers, expect=201)
    other = email()
    for different in ({"email": other}, body | {"first_name": "ann"}, body | {"last_name": "Lee"},
                      {"email": body["email"]}, body | {"first_name": "Ann "}):
        org.api.post("/v1/users", json=different, headers=headers, expect=409, code="IDEMPOTENCY_CONFLICT")
    assert list(org.members()) == [body["email"]] and org.members()[body["email"]]["last_name"] is None


def test_another_body_conflicts_on_every_operation(org, no_runner):
    headers = {name: with_key(key()) for name in ("import", "validate", "commit", "reopen", "cancel", "undo")}
    org.api.post("/v1/imports", json=NEW_IMPORT, headers=headers["import"], expect=201)
    changed = NEW_IMPORT | {"declared_total": 2}
    org.api.post("/v1/imports", json=changed, headers=headers["import"], expect=409, code="IDEMPOTENCY_CONFLICT")
    (job,) = org.api.get_json("/v1/imports")["imports"]
    org.validate(job["id"], headers=headers["validate"])
    org.validate(job["id"], headers=headers["validate"], json={}, expect=409, code="IDEMPOTENCY_CONFLICT")
    org.stack.run_once()
    org.commit(job["id"], headers=headers["commit"], json={"dry_run": True})
    org.commit(job["id"], headers=headers["commit"], json={"dry_run": False}, expect=409, code="IDEMPOTENCY_CONFLICT")
    assert org.job(job["id"])["state"] == "validated"
    org.reopen(job["id"], headers=headers["reopen"])
    org.reopen(job["id"], headers=headers["reopen"], json={}, expect=409, code="IDEMPOTENCY_CONFLICT")
    org.cancel(job["id"], headers=headers["cancel"])
    org.cancel(job["id"], headers=headers["cancel"], json={}, expect=409, code="IDEMPOTENCY_CONFLICT")
    undo = f"/v1/imports/{org.imported_without_runner([{'email': email()}])['id']}/undo"
    org.api.post(undo, json={"dry_run": True}, headers=headers["undo"], expect=202)
    org.api.post(undo, headers=headers["undo"], expect=409, code="IDEMPOTENCY_CONFLICT")
    assert len(org.members()) == 1


@pytest.mark.parametrize("first, second", [
    ('{"email":"%s","first_name":"Ann"}', '{ "first_name" : "Ann",\r\n\t"email" : "%s" }'),
    ('{"email":"%s","first_name":"A\u00e9"}', '{"email":"%s","first_name":"\\u0041\\u00e9"}'),
    ('{"email":"%s","attributes":{"vip":true,"points":1}}', '{"attributes":{"points":1,"vip":true},"email":"%s"}'),
])
def test_key_order_white_space_and_escapes_do_not_make_a_different_body(org, first, second):
    address, headers = email(), {"Content-Type": "application/json"} | with_key(key())
    one = org.api.post("/v1/users", data=first % address, headers=headers, expect=201)
    assert_replay(one, org.api.post("/v1/users", data=second % address, headers=headers))


# ---------------------------------------------------------------------------- scope


def test_a_key_is_independent_for_each_organization(org, new_org):
    other = new_org(attributes=False)
    body, headers = {"email": email()}, with_key(key())
    org.api.post("/v1/users", json=body, headers=headers, expect=201)
    reply = other.api.post("/v1/users", json={"email": email()}, headers=headers, expect=201)
    assert "Idempotency-Replayed" not in reply.headers
    reply = other.api.post("/v1/users", json=body, headers=with_key(key()), expect=201)
    assert reply.json()["outcome"] == "attached"


def test_a_key_is_valid_for_one_path(org):
    headers = with_key(key())
    job_id = org.api.post("/v1/imports", json=NEW_IMPORT, headers=headers, expect=201).json()["id"]
    reply = org.api.post("/v1/users", json={"email": email()}, headers=headers, expect=201)
    assert "Idempotency-Replayed" not in reply.headers
    assert org.cancel(job_id, headers=headers).json()["state"] == "canceled"
    second = org.create_import()["id"]
    reply = org.cancel(second, headers=headers)
    assert reply.json()["id"] == second and "Idempotency-Replayed" not in reply.headers


def test_a_key_survives_the_rotation_of_the_credential(org, stack):
    body, headers = {"email": email()}, with_key(key())
    first = org.api.post("/v1/users", json=body, headers=headers, expect=201)
    fresh = stack.issue_key(org.id, "rotated")["key"]
    stack.ctl("key", "revoke", "--yes", "--org", org.id, "--id", org.key_id)
    org.api.post("/v1/users", json=body, headers=headers, expect=401)
    assert_replay(first, org.api.post("/v1/users", json=body, headers=headers, key=fresh))


# ---------------------------------------------------------------------------- errors are not recorded


def test_a_rejected_request_can_be_corrected_under_the_same_key(org):
    headers = with_key(key())
    org.api.post("/v1/users", json={"email": "broken"}, headers=headers, expect=422)
    org.api.post("/v1/users", json={"email": email(), "attributes": {"no_such": 1}}, headers=headers, expect=422)
    org.api.post("/v1/users", data=b"{", headers=headers | {"Content-Type": "application/json"}, expect=400)
    org.api.post("/v1/users", json={"email": email()}, headers=headers, expect=201)


def test_a_conflict_of_state_is_not_recorded(org):
    headers = with_key(key())
    active = org.create_import()["id"]
    org.api.post("/v1/imports", json=NEW_IMPORT, headers=headers, expect=409, code="IMPORT_JOB_ACTIVE_EXISTS")
    org.commit(active, headers=headers, expect=409, code="IMPORT_JOB_INVALID_STATE")
    org.cancel(active)
    job = org.api.post("/v1/imports", json=NEW_IMPORT, headers=headers, expect=201).json()
    assert job["id"] != active


def test_a_used_key_conflicts_also_with_an_invalid_body(org):
    invalid = {"email": "broken"}
    for client, path, body in ((org.api, "/v1/users", {"email": email()}), (org.admin().api, "/v1/api-keys", {"name": "sync"})):
        headers = with_key(key())
        client.post(path, json=invalid, headers=headers, expect=422, code="VALIDATION_ERROR")
        client.post(path, json=body, headers=headers, expect=201)
        client.post(path, json=invalid, headers=headers, expect=409, code="IDEMPOTENCY_CONFLICT")
        client.post(path, json=body, headers=headers, expect=201)


# ---------------------------------------------------------------------------- the header itself


@pytest.mark.parametrize("value", ["", "x" * 256, "a b", "ключ", "tab\there", "\u00e9", "\x7f"])
def test_a_malformed_key_is_400_on_every_operation_that_accepts_one(stack, contract, module_org, value):
    nowhere = dict.fromkeys(KINDS.values(), str(uuid.uuid4()))
    for operation in accepting(contract):
        body = json.dumps(body_of(operation)["json"]).encode()
        head = [("Authorization", f"Bearer {module_org.client_for(operation).key}"), ("Content-Type", "application/json"),
                ("Content-Length", str(len(body))), ("Idempotency-Key", value.encode().decode("latin-1")),
                ("Origin", stack.base_url)]
        reply = wire.exchange(stack, wire.request_bytes("POST", path_of(operation, nowhere), head, body))
        assert reply.status == 400, (operation.id, reply.body)
        assert json.loads(reply.body)["error"]["code"] == "BAD_REQUEST"


@pytest.mark.parametrize("value", ["x", "x" * 255, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "';DROP/**/TABLE/**/users;--"])
def test_any_visible_ascii_is_a_valid_key(org, value):
    body = {"email": email()}
    first = org.api.post("/v1/users", json=body, headers=with_key(value), expect=201)
    assert_replay(first, org.api.post("/v1/users", json=body, headers=with_key(value)))


@pytest.mark.parametrize("line", [b"a\r\nX-Injected: 1", b"a\nX-Injected: 1", b"a\rX-Injected: 1", b"a\r\n X-Injected: 1",
                                  b"a\0b", b"a%0d%0aX-Injected:%201"])
def test_a_key_cannot_add_a_header_to_the_reply(stack, org, line):
    body = json.dumps({"email": email()}).encode()
    head = wire.request_bytes("POST", "/v1/users", [
        ("Authorization", f"Bearer {org.key}"), ("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    request = head[:-2] + b"Idempotency-Key: " + line + b"\r\n\r\n" + body
    for _ in range(2):
        reply = wire.exchange(stack, request)
        assert reply.status in (201, 400), reply.body
        assert not reply.values("X-Injected") and len(reply.values("X-Request-Id")) == 1


# ---------------------------------------------------------------------------- in parallel


def test_twenty_parallel_duplicates_create_one(org):
    for path, body in (("/v1/users", {"email": email()}), ("/v1/imports", NEW_IMPORT)):
        headers = with_key(key())
        with ThreadPoolExecutor(20) as pool:
            replies = list(pool.map(lambda _: org.api.post(path, json=body, headers=headers), range(20)))
        assert {reply.status_code for reply in replies} == {201}
        assert len({reply.content for reply in replies}) == 1
        assert [reply.headers.get("Idempotency-Replayed") for reply in replies].count(None) == 1


def test_one_of_twenty_parallel_bodies_under_one_key_wins(org):
    headers = with_key(key())
    addresses = [email() for _ in range(20)]
    with ThreadPoolExecutor(20) as pool:
        replies = list(pool.map(lambda address: org.api.post("/v1/users", json={"email": address}, headers=headers),
                                addresses))
    statuses = [reply.status_code for reply in replies]
    assert (statuses.count(201), statuses.count(409)) == (1, 19)
    assert len(org.members()) == 1


def test_a_key_whose_first_request_is_still_running_gets_retry_after(stack, contract, new_org, no_runner):
    # The test simulates the transaction of the first request: it holds the row of the key and does not end.
    cases = []
    org = new_org(attributes=False)
    records = org.records() | {"import": org.staged([{"email": email()}])}
    for operation in accepting(contract):
        path = path_of(operation, records)
        cases.append((org.client_for(operation), org, operation.method, path, body_of(operation)))
    value, now = key(), 4_000_000_000_000
    holder = stack.connect(autocommit=False)
    try:
        with holder.cursor() as cursor:
            for client, org, method, path, _ in cases:
                whose = f"{client.credential['installation_id']}\n" if hasattr(client, "credential") else ""
                cursor.execute(
                    "INSERT INTO idempotency_keys (organization_id, key_hash, body_hash, status, body, created_at, "
                    "expires_at) VALUES (UNHEX(REPLACE(%s, '-', '')), %s, %s, 0, '', %s, %s)",
                    (org.id, hashlib.sha256(f"{method}\n{path}\n{whose}{value}".encode()).digest(), b"x" * 32, now, now))
        # One worker for each, so that none waits for a worker. An organization may occupy half of them.
        stack.restart_server({"MUSTER_SERVER_WORKERS": str(2 * len(cases)), "MUSTER_SERVER_COLLECTORS": "1"})
        all_workers(stack, 2 * len(cases) + 1 + READERS)
        connected = threading.Barrier(len(cases), timeout=60)

        def reply_to(case):
            client, _, method, path, body = case
            client.session.get(f"{stack.base_url}/healthz", timeout=60)  # the connection of this thread
            connected.wait()
            return client.request(method, path, headers=with_key(value), **body)

        with ThreadPoolExecutor(len(cases)) as pool:
            replies = list(pool.map(reply_to, cases))
    finally:
        holder.rollback()
        holder.close()
        stack.restart_server()
    for (*_, path, _), reply in zip(cases, replies):
        assert reply.status_code == 409 and reply.json()["error"]["code"] == "IDEMPOTENCY_IN_PROGRESS", path
        assert int(reply.headers["Retry-After"]) >= 1
        assert 4 < reply.elapsed.total_seconds() < 12, (path, reply.elapsed)
    # The keys are released, so each request now has its normal result.
    for client, _, method, path, body in cases:
        reply = client.request(method, path, headers=with_key(value), **body)
        assert reply.ok or not reply.json()["error"]["code"].startswith("IDEMPOTENCY_"), (path, reply.text)
        assert reply.status_code < 500, (path, reply.text)
        assert "Idempotency-Replayed" not in reply.headers


# ---------------------------------------------------------------------------- expiry


def test_a_key_is_kept_for_24_hours_and_the_key_of_an_import_as_long_as_the_job(org, stack, no_runner):
    user_headers, job_headers = with_key(key()), with_key(key())
    body = {"email": email()}
    first = org.api.post("/v1/users", json=body, headers=user_headers, expect=201)
    created = org.api.post("/v1/imports", json=NEW_IMPORT, headers=job_headers, expect=201)

    def purge(seconds):
        stack.run_once("purge", env={"MUSTER_CLOCK_OFFSET": str(seconds)})

    purge(DAY - 60)
    assert_replay(first, org.api.post("/v1/users", json=body, headers=user_headers))
    purge(DAY + 1)
    late = org.api.post("/v1/users", json=body, headers=user_headers, expect=200)
    assert late.json()["outcome"] == "merged" and "Idempotency-Replayed" not in late.headers
    assert_replay(created, org.api.post("/v1/imports", json=NEW_IMPORT, headers=job_headers))
    purge(30 * DAY + 1)
    fresh = org.api.post("/v1/imports", json=NEW_IMPORT, headers=job_headers, expect=201)
    assert fresh.json()["id"] != created.json()["id"]


def test_a_reply_of_an_expired_import_is_not_replayed_even_before_the_purge(org, stack):
    headers = with_key(key())
    created = org.api.post("/v1/imports", json=NEW_IMPORT, headers=headers, expect=201)
    mine = "organization_id = UNHEX(REPLACE(%s, '-', ''))"
    ends = {stack.sql(f"SELECT expires_at FROM {table} WHERE {mine}", org.id)[0] for table in ("import_jobs", "idempotency_keys")}
    assert len(ends) == 1
    for table in ("import_jobs", "idempotency_keys"):
        stack.sql(f"UPDATE {table} SET expires_at = 1 WHERE {mine}", org.id)
    fresh = org.api.post("/v1/imports", json=NEW_IMPORT, headers=headers, expect=201)
    assert "Idempotency-Replayed" not in fresh.headers and fresh.json()["id"] != created.json()["id"]


def test_an_expired_key_is_ignored_even_before_the_purge(org, stack):
    body, headers = {"email": email()}, with_key(key())
    org.api.post("/v1/users", json=body, headers=headers, expect=201)
    stack.sql("UPDATE idempotency_keys SET expires_at = 1 WHERE organization_id = UNHEX(REPLACE(%s, '-', ''))", org.id)
    reply = org.api.post("/v1/users", json={"email": email()}, headers=headers, expect=201)
    assert "Idempotency-Replayed" not in reply.headers
    assert_replay(reply, org.api.post("/v1/users", json=json.loads(reply.request.body), headers=headers))
