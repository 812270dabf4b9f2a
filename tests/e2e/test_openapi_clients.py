"""The OpenAPI description in other hands: generators make clients that compile, and linters find no error.

The programs in tests/e2e/openapi-clients/programs are what a partner writes with each generated client.
"""

import pytest
from support.npm import Packages


@pytest.fixture(scope="module")
def tools(stack):
    packages = Packages(stack.build, "openapi-clients", timeout=300)
    (packages.folder / "partner.json").write_text(stack.program("musterd", "--openapi").stdout)
    return packages


def passes(tools, *command):
    done = tools.run(*command)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout[-4000:]}{done.stderr[-2000:]}"
    return done.stdout


def test_the_generated_clients_compile(tools):
    passes(tools, "openapi-typescript", "partner.json", "-o", "generated/openapi-typescript.ts")
    passes(tools, "openapi-ts", "-i", "partner.json", "-o", "generated/hey-api", "-c", "@hey-api/client-fetch")
    passes(tools, "orval", "--config", "orval.config.cjs")
    passes(tools, "tsc", "-p", ".")


def test_redocly_finds_no_error(tools):
    passes(tools, "redocly", "lint", "--extends", "recommended", "partner.json")


def test_spectral_finds_no_error(tools):
    passes(tools, "spectral", "lint", "--ruleset", "spectral.yaml", "--fail-severity", "error", "partner.json")
