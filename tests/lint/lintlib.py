"""Shared by the lints in Python: the tree that is checked, its files, and C++ text without comments or strings.

A lint prints one line per finding, "file:line: reason", and exits with 1 if there was one. LINT_ROOT names
another tree: tests/lint/self-test breaks each rule on purpose in such a tree.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(os.environ.get("LINT_ROOT") or Path(__file__).resolve().parents[2])
BUILD = ROOT / os.environ.get("BUILD", "build")

findings = []


def find(path, line, reason):
    findings.append(f"{path}:{line}: {reason}")


def finish():
    for text in findings:
        print(text)
    sys.exit(1 if findings else 0)


def all_files():
    """Relative paths of all files that git tracks or does not ignore; without git, all files outside of build/."""
    if (ROOT / ".git").exists():
        out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True,
                             stdout=subprocess.PIPE).stdout.decode()
        names = sorted(set(filter(None, out.split("\0"))))
    else:
        names = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*")
                       if "build" not in path.relative_to(ROOT).parts[:1] and "__pycache__" not in path.parts)
    return [name for name in names if (ROOT / name).is_file()]


def sources(*folders):
    """C++ files under these folders."""
    return [name for name in all_files() if name.split("/")[0] in folders and name.endswith((".cpp", ".hpp"))]


def is_text(name):
    return b"\0" not in (ROOT / name).read_bytes()[:4096]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


TOKEN = re.compile(r'''
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<raw>R"(?P<mark>[^(\s]{0,16})\((?P<inside>.*?)\)(?P=mark)")
  | (?P<string>"(?:\\.|[^"\\\n])*")
  | (?P<char>(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')
''', re.VERBOSE | re.DOTALL)


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def code_only(text):
    """The text with comments blanked and literals emptied: same lines, same columns."""
    def replace(match):
        literal = match.group(0)
        if match.group("comment"):
            return blank(literal)
        return literal[0] + blank(literal[1:-1]) + literal[-1]
    return TOKEN.sub(replace, text)


def string_literals(text):
    """(line, value) of each string literal; neighbors that the compiler joins are one."""
    joined = []
    end = None
    for match in TOKEN.finditer(text):
        if match.group("comment") or match.group("char"):
            continue
        value = match.group("inside") if match.group("raw") else match.group("string")[1:-1]
        between = text[end:match.start()] if end is not None else "x"
        if re.fullmatch(r"(\s|//[^\n]*\n)*", between):
            joined[-1][1] += value
        else:
            joined.append([text.count("\n", 0, match.start()) + 1, value])
        end = match.end()
    return [(line, value) for line, value in joined]


def includes(text):
    """(line, form, path) of each #include; form is '"' for a file of the project, otherwise '<'. The compiler searches src/
    for both forms."""
    pattern = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
    return [(text.count("\n", 0, m.start()) + 1, '"' if (ROOT / "src" / m.group(2)).is_file() else m.group(1), m.group(2))
            for m in pattern.finditer(text)]
