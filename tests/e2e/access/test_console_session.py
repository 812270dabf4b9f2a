"""The session of a browser: the console's pages have it in a cookie (docs/api/sign-in.md "The session of a browser").

The tests iterate over the API description: a new operation is covered without a change here.
"""

import hashlib

import pytest
from support.admin import AUTH, FACTOR, totp
from support.bodies import body_of, path_of
from support.client import CONSOLE, COOKIE, Client, ConsolePage, details_of
from support.world import email

SCOPE = "Path=/; Secure; HttpOnly; SameSite=Strict"
# What a browser says of requests that are not from the console's own pages, with and without the header of the console.
FOREIGN = [{"Sec-Fetch-Site": site} for site in ("same-site", "cross-site", "none", "Same-Origin", "same-origin, same-site")]
FOREIGN += [{"Origin": origin} for origin in ("null", "https://evil.example", "http://127.0.0.1")]
FOREIGN += [{"Sec-Fetch-Site": None, "Origin": None}, {"Sec-Fetch-Site": None, "Origin": "https://evil.example"},
            {"Sec-Fetch-Site": None, "Origin": None, "Referer": "https://evil.example/"}]


@pytest.fixture(scope="module")
def page(module_org):
    """A page with a verified session."""
    admin = module_org.new_admin("owner")
    page = admin.console()
    admin.enable(page)
    return admin.pass_second_factor(page)


@pytest.fixture(scope="module")
def ids(module_org):
    job_id = module_org.create_import()["id"]
    yield module_org.records() | {"import": job_id, "api_key": module_org.key_id}
    assert module_org.job(job_id)["state"] == "staging"  # unchanged by all the attempts
    module_org.cancel(job_id)


def call(page, operation, ids, headers, **options):
    return page.request(operation.method, path_of(operation, ids), headers=headers, **body_of(operation), **options)


# ---------------------------------------------------------------------------- sign-in


def test_the_console_gets_its_session_in_a_cookie(module_org, stack):
    admin = module_org.new_admin("owner")
    page = ConsolePage(stack, admin.contract)
    reply = page.post(f"{AUTH}/verify", json={"email": admin.address, "otp": admin.ask_for_code()}, expect=200)
    assert page.set_cookie == f"{COOKIE}={page.cookie}; {SCOPE}" and len(page.cookie) == 49
    assert reply.json()["token"] is None and page.cookie not in reply.text
    assert reply.json()["seats"][0]["organization_id"] == module_org.id
    assert page.get_json("/v1/session")["two_factor"] == {
        "enrolled": False, "verified": False, "backup_codes_left": None}
    assert page.get("/v1/users").json()["error"]["code"] == "2FA_REQUIRED"


def test_the_second_factor_gives_the_cookie_a_new_value(module_org):
    admin = module_org.new_admin("owner")
    page = admin.console()
    admin.enable(page)
    first = page.cookie
    page.post(f"{FACTOR}/verify-totp", json={"code": "000000"}, expect=401)
    assert page.cookie == first
    reply = page.post(f"{FACTOR}/verify-totp", json={"code": totp(admin.secret, admin.lasting_step())}, expect=200)
    assert page.set_cookie == f"{COOKIE}={page.cookie}; {SCOPE}" and page.cookie != first
    assert reply.json() == {"token": None, "two_factor": {"enrolled": True, "verified": True}}
    page.get("/v1/users", expect=200)
    assert details_of(page.get("/v1/session", headers={"Cookie": f"{COOKIE}={first}"}, expect=401)) == {
        "reason": "SESSION_ENDED"}
    second = page.cookie
    page.post(f"{FACTOR}/verify-backup-code", json={"code": admin.backup_codes.pop()}, expect=200)
    assert page.cookie not in (first, second)
    page.get("/v1/users", expect=200)


