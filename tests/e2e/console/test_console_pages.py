"""The console's screens of page keys and events in a real browser, with real pages that use the code (docs/console.md)."""

import pytest
from selenium.webdriver.common.by import By
from support.browser import Site, start_browser, wait_for
from support.console import ConsoleBrowser
from support.page_keys import Counted
from support.publishable import Keys
from support.world import slug

PAGE = "<!doctype html><title>A page</title><body>%s</body>"


@pytest.fixture(scope="module")
def visitor(stack):
    """The browser of a visitor."""
    with start_browser(stack.folder / "tmp/visitor-browser") as running:
        yield running


@pytest.fixture
def site():
    running = Site("")
    yield running
    running.close()


@pytest.fixture
def whole_browser(stack, module_org):
    """A signed-in browser that can hide a page: see start_browser()."""
    running = ConsoleBrowser(stack, "hidden", windows=True)
    running.sign_in(module_org.new_admin("owner"))
    yield running
    running.close()


def track(org, action, **fields):
    org.page_api.post("/v1/track", json={"action": action, "client_event_id": slug("event"), **fields}, expect=202)


def code_of(browser):
    return browser.element(".snippet pre").text


# Keeps each text of the result.
WATCH_RESULTS = """window.results = []
new MutationObserver(() => results.push(document.querySelector("p.box[role='status']")?.textContent ?? ""))
    .observe(document.body, {childList: true, characterData: true, subtree: true})"""


INTERVAL = 5  # seconds between two calls for live events
# When the page was shown and hidden, and when its calls for live events began and ended, in milliseconds since it was loaded.
VISITS = """return [performance.getEntriesByType("visibility-state").map(one => [one.name, one.startTime]),
    performance.getEntriesByType("resource").filter(one => one.name.includes("/v1/engagement/events")).map(one =>
        [one.startTime, one.responseEnd])]"""


def test_a_new_admin_issues_a_key_pastes_the_code_and_sees_the_event(at, module_org, site, visitor):
    browser = at("page-keys")
    browser.sees("No tracking keys yet")
    browser.sees("No content keys yet")
    browser.check("page-keys-empty")
    browser.press("Issue a tracking key")
    browser.fill("Name", "Shop pages")
    browser.fill("Origin 1", f"{site.origin}/prices?a=b")
    browser.press("Add an origin")
    browser.fill("Origin 2", "ftp://shop.example")
    browser.press("Add an origin")
    browser.fill("Origin 3", "*.shop.example")
    browser.fill("Requests a second", "20")
    browser.check("page-key-issue")
    browser.press("Issue", "//dialog")
    browser.sees("Enter a scheme and a host without a path")
    browser.web.get_log("browser")
    assert [browser.labeled(f"Origin {number}").get_attribute("aria-invalid") for number in (1, 2, 3)] == [None, "true", None]
    browser.check("page-key-faults")
    browser.element("button[aria-label='Remove origin 2']").click()
    browser.press("Issue", "//dialog")
    browser.sees("The key was issued.")
    browser.sees("Waiting for an event of your pages")
    browser.sees("If no event of your page appears")
    browser.check("page-key")
    record = Keys(module_org, "tracking").listed()[0]
    assert record["allowed_origins"] == [site.origin, "https://*.shop.example"]
    assert (record["rate_limit_per_second"], record["burst"]) == (20, None)

    code = code_of(browser)
    assert record["key"] in code and 'integrity="sha384-' in code and "crossorigin" in code
    site.html = PAGE % code
    browser.web.execute_script(WATCH_RESULTS)
    visitor.get(site.origin)
    browser.sees("1 event arrived since you opened this page. Your code works.")
    assert not [one for one in browser.web.execute_script("return window.results") if "not used" in one]
    browser.sees("page_viewed")
    assert "If no event of your page appears" not in browser.text()
    browser.check("page-key-works")
    browser.press("Accept only this version of the script")
    wait_for(lambda: "integrity" not in code_of(browser), "the code without the hash")
    site.html = PAGE % code_of(browser)
    visitor.get(f"{site.origin}/again")
    browser.sees("2 events arrived since you opened this page.")
    browser.check_quiet("page-key")


