"""Credentials: every operation with every wrong credential, and revocation (specification 5, 7; docs/api/authentication.md
"Authentication").

The tests iterate over the API description: a new operation fails here until support/bodies.py supports it.
"""

import base64
import random
import string
import threading
import time
import uuid
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.bodies import KINDS, body_of, path_of
from support.client import CONSOLE, SHOP, details_of, error_of
from support.stack import wait_for
from support.world import Organization, email, in_seconds

ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase


def checksum(text):
    value, digits = zlib.crc32(text.encode()), ""
    for _ in range(6):
        value, digit = divmod(value, 62)
        digits = ALPHABET[digit] + digits
    return digits


def unissued_key(prefix="org_"):
    """Well-formed, with valid check digits, and never issued."""
    text = prefix + "".join(random.Random(7).choices(ALPHABET, k=43))
    return text + checksum(text)


def flipped(text, place):
    return text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1:]


@pytest.fixture(scope="module")
def wrong(module_org, stack):
    """Authorization headers that are not accepted: {name: header, or None for no header}."""
    key = module_org.key
    revoked = stack.issue_key(module_org.id, "revoked")
    stack.ctl("key", "revoke", "--yes", "--org", module_org.id, "--id", revoked["id"])
    taken_back = module_org.issue_publishable_key("tracking")
    stack.ctl("tracking-key", "revoke", "--yes", "--org", module_org.id, "--id", taken_back["id"])
    expired = stack.issue_key(module_org.id, "expired", "--expires", "2099-01-01T00:00:00Z")
    stack.sql("UPDATE api_keys SET expires_at = 1000 WHERE id = UNHEX(REPLACE(%s, '-', ''))", expired["id"])
    token = module_org.admin().api.key
    signed_out = module_org.admin().new_session()
    signed_out.delete("/v1/session", expect=204)
    too_old, idle = module_org.admin().new_session(), module_org.admin().new_session()
    for column, session in (("expires_at", too_old), ("last_used_at", idle)):
        stack.sql(f"UPDATE sessions SET {column} = 1000 WHERE token_hash = UNHEX(SHA2(%s, 256))", session.key)
    basic = base64.b64encode(f"{key}:".encode()).decode()
    return {
        "no header": None, "empty": "", "scheme alone": "Bearer", "scheme and blank": "Bearer ", "no scheme": key,
        "Basic": f"Basic {basic}", "key as Basic": f"Basic {key}", "Digest": f"Digest {key}", "Token": f"Token {key}",
        "garbage": "Bearer garbage", "binary": "Bearer \u00ff\u00fe", "no separator": f"Bearer{key}",
        "never issued": f"Bearer {unissued_key()}", "wrong check digits": f"Bearer {flipped(key, -1)}",
        "mistyped": f"Bearer {flipped(key, 10)}", "cut short": f"Bearer {key[:-1]}", "too long": f"Bearer {key}A",
        "very long": "Bearer " + "org_" + "A" * 7000, "two keys": f"Bearer {key} {key}", "two by comma": f"Bearer {key},{key}",
        "quoted": f'Bearer "{key}"', "lower case": f"Bearer {key.lower()}", "upper case": f"Bearer {key.upper()}",
        "another kind": f"Bearer {unissued_key('mk_live_')}", "publishable": f"Bearer {unissued_key('ek_live_')}",
        "content key": f"Bearer {unissued_key('ck_live_')}", "revoked tracking key": f"Bearer {taken_back['key']}",
        "prefix alone": "Bearer org_", "SQL": "Bearer org_' OR '1'='1", "key id": f"Bearer {module_org.key_id}",
        "organization id": f"Bearer {module_org.id}", "revoked": f"Bearer {revoked['key']}",
        "expired": f"Bearer {expired['key']}", "session never opened": f"Bearer {unissued_key('')}",
        "session cut short": f"Bearer {token[:-1]}", "mistyped session": f"Bearer {flipped(token, 10)}",
        "session's wrong check digits": f"Bearer {flipped(token, -1)}", "session as Basic": f"Basic {token}",
        "signed out": f"Bearer {signed_out.key}", "session too old": f"Bearer {too_old.key}",
        "session too long idle": f"Bearer {idle.key}",
    }


