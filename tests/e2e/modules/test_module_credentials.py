"""/v1/installations/{id}/credentials: the bearer tokens and signing secrets of a module's backend (docs/modules.md
"Module credentials")."""

import datetime
import re
import uuid

import pytest
from support.client import Client, ModuleClient, details_of, faults_of, signature_of
from support.mail import wait_for_mail
from support.world import email, in_seconds
from test_api_keys import DAY
from test_auth import checksum

EVENT = {"action": "visited"}


@pytest.fixture
def admin(module_org):
    return module_org.admin().api


@pytest.fixture
def issue(module_org, installed):
    return lambda **fields: module_org.issue_credential(installed, **fields)


def path_of(installed, credential=None):
    path = f"/v1/installations/{installed['id']}/credentials"
    return path if credential is None else f"{path}/{credential['id']}"


def works(org, issued):
    """Whether the ingest accepts the credential: an event of an unknown user is then 422."""
    client = ModuleClient(org.stack, org.api.contract, issued)
    return client.push(EVENT | {"user_id": str(uuid.uuid4())}, expect=None).status_code == 422


def listed(admin, installed, credential):
    """The record from the list, page by page; None if it is not listed."""
    cursor = None
    while True:
        params = {"limit": 3} | ({"cursor": cursor} if cursor else {})
        page = admin.get_json(path_of(installed), params=params)
        assert len(page["credentials"]) <= 3
        for record in page["credentials"]:
            if record["id"] == credential["id"]:
                return record
        cursor = page["next_cursor"]
        if cursor is None:
            return None


def test_the_owners_get_mail_about_a_new_credential(new_org, stack):
    org = new_org(attributes=False)
    owner = org.new_admin("owner")
    issued = org.issue_credential(org.install(org.published_module()), name="shop")
    text = wait_for_mail(stack, owner.address, subject="Muster: new module credential").text
    assert '"shop"' in text and issued["id"] in text and org.id in text and org.admin().address in text
    assert issued["credential"] not in text and issued["signing_secret"] not in text


def test_a_credential_is_issued_with_its_signing_secret_and_both_are_shown_once(module_org, installed, admin, issue):
    issued = issue(name=" shop ", expires_at="2099-12-31T23:00:00+01:00")
    assert (issued["organization_id"], issued["installation_id"]) == (module_org.id, installed["id"])
    assert (issued["name"], issued["prefix"], issued["last_four"]) == ("shop", "mk_live_", issued["credential"][-4:])
    assert issued["created_by"] == module_org.admin().id
    assert issued["expires_at"] == "2099-12-31T22:00:00.000Z"
    assert issued["last_used_at"] is None and issued["revoked_at"] is None
    assert checksum(issued["credential"][:-6]) == issued["credential"][-6:] and len(issued["credential"]) == 8 + 43 + 6
    assert re.fullmatch("mks_[0-9A-Za-z]{43}", issued["signing_secret"])
    assert works(module_org, issued)
    record = listed(admin, installed, issued)
    shown = {name: value for name, value in issued.items() if name not in ("credential", "signing_secret")}
    assert record == shown | {"last_used_at": record["last_used_at"]} and record["last_used_at"] is not None
    text = admin.get(path_of(installed), params={"limit": 100}).text
    assert issued["credential"] not in text and issued["signing_secret"] not in text


def test_each_credential_has_its_own_secret(module_org, issue):
    one, two = issue(), issue()
    assert one["signing_secret"] != two["signing_secret"]
    mixed = ModuleClient(module_org.stack, module_org.api.contract, one | {"signing_secret": two["signing_secret"]})
    mixed.push(EVENT | {"email": email()}, expect=401, code="SIGNATURE_INVALID")


@pytest.mark.parametrize("body, faults", [
    ({}, {"name": "required"}), ({"name": "  "}, {"name": "required"}), ({"name": "x" * 256}, {"name": "too_long"}),
    ({"name": 1}, {"name": "wrong_type"}), ({"name": "k", "expires_at": "soon"}, {"expires_at": "invalid_timestamp"}),
    ({"name": "k", "expires_at": "2001-01-01T00:00:00Z"}, {"expires_at": "out_of_range"}),
    ({"name": "k", "signing_secret": "mine"}, {"signing_secret": "unknown_field"}),
])
def test_a_faulty_credential_is_422_with_every_fault(admin, installed, body, faults):
    assert faults_of(admin.post(path_of(installed), json=body, expect=422)) == faults


