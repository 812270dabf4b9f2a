"""Tenants: a record of another organization looks like one that does not exist (specification 5, 7).

The tests iterate over the API description: a new operation fails here until support/bodies.py supports it.
"""

import itertools
import time
import uuid

import pytest
from support.bodies import BODIES, body_of, kinds_of, names_a_record, path_of
from support.world import Organization, email, emails

IGNORED_HEADERS = {"X-Request-Id", "Date", "RateLimit"}
# Tables that only requests and the operator change: {table: columns that a use does not change}.
TABLES = dict.fromkeys(("articles", "ad_slots", "ad_campaigns", "ad_creatives", "seat_invitations"), "*") | {
    "module_credentials": "id, installation_id, name, secret_hash, signing_secret, expires_at, revoked_at"}
# The names of ids in replies that differ from "id".
ID_NAMES = {"seat": "admin_id", "invitation": "invitation_id"}


@pytest.fixture(scope="module")
def ours(stack, contract):
    return Organization(stack, contract)


def publishable(org, kind):
    """A revoked key and a valid one."""
    revoked = org.issue_publishable_key(kind)["id"]
    org.stack.ctl(f"{kind}-key", "revoke", "--yes", "--org", org.id, "--id", revoked)
    return [revoked, org.records()[f"{kind}_key"]]


@pytest.fixture(scope="module")
def theirs(stack, contract):
    """Another organization with records in many states: {kind: [id, …]}."""
    other = Organization(stack, contract)
    imports = [other.imported([{"email": email()}])["id"]]
    imports.append(other.validated([{"email": email(), "attributes": {"no_such": 1}}])["id"])
    other.cancel(imports[-1])
    imports.append(other.staged([{"email": email()}]))
    users = [other.create_user({"email": email(), "first_name": "Theirs"})["id"]]
    revoked = stack.issue_key(other.id, "revoked")["id"]
    stack.ctl("key", "revoke", "--yes", "--org", other.id, "--id", revoked)
    disabled = other.published_module()
    installation = other.install(disabled)
    endpoint = other.create_endpoint(installation)
    delivery = other.test_endpoint(endpoint)
    credentials = [other.issue_credential(installation)["id"], other.records()["credential"]]
    other.admin().api.delete(f"/v1/installations/{installation['id']}", expect=200)
    draft = other.create_module()
    modules = [draft["id"], disabled["id"], other.records()["module"]]
    versions = [other.create_version(draft)["id"], disabled["current_version_id"], other.records()["version"]]
    articles = [other.create_article(), other.published_article()]
    member_jobs = [other.records()["member_job"], other.api.post(
        "/v1/member-jobs", json={"action": "lock", "filter": {"q": "theirs"}}, expect=201).json()["id"]]
    return {"import": imports, "user": users, "member_job": member_jobs, "api_key": [other.key_id, revoked], "module": modules, "version": versions,
            "installation": [installation["id"], other.records()["installation"]], "credential": credentials,
            "endpoint": [endpoint["id"], other.records()["endpoint"]],
            "delivery": [delivery["id"], other.records()["delivery"]],
            "session": [other.records()["session"], other.viewer().another_session_id()],
            "slot": [other.records()["slot"]], "campaign": [other.records()["campaign"]], "creative": [other.records()["creative"]],
            "tracking_key": publishable(other, "tracking"), "content_key": publishable(other, "content"),
            "connection": [other.connect_provider()["id"], other.records()["connection"]],
            "article": [article["id"] for article in articles], "article_slug": [article["slug"] for article in articles],
            "seat": [other.admin().id, other.records()["seat"]],
            "invitation": [other.invite()["invitation_id"], other.records()["invitation"]],
            "organization_id": [other.id], "organization": other}


@pytest.fixture(params=["key", "session"])
def client(request, ours):
    """Both credentials of this organization: its key, and an owner's session."""
    return ours.api if request.param == "key" else ours.admin().api


def way_to(operation, client, ours):
    """This organization's page calls the operations for pages; the client calls all others."""
    return ours.client_for(operation) if operation.takes_publishable_key or operation.takes_module_credential else client


