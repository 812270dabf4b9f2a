"""The commands for developers: each `make` of README.md and docs/ has its target and variables, programs have their options,
and what takes seconds runs as it stands in docs/developers/. Also: no block of the docs is without a test or a reason."""

import os
import re
import shlex
import shutil
import subprocess

import pytest
from support import unrun
from support.documented import note
from support.guides import block
from support.stack import ROOT

MAKE = re.compile(r"^(?:sudo )?((?:\w+=\S+ )*)make\b([^#|;&\n]*)", re.MULTILINE)


def makes():
    """(whole line, arguments) of each `make` in a block."""
    found = {(re.sub(r"\s+#.*", "", match.group()).strip(), match.group(2).strip())
             for _, text in unrun.blocks() for match in MAKE.finditer(text)}
    return sorted(found)


def planned(arguments):
    """What `make` would run."""
    return subprocess.run(["make", "-n", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def readers(variable):
    """The files of the build that read a variable of `make`."""
    used = re.compile(rf"\$[({{]?{variable}\b|\$\$?\({variable}\)|environ\S*\b{variable}\b")
    files = [ROOT / "Makefile", *(path for folder in ("tests/sandbox", "packaging") for path in (ROOT / folder).iterdir() if path.is_file())]
    return [path for path in files if used.search(path.read_text())]


@pytest.mark.parametrize("line, arguments", makes())
def test_each_make_has_its_target_and_variables(line, arguments):
    words = [word.rstrip(".") for word in shlex.split(arguments)]
    # Programs are not built again for this: the plan of a target is enough.
    done = planned([word for word in words if not word.startswith("-j")])
    assert done.returncode == 0, done.stderr
    for variable in re.findall(r"\b([A-Z]+)=", arguments):
        assert readers(variable), f"{line}: the build does not read {variable}"
    note_whole_lines(line)


def note_whole_lines(line):
    """Records the lines of blocks that are this `make` and a comment."""
    for _, text in unrun.blocks():
        for whole in text.splitlines():
            if re.sub(r"\s+#.*", "", whole).strip() == line:
                note(whole)


def test_a_target_or_variable_that_does_not_exist_is_found():
    assert planned(["no-such-target"]).returncode and not readers("NO_SUCH_VARIABLE")


def test_each_end_to_end_file_and_suite_that_a_make_names_exists():
    names = [(line, name) for line, arguments in makes() for name in re.findall(r"\bT=(\S+)", arguments)]
    assert len(names) > 2
    for line, name in names:
        if name.endswith(".py"):
            assert (ROOT / "tests/e2e" / name).exists(), line
        else:  # Boost.Test runs the suites and cases with that word in their names
            sources = "".join(path.read_text() for path in (ROOT / "tests" / line.split()[1]).rglob("*_test.cpp"))
            assert re.search(rf"BOOST_AUTO_TEST_(SUITE|CASE)\(\w*{name}", sources), line


def shell(stack, text, folder=ROOT, env=None):
    """Runs lines of docs/developers/ with this suite's programs; returns the output."""
    note(text)
    text = re.sub(r"\bbuild/(?=unit-tests|muster)", f"{stack.build}/", text).replace("build/sandbox", str(stack.folder))
    done = subprocess.run(["bash", "-e", "-c", text], cwd=folder, env=os.environ | {"BUILD": str(stack.build)} | (env or {}),
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{text}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def line_of(page, beginning, line):
    """A line of a block, as it stands, from its beginning."""
    return next(text for text in block(page, beginning).splitlines() if text.startswith(line))


def test_the_exercise_changes_one_default(stack, tmp_path):
    page, table = "developers/README.md", "src/base/settings/table.cpp"
    change, printed = (line_of(page, "sed -i", word) for word in ("sed", "build/musterd"))
    copy = tmp_path / table
    copy.parent.mkdir(parents=True)
    shutil.copy(ROOT / table, copy)
    shell(stack, change, tmp_path)
    before, after = (path.read_text().splitlines() for path in (ROOT / table, copy))
    assert [(old.count('"5"'), new.count('"7"')) for old, new in zip(before, after, strict=True) if old != new] == [(1, 1)]
    assert shell(stack, printed) == "#connect_timeout = 5\n"
    assert f"git checkout {table}\n" == block(page, "git checkout")


def test_the_lints_of_the_first_hour_pass(stack):
    for line in (block("developers/README.md", "tests/lint/run manpages"),
                 line_of("developers/README.md", "make unit", "tests/lint/run")):
        assert " 0 failed" in shell(stack, line)


def test_the_generated_files_are_written_as_documented(stack, tmp_path):
    for folder in ("src/api", "nginx/snippets"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copytree(ROOT / "man", tmp_path / "man")
    shutil.copytree(ROOT / "src/base", tmp_path / "src/base")
    shell(stack, block("developers/adding.md", "build/musterd --openapi"), tmp_path)
    for name in ("src/api/partner.openapi.json", "nginx/snippets/muster-routes.conf", "man/muster-api.7"):
        assert (tmp_path / name).read_text() == (ROOT / name).read_text(), name


def test_the_unit_tests_take_the_documented_options(stack):
    if not (stack.build / "unit-tests").exists():
        pytest.skip("the unit tests are not built")
    listed, selected = block("developers/testing.md", "build/unit-tests").splitlines()
    note(listed)
    done = subprocess.run([stack.build / "unit-tests", *shlex.split(listed)[1:]], capture_output=True, text=True, timeout=60, check=True)
    assert "attributes" in done.stdout + done.stderr  # Boost.Test lists them on standard error
    shell(stack, selected)


def test_the_sandbox_is_used_as_documented(stack):
    line = line_of("developers/testing.md", "make sandbox", "build/musterctl")
    assert stack.env["organizations"][0]["name"] in shell(stack, line)


# ---------------------------------------------------------------------------- what no test runs


def test_the_programs_and_files_of_blocks_that_no_test_runs_exist():
    """Paths of the tree, and of files that the packages install."""
    installed = {"/usr/share/doc/muster/examples/": "docs/examples/"}
    missing = []
    for page, text in unrun.blocks():
        if not unrun.listed(unrun.NOT_RUN, page, text):
            continue
        for old, new in installed.items():
            text = text.replace(old, new)
        for path in re.findall(r"(?<![\w/.])(?:tests|packaging|src|docs/examples|man)/[\w./-]+", text):
            if not (ROOT / path).exists():
                missing.append((page, path))
        missing += [(page, name) for name in re.findall(r"\bfuzz_\w+", text) if not (ROOT / f"tests/fuzz/{name}.cpp").exists()]
        missing += [(page, name) for name in re.findall(r"\bP\d+\b", text)
                    if not re.search(rf"\b{name}\b", (ROOT / "tests/bench/run").read_text())]
    assert not missing


def test_the_reasons_name_files_that_exist():
    reasons = {reason for page in unrun.NOT_RUN.values() for reason in page.values()}
    named = {name for reason in reasons for name in re.findall(r"\btests/[\w/.]+", reason)}
    assert named and all((ROOT / name).exists() for name in named)


def test_each_listed_block_is_a_block():
    assert unrun.superfluous([]) == []


def test_a_block_that_no_test_runs_is_found():
    found = unrun.unlisted(["make demo"])
    assert ("README.md", "make demo") not in found and ("README.md", "make check") in found
