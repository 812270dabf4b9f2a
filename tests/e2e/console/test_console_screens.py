"""The console's screens of members, keys and the audit log in a real browser (docs/console.md)."""

import pytest
from support.browser import wait_for


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


def record_events(org, user, count):
    """Events of the member, as a page reports them."""
    for number in range(count):
        org.page_api.post("/v1/track", json={"action": f"viewed_{number}", "user_id": user["id"]}, expect=202)


def test_one_member_is_shown_changed_locked_and_removed(at, ann, module_org):
    browser = at(f"members/{ann['id']}")
    browser.sees("Shirt size")
    assert "shirt_size" not in browser.text()
    browser.sees("<b>1</b>")
    browser.sees("No events of this member were recorded.")
    browser.check("member")
    browser.press("Edit")
    browser.sees("Edit Ann Bérg")
    browser.sees("The mail address, ann.berg@screens.example, cannot be changed.")
    browser.check("member-edit")
    browser.fill("Last name", "King")
    browser.fill("Country", "zz")
    browser.press("Save")
    browser.sees("This value is not an officially assigned")
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
    record_events(module_org, ann, 2)
    browser.press("Remove")
    browser.sees("4 values of attributes")
    browser.sees("2 recorded events")
    browser.check("member-remove")
    browser.press("Remove", "//dialog")
    browser.sees("Ann King was removed.")
    assert module_org.api.get(f"/v1/users/{ann['id']}").status_code == 404
    browser.check_quiet("member")


def test_a_member_is_added(at, module_org):
    browser = at("members")
    browser.press("Add a member")
    browser.sees("Only the mail address is required.")
    browser.check("member-add")
    browser.fill("Mail address", "new@screens.example")
    browser.fill("First name", "Nora")
    browser.fill("Country", "zz")
    browser.choose("vip", "Yes")
    browser.press("Add", "//dialog")
    browser.sees("This value is not an officially assigned")
    field = browser.labeled("Country")
    wait_for(lambda: browser.web.switch_to.active_element == field, "the focus on the field with the fault")
    assert field.get_attribute("aria-invalid") == "true" and "\ncountry is" not in browser.text()
    browser.web.get_log("browser")
    browser.check("member-add-fault")
    browser.fill("Country", "nl")
    browser.press("Add", "//dialog")
    browser.sees("Nora was added.")
    browser.sees("new@screens.example")
    made = module_org.api.get_json("/v1/users", params={"email": "new@screens.example"})["users"][0]
    assert (made["country"], made["attributes"]) == ("NL", {"vip": True})
    assert f"/members/{made['id']}" in browser.web.current_url
    browser.web.back()
    browser.sees("Nora")
    assert browser.web.find_elements("css selector", "dialog") == []
    browser.check_quiet("member-add")


def test_adding_a_member_again_fills_only_empty_values(at, module_org):
    made = module_org.create_user({"email": "again@screens.example", "first_name": "Gita"})
    browser = at("members?add=1")
    browser.fill("Mail address", "again@screens.example")
    browser.fill("First name", "Other")
    browser.fill("Last name", "Rao")
    browser.press("Add", "//dialog")
    browser.sees("Gita Rao is a member already")
    browser.check("member-add-again")
    browser.press("Show the member")
    browser.sees("Member since")
    user = module_org.user(made["id"])
    assert (user["first_name"], user["last_name"]) == ("Gita", "Rao")
    browser.check_quiet("member-add-again")


def test_the_focus_returns_to_the_button_that_was_pressed(at, module_org):
    user = module_org.create_user({"email": "focus@screens.example", "first_name": "Fay"})
    browser = at(f"members/{user['id']}")
    browser.press("Edit")
    browser.wait(lambda: browser.web.switch_to.active_element.tag_name == "input", "the focus in the first field, which loads later")
    browser.press("Cancel")
    browser.has_focus("Edit")
    browser.press("Edit")
    browser.fill("Last name", "King")
    browser.press("Save")
    browser.sees("The member was changed.")
    browser.has_focus("Edit")
    browser = at("members")
    browser.press("Export CSV")
    wait_for(lambda: browser.web.find_elements("xpath", "//button[.='Export CSV'][not(@disabled)]"), "the end of the export")
    browser.has_focus("Export CSV")


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


def test_a_viewer_cannot_open_a_form_by_its_address(own_browser, module_org):
    own_browser.sign_in(module_org.new_admin("viewer"))
    for path, title in (("articles/new", "New article"), ("ads/new", "New campaign"), ("imports/new", "Import a file")):
        own_browser.open(f"#/o/{module_org.id}/{path}")
        own_browser.sees("Your role does not allow this.")
        assert own_browser.element("h1").text == title and not own_browser.web.find_elements("css selector", "main :is(input, textarea)")
    own_browser.check("viewer-form")


