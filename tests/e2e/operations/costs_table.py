"""The table of docs/operations/costs.md: the bounds of each operation."""

import re
from typing import NamedTuple

from support.stack import ROOT

TABLE = ROOT / "docs/operations/costs.md"
# The most milliseconds of processor time, by the class of an operation.
MILLISECONDS = {"S": 10, "M": 50, "L": 250}
UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20}


class Row(NamedTuple):
    processor: str
    memory: str
    rows: str
    request: str
    reply: str

    @property
    def milliseconds(self):
        return MILLISECONDS[self.processor]

    @property
    def reply_bytes(self):
        return first_size(self.reply)

    @property
    def memory_bytes(self):
        return first_size(self.memory)


def first_size(text):
    """In bytes. "4 MiB, or one row" begins with the size of a page."""
    number, unit = re.match(r"([0-9.]+) ?([KM]iB|)", text).groups()
    return int(float(number) * UNITS[unit])


def rows_of_table():
    """{operation: Row}"""
    found = re.findall(r"^\| `(\w+)` \| (.*) \|$", TABLE.read_text(), re.MULTILINE)
    assert len(found) == len({name for name, _ in found}), "an operation has two rows"
    return {name: Row(*rest.split(" | ")) for name, rest in found}
