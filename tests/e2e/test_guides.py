"""The commands of the guides in docs/, run as they stand there, against this suite's stack in the place of `make sandbox`'s.

What a guide shows of an output is compared: statuses, codes of errors, names of fields, and short results as they are.
"""

import os
import re
from urllib.parse import urlsplit

import pytest
from support import guides
from support.guides import Command, block, blocks, commands, commands_of
from support.stack import ROOT, free_port
from support.world import Organization

MODULES = ("umask 077", "python3 receiver.py &", "jq -r '\"Authorization: Bearer")
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


@pytest.mark.parametrize("page", ["errors", "imports", "users", "attributes", "keys", "idempotency", "audit-log"])
def test_the_examples_of_the_api_are_true(run, guide_org, page):
    chain = commands(f"api/{page}.md")
    assert chain
    if page == "imports":
        guide_org.api.post("/v1/users", json={"email": "ann@example.org"})
    if page == "audit-log":
        chain = commands("api/keys.md") + chain
    run(chain)


def test_a_request_without_a_credential_is_answered_as_shown(run):
    chain = commands("api/authentication.md")
    for command in chain:
        command.text = command.text.replace("curl -sS", "curl -sS --cacert build/sandbox/ca.pem")
    run(chain)


def test_the_function_that_knows_a_key_works(guide_org):
    names = {}
    exec(block("api/keys.md", "import re, zlib"), names)  # pylint: disable=exec-used
    assert names["is_key"](guide_org.key)
    assert not names["is_key"](guide_org.key[:-1] + ("0" if guide_org.key[-1] != "0" else "1"))


def test_the_steps_of_modules_and_webhooks_work(run, tmp_path):
    port = free_port()
    (tmp_path / "receiver.py").write_text(block("webhooks.md", "import base64").replace("9000", str(port)))
    done = run(commands("modules.md", MODULES) + commands("webhooks.md"), {"127.0.0.1:9000": f"127.0.0.1:{port}"})
    first = one(done, "python3 receiver.py").output
    assert '"type":"member.created"' in first and '["member.created","succeeded","204"]' in first
    assert '{"accepted":1,"duplicates":0}' in one(done, "jq -r").output
    assert '{"queued":' in one(done, "admin $HOOKS/$ENDPOINT/recover").output


def test_the_steps_of_tracking_ads_and_content_work(run):
    port = free_port()
    chain = commands("engagement.md", ENGAGEMENT) + commands("ads.md", ("SLOT=",)) + commands("content.md")
    done = run(chain, {"localhost:8000": f"localhost:{port}", "http.server 8000": f"http.server {port}"})
    assert "page_viewed" in one(done, "api $URL/v1/users/$ANN/engagement/events | jq .events[0]").output


def test_the_steps_to_a_connection_work(run, stack, oauth_server, guide_org):
    code = block("external-data.md", "# 1. Start the providers")
    made = re.search(r"^make sandbox.*\n", code, re.MULTILINE)
    token = guide_org.admin().api.key
    steps = re.sub(r"^(ORG=|printf).*\n", "", code[made.end():], flags=re.MULTILINE)
    header = Command(f"printf 'Authorization: Bearer %s\\n' '{token}' > admin.header", "")
    later = [command for command in commands("external-data.md")]
    done = run([header, Command(steps, ""), *later], {"https://127.0.0.1:8443": stack.base_url,
                                                      "127.0.0.1:9471": urlsplit(oauth_server.url).netloc})
    answers = done[1].output.strip().splitlines()
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
