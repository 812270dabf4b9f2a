"""/v1/installations…: modules are installed, configured, enabled and disabled (specification 2.8, 3.2, 4.3)."""

import json
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.client import details_of, faults_of

SCHEMA = {
    "api_key": {"type": "string", "required": True, "secret": True}, "token": {"type": "string", "secret": True},
    "mode": {"type": "string", "enum": ["live", "test"]}, "rate": {"type": "number"}, "on": {"type": "boolean"},
}


@pytest.fixture
def admin(module_org):
    return module_org.admin().api


def path_to(installation):
    return f"/v1/installations/{installation['id']}"


def secret(stack, word):
    """A value that no log and no table may contain."""
    value = f"{word}-{uuid.uuid4().hex}"
    stack.keys_issued.append(value)
    return value


def with_schema(schema):
    return {"name": "Module", "config_schema": schema}


# ---------------------------------------------------------------------------- install


def test_a_module_is_installed_in_its_current_version(module_org, admin):
    module = module_org.published_module()
    reply = admin.post("/v1/installations", json={"module_id": module["id"]}, expect=201)
    installed = reply.json()
    assert (installed["module_id"], installed["version_id"]) == (module["id"], module["current_version_id"])
    assert (installed["organization_id"], installed["status"], installed["config"]) == (module_org.id, "enabled", {})
    assert installed["installed_by"] == module_org.admin().id
    assert installed["installed_at"] == installed["created_at"] == installed["updated_at"]
    assert reply.headers["Location"] == path_to(installed)
    for client in (module_org.api, admin, module_org.viewer().api):
        assert client.get_json(path_to(installed)) == installed
        assert installed in client.get_json("/v1/installations", params={"limit": 100})["installations"]


def test_an_older_published_version_can_be_requested(module_org):
    module = module_org.published_module()
    module_org.publish(module, module_org.create_version(module))
    installed = module_org.install(module, version_id=module["current_version_id"])
    assert installed["version_id"] == module["current_version_id"]


def test_drafts_and_deprecated_modules_are_not_installed(module_org, admin):
    draft = module_org.create_module()
    version = module_org.create_version(draft)
    published = module_org.published_module()
    next_version = module_org.create_version(published)
    old = module_org.published_module()
    running = module_org.install(old)
    admin.post(f"/v1/modules/{old['id']}/deprecate", expect=200)
    for body in ({"module_id": draft["id"]}, {"module_id": draft["id"], "version_id": version["id"]},
                 {"module_id": published["id"], "version_id": next_version["id"]}, {"module_id": old["id"]}):
        reply = admin.post("/v1/installations", json=body, expect=409, code="INVALID_STATE")
        assert details_of(reply)["reason"]
    assert admin.get_json(path_to(running))["status"] == "enabled"
    admin.delete(path_to(running), expect=200)
    admin.post(path_to(running) + "/enable", expect=200)  # the existing installation continues


def test_an_unknown_or_foreign_module_or_version_is_not_found(module_org, new_org, admin):
    stranger = new_org(attributes=False)
    theirs, mine, other = stranger.published_module(), module_org.published_module(), module_org.published_module()
    nowhere = str(uuid.uuid4())
    bodies = set()
    for body in ({"module_id": nowhere}, {"module_id": theirs["id"]},
                 {"module_id": theirs["id"], "version_id": theirs["current_version_id"]},
                 {"module_id": mine["id"], "version_id": theirs["current_version_id"]},
                 {"module_id": mine["id"], "version_id": other["current_version_id"]},
                 {"module_id": mine["id"], "version_id": nowhere}):
        bodies.add(admin.post("/v1/installations", json=body, expect=404, code="NOT_FOUND").content)
    assert len(bodies) == 1


@pytest.mark.parametrize("body, faults", [
    ({}, {"module_id": "required"}), ({"module_id": "x", "version_id": 1, "config": []},
                                      {"module_id": "invalid_uuid", "version_id": "wrong_type", "config": "wrong_type"}),
    ({"module_id": str(uuid.uuid4()), "status": "enabled"}, {"status": "unknown_field"}),
    ({"module_id": str(uuid.uuid4()), "config": {"x": "y" * 64 * 1024}}, {"config": "too_long"}),
])
def test_a_faulty_installation_is_422_with_every_fault(admin, body, faults):
    assert faults_of(admin.post("/v1/installations", json=body, expect=422)) == faults


