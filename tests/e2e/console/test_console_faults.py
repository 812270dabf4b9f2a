"""The console when a screen fails, replies come late, or another admin removes what is shown, in a real browser (docs/console.md)."""

import json
import socket

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from support.browser import wait_for
from support.console import ConsoleBrowser
from support.world import Organization, slug

# Replies to requests that begin with window.holds wait until window.release(). The reply to the next request that begins with
# window.loses is lost. window.fakes replaces replies by their path.
NETWORK = """const real = window.fetch, held = []
window.fakes = {}
window.release = () => { window.holds = undefined; held.splice(0).forEach(go => go()) }
window.fetch = async (path, options = {}) => {
    if (path in fakes) return new Response(fakes[path], {headers: {"Content-Type": "application/json"}})
    const request = `${options.method ?? "GET"} ${path}`
    if (window.loses && request.startsWith(loses)) {
        window.loses = undefined
        await real(path, options)
        throw new TypeError("lost")
    }
    if (!window.holds || !request.startsWith(holds)) return real(path, options)
    const reply = await real(path, {...options, signal: undefined})
    if (window.holds) await new Promise(go => { held.push(go); window.isHeld = true })
    return reply
}"""

# The navigation of this page that begins next is stopped, as the person can do. A timer of ten seconds ends with window.end().
STOPPED = """const real = window.setTimeout
window.setTimeout = (run, time, ...rest) => {
    if (time !== 10000) return real(run, time, ...rest)
    window.end = run
    real(() => window.stop())
}"""
# Notes the texts of files instead of saving them.
SAVED = "window.saved = []; URL.createObjectURL = blob => { blob.text().then(text => saved.push(text)); return '#' }"
# Changes with If-Match: the screen, the button that opens the form, the field to fill, the button that sends, and the request.
CHANGES = [
    ("slots", "Edit", "Name", "Save", "PATCH /console/v1/ads/slots/"),
    ("attributes", "Change", "Label", "Save", "PUT /v1/attributes/"),
    ("ads/{campaign}", "", "", "Pause", "PATCH /console/v1/ads/campaigns/"),
    ("ads/{campaign}/edit", "", "Name", "Save", "PATCH /console/v1/ads/campaigns/"),
    ("articles/{article}", "", "Title", "Save", "PATCH /console/v1/articles/"),
]
# Announces a text twice, and counts the changes that a screen reader reads.
TWICE = """const [done] = arguments, next = () => new Promise(go => setTimeout(go))
import("/console/lib/announce.js").then(async ({announce}) => {
    let count = 0
    new MutationObserver(all => { count += all.filter(one => one.addedNodes.length).length })
        .observe(document.querySelector(".announcement"), {childList: true})
    for (const text of ["Done.", "Done."]) {
        announce(text)
        await next()
    }
    done(count)
})"""


@pytest.fixture(scope="module")
def browser(stack, admin):
    running = ConsoleBrowser(stack, "faults")
    running.web.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NETWORK})
    running.sign_in(admin)
    yield running
    running.close()


def hold(browser, request):
    browser.web.execute_script("window.isHeld = false; window.holds = arguments[0]", request)


def is_held(browser):
    return wait_for(lambda: browser.web.execute_script("return window.isHeld"), "the reply to be held")


def release(browser):
    browser.web.execute_script("release()")


def go(browser, org, path):
    """Changes the address as a link does."""
    browser.web.execute_script("location.hash = arguments[0]", f"#/o/{org.id}/{path}")


def heading(browser):
    """The heading, the title of the page, and whether the heading has the focus."""
    return browser.web.execute_script("const h1 = document.querySelector('h1'); return [h1?.innerText, document.title, document.activeElement === h1]")


def has_heading(browser, text):
    wanted = [text, f"{text} – Muster", True]
    wait_for(lambda: heading(browser) == wanted, f"the heading {text} with the focus")


