"""The console when several tabs, an ending session or an absent server get in the way, in a real browser (docs/console.md)."""

import pytest
from support.browser import wait_for
from support.console import ConsoleBrowser

# Lets the page believe that it is later.
LATER = "const now = Date.now.bind(Date); Date.now = () => now() + (window.shift ?? 0)"
# Loses the reply to the next request that begins like this.
LOSE = """const [request] = arguments, real = window.fetch
window.fetch = async (path, options = {}) => {
    const reply = await real(path, options)
    if (!`${options.method ?? "GET"} ${path}`.startsWith(request)) return reply
    window.fetch = real
    throw new TypeError("lost")
}"""


@pytest.fixture
def browser(stack, admin):
    running = ConsoleBrowser(stack, "scenarios")
    running.web.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": LATER})
    running.sign_in(admin)
    yield running
    running.close()


def member(org, word):
    return org.create_user({"email": f"{word}@scenarios.example", "first_name": word.capitalize()})


def edit(browser, org, user, last_name):
    """Types a last name into the form of a member."""
    browser.open(f"#/o/{org.id}/members/{user['id']}")
    browser.press("Edit")
    browser.fill("Last name", last_name)


def sign_in_again(browser, admin):
    browser.fill("Mail address", admin.address)
    confirm_address(browser, admin)


def confirm_address(browser, admin):
    """Signs in with the address that the sign-in shows."""
    before = admin.mails_before()
    browser.press("Send code")
    browser.fill("Code", admin.code_after(before))
    browser.press("Sign in")
    browser.pass_factor(admin)
    browser.stack.keys_issued.append(wait_for(lambda: browser.web.get_cookie("__Host-muster-session"), "the cookie")["value"])


def cover_is_gone(browser):
    wait_for(lambda: not browser.web.find_elements("css selector", "dialog.cover"), "the page to come back")


def end_sessions(stack, admin):
    stack.sql("DELETE FROM sessions WHERE admin_id = UNHEX(REPLACE(%s, '-', ''))", admin.id)


LOOK = "dispatchEvent(new Event('focus'))"  # the page looks at the clock


def learn_idle_time(browser):
    """Lets the page ask once how long an unused session lasts, and read the reply: before that of a later call."""
    browser.web.execute_script(LOOK)
    known = "return performance.getEntriesByType('resource').some(one => one.name.includes('/v1/sessions'))"
    wait_for(lambda: browser.web.execute_script(known), "the time that an unused session lasts")
    browser.web.execute_async_script("fetch('/console/').then(reply => reply.text()).then(() => setTimeout(arguments[0]))")


def test_two_tabs_change_two_organizations(browser, module_org, other_org):
    here, there = member(module_org, "club"), member(other_org, "lake")
    first = browser.web.current_window_handle
    edit(browser, module_org, here, "First")
    browser.web.switch_to.new_window("tab")
    edit(browser, other_org, there, "Second")
    second = browser.web.current_window_handle
    browser.web.switch_to.window(first)
    browser.press("Save")
    browser.sees("Club First")
    browser.web.switch_to.window(second)
    browser.press("Save")
    browser.sees("Lake Second")
    assert (module_org.user(here["id"])["last_name"], other_org.user(there["id"])["last_name"]) == ("First", "Second")
    browser.press("Members")
    browser.sees("lake@scenarios.example")
    assert "club@scenarios.example" not in browser.text()
    browser.web.close()
    browser.web.switch_to.window(first)
    browser.press("Members")
    browser.sees("club@scenarios.example")
    assert "lake@scenarios.example" not in browser.text()


def test_a_session_that_ends_in_the_middle_of_an_edit_loses_no_text(browser, admin, module_org, stack):
    user = member(module_org, "edited")
    edit(browser, module_org, user, "Kept")
    end_sessions(stack, admin)
    browser.press("Save")
    browser.sees("Your session has ended.")
    assert "edited@scenarios.example" not in browser.element("dialog.cover").text
    browser.web.get_log("browser")
    browser.check("session-ended")
    sign_in_again(browser, admin)
    cover_is_gone(browser)
    assert browser.labeled("Last name").get_attribute("value") == "Kept"
    browser.press("Save")
    browser.sees("Edited Kept")
    wait_for(lambda: browser.web.title.startswith("Edited Kept"), "the title of the page")
    browser.check_quiet("session-ended")


