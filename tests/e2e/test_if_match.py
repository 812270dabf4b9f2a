"""If-Match and If-None-Match with records whose ETag is their updated_at. For users see
members/test_users_change.py."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from support.ads import CONSOLE, Ads
from support.client import faults_of
from support.contract import component
from support.world import path_of_endpoint, slug

STALE = '"2026-01-01T00:00:00.000Z"'


@pytest.fixture(scope="module")
def ads(module_org):
    return Ads(module_org)


def article(org, _):
    return f"/console/v1/articles/{org.create_article()['id']}"


def slot(_, ads):
    return f"{CONSOLE}/slots/{ads.slot()['id']}"


def campaign(_, ads):
    return f"{CONSOLE}/campaigns/{ads.campaign(ads.slot())['id']}"


def creative(_, ads):
    return f"{CONSOLE}/creatives/{ads.creative(ads.campaign(ads.slot()))['id']}"


def installation(org, _):
    module = org.published_module({"name": "Module", "config_schema": {"note": {"type": "string"}}})
    return f"/v1/installations/{org.install(module)['id']}"


def endpoint(org, _):
    return path_of_endpoint(org.create_endpoint(org.install(org.published_module())))


def attribute(org, _):
    path = f"/v1/attributes/{slug('a').replace('-', '_')}"
    org.admin().api.request("PUT", path, json={"type": "text", "enabled": True}, expect=200)
    return path


# Each with the changes that it takes: (method, step, body).
RECORDS = [
    (article, [("PATCH", "", {"title": "New"}), ("POST", "/publish", {}), ("POST", "/unpublish", {}), ("DELETE", "", None)]),
    (slot, [("PATCH", "", {"name": "New"}), ("DELETE", "", None)]),
    (campaign, [("PATCH", "", {"name": "New"}), ("DELETE", "", None)]),
    (creative, [("PATCH", "", {"alt": "New"}), ("DELETE", "", None)]),
    (installation, [("PATCH", "", {"config": {"note": "new"}}), ("DELETE", "", None), ("POST", "/enable", {})]),
    (endpoint, [("PATCH", "", {"status": "paused"}), ("POST", "/rotate-secret", {}), ("DELETE", "", None)]),
    (attribute, [("PUT", "", {"type": "text", "enabled": False})]),
]


@pytest.mark.parametrize("make, changes", RECORDS, ids=[make.__name__ for make, _ in RECORDS])
def test_a_change_is_made_only_to_the_version_of_if_match(module_org, ads, make, changes):
    client = module_org.admin().api
    path = make(module_org, ads)
    for method, step, body in changes:
        options = {} if body is None else {"json": body}
        read = client.get(path, expect=200)
        tag = read.headers["ETag"]
        assert tag == f'"{read.json()["updated_at"]}"'
        for stale in (STALE, f'W/{tag}', '""'):
            client.request(method, path + step, headers={"If-Match": stale}, expect=412, code="PRECONDITION_FAILED", **options)
        assert client.get_json(path) == read.json(), (method, step)
        done = client.request(method, path + step, headers={"If-Match": f"{STALE}, {tag}"}, **options)
        assert done.status_code in (200, 204), done.text
        if done.status_code == 200:
            if "signing_secret" in done.json():
                client.stack.keys_issued.append(done.json()["signing_secret"])
            assert done.headers["ETag"] == f'"{done.json()["updated_at"]}"' > tag


# The fields that null clears in a PATCH.
CLEARABLE = {article: {"excerpt", "locale", "author", "cover_url"}, slot: set(), campaign: {"ends_at", "daily_impressions", "frequency_cap"},
             creative: {"image_url", "html", "alt"}, installation: set(), endpoint: {"description"}}


def test_null_is_tried_with_each_record_that_has_a_patch():
    assert set(CLEARABLE) == {make for make, changes in RECORDS if changes[0][0] == "PATCH"}


@pytest.mark.parametrize("make", CLEARABLE, ids=lambda make: make.__name__)
def test_null_is_a_fault_of_each_field_that_cannot_be_empty(module_org, ads, contract, make):
    client = module_org.admin().api
    path = make(module_org, ads)
    before = client.get_json(path)
    body = contract.operation("PATCH", path).row["requestBody"]["content"]["application/json"]["schema"]
    fields = set(component(contract.document, body["$ref"].removeprefix("#/components/"))["properties"])
    filled = fields - CLEARABLE[make]
    assert CLEARABLE[make] < fields
    assert faults_of(client.request("PATCH", path, json=dict.fromkeys(filled), expect=422)) == dict.fromkeys(filled, "required")
    assert client.get_json(path) == before


def test_every_operation_with_if_match_is_tried(contract):
    tried = sum(len(changes) for _, changes in RECORDS)
    users, organization = 4, 1  # members/test_users_change.py, organization/test_organization.py
    assert sum(412 in operation.statuses for operation in contract.operations) == tried + users + organization


def test_if_match_requires_that_an_attribute_exists(module_org):
    path = f"/v1/attributes/{slug('a').replace('-', '_')}"
    body = {"type": "text", "enabled": True}
    for header in ("*", STALE):
        module_org.admin().api.request("PUT", path, json=body, headers={"If-Match": header}, expect=412)
    module_org.admin().api.get(path, expect=404)


def test_if_none_match_requires_that_no_attribute_exists(module_org):
    client = module_org.admin().api
    path = f"/v1/attributes/{slug('a').replace('-', '_')}"
    body = {"type": "text", "label": "First", "enabled": True}
    made = client.request("PUT", path, json=body, headers={"If-None-Match": "*"}, expect=200)
    for header in ("*", made.headers["ETag"], f'W/{made.headers["ETag"]}'):
        client.request("PUT", path, json=body | {"label": "Second"}, headers={"If-None-Match": header}, expect=412, code="PRECONDITION_FAILED")
    assert client.get_json(path) == made.json()
    client.request("PUT", path, json=body | {"label": "Second"}, headers={"If-None-Match": STALE}, expect=200)


def test_of_two_admins_who_add_one_attribute_one_succeeds(module_org):
    path = f"/v1/attributes/{slug('a').replace('-', '_')}"
    admins = [module_org.new_admin("owner").api for _ in range(2)]

    def add(client):
        return client.request("PUT", path, json={"type": "text", "enabled": True}, headers={"If-None-Match": "*"}).status_code

    with ThreadPoolExecutor(len(admins)) as threads:
        assert sorted(threads.map(add, admins)) == [200, 412]


def test_if_none_match_prevents_changes_of_that_version(module_org):
    user = module_org.create_user({"email": f"{slug('if')}@members.example"})
    path = f"/v1/users/{user['id']}"
    tag = module_org.api.get(path, expect=200).headers["ETag"]
    module_org.api.request("PATCH", path, json={"first_name": "New"}, headers={"If-None-Match": tag}, expect=412)
    assert module_org.api.get_json(path)["first_name"] is None


def test_of_two_changes_of_one_version_one_succeeds(module_org, ads):
    client = module_org.admin().api
    path = slot(module_org, ads)
    tag = client.get(path).headers["ETag"]
    seen = [client.request("PATCH", path, json={"name": name}, headers={"If-Match": tag}).status_code for name in ("A", "B")]
    assert seen == [200, 412]


def test_a_replay_has_the_etag_of_its_reply(module_org):
    client = module_org.admin().api
    made = module_org.create_article()
    options = {"json": {}, "headers": {"Idempotency-Key": slug("key")}}
    path = f"/console/v1/articles/{made['id']}/publish"
    first, again = (client.post(path, expect=200, **options) for _ in range(2))
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.headers["ETag"] == first.headers["ETag"]
