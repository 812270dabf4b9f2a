"""The code blocks of README.md and docs/, and a record of those that tests ran (test_zz_whole_run.py reads it)."""

import re

from .stack import ROOT

# Every text of a block that this process ran or validated, as it stands in the page.
RAN = []


def note(text):
    """Records that a test ran the text."""
    RAN.append(text)


def pages():
    """README.md and the pages of docs/. Decisions explain; their blocks are not instructions."""
    return [ROOT / "README.md", *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "decisions" not in path.parts)]


def code_blocks(text):
    """All code blocks of a Markdown text, each without its indent: those between fences, and indented ones. An indented one
    follows a blank line; a blank line inside does not end it."""
    fenced = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    found = fenced.findall(text)
    for code in re.findall(r"^(?<![^\n]\n)((?: {4}.*\n(?:\n+(?= {4}))?)+)", fenced.sub("", text), re.MULTILINE):
        indent = re.match(" +", code).group()
        found.append(re.sub(rf"^{indent}", "", code, flags=re.MULTILINE))
    return found
