"""musterctl(8): its command line, confirmations, help, completion, and configurations that are not valid."""

import json
import os
import pty
import re
import select
import subprocess

import pytest
from support.ctl import DONE, NOT_DONE, NOWHERE, USAGE
from support.stack import ROOT
from support.world import email


# ---------------------------------------------------------------------------- command line and configuration


@pytest.mark.parametrize("words", [
    [], ["nonsense"], ["org"], ["org", "nonsense"], ["org", "list", "x"], ["org", "list", "--org", "x"], ["--config"],
    ["health", "--verbose"], ["--nonsense"],
])
def test_a_wrong_command_line_exits_with_2(ctl, words):
    ctl(*words, status=USAGE)


def test_an_unknown_command_is_rejected_with_the_known_ones(ctl):
    assert 'unknown command "frob"; use db, org, admin,' in ctl("frob", status=USAGE).stderr
    assert 'unknown command "org frob"; use org create, org list, org rename, org disable, org enable, org delete or org usage' in ctl("org", "frob", status=USAGE).stderr
    assert 'unknown command "attribut"; did you mean "attribute"?' in ctl("attribut", status=USAGE).stderr
    assert 'unknown command "org lst"; did you mean "org list"?' in ctl("org", "lst", status=USAGE).stderr
    assert "unknown option --nam; did you mean --name?" in ctl("org", "create", "--nam=x", status=USAGE).stderr
    assert "(see musterctl org create --help)" in ctl("org", "create", status=USAGE).stderr
    assert "`org list` has no option --name" in ctl("org", "list", "--name=x", status=USAGE).stderr


def test_a_group_alone_lists_its_commands(ctl):
    said = ctl("key", status=USAGE).stderr
    assert said == "musterctl: `key` is a group of commands; use key issue, key list or key revoke (see musterctl key --help)\n"


def test_a_missing_value_and_an_empty_one_are_different_errors(ctl):
    assert "--name needs a value: --name NAME" in ctl("org", "create", "--name", status=USAGE).stderr
    assert "--name needs a value: --name NAME" in ctl("org", "create", "--name", "--org", status=USAGE).stderr
    assert "--name is empty; use --name NAME" in ctl("org", "create", "--name", "", status=USAGE).stderr
    assert "--name is empty; use --name NAME" in ctl("org", "create", "--name=", status=USAGE).stderr


def test_an_option_with_a_value_is_given_once(stack, ctl):
    assert "--name is given twice; give it once" in ctl("org", "create", "--name", "a", "--name=b", status=USAGE).stderr
    again = ("--config", stack.config, "--config", stack.config)
    for program, words in (("musterctl", ["org", "list"]), ("muster-run", ["purge"]), ("musterd", [])):
        done = stack.program(program, *again, *words, timeout=20)
        assert done.returncode == USAGE
        assert done.stderr == f"{program}: --config is given twice; give it once (see {program} --help)\n"


def test_an_error_of_a_command_names_its_help(ctl):
    assert "(see musterctl audit --help)" in ctl("audit", "--limit", "0", status=USAGE).stderr
    long = ctl("audit", "--limit", "9" * 5000, status=USAGE).stderr
    assert '999..." (5000 bytes); use a number from 1 to 1000' in long and len(long) < 400
    assert "(see musterctl org usage --help)" in ctl("org", "usage", status=USAGE).stderr


def test_a_date_for_expires_is_answered_with_a_time(ctl, org_id):
    said = ctl("key", "issue", "--org", org_id, "--name", "k", "--expires", "2099-01-01", status=USAGE).stderr
    assert '--expires is "2099-01-01"; use a date with a time and a time zone: 2099-01-01T00:00:00Z' in said
    assert "YYYY-MM-DDThh:mm:ssZ" in ctl("key", "issue", "--org", org_id, "--name", "k", "--expires", "soon", status=USAGE).stderr


# Python passes "\udcff" as the byte 0xff.
FAULTY_TEXTS = {"line\nBcc: x": "a control character", "k\tk": "a control character", "x" * 256: "has 256 characters; use 1 to 255",
                "k\udcff": "is not UTF-8", "  ": "is empty"}


