"""The console's screens of modules and installations in a real browser (docs/console.md)."""

import json

import pytest
from support.browser import wait_for
from support.world import slug

SETTINGS = {
    "currency": {"type": "string", "required": True, "enum": ["EUR", "GBP"]},
    "rate": {"type": "number"},
    "test_mode": {"type": "boolean"},
    "payment_key": {"type": "string", "secret": True},
    "greeting": {"type": "string"},
}
MANIFEST = {"name": "Shop", "config_schema": SETTINGS}
WRITE = """arguments[0].value = arguments[1]
arguments[0].dispatchEvent(new Event("input", {bubbles: true}))"""
SELECTED = "return document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)"
LONG = "12345678901234567890"  # a number that JavaScript would round


@pytest.fixture(scope="module")
def console(module_org):
    return module_org.admin().api


@pytest.fixture
def installed(module_org):
    """A new module with the settings above, and its installation."""
    module = module_org.published_module(MANIFEST, name="Shop", slug=slug("shop"))
    config = {"currency": "EUR", "payment_key": "sk_1", "greeting": "one\ntwo"}
    return module, module_org.install(module, config=config)


def write(browser, label, text):
    browser.web.execute_script(WRITE, browser.labeled(label), text)


def drain(browser):
    """Forgets the messages of requests that were rejected as they should be."""
    browser.web.get_log("browser")


def shown_secrets(browser, stack):
    shown = [one.text for one in browser.web.find_elements("css selector", ".secret code")]
    stack.keys_issued += shown
    return shown


def config_of(console, record):
    """The stored config as the API writes it."""
    return console.get(f"/v1/installations/{record['id']}").text.partition('"config":')[2].partition("}")[0] + "}"


def test_a_module_is_created_and_published_from_the_example(at, console):
    browser = at("modules")
    browser.sees("No modules yet")
    browser.check("modules-empty")
    browser.press("Create a module")
    browser.fill("Name", "Club shop")
    assert browser.labeled("Short name").get_attribute("value") == "club-shop"
    browser.fill("Vendor", "Acme")
    browser.check("module-create")
    browser.press("Create")
    browser.sees("New version of Club shop")
    manifest = json.loads(browser.labeled("Manifest").get_attribute("value"))
    assert manifest["events"]["emits"] == ["club_shop.order_paid"]
    browser.element("summary").click()
    browser.check("version-new")
    browser.press("Publish")
    browser.sees("Version 1.0.0 is published.")
    browser.sees("(current)")
    browser.check("module-published")
    browser.press("1.0.0")
    browser.sees("Club shop 1.0.0")
    browser.check("version-published")
    browser.press("The module")
    [module] = console.get_json("/v1/modules")["modules"]
    assert (module["slug"], module["status"]) == ("club-shop", "published")
    browser.press("All modules")
    browser.sees("Not installed")
    browser.check("modules")
    browser.press("Create a module")
    browser.fill("Name", "Club shop")
    browser.fill("Vendor", "Acme")
    browser.press("Create")
    browser.sees("Another module has this short name.")
    drain(browser)


def test_faults_of_a_manifest_are_shown_at_their_place_and_corrected(at, module_org, console):
    module = module_org.create_module(name="<b>Faulty</b>", slug="faulty")
    path = f"/v1/modules/{module['id']}/versions"
    browser = at(f"modules/{module['id']}")
    browser.sees("No versions yet")
    browser.check("module-new")
    browser.press("New version")
    browser.sees("New version of <b>Faulty</b>")
    write(browser, "Manifest", '{\n  "name": "Faulty",\n  "events": {"emits": [1,]}\n}')
    browser.press("Publish")
    browser.sees('Line 3: Expected a value instead of "]".')
    assert console.get_json(path)["versions"] == []
    write(browser, "Manifest", '{\n  "events": {\n    "emits": ["faulty.paid", "other.paid"]\n  },\n  "permissions": ["a", "a"]\n}')
    browser.press("Publish")
    browser.sees("Version 1.0.0 was not published")
    browser.sees('Line 3: events.emits[1] is "other.paid"; use a type that begins with "faulty."')
    drain(browser)
    browser.check("version-faults")
    browser.press("Line 1: name is required", "//ul")
    assert browser.web.execute_script(SELECTED).startswith("{")
    browser.press('Line 5: permissions[1] is "a", which is given twice')
    assert browser.web.execute_script(SELECTED) == '"a"'
    write(browser, "Manifest", f'{{"name": "Faulty", "config_schema": {{"rate": {{"type": "number", "enum": [{LONG}]}}}}}}')
    browser.press("Format")
    browser.press("Publish")
    browser.sees("Version 1.0.1 is published.")
    assert LONG in console.get(path).text
    browser.press("1.0.1")
    assert LONG in browser.labeled("Manifest").get_attribute("value")


