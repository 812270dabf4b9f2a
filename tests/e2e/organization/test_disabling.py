"""musterctl org disable and enable: every credential is refused with the next request, and works again (docs/operations/
organizations.md "Rename, disable or delete an organization")."""

import pytest
from support.admin import Admin
from support.stack import wait_for
from support.world import email

NOT_DONE = 1


@pytest.fixture
def disabled(stack):
    """Disables an organization, and enables it after the test."""
    changed = []

    def disable(org):
        changed.append(org.id)
        return stack.ctl("org", "disable", "--yes", org.id)
    yield disable
    for org_id in changed:
        stack.ctl_raw("org", "enable", org_id)


def test_every_credential_is_refused_with_the_next_request(new_org, stack, disabled):
    org = new_org(attributes=False)
    user = org.create_user({"email": email()})["id"]
    admin = org.admin("owner").api
    clients = [(org.api, "/v1/users", 401), (admin, "/v1/users", 403), (admin, "/v1/api-keys", 403),
               (org.api, "/v1/organization", 401)]
    for client, path, _ in clients:
        client.get(path, expect=200)
    event = {"action": "seen", "user_id": user}
    org.page_api.post("/v1/track", json=event, expect=202)
    org.reader_api.get("/v1/content/articles", expect=200)
    assert disabled(org)["state"] == "disabled"
    for client, path, status in clients:
        client.get(path, expect=status)
    org.page_api.post("/v1/track", json=event, expect=401)
    # nginx remembers for some seconds that a content key is valid, and the list.
    wait_for(lambda: org.reader_api.get("/v1/content/articles").status_code == 401, "the content key is refused")
    assert admin.get_json("/v1/session")["seats"] == []
    assert stack.ctl("org", "enable", org.id)["state"] == "active"
    for client, path, _ in clients:
        client.get(path, expect=200)
    assert admin.get_json("/v1/audit-log")["audit_log"][0]["action"] == "organization.enabled"


def test_an_admin_keeps_the_seats_in_other_organizations(new_org, stack, contract, disabled):
    org, other = new_org(attributes=False), new_org(attributes=False)
    api = Admin(stack, contract, (org.id, "owner"), (other.id, "viewer")).api
    disabled(org)
    named = {"X-Organization": other.id}
    api.get("/v1/users", headers=named, expect=200)
    api.get("/v1/users", headers={"X-Organization": org.id}, expect=403)
    api.post("/v1/session/active-organization", json={"organizationId": other.id}, expect=200)
    api.get("/v1/users", expect=200)
    api.post("/v1/session/active-organization", json={"organizationId": org.id}, expect=404)


def test_an_import_pauses(new_org, stack, disabled, no_runner):
    org = new_org(attributes=False)
    job = org.staged([{"email": email()}])
    org.api.post(f"/v1/imports/{job}/validate", expect=202)
    disabled(org)
    assert stack.spawn_runner(seconds=1).wait(20) == 0
    stack.ctl("org", "enable", org.id)
    assert org.job(job)["state"] == "validating"
    stack.run_once()
    assert org.job(job)["state"] == "validated"
    org.cancel(job)


def test_the_command_asks_and_reports_the_state(new_org, stack, disabled):
    org = new_org(attributes=False)
    refused = stack.ctl_raw("org", "disable", org.id)
    assert refused.returncode == 2 and "--yes is missing" in refused.stderr
    assert stack.ctl_raw("org", "enable", org.id).returncode == NOT_DONE
    disabled(org)
    again = stack.ctl_raw("org", "disable", "--yes", org.id)
    assert again.returncode == NOT_DONE and "already disabled" in again.stderr
