"""Controls of the console stay where they were drawn when data arrives: a click hits what a person aims at (docs/console.md)."""

import json

import pytest
from selenium.webdriver.common.keys import Keys
from support.browser import wait_for
from support.console import ConsoleBrowser
from support.world import slug
from test_console_faults import NETWORK, go, hold, is_held, release

# The controls that can be used in the dialog that is open, or on the page; and those that are no longer there.
SEEN = """const scope = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document
const controls = () => [...scope.querySelectorAll("a[href], button, input, select, textarea")].filter(one =>
    one.checkVisibility({visibilityProperty: true}) && (scope !== document || !one.closest("dialog")))
const placeOf = one => {
    const {x, y} = one.getBoundingClientRect()
    return `${Math.round(x + scrollX)}, ${Math.round(y + scrollY)}`
}
const seen = new Map(controls().map(one => [one, placeOf(one)]))
window.moved = () => [...seen].filter(([one, place]) => !controls().includes(one) || placeOf(one) !== place)
    .map(([one, place]) => `${one.outerHTML.slice(0, 120)} was at ${place}, is at ${placeOf(one)}`)"""
# The screen, the row and the button that opens something, the request whose reply is late, and a text that comes with it.
OPENED = [
    ("ads/{campaign}", "", "Delete", "GET /console/v1/ads/campaigns/", "lead to a page that does not exist"),
    ("slots", "Side", "Code for pages", "GET /v1/engagement/keys", "The page can add user_id"),
    ("slots", "Free", "Delete", "GET /console/v1/ads/campaigns", "Pages that ask for the slot then show no ad."),
    ("webhooks", "", "Add an endpoint", "GET /v1/modules/", "Other event types"),
    ("members", "", "More filters", "GET /v1/imports", "Shirt size"),
    ("installations/{installation1}", "", "Change settings", "GET /v1/modules/", "currency (optional)"),
    ("webhooks/endpoints/{installation2}/{endpoint}", "", "Delete", "GET /v1/installations/", "No events are waiting."),
    ("members", "", "Change members", "GET /v1/attributes", "What to do with them"),
    ("members/{member}", "", "Edit", "GET /v1/attributes", "Display name"),
    ("webhooks/endpoints/{installation2}/{tested}", "", "Send a test event", "GET /v1/installations/", "Open the delivery"),
]
# The screen, the button that opens a dialog, the request that its fields wait for, and the first of them.
LOADING = [
    ("members", "Change members", "GET /v1/attributes", "What to do with them"),
    ("members", "Add a member", "GET /v1/attributes", "Mail address"),
    ("members/{member}", "Edit", "GET /v1/attributes", "First name"),
]
# The screen, a filter and a value that all records of the screen have, and whether it is a choice.
FILTERS = [("members", "Status", "Active", True), ("audit", "From", "01/01/2020", False), ("webhooks/deliveries", "From", "01/01/2020", False)]
# Whether any two of the elements of the arguments cover each other.
COVER = """const boxes = [...arguments].map(one => one.getBoundingClientRect())
return boxes.some((one, index) => boxes.slice(index + 1).some(other =>
    one.top < other.bottom && other.top < one.bottom && one.left < other.right && other.left < one.right))"""
ANNOUNCE = "const [text, done] = arguments; import('/console/lib/announce.js').then(({announce}) => { announce(text); setTimeout(done) })"
IN_VIEW = "const box = arguments[0].getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight"


@pytest.fixture(scope="module")
def browser(stack, module_org):
    running = ConsoleBrowser(stack, "places")
    running.web.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NETWORK})
    running.sign_in(module_org.new_admin("owner"))
    yield running
    running.close()


@pytest.fixture(scope="module")
def records(module_org):
    """A record of each kind, as admins find them in lists."""
    console = module_org.admin().api
    size = {"width": 300, "height": 250}
    slot = console.post("/console/v1/ads/slots", json={"name": "Side", "slug": "side"} | size, expect=201).json()
    campaign = console.post("/console/v1/ads/campaigns", json={"name": "Spring", "slot_ids": [slot["id"]]}, expect=201).json()
    console.post("/console/v1/ads/slots", json={"name": "Free", "slug": "free"} | size, expect=201)
    module_org.issue_publishable_key("tracking")
    ann = module_org.create_user({"email": "ann@places.example", "first_name": "Ann", "country": "DE"})
    made = {"member": ann["id"], "campaign": campaign["id"], "article": module_org.create_article(title="Before")["id"]}
    for number in (1, 2):
        name = slug(f"places{number}")
        manifest = {"name": f"Places {number}", "events": {"emits": [f"{name.replace('-', '_')}.paid"]},
                    "config_schema": {"currency": {"type": "string"}}}
        module = module_org.published_module(manifest, name=f"Places {number}", slug=name)
        installation = module_org.install(module)
        made |= {f"installation{number}": installation["id"], f"type{number}": manifest["events"]["emits"][0]}
    for name, url in (("endpoint", "https://places.example/hook"), ("tested", "https://places.example/tested")):
        made[name] = module_org.create_endpoint(installation, url=url)["id"]
    return made


