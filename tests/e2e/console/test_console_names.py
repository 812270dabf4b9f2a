"""Names in the console: long ones, and those with marks that change the direction, in a real browser (docs/console.md)."""

from support.world import Organization

TURNED = "abc\u202Edef"  # until its end, text is written from right to left
# Whether the last character of an element's text is at its right end.
ENDS_RIGHT = """const walk = document.createTreeWalker(arguments[0], NodeFilter.SHOW_TEXT), boxes = []
for (let node = walk.nextNode(); node; node = walk.nextNode()) for (let at = 0; at < node.data.length; at++) {
    const range = document.createRange()
    range.setStart(node, at)
    range.setEnd(node, at + 1)
    const box = range.getBoundingClientRect()
    if (box.width > 0) boxes.push(box.right)
}
return boxes.at(-1) === Math.max(...boxes)"""
# Whether the text of an element is longer than what it shows of it, and how it shows the end.
CUT = """const one = arguments[0], style = getComputedStyle(one)
return [one.scrollHeight > one.clientHeight || one.scrollWidth > one.clientWidth, style.webkitLineClamp, style.textOverflow]"""


def ends_right(browser, path):
    found = browser.wait(lambda: browser.web.find_elements("xpath", path), f"an element {path}")
    return browser.web.execute_script(ENDS_RIGHT, found[0])


def test_marks_in_the_name_of_a_member_do_not_turn_the_text_around_it(browser, module_org):
    user = module_org.create_user({"email": "turned@names.example", "display_name": TURNED})
    browser.open(f"#/o/{module_org.id}/members/{user['id']}")
    browser.press("Lock")
    browser.shown("Reason")
    assert ends_right(browser, "//dialog/h2")  # the question mark
    assert browser.web.title == f"\u2068{TURNED}\u2069 – Muster"
    browser.press("Lock", "//dialog")
    browser.sees("The member is locked.")


def test_marks_in_a_name_do_not_turn_what_follows_in_the_same_line(browser, module_org):
    console = module_org.admin().api
    console.post("/console/v1/ads/slots", json={"name": TURNED, "slug": "turned", "width": 300, "height": 250}, expect=201)
    browser.open(f"#/o/{module_org.id}/ads/new")
    assert ends_right(browser, "//ul[@class='choices']//label/span")
    key = console.post("/v1/api-keys", json={"name": TURNED, "role": "viewer"}, expect=201).json()
    module_org.api.stack.keys_issued.append(key["key"])
    browser.open(f"#/o/{module_org.id}/audit")
    assert ends_right(browser, "//tr[contains(., 'API key issued')]/td[4]")  # the button "Filter" after the name


def test_a_long_name_of_an_organization_ends_in_an_ellipsis_and_has_a_title(own_browser, stack, contract):
    name = "Rowing club of the upper river " * 8
    org = Organization(stack, contract, name=name.strip())
    admin = org.new_admin("owner")
    own_browser.sign_in(admin)
    for width in (320, 1280):
        own_browser.resize(width)
        shown = own_browser.element("p.organization")
        assert own_browser.web.execute_script(CUT, shown) == [True, "2", "ellipsis"]
        assert shown.get_attribute("title") == name.strip() and name.strip() in shown.get_attribute("textContent")
        own_browser.picture(f"long-organization-{width}")
    admin.give_seat(Organization(stack, contract, name="Lakeside").id, "admin")
    own_browser.reload()
    own_browser.sees("In numbers")
    shown = own_browser.element("select.organization")
    assert shown.get_attribute("title") == name.strip()
    assert own_browser.web.execute_script("return getComputedStyle(arguments[0]).textOverflow", shown) == "ellipsis"
    own_browser.check("long-organization")
