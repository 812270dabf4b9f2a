"""Providers of external data and the connections of an organization: catalog, list, connecting, deleting, refreshing
(specification 2.11 to 2.13, 4.4). For complete authorizations see test_connecting.py."""

import re
import subprocess
import uuid
from urllib.parse import parse_qs, urlsplit

import pytest
from support.browser import start_browser
from support.client import Client, details_of, error_of, faults_of
from support.connecting import CONNECTIONS, COOKIE, FIELDS, ROOT, authorizations, change_row, holding, row, state_of
from support.stack import ROOT as SOURCE
from support.stack import UNCONFIGURED, numbers, wait_for
from support.world import MATRIX_PROVIDER, Organization

CATALOG, CONNECT, CALLBACK = (f"{ROOT}/{word}" for word in ("catalog", "connect", "callback"))
PROVIDERS = ["google_analytics", "notion", "google_docs", "slack", "linkedin", "shopify", "hubspot", "sentry", "posthog",
             "stripe", "mailchimp", "quickbooks", "github", "gitlab", "youtube"]
CONSOLE_FILES = {"/console/": "text/html", "/console/main.js": "text/javascript", "/console/console.css": "text/css"}


@pytest.fixture
def org(new_org):
    return new_org(attributes=False)


@pytest.fixture
def admin(org):
    return org.admin("admin").api


def listed(client, org, expect=200, **options):
    return client.get(CONNECTIONS, params={"org": org.id}, expect=expect, **options).json()


def connect(client, provider=MATRIX_PROVIDER, expect=200, headers=None, **fields):
    return client.post(CONNECT, json={"provider": provider} | fields, headers=headers, expect=expect)


def callback_result(client, **parameters):
    """The result that the console gets for a callback with these parameters."""
    reply = client.get(CALLBACK, params=parameters, key=None, allow_redirects=False, expect=303)
    assert "Set-Cookie" not in reply.headers  # another tab may have a pending authorization
    page, _, query = reply.headers["Location"].partition("?")
    assert page == f"{client.stack.base_url}/console/#/connections" and reply.content == b""
    return {name: value for name, (value,) in parse_qs(query).items()}


def unconfigured(stack):
    """The configuration of the stack without any provider."""
    with open(stack.config, encoding="utf-8") as file:
        return re.sub(r"(?ms)^\[providers\..*", "", file.read())


# ---------------------------------------------------------------------------- the catalog


def test_the_catalog_lists_ready_providers_and_missing_settings(module_org):
    for client in (module_org.admin().api, module_org.viewer().api):
        catalog = client.get_json(CATALOG)
        assert [entry["provider"] for entry in catalog] == PROVIDERS
        for entry in catalog:
            assert set(entry) == {"provider", "name", "description", "ready", "reason"} and entry["name"] and entry["description"]
            assert entry["ready"] == (entry["provider"] not in UNCONFIGURED) == (entry["reason"] == "")


def test_the_catalog_follows_the_configuration(stack, module_org):
    with stack.configured("[providers.youtube]", "client_id = one", "client_secret = two"):
        ready = {entry["provider"]: entry["ready"] for entry in module_org.admin().api.get_json(CATALOG)}
        assert ready["youtube"] and not ready["sentry"]


def test_the_catalog_rejects_a_query(module_org):
    reply = module_org.admin().api.get(CATALOG, params={"kind": "crm"}, expect=422)
    assert faults_of(reply) == {"kind": "unknown_field"}


# ---------------------------------------------------------------------------- the list


def test_connections_are_listed_with_exactly_five_fields_oldest_first(org, admin):
    assert listed(admin, org) == []
    made = [connect(admin, provider, name=f"My {provider}").json()["id"] for provider in ("slack", "gitlab", "stripe")]
    seen = listed(org.viewer().api, org)
    assert [record["id"] for record in seen] == made and all(set(record) == FIELDS for record in seen)
    assert seen[0] == {"id": made[0], "name": "My slack", "connector": "slack", "authStatus": "pending", "error": None}


