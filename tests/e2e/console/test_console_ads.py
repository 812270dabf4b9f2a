"""The console's screens of ads in a real browser (docs/console.md)."""

import datetime

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support.ads import Ads
from support.browser import Site, start_browser, wait_for
from support.page_keys import PageKey
from support.stack import numbers

HTML = '<p onclick="x()">Final on <b>Sunday</b></p>\n<script>x()</script>\n<p><img src="https://img.example/a.png" alt="The cup"></p>'
WINDOWS = True  # the previews are frames
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def ads(module_org):
    return Ads(module_org)


def sum_of_days(count):
    """The impressions of so many days in test_figures_are_plotted_and_listed_by_day."""
    return sum(100 + 37 * (day % 7) for day in range(count))


def bars(browser):
    return len(browser.web.find_elements(By.CSS_SELECTOR, ".plot:first-child rect.bar"))


def set_time(browser, label, days):
    moment = datetime.datetime.now() + datetime.timedelta(days=days)
    browser.web.execute_script("""arguments[0].value = arguments[1]
        arguments[0].dispatchEvent(new Event("input", {bubbles: true}))""", browser.labeled(label), moment.strftime("%Y-%m-%dT%H:%M"))


def test_a_new_admin_creates_a_slot_a_campaign_and_a_creative(at, ads, module_org):
    browser = at("ads")
    browser.sees("No campaigns yet")
    browser.check("ads-empty")
    browser.press("Create a campaign", "//main")
    browser.sees("Create a slot first")
    browser.check("campaign-no-slots")
    browser.press("Create a slot")
    browser.sees("No slots yet")
    browser.check("slots-empty")
    browser.press("Create a slot")
    browser.fill("Name", "Banner at the top")
    assert browser.labeled("Short name").get_attribute("value") == "banner-at-the-top"
    browser.choose("Usual sizes", "728 × 90: leaderboard")
    browser.check("slot-create")
    browser.press("Create")
    browser.sees("The slot was created.")
    slot = ads.listed("slots")[0]
    assert (slot["slug"], slot["width"], slot["height"]) == ("banner-at-the-top", 728, 90)

    browser = at("ads/new")
    browser.sees("New campaign")
    browser.check("campaign-new")
    browser.fill("Name", "Cup final")
    browser.fill("Daily limit", "1000")
    browser.fill("Countries", "de, gb")
    browser.press("Add an attribute")
    browser.choose("Attribute 1", "vip")
    assert browser.web.switch_to.active_element.get_attribute("id") == browser.labeled("Attribute 1").get_attribute("id")
    browser.choose("Value 1", "Yes")
    browser.check("campaign-filled")
    choice = browser.element("fieldset .choices input")
    choice.send_keys(Keys.SPACE)
    browser.press("Create campaign")
    browser.sees("Choose at least one slot.")
    assert "slot_ids" not in browser.text()
    browser.web.get_log("browser")
    choice.send_keys(Keys.SPACE)
    browser.press("Create campaign")
    browser.sees("The campaign was created.")
    browser.sees("It has no creative. Add one.")
    browser.sees("Country: DE or GB")
    browser.sees("vip: Yes")
    browser.check("campaign-no-creative")
    campaign = ads.listed("campaigns")[0]
    assert campaign["targeting"] == {"countries": ["DE", "GB"], "locales": [], "tags": [], "attributes": {"vip": True}}
    assert (campaign["daily_impressions"], campaign["slot_ids"]) == (1000, [slot["id"]])

    browser.press("Add a creative")
    browser.fill("Address of the picture", "https://img.example/final.png")
    browser.fill("Text in place of the picture", "The final")
    browser.fill("Landing page", "https://shop.example/final")
    browser.check("creative-add")
    browser.press("Add")
    browser.sees("The creative was added.")
    browser.sees("Running")
    browser.sees("0 of 1,000")
    browser.element("button[aria-label='Edit: Picture 728 × 90, The final']")
    browser.check("campaign")
    browser.press("Preview")
    browser.sees("Open the picture in a new tab")
    browser.check("creative-preview")
    browser.press("Close", "//dialog")
    assert [one["alt"] for one in ads.listed("creatives", campaign_id=campaign["id"])] == ["The final"]


