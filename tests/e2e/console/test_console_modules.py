"""The console's modules without markup, run by node, and what they share with the C++ sources and the documentation."""

import os
import re
import shutil
import subprocess

from support.stack import ROOT

SOURCE = ROOT / "nginx/static/console"
BUILD = ROOT / os.environ.get("BUILD", "build")


def test_the_modules_pass_their_tests():
    folder = BUILD / "console-modules"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SOURCE, folder / "console")
    shutil.copytree(ROOT / "tests/console", folder / "tests")
    (folder / "package.json").write_text('{"type": "module"}')
    names = sorted(str(path) for path in (folder / "tests").glob("*.test.js"))
    ran = subprocess.run(["node", "--test", *names], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout


def test_the_names_of_columns_are_those_of_muster_import():
    def names(text, start):
        strings = re.findall(r'"([^"]*)"', text[text.index(start):])
        return "".join(strings).replace(" ", "")

    assert names((SOURCE / "imports/column_names.js").read_text(), "NAMES = [") == names(
        (ROOT / "src/client/column_names.hpp").read_text(), "kColumnNames = {")


def test_the_event_types_are_those_of_the_server():
    shown = re.findall(r'"([a-z_]+\.[a-z_]+)"', (SOURCE / "webhooks/events.js").read_text())
    server = re.findall(r'= "([a-z_]+\.[a-z_]+)";', (ROOT / "src/rules/event_types.hpp").read_text())
    assert len(shown) == len(server) == 13 and set(shown) == set(server)


def test_each_action_of_the_audit_log_has_a_name():
    table = (ROOT / "docs/api/audit-log.md").read_text().split("## Actions")[1]
    listed = {name for cell in re.findall(r"^\| (`[^|]*) \|", table, re.M) for name in re.findall(r"`([a-z_]+\.[a-z_]+)`", cell)}
    named = set(re.findall(r'^  "([a-z_]+\.[a-z_]+)": "', (SOURCE / "lib/texts_audit.js").read_text(), re.M))
    assert len(listed) > 80 and named == listed


def test_files_of_the_console_are_short():
    for path in SOURCE.rglob("*.js"):
        if "vendor" not in path.parts:
            assert path.read_text().count("\n") <= 500, path


def test_the_documentation_lists_the_screens_as_the_navigation_does():
    links = dict(re.findall(r'(\w+): "([^"]*)"', (SOURCE / "lib/texts.js").read_text().split("links: {")[1].split("}")[0]))
    navigation = (SOURCE / "ui/screens.js").read_text().split("NAVIGATION = [")[1].split("\n]")[0]
    screens = [(links[family], links[name]) for family, rest in re.findall(r"^  \[t\.(\w+), (.*)", navigation, re.M)
               for name in re.findall(r't\.(\w+)', rest)]
    table = (ROOT / "docs/console.md").read_text().split("| Family | Screen |")[1].split("\n\n")[0]
    family, rows = "", []
    for cells in re.findall(r"^\| ([^|]*)\| ([^|]*) \|", table, re.M):
        family = cells[0].strip() or family
        rows.append((family, cells[1]))
    assert len(screens) > 15
    assert [row for row in rows if row in screens] == screens
