"""The console's screens of the team and of connections in a real browser (docs/console.md)."""

from support.admin import Admin
from support.browser import wait_for
from support.connecting import listed
from support.console import ConsoleBrowser
from support.mail import wait_for_mail
from support.world import email

# Names that run into the next column.
WIDE_NAMES = "return [...document.querySelectorAll('tbody th')].filter(one => one.scrollWidth > one.clientWidth).map(one => one.innerText)"
BUTTONS = "return [...document.querySelectorAll('main button')].map(one => one.innerText)"


def test_a_colleague_is_invited_joins_changes_role_and_is_removed(at, module_org, stack, contract):
    guest = Admin(stack, contract, address=email("guest"))
    browser = at("team")
    browser.sees("(you)")
    browser.check("team")
    browser.press("Invite")
    browser.check("team-invite")
    browser.fill("Mail address", guest.address)
    browser.choose("Role", "Viewer: reads everything")
    browser.press("Send invitation")
    browser.sees("Invited")
    browser.check("team-invited")
    browser.resize(320)
    assert browser.web.execute_script(WIDE_NAMES) == []
    browser.resize(1280)
    mail = wait_for_mail(stack, guest.address)
    fragment = next(word for word in mail.text.split() if "#/invitation" in word).partition("#")[2]

    other = ConsoleBrowser(stack, "guest")
    try:
        other.forget()
        other.open(f"#{fragment}")
        other.fill("Mail address", guest.address)
        before = guest.mails_before()
        other.press("Send code")
        other.fill("Code", guest.code_after(before))
        other.press("Sign in")
        other.enroll(guest)
        other.sees("In numbers")
        assert f"/o/{module_org.id}/home" in other.web.current_url
        stack.keys_issued.append(other.web.get_cookie("__Host-muster-session")["value"])
    finally:
        other.close()

    browser = at("team")
    row = f"//tr[contains(., '{guest.address}')]"
    browser.press("Change role", row)
    browser.choose("Role", "Admin: also changes everything except the team")
    browser.check("team-role")
    browser.press("Save")
    browser.sees("The role was changed.")
    browser.press("Remove", row)
    browser.check("team-remove")
    browser.press("Remove", "//dialog")
    wait_for(lambda: guest.address not in browser.text(), "the seat to go")
    browser.check_quiet("team")


def test_an_owner_who_becomes_a_viewer_loses_the_buttons_of_owners(own_browser, module_org):
    module_org.new_admin("owner")  # an organization keeps one
    own_browser.sign_in(module_org.new_admin("owner"))
    own_browser.open(f"#/o/{module_org.id}/team")
    own_browser.press("Change role", "//tr[contains(., '(you)')]")
    own_browser.choose("Role", "Viewer: reads everything")
    own_browser.press("Save")
    own_browser.sees("The role was changed.")
    own_browser.sees("Only owners change the team.")
    assert own_browser.web.execute_script(BUTTONS) == ["Leave"]


def test_an_invitation_is_sent_again_and_withdrawn(at, stack):
    browser = at("team")
    browser.press("Invite")
    browser.fill("Mail address", "later@team.example")
    browser.press("Send invitation")
    browser.sees("later@team.example")
    row = "//tr[contains(., 'later@team.example')]"
    browser.press("Send again", row)
    browser.press("Send again", "//dialog")
    browser.sees("The invitation was sent again.")
    browser.press("Send again", row)
    browser.press("Send again", "//dialog")
    wait_for(lambda: not browser.web.find_elements("css selector", "dialog[open]"), "the dialog to close")
    browser.press("Send again", row)
    browser.press("Send again", "//dialog")
    browser.sees("at most 3 invitations to one address within 24 hours")
    assert "429" in str(browser.web.get_log("browser"))  # later tests do not see it
    browser.press("Cancel", "//dialog")
    browser.press("Withdraw", row)
    browser.press("Withdraw", "//dialog")
    wait_for(lambda: "later@team.example" not in browser.text(), "the invitation to go")


def test_a_provider_is_connected_refreshed_and_deleted(at, module_org, oauth_server):
    browser = at("connections")
    browser.sees("No connections yet")
    browser.check("connections-empty")
    browser.element("button[aria-label='Connect GitLab']").click()
    browser.fill("Name in the list", "Our code")
    browser.check("connect")
    browser.press("Continue")
    wait_for(lambda: browser.web.find_elements("id", "allow"), "the provider's page")
    browser.web.find_element("id", "allow").click()
    browser.sees("The provider is connected.")
    browser.requests()  # those of the provider's page, which has no icon
    browser.web.get_log("browser")
    browser.check("connection-result")
    browser = at("connections")
    browser.sees("Connected")
    browser.check("connections")
    browser.press("Refresh")
    browser.sees("The access was refreshed.")

    def is_refused():  # a refresh that ended less than a second ago counts
        browser.press("Refresh")
        return "The access could not be refreshed. The list says why." in browser.text()

    with oauth_server.instead("gitlab", "token", oauth_server.error("gitlab", "temporarily_unavailable", 503)):
        wait_for(is_refused, "a refresh that the provider refuses")
    browser.press("Delete")
    browser.check("connection-delete")
    browser.press("Delete", "//dialog")
    browser.sees("No connections yet")
    assert listed(module_org.admin().api, module_org) == {}


def test_a_person_who_denies_the_access_gets_no_connection(at, module_org):
    browser = at("connections")
    browser.element("button[aria-label='Connect GitLab']").click()
    browser.fill("Name in the list", "Not this one")
    browser.press("Continue")
    wait_for(lambda: browser.web.find_elements("id", "deny"), "the provider's page")
    browser.web.find_element("id", "deny").click()
    browser.sees("access was denied on its page")
    browser.requests()  # those of the provider's page, which has no icon
    browser.web.get_log("browser")
    browser.check("connection-denied")
    assert all(one["authStatus"] != "connected" for one in listed(module_org.admin().api, module_org).values())