def test_html_of_a_creative_is_sanitized_shown_without_pictures_and_deleted(at, ads):
    slot = ads.slot()
    campaign = ads.campaign(slot)
    browser = at(f"ads/{campaign['id']}")
    browser.press("Add a creative")
    browser.choose("Kind", "HTML")
    browser.fill("HTML", HTML)
    browser.fill("Landing page", "https://shop.example/final")
    browser.check("creative-html")
    browser.press("Add")
    browser.sees("Not all of your HTML was kept")
    browser.sees("The creative was saved, without some of your HTML.")
    browser.sees("<script>x()</script>")
    browser.check("creative-removed")
    stored = ads.listed("creatives", campaign_id=campaign["id"])[0]
    browser.press("Preview")
    frame = browser.element("iframe.preview")
    assert "allow-scripts" not in frame.get_attribute("sandbox") and "allow-same-origin" not in frame.get_attribute("sandbox")
    browser.web.switch_to.frame(frame)
    wait_for(lambda: "[Picture: The cup]" in browser.web.find_element(By.TAG_NAME, "body").text, "the text of the picture")
    browser.web.switch_to.default_content()
    browser.check("creative-html-preview")
    browser.press("Close", "//dialog")
    browser.press("Edit", "//tr")
    browser.choose("Size", "Another size")
    browser.fill("Width", "300")
    browser.press("Save")
    browser.sees("No slot of the campaign has this size")
    browser.sees("None of its slots has the size of a creative.")
    assert ads.read("creatives", stored)["width"] == 300
    browser.press("Delete", "//tr")
    browser.sees("It is the last creative of the campaign")
    browser.check("creative-delete")
    browser.press("Delete", "//dialog")
    browser.sees("No creatives yet")
    assert ads.listed("creatives", campaign_id=campaign["id"]) == []
    browser.check_quiet("creatives")


def test_a_campaign_is_edited_paused_started_and_deleted(at, ads):
    slot, other = ads.slot(name="Side"), ads.slot(slug="foot", name="Foot", width=300, height=250)
    campaign = ads.campaign(slot, name="Season", frequency_cap=3)
    ads.creative(campaign)
    browser = at(f"ads/{campaign['id']}")
    browser.sees("Running")
    browser.press("Pause")
    browser.sees("The campaign is paused.")
    assert ads.read("campaigns", campaign)["status"] == "paused"
    wait_for(lambda: browser.web.find_elements(By.XPATH, "//button[.='Start']"), "the button to start")
    browser.press("Start")
    browser.sees("The campaign is active.")
    browser.press_above("Edit", "//header[@class='title']")
    browser.sees("Edit Season")
    browser.press("Foot foot, 300 × 250")
    set_time(browser, "Start", 2)
    set_time(browser, "End", 1)
    browser.fill("Countries", "GB, XX")
    browser.press("Save")
    browser.sees("“XX”")
    browser.web.get_log("browser")
    browser.check("campaign-faults")
    browser.labeled("Countries").send_keys(Keys.CONTROL, "a", Keys.NULL, Keys.BACKSPACE)
    set_time(browser, "End", 9)
    browser.press("Save")
    browser.sees("The campaign was saved.")
    browser.sees("Scheduled")
    browser.sees("1 of its slots has no creative of the right size.")
    saved = ads.read("campaigns", campaign)
    assert sorted(saved["slot_ids"]) == sorted([slot["id"], other["id"]]) and saved["frequency_cap"] == 3
    browser.press_above("Delete", "//header[@class='title']")
    browser.sees("1 creative")
    browser.sees("0 impressions and 0 clicks")
    browser.check("campaign-delete")
    browser.press("Delete", "//dialog")
    browser.sees("Season was deleted.")
    ads.read("campaigns", campaign, expect=404)
    browser.check_quiet("campaign")


