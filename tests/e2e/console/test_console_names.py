"""Long names in the console, in a real browser (docs/console.md)."""

from support.world import Organization

# Whether the text of an element is longer than what it shows of it, and how it shows the end.
CUT = """const one = arguments[0], style = getComputedStyle(one)
return [one.scrollHeight > one.clientHeight || one.scrollWidth > one.clientWidth, style.webkitLineClamp, style.textOverflow]"""


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