def option(browser, label):
    """The text of the option that a field shows."""
    return browser.web.execute_script("return arguments[0].selectedOptions[0].textContent.trim()", browser.shown(label))


def test_a_screen_that_fails_is_named_and_the_others_work(browser, module_org, org):
    browser.open(f"#/o/{module_org.id}/team")
    browser.sees("(you)")
    browser.web.execute_script("fakes['/v1/organization/summary'] = '{}'")
    browser.press("Home")
    browser.sees("This page does not work")
    has_heading(browser, "This page does not work")
    assert any("TypeError" in one["message"] for one in browser.web.get_log("browser"))
    browser.check("failure")
    browser.web.execute_script("navigator.clipboard.writeText = async text => { window.copied = text }")
    browser.press("Copy details")
    copied = wait_for(lambda: browser.web.execute_script("return window.copied"), "the details")
    assert copied.startswith("TypeError: ") and "#/home\n" in copied and "home.js" in copied and "?" not in copied.split("\n")[1]
    browser.press("Team")
    browser.sees("(you)")
    browser.press("Home")
    browser.sees("This page does not work")
    browser.press("Reload the page")
    browser.sees("In numbers")
    browser.web.get_log("browser")


@pytest.mark.parametrize("is_active", [True, False])
def test_an_admin_without_the_seat_is_led_to_the_other_organizations(own_browser, stack, contract, is_active):
    first, second = [Organization(stack, contract, name=name) for name in ("First club", "Second club")]
    admin = first.new_admin("admin")
    admin.give_seat(second.id, "admin")
    lost, kept = (first, second) if is_active else (second, first)
    own_browser.sign_in(admin)
    own_browser.open(f"#/o/{lost.id}/members")
    own_browser.sees("No members yet")
    lost.admin().api.delete(f"/v1/seats/{admin.id}", expect=204)
    own_browser.press("Team")
    own_browser.sees(f"You no longer have a seat in {'First' if is_active else 'Second'} club.")
    own_browser.web.get_log("browser")
    assert own_browser.element("select.organization option:checked").text == "Choose an organization"
    assert not own_browser.web.find_elements("css selector", "nav")
    own_browser.check(f"seat-lost-{is_active}")
    own_browser.press(f"{'Second' if is_active else 'First'} club", "//main")
    own_browser.sees("In numbers")
    assert f"/o/{kept.id}/home" in own_browser.web.current_url


def test_old_rows_are_marked_and_a_late_reply_is_dropped(browser, module_org):
    for name in ("ann", "bob"):
        module_org.create_user({"email": f"{name}@faults.example", "first_name": name.capitalize()})
    browser.open(f"#/o/{module_org.id}/members")
    browser.sees("bob@faults.example")
    hold(browser, "GET /v1/users?q=a")  # also a part of the name, if the keys come slowly
    browser.fill("Search", "ann")
    is_held(browser)
    assert browser.element("[aria-busy=true].old").text.count("@faults.example") == 2
    browser.fill("Search", "bob")
    wait_for(lambda: "ann@faults" not in browser.text() and not browser.web.find_elements("css selector", "[aria-busy=true]"), "the new rows")
    browser.web.execute_async_script("release(); fetch('/console/').then(() => setTimeout(arguments[0]))")
    assert "bob@faults.example" in browser.text() and "ann@faults.example" not in browser.text()


def test_a_second_export_begins_with_the_first_part(browser, module_org):
    module_org.create_user({"email": "csv@faults.example"})
    browser.open(f"#/o/{module_org.id}/members")
    browser.sees("csv@faults.example")
    browser.web.execute_script(SAVED)
    for number in (1, 2):
        hold(browser, "GET /v1/users/export")
        browser.press("Export CSV")
        is_held(browser)
        button = browser.web.find_element("xpath", "//button[.='Exporting…']")
        browser.web.execute_script("arguments[0].click()", button)  # it is disabled
        release(browser)
        browser.has_focus("Export CSV")
        wait_for(lambda number=number: browser.web.execute_script("return saved.length") == number, f"file {number}")
    first, second = browser.web.execute_script("return saved")
    assert first == second and first.count("csv@faults.example") == 1