def test_figures_are_plotted_and_listed_by_day(at, ads, stack):
    _, campaign = ads.running(name="Counted")
    # 63 days up to tomorrow, because a midnight of UTC may pass. The impressions of any seven consecutive days have the same sum.
    stack.sql(f"""INSERT INTO ad_campaign_days (organization_id, campaign_id, day, impressions, clicks)
        SELECT organization_id, id, FLOOR(UNIX_TIMESTAMP() / 86400) + 2 - seq, 100 + 37 * MOD(seq, 7), MOD(seq, 11)
        FROM ad_campaigns JOIN {numbers(63)} WHERE id = UNHEX(REPLACE(%s, '-', ''))""", campaign["id"])
    browser = at("ads")
    browser.sees("Counted")
    row = f"//tr[contains(., 'Counted')][contains(., '{sum_of_days(7):,}')]"
    wait_for(lambda: browser.web.find_elements(By.XPATH, row), "the impressions of the week")
    browser.check("ads")
    browser.choose("Period", "Last 31 days")
    wait_for(lambda: not browser.web.find_elements(By.XPATH, row), "the impressions of the month")
    browser.press("Counted")
    wait_for(lambda: bars(browser) == 31, "a month")
    label = browser.element(".plot svg").get_attribute("aria-label")
    assert label.startswith("Impressions by day: ") and "at most 322 on" in label
    assert len(browser.web.find_elements(By.XPATH, "//table[caption='Figures by day']/tbody/tr")) == 31
    browser.check("campaign-figures")
    browser.choose("Period", "Last 366 days")
    wait_for(lambda: bars(browser) == 366, "a year")
    browser.check("campaign-year")
    browser.press_above("Delete", "//header[@class='title']")
    browser.sees(f"{sum_of_days(63):,} impressions")
    browser.press("Cancel", "//dialog")


def test_a_change_by_another_admin_is_not_overwritten(at, ads):
    slot = ads.slot(name="Shared")
    campaign = ads.campaign(slot, name="Mine")
    creative = ads.creative(campaign)
    browser = at(f"ads/{campaign['id']}/edit")
    browser.fill("Name", "My name")
    ads.change("campaigns", campaign, name="Their name")
    browser.press("Save")
    browser.sees("Another admin changed this campaign")
    browser.web.get_log("browser")
    browser.check("campaign-conflict")
    assert browser.labeled("Name").get_attribute("value") == "My name"
    browser.press("Show the current values")
    browser.sees("Edit Their name")
    assert browser.labeled("Name").get_attribute("value") == "Their name"

    browser = at(f"ads/{campaign['id']}")
    browser.sees("Their name")
    ads.change("campaigns", campaign, name="Third name")
    browser.press("Pause")
    browser.sees("Another admin changed this campaign")
    browser.press("Show the current values")
    browser.sees("Third name")
    assert ads.read("campaigns", campaign)["status"] == "active"
    browser.press("Delete", "//tr")
    ads.change("creatives", creative, alt="Their text")
    browser.press("Delete", "//dialog")
    browser.sees("Another admin changed this creative")
    browser.press("Show the current values")
    browser.sees("Their text")

    browser = at("slots")
    browser.press("Edit", "//tr[contains(., 'Shared')]")
    browser.fill("Name", "My slot")
    ads.change("slots", slot, name="Their slot")
    browser.press("Save")
    browser.sees("Another admin changed this slot")
    browser.press("Show the current values")
    browser.sees("Their slot")
    browser.web.get_log("browser")