def is_open_to(client, operation):
    is_for_keys = operation.takes_organization_key or operation.takes_publishable_key
    return is_for_keys or not client.key.startswith("org_")


def all_ids(operation, records):
    """Each of the records that the operation can name, as ids for path_of(); related ones have the same position."""
    kinds = kinds_of(operation)
    return [dict(zip(kinds, ids)) for ids in zip(*[records[kind] for kind in kinds])]


def answer(client, operation, ids, ours):
    reply = way_to(operation, client, ours).request(operation.method, path_of(operation, ids), **body_of(operation))
    headers = {name: value for name, value in reply.headers.items() if name not in IGNORED_HEADERS}
    return reply.status_code, headers, reply.content


def rows_of_tables(org):
    """The organization's rows of TABLES, and the sessions of its admins."""
    of_org = "organization_id = UNHEX(REPLACE(%s, '-', '')) ORDER BY id"
    rows = [org.stack.sql(f"SELECT {columns} FROM {table} WHERE {of_org}", org.id) for table, columns in TABLES.items()]
    return [*rows, org.stack.sql(f"SELECT id, admin_id FROM sessions WHERE active_{of_org}", org.id)]


def test_every_operation_is_covered(contract):
    for operation in contract.operations:
        if names_a_record(operation):
            kinds_of(operation)
        if operation.method != "GET":
            assert operation.id in BODIES, f"{operation.id}: support/bodies.py needs a body for it"


def test_a_record_of_another_tenant_looks_like_an_unknown_one(contract, client, ours, theirs):
    checked = 0
    for operation in filter(names_a_record, contract.operations):
        kinds = kinds_of(operation)
        nowhere = answer(client, operation, {kind: uuid.uuid4() for kind in kinds}, ours)
        assert nowhere[0] == (404 if is_open_to(client, operation) else 403), operation.id
        for ids in all_ids(operation, theirs):
            assert answer(client, operation, ids, ours) == nowhere, operation.id
            checked += 1
        assert answer(client, operation, dict.fromkeys(kinds, "no-uuid"), ours) == nowhere, operation.id
        for kind in kinds[1:]:  # records that belong to a record of this organization
            ids = all_ids(operation, theirs)[0]
            mixed = ours.records() | {kind: ids[kind]}
            mixed_nowhere = ours.records() | {kind: uuid.uuid4()}
            seen = [answer(client, operation, ids, ours) for ids in (mixed, mixed_nowhere)]
            assert seen == [nowhere, nowhere], operation.id
    assert checked >= 45


def test_the_attempts_on_records_of_another_tenant_changed_nothing(contract, client, ours, theirs):
    other = theirs["organization"]

    def snapshot():
        jobs = [(other.job(job_id), other.rows(job_id)) for job_id in theirs["import"]]
        keys = [key | {"last_used_at": None} for noun in ("key", "tracking-key", "content-key")
                for key in other.stack.ctl(noun, "list", "--org", other.id)]
        modules = [other.api.get_json(path, params={"limit": 100}) for path in (
            "/v1/modules", "/v1/installations", *(f"/v1/modules/{module_id}/versions" for module_id in theirs["module"]))]
        # Changes by a runner in the meantime are ignored.
        endpoints = [{name: endpoint[name] for name in ("id", "url", "status")}
                     for endpoint in other.stack.ctl("webhook", "list", "--org", other.id)]
        connections = other.admin().api.get_json("/v1/external-data/connections", params={"org": other.id})
        states = [other.api.get_json(f"/v1/member-jobs/{job_id}")["state"] for job_id in theirs["member_job"]]
        jobs += ["validated" if state == "validating" else state for state in states]
        return (jobs, [other.user(user_id) for user_id in theirs["user"]], other.members(), keys, modules, endpoints,
                connections, other.stack.ctl("admin", "list", "--org", other.id), rows_of_tables(other))

    before = snapshot()
    assert all(before[-1])
    for operation in filter(names_a_record, contract.operations):
        for ids in all_ids(operation, theirs):
            answer(client, operation, ids, ours)
    assert snapshot() == before


