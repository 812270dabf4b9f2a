"""Each command of Muster's programs that README.md and docs/ name, in a sentence or a block, exists with its options; and each
file of the tree that they name exists."""

import re
from functools import lru_cache

import pytest
from support import documented, unrun
from support.stack import ROOT

PROGRAMS = ("musterctl", "muster-run", "musterd", "muster-import")
NAMED = re.compile(rf"(?<![\w./-])(?:/usr/sbin/)?({'|'.join(PROGRAMS)})((?: +(?!\\|&&|\|)[^\s`;|)\"]+)*)")


# The files of a feature that was removed again (docs/developers/adding.md).
OF_THE_EXAMPLE = re.compile(r"src/\w+/members/notes?\.hpp")


def named():
    """{(page, program, words)} of each program with at least one word, in inline code and in commands of blocks."""
    codes = [(page, line) for page, block in unrun.blocks() if not unrun.is_text(page, block)
             for line in re.sub(r"\s+#.*", "", block.replace("\\\n", " ")).splitlines()]
    for path in documented.pages():
        text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
        codes += [(str(path.relative_to(ROOT)), code.replace("\n", " ")) for code in re.findall(r"`([^`]+)`", text)]
    return sorted({(page, program, words.replace("...", " ").strip()) for page, code in codes for program, words in NAMED.findall(code)
                   if words.replace("...", " ").strip()})


@lru_cache(maxsize=None)
def output(stack, program, *arguments):
    return stack.program(program, *arguments).stdout


def faults(stack, program, words):
    """What the help of the program does not know. Values of options and placeholders are not checked."""
    words, known = words.split(), output(stack, program, "--help")
    options = {word.split("=")[0].rstrip(".,:") for word in words if word.startswith("--")}
    if program == "musterctl":
        commands = [line.split(":")[0] for line in output(stack, "musterctl", "--completion-words").splitlines()]
        words = words[2:] if words[0] == "--config" else words
        plain = [word for word in words if not word.startswith(("-", "$", "/")) and word == word.lower()]
        matching = [command for command in commands if any(plain[at:at + len(command.split())] == command.split() for at in (0, 1))]
        nouns = {command.split()[0] for command in commands} | {"help"}
        if plain and not matching and not (len(plain) == 1 and plain[0] in nouns):
            return [f"no command {' '.join(plain)}"]
        for command in matching:
            known += output(stack, "musterctl", "help", *command.split())
    if program == "muster-run":
        kinds = [word for word in words if re.fullmatch(r"[a-z]+", word)]
        if not set(kinds) <= set(re.search(r"\S+\|\S+", known).group().split("|")):
            return [f"no kind of work {kinds}"]
    return [f"no option {option}" for option in options if not re.search(rf"(?<!\S)\[?{option}\b", known) and option != "--completion-words"]


def test_each_named_command_exists_with_its_options(stack):
    commands = named()
    assert {program for _, program, _ in commands} == set(PROGRAMS)
    found = {(page, program, words): faults(stack, program, words) for page, program, words in commands}
    assert {command: why for command, why in found.items() if why} == {}


@pytest.mark.parametrize("program, words", [
    ("musterctl", "provider find"), ("musterctl", "provider check --no-such-option slack"), ("musterctl", "nonsense"),
    ("muster-run", "nonsense"), ("musterd", "--no-such-option"), ("muster-import", "FILE.csv --no-such-option"),
])
def test_a_command_that_does_not_exist_is_found(stack, program, words):
    assert faults(stack, program, words)


def test_each_named_file_of_the_tree_exists():
    named_files = {(path.name, name) for path in documented.pages() for name in re.findall(
        r"(?<![\w./<])((?:tests|packaging|src|man|docs|sql|nginx|cron)/[\w./-]*\w)(?![\w*<…-])", path.read_text())}
    assert len(named_files) > 50
    missing = {(page, name) for page, name in named_files
               if not OF_THE_EXAMPLE.fullmatch(name) and not list((ROOT / name).parent.glob((ROOT / name).name + "*"))}
    assert not missing
