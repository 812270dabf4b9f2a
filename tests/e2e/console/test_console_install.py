"""The console as packaging/install-console installs it: one folder for each version, which browsers cache (docs/console.md)."""

import gzip
import re
import shutil
import subprocess

import pytest
import requests
from support.browser import wait_for
from support.console import ConsoleBrowser
from support.stack import ROOT

SOURCE = ROOT / "nginx/static"
INSTALL = ROOT / "packaging/install-console"


class Installed:
    """The files of an installation, which the stack's nginx serves in place of the sources."""

    def __init__(self, stack):
        self.stack, self.folder = stack, stack.folder / "installed"
        self.source = stack.folder / "console-sources"
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.source, ignore_errors=True)
        shutil.copytree(SOURCE / "console", self.source)
        shutil.copytree(SOURCE / "js", self.folder / "js")

    def install(self):
        subprocess.run([INSTALL, self.source, self.folder / "console"], check=True)

    def assets(self):
        """The folder of the version."""
        return next((self.folder / "console/assets").iterdir())

    def get(self, path, encoding="gzip"):
        return requests.get(self.stack.base_url + path, headers={"Accept-Encoding": encoding}, verify=self.stack.ca_file, timeout=10)

    def page(self):
        return self.get("/console/").text


def restart_nginx(stack, configuration):
    (stack.folder / "nginx/nginx.conf").write_text(configuration)
    for verb in ("stop", "start"):
        stack.service(verb, "nginx")
    wait_for(stack.answers, "nginx to answer")


@pytest.fixture(scope="module")
def installed(stack):
    made = Installed(stack)
    made.install()
    before = (stack.folder / "nginx/nginx.conf").read_text()
    assert str(SOURCE) in before
    restart_nginx(stack, before.replace(str(SOURCE), str(made.folder)))
    yield made
    restart_nginx(stack, before)


@pytest.fixture(scope="module")
def browser(installed, stack):
    running = ConsoleBrowser(stack, "install")
    yield running
    running.close()


def test_the_page_is_loaded_each_time_and_names_the_folder_of_its_version(installed):
    reply = installed.get("/console/")
    assert reply.headers["Cache-Control"] == "no-cache"
    assert {"ETag", "Last-Modified"}.isdisjoint(reply.headers)
    named = set(re.findall(r'"/console/([^"]+)"', reply.text))
    assert len(named) > 5
    assert all(name.startswith(f"assets/{installed.assets().name}/") for name in named), named
    start = installed.get("/")
    assert start.headers["Cache-Control"] == "no-cache"
    assert f'"/console/assets/{installed.assets().name}/console.css"' in start.text
    assert 'href="/console/"' in start.text


def test_browsers_keep_the_files_of_a_version_and_get_them_compressed(installed):
    for name in ("main.js", "console.css", "lib/texts.js", "vendor/preact/preact.js"):
        path = f"/console/assets/{installed.assets().name}/{name}"
        stored = installed.assets() / f"{name}.gz"
        reply = installed.get(path)
        assert reply.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert reply.headers["Content-Encoding"] == "gzip"
        assert int(reply.headers["Content-Length"]) == stored.stat().st_size  # the stored copy, not one made for the reply
        assert reply.headers["Vary"] == "Accept-Encoding"
        assert reply.headers["Content-Security-Policy"].endswith("trusted-types muster")
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.content == (SOURCE / "console" / name).read_bytes() == gzip.decompress(stored.read_bytes())
        plain = installed.get(path, encoding="identity")
        assert "Content-Encoding" not in plain.headers
        assert plain.content == reply.content


def test_an_unknown_file_of_a_version_is_not_cached(installed):
    for path in ("/console/assets/", f"/console/assets/{installed.assets().name}/", "/console/assets/000000000000/main.js"):
        reply = installed.get(path)
        assert (reply.status_code, reply.headers["Cache-Control"]) == (404, "no-store"), path


def test_all_files_of_the_sources_are_installed(installed):
    names = {str(path.relative_to(installed.source)) for path in installed.source.rglob("*") if path.is_file()}
    assert {str(path.relative_to(installed.assets())) for path in installed.assets().rglob("*") if path.is_file() and path.suffix != ".gz"} == {
        name for name in names if not name.endswith(".html")}
    pages = {path.name for path in (installed.folder / "console").iterdir() if path.is_file()}
    assert pages == {"index.html", "index.html.gz", "start.html", "start.html.gz"}


def test_the_same_sources_have_the_same_folder_and_bytes(installed):
    def content():
        return {str(path): path.read_bytes() for path in (installed.folder / "console").rglob("*") if path.is_file()}

    before = content()
    installed.install()
    assert content() == before


def test_a_page_from_before_an_upgrade_loads_itself_again(installed, browser, module_org):
    browser.sign_in(module_org.new_admin("owner"))
    browser.sees("First steps")
    browser.check_quiet("installed")
    old = installed.assets().name
    texts = installed.source / "lib/texts_members.js"
    texts.write_text(texts.read_text().replace("No members yet", "No members so far"))
    installed.install()
    assert installed.assets().name != old
    assert installed.get(f"/console/assets/{old}/main.js").status_code == 404
    assert installed.assets().name in installed.page()
    browser.press("Members")
    browser.sees("No members so far")
    assert browser.web.current_url.endswith("/members")
    browser.web.get_log("browser")  # the module that is gone


def test_a_module_that_is_missing_without_an_upgrade_is_an_error(installed, browser):
    (installed.assets() / "keys/list.js").unlink()
    (installed.assets() / "keys/list.js.gz").unlink()
    browser.press("API keys")
    browser.sees("Try again")
    loads = "return performance.getEntriesByType('navigation')[0].startTime + performance.timeOrigin"
    began = browser.web.execute_script(loads)
    installed.install()
    browser.press("Try again")
    wait_for(lambda: browser.web.execute_script(loads) != began, "the page to load again")
    browser.sees("Issue a key")
    browser.web.get_log("browser")