@pytest.mark.parametrize("option, words", [
    ("--name", ["org", "create"]), ("--name", ["org", "rename", "{org}"]), ("--name", ["key", "issue", "--org", "{org}"]),
    ("--name", ["tracking-key", "issue", "--org", "{org}", "--origins", "https://a.example"]),
    ("--name", ["content-key", "issue", "--org", "{org}", "--origins", "https://a.example"]),
    ("--label", ["attribute", "add", "--org", "{org}", "--key", "boat", "--type", "text"]),
    ("--choices", ["attribute", "add", "--org", "{org}", "--key", "boat", "--type", "multi_choice"]),
])
def test_a_text_that_the_contract_rejects_is_not_stored(ctl, ask, org_id, option, words):
    def stored():
        return [ask("org", "list"), *(ask(noun, "list", "--org", org_id) for noun in ("key", "tracking-key", "content-key", "attribute"))]
    before = stored()
    for text, fault in FAULTY_TEXTS.items():
        said = ctl(*[word.format(org=org_id) for word in words], option, text, status=USAGE).stderr
        assert f'{option} is "' in said and fault in said
    assert stored() == before


@pytest.mark.parametrize("arguments, status, code", [
    (["org", "create"], USAGE, None), (["frob"], USAGE, None), (["org", "create", "--nam", "x"], USAGE, None),
    (["admin", "list", "--org", NOWHERE], NOT_DONE, None),
    (["import", "cancel", "--yes", "--org", "{org}", "--id", NOWHERE], NOT_DONE, "NOT_FOUND"),
])
def test_errors_are_json_with_json(stack, org_id, arguments, status, code):
    done = stack.ctl_raw("--json", *[word.format(org=org_id) for word in arguments])
    assert (done.returncode, done.stdout) == (status, "")
    report = json.loads(done.stderr)
    assert set(report) == {"error", "exit_code"} and set(report["error"]) == {"code", "message", "details"}
    assert report["exit_code"] == status and report["error"]["message"] and report["error"]["code"] == code


# ---------------------------------------------------------------------------- confirmation


def at_terminal(stack, answer, *arguments):
    """musterctl at a terminal that gives `answer`: exit status, and all that the terminal showed."""
    leader, follower = pty.openpty()
    command = [stack.build / "musterctl", "--config", stack.config, *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MUSTER_")}
    with subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=environment) as process:
        os.close(follower)
        shown = b""
        while b"[y/N]" not in shown and select.select([leader], [], [], 20)[0]:
            shown += os.read(leader, 4096)
        os.write(leader, answer.encode())
        status = process.wait(timeout=20)
        while select.select([leader], [], [], 0)[0]:
            try:
                shown += os.read(leader, 4096)
            except OSError:
                break
    os.close(leader)
    return status, shown.decode()


@pytest.mark.parametrize("words", [
    ["key", "revoke", "--org", "{org}", "--id", "{key}"], ["tracking-key", "revoke", "--org", "{org}", "--id", "{page}"],
    ["admin", "remove", "--org", "{org}", "--email", "{email}"], ["admin", "reset-2fa", "--email", "{email}"],
    ["import", "cancel", "--org", "{org}", "--id", NOWHERE],
])
def test_a_command_that_asks_requires_yes_without_a_terminal(ctl, ask, org_id, words):
    address = email("admin")
    ask("admin", "add", "--org", org_id, "--email", address)
    key = ask("key", "issue", "--org", org_id, "--name", "Server 1")["id"]
    page = ask("tracking-key", "issue", "--org", org_id, "--name", "Page", "--origins", "https://a.example")["id"]
    said = ctl(*[word.format(org=org_id, key=key, page=page, email=address) for word in words], status=USAGE).stderr
    assert re.match(r"musterctl: --yes is missing, and there is no terminal to ask on: (Revoke|Remove|Cancel) .*\?", said)
    assert ask("key", "list", "--org", org_id)[0]["revoked_at"] is None
    assert [seat["email"] for seat in ask("admin", "list", "--org", org_id)] == [address]