def test_every_own_record_is_read_by_its_id(contract, ours):
    records = ours.records() | {"import": ours.imported([{"email": email()}])["id"]}
    read = 0
    for operation in filter(names_a_record, contract.operations):
        if operation.method == "GET" and operation.path.endswith("}"):
            reply = ours.client_for(operation).get(path_of(operation, records), expect=200)
            kind = kinds_of(operation)[-1]
            own_id = records["article" if kind == "article_slug" else kind]
            assert reply.json()[ID_NAMES.get(kind, "id")] == own_id, operation.id
            read += 1
    assert read >= 15


def test_lists_contain_only_own_records(contract, client, ours, theirs):
    ours.records()
    checked = 0
    for operation in contract.operations:
        if operation.method == "GET" and not operation.parameters and not operation.is_open and is_open_to(client, operation):
            text = way_to(operation, client, ours).get(operation.path, expect=200, **body_of(operation, ours)).text
            for record_id in itertools.chain(*(theirs[kind] for kind in theirs if kind != "organization")):
                assert record_id not in text, operation.id
            assert theirs["organization"].id not in text, operation.id
            checked += 1
    assert checked >= 12


def test_connections_of_an_organization_without_a_seat_look_like_unknown_ones(ours, theirs):
    seen = set()
    for organization_id in (theirs["organization"].id, str(uuid.uuid4())):
        for admin in (ours.admin().api, ours.viewer().api):
            seen.add(admin.get("/v1/external-data/connections", params={"org": organization_id}, expect=404).content)
    assert len(seen) == 1


def test_an_organization_without_a_seat_looks_like_an_unknown_one(ours, theirs, new_org, stack):
    full = new_org(attributes=False)
    stack.sql("INSERT INTO organization_days (organization_id, day, kind, slot, amount) "
              "VALUES (UNHEX(REPLACE(%s, '-', '')), %s, 'audit_entries', 0, 20000) ON DUPLICATE KEY UPDATE amount = VALUES(amount)",
              full.id, int(time.time() // 86_400))
    bodies = set()
    for organization_id in (theirs["organization"].id, full.id, str(uuid.uuid4())):
        reply = ours.admin().api.post("/v1/session/active-organization", json={"organizationId": organization_id},
                                      expect=404, code="NOT_FOUND")
        bodies.add(reply.content)
        assert reply.headers["X-Active-Organization"] == ours.id
    assert len(bodies) == 1


def test_an_active_import_of_another_tenant_does_not_block(ours, theirs):
    assert theirs["organization"].job(theirs["import"][-1])["state"] == "staging"
    ours.cancel(ours.create_import()["id"])


def test_each_organization_sees_only_its_own_values_of_a_person(new_org):
    one, two = new_org(), new_org()
    address = email()
    mine = one.create_user({"email": address, "first_name": "One", "attributes": {"phone": "1"}})
    two.api.get(f"/v1/users/{mine['id']}", expect=404)
    yours = two.create_user({"email": address, "last_name": "Two", "attributes": {"points": 2}})
    assert yours["id"] == mine["id"]
    assert (one.user(mine["id"])["last_name"], one.user(mine["id"])["attributes"]) == (None, {"phone": "1"})
    assert (two.user(mine["id"])["first_name"], two.user(mine["id"])["attributes"]) == (None, {"points": 2})


def test_two_organizations_can_import_the_same_people_in_parallel(new_org):
    one, two = new_org(attributes=False), new_org(attributes=False)
    addresses = emails(1500)
    jobs = []
    for org, name in ((one, "One"), (two, "Two")):
        jobs.append(org.staged([{"email": address, "first_name": name} for address in addresses]))
        org.validate(jobs[-1])
    for org, job_id in zip((one, two), jobs):
        org.state_is(job_id, "validated")
    for org, job_id in zip((one, two), jobs):
        org.commit(job_id)
    done = [org.state_is(job_id, "completed") for org, job_id in zip((one, two), jobs)]
    assert sum(job["created_count"] for job in done) == 1500
    assert sum(job["attached_count"] for job in done) == 1500
    for org, name in ((one, "One"), (two, "Two")):
        members = org.members()
        assert set(members) == set(addresses)
        assert {member["first_name"] for member in members.values()} == {name}
