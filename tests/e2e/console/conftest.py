"""One browser for the tests of a file, signed in as an owner of the file's organization."""

import pytest
from support.console import ConsoleBrowser


@pytest.fixture(scope="module")
def browser(stack, module_org, request):
    module = request.module  # WINDOWS: see start_browser()
    running = ConsoleBrowser(stack, module.__name__.rsplit("_", 1)[-1], windows=getattr(module, "WINDOWS", False))
    running.sign_in(module_org.new_admin("owner"))
    yield running
    running.close()


@pytest.fixture
def at(browser, module_org):
    """Opens a screen of the organization."""
    def open_screen(path):
        browser.open(f"#/o/{module_org.id}/{path}")
        return browser
    return open_screen
