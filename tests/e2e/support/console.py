"""The console in a real browser, and what every finished screen must pass (docs/console.md)."""

import base64
import json
import os
from urllib.parse import urlsplit

from selenium.common.exceptions import ElementClickInterceptedException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from .admin import totp
from .browser import start_browser, wait_for
from .npm import Packages

WIDTHS = (320, 1920)
THEMES = ("light", "dark")
PARTS_OF_A_TIME = 8  # places in a field of a time where the Tab key stops
OTHER_STOPS = 2  # the page itself, and the control after the last one
# Before the first script of each page: reports of the page's own policy, and a way to leave without a question. A test may
# leave a form with changes. chromedriver answers the question about them, and can fail because it is already closed.
# Chromium calls the listeners of this event in the order in which they were added, so this must be the first. It cannot run in
# the sandboxed frame of a preview.
WATCH = """window.reports = []
addEventListener("securitypolicyviolation", event => reports.push([event.violatedDirective, event.blockedURI, event.sample]))
if (window === top) addEventListener("beforeunload", event => window.leavesUnasked && event.stopImmediatePropagation())"""
AXE = """const [rules, done] = arguments
axe.run(document, {resultTypes: ["violations"], ...rules}).then(found => done(found.violations
    .filter(one => ["serious", "critical"].includes(one.impact))
    .map(one => [one.id, one.nodes.map(node => node.html.slice(0, 200) + " " + node.failureSummary)])), error => done(String(error)))"""
# Notes which of the controls that the Tab key must reach get the focus and lose it. Returns whether each is a field of a time.
WALK = """const scope = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document
const controls = [...scope.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")].filter(one =>
    !one.disabled && one.checkVisibility({visibilityProperty: true}))
const reached = new Set([document.activeElement]), left = new Set(), end = new AbortController()
document.addEventListener("focusin", event => reached.add(event.target), {capture: true, signal: end.signal})
document.addEventListener("focusout", event => left.add(event.target), {capture: true, signal: end.signal})
window.endWalk = () => end.abort()
window.missedOnWalk = () => controls.filter(one => !reached.has(one) || !left.has(one)).map(one => one.outerHTML.slice(0, 200))
return controls.map(one => ["date", "datetime-local"].includes(one.type))"""
OVERFLOW = """const wide = document.documentElement.scrollWidth - innerWidth
if (wide <= 0) return []
return [`${wide} px`, ...[...document.querySelectorAll("body *")].filter(one => one.getBoundingClientRect().right > innerWidth + 1 &&
    !one.closest(".scroll")).map(one => one.outerHTML.slice(0, 120))]"""


def quoted(text):
    """A string of XPath, which has no escapes."""
    return f"'{text}'" if '"' in text else f'"{text}"'


def labeled(label):
    """The path of the control with this label."""
    return f"//*[@id=//label[normalize-space(.)={quoted(label)}]/@for]"


def unused_code(admin):
    """A code that stays valid while a browser types it."""
    step = admin.lasting_step()
    if step is None:
        admin.forget_steps()
        step = admin.lasting_step()
    return totp(admin.secret, step)