def test_another_organization_of_the_admin_can_be_listed(org, new_org):
    other = new_org(attributes=False)
    admin = org.new_admin()
    admin.give_seat(other.id, "viewer")
    made = other.connect_provider("stripe")["id"]
    reply = admin.api.get(CONNECTIONS, params={"org": other.id}, expect=200)
    assert [record["id"] for record in reply.json()] == [made] and reply.headers["X-Active-Organization"] == org.id
    admin.take_seat(other.id)
    listed(admin.api, other, expect=404)


@pytest.mark.parametrize("query, faults", [
    ("", {"org": "required"}), ("?org=", {"org": "invalid_uuid"}), ("?org=acme", {"org": "invalid_uuid"}),
    ("?org=a&org=b", {"org": "duplicate"}), ("?org=acme&limit=1", {"limit": "unknown_field"}),
])
def test_a_list_requires_an_organization(admin, query, faults):
    assert faults_of(admin.get(CONNECTIONS + query, expect=422)) == faults


def test_without_any_provider_listing_and_connecting_are_unavailable(stack, org, admin):
    made = connect(admin).json()["id"]
    with holding(stack, made, b"sealed", status="connected"):
        with stack.configuration(unconfigured(stack)):
            reply = admin.get(CONNECTIONS, params={"org": org.id}, expect=503, code="PROVIDER_UNAVAILABLE")
            assert "no provider" in details_of(reply)["reason"]
            listed(admin, Organization(stack, admin.contract, attributes=False), expect=404)
            reply = connect(admin, expect=503)
            assert error_of(reply)["code"] == "PROVIDER_UNAVAILABLE" and details_of(reply)["reason"]
            assert not any(entry["ready"] for entry in admin.get_json(CATALOG))
            admin.post(f"{CONNECTIONS}/{made}/refresh", json={}, expect=503)
            admin.delete(f"{CONNECTIONS}/{made}", expect=204)
        assert listed(admin, org) == []


def test_a_connection_without_a_callback_is_an_error(stack, org, admin):
    late, gone = (connect(admin).json()["id"] for _ in range(2))
    stack.sql("UPDATE connection_authorizations SET expires_at = 1 WHERE connection_id = UNHEX(REPLACE(%s, '-', ''))", late)
    stack.sql("DELETE FROM connection_authorizations WHERE connection_id = UNHEX(REPLACE(%s, '-', ''))", gone)
    assert [record["authStatus"] for record in listed(admin, org)] == ["error", "pending"]  # its callback may still arrive
    change_row(stack, gone, updated_at=1)
    for record in listed(admin, org):
        assert record["authStatus"] == "error" and "GitLab" in record["error"]
    connect(admin, connection_id=late)
    assert listed(admin, org)[0]["authStatus"] == "pending"


# ---------------------------------------------------------------------------- starting an authorization


def test_connecting_redirects_to_the_page_of_the_provider(stack, org, admin):
    reply = connect(admin, name="  The club's code ")
    made = reply.json()
    assert set(made) == {"id", "redirectUrl"}
    asked = {name: value for name, (value,) in parse_qs(urlsplit(made["redirectUrl"]).query).items()}
    assert asked["redirect_uri"] == stack.redirect_uri and asked["response_type"] == "code"
    assert asked["code_challenge_method"] == "S256" and len(asked["code_challenge"]) == 43 and len(asked["state"]) == 43
    assert listed(admin, org)[0]["name"] == "The club's code"
    dump = str(stack.sql("SELECT * FROM connection_authorizations"))
    assert asked["state"] not in dump and authorizations(stack, made["id"]) == 1
    attributes = "Path=/; Max-Age=600; Secure; HttpOnly; SameSite=Lax"
    proof = re.fullmatch(rf"{COOKIE}=([0-9a-f]{{64}}); {attributes}", reply.headers["Set-Cookie"])
    assert proof and proof[1] not in dump


