"""The console's session in a real browser (docs/api/sign-in.md "The session of a browser")."""

import pytest
from support.admin import AUTH, FACTOR, totp
from support.browser import Site, start_browser
from support.client import COOKIE
from support.stack import wait_for

# A request of a page. `own`: with the header of the console.
ASK = """const [method, path, body, own, done] = arguments
const headers = own ? {"X-Muster-Console": "1"} : {}
if (body) headers["Content-Type"] = "application/json"
fetch(path, {method, headers, body: body && JSON.stringify(body)})
    .then(async reply => done([reply.status, reply.status == 204 ? null : await reply.json()]), error => done([error.name, null]))"""
# The strongest request that another page can send without a preflight.
SNEAK = """const [method, address, done] = arguments
fetch(address, {method, mode: "no-cors", credentials: "include", body: method == "GET" ? undefined : "{}"})
    .then(reply => done(reply.type), error => done(error.name))"""
# A request with the header, for which a browser asks first.
FORGE = """const [address, done] = arguments
fetch(address, {method: "DELETE", credentials: "include", headers: {"X-Muster-Console": "1"}})
    .then(reply => done(reply.type), error => done(error.name))"""


@pytest.fixture(scope="module")
def browser(stack):
    with start_browser(stack.folder / "tmp/console-browser") as running:
        yield running


class Page:
    """A page of the console."""

    def __init__(self, browser, stack):
        self.browser, self.stack = browser, stack
        self.open()

    def open(self):
        self.browser.get(f"{self.stack.base_url}/console/")

    def ask(self, method, path, body=None, own=True):
        return self.browser.execute_async_script(ASK, method, path, body, own)

    def cookie(self):
        cookie = self.browser.get_cookie(COOKIE)
        self.stack.keys_issued += [cookie["value"]] if cookie else []
        return cookie

    def sign_in(self, admin):
        status, reply = self.ask("POST", f"{AUTH}/verify", {"email": admin.address, "otp": admin.ask_for_code()})
        assert status == 200 and reply["token"] is None, reply
        before = self.cookie()["value"]
        made = self.ask("POST", f"{FACTOR}/enable", {})[1]
        admin.secret = made["secret"]
        self.stack.keys_issued += [made["secret"], *made["backup_codes"]]
        status, reply = self.ask("POST", f"{FACTOR}/verify-totp", {"code": totp(admin.secret, admin.lasting_step())})
        assert status == 200 and reply["token"] is None, reply
        assert self.cookie()["value"] != before


@pytest.fixture
def page(browser, stack, module_org):
    page = Page(browser, stack)
    browser.delete_all_cookies()
    page.sign_in(module_org.new_admin("owner"))
    return page


def test_a_page_signs_in_and_no_script_reads_the_session(page):
    assert page.ask("GET", "/v1/users", own=False)[0] == 200
    assert page.ask("GET", "/console/v1/articles")[0] == 200
    assert page.ask("POST", "/v1/users", {"email": "cookie@example.org"})[0] == 201
    assert page.ask("POST", "/v1/users", {"email": "cookie@example.org"}, own=False)[0] == 401
    cookie = page.cookie()
    assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, True, "Strict", "/")
    assert "expiry" not in cookie
    assert COOKIE not in page.browser.execute_script("return document.cookie")


def test_a_new_tab_is_signed_in(page):
    first = page.browser.current_window_handle
    page.browser.switch_to.new_window("tab")
    page.open()
    assert page.ask("GET", "/v1/session")[1]["two_factor"]["verified"] is True
    page.browser.close()
    page.browser.switch_to.window(first)


def test_a_sign_out_clears_the_cookie_and_the_storage(page):
    page.browser.execute_script("localStorage.setItem('draft', 'x'); sessionStorage.setItem('draft', 'x')")
    assert page.ask("DELETE", "/v1/session")[0] == 204
    assert page.cookie() is None
    page.open()
    assert page.browser.execute_script("return [localStorage.length, sessionStorage.length]") == [0, 0]
    status, reply = page.ask("GET", "/v1/session")
    assert (status, reply["error"]["details"]) == (401, {"reason": "MISSING"})


@pytest.mark.parametrize("is_same_site", [True, False])
def test_a_page_of_another_origin_cannot_use_the_session(page, stack, is_same_site):
    """To a page of the same site, such as another port, the browser adds the cookie. Sec-Fetch-Site names the difference."""
    tls = (stack.folder / "server.pem", stack.folder / "server.key") if is_same_site else None
    foreign = Site("<!doctype html><title>Foreign</title>", tls)
    url = stack.base_url

    def refused(method, path, status):
        return stack.log("nginx.access").count(f'method={method} path="{path}" protocol=HTTP/2.0 status={status}')

    try:
        page.browser.get(foreign.origin)
        for method, path in (("GET", "/v1/session"), ("POST", "/v1/users"), ("POST", "/v1/session/active-organization"),
                             ("POST", f"{AUTH}/verify")):
            status = 415 if path.startswith(AUTH) else 401
            count = refused(method, path, status)
            assert page.browser.execute_async_script(SNEAK, method, url + path) == "opaque"
            wait_for(lambda: refused(method, path, status) > count, "the rejection")  # noqa: B023
        count = refused("OPTIONS", "/v1/session", 405)
        assert page.browser.execute_async_script(FORGE, f"{url}/v1/session") == "TypeError"
        wait_for(lambda: refused("OPTIONS", "/v1/session", 405) > count, "the rejection of the preflight")
        # A link and a form of that page.
        page.browser.execute_script("location.href = arguments[0]", f"{url}/v1/users")
        wait_for(lambda: "UNAUTHORIZED" in page.browser.page_source, "the page of the link")
    finally:
        foreign.close()
    page.open()
    assert page.ask("GET", "/v1/session")[0] == 200