def test_an_irreversible_command_asks_at_a_terminal(stack, ask, org_id):
    issued = ask("key", "issue", "--org", org_id, "--name", "Server\u200b1")
    words = ["key", "revoke", "--org", org_id, "--id", issued["id"]]
    status, shown = at_terminal(stack, "n\n", *words)
    assert status == NOT_DONE and "not confirmed; nothing was changed" in shown
    assert f'org_...{issued["last_four"]} "Server\\xe2\\x80\\x8b1"?' in shown
    assert ask("key", "list", "--org", org_id)[0]["revoked_at"] is None
    status, shown = at_terminal(stack, "y\n", *words)
    assert status == DONE and "revoked" in shown
    assert ask("key", "list", "--org", org_id)[0]["revoked_at"] is not None


# ---------------------------------------------------------------------------- help


def test_a_command_has_its_own_help(ctl):
    shown = ctl("key", "issue", "--help").stdout
    assert shown.startswith("Usage: musterctl key issue --org --name [--role] [--expires] [--rate] [--burst]\n")
    assert "  --org ORG " in shown and "  --rate N " in shown and "--email" not in shown
    assert ctl("help", "key", "issue").stdout == ctl("key", "issue", "-h").stdout == shown
    of_noun = ctl("key", "-h").stdout
    assert shown in of_noun and "musterctl key revoke" in of_noun
    assert ctl("help").stdout == ctl("--help").stdout
    ctl("frob", "--help", status=USAGE)


def test_the_help_names_the_roles_and_the_default_of_each_command(ctl):
    shown = {words: ctl("help", *words.split()).stdout for words in ("admin add", "admin invite", "admin set-role", "key issue")}
    assert ["owner" in text for text in shown.values()] == [True, True, True, False]
    assert ["default" in text for text in shown.values()] == [True, True, False, True]


def test_help_and_version_are_printed(stack):
    listed = stack.program("musterctl", "--help")
    assert listed.returncode == 0
    for command in ("db init", "org create --name", "key issue --org --name", "import cancel", "health"):
        assert command in listed.stdout
    assert stack.program("musterctl", "--version").stdout.startswith("musterctl ")
    words = stack.program("musterctl", "--completion-words").stdout
    assert "key issue:--org --name --role --expires --rate --burst\n" in words


