"""Results of rows: dry run, preview and commit of create, attach and merge (specification 3.4)."""

import pytest
from support import fields
from support.world import email, emails

FULL = {
    "external_id": "E-1", "first_name": "Ann", "last_name": "Lee", "display_name": "Annie", "locale": "en-GB",
    "country": "GB", "dob": "1990-05-06",
    "attributes": {"phone": "1", "points": 5, "vip": True, "joined": "2020-01-02", "interests": ["news", "events"]},
}
OTHER = {
    "external_id": "E-2", "first_name": "Bea", "last_name": "Low", "display_name": "Bee", "locale": "de-DE",
    "country": "DE", "dob": "1991-06-07",
    "attributes": {"phone": "2", "points": 10**30 + 1, "vip": False, "joined": "2021-03-04", "interests": ["offers"]},
}
FIELDS = list(FULL)


def values(user):
    return {name: user[name] for name in FIELDS}


def empty():
    return dict.fromkeys(FIELDS) | {"attributes": {}}


# ---------------------------------------------------------------------------- create, attach, merge


def test_a_new_address_becomes_a_user_and_member_with_every_value(org):
    address = email()
    job = org.imported([FULL | {"email": address.upper()}])
    (row,) = org.rows(job["id"])
    assert row["state"] == "created"
    user = org.user(row["user_id"])
    assert user["email"] == address
    assert values(user) == FULL
    assert (user["organization_id"], user["roles"], user["status"]) == (org.id, ["member"], "active")
    assert (user["locked_at"], user["lock_reason"]) == (None, None)


def test_a_user_of_another_organization_is_attached_with_only_the_values_of_the_row(org, new_org):
    elsewhere = new_org()
    there = elsewhere.create_user(FULL | {"email": email()})
    job = org.imported([OTHER | {"email": there["email"]}])
    assert (job["created_count"], job["attached_count"]) == (0, 1)
    (row,) = org.rows(job["id"])
    assert (row["state"], row["user_id"]) == ("attached", there["id"])
    here = org.user(there["id"])
    assert values(here) == OTHER
    assert here["member_id"] != there["member_id"]
    assert values(elsewhere.user(there["id"])) == FULL  # the values of the other organization are unchanged


def test_a_member_keeps_its_values_and_gets_the_missing_ones(org):
    some = {"first_name": "Ann", "country": "GB", "attributes": {"phone": "1", "vip": False}}
    user = org.create_user(some | {"email": email()})
    job = org.imported([OTHER | {"email": user["email"]}])
    (row,) = org.rows(job["id"])
    assert (row["state"], row["user_id"]) == ("merged", user["id"])
    assert (job["created_count"], job["attached_count"]) == (0, 1)
    merged = org.user(user["id"])
    want = OTHER | {"first_name": "Ann", "country": "GB"}
    assert values(merged) == want | {"attributes": OTHER["attributes"] | some["attributes"]}
    assert merged["member_id"] == user["member_id"] and merged["created_at"] == user["created_at"]
    assert merged["updated_at"] > user["updated_at"]


@pytest.mark.parametrize("name", FIELDS)
def test_each_field_is_filled_if_empty_and_kept_otherwise(module_org, name):
    lacking = {key: value for key, value in FULL.items() if key != name}
    full = module_org.create_user(FULL | {"email": email()})
    gap = module_org.create_user(lacking | {"email": email()})
    module_org.imported([{"email": full["email"], name: OTHER[name]}, {"email": gap["email"], name: OTHER[name]}])
    assert values(module_org.user(full["id"])) == FULL
    assert values(module_org.user(gap["id"])) == FULL | {name: OTHER[name]}


def test_each_value_is_kept_while_all_others_are_filled(module_org):
    users = {name: module_org.create_user({"email": email(), name: FULL[name]}) for name in FIELDS}
    module_org.imported([OTHER | {"email": user["email"]} for user in users.values()])
    for name, user in users.items():
        assert values(module_org.user(user["id"])) == OTHER | {name: FULL[name]}, name


def test_a_row_without_values_changes_nothing(org):
    user = org.create_user(FULL | {"email": email()})
    org.imported([{"email": user["email"], "first_name": "", "last_name": None, "attributes": {"phone": ""}}])
    assert org.user(user["id"]) == {key: value for key, value in user.items() if key != "outcome"}


def test_a_row_without_new_values_does_not_change_the_time_of_change(org):
    user = org.create_user(FULL | {"email": email()})
    org.imported([OTHER | {"email": user["email"]}])
    assert org.user(user["id"])["updated_at"] == user["updated_at"]


def test_importing_the_same_rows_again_duplicates_and_changes_nothing(org):
    rows = [FULL | {"email": address} for address in emails(20)]
    first = org.imported(rows)
    before = org.members()
    second = org.imported(rows)
    assert (first["created_count"], first["attached_count"]) == (20, 0)
    assert (second["created_count"], second["attached_count"], second["failed_count"]) == (0, 20, 0)
    assert org.members() == before
    assert {row["state"] for row in org.rows(second["id"])} == {"merged"}