def test_one_of_ten_parallel_installations_succeeds(module_org, admin):
    module = module_org.published_module()
    with ThreadPoolExecutor(10) as pool:
        replies = list(pool.map(lambda _: admin.post("/v1/installations", json={"module_id": module["id"]}), range(10)))
    assert sorted(reply.status_code for reply in replies) == [201] + [409] * 9
    assert {details_of(reply)["field"] for reply in replies if not reply.ok} == {"module_id"}


# ---------------------------------------------------------------------------- config


def test_secret_values_are_shown_as_stars_in_every_reply(module_org, admin, stack):
    value = secret(stack, "api-key")
    module = module_org.published_module(with_schema(SCHEMA))
    installed = module_org.install(module, config={"on": True, "api_key": value, "rate": 0.5, "mode": "test"})
    assert installed["config"] == {"on": True, "api_key": "***", "rate": 0.5, "mode": "test"}
    assert admin.get_json(path_to(installed)) == installed
    changed = admin.request("PATCH", path_to(installed), json={"config": {"api_key": secret(stack, "other")}}, expect=200)
    assert changed.json()["config"] == {"api_key": "***"}
    for path in (path_to(installed), "/v1/installations?limit=100", "/v1/audit-log?limit=100"):
        assert value not in admin.get(path, expect=200).text
    reply = admin.request("PATCH", path_to(installed), json={"config": {"api_key": value, "mode": value}}, expect=422)
    assert value not in reply.text


@pytest.mark.parametrize("config, faults", [
    ({}, {"config.api_key": "required"}),
    ({"api_key": 1, "mode": "prod", "rate": "1", "on": None, "other": {}},
     {"config.api_key": "wrong_type", "config.mode": "invalid_choice", "config.rate": "wrong_type",
      "config.on": "wrong_type", "config.other": "unknown_field"}),
    ({"api_key": "***"}, {"config.api_key": "invalid_value"}),
])
def test_a_config_is_validated_against_the_schema_with_every_fault(module_org, admin, config, faults):
    module = module_org.published_module(with_schema(SCHEMA))
    reply = admin.post("/v1/installations", json={"module_id": module["id"], "config": config}, expect=422,
                       code="VALIDATION_ERROR")
    assert faults_of(reply) == faults
    installed = module_org.install(module, config={"api_key": "k", "rate": 1})
    if config != {"api_key": "***"}:
        reply = admin.request("PATCH", path_to(installed), json={"config": config}, expect=422, code="VALIDATION_ERROR")
        assert faults_of(reply) == faults
    assert admin.get_json(path_to(installed)) == installed


def test_a_config_has_at_most_64_kib_as_it_is_stored(module_org, admin, stack):
    schema = {"text": {"type": "string"}} | {name: {"type": "string", "secret": True} for name in "ab"}
    config = {"text": "\b" * 10_000, "a": "x" * 40_000}
    installed = module_org.install(module_org.published_module(with_schema(schema)), config=config)
    change = lambda status, **body: admin.request("PATCH", path_to(installed), json=body, expect=status)
    for longer in ({"text": "\b" * 11_000}, {"a": "***", "b": "y" * 40_000}):
        assert faults_of(change(422, config=longer)) == {"config": "too_long"}
    # An earlier version may have stored a larger one.
    stored = json.dumps({"text": "x" * 70_000, "a": "***"})
    stack.sql("UPDATE module_installations SET config = %s WHERE id = UNHEX(REPLACE(%s, '-', ''))", stored, installed["id"])
    assert change(200, version_id=installed["version_id"]).json()["config"]["text"] == "x" * 70_000