def test_a_question_begins_on_cancel_with_its_text(at, module_org, stack):
    def begins_with(text):
        browser.has_focus("Cancel")
        described = browser.web.switch_to.active_element.get_attribute("aria-describedby")
        assert text in browser.web.find_element("id", described).text
        browser.press("Cancel", "//dialog")
        wait_for(lambda: not browser.web.find_elements("css selector", "dialog"), "the dialog to close")

    made = module_org.admin().api.post("/v1/api-keys", json={"name": "asked", "role": "viewer"}, expect=201).json()
    stack.keys_issued.append(made["key"])
    browser = at("keys")
    browser.press("Revoke", "//tr[contains(., 'asked')]")
    begins_with("This cannot be undone.")
    user = module_org.create_user({"email": "asked@screens.example"})
    browser = at(f"members/{user['id']}")
    browser.press("Remove")
    begins_with("This cannot be undone.")


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
    browser.sees("Signed in")
    assert "session.opened" not in browser.text()
    browser.check("audit")
    browser.choose("About", "API keys")
    wait_for(lambda: "Signed in" not in browser.text(), "only entries about keys")
    browser.sees("API key issued")
    browser.choose("By", "Muster itself")
    browser.sees("No entry matches the filters")
    browser.press("Clear filters")
    browser.sees("Signed in")
    browser.web.execute_script("location.hash += '?since=2020-01-01&until=2020-01-02'")
    browser.sees("No entry matches the filters")
    browser.check_quiet("audit")


def test_the_audit_log_names_records_and_leads_to_them(at, module_org):
    admin = module_org.admin()
    made = module_org.create_user({"email": "logged@screens.example", "first_name": "<b>Lola</b>"})
    gone = module_org.create_user({"email": "gone@screens.example", "first_name": "Gone"})
    for user in (made, gone):
        admin.api.post(f"/v1/users/{user['id']}/lock", json={}, expect=200)
    admin.api.delete(f"/v1/users/{gone['id']}", expect=204)
    entries = admin.api.get_json("/v1/audit-log", params={"action": "user.", "limit": 3})["audit_log"]
    assert [(one["action"], one["subject_name"]) for one in entries] == [
        ("user.removed", None), ("user.locked", None), ("user.locked", "<b>Lola</b>")]
    browser = at("audit?action=user.")
    browser.sees("Member locked")
    browser.sees("(no longer exists)")
    assert browser.web.find_elements("css selector", "[title='user.locked']") and "Gone" not in browser.text()
    browser.check("audit-members")
    browser.press("Filter", "//tr[contains(., 'Lola')]")
    browser.sees("Only entries about the record <b>Lola</b>")
    wait_for(lambda: "Member removed" not in browser.text(), "only entries about the member")
    browser.press("Member locked", "//tr[contains(., 'Lola')]")
    wait_for(lambda: "action=user.locked" in browser.web.current_url, "the filter of the action")
    assert browser.labeled("About").get_property("selectedOptions")[0].text == "Member locked"
    browser.press("<b>Lola</b>")
    browser.sees("logged@screens.example")
    browser.check_quiet("audit-members")


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
    browser.fill("Label", "")
    browser.press("Enabled", "//dialog")
    browser.press("Save")
    wait_for(lambda: module_org.api.get_json("/v1/attributes/favorite_boat")["enabled"] is False, "the attribute to be disabled")
    assert module_org.api.get_json("/v1/attributes/favorite_boat")["label"] == "favorite_boat"
    browser.check_quiet("attributes")


def test_the_first_page_says_what_needs_attention(at, module_org, ann):
    job = module_org.create_import(file_name="club.csv")
    browser = at("home")
    browser.sees("The import of club.csv is not finished: Not checked yet")
    assert "First steps" not in browser.text()
    browser.sees("Next steps")
    browser.check("home")
    browser.press("The import of club.csv is not finished: Not checked yet")
    browser.sees("About this import")
    module_org.cancel(job["id"])


def test_a_number_of_the_first_page_leads_to_its_list(at, module_org, ann):
    locked = module_org.create_user({"email": "locked@screens.example", "first_name": "Lotte"})
    module_org.api.post(f"/v1/users/{locked['id']}/lock", json={}, expect=200)
    counts = module_org.api.get_json("/v1/organization/summary")["members"]
    for name, label in (("active", "Active members"), ("locked", "Locked members"), ("changed_in_7_days", "Changed in 7 days")):
        browser = at("home")
        browser.sees("In numbers")
        browser.web.find_element("xpath", f"//dt[.='{label}']/../dd/a").click()
        count = counts[name]["count"]
        browser.sees("1 member\n" if count == 1 else f"{count} members\n")
    browser.sees("Changed since")
    browser.check("members-changed")
    browser.web.find_element("css selector", "[aria-label='Remove the filter Changed since']").click()
    wait_for(lambda: "since=" not in browser.web.current_url, "the filter to go")


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
