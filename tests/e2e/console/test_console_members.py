"""The filters of members and the bulk changes of the console in a real browser (docs/console.md)."""

import pytest
from selenium.webdriver.common.keys import Keys
from support.browser import wait_for


@pytest.fixture(scope="module")
def club(module_org):
    """30 imported members in Germany, 12 of them with the shirt size M, and three others."""
    rows = [{"email": f"club{number:02}@members.example", "first_name": "Club", "last_name": f"{number:02}", "country": "DE",
             "attributes": {"shirt_size": "M", "vip": True} if number < 12 else {"shirt_size": "L"}} for number in range(30)]
    columns = [{"sourceColumn": "Email", "target": "core_field", "fieldKey": "email"}]
    job = module_org.imported(rows, file_name="club.csv", mapping={"columns": columns})
    for number in range(3):
        module_org.create_user({"email": f"other{number}@members.example", "country": "FR"})
    return job


def begin(browser, action):
    """Counts the members of the list for this action."""
    browser.press("Change members")
    browser.choose("What to do with them", action)
    browser.press("Count members")


def statuses(org, **query):
    return [user["status"] for user in org.api.get_json("/v1/users", params=query | {"limit": 100})["users"]]


def test_members_are_filtered_by_country_attribute_import_and_change(at, club):
    browser = at("members")
    browser.sees("33 members")
    browser.press("More filters")
    browser.sees("Changed since")
    browser.fill("Country", "fr")
    browser.sees("\n3 members\n")
    browser.labeled("Country").send_keys(Keys.BACKSPACE)
    browser.choose("Status", "Active")
    browser.sees("\n3 members\n")  # one letter is not a country yet
    browser.choose("Status", "All")
    browser.labeled("Country").send_keys(Keys.BACKSPACE)
    browser.sees("33 members")
    browser.choose("Import", next(one.text for one in browser.labeled("Import").find_elements("tag name", "option") if "club.csv" in one.text))
    browser.sees("30 members")
    adding = browser.labeled("Attribute")
    browser.choose("Attribute", "Shirt size")
    browser.shown("Shirt size")
    assert browser.web.switch_to.active_element == adding and adding.get_attribute("value") == ""
    browser.choose("Shirt size", "M")
    browser.sees("12 members")
    browser.choose("Attribute", "vip")
    browser.choose("vip", "No")
    browser.sees("No member matches")
    browser.choose("vip", "Yes")
    browser.sees("12 members")
    browser.check("members-filters")
    assert "attribute.shirt_size=M" in browser.web.current_url
    browser.reload()
    browser.sees("12 members")
    browser.element("button[aria-label='Remove the filter Shirt size']").click()
    wait_for(lambda: "attribute.shirt_size" not in browser.web.current_url, "the filter to go")
    browser.press("Clear filters")
    browser.sees("33 members")
    assert browser.labeled("Country").get_attribute("value") == ""
    browser.check_quiet("filters")


def test_a_value_that_the_type_does_not_have_is_explained(at, club, module_org):
    registry = {one["key"]: one["label"] for one in module_org.api.get_json("/v1/attributes")["attributes"]}
    browser = at("members?attribute.points=many")
    browser.sees(f"{registry['points']} ")
    assert "attribute.points" not in browser.text()
    browser.web.get_log("browser")


@pytest.mark.parametrize("address, label, name", [
    ("country=XX", "Country", "country"), ("since=2026-13-01T00:00:00Z", "Changed since", "updated_since"),
    ("import=none", "Import", "imported_by")])
def test_a_fault_of_a_filter_in_the_address_names_its_label(at, club, address, label, name):
    browser = at(f"members?{address}")
    browser.web.get_log("browser")  # the reply that the server refuses
    faults = [one.text for one in browser.wait(lambda: browser.web.find_elements("css selector", ".box.error li"), "the fault")]
    assert faults[0].startswith(label) and name not in faults[0]
    browser.press("Export CSV")
    browser.wait(lambda: len(browser.web.find_elements("css selector", ".box.error li")) == 2, "the fault of the export")
    assert [one.text for one in browser.web.find_elements("css selector", ".box.error li")] == faults * 2
    browser.web.get_log("browser")