def note(browser):
    """Notes the controls that can be used now."""
    browser.web.execute_script(SEEN)


def assert_nothing_moved(browser):
    assert browser.web.execute_script("return moved()") == []


@pytest.mark.parametrize("path, row, button, request_, text", OPENED)
def test_what_a_button_opens_moves_nothing_when_its_data_arrives(browser, module_org, records, path, row, button, request_, text):
    browser.open(f"#/o/{module_org.id}/{path.format(**records)}")
    browser.resize(320)
    within = f"//tr[contains(., '{row}')]" if row else "//main"
    browser.wait(lambda: browser.web.find_elements("xpath", f"{within}//button[normalize-space(.)='{button}']"), "the page")
    hold(browser, request_)
    browser.press(button, within)
    is_held(browser)
    note(browser)
    release(browser)
    browser.sees(text)
    assert_nothing_moved(browser)
    browser.picture(f"places-{button.replace(' ', '-')}")
    browser.resize(1280)


def test_the_focus_is_in_a_dialog_whose_data_arrive_late_and_returns_from_it(browser, module_org, records):
    for path, row, button, request_ in (
            ("slots", "Side", "Code for pages", "GET /v1/engagement/keys"),
            ("ads/{campaign}", "", "Delete", "GET /console/v1/ads"),
            ("webhooks/endpoints/{installation2}/{endpoint}", "", "Delete", "GET /v1/installations/")):
        browser.open(f"#/o/{module_org.id}/{path.format(**records)}")
        within = f"//tr[contains(., '{row}')]" if row else "//main"
        shown = f"{within}//button[.='{button}']"
        browser.wait(lambda shown=shown: browser.web.find_elements("xpath", shown), "the page")
        hold(browser, request_)
        browser.press(button, within)
        is_held(browser)
        release(browser)
        browser.wait(lambda: browser.web.execute_script(
            "return document.activeElement.matches('dialog :is(select, button[aria-describedby])')"), "the focus in the dialog")
        browser.web.switch_to.active_element.send_keys(Keys.ESCAPE)
        browser.has_focus(button)


def test_a_dialog_that_loads_does_not_take_the_place_of_a_later_one(browser, module_org, records):
    browser.open(f"#/o/{module_org.id}/slots")
    browser.sees("Free")
    hold(browser, "GET /v1/engagement/keys")
    browser.press("Code for pages", "//tr[contains(., 'Side')]")
    is_held(browser)
    browser.press("Edit", "//tr[contains(., 'Free')]")
    browser.fill("Name", "Freed")
    browser.web.execute_async_script("release(); fetch('/console/').then(() => setTimeout(arguments[0], 100))")
    assert browser.shown("Name").get_attribute("value") == "Freed"
    browser.press("Cancel", "//dialog")


def test_a_count_that_fails_does_not_prevent_the_question(browser, module_org, records):
    browser.open(f"#/o/{module_org.id}/webhooks/endpoints/{records['installation2']}/{records['endpoint']}")
    browser.sees("https://places.example/hook")
    browser.sees("No deliveries")
    browser.web.execute_script("window.loses = 'GET /v1/installations/'")
    browser.press("Delete")
    wait_for(lambda: browser.web.find_elements("css selector", "dialog[open] .box.error, dialog[open] [role=alert]"), "the error of the count")
    (delete,) = browser.web.find_elements("xpath", "//dialog//button[normalize-space()='Delete']")
    assert delete.is_enabled()
    browser.press("Cancel", "//dialog")


