"""/v1/modules…: drafts, versions, publication, deprecation (specification 2.6, 2.7, 3.3, 4.3)."""

import json
import uuid

import pytest
from support.client import details_of, faults_of
from support.stack import numbers
from support.world import slug

DRAFT = {"slug": "loyalty", "name": "Loyalty", "vendor": "Example Ltd"}
MANIFEST = {
    "name": "Loyalty", "description": "Points\nfor visits",
    "events": {"emits": ["my_loyalty.points_awarded"], "subscribes": ["member.created", "my_loyalty.points_awarded"]},
    "config_schema": {
        "api_key": {"type": "string", "required": True, "secret": True},
        "mode": {"type": "string", "enum": ["live", "test"]},
        "rate": {"type": "number", "required": False}, "on": {"type": "boolean"},
    },
    "permissions": ["members:read"],
}


@pytest.fixture
def admin(module_org):
    return module_org.admin().api


def versions_of(module):
    return f"/v1/modules/{module['id']}/versions"


def publication(module, version):
    return f"{versions_of(module)}/{version['id']}/publish"


def deprecation(module):
    return f"/v1/modules/{module['id']}/deprecate"


def all_of(client, path, name, limit=2):
    found, cursor = [], None
    while True:
        page = client.get_json(path, params={"limit": limit} | ({"cursor": cursor} if cursor else {}))
        assert len(page[name]) <= limit
        found += page[name]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


# ---------------------------------------------------------------------------- modules


def test_a_new_module_is_a_draft_of_the_active_organization(new_org):
    org = new_org(attributes=False)
    reply = org.admin().api.post("/v1/modules", json=DRAFT, expect=201)
    module = reply.json()
    assert {name: module[name] for name in DRAFT} == DRAFT
    assert (module["status"], module["kind"], module["current_version_id"]) == ("draft", "proprietary", None)
    assert module["owner_organization_id"] == org.id
    assert reply.headers["Location"] == f"/v1/modules/{module['id']}"
    for client in (org.api, org.admin().api, org.viewer().api):
        assert client.get_json(reply.headers["Location"]) == module
        assert client.get_json("/v1/modules") == {"modules": [module], "next_cursor": None}


def test_a_slug_is_unique_only_in_its_own_organization(new_org):
    one, two = new_org(attributes=False), new_org(attributes=False)
    one.create_module(**DRAFT)
    reply = one.admin().api.post("/v1/modules", json=DRAFT | {"name": "Another"}, expect=409, code="CONFLICT")
    assert details_of(reply) == {"field": "slug"}
    two.create_module(**DRAFT)
    assert len(one.api.get_json("/v1/modules")["modules"]) == 1


@pytest.mark.parametrize("value", ["ab", "a-", "a9-b", "a" * 63])
def test_a_slug_of_lower_case_letters_digits_and_hyphens_is_accepted(module_org, value):
    assert module_org.create_module(slug=value)["slug"] == value


@pytest.mark.parametrize("body, faults", [
    ({}, {"slug": "required", "name": "required", "vendor": "required"}),
    (DRAFT | {"slug": 1, "name": "", "vendor": " "}, {"slug": "wrong_type", "name": "required", "vendor": "required"}),
    (DRAFT | {"name": "x" * 256, "vendor": []}, {"name": "too_long", "vendor": "wrong_type"}),
    (DRAFT | {"kind": "third_party"}, {"kind": "unknown_field"}),
    (DRAFT | {"owner_organization_id": str(uuid.uuid4())}, {"owner_organization_id": "unknown_field"}),
    *[(DRAFT | {"slug": value}, {"slug": "invalid_value"})
      for value in ("a", "A-b", "9a", "-ab", "a_b", "a b", " ab", "ü-a", "ab\n", "member", "engagement", "installation",
                    "webhook-endpoint")],
    (DRAFT | {"slug": ""}, {"slug": "required"}), (DRAFT | {"slug": "a" * 64}, {"slug": "too_long"}),
])
def test_a_faulty_module_is_422_with_every_fault(admin, body, faults):
    assert faults_of(admin.post("/v1/modules", json=body, expect=422)) == faults


