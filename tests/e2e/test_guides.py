"""The commands of the guides in docs/, run as they stand there, against this suite's stack in the place of `make sandbox`'s.

What a guide shows of an output is compared: statuses, codes of errors, names of fields, and short results as they are.
"""

import json
import os
import re
import subprocess
import time
from urllib.parse import urlsplit

import pytest
from support import guides
from support.admin import Admin, step_now, totp
from support.documented import note
from support.guides import Command, block, blocks, commands, commands_of
from support.mail import wait_for_code, wait_for_mail
from support.ports import free_port
from support.stack import ROOT
from support.world import Organization

MODULES = ("umask 077", "python3 receiver.py &", "T=$(date +%s) SECRET=", "SINCE=", "jq -r '\"Authorization: Bearer")
TRUST = "--cacert build/sandbox/ca.pem"
ENGAGEMENT = ("# 1. Issue a tracking key", "chromium", "CONSOLE=")


@pytest.fixture
def guide_org(stack, contract):
    return Organization(stack, contract, name="Guides")


@pytest.fixture
def run(stack, guide_org, tmp_path):
    def run_commands(chain, replaced=None, token=None):
        env = os.environ | {"URL": stack.base_url, "KEY": guide_org.key, "TOKEN": token or guide_org.admin().api.key,
                            "BUILD": str(stack.build), "ORG": guide_org.id}
        done = guides.run(chain, tmp_path, env, (replaced or {}) | ({"build/sandbox": str(stack.folder)}))
        found = [fault for command in done for fault in guides.faults(command)]
        assert not found, "\n".join(found)
        return done

    return run_commands


def one(done, beginning):
    return next(command for command in done if command.text.startswith(beginning))


@pytest.mark.parametrize("page", ["errors", "imports", "users", "member-jobs", "attributes", "keys", "idempotency",
                                  "audit-log", "limits", "organization"])
def test_the_examples_of_the_api_are_true(run, guide_org, page):
    chain = commands(f"api/{page}.md")
    assert chain
    if page == "imports":
        chain += commands("api/imports-undo.md")
        guide_org.api.post("/v1/users", json={"email": "ann@example.org"})
    if page == "member-jobs":
        guide_org.create_user({"email": "ann@example.org", "country": "DE", "attributes": {"shirt_size": "M"}})
    if page == "audit-log":
        chain = commands("api/keys.md") + chain
    run(chain)


def test_a_request_without_a_credential_is_answered_as_shown(run):
    run(commands("api/authentication.md"), {"curl -sS -i": f"curl -sS -i {TRUST}"})


def test_the_examples_find_the_key_in_a_file(run, guide_org, tmp_path):
    (tmp_path / "riverside.key").write_text(guide_org.key + "\n")
    whole = Command(block("api/README.md", "URL="), "")
    run([whole, Command("api -w '%{http_code}' -o users.json $URL/v1/users; stat -c %a muster.header", "")],
        {"https://members.example.org": guide_org.stack.base_url, "api() { curl -sS -H @muster": f"api() {{ curl -sS {TRUST} -H @muster"})
    assert (tmp_path / "muster.header").stat().st_mode & 0o777 == 0o600
    assert "users" in (tmp_path / "users.json").read_text()


