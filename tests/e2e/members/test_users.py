"""POST /v1/users and GET /v1/users/{userId} (specification 2.1, 3.4; docs/api/users.md "Users")."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import fields
from support.client import faults_of
from support.world import email, emails

CORE = {"external_id": "E-1", "first_name": "Ann", "last_name": "Lee", "display_name": "Annie", "locale": "en-GB",
        "country": "GB", "dob": "1990-05-06"}
ATTRIBUTES = {"phone": "1", "points": 5, "vip": True, "joined": "2020-01-02", "interests": ["news"]}
OTHER = {"external_id": "E-2", "first_name": "Bea", "last_name": "Low", "display_name": "Bee", "locale": "de-DE",
         "country": "DE", "dob": "1991-06-07"}
numbers = itertools.count(1)


def without_outcome(user):
    return {key: value for key, value in user.items() if key != "outcome"}


# ---------------------------------------------------------------------------- create, attach, merge


def test_a_new_address_creates_a_user(org):
    address = email()
    reply = org.api.post("/v1/users", json=CORE | {"email": address.upper(), "attributes": ATTRIBUTES}, expect=201)
    user = reply.json()
    assert user["outcome"] == "created"
    assert reply.headers["Location"] == f"/v1/users/{user['id']}"
    assert org.api.get_json(reply.headers["Location"]) == without_outcome(user)
    assert user["email"] == address and user["organization_id"] == org.id
    assert {name: user[name] for name in CORE} == CORE and user["attributes"] == ATTRIBUTES
    assert (user["roles"], user["status"], user["locked_at"], user["lock_reason"]) == (["member"], "active", None, None)
    assert user["created_at"] == user["updated_at"]
    assert org.members()[address]["attributes"]["phone"][:2] == ["1", "api"]


def test_absent_values_are_null_and_never_missing(org):
    user = org.create_user({"email": email()})
    assert all(user[name] is None for name in CORE) and user["attributes"] == {}


def test_a_user_of_another_organization_is_attached(org, new_org):
    elsewhere = new_org()
    there = elsewhere.create_user(CORE | {"email": email(), "attributes": ATTRIBUTES})
    reply = org.api.post("/v1/users", json={"email": there["email"], "first_name": "Own"}, expect=201)
    here = reply.json()
    assert here["outcome"] == "attached" and here["id"] == there["id"] and here["member_id"] != there["member_id"]
    assert reply.headers["Location"] == f"/v1/users/{there['id']}"
    assert here["first_name"] == "Own"
    assert all(here[name] is None for name in CORE if name != "first_name") and here["attributes"] == {}
    assert elsewhere.user(there["id"]) == without_outcome(there)


def test_a_member_gets_missing_values_and_keeps_the_rest(org):
    some = {"first_name": "Ann", "attributes": {"phone": "1"}}
    user = org.create_user(some | {"email": email()})
    reply = org.api.post("/v1/users", json=OTHER | {"email": user["email"], "attributes": ATTRIBUTES | {"phone": "2"}},
                         expect=200)
    merged = reply.json()
    assert merged["outcome"] == "merged" and merged["id"] == user["id"]
    assert reply.headers["Location"] == f"/v1/users/{user['id']}"
    assert {name: merged[name] for name in CORE} == OTHER | {"first_name": "Ann"}
    assert merged["attributes"] == ATTRIBUTES
    assert org.user(user["id"]) == without_outcome(merged)


def test_a_complete_member_is_not_changed(org):
    user = org.create_user(CORE | {"email": email(), "attributes": ATTRIBUTES})
    again = org.create_user(OTHER | {"email": user["email"], "attributes": {"phone": "9"}}, expect=200)
    assert without_outcome(again) == without_outcome(user)


@pytest.mark.parametrize("name", [*CORE, "attributes"])
def test_each_empty_field_can_be_filled_later(module_org, name):
    user = module_org.create_user({"email": email()})
    value = ATTRIBUTES if name == "attributes" else CORE[name]
    filled = module_org.create_user({"email": user["email"], name: value}, expect=200)
    assert filled[name] == value
    assert {k: v for k, v in filled.items() if k not in (name, "outcome", "updated_at")} == {
        k: v for k, v in user.items() if k not in (name, "outcome", "updated_at")}


@pytest.mark.parametrize("name", CORE)
def test_each_value_is_kept_while_all_others_are_filled(module_org, name):
    user = module_org.create_user({"email": email(), name: CORE[name]})
    merged = module_org.create_user(OTHER | {"email": user["email"]}, expect=200)
    assert {key: merged[key] for key in CORE} == OTHER | {name: CORE[name]}


# ---------------------------------------------------------------------------- field rules


@pytest.mark.parametrize("payload, stored", fields.GOOD, ids=lambda value: repr(value)[:40])
def test_a_valid_payload_is_stored_normalized(module_org, payload, stored):
    user = module_org.create_user(payload | {"email": email()})
    assert {name: user[name] for name in CORE} == dict.fromkeys(CORE) | stored


@pytest.mark.parametrize("written, stored", fields.GOOD_EMAILS, ids=lambda value: repr(value)[:40])
def test_deliverable_addresses_are_accepted(module_org, written, stored):
    number = f"7{next(numbers)}"
    reply = module_org.api.post("/v1/users", json={"email": written.format(n=number)})
    if stored is None:  # only one @, even between quotes
        assert faults_of(reply) == {"email": "invalid_email"}
    else:
        assert reply.status_code == 201 and reply.json()["email"] == stored.format(n=number)


@pytest.mark.parametrize("payload, faults", fields.BAD, ids=lambda value: repr(value)[:60])
def test_a_faulty_payload_is_rejected_with_paths_and_codes(module_org, payload, faults):
    before = module_org.stack.sql("SELECT COUNT(*) FROM users")
    reply = module_org.api.post("/v1/users", json={"email": email()} | payload, expect=422, code="VALIDATION_ERROR")
    assert faults_of(reply) == faults
    assert module_org.stack.sql("SELECT COUNT(*) FROM users") == before


@pytest.mark.parametrize("body", [[], "x", 1, True, None])
def test_a_payload_that_is_not_an_object_is_rejected(module_org, body):
    reply = module_org.api.post("/v1/users", json=body, expect=422, code="VALIDATION_ERROR")
    assert faults_of(reply) == {"": "wrong_type"}


@pytest.mark.parametrize("key, value, good", fields.ATTRIBUTE_VALUES, ids=lambda value: repr(value)[:40])
def test_attribute_values_are_validated_by_the_registry(module_org, key, value, good):
    reply = module_org.api.post("/v1/users", json={"email": email(), "attributes": {key: value}})
    if good:
        assert reply.status_code == 201, reply.text
        stored = module_org.user(reply.json()["id"])["attributes"][key]
        assert stored == value and isinstance(stored, bool) == isinstance(value, bool)
    else:
        assert reply.status_code == 422 and faults_of(reply) == {f"attributes.{key}": "invalid_value"}


@pytest.mark.parametrize("key", fields.UNKNOWN_ATTRIBUTES)
def test_unknown_and_disabled_attributes_are_rejected(module_org, key):
    reply = module_org.api.post("/v1/users", json={"email": email(), "attributes": {key: "x"}}, expect=422)
    assert faults_of(reply) == {f"attributes.{key}": "unknown_attribute"}


def test_every_faulty_attribute_is_reported_at_once(module_org):
    attributes = {"no_such": 1, "vip": "yes", "points": 1, "gender": "?"}
    reply = module_org.api.post("/v1/users", json={"email": email(), "attributes": attributes}, expect=422)
    assert faults_of(reply) == {"attributes.no_such": "unknown_attribute", "attributes.vip": "invalid_value",
                                "attributes.gender": "invalid_value"}


def test_strings_of_attributes_are_trimmed(module_org):
    sent = {"phone": " 1\n", "gender": "female ", "interests": [" news"], "favourite_team": " ", "address.city": " a \n b "}
    user = module_org.create_user({"email": email(), "attributes": sent})
    assert user["attributes"] == {"phone": "1", "gender": "female", "interests": ["news"], "address.city": "a \n b"}
    changed = module_org.update_user(user["id"], {"attributes": {"phone": " 2 ", "gender": " "}}).json()
    assert changed["attributes"] == {"phone": "2", "interests": ["news"], "address.city": "a \n b"}


def test_field_and_attribute_values_are_unchanged_by_a_merge(org):
    values = {
        "phone": "😀 \"quoted\" \\ back / slash 'single' \u2028 \u0001 line\nbreak\ttab", "points": 0.1 + 0.2,
        "favourite_team": "'; DROP TABLE members; --", "address.city": "Zürich", "interests": [],
    }
    user = org.create_user({"email": email(), "attributes": values})
    merged = org.create_user({"email": user["email"], "attributes": {"vip": False, "points": 1}}, expect=200)
    assert merged["attributes"] == user["attributes"] | {"vip": False}
    assert {key: merged["attributes"][key] for key in values} == values


# ---------------------------------------------------------------------------- reading


@pytest.mark.parametrize("number", [0, -1, 1e300, 4.9e-324, 123456789012345678, 2**64 - 1, -(2**63), 1.10, 1e21])
def test_numbers_are_unchanged_by_a_merge(module_org, number):
    user = module_org.create_user({"email": email(), "attributes": {"points": number}})
    merged = module_org.create_user({"email": user["email"], "attributes": {"vip": True}}, expect=200)
    assert user["attributes"]["points"] == number
    assert merged["attributes"] == {"points": number, "vip": True}


@pytest.mark.parametrize("number", [2**64, 1 - 10**30, 10**308 - 1])
def test_integers_beyond_64_bits_are_unchanged_by_a_merge(module_org, number):
    if "MariaDB" not in module_org.stack.sql("SELECT VERSION()")[0][0]:
        pytest.skip("MySQL merges documents with doubles (docs/api/attributes.md)")
    user = module_org.create_user({"email": email(), "attributes": {"points": number}})
    merged = module_org.create_user({"email": user["email"], "attributes": {"vip": True}}, expect=200)
    assert merged["attributes"] == {"points": number, "vip": True}


def test_a_member_can_be_read_and_head_has_no_body(org):
    user = org.create_user({"email": email()})
    assert org.user(user["id"]) == without_outcome(user)
    head = org.api.request("HEAD", f"/v1/users/{user['id']}", expect=200)
    assert head.content == b"" and head.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("user_id", ["x", "0", "5b1cfe8c-71a1-4a5c-9f0e-2d4f3a0c6e57", "00000000-0000-0000-0000-000000000000", "me",
                                     "' OR 1=1 --", "{userId}"])
def test_an_unknown_member_is_404(module_org, user_id):
    module_org.api.get(f"/v1/users/{user_id}", expect=404, code="NOT_FOUND")


def test_an_id_is_accepted_only_in_its_canonical_form(org):
    user_id = org.create_user({"email": email()})["id"]
    for other in (user_id.upper(), user_id.replace("-", ""), "{" + user_id + "}", user_id + " ", "urn:uuid:" + user_id):
        if other != user_id:
            org.api.get(f"/v1/users/{other}", expect=404, code="NOT_FOUND")


def test_a_member_of_only_another_organization_is_404(org, new_org):
    user = new_org().create_user({"email": email()})
    org.api.get(f"/v1/users/{user['id']}", expect=404, code="NOT_FOUND")


# ---------------------------------------------------------------------------- in parallel


def test_parallel_creations_of_one_address_create_one_user(org, new_org):
    for round_number in range(3):
        address = email("race")
        orgs = [org] + [new_org(attributes=False) for _ in range(2)]

        def create(number):
            body = {"email": address, "first_name": f"N{number}", "external_id": f"X{number}"}
            return orgs[number % 3].api.post("/v1/users", json=body)

        with ThreadPoolExecutor(50) as pool:
            replies = list(pool.map(create, range(50)))
        assert {reply.status_code for reply in replies} == {200, 201}
        assert len({reply.json()["id"] for reply in replies}) == 1
        outcomes = [reply.json()["outcome"] for reply in replies]
        assert (outcomes.count("created"), outcomes.count("attached")) == (1, 2), round_number
        for one in orgs:
            (member,) = [member for known, member in one.members().items() if known == address]
            assert member["first_name"][1:] == member["external_id"][1:]  # both values come from the first request, none from the others


def test_parallel_creations_of_many_addresses_all_succeed(org):
    addresses = emails(200)
    with ThreadPoolExecutor(32) as pool:
        users = list(pool.map(lambda address: org.create_user({"email": address}), addresses))
    assert {user["email"] for user in users} == set(addresses) == set(org.members())


def test_an_import_and_single_creations_of_the_same_people_agree(org):
    addresses = emails(600)
    job_id = org.staged([{"email": address, "first_name": "Import"} for address in addresses])
    org.validate(job_id)
    org.state_is(job_id, "validated")
    with ThreadPoolExecutor(8) as pool:
        org.commit(job_id)
        replies = list(pool.map(
            lambda address: org.api.post("/v1/users", json={"email": address, "first_name": "Single"}), addresses[::-1]))
    assert {reply.status_code for reply in replies} <= {200, 201}
    job = org.state_is(job_id, "completed")
    assert (job["created_count"] + job["attached_count"], job["failed_count"]) == (600, 0)
    members = org.members()
    assert set(members) == set(addresses)
    outcomes = org.outcomes(job_id)
    for number, address in enumerate(addresses, 1):
        single = replies[600 - number].json()
        created_by = {outcomes[number], single["outcome"]}
        assert created_by == {"created", "merged"}, (number, created_by)
        first = "Import" if outcomes[number] == "created" else "Single"
        assert members[address]["first_name"] == first