def completions(stack, *words):
    """What the completion of bash offers for the last word."""
    script = f""". '{ROOT}/packaging/bash-completion/musterctl'
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _musterctl
        printf '%s\\n' "${{COMPREPLY[@]}}"
        """
    done = subprocess.run(["bash", "-c", script, "bash", stack.build / "musterctl", *words], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


FLAGS = re.findall(r'CommandOption\{"(--[\w-]+)", "",', (ROOT / "src/ctl/commands.cpp").read_text())


@pytest.mark.parametrize("flag", FLAGS)
def test_the_completion_continues_after_an_option_without_a_value(stack, flag):
    assert "--name" in completions(stack, "org", "create", flag, "--")
    assert "--name" in completions(stack, "org", flag, "create", "--")


def test_the_completion_offers_no_options_as_a_value(stack):
    assert "--no-starter-attributes" in FLAGS and "--name" not in FLAGS
    assert completions(stack, "org", "create", "--name", "") == []
    assert completions(stack, "org", "create", "--name", "create", "--no") == ["--no-starter-attributes"]


BAD_CONFIGURATIONS = {
    "unknown section": ("[nonsense]\n", "{file}:1:"),
    "unknown key": ("[server]\n# a comment\nworker = 8\n", "{file}:3:"),
    "key of another section": ("[log]\nworkers = 8\n", "{file}:2:"),
    "no number": ("\n\n[server]\nworkers = many\n", "{file}:4:"),
    "too small": ("[server]\nworkers = 0\n", "{file}:2:"),
    "too large": ("[jobs]\nlease = 601\n", "{file}:2:"),
    "twice": ("[server]\nworkers = 2\nworkers = 3\n", "{file}:3:"),
    "no assignment": ("[server]\nworkers\n", "{file}:2:"),
    "no section": ("workers = 8\n", "{file}:1:"),
    "unreadable secret": ("[database]\npassword = file:/nowhere\n", "{file}:2:"),
    "unknown level": ("[log]\nlevel = loud\n", "{file}"),
    "bad mode": ("[server]\nsocket_mode = 0999\n", "{file}"),
    "unusable address": ("[webhooks]\ndns = localhost\n", "{file}:2:"),
    "the same socket twice": ("[server]\nsocket = /run/a\nreader_socket = /run/a\n", "{file}:"),
}


@pytest.mark.parametrize("text, place", BAD_CONFIGURATIONS.values(), ids=BAD_CONFIGURATIONS)
def test_an_invalid_configuration_is_reported_with_its_line(stack, tmp_path, text, place):
    config = tmp_path / "muster.conf"
    config.write_text(text)
    key = {"MUSTER_SECURITY_KEY_FILE": f"{stack.folder}/muster.key"}
    for program, arguments in (("musterctl", ["--config", config, "config", "check"]), ("musterd", ["--config", config]),
                               ("muster-run", ["--config", config, "imports"])):
        done = stack.program(program, *arguments, env=key, timeout=20)
        assert done.returncode == 1 and done.stdout == "", done
        assert done.stderr.startswith(f"{program}: {place.format(file=config)}"), done.stderr
        assert done.stderr.count("\n") == 1


def test_all_faults_of_a_configuration_are_reported_together(stack, tmp_path):
    config = tmp_path / "muster.conf"
    config.write_text("[server]\nworkers = 0\n[log]\nlevel = loud\n[database]\npassword = file:/dev/zero\n"
                      "[security]\nkey_file = /dev/zero\n")
    places = [f"{config}:{line}" for line in (2, 4, 6, 8)]
    for program, arguments in (("musterctl", ["config", "check"]), ("musterd", []), ("muster-run", ["mail"])):
        done = stack.program(program, "--config", config, *arguments, timeout=20)
        assert (done.returncode, done.stdout) == (NOT_DONE, "")
        lines = done.stderr.splitlines()
        assert [line.startswith(f"{program}: {place}: ") for line, place in zip(lines, places, strict=True)] == [True] * 4, lines
    document = json.loads(stack.program("musterctl", "--config", config, "--json", "config", "check").stderr)
    faults = document["error"]["details"]["faults"]
    assert [(fault["place"], fault["setting"]) for fault in faults] == list(
        zip(places, ("server.workers", "log.level", "database.password", "security.key_file"), strict=True))
    assert faults[3]["message"].endswith("it is a device, a pipe or a socket; use a regular file")


def test_a_missing_configuration_and_a_short_key_are_rejected(stack, tmp_path):
    done = stack.program("musterctl", "--config", tmp_path / "none.conf", "config", "check")
    assert done.returncode == 1 and "none.conf" in done.stderr
    short = tmp_path / "short.key"
    short.write_bytes(b"x" * 31)
    done = stack.ctl_raw("config", "check", env={"MUSTER_SECURITY_KEY_FILE": str(short)})
    assert done.returncode == 1 and "32" in done.stderr


def test_the_environment_overrides_the_file(stack):
    assert stack.ctl_raw("config", "check").stdout == f"{stack.config} is valid\n"
    done = stack.ctl_raw("config", "check", env={"MUSTER_SERVER_WORKERS": "none"})
    assert done.returncode == 1 and "MUSTER_SERVER_WORKERS" in done.stderr
    by_name = stack.program("musterctl", "config", "check", env={"MUSTER_CONFIG": stack.config})
    assert by_name.returncode == 0


def test_the_output_can_be_piped(stack, org_id):
    command = f"'{stack.build}/musterctl' --config '{stack.config}' --json key list --org {org_id} | jq -e 'length == 0'"
    assert subprocess.run(["bash", "-c", command], capture_output=True).returncode == 0
