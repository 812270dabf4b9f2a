"""The place in a long list after a look at one of its records, and after an action, in a real browser (docs/console.md)."""

import pytest
from support.browser import wait_for

COUNT = 120  # more than two pages


@pytest.fixture(scope="module")
def members(module_org):
    columns = [{"sourceColumn": "Email", "target": "core_field", "fieldKey": "email"}]
    module_org.imported([{"email": f"place{number:03}@returning.example"} for number in range(COUNT)], mapping={"columns": columns})


def rows(browser):
    return browser.web.find_elements("css selector", "main tbody tr")


def show_more(browser):
    """Shows the second page of a list."""
    browser.press("Show more", before="scrollTo(0, document.body.scrollHeight)")
    wait_for(lambda: len(rows(browser)) > 50, "the second page")


def scroll_to(browser, element):
    browser.web.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    return browser.web.execute_script("return scrollY")


def test_back_leads_to_the_row_whose_record_was_opened(at, members):
    browser = at("members?status=active")
    browser.sees(f"{COUNT} members")
    show_more(browser)
    link = rows(browser)[80].find_element("css selector", "a")
    name, top = link.text, scroll_to(browser, link)
    link.click()
    browser.has_focus(name)  # the heading of the member
    browser.wait(lambda: "Member since" in browser.text(), "the member")
    assert browser.web.execute_script("return scrollY") < top
    browser.web.back()
    wait_for(lambda: len(rows(browser)) == 100, "both pages")
    wait_for(lambda: browser.web.execute_script("return scrollY") == top, "the place in the list")
    focused = browser.web.switch_to.active_element
    assert (focused.tag_name, focused.text) == ("a", name)
    browser.check_quiet("returning")


def test_a_link_to_a_list_begins_at_its_top_with_one_page(at, members):
    browser = at("members")
    browser.sees(f"{COUNT} members")
    show_more(browser)
    link = rows(browser)[80].find_element("css selector", "a")
    scroll_to(browser, link)
    link.click()
    browser.sees("Member since")
    browser.press("All members")
    wait_for(lambda: len(rows(browser)) == 50, "the first page")
    assert browser.web.execute_script("return scrollY") == 0
    browser.has_focus("Members")


def test_the_same_filter_again_begins_with_one_page(at, members):
    browser = at("members")
    browser.sees(f"{COUNT} members")
    show_more(browser)
    browser.choose("Status", "Active")
    wait_for(lambda: len(rows(browser)) == 50, "the first page of the filter")
    browser.choose("Status", "All")
    browser.wait(lambda: "status=" not in browser.web.current_url and not browser.web.find_elements("css selector", ".old"), "the list")
    assert len(rows(browser)) == 50


def test_a_correction_keeps_the_rows_of_further_pages(at, module_org):
    job = module_org.validated([{"email": "twice@returning.example"}] * 70, declared_total=70)
    browser = at(f"imports/{job['id']}")
    browser.sees("Rows to correct")
    show_more(browser)
    for number in (65, 66):  # the first correction reopens the import
        browser.press("Correct", f"//tr[td[1]='{number}']")
        browser.fill("Mail address", f"once{number}@returning.example")
        browser.press("Save", "//dialog")
        wait_for(lambda number=number: number not in [int(row.find_element("css selector", "td").text) for row in rows(browser)], "the row to go")
        assert len(rows(browser)) == 69 - (number - 64)
    browser.check_quiet("returning-rows")