def test_the_key_of_an_organization_neither_issues_nor_reads_credentials(module_org, installed, issue):
    issued = issue()
    module_org.api.post(path_of(installed), json={"name": "k"}, expect=403, code="FORBIDDEN")
    module_org.api.get(path_of(installed), expect=403, code="FORBIDDEN")
    module_org.api.delete(path_of(installed, issued), expect=403, code="FORBIDDEN")
    assert works(module_org, issued)


def test_a_replay_returns_the_same_secrets_byte_for_byte_and_issues_none(stack, new_org):
    org = new_org(attributes=False)
    installed = org.install(org.published_module())
    admin, headers = org.admin().api, {"Idempotency-Key": str(uuid.uuid4())}
    first = admin.post(path_of(installed), json={"name": "once"}, headers=headers, expect=201)
    issued = first.json()
    stack.keys_issued += [issued["credential"], issued["signing_secret"]]
    again = admin.post(path_of(installed), json={"name": "once"}, headers=headers, expect=201)
    assert again.content == first.content and again.headers["Idempotency-Replayed"] == "true"
    assert len(admin.get_json(path_of(installed))["credentials"]) == 1
    admin.post(path_of(installed), json={"name": "other"}, headers=headers, expect=409, code="IDEMPOTENCY_CONFLICT")


def test_a_revoked_credential_is_rejected_and_remains_listed_for_30_days(module_org, installed, admin, issue, stack):
    issued = issue()
    assert works(module_org, issued)
    assert admin.delete(path_of(installed, issued), expect=204).content == b""
    assert not works(module_org, issued)
    revoked_at = listed(admin, installed, issued)["revoked_at"]
    admin.delete(path_of(installed, issued), expect=204)  # again: the same result
    assert listed(admin, installed, issued)["revoked_at"] == revoked_at is not None
    for age, is_listed in ((30 * DAY - 60, True), (30 * DAY + 1, False)):
        stack.sql("UPDATE module_credentials SET revoked_at = %s WHERE id = UNHEX(REPLACE(%s, '-', ''))",
                  int(datetime.datetime.now().timestamp() - age) * 1000, issued["id"])
        assert (listed(admin, installed, issued) is not None) == is_listed


@pytest.mark.usefixtures("no_runner")
def test_the_purge_deletes_a_credential_30_days_after_its_revocation_and_logs_it(stack, installed, admin, issue):
    issued = issue()
    admin.delete(path_of(installed, issued), expect=204)
    stack.sql("UPDATE module_credentials SET revoked_at = %s WHERE id = UNHEX(REPLACE(%s, '-', ''))",
              int(datetime.datetime.now().timestamp() - 30 * DAY - 1) * 1000, issued["id"])
    done = stack.program("muster-run", "--config", stack.config, "--verbose", "purge")
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if " event=purge.deleted " in line]
    assert "module_credentials=0" not in line and "module_credentials=" in line
    assert stack.sql("SELECT 1 FROM module_credentials WHERE id = UNHEX(REPLACE(%s, '-', ''))", issued["id"]) == []


def test_a_credential_works_until_it_expires(module_org, issue, stack):
    issued = issue(expires_at=in_seconds(DAY))
    assert works(module_org, issued)
    stack.sql("UPDATE module_credentials SET expires_at = 1000 WHERE id = UNHEX(REPLACE(%s, '-', ''))", issued["id"])
    assert not works(module_org, issued)


def test_credentials_of_a_disabled_installation_are_rejected_until_it_is_enabled(org):
    installed = org.install(org.published_module())
    issued, admin = org.issue_credential(installed), org.admin().api
    assert works(org, issued)
    admin.delete(f"/v1/installations/{installed['id']}", expect=200)
    assert not works(org, issued)
    reply = admin.post(path_of(installed), json={"name": "late"}, expect=409, code="INVALID_STATE")
    assert details_of(reply)["reason"] == "the installation is disabled; enable it first"
    assert listed(admin, installed, issued)["revoked_at"] is None
    admin.post(f"/v1/installations/{installed['id']}/enable", json={}, expect=200)
    assert works(org, issued)


