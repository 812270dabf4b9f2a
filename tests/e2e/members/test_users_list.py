"""GET /v1/users: filters, order and pages (docs/api/users.md "Users")."""

import unicodedata
import uuid

import pytest
from support.client import details_of, faults_of
from support.world import email

PEOPLE = [
    {"external_id": "E-1", "first_name": "Ann", "last_name": "Lee"},
    {"external_id": "E-1", "first_name": "anna", "last_name": "Smith"},
    {"external_id": "E-2", "first_name": "Zoë", "last_name": "Ännchen"},
    {"display_name": "ANN of the Woods", "first_name": "Kim"},
    {"first_name": "100%", "last_name": "under_score"},
    {"last_name": "under score"},
    {"display_name": "Étienne"},
    {},
]


@pytest.fixture(scope="module")
def people(stack, contract):
    """An organization with PEOPLE, of whom the third is locked, and their records in that order."""
    from support.world import Organization
    org = Organization(stack, contract)
    org.people = []
    for number, person in enumerate(PEOPLE):
        org.people.append(org.create_user(person | {"email": email(f"p{number}")}))
    org.api.post(f"/v1/users/{org.people[2]['id']}/lock", expect=200)
    org.people = [org.user(user["id"]) for user in org.people]
    return org


def listed(org, **query):
    """All pages of the list."""
    users, cursor = [], None
    while True:
        page = org.api.get_json("/v1/users", params=query | ({"cursor": cursor} if cursor else {}))
        assert len(page["users"]) <= query.get("limit", 50)
        users += page["users"]
        cursor = page["next_cursor"]
        if cursor is None:
            return users


def places(org, **query):
    """The indices of the people in a list, in its order."""
    ids = [user["id"] for user in org.people]
    return [ids.index(user["id"]) for user in listed(org, **query)]


def test_without_a_filter_all_members_are_listed_by_id(people):
    assert listed(people) == sorted(people.people, key=lambda user: user["id"])


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("query", [{}, {"q": "ann"}, {"status": "active"}, {"updated_since": "2020-01-01T00:00:00Z"},
                                   {"q": "ann", "status": "active"}, {"external_id": "E-1"}])
def test_pages_of_any_size_add_up(people, query, limit):
    assert listed(people, limit=limit, **query) == listed(people, **query) != []


def test_an_address_is_found_in_any_case(people):
    user = people.people[0]
    assert listed(people, email=user["email"].upper()) == [user]
    assert listed(people, email=f" {user['email']} ") == [user]
    assert listed(people, email="nobody@e2e.example") == []


def test_an_address_of_another_organization_is_not_found(people, new_org):
    other = new_org(attributes=False).create_user({"email": email()})
    assert listed(people, email=other["email"]) == []


def test_an_external_id_is_found_exactly(people):
    assert sorted(places(people, external_id="E-1")) == [0, 1]
    assert places(people, external_id="e-1") == places(people, external_id="E-") == []


