"""/console/v1/content-keys: the behavior of content keys only. For the behavior of all publishable keys see
test_tracking_keys.py (docs/engagement.md "Publishable keys", specification 5)."""

import pytest
from support.client import SHOP, faults_of
from support.publishable import Keys


@pytest.fixture
def content(module_org):
    return Keys(module_org, "content")


def test_a_content_key_has_no_rates(content):
    key = content.create()
    assert key["key"].startswith("ck_live_") and not {"rate_limit_per_second", "burst"} & set(key)
    rates = {"rate_limit_per_second": 5, "burst": 5}
    unknown = dict.fromkeys(rates, "unknown_field")
    assert faults_of(content.post(expect=422, **rates)) == unknown
    assert faults_of(content.change(key, expect=422, **rates)) == unknown


@pytest.mark.parametrize("headers", [{"Origin": None}, {"Origin": "null"}, {"Origin": SHOP},
                                     {"Origin": None, "Referer": f"{SHOP}/console/"}])
def test_content_keys_are_managed_only_from_the_console(content, headers):
    key = content.create()
    body = {"name": "stolen", "allowed_origins": ["https://evil.test"]}
    path = f"{content.path}/{key['id']}"
    for method, target, options in (("GET", content.path, {}), ("POST", content.path, {"json": body}),
                                    ("PATCH", path, {"json": body}), ("DELETE", path, {})):
        content.admin.request(method, target, headers=headers, expect=403, code="ORIGIN_NOT_ALLOWED", **options)
    assert content.record(key) == key
    assert "stolen" not in {record["name"] for record in content.listed()}


def test_the_consoles_pages_may_send_a_referer_instead_of_an_origin_header(content, stack):
    headers = {"Origin": None, "Referer": f"{stack.base_url}/console/keys?page=2"}
    content.admin.get(content.path, headers=headers, expect=200)


def test_the_case_of_the_consoles_origin_does_not_matter(content, stack):
    content.admin.get(content.path, headers={"Origin": stack.base_url.upper()}, expect=200)


def test_a_viewer_reads_the_keys_and_changes_none(module_org, content):
    key, viewer = content.create(), module_org.viewer().api
    assert key in viewer.get_json(content.path, params={"limit": 100})["keys"]
    viewer.request("PATCH", f"{content.path}/{key['id']}", json={"name": "mine"}, expect=403, code="FORBIDDEN")
    viewer.delete(f"{content.path}/{key['id']}", expect=403, code="FORBIDDEN")
    assert content.record(key) == key


def test_only_a_session_is_accepted_by_the_console(module_org, content):
    for client in (module_org.api, module_org.module_api):
        client.get(content.path, expect=403, code="FORBIDDEN")
    module_org.api.get(content.path, key=None, expect=401)
