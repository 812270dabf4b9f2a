"""PUT /v1/attributes/{key}: an admin changes the registry (specification 2.2, docs/api/attributes.md "Attributes")."""

import uuid

import pytest
from support.client import faults_of
from support.world import email

TEXT = {"type": "text", "enabled": True}


@pytest.fixture
def put(org):
    """PUT as an admin of the organization."""
    api = org.admin().api

    def put(key, body, expect=200, **options):
        return api.request("PUT", f"/v1/attributes/{key}", json=body, expect=expect, **options)

    return put


def entry_of(org, key):
    attributes = org.api.get_json("/v1/attributes", params={"limit": 100})["attributes"]
    return next((entry for entry in attributes if entry["key"] == key), None)


def test_an_attribute_is_created_changed_and_used(org, put):
    made = put("shoe.size", {"type": "single_choice", "choices": ["39", "40"], "enabled": True, "label": "Shoes"}).json()
    assert made == entry_of(org, "shoe.size")
    assert (made["label"], made["type"], made["choices"], made["starter"]) == ("Shoes", "single_choice", ["39", "40"], False)
    user = org.create_user({"email": email(), "attributes": {"shoe.size": "40"}})
    wider = put("shoe.size", {"type": "single_choice", "choices": ["41"], "enabled": True}).json()
    assert (wider["choices"], wider["label"], wider["created_at"]) == (["41"], "Shoes", made["created_at"])
    assert org.user(user["id"])["attributes"] == {"shoe.size": "40"}  # existing values are kept
    refused = org.create_user({"email": email(), "attributes": {"shoe.size": "40"}}, expect=422)
    assert refused["error"]["details"]["fields"][0]["code"] == "invalid_value"


def test_choices_texts_and_filters_are_composed(org, put):
    """A file of macOS has accents as separate characters, and a keyboard has not."""
    apart, whole = ({"type": "multi_choice", "choices": ["Tee", text], "enabled": True} for text in ("Cafe\u0301", "Caf\u00e9"))
    made = put("drinks", apart).json()
    assert made["choices"] == whole["choices"]
    assert put("drinks", whole).json() == made
    twice = put("drinks", apart | {"choices": ["Caf\u00e9", "Cafe\u0301"]}, expect=422)
    assert faults_of(twice) == {"choices[1]": "duplicate"}
    put("city", TEXT)
    values = {"drinks": ["Caf\u00e9"], "city": "B\u00e9rn"}
    users = [org.create_user({"email": email(), "external_id": "e\u0301", "attributes": {"drinks": [choice], "city": city}})
             for choice, city in (("Cafe\u0301", "Be\u0301rn"), ("Caf\u00e9", "B\u00e9rn"))]
    assert [user["attributes"] for user in users] == [values, values]
    assert users[0]["external_id"] == "e\u0301"
    for choice, city in (("Cafe\u0301", "Be\u0301rn"), ("Caf\u00e9", "B\u00e9rn")):
        found = org.api.get_json("/v1/users", params={"attribute.drinks": choice, "attribute.city": city})["users"]
        assert {user["id"] for user in found} == {user["id"] for user in users}
    repeated = org.api.post("/v1/users", json={"email": email(), "attributes": {"drinks": ["Caf\u00e9", "Cafe\u0301"]}}, expect=422)
    assert faults_of(repeated) == {"attributes.drinks": "invalid_value"}


def test_a_choice_that_was_stored_decomposed_takes_values_of_both_spellings(stack, org, put):
    put("drink", {"type": "single_choice", "choices": ["Tee"], "enabled": True})
    stack.sql("UPDATE attributes SET choices = %s WHERE attribute_key = 'drink' AND organization_id = %s",
              '["Cafe\u0301"]', uuid.UUID(org.id).bytes)
    assert entry_of(org, "drink")["choices"] == ["Caf\u00e9"]
    for text in ("Cafe\u0301", "Caf\u00e9"):
        assert org.create_user({"email": email(), "attributes": {"drink": text}})["attributes"] == {"drink": "Caf\u00e9"}


def test_a_repeated_put_changes_nothing(org, put):
    first = put("color", TEXT).json()
    assert put("color", TEXT).json() == first


def test_a_disabled_attribute_accepts_no_values(org, put):
    put("color", {"type": "text", "enabled": False})
    reply = org.api.post("/v1/users", json={"email": email(), "attributes": {"color": "red"}}, expect=422)
    assert faults_of(reply) == {"attributes.color": "unknown_attribute"}


def test_the_type_of_a_used_or_starter_attribute_is_fixed(org, put):
    put("color", TEXT)
    put("color", {"type": "number", "enabled": True})
    put("color", TEXT)  # no member has a value yet
    org.create_user({"email": email(), "attributes": {"color": "red"}})
    refused = put("color", {"type": "number", "enabled": True}, expect=409, code="INVALID_STATE").json()
    assert "values" in refused["error"]["details"]["reason"]
    put("phone", {"type": "number", "enabled": True}, expect=409, code="INVALID_STATE")
    assert entry_of(org, "phone")["type"] == "text"
    assert put("gender", {"type": "single_choice", "choices": ["f", "m"], "enabled": True}).json()["choices"] == ["f", "m"]


@pytest.mark.parametrize("key, body, faults", [
    ("Color", TEXT, {"key": "invalid_value"}),
    ("9lives", TEXT, {"key": "invalid_value"}),
    ("x" * 65, TEXT, {"key": "invalid_value"}),
    ("color", {}, {"type": "required", "enabled": "required"}),
    ("color", {"type": "color", "enabled": 1}, {"type": "invalid_choice", "enabled": "wrong_type"}),
    ("color", TEXT | {"unknown": 1}, {"unknown": "unknown_field"}),
    ("color", {"type": "single_choice", "enabled": True}, {"choices": "required"}),
    ("color", {"type": "multi_choice", "choices": ["a", "a"], "enabled": True}, {"choices[1]": "duplicate"}),
    ("color", TEXT | {"choices": ["a"]}, {"choices": "invalid_value"}),
    ("color", TEXT | {"label": "x" * 256}, {"label": "too_long"}),
])
def test_faults_of_an_attribute_are_reported_field_by_field(org, put, key, body, faults):
    assert faults_of(put(key, body, expect=422)) == faults
    assert entry_of(org, "color") is None


def test_the_choices_of_all_attributes_are_bounded(org, put):
    def choices_of(count):
        return {"type": "multi_choice", "enabled": True, "choices": [f"{number:03}" + "c" * 250 for number in range(count)]}

    for number in range(8):
        put(f"large{number}", choices_of(500))
    refused = put("large8", choices_of(500), expect=422)
    assert faults_of(refused) == {"choices": "too_long"}
    assert "at most 1048576" in refused.json()["error"]["details"]["fields"][0]["message"]
    put("large7", choices_of(400))  # makes room
    put("large8", choices_of(90))
    reply = org.api.get("/v1/attributes", params={"limit": 100})
    assert 10 ** 6 < len(reply.content) < 2 << 20


def test_a_change_is_in_the_audit_log(org, put):
    put("color", TEXT)
    newest = org.admin().api.get_json("/v1/audit-log", params={"limit": 1, "action": "attribute.changed"})["audit_log"][0]
    assert (newest["actor"], newest["subject_id"]) == ("admin", "color")