def test_a_changed_config_replaces_the_old_one_except_for_kept_secrets(module_org, admin):
    module = module_org.published_module(with_schema(SCHEMA))
    installed = module_org.install(module, config={"api_key": "one", "token": "two", "rate": 1})

    def change(expect=200, **body):
        return admin.request("PATCH", path_to(installed), json=body, expect=expect)

    assert change(config={"api_key": "***", "token": "***", "on": False}).json()["config"] == {
        "api_key": "***", "token": "***", "on": False}
    assert change(config={"api_key": "***"}).json()["config"] == {"api_key": "***"}
    # The token was removed before, so there is no value to keep.
    assert faults_of(change(422, config={"api_key": "***", "token": "***"})) == {"config.token": "invalid_value"}
    before = admin.get_json(path_to(installed))
    assert change().json() == before
    whole = change(config={"api_key": "***", "rate": 1.0, "on": True}).json()
    assert change(config={"on": True, "rate": 1, "api_key": "***"}).json() == whole
    assert faults_of(change(422, config=None)) == {"config": "required"}
    assert faults_of(change(422, config={"api_key": "x"}, module_id=module["id"])) == {"module_id": "unknown_field"}


def test_an_installation_moves_to_another_version_if_its_config_matches(module_org, admin):
    module = module_org.published_module(with_schema({"api_key": {"type": "string", "secret": True}}))
    installed = module_org.install(module, config={"api_key": "one"})
    schemas = {"open": {"api_key": {"type": "string"}}, "bare": {},
               "more": {"api_key": {"type": "string", "secret": True}, "on": {"type": "boolean", "required": True}}}
    versions = {}
    for name, schema in schemas.items():
        versions[name] = module_org.create_version(module, with_schema(schema))
        module_org.publish(module, versions[name])

    def move(name, expect, **more):
        return admin.request("PATCH", path_to(installed), json={"version_id": versions[name]["id"]} | more, expect=expect)

    assert faults_of(move("open", 422)) == {"config.api_key": "invalid_value"}  # the secret is not revealed
    assert faults_of(move("bare", 422)) == {"config.api_key": "unknown_field"}
    assert faults_of(move("more", 422)) == {"config.on": "required"}
    assert admin.get_json(path_to(installed)) == installed
    moved = move("more", 200, config={"api_key": "***", "on": True}).json()
    assert (moved["version_id"], moved["config"]) == (versions["more"]["id"], {"api_key": "***", "on": True})
    versions["draft"] = module_org.create_version(module)
    assert move("draft", 409).json()["error"]["code"] == "INVALID_STATE"
    versions["other"] = {"id": module_org.published_module()["current_version_id"]}
    move("other", 404)
    assert admin.get_json(path_to(installed)) == moved


# ---------------------------------------------------------------------------- enable, disable


def test_a_disabled_installation_keeps_its_record_and_frees_the_module(module_org, admin):
    module = module_org.published_module()
    first = module_org.install(module)
    assert details_of(admin.post("/v1/installations", json={"module_id": module["id"]}, expect=409, code="CONFLICT")) == {
        "field": "module_id"}
    disabled = admin.delete(path_to(first), expect=200).json()
    assert disabled == first | {"status": "disabled", "updated_at": disabled["updated_at"]}
    assert admin.delete(path_to(first), expect=200).json() == disabled
    second = module_org.install(module)
    reply = admin.post(path_to(first) + "/enable", expect=409, code="CONFLICT")
    assert details_of(reply) == {"field": "module_id"}
    admin.delete(path_to(second), expect=200)
    enabled = admin.post(path_to(first) + "/enable", expect=200).json()
    assert enabled == first | {"updated_at": enabled["updated_at"]}
    assert admin.post(path_to(first) + "/enable", json={}, expect=200).json() == enabled


def test_an_installation_in_error_is_active_and_can_be_enabled_or_disabled(module_org, admin, stack):
    module = module_org.published_module()
    installed = module_org.install(module)

    def fail():
        stack.sql("UPDATE module_installations SET status = 'error' WHERE id = UNHEX(REPLACE(%s, '-', ''))", installed["id"])
        assert admin.get_json(path_to(installed))["status"] == "error"

    fail()
    admin.post("/v1/installations", json={"module_id": module["id"]}, expect=409, code="CONFLICT")
    assert admin.post(path_to(installed) + "/enable", expect=200).json()["status"] == "enabled"
    fail()
    assert admin.delete(path_to(installed), expect=200).json()["status"] == "disabled"


