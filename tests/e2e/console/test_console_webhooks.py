"""The console's screens of webhook endpoints and deliveries in a real browser, with a real receiver (docs/console.md)."""

import datetime

import pytest
from support.browser import wait_for
from support.certificates import make_authority, make_certificate
from support.receiver import Receiver
from support.webhooks import patched, set_delivery, tried
from support.world import Organization, path_of_endpoint, slug

HOSTILE = "<img src=x onerror=alert(1)>"
ATTEMPT = 35  # seconds; the page waits 30 s for an attempt
# A call that sends deliveries again waits for window.reply(). The reply says that there are more.
ENDLESS = """const real = window.fetch
window.recoveries = 0
window.fetch = async (path, options = {}) => {
    if (!path.endsWith("/recover") || JSON.parse(options.body).dry_run) return real(path, options)
    window.recoveries += 1
    await new Promise(go => { window.reply = go })
    return new Response('{"queued": 5000, "has_more": true}', {headers: {"Content-Type": "application/json"}})
}"""


@pytest.fixture(scope="module")
def console(module_org):
    return module_org.admin().api


@pytest.fixture(scope="module")
def installation(module_org):
    name = slug("loyalty")
    prefix = name.replace("-", "_")
    manifest = {"name": "Loyalty", "events": {"emits": [f"{prefix}.points_earned", f"{prefix}.level_reached"]}}
    record = module_org.install(module_org.published_module(manifest, name="Loyalty", slug=name))
    return record | {"prefix": prefix}


@pytest.fixture
def endpoint(module_org, installation, receiver, console):
    """An endpoint of a receiver that accepts everything, until the test sets another answer at /hook."""
    made = module_org.create_endpoint(installation, url=receiver.url("/hook"), description=HOSTILE)
    yield made
    console.delete(path_of_endpoint(made))


@pytest.fixture
def at_endpoint(at, installation):
    return lambda endpoint: at(f"webhooks/endpoints/{installation['id']}/{endpoint['id']}")


def drain(browser):
    """Forgets the messages of requests that were rejected as they should be."""
    browser.web.get_log("browser")


def shown_secret(browser, stack):
    secret = browser.element(".secret code").text
    stack.keys_issued.append(secret)
    return secret


def read(console, endpoint):
    return console.get_json(path_of_endpoint(endpoint))


def test_an_organization_without_an_installation_is_led_to_one(at):
    browser = at("webhooks")
    browser.sees("Events go to the endpoints of an installed module.")
    browser.check("webhooks-empty")
    browser.press("Deliveries")
    browser.sees("No deliveries yet")
    browser.check("deliveries-empty")


def test_a_new_admin_sets_up_a_first_endpoint(own_browser, stack, contract, receiver):
    organization = Organization(stack, contract, name="Rowing club")
    browser = own_browser
    browser.sign_in(organization.new_admin("owner"))
    browser.press("Webhooks")
    browser.press("Set up a module")
    browser.fill("Name", "1st club shop")
    browser.check("webhooks-set-up")
    browser.press("Set up")
    browser.sees("1st club shop is installed. Now add its endpoint.")
    browser.fill("URL", receiver.url("/first"))
    browser.press("member.created")
    browser.press("Add")
    shown_secret(browser, stack)
    browser.press("I stored the secret")
    browser.sees("Latest deliveries")
    organization.create_user({"email": "first@club.example"})
    receiver.wait_for(1, "/first")
    [module] = organization.admin().api.get_json("/v1/modules")["modules"]
    assert (module["slug"], module["vendor"], module["status"]) == ("module-1st-club-shop", "Rowing club", "published")
    browser.check_quiet("set-up")