def test_late_live_events_do_not_replace_older_ones(browser, module_org):
    for index in range(110):
        module_org.page_api.post("/v1/track", json={"action": f"seen-{index:03}", "anonymous_id": "v-1"}, expect=202)
    browser.open(f"#/o/{module_org.id}/events")
    browser.sees("seen-109")
    browser.press("Show older")
    browser.sees("seen-010")
    hold(browser, "GET /v1/engagement/events")
    browser.press_above("Continue")
    is_held(browser)
    browser.web.execute_script("window.holds = undefined")
    browser.press("Show older")
    browser.sees("seen-000")
    browser.web.execute_async_script("release(); fetch('/console/').then(() => setTimeout(arguments[0], 100))")
    assert "seen-000" in browser.text() and "seen-109" in browser.text()


def test_the_heading_names_the_screen_while_it_loads_and_when_it_fails(browser, module_org):
    user = module_org.create_user({"email": "slow@faults.example", "first_name": "Slow", "last_name": "Berg"})
    browser.open(f"#/o/{module_org.id}/team")
    has_heading(browser, "Team")
    hold(browser, f"GET /v1/users/{user['id']}")
    go(browser, module_org, f"members/{user['id']}")
    is_held(browser)
    has_heading(browser, "Member")
    release(browser)
    has_heading(browser, "Slow Berg")
    go(browser, module_org, f"imports/{user['id']}")
    browser.sees("This record does not exist")
    has_heading(browser, "Import")
    browser.web.get_log("browser")


def test_a_button_is_busy_until_the_new_state_is_read(browser, module_org):
    user = module_org.create_user({"email": "locked@faults.example", "first_name": "Lou"})
    browser.open(f"#/o/{module_org.id}/members/{user['id']}")
    browser.press("Lock")
    browser.press("Lock", "//dialog")
    browser.sees("Unlock")
    hold(browser, f"GET /v1/users/{user['id']}")
    browser.press("Unlock")
    is_held(browser)
    assert not browser.web.find_element("xpath", "//button[.='Unlock']").is_enabled()
    release(browser)
    wait_for(lambda: browser.web.find_elements("xpath", "//button[.='Lock']"), "the new state")


def test_the_focus_returns_from_a_dialog(browser, module_org):
    user = module_org.create_user({"email": "focus@faults.example", "first_name": "Flo"})
    browser.open(f"#/o/{module_org.id}/members/{user['id']}")
    browser.press("Lock")
    browser.shown("Reason").send_keys(Keys.ESCAPE)
    browser.has_focus("Lock")
    other = module_org.new_admin("viewer")
    browser.open(f"#/o/{module_org.id}/team")
    browser.press("Remove", f"//tr[contains(., '{other.address}')]")
    browser.press("Remove", "//dialog")
    browser.sees("The seat was removed.")
    assert other.address not in browser.text()
    has_heading(browser, "Team")


def test_the_same_message_is_announced_again(browser, module_org):
    browser.open(f"#/o/{module_org.id}/team")
    browser.sees("(you)")
    assert browser.web.execute_async_script(TWICE) == 2
    assert browser.element(".announcement").text == "Done."


def test_an_action_does_not_lead_to_another_organization(browser, module_org, other_org):
    browser.open(f"#/o/{module_org.id}/articles/new")
    browser.fill("Title", "Late news")
    browser.fill("Short name", "late-news")
    hold(browser, "POST /console/v1/articles")
    browser.press("Create draft")
    is_held(browser)
    go(browser, other_org, "articles")
    browser.sees("No articles yet")
    release(browser)
    browser.sees("The draft was created.")
    assert browser.web.current_url.endswith(f"#/o/{other_org.id}/articles")