def test_the_fault_of_a_slug_says_what_is_allowed(admin):
    def fault(value):
        reply = admin.post("/v1/modules", json=DRAFT | {"slug": value}, expect=422)
        return details_of(reply)["fields"][0]

    malformed = fault("A-b")
    assert malformed["format"] == "^[a-z][a-z0-9-]{1,62}$" and "2 to 63 lower-case letters" in malformed["message"]
    assert fault("a" * 64)["max_length"] == 63
    assert "is reserved: its event types belong to Muster" in fault("member")["message"]


def test_a_version_is_read_at_its_location(module_org, admin):
    module = module_org.create_module()
    reply = admin.post(f"/v1/modules/{module['id']}/versions", json={"version": "1", "manifest": {"name": "N"}}, expect=201)
    assert module_org.api.get_json(reply.headers["Location"]) == reply.json()
    other = module_org.create_module()
    module_org.api.get(f"/v1/modules/{other['id']}/versions/{reply.json()['id']}", expect=404)


def test_the_list_is_paged_in_order_of_creation(new_org):
    org = new_org(attributes=False)
    made = [org.create_module() for _ in range(5)]
    assert all_of(org.api, "/v1/modules", "modules") == made


def test_an_organization_has_at_most_200_modules(new_org, stack):
    org = new_org(attributes=False)
    org.create_module()
    stack.sql("INSERT INTO modules (organization_id, id, slug, name, vendor, kind, status, created_at, updated_at) "
              "SELECT UNHEX(REPLACE(%s, '-', '')), UNHEX(LPAD(HEX(seq), 32, '0')), CONCAT('m', seq), '', '', 'proprietary', "
              f"'draft', 0, 0 FROM {numbers(199)}", org.id)
    reply = org.admin().api.post("/v1/modules", json=DRAFT, expect=409, code="INVALID_STATE")
    assert details_of(reply)["reason"] == "an organization has at most 200 modules; publish a new version of an existing one"


# ---------------------------------------------------------------------------- versions


def test_a_draft_stores_any_object_as_its_manifest(module_org, admin):
    module = module_org.create_module()
    for manifest in ({}, {"z": 1, "a": {"deep": [1.5, None, "ü\u0000", True]}}, {"name": 5, "name2": []}):
        version = admin.post(versions_of(module), json={"version": slug("v"), "manifest": manifest}, expect=201).json()
        assert version["manifest"] == manifest and list(version["manifest"]) == list(manifest)
        assert (version["module_id"], version["status"], version["published_at"]) == (module["id"], "draft", None)
    assert len(all_of(module_org.api, versions_of(module), "versions")) == 3
    assert module_org.api.get_json(f"/v1/modules/{module['id']}")["status"] == "draft"


@pytest.mark.parametrize("body, faults", [
    ({}, {"version": "required", "manifest": "required"}),
    ({"version": " ", "manifest": []}, {"version": "required", "manifest": "wrong_type"}),
    ({"version": "x" * 65, "manifest": {}}, {"version": "too_long"}),
    ({"version": 1, "manifest": "{}"}, {"version": "wrong_type", "manifest": "wrong_type"}),
    ({"version": "1", "manifest": {}, "status": "published"}, {"status": "unknown_field"}),
    ({"version": "1", "manifest": {"x": "y" * (64 * 1024 - 7)}}, {"manifest": "too_long"}),
])
def test_a_faulty_version_is_422_with_every_fault(module_org, admin, body, faults):
    module = module_org.records()["module"]
    assert faults_of(admin.post(f"/v1/modules/{module}/versions", json=body, expect=422)) == faults


def test_a_manifest_of_64_kib_is_accepted(module_org, admin):
    manifest = {"x": "y" * (64 * 1024 - 8)}
    assert len(json.dumps(manifest, separators=(",", ":"))) == 64 * 1024
    assert module_org.create_version(module_org.create_module(), manifest)["manifest"] == manifest