def test_a_bearer_token_stays_the_same_and_sets_no_cookie(module_org, stack):
    admin = module_org.new_admin("owner")
    client = Client(stack, admin.contract)
    # The header of the console does not matter for a bearer token, nor does a cookie.
    headers = {"X-Muster-Console": "1", "Sec-Fetch-Site": "same-origin", "Origin": stack.base_url}
    reply = client.post(f"{AUTH}/verify", json={"email": admin.address, "otp": admin.ask_for_code()}, expect=200)
    assert "Set-Cookie" not in reply.headers
    client.key = reply.json()["token"]
    stack.keys_issued.append(client.key)
    admin.enable(client)
    verified = client.post(f"{FACTOR}/verify-totp", json={"code": totp(admin.secret, admin.lasting_step())}, headers=headers,
                           expect=200)
    assert verified.json()["token"] == client.key and "Set-Cookie" not in verified.headers
    ended = client.delete("/v1/session", headers=headers, expect=204)
    assert "Set-Cookie" not in ended.headers and "Clear-Site-Data" not in ended.headers


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_only_a_page_of_the_console_gets_the_cookie(module_org, headers):
    """Login CSRF: another page must not sign the browser in as somebody else. The code is not used up."""
    admin = module_org.new_admin("viewer")
    page = ConsolePage(admin.stack, admin.contract)
    body = {"email": admin.address, "otp": "12345678"}
    page.post(f"{AUTH}/verify", json=body, headers=headers, expect=403, code="ORIGIN_NOT_ALLOWED")
    assert page.set_cookie is None
    refused = page.post(f"{AUTH}/verify", json=body, headers=headers | {"X-Muster-Console": None}, expect=401)
    assert details_of(refused) == {"reason": "WRONG_CODE"} and page.set_cookie is None


def test_a_sign_in_ignores_the_cookie_that_the_browser_had(module_org):
    """Session fixation: each sign-in has a session of its own, and the browser's previous one ends."""
    admin = module_org.admin()
    page = admin.console()
    first = page.cookie
    page.post(f"{AUTH}/verify", json={"email": admin.address, "otp": admin.ask_for_code()}, expect=200)
    assert page.cookie != first
    assert details_of(page.get("/v1/session", headers={"Cookie": f"{COOKIE}={first}"}, expect=401)) == {
        "reason": "SESSION_ENDED"}
    page.get("/v1/session", expect=200)


def test_a_sign_out_clears_the_browser(module_org):
    page = module_org.admin().console()
    token = page.cookie
    reply = page.delete("/v1/session", expect=204)
    assert page.set_cookie == f"{COOKIE}=; {SCOPE}; Max-Age=0" and page.cookie == ""
    assert reply.headers["Clear-Site-Data"] == '"storage"'
    assert details_of(page.get("/v1/session", headers={"Cookie": f"{COOKIE}={token}"}, expect=401)) == {
        "reason": "SESSION_ENDED"}
    assert page.set_cookie is None  # the value of another window may be newer
    page.cookie = token
    again = page.delete("/v1/session", expect=401)
    assert details_of(again) == {"reason": "SESSION_ENDED"} and page.cookie == ""
    assert again.headers["Clear-Site-Data"] == '"storage"'


# ---------------------------------------------------------------------------- the matrix


def test_every_operation_ignores_the_cookie_of_a_request_from_elsewhere(contract, page, ids):
    checked = 0
    for operation in contract.operations:
        if not operation.needs_key:
            continue
        for headers in FOREIGN:
            reply = call(page, operation, ids, headers)
            # nginx rejects the console's own operations from elsewhere before a worker sees the cookie.
            if reply.status_code == 403 and operation.path.startswith(CONSOLE):
                assert reply.json()["error"]["code"] == "ORIGIN_NOT_ALLOWED", operation.id
            else:
                assert reply.status_code == 401, (operation.id, headers, reply.text)
                assert details_of(reply) == {"reason": "MISSING"}, (operation.id, headers)
            checked += 1
    assert checked >= 500
    page.get("/v1/session", expect=200)  # unchanged by all the attempts


def test_every_change_ignores_the_cookie_without_the_header_of_the_console(contract, page, ids):
    changing = [operation for operation in contract.operations if operation.needs_key and operation.method != "GET"]
    for operation in changing:
        for value in (None, "", "0", "true", "1, 1"):
            reply = call(page, operation, ids, {"X-Muster-Console": value}, expect=401)
            assert details_of(reply) == {"reason": "MISSING"}, (operation.id, value)
    page.get("/v1/session", headers={"X-Muster-Console": None}, expect=200)


