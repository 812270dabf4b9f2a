"""Pages far from the beginning, compared with the first one: for lists whose cost must not depend on the position."""

import re
import statistics
import time

from lib.client import Client
from lib.figure import AT_MOST, BrokenMeasurement, Figure

PAGE, DEPTH = 50, 10_000
LONGEST_PAGE = 100
RUNS, PAIRS = 5, 40
BAR = 1.2


class Listing:
    """A list over the API. `path(**query)`: its path; `mark`: bytes that each entry of a reply contains once."""

    def __init__(self, what, path, mark):
        self.what, self.path, self.mark = what, path, mark

    def entries_in(self, answer):
        return answer.count(self.mark)

    def walk(self, client, entries):
        """The cursor after that many entries, by following pages as a partner does."""
        cursor = {}
        while entries > 0:
            answer = client.call("GET", self.path(limit=min(entries, LONGEST_PAGE), **cursor))
            entries -= self.entries_in(answer)
            following = re.search(rb'"next_cursor":"([^"]+)"', answer)
            if not following:
                raise BrokenMeasurement(f"{self.what}: {entries} entries before the position, the pages end")
            cursor = {"cursor": following.group(1).decode()}
        return cursor["cursor"]

    def figure(self, bench, cursor, depth):
        """P11 for the page after that cursor, compared with the first one."""
        client = Client(bench.stack)
        first, deep = self.path(limit=PAGE), self.path(limit=PAGE, cursor=cursor)
        for path in (first, deep):
            if self.entries_in(client.call("GET", path)) != PAGE:
                raise BrokenMeasurement(f"{path} is not a full page")
        runs = [alternated([(client, deep)] * PAIRS, [(client, first)] * PAIRS) for _ in range(RUNS)]
        return Figure("P11", f"GET {self.what}: page {depth:,}; floor: page 1", "ms", BAR, AT_MOST, runs)


def alternated(calls, floors):
    """The medians of both, in milliseconds."""
    times = ([], [])
    for pair in zip(calls, floors):
        for (client, path), into in zip(pair, times):
            began = time.monotonic()
            client.call("GET", path)
            into.append((time.monotonic() - began) * 1000)
    return tuple(statistics.median(some) for some in times)
