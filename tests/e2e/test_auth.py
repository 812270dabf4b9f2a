"""Credentials: every operation with every wrong one, and revocation (specification 5, 7; docs/api.md "Authentication")."""

import base64
import datetime
import random
import string
import threading
import uuid
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.bodies import body_of, path_of
from support.client import error_of
from support.stack import wait_for
from support.world import email

ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase


def checksum(text):
    value, digits = zlib.crc32(text.encode()), ""
    for _ in range(6):
        value, digit = divmod(value, 62)
        digits = ALPHABET[digit] + digits
    return digits


def invented_key(prefix="org_"):
    """Well-formed, with the right check digits, and never issued."""
    text = prefix + "".join(random.Random(7).choices(ALPHABET, k=43))
    return text + checksum(text)


def flipped(text, place):
    return text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1:]


@pytest.fixture(scope="module")
def wrong(module_org, stack):
    """Authorization headers that open nothing: {name: header, or None for no header}."""
    key = module_org.key
    revoked = stack.issue_key(module_org.id, "revoked")
    stack.ctl("key", "revoke", "--org", module_org.id, "--id", revoked["id"])
    expired = stack.issue_key(module_org.id, "expired", "--expires", "2099-01-01T00:00:00Z")
    stack.sql("UPDATE api_keys SET expires_at = 1000 WHERE id = UNHEX(REPLACE(%s, '-', ''))", expired["id"])
    basic = base64.b64encode(f"{key}:".encode()).decode()
    return {
        "no header": None, "empty": "", "scheme alone": "Bearer", "scheme and blank": "Bearer ", "no scheme": key,
        "Basic": f"Basic {basic}", "key as Basic": f"Basic {key}", "Digest": f"Digest {key}", "Token": f"Token {key}",
        "garbage": "Bearer garbage", "binary": "Bearer \u00ff\u00fe", "no separator": f"Bearer{key}",
        "never issued": f"Bearer {invented_key()}", "wrong check digits": f"Bearer {flipped(key, -1)}",
        "mistyped": f"Bearer {flipped(key, 10)}", "cut short": f"Bearer {key[:-1]}", "too long": f"Bearer {key}A",
        "very long": "Bearer " + "org_" + "A" * 7000, "two keys": f"Bearer {key} {key}", "two by comma": f"Bearer {key},{key}",
        "quoted": f'Bearer "{key}"', "lower case": f"Bearer {key.lower()}", "upper case": f"Bearer {key.upper()}",
        "another kind": f"Bearer {invented_key('mk_live_')}", "publishable": f"Bearer {invented_key('ek_live_')}",
        "prefix alone": "Bearer org_", "SQL": "Bearer org_' OR '1'='1", "key id": f"Bearer {module_org.key_id}",
        "organization id": f"Bearer {module_org.id}", "revoked": f"Bearer {revoked['key']}",
        "expired": f"Bearer {expired['key']}",
    }


def test_every_operation_refuses_every_wrong_credential_alike(anyone, contract, wrong, module_org):
    job_id = module_org.create_import()["id"]
    user_id = module_org.create_user({"email": email()})["id"]
    ids = {"import": job_id, "user": user_id, "attribute": "phone"}
    keyed = [operation for operation in contract.operations if operation.needs_key]
    assert len(keyed) >= 12
    for operation in keyed:
        bodies = set()
        for name, header in wrong.items():
            headers = {} if header is None else {"Authorization": header.encode("latin-1")}
            reply = anyone.request(operation.method, path_of(operation, ids), headers=headers, **body_of(operation))
            assert reply.status_code == 401, (operation.id, name, reply.text)
            assert error_of(reply)["code"] == "UNAUTHORIZED"
            bodies.add(reply.content)
        assert len(bodies) == 1, f"{operation.id}: the answers tell wrong credentials apart"
    assert module_org.job(job_id)["state"] == "staging"
    module_org.cancel(job_id)


def test_a_wrong_credential_is_refused_before_anything_else_is_looked_at(anyone, contract):
    nowhere = {"import": str(uuid.uuid4()), "user": str(uuid.uuid4()), "attribute": "phone"}
    for operation in contract.operations:
        if operation.needs_key:
            path = path_of(operation, nowhere)
            anyone.request(operation.method, path, expect=401)
            anyone.request(operation.method, path + "?no_such=1", data=b"{", expect=401,
                           headers={"Content-Type": "text/plain", "Idempotency-Key": ""})


def test_a_key_in_another_place_is_none(anyone, module_org):
    key = module_org.key
    anyone.get("/v1/imports", headers={"X-Api-Key": key}, expect=401)
    anyone.get("/v1/imports", headers={"Cookie": f"key={key}"}, expect=401)
    anyone.get(f"/v1/imports?key={key}", expect=401)
    anyone.get(f"/v1/imports?access_token={key}", expect=401)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_read_in_any_case(anyone, module_org, scheme):
    anyone.get("/v1/imports", headers={"Authorization": f"{scheme} {module_org.key}"}, expect=200)


def test_an_operation_is_open_only_if_it_needs_no_tenant(contract):
    open_ones = {operation.id for operation in contract.operations if not operation.needs_key}
    assert open_ones == {"getDescription", "getHealth", "getReadiness", "getMetrics"}


def test_a_key_that_expires_works_until_then(org, stack):
    soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=1.5)
    issued = stack.issue_key(org.id, "soon", "--expires", soon.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
    org.api.get("/v1/imports", key=issued["key"], expect=200)
    wait_for(lambda: org.api.get("/v1/imports", key=issued["key"]).status_code == 401, "the key to expire")
    assert datetime.datetime.now(datetime.timezone.utc) >= soon - datetime.timedelta(milliseconds=2)


def test_keys_of_one_organization_work_side_by_side(org, stack):
    second = stack.issue_key(org.id, "second")
    user = org.create_user({"email": email()})
    org.api.get(f"/v1/users/{user['id']}", key=second["key"], expect=200)
    stack.ctl("key", "revoke", "--org", org.id, "--id", org.key_id)
    org.api.get(f"/v1/users/{user['id']}", expect=401)
    org.api.get(f"/v1/users/{user['id']}", key=second["key"], expect=200)


def test_the_use_of_a_key_is_noted(org, stack):
    fresh = stack.issue_key(org.id, "fresh")
    assert fresh["last_used_at"] is None
    org.api.get("/v1/imports", key=fresh["key"], expect=200)
    (listed,) = [key for key in stack.ctl("key", "list", "--org", org.id) if key["id"] == fresh["id"]]
    assert listed["last_used_at"] is not None and "key" not in listed


def test_a_revoked_key_opens_nothing_from_the_next_request_on(org, stack):
    key = stack.issue_key(org.id, "leaked")
    url = "/v1/imports"
    revoked = threading.Event()
    late_successes = []

    def ask(_):
        was_revoked = revoked.is_set()
        reply = org.api.get(url, key=key["key"], whole=False)
        if was_revoked and reply.status_code != 401:
            late_successes.append(reply.status_code)
        return reply.status_code

    with ThreadPoolExecutor(20) as pool:
        before = [pool.submit(ask, number) for number in range(400)]  # keep all workers busy with it
        wait_for(lambda: any(future.done() for future in before), "the first answer")
        stack.ctl("key", "revoke", "--org", org.id, "--id", key["id"])
        revoked.set()
        after = list(pool.map(ask, range(1000)))
    assert set(after) == {401}
    assert late_successes == []
    assert 200 in {future.result() for future in before}