def test_events_with_another_key_do_not_count_as_success(at, module_org):
    key = Keys(module_org, "tracking").create(name="Unused")
    browser = at(f"page-keys/tracking/{key['id']}")
    browser.sees("Waiting for an event of your pages")
    track(module_org, "elsewhere", anonymous_id="v-0")
    browser.sees("1 event arrived since you opened this page, but this key was not used.")
    browser.sees("If no event of your page appears")
    browser.check("page-key-other")


def test_a_key_is_changed_replaced_and_revoked(at, module_org):
    keys = Keys(module_org, "tracking")
    key = keys.create(name="Old site", rate_limit_per_second=10, burst=20)
    browser = at("page-keys")
    browser.sees("Old site")
    browser.check("page-keys")
    browser.press("Old site")
    browser.sees("10 requests a second, 20 at once")
    browser.press("Change")
    browser.fill("Name", "Site")
    browser.labeled("Requests a second").send_keys("\b\b")
    browser.fill("Last day", "12312099")
    browser.check("page-key-change")
    browser.press("Save")
    browser.sees("The key was changed.")
    changed = keys.record(key)
    assert (changed["name"], changed["rate_limit_per_second"], changed["burst"]) == ("Site", None, 20)
    assert changed["expires_at"].startswith(("2099-12-31", "2100-01-01"))
    browser.press("Replace")
    browser.sees("The old key stays valid")
    browser.check("page-key-replace")
    browser.fill("Name", "New site")
    browser.press("Issue", "//dialog")
    browser.sees("The key was issued.")
    made = next(one for one in keys.listed() if one["name"] == "New site")
    assert made["allowed_origins"] == key["allowed_origins"] and made["burst"] == 20 and made["key"] != key["key"]
    browser = at(f"page-keys/tracking/{key['id']}")
    browser.press("Revoke")
    browser.sees("Pages with this key no longer send events")
    browser.sees("The key was never used.")
    browser.check("page-key-revoke")
    browser.press("Revoke", "//dialog")
    browser.sees("The key was revoked.")
    browser.sees("This key is not valid.")
    browser.check("page-key-revoked")
    assert keys.record(key)["revoked_at"]


def test_a_content_key_comes_with_code_that_shows_articles(at, module_org, site, visitor):
    module_org.published_article(title="Cup final")
    browser = at("page-keys")
    browser.press("Issue a content key")
    browser.fill("Name", "Blog")
    browser.fill("Origin 1", site.origin)
    assert "Requests a second" not in browser.text()
    browser.press("Issue", "//dialog")
    browser.sees("The key was issued.")
    browser.sees("newest ten articles")
    browser.check("content-key")
    site.html = PAGE % code_of(browser)
    visitor.get(site.origin)
    wait_for(lambda: "Cup final" in visitor.find_element(By.TAG_NAME, "body").text, "the title on the page")
    browser.press("Check again")
    wait_for(lambda: browser.web.find_elements(By.XPATH, "//dt[.='Last used']/following-sibling::dd[.='just now']"), "the last use")
    browser.check_quiet("content-key")


def test_events_of_members_and_visitors_are_listed_live(at, module_org):
    ann = module_org.create_user({"email": "ann@pages.example", "external_id": "crm-1"})
    track(module_org, "opened", anonymous_id="v-81f3", tags=["pricing"], metadata={"text": "<img src=x onerror=alert(1)>"})
    track(module_org, "bought", user_id=ann["id"])
    track(module_org, "lost", member_external_id="unknown")
    browser = at("events")
    browser.sees("opened")
    browser.sees("v-81f3")
    browser.sees("Unknown member")
    browser.element("summary").click()
    browser.sees("<img src=x onerror=alert(1)>")
    browser.check("events")
    track(module_org, "later", anonymous_id="v-2")
    browser.sees("later")
    browser.sees("New")
    browser.press("crm-1")
    browser.sees("Profile")
    browser.check_quiet("events")


def hidden_and_shown_again(browser):
    """The page was hidden and then shown: the two times, and its calls as (begin, end), if one began after that. In seconds."""
    states, calls = browser.web.execute_script(VISITS)
    assert [name for name, _ in states] == ["visible", "hidden", "visible"]
    hidden, shown = [moment / 1000 for _, moment in states[1:]]
    calls = [(began / 1000, ended / 1000) for began, ended in calls]
    return any(began > shown for began, _ in calls) and (hidden, shown, calls)