def test_an_import_never_deletes_a_member_who_is_not_in_the_file(org):
    gone = org.create_user(FULL | {"email": email()})
    org.imported([{"email": email()}])
    assert values(org.user(gone["id"])) == FULL


def test_addresses_that_differ_only_in_case_are_one_person(org):
    user = org.create_user({"email": email("Case.Sensitive")})
    job = org.imported([{"email": user["email"].upper(), "first_name": "Ann"}, {"email": user["email"].title()}])
    assert org.outcomes(job["id"]) == {1: "merged", 2: "ROW_DUPLICATE_IN_FILE"}
    assert org.user(user["id"])["first_name"] == "Ann"


def test_addresses_that_differ_otherwise_are_different_people(org):
    local = email("strasse").split("@")[0]
    addresses = [f"{local}@e2e.example", f"{local.replace('ss', 'ß')}@e2e.example", f"{local}x@e2e.example",
                 f"{local.replace('a', 'ä')}@e2e.example", f"{local}@e2e.example.com"]
    job = org.imported([{"email": address} for address in addresses])
    assert job["created_count"] == 5
    assert set(org.members()) == set(addresses)


# ---------------------------------------------------------------------------- provenance


def test_written_attribute_values_have_their_provenance(org):
    user = org.create_user({"email": email(), "attributes": {"phone": "1"}})
    job = org.imported([{"email": user["email"], "attributes": {"phone": "2", "vip": True}}, {"email": email(),
                        "attributes": {"points": 3}}])
    members = org.members()
    stored = members[user["email"]]["attributes"]
    assert stored["phone"][:2] == ["1", "api"]
    assert stored["vip"][:2] == [True, "import"]
    (created,) = [member for address, member in members.items() if address != user["email"]]
    assert created["attributes"]["points"][:2] == [3, "import"]
    assert org.user(user["id"])["attributes"] == {"phone": "1", "vip": True}
    assert job["failed_count"] == 0


def test_an_import_assigns_the_default_role_and_sends_no_mail(org, stack):
    before = sorted((stack.folder / "mail").iterdir())
    job = org.imported([{"email": address} for address in emails(3)])
    assert {tuple(org.user(row["user_id"])["roles"]) for row in org.rows(job["id"])} == {("member",)}
    assert sorted((stack.folder / "mail").iterdir()) == before


# ---------------------------------------------------------------------------- dry run


def test_the_lowest_row_number_claims_an_address_even_if_invalid(org):
    one, two = emails(2)
    bad = {"no_such": 1}
    job_id = org.create_import()["id"]
    # Sent out of order, in several calls and different blocks: only the row number decides.
    org.stage(job_id, [(2000, {"email": one}), (30, {"email": two.upper()})])
    org.stage(job_id, [(1, {"email": two, "attributes": bad}), (700, {"email": one}), (701, {"email": one})])
    org.validate(job_id)
    org.state_is(job_id, "validated")
    assert org.outcomes(job_id) == {
        1: "ROW_ATTR_UNKNOWN_KEY", 30: "ROW_DUPLICATE_IN_FILE", 700: "valid", 701: "ROW_DUPLICATE_IN_FILE",
        2000: "ROW_DUPLICATE_IN_FILE",
    }


def test_attribute_values_are_validated_by_the_registry(module_org):
    cases = fields.ATTRIBUTE_VALUES
    job_id = module_org.staged([{"email": email(), "attributes": {key: value}} for key, value, _ in cases])
    module_org.validate(job_id)
    module_org.state_is(job_id, "validated")
    outcomes = module_org.outcomes(job_id)
    for number, (key, value, good) in enumerate(cases, 1):
        assert outcomes[number] == ("valid" if good else "ROW_ATTR_INVALID_VALUE"), (key, value)
    module_org.commit(job_id)
    job = module_org.state_is(job_id, "completed")
    assert job["created_count"] == sum(good for *_, good in cases)
    for row in module_org.rows(job_id, state="created", limit=1000):
        key, value, _ = cases[row["row_number"] - 1]
        stored = module_org.user(row["user_id"])["attributes"][key]
        assert stored == value and isinstance(stored, bool) == isinstance(value, bool), (key, value)


def test_unknown_and_disabled_attributes_make_a_row_invalid(module_org):
    keys = fields.UNKNOWN_ATTRIBUTES
    payloads = [{"email": email(), "attributes": {"points": 1, key: "x"}} for key in keys]
    job = module_org.validated(payloads)
    rows = module_org.rows(job["id"])
    assert {row["error_code"] for row in rows} == {"ROW_ATTR_UNKNOWN_KEY"}
    for row, key in zip(rows, keys):
        assert key in row["error_message"]
    module_org.cancel(job["id"])


def test_the_dry_run_uses_the_current_registry_not_the_one_at_staging(org):
    job_id = org.staged([{"email": email(), "attributes": {"emergency_contact": "x"}},
                         {"email": email(), "attributes": {"phone": "1"}}])
    org.set_enabled("emergency_contact", True)
    org.set_enabled("phone", False)
    org.validate(job_id)
    org.state_is(job_id, "validated")
    assert org.outcomes(job_id) == {1: "valid", 2: "ROW_ATTR_UNKNOWN_KEY"}