def test_a_session_that_ends_in_the_middle_of_a_correction_loses_no_text(browser, admin, module_org, stack):
    job = module_org.validated([{"email": "twice@scenarios.example"}] * 2, declared_total=2)
    browser.open(f"#/o/{module_org.id}/imports/{job['id']}")
    browser.press("Correct", "//tr[contains(., 'twice@scenarios.example')]")
    browser.fill("Mail address", "once@scenarios.example")
    end_sessions(stack, admin)
    browser.press("Save")
    browser.sees("Your session has ended.")
    confirm_address(browser, admin)
    cover_is_gone(browser)
    assert browser.labeled("Mail address").get_attribute("value") == "once@scenarios.example"
    browser.press("Save")
    browser.sees("Rows were corrected.")
    module_org.cancel(job["id"])


def test_a_new_tab_leaves_the_text_below_the_sign_in_of_another_one(browser, admin, module_org, stack):
    edit(browser, module_org, member(module_org, "below"), "Kept")
    first = browser.web.current_window_handle
    end_sessions(stack, admin)
    browser.press("Save")
    browser.sees("Your session has ended.")
    browser.web.switch_to.new_window("tab")
    browser.open()
    browser.sees("Sign in to Muster")
    browser.web.close()
    browser.web.switch_to.window(first)
    sign_in_again(browser, admin)
    cover_is_gone(browser)
    assert browser.labeled("Last name").get_attribute("value") == "Kept"


def test_live_events_continue_after_a_new_sign_in(browser, admin, module_org, stack):
    browser.open(f"#/o/{module_org.id}/events")
    browser.sees("New events appear by themselves.")
    end_sessions(stack, admin)
    browser.sees("Your session has ended.", 30)
    sign_in_again(browser, admin)
    cover_is_gone(browser)
    browser.sees("New events appear by themselves.")
    wait_for(lambda: "Your session has ended." not in browser.text(), "the error to go")


def test_a_change_whose_reply_was_lost_is_not_called_the_one_of_another_admin(browser, module_org):
    user = member(module_org, "lost")
    edit(browser, module_org, user, "Once")
    browser.web.execute_script(LOSE, f"PATCH /v1/users/{user['id']}")
    browser.press("Save")
    browser.sees("The server cannot be reached.")
    browser.press("Save")
    browser.sees("It may have been saved.")
    assert "Another admin" not in browser.text()
    browser.web.execute_script(LOSE, f"GET /v1/users/{user['id']}")
    browser.press("Show the current values")
    browser.sees("The server cannot be reached.")
    browser.press("Lock")
    browser.press("Lock", "//dialog")
    browser.sees("It may have been saved.")
    assert "Another admin" not in browser.text()
    browser.press("Show the current values")
    browser.sees("Lost Once")
    browser.press("Edit")
    browser.fill("Last name", "Mine")
    module_org.update_user(user["id"], {"last_name": "Theirs"})
    browser.press("Save")
    browser.sees("Another admin changed this member")


def test_a_button_whose_reply_was_lost_is_not_called_another_admin(browser, module_org):
    user = member(module_org, "unlocked")
    module_org.api.post(f"/v1/users/{user['id']}/lock", json={}, expect=200)
    browser.open(f"#/o/{module_org.id}/members/{user['id']}")
    browser.sees("Unlock")
    browser.web.execute_script(LOSE, f"POST /v1/users/{user['id']}/unlock")
    browser.press("Unlock")
    browser.sees("The server cannot be reached.")
    browser.press("Edit")
    browser.fill("Last name", "Mine")
    browser.press("Save")
    browser.sees("It may have been saved.")
    assert "Another admin" not in browser.text()