FAULTY = [
    ({}, {"provider": "required"}),
    ({"provider": "facebook", "name": ""}, {"provider": "invalid_choice", "name": "required"}),
    ({"provider": 1, "name": "x" * 256, "settings": [], "connection_id": "7", "org": "x"},
     {"provider": "wrong_type", "name": "too_long", "settings": "wrong_type", "connection_id": "invalid_uuid",
      "org": "unknown_field"}),
    ({"provider": "gitlab", "settings": {"host": "evil.example"}}, {"settings.host": "unknown_field"}),
    ({"provider": "shopify"}, {"settings.shop": "required"}),
    ({"provider": "shopify", "settings": {"shop": None}}, {"settings.shop": "wrong_type"}),
    ({"provider": "shopify", "name": 7, "settings": {"shop": 1, "host": "x"}},
     {"name": "wrong_type", "settings.shop": "wrong_type", "settings.host": "unknown_field"}),
    *[({"provider": "shopify", "settings": {"shop": shop}}, {"settings.shop": "invalid_value"}) for shop in (
        "evil.example", "acme.myshopify.com.evil.example", "acme/../x", "a@b", "acme.myshopify.com/", "acme:443", "-acme",
        "a.b")],
    ({"provider": "stripe", "settings": {str(n): "x" for n in range(9)}}, {"settings": "too_long"}),
]


@pytest.mark.parametrize("body, faults", FAULTY)
def test_a_faulty_request_is_422_with_every_fault_and_connects_nothing(module_org, body, faults):
    client = module_org.admin().api
    before = listed(client, module_org)
    reply = client.post(CONNECT, json=body, expect=422)
    assert faults_of(reply) == faults and "Set-Cookie" not in reply.headers
    assert listed(client, module_org) == before


def test_a_provider_without_a_configuration_is_503_with_the_missing_settings(org, admin):
    for provider in UNCONFIGURED:
        reply = connect(admin, provider, expect=503)
        assert error_of(reply)["code"] == "PROVIDER_UNAVAILABLE" and details_of(reply)["reason"]
    assert listed(admin, org) == []


def test_a_shop_may_be_given_with_or_without_its_domain(stack, admin):
    for shop in ("acme", "acme.myshopify.com"):
        made = connect(admin, "shopify", settings={"shop": shop}).json()
        assert row(stack, made["id"])["host"] == "acme.myshopify.com"


def test_a_replay_returns_the_same_link_and_cookie(stack, org, admin):
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    first, again = (connect(admin, headers=headers) for _ in range(2))
    assert again.content == first.content and again.headers["Idempotency-Replayed"] == "true"
    assert again.headers["Set-Cookie"] == first.headers["Set-Cookie"]
    assert len(listed(admin, org)) == 1
    assert state_of(first.json()["redirectUrl"]) not in str(stack.sql("SELECT * FROM idempotency_keys"))
    reply = connect(admin, "slack", headers=headers, expect=409)
    assert error_of(reply)["code"] == "IDEMPOTENCY_CONFLICT" and "Set-Cookie" not in reply.headers


def test_a_connection_is_connected_again_under_its_own_name(stack, org, admin):
    first = connect(admin, name="Ours").json()
    again = connect(admin, connection_id=first["id"]).json()
    assert again["id"] == first["id"] and authorizations(stack, first["id"]) == 1
    assert state_of(again["redirectUrl"]) != state_of(first["redirectUrl"])
    connect(admin, connection_id=first["id"], name="Theirs")
    assert [record["name"] for record in listed(admin, org)] == ["Theirs"]
    assert faults_of(connect(admin, "slack", connection_id=first["id"], expect=422)) == {"provider": "invalid_value"}


def test_a_connection_with_tokens_cannot_change_its_shop(stack, admin):
    made = connect(admin, "shopify", settings={"shop": "acme"}).json()["id"]
    connect(admin, "shopify", connection_id=made, settings={"shop": "globex"})
    assert row(stack, made)["host"] == "globex.myshopify.com"
    with holding(stack, made, b"sealed", status="connected", token_generation=1):
        for settings in ({}, {"shop": "globex"}):
            connect(admin, "shopify", connection_id=made, settings=settings)
        reply = connect(admin, "shopify", connection_id=made, settings={"shop": "acme"}, expect=422)
        assert faults_of(reply) == {"settings.shop": "invalid_value"}
        assert (row(stack, made)["host"], row(stack, made)["status"]) == ("globex.myshopify.com", "connected")


