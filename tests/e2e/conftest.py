"""The end-to-end suite's fixtures: one stack for the whole run, fresh organizations for each test.

Run: BUILD=build /usr/bin/python3 -m pytest tests/e2e   (any one file or test runs by itself too)
The stack lives in $BUILD/e2e-sandbox (or $E2E_SANDBOX) and is ended with the run; its logs stay.
Several processes can share a run (support/crew.py): each has a stack of its own.
"""

import fcntl
import json
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import pytest  # noqa: E402
from support.client import Client  # noqa: E402
from support.contract import Contract  # noqa: E402
from support.crew import Crew  # noqa: E402
from support.oauth_server import OAuthServer  # noqa: E402
from support.receiver import Receiver  # noqa: E402
from support.stack import ROOT, Stack, wait_for  # noqa: E402
from support.verifier import Verifier  # noqa: E402
from support.modules import Module  # noqa: E402
from support.world import Organization  # noqa: E402

HERE = Path(__file__).parent
LAST = "test_zz_whole_run.py"
# Those that take longest, so that nobody has one left when the others are through.
FIRST = ("test_muster_import.py", "test_auth.py", "test_runner.py", "test_connection_refresh.py", "test_idempotency.py", "test_imports.py",
         "test_track_crashes.py", "test_snippet.py", "test_edge.py", "test_webhook_failures.py", "test_outage.py")
CREW = Crew(last=LAST, first=FIRST)


def pytest_collection_modifyitems(config, items):
    """Marks the run as whole when nothing was left out; its verdict over all exchanges comes last."""
    CREW.sort(items)
    chosen = {item.path.name for item in items}
    everything = {path.name for path in HERE.glob("test_*.py")}
    narrowed = config.option.keyword or config.option.markexpr or any("::" in word for word in config.args)
    config.is_whole_run = chosen == everything and not narrowed


def pytest_runtestloop(session):
    """As pytest's own, over this process's portion of the tests."""
    if CREW.is_alone or session.testsfailed or session.config.option.collectonly:
        return None
    mine = CREW.portion(session.items)
    item = next(mine, None)
    while item is not None:
        following = next(mine, None)
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        item = following
    return True


@pytest.fixture(scope="session")
def crew():
    return CREW


@pytest.fixture(scope="session")
def oauth_server():
    """All providers of external data; what it holds against its clients is wrong in whatever test it happened."""
    with OAuthServer() as running:
        yield running


@pytest.fixture(scope="session")
def stack(oauth_server):
    build = ROOT / os.environ.get("BUILD", "build")
    folder = CREW.own(Path(os.environ.get("E2E_SANDBOX", build / "e2e-sandbox")).resolve())
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{folder}.lock", "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pytest.exit(f"another run uses {folder}: choose another folder with E2E_SANDBOX", returncode=1)
        running = Stack(build, folder, oauth=oauth_server)
        running.start()
        with CREW.keeping(running):
            yield running
        running.stop()


@pytest.fixture(scope="session")
def strict_stack(stack, oauth_server):
    """A second stack with production's rates; also for what would harm the first one."""
    running = Stack(stack.build, stack.folder.with_name(stack.folder.name + "-strict"), rates="default", oauth=oauth_server)
    running.start()
    with CREW.keeping(running):
        yield running
    running.stop()


@pytest.fixture(scope="session")
def contract(stack):
    """The description of all operations, published or not, and all that is seen of them in this run."""
    CREW.contract = Contract(json.loads(stack.program("musterd", "--openapi-all").stdout))
    return CREW.contract


@pytest.fixture(scope="session")
def anyone(stack, contract):
    """A client without a credential."""
    return Client(stack, contract)


@pytest.fixture
def new_org(stack, contract):
    """Makes organizations: new_org() with the whole registry, new_org(attributes=False) with none enabled."""
    return lambda **options: Organization(stack, contract, **options)


@pytest.fixture
def org(new_org):
    return new_org()


@pytest.fixture(scope="module")
def module_org(stack, contract):
    """One organization for all tests of a file: for tests that leave no active import behind."""
    return Organization(stack, contract)


@pytest.fixture
def no_runner(stack):
    """Nobody works on jobs during the test, but whoever it starts."""
    with stack.without("runner"):
        yield


@pytest.fixture(scope="session")
def verifier(stack):
    """Another's library that verifies webhooks."""
    return Verifier(stack.build)


@pytest.fixture
def receiver():
    with Receiver() as running:
        yield running


@pytest.fixture
def new_module(module_org, receiver):
    """Makes installed modules, new_module() of one organization for the whole file; their endpoints go with the test."""
    made = []

    def make(org=module_org):
        made.append(Module(org))
        return made[-1]

    yield make
    for module in made:
        module.forget()


@pytest.fixture
def module(new_module):
    return new_module()


@pytest.fixture(autouse=True)
def _the_stack_is_whole(stack):
    """Each test finds and leaves all services running."""
    yield
    missing = [name for name, pid in stack.env["pids"].items() if pid is None]
    for name in missing:
        stack.service("start", name)
    if missing:
        wait_for(stack.answers, "the stack to answer again")
    assert not missing, f"the test left {missing} ended"
