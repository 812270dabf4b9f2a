"""One browser for the tests of a file, signed in as an owner of the file's organization; and one for a single test."""

import pytest
from support.console import ConsoleBrowser
from support.world import Organization


def start(stack, request, name):
    """A browser, with windows if the file's WINDOWS says so: see start_browser()."""
    return ConsoleBrowser(stack, name, windows=getattr(request.module, "WINDOWS", False))


@pytest.fixture(scope="module")
def browser(stack, module_org, request):
    running = start(stack, request, request.module.__name__.rsplit("_", 1)[-1])
    running.sign_in(module_org.new_admin("owner"))
    yield running
    running.close()


@pytest.fixture
def own_browser(stack, request):
    """Another browser, for one test and without a session."""
    running = start(stack, request, "own")
    yield running
    running.close()


@pytest.fixture
def at(browser, module_org):
    """Opens a screen of the organization."""
    def open_screen(path):
        browser.open(f"#/o/{module_org.id}/{path}")
        return browser
    return open_screen


@pytest.fixture(scope="module")
def other_org(stack, contract):
    """A second organization."""
    return Organization(stack, contract, name="Lakeside")


@pytest.fixture(scope="module")
def admin(module_org, other_org):
    """An owner of the file's organization, and an admin of the second one."""
    made = module_org.new_admin("owner")
    made.give_seat(other_org.id, "admin")
    return made