def test_an_endpoint_is_added_and_its_secret_is_shown_once(at, installation, console, receiver, stack):
    browser = at("webhooks")
    browser.sees("No endpoints yet")
    browser.press("Add an endpoint")
    browser.fill("URL", "ftp://shop.example/hook")
    browser.press("Add")
    browser.sees("Choose at least one event.")
    browser.press("All of Members")
    browser.press("member.removed", "//dialog")
    browser.press(f"{installation['prefix']}.points_earned")
    browser.fill("Other event types", "member.udpated")
    browser.press("Add")
    browser.sees("“member.udpated” is not one of the allowed values")
    drain(browser)
    browser.check("endpoint-add")
    browser.press("member.removed", "//dialog")
    browser.sees("“member.udpated” is not one of the allowed values")  # although its place in the list is another one now
    browser.press("member.removed", "//dialog")
    browser.fill("URL", receiver.url("/new"))
    browser.fill("Description", "the shop")
    browser.fill("Other event types", "other.paid")
    browser.press("Add")
    browser.sees("Copy the signing secret now")
    secret = shown_secret(browser, stack)
    assert secret.startswith("whsec_")
    browser.check("endpoint-secret")
    browser.press("I stored the secret")
    browser.sees("No deliveries in the last 30 days. Send a test event")
    assert secret not in browser.web.page_source
    browser.check("endpoint-new")
    path = f"/v1/installations/{installation['id']}/webhook-endpoints"
    [made] = console.get_json(path)["webhook_endpoints"]
    assert made["subscribed_event_types"] == sorted(
        [f"{installation['prefix']}.points_earned", "member.attached", "member.created", "member.locked", "member.unlocked",
         "member.updated", "other.paid"])
    browser.press("Delete")
    browser.sees("No events are waiting.")
    browser.check("endpoint-delete")
    browser.press("Delete", "//dialog")
    browser.sees("The endpoint was deleted.")
    assert console.get_json(path)["webhook_endpoints"] == []


def test_a_test_event_shows_the_answer_of_the_receiver(at_endpoint, endpoint, receiver):
    browser = at_endpoint(endpoint)
    browser.sees(HOSTILE)
    browser.press("Send a test event")
    browser.sees("The receiver accepted the event.", ATTEMPT)
    browser.sees("HTTP 204")
    browser.check("endpoint-test")
    assert len(receiver.at("/hook")) == 1
    browser.press("Open the delivery")
    browser.sees("Body that was sent")
    browser.press(endpoint["url"])
    browser.sees("Latest deliveries")
    receiver.on("/hook", status=500, body=b"<b>out of order</b>")
    browser.press("Send a test event")
    browser.sees("The receiver did not accept the event. Muster will try again.", ATTEMPT)
    browser.sees("<b>out of order</b>")
    browser.check("endpoint-test-failed")
    browser.press("Close")
    browser.sees("The last attempt failed.")
    browser.check("endpoint-failing")


def test_an_endpoint_is_edited_and_a_conflict_is_shown(at_endpoint, endpoint, console):
    browser = at_endpoint(endpoint)
    browser.sees("No deliveries in the last 30 days.")
    browser.requests()
    browser.press("Edit")
    browser.press("All of Installations")
    assert not [url for url in browser.requests() if "/versions/" in url]  # the answer would move what is pressed
    browser.fill("Description", "Shop")
    browser.check("endpoint-edit")
    browser.press("Save")
    browser.sees("The endpoint was saved.")
    stored = read(console, endpoint)
    assert stored["description"] == "Shop" and len(stored["subscribed_event_types"]) == 4
    browser.press("Edit")
    browser.fill("Description", "Mine")
    patched(console, path_of_endpoint(endpoint), description="Theirs")
    browser.press("Save")
    browser.sees("Another admin changed this in the meantime.")
    drain(browser)
    browser.check("endpoint-conflict")
    browser.press("Show the current values")
    browser.sees("Theirs")


def test_a_new_address_asks_for_a_code_if_the_last_one_is_old(own_browser, module_org, stack, installation, endpoint, console,
                                                                     receiver):
    browser, admin = own_browser, module_org.new_admin("admin")
    browser.sign_in(admin)
    browser.open(f"#/o/{module_org.id}/webhooks/endpoints/{installation['id']}/{endpoint['id']}")
    browser.sees(endpoint["url"])
    stack.sql("UPDATE sessions SET verified_at = verified_at - 960000 WHERE admin_id = UNHEX(REPLACE(%s, '-', ''))", admin.id)
    browser.press("Edit")
    browser.fill("URL", receiver.url("/moved"))
    browser.press("Save")
    browser.sees("Confirm that it is you")
    assert read(console, endpoint)["url"] == endpoint["url"]
    drain(browser)
    browser.pass_factor(admin)
    browser.sees("The endpoint was saved.")
    assert read(console, endpoint)["url"] == receiver.url("/moved")
    browser.check_quiet("endpoint-moved")


