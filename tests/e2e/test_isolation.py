"""Tenants: what belongs to another organization cannot be told from what does not exist (specification 5, 7).

The matrix is made from the description: a new operation fails here until support/bodies.py knows how to call it.
"""

import uuid

import pytest
from support.bodies import BODIES, body_of, kind_of, path_of
from support.world import Organization, email, emails

IGNORED_HEADERS = {"X-Request-Id", "Date"}


@pytest.fixture(scope="module")
def ours(stack, contract):
    return Organization(stack, contract)


@pytest.fixture(scope="module")
def theirs(stack, contract):
    """Another organization with records in many states: {kind: [id, …]}."""
    other = Organization(stack, contract)
    imports = [other.imported([{"email": email()}])["id"]]
    imports.append(other.validated([{"email": email(), "attributes": {"no_such": 1}}])["id"])
    other.cancel(imports[-1])
    imports.append(other.staged([{"email": email()}]))
    users = [other.create_user({"email": email(), "first_name": "Theirs"})["id"]]
    return {"import": imports, "user": users, "organization": other}


def answer(org, operation, record_id):
    ids = {kind_of(operation): record_id}
    reply = org.api.request(operation.method, path_of(operation, ids), **body_of(operation))
    headers = {name: value for name, value in reply.headers.items() if name not in IGNORED_HEADERS}
    return reply.status_code, headers, reply.content


def test_every_operation_is_covered(contract):
    for operation in contract.operations:
        if operation.parameters:
            assert len(operation.parameters) == 1, f"{operation.id}: teach the matrix about several ids"
            kind_of(operation)
        if operation.method != "GET":
            assert operation.id in BODIES, f"{operation.id}: support/bodies.py needs a body for it"


def test_another_tenants_record_looks_like_one_that_does_not_exist(contract, ours, theirs):
    checked = 0
    for operation in contract.operations:
        if not operation.parameters or not operation.takes_organization_key:
            continue
        nowhere = answer(ours, operation, uuid.uuid4())
        assert nowhere[0] == 404, operation.id
        for record_id in theirs[kind_of(operation)]:
            assert answer(ours, operation, record_id) == nowhere, operation.id
            checked += 1
        assert answer(ours, operation, "no-uuid") == nowhere, operation.id
    assert checked >= 22


def test_what_was_tried_on_another_tenants_records_changed_nothing(contract, ours, theirs):
    other = theirs["organization"]

    def snapshot():
        jobs = [(other.job(job_id), other.rows(job_id)) for job_id in theirs["import"]]
        return jobs, [other.user(user_id) for user_id in theirs["user"]], other.members()

    before = snapshot()
    for operation in contract.operations:
        if operation.parameters and operation.takes_organization_key:
            for record_id in theirs[kind_of(operation)]:
                answer(ours, operation, record_id)
    assert snapshot() == before


def test_lists_hold_the_own_records_only(contract, ours, theirs):
    for operation in contract.operations:
        if operation.method == "GET" and not operation.parameters and operation.takes_organization_key:
            text = ours.api.get(operation.path, expect=200).text
            for record_id in [*theirs["import"], *theirs["user"], theirs["organization"].id]:
                assert record_id not in text, operation.id


def test_another_tenants_active_import_is_no_obstacle(ours, theirs):
    assert theirs["organization"].job(theirs["import"][-1])["state"] == "staging"
    ours.cancel(ours.create_import()["id"])


def test_the_same_person_is_known_to_each_organization_by_its_own_values_only(new_org):
    one, two = new_org(), new_org()
    address = email()
    mine = one.create_user({"email": address, "first_name": "One", "attributes": {"phone": "1"}})
    two.api.get(f"/v1/users/{mine['id']}", expect=404)
    yours = two.create_user({"email": address, "last_name": "Two", "attributes": {"points": 2}})
    assert yours["id"] == mine["id"]
    assert (one.user(mine["id"])["last_name"], one.user(mine["id"])["attributes"]) == (None, {"phone": "1"})
    assert (two.user(mine["id"])["first_name"], two.user(mine["id"])["attributes"]) == (None, {"points": 2})


def test_two_organizations_can_import_the_same_people_at_the_same_time(new_org):
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
