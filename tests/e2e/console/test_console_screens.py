"""The console's screens of members, keys and the audit log in a real browser (docs/console.md)."""

import pytest
from support.stack import wait_for


@pytest.fixture(scope="module")
def ann(module_org):
    for index in range(60):
        module_org.create_user({"email": f"member{index:02}@screens.example", "first_name": "Member", "last_name": f"{index:02}",
                                "country": "DE"})
    return module_org.create_user({"email": "ann.berg@screens.example", "first_name": "Ann", "last_name": "Bérg", "country": "GB",
                                   "dob": "1990-02-28", "attributes": {"shirt_size": "M", "interests": ["news"], "vip": True,
                                                                       "phone": "<b>1</b>"}})


def test_members_are_searched_and_filtered(at, ann, module_org):
    browser = at("members")
    browser.sees("61 members")
    browser.check("members")
    browser.press("Show more")
    browser.sees("member00@screens.example")
    browser.fill("Search", "be")
    browser.sees("1 member\n")
    assert "Ann Bérg" in browser.text() and "member01" not in browser.text()
    browser.fill("Search", "member07@screens.example")
    browser.sees("Member 07")
    browser.choose("Status", "Locked")
    browser.sees("No member matches")
    browser.check("members-no-match")
    assert "q=member07%40screens.example&status=locked" in browser.web.current_url


def test_members_are_exported(at, ann):
    browser = at("members?q=ann")
    browser.sees("Ann Bérg")
    browser.web.execute_script("window.saved = []; URL.createObjectURL = blob => { blob.text().then(text => saved.push(text)); return '#' }")
    browser.press("Export CSV")
    wait_for(lambda: browser.web.execute_script("return saved.length"), "the file")
    text = browser.web.execute_script("return saved[0]")
    assert text.startswith("email,external_id,") and text.count("\r\n") == 2 and "ann.berg@screens.example" in text


def test_one_member_is_shown_changed_locked_and_removed(at, ann, module_org):
    browser = at(f"members/{ann['id']}")
    browser.sees("Shirt size")
    assert "shirt_size" not in browser.text()
    browser.sees("<b>1</b>")
    browser.sees("No events of this member were recorded.")
    browser.check("member")
    browser.press("Edit")
    browser.sees("Edit Ann Bérg")
    browser.check("member-edit")
    browser.fill("Last name", "King")
    browser.fill("Country", "zz")
    browser.press("Save")
    browser.sees("country is not an officially assigned")
    browser.web.get_log("browser")
    browser.fill("Country", "nl")
    browser.press("Save")
    browser.sees("The member was changed.")
    browser.sees("Ann King")
    assert module_org.user(ann["id"])["country"] == "NL"
    browser.press("Lock")
    browser.fill("Reason", "Asked for it")
    browser.check("member-lock")
    browser.press("Lock", "//dialog")
    browser.sees("Asked for it")
    browser.press("Unlock")
    browser.sees("Active")
    browser.press("Remove")
    browser.sees("4 values of attributes")
    browser.check("member-remove")
    browser.press("Remove", "//dialog")
    browser.sees("Ann King was removed.")
    assert module_org.api.get(f"/v1/users/{ann['id']}").status_code == 404
    browser.check_quiet("member")


def has_focus(browser, text):
    wait_for(lambda: browser.web.switch_to.active_element.text == text, f"the focus on {text}")


def test_the_focus_returns_to_the_button_that_was_pressed(at, module_org):
    user = module_org.create_user({"email": "focus@screens.example", "first_name": "Fay"})
    browser = at(f"members/{user['id']}")
    browser.press("Edit")
    browser.sees("Edit Fay")
    browser.press("Cancel")
    has_focus(browser, "Edit")
    browser.press("Edit")
    browser.fill("Last name", "King")
    browser.press("Save")
    browser.sees("The member was changed.")
    has_focus(browser, "Edit")
    browser = at("members")
    browser.press("Export CSV")
    wait_for(lambda: browser.web.find_elements("xpath", "//button[.='Export CSV'][not(@disabled)]"), "the end of the export")
    has_focus(browser, "Export CSV")


def test_a_change_by_another_admin_is_not_overwritten(at, module_org):
    made = module_org.create_user({"email": "conflict@screens.example", "first_name": "Cyd"})
    browser = at(f"members/{made['id']}")
    browser.press("Edit")
    browser.fill("Last name", "Mine")
    module_org.update_user(made["id"], {"last_name": "Theirs"})
    browser.press("Save")
    browser.sees("Another admin changed this member")
    browser.web.get_log("browser")
    browser.check("member-conflict")
    browser.press("Show the current values")
    browser.sees("Cyd Theirs")


def test_the_form_of_one_member_does_not_change_another(at, module_org):
    here, there = [module_org.create_user({"email": f"{name}@screens.example", "first_name": name.capitalize()}) for name in ("here", "there")]
    browser = at(f"members/{here['id']}")
    browser.press("Edit")
    browser.fill("Last name", "Typed")
    browser.web.execute_script("location.hash = arguments[0]", f"#/o/{module_org.id}/members/{there['id']}")
    browser.press("Leave", "//dialog")
    browser.sees("there@screens.example")
    assert not browser.web.find_elements("css selector", "dialog")
    browser.press("Edit")
    assert browser.shown("First name").get_attribute("value") == "There"
    assert browser.shown("Last name").get_attribute("value") == ""


def test_a_viewer_gets_no_buttons(own_browser, module_org):
    viewer = own_browser
    viewer.sign_in(module_org.new_admin("viewer"))
    made = module_org.create_user({"email": "seen@screens.example"})
    viewer.open(f"#/o/{module_org.id}/members/{made['id']}")
    viewer.sees("No events of this member were recorded.")
    assert "Remove" not in viewer.text() and "Edit" not in viewer.text()
    viewer.open(f"#/o/{module_org.id}/keys")
    viewer.sees("Last used")
    assert "Issue a key" not in viewer.text() and "Revoke" not in viewer.text()