def test_a_secret_is_rotated_with_an_overlap(at_endpoint, endpoint, console, receiver, stack):
    browser = at_endpoint(endpoint)
    for _ in range(2):
        browser.press("Rotate the secret")
        browser.sees("For 24 hours events are signed with the old one too")
        browser.press("Rotate the secret", "//dialog")
        browser.sees("Copy the signing secret now")
        assert shown_secret(browser, stack) != endpoint["signing_secret"]
        browser.press("I stored the secret")
    tried(console, path_of_endpoint(endpoint))
    [request] = receiver.wait_for(1, "/hook")
    assert request.headers["webhook-signature"].count("v1,") == 3
    browser.press("Rotate the secret")
    browser.press("Rotate the secret", "//dialog")
    browser.sees("The secret was rotated twice within 24 hours.")
    drain(browser)
    browser.check("endpoint-rotate")


def test_an_endpoint_is_paused_disabled_and_activated(at_endpoint, endpoint, console):
    browser = at_endpoint(endpoint)
    browser.press("Pause")
    browser.check("endpoint-pause")
    browser.press("Pause", "//dialog")
    browser.sees("Events wait for up to 30 days, and are sent when")
    assert read(console, endpoint)["status"] == "paused"
    browser.check("endpoint-paused")
    patched(console, path_of_endpoint(endpoint), description="Theirs")
    browser.press_above("Activate")
    browser.press("Show the current values")
    browser.sees("Theirs")
    wait_for(lambda: not browser.web.find_elements("css selector", ".box.error"), "the error to go")
    drain(browser)
    browser.press_above("Activate")
    browser.sees("Keep events for up to 30 days")
    browser.press("Disable")
    browser.sees("No events are waiting.")
    browser.press("Disable", "//dialog")
    browser.sees("An admin disabled the endpoint.")
    assert read(console, endpoint)["status"] == "disabled"
    assert "Send a test event" not in browser.text()
    browser.check("endpoint-disabled")