def test_a_hidden_tab_asks_for_no_events_and_continues_when_it_is_shown(whole_browser, module_org, stack):
    browser = whole_browser
    track(module_org, "at_first", anonymous_id="v-3")
    browser.open(f"#/o/{module_org.id}/events")
    browser.sees("at_first")
    first = browser.web.current_window_handle
    browser.web.switch_to.new_window("tab")
    track(module_org, "meanwhile", anonymous_id="v-3")
    asked = Counted(stack, "listRecentEvents")
    with pytest.raises(AssertionError, match="waited"):  # one call may have begun before the tab was hidden
        wait_for(lambda: asked.total() > 1, "a second call", INTERVAL + 2)
    browser.web.close()
    browser.web.switch_to.window(first)
    browser.sees("meanwhile")
    hidden, shown, calls = wait_for(lambda: hidden_and_shown_again(browser), "a call of the shown page")
    assert [began for began, _ in calls if hidden < began < shown] == []
    due = max(shown, max(ended for began, ended in calls if began < hidden) + INTERVAL)
    assert min(began for began, _ in calls if began > shown) < due + INTERVAL - 1


def test_older_events_are_shown_page_by_page(at, module_org):
    for index in range(60):
        track(module_org, f"seen-{index:02}", anonymous_id="v-4")
    browser = at("events")
    browser.sees("seen-59")
    assert "seen-00" not in browser.text()
    browser.press("Show older")
    browser.sees("seen-00")
    assert browser.web.find_elements("css selector", "tbody .badge") == []  # none is new
    browser.sees("New events no longer appear by themselves.")
    browser.press_above("Continue")
    browser.sees("New events appear by themselves.")
    browser.check_quiet("events")


def test_an_error_stops_the_live_events_until_the_person_continues(at, module_org, stack):
    browser = at("events")
    browser.sees("New events appear by themselves.")
    wait_for(lambda: any("/v1/sessions" in url for url in browser.requests()), "the page to ask when the session ends", 30)
    with stack.without("musterd"):
        browser.sees("New events no longer appear by themselves.", 30)
        browser.web.get_log("browser")
        browser.check("events-stopped")
    wait_for(stack.answers, "the service to respond again")
    track(module_org, "after", anonymous_id="v-5")
    browser.press_above("Continue")
    browser.sees("after")


def test_a_new_key_and_a_new_origin_ask_for_a_code_if_the_last_one_is_old(module_org, own_browser, stack):
    browser, admin, keys = own_browser, module_org.new_admin("admin"), Keys(module_org, "content")
    age = "UPDATE sessions SET verified_at = verified_at - 960000 WHERE admin_id = UNHEX(REPLACE(%s, '-', ''))"
    browser.sign_in(admin)
    browser.open(f"#/o/{module_org.id}/page-keys")
    stack.sql(age, admin.id)
    browser.press("Issue a content key")
    browser.fill("Name", "Later")
    browser.fill("Origin 1", "https://later.example")
    browser.press("Issue", "//dialog")
    browser.sees("Confirm that it is you")
    assert "Later" not in {key["name"] for key in keys.listed()}
    browser.pass_factor(admin)
    browser.sees("The key was issued.")
    stack.sql(age, admin.id)
    browser.press("Change")
    browser.press("Add an origin")
    browser.fill("Origin 2", "https://moved.example")
    browser.press("Save")
    browser.sees("Confirm that it is you")
    browser.pass_factor(admin)
    browser.sees("The key was changed.")
    (made,) = [key for key in keys.listed() if key["name"] == "Later"]
    assert made["allowed_origins"] == ["https://later.example", "https://moved.example"]


def test_a_viewer_sees_keys_and_their_code_without_buttons(module_org, own_browser):
    key = Keys(module_org, "tracking").create(name="Read me")
    viewer = own_browser
    viewer.sign_in(module_org.new_admin("viewer"))
    viewer.open(f"#/o/{module_org.id}/page-keys/tracking/{key['id']}")
    viewer.sees("Code for your pages")
    viewer.web.get_log("browser")  # the page before the sign-in has no icon
    viewer.check("page-key-viewer")
    assert not {"Change", "Replace", "Revoke"} & set(viewer.text().split("\n"))
    viewer.open(f"#/o/{module_org.id}/page-keys")
    viewer.sees("Read me")
    assert "Issue a tracking key" not in viewer.text()