@pytest.fixture
def ids(module_org):
    """Existing records of the organization: {kind: id}. The import is staging, and canceled at the end."""
    job_id = module_org.create_import()["id"]
    key = module_org.admin().api.post("/v1/api-keys", json={"name": "there"}, expect=201).json()
    module_org.stack.keys_issued.append(key["key"])
    yield module_org.records() | {"import": job_id, "api_key": key["id"]}
    assert module_org.job(job_id)["state"] == "staging"  # unchanged by all the attempts
    module_org.cancel(job_id)


# The wrong credentials that do not only look wrong.
ABSENT = {"no header", "empty"}
ENDED = {"session never opened", "signed out", "session too old", "session too long idle"}


def test_every_operation_rejects_wrong_credentials_of_a_form_alike(anyone, contract, wrong, ids):
    keyed = [operation for operation in contract.operations if operation.needs_key]
    assert len(keyed) >= 12
    for operation in keyed:
        for name, header in wrong.items():
            headers = {} if header is None else {"Authorization": header.encode("latin-1")}
            reply = anyone.request(operation.method, path_of(operation, ids), headers=headers, **body_of(operation))
            assert reply.status_code == 401, (operation.id, name, reply.text)
            reason = "MISSING" if name in ABSENT else "SESSION_ENDED" if name in ENDED else "INVALID"
            assert error_of(reply) == {"code": "UNAUTHORIZED", "status": 401, "message": "Authentication is required.",
                                       "details": {"reason": reason}}, (operation.id, name)


def refused(client, operations, ids, status, code, headers=None):
    """Calls each operation with a valid request and expects this error; returns the replies."""
    operations = list(operations)
    assert operations
    return [client.request(operation.method, path_of(operation, ids), headers=headers, expect=status, code=code,
                           **body_of(operation)) for operation in operations]


def test_an_organization_key_is_rejected_by_admin_operations(contract, module_org, ids):
    mine = [operation for operation in contract.operations if operation.needs_key and not operation.takes_organization_key]
    assert {"createApiKey", "listAuditLog", "getSession", "enableTwoFactor"} <= {operation.id for operation in mine}
    refused(module_org.api, mine, ids, 403, "FORBIDDEN")


def test_a_module_credential_is_accepted_only_by_its_own_operations(contract, module_org, ids):
    others = [operation for operation in contract.operations if operation.needs_key and not operation.takes_module_credential]
    refused(module_org.module_api, others, ids, 403, "FORBIDDEN")


def test_a_publishable_key_is_not_accepted_as_a_bearer_token(anyone, contract, module_org, ids):
    keyed = [operation for operation in contract.operations if operation.needs_key]
    for page in (module_org.page_api, module_org.reader_api):
        refused(anyone, keyed, ids, 403, "FORBIDDEN", {"Authorization": f"Bearer {page.token}"})


def test_only_a_module_can_call_its_own_operations(contract, module_org, ids):
    theirs = [operation for operation in contract.operations if operation.takes_module_credential]
    assert {operation.id for operation in theirs} == {"ingestEvents", "getModuleConfig"}
    for client in (module_org.api, module_org.admin().api, module_org.viewer().api, module_org.admin().unverified()):
        refused(client, theirs, ids, 403, "FORBIDDEN")


def test_an_unverified_session_can_only_use_the_session_operations(contract, module_org, ids):
    wanting = [operation for operation in contract.operations if operation.requires_second_factor]
    assert {operation.id for operation in contract.operations if operation.needs_key} - {
        operation.id for operation in wanting} == {
        "getSession", "deleteSession", "enableTwoFactor", "verifyTotp", "verifyBackupCode", "ingestEvents",
        "getModuleConfig"}
    enrolled, fresh = module_org.admin().unverified(), module_org.new_admin("owner").unverified()
    for client in (enrolled, fresh):
        for reply in refused(client, wanting, ids, 401, "2FA_REQUIRED"):
            assert details_of(reply) == {"reason": "2FA_REQUIRED"}
            assert reply.headers["X-Active-Organization"] == module_org.id


def test_a_viewer_reads_everything_and_changes_nothing(contract, module_org, ids):
    viewer = module_org.viewer().api
    refused(viewer, [operation for operation in contract.operations if operation.is_write and operation.needs_key], ids,
            403, "FORBIDDEN")
    ids = ids | {"session": module_org.viewer().another_session_id()}
    for operation in contract.operations:
        if operation.takes_session and operation.method == "GET":
            viewer.get(path_of(operation, ids), expect=200, **body_of(operation, module_org))