def test_a_connection_of_another_organization_looks_like_an_unknown_one(admin, new_org):
    theirs = new_org(attributes=False).connect_provider()["id"]
    replies = {connect(admin, connection_id=stranger, expect=404).content for stranger in (theirs, str(uuid.uuid4()))}
    assert len(replies) == 1


def test_the_number_of_connections_is_limited(stack, org, admin):
    made = connect(admin).json()["id"]
    # Copies of a time long ago would be purged.
    copied = "provider, name, host, status, details, created_at, updated_at"
    stack.sql(f"INSERT INTO connections (organization_id, id, {copied}) "
              f"SELECT organization_id, UNHEX(REPLACE(UUID(), '-', '')), {copied} "
              f"FROM connections JOIN {numbers(199)} WHERE organization_id = UNHEX(REPLACE(%s, '-', ''))", org.id)
    reply = connect(admin, expect=409)
    assert error_of(reply)["code"] == "INVALID_STATE" and "200 connections" in details_of(reply)["reason"]
    connect(admin, connection_id=made)
    admin.delete(f"{CONNECTIONS}/{made}", expect=204)
    connect(admin)


# ---------------------------------------------------------------------------- permissions


def test_a_viewer_reads_connections_and_changes_nothing(org, admin):
    made, viewer = connect(admin).json()["id"], org.viewer().api
    connect(viewer, expect=403)
    viewer.delete(f"{CONNECTIONS}/{made}", expect=403, code="FORBIDDEN")
    viewer.post(f"{CONNECTIONS}/{made}/refresh", json={}, expect=403, code="FORBIDDEN")
    assert [record["id"] for record in listed(viewer, org)] == [made]


def test_nginx_rejects_a_foreign_origin_before_it_reaches_a_worker(stack, contract, org, admin):
    stranger, body = Client(stack, contract), {"provider": MATRIX_PROVIDER}
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": f"{stack.base_url}.evil.example"},
                    {"Origin": stack.base_url.replace("https", "http")}, {"Origin": f"{stack.base_url} {stack.base_url}"},
                    {"Origin": None, "Referer": "https://evil.example/console/"},
                    {"Origin": None, "Sec-Fetch-Site": "same-site"}, {"Origin": None, "Sec-Fetch-Site": "cross-site"},
                    {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "cross-site, same-origin"}):
        for client in (admin, stranger):
            reply = client.post(CONNECT, json=body, headers=headers, expect=403, code="ORIGIN_NOT_ALLOWED")
            assert "RateLimit" not in reply.headers and "Set-Cookie" not in reply.headers
            client.get(CONNECTIONS, params={"org": org.id}, headers=headers, expect=403, code="ORIGIN_NOT_ALLOWED")
            client.get("/console/v1/articles", headers=headers, expect=403, code="ORIGIN_NOT_ALLOWED")
    # Without an origin the credential is checked first.
    for headers in ({"Origin": None}, {"Origin": None, "Referer": "about:blank"}):
        stranger.post(CONNECT, json=body, headers=headers, expect=401)
        reply = admin.post(CONNECT, json=body, headers=headers, expect=403, code="ORIGIN_NOT_ALLOWED")
        assert "RateLimit" in reply.headers
    referred = {"Origin": None, "Referer": f"{stack.base_url}/console/"}
    fetched = {"Origin": None, "Sec-Fetch-Site": "same-origin"}
    for headers in (referred, fetched):
        assert admin.get(CONNECTIONS, params={"org": org.id}, headers=headers, expect=200).json() == []
    admin.post(CONNECT, json=body, headers=fetched, expect=403, code="ORIGIN_NOT_ALLOWED")
    reply = admin.post(CONNECT, json=body, headers=referred, expect=403, code="ORIGIN_NOT_ALLOWED")
    assert details_of(reply) == {"reason": "MISSING"}
    assert admin.get(CATALOG, headers={"Origin": "https://evil.example"}, expect=200).json()


# ---------------------------------------------------------------------------- callbacks


