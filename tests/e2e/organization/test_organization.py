"""The organization's record and its numbers: /v1/organization and /v1/organization/summary (docs/api/organization.md)."""

from support.world import email, emails


def test_keys_and_admins_read_the_organization(new_org, stack):
    org = new_org(attributes=False)
    shown = org.api.get_json("/v1/organization")
    assert set(shown) == {"id", "name", "created_at"} and (shown["id"], shown["name"]) == (org.id, "e2e")
    assert org.admin("viewer").api.get_json("/v1/organization") == shown
    assert {**shown, "state": "active"} in stack.ctl("org", "list")


def test_only_an_owner_renames_it(new_org, stack):
    org, other = new_org(attributes=False), new_org(attributes=False)
    for client in (org.api, org.admin("viewer").api, org.admin("admin").api):
        client.request("PATCH", "/v1/organization", json={"name": "taken"}, expect=403, code="FORBIDDEN")
    owner = org.admin("owner").api
    renamed = owner.request("PATCH", "/v1/organization", json={"name": "Zoë & Co"}, expect=200)
    assert renamed.json() == org.api.get_json("/v1/organization") and renamed.json()["name"] == "Zoë & Co"
    assert owner.get_json("/v1/session")["seats"][0]["name"] == "Zoë & Co"
    entry = owner.get_json("/v1/audit-log", params={"action": "organization.renamed"})["audit_log"][0]
    assert (entry["subject_id"], entry["details"]) == (org.id, {"name": "Zoë & Co"})
    assert other.api.get_json("/v1/organization")["name"] == "e2e"
    assert stack.ctl("org", "rename", "--name", "Again", org.id)["name"] == "Again"
    for name in ("", "x" * 256, None, 5):
        owner.request("PATCH", "/v1/organization", json={"name": name}, expect=422, code="VALIDATION_ERROR")


def test_a_name_is_changed_only_if_the_record_is_the_one_that_was_read(new_org):
    org = new_org(attributes=False)
    owner = org.admin("owner").api
    read = owner.get("/v1/organization", expect=200).headers["ETag"]
    first = owner.request("PATCH", "/v1/organization", json={"name": "first"}, headers={"If-Match": read}, expect=200)
    owner.request("PATCH", "/v1/organization", json={"name": "second"}, headers={"If-Match": read}, expect=412,
                code="PRECONDITION_FAILED")
    owner.request("PATCH", "/v1/organization", json={"name": "third"}, headers={"If-Match": first.headers["ETag"]}, expect=200)
    owner.request("PATCH", "/v1/organization", json={"name": "third"}, headers={"If-Match": "*"}, expect=200)
    entries = owner.get_json("/v1/audit-log", params={"action": "organization.renamed"})["audit_log"]
    assert [entry["details"]["name"] for entry in entries] == ["third", "first"]


def test_the_summary_counts_what_the_organization_has(new_org):
    org = new_org(attributes=False)
    empty = org.api.get_json("/v1/organization/summary")
    assert empty["members"]["active"] == {"count": 0, "exact": True} and empty["active_import"] is None
    users = [org.create_user({"email": address})["id"] for address in emails(3)]
    org.api.post(f"/v1/users/{users[0]}/lock", json={}, expect=200)
    job = org.staged([{"email": email()}])
    org.published_article()
    org.create_article()
    installation = org.install(org.published_module())
    org.create_endpoint(installation)
    org.invite(role="owner")
    shown = org.admin("viewer").api.get_json("/v1/organization/summary")
    assert shown["organization_id"] == org.id
    assert {kind: counted["count"] for kind, counted in shown["members"].items()} == {
        "active": 2, "locked": 1, "changed_in_7_days": 3}
    assert (shown["active_import"]["id"], shown["active_import"]["state"]) == (job, "staging")
    assert shown["active_import"]["staged_rows"] == 1
    assert shown["articles"] == {"published": 1, "scheduled": 0, "draft": 1}
    assert shown["webhook_endpoints"] == {"active": 1, "failing": 0, "paused": 0, "disabled": 0}
    assert shown["connections"] == dict.fromkeys(("pending", "connected", "expired", "revoked", "error"), 0)
    assert shown["ads_in_7_days"] == {"impressions": 0, "clicks": 0}
    assert shown["keys_expiring_in_30_days"] == dict.fromkeys(
        ("api_keys", "tracking_keys", "content_keys", "module_credentials"), 0)
    assert shown["valid_keys"] == {"api_keys": 1, "tracking_keys": 0, "content_keys": 0, "module_credentials": 0}
    assert shown["team"] == {"owners": 1, "admins": 0, "viewers": 1, "invited_owners": 1, "invited_others": 0}
    assert shown["enabled_attributes"] == len([one for one in org.api.get_json("/v1/attributes")["attributes"] if one["enabled"]])
    org.cancel(job)