def test_an_admin_without_a_seat_cannot_read(stack, contract, module_org, ids):
    other, admin = Organization(stack, contract, attributes=False), module_org.new_admin("owner")
    admin.give_seat(other.id)
    client = admin.api
    client.get("/v1/imports", expect=200)
    admin.take_seat(module_org.id)
    refused(client, [operation for operation in contract.operations if operation.needs_key and not operation.is_own], ids,
            403, "FORBIDDEN")
    assert [seat["organization_id"] for seat in client.get_json("/v1/session")["seats"]] == [other.id]
    admin.take_seat(other.id)  # the last one
    assert details_of(client.get("/v1/session", expect=401)) == {"reason": "SESSION_ENDED"}


def by_credential(contract, org):
    """Each kind of credential with the operations that accept it."""
    return [(org.admin().api, [operation for operation in contract.operations if operation.takes_session]),
            (org.api, [operation for operation in contract.operations if operation.takes_organization_key]),
            (org.module_api, [operation for operation in contract.operations if operation.takes_module_credential])]


@pytest.mark.parametrize("value", ["", "acme", "*", "01a1fd04-035b-72c3-8961", "{%s}", "%s,%s", "null", "%s x",
                                   "01A1FD04-035B-72C3-8961-619EDE6ECC85"])
def test_a_malformed_expected_organization_is_rejected_everywhere(contract, module_org, ids, value):
    headers = {"X-Expect-Organization": value.replace("%s", module_org.id)}
    for client, operations in by_credential(contract, module_org):
        refused(client, operations, ids, 400, "BAD_REQUEST", headers)


def test_another_expected_organization_is_rejected_whether_it_exists_or_not(stack, contract, module_org, ids):
    bodies = set()
    for expected in (Organization(stack, contract, attributes=False).id, str(uuid.uuid4())):
        headers = {"X-Expect-Organization": expected}
        for client, operations in by_credential(contract, module_org):
            replies = refused(client, operations, ids, 409, "CONFLICT", headers)
            assert {details_of(reply)["field"] for reply in replies} == {"X-Expect-Organization"}
            bodies |= {reply.content for reply in replies}
    assert len(bodies) == 1
    module_org.admin().api.get("/v1/session", expect=200)  # the session was not ended either


def test_the_correct_expected_organization_is_accepted(contract, module_org, ids):
    headers = {"X-Expect-Organization": module_org.id}
    for operation in contract.operations:
        if operation.takes_session and operation.method == "GET":
            path = path_of(operation, ids)
            module_org.admin().api.get(path, headers=headers, expect=200, **body_of(operation, module_org))
            if operation.takes_organization_key:
                module_org.api.get(path, headers=headers, expect=200)


def test_a_wrong_credential_is_rejected_before_the_request_is_validated(anyone, contract):
    nowhere = dict.fromkeys(KINDS.values(), str(uuid.uuid4()))
    for operation in contract.operations:
        if operation.needs_key:
            path = path_of(operation, nowhere)
            anyone.request(operation.method, path, expect=401)
            anyone.request(operation.method, path + "?no_such=1", data=b"{", expect=401,
                           headers={"Content-Type": "text/plain", "Idempotency-Key": ""})


def test_a_key_in_another_place_is_not_accepted(anyone, module_org):
    key = module_org.key
    anyone.get("/v1/imports", headers={"X-Api-Key": key}, expect=401)
    anyone.get("/v1/imports", headers={"Cookie": f"key={key}"}, expect=401)
    anyone.get(f"/v1/imports?key={key}", expect=401)
    anyone.get(f"/v1/imports?access_token={key}", expect=401)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_case_insensitive(anyone, module_org, scheme):
    anyone.get("/v1/imports", headers={"Authorization": f"{scheme} {module_org.key}"}, expect=200)


def test_an_operation_is_open_only_if_it_needs_no_tenant(contract):
    open_ones = {operation.id for operation in contract.operations if operation.is_open}
    assert open_ones == {"getDescription", "getHealth", "getReadiness", "getMetrics",
                         "requestSignInCode", "verifySignInCode",
                         "recordAdImpression", "followAdClick",  # their tokens are signed
                         "returnFromProvider"}  # the state and a cookie identify the caller