def test_a_credential_is_read_at_its_location(module_org, installed, admin):
    reply = admin.post(path_of(installed), json={"name": "backend"}, expect=201)
    issued = reply.json()
    module_org.stack.keys_issued += [issued["credential"], issued["signing_secret"]]
    shown = admin.get_json(reply.headers["Location"])
    assert shown == {name: value for name, value in issued.items() if name not in ("credential", "signing_secret")}
    other = module_org.install(module_org.published_module())
    admin.get(path_of(other, issued), expect=404)


SECRET_CONFIG = {"name": "N", "config_schema": {"key": {"type": "string", "secret": True}, "mode": {"type": "string"}}}


def test_a_backend_reads_its_whole_config(org):
    module = org.published_module(SECRET_CONFIG)
    installed = org.install(module, config={"key": "s3cret", "mode": "live"})
    backend = org.backend(installed)
    shown = backend.get_json("/v1/module/config")
    assert shown == {"installation_id": installed["id"], "organization_id": org.id, "module_id": module["id"],
                     "version_id": installed["version_id"], "config": {"key": "s3cret", "mode": "live"},
                     "updated_at": installed["updated_at"]}
    assert installed["config"] == {"key": "***", "mode": "live"}
    org.admin().api.request("PATCH", f"/v1/installations/{installed['id']}", json={"config": {"key": "***", "mode": "test"}},
                            expect=200)
    assert backend.get_json("/v1/module/config")["config"] == {"key": "s3cret", "mode": "test"}


def test_a_config_needs_the_credential_and_a_signature(org):
    installed = org.install(org.published_module(SECRET_CONFIG), config={"key": "s3cret"})
    backend = org.backend(installed)
    backend.get("/v1/module/config", headers={"x-svc-signature": "t=1,v1=00"}, expect=401, code="SIGNATURE_INVALID")
    unsigned = Client(org.stack, org.api.contract, backend.key)
    unsigned.get("/v1/module/config", expect=401, code="SIGNATURE_INVALID")
    signed = {"x-svc-signature": signature_of(backend.secret, "", b"")}
    assert unsigned.get("/v1/module/config", headers=signed, expect=200).json()["config"] == {"key": "s3cret"}
    for client in (org.api, org.admin().api):
        client.get("/v1/module/config", expect=403, code="FORBIDDEN")
    org.admin().api.delete(f"/v1/installations/{installed['id']}", expect=200)
    backend.get("/v1/module/config", expect=401, code="UNAUTHORIZED")


def test_an_installation_has_at_most_50_credentials_that_are_not_revoked(org):
    installed, admin = org.install(org.published_module()), org.admin().api
    issued = [org.issue_credential(installed) for _ in range(50)]
    reply = admin.post(path_of(installed), json={"name": "one more"}, expect=409, code="INVALID_STATE")
    assert details_of(reply)["reason"] == "an installation has at most 50 unrevoked credentials, including expired ones; revoke one first"
    admin.delete(path_of(installed, issued[7]), expect=204)
    org.issue_credential(installed)


def test_a_credential_is_found_only_under_its_installation(module_org, installed, admin, issue):
    other, issued = module_org.install(module_org.published_module()), issue()
    admin.delete(path_of(other, issued), expect=404, code="NOT_FOUND")
    assert listed(admin, other, issued) is None and works(module_org, issued)
    nowhere = {"id": str(uuid.uuid4())}
    admin.get(path_of(nowhere), expect=404)
    admin.post(path_of(nowhere), json={"name": "k"}, expect=404)
    admin.delete(path_of(installed, nowhere), expect=404)


def test_lists_and_deletions_accept_no_other_query(admin, installed, issue):
    assert faults_of(admin.get(path_of(installed), params={"limit": 0}, expect=422)) == {"limit": "out_of_range"}
    assert faults_of(admin.get(path_of(installed), params={"cursor": "x"}, expect=422)) == {"cursor": "invalid_cursor"}
    admin.delete(path_of(installed, issue()) + "?no_such=1", expect=422)


def test_issue_and_revocation_are_in_the_audit_log(module_org, installed, admin, issue):
    issued = issue(name="noted")
    admin.delete(path_of(installed, issued), expect=204)
    entries = admin.get_json("/v1/audit-log", params={"subject_id": issued["id"]})
    (name,) = [name for name in entries if name != "next_cursor"]
    assert [entry["action"] for entry in entries[name]] == ["module_credential.revoked", "module_credential.issued"]
    assert entries[name][1]["details"] == {"installation_id": installed["id"], "name": "noted"}
