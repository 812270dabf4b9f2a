"""Forms of the console: faults of a reply, and admins who become viewers, in a real browser (docs/console.md)."""

from support.browser import wait_for
from support.world import slug

TOO_LONG = "x" * 300
# Types at once, because the page searches when the person pauses.
PASTE = """arguments[0].focus()
document.execCommand("insertText", false, arguments[1])"""


def fault_of(browser, label):
    """The fault that is next to the field with this label."""
    found = "return arguments[0].closest('.field').querySelector('.fault')?.innerText"
    return browser.wait(lambda: browser.web.execute_script(found, browser.shown(label)), f"the fault of {label}")


def is_said_once(browser, label, path):
    """The fault of a field is nowhere else. Returns whether the field has the focus."""
    fault = fault_of(browser, label).removeprefix("This value ")
    assert browser.text().count(fault) == 1
    assert path not in browser.element("[role=alert]").text
    browser.web.get_log("browser")  # the 422
    return browser.web.switch_to.active_element == browser.shown(label)


def test_a_fault_of_a_member_is_next_to_its_field_and_nowhere_else(at, module_org):
    user = module_org.create_user({"email": "fault@forms.example", "first_name": "Fay"})
    browser = at(f"members/{user['id']}")
    browser.press("Edit")
    browser.fill("Country", "XX")
    browser.press("Save", "//dialog")
    wait_for(lambda: is_said_once(browser, "Country", "country"), "the focus in the field")
    browser.check("member-fault")


def test_a_fault_of_a_member_without_a_field_is_listed_with_its_label(at, module_org):
    user = module_org.create_user({"email": "hidden@forms.example"})
    browser = at(f"members/{user['id']}")
    browser.press("Edit")
    browser.fill("Last name", "Berg")
    browser.web.execute_script("""const real = fetch
window.fetch = async (path, options) => {
    if (options?.method !== "PATCH") return real(path, options)
    const fields = [{path: "attributes.boat2", message: "is not an attribute"}, {path: "external_id", message: "is taken"},
        {path: "email", message: "is taken"}]
    const error = {code: "VALIDATION_ERROR", message: "Some values are not valid.", details: {fields}}
    return new Response(JSON.stringify({error}), {status: 422, headers: {"Content-Type": "application/json"}})
}""")
    browser.press("Save", "//dialog")
    browser.sees("Some values are not valid.")
    lines = ["Some values are not valid.", "attributes boat2 is not an attribute", "Mail address is taken"]
    assert browser.element("dialog [role=alert]").text.split("\n") == lines
    assert fault_of(browser, "External id") == "This value is taken"


def test_a_fault_of_an_article_is_next_to_its_field_and_nowhere_else(at, module_org):
    browser = at(f"articles/{module_org.create_article()['id']}")
    browser.fill("Cover picture", "ftp://pictures.example/a.png")
    browser.press("Save")
    wait_for(lambda: is_said_once(browser, "Cover picture", "cover_url"), "the focus in the field")
    browser.check_accessibility("article-fault")
    browser.picture("article-fault")


def test_a_fault_of_a_slot_is_next_to_its_field_and_nowhere_else(at):
    browser = at("slots")
    browser.press("Create a slot")
    browser.fill("Name", "Top")
    browser.fill("Short name", "Not A Slug")
    browser.fill("Width", "300")
    browser.fill("Height", "250")
    browser.press("Create", "//dialog")
    is_said_once(browser, "Short name", "slug")


def test_a_search_takes_as_many_characters_as_the_api(at):
    browser = at("members")
    field = browser.shown("Search")
    browser.web.execute_script(PASTE, field, TOO_LONG)
    wait_for(lambda: "q=" in browser.web.current_url, "the search")
    assert field.get_attribute("value") == TOO_LONG[:255]
    browser.sees("No member matches")
    browser.check_quiet("search")


def becomes_viewer(browser, admin, org, send):
    """Another admin gives the admin the role viewer, and the console finds out with the next change."""
    admin.set_role(org.id, "viewer")
    browser.press(send)
    browser.sees("Your role does not allow this.")
    wait_for(lambda: not browser.web.find_elements("xpath", f"//button[.='{send}']"), "the button to go")
    browser.web.get_log("browser")  # the 403


def test_a_campaign_of_an_admin_who_becomes_a_viewer_keeps_the_text_and_cannot_be_saved(own_browser, module_org):
    admin, browser = module_org.new_admin("admin"), own_browser
    browser.sign_in(admin)
    console = module_org.admin().api
    body = {"name": "Side", "slug": slug("side"), "width": 300, "height": 250}
    slot = console.post("/console/v1/ads/slots", json=body, expect=201).json()
    campaign = console.post("/console/v1/ads/campaigns", json={"name": "Spring", "slot_ids": [slot["id"]]}, expect=201).json()
    for path, send in ((f"ads/{campaign['id']}/edit", "Save"), ("ads/new", "Create campaign")):
        admin.set_role(module_org.id, "admin")
        browser.open(f"#/o/{module_org.id}/{path}")
        browser.fill("Name", "Typed")
        if path == "ads/new" and not browser.web.find_elements("css selector", ".choices input:checked"):
            browser.element(".choices input").click()
        becomes_viewer(browser, admin, module_org, send)
        assert browser.shown("Name").get_attribute("value") == "Typed"
        browser.check_accessibility(f"campaign of a new viewer, {send}")


def test_a_version_of_an_admin_who_becomes_a_viewer_can_only_be_copied(own_browser, module_org):
    admin, browser = module_org.new_admin("admin"), own_browser
    browser.sign_in(admin)
    module = module_org.create_module(name="Demoted")
    browser.open(f"#/o/{module_org.id}/modules/{module['id']}/versions/new")
    browser.fill("Manifest", '{"name": "typed"}')
    becomes_viewer(browser, admin, module_org, "Save as draft")
    field = browser.shown("Manifest")
    assert field.get_attribute("value") == '{"name": "typed"}' and field.get_attribute("readonly")
    assert not browser.web.find_elements("xpath", "//button[.='Publish' or .='Insert the example']")
    browser.sees("Copy")
    browser.check("version-of-a-new-viewer")
