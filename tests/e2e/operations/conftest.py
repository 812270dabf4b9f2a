"""musterctl for the tests of its commands."""

import json
import re

import pytest
from support.ctl import DONE, USAGE


@pytest.fixture
def ctl(stack):
    """Runs a command and checks its exit status; returns the CompletedProcess."""
    def run(*arguments, status=DONE, env=None):
        done = stack.ctl_raw(*arguments, env=env)
        assert done.returncode == status, f"musterctl {arguments}: {done}"
        if status == USAGE:
            assert done.stdout == "" and re.search(r"musterctl [a-z0-9 -]*--help", done.stderr)
        if status != DONE and done.stderr:
            assert done.stderr.startswith("musterctl: ") and done.stderr.count("\n") == 1, done.stderr
        return done
    return run


@pytest.fixture
def ask(ctl):
    """Runs a command with --json; returns the decoded output."""
    return lambda *arguments, **more: json.loads(ctl("--json", *arguments, **more).stdout)


@pytest.fixture
def org_id(ask):
    return ask("org", "create", "--name", "Rowing Club", "--no-starter-attributes")["id"]