def test_an_admin_signs_in_as_documented(run, stack, contract, guide_org):
    """The codes of the page are replaced by those of the mail and of the authenticator."""
    second = Organization(stack, contract, attributes=False)
    admin = Admin(stack, contract, (guide_org.id, "admin"), (second.id, "admin"))
    chain = commands("api/sign-in.md")
    (define, ask, verify, read_token, write_header, define_admin, enable, check, backup, new_codes, replace, confirm, session, sessions,
     end_others, switch, expect) = chain
    trust = {"plain() { curl -sS": f"plain() {{ curl -sS {TRUST}"}

    def step(*steps, replaced=None):
        return run([*steps], trust | (replaced or {}))[-1].output

    before = f"{time.time_ns():020d}"
    step(define, ask, replaced={"ada@example.org": admin.address})
    code = wait_for_code(stack, admin.address, after=before)
    token = json.loads(step(define, verify, replaced={"ada@example.org": admin.address, "68828936": code}))["token"]
    run([read_token, write_header], {"read -r TOKEN": f"read -r TOKEN <<<{token}"})
    factor = json.loads(step(define, define_admin, enable))
    stack.keys_issued += [token, factor["secret"], *factor["backup_codes"]]
    step(define, define_admin, check, replaced={"492039": totp(factor["secret"], step_now())})
    assert guide_org.id in step(define, define_admin, session)
    step(define, define_admin, backup, replaced={"zzhd-6edm-owwq-cx5q-5m3k-tq7a": factor["backup_codes"][0]})
    codes = json.loads(step(define, define_admin, new_codes, replaced={"492039": factor["backup_codes"][1]}))["backup_codes"]
    next_factor = json.loads(step(define, define_admin, replace, replaced={"713370": codes[0]}))
    stack.keys_issued += [next_factor["secret"], *codes]
    assert step(define, define_admin, confirm, replaced={"204951": totp(next_factor["secret"], step_now())}) == ""
    assert '"is_current": true' in step(define, define_admin, sessions)
    assert json.loads(step(define, define_admin, end_others)) == {"ended_count": 0}
    assert second.id in step(define, define_admin, switch, replaced={"01a1fe88-b548-7305-8f3d-d71db0daa590": second.id})
    step(define, define_admin, expect, replaced={"01a1fe88-b51f-70b2-9691-964daad2dbb4": guide_org.id})


def test_a_colleague_is_invited_and_removed_as_documented(run, stack, guide_org, tmp_path):
    """With curl alone: invited, enrolled, another role, removed. The codes of the page are replaced by the real ones."""
    invite, define, ask, verify, enable, check, seats, listed, name, change, refused, remove, ended = commands("api/team.md")
    address = "grace@example.org"
    trust = {"curl -sS -H": f"curl -sS {TRUST} -H"}

    def step(*steps, replaced=None):
        return run([*steps], trust | (replaced or {}))[-1].output

    run([invite])
    wait_for_mail(stack, address, subject="You are invited")
    before = f"{time.time_ns():020d}"
    run([ask], trust)
    code = wait_for_code(stack, address, after=before)
    run([verify], trust | {"68828936": code})
    step(define, enable)
    secret = (tmp_path / "grace.secret").read_text().strip()
    stack.keys_issued += [secret, (tmp_path / "grace.header").read_text().split()[-1]]
    step(define, check, replaced={"492039": totp(secret, step_now())})
    assert '"role":"admin"' in step(define, seats)
    run([listed])
    step(define, name, change, refused, remove, ended)


def test_the_function_that_knows_a_key_works(guide_org):
    names, function = {}, block("api/keys.md", "import re, zlib")
    note(function)
    exec(function, names)  # pylint: disable=exec-used
    assert names["is_key"](guide_org.key)
    assert not names["is_key"](guide_org.key[:-1] + ("0" if guide_org.key[-1] != "0" else "1"))


def test_the_steps_of_modules_and_webhooks_work(run, tmp_path):
    port = free_port()
    receiver = block("webhooks.md", "import base64")
    note(receiver)
    (tmp_path / "receiver.py").write_text(receiver.replace("9000", str(port)))
    done = run(commands("modules.md", MODULES) + commands("webhooks.md"), {"127.0.0.1:9000": f"127.0.0.1:{port}"})
    first = one(done, "python3 receiver.py").output
    assert '"type":"member.created"' in first and '["member.created","succeeded","204"]' in first
    assert '{"currency":"EUR","payment_key":"sk_1"}' in one(done, "T=$(date +%s) SECRET=").output
    assert "updated_at" in one(done, "SINCE=").output
    assert '{"accepted":1,"duplicates":0}' in one(done, "jq -r").output
    assert '{"queued":' in one(done, "admin $HOOKS/$ENDPOINT/recover").output


