"""What a person would lose by leaving, in a real browser: the console asks once, and keeps the focus (docs/console.md)."""

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from support.browser import wait_for
from support.console import ConsoleBrowser
from support.world import slug

QUESTION = "Leave without saving?"
SECRET = "Leave without storing the secret?"
# Whether the browser would ask before it closes the tab.
ASKS = "return !dispatchEvent(new Event('beforeunload', {cancelable: true}))"
# Types into the search, presses the button at once, and waits longer than a search does.
TYPE_AND_CLEAR = """const [done] = arguments, field = document.querySelector("input[type=search]")
field.value = "zoe"
field.dispatchEvent(new Event("input", {bubbles: true}))
const clear = [...document.querySelectorAll("button")].find(one => one.textContent === "Clear filters")
setTimeout(() => clear.click(), 100)
setTimeout(() => done([field.value, location.hash]), 800)"""
# Types into a field of this selector at the moment in which it appears, before the page has run the effects of its drawing.
TYPE_AT_ONCE = """const [css, text] = arguments
new MutationObserver((all, watch) => {
    const field = document.querySelector(css)
    if (!field) return
    watch.disconnect()
    field.focus()
    field.value = text
    field.dispatchEvent(new Event("input", {bubbles: true}))
}).observe(document.body, {childList: true, subtree: true})"""
# The next step of the history waits until window.release(), as in a busy browser.
HOLD_HISTORY = """history.go = steps => {
    delete history.go
    window.release = () => history.go(steps)
}"""
# The reply to this request waits until window.release().
HOLD = """const [request] = arguments, real = window.fetch
window.fetch = async (path, options = {}) => {
    const reply = await real(path, options)
    if (`${options.method ?? "GET"} ${path}` === request) await new Promise(go => { window.release = go })
    return reply
}"""
# Screens with a form: the button that opens it, the field that is filled first, and its text.
FORMS = [
    ("articles/new", "", "Summary", "The cup"), ("articles/{article}", "", "Title", "Renamed"),
    ("articles/{article}", "Publish", "When", "At a time"), ("ads/new", "", "Name", "Summer"), ("ads/{campaign}/edit", "", "Countries", "DE"),
    ("ads/{campaign}", "Add a creative", "Landing page", "https://shop.example/"), ("slots", "Create a slot", "Name", "Top"),
    ("keys", "Issue a key", "Name", "sync"), ("team", "Invite", "Mail address", "new@forms.example"), ("organization", "Rename", "Name", "Other"),
    ("attributes", "Add an attribute", "Label", "Boat"), ("members/{member}", "Edit", "Last name", "Berg"),
    ("members/{member}", "Lock", "Reason", "Fees"), ("members", "Change members", "Reason", "Fees"), ("modules", "Create a module", "Name", "Shop"),
    ("modules/{module}/versions/new", "", "Version", "9.9.9"), ("installations/{installation}", "Change settings", "currency (optional)", "EUR"),
    ("installations/{installation}", "Issue a credential", "Name", "backend"), ("installations/{installation}", "Add an endpoint", "URL", "https://a.example"),
    ("webhooks/endpoints/{installation}/{endpoint}", "Edit", "Description", "Shop"), ("page-keys", "Issue a tracking key", "Name", "site"),
    ("page-keys", "Issue a content key", "Name", "site"),
]


@pytest.fixture(scope="module")
def browser(stack, admin):
    running = ConsoleBrowser(stack, "unsaved")
    running.sign_in(admin)
    yield running
    running.close()


@pytest.fixture(scope="module")
def records(module_org):
    """A record of each kind that has a form."""
    console = module_org.admin().api
    slot = console.post("/console/v1/ads/slots", json={"name": "Side", "slug": "side", "width": 300, "height": 250}, expect=201).json()
    campaign = console.post("/console/v1/ads/campaigns", json={"name": "Spring", "slot_ids": [slot["id"]]}, expect=201).json()
    name = slug("forms")
    manifest = {"name": "Forms", "config_schema": {"currency": {"type": "string"}}}
    module = module_org.published_module(manifest, name="Forms", slug=name)
    installation = module_org.install(module)
    made = {"article": module_org.create_article(), "campaign": campaign, "member": module_org.create_user({"email": "ann@forms.example"}),
            "module": module, "installation": installation, "endpoint": module_org.create_endpoint(installation, url="https://forms.example/hook")}
    return {kind: record["id"] for kind, record in made.items()}


def asks(browser):
    return browser.web.execute_script(ASKS)