def test_another_module_of_a_new_endpoint_moves_no_button(browser, module_org, records):
    browser.open(f"#/o/{module_org.id}/webhooks")
    browser.press("Add an endpoint")
    browser.fill("URL", "https://places.example/new")
    first = browser.shown("Module").get_attribute("value")
    shown, other = ("1", "2") if first == records["installation1"] else ("2", "1")
    browser.sees(records[f"type{shown}"])
    hold(browser, "GET /v1/modules/")
    browser.choose("Module", f"Places {other}")
    is_held(browser)
    note(browser)
    assert records[f"type{shown}"] not in browser.text()
    release(browser)
    browser.sees(records[f"type{other}"])
    assert_nothing_moved(browser)
    browser.check("endpoint-add-other-module")
    browser.press("Cancel", "//dialog")


def test_an_installation_has_the_event_types_of_a_new_endpoint_at_once(browser, module_org, records):
    browser.open(f"#/o/{module_org.id}/installations/{records['installation1']}")
    browser.sees("Webhook endpoints")
    hold(browser, "GET /v1/modules/")
    browser.press("Add an endpoint")
    browser.shown("URL")
    assert records["type1"] in browser.text()
    assert not browser.web.execute_script("return window.isHeld")
    browser.press("Cancel", "//dialog")


@pytest.mark.parametrize("path, request_, text", [
    ("page-keys", "GET /v1/engagement/keys", "Copy key"), ("members?country=DE", "GET /v1/attributes", "Shirt size"),
    ("account", "GET /v1/sessions", "This one"),
    ("webhooks/deliveries?installation={installation2}&endpoint={endpoint}", "GET /v1/installations/", "https://places.example/hook"),
])
def test_a_list_moves_no_control_when_its_parts_arrive(browser, module_org, records, path, request_, text):
    browser.open(f"#/o/{module_org.id}/team")
    browser.sees("(you)")
    hold(browser, request_)
    go(browser, module_org, path.format(**records))
    is_held(browser)
    if path.startswith("members"):
        browser.sees("ann@places.example")
    note(browser)
    release(browser)
    browser.sees(text)
    assert_nothing_moved(browser)


@pytest.fixture(scope="module")
def labeled(module_org):
    """A bulk change and an import that name the attribute shirt_size."""
    change = module_org.api.post("/v1/member-jobs", json={"action": "lock", "filter": {"attributes": {"shirt_size": "M"}}}, expect=201).json()
    job = module_org.validated([{"email": "ann@labels.example", "attributes": {"shirt_size": "tent"}}])
    yield {"change": change["id"], "import": job["id"]}
    module_org.cancel(job["id"])


@pytest.mark.parametrize("path, text, unlabeled", [
    ("member-jobs", "Shirt size: M", "Members changed"), ("imports/{import}", "The attribute “Shirt size” does not allow this value.", "Rows to correct\nRow"),
    ("imports/{import}", "(Shirt size)", "1 row:")])
def test_an_attribute_is_shown_with_its_label_from_the_beginning(browser, module_org, labeled, path, text, unlabeled):
    browser.open(f"#/o/{module_org.id}/team")
    browser.sees("(you)")
    hold(browser, "GET /v1/attributes")
    go(browser, module_org, path.format(**labeled))
    is_held(browser)
    assert "shirt_size" not in browser.text() and unlabeled not in browser.text()
    note(browser)
    release(browser)
    browser.sees(text)
    assert "shirt_size" not in browser.text()
    assert_nothing_moved(browser)


@pytest.mark.parametrize("width", [320, 1280])
def test_the_first_change_of_an_article_moves_no_control(browser, module_org, records, width):
    browser.open(f"#/o/{module_org.id}/articles/{records['article']}")
    browser.shown("Title")
    browser.resize(width)
    note(browser)
    browser.fill("Title", "After")
    browser.sees("You have changes that are not saved.")
    wait_for(lambda: not browser.web.find_element("xpath", "//header//button[.='Publish']").is_enabled(), "the buttons")
    assert_nothing_moved(browser)
    browser.resize(1280)
    browser.fill("Title", "Before")
    wait_for(lambda: "You have changes" not in browser.text(), "the sentence to go")