def test_connecting_a_provider_does_not_leave_another_screen(browser, module_org):
    browser.open(f"#/o/{module_org.id}/connections")
    browser.element("button[aria-label='Connect GitLab']").click()
    hold(browser, "POST /v1/external-data/connect")
    browser.press("Continue", "//dialog")
    is_held(browser)
    go(browser, module_org, "team")
    browser.sees("(you)")
    browser.web.execute_async_script("release(); fetch('/console/').then(() => setTimeout(arguments[0], 100))")
    assert browser.web.current_url.endswith(f"#/o/{module_org.id}/team")
    browser.sees("(you)")


def test_connecting_can_be_repeated_when_the_person_stops_it(browser, module_org):
    browser.open(f"#/o/{module_org.id}/connections")
    browser.press("Connect", "//li[h3='GitLab']")
    go_on = wait_for(lambda: browser.web.find_elements("xpath", "//dialog//button[.='Continue']"), "the dialog")[0]
    with socket.create_server(("127.0.0.1", 0)) as silent:
        link = json.dumps({"redirectUrl": f"http://127.0.0.1:{silent.getsockname()[1]}/"})
        browser.web.execute_script(f"fakes['/v1/external-data/connect'] = arguments[0]; {STOPPED}", link)
        go_on.click()
        wait_for(lambda: browser.web.execute_script("return window.end !== undefined"), "the link to be followed")
        assert not go_on.is_enabled()
        browser.web.execute_script("end()")
        wait_for(go_on.is_enabled, "the button")
    browser.has_focus("Continue")
    browser.requests()  # that of the link


def test_without_a_provider_the_connections_are_unknown(browser, module_org):
    catalog = [one | {"ready": False} for one in module_org.admin().api.get_json("/v1/external-data/catalog")]
    browser.open(f"#/o/{module_org.id}/team")
    browser.sees("(you)")
    browser.web.execute_script("fakes['/v1/external-data/catalog'] = arguments[0]", json.dumps(catalog))
    go(browser, module_org, "connections")
    browser.sees("No provider is set up")
    browser.sees("until the operator sets up a provider")
    assert "No connections yet" not in browser.text()
    browser.check("connections-no-provider")


def test_the_key_of_an_attribute_may_be_the_name_of_a_method(browser, module_org):
    module_org.admin().api.request("PUT", "/v1/attributes/constructor", json={"type": "text", "label": "Builder", "enabled": True}, expect=200)
    user = module_org.create_user({"email": "builder@faults.example", "first_name": "Bea"})
    browser.open(f"#/o/{module_org.id}/members/{user['id']}")
    browser.press("Edit")
    assert browser.shown("Builder").get_attribute("value") == ""
    browser.fill("Builder", "Empacher")
    browser.press("Save")
    browser.sees("The member was changed.")
    assert module_org.user(user["id"])["attributes"] == {"constructor": "Empacher"}
    browser.open(f"#/o/{module_org.id}/members?add=1")
    browser.fill("Mail address", "new@faults.example")
    assert browser.shown("Builder").get_attribute("value") == ""
    browser.press("Add", "//dialog")
    browser.sees("new@faults.example was added.")


def test_a_choice_that_is_no_longer_offered_is_shown_and_kept(browser, module_org):
    console = module_org.admin().api
    single, several = "/v1/attributes/boat", "/v1/attributes/races"
    console.request("PUT", single, json={"type": "single_choice", "choices": ["four", "eight"], "enabled": True, "label": "Boat"})
    console.request("PUT", several, json={"type": "multi_choice", "choices": ["sprint", "head"], "enabled": True, "label": "Races"})
    user = module_org.create_user({"email": "boat@faults.example", "attributes": {"boat": "four", "races": ["sprint", "head"]}})
    console.request("PUT", single, json={"type": "single_choice", "choices": ["eight"], "enabled": True}, expect=200)
    console.request("PUT", several, json={"type": "multi_choice", "choices": ["head"], "enabled": True}, expect=200)
    browser.open(f"#/o/{module_org.id}/members/{user['id']}")
    browser.press("Edit")
    browser.fill("Last name", "Kept")
    assert option(browser, "Boat") == "four (no longer offered)"
    assert browser.web.find_element("xpath", "//label[normalize-space(.)='sprint (no longer offered)']/input").is_selected()
    browser.check("choices-not-offered")
    browser.press("Save")
    browser.sees("The member was changed.")
    assert module_org.user(user["id"])["attributes"] == {"boat": "four", "races": ["sprint", "head"]}
    browser.press("Edit")
    browser.press("sprint (no longer offered)")
    browser.press("Save")
    wait_for(lambda: module_org.user(user["id"])["attributes"]["races"] == ["head"], "the choice to be removed")
    browser.open(f"#/o/{module_org.id}/members?status=gone")
    assert option(browser, "Status") == "gone (no longer offered)"
    browser.web.get_log("browser")


