"""Connecting a provider in a real browser, from a page of the console to the provider's page and back
(docs/external-data.md "Connecting")."""

import pytest
from selenium.webdriver.common.by import By
from support.browser import Site, start_browser
from support.connecting import COOKIE, connect, listed
from support.stack import wait_for

PROVIDER = "gitlab"
# The console sends a request with its session, and follows the returned address.
ASK = """const [origin, token, body, done] = arguments
fetch(origin + "/v1/external-data/connect", {method: "POST", body: JSON.stringify(body), credentials: "same-origin",
      headers: {"Content-Type": "application/json", "Authorization": "Bearer " + token}})
    .then(async reply => done([reply.status, await reply.json()]), error => done([error.name, null]))"""
# The strongest request that a foreign page can send without a preflight.
SNEAK = """const [origin, body, done] = arguments
fetch(origin + "/v1/external-data/connect", {method: "POST", body: JSON.stringify(body), mode: "no-cors", credentials: "include"})
    .then(reply => done(reply.type), error => done(error.name))"""


# A read by the console: a browser sends no Origin with it.
READ = """const [path, token, policy, done] = arguments
fetch(path, {credentials: "same-origin", referrerPolicy: policy, headers: {"Authorization": "Bearer " + token}})
    .then(async reply => done([reply.status, await reply.json()]), error => done([error.name, null]))"""


@pytest.fixture(scope="module")
def browser(stack):
    with start_browser(stack.folder / "tmp/connecting-browser") as running:
        yield running


@pytest.fixture
def admin(module_org):
    return module_org.admin().api


class Console:
    """The console's page in the browser of an admin who has signed in."""

    def __init__(self, browser, client):
        self.browser, self.client, self.stack = browser, client, client.stack
        self.open()

    def open(self):
        self.browser.get(f"{self.stack.base_url}/console/")

    def connect(self, **body):
        status, made = self.browser.execute_async_script(ASK, "", self.client.key, {"provider": PROVIDER} | body)
        assert status == 200, made
        self.browser.execute_script("location.href = arguments[0]", made["redirectUrl"])
        wait_for(lambda: self.browser.find_elements(By.ID, "allow"), "the provider's page")
        return made

    def decide(self, button):
        self.browser.find_element(By.ID, button).click()
        wait_for(lambda: self.browser.current_url.startswith(f"{self.stack.base_url}/console/"), "the console")
        return self.address_and_text()

    def address_and_text(self):
        """(the address after #, the text of the page)"""
        text = wait_for(lambda: [one.text for one in self.browser.find_elements(By.ID, "result") if one.text],
                        "the page to show a text")[0]
        return self.browser.current_url.partition("#")[2], text


@pytest.fixture
def console(browser, admin):
    return Console(browser, admin)


@pytest.mark.parametrize("policy", ["", "no-referrer"])
def test_the_console_reads_its_own_operations(console, module_org, admin, policy):
    for path in ("/console/v1/articles", f"/v1/external-data/connections?org={module_org.id}", "/v1/external-data/catalog"):
        status, reply = console.browser.execute_async_script(READ, path, admin.key, policy)
        assert status == 200, (path, reply)


def test_an_admin_who_allows_is_connected(console, module_org, admin, oauth_server):
    made = console.connect(name="In a browser")
    assert console.browser.current_url.startswith(oauth_server.url)
    assert listed(admin, module_org)[made["id"]]["authStatus"] == "pending"
    where, said = console.decide("allow")
    assert where == f"/connections?result=connected&connection={made['id']}"
    assert said == "The provider is connected."
    assert listed(admin, module_org)[made["id"]] == {
        "id": made["id"], "name": "In a browser", "connector": PROVIDER, "authStatus": "connected", "error": None}


def test_a_denial_is_shown(console, module_org, admin):
    made = console.connect()
    where, said = console.decide("deny")
    assert where == f"/connections?result=denied&connection={made['id']}" and "denied" in said
    assert listed(admin, module_org)[made["id"]]["authStatus"] == "error"


def test_a_repeated_callback_fails_and_keeps_the_connection(console, module_org, admin):
    made = console.connect()
    console.decide("allow")
    # The same address again, as from the history of the browser.
    console.browser.get(f"{console.stack.redirect_uri}?code=old&state=old")
    where, said = console.address_and_text()
    assert where == "/connections?result=failed&reason=state" and "not connected" in said
    assert listed(admin, module_org)[made["id"]]["authStatus"] == "connected"


def test_two_tabs_of_one_browser_both_connect(console, module_org, admin):
    first = console.browser.current_window_handle
    one = console.connect()
    console.browser.switch_to.new_window("tab")
    console.open()
    two = console.connect()
    assert console.decide("allow")[0] == f"/connections?result=connected&connection={two['id']}"
    console.browser.close()
    console.browser.switch_to.window(first)
    assert console.decide("allow")[0] == f"/connections?result=connected&connection={one['id']}"


def test_scripts_cannot_read_the_cookie(console):
    console.connect()
    console.decide("allow")
    assert COOKIE not in console.browser.execute_script("return document.cookie")
    cookie = console.browser.get_cookie(COOKIE)
    assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, True, "Lax", "/")


def test_the_callback_of_another_admin_connects_nothing(console, module_org, oauth_server):
    """Login CSRF: otherwise the organization would be connected to an attacker's account at the provider."""
    attacker = module_org.new_admin("admin").api
    console.connect()
    console.decide("deny")  # this browser has its own cookie
    made = connect(attacker, PROVIDER)
    calls = len(oauth_server.at(PROVIDER))
    console.browser.get(oauth_server.consent(made["redirectUrl"]))
    where, _ = console.address_and_text()
    assert where == "/connections?result=failed&reason=browser"
    assert len(oauth_server.at(PROVIDER)) == calls
    assert listed(attacker, module_org)[made["id"]]["authStatus"] == "error"


def test_a_page_of_another_origin_cannot_start_an_authorization(console, stack, module_org, admin):
    before = listed(admin, module_org)
    foreign = Site("<!doctype html><title>Foreign</title>")
    try:
        console.browser.get(foreign.origin)
        refused = 'path="/v1/external-data/connect" protocol=HTTP/2.0 status=403'
        count = stack.log("nginx.access").count(refused)
        body = {"provider": PROVIDER}
        assert console.browser.execute_async_script(ASK, stack.base_url, admin.key, body) == ["TypeError", None]
        assert console.browser.execute_async_script(SNEAK, stack.base_url, body) == "opaque"
        wait_for(lambda: stack.log("nginx.access").count(refused) > count, "the rejections")
    finally:
        foreign.close()
    assert listed(admin, module_org) == before


def test_the_page_does_not_show_texts_of_the_address(console):
    text = "<img src=x onerror=alert(1)>"
    console.browser.get("about:blank")
    console.browser.get(f"{console.stack.base_url}/console/#/connections?result=failed&reason={text}&connection={text}")
    _, said = console.address_and_text()
    assert "img" not in console.browser.find_element(By.TAG_NAME, "body").text and "not connected" in said
    assert console.browser.find_elements(By.TAG_NAME, "img") == []
