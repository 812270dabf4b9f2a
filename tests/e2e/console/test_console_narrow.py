"""Tables with buttons in the width of a phone, in a real browser (docs/console.md)."""

import pytest

PHONE = 320
# Whether an element is in the window, and its table needs no scrolling to the side.
IN_VIEW = """const [element] = arguments, {left, right, width} = element.getBoundingClientRect(), region = element.closest(".scroll")
return width > 0 && left >= 0 && right <= innerWidth && region.scrollWidth <= region.clientWidth"""
LABELED = "return getComputedStyle(arguments[0], '::before').content"
ROLES = "return [...new Set([...arguments[0].querySelectorAll('tbody *')].map(one => one.getAttribute('role')).filter(Boolean))].sort()"


@pytest.fixture
def narrow(at):
    def open_screen(path, text):
        browser = at(path)
        browser.sees(text)
        browser.resize(PHONE)
        return browser
    yield open_screen


@pytest.fixture(autouse=True)
def wide_again(browser):
    yield
    browser.resize(1280)


def is_in_view(browser, path):
    found = browser.wait(lambda: browser.web.find_elements("xpath", path), path)[-1]
    assert browser.web.execute_script(IN_VIEW, found), found.get_attribute("outerHTML")
    return found


def test_a_row_of_an_import_shows_why_it_failed_and_the_button_that_corrects_it(narrow, module_org):
    job = module_org.validated([{"email": "narrow.member.with.a.long.address@narrow.example"}] * 2, declared_total=2)
    browser = narrow(f"imports/{job['id']}", "Rows to correct")
    reason = is_in_view(browser, "//td[contains(., 'An earlier row')]")
    assert browser.web.execute_script(LABELED, reason) == '"Reason: "'
    is_in_view(browser, "//button[.='Correct']")
    table = browser.element("main table")
    assert browser.web.execute_script(ROLES, table) == ["cell", "row"]
    browser.resize(1280)
    assert browser.web.execute_script(LABELED, reason) == "none"
    browser.check("import-rows")


def test_a_key_shows_its_buttons(narrow, module_org):
    browser = narrow("keys", "Rotate")
    for text in ("Change", "Rotate", "Revoke"):
        is_in_view(browser, f"//button[.='{text}']")
    browser.resize(1280)
    browser.check("keys-narrow")


def test_a_seat_shows_its_buttons(narrow, module_org):
    module_org.new_admin("viewer")
    browser = narrow("team", "Change role")
    for text in ("Change role", "Remove"):
        is_in_view(browser, f"//button[.='{text}']")
    browser.check("team-narrow")