def test_a_secret_is_shown_even_if_the_dialog_is_closed_too_early(browser, module_org, stack):
    name = slug("early")
    manifest = {"name": "Early", "events": {"emits": [f"{name.replace('-', '_')}.paid"]}}
    installation = module_org.install(module_org.published_module(manifest, name="Early", slug=name))
    browser.open(f"#/o/{module_org.id}/installations/{installation['id']}")
    browser.press("Add an endpoint")
    browser.fill("URL", "https://early.example/hook")
    browser.press("member.created")
    hold(browser, f"POST /v1/installations/{installation['id']}")
    browser.press("Add", "//dialog")
    is_held(browser)
    ActionChains(browser.web).send_keys(Keys.ESCAPE).perform()  # the focus may still be on the disabled button
    release(browser)
    stack.keys_issued.append(browser.element(".secret code").text)


def test_both_secrets_of_a_credential_are_shown_although_the_page_cannot_be_read(browser, module_org, stack):
    installation = module_org.install(module_org.published_module({"name": "Shown"}, name="Shown", slug=slug("shown")))
    browser.open(f"#/o/{module_org.id}/installations/{installation['id']}")
    browser.press("Issue a credential")
    browser.fill("Name", "club shop")
    browser.web.execute_script("window.loses = arguments[0]", f"GET /v1/installations/{installation['id']}")
    browser.press("Issue", "//dialog")
    browser.sees("Copy both secrets now")
    stack.keys_issued += [one.text for one in browser.web.find_elements("css selector", ".secret code")]
    browser.press("I stored both")
    browser.sees("The server cannot be reached.")
    browser.press("Try again")
    browser.sees("club shop")


def test_a_dialog_says_that_the_browser_refuses_to_copy(browser, module_org, stack):
    browser.open(f"#/o/{module_org.id}/keys")
    browser.press("Issue a key")
    browser.fill("Name", slug("copied"))
    browser.press("Issue", "//dialog")
    browser.sees("Copy the key now")
    stack.keys_issued.append(browser.element(".secret code").text)
    browser.web.execute_script("navigator.clipboard.writeText = async () => { throw new Error('refused') }")
    browser.press("Copy", "//dialog")
    wait_for(lambda: "did not allow copying" in browser.element("dialog [role=status]").text, "the result in the dialog")
    browser.press("I stored the key")


def test_another_period_can_be_chosen_after_an_error(browser, module_org):
    browser.open(f"#/o/{module_org.id}/team")
    browser.sees("(you)")
    browser.web.execute_script("window.loses = 'GET /console/v1/ads/figures'")
    go(browser, module_org, "ads")
    browser.sees("The server cannot be reached.")
    browser.choose("Period", "Last 31 days")
    browser.sees("No campaigns yet")


@pytest.fixture(scope="module")
def records(module_org):
    """A record of each kind in CHANGES."""
    console = module_org.admin().api
    console.request("PUT", "/v1/attributes/side", json={"type": "text", "label": "Side", "enabled": True}, expect=200)
    slot = console.post("/console/v1/ads/slots", json={"name": "Side", "slug": "side", "width": 300, "height": 250}, expect=201).json()
    campaign = console.post("/console/v1/ads/campaigns", json={"name": "Spring", "slot_ids": [slot["id"]]}, expect=201).json()
    return {"campaign": campaign["id"], "article": module_org.create_article()["id"]}