@pytest.mark.parametrize("parameters", [
    {}, {"code": "c"}, {"state": ""}, {"state": "s" * 257, "code": "c"}, {"state": ["a", "b"], "code": "c"}, {"state": "s\0"},
])
def test_a_callback_that_no_provider_sends_redirects_to_the_console_too(anyone, parameters):
    assert callback_result(anyone, **parameters) == {"result": "failed", "reason": "request"}


@pytest.mark.parametrize("parameters", [
    {"code": ["a", "b"]}, {"code": "c", "scope": ["a", "b"]}, {"code": "c\0"}, {"error": "e" * 256},
    {"code": "c", "realmId": "r" * 256},
])
def test_an_unreadable_callback_uses_up_the_state(stack, org, admin, parameters):
    made = connect(admin).json()
    result = callback_result(admin, state=state_of(made["redirectUrl"]), **parameters)
    assert result == {"result": "failed", "reason": "request", "connection": made["id"]}
    assert authorizations(stack, made["id"]) == 0 and listed(admin, org)[0]["authStatus"] == "error"


def test_a_head_request_does_not_use_up_the_state(stack, admin):
    made = connect(admin).json()
    state = state_of(made["redirectUrl"])
    reply = admin.request("HEAD", CALLBACK, params={"state": state, "code": "c"}, key=None, allow_redirects=False, expect=303)
    assert "result=failed" in reply.headers["Location"] and authorizations(stack, made["id"]) == 1
    result = callback_result(admin, state=state, error="access_denied")
    assert result == {"result": "denied", "connection": made["id"]}


def test_the_error_text_of_a_provider_is_not_shown(org, admin):
    for error, shown in (("server_error", "(server_error)"), ("<b>evil</b>", None), ("Ä" * 80, None)):
        made = connect(admin).json()
        result = callback_result(admin, state=state_of(made["redirectUrl"]), error=error, error_description="<script>")
        assert result == {"result": "failed", "reason": "provider", "connection": made["id"]}
        text = listed(admin, org)[-1]["error"]
        assert "GitLab" in text and (shown or "error. ") in text and "<" not in text and "Ä" not in text


def test_without_the_cookie_the_connection_is_not_revealed(stack, contract, org, admin):
    made = connect(admin).json()
    result = callback_result(Client(stack, contract), state=state_of(made["redirectUrl"]), code="c")
    assert result == {"result": "failed", "reason": "browser"}
    (record,) = listed(admin, org)
    assert record["authStatus"] == "error" and "browser" in record["error"]


def test_a_provider_without_a_configuration_is_not_called(stack, org, admin):
    made = connect(admin).json()
    with stack.configured(f"[providers.{MATRIX_PROVIDER}]", "client_secret"):
        result = callback_result(admin, state=state_of(made["redirectUrl"]), code="c")
    assert result == {"result": "failed", "reason": "configuration", "connection": made["id"]}
    assert listed(admin, org)[0]["authStatus"] == "error"


def test_a_connected_connection_remains_connected_after_a_denial(stack, org, admin):
    made = connect(admin).json()
    with holding(stack, made["id"], b"sealed", status="connected", token_generation=1):
        again = connect(admin, connection_id=made["id"]).json()
        assert callback_result(admin, state=state_of(again["redirectUrl"]), error="access_denied")["result"] == "denied"
        assert [(record["authStatus"], record["error"]) for record in listed(admin, org)] == [("connected", None)]


# ---------------------------------------------------------------------------- deleting and refreshing


def test_a_deleted_connection_is_gone(stack, org, admin):
    made = connect(admin).json()
    path = f"{CONNECTIONS}/{made['id']}"
    admin.delete(path, expect=204)
    assert listed(admin, org) == [] and row(stack, made["id"]) is None
    admin.delete(path, expect=404)
    admin.post(f"{path}/refresh", json={}, expect=404)
    connect(admin, connection_id=made["id"], expect=404)
    assert callback_result(admin, state=state_of(made["redirectUrl"]), code="c") == {"result": "failed", "reason": "state"}
    log = admin.get_json("/v1/audit-log", params={"subject_id": made["id"]})["audit_log"]
    assert [entry["action"] for entry in log] == ["connection.removed", "connection.requested"]