def is_closed(browser, title=None):
    """The question is gone, and so are all dialogs if there is no other one."""
    css = f"dialog[aria-label='{title}']" if title else "dialog"
    wait_for(lambda: not browser.web.find_elements("css selector", css), "the dialog to close")


def answer(browser, text):
    browser.press(text, f"//dialog[h2[.='{QUESTION}' or .='{SECRET}']]")
    is_closed(browser, QUESTION)


def escape(browser):
    ActionChains(browser.web).send_keys(Keys.ESCAPE).perform()


def is_held(browser):
    wait_for(lambda: browser.web.execute_script("return Boolean(window.release)"), "the reply to be held")


def release(browser):
    browser.web.execute_script("window.release(); window.release = undefined")


def is_at(browser, path):
    wait_for(lambda: browser.web.current_url.endswith(path), f"the address {path} instead of {browser.web.current_url}")


def type_article(browser, org):
    """A new article with a title, after the list of articles."""
    browser.open(f"#/o/{org.id}/articles")
    browser.press("Write an article")
    browser.fill("Title", "Not saved")


@pytest.mark.parametrize("path, button, label, text", FORMS)
def test_a_form_asks_only_after_a_change(browser, module_org, records, path, button, label, text):
    browser.open(f"#/o/{module_org.id}/{path.format(**records)}")
    if button:
        browser.press(button, "//main")
    is_select = browser.shown(label).tag_name == "select"
    assert not asks(browser)
    (browser.choose if is_select else browser.fill)(label, text)
    wait_for(lambda: asks(browser), "the form to ask")
    if button:
        escape(browser)
        browser.sees(QUESTION)
        answer(browser, "Leave")
        is_closed(browser)
        assert not asks(browser)
    else:
        browser.press("Team", "//nav")
        browser.sees(QUESTION)
        answer(browser, "Leave")
        browser.sees("(you)")


def test_a_link_asks_once_and_the_form_stays(browser, module_org):
    type_article(browser, module_org)
    browser.press("Team", "//nav")
    browser.sees(QUESTION)
    answer(browser, "Stay")
    is_at(browser, "articles/new")
    assert browser.labeled("Title").get_attribute("value") == "Not saved"
    browser.press("Team", "//nav")
    escape(browser)
    is_closed(browser)
    browser.press("Team", "//nav")
    answer(browser, "Leave")
    browser.sees("(you)")
    browser.press("Members", "//nav")
    browser.sees("Change members")


def test_what_is_selected_after_stay_is_the_field(browser, module_org):
    browser.open(f"#/o/{module_org.id}/team")
    browser.press("Members", "//nav")
    browser.press("Add a member")
    browser.fill("Mail address", "half@typed.example")
    browser.web.back()
    answer(browser, "Stay")
    is_closed(browser, QUESTION)
    ActionChains(browser.web).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).send_keys("new@typed.example").perform()
    assert browser.labeled("Mail address").get_attribute("value") == "new@typed.example"
    browser.press("Cancel")


def test_the_history_of_the_browser_asks_too_and_stays_whole(browser, module_org):
    browser.open(f"#/o/{module_org.id}/team")
    browser.press("Members", "//nav")
    browser.press("Articles", "//nav")
    browser.press("Write an article")
    browser.fill("Title", "Not saved")
    browser.web.execute_script("history.go(-2)")
    browser.sees(QUESTION)
    is_at(browser, "articles/new")
    answer(browser, "Stay")
    assert browser.labeled("Title").get_attribute("value") == "Not saved"
    browser.web.execute_script("location.hash = arguments[0]", f"#/o/{module_org.id}/keys")  # as in the address bar
    browser.sees(QUESTION)
    is_at(browser, "articles/new")
    answer(browser, "Stay")
    browser.web.execute_script("history.go(-2)")
    answer(browser, "Leave")
    is_at(browser, "/members")
    browser.web.back()
    is_at(browser, "/team")
    browser.web.execute_script("history.go(3)")
    is_at(browser, "articles/new")
    assert browser.labeled("Title").get_attribute("value") == ""


def test_an_answer_before_the_browser_has_returned_counts(browser, module_org):
    browser.open(f"#/o/{module_org.id}/team")
    browser.press("Members", "//nav")
    browser.press("Articles", "//nav")
    browser.press("Write an article")
    browser.fill("Title", "Not saved")
    browser.web.execute_script(f"history.go(-2); {HOLD_HISTORY}")
    browser.sees(QUESTION)
    answer(browser, "Leave")
    release(browser)
    is_at(browser, "/members")
    browser.sees("Change members")
    assert QUESTION not in browser.text()


