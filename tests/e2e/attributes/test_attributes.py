"""GET /v1/attributes: the registry of one organization (specification 2.2)."""

import pytest
from support.client import Client
from support.world import DISABLED_STARTER, OWN_ATTRIBUTES, email

STARTERS = {
    "phone": ("text", []), "gender": ("single_choice", ["female", "male", "non_binary", "undisclosed"]),
    "address.line1": ("text", []), "address.city": ("text", []), "address.postcode": ("text", []),
    "favourite_team": ("text", []), "shirt_size": ("single_choice", ["XS", "S", "M", "L", "XL", "XXL", "XXXL"]),
    "emergency_contact": ("text", []),
}


def listed(org, **query):
    found, cursor = [], None
    while True:
        page = org.api.get_json("/v1/attributes", params=query | ({"cursor": cursor} if cursor else {}))
        found += page["attributes"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


@pytest.mark.parametrize("is_enabled, options", [(True, []), (False, ["--no-starter-attributes"])])
def test_a_new_organization_has_the_starter_catalog(stack, contract, is_enabled, options):
    made = stack.ctl("org", "create", "--name", "fresh", *options)["id"]
    api = Client(stack, contract, stack.issue_key(made)["key"])
    attributes = api.get_json("/v1/attributes")["attributes"]
    assert {entry["key"]: (entry["type"], entry["choices"]) for entry in attributes} == STARTERS
    assert {entry["enabled"] for entry in attributes} == {is_enabled}


def test_the_first_import_of_a_fresh_organization_takes_a_phone_number(stack, contract):
    made = stack.ctl("org", "create", "--name", "fresh")["id"]
    api = Client(stack, contract, stack.issue_key(made)["key"])
    user = api.post("/v1/users", json={"email": email(), "attributes": {"phone": "1"}}, expect=201).json()
    assert user["attributes"] == {"phone": "1"}


def test_enabled_and_own_attributes_are_listed_with_their_types(org):
    attributes = {entry["key"]: entry for entry in listed(org)}
    assert {key for key, entry in attributes.items() if entry["enabled"]} == {
        *STARTERS, *(key for key, *_ in OWN_ATTRIBUTES)} - {DISABLED_STARTER}
    assert attributes[DISABLED_STARTER]["enabled"] is False
    assert attributes["interests"]["type"] == "multi_choice"
    assert attributes["interests"]["choices"] == ["news", "events", "offers"]
    assert attributes["points"]["choices"] == []


def test_each_attribute_is_read_by_its_key(module_org):
    for attribute in listed(module_org):
        assert module_org.api.get_json(f"/v1/attributes/{attribute['key']}") == attribute
    for key in ("no_such", "Phone", "x" * 300, "phone%20"):
        module_org.api.get(f"/v1/attributes/{key}", expect=404, code="NOT_FOUND")


def test_starter_attributes_are_distinguished_from_own_ones(org):
    attributes = listed(org)
    assert {entry["key"] for entry in attributes if entry["starter"]} == set(STARTERS)


@pytest.mark.parametrize("limit", [1, 5, 12, 100])
def test_the_list_is_paged_by_key(module_org, limit):
    keys = [entry["key"] for entry in listed(module_org, limit=limit)]
    assert keys == sorted(keys) and len(keys) == len(STARTERS) + len(OWN_ATTRIBUTES)


def test_organizations_have_their_own_registries(org, new_org):
    other = new_org(attributes=False)
    assert "interests" not in {entry["key"] for entry in listed(other)}
    org.set_enabled("phone", False)
    other.set_enabled("phone", True)
    assert {entry["key"]: entry["enabled"] for entry in listed(org)}["phone"] is False
    assert {entry["key"]: entry["enabled"] for entry in listed(other)}["phone"] is True
