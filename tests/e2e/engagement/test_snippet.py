"""The tracking snippet /js/muster.js in a real browser, on pages of an allowed and of a foreign origin
(docs/engagement.md "Tracking")."""

import gzip
import json

import pytest
from support.browser import Site, start_browser
from support.page_keys import Counted, PageKey, stored_events, wait_for_events
from support.stack import wait_for

PAGE = """<!doctype html><title>A page</title>
<script>
%s
window.muster = window.muster || {q: []}
muster.q.push(["opened", {tags: ["early"]}])
</script>
<script src="%s/js/muster.js" data-key="%s" async></script>
"""
NO_STORAGE = 'Object.defineProperty(window, "localStorage", {get() { throw new DOMException("blocked") }})'
# The first reply is lost, so the page cannot know whether its events were stored.
LOST_ANSWER = """
const real = fetch; window.calls = 0
window.fetch = async (...what) => { const reply = await real(...what); if (!calls++) throw new TypeError("lost"); return reply }
"""
# Without fetch, a page that closes can only send a beacon.
NO_FETCH = "window.fetch = () => Promise.reject(new TypeError('offline'))"
# As soon as the snippet has loaded, so that "opened" still waits for other events.
CLICKS = """
addEventListener("load", () => {
    for (let n = 0; n < 5; n++) muster.track("clicked", {metadata: {n}, tags: ["menu", "Zürich"]})
})
"""
LOADED = "return !!(window.muster && muster.track)"


@pytest.fixture(scope="module")
def browser(stack):
    with start_browser(stack.folder / "tmp/browser", windows=True) as running:
        yield running


@pytest.fixture
def sites():
    made = []

    def make(html=""):
        made.append(Site(html))
        return made[-1]

    yield make
    for site in made:
        site.close()


class Shop:
    """A page of an organization that tracks with a key for the origin of `site`."""

    def __init__(self, org, browser, site, key, first=""):
        self.org, self.browser, self.site = org, browser, site
        site.html = PAGE % (first, org.stack.base_url, key.token)
        self.open()

    def open(self, path="/"):
        self.browser.get(self.site.origin + path)
        wait_for(lambda: self.browser.execute_script(LOADED), "the snippet to load")

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def rows(self):
        """(action, anonymous_id, client_event_id, tags, metadata) of the events, in order."""
        return self.org.stack.sql(
            "SELECT action, anonymous_id, client_event_id, tags, metadata FROM engagement_events WHERE organization_id = "
            "UNHEX(REPLACE(%s, '-', '')) ORDER BY id", self.org.id)


@pytest.fixture
def shop(new_org, browser, sites):
    org, site = new_org(attributes=False), sites()
    key = PageKey(org, site.origin)
    return lambda first="": Shop(org, browser, site, key, first)


def test_the_snippet_is_small_enough(stack):
    script = (stack.source / "nginx/static/js/muster.js").read_bytes()
    assert len(script) < 2304 and len(gzip.compress(script)) < 1280


def test_events_arrive_once_and_in_batches(stack, shop):
    tracked = Counted(stack, "trackEvents")
    page = shop(CLICKS)
    assert wait_for_events(page.org, 6) == ["opened"] + ["clicked"] * 5
    wait_for(lambda: tracked.all() == {"2xx": 1}, "the request to be answered")
    rows = page.rows()
    assert len({row[1] for row in rows}) == 1 and rows[0][1]  # one visitor
    assert len({row[2] for row in rows}) == 6  # each event has its own id
    assert [json.loads(row[4]) for row in rows[1:]] == [{"n": number} for number in range(5)]
    assert "Zürich" in str(rows[1][3])
    assert tracked.all() == {"2xx": 1}
    page.run("muster.q.push(['pushed'])")  # pages that use only the queue still work
    assert wait_for_events(page.org, 7)[-1] == "pushed"
    wait_for(lambda: tracked.all() == {"2xx": 2}, "both to be answered")


def test_many_events_are_sent_in_few_calls(stack, shop):
    tracked = Counted(stack, "trackEvents")
    page = shop()
    wait_for(lambda: tracked.all() == {"2xx": 1}, "the first event to be answered")
    page.run("for (let n = 0; n < 130; n++) muster.track('seen', {metadata: {n}})")
    wait_for_events(page.org, 131)
    few = ({"2xx": 5}, {"2xx": 4})  # with that of the first event
    wait_for(lambda: tracked.all() in few, "all to be answered")
    numbers = [json.loads(row[4])["n"] for row in page.rows()[1:]]
    assert numbers == list(range(130))
    assert tracked.all() in few


def test_a_visitor_is_recognized_and_a_member_has_no_visitor_id(shop):
    page = shop()
    page.open("/another")
    wait_for_events(page.org, 2)
    page.run("muster.track('bought', {member_external_id: 'm-1'}); muster.track('named', {anonymous_id: 'own'})")
    wait_for_events(page.org, 4)
    opened, again, bought, named = (row[1] for row in page.rows())
    assert opened and opened == again and bought is None and named == "own"


def test_without_storage_a_visitor_id_lasts_for_the_page(shop):
    page = shop(NO_STORAGE)
    page.run("muster.track('clicked')")
    wait_for_events(page.org, 2)
    assert len({row[1] for row in page.rows()}) == 1 and page.rows()[0][1]


