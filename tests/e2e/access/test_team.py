"""The team of an organization: seats and invitations (docs/api/team.md)."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import mail
from support.admin import Admin
from support.client import details_of, faults_of
from support.world import email

DAY = 24 * 3600 * 1000
SUBJECT = "You are invited to an organization in Muster"


class Guest(Admin):
    """A person without a seat."""

    def __init__(self, org):
        super().__init__(org.stack, org.api.contract, address=email("guest"))


@pytest.fixture
def team(new_org):
    return new_org(attributes=False)


@pytest.fixture
def owner(team):
    return team.admin().api


def seats(client):
    """{address: seat or invitation}"""
    return {seat["email"]: seat for seat in client.get_json("/v1/seats")["seats"]}


def invitation_path(invitation):
    return f"/v1/invitations/{invitation['invitation_id']}"


def test_an_invited_person_enrolls_and_gets_the_seat(stack, team, owner):
    guest, before = Guest(team), f"{time.time_ns():020d}"
    reply = owner.post("/v1/seats", json={"email": guest.address.upper(), "role": "admin"}, expect=201)
    invitation = reply.json()
    assert reply.headers["Location"] == invitation_path(invitation)
    assert (invitation["status"], invitation["admin_id"], invitation["email"]) == ("invited", None, guest.address)
    assert invitation["invited_by_email"] == team.admin().address
    assert owner.get_json(invitation_path(invitation)) == invitation == seats(owner)[guest.address]
    sent = mail.wait_for_mail(stack, guest.address, before, SUBJECT)
    assert f"{stack.base_url}/console/#/invitation?organization={team.id}" in sent.text
    assert team.admin().address in sent.text and invitation["invitation_id"] not in sent.text and "/v1/" not in sent.text
    signed_in = guest.unverified()
    assert signed_in.get_json("/v1/session")["seats"] == []
    assert signed_in.get_json("/v1/session")["active_organization_id"] == team.id
    guest.enable(signed_in)
    guest.pass_second_factor(signed_in)
    signed_in.get("/v1/users", expect=200)
    seat = seats(owner)[guest.address]
    assert (seat["status"], seat["role"], seat["two_factor_enrolled"]) == ("active", "admin", True)
    assert seat["admin_id"] == signed_in.get_json("/v1/session")["admin"]["id"]
    assert owner.get_json(f"/v1/seats/{seat['admin_id']}") == seat
    owner.get(invitation_path(invitation), expect=404)
    assert mail.wait_for_mail(stack, team.admin().address, before, "Muster: new admin")


def test_a_changed_role_and_a_removal_apply_from_the_next_request_on(team, owner):
    colleague = team.new_admin("admin")
    client, path = colleague.api, f"/v1/seats/{colleague.id}"
    client.post("/v1/users", json={"email": email()}, expect=201)
    assert owner.request("PATCH", path, json={"role": "viewer"}, expect=200).json()["role"] == "viewer"
    client.post("/v1/users", json={"email": email()}, expect=403, code="FORBIDDEN")
    client.get("/v1/users", expect=200)
    owner.delete(path, expect=204)
    assert details_of(client.get("/v1/session", expect=401)) == {"reason": "SESSION_ENDED"}
    owner.delete(path, expect=404)
    owner.request("PATCH", path, json={"role": "viewer"}, expect=404)


def test_sessions_of_a_removed_admin_continue_in_other_organizations(team, owner, new_org):
    elsewhere, colleague = new_org(attributes=False), team.new_admin("admin")
    colleague.give_seat(elsewhere.id, "viewer")
    client = colleague.api
    owner.delete(f"/v1/seats/{colleague.id}", expect=204)
    client.get("/v1/users", expect=403, code="FORBIDDEN")
    client.get("/v1/users", headers={"X-Organization": elsewhere.id}, expect=200)


def test_an_admin_of_another_organization_accepts_or_declines(team, owner, new_org):
    elsewhere = new_org(attributes=False)
    colleague = elsewhere.admin()
    client = colleague.api
    body = {"email": colleague.address, "role": "viewer"}
    declined = owner.post("/v1/seats", json=body, expect=201).json()
    colleague.pass_second_factor(client)
    session = client.get_json("/v1/session")
    assert [seat["organization_id"] for seat in session["seats"]] == [elsewhere.id]
    assert session["invitations"] == [{
        "id": declined["invitation_id"], "organization_id": team.id, "organization_name": "e2e", "role": "viewer",
        "invited_by_email": team.admin().address, "expires_at": declined["expires_at"]}]
    client.post(f"/v1/session/invitations/{declined['invitation_id']}/decline", expect=204)
    client.post(f"/v1/session/invitations/{declined['invitation_id']}/accept", json={}, expect=404)
    assert colleague.address not in seats(owner)
    accepted = owner.post("/v1/seats", json=body, expect=201).json()
    stranger = team.new_admin("admin").api
    stranger.post(f"/v1/session/invitations/{accepted['invitation_id']}/accept", json={}, expect=404)
    stranger.post(f"/v1/session/invitations/{accepted['invitation_id']}/decline", expect=404)
    seat = client.post(f"/v1/session/invitations/{accepted['invitation_id']}/accept", expect=200).json()
    assert (seat["organization_id"], seat["role"]) == (team.id, "viewer")
    client.get("/v1/users", headers={"X-Organization": team.id}, expect=200)
    actions = [entry["action"] for entry in owner.get_json("/v1/audit-log")["audit_log"]]
    assert {"seat.invitation_declined", "seat.accepted"} <= set(actions)


def test_every_admin_may_leave(stack, team, owner, new_org):
    elsewhere, colleague, before = new_org(attributes=False), team.new_admin("viewer"), f"{time.time_ns():020d}"
    colleague.give_seat(elsewhere.id, "viewer")
    client = colleague.api
    client.post(f"/v1/session/seats/{team.id}/leave", expect=204)
    client.post(f"/v1/session/seats/{team.id}/leave", expect=404)
    assert colleague.address not in seats(owner)
    for address in (team.admin().address, colleague.address):
        assert colleague.address in mail.wait_for_mail(stack, address, before, "Muster: an admin lost rights").text
    client.post(f"/v1/session/seats/{elsewhere.id}/leave", expect=204)
    assert details_of(client.get("/v1/session", expect=401)) == {"reason": "SESSION_ENDED"}
    owner.post(f"/v1/session/seats/{team.id}/leave", expect=409, code="INVALID_STATE")


def test_only_owners_change_the_team(team, owner):
    invitation, seat = team.invite(), team.new_admin("viewer").id
    for role in ("admin", "viewer"):
        client = team.admin(role).api
        assert seats(client) == seats(owner)
        client.get(invitation_path(invitation), expect=200)
        for method, path, body in (("POST", "/v1/seats", {"email": email(), "role": "viewer"}),
                                   ("PATCH", f"/v1/seats/{seat}", {"role": "viewer"}), ("DELETE", f"/v1/seats/{seat}", None),
                                   ("POST", f"{invitation_path(invitation)}/resend", {}),
                                   ("DELETE", invitation_path(invitation), None)):
            client.request(method, path, **({} if body is None else {"json": body}), expect=403, code="FORBIDDEN")
    assert {"invited", "active"} == {seat["status"] for seat in seats(owner).values()}


def test_the_last_owner_stays(team, owner):
    path = f"/v1/seats/{team.admin().id}"
    for method, options in (("DELETE", {}), ("PATCH", {"json": {"role": "admin"}})):
        reply = owner.request(method, path, expect=409, code="INVALID_STATE", **options)
        assert "at least one owner" in details_of(reply)["reason"]
    second = team.new_admin("owner")
    second.api.delete(path, expect=204)
    assert details_of(owner.get("/v1/session", expect=401)) == {"reason": "SESSION_ENDED"}


def test_two_owners_who_remove_each_other_leave_one(team, owner):
    second = team.new_admin("owner")
    pairs = [(owner, second.id), (second.api, team.admin().id)]
    with ThreadPoolExecutor(2) as pool:
        statuses = sorted(pool.map(lambda pair: pair[0].delete(f"/v1/seats/{pair[1]}").status_code, pairs))
    assert statuses[0] == 204 and statuses[1] in (401, 403, 409)
    assert [seat["role"] for seat in team.stack.ctl("admin", "list", "--org", team.id)] == ["owner"]


def test_an_address_is_invited_once(team, owner):
    invitation = team.invite()
    for address in (invitation["email"], team.admin().address):
        reply = owner.post("/v1/seats", json={"email": address, "role": "viewer"}, expect=409, code="CONFLICT")
        assert details_of(reply) == {"field": "email"}
    owner.delete(invitation_path(invitation), expect=204)
    owner.delete(invitation_path(invitation), expect=404)
    owner.post("/v1/seats", json={"email": invitation["email"], "role": "viewer"}, expect=201)


def test_a_repeated_invitation_with_a_key_sends_one_mail(stack, owner):
    body, headers = {"email": email("guest"), "role": "viewer"}, {"Idempotency-Key": "one"}
    first = owner.post("/v1/seats", json=body, headers=headers, expect=201)
    again = owner.post("/v1/seats", json=body, headers=headers, expect=201)
    assert again.content == first.content and again.headers["Idempotency-Replayed"] == "true"
    owner.post("/v1/seats", json=body | {"role": "admin"}, headers=headers, expect=409, code="IDEMPOTENCY_CONFLICT")
    sent = mail.wait_for_mail(stack, body["email"], subject=SUBJECT)
    assert mail.mails_to(stack, body["email"], after=sent) == []


@pytest.mark.parametrize("body, faults", [
    ({}, {"email": "required", "role": "required"}), ({"email": "x", "role": "king"}, {"email": "invalid_email", "role": "invalid_choice"}),
    ({"email": "a@b.example", "role": "owner", "name": "A"}, {"name": "unknown_field"}),
])
def test_a_faulty_invitation_is_422(module_org, body, faults):
    assert faults_of(module_org.admin().api.post("/v1/seats", json=body, expect=422)) == faults


def test_mails_of_invitations_are_bounded(team, owner):
    invitation = team.invite()
    resend = f"{invitation_path(invitation)}/resend"
    for _ in range(2):
        owner.post(resend, json={}, expect=200)
    reply = owner.post(resend, json={}, expect=429, code="RATE_LIMITED")
    assert 0 < int(reply.headers["Retry-After"]) <= 24 * 3600
    assert "at most 3 invitations to one address" in reply.json()["error"]["details"]["reason"]
    owner.delete(invitation_path(invitation), expect=204)
    owner.post("/v1/seats", json={"email": invitation["email"], "role": "viewer"}, expect=429, code="RATE_LIMITED")


def test_an_expired_invitation_can_be_sent_again(stack, team, owner):
    guest = Guest(team)
    invitation = team.invite(guest.address)
    stack.sql("UPDATE seat_invitations SET expires_at = expires_at - %s WHERE id = UNHEX(REPLACE(%s, '-', ''))", 7 * DAY,
              invitation["invitation_id"])
    assert seats(owner)[guest.address]["status"] == "expired"
    again = owner.post(f"{invitation_path(invitation)}/resend", expect=200).json()
    assert again["status"] == "invited" and again["expires_at"] >= invitation["expires_at"]
    guest.api.get("/v1/users", expect=200)


def test_a_team_with_fifty_invitations_is_full(stack, team, owner):
    for number in range(50):
        stack.sql("INSERT INTO seat_invitations (organization_id, id, email, role, created_at, sent_at, expires_at) "
                  "VALUES (UNHEX(REPLACE(%s, '-', '')), RANDOM_BYTES(16), %s, 'viewer', 1, 1, 1)", team.id, f"a{number}@e2e.example")
    reply = owner.post("/v1/seats", json={"email": email(), "role": "viewer"}, expect=409, code="INVALID_STATE")
    assert "50 invitations" in details_of(reply)["reason"]


def test_the_team_is_listed_in_pages(team, owner):
    for _ in range(2):
        team.new_admin("viewer")
        team.invite()
    whole, seen, cursor = owner.get_json("/v1/seats")["seats"], [], None
    assert [seat["status"] for seat in whole] == ["active"] * 3 + ["invited"] * 2
    while True:
        page = owner.get_json("/v1/seats", params={"limit": 2} | ({"cursor": cursor} if cursor else {}))
        seen, cursor = seen + page["seats"], page["next_cursor"]
        if cursor is None:
            break
    assert seen == whole


def test_every_change_of_the_team_is_in_the_audit_log(team, owner):
    guest, withdrawn = Guest(team), team.invite()
    invitation = team.invite(guest.address)
    owner.post(f"{invitation_path(invitation)}/resend", json={}, expect=200)
    owner.delete(invitation_path(withdrawn), expect=204)
    guest_id = guest.api.get_json("/v1/session")["admin"]["id"]
    owner.request("PATCH", f"/v1/seats/{guest_id}", json={"role": "admin"}, expect=200)
    owner.delete(f"/v1/seats/{guest_id}", expect=204)
    log = [entry for entry in owner.get_json("/v1/audit-log")["audit_log"] if entry["action"].startswith("seat.")]
    invited = invitation["invitation_id"]
    assert [(entry["action"], entry["subject_id"], entry["details"]) for entry in log[:7]] == [
        ("seat.removed", guest_id, {}), ("seat.role_changed", guest_id, {"previous_role": "viewer", "role": "admin"}),
        ("seat.accepted", guest_id, {"invitation_id": invited, "role": "viewer"}),
        ("seat.invitation_withdrawn", withdrawn["invitation_id"], {}), ("seat.invitation_resent", invited, {}),
        ("seat.invited", invited, {"role": "viewer"}), ("seat.invited", withdrawn["invitation_id"], {"role": "viewer"})]
    actors = [team.admin().id] * 2 + [guest_id] + [team.admin().id] * 4
    assert [entry["actor_id"] for entry in log[:7]] == actors


def test_a_name_of_an_organization_cannot_change_the_mail(stack, contract, new_org):
    org = new_org(name="Acme\u202e http://evil.example " + "x" * 80, attributes=False)
    before = f"{time.time_ns():020d}"
    invitation = org.invite()
    sent = mail.wait_for_mail(stack, invitation["email"], before, SUBJECT)
    assert "\u202e" not in sent.text and "x" * 61 not in sent.text