@pytest.mark.parametrize("path, button, request_, field", LOADING)
def test_a_dialog_can_be_closed_while_it_loads(browser, module_org, records, path, button, request_, field):
    browser.open(f"#/o/{module_org.id}/{path.format(**records)}")
    browser.wait(lambda: browser.web.find_elements("xpath", f"//main//button[normalize-space(.)='{button}']"), "the page")
    for close in (lambda: browser.click("//dialog//button[@aria-label='Close']", "the button that closes"),
                  lambda: browser.web.switch_to.active_element.send_keys(Keys.ESCAPE)):
        hold(browser, request_)
        browser.press(button, "//main")
        is_held(browser)
        close()
        wait_for(lambda: not browser.web.find_elements("css selector", "dialog"), "the dialog to close")
        browser.has_focus(button)
        release(browser)
    hold(browser, request_)
    browser.press(button, "//main")
    is_held(browser)
    release(browser)
    wait_for(lambda: browser.web.switch_to.active_element == browser.shown(field), f"the focus in {field}")
    browser.press("Cancel", "//dialog")


@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("path, label, value, is_choice", FILTERS)
def test_a_filter_and_its_end_move_no_control(browser, module_org, records, path, label, value, is_choice, width):
    browser.open(f"#/o/{module_org.id}/{path}")
    browser.resize(width)
    clear = browser.wait(lambda: browser.web.find_elements("xpath", "//button[.='Clear filters']"), "the button")[0]
    browser.wait(lambda: not browser.web.find_elements("css selector", ".loading"), "the list")
    note(browser)
    (browser.choose if is_choice else browser.fill)(label, value)
    wait_for(lambda: clear.get_attribute("aria-disabled") == "false" and "?" in browser.web.current_url, "the filter")
    wait_for(lambda: not browser.web.find_elements("css selector", "[aria-busy=true]"), "the list")
    assert_nothing_moved(browser)
    browser.press("Clear filters")
    wait_for(lambda: clear.get_attribute("aria-disabled") == "true" and "?" not in browser.web.current_url, "the end of the filter")
    wait_for(lambda: not browser.web.find_elements("css selector", "[aria-busy=true]"), "the list")
    assert_nothing_moved(browser)
    browser.has_focus("Clear filters")
    browser.resize(1280)


def is_below(browser, text):
    """The error with this text is seen, and has moved no control."""
    browser.sees(text)
    box = browser.web.find_element("css selector", ".box.error")
    assert browser.web.execute_script(IN_VIEW, box)
    assert_nothing_moved(browser)


def test_an_error_of_a_list_moves_no_control(browser, module_org, records):
    browser.open(f"#/o/{module_org.id}/slots")
    browser.sees("Free")
    note(browser)
    browser.press("Edit", "//tr[contains(., 'Free')]")
    browser.fill("Width", "301")
    browser.web.execute_script("window.loses = 'GET /console/v1/ads/slots'")
    browser.press("Save", "//dialog")
    is_below(browser, "The server cannot be reached.")
    browser.press("Try again")
    browser.sees("301")
    wait_for(lambda: not browser.web.find_elements("css selector", ".box.error"), "the error to go")
    browser.web.execute_script("window.loses = 'GET /v1/engagement/keys'")
    browser.press("Code for pages", "//tr[contains(., 'Side')]")
    is_below(browser, "The server cannot be reached.")


def test_an_error_of_a_further_page_moves_no_control(browser, module_org, records):
    page = module_org.admin().api.get_json("/v1/seats") | {"next_cursor": "none"}
    browser.open(f"#/o/{module_org.id}/slots")
    browser.sees("Free")
    browser.web.execute_script("fakes['/v1/seats'] = arguments[0]", json.dumps(page))
    go(browser, module_org, "team")
    browser.wait(lambda: browser.web.find_elements("xpath", "//button[.='Show more']"), "the button")
    note(browser)
    browser.press("Show more")
    is_below(browser, "cursor")
    browser.web.get_log("browser")  # the cursor is none of the API
    browser.web.execute_script("fakes['/v1/seats?cursor=none'] = arguments[0]", json.dumps({"seats": [], "next_cursor": None}))
    browser.web.execute_script("arguments[0].focus()", browser.element("main p > button"))
    browser.web.switch_to.active_element.send_keys(Keys.ENTER)
    browser.has_focus("This is the end of the list.")


def test_an_error_of_live_events_moves_no_control(browser, module_org, records):
    browser.open(f"#/o/{module_org.id}/events")
    browser.sees("No events")
    note(browser)
    browser.web.execute_script("window.loses = 'GET /v1/engagement/events'")
    is_below(browser, "The server cannot be reached.")


