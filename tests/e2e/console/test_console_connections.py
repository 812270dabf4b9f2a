"""Connecting a provider from the console in a real browser, with an authorization server (docs/external-data.md "Connecting")."""

from support.browser import wait_for


def decide(browser, answer):
    """Presses a button on the page of the provider."""
    wait_for(lambda: browser.web.find_elements("id", answer), "the page of the provider")[0].click()


def test_a_provider_is_connected_after_a_denial(at, module_org):
    browser = at("connections")
    browser.sees("No connections yet")
    browser.press("Connect", "//li[h3='GitLab']")
    browser.fill("Name in the list", "<b>Our code</b>")
    browser.check("connect")
    browser.press("Continue")
    decide(browser, "deny")
    browser.sees("The provider was not connected: access was denied on its page.")
    browser.press("Connections of e2e")
    browser.sees("Access was denied at GitLab.")
    browser.check_accessibility("connection-denied")
    browser.press("Connect again")
    decide(browser, "allow")
    browser.sees("The provider is connected.")
    browser.press("Connections of e2e")
    browser.sees("<b>Our code</b>")
    browser.choose("State", "Expired")
    browser.sees("No connection is in this state")
    browser.choose("State", "Connected")
    browser.sees("<b>Our code</b>")
    assert "state=connected" in browser.web.current_url
    browser.press("Home")
    browser.sees("In numbers")
    browser.web.find_element("xpath", "//dt[.='Connections']/../dd/a[contains(., '1')]").click()
    browser.sees("<b>Our code</b>")
    browser.web.get_log("browser")
    browser.requests()
    browser.check("connections")
