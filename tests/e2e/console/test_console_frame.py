"""The console's frame in a real browser: sign-in, second factor, organizations, theme, keys, session end (docs/console.md)."""

import gzip
from urllib.parse import urlsplit

import pytest
import requests
from selenium.webdriver.common.keys import Keys
from support.browser import wait_for
from support.console import ConsoleBrowser
from support.stack import ROOT

FIRST_SCREEN_BYTES = 60 * 1024
NO_STORAGE = """for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(window, name, {get() { throw new DOMException("blocked", "SecurityError") }})"""
KEPT = "return sessionStorage.getItem('muster.code')"
# All keys at once, so that the page does not search between two of them.
TYPE = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))"


@pytest.fixture(scope="module")
def browser(stack):
    running = ConsoleBrowser(stack)
    yield running
    running.close()


@pytest.fixture(scope="module")
def owner(module_org):
    return module_org.new_admin("owner")


def test_a_new_admin_enrolls_and_sees_the_first_steps(browser, owner, module_org):
    browser.forget()
    browser.open()
    browser.sees("Sign in to Muster")
    browser.check("sign-in")
    browser.fill("Mail address", owner.address)
    before = owner.mails_before()
    browser.press("Send code")
    browser.sees("Check your mail")
    browser.check("sign-in-code")
    browser.fill("Code", owner.code_after(before))
    browser.press("Sign in")
    browser.sees("Scan this code")
    owner.backup_codes = [one.text for one in browser.web.find_elements("css selector", ".codes code")]
    assert len(owner.backup_codes) == 10
    browser.check("enrollment")
    browser.enroll(owner)
    browser.sees("First steps")
    assert urlsplit(browser.web.current_url).fragment == f"/o/{module_org.id}/home"
    browser.check("home-new")
    browser.press("Members")
    browser.sees("No members yet")
    browser.check("members-empty")


def test_the_page_of_the_root_leads_to_the_console(browser):
    browser.web.get(f"{browser.stack.base_url}/")
    browser.check("start")
    browser.press("Open the console")
    wait_for(lambda: urlsplit(browser.web.current_url).path == "/console/", "the console's page")


def test_each_step_of_a_sign_in_begins_in_its_field(browser, owner):
    def begins_in(name):
        wait_for(lambda: browser.web.switch_to.active_element.get_attribute("name") == name, f"the focus in the field {name}")

    browser.forget()
    browser.open()
    begins_in("email")
    browser.fill("Mail address", owner.address)
    before = owner.mails_before()
    browser.press("Send code")
    begins_in("otp")
    browser.fill("Code", owner.code_after(before))
    browser.press("Sign in")
    begins_in("code")
    browser.press("Use a backup code")
    begins_in("code")


def test_a_reload_keeps_the_step_of_the_code(browser, owner):
    browser.forget()
    browser.open()
    browser.fill("Mail address", owner.address)
    before = owner.mails_before()
    browser.press("Send code")
    browser.sees("Check your mail")
    browser.reload()
    browser.sees(f"If {owner.address} has a seat")
    browser.fill("Code", owner.code_after(before))
    browser.press("Sign in")
    browser.sees("Second factor")
    assert browser.web.execute_script(KEPT) is None


def test_the_second_factor_leads_back_to_the_address(browser, owner):
    browser.forget()
    browser.open()
    for _ in range(2):
        browser.fill("Mail address", owner.address)
        before = owner.mails_before()
        browser.press("Send code")
        browser.fill("Code", owner.code_after(before))
        browser.press("Sign in")
        browser.sees("Second factor")
        browser.press("Use another address")
        browser.sees("Sign in to Muster")
        browser.reload()
        browser.sees("Sign in to Muster")
        assert browser.labeled("Mail address").get_attribute("value") == ""


def test_another_address_and_an_expired_code_begin_with_the_address(browser):
    def reload_with(seconds):
        """As if the code of a mail has so many seconds left."""
        browser.web.execute_script("sessionStorage.setItem('muster.code', JSON.stringify({email: 'ada@kept.example', until: Date.now() + arguments[0] * 1000}))",
                                   seconds)
        browser.reload()

    browser.forget()
    browser.open()
    browser.sees("Sign in to Muster")
    reload_with(60)
    browser.sees("If ada@kept.example has a seat")
    browser.press("Use another address")
    browser.sees("Sign in to Muster")
    assert browser.web.execute_script(KEPT) is None
    browser.reload()
    browser.sees("Sign in to Muster")
    reload_with(-1)
    browser.sees("Sign in to Muster")
    assert browser.web.execute_script(KEPT) is None
    assert browser.labeled("Mail address").get_attribute("value") == ""