def test_text_that_is_typed_after_a_save_survives_a_failed_reload(browser, module_org):
    made = module_org.create_article(title="Before")
    browser.open(f"#/o/{module_org.id}/articles/{made['id']}")
    browser.fill("Title", "Saved")
    browser.web.execute_script(LOSE, f"GET /console/v1/articles/{made['id']}")
    browser.press("Save")
    browser.sees("The server cannot be reached.")
    browser.fill("Summary", "Later")
    browser.press_above("Try again")
    wait_for(lambda: browser.element("h1").text == "Saved", "the saved article")
    assert [browser.labeled(label).get_attribute("value") for label in ("Title", "Summary")] == ["Saved", "Later"]


def test_another_person_does_not_get_the_page(browser, admin, module_org, stack):
    edit(browser, module_org, member(module_org, "private"), "Secret")
    end_sessions(stack, admin)
    browser.press("Save")
    browser.sees("Your session has ended.")
    other = module_org.new_admin("viewer")
    other.new_session()
    sign_in_again(browser, other)
    wait_for(lambda: not browser.web.find_elements("css selector", "dialog"), "the form to go")
    browser.sees("private@scenarios.example")
    assert "Secret" not in browser.web.page_source


def test_a_sign_out_in_one_tab_signs_out_the_other(browser, module_org):
    first = browser.web.current_window_handle
    browser.web.switch_to.new_window("tab")
    browser.open(f"#/o/{module_org.id}/members")
    browser.sees("Change members")
    browser.press("Sign out")
    browser.sees("Sign in to Muster")
    browser.web.close()
    browser.web.switch_to.window(first)
    browser.sees("Sign in to Muster")


def test_an_unused_session_is_announced_and_prolonged(browser, stack, admin):
    browser.sees("In numbers")
    learn_idle_time(browser)
    browser.web.execute_script(f"window.shift = {12 * 3600 - 300} * 1000; {LOOK}")
    browser.sees("Are you still there?")
    browser.check("session-ends")
    with stack.without("nginx"):
        browser.press("Stay signed in")
        browser.sees("The end of your session was not postponed.")
        browser.sees("The server cannot be reached.")
        browser.web.get_log("browser")
        browser.check("session-not-postponed")
    wait_for(stack.answers, "the server to answer")
    browser.press("Stay signed in")
    wait_for(lambda: "Are you still there?" not in browser.text(), "the question to go")
    browser.web.execute_script(LOOK)
    assert "Are you still there?" not in browser.text()
    end_sessions(stack, admin)
    browser.web.execute_script(f"window.shift = {25 * 3600} * 1000; {LOOK}")
    browser.sees("Your session has ended.")
    browser.web.get_log("browser")
    browser.web.execute_script("performance.clearResourceTimings()")
    sign_in_again(browser, admin)
    cover_is_gone(browser)
    learn_idle_time(browser)
    browser.web.execute_script(f"window.shift += {12 * 3600 - 300} * 1000; {LOOK}")
    browser.sees("Are you still there?")


def test_the_last_day_of_a_session_is_announced(browser):
    browser.sees("In numbers")
    learn_idle_time(browser)  # a later reply would show the time of the server
    browser.web.execute_script(f"window.shift = {7 * 86400 - 200} * 1000; localStorage['muster.used'] = Date.now(); dispatchEvent(new Event('focus'))")
    browser.sees("seven days after the sign-in")
    browser.check("session-last-day")


@pytest.mark.parametrize("service", ["musterd", "nginx"])
def test_an_absent_server_is_named_and_the_text_is_saved_later(browser, module_org, stack, service):
    user = member(module_org, f"away{service}")
    edit(browser, module_org, user, "Typed")
    learn_idle_time(browser)
    with stack.without(service):
        browser.press("Save")
        browser.sees("The server cannot be reached" if service == "nginx" else "The service is busy or restarting")
        browser.web.get_log("browser")
        browser.check(f"away-{service}")
    wait_for(stack.answers, "the server to answer")
    browser.press("Save")
    browser.sees("Typed")
    assert module_org.user(user["id"])["last_name"] == "Typed"