def test_closing_the_page_sends_a_beacon(stack, shop):
    page = shop(NO_FETCH)
    tracked = Counted(stack, "trackEvents")
    page.run("for (let n = 0; n < 8; n++) muster.track('last', {metadata: {text: '\\u20ac'.repeat(2500)}})")
    page.browser.get("about:blank")
    assert sorted(wait_for_events(page.org, 9)) == ["last"] * 8 + ["opened"]
    wait_for(lambda: tracked.all() == {"2xx": 2}, "both to be answered")  # of less than 64 KiB each
    assert all(len(json.loads(row[4])["text"]) == 2500 for row in page.rows() if row[0] == "last")
    assert tracked.all() == {"2xx": 2}


def test_hiding_the_page_sends_a_beacon_and_tracking_continues(shop):
    page = shop(NO_FETCH)
    first = page.browser.current_window_handle
    page.run("muster.track('before')")
    page.browser.switch_to.new_window("tab")
    wait_for_events(page.org, 2)
    page.browser.close()
    page.browser.switch_to.window(first)
    page.run("muster.track('after')")
    page.browser.get("about:blank")
    assert wait_for_events(page.org, 3) == ["opened", "before", "after"]


def test_a_lost_reply_duplicates_no_event(stack, shop):
    tracked = Counted(stack, "trackEvents")
    page = shop(LOST_ANSWER)
    page.run("muster.track('clicked')")
    wait_for(lambda: page.run("return calls") == 2, "the second attempt")
    wait_for(lambda: tracked.all() == {"2xx": 2}, "both to be answered")
    assert stored_events(page.org) == ["opened", "clicked"]


def test_events_are_sent_after_an_outage(stack, shop):
    page = shop()
    wait_for_events(page.org, 1)
    with stack.without("musterd"):
        page.run("muster.track('meanwhile')")
        refused = 'path="/v1/track" protocol=HTTP/2.0 status=503'
        wait_for(lambda: refused in stack.log("nginx.access"), "a rejection")
    wait_for(stack.answers, "the service to respond again")
    assert wait_for_events(page.org, 2, 60) == ["opened", "meanwhile"]


def test_a_rejected_batch_is_dropped_and_tracking_continues(stack, shop):
    tracked = Counted(stack, "trackEvents")
    page = shop()
    wait_for(lambda: tracked.all() == {"2xx": 1}, "the first event to be answered")
    page.run("muster.track('wrong', {tags: 5})")
    wait_for(lambda: tracked.all() == {"2xx": 1, "4xx": 1}, "the rejection")
    page.run("muster.track('right')")
    assert wait_for_events(page.org, 2) == ["opened", "right"]
    wait_for(lambda: tracked.all() == {"2xx": 2, "4xx": 1}, "the last event to be answered")


def test_a_foreign_page_stores_nothing_and_sees_nothing(stack, shop, sites):
    tracked = Counted(stack, "trackEvents")
    page = shop()
    wait_for(lambda: tracked.all() == {"2xx": 1}, "the event of the own page to be answered")
    foreign = sites(page.site.html)
    page.browser.get(foreign.origin)
    wait_for(lambda: page.run(LOADED), "the snippet to load")
    page.run("muster.track('stolen')")
    url = page.run("return document.scripts[1].src.replace('/js/muster.js', '/v1/track?key=' + "
                   "document.scripts[1].dataset.key)")
    ask = """const done = arguments[arguments.length - 1]
        fetch(arguments[0], {method: "POST", body: arguments[1], mode: arguments[2]})
            .then(reply => done([reply.type, reply.status]), error => done(error.name))"""
    body = json.dumps({"action": "stolen", "anonymous_id": "x"})
    assert page.browser.execute_async_script(ask, url, body, "cors") == "TypeError"
    assert page.browser.execute_async_script(ask, url, body, "no-cors") == ["opaque", 0]
    page.browser.get("about:blank")  # its beacon too
    wait_for(lambda: tracked.all().get("4xx", 0) >= 3, "the rejections")
    assert tracked.all().get("2xx") == 1 and stored_events(page.org) == ["opened"]
    # The same with the key in the body.
    page.browser.get(sites().origin)
    tracked = Counted(stack, "trackEvents")
    hidden = json.dumps({"action": "stolen", "anonymous_id": "x", "key": url.partition("key=")[2]})
    assert page.browser.execute_async_script(ask, url.partition("?")[0], hidden, "cors") == "TypeError"
    wait_for(lambda: tracked.all().get("4xx"), "the rejection")
    assert "2xx" not in tracked.all() and stored_events(page.org) == ["opened"]


CAUGHT = "window.said = []; console.log = (...what) => said.push(what.map(one => one.stack || JSON.stringify(one)).join(' '))"


def test_with_debug_the_console_shows_events_and_replies(new_org, browser, sites):
    org, site = new_org(attributes=False), sites()
    key = PageKey(org, site.origin)
    for attribute, is_shown in (("data-debug", True), ("", False)):
        site.html = PAGE.replace("data-key", f"{attribute} data-key") % (CAUGHT, org.stack.base_url, key.token)
        browser.get(site.origin)
        wait_for(lambda: browser.execute_script(LOADED), "the snippet to load")
        tracked = Counted(org.stack, "trackEvents")
        browser.execute_script("for (let n = 0; n < 20; n++) muster.track('')")  # 20 are sent at once
        wait_for(lambda: tracked.all().get("4xx"), "the rejection")
        if not is_shown:
            assert browser.execute_script("return said") == []
            continue
        said = wait_for(lambda: (lines := browser.execute_script("return said")) and "422" in lines[-1] and lines, "the reply")
        assert "opened" in said[0] and "events[1].action" in said[-1]