def test_failed_deliveries_are_counted_and_recovered(at_endpoint, endpoint, console, receiver, stack, no_runner):
    path = path_of_endpoint(endpoint)
    for status in ("failed", "failed", "canceled"):
        set_delivery(stack, tried(console, path), status)
    tried(console, path)
    browser = at_endpoint(endpoint)
    browser.press("Recover events")
    browser.check("endpoint-recover")
    browser.press("Count")
    browser.sees("3 deliveries will be sent again.")
    browser.check("endpoint-recover-count")
    browser.press("Send again")
    browser.sees("3 deliveries queued.")
    states = [one["status"] for one in console.get_json(f"{path}/deliveries")["deliveries"]]
    assert states == ["pending"] * 4
    browser.press("Delete")
    browser.sees("4 events wait and will not be sent.")
    browser.press("Cancel")
    browser.press("Recover events")
    browser.press("Count")
    browser.sees("No failed or canceled delivery is in this time.")
    tomorrow = (datetime.datetime.now() + datetime.timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    browser.web.execute_script("""arguments[0].value = arguments[1]
        arguments[0].dispatchEvent(new Event("input", {bubbles: true}))""", browser.labeled("From"), tomorrow)
    assert "No failed or canceled" not in browser.text()


def test_recovering_ends_with_its_dialog(at_endpoint, endpoint, console, stack, no_runner):
    set_delivery(stack, tried(console, path_of_endpoint(endpoint)), "failed")
    browser = at_endpoint(endpoint)
    browser.web.execute_script(ENDLESS)
    browser.press("Recover events")
    browser.press("Count")
    browser.sees("1 delivery will be sent again.")
    browser.press("Send again")
    wait_for(lambda: browser.web.execute_script("return window.reply !== undefined"), "the first call")
    browser.press("Cancel", "//dialog")
    browser.press("Edit")
    browser.fill("Description", "Mine")
    browser.web.execute_script("reply()")
    browser.sees("5,000 deliveries queued.")
    assert browser.web.execute_script("return recoveries") == 1
    assert browser.shown("Description").get_attribute("value") == "Mine"
    browser.press("Cancel", "//dialog")


def test_home_leads_to_the_endpoints_that_fail(at, module_org, installation, endpoint, console, receiver):
    paused = module_org.create_endpoint(installation, url=receiver.url("/paused"))
    patched(console, path_of_endpoint(paused), status="paused")
    receiver.on("/hook", status=503)
    tried(console, path_of_endpoint(endpoint))
    wait_for(lambda: read(console, endpoint)["failing_since"], "the first failure")
    browser = at("home")
    browser.press("1 webhook endpoint: the last attempt failed")
    browser.sees("Failing")
    browser.sees(endpoint["url"])
    assert paused["url"] not in browser.text()
    browser.choose("State", "All")
    browser.sees(paused["url"])
    browser.check("webhooks")
    browser.choose("State", "Disabled")
    browser.sees("No endpoint is in this state")
    console.delete(path_of_endpoint(paused))


def test_a_delivery_is_shown_and_sent_again(at, at_endpoint, module_org, installation, endpoint, console, receiver):
    other = module_org.create_endpoint(installation, url=receiver.url("/other"))
    tried(console, path_of_endpoint(other))
    receiver.on("/hook", status=500)
    tried(console, path_of_endpoint(endpoint))
    receiver.wait_for(1, "/hook")
    wait_for(lambda: read(console, endpoint)["failing_since"], "the first failure")
    browser = at_endpoint(endpoint)
    browser.press("All deliveries")
    browser.sees("Events that were sent to this endpoint")
    browser.sees("HTTP 500")
    assert len(browser.web.find_elements("css selector", "tbody tr")) == 1
    browser.check("deliveries-of-one")
    browser.press("webhook_endpoint.test", "//td/..")
    browser.sees("Body that was sent")
    browser.sees('"endpoint_id"')
    browser.check("delivery")
    receiver.on("/hook", status=204)
    browser.press("Send again")
    browser.sees("The delivery is queued again.")
    receiver.wait_for(2, "/hook")
    browser = at("webhooks/deliveries?event=webhook_endpoint.test")
    wait_for(lambda: len(browser.web.find_elements("css selector", "tbody tr")) >= 2, "the deliveries of both endpoints")
    browser.sees(endpoint["url"])
    browser.sees(other["url"])
    browser.check("deliveries")
    browser.choose("Last result", "Name not found")
    browser.sees("No delivery matches the filters")
    browser.choose("Last result", "HTTP 5xx")
    browser.sees("webhook_endpoint.test")
    browser.choose("State", "Canceled")
    browser.choose("Event", "member.removed")
    browser.sees("No delivery matches the filters")
    browser.press("Clear filters")
    browser.sees("webhook_endpoint.test")
    browser.check_quiet("deliveries")
    console.delete(path_of_endpoint(other))


def test_a_failed_delivery_says_what_to_do(at, installation, module_org, console, tmp_path):
    unknown = make_certificate(make_authority(tmp_path, "stranger"), tmp_path, "unknown")
    with Receiver(unknown) as stranger:
        endpoint = module_org.create_endpoint(installation, url=stranger.url("/"))
        delivery = tried(console, path_of_endpoint(endpoint))
        wait_for(lambda: console.get_json(f"{path_of_endpoint(endpoint)}/deliveries/{delivery['id']}")["attempts"], "the first attempt")
        browser = at(f"webhooks/deliveries/{installation['id']}/{endpoint['id']}/{delivery['id']}")
        browser.sees("TLS failed. The encrypted connection failed. The event was not sent. Check the receiver's certificate")
        browser.sees("Body that would have been sent")
        browser.sees("Headers that would have been sent")
        browser.check("delivery-failed")
        browser = at(f"webhooks/endpoints/{installation['id']}/{endpoint['id']}")
        browser.press("Send a test event")
        browser.sees("The receiver did not accept the event.", ATTEMPT)
        browser.sees("Check the receiver's certificate")
        browser.check_quiet("delivery-failed")
    console.delete(path_of_endpoint(endpoint))


def test_a_viewer_reads_endpoints(own_browser, module_org, installation, endpoint):
    browser = own_browser
    browser.sign_in(module_org.new_admin("viewer"))
    browser.open(f"#/o/{module_org.id}/webhooks")
    browser.press(endpoint["url"])
    browser.sees("Latest deliveries")
    assert [one.text for one in browser.web.find_elements("css selector", "main button")] == []
    browser.check_quiet("viewer")
