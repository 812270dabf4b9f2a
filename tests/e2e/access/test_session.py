"""The session of an admin: its contents, its active organization, and its end (docs/api/sign-in.md "Admin sign-in",
specification 5.5)."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.admin import Admin
from support.client import Client, details_of, error_of, faults_of
from support.world import email

IDLE, WHOLE = 12 * 3600, 7 * 24 * 3600


@pytest.fixture
def two_seats(stack, contract, new_org):
    """An admin with seats in two organizations: (admin, organization of the first seat, the other organization)."""
    older, younger = new_org(attributes=False), new_org(attributes=False)
    # The order of the seats counts, not the order of the organizations.
    return Admin(stack, contract, (younger.id, "owner"), (older.id, "viewer")), younger, older


def switch(client, organization_id, **options):
    return client.post("/v1/session/active-organization", json={"organizationId": organization_id}, **options)


# ---------------------------------------------------------------------------- contents


def test_an_unverified_session_can_be_read(module_org):
    admin = module_org.new_admin("owner")
    client = admin.unverified()
    shown = client.get_json("/v1/session")
    assert shown["admin"] == {"id": admin.id, "email": admin.address}
    assert shown["two_factor"] == {"enrolled": False, "verified": False, "backup_codes_left": None}
    assert shown["active_organization_id"] == module_org.id
    assert shown["seats"] == [{"organization_id": module_org.id, "name": "e2e", "role": "owner"}]
    admin.enable(client)
    admin.pass_second_factor(client)
    after = client.get_json("/v1/session")
    assert after == shown | {"two_factor": {"enrolled": True, "verified": True, "backup_codes_left": 10}}


def test_a_sign_in_activates_the_organization_of_the_earliest_seat(two_seats):
    admin, first, second = two_seats
    reply = admin.signed_in()
    assert reply["active_organization_id"] == first.id
    assert [(seat["organization_id"], seat["role"]) for seat in reply["seats"]] == [(first.id, "owner"), (second.id, "viewer")]


# ---------------------------------------------------------------------------- active organization


def test_an_admin_can_activate_each_of_their_organizations(two_seats):
    admin, first, second = two_seats
    client, elsewhere = admin.api, admin.new_session()
    people = {org.id: org.create_user({"email": email()})["id"] for org in (first, second)}
    switched = switch(client, second.id, expect=200)
    assert switched.json() == {"active_organization_id": second.id}
    assert switched.headers["X-Active-Organization"] == second.id
    assert client.get(f"/v1/users/{people[second.id]}", expect=200).headers["X-Active-Organization"] == second.id
    client.get(f"/v1/users/{people[first.id]}", expect=404)
    client.post("/v1/users", json={"email": email()}, expect=403)  # the role in that organization applies
    # Another session of the same admin keeps its organization.
    assert elsewhere.get(f"/v1/users/{people[first.id]}", expect=200).headers["X-Active-Organization"] == first.id
    assert elsewhere.get_json("/v1/session")["active_organization_id"] == first.id
    switch(client, first.id, expect=200)
    client.post("/v1/users", json={"email": email()}, expect=201)


def test_an_organization_without_a_seat_cannot_be_activated(two_seats, module_org):
    admin, first, _ = two_seats
    for organization_id in (module_org.id, str(uuid.uuid4())):
        switch(admin.api, organization_id, expect=404, code="NOT_FOUND")
    for value, fault in (("", "invalid_uuid"), ("acme", "invalid_uuid"), (None, "required"), (1, "wrong_type"),
                         ([first.id], "wrong_type")):
        assert faults_of(switch(admin.api, value, expect=422)) == {"organizationId": fault}
    assert admin.api.get_json("/v1/session")["active_organization_id"] == first.id


def test_an_admin_switches_to_an_organization_at_most_fifty_times_a_day(two_seats):
    admin, first, second = two_seats
    client = admin.api
    for _ in range(50):
        switch(client, second.id, expect=200)
        switch(client, first.id, expect=200)
    refused = switch(client, second.id, expect=429, code="RATE_LIMITED")
    assert 23 * 3600 < int(refused.headers["Retry-After"]) <= 24 * 3600
    assert "X-Organization" in details_of(refused)["reason"]
    client.get("/v1/users", headers={"X-Organization": second.id}, expect=200)
    assert client.get_json("/v1/session")["active_organization_id"] == first.id


def test_a_request_for_another_organization_is_rejected(two_seats):
    admin, first, second = two_seats
    expecting = {"X-Expect-Organization": first.id}
    body = {"email": email()}
    switch(admin.api, second.id, expect=200, headers=expecting)  # another tab has switched
    reply = admin.api.post("/v1/users", json=body, headers=expecting, expect=409, code="CONFLICT")
    assert error_of(reply)["details"]["field"] == "X-Expect-Organization"
    assert reply.headers["X-Active-Organization"] == second.id
    switch(admin.api, first.id, headers=expecting, expect=409)
    switch(admin.api, first.id, headers={"X-Expect-Organization": second.id}, expect=200)
    assert first.members() == {}
    admin.api.post("/v1/users", json=body, headers=expecting, expect=201)


def test_a_request_names_its_organization_and_moves_nothing(two_seats, module_org):
    admin, first, second = two_seats
    client, there = admin.api, {"X-Organization": second.id}
    member = second.create_user({"email": email()})["id"]
    reply = client.get(f"/v1/users/{member}", headers=there, expect=200)  # a reader
    assert reply.headers["X-Active-Organization"] == second.id
    assert client.get("/v1/users", headers=there, expect=200).json()["users"][0]["id"] == member  # a worker
    client.get(f"/v1/users/{member}", expect=404)
    client.post("/v1/users", json={"email": email()}, headers=there, expect=403)  # the role in that organization applies
    client.post("/v1/users", json={"email": email()}, headers={"X-Organization": first.id}, expect=201)
    session = client.get_json("/v1/session")
    assert session["active_organization_id"] == first.id
    client.get("/v1/users", headers=there | {"X-Expect-Organization": second.id}, expect=200)
    client.get("/v1/users", headers=there | {"X-Expect-Organization": first.id}, expect=409, code="CONFLICT")
    strangers = [client.get("/v1/users", headers={"X-Organization": other}, expect=403, code="FORBIDDEN")
                 for other in (module_org.id, str(uuid.uuid4()))]
    assert {error_of(reply)["details"]["field"] for reply in strangers} == {"X-Organization"}
    client.get("/v1/users", headers={"X-Organization": "acme"}, expect=400, code="BAD_REQUEST")
    first.api.get("/v1/users", headers={"X-Organization": first.id}, expect=200)  # a key acts on one organization
    first.api.get("/v1/users", headers=there, expect=403, code="FORBIDDEN")
    assert client.get("/v1/session", headers=there, expect=200).json()["active_organization_id"] == first.id
    # The header does not hide a switch from the audit log.
    switched = "SELECT COUNT(*) FROM audit_log WHERE action = 'session.switched' AND organization_id = UNHEX(REPLACE(%s, '-', ''))"
    before = admin.stack.sql(switched, second.id)[0][0]
    switch(client, second.id, headers=there, expect=200)
    assert admin.stack.sql(switched, second.id)[0][0] == before + 1
    switch(client, first.id, expect=200)
    admin.take_seat(second.id)
    client.get("/v1/users", headers=there, expect=403, code="FORBIDDEN")
    assert client.get_json("/v1/session")["active_organization_id"] == first.id


def test_a_lost_seat_applies_from_the_next_request_on(two_seats):
    admin, first, second = two_seats
    client = admin.api
    client.get("/v1/imports", expect=200)
    admin.take_seat(first.id)
    client.get("/v1/imports", expect=403)
    assert [seat["organization_id"] for seat in client.get_json("/v1/session")["seats"]] == [second.id]
    switch(client, second.id, expect=200)
    client.get("/v1/imports", expect=200)


# ---------------------------------------------------------------------------- end


@pytest.mark.parametrize("is_verified", [True, False])
def test_a_sign_out_applies_immediately_on_all_workers(module_org, is_verified):
    admin = module_org.admin()
    client = admin.new_session() if is_verified else admin.unverified()
    path = "/v1/imports" if is_verified else "/v1/session"
    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(lambda _: client.get(path).status_code, range(100))) == {200}  # all workers have cached it
        assert client.delete("/v1/session", expect=204).content == b""
        assert set(pool.map(lambda _: client.get(path).status_code, range(200))) == {401}
    ended = client.delete("/v1/session", expect=401)
    assert details_of(ended) == {"reason": "SESSION_ENDED"}
    assert details_of(client.get(path, key=None, expect=401)) == {"reason": "MISSING"}
    assert details_of(client.get(path, key="org_unknown", expect=401)) == {"reason": "INVALID"}
    admin.api.get("/v1/imports", expect=200)


def test_a_session_ends_after_12_idle_hours(module_org, stack):
    clients = [module_org.admin().new_session() for _ in range(2)]
    with stack.later(IDLE - 60):
        clients[0].get("/v1/imports", expect=200)
    with stack.later(IDLE + 1):
        clients[0].get("/v1/imports", expect=200)  # it was used in between
        clients[1].get("/v1/imports", expect=401)
    clients[0].delete("/v1/session", expect=204)


def test_a_session_ends_after_7_days_even_if_used(module_org, stack, contract):
    client = module_org.admin().new_session()

    def used_until(seconds):
        stack.sql("UPDATE sessions SET last_used_at = created_at + %s * 1000 WHERE token_hash = UNHEX(SHA2(%s, 256))",
                  seconds - 1, client.key)

    used_until(WHOLE - 60)
    with stack.later(WHOLE - 60):
        client.get("/v1/imports", expect=200)
    used_until(WHOLE)
    with stack.later(WHOLE + 1):
        client.get("/v1/imports", expect=401)


def test_a_mistyped_token_is_rejected_by_its_checksum(module_org, stack, contract):
    token = module_org.admin().api.key
    assert len(token) == 43 + 6 and token.isalnum()
    asked = stack.log("musterd").count('operation=getSession')
    Client(stack, contract, token[:-1] + ("A" if token[-1] != "A" else "B")).get("/v1/session", expect=401)
    assert stack.log("musterd").count('operation=getSession') == asked + 1