def test_a_wrong_code_and_then_a_backup_code(browser, owner):
    browser.forget()
    browser.open()
    browser.fill("Mail address", owner.address)
    before = owner.mails_before()
    browser.press("Send code")
    browser.fill("Code", "00000000")
    browser.press("Sign in")
    browser.sees("The code is wrong or has expired.")
    browser.sees("Request: ")
    browser.fill("Code", owner.code_after(before))
    browser.press("Sign in")
    browser.sees("Second factor")
    browser.web.get_log("browser")  # the 401 of the wrong code
    browser.check("second-factor")
    browser.press("Use a backup code")
    browser.fill("Backup code", owner.backup_codes.pop())
    browser.press("Continue")
    browser.sees("Members")


def test_the_first_screen_is_small_and_takes_two_calls(browser, owner, stack):
    browser.sign_in(owner)
    browser.sees("First steps")
    browser.web.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
    browser.requests()
    browser.open()
    browser.sees("First steps")
    paths = [urlsplit(url).path for url in browser.requests() if url.startswith(stack.base_url)]
    browser.web.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": False})
    calls = [path for path in paths if not path.startswith("/console/")]
    assert len(calls) == 2, calls
    files = ROOT / "nginx/static"
    names = {"/console/index.html" if path == "/console/" else path for path in paths if path.startswith("/console/")}
    assert sum(len(gzip.compress((files / name.strip("/")).read_bytes(), 6)) for name in names) <= FIRST_SCREEN_BYTES
    for name in ("/console/", "/console/console.css", "/console/lib/texts.js"):
        reply = requests.get(stack.base_url + name, verify=stack.ca_file, timeout=10)
        assert reply.headers["Content-Security-Policy"].endswith("trusted-types muster")
        assert name == "/console/" or reply.headers["Content-Encoding"] == "gzip"


@pytest.mark.parametrize("path", ["/console/none.js", "/console/vendor/", "/console/lib", "/console/../conf", "/console/index.html"])
def test_other_paths_of_the_console_are_not_found(stack, path):
    assert requests.get(stack.base_url + path, verify=stack.ca_file, timeout=10).status_code == 404


def test_keys_focus_the_search_and_can_be_switched_off(browser, owner):
    browser.sign_in(owner)
    browser.press("Members")
    browser.sees("No members yet")
    browser.element("main").send_keys("/")
    assert browser.web.switch_to.active_element.get_attribute("type") == "search"
    browser.element("h1").click()
    browser.element("main").send_keys("?")
    browser.sees("Show this list")
    browser.sees("Go to the search")
    browser.check("keys")
    browser.press("Use the keys / and ?")
    browser.web.switch_to.active_element.send_keys(Keys.ESCAPE)
    wait_for(lambda: not browser.web.find_elements("css selector", "dialog"), "the dialog to close")
    browser.element("main").send_keys("?")
    assert not browser.web.find_elements("css selector", "dialog")
    browser.press("Shortcuts")
    browser.sees("Close a dialog")
    assert "Go to the search" not in browser.text() and "Show this list" not in browser.text()
    browser.press("Use the keys / and ?")
    browser.sees("Go to the search")
    browser.press("Close")
    browser.press("Home")
    browser.sees("In numbers")
    browser.press("Shortcuts")
    browser.sees("Show this list")
    assert "Go to the search" not in browser.text() and "Submit a form" not in browser.text()
    browser.web.execute_script("localStorage.removeItem('muster.keys')")


def test_the_theme_is_kept(browser, owner):
    browser.sign_in(owner)
    shown = "return getComputedStyle(document.documentElement).backgroundColor"
    light = browser.web.execute_script(shown)
    browser.press("Dark theme")
    assert browser.web.execute_script(shown) != light
    browser.open()
    browser.sees("Members")
    assert browser.web.execute_script(shown) != light
    browser.press("Dark theme")


def test_a_narrow_screen_has_the_actions_of_the_head_in_its_menu(browser):
    browser.open()
    browser.sees("In numbers")
    browser.resize(320)
    assert not browser.web.find_element("xpath", "//header//button[.='Sign out']").is_displayed()
    assert browser.element(".head").size["height"] < 60
    browser.press("Menu")
    assert browser.web.find_element("xpath", "//header//button[.='Sign out']").is_displayed()
    browser.picture("menu-narrow")
    browser.press("Menu")
    browser.resize(1280)
    assert browser.web.find_element("xpath", "//header//button[.='Sign out']").is_displayed()


