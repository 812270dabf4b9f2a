"""GET /v1/users: filters by country, attribute and import (docs/api/users.md "Users")."""

import uuid

import pytest
from support.client import faults_of
from support.world import email
from test_users_list import listed


@pytest.fixture(scope="module")
def org(stack, contract):
    from support.world import Organization
    org = Organization(stack, contract)
    for name, kind, choices in (("size", "single_choice", ["M", "L"]), ("likes", "multi_choice", ["a", "b"]),
                                ("points", "number", None), ("vip", "boolean", None), ("note", "text", None)):
        org.admin().api.request("PUT", f"/v1/attributes/{name}", json={"type": kind, "enabled": True} |
                            ({"choices": choices} if choices else {}))
    values = [{"size": "M", "points": 2.5, "likes": ["a", "b"]}, {"size": "L", "vip": True}, {"likes": ["b"], "note": "é = \"x\""}]
    org.people = [org.create_user({"email": email(), "country": country, "attributes": attributes})["id"]
                  for country, attributes in zip(("DE", "FR", "DE"), values)]
    return org


def found(org, **query):
    return sorted(org.people.index(user["id"]) for user in listed(org, **query))


@pytest.mark.parametrize("query, expected", [
    ({"country": "de"}, [0, 2]), ({"country": "FR"}, [1]), ({"country": "AT"}, []),
    ({"attribute.size": "M"}, [0]), ({"attribute.points": "2.50"}, [0]), ({"attribute.vip": "true"}, [1]),
    ({"attribute.likes": "b"}, [0, 2]), ({"attribute.note": "é = \"x\""}, [2]),
    ({"attribute.likes": "b", "country": "DE", "attribute.size": "M"}, [0]), ({"attribute.size": "L", "country": "DE"}, []),
    ({"country": "DE", "order": "newest"}, [0, 2])])
def test_members_are_filtered_by_country_and_attributes(org, query, expected):
    assert found(org, **query) == expected
    assert found(org, limit=1, **query) == expected
    page = org.api.get_json("/v1/users", params=query | {"total": "true"})
    assert page["total"] == {"count": len(expected), "exact": True}
    if "order" not in query:
        assert len(org.api.get("/v1/users/export", params=query, expect=200).text.splitlines()) == 1 + len(expected)


@pytest.mark.parametrize("query, faults", [
    ({"country": "Germany"}, {"country": "invalid_country"}), ({"attribute.none": "1"}, {"attribute.none": "unknown_attribute"}),
    ({"attribute.size": "XL", "attribute.points": "two"}, {"attribute.size": "invalid_value", "attribute.points": "invalid_value"}),
    ({"attribute.": "x"}, {"attribute.": "unknown_attribute"}), ({"attributes.size": "M"}, {"attributes.size": "unknown_field"}),
    ({"imported_by": "me"}, {"imported_by": "invalid_uuid"}),
    ({"imported_by": str(uuid.uuid4()), "order": "newest"}, {"order": "invalid_choice"})])
def test_a_faulty_filter_is_422(org, query, faults):
    assert faults_of(org.api.get("/v1/users", params=query, expect=422)) == faults


def test_a_cursor_belongs_to_its_attributes(org):
    cursor = org.api.get_json("/v1/users", params={"attribute.likes": "b", "limit": 1})["next_cursor"]
    assert cursor
    for query in ({"attribute.likes": "a"}, {}, {"attribute.likes": "b", "attribute.size": "M"}):
        reply = org.api.get("/v1/users", params=query | {"cursor": cursor}, expect=422)
        assert faults_of(reply) == {"cursor": "invalid_cursor"}


def test_an_import_lists_the_members_that_it_added(new_org):
    org, other = new_org(attributes=False), new_org(attributes=False)
    known = email()
    org.create_user({"email": known})
    addresses = [email(f"p{number}") for number in range(7)]
    job = org.imported([{"email": address} for address in addresses + [known]])["id"]
    assert [user["email"] for user in listed(org, imported_by=job, limit=3)] == addresses
    assert [user["email"] for user in listed(org, imported_by=job, q=addresses[1])] == [addresses[1]]
    assert listed(other, imported_by=job) == [] == listed(org, imported_by=str(uuid.uuid4()))
    total = org.api.get_json("/v1/users", params={"imported_by": job, "total": "true", "limit": 1})["total"]
    assert total == {"count": 7, "exact": True}


def test_an_import_does_not_list_members_who_came_back(new_org):
    org = new_org(attributes=False)
    back, changed, gone = (email(name) for name in ("back", "changed", "gone"))
    job = org.imported([{"email": address, "first_name": "Ann"} for address in (back, changed, gone)])["id"]
    ids = {user["email"]: user["id"] for user in listed(org, imported_by=job)}
    assert list(ids) == [back, changed, gone]

    org.api.delete(f"/v1/users/{ids[back]}", expect=204)
    org.create_user({"email": back})
    assert [user["email"] for user in listed(org, imported_by=job)] == [changed, gone]

    org.update_user(ids[changed], {"first_name": "Bea"})
    org.api.post(f"/v1/imports/{job}/undo", json={}, expect=202)
    assert org.state_is(job, "undone")["undo"]["kept"] == 1
    assert listed(org, imported_by=job) == []
    assert {user["email"] for user in listed(org)} == {back, changed}
