"""The end-to-end suite's fixtures: one stack for the whole run, new organizations for each test.

Run: BUILD=build /usr/bin/python3 -m pytest tests/e2e   (each file and each test also runs alone)
The stack is in $BUILD/e2e-sandbox (or $E2E_SANDBOX). The run ends it and keeps its logs.
Each process of pytest-xdist (-n) has its own stack. tests/run-all adds checks over the whole run (support/seen.py).
"""

import fcntl
import json
import os
import random
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import pytest  # noqa: E402
from support.client import Client  # noqa: E402
from support import seen  # noqa: E402
from support.oauth_server import OAuthServer  # noqa: E402
from support.receiver import Receiver  # noqa: E402
from support.stack import ROOT, Stack, wait_for  # noqa: E402
from support.verifier import Verifier  # noqa: E402
from support.modules import Module  # noqa: E402
from support.world import Organization  # noqa: E402

HERE = Path(__file__).parent
# A test may import helpers from the tests of another family.
sys.path += sorted({str(path.parent) for path in HERE.glob("*/test_*.py")})
# The files that take longest, longest first, so that no process still works on one when the others are done.
FIRST = ("test_galera.py", "test_muster_import.py", "test_connection_refresh.py", "test_runner.py", "test_schema_upgrade.py",
         "test_auth.py", "test_openapi_clients.py", "test_snippet.py", "test_developer_pages.py", "test_errors.py",
         "test_track_crashes.py", "test_webhook_crashes.py", "test_outage.py", "test_imports.py", "test_edge.py",
         "test_guides.py", "test_sign_in.py", "test_idempotency.py", "test_webhook_failures.py", "test_invariants.py",
         "test_first_run.py", "test_backup.py")


def pytest_configure(config):
    """The data of all database servers is in memory, if the machine has enough of it."""
    config.addinivalue_line("markers", "alone: measures time, so tests/run-all runs it when no other end-to-end test runs")
    os.environ["DATA_IN"] = subprocess.run([ROOT / "tests/sandbox/memory-folder"], capture_output=True, text=True, check=True
                                           ).stdout.strip()


def pytest_collection_modifyitems(items):
    """pytest-xdist hands out files in the order of their tests. SHUFFLE=SEED puts the files in a random order."""
    names = [*FIRST, None]
    if "SHUFFLE" in os.environ:
        paths = sorted({item.path for item in items})
        random.Random(os.environ["SHUFFLE"]).shuffle(paths)
        items.sort(key=lambda item: paths.index(item.path))
    else:
        items.sort(key=lambda item: names.index(item.path.name if item.path.name in names else None))


@pytest.fixture(scope="session")
def oauth_server():
    """All providers of external data. It records each violation of the protocol in `faults`."""
    with OAuthServer() as running:
        yield running


@pytest.fixture(scope="session")
def stack(oauth_server):
    build = ROOT / os.environ.get("BUILD", "build")
    folder = seen.own(Path(os.environ.get("E2E_SANDBOX", build / "e2e-sandbox")).resolve())
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{folder}.lock", "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pytest.exit(f"another run uses {folder}: choose another folder with E2E_SANDBOX", returncode=1)
        running = Stack(build, folder, oauth=oauth_server)
        running.start()
        yield running
        if not seen.FOLDER:
            running.stop()


@pytest.fixture(scope="session")
def strict_stack(stack, stacks, oauth_server):
    """A second stack with production's rates, also for tests that would harm the first one."""
    running = Stack(stack.build, stack.folder.with_name(stack.folder.name + "-strict"), rates="default", oauth=oauth_server)
    running.start()
    stacks.append(running)
    yield running
    if not seen.FOLDER:
        running.stop()


@pytest.fixture(scope="session")
def stacks(stack):
    """All stacks that this process has started."""
    return [stack]


@pytest.fixture(scope="session", autouse=True)
def _report(request):
    """Reports what this process saw, for the checks over the whole run."""
    if not seen.FOLDER:
        yield
        return
    contract, stacks = request.getfixturevalue("contract"), request.getfixturevalue("stacks")
    yield
    seen.write(contract, stacks)


@pytest.fixture(scope="session")
def contract(stack):
    """The description of all operations, published or not, with everything that this process sees of them."""
    return seen.described(stack)


@pytest.fixture(scope="session")
def anyone(stack, contract):
    """A client without a credential."""
    return Client(stack, contract)


@pytest.fixture
def new_org(stack, contract):
    """Creates organizations: new_org() with the whole registry, new_org(attributes=False) with no enabled
    attributes."""
    return lambda **options: Organization(stack, contract, **options)


@pytest.fixture
def org(new_org):
    return new_org()


@pytest.fixture(scope="module")
def module_org(stack, contract):
    """One organization for all tests of a file: for tests that leave no active import."""
    return Organization(stack, contract)


@pytest.fixture(scope="module")
def installed(module_org):
    """The installation of a new module without settings."""
    return module_org.install(module_org.published_module())


@pytest.fixture
def no_runner(stack):
    """No runner processes jobs during the test, except those that the test starts."""
    with stack.without("runner"):
        yield


@pytest.fixture(scope="session")
def verifier(stack):
    """A third-party library that verifies webhooks."""
    return Verifier(stack.build)


@pytest.fixture
def receiver():
    with Receiver() as running:
        yield running


@pytest.fixture
def new_module(module_org, receiver):
    """Creates installed modules; new_module() uses one organization for the whole file. Their endpoints are removed with the test."""
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


@pytest.fixture(scope="module", autouse=True)
def _the_stacks_are_healthy(stacks):
    """Each file leaves the stacks healthy, so that the files can run in any order."""
    yield
    for stack in stacks:
        found = json.loads(stack.ctl_raw("--json", "health").stdout)
        assert found["healthy"], f"the file left {stack.folder.name} unhealthy: {found['problem']}"


@pytest.fixture(autouse=True)
def _the_stack_is_whole(stacks):
    """Every test finds all services running, and leaves them running."""
    yield
    missing = [(stack, name) for stack in stacks for name in stack.env["pids"] if not stack.runs(name)]
    for stack, name in missing:
        stack.service("start", name)
    for stack, _ in missing:
        wait_for(stack.answers, "the stack to answer again")
    assert not missing, f"the test left these services stopped: {[(stack.folder.name, name) for stack, name in missing]}"
