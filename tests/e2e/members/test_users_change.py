"""PATCH and GET /v1/users/{userId}, its attributes, ETags and If-Match (docs/api/users.md "Users")."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import fields
from support.client import faults_of
from support.world import email

CORE = {"external_id": "E-1", "first_name": "Ann", "last_name": "Lee", "display_name": "Annie", "locale": "en-GB",
        "country": "GB", "dob": "1990-05-06"}
ATTRIBUTES = {"phone": "1", "points": 5, "vip": True, "joined": "2020-01-02", "interests": ["news"]}
OTHER = {"external_id": "E-2", "first_name": "Bea", "last_name": "Low", "display_name": "Bee", "locale": "de-DE",
         "country": "DE", "dob": "1991-06-07"}


@pytest.fixture
def ann(org):
    return org.create_user(CORE | {"email": email(), "attributes": ATTRIBUTES})


def etag_of(org, user):
    return org.api.get(f"/v1/users/{user['id']}", expect=200).headers["ETag"]


# ---------------------------------------------------------------------------- values


def test_every_field_can_be_overwritten(org, ann):
    changed = org.update_user(ann["id"], OTHER).json()
    assert changed == ann_with(ann, OTHER, changed) and changed["updated_at"] > ann["updated_at"]
    assert org.user(ann["id"]) == changed


def ann_with(ann, changes, now):
    """The expected record after these changes; `now` gives the time."""
    record = {key: value for key, value in ann.items() if key != "outcome"} | changes
    return record | {"updated_at": now["updated_at"]}


@pytest.mark.parametrize("empty", [None, "", "  "])
@pytest.mark.parametrize("name", CORE)
def test_null_and_empty_clear_one_field_and_keep_the_rest(org, ann, name, empty):
    changed = org.update_user(ann["id"], {name: empty}).json()
    assert changed == ann_with(ann, {name: None}, changed)


@pytest.mark.parametrize("empty", [None, ""])
def test_attributes_are_changed_key_by_key(org, ann, empty):
    changes = {"phone": empty, "points": 6, "gender": "female", "favourite_team": empty}
    changed = org.update_user(ann["id"], {"attributes": changes}).json()
    expected = {key: value for key, value in ATTRIBUTES.items() if key != "phone"} | {"points": 6, "gender": "female"}
    assert changed == ann_with(ann, {"attributes": expected}, changed)


@pytest.mark.parametrize("changes", [{}, {"first_name": "Ann"}, {"country": " gb "}, {"attributes": {}},
                                     {"attributes": {"points": 5, "gender": None, "interests": ["news"]}}])
def test_a_change_without_an_effect_keeps_updated_at(org, ann, changes):
    before = org.api.get(f"/v1/users/{ann['id']}", expect=200)
    reply = org.update_user(ann["id"], changes)
    assert (reply.content, reply.headers["ETag"]) == (before.content, before.headers["ETag"])


def test_attributes_are_shown_with_type_origin_and_time(org):
    address = email()
    org.imported([{"email": address, "attributes": {"phone": "1", "points": 5}}])
    user = org.create_user({"email": address}, expect=200)
    org.update_user(user["id"], {"attributes": {"points": 6, "interests": ["news"]}})
    attributes = org.api.get_json(f"/v1/users/{user['id']}/attributes")["attributes"]
    assert [(entry["key"], entry["type"], entry["value"], entry["provenance"]) for entry in attributes] == [
        ("interests", "multi_choice", ["news"], "api"), ("phone", "text", "1", "import"), ("points", "number", 6, "api")]
    changed = org.user(user["id"])["updated_at"]
    assert [entry["updated_at"] == changed for entry in attributes] == [True, False, True]


def test_a_disabled_attribute_is_shown_and_cannot_be_changed(org, ann):
    org.set_enabled("phone", False)
    for value in ("2", None):
        reply = org.update_user(ann["id"], {"attributes": {"phone": value}}, expect=422)
        assert faults_of(reply) == {"attributes.phone": "unknown_attribute"}
    assert org.update_user(ann["id"], {"first_name": "Bea"}).json()["attributes"] == ATTRIBUTES
    entries = org.api.get_json(f"/v1/users/{ann['id']}/attributes")["attributes"]
    assert "phone" in {entry["key"] for entry in entries}


@pytest.mark.parametrize("number", [0, -1, 1e300, 4.9e-324, 123456789012345678, 2**64 - 1, -(2**63), 1.10, 2**64, 1 - 10**30, 10**308 - 1])
def test_numbers_are_unchanged_by_a_change_of_other_attributes(module_org, number):
    user = module_org.create_user({"email": email(), "attributes": {"points": number}})
    changed = module_org.update_user(user["id"], {"attributes": {"vip": True}}).json()
    assert changed["attributes"] == {"points": number, "vip": True}
    same = module_org.update_user(user["id"], {"attributes": {"points": number}}).json()
    assert same["updated_at"] == changed["updated_at"]


# ---------------------------------------------------------------------------- errors


@pytest.mark.parametrize("payload, faults", [(p, f) for p, f in fields.BAD if "email" not in p],
                         ids=lambda value: repr(value)[:60])
def test_a_faulty_change_is_rejected_with_paths_and_codes(module_org, payload, faults):
    user = module_org.create_user({"email": email(), "first_name": "Ann"})
    reply = module_org.update_user(user["id"], payload | {"last_name": "Lee"} if "last_name" not in payload else payload,
                                   expect=422, code="VALIDATION_ERROR")
    assert faults_of(reply) == faults
    assert module_org.user(user["id"])["last_name"] is None


def test_every_fault_is_reported_at_once(org, ann):
    changes = {"email": "x@example.com", "dob": "x", "no_such": 1, "attributes": None}
    reply = org.update_user(ann["id"], changes, expect=422)
    assert faults_of(reply) == {"email": "unknown_field", "dob": "invalid_date", "no_such": "unknown_field",
                                "attributes": "required"}


def test_attributes_are_validated_by_the_registry_also_when_cleared(org, ann):
    attributes = {"no_such": None, "emergency_contact": None, "vip": "yes", "gender": "?", "phone": "2"}
    reply = org.update_user(ann["id"], {"attributes": attributes}, expect=422)
    assert faults_of(reply) == {"attributes.no_such": "unknown_attribute", "attributes.gender": "invalid_value",
                                "attributes.emergency_contact": "unknown_attribute", "attributes.vip": "invalid_value"}
    assert org.user(ann["id"])["attributes"] == ATTRIBUTES


@pytest.mark.parametrize("key, value, good", fields.ATTRIBUTE_VALUES, ids=lambda value: repr(value)[:40])
def test_attribute_values_are_validated(module_org, key, value, good):
    user = module_org.create_user({"email": email()})
    reply = module_org.update_user(user["id"], {"attributes": {key: value}}, expect=200 if good else 422)
    if good:
        assert reply.json()["attributes"] == {key: value}
    else:
        assert faults_of(reply) == {f"attributes.{key}": "invalid_value"}


def test_a_malformed_body_is_rejected(org, ann):
    path, json_type = f"/v1/users/{ann['id']}", {"Content-Type": "application/json"}
    for data in ("", "{", "\ufeff{}", '{"locale": "a", "locale": "b"}'):
        org.api.request("PATCH", path, data=data, headers=json_type, expect=400, code="BAD_REQUEST")
    org.api.request("PATCH", path, data="{}", headers={"Content-Type": "text/plain"}, expect=415)
    org.api.request("PATCH", path, json={"locale": "x" * 300_000}, expect=413)
    for body in ([], "x", 1, None):
        assert faults_of(org.update_user(ann["id"], body, expect=422)) == {"": "wrong_type"}


def test_an_unknown_member_cannot_be_changed(org, new_org):
    stranger = new_org().create_user({"email": email()})
    for user_id in (stranger["id"], str(uuid.uuid4()), "x"):
        org.update_user(user_id, {"first_name": "x"}, expect=404, code="NOT_FOUND")
        org.api.get(f"/v1/users/{user_id}/attributes", expect=404, code="NOT_FOUND")


@pytest.mark.parametrize("path", ["", "/attributes"])
def test_a_read_accepts_no_query(org, ann, path):
    reply = org.api.get(f"/v1/users/{ann['id']}{path}", params={"x": "1"}, expect=422, code="VALIDATION_ERROR")
    assert faults_of(reply) == {"x": "unknown_field"}


# ---------------------------------------------------------------------------- ETags


def test_the_etag_changes_only_with_the_record(org, ann):
    first = etag_of(org, ann)
    assert first.startswith('"') and first.endswith('"') and first == etag_of(org, ann)
    changed = org.update_user(ann["id"], {"first_name": "Bea"})
    assert changed.headers["ETag"] == etag_of(org, ann) != first
    head = org.api.request("HEAD", f"/v1/users/{ann['id']}", expect=200)
    assert head.headers["ETag"] == changed.headers["ETag"]


@pytest.mark.parametrize("header", ["{tag}", '"x", {tag}', '"a,b",{tag} , "y"', "*", "* "])
def test_if_match_accepts_a_change_of_the_current_state(org, ann, header):
    headers = {"If-Match": header.format(tag=etag_of(org, ann))}
    assert org.update_user(ann["id"], {"first_name": "Bea"}, headers=headers).json()["first_name"] == "Bea"


@pytest.mark.parametrize("header", ['"x"', "W/{tag}", "x", '"x", "y"', "", '""', '"*"', "{tag}x"])
def test_if_match_rejects_a_change_of_another_state(org, ann, header):
    headers = {"If-Match": header.format(tag=etag_of(org, ann))}
    org.update_user(ann["id"], {"first_name": "Bea"}, headers=headers, expect=412, code="PRECONDITION_FAILED")
    assert org.user(ann["id"])["first_name"] == "Ann"


@pytest.mark.parametrize("method, step", [("POST", "/lock"), ("POST", "/unlock"), ("DELETE", "")])
def test_if_match_protects_every_change(org, ann, method, step):
    path = f"/v1/users/{ann['id']}{step}"
    if step == "/unlock":
        org.api.post(f"/v1/users/{ann['id']}/lock", expect=200)
    before = org.user(ann["id"])
    org.api.request(method, path, headers={"If-Match": '"stale"'}, expect=412, code="PRECONDITION_FAILED")
    assert org.user(ann["id"]) == before
    assert org.api.request(method, path, headers={"If-Match": etag_of(org, ann)}).ok
    org.api.request(method, f"/v1/users/{uuid.uuid4()}{step}", headers={"If-Match": '"stale"'}, expect=404)


def test_creation_returns_the_etag_of_the_record(org):
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    body = {"email": email(), "attributes": {"phone": 'an "outcome": here'}}
    first = org.api.post("/v1/users", json=body, headers=headers, expect=201)
    assert first.headers["ETag"] == etag_of(org, first.json())
    assert org.api.post("/v1/users", json=body, headers=headers, expect=201).headers["ETag"] == first.headers["ETag"]
    merged = org.api.post("/v1/users", json={"email": body["email"], "first_name": "Ann"}, expect=200)
    assert merged.headers["ETag"] == etag_of(org, first.json()) != first.headers["ETag"]
    org.update_user(first.json()["id"], {"last_name": "Lee"}, headers={"If-Match": merged.headers["ETag"]})


def test_one_of_two_changes_of_one_state_succeeds(org, ann):
    headers = {"If-Match": etag_of(org, ann)}

    def change(number):
        return org.update_user(ann["id"], {"first_name": f"N{number}"}, headers=headers, expect=None).status_code

    with ThreadPoolExecutor(10) as pool:
        statuses = list(pool.map(change, range(10)))
    assert sorted(statuses) == [200] + [412] * 9


def test_parallel_changes_of_different_attributes_are_all_kept(org):
    user = org.create_user({"email": email()})
    changes = [{"attributes": {key: value}} for key, value in ATTRIBUTES.items()] + [
        {name: value} for name, value in CORE.items()]
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda change: org.update_user(user["id"], change), changes))
    after = org.user(user["id"])
    assert after["attributes"] == ATTRIBUTES and {name: after[name] for name in CORE} == CORE