def test_the_first_key_in_a_new_field_counts(browser, module_org, records):
    browser.open(f"#/o/{module_org.id}/team")
    browser.sees("Invite")
    browser.web.execute_script(TYPE_AT_ONCE, "input[type=search]", "zoe")
    browser.press("Members", "//nav")
    is_at(browser, "/members?q=zoe")
    assert browser.web.switch_to.active_element == browser.element("input[type=search]")
    browser.open(f"#/o/{module_org.id}/installations/{records['installation']}")
    browser.press_above("Change settings")
    browser.labeled("currency (optional)")
    browser.press("Cancel", "//dialog")
    browser.web.execute_script(TYPE_AT_ONCE, "dialog .field:has(label) input:not([type=checkbox])", "EUR")
    browser.press_above("Change settings")
    field = browser.labeled("currency (optional)")
    browser.sees("Settings")
    wait_for(lambda: asks(browser), "the form to ask")
    assert field.get_attribute("value") == "EUR"


def test_nothing_asks_when_the_text_is_as_before_or_saved(browser, module_org):
    made = module_org.create_article(title="Before")
    browser.open(f"#/o/{module_org.id}/articles/{made['id']}")
    browser.fill("Title", "After")
    wait_for(lambda: asks(browser), "the form to ask")
    browser.fill("Title", "Before")
    wait_for(lambda: not asks(browser), "the form not to ask")
    browser.fill("Title", "After")
    browser.press("Save")
    browser.sees("The article was saved.")
    wait_for(lambda: not asks(browser), "the form not to ask")
    browser.press("Team", "//nav")
    browser.sees("(you)")


def test_switching_the_organization_and_the_sign_out_ask(browser, module_org, other_org):
    type_article(browser, module_org)
    switch = browser.element("select.organization")
    switch.find_element("xpath", "./option[.='Lakeside']").click()
    browser.sees(QUESTION)
    answer(browser, "Stay")
    assert browser.element("select.organization").get_attribute("value") == module_org.id
    browser.press("Sign out")
    browser.sees(QUESTION)
    answer(browser, "Stay")
    assert browser.labeled("Title").get_attribute("value") == "Not saved"
    browser.element("select.organization").find_element("xpath", "./option[.='Lakeside']").click()
    answer(browser, "Leave")
    is_at(browser, f"#/o/{other_org.id}/articles")
    browser.sees("No articles yet")
    assert browser.element("select.organization").get_attribute("value") == other_org.id


def test_leaving_by_the_sign_out_ends_the_session(own_browser, module_org):
    own_browser.sign_in(module_org.new_admin("owner"))
    type_article(own_browser, module_org)
    own_browser.press("Sign out")
    answer(own_browser, "Leave")
    own_browser.sees("Sign in to Muster")
    assert not asks(own_browser)


def test_escape_closes_a_dialog_without_changes_and_asks_with_them(browser, module_org):
    browser.open(f"#/o/{module_org.id}/keys")
    browser.press("Issue a key")
    browser.shown("Name")
    escape(browser)
    is_closed(browser)
    browser.press("Issue a key")
    browser.fill("Name", "sync")
    escape(browser)
    browser.sees(QUESTION)
    browser.check("leave-typed")
    answer(browser, "Stay")
    assert browser.shown("Name").get_attribute("value") == "sync" and browser.web.switch_to.active_element == browser.labeled("Name")
    browser.press("Cancel", "//dialog")
    is_closed(browser)
    browser.has_focus("Issue a key")


def test_a_secret_stays_until_it_is_stored(browser, module_org, stack):
    browser.open(f"#/o/{module_org.id}/team")
    browser.press("API keys", "//nav")
    browser.press("Issue a key")
    browser.fill("Name", "stored")
    browser.press("Issue", "//dialog")
    browser.sees("Copy the key now")
    key = browser.element(".secret code").text
    stack.keys_issued.append(key)
    for _ in range(5):  # browsers close a dialog when Escape is pressed again
        escape(browser)
    browser.sees(key)
    assert asks(browser)
    if browser.web.find_elements("css selector", f"dialog[aria-label='{SECRET}']"):
        answer(browser, "Stay")
    escape(browser)
    browser.sees(SECRET)
    browser.check("leave-secret")
    answer(browser, "Stay")
    assert key in browser.text()
    browser.web.back()
    browser.sees(SECRET)
    answer(browser, "Stay")
    browser.press("I stored the key")
    is_closed(browser)
    assert not asks(browser) and key not in browser.web.page_source