def test_the_list_is_paged_and_includes_disabled_installations(new_org):
    org = new_org(attributes=False)
    made = [org.install(org.published_module()) for _ in range(3)]
    made[1] = org.admin().api.delete(path_to(made[1]), expect=200).json()
    found, cursor = [], None
    while True:
        page = org.api.get_json("/v1/installations", params={"limit": 2} | ({"cursor": cursor} if cursor else {}))
        found += page["installations"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert found == made


# ---------------------------------------------------------------------------- permissions


def test_a_key_and_a_viewer_read_and_change_nothing(module_org):
    installed = {"id": module_org.records()["installation"]}
    before = module_org.api.get_json(path_to(installed))
    for client in (module_org.api, module_org.viewer().api):
        client.get("/v1/installations", expect=200)
        client.post("/v1/installations", json={"module_id": before["module_id"]}, expect=403, code="FORBIDDEN")
        client.request("PATCH", path_to(installed), json={"config": {}}, expect=403, code="FORBIDDEN")
        client.post(path_to(installed) + "/enable", expect=403)
        client.delete(path_to(installed), expect=403)
    assert module_org.api.get_json(path_to(installed)) == before


def test_an_installation_of_another_tenant_is_not_found(module_org, new_org):
    installed = {"id": module_org.records()["installation"]}
    stranger = new_org(attributes=False).admin().api
    stranger.get(path_to(installed), expect=404)
    stranger.request("PATCH", path_to(installed), json={"config": {}}, expect=404)
    stranger.post(path_to(installed) + "/enable", expect=404)
    stranger.delete(path_to(installed), expect=404)


def test_a_repeated_request_is_replayed_and_another_body_conflicts(module_org, admin, stack):
    module = module_org.published_module(with_schema(SCHEMA))
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    body = {"module_id": module["id"], "config": {"api_key": secret(stack, "replayed")}}
    first = admin.post("/v1/installations", json=body, headers=headers, expect=201)
    again = admin.post("/v1/installations", json=body, headers=headers, expect=201)
    assert again.content == first.content and again.headers["Idempotency-Replayed"] == "true"
    assert again.headers["Location"] == first.headers["Location"]
    other = body | {"config": {"api_key": "another"}}
    admin.post("/v1/installations", json=other, headers=headers, expect=409, code="IDEMPOTENCY_CONFLICT")

    installed = first.json()
    admin.delete(path_to(installed), expect=200)
    enabled = admin.post(path_to(installed) + "/enable", headers=headers, expect=200)
    admin.delete(path_to(installed), expect=200)
    assert admin.post(path_to(installed) + "/enable", headers=headers, expect=200).content == enabled.content
    admin.post(path_to(installed) + "/enable", json={}, headers=headers, expect=409, code="IDEMPOTENCY_CONFLICT")
    assert admin.get_json(path_to(installed))["status"] == "disabled"


def test_the_audit_log_records_each_step_once(new_org):
    org = new_org(attributes=False)
    admin = org.admin().api
    module = org.published_module(with_schema({"on": {"type": "boolean"}}))
    installed = org.install(module)
    changes = [admin.request("PATCH", path_to(installed), json={"config": {"on": True}}, expect=200).json() for _ in range(2)]
    assert changes[0] == changes[1]
    for _ in range(2):
        admin.delete(path_to(installed), expect=200)
    for _ in range(2):
        admin.post(path_to(installed) + "/enable", expect=200)
    log = admin.get_json("/v1/audit-log", params={"subject_id": installed["id"]})["audit_log"]
    assert [entry["action"] for entry in log] == [
        "installation.enabled", "installation.disabled", "installation.changed", "installation.created"]
    assert log[-1]["details"] == {"module_id": module["id"], "version_id": module["current_version_id"]}