def test_invalid_rows_are_never_committed(org):
    address = email()
    job = org.imported([{"email": address}, {"email": address, "first_name": "Second"},
                        {"email": email(), "attributes": {"vip": "yes"}}])
    assert (job["valid_rows"], job["invalid_rows"], job["created_count"], job["failed_count"]) == (1, 2, 1, 0)
    assert list(org.members()) == [address]
    assert org.members()[address]["first_name"] is None
    invalid = org.rows(job["id"], state="invalid")
    assert all(row["user_id"] is None and row["error_message"] for row in invalid)


# ---------------------------------------------------------------------------- preview and commit


def test_the_commit_matches_the_preview_row_by_row(org, new_org):
    elsewhere = new_org()
    foreign = [elsewhere.create_user({"email": email("foreign")})["email"] for _ in range(3)]
    own = [org.create_user({"email": email("own")})["email"] for _ in range(2)]
    fresh = emails(4, "fresh")
    job = org.validated([{"email": address} for address in fresh + foreign + own])
    assert job["preview"] == {"new_members": 7, "existing_members": 2}
    org.commit(job["id"])
    job = org.state_is(job["id"], "completed")
    assert (job["created_count"], job["attached_count"], job["failed_count"]) == (4, 5, 0)
    states = [row["state"] for row in org.rows(job["id"])]
    assert states == ["created"] * 4 + ["attached"] * 3 + ["merged"] * 2


def test_the_commit_uses_the_state_after_the_dry_run(org, new_org):
    addresses = emails(3)
    job = org.validated([{"email": address, "first_name": "Imported"} for address in addresses])
    assert job["preview"] == {"new_members": 3, "existing_members": 0}
    new_org().create_user({"email": addresses[0]})
    org.create_user({"email": addresses[1], "first_name": "Meanwhile"})
    org.commit(job["id"])
    job = org.state_is(job["id"], "completed")
    assert org.outcomes(job["id"]) == {1: "attached", 2: "merged", 3: "created"}
    assert org.members()[addresses[1]]["first_name"] == "Meanwhile"
    assert (job["created_count"], job["attached_count"]) == (1, 2)


def test_a_registry_changed_after_the_dry_run_fails_the_affected_rows(org):
    with_phone, without = emails(2)
    job = org.validated([{"email": with_phone, "attributes": {"phone": "1"}}, {"email": without}])
    assert job["valid_rows"] == 2
    org.set_enabled("phone", False)
    org.commit(job["id"])
    job = org.state_is(job["id"], "completed")
    assert (job["valid_rows"], job["created_count"], job["failed_count"]) == (2, 1, 1)
    failed, created = org.rows(job["id"])
    assert (failed["state"], failed["error_code"], failed["user_id"]) == ("failed", "ROW_ATTR_UNKNOWN_KEY", None)
    assert created["state"] == "created"
    assert list(org.members()) == [without]


def test_a_choice_removed_after_the_dry_run_fails_its_rows(org):
    job = org.validated([{"email": email(), "attributes": {"interests": ["news"]}},
                         {"email": email(), "attributes": {"interests": ["offers"]}}])
    org.stack.sql("""UPDATE attributes SET choices = '["offers"]' WHERE attribute_key = 'interests'
                     AND organization_id = UNHEX(REPLACE(%s, '-', ''))""", org.id)
    org.commit(job["id"])
    org.state_is(job["id"], "completed")
    assert org.outcomes(job["id"]) == {1: "ROW_ATTR_INVALID_VALUE", 2: "created"}


def test_values_of_a_disabled_attribute_are_kept(org):
    user = org.create_user({"email": email(), "attributes": {"phone": "1"}})
    org.set_enabled("phone", False)
    org.imported([{"email": user["email"], "attributes": {"points": 2}}])
    assert org.members()[user["email"]]["attributes"]["phone"][:2] == ["1", "api"]


def test_counts_add_up_over_many_blocks(org, new_org):
    elsewhere = new_org(attributes=False)
    addresses = emails(2600)
    elsewhere.imported([{"email": address} for address in addresses[::5]])
    org.imported([{"email": address} for address in addresses[::7]])
    payloads = [{"email": address} for address in addresses]
    for number in range(0, 2600, 100):
        payloads[number]["attributes"] = {"gender": "?"}
    job = org.imported(payloads + payloads[1:4])
    assert (job["staged_rows"], job["processed_rows"], job["invalid_rows"]) == (2603, 2603, 26 + 3)
    assert job["created_count"] + job["attached_count"] == job["valid_rows"] == 2574
    preview = job["preview"]
    assert preview["new_members"] + preview["existing_members"] == job["created_count"] + job["attached_count"]
    states = [row["state"] for row in org.rows(job["id"], whole=False, limit=1000)]
    assert states.count("created") == job["created_count"]
    assert states.count("created") + states.count("attached") == preview["new_members"]
    assert states.count("merged") == preview["existing_members"]
    assert states.count("invalid") == 29
    have = set(addresses[::7]) | {payload["email"] for payload in payloads if "attributes" not in payload}
    assert set(org.members()) == have