def test_a_key_is_issued_shown_once_rotated_and_revoked(at, module_org, stack):
    browser = at("keys")
    browser.sees("Last used")
    browser.check("keys-list")
    browser.press("Issue a key")
    browser.fill("Name", "membership sync")
    browser.choose("Role", "Viewer: read only")
    browser.check("key-issue")
    browser.press("Issue")
    browser.sees("Copy the key now")
    key = browser.element(".secret code").text
    stack.keys_issued.append(key)
    assert key.startswith("org_")
    browser.check("key-made")
    browser.press("I stored the key")
    browser.sees("membership sync")
    assert key not in browser.web.page_source
    row = "//tr[contains(., 'membership sync')]"
    browser.press("Change", row)
    browser.fill("Name", "nightly sync")
    browser.press("Save")
    browser.sees("nightly sync")
    row = "//tr[contains(., 'nightly sync')]"
    browser.press("Rotate", row)
    browser.check("key-rotate")
    browser.press("Rotate", "//dialog")
    browser.sees("Copy the key now")
    stack.keys_issued.append(browser.element(".secret code").text)
    browser.press("I stored the key")
    browser.press("Revoke", row)
    browser.check("key-revoke")
    browser.press("Revoke", "//dialog")
    browser.sees("The key was revoked.")
    browser.sees("Revoked")
    browser.check_quiet("keys")


def test_a_new_secret_asks_for_a_recent_second_factor(own_browser, module_org, stack):
    browser = own_browser
    admin = module_org.new_admin("admin")
    browser.sign_in(admin)
    stack.sql("UPDATE sessions SET verified_at = verified_at - 960000 WHERE admin_id = UNHEX(REPLACE(%s, '-', ''))", admin.id)
    browser.press("API keys")
    browser.press("Issue a key")
    browser.fill("Name", "later")
    browser.press("Issue")
    browser.sees("Confirm that it is you")
    browser.web.get_log("browser")
    browser.check("confirm")
    browser.pass_factor(admin)
    browser.sees("Copy the key now")
    stack.keys_issued.append(browser.element(".secret code").text)


def test_the_audit_log_is_filtered(at, browser):
    browser = at("audit")
    browser.sees("session.opened")
    browser.check("audit")
    browser.choose("About", "API keys")
    wait_for(lambda: "session.opened" not in browser.text(), "only entries about keys")
    browser.sees("api_key.issued")
    browser.choose("By", "Muster itself")
    browser.sees("No entry matches the filters")
    browser.press("Clear filters")
    browser.sees("session.opened")
    browser.web.execute_script("location.hash += '?since=2020-01-01&until=2020-01-02'")
    browser.sees("No entry matches the filters")
    browser.check_quiet("audit")


def test_an_attribute_is_added_and_changed(at, module_org):
    browser = at("attributes")
    browser.sees("shirt_size")
    browser.check("attributes")
    browser.press("Add an attribute")
    browser.fill("Key", "Favorite Boat")
    browser.choose("Type", "One choice")
    browser.fill("Choices", "four\neight\nfour")
    browser.check("attribute-add")
    browser.press("Save")
    browser.sees("Request: ")
    browser.web.get_log("browser")
    browser.fill("Key", "favorite_boat")
    browser.fill("Label", "Boat")
    browser.press("Save")
    browser.sees("The attribute was saved.")
    made = module_org.api.get_json("/v1/attributes/favorite_boat")
    assert (made["label"], made["choices"], made["enabled"]) == ("Boat", ["four", "eight"], True)
    browser.press("Change", "//tr[contains(., 'favorite_boat')]")
    browser.press("Enabled", "//dialog")
    browser.press("Save")
    wait_for(lambda: module_org.api.get_json("/v1/attributes/favorite_boat")["enabled"] is False, "the attribute to be disabled")
    browser.check_quiet("attributes")


def test_the_first_page_says_what_needs_attention(at, module_org, ann):
    job = module_org.create_import(file_name="club.csv")
    browser = at("home")
    browser.sees("The import of club.csv is not finished: Not checked yet")
    assert "First steps" not in browser.text()
    browser.check("home")
    browser.press("The import of club.csv is not finished: Not checked yet")
    browser.sees("About this import")
    module_org.cancel(job["id"])


def test_an_admin_ends_a_session_and_gets_new_backup_codes(own_browser, module_org, stack):
    browser = own_browser
    admin = module_org.new_admin("viewer")
    other = admin.new_session()
    browser.sign_in(admin)
    browser.press("My sign-in")
    browser.sees(f"You are signed in as {admin.address}.")
    browser.sees("You have 10 backup codes left.")
    browser.sees("This one")
    browser.check("account")
    browser.press("End", "//tr")
    browser.sees("python-requests")
    assert "python-requests" in browser.element("dialog").text
    browser.check("account-end")
    browser.press("End", "//dialog")
    browser.sees("The session was ended.")
    assert other.get("/v1/session").status_code == 401
    browser.press("New backup codes")
    browser.fill("Code of your authenticator", admin.backup_codes.pop())
    browser.check("account-codes")
    browser.press("Make new codes")
    browser.sees("I saved the backup codes")
    stack.keys_issued += [one.text for one in browser.web.find_elements("css selector", ".codes code")]
    browser.press("I saved the backup codes")
    browser.sees(f"You are signed in as {admin.address}.")
    browser.sees("You have 10 backup codes left.")
    browser.check_quiet("account")
