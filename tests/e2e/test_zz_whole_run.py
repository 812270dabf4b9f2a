"""The verdict over the whole run, which tests/run-all requests after all other files (support/seen.py).

Every declared status and code must have been seen, because an untested one may never be returned.
"""

import itertools
import os
import re
import subprocess
import tempfile

import pytest
from support import documented, provoked, seen, unrun
from support.stack import ROOT

# Named in the description of every operation's `default`: seen once is enough.
COMMON_CODES = {"QUOTA_EXCEEDED", "RATE_LIMITED", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"}


@pytest.fixture(autouse=True)
def _the_stack_is_whole():
    """The stacks belong to other processes, which have ended."""


@pytest.fixture(scope="module", autouse=True)
def _the_stacks_are_healthy():
    """Each file has checked them."""


@pytest.fixture(scope="session", autouse=True)
def _report():
    """This process records nothing itself."""


@pytest.fixture(scope="module")
def whole_run():
    if not seen.FOLDER:
        pytest.skip("only tests/run-all runs all tests and keeps their stacks")
    return seen.read(ROOT / os.environ.get("BUILD", "build"))


@pytest.fixture(scope="module")
def contract(whole_run):
    return whole_run[0]


@pytest.fixture(scope="module")
def stacks(whole_run):
    return whole_run[1]


def test_every_operation_was_called(contract):
    called = {operation for operation, _ in contract.seen}
    assert {operation.id for operation in contract.operations} - called == set()


def test_every_declared_status_was_seen(contract):
    assert sorted(contract.declared - contract.seen) == []


def test_every_declared_error_code_was_seen(contract):
    assert sorted(contract.declared_codes - contract.codes) == []
    assert COMMON_CODES - {code for _, code in contract.codes} == set()


def files_with_any(paths, secrets):
    """Those of the files that contain one of thousands of texts: one grep searches all of them for all texts at once."""
    assert secrets
    with tempfile.NamedTemporaryFile("w") as patterns:
        patterns.write("\n".join(secrets))
        patterns.flush()
        done = subprocess.run(["grep", "--text", "--fixed-strings", "--files-with-matches", "--file", patterns.name, "--", *paths],
                              capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"}, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.splitlines()


def holds_any(text, secrets):
    with tempfile.NamedTemporaryFile("w", errors="replace") as file:
        file.write(text)
        file.flush()
        return files_with_any([file.name], secrets) != []


def test_a_secret_would_be_found(tmp_path):
    paths = [tmp_path / name for name in "abc"]
    for path, text in zip(paths, ("org_3\n", "a\nb org_1\n", "\0\xff'org_2'")):
        path.write_text(text)
    assert files_with_any(paths, ["org_2", "org_1"]) == [str(path) for path in paths[1:]]
    assert files_with_any(paths[:2], ["org_2", "org_4"]) == []


def test_every_command_of_the_docs_was_run_or_has_a_reason(whole_run):
    assert whole_run and unrun.unlisted(documented.RAN) == []


def test_no_block_that_was_run_is_listed_as_not_run(whole_run):
    assert whole_run and unrun.superfluous(documented.RAN) == []


def test_no_log_contains_a_secret_or_a_mail_address(stacks):
    paths = sorted(path for stack in stacks for path in (stack.folder / "log").iterdir())
    assert files_with_any(paths, [secret for stack in stacks for secret in stack.keys_issued]) == []
    for path in paths:
        with open(path, errors="replace") as lines:
            found = [address for line in lines if "@" in line for address in re.findall(r"[\w.+-]+@[\w-]+\.[\w.-]+", line)]
        assert found == [], f"{path.name} holds addresses: {found[:3]}"


# Members, their imports and their events: large, and without secrets of Muster.
CONTENT = ("members", "users", "import_blocks", "import_block_outcomes", "engagement_events")


def test_the_database_contains_no_secret_in_clear_text(stacks, tmp_path):
    for stack in stacks:
        tables = {table for (table,) in stack.sql("SHOW TABLES")} - set(CONTENT)
        assert {"api_keys", "sessions", "admins", "idempotency_keys", "mail_outbox", "audit_log", "module_credentials",
                "module_installations", "webhook_endpoints", "webhook_events", "webhook_attempts", "connections",
                "connection_authorizations"} <= tables
        dumps = [tmp_path / f"{stack.folder.name}.{table}" for table in sorted(tables)]
        for dump, table in zip(dumps, sorted(tables)):
            dump.write_text(str(stack.sql(f"SELECT * FROM `{table}`")))
        assert files_with_any(dumps, stack.keys_issued) == []


def test_each_test_that_provokes_an_error_exists(whole_run):
    for row in provoked.PROVOKED:
        path, _, test = row.test.partition("::")
        assert whole_run and f"def {test}(" in (ROOT / "tests/e2e" / path).read_text(), row


def test_no_program_logged_an_unexpected_error_or_end_of_a_worker(stacks):
    for stack, name in itertools.product(stacks, provoked.PROGRAMS):
        log = stack.log(name)
        for word in ("AddressSanitizer", "runtime error:", "LeakSanitizer", "terminate called", "Assertion", "Segmentation"):
            assert word not in log, f"{name}.log: {word}"
        assert provoked.unexpected(log) == [], f"{stack.folder.name}: {name}"
    for stack in stacks:
        # Warnings and worse of nginx itself, such as a crashed worker or no free file, and alerts of its site. All are unexpected.
        found = stack.log("nginx.error") + stack.log("nginx")
        assert found == "", f"{stack.folder.name}: nginx logged {found[:500]}"