def test_members_are_filtered_by_status(people):
    assert places(people, status="locked") == [2]
    assert sorted(places(people, status="active")) == [0, 1, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("q, expected", [
    ("ann", [0, 3, 1, 2]), ("ANN ", [0, 3]), ("ann lee", [0]), ("anna", [1]), ("änn", [0, 3, 1, 2]), ("lee", [0]),
    ("kim", []), ("etienne", [6]), ("100%", [4]), ("under_", [4]), ("under", [5, 4]), ("%", []), ("_", []), ("\\", []),
    ("mith", []), ("zoe a", [2]),
])
def test_names_are_found_by_prefix_in_the_order_of_the_match(people, q, expected):
    assert places(people, q=q) == expected


def test_a_name_is_found_in_composed_and_decomposed_spelling(org):
    name = "Hrůška" + str(uuid.uuid4())
    user = org.create_user({"email": email(), "first_name": "Ann", "last_name": unicodedata.normalize("NFD", name)})
    assert user["last_name"] == name
    for form in ("NFC", "NFD"):
        assert listed(org, q=unicodedata.normalize(form, name)) == [org.user(user["id"])]
        assert listed(org, q=unicodedata.normalize(form, "Ann " + name)) == [org.user(user["id"])]
    assert listed(org, q=name.replace("ů", "u").replace("š", "s")) == [org.user(user["id"])]


def test_addresses_are_found_by_prefix(people):
    assert places(people, q=people.people[5]["email"][:12].upper()) == [5]


def test_a_member_who_matches_several_terms_appears_once(org):
    user = org.create_user({"email": "same" + email(), "display_name": "Same", "last_name": "same"})
    for limit in (1, 2, 50):
        assert [found["id"] for found in listed(org, q="same", limit=limit)] == [user["id"]]


def test_changes_since_a_time_are_listed_in_order(org):
    users = [org.create_user({"email": email()}) for _ in range(4)]
    org.update_user(users[0]["id"], {"first_name": "Last"})
    since = org.user(users[1]["id"])["updated_at"]
    found = [user["id"] for user in listed(org, updated_since=since, limit=2)]
    assert found[-1] == users[0]["id"] and set(found) >= {users[1]["id"], users[2]["id"], users[3]["id"]}
    assert [user["updated_at"] for user in listed(org, updated_since=since)] == sorted(
        user["updated_at"] for user in listed(org, updated_since=since))
    assert listed(org, updated_since="2999-01-01T00:00:00Z") == []


@pytest.mark.parametrize("zero", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.0000000+01:00", "1969-12-31T00:00:00Z"])
def test_a_time_before_1970_lists_all_members(org, zero):
    users = [org.create_user({"email": email()})["id"] for _ in range(3)]
    assert [user["id"] for user in listed(org, updated_since=zero, limit=2)] == users


def test_the_fault_of_a_parameter_says_what_is_allowed(org):
    fields = details_of(org.api.get("/v1/users?limit=101&status=gone&q=&updated_since=x", expect=422))["fields"]
    limits = {field["path"]: {name: value for name, value in field.items() if name not in ("path", "code", "message")}
              for field in fields}
    assert limits == {"limit": {"minimum": 1, "maximum": 100}, "status": {"allowed": ["active", "locked"]},
                      "q": {"min_length": 1}, "updated_since": {"format": "date-time"}}
    assert {field["path"]: field["message"] for field in fields}["limit"] == "is out of range; use 1 to 100"


@pytest.mark.parametrize("form", ["{0}.{1}Z", "{0}.{1}+00:00", "{0}.{1}000-00:00"])
def test_a_time_may_have_any_offset(org, form):
    user = org.create_user({"email": email()})
    at = user["updated_at"]
    written = form.format(at[:19], at[20:23])
    assert [found["id"] for found in listed(org, updated_since=written)] == [user["id"]]


def test_filters_are_combined(people):
    mine = people.people[0]
    assert places(people, q="ann", external_id="E-1", status="active", email=mine["email"],
                  updated_since=mine["updated_at"]) == [0]
    assert places(people, q="ann", status="locked") == [2]
    assert places(people, external_id="E-1", q="lee") == [0]
    assert places(people, email=mine["email"], q="smith") == []


@pytest.mark.parametrize("query, faults", [
    ("limit=0", {"limit": "out_of_range"}), ("limit=101", {"limit": "out_of_range"}), ("limit=x", {"limit": "wrong_type"}),
    ("status=gone", {"status": "invalid_choice"}), ("email=nomail", {"email": "invalid_email"}),
    ("email=", {"email": "too_short"}), ("country=", {"country": "too_short"}), ("q=", {"q": "too_short"}), ("q=" + "x" * 256, {"q": "too_long"}),
    ("external_id=", {"external_id": "too_short"}), ("external_id=" + "x" * 256, {"external_id": "too_long"}),
    ("updated_since=yesterday", {"updated_since": "invalid_timestamp"}),
    ("updated_since=2026-01-01", {"updated_since": "invalid_timestamp"}),
    ("updated_since=2026-01-01T00:00:00", {"updated_since": "invalid_timestamp"}),
    ("updated_since=2026-02-30T00:00:00Z", {"updated_since": "invalid_timestamp"}),
    ("cursor=x", {"cursor": "invalid_cursor"}), ("cursor=", {"cursor": "invalid_cursor"}),
    ("order=oldest", {"order": "invalid_choice"}), ("total=1", {"total": "invalid_choice"}),
    ("page=2", {"page": "unknown_field"}), ("q=a&q=b", {"q": "duplicate"}),
    ("limit=0&status=x&updated_since=x", {"limit": "out_of_range", "status": "invalid_choice",
                                          "updated_since": "invalid_timestamp"}),
])
def test_a_faulty_query_is_rejected_by_parameter(people, query, faults):
    assert faults_of(people.api.get(f"/v1/users?{query}", expect=422, code="VALIDATION_ERROR")) == faults


def test_a_cursor_is_valid_only_for_its_filters_and_organization(people, new_org):
    cursor = people.api.get_json("/v1/users", params={"limit": 1, "q": "ann"})["next_cursor"]
    people.api.get("/v1/users", params={"limit": 3, "q": "ann", "cursor": cursor}, expect=200)
    other = new_org(attributes=False)
    for api, query in ((people.api, {}), (people.api, {"q": "anna"}), (people.api, {"q": "ann", "status": "active"}),
                       (other.api, {"q": "ann"})):
        reply = api.get("/v1/users", params=query | {"cursor": cursor}, expect=422)
        assert faults_of(reply) == {"cursor": "invalid_cursor"}


def test_a_cursor_is_valid_only_for_its_order(people):
    for order, other in (("newest", "filter"), ("filter", "newest")):
        cursor = people.api.get_json("/v1/users", params={"limit": 1, "order": order})["next_cursor"]
        people.api.get("/v1/users", params={"order": order, "cursor": cursor}, expect=200)
        for query in ({}, {"order": other}, {"order": order, "status": "active"}):
            reply = people.api.get("/v1/users", params=query | {"cursor": cursor}, expect=422)
            assert faults_of(reply) == {"cursor": "invalid_cursor"}


def test_the_newest_members_come_first(people):
    newest = [user["id"] for user in people.people][::-1]
    for query in ({}, {"limit": 3}):
        assert [user["id"] for user in listed(people, order="newest", **query)] == newest
    assert places(people, order="newest", status="active") == [7, 6, 5, 4, 3, 1, 0]
    assert places(people, order="newest", email=people.people[4]["email"]) == [4]
    assert listed(people, order="filter") == listed(people)


@pytest.mark.parametrize("query", [{"external_id": "E-1"}, {"q": "ann"}, {"updated_since": "2020-01-01T00:00:00Z"}])
def test_newest_is_rejected_with_a_filter_that_has_another_order(people, query):
    reply = people.api.get("/v1/users", params=query | {"order": "newest"}, expect=422, code="VALIDATION_ERROR")
    [fault] = details_of(reply)["fields"]
    assert (fault["path"], fault["code"], fault["allowed"]) == ("order", "invalid_choice", ["filter"])
    assert "external_id, q, imported_by or updated_since" in fault["message"]
    assert listed(people, order="filter", **query) == listed(people, **query)


@pytest.mark.parametrize("query, count", [
    ({}, 8), ({"limit": 1}, 8), ({"status": "locked"}, 1), ({"q": "ann"}, 4), ({"q": "ann", "status": "active"}, 3),
    ({"external_id": "none"}, 0), ({"order": "newest", "status": "active"}, 7),
])
def test_a_total_counts_the_members_of_all_pages(people, query, count):
    page = people.api.get_json("/v1/users", params=query | {"total": "true"})
    assert page["total"] == {"count": count, "exact": True}
    if page["next_cursor"]:
        rest = people.api.get_json("/v1/users", params=query | {"total": "true", "cursor": page["next_cursor"]})
        assert rest["total"] == page["total"]


def test_a_list_has_a_total_only_on_request(people):
    for query in ({}, {"total": "false"}):
        assert sorted(people.api.get_json("/v1/users", params=query)) == ["next_cursor", "users"]


def test_a_total_counts_only_the_members_of_the_organization(people, new_org):
    other = new_org(attributes=False)
    other.create_user({"email": people.people[0]["email"]})
    assert other.api.get_json("/v1/users?total=true")["total"] == {"count": 1, "exact": True}


def test_a_cursor_can_contain_the_longest_name(org):
    name = "\U0001f600" * 255
    users = [org.create_user({"email": email(), "first_name": name, "last_name": name}) for _ in range(3)]
    found = listed(org, q="\U0001f600" * 255, limit=1)
    assert sorted(user["id"] for user in found) == sorted(user["id"] for user in users)


def test_a_removed_member_is_not_listed_and_paging_continues_after_it(org):
    users = sorted((org.create_user({"email": email()}) for _ in range(4)), key=lambda user: user["id"])
    page = org.api.get_json("/v1/users", params={"limit": 2})
    org.api.request("DELETE", f"/v1/users/{users[1]['id']}", expect=204)
    rest = org.api.get_json("/v1/users", params={"cursor": page["next_cursor"]})
    assert [user["id"] for user in rest["users"]] == [user["id"] for user in users[2:]]
    assert str(uuid.UUID(rest["users"][0]["id"])) == users[2]["id"]
