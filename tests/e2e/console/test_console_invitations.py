"""Invitations to a person with a seat elsewhere, and leaving an organization, in a real browser (docs/console.md)."""

from urllib.parse import urlsplit

import pytest
from support.browser import wait_for
from support.console import ConsoleBrowser
from support.mail import wait_for_mail
from support.world import Organization

ONE_ROW = 60  # pixels; the head of the page is lower if it has one row

# Keeps the announcements of the page.
LISTEN = """window.said = []
new MutationObserver(() => {
    const text = document.querySelector(".announcement")?.textContent
    if (text && text !== said.at(-1)) said.push(text)
}).observe(document.body, {childList: true, characterData: true, subtree: true})"""


@pytest.fixture(scope="module")
def other_org(stack, contract):
    return Organization(stack, contract, name="Riverside Rowing Club")


@pytest.fixture
def guest(module_org, other_org):
    """A person with a seat in the file's organization, invited to the other one."""
    admin = module_org.new_admin("admin")
    other_org.invite(admin.address, role="viewer")
    return admin


@pytest.fixture
def browser(stack):
    running = ConsoleBrowser(stack, "invitations")
    yield running
    running.close()


def fragment_of(stack, admin):
    """The part after # of the link in the mail."""
    mail = wait_for_mail(stack, admin.address, subject="You are invited")
    assert "/v1/" not in mail.text and "To accept or decline, open this page" in mail.text
    return next(word for word in mail.text.split() if "#/invitation" in word).partition("#")[2]


def sign_in_at(browser, admin, fragment):
    browser.forget()
    browser.open(f"#{fragment}")
    browser.sees("You opened an invitation.")
    browser.fill("Mail address", admin.address)
    before = admin.mails_before()
    browser.press("Send code")
    browser.fill("Code", admin.code_after(before))
    browser.press("Sign in")
    browser.enroll(admin)
    browser.sees("Invitations")
    browser.stack.keys_issued.append(browser.web.get_cookie("__Host-muster-session")["value"])


def names_of(admin):
    return [seat["name"] for seat in admin.api.get_json("/v1/session")["seats"]]


def test_a_person_with_a_seat_accepts_on_the_page_of_the_mail(browser, guest, stack, other_org):
    sign_in_at(browser, guest, fragment_of(stack, guest))
    browser.sees("Riverside Rowing Club")
    browser.sees("Viewer: you read its data.")
    browser.sees(f"{other_org.admin().address} invites you.")
    browser.resize(320)
    assert browser.element(".head").size["height"] < ONE_ROW
    browser.check("invitation")
    browser.web.execute_script(LISTEN)
    browser.press("Accept")
    browser.sees("You now have a seat in Riverside Rowing Club, as viewer.")
    browser.sees("In numbers")
    assert browser.web.execute_script("return said") == ["You now have a seat in Riverside Rowing Club, as viewer."]
    assert f"/o/{other_org.id}/home" in browser.web.current_url
    assert "1 invitation" not in browser.text()
    browser.check_quiet("accepted")
    browser.open(f"#{fragment_of(stack, guest)}")
    browser.sees("You have a seat in Riverside Rowing Club, as viewer.")

    browser.press("My sign-in")
    browser.press("Leave", "//tr[contains(., 'Riverside')]")
    browser.sees("To return, you need an invitation of an owner.")
    browser.check("leave")
    browser.press("Leave", "//dialog")
    browser.sees("You left Riverside Rowing Club.")
    browser.sees("In numbers")
    assert f"/o/{other_org.id}/" not in browser.web.current_url
    assert names_of(guest) == ["e2e"]


def test_an_invitation_is_offered_on_every_page_and_declined(browser, guest, stack, other_org):
    browser.sign_in(guest)
    browser.press("1 invitation")
    browser.press("Decline")
    browser.sees("Decline the invitation to Riverside Rowing Club?")
    browser.check("invitation-decline")
    browser.press("Decline", "//dialog")
    browser.sees("No invitation for you")
    browser.check("invitation-none")
    assert guest.address not in str(other_org.admin().api.get_json("/v1/seats"))
    browser.press("Go to your organizations")
    browser.sees("In numbers")


def test_accepting_needs_a_recent_second_factor(browser, guest, stack, other_org):
    browser.sign_in(guest)
    stack.sql("UPDATE sessions SET verified_at = verified_at - 960000 WHERE admin_id = UNHEX(REPLACE(%s, '-', ''))", guest.id)
    browser.press("1 invitation")
    browser.press("Accept")
    browser.sees("Confirm that it is you")
    browser.press("Cancel", "//dialog")
    browser.sees("Nothing was changed.")
    browser.press("Accept")
    browser.sees("Confirm that it is you")
    browser.pass_factor(guest)
    browser.sees("In numbers")
    assert f"/o/{other_org.id}/home" in browser.web.current_url


def test_a_withdrawn_invitation_is_explained(browser, guest, other_org):
    browser.sign_in(guest)
    browser.press("1 invitation")
    browser.sees("Riverside Rowing Club")
    seats = other_org.admin().api.get_json("/v1/seats")["seats"]
    invitation = next(seat for seat in seats if seat["email"] == guest.address)["invitation_id"]
    other_org.admin().api.delete(f"/v1/invitations/{invitation}", expect=204)
    browser.press("Accept")
    browser.sees("This invitation was withdrawn, or it has expired.")


def test_another_address_signs_in_at_the_same_invitation(browser, stack, module_org, other_org):
    browser.sign_in(module_org.new_admin("viewer"))
    browser.web.execute_script(f"location.hash = '#/invitation?organization={other_org.id}'")
    browser.press("Sign in with another address")
    browser.sees("You opened an invitation.")
    assert urlsplit(browser.web.current_url).fragment == f"/invitation?organization={other_org.id}"


def test_another_invitation_than_that_of_the_link_is_named(browser, guest, module_org, new_org):
    browser.sign_in(guest)
    browser.web.execute_script(f"location.hash = '#/invitation?organization={new_org(attributes=False).id}'")
    browser.sees("The invitation of your link is not for")
    browser.sees("Riverside Rowing Club")
    browser.element(f"select.organization option[value='{module_org.id}']").click()
    browser.sees("In numbers")


def test_leaving_the_only_organization_signs_out(browser, module_org):
    browser.sign_in(module_org.new_admin("viewer"))
    browser.press("Team")
    browser.press("Leave")
    browser.sees("This is your only organization.")
    browser.check("leave-last")
    browser.press("Leave", "//dialog")
    browser.sees("Sign in to Muster")
    assert "Your session has ended" not in browser.text()


def test_the_last_owner_cannot_leave(browser, module_org):
    owner = module_org.new_admin("owner")
    browser.sign_in(owner)
    browser.press("Team")
    browser.press("Leave")
    browser.press("Leave", "//dialog")
    wait_for(lambda: "You are the last owner." in browser.text(), "the reason")