def test_a_version_is_unique_only_in_its_module(module_org, admin):
    one, two = module_org.create_module(), module_org.create_module()
    body = {"version": "1.0", "manifest": {}}
    admin.post(versions_of(one), json=body, expect=201)
    assert details_of(admin.post(versions_of(one), json=body, expect=409, code="CONFLICT")) == {"field": "version"}
    admin.post(versions_of(two), json=body, expect=201)
    admin.post(versions_of(one), json=body | {"version": "1.0 "}, expect=409, code="CONFLICT")  # trimmed


def test_a_module_has_at_most_500_versions(module_org, admin, stack):
    module = module_org.create_module()
    stack.sql("INSERT INTO module_versions (organization_id, id, module_id, version, manifest, status, created_at, "
              "updated_at) SELECT UNHEX(REPLACE(%s, '-', '')), UNHEX(LPAD(HEX(seq + 4096), 32, '0')), "
              f"UNHEX(REPLACE(%s, '-', '')), seq, '{{}}', 'draft', 0, 0 FROM {numbers(500)}", module_org.id, module["id"])
    reply = admin.post(versions_of(module), json={"version": "more", "manifest": {}}, expect=409, code="INVALID_STATE")
    assert details_of(reply)["reason"] == "a module has at most 500 versions; create another module"


# ---------------------------------------------------------------------------- publication


def test_a_published_version_becomes_the_current_one(module_org, admin):
    module = module_org.create_module(slug="my-loyalty")
    first, second = module_org.create_version(module, MANIFEST), module_org.create_version(module)
    for version in (first, second):
        published = admin.post(publication(module, version), expect=200).json()
        assert published["published_at"] is not None
        assert published == version | {"status": "published", "published_at": published["published_at"],
                                       "updated_at": published["updated_at"]}
        now = module_org.api.get_json(f"/v1/modules/{module['id']}")
        assert (now["status"], now["current_version_id"]) == ("published", version["id"])
    statuses = [version["status"] for version in module_org.api.get_json(versions_of(module))["versions"]]
    assert statuses == ["published", "published"]


def test_a_version_is_published_once(module_org, admin):
    module = module_org.create_module()
    version = module_org.create_version(module)
    module_org.publish(module, version)
    before = module_org.api.get_json(versions_of(module))
    assert details_of(admin.post(publication(module, version), expect=409, code="INVALID_STATE"))["reason"]
    assert module_org.api.get_json(versions_of(module)) == before


def test_an_invalid_manifest_is_rejected_with_every_fault_and_not_published(module_org, admin):
    module = module_org.create_module()
    version = module_org.create_version(module, {
        "version": 2, "description": 5,
        "events": {"emits": ["other.x", "member.created", "no type"], "subscribes": ["member.udpated"], "more": []},
        "config_schema": {"Key": {"type": "string"}, "a": {"type": "date"}, "b": {"type": "number", "secret": True},
                          "c": {"type": "string", "enum": ["x", 1, "x"], "default": "x"}, "d": {}},
        "permissions": ["", 1],
    })
    reply = admin.post(publication(module, version), expect=422, code="MANIFEST_INVALID")
    assert faults_of(reply) == {
        "manifest.version": "unknown_field", "manifest.description": "wrong_type",
        "manifest.events.emits[0]": "invalid_value", "manifest.events.emits[1]": "invalid_value",
        "manifest.events.emits[2]": "invalid_value", "manifest.events.subscribes[0]": "invalid_value",
        "manifest.events.more": "unknown_field", "manifest.config_schema.Key": "invalid_value",
        "manifest.config_schema.a.type": "invalid_choice", "manifest.config_schema.b.secret": "invalid_value",
        "manifest.config_schema.c.enum[1]": "wrong_type", "manifest.config_schema.c.enum[2]": "duplicate",
        "manifest.config_schema.c.default": "unknown_field", "manifest.config_schema.d.type": "required",
        "manifest.permissions[0]": "required", "manifest.permissions[1]": "wrong_type", "manifest.name": "required",
    }
    assert module_org.api.get_json(f"/v1/modules/{module['id']}") == module
    assert module_org.api.get_json(versions_of(module))["versions"] == [version]