def test_a_draft_is_kept_and_fixed_in_another_version(at, module_org, console):
    module = module_org.create_module(name="Drafts", slug=slug("drafts"))
    browser = at(f"modules/{module['id']}/versions/new")
    browser.fill("Version", "2026-01")
    write(browser, "Manifest", '{"name": ""}')
    browser.press("Save as draft")
    browser.sees("Drafts 2026-01")
    browser.press("Publish")
    browser.sees("Publish version 2026-01?")
    browser.check("version-publish")
    browser.press("Publish", "//dialog")
    browser.sees("The manifest has faults.")
    browser.sees("Line 2: name is empty; use 1 to 255 characters")
    drain(browser)
    browser.check("version-draft-faults")
    browser.press("Fix in a new version")
    browser.sees("New version of Drafts")
    assert browser.labeled("Version").get_attribute("value") == "2026-02"
    browser.fill("Version", "2026-01")
    browser.press("Save as draft")
    browser.sees("The module has this version already.")
    write(browser, "Manifest", json.dumps({"name": "x" * 65536}))
    browser.press("Save as draft")
    browser.sees("manifest is too long")
    drain(browser)


def test_a_module_is_deprecated(at, module_org, installed):
    module, _ = installed
    browser = at(f"modules/{module['id']}")
    browser.press("Deprecate")
    browser.sees("Its installation keeps working.")
    browser.check("module-deprecate")
    browser.press("Deprecate", "//dialog")
    browser.sees("no version can be published")
    assert "New version" not in browser.text()
    browser.check("module-deprecated")


def test_a_module_is_installed_with_its_settings(at, module_org, console):
    module = module_org.published_module(MANIFEST, name="Kiosk", slug=slug("kiosk"))
    browser = at("installations")
    browser.press("Install a module")
    browser.choose("Module", "Kiosk")
    browser.labeled("currency (required)")
    browser.fill("rate (optional)", "1,5")
    browser.check("install")
    browser.press("Install")
    browser.sees("is required")
    browser.sees("Enter a number, such as 12.5.")
    drain(browser)
    browser.check("install-faults")
    browser.choose("currency (required)", "GBP")
    browser.fill("rate (optional)", LONG)
    browser.choose("test_mode (optional)", "No")
    browser.fill("payment_key (optional)", "-----BEGIN KEY-----\nabc\n-----END KEY-----")
    browser.press("Install")
    browser.sees("Kiosk is installed.")
    browser.sees("Stored, not shown")
    browser.check("installation")
    [record] = [one for one in console.get_json("/v1/installations")["installations"] if one["module_id"] == module["id"]]
    assert config_of(console, record) == f'{{"currency":"GBP","rate":{LONG},"test_mode":false,"payment_key":"***"}}'
    browser.press("All installations")
    browser.sees("Kiosk")
    browser.check("installations")


def test_settings_change_and_secrets_are_kept_or_deleted(at, module_org, console, installed):
    _, record = installed
    browser = at(f"installations/{record['id']}")
    browser.press("Change settings")
    browser.fill("rate (optional)", "2.5")
    browser.check("installation-change")
    browser.press("Save")
    browser.sees("The settings were saved.")
    assert config_of(console, record) == '{"currency":"EUR","rate":2.5,"payment_key":"***","greeting":"one\\ntwo"}'
    browser.press("Change settings")
    browser.labeled("greeting (optional)")
    browser.press("Delete the stored value")
    browser.press("Save")
    wait_for(lambda: "payment_key" not in config_of(console, record), "the secret to be deleted")


