"""The console's screens of articles in a real browser (docs/console.md)."""

import datetime

import pytest
from support.browser import wait_for

PATH = "/console/v1/articles"
WINDOWS = True  # the previews are frames
FORBIDDEN = '<p onclick="x()">See <b>you</b></p>\n<script>x()</script>\n<p><img src="https://img.example/a.png" alt="The cup"></p>'
STORED = '<p>See <b>you</b></p>'
# Counts the calls for a preview; with window.previews.refuses they are answered with 429.
WATCH_PREVIEWS = """const send = window.fetch
const seen = window.previews = {texts: [], running: 0, most: 0, refuses: false}
const refusal = () => new Response(JSON.stringify({error: {code: "RATE_LIMITED", message: "Wait.", status: 429}}),
    {status: 429, headers: {"Content-Type": "application/json"}})
window.fetch = async (address, options) => {
    if (!address.endsWith("/articles/preview")) return send(address, options)
    seen.texts.push(JSON.parse(options.body).body_html)
    seen.most = Math.max(seen.most, ++seen.running)
    try { return seen.refuses ? refusal() : await send(address, options) } finally { seen.running -= 1 }
}"""
IN_A_DAY = """const at = new Date(Date.now() + 86400000 - new Date().getTimezoneOffset() * 60000)
arguments[0].value = at.toISOString().slice(0, 16)
arguments[0].dispatchEvent(new Event("input", {bubbles: true}))"""


@pytest.fixture
def console(module_org):
    return module_org.admin().api


def preview_of(browser):
    """The text of the preview's frame."""
    try:
        browser.web.switch_to.frame(browser.element("iframe.preview"))
        return browser.web.find_element("tag name", "body").text
    finally:
        browser.web.switch_to.default_content()


def previews(browser, text):
    wait_for(lambda: text in preview_of(browser), f"{text!r} in the preview")


def test_an_article_is_written_changed_published_and_deleted(at, console):
    browser = at("articles")
    browser.sees("No articles yet")
    browser.check("articles-empty")
    browser.press("Write an article")
    browser.sees("New article")
    browser.fill("Title", "Cup final: 2:1")
    assert browser.labeled("Short name").get_attribute("value") == "cup-final-2-1"
    browser.fill("Tags", "cup, Fußball")
    browser.fill("Text as HTML", FORBIDDEN)
    previews(browser, "Cup final: 2:1")
    previews(browser, "See you")
    browser.sees("Line 2: <script> and everything in it")
    browser.check("article-new")
    browser.press("Create draft")
    browser.sees("The draft was created, without some of your HTML.")
    browser.sees("Not all of your HTML was kept")
    assert browser.text().count("Not all of your HTML was kept") == 1
    browser.sees("<script>x()</script>")
    previews(browser, "See you")
    previews(browser, "[Picture: The cup]")
    browser.sees("1 picture is not shown here")
    browser.check("article-draft")
    browser.press("Close this message")
    article = console.get_json(PATH)["articles"][0]
    assert (article["slug"], article["tags"], article["status"]) == ("cup-final-2-1", ["cup", "Fußball"], "draft")
    stored = console.get_json(f"{PATH}/{article['id']}")["body_html"]
    assert stored.startswith(STORED) and browser.labeled("Text as HTML").get_attribute("value") == stored

    browser.fill("Text as HTML", "<p>New text</p>")
    previews(browser, "New text")
    browser.sees("The preview shows your changes, which are not saved.")
    browser.sees("Save them before you publish or delete.")
    browser.check("article-changed")
    browser.press("Save")
    browser.sees("The article was saved.")
    previews(browser, "New text")
    assert "Not all of your HTML" not in browser.text()
    browser.press_above("Publish")
    browser.check("article-publish")
    browser.press("Publish", "//dialog")
    browser.sees("The article is published.")
    browser.sees("Unpublish")
    browser.check("article-published")
    browser.press_above("Unpublish")
    browser.check("article-unpublish")
    browser.press("Unpublish", "//dialog")
    browser.sees("The article is a draft again.")
    wait_for(lambda: "Unpublish" not in browser.text(), "the state of the draft")
    browser.press_above("Delete")
    browser.sees("No site shows it.")
    browser.check("article-delete")
    browser.press("Delete", "//dialog")
    browser.sees("was deleted.")
    browser.sees("No articles yet")
    assert console.get_json(PATH)["articles"] == []