def test_a_list_of_an_absent_server_is_tried_again(browser, module_org, stack):
    with stack.without("musterd"):
        browser.press("Team")
        browser.sees("Try again")
        browser.press("Sign out")
        browser.sees("You are still signed in.")
        browser.web.get_log("browser")
    wait_for(stack.answers, "the server to answer")
    browser.press("Try again")
    browser.sees("(you)")


def test_a_page_that_follows_a_job_survives_an_absent_server(browser, module_org, stack):
    with stack.without("runner"):
        job = module_org.api.post("/v1/member-jobs", json={"action": "lock", "filter": {"q": "zzz"}}, expect=201).json()
        browser.open(f"#/o/{module_org.id}/member-jobs/{job['id']}")
        browser.sees("waiting for its turn")
        with stack.without("musterd"):
            browser.sees("The server cannot be reached at the moment.")
            browser.sees("waiting for its turn")
    wait_for(stack.answers, "the server to answer")
    browser.sees("No member would change.", 60)
    assert "cannot be reached" not in browser.text()
    browser.press("Cancel this change")
    browser.press("Cancel this change", "//dialog")
    browser.sees("The change was canceled.")


def limit_uploads(browser, bytes_a_second):
    """-1: no limit."""
    browser.web.execute_cdp_cmd("Network.emulateNetworkConditions", {
        "offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": bytes_a_second})


def test_a_large_file_with_wrong_names_and_rows_is_imported_and_undone(browser, other_org, tmp_path):
    path = tmp_path / "export.csv"
    good = [f"Nr {number};large{number}@scenarios.example;DE" for number in range(9990)]
    bad = [*[f"Bad {number};no address {number};DE" for number in range(5)], *[f"Lost {number};lost{number}@scenarios.example;ZZ" for number in range(5)]]
    path.write_text("\n".join(["Wer;Wohin schreiben;Wo", *good, *bad]), encoding="utf-8")
    browser.open(f"#/o/{other_org.id}/imports/new")
    browser.element("input[type=file]").send_keys(str(path))
    browser.sees("Choose the column with the mail address.")
    for name, text in (("Wer", "Display name"), ("Wohin schreiben", "Mail address"), ("Wo", "Country")):
        browser.element(f"select[aria-label='Field for {name}']").find_element("xpath", f".//option[.='{text}']").click()
    limit_uploads(browser, 200_000)  # the reload comes in the middle
    browser.press("Upload and check")
    browser.sees("Uploading")
    browser.reload()
    limit_uploads(browser, -1)
    browser.sees("Import 9,990 rows", 90)
    for number in range(2):
        browser.press("Correct", f"//tr[contains(., 'no address {number}')]")
        browser.fill("Mail address", f"found{number}@scenarios.example")
        browser.press("Save")
        wait_for(lambda number=number: f"no address {number}" not in browser.text(), "the row to be corrected")
    browser.press("Check again")
    browser.sees("Import 9,992 rows", 90)
    browser.press("Import 9,992 rows")
    browser.sees("8 rows with errors are left out")
    browser.press("Import now")
    browser.reload()
    browser.sees("The import is complete.", 90)
    total = {"total": "true", "limit": 1}
    assert other_org.api.get_json("/v1/users", params=total | {"q": "found"})["total"]["count"] == 2
    browser.press("Undo import")
    browser.press("Undo now")
    browser.sees("The import was undone.", 90)
    assert other_org.api.get_json("/v1/users", params=total | {"q": "large"})["total"]["count"] == 0


def test_an_upload_continues_after_a_new_sign_in(browser, admin, other_org, stack, tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("\n".join(["Email", *[f"long{number}@scenarios.example" for number in range(40000)]]), encoding="utf-8")
    browser.open(f"#/o/{other_org.id}/imports/new")
    browser.element("input[type=file]").send_keys(str(path))
    limit_uploads(browser, 200_000)  # the session ends in the middle
    browser.press("Upload and check")
    browser.sees("Uploading")
    end_sessions(stack, admin)
    browser.sees("Your session has ended.")
    limit_uploads(browser, -1)
    sign_in_again(browser, admin)
    browser.sees("Import 40,000 rows", 120)
    browser.press("Cancel import")
    browser.press("Cancel import", "//dialog")
    browser.sees("The import was canceled.")