def test_operations_with_a_publishable_key_ignore_the_cookie(contract, page, ids):
    for operation in contract.operations:
        if operation.takes_publishable_key:
            reply = call(page, operation, ids, {"Origin": page.stack.base_url}, expect=401)
            assert details_of(reply) == {"reason": "MISSING"}, operation.id


def test_every_operation_of_a_session_takes_the_cookie(contract, module_org, page, ids):
    ids = ids | {"session": page.get_json("/v1/sessions")["sessions"][0]["id"]}
    reading = [operation for operation in contract.operations if operation.takes_session and operation.method == "GET"]
    for operation in reading:
        reply = page.get(path_of(operation, ids), expect=200, **body_of(operation, module_org))
        assert reply.headers["X-Active-Organization"] == module_org.id
        assert not any(name.lower().startswith("access-control-") for name in reply.headers), operation.id
    # A worker, a collector, and a body that nginx reads after the credential was checked.
    made = page.post("/v1/users", json={"email": email()}, expect=201).json()
    page.request("PATCH", f"/v1/users/{made['id']}", json={"first_name": "Ada"}, expect=200)
    rows = {"rows": [{"rowNumber": 1, "payload": {"email": email()}}]}
    staging = f"/v1/imports/{ids['import']}/rows"
    page.post(staging, json=rows, expect=200)
    assert details_of(page.post(staging, json=rows, headers={"Sec-Fetch-Site": "same-site"}, expect=401)) == {"reason": "MISSING"}
    page.post("/v1/api-keys", json={}, expect=422)


def test_a_module_operation_takes_no_session_from_a_cookie(contract, page, ids):
    for operation in contract.operations:
        if operation.takes_module_credential:
            call(page, operation, ids, {}, expect=403, code="FORBIDDEN")


def test_an_authorization_header_replaces_the_cookie(module_org, page):
    details = details_of(page.get("/v1/session", headers={"Authorization": "Bearer wrong"}, expect=401))
    assert details == {"reason": "INVALID"}
    page.get("/v1/session", headers={"Authorization": f"Bearer {module_org.key}"}, expect=403)
    # It is the credential of the request, so the rules of the cookie do not apply.
    page.get("/v1/users", headers={"Authorization": f"Bearer {module_org.key}", "Sec-Fetch-Site": "cross-site"}, expect=200)


def test_only_a_session_is_accepted_from_the_cookie(module_org, page):
    for token in (module_org.key, module_org.module_api.key, module_org.page_api.token, "x"):
        reply = page.get("/v1/users", headers={"Cookie": f"{COOKIE}={token}"}, expect=401)
        assert details_of(reply) == {"reason": "INVALID"}


def test_a_browser_without_sec_fetch_site_is_known_by_origin_or_referer(page):
    page.get("/v1/users", headers={"Sec-Fetch-Site": None, "Referer": f"{page.stack.base_url}/console/"}, expect=200)
    page.get("/console/v1/articles", headers={"Sec-Fetch-Site": None, "Referer": f"{page.stack.base_url}/console/"}, expect=200)
    page.post("/v1/users", json={"email": email()}, headers={"Sec-Fetch-Site": None}, expect=201)


def test_a_preflight_never_allows_credentials(contract, page, ids):
    for operation in contract.operations:
        reply = page.request("OPTIONS", path_of(operation, ids), headers={
            "Origin": "https://evil.example", "Access-Control-Request-Method": operation.method,
            "Access-Control-Request-Headers": "x-muster-console, content-type"})
        assert "Access-Control-Allow-Credentials" not in reply.headers, operation.id
        assert "x-muster-console" not in reply.headers.get("Access-Control-Allow-Headers", "").lower(), operation.id


def test_the_database_holds_only_the_hash_of_the_cookie(page, stack):
    assert stack.sql("SELECT COUNT(*) FROM sessions WHERE token_hash = %s",
                     hashlib.sha256(page.cookie.encode()).digest())[0][0] == 1