def test_all_tabs_have_the_theme_that_was_chosen_last(browser, owner):
    browser.sign_in(owner)
    first = browser.web.current_window_handle
    browser.web.switch_to.new_window("tab")
    browser.open()
    browser.sees("Members")
    for shown, pressed in (("dark", "true"), ("light", "false")):
        browser.press("Dark theme")
        browser.web.switch_to.window(first)
        wait_for(lambda shown=shown: browser.web.execute_script("return document.documentElement.dataset.theme") == shown, "the theme of the other tab")
        button = browser.web.find_element("xpath", "//button[.='Dark theme']")
        wait_for(lambda pressed=pressed, button=button: button.get_attribute("aria-pressed") == pressed, "the state of the button")
        browser.web.switch_to.window(browser.web.window_handles[-1])
    browser.web.execute_script("localStorage.removeItem('muster.theme')")
    browser.web.close()
    browser.web.switch_to.window(first)


def test_a_browser_without_a_storage_stays_signed_in_and_keeps_the_theme_until_it_leaves(own_browser, owner):
    browser = own_browser
    browser.web.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NO_STORAGE})
    browser.sign_in(owner)
    browser.press("Dark theme")
    assert browser.web.execute_script("return document.documentElement.dataset.theme") == "dark"
    browser.press("Dark theme")
    assert browser.web.execute_script("return document.documentElement.dataset.theme") == "light"
    browser.open()
    browser.sees("First steps")
    browser.press("Sign out")
    browser.sees("Sign in to Muster")


def test_two_tabs_show_two_organizations(browser, stack, contract, org, module_org):
    admin = module_org.new_admin("admin")
    admin.give_seat(org.id)
    org.create_user({"email": "only.there@e2e.example"})
    browser.sign_in(admin)
    first = browser.web.current_window_handle
    browser.web.switch_to.new_window("tab")
    browser.open(f"#/o/{org.id}/members")
    browser.sees("only.there@e2e.example")
    browser.web.close()
    browser.web.switch_to.window(first)
    browser.press("Members")
    browser.sees("No members yet")
    browser.reload()
    browser.sees("No members yet")
    browser.element("select.organization").find_element("css selector", f"option[value='{org.id}']").click()
    browser.sees("only.there@e2e.example")
    browser.open("#/o/01a1fd07-6e99-7265-b40a-2831efbbc0ee/members")
    browser.sees("You have no seat in the organization of this address.")


def test_a_session_that_ends_is_announced_and_the_page_comes_back(browser, owner, stack, module_org):
    browser.sign_in(owner)
    browser.press("Members")
    browser.sees("No members yet")
    stack.sql("DELETE FROM sessions WHERE admin_id = UNHEX(REPLACE(%s, '-', ''))", owner.id)
    browser.web.execute_script(TYPE, browser.labeled("Search"), "ann")
    browser.sees("Your session has ended.")
    browser.fill("Mail address", owner.address)
    before = owner.mails_before()
    browser.press("Send code")
    browser.fill("Code", owner.code_after(before))
    browser.press("Sign in")
    browser.pass_factor(owner)
    browser.sees("No member matches")
    assert urlsplit(browser.web.current_url).fragment == f"/o/{module_org.id}/members?q=ann"
    browser.web.get_log("browser")


def test_a_page_that_misses_a_file_says_what_to_do(browser):
    browser.web.execute_cdp_cmd("Network.enable", {})
    browser.web.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/console/ui/shell.js"]})
    browser.open()
    browser.sees("If nothing else appears, reload the page.")
    browser.web.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
    browser.reload()
    browser.sees("Sign out")
    assert "If nothing else appears" not in browser.text()
    browser.web.get_log("browser")  # the missing file


def test_signing_out_shows_the_sign_in(browser, owner):
    browser.sign_in(owner)
    browser.sees("First steps")
    browser.press("Sign out")
    browser.sees("Sign in to Muster")
    assert browser.web.get_cookie("__Host-muster-session") is None
    browser.check_quiet("signed out")


def test_an_unknown_address_is_named(browser, owner):
    browser.sign_in(owner)
    browser.web.execute_script("location.hash += '/none/none'")
    browser.sees("Page not found")
    browser.check("not-found")


PRINTED = """const main = document.querySelector("main"), shown = css => [...document.querySelectorAll(css)].filter(one => one.checkVisibility()).length
return [getComputedStyle(main).color, getComputedStyle(main.querySelector("a")).color, shown("nav a") + shown("button") + shown(".button"), shown("main tbody tr")]"""


def test_a_printed_page_has_dark_text_and_no_buttons(browser, owner, module_org):
    browser.sign_in(owner)
    module_org.create_user({"email": "printed@frame.example"})
    browser.open(f"#/o/{module_org.id}/members")
    browser.sees("printed@frame.example")
    on_screen = browser.web.execute_script(PRINTED)
    browser.press("Dark theme")
    try:
        browser.web.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        printed = browser.web.execute_script(PRINTED)
    finally:
        browser.web.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
    assert printed == [*on_screen[:2], 0, on_screen[3]] and on_screen[2] > 0 and on_screen[3] > 0
    browser.press("Dark theme")
