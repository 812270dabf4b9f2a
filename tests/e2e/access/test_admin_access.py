"""Admin sessions on the endpoints of partner keys: imports and users (specification 5)."""

import pytest
from support.bodies import BODIES
from support.world import EMAIL_COLUMN, email, rows_of


@pytest.fixture
def admin(org):
    return org.admin()


def test_an_admin_runs_a_complete_import(org, admin):
    client = admin.api
    job = client.post("/v1/imports", expect=201, json={
        "file_name": "f.csv", "declared_total": 2, "mapping": {"columns": [EMAIL_COLUMN]}}).json()
    assert (job["source"], job["created_by_id"]) == ("console", admin.id)
    path, addresses = f"/v1/imports/{job['id']}", [email(), email()]
    client.post(f"{path}/rows", json={"rows": rows_of([{"email": address} for address in addresses])}, expect=200)
    client.post(f"{path}/validate", json={}, expect=202)
    org.state_is(job["id"], "validated")
    client.post(f"{path}/commit", json={}, expect=202)
    done = org.state_is(job["id"], "completed")
    assert (done["created_count"], done["source"], done["created_by_id"]) == (2, "console", admin.id)
    assert set(org.members()) == set(addresses)
    assert [row["state"] for row in client.get_json(f"{path}/rows")["rows"]] == ["created", "created"]
    assert client.get(f"{path}/error-report", expect=200).text.startswith("email,")
    assert client.get_json("/v1/imports") == org.api.get_json("/v1/imports")


def test_an_import_by_a_key_has_no_creator(org, admin):
    job = org.create_import()
    assert (job["source"], job["created_by_id"]) == ("api", None)
    seen = admin.api.get_json(f"/v1/imports/{job['id']}")
    assert seen == org.job(job["id"])
    assert admin.api.post(f"/v1/imports/{job['id']}/cancel", json={}, expect=200).json()["state"] == "canceled"


def test_an_admin_creates_and_reads_users(org, admin):
    user = admin.api.post("/v1/users", json={"email": email(), "first_name": "Ann"}, expect=201).json()
    assert admin.api.get_json(f"/v1/users/{user['id']}") == org.user(user["id"])
    assert admin.api.get_json("/v1/attributes") == org.api.get_json("/v1/attributes")


def test_a_key_and_a_session_share_an_idempotency_key(org, admin):
    body, headers = {"email": email()}, {"Idempotency-Key": "shared"}
    first = org.api.post("/v1/users", json=body, headers=headers, expect=201)
    again = admin.api.post("/v1/users", json=body, headers=headers, expect=201)
    assert again.content == first.content and again.headers["Idempotency-Replayed"] == "true"


def test_a_viewer_reads_everything_and_changes_nothing(org):
    job_id = org.staged([{"email": email()}])
    user, viewer = org.create_user({"email": email()}), org.viewer().api
    before = org.job(job_id), org.rows(job_id), org.user(user["id"]), org.members()
    path = f"/v1/imports/{job_id}"
    assert (viewer.get_json(path), viewer.get_json(f"/v1/users/{user['id']}")) == (before[0], before[2])
    for name, target in (("createImport", "/v1/imports"), ("stageImportRows", f"{path}/rows"),
                         ("validateImport", f"{path}/validate"), ("commitImport", f"{path}/commit"),
                         ("reopenImport", f"{path}/reopen"), ("cancelImport", f"{path}/cancel"),
                         ("undoImport", f"{path}/undo"), ("createUser", "/v1/users")):
        viewer.post(target, json=BODIES[name](), expect=403, code="FORBIDDEN")
    assert (org.job(job_id), org.rows(job_id), org.user(user["id"]), org.members()) == before


def test_an_owner_and_an_admin_have_the_same_permissions(org):
    for role in ("owner", "admin"):
        client = org.admin(role).api
        job = client.post("/v1/imports", json=BODIES["createImport"](), expect=201).json()
        client.post(f"/v1/imports/{job['id']}/cancel", json={}, expect=200)
