"""The programs that are installed (build/release) have no clock that a test, or anybody else, can shift."""

import json

import pytest

PROGRAMS = ("musterd", "muster-run", "musterctl", "muster-import")
HOOK = b"MUSTER_CLOCK_OFFSET"


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_installed_program_does_not_contain_the_clock_of_the_tests(stack, program):
    assert HOOK in (stack.build / program).read_bytes()
    assert HOOK not in (stack.build / "release" / program).read_bytes()


def test_an_installed_program_ignores_the_variable(stack):
    def clock_problem(program):
        done = stack.program(program, "--config", stack.config, "--json", "health", env={HOOK.decode(): "3600"})
        return next(check["problem"] for check in json.loads(done.stdout)["checks"] if check["name"] == "clock")

    assert "behind" in clock_problem("musterctl")
    assert clock_problem("release/musterctl") is None