def test_an_error_is_seen_in_a_window_where_it_does_not_stick(browser, module_org, records):
    browser.open(f"#/o/{module_org.id}/members")
    browser.resize(320, 400)
    browser.press("More filters")
    browser.sees("ann@places.example")
    browser.web.execute_script("window.loses = 'GET /v1/users/export'")
    browser.press_above("Export CSV")
    browser.sees("The server cannot be reached.")
    assert browser.web.execute_script(IN_VIEW, browser.element(".box.error"))
    browser.resize(1280)


@pytest.fixture
def long_list(browser, module_org, records):
    """A list of members that is longer than the window, and whose further page fails."""
    page = module_org.api.get_json("/v1/users", params={"limit": 1})
    users = [page["users"][0] | {"id": f"{records['member'][:-2]}{number}"} for number in range(10, 50)]
    page = page | {"users": users, "next_cursor": "none", "total": {"count": 80, "exact": True}}
    browser.open(f"#/o/{module_org.id}/slots")
    browser.sees("Free")
    browser.web.execute_script("fakes['/v1/users?order=newest&limit=50&total=true'] = arguments[0]", json.dumps(page))
    go(browser, module_org, "members")
    browser.sees("80 members")
    yield
    browser.resize(1280)
    browser.web.get_log("browser")  # the cursor is none of the API


def fail_export(browser):
    """An error that sticks to the bottom of the window, above the list's rows."""
    browser.web.execute_script("window.loses = 'GET /v1/users/export'")
    browser.press_above("Export CSV")
    browser.sees("The server cannot be reached.")
    box = browser.element("main > .box.low")
    assert browser.web.execute_script(IN_VIEW, box)
    return box


@pytest.mark.parametrize("width, height", [(320, 500), (1280, 900)])
def test_two_errors_of_a_list_do_not_cover_each_other(browser, long_list, width, height):
    browser.resize(width, height)
    exported = fail_export(browser)
    browser.press("Show more", before="scrollTo(0, document.body.scrollHeight)")
    further = browser.wait(lambda: browser.web.find_elements("css selector", ".box.low li"), "the error")[0].find_element("xpath", "./../..")
    assert further != exported
    assert browser.web.execute_script(IN_VIEW, further)
    assert not browser.web.execute_script(COVER, exported, further)
    for place in ("0", "document.body.scrollHeight"):
        browser.web.execute_script(f"scrollTo(0, {place})")
        assert not browser.web.execute_script(COVER, exported, further), place


@pytest.mark.parametrize("width, height", [(320, 500), (1280, 900)])
def test_an_announcement_covers_no_error_and_takes_no_click(browser, long_list, width, height):
    browser.resize(width, height)
    box = fail_export(browser)
    browser.web.execute_async_script(ANNOUNCE, "The members of the spring list were unlocked.")
    said = browser.element(".announcement:not(:empty)")
    assert browser.web.execute_script(IN_VIEW, box) and browser.web.execute_script(IN_VIEW, said)
    assert not browser.web.execute_script(COVER, box, said)
    assert browser.web.execute_script("""const {x, y, width, height} = arguments[0].getBoundingClientRect()
        return !arguments[0].contains(document.elementFromPoint(x + width / 2, y + height / 2))""", said)


@pytest.mark.parametrize("width, height", [(320, 500), (1280, 900)])
def test_the_tab_key_reaches_no_control_behind_an_error(browser, long_list, width, height):
    browser.resize(width, height)
    box = fail_export(browser)
    reached = 0
    for _ in range(40):
        browser.web.switch_to.active_element.send_keys(Keys.TAB)
        now = browser.web.switch_to.active_element
        if now.tag_name == "a":  # of a member; the region of the table is longer than the window
            assert not browser.web.execute_script(COVER, box, now)
            reached += 1
    assert reached > 20


def test_the_focus_on_a_button_of_an_error_scrolls_nothing(browser, long_list):
    browser.resize(320, 500)
    browser.press("Show more", before="scrollTo(0, document.body.scrollHeight)")
    copy = browser.element(".box.low button")
    browser.web.execute_script("scrollTo(0, 200)")
    browser.web.execute_script("arguments[0].focus()", copy)
    assert browser.web.switch_to.active_element == copy and browser.web.execute_script("return scrollY") == 200
    assert browser.web.execute_script(IN_VIEW, copy)


def test_a_filtered_list_of_one_page_does_not_say_that_it_ends(browser, long_list):
    browser.choose("Status", "Active")
    browser.sees("\n1 member\n")
    assert not browser.web.find_elements("xpath", "//button[.='Show more']")
    assert "This is the end of the list." not in browser.text()