@pytest.mark.parametrize("status", ["pending", "expired", "revoked"])
def test_a_connection_without_tokens_is_not_refreshed(stack, admin, status):
    made = connect(admin).json()["id"]
    change_row(stack, made, status=status)
    reply = admin.post(f"{CONNECTIONS}/{made}/refresh", json={}, expect=409, code="INVALID_STATE")
    assert details_of(reply)["reason"] and row(stack, made)["status"] == status


# ---------------------------------------------------------------------------- the console's page


@pytest.mark.parametrize("path, kind", CONSOLE_FILES.items())
def test_the_page_loads_only_its_own_files(stack, anyone, path, kind):
    reply = anyone.session.get(stack.base_url + path, timeout=10)
    assert reply.status_code == 200 and reply.headers["Content-Type"] == f"{kind}; charset=utf-8"
    policy = dict(part.strip().split(" ", 1) for part in reply.headers["Content-Security-Policy"].split(";"))
    own = dict.fromkeys(("script-src", "style-src", "connect-src", "worker-src", "frame-src"), "'self'")
    none = dict.fromkeys(("default-src", "base-uri", "form-action", "frame-ancestors"), "'none'")
    assert policy == own | none | {"img-src": "'self' data:", "require-trusted-types-for": "'script'", "trusted-types": "muster"}
    assert reply.headers["X-Content-Type-Options"] == "nosniff" and reply.headers["Referrer-Policy"] == "same-origin"
    assert "Set-Cookie" not in reply.headers


@pytest.fixture(scope="module")
def browser(stack):
    with start_browser(stack.folder / "tmp/console-browser") as running:
        yield running


def shown(browser, address):
    """(the sentence, the advice) that a browser shows for this address."""
    browser.get("about:blank")
    browser.get(address)
    said = wait_for(lambda: [one.text for one in browser.find_elements("id", "result") if one.text], "the page to show a text")[0]
    wait_for(lambda: browser.title == f"{said} – Muster", "the title")
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    return said, browser.find_element("id", "advice").text


def test_a_browser_shows_the_result(stack, browser):
    page = f"{stack.base_url}/console/#/connections?result="
    assert shown(browser, page + f"connected&connection={uuid.uuid4()}") == ("The provider is connected.", "")
    assert browser.switch_to.active_element.get_attribute("id") == "result"
    said, advice = shown(browser, page + "failed&reason=browser")
    assert "not connected" in said and "Another browser" in advice
    assert "denied" in shown(browser, page + "denied")[0]
    browser.execute_script("location.hash = '#/connections?result=failed&reason=role'")
    wait_for(lambda: "may not" in browser.find_element("id", "advice").text, "the page to follow its address")


def test_a_browser_does_not_show_texts_of_the_address(stack, browser):
    for fragment in ("#/connections", "#/connections?result=%3Cb%3Eevil%3C/b%3E",
                     "#/connections?result=__proto__", "#/connections?result=constructor&reason=toString"):
        assert shown(browser, f"{stack.base_url}/console/{fragment}") == ("No provider was connected just now.", "")
    said, advice = shown(browser, f"{stack.base_url}/console/#/connections?result=failed&reason=Call+0800+evil")
    assert "evil" not in said + advice


def test_the_page_has_a_sentence_for_each_reason():
    source = (SOURCE / "src/service/connections/authorization.hpp").read_text()
    table = re.search(r"kNames<service::CallbackResult::Reason> = \{(.*?)\};", source, re.DOTALL)[1]
    reasons = set(re.findall(r'"(\w+)"', table))
    texts = (SOURCE / "nginx/static/console/lib/texts_connections.js").read_text()
    connecting = texts[texts.index("export const connecting = "):]
    result = connecting[connecting.index("reasons: {"):connecting.index("back: ")]
    assert len(reasons) == 12 and reasons == set(re.findall(r'^ +(\w+): "', result, re.MULTILINE))


def test_make_install_installs_the_page(tmp_path):
    dry_run = subprocess.run(["make", "-n", "install", f"DESTDIR={tmp_path}"], cwd=SOURCE, capture_output=True, text=True,
                             check=True)
    assert re.search(r"packaging/install-console nginx/static/console \S+/share/muster/console", dry_run.stdout)