# ---------------------------------------------------------------------------- keys of pages


@pytest.fixture(scope="module")
def wrong_tokens(module_org, stack):
    """Values of the key parameter that no page operation accepts: {name: key, or None for none}."""
    revoked, expired = {}, {}
    for kind in ("tracking", "content"):
        revoked[kind], expired[kind] = (module_org.issue_publishable_key(kind)["key"] for _ in range(2))
        stack.sql("UPDATE publishable_keys SET revoked_at = 1000 WHERE token = %s", revoked[kind])
        stack.sql("UPDATE publishable_keys SET expires_at = 1000 WHERE token = %s", expired[kind])
    token = module_org.page_api.token
    return {
        "none": None, "empty": "", "garbage": "garbage", "never issued": unissued_key("ek_live_"),
        "another never issued": unissued_key("ck_live_"), "mistyped": flipped(token, 20), "cut short": token[:-1],
        "too long": token + "A", "upper case": token.upper(), "padded": f" {token}", "SQL": "ek_live_' OR '1'='1",
        "NUL": token + "\0", "very long": "ek_live_" + "A" * 3000, "key id": module_org.page_api.record["id"],
        "organization key": module_org.key, "session": module_org.admin().api.key, "module": module_org.module_api.key,
        **{f"revoked {kind}": key for kind, key in revoked.items()}, **{f"expired {kind}": key for kind, key in expired.items()},
    }


def of_pages(contract):
    return [operation for operation in contract.operations if operation.takes_publishable_key]


def test_every_page_operation_rejects_every_wrong_key_alike(contract, module_org, wrong_tokens, ids):
    assert of_pages(contract)
    for operation in of_pages(contract):
        page, bodies = module_org.client_for(operation), set()
        for name, token in wrong_tokens.items():
            reply = page.request(operation.method, path_of(operation, ids), key=token, **body_of(operation))
            assert reply.status_code == 401, (operation.id, name, reply.text)
            is_absent = name in ("none", "empty", "NUL")  # a query value that is malformed is none
            assert details_of(reply) == {"reason": "MISSING" if is_absent else "INVALID"}, (operation.id, name)
            bodies.add(reply.content)
        assert len(bodies) == 2, f"{operation.id}: the replies distinguish wrong keys"
        headers = {"Authorization": f"Bearer {page.token}", "X-Api-Key": page.token, "Cookie": f"key={page.token}"}
        reply = page.request(operation.method, path_of(operation, ids), key=None, headers=headers, expect=401, **body_of(operation))
        assert details_of(reply) == {"reason": "MISSING"}, operation.id


def test_a_key_of_the_other_kind_is_rejected(contract, module_org, ids):
    for operation in of_pages(contract):
        page, other = module_org.page_api, module_org.reader_api
        if operation.takes_content_key:
            page, other = other, page
        page.request(operation.method, path_of(operation, ids), key=other.token, expect=403, code="FORBIDDEN",
                     **body_of(operation))


def elsewhere(allowed):
    """Headers of requests that do not come from the origin https://name.domain[:port]."""
    name = allowed.removeprefix("https://")
    origins = ["", "null", "https://other.example", f"http://{name}", f"{allowed}:444", f"https://{name}.evil.test",
               f"https://evil{name}", f"https://evil.{name}", f"https://u@{name}", f"https://{name}@evil.test", f"{allowed}/",
               f"{allowed}.", f"{allowed}/path", f"{allowed} https://other.example", f"{allowed},{allowed}", name, "*", "file://"]
    headers = [{"Origin": None}, *({"Origin": origin} for origin in origins)]
    headers += [{"Origin": origin, "Referer": f"{allowed}/"} for origin in ("null", "https://other.example", "")]
    headers += [{"Origin": None, "Referer": referer} for referer in
                ("https://other.example/", f"https://other.example/?{allowed}/", f"http://{name}/", f"{allowed}.evil.test/",
                 f"https://other.example/#{allowed}", f"https://{name}@evil.test/", "about:blank", "")]
    return headers


def test_every_page_operation_rejects_every_other_origin(contract, module_org, ids):
    for operation in of_pages(contract):
        page = module_org.client_for(operation)
        for headers in elsewhere(SHOP):
            page.request(operation.method, path_of(operation, ids), headers=headers, expect=403, code="ORIGIN_NOT_ALLOWED",
                         **body_of(operation))