class ConsoleBrowser:
    """One browser with the console of a stack. Close it."""

    def __init__(self, stack, name="console", windows=False):
        self.stack, self.web = stack, start_browser(stack.folder / f"tmp/{name}-browser", logs=True, windows=windows)
        self.web.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        # Colors change at once, so that a check of contrasts does not see them on the way.
        self.web.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
        self.axe = (Packages(stack.build, "e2e/axe").folder / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
        self.pictures = stack.build / "screens" if os.environ.get("PICTURES") else None
        self.resize(1280)

    def close(self):
        self.web.quit()

    # ------------------------------------------------------------------ pages
    def resize(self, width, height=900):
        self.web.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                 {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def open(self, address=""):
        """Loads the console at an address: the part after #."""
        console = f"{self.stack.base_url}/console/"
        if self.web.current_url.startswith(console):  # a reload keeps the process of the page, and its compiled scripts
            self.web.execute_script("history.replaceState(null, '', arguments[0])", console + address)
            self.reload()
        else:
            self.web.get(console + address)

    def reload(self):
        """Loads the page again, without its question."""
        def is_replaced():
            self.web.refresh()
            return not self.web.execute_script("return window.leavesUnasked")

        self.web.execute_script("leavesUnasked = true")
        self.wait(is_replaced, "another document")

    def forget(self):
        """Deletes the cookie and the storage, so that the browser has no session, and no sign-in that has begun."""
        if self.web.current_url.startswith(self.stack.base_url):
            self.web.execute_script("leavesUnasked = true; try { sessionStorage.clear() } catch {}")
        self.web.get("about:blank")
        self.web.execute_cdp_cmd("Network.clearBrowserCookies", {})
        self.web.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": self.stack.base_url, "storageTypes": "local_storage,indexeddb"})
        self.web.get_log("browser")  # of the pages before

    def text(self):
        return self.web.execute_script("return document.body.innerText")

    def wait(self, look, what, *limits):
        """wait_for() whose failure has what the page shows and the browser logged."""
        try:
            return wait_for(look, what, *limits)
        except AssertionError as missed:
            logged = [entry["message"] for entry in self.web.get_log("browser")]
            raise AssertionError(f"{missed}; the page shows {self.text()[:1500]!r}; the browser logged {logged}") from None

    def sees(self, text, seconds=15):
        self.wait(lambda: text in self.text(), f"the text {text!r}", seconds)

    def has_focus(self, text):
        self.wait(lambda: self.web.switch_to.active_element.text == text, f"the focus on {text!r}")

    def element(self, css):
        return self.wait(lambda: self.web.find_elements(By.CSS_SELECTOR, css), f"an element {css}")[0]

    def labeled(self, label):
        """The control with this label."""
        return self.wait(lambda: self.web.find_elements(By.XPATH, labeled(label)), f"a field {label}")[0]

    def shown(self, label):
        """The control with this label, once its dialog is open."""
        def look():
            return [one for one in self.web.find_elements(By.XPATH, labeled(label))[:1] if one.is_displayed()]

        return self.wait(look, f"the field {label} to be shown")[0]

    def fill(self, label, text):
        field = self.shown(label)
        if field.get_attribute("type") in ("date", "datetime-local", "time"):
            field.clear()
            field.send_keys(text)
        else:  # what is typed replaces the old text, which a page that is drawn meanwhile would restore
            field.send_keys(Keys.CONTROL, "a")
            field.send_keys(text or Keys.DELETE)

    def click(self, path, what, before=""):
        """Clicks the last element of the path that can be clicked. If the page is drawn meanwhile, which may replace or cover the
        element, it tries again. before: a script that runs before each try."""
        def is_clicked():
            if before:
                self.web.execute_script(before)
            ready = [one for one in self.web.find_elements(By.XPATH, path) if one.is_displayed() and one.is_enabled()]
            try:
                return bool(ready) and (ready[-1].click() or True)
            except ElementClickInterceptedException:
                return False

        self.wait(is_clicked, what)

    def press(self, text, within="", before=""):
        """Presses the button or link with this text."""
        path = f"{within}//*[self::button or self::a or self::label][normalize-space(.)={quoted(text)}]"
        self.click(path, f"a button {text!r}", before)

    def press_above(self, text, within=""):
        """Presses a button of the title, above what is in view."""
        self.press(text, within, "scrollTo(0, 0)")

    def choose(self, label, text):
        self.shown(label)
        self.click(f"({labeled(label)})[1]/option[normalize-space(.)={quoted(text)}]", f"the choice {text!r} of {label}")

    # ------------------------------------------------------------------ access
    def sign_in(self, admin):
        """Signs in as a person does; enrolls if the admin has no second factor yet."""
        self.forget()
        self.open()
        self.fill("Mail address", admin.address)
        before = admin.mails_before()
        self.press("Send code")
        self.fill("Code", admin.code_after(before))
        self.press("Sign in")
        if admin.secret is None:
            self.enroll(admin)
        else:
            self.pass_factor(admin)
        self.sees("Members")
        cookie = self.web.get_cookie("__Host-muster-session")
        self.stack.keys_issued.append(cookie["value"])

    def pass_factor(self, admin):
        """Enters a code of the authenticator."""
        self.fill("Code of your authenticator", unused_code(admin))
        self.press("Continue")

    def enroll(self, admin):
        self.sees("Set up your authenticator")
        admin.secret = self.element("code.wrap").text
        admin.backup_codes = [one.text for one in self.web.find_elements(By.CSS_SELECTOR, ".codes code")]
        self.stack.keys_issued += [admin.secret, *admin.backup_codes]
        self.press("I saved the backup codes")
        self.fill("Code of your authenticator", unused_code(admin))
        self.press("Finish")

    # ------------------------------------------------------------------ what a finished screen passes
    def theme(self, theme):
        self.web.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)

    def check(self, name):
        """Checks the screen that is shown, in both themes and widths. With PICTURES=yes it keeps pictures of it."""
        self.wait(lambda: not self.web.find_elements(By.CSS_SELECTOR, "[aria-busy=true]"), f"{name} to be loaded")
        for width in WIDTHS:
            self.resize(width)
            assert self.web.execute_script(OVERFLOW) == [], f"{name} is wider than {width} px"
            if width == min(WIDTHS):
                self.picture(f"{name}-narrow")
        self.resize(1280)
        for theme in THEMES:  # a theme changes nothing but colors
            self.theme(theme)
            self.check_accessibility(f"{name}, {theme}", *(["color-contrast"] if theme != THEMES[0] else []))
            self.picture(f"{name}-{theme}")
        self.web.execute_script("delete document.documentElement.dataset.theme")
        self.walk(name)
        self.check_quiet(name)

    def picture(self, name):
        """With PICTURES=yes, keeps a picture of the whole page, at most 2,400 px high, in build/screens."""
        if self.pictures is None:
            return
        self.pictures.mkdir(parents=True, exist_ok=True)
        width, height = self.web.execute_script("return [innerWidth, Math.min(2400, Math.max(900, document.documentElement.scrollHeight))]")
        taken = self.web.execute_cdp_cmd("Page.captureScreenshot", {
            "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}, "captureBeyondViewport": True, "optimizeForSpeed": True})
        (self.pictures / f"{name}.png").write_bytes(base64.b64decode(taken["data"]))

    def check_accessibility(self, name, *only):
        """only: the rules of axe to check instead of all."""
        if not self.web.execute_script("return window.axe !== undefined"):
            self.web.execute_script(self.axe)
        found = self.web.execute_async_script(AXE, {"runOnly": only} if only else {})
        assert found == [], f"{name}: {found}"

    def walk(self, name):
        """Tab alone reaches every control, and leaves it again."""
        are_times = self.web.execute_script(WALK)
        once = Keys.TAB * (len(are_times) + PARTS_OF_A_TIME * sum(are_times) + OTHER_STOPS)
        for _ in range(2):
            ActionChains(self.web).send_keys(once).perform()
            missed = self.web.execute_script("return missedOnWalk()")
            if not missed:
                break
        self.web.execute_script("endWalk()")
        assert missed == [], f"{name}: Tab does not reach or leave {missed}"

    def check_quiet(self, name):
        """No warning in the console, no report of the policy, no request to another origin."""
        reports = self.web.execute_script("return window.reports")
        assert not reports, f"{name}: {reports}"
        messages = [one["message"] for one in self.web.get_log("browser") if one["level"] in ("WARNING", "SEVERE")]
        assert not messages, f"{name}: {messages}"
        own = urlsplit(self.stack.base_url).netloc
        others = [url for url in self.requests() if urlsplit(url).scheme in ("http", "https") and urlsplit(url).netloc != own]
        assert not others, f"{name}: {others}"

    def requests(self):
        """The addresses that were requested since the last call."""
        entries = [json.loads(one["message"])["message"] for one in self.web.get_log("performance")]
        return [one["params"]["request"]["url"] for one in entries if one["method"] == "Network.requestWillBeSent"]
