"""Programs that hold the installation's key leave no core dump."""

import os
import re
import resource
import signal
import subprocess
from pathlib import Path

import pytest
from support.stack import wait_for
from test_outage import all_workers


def allow_core_dumps():
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def dumps_core(command, folder, is_ready):
    """Whether the kernel writes or passes on a core dump when the program crashes."""
    # The address sanitizer would handle the signal, and forbid core dumps itself.
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0:disable_coredump=0"
    process = subprocess.Popen(command, cwd=folder, preexec_fn=allow_core_dumps, env=os.environ | {"ASAN_OPTIONS": sanitizer})
    wait_for(lambda: is_ready(process.pid), "the program to start")
    process.send_signal(signal.SIGSEGV)
    _, status = os.waitpid(process.pid, 0)
    process.returncode = status
    assert os.WTERMSIG(status) == signal.SIGSEGV
    return os.WCOREDUMP(status)


def test_a_crash_of_a_program_with_the_key_leaves_no_core_dump(stack, tmp_path):
    limits = "Max core file size        0 "
    command = [f"{stack.build}/muster-run", "--config", stack.config, "mail", "--for", "60"]
    assert not dumps_core(command, tmp_path, lambda pid: limits in open(f"/proc/{pid}/limits", encoding="ascii").read())
    assert list(tmp_path.iterdir()) == []


def test_no_process_of_the_server_may_dump_its_core(stack):
    """A hard limit of 0 shows that the server has lowered it, unless it is 0 on this machine."""
    if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
        pytest.skip("this machine forbids core dumps")
    for pid in [stack.pid("musterd"), *all_workers(stack)]:
        limits = Path(f"/proc/{pid}/limits").read_text(encoding="ascii")
        assert re.search("^Max core file size +0 +0 ", limits, re.MULTILINE), pid


def test_a_crash_of_another_program_shows_that_this_machine_dumps_cores(tmp_path):
    if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
        pytest.skip("this machine forbids core dumps")
    assert dumps_core(["sleep", "60"], tmp_path, lambda pid: os.readlink(f"/proc/{pid}/exe").endswith("/sleep"))
