"""Several processes that share one run of the suite, each with stacks of its own.

Whoever is free takes the next file, and all of its tests. The verdict over the whole run (test_zz_whole_run.py) falls to one
of them, when no other file is left: it waits for what the others saw, and they keep their stacks until it has looked at them.
tests/run-all starts them, with E2E_WORKER=1 … and E2E_WORKERS=N, and E2E_CREW for a new folder in which they meet.
Without these a process is a crew by itself.
"""

import json
import os
import time
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from .stack import Stack

PATIENCE = 900  # seconds that one waits for what the others still have to do


class Crew:
    def __init__(self, last, first=()):
        """last: the file that gives the verdict; first: the names of the files that take longest."""
        self._last, self._first = last, first
        self.number, self._size = int(os.environ.get("E2E_WORKER", 1)), int(os.environ.get("E2E_WORKERS", 1))
        self._others = [number for number in range(1, self._size + 1) if number != self.number]
        self.stacks, self.contract = [], None  # what this process has started, and what it has seen
        self._is_over = False
        self.is_alone = not self._others
        if not self.is_alone:
            self._folder = Path(os.environ["E2E_CREW"]).resolve()
            self._write(f"{self.number}.pid", os.getpid())

    def own(self, folder):
        """The folder for this process's stack, where a process by itself has that one."""
        return folder if self.number == 1 else folder.with_name(f"{folder.name}-{self.number}")

    # ------------------------------------------------------------------ who does what
    def sort(self, items):
        """Puts the tests in the order in which the files are to be taken."""
        names = [*self._first, None, self._last]
        items.sort(key=lambda item: names.index(item.path.name if item.path.name in names else None))

    def portion(self, items):
        """The tests that this process is to run. A file is taken when the next test is asked for."""
        for name, tests in groupby(items, key=lambda item: item.path.name):
            if self._take(name):
                yield from tests

    def _take(self, name):
        mine = self._folder / f"{self.number}.mine"
        mine.write_text(str(self.number))
        try:
            os.link(mine, self._folder / f"{name}.taken")
        except FileExistsError:
            return False
        finally:
            mine.unlink()
        return True

    # ------------------------------------------------------------------ what they tell each other
    def _write(self, name, content):
        """So that whoever sees the file sees all of it."""
        path = self._folder / name
        path.with_suffix(".new").write_text(json.dumps(content))
        path.with_suffix(".new").rename(path)

    def _has_ended(self, number):
        try:
            os.kill(json.loads((self._folder / f"{number}.pid").read_text()), 0)
        except ProcessLookupError:
            return True
        except FileNotFoundError:
            pass  # it has not begun
        return False

    def _await(self, name, number):
        """Waits for a file that another process writes; whether it came, before that process ended."""
        until = time.monotonic() + PATIENCE
        while not (self._folder / name).exists() and not self._has_ended(number) and time.monotonic() < until:
            time.sleep(0.1)
        return (self._folder / name).exists()

    def gather(self):
        """Adds to the contract what all others saw, when they are through; all stacks of the run."""
        stacks = list(self.stacks)
        for number in self._others:
            assert self._await(f"{number}.json", number), f"worker {number} did not come to its end"
            report = json.loads((self._folder / f"{number}.json").read_text())
            self.contract.seen.update(map(tuple, report["seen"]))
            self.contract.codes.update(map(tuple, report["codes"]))
            for row in report["stacks"]:
                stacks.append(Stack(self.stacks[0].build, row["folder"]))
                stacks[-1].keys_issued = row["keys_issued"]
        return stacks

    @contextmanager
    def keeping(self, stack):
        """A stack that is to live until it has been looked at."""
        self.stacks.append(stack)
        try:
            yield stack
        finally:
            self._end()

    def _end(self):
        if self.is_alone or self._is_over:
            return
        self._is_over = True
        taken = self._folder / f"{self._last}.taken"
        judge = int(taken.read_text()) if taken.exists() else self.number
        if judge == self.number:
            self._write("verdict", self.number)
            return
        seen, codes = (self.contract.seen, self.contract.codes) if self.contract else ((), ())
        self._write(f"{self.number}.json", {
            "seen": list(seen), "codes": list(codes),
            "stacks": [{"folder": str(stack.folder), "keys_issued": stack.keys_issued} for stack in self.stacks]})
        self._await("verdict", judge)
