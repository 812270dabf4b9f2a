"""The commands of README.md, run as they stand there: in one shell, one block after the other, against this suite's stack in
the place of `make demo`'s."""

import json
import re
import subprocess

import pytest
from support.admin import Admin
from support.client import Client
from support.documented import code_blocks, note
from support.mail import mails_to
from support.stack import ROOT

README = ROOT / "README.md"
# These blocks are single commands that build, test or package; the suite runs inside of them.
MAKE = ["make demo\n", "make demo-code\n", "make check\n", "make deb\n"]
BETWEEN = "----- next block"


def run(stack, blocks, env=None):
    """[(stdout, stderr)] of each block; the shell continues after an error, as a terminal does. env: instead of env.json."""
    script = f"\necho '{BETWEEN}'; echo '{BETWEEN}' >&2\n".join(blocks)
    script = script.replace("build/sandbox/env.json", str(env or stack.folder / "env.json"))
    script = script.replace("build/sandbox", str(stack.folder)).replace("build/muster-import", str(stack.build / "muster-import"))
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120)
    parts = [[part.strip() for part in stream.split(BETWEEN)] for stream in (done.stdout, done.stderr)]
    assert len(parts[0]) == len(parts[1]) == len(blocks), f"the shell ended early: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return list(zip(*parts))


def values(text):
    """The JSON values of an output, in their order."""
    decoder, found, start = json.JSONDecoder(), [], 0
    while (match := re.compile(r"^[{\[]", re.MULTILINE).search(text, start)):
        value, start = decoder.raw_decode(text, match.start())
        found.append(value)
    return found


@pytest.fixture(scope="module")
def blocks():
    found = code_blocks(README.read_text())
    assert [block for block in found if block.startswith("make ")] == MAKE
    return [block for block in found if block not in MAKE]


@pytest.fixture(scope="module")
def env(stack, contract, tmp_path_factory):
    """env.json with a new session: earlier tests may have ended the one that the sandbox began."""
    values = stack.env
    acme = values["organizations"][0]
    acme["session_token"] = Admin(stack, contract, (acme["id"], "owner")).api.key
    path = tmp_path_factory.mktemp("readme") / "env.json"
    path.write_text(json.dumps(values))
    return path


@pytest.fixture(scope="module")
def outputs(stack, blocks, env):
    """{a word of the block: (stdout, stderr)}"""
    words = ("call()", "/v1/imports", "muster-import", "/v1/track", "/v1/session", "email-otp", "catalog")
    assert [word in block for word, block in zip(words, blocks)] == [True] * len(blocks) and len(words) == len(blocks)
    for block in blocks:
        note(block)
    return dict(zip(words, run(stack, blocks, env)))


def test_no_command_fails(outputs):
    for word, (_, stderr) in outputs.items():
        # muster-import shows its progress there.
        lines = [line for line in stderr.splitlines() if not re.search(r"(Staging|Checking|Importing) +\d+ %", line)]
        assert not lines, f"{word}: {lines}"


def test_an_import_waits_for_its_dry_run_and_completes(outputs):
    stdout, _ = outputs["/v1/imports"]
    staged, validating, validated, committing, completed = values(stdout)
    assert staged == {"staged": 2}
    assert (validating["state"], committing["state"]) == ("validating", "committing")
    assert (validated["state"], validated["valid_rows"], validated["invalid_rows"]) == ("validated", 1, 1)
    assert completed["state"] == "completed" and completed["failed_count"] == 0
    assert completed["created_count"] + completed["attached_count"] == validated["preview"]["new_members"]
    report = stdout[stdout.index("email,"):].splitlines()
    assert len(report) == 2 and report[1].startswith("bob@example.org") and "shirt_size" in report[1]


def test_a_csv_file_is_imported_whole(outputs):
    rows = len((ROOT / "docs/examples/members.csv").read_text().splitlines()) - 1
    stdout, _ = outputs["muster-import"]
    assert "is complete" in stdout and re.search(rf"^ +imported +{rows}$", stdout, re.M) and re.search(r"not imported +0\b", stdout)


def test_a_tracked_event_can_be_read_back(outputs):
    member, accepted, event = values(outputs["/v1/track"][0])
    assert (member["email"], member["attributes"]["shirt_size"]) == ("ada@example.org", "M")
    assert accepted == {"accepted": 1, "duplicates": 0}
    assert (event["action"], event["user_id"]) == ("page_viewed", member["id"])


def test_an_admin_sees_the_session_members_keys_and_log(outputs):
    stdout, _ = outputs["/v1/session"]
    session, key, entry = values(stdout)
    assert session["two_factor"] == {"enrolled": True, "verified": True, "backup_codes_left": 10}
    assert "ada@example.org" in stdout.splitlines() and key["name"] == "a second key" and entry["action"] == "api_key.issued"


def test_the_requested_mail_has_the_code_of_that_admin(outputs):
    requested, signed_in = values(outputs["email-otp"][0])
    assert requested == {"success": True}
    assert signed_in["token"] and signed_in["two_factor"] == {"enrolled": True, "verified": False}


def test_the_codes_for_the_demos_console_sign_in(stack, contract, outputs):
    """What `make demo-code` runs. The code by mail is the one that the block requested and used."""
    _, signed_in = values(outputs["email-otp"][0])
    said = subprocess.run([ROOT / "tests/sandbox/sign-in", "--codes", stack.folder], capture_output=True, text=True, timeout=60, check=True).stdout
    assert f"{stack.base_url}/console/ enter admin@acme.example" in said
    mailed, current = re.search(r"mail +(\d{8})$", said, re.M).group(1), re.search(r"authenticator +(\d{6})$", said, re.M).group(1)
    assert mailed == mails_to(stack, "admin@acme.example", subject="sign-in code")[-1].code  # that of the new key may be later
    session = Client(stack, contract, signed_in["token"])
    session.post("/api/auth/two-factor/verify-totp", json={"code": current}, expect=200)


def test_the_catalog_lists_each_provider(outputs):
    rows = [line.split("\t") for line in outputs["catalog"][0].splitlines()]
    assert len(rows) == 15 and {row[1] for row in rows} <= {"true", "false"}


@pytest.mark.parametrize("right, wrong", [
    ("wait_for validated", "true"), ("/v1/imports", "/v1/nowhere"), ("/ca.pem", "/no.pem"),
])
def test_a_broken_block_is_found(stack, blocks, right, wrong, no_runner):
    """Without a runner the dry run does not end, so a block that does not wait fails."""
    broken = [block.replace(right, wrong).replace("seq 150", "seq 1") for block in blocks[:2]]
    assert broken != blocks[:2]
    try:
        _, (_, stderr) = run(stack, broken)
        assert "curl: (" in stderr
    finally:
        acme = stack.env["organizations"][0]["id"]
        for job in stack.ctl("import", "list", "--org", acme):
            if job["state"] in ("staging", "validating"):
                stack.ctl("import", "cancel", "--yes", "--org", acme, "--id", job["id"])