def test_settings_that_another_admin_changed_are_not_overwritten(at, console, installed):
    _, record = installed
    browser = at(f"installations/{record['id']}")
    browser.press("Change settings")
    browser.fill("rate (optional)", "1")
    console.request("PATCH", f"/v1/installations/{record['id']}", json={"config": {"currency": "GBP"}}, expect=200)
    browser.press("Save")
    browser.sees("Another admin changed this in the meantime.")
    drain(browser)
    browser.check("installation-conflict")
    browser.press("Show the current values")
    browser.sees("GBP")
    assert console.get_json(f"/v1/installations/{record['id']}")["config"] == {"currency": "GBP"}


def test_an_installation_moves_to_another_version(at, module_org, console, installed):
    module, record = installed
    manifest = {"name": "Shop", "config_schema": {"currency": {"type": "string"}, "payment_key": {"type": "string"}}}
    version = module_org.create_version(module, manifest)
    module_org.publish(module, version)
    browser = at(f"modules/{module['id']}")
    browser.sees("The installation does not use the current version.")
    browser.press("Open the installation")
    browser.sees("The module has another current version.")
    browser.press("Change version")
    browser.sees("so their values are deleted: greeting.")
    browser.sees("The stored value is secret, and this version would show it.")
    browser.check("installation-move")
    browser.press("Save")
    browser.sees("This value is a stored secret, which this version would show; send a new value")
    drain(browser)
    browser.fill("payment_key (optional)", "visible")
    browser.press("Save")
    browser.sees("The settings were saved.")
    moved = console.get_json(f"/v1/installations/{record['id']}")
    assert (moved["version_id"], moved["config"]) == (version["id"], {"currency": "EUR", "payment_key": "visible"})


def test_an_installation_is_disabled_and_enabled(at, module_org, console, installed):
    _, record = installed
    module_org.issue_credential(record)
    module_org.create_endpoint(record)
    browser = at(f"installations/{record['id']}")
    browser.press("Disable")
    browser.sees("1 credential of its backend will be rejected.")
    browser.sees("1 webhook endpoint will get no events.")
    browser.check("installation-disable")
    browser.press("Disable", "//dialog")
    browser.sees("Its credentials are rejected")
    assert console.get_json(f"/v1/installations/{record['id']}")["status"] == "disabled"
    assert "Issue a credential" not in browser.text()
    browser.check("installation-disabled")
    browser.press_above("Enable")
    browser.sees("The installation is enabled.")


def test_a_credential_is_issued_replaced_and_revoked(at, console, installed, stack):
    _, record = installed
    path = f"/v1/installations/{record['id']}/credentials"
    browser = at(f"installations/{record['id']}")
    browser.press("Issue a credential")
    browser.fill("Name", "shop backend")
    browser.check("credential-issue")
    browser.press("Issue")
    browser.sees("Copy both secrets now")
    credential, secret = shown_secrets(browser, stack)
    assert credential.startswith("mk_live_") and secret.startswith("mks_")
    browser.check("credential-secrets")
    browser.press("I stored both")
    assert secret not in browser.web.page_source and credential not in browser.web.page_source
    browser.press("Replace")
    browser.sees("The old one stays valid")
    browser.check("credential-replace")
    browser.press("Issue a new one")
    browser.sees("Copy both secrets now")
    assert credential not in shown_secrets(browser, stack)
    browser.press("I stored both")
    browser.press("Revoke", "//tr[1]")
    browser.check("credential-revoke")
    browser.press("Revoke", "//dialog")
    browser.sees("The credential was revoked.")
    assert [one["revoked_at"] is None for one in console.get_json(path)["credentials"]] == [False, True]


def test_a_viewer_reads_modules_and_installations(own_browser, module_org, installed):
    module, record = installed
    browser = own_browser
    browser.sign_in(module_org.new_admin("viewer"))
    for path, text, buttons in ((f"modules/{module['id']}", "(current)", ("New version", "Deprecate", "Install")),
                                (f"modules/{module['id']}/versions/{module['current_version_id']}", "Manifest", ("Copy into",)),
                                (f"installations/{record['id']}", "Stored, not shown", ("Change", "Disable", "Issue", "Add an endpoint")),
                                ("installations", "Current", ("Install a module",)), ("modules", "Published", ("Create",))):
        browser.open(f"#/o/{module_org.id}/{path}")
        browser.sees(text)
        found = [one.text for one in browser.web.find_elements("css selector", "main button, main a.button")]
        assert not [one for one in found for button in buttons if one.startswith(button)], path
    browser.check_quiet("viewer")