def test_a_version_of_another_module_is_not_found(module_org, admin):
    one, two = module_org.create_module(), module_org.create_module()
    version = module_org.create_version(one)
    admin.post(publication(two, version), expect=404, code="NOT_FOUND")
    admin.post(publication(two, {"id": "no-uuid"}), expect=404)


# ---------------------------------------------------------------------------- deprecation


def test_a_deprecated_module_remains_deprecated_and_publishes_no_further_version(module_org, admin):
    module = module_org.create_module()
    assert details_of(admin.post(deprecation(module), expect=409, code="INVALID_STATE"))["reason"]
    module_org.publish(module, module_org.create_version(module))
    later = module_org.create_version(module)
    deprecated = admin.post(deprecation(module), expect=200).json()
    assert deprecated["status"] == "deprecated" and deprecated["current_version_id"] is not None
    assert admin.post(deprecation(module), json={}, expect=200).json() == deprecated
    admin.post(publication(module, later), expect=409, code="INVALID_STATE")
    assert module_org.api.get_json(f"/v1/modules/{module['id']}") == deprecated


# ---------------------------------------------------------------------------- permissions


def test_a_key_and_a_viewer_read_modules_and_do_not_change_them(module_org):
    ids = module_org.records()
    for client in (module_org.api, module_org.viewer().api):
        client.get("/v1/modules", expect=200)
        client.get(f"/v1/modules/{ids['module']}/versions", expect=200)
        client.post("/v1/modules", json=DRAFT | {"slug": slug()}, expect=403, code="FORBIDDEN")
        client.post(f"/v1/modules/{ids['module']}/versions", json={"version": "9", "manifest": {}}, expect=403)
        client.post(f"/v1/modules/{ids['module']}/versions/{ids['version']}/publish", expect=403)
        client.post(f"/v1/modules/{ids['module']}/deprecate", expect=403)


def test_only_the_owner_may_add_versions_to_its_module(new_org, module_org):
    module = module_org.create_module()
    version = module_org.create_version(module)
    stranger = new_org(attributes=False).admin().api
    stranger.get(f"/v1/modules/{module['id']}", expect=404)
    stranger.get(versions_of(module), expect=404)
    stranger.post(versions_of(module), json={"version": "2", "manifest": {}}, expect=404, code="NOT_FOUND")
    stranger.post(publication(module, version), expect=404)
    stranger.post(deprecation(module), expect=404)
    assert module_org.api.get_json(versions_of(module))["versions"] == [version]


def test_each_step_is_replayed_and_another_body_conflicts(module_org, admin):
    def twice(path, body, other, status):
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        first = admin.post(path, json=body, headers=headers, expect=status)
        again = admin.post(path, json=body, headers=headers, expect=status)
        assert again.content == first.content and again.headers["Idempotency-Replayed"] == "true"
        assert again.headers.get("Location") == first.headers.get("Location")
        more = {} if other is None else {"json": other}
        admin.post(path, headers=headers, expect=409, code="IDEMPOTENCY_CONFLICT", **more)
        return first.json()

    body = DRAFT | {"slug": slug()}
    module = twice("/v1/modules", body, body | {"name": "Other"}, 201)
    manifest = {"name": "N"}
    version = twice(versions_of(module), {"version": "1", "manifest": manifest}, {"version": "2", "manifest": manifest}, 201)
    twice(publication(module, version), {}, None, 200)
    twice(deprecation(module), {}, None, 200)
    assert len(module_org.api.get_json(versions_of(module))["versions"]) == 1


def test_the_audit_log_records_each_step(new_org):
    org = new_org(attributes=False)
    module = org.published_module()
    org.admin().api.post(deprecation(module), expect=200)
    log = org.admin().api.get_json("/v1/audit-log", params={"subject_id": module["id"]})["audit_log"]
    assert [entry["action"] for entry in log] == [
        "module.deprecated", "module.published", "module.version_created", "module.created"]
    assert log[1]["details"]["version_id"] == module["current_version_id"]
