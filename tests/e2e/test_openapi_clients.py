"""The OpenAPI description in other hands: generators make clients that compile, and linters find no error.

The programs in tests/e2e/openapi-clients/programs are what a partner writes with each generated client.
"""

import hashlib
import os
import subprocess
from functools import cached_property
from pathlib import Path

import pytest
from support.npm import Packages
from support.stack import ROOT

RECORDS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "muster/openapi-clients"


class Tools:
    """The packages, and the description that they read. A success is recorded by the hash of everything that was read, for all
    trees of this user, as clang-tidy's is: the programs take a minute, and their input rarely changes."""

    def __init__(self, stack):
        self.stack = stack
        self.description = stack.program("musterd", "--openapi").stdout

    @cached_property
    def packages(self):
        packages = Packages(self.stack.build, "e2e/openapi-clients", timeout=300)
        (packages.folder / "partner.json").write_text(self.description)
        return packages

    def record(self, commands):
        total = hashlib.sha256(repr(commands).encode() + self.description.encode())
        total.update(subprocess.run(["node", "--version"], check=True, stdout=subprocess.PIPE).stdout)
        for path in sorted((ROOT / "tests/e2e/openapi-clients").rglob("*")):
            total.update(str(path.relative_to(ROOT)).encode() + (path.read_bytes() if path.is_file() else b""))
        return RECORDS / total.hexdigest()


@pytest.fixture(scope="module")
def tools(stack):
    return Tools(stack)


def must_pass(tools, *commands):
    record = tools.record(commands)
    if record.exists():
        return
    for command in commands:
        done = tools.packages.run(*command)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stdout[-4000:]}{done.stderr[-2000:]}"
    record.parent.mkdir(parents=True, exist_ok=True)
    record.touch()


def test_the_generated_clients_compile(tools):
    must_pass(tools,
              ("openapi-typescript", "partner.json", "-o", "generated/openapi-typescript.ts"),
              ("openapi-ts", "-i", "partner.json", "-o", "generated/hey-api", "-c", "@hey-api/client-fetch"),
              ("orval", "--config", "orval.config.cjs"),
              ("tsc", "-p", "."))


def test_redocly_finds_no_error(tools):
    must_pass(tools, ("redocly", "lint", "--extends", "recommended", "partner.json"))


def test_spectral_finds_no_error(tools):
    must_pass(tools, ("spectral", "lint", "--ruleset", "spectral.yaml", "--fail-severity", "error", "partner.json"))
