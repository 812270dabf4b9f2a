"""The columns of an import in the console: attributes that are created or enabled on the way, and files that do not fit."""

import pytest
from support.browser import wait_for
from test_console_imports import file_of  # noqa: F401


def column(browser, name):
    return browser.element(f"select[aria-label='Field for {name}']")


def choose(browser, name, text):
    column(browser, name).find_element("xpath", f".//option[normalize-space(.)='{text}']").click()


def take(at, path):
    browser = at("imports/new")
    browser.element("input[type=file]").send_keys(path)
    return browser


def test_attributes_are_created_and_enabled_for_columns(at, file_of, module_org):  # noqa: F811
    lines = ["Mail,Lieblingsboot,Beitritt Verein,Notfall", *[f"boat{number}@mapping.example,{boat},0{number + 1}.02.2020,Tel {number}"
                                                            for number, boat in enumerate(["Vierer", "Achter", "Vierer"])]]
    browser = take(at, file_of(lines, "boats.csv"))
    browser.sees("3 columns will not be imported.")
    choose(browser, "Lieblingsboot", "New attribute…")
    browser.sees("Add an attribute")
    assert browser.labeled("Key").get_attribute("value") == "lieblingsboot"
    browser.choose("Type", "One choice")
    assert browser.labeled("Choices").get_attribute("value") == "Vierer\nAchter"
    browser.check("import-new-attribute")
    browser.press("Save")
    browser.sees("2 columns will not be imported.")
    assert column(browser, "Lieblingsboot").get_attribute("value") == "attribute:lieblingsboot"
    choose(browser, "Beitritt Verein", "New attribute…")
    assert browser.labeled("Key").get_attribute("value") == "beitritt_verein"
    assert browser.labeled("Type").get_attribute("value") == "date"
    browser.press("Save")
    browser.sees("1 column will not be imported.")
    choose(browser, "Notfall", "Emergency contact")
    browser.sees("Enable Emergency contact?")
    browser.check("import-enable-attribute")
    browser.press("Enable")
    browser.sees("File: boats.csv.")
    wait_for(lambda: column(browser, "Notfall").get_attribute("value") == "attribute:emergency_contact", "the attribute to be chosen")
    assert not browser.web.find_element("xpath", "//button[.='Upload and check']").is_enabled()
    browser.sees("The file does not show whether the day or the month is first.")
    browser.check("import-dates")
    browser.choose("Dates are written as", "Day.month.year: 28.02.1990")
    browser.check("import-mapped")
    browser.press("Upload and check")
    browser.sees("Import 3 rows", 60)
    browser.press("Import 3 rows")
    browser.press("Import now")
    browser.sees("The import is complete.", 60)
    boat = module_org.api.get_json("/v1/users", params={"email": "boat1@mapping.example"})["users"][0]
    assert boat["attributes"] == {"lieblingsboot": "Achter", "beitritt_verein": "2020-02-02", "emergency_contact": "Tel 1"}
    browser.press("Show its members")
    browser.sees("3 members")
    browser.check_quiet("mapping")


# Whether a control is as wide as what a person sees of its table at most.
FITS = """const box = arguments[0].getBoundingClientRect(), region = arguments[0].closest(".scroll").getBoundingClientRect()
return box.width > 0 && box.left >= region.left && box.right <= region.right"""
# What is in front of the cells.
LABELS = "return [...document.querySelectorAll('main td')].map(one => getComputedStyle(one, '::before').content)"


def test_a_narrow_window_shows_where_the_columns_go(at, file_of):  # noqa: F811
    long = "Name in the list of the club" * 3
    browser = take(at, file_of([f"Mail,{long}", "somebody.with.a.long.address@mapping.example,Ann"]))
    for name in ("Mail", long):
        assert browser.web.execute_script(FITS, column(browser, name))
    assert browser.text().count("Goes to") == 1
    browser.resize(320)
    assert len(browser.web.find_elements("css selector", "table[role=table] > [role=rowgroup] > [role=row] > [role=rowheader]")) == 2
    for name in ("Mail", long):
        assert browser.web.execute_script(FITS, column(browser, name))
    assert browser.text().count("Goes to") == 0 and browser.web.execute_script(LABELS).count('"Goes to: "') == 2
    browser.resize(1280)
    browser.check("import-columns")