def test_all_matching_members_are_locked_after_the_count(at, club, module_org):
    browser = at("members?country=DE&attribute.shirt_size=M")
    browser.sees("12 members")
    browser.press("Change members")
    browser.sees("The change applies to all members that match:")
    browser.fill("Reason", "Fees not paid")
    browser.check("bulk-begin")
    browser.press("Count members")
    browser.sees("Lock 12 members", 60)
    assert set(statuses(module_org)) == {"active"}
    browser.check("bulk-counted")
    browser.press("Lock 12 members")
    browser.sees("You can unlock them with another bulk change.")
    browser.check("bulk-lock")
    browser.press("Lock 12 members", "//dialog")
    browser.sees("12 members were locked.", 60)
    browser.has_focus("Result")
    browser.check("bulk-done")
    assert statuses(module_org, status="locked") == ["locked"] * 12
    browser.press("Go to the members")
    browser.sees("12 members")
    browser.press("Clear filters")
    begin(browser, "Unlock")
    browser.sees("Unlock 12 members", 60)
    browser.sees("Active already")
    browser.press("Unlock 12 members")
    browser.press("Unlock 12 members", "//dialog")
    browser.sees("12 members were unlocked.", 60)
    browser.check_quiet("bulk")


def test_a_removal_needs_the_number_typed(at, club, module_org):
    browser = at("members?country=FR")
    browser.sees("\n3 members\n")
    begin(browser, "Remove")
    browser.press("Remove 3 members")
    browser.sees("This cannot be undone.")
    confirm = browser.element("dialog button.danger")
    assert not confirm.is_enabled()
    browser.fill("Type 3 to confirm", "30")
    assert not confirm.is_enabled()
    browser.fill("Type 3 to confirm", "3")
    browser.check("bulk-remove")
    confirm.click()
    browser.sees("3 members were removed.", 60)
    assert statuses(module_org, country="FR") == []
    browser.press("All bulk changes")
    browser.sees("Country: FR")
    browser.check("bulk-list")


def test_a_second_change_leads_to_the_one_that_is_not_finished(at, club, module_org):
    browser = at("members?q=club")
    browser.sees("30 members")
    begin(browser, "Remove")
    browser.sees("Remove 30 members", 60)
    browser = at("members")
    browser.sees("30 members")
    begin(browser, "Lock")
    browser.sees("Another bulk change is not finished.")
    browser.web.get_log("browser")
    browser.check("bulk-active")
    browser.press("Show that change")
    browser.sees("Name or address begins with")
    browser.press("Cancel this change")
    browser.press("Cancel this change", "//dialog")
    browser.sees("The change was canceled. No member changed.")
    assert len(statuses(module_org)) == 30


def test_a_change_is_stopped_while_it_waits(at, club, module_org, stack):
    browser = at("members?q=club0")
    browser.sees("10 members")
    with stack.without("runner"):
        begin(browser, "Lock")
        browser.sees("waiting for its turn")
        browser.check("bulk-counting")
    browser.press("Lock 10 members")
    with stack.without("runner"):
        browser.press("Lock 10 members", "//dialog")
        browser.sees("Changing")
        browser.check("bulk-changing")
        browser.press("Stop")
        browser.sees("Members that were changed already stay changed.")
        browser.press("Stop", "//dialog")
        browser.sees("The change was canceled. No member changed.")
    assert statuses(module_org, status="locked") == []


def test_a_viewer_sees_bulk_changes_and_starts_none(club, module_org, own_browser):
    viewer = own_browser
    viewer.sign_in(module_org.new_admin("viewer"))
    viewer.press("Members")
    viewer.sees("30 members")
    assert "Change members" not in viewer.text()
    viewer.press("Bulk changes")
    viewer.press("Lock members")
    viewer.sees("About this change")
