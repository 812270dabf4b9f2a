"""A real browser, and a web server with pages for it on any number of origins."""

import shutil
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, NoSuchFrameException, StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.service import Service

from . import stack

# Chromedriver has no error of its own for these: the page replaced an element or a frame between two steps of a command.
REPLACED = ("does not belong to the document", "Cannot find context with specified id", "No node with given id found")


def unless_replaced(look):
    """What `look` returns; None if the page replaces an element or a frame while it looks."""
    try:
        return look()
    except (NoSuchElementException, NoSuchFrameException, StaleElementReferenceException):
        return None
    except WebDriverException as error:
        if not any(text in (error.msg or "") for text in REPLACED):
            raise
        return None


def wait_for(look, what, *limits):
    """stack.wait_for() for what a browser shows: it looks again after the page replaced what it looked at."""
    return stack.wait_for(lambda: unless_replaced(look), what, *limits)


class Site:
    """One origin; every path returns the same page. tls: the files of a certificate and its key, for https."""

    def __init__(self, html, tls=None):
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802
                body = site.html.encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.html = html
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.origin = f"{'https' if tls else 'http'}://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _without_windows(folder):
    """A program that starts the Chromium without windows, which needs a fifth less processor time, with the first page that
    chromedriver looks for."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "browser"
    program.write_text('#!/bin/sh\nexec /usr/bin/chromium-headless-shell "$@" about:blank\n')
    program.chmod(0o755)
    return str(program)


def start_browser(folder, logs=False, windows=False):
    """Chromium that shows nothing, with a new profile in `folder`. logs: keeps what pages write to the console and request
    (get_log). windows: the whole browser, which can hide a page, and in which the Tab key leaves a frame without an origin. The
    caller must quit it, or use it in a `with` block."""
    shutil.rmtree(folder, ignore_errors=True)
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium" if windows else _without_windows(folder)
    if windows:
        options.add_argument("--headless=new")
    for argument in ("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--no-proxy-server",
                     f"--user-data-dir={folder}"):
        options.add_argument(argument)
    if logs:
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.accept_insecure_certs = True  # the sandbox has its own certificate authority
    browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    browser.set_script_timeout(30)
    browser.set_page_load_timeout(30)
    return browser
