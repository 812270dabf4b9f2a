"""/v1/audit-log: who did what in an organization, newest first (docs/api/audit-log.md "Audit log")."""

import uuid

import pytest
from support.admin import FACTOR
from support.client import faults_of
from support.world import email


def entries(client, **query):
    found, cursor = [], None
    while True:
        page = client.get_json("/v1/audit-log", params=query | ({"cursor": cursor} if cursor else {}))
        found += page["audit_log"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


@pytest.fixture
def busy(new_org, stack):
    """An organization with a history: (organization, its owner, its keys)."""
    org = new_org(attributes=False)
    admin = org.admin()
    client = admin.api
    key = client.post("/v1/api-keys", json={"name": "one"}, expect=201).json()
    successor = client.post(f"/v1/api-keys/{key['id']}/rotate", json={"overlap_seconds": 60}, expect=201).json()
    stack.keys_issued += [key["key"], successor["key"]]
    client.delete(f"/v1/api-keys/{successor['id']}", expect=204)
    return org, admin, (key, successor)


def test_actions_of_admins_and_operators_are_listed_newest_first(busy, stack):
    org, admin, (key, successor) = busy
    log = entries(admin.api)
    logged = [(entry["actor"], entry["action"], entry["subject_id"]) for entry in log]
    assert logged == [
        ("admin", "api_key.revoked", successor["id"]), ("admin", "api_key.rotated", key["id"]),
        ("admin", "api_key.issued", key["id"]), ("admin", "session.opened", None), ("admin", "second_factor.enrolled", None),
        ("operator", "seat.added", admin.id), ("operator", "api_key.issued", org.key_id),
    ] + logged[7:]
    assert all(entry["actor"] == "operator" for entry in log[5:])
    for entry in log:
        is_admin = entry["actor"] == "admin"
        assert (entry["actor_id"], entry["actor_email"]) == ((admin.id, admin.address) if is_admin else (None, None))
        assert (entry["request_id"] is not None) == is_admin
    times = [entry["created_at"] for entry in log]
    assert times == sorted(times, reverse=True)


def test_an_entry_names_its_request(busy):
    _, admin, (key, _) = busy
    reply = admin.api.delete(f"/v1/api-keys/{key['id']}", expect=204)
    newest = entries(admin.api)[0]
    assert (newest["action"], newest["subject_id"]) == ("api_key.revoked", key["id"])
    assert newest["request_id"] == reply.headers["X-Request-Id"]
    admin.api.delete(f"/v1/api-keys/{key['id']}", expect=204)  # no change, so no entry
    assert entries(admin.api)[0] == newest


def test_failures_of_the_second_factor_are_logged(busy):
    _, admin, _ = busy
    session = admin.unverified()
    session.post(f"{FACTOR}/verify-backup-code", json={"code": admin.backup_codes.pop()}, expect=200)
    for _ in range(5):
        session.post(f"{FACTOR}/verify-backup-code", json={"code": "aaaa-bbbb-cccc-dddd"}, expect=401)
    log = entries(admin.api)
    actions = [entry["action"] for entry in log]
    assert actions[:6] == ["second_factor.paused"] + 5 * ["sign_in.refused"]
    assert {(entry["actor"], entry["subject_id"]) for entry in log[1:6]} == {("system", admin.id)}
    assert sorted(actions[6:8]) == ["backup_code.used", "session.opened"]


def test_a_wrong_sign_in_code_is_logged(busy, anyone):
    _, admin, _ = busy
    for _ in range(3):
        anyone.post("/v1/auth/email-otp/verify", json={"email": admin.address, "otp": "00000000"}, expect=401)
    refused = entries(admin.api, action="sign_in.refused")
    assert 1 <= len(refused) <= 2  # one an hour
    assert {entry["details"]["factor"] for entry in refused} == {"mail_code"}


def test_the_log_is_paged_and_filtered_by_action_and_subject(busy):
    _, admin, (key, successor) = busy
    whole = entries(admin.api)
    assert entries(admin.api, limit=2) == whole
    issued = entries(admin.api, action="api_key.issued")
    assert issued == [entry for entry in whole if entry["action"] == "api_key.issued"] and len(issued) == 2
    of_key = entries(admin.api, subject_id=key["id"])
    assert [entry["action"] for entry in of_key] == ["api_key.rotated", "api_key.issued"]
    assert entries(admin.api, subject_id=successor["id"], action="api_key.issued") == []
    cursor = admin.api.get_json("/v1/audit-log", params={"limit": 1})["next_cursor"]
    for query in ({"action": "api_key.issued"}, {"subject_id": key["id"]}):
        reply = admin.api.get("/v1/audit-log", params=query | {"cursor": cursor}, expect=422)
        assert faults_of(reply) == {"cursor": "invalid_cursor"}


def test_the_log_is_filtered_by_actor_time_and_the_beginning_of_actions(busy):
    org, admin, (key, _) = busy
    whole = entries(admin.api)
    assert entries(admin.api, action="api_key.") == [entry for entry in whole if entry["action"].startswith("api_key.")]
    assert entries(admin.api, actor="operator") == [entry for entry in whole if entry["actor"] == "operator"]
    mine = entries(admin.api, actor_id=admin.id)
    assert mine == [entry for entry in whole if entry["actor_id"] == admin.id] and mine
    assert entries(admin.api, actor_id=str(uuid.uuid4())) == []
    middle = mine[1]["created_at"]
    assert entries(admin.api, since=middle) == [entry for entry in whole if entry["created_at"] >= middle]
    assert entries(admin.api, until=middle) == [entry for entry in whole if entry["created_at"] < middle]
    assert entries(admin.api, since=middle, until=middle) == []
    assert entries(admin.api, limit=1, action="api_key.", actor="admin", actor_id=admin.id, subject_id=key["id"]) == [
        entry for entry in mine if entry["subject_id"] == key["id"]]
    faults = faults_of(admin.api.get("/v1/audit-log", expect=422, params={"action": "", "subject_id": ""}))
    assert faults == {"action": "too_short", "subject_id": "too_short"}
    faults = faults_of(admin.api.get("/v1/audit-log", expect=422, params={
        "actor": "robot", "actor_id": "me", "since": "yesterday", "until": "soon"}))
    assert faults == {"actor": "invalid_choice", "actor_id": "invalid_uuid", "since": "invalid_timestamp",
                      "until": "invalid_timestamp"}


def test_an_organization_reads_only_its_own_log(busy, module_org):
    org, admin, _ = busy
    others = {entry["id"] for entry in entries(module_org.admin().api)}
    mine = {entry["id"] for entry in entries(admin.api)}
    assert others and not others & mine
    cursor = admin.api.get_json("/v1/audit-log", params={"limit": 1})["next_cursor"]
    module_org.admin().api.get("/v1/audit-log", params={"cursor": cursor}, expect=422)


def test_a_viewer_may_read_the_log_and_a_key_may_not(module_org):
    assert entries(module_org.viewer().api)
    module_org.api.get("/v1/audit-log", expect=403, code="FORBIDDEN")


def test_the_log_contains_no_secrets_and_stores_no_addresses_of_members(busy, stack):
    _, admin, _ = busy
    member = email("member")
    user = admin.api.post("/v1/users", json={"email": member}, expect=201).json()
    text = admin.api.get("/v1/audit-log", params={"limit": 100}, expect=200).text
    assert not [secret for secret in stack.keys_issued if secret in text]
    created = entries(admin.api, subject_id=user["id"])
    assert [(entry["action"], entry["subject_name"]) for entry in created] == [("user.created", member)]
    admin.api.delete(f"/v1/users/{user['id']}", expect=204)
    assert [entry["subject_name"] for entry in entries(admin.api, subject_id=user["id"])] == [None, None]
    assert member not in admin.api.get("/v1/audit-log", params={"limit": 100}, expect=200).text


def test_an_entry_has_the_name_of_its_record(busy):
    org, admin, (key, successor) = busy
    log = entries(admin.api)
    names = {(entry["action"], entry["subject_id"]): entry["subject_name"] for entry in log}
    assert names[("api_key.rotated", key["id"])] == names[("api_key.revoked", successor["id"])] == "one"
    assert names[("seat.added", admin.id)] == admin.address
    assert {entry["subject_name"] for entry in log if entry["subject_id"] is None} == {None}
    endpoint = org.create_endpoint(org.install(org.published_module()))
    newest = entries(org.admin().api, subject_id=endpoint["id"])[0]
    assert (newest["subject_name"], newest["subject_parents"]) == (endpoint["url"], [endpoint["module_installation_id"]])