def test_a_field_moves_to_the_column_that_was_chosen_last(at, file_of):  # noqa: F811
    browser = take(at, file_of(["Mail,Contact,Town", "a@mapping.example,b@mapping.example,York"]))
    browser.sees("Mail")
    choose(browser, "Contact", "Mail address")
    browser.sees("Mail address is no longer taken from the column Mail.")
    assert column(browser, "Mail").get_attribute("value") == ""


def test_an_existing_key_is_not_changed_by_a_new_attribute(at, file_of, module_org):  # noqa: F811
    before = module_org.api.get_json("/v1/attributes/shirt_size")
    browser = take(at, file_of(["Mail,Other", "a@mapping.example,1"]))
    choose(browser, "Other", "New attribute…")
    browser.fill("Key", "shirt_size")
    browser.press("Save")
    browser.sees("An attribute with this key exists already.")
    assert module_org.api.get_json("/v1/attributes/shirt_size") == before
    # Another admin adds one after the page has read the attributes.
    module_org.admin().api.request("PUT", "/v1/attributes/meanwhile", json={"type": "number", "enabled": True})
    meanwhile = module_org.api.get_json("/v1/attributes/meanwhile")
    browser.fill("Key", "meanwhile")
    browser.press("Save")
    wait_for(lambda: browser.web.find_element("xpath", "//button[.='Save']").is_enabled(), "the check to end")
    browser.sees("An attribute with this key exists already.")
    assert module_org.api.get_json("/v1/attributes/meanwhile") == meanwhile
    browser.web.get_log("browser")  # the replies are 412


@pytest.mark.parametrize("name, content, says", [
    ("members.xlsx", b"PK\x03\x04rest\n\"of\"a workbook", "This is a spreadsheet. Save it as CSV"),
    ("members.csv", b"ann@mapping.example,Ann\nbob@mapping.example,Bob\n", "The first row looks like a member."),
])
def test_a_file_of_another_form_is_explained(at, tmp_path, name, content, says):
    path = tmp_path / name
    path.write_bytes(content)
    take(at, str(path)).sees(says)


def test_another_browser_asks_for_the_form_of_the_dates(at, file_of, module_org):  # noqa: F811
    columns = [{"sourceColumn": "Mail", "target": "core_field", "fieldKey": "email"},
               {"sourceColumn": "Born", "target": "core_field", "fieldKey": "dob"}]
    job = module_org.create_import(declared_total=2, mapping={"columns": columns})
    browser = at(f"imports/{job['id']}")
    browser.sees("The upload stopped after 0 of 2 rows.")
    browser.element("input[type=file]").send_keys(file_of(["Mail,Born", "d1@mapping.example,01.02.1990"], "other.csv"))
    browser.sees("This file has 1 row, the import has 2.")
    browser.element("input[type=file]").send_keys(file_of(["Mail,Born", "d1@mapping.example,01.02.1990", "d2@mapping.example,02.03.1990"]))
    browser.sees("The file does not show whether the day or the month is first.")
    browser.check("import-unfinished-dates")
    browser.choose("Dates are written as", "Month/day/year: 02/28/1990")
    browser.sees("Import 2 rows", 60)
    assert [row["payload"]["dob"] for row in module_org.rows(job["id"])] == ["1990-01-02", "1990-02-03"]
    module_org.cancel(job["id"])


def test_a_number_that_may_mean_two_things_is_asked(at, file_of, module_org):  # noqa: F811
    module_org.admin().api.request("PUT", "/v1/attributes/points", json={"type": "number", "enabled": True})
    browser = take(at, file_of(["Mail;points", "n1@mapping.example;1.234", "n2@mapping.example;7"], "points.csv"))
    browser.sees("The file does not show whether “1,234” is more than a thousand")
    assert not browser.web.find_element("xpath", "//button[.='Upload and check']").is_enabled()
    browser.check("import-numbers")
    browser.choose("Numbers are written as", "With a decimal comma: 1.234,50")
    browser.press("Upload and check")
    browser.sees("Import 2 rows", 60)
    job = module_org.api.get_json("/v1/imports")["imports"][0]
    assert [row["payload"]["attributes"]["points"] for row in module_org.rows(job["id"])] == [1234, 7]
    module_org.cancel(job["id"])