def test_the_steps_of_tracking_ads_and_content_work(run):
    port = free_port()
    chain = commands("engagement.md", ENGAGEMENT) + commands("ads.md", ("SLOT=",)) + commands("content.md")
    done = run(chain, {"localhost:8000": f"localhost:{port}", "http.server 8000": f"http.server {port}"})
    assert "page_viewed" in one(done, "api $URL/v1/users/$ANN/engagement/events | jq .events[0]").output


def connection_steps():
    """The first block of external-data.md: (what starts the providers' stand-in, the steps in a sandbox)."""
    code = block("external-data.md", "# 1. Start the providers")
    made = re.search(r"^make sandbox.*\n", code, re.MULTILINE)
    return code[:made.start()], code[made.end():]


def test_the_stand_in_of_the_providers_starts(tmp_path):
    start, _ = connection_steps()
    note(start)
    here = start.replace("9471", str(free_port())).replace("providers.conf", str(tmp_path / "providers.conf"))
    # timeout(1) also ends the stand-in.
    done = subprocess.run(["timeout", "30", "bash", "-c", f"{here}kill $!"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "[providers.slack]\n" in (tmp_path / "providers.conf").read_text()


def test_the_steps_to_a_connection_work(run, stack, oauth_server, guide_org, tmp_path):
    """With a new organization and session in env.json: earlier tests may have ended the one that the sandbox began."""
    _, steps = connection_steps()
    env = stack.env
    env["organizations"][0] |= {"id": guide_org.id, "session_token": guide_org.admin().api.key}
    (tmp_path / "env.json").write_text(json.dumps(env))
    done = run([Command(steps, ""), *commands("external-data.md")], {
        "https://127.0.0.1:8443": stack.base_url, "127.0.0.1:9471": urlsplit(oauth_server.url).netloc,
        "build/sandbox/env.json": str(tmp_path / "env.json")})
    answers = done[0].output.strip().splitlines()
    assert re.fullmatch(r"https://.*/console/#/connections\?result=connected&connection=[0-9a-f-]{36}", answers[-2])
    assert '"connector":"slack","authStatus":"connected","error":null' in answers[-1]


@pytest.mark.parametrize("page", ["api/errors.md", "api/imports.md", "modules.md", "webhooks.md", "engagement.md", "ads.md", "content.md"])
def test_a_command_that_fails_is_found(page):
    """What a guide shows is not what another reply has."""
    shown = [command for code in blocks(page) if code.startswith("$ ") for command in commands_of(code) if guides.json_of(command.shown)]
    for command in shown:
        command.output, command.status = '{"error":{"code":"OTHER","message":"","status":400}}', 0
        assert guides.faults(command), command.text


def texts_of_sources():
    """All sources; a literal that is broken over lines is whole."""
    return re.sub(r'"\s*\n\s*"', "", "\n".join(path.read_text() for path in sorted((ROOT / "src").rglob("*.[hcd][pe]*[pf]"))))


def test_messages_that_guides_show_are_those_of_the_service():
    sources = texts_of_sources()
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "decisions" not in path.parts]
    shown = {(path.name, text) for path in pages for text in re.findall(r'"message":"([^"]+)"', path.read_text())}
    reasons = re.search(r"^\| `details.reason` \|.*\n(?:\|.*\n)+", (ROOT / "docs/modules.md").read_text(), re.MULTILINE).group()
    shown |= {("modules.md", text) for text in re.findall(r"^\| `(?!details)([^`]+)` \|", reasons, re.MULTILINE)}
    assert len(shown) > 12
    assert not {(page, text) for page, text in shown if f'"{text}"' not in sources}