def test_a_manifest_that_was_kept_as_a_draft_is_not_lost(browser, module_org, records):
    browser.open(f"#/o/{module_org.id}/modules/{records['module']}/versions/new")
    browser.fill("Manifest", '{"name": ""}')
    browser.press("Publish")
    browser.sees("It stays as a draft.")
    browser.web.get_log("browser")
    wait_for(lambda: not asks(browser), "the form not to ask")
    browser.fill("Manifest", '{"name": "x"}')
    wait_for(lambda: asks(browser), "the form to ask")
    browser.press("Team", "//nav")
    answer(browser, "Leave")


def test_the_columns_of_a_file_are_not_lost(browser, module_org, tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("Mail,Wer\na@forms.example,Ann\n", encoding="utf-8")
    browser.open(f"#/o/{module_org.id}/imports/new")
    field = browser.element("input[type=file]")
    browser.web.execute_script("arguments[0].focus()", field)
    field.send_keys(str(path))
    column = browser.element("select[aria-label='Field for Wer']")
    browser.has_focus("Assign the columns")
    assert not asks(browser)
    column.find_element("xpath", ".//option[.='Display name']").click()
    wait_for(lambda: asks(browser), "the form to ask")
    browser.press("Team", "//nav")
    answer(browser, "Leave")
    browser.sees("(you)")


def test_a_search_that_waits_is_dropped_with_the_filters(browser, module_org):
    browser.open(f"#/o/{module_org.id}/members?status=locked")
    browser.sees("Clear filters")
    assert browser.web.execute_async_script(TYPE_AND_CLEAR) == ["", f"#/o/{module_org.id}/members"]
    browser.has_focus("Members")


def test_the_heading_takes_the_focus_of_a_button_that_goes(browser, module_org):
    made = module_org.create_article(title="Focus", body_html="<p>Text</p>")
    browser.open(f"#/o/{module_org.id}/articles/{made['id']}")
    browser.fill("Text as HTML", "<p>Text</p><script>x()</script>")
    browser.press("Save")
    browser.sees("Not all of your HTML was kept")
    assert browser.text().count("Not all of your HTML was kept") == 1
    assert browser.element(".announcement").text == "The article was saved, without some of your HTML."
    browser.element(".box.warning button").send_keys(Keys.ENTER)
    browser.has_focus("Focus")


def go_twice(browser, org, script):
    """To the page keys and then to a new article, before the browser has reported the first change of the address."""
    browser.open(f"#/o/{org.id}/team")
    browser.sees("Invite")
    browser.web.execute_script(script, f"#/o/{org.id}/page-keys", f"#/o/{org.id}/articles/new")
    browser.fill("Title", "Not saved")


def test_two_links_at_once_leave_an_entry_each(browser, module_org):
    go_twice(browser, module_org, """for (const href of arguments) document.body.append(Object.assign(document.createElement("a"), {href}));
[...document.querySelectorAll("body > a")].map(one => (one.click(), one.remove()))""")
    browser.web.back()
    browser.sees(QUESTION)
    answer(browser, "Stay")
    is_at(browser, "/articles/new")
    browser.web.back()
    browser.sees(QUESTION)
    answer(browser, "Leave")
    browser.sees("Issue a tracking key")
    is_at(browser, "/page-keys")


def test_an_entry_without_a_place_ends_in_no_loop(own_browser, admin, module_org):
    browser = own_browser  # with a short history
    browser.sign_in(admin)
    go_twice(browser, module_org, "for (const hash of arguments) location.hash = hash")
    browser.web.execute_script("window.moves = 0; addEventListener('hashchange', () => window.moves++)")
    browser.web.execute_script("history.back()")  # the browser's own button may leave out such entries
    wait_for(lambda: browser.web.execute_script("return window.moves") >= 2, "the page to return")
    browser.sees("Invite")
    assert browser.web.execute_script("return window.moves") == 2
    is_closed(browser)


def test_a_late_reply_does_not_close_a_later_dialog(browser, module_org):
    user = module_org.create_user({"email": "late@forms.example", "first_name": "Lea"})
    module_org.admin().api.post(f"/v1/users/{user['id']}/lock", json={}, expect=200)
    browser.open(f"#/o/{module_org.id}/members/{user['id']}")
    browser.sees("Lea")
    for action, text in (("Unlock", "The member is unlocked."), ("Lock", "The member is locked.")):
        browser.web.execute_script(HOLD, f"POST /v1/users/{user['id']}/{action.lower()}")
        browser.press(action)
        if action == "Lock":
            browser.press(action, "//dialog")
        is_held(browser)
        if action == "Lock":
            browser.press("Cancel", "//dialog")
            is_closed(browser)
        browser.press("Edit")
        browser.fill("Last name", "Typed")
        release(browser)
        browser.sees(text)
        assert browser.shown("Last name").get_attribute("value") == "Typed"
        browser.press("Cancel", "//dialog")
        is_closed(browser)


def test_a_form_that_is_open_during_a_reload_does_not_overwrite_another_admins_change(browser, module_org):
    user = module_org.create_user({"email": "fresh@forms.example", "first_name": "Fay"})
    api = module_org.admin().api
    api.post(f"/v1/users/{user['id']}/lock", json={}, expect=200)
    browser.open(f"#/o/{module_org.id}/members/{user['id']}")
    browser.sees("Fay")
    browser.web.execute_script(HOLD, f"POST /v1/users/{user['id']}/unlock")
    browser.press("Unlock")
    is_held(browser)
    browser.press("Edit")
    browser.fill("Last name", "Typed")
    api.request("PATCH", f"/v1/users/{user['id']}", json={"first_name": "Other"}, expect=200)
    release(browser)
    browser.sees("The member is unlocked.")
    browser.press("Save")
    browser.sees("Another admin changed this member")
    assert [api.get_json(f"/v1/users/{user['id']}")[name] for name in ("first_name", "last_name")] == ["Other", None]
    browser.press("Show the current values")
    is_closed(browser)


def test_escape_does_nothing_while_a_secret_is_made(browser, module_org, stack):
    browser.open(f"#/o/{module_org.id}/keys")
    browser.press("Issue a key")
    browser.fill("Name", "held")
    browser.web.execute_script(HOLD, "POST /v1/api-keys")
    browser.press("Issue", "//dialog")
    is_held(browser)
    escape(browser)
    browser.web.execute_async_script("setTimeout(arguments[0], 100)")
    assert SECRET not in browser.text()
    release(browser)
    browser.sees("Copy the key now")
    stack.keys_issued.append(browser.element(".secret code").text)
    browser.press("I stored the key")
    is_closed(browser)


def test_an_admin_who_becomes_a_viewer_keeps_the_text(own_browser, module_org):
    admin, browser = module_org.new_admin("admin"), own_browser
    browser.sign_in(admin)
    user = module_org.create_user({"email": "kept@forms.example"})
    made = module_org.create_article(title="Before", body_html="<p>Stored</p>")
    for path, button, label, send in (
            (f"members/{user['id']}", "Edit", "Last name", "Save"), (f"members/{user['id']}", "Lock", "Reason", "Lock"),
            ("members", "Add a member", "Mail address", "Add"), ("members", "Change members", "Reason", "Count members"),
            ("connections", "Connect", "Name in the list", "Continue"), (f"articles/{made['id']}", "", "Title", "Save")):
        admin.set_role(module_org.id, "admin")
        browser.open(f"#/o/{module_org.id}/{path}")
        if button:
            browser.press(button, "//main")
        browser.fill(label, "typed@forms.example")
        admin.set_role(module_org.id, "viewer")
        browser.press(send, "//dialog" if button else "")
        browser.sees("Your role does not allow this.")
        gone = f"//header//button[.='{button or 'Delete'}']"
        wait_for(lambda gone=gone: not browser.web.find_elements("xpath", gone), "the buttons to go")
        assert browser.shown(label).get_attribute("value") == "typed@forms.example"
        assert asks(browser)


def test_an_article_of_an_admin_who_becomes_a_viewer_can_only_be_copied(own_browser, module_org):
    admin, browser = module_org.new_admin("admin"), own_browser
    browser.sign_in(admin)
    made = module_org.create_article(title="Before", body_html="<p>Stored</p>")
    browser.open(f"#/o/{module_org.id}/articles/{made['id']}")
    browser.sees("Before")
    admin.set_role(module_org.id, "viewer")
    browser.fill("Text as HTML", "<p>Typed</p>")
    browser.sees("Your role does not allow this.")
    browser.sees("Copy my text")
    field = browser.shown("Text as HTML")
    assert field.get_attribute("value") == "<p>Typed</p>" and field.get_attribute("readonly")
    assert not {"Save", "Publish", "Bold"} & set(browser.text().split("\n"))
    assert "preview is not available" not in browser.text() and "before you publish" not in browser.text()
    browser.web.get_log("browser")
    browser.check_accessibility("article-of-a-new-viewer")
