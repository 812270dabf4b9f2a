"""The console's screens of the organization and of the sign-in of an admin in a real browser (docs/console.md)."""

from support.admin import step_now, totp
from support.browser import wait_for


def test_an_owner_sees_limits_and_renames_the_organization(at, module_org):
    browser = at("organization")
    browser.sees("Uploaded rows of imports")
    browser.sees("2 GiB")
    browser.sees("250,000")
    browser.check("organization")
    browser.press("Rename")
    browser.fill("Name", "Riverside Rowing Club")
    browser.check("organization-rename")
    browser.press("Save")
    browser.sees("The organization was renamed.")
    assert browser.element(".organization").text.endswith("Riverside Rowing Club")
    assert module_org.api.get_json("/v1/organization")["name"] == "Riverside Rowing Club"


def test_a_long_name_of_an_organization_does_not_widen_the_page(at, module_org):
    module_org.admin().api.request("PATCH", "/v1/organization", json={"name": 4 * "Donaudampfschifffahrtsgesellschaft"}, expect=200)
    browser = at("organization")
    browser.wait(lambda: "Donaudampf" in browser.element(".organization").text, "the name in the head")
    browser.check("organization-long-name")
    assert browser.element(".organization").rect["height"] < 60


def test_a_name_that_another_admin_changed_is_not_overwritten(at, module_org):
    browser = at("organization")
    browser.press("Rename")
    browser.fill("Name", "Mine")
    module_org.admin().api.request("PATCH", "/v1/organization", json={"name": "Theirs"}, expect=200)
    browser.press("Save")
    browser.sees("Another admin renamed the organization")
    browser.web.get_log("browser")
    browser.press("Show the current name")
    browser.sees("Theirs")


def test_an_admin_reads_the_organization_only(own_browser, module_org):
    own_browser.sign_in(module_org.new_admin("admin"))
    own_browser.press("Organization")
    own_browser.sees("Use today")
    assert "Rename" not in own_browser.text()


def test_an_authenticator_is_replaced(own_browser, module_org, stack):
    browser, admin = own_browser, module_org.new_admin("viewer")
    browser.sign_in(admin)
    browser.press("My sign-in")
    browser.press("Replace the authenticator")
    browser.fill("Current code or backup code", "000000")
    browser.press("Continue")
    browser.sees("The code is wrong or was used before.")
    browser.web.get_log("browser")
    browser.fill("Current code or backup code", admin.backup_codes.pop())
    browser.check("authenticator")
    browser.press("Continue")
    browser.sees("Set up the new authenticator")
    secret = browser.element("dialog code.wrap").text
    stack.keys_issued.append(secret)
    browser.check("authenticator-new")
    admin.secret, admin.last_step = secret, step_now()
    browser.fill("Code of the new authenticator", totp(secret, step_now()))
    browser.press("Replace", "//dialog")
    browser.sees("The authenticator was replaced.")
    browser.sees("You have 9 backup codes left.")
    browser.check("account-seats")


def test_an_admin_signs_out_everywhere(own_browser, module_org):
    browser, admin = own_browser, module_org.new_admin("viewer")
    other = admin.new_session()
    browser.sign_in(admin)
    browser.press("My sign-in")
    browser.press("Sign out everywhere")
    browser.sees("All your sessions end")
    browser.check("sign-out-everywhere")
    browser.press("Sign out everywhere", "//dialog")
    browser.sees("Sign in to Muster")
    assert "Your session has ended" not in browser.text()
    wait_for(lambda: other.get("/v1/session").status_code == 401, "the other session to end")
