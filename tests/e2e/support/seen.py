"""What the processes of a whole run recorded, for the verdict over all of them (test_zz_whole_run.py).

tests/run-all distributes the suite to processes with pytest-xdist, and then runs the tests that measure time in one. It names a
folder in E2E_SEEN. Each process writes a report there when it ends, and leaves its stacks running. The verdict runs after
all of them, in a separate process.
"""

import json
import os
from pathlib import Path

from . import documented
from .contract import Contract
from .stack import Stack

# None: not a whole run, so stacks stop with their process.
FOLDER = Path(os.environ["E2E_SEEN"]).resolve() if "E2E_SEEN" in os.environ else None
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")


def own(folder):
    """The folder for this process's stack; `folder` is the one of a process that runs alone."""
    return folder.with_name(f"{folder.name}-{WORKER}") if WORKER else folder


def described(stack):
    """The contract of all operations, published or not."""
    return Contract(json.loads(stack.program("musterd", "--openapi-all").stdout))


def write(contract, stacks):
    """The report of this process."""
    (FOLDER / f"{WORKER or 'alone'}.json").write_text(json.dumps({
        "seen": list(contract.seen), "codes": list(contract.codes), "ran": documented.RAN,
        "stacks": [{"folder": str(stack.folder), "keys_issued": stack.keys_issued} for stack in stacks]}))


def read(build):
    """(the contract with everything that all processes recorded, all stacks). Every process must have written its
    report. Also records again which texts of the docs they ran."""
    reports = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))]
    assert len(reports) == int(os.environ["E2E_WORKERS"]) + 1, f"{len(reports)} processes finished"
    stacks = []
    for row in (row for report in reports for row in report["stacks"]):
        stacks.append(Stack(build, row["folder"]))
        stacks[-1].keys_issued = row["keys_issued"]
    contract = described(stacks[0])
    for report in reports:
        contract.seen.update(map(tuple, report["seen"]))
        contract.codes.update(map(tuple, report["codes"]))
        documented.RAN.extend(report["ran"])
    return contract, stacks