@pytest.mark.parametrize("path, opens, label, sends, call", CHANGES)
def test_a_conflict_after_a_lost_reply_names_no_other_admin(browser, module_org, records, path, opens, label, sends, call):
    def change():
        if opens:
            browser.press(opens, "//tr[contains(., 'Side')]")
        if label:
            browser.fill(label, "Changed")
        browser.press(sends)

    browser.open(f"#/o/{module_org.id}/{path.format(**records)}")
    browser.sees(opens or sends)
    browser.web.execute_script("window.loses = arguments[0]", call)
    change()
    browser.sees("The server cannot be reached.")
    if opens:
        browser.press("Cancel", "//dialog")
    change()
    browser.sees("It may have been saved.")
    assert "Another admin" not in browser.text()
    browser.web.get_log("browser")


def test_a_key_whose_reply_is_lost_is_issued_once(browser, module_org, stack):
    name = slug("lost")
    browser.open(f"#/o/{module_org.id}/keys")
    browser.press("Issue a key")
    browser.fill("Name", name)
    browser.web.execute_script("window.loses = 'POST /v1/api-keys'")
    browser.press("Issue", "//dialog")
    browser.sees("The server cannot be reached.")
    browser.press("Issue", "//dialog")
    browser.sees("Copy the key now")
    stack.keys_issued.append(browser.element(".secret code").text)
    browser.press("I stored the key")
    keys = module_org.admin().api.get_json("/v1/api-keys")["api_keys"]
    assert [one["name"] for one in keys].count(name) == 1


def test_the_types_of_modules_are_offered_as_a_filter_of_deliveries(browser, module_org):
    name = slug("shop")
    type_name = f"{name.replace('-', '_')}.order_paid"
    installation = module_org.install(module_org.published_module({"name": "Shop", "events": {"emits": [type_name]}}, name="Shop", slug=name))
    endpoint = module_org.create_endpoint(installation, url="https://types.example/hook", subscribed_event_types=["member.created", type_name])
    browser.open(f"#/o/{module_org.id}/webhooks/deliveries")
    wait_for(lambda: type_name in browser.shown("Event").text, "the type of the module")
    browser.choose("Event", type_name)
    browser.sees("No delivery matches")
    assert f"event={type_name}" in browser.web.current_url
    browser.open(f"#/o/{module_org.id}/webhooks/deliveries?installation={installation['id']}&endpoint={endpoint['id']}")
    wait_for(lambda: type_name in browser.shown("Event").text, "the type of the module")


def test_an_attribute_that_changed_meanwhile_is_not_enabled(browser, module_org, tmp_path):
    path = tmp_path / "contacts.csv"
    path.write_text("Mail,Notfall\na@faults.example,Tel 1\n", encoding="utf-8")
    browser.open(f"#/o/{module_org.id}/imports/new")
    browser.element("input[type=file]").send_keys(str(path))
    column = browser.element("select[aria-label='Field for Notfall']")
    column.find_element("xpath", ".//option[normalize-space(.)='Emergency contact']").click()
    browser.sees("Enable Emergency contact?")
    module_org.admin().api.request("PUT", "/v1/attributes/emergency_contact", json={"type": "text", "label": "Call in an emergency", "enabled": False},
                                       expect=200)
    browser.press("Enable")
    browser.sees("Another admin changed this in the meantime.")
    browser.web.get_log("browser")
    browser.press("Show the current attributes")
    wait_for(lambda: column.find_elements("xpath", ".//option[normalize-space(.)='Call in an emergency']"), "the new label")
    assert module_org.api.get_json("/v1/attributes/emergency_contact")["enabled"] is False