def test_an_article_is_scheduled_moved_and_made_a_draft(at, module_org, console):
    made = module_org.create_article(title="Season")
    browser = at(f"articles/{made['id']}")
    browser.press_above("Publish")
    browser.choose("When", "At a time")
    browser.web.execute_script(IN_A_DAY, browser.labeled("Time"))
    browser.check("article-schedule")
    browser.press("Schedule")
    browser.sees("The article is scheduled.")
    browser.sees("Will be published")
    browser.check("article-scheduled")
    record = console.get_json(f"{PATH}/{made['id']}")
    wait = datetime.datetime.fromisoformat(record["publish_at"]) - datetime.datetime.now(datetime.timezone.utc)
    assert datetime.timedelta(hours=23) < wait < datetime.timedelta(hours=25)
    browser.press_above("Change time")
    browser.sees("Change the time of")
    assert browser.labeled("Time").get_attribute("value")
    browser.press("Cancel", "//dialog")
    browser.press_above("Make it a draft")
    browser.press("Make it a draft", "//dialog")
    browser.sees("The article is a draft again.")
    assert console.get_json(f"{PATH}/{made['id']}")["status"] == "draft"


def test_the_text_is_formatted_with_buttons(at, module_org, console):
    made = module_org.create_article(body_html="")
    browser = at(f"articles/{made['id']}")
    browser.fill("Text as HTML", "Won")
    browser.web.execute_script("arguments[0].select()", browser.labeled("Text as HTML"))
    browser.press("Bold")
    wait_for(lambda: browser.labeled("Text as HTML").get_attribute("value") == "<strong>Won</strong>", "the bold text")
    browser.press("Save")
    browser.sees("The article was saved.")
    assert console.get_json(f"{PATH}/{made['id']}")["body_html"] == "<strong>Won</strong>"
    browser.fill("Text as HTML", "")
    browser.press("Bold")
    browser.web.switch_to.active_element.send_keys("Won again")
    wait_for(lambda: browser.labeled("Text as HTML").get_attribute("value") == "<strong>Won again</strong>", "the text in its element")


def test_a_change_that_the_sanitizer_removes_is_shown(at, module_org):
    made = module_org.create_article(body_html="<p>Text</p>")
    browser = at(f"articles/{made['id']}")
    browser.fill("Text as HTML", "<p>Text</p><script>x()</script>")
    browser.press("Save")
    browser.sees("Not all of your HTML was kept")
    wait_for(lambda: browser.labeled("Text as HTML").get_attribute("value") == "<p>Text</p>", "the stored text")


def test_the_preview_follows_the_text_and_stores_nothing(at, module_org, console):
    made = module_org.create_article(title="Live", body_html="<p>Stored</p>")
    browser = at(f"articles/{made['id']}")
    previews(browser, "Stored")
    browser.web.execute_script(WATCH_PREVIEWS)
    browser.fill("Text as HTML", FORBIDDEN)
    previews(browser, "See you")
    previews(browser, "[Picture: The cup]")
    browser.sees("The preview shows your changes, which are not saved. 2 parts of your HTML will not be kept:")
    browser.sees("Line 1: onclick of <p>")
    browser.sees("Line 2: <script> and everything in it")
    browser.check("article-live")
    seen = browser.web.execute_script("return window.previews")
    assert seen["most"] == 1 and seen["texts"][-1] == FORBIDDEN and len(seen["texts"]) < len(FORBIDDEN) / 2
    browser.fill("Title", "Renamed")
    previews(browser, "Renamed")
    assert browser.web.execute_script("return window.previews.texts.length") == len(seen["texts"])
    assert console.get_json(f"{PATH}/{made['id']}") == made
    browser.fill("Title", "Live")
    browser.fill("Text as HTML", "<p>Stored</p>")
    previews(browser, "Stored")
    wait_for(lambda: "not saved" not in browser.text(), "the stored article alone")