def test_a_slot_is_changed_and_deleted_only_without_campaigns(at, ads):
    slot, taken = ads.slot(name="Foot of the page"), ads.slot(slug="taken", name="Taken")
    campaign = ads.campaign(slot, name="User of the slot")
    browser = at("slots")
    browser.sees("Foot of the page")
    row = "//tr[contains(., 'Foot of the page')]"
    browser.press("Edit", row)
    browser.fill("Short name", taken["slug"])
    browser.press("Save")
    browser.sees("Another slot has this short name.")
    browser.web.get_log("browser")
    browser.check("slot-edit")
    browser.fill("Short name", "foot-of-page")
    browser.press("Save")
    browser.sees("The slot was saved.")
    assert ads.read("slots", slot)["slug"] == "foot-of-page"
    browser.press("Delete", row)
    browser.sees("1 campaign uses this slot")
    browser.sees("User of the slot")
    browser.check("slot-in-use")
    browser.press("Close", "//dialog")
    ads.delete("campaigns", campaign)
    browser.press("Delete", row)
    browser.sees("No campaign uses it.")
    late = ads.campaign(slot)
    browser.press("Delete", "//dialog")
    browser.sees("campaigns use this slot: 1")
    browser.web.get_log("browser")
    browser.press("Cancel", "//dialog")
    ads.delete("campaigns", late)
    browser.press("Delete", row)
    browser.press("Delete", "//dialog")
    browser.sees("Foot of the page was deleted.")
    browser.check("slots")


def test_the_code_of_a_slot_needs_a_key(at, ads):
    ads.slot(name="Alone")
    browser = at("slots")
    browser.press("Code for pages", "//tr[contains(., 'Alone')]")
    browser.sees("The code needs a tracking key.")
    browser.check("slot-code-no-key")
    browser.press("Issue one")
    browser.sees("No tracking keys yet")


def test_a_page_with_the_code_of_a_slot_shows_the_ad_and_counts_it(stack, at, ads, module_org):
    slot = ads.slot(slug="coded", name="Coded")
    campaign = ads.campaign(slot)
    ads.creative(campaign, kind="html", html="<b>Final on Sunday</b>", image_url=None, alt=None)
    site = Site("")
    visitor = start_browser(stack.folder / "tmp/ads-visitor")
    try:
        key = PageKey(module_org, site.origin)
        browser = at("slots")
        browser.press("Code for pages", "//tr[contains(., 'Coded')]")
        browser.sees(f"The key works on pages of {site.origin}")
        code = browser.element(".snippet pre").text
        assert f"key={key.token}&slot=coded" in code
        browser.check("slot-code")
        site.html = f"<!doctype html><body>{code}</body>"
        visitor.get(site.origin)
        wait_for(lambda: "Final on Sunday" in visitor.find_element(By.TAG_NAME, "body").text, "the ad")
        wait_for(lambda: ads.counted(campaign) == (1, 0), "the impression")
    finally:
        visitor.quit()
        site.close()
    browser = at(f"ads/{campaign['id']}")
    browser.sees("Figures by day")
    browser.check("campaign-first-impression")


def test_hostile_text_stays_text(at, ads):
    campaign = ads.campaign(ads.slot(name=HOSTILE), name=HOSTILE)
    ads.creative(campaign, alt=HOSTILE)
    for path in ("ads", f"ads/{campaign['id']}", f"ads/{campaign['id']}/edit", "slots"):
        browser = at(path)
        browser.sees(HOSTILE)
        assert not browser.web.find_elements(By.CSS_SELECTOR, "main img")
        browser.check_quiet(path)


def test_a_viewer_sees_ads_without_buttons(module_org, ads, own_browser):
    _, campaign = ads.running(name="Read me")
    viewer = own_browser
    viewer.sign_in(module_org.new_admin("viewer"))
    viewer.open(f"#/o/{module_org.id}/ads/{campaign['id']}")
    viewer.sees("No impressions or clicks in this period.")
    viewer.web.get_log("browser")  # the page before the sign-in has no icon
    viewer.check("campaign-viewer")
    assert not {"Pause", "Edit", "Delete", "Add a creative"} & set(viewer.text().split("\n"))
    viewer.open(f"#/o/{module_org.id}/slots")
    viewer.sees("Code for pages")
    assert not {"Create a slot", "Edit", "Delete"} & set(viewer.text().split("\n"))
