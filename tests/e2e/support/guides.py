"""The commands of the guides in docs/, run as they stand there: one shell for each guide, against the suite's stack.

A block whose first line begins with "$ " shows commands and their output. Other blocks run whole, if the test names them.
"""

import json
import re
import subprocess
from dataclasses import dataclass

from .documented import code_blocks, note
from .stack import ROOT

# As README.md defines them for the sandbox.
PRELUDE = r"""
set -o pipefail
api() { curl -sS --cacert build/sandbox/ca.pem -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' "$@"; }
admin() { curl -sS --cacert build/sandbox/ca.pem -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' "$@"; }
musterctl() { "$BUILD/musterctl" --config build/sandbox/muster.conf "$@"; }
"""
END = "----- end of a command"


@dataclass
class Command:
    text: str
    shown: str  # what the guide shows as output
    output: str = ""
    errors: str = ""
    status: int = None


def blocks(page):
    """The code blocks of a page in docs/, each without its indent."""
    return code_blocks((ROOT / "docs" / page).read_text())


def block(page, beginning):
    found = [code for code in blocks(page) if code.startswith(beginning)]
    assert found, f"docs/{page} has no block that begins with {beginning!r}"
    return found[0]


def is_complete(text):
    if text.rstrip().endswith(("\\", "|")):
        return False
    return subprocess.run(["bash", "-n", "-c", text], capture_output=True, check=False).returncode == 0


def commands_of(code):
    """The commands of a block with "$ ", and the output that stands below each."""
    found, lines = [], code.splitlines()
    while lines:
        line = lines.pop(0)
        if not line.startswith("$ "):
            found[-1].shown += line + "\n"
            continue
        text = line[2:]
        while not is_complete(text):
            text += "\n" + lines.pop(0)
        found.append(Command(text, ""))
    return found


def commands(page, whole=()):
    """All commands of a page: each block with "$ ", and those that begin with one of `whole`."""
    found = []
    for code in blocks(page):
        if code.startswith("$ "):
            found += commands_of(code)
        elif code.startswith(tuple(whole)) and whole:
            found.append(Command(code, ""))
    return found


def run(chain, folder, env, replaced):
    """Runs the commands in one shell in `folder`; replaced: {what the guide says for an example: what is meant here}."""
    script = PRELUDE
    for command in chain:
        note(command.text)
        name = re.fullmatch(r"cat (\S+)", command.text)
        if name and command.shown and name.group(1) != "key.json":
            (folder / name.group(1)).write_text(command.shown)  # a file that the guide shows
        script += f"{command.text}\nprintf '\\n{END} %s\\n' $?; echo '{END}' >&2\n"
    script += "kill $(jobs -p) 2>/dev/null\n"
    for old, new in replaced.items():
        assert old in script, f"{old!r} is not in the guide"
        script = script.replace(old, new)
        for command in chain:
            command.shown = command.shown.replace(old, new)
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)
    outputs, errors = re.split(rf"\n?{END} (\d+)\n", done.stdout), done.stderr.split(END)
    assert len(outputs) == 2 * len(chain) + 1, f"the shell ended early: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    for command, output, status, error in zip(chain, outputs[::2], outputs[1::2], errors):
        command.output, command.status, command.errors = output, int(status), error.strip()
    return chain


# ---------------------------------------------------------------------------- comparing with what the guide shows
def json_of(text):
    """The first JSON value of a text, without the header of `curl -i`; None if there is none."""
    found = re.search(r"^[\[{\"]|^null$", text, re.MULTILINE)
    if not found:
        return None
    try:
        return json.JSONDecoder().raw_decode(text, found.start())[0]
    except ValueError:
        return None


def shape(value):
    """Names and types without values, but for the codes of errors."""
    if isinstance(value, dict):
        return {name: inner if name == "code" else shape(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return None


def differences(shown, seen, path="$"):
    if isinstance(shown, dict) and isinstance(seen, dict):
        if set(shown) != set(seen):
            return [f"{path}: the guide shows {sorted(shown)}, the reply has {sorted(seen)}"]
        return [fault for name in shown for fault in differences(shown[name], seen[name], f"{path}.{name}")]
    if isinstance(shown, list) and isinstance(seen, list) and shown and seen:
        return differences(shown[0], seen[0], f"{path}[0]")
    if isinstance(shown, str) and shown != seen:
        return [f"{path}: the guide shows {shown}, the reply has {seen}"]
    return []


def faults(command):
    """What is wrong with a command that ran."""
    found = []
    if command.status != 0:
        found.append(f"exit status {command.status}")
    if re.search(r"curl: \(|command not found|jq: error|Traceback|syntax error", command.errors):
        found.append(command.errors)
    if '"error":{' in command.output and '"error":{' not in command.shown:
        found.append(command.output[:500])
    statuses = [re.findall(r"^HTTP/2 (\d+)", text, re.MULTILINE) for text in (command.shown, command.output)]
    if statuses[0] and statuses[0] != statuses[1]:
        found.append(f"the guide shows {statuses[0]}, the reply is {statuses[1]}")
    shown, seen = json_of(command.shown), json_of(command.output)
    if shown is not None:
        if seen is None:
            found.append(f"the guide shows JSON, the output is {command.output[:500]!r}")
        else:
            found += differences(shape(shown), shape(seen))
            is_fixed = isinstance(shown, list) and not re.search(r"01a[12]|T\d\d:\d\d|\.\.\.", command.shown) and "\n" not in command.shown.strip()
            if is_fixed and shown != seen:
                found.append(f"the guide shows {shown}, the output is {seen}")
    return [f"{command.text}: {fault}" for fault in found]