def test_a_preview_that_fails_shows_the_stored_article(at, module_org, console):
    made = module_org.create_article(body_html="<p>Stored</p>")
    browser = at(f"articles/{made['id']}")
    previews(browser, "Stored")
    browser.web.execute_script(WATCH_PREVIEWS)
    browser.fill("Text as HTML", "<p>First</p>")
    previews(browser, "First")
    browser.web.execute_script("window.previews.refuses = true")
    browser.fill("Text as HTML", "<p>Second</p>")
    browser.sees("The preview is not available. Too many requests. Wait a moment, and try again. Below is the saved article.")
    previews(browser, "Stored")
    browser.check("article-live-refused")
    browser.web.execute_script("window.previews.refuses = false")
    browser.press_above("Try again")
    previews(browser, "Second")
    browser.fill("Text as HTML", "x" * 10)
    previews(browser, "xxxxxxxxxx")
    browser.press("Save")
    browser.sees("The article was saved.")
    assert console.get_json(f"{PATH}/{made['id']}")["body_html"] == "x" * 10


def test_faults_and_a_change_by_another_admin_keep_the_text(at, module_org, console):
    module_org.create_article(slug="taken")
    made = module_org.create_article()
    browser = at(f"articles/{made['id']}")
    browser.fill("Short name", "taken")
    browser.fill("Tags", "a, a")
    browser.press("Save")
    browser.sees("“a” is given twice")
    assert "tags[1]" not in browser.text()
    browser.fill("Tags", "a")
    browser.press("Save")
    browser.sees("Another article has this short name.")
    browser.fill("Short name", "free")
    browser.fill("Text as HTML", "<p>Mine</p>")
    console.request("PATCH", f"{PATH}/{made['id']}", json={"title": "Theirs"}, expect=200)
    browser.press("Save")
    browser.sees("Another admin changed this article")
    browser.web.get_log("browser")
    browser.check("article-conflict")
    assert browser.labeled("Text as HTML").get_attribute("value") == "<p>Mine</p>"
    browser.press("Show the current article")
    browser.sees("Theirs")
    assert browser.labeled("Text as HTML").get_attribute("value") == made["body_html"]


def test_articles_are_searched_and_filtered(at, module_org):
    for index in range(51):
        module_org.create_article(title=f"Report {index:02}", tags=["report"])
    module_org.published_article(title="Über uns", locale="de-DE")
    browser = at("articles")
    browser.sees("Über uns")
    browser.check("articles")
    browser.press("Show more")
    browser.sees("Report 00")
    browser.fill("Search", "uber")
    wait_for(lambda: "Report" not in browser.text(), "the match alone")
    browser.sees("Über uns")
    browser.choose("State", "Drafts")
    browser.sees("No article matches")
    assert "q=uber&status=draft" in browser.web.current_url


def test_hostile_text_stays_text(at, module_org):
    made = module_org.create_article(title="<img src=x onerror=alert(1)>", body_html='<p><a href="https://shop.example/">Shop</a></p>')
    browser = at(f"articles/{made['id']}")
    previews(browser, "<img src=x onerror=alert(1)>")
    frame = browser.element("iframe.preview")
    assert "allow-scripts" not in frame.get_attribute("sandbox") and "allow-same-origin" not in frame.get_attribute("sandbox")
    browser.check_quiet("article")


def test_a_viewer_reads_articles_without_buttons(module_org, own_browser):
    made = module_org.create_article(title="Read me")
    viewer = own_browser
    viewer.sign_in(module_org.new_admin("viewer"))
    viewer.open(f"#/o/{module_org.id}/articles/{made['id']}")
    previews(viewer, "Read me")
    viewer.web.get_log("browser")  # the page before the sign-in has no icon
    viewer.check("article-viewer")
    assert not {"Save", "Publish", "Delete"} & set(viewer.text().split("\n"))
    viewer.open(f"#/o/{module_org.id}/articles")
    viewer.sees("Read me")
    assert "Write an article" not in viewer.text()