def test_a_referer_gives_the_origin_if_there_is_no_origin_header(contract, module_org, ids):
    for operation in contract.operations:
        if operation.takes_publishable_key or operation.is_console and operation.method == "GET":
            origin = SHOP if operation.takes_publishable_key else module_org.stack.base_url
            reply = module_org.client_for(operation).request(
                operation.method, path_of(operation, ids), headers={"Origin": None, "Referer": f"{origin}/a/page?q#f"},
                **body_of(operation, module_org))
            assert reply.ok, (operation.id, reply.text)


def test_the_console_is_called_only_from_its_own_pages(contract, module_org, ids):
    console = [operation for operation in contract.operations if operation.is_console]
    assert {"listContentKeys", "createContentKey"} <= {operation.id for operation in console} == {
        operation.id for operation in contract.operations if operation.path.startswith(CONSOLE)}
    for operation in console:
        own = {"Origin": None, "Referer": f"{module_org.stack.base_url}/console/"}
        for headers in elsewhere(module_org.stack.base_url) + [own] * (operation.method != "GET"):
            module_org.admin().api.request(operation.method, path_of(operation, ids), headers=headers, expect=403,
                                           code="ORIGIN_NOT_ALLOWED", **body_of(operation))


def test_a_preflight_gets_the_same_decision_as_its_request(contract, module_org, wrong_tokens, ids):
    for operation in of_pages(contract):
        page, path = module_org.client_for(operation), path_of(operation, ids)
        asking = {"Access-Control-Request-Method": operation.method, "Access-Control-Request-Headers": "content-type"}
        page.request("OPTIONS", path, headers=asking, expect=204)
        page.request("OPTIONS", path, headers=asking, key=None, expect=401)
        page.request("OPTIONS", path, headers=asking, key=wrong_tokens["never issued"], expect=401)
        for headers in elsewhere(SHOP):
            page.request("OPTIONS", path, headers=asking | headers, expect=403, code="ORIGIN_NOT_ALLOWED")


# ---------------------------------------------------------------------------- lifetime of a key


def expire_in_a_second(stack, key):
    """Returns when the key then expires, in milliseconds since 1970."""
    end = int(time.time() * 1000) + 1000
    stack.sql("UPDATE api_keys SET expires_at = %s WHERE id = UNHEX(REPLACE(%s, '-', ''))", end, key["id"])
    return end


def test_a_key_works_until_it_expires(org, stack):
    in_an_hour = in_seconds(3600)
    issued = stack.issue_key(org.id, "an hour", "--expires", in_an_hour)
    assert issued["expires_at"] == in_an_hour
    org.api.get("/v1/imports", key=issued["key"], expect=200)
    end = expire_in_a_second(stack, issued)
    wait_for(lambda: org.api.get("/v1/imports", key=issued["key"]).status_code == 401, "the key to expire")
    assert time.time() * 1000 >= end


def test_two_keys_of_one_organization_are_independent(org, stack):
    second = stack.issue_key(org.id, "second")
    user = org.create_user({"email": email()})
    org.api.get(f"/v1/users/{user['id']}", key=second["key"], expect=200)
    stack.ctl("key", "revoke", "--yes", "--org", org.id, "--id", org.key_id)
    org.api.get(f"/v1/users/{user['id']}", expect=401)
    org.api.get(f"/v1/users/{user['id']}", key=second["key"], expect=200)


def test_the_use_of_a_key_is_recorded(org, stack):
    fresh = stack.issue_key(org.id, "fresh")
    assert fresh["last_used_at"] is None
    org.api.get("/v1/imports", key=fresh["key"], expect=200)
    (listed,) = [key for key in stack.ctl("key", "list", "--org", org.id) if key["id"] == fresh["id"]]
    assert listed["last_used_at"] is not None and "key" not in listed


def test_a_revoked_key_is_rejected_from_the_next_request_on(org, stack):
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
        before = [pool.submit(ask, number) for number in range(400)]  # keeps all workers busy
        wait_for(lambda: any(future.done() for future in before), "the first answer")
        stack.ctl("key", "revoke", "--yes", "--org", org.id, "--id", key["id"])
        revoked.set()
        after = list(pool.map(ask, range(1000)))
    assert set(after) == {401}
    assert late_successes == []
    assert 200 in {future.result() for future in before}
