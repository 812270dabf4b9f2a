"""musterctl provider: which providers of external data are ready, and how they reply to a check. Without a database."""

import base64
import contextlib
import json
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

DONE, FAILED, USAGE = 0, 1, 2
SECRET = "s3cret-of-the-client"
IDS = ["google_analytics", "notion", "google_docs", "slack", "linkedin", "shopify", "hubspot", "sentry", "posthog", "stripe",
       "mailchimp", "quickbooks", "github", "gitlab", "youtube"]


class TokenEndpoint:
    """Answers every POST with the given response, and keeps the requests."""

    def __init__(self, status=400, body='{"error": "invalid_grant"}', headers=()):
        self.requests = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers["Content-Length"])
                owner.requests.append((self.path, dict(self.headers), self.rfile.read(length).decode()))
                data = body.encode()
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                # The client disconnects when it has read enough.
                with contextlib.suppress(OSError):
                    self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/token"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def ctl(stack, tmp_path):
    """Runs musterctl with these sections [providers.<id>] and without a database; returns the CompletedProcess."""
    def run(*arguments, providers=None, status=DONE):
        config = tmp_path / "muster.conf"
        lines = ["[database]", "url = tcp://127.0.0.1:1", "[console]", "origin = https://console.example"]
        for provider, keys in (providers or {}).items():
            lines += [f"[providers.{provider}]", *(f"{key} = {value}" for key, value in keys.items())]
        config.write_text("\n".join(lines) + "\n")
        done = stack.program("musterctl", "--config", config, *arguments, env={"MUSTER_SECURITY_KEY_FILE": f"{stack.folder}/muster.key"})
        assert done.returncode == status, done
        assert SECRET not in done.stdout + done.stderr
        return done
    return run


def ready(token_url=None, **more):
    keys = {"client_id": "client-1", "client_secret": SECRET, **more}
    return {**keys, "token_url": token_url} if token_url else keys


def check(ctl, provider, keys, status=DONE):
    found = json.loads(ctl("--json", "provider", "check", "--provider", provider, providers={provider: keys}, status=status).stdout)
    assert len(found) == 1 and found[0]["id"] == provider
    return found[0]


def test_all_providers_are_listed_with_their_missing_settings(ctl):
    listed = json.loads(ctl("--json", "provider", "list", providers={"slack": ready(), "stripe": {"client_id": "client-1"}}).stdout)
    assert [row["id"] for row in listed] == IDS
    rows = {row["id"]: row for row in listed}
    assert rows["slack"] == {"id": "slack", "name": "Slack", "ready": True, "reason": ""}
    assert rows["stripe"] == {"id": "stripe", "name": "Stripe", "ready": False, "reason": "client_secret is not set in [providers.stripe]"}
    assert [row["id"] for row in listed if row["ready"]] == ["slack"]
    lines = ctl("provider", "list", providers={"slack": ready()}).stdout.splitlines()
    assert len(lines) == 1 + len(IDS)
    assert lines[0] == "PROVIDER          STATE      NAME              MISSING"
    assert lines[4] == "slack             ready      Slack             -"
    assert lines[1] == ("google_analytics  not ready  Google Analytics  "
                        "client_id and client_secret are not set in [providers.google_analytics]")


def test_a_secret_may_come_from_a_file(ctl, tmp_path):
    (tmp_path / "secret").write_text(SECRET + "\n")
    with TokenEndpoint() as endpoint:
        keys = ready(endpoint.url, client_secret=f"file:{tmp_path}/secret")
        assert check(ctl, "stripe", keys)["verdict"] == "accepted"
    assert urllib.parse.parse_qs(endpoint.requests[0][2])["client_secret"] == [SECRET]


def test_a_check_sends_a_code_that_was_never_issued(ctl):
    with TokenEndpoint() as endpoint:
        found = check(ctl, "gitlab", ready(endpoint.url))
    assert found == {"id": "gitlab", "verdict": "accepted", "url": endpoint.url, "status": 400, "code": "invalid_grant",
                     "text": "answers, and accepts client_id and client_secret"}
    ((path, headers, body),) = endpoint.requests
    assert path == "/token" and headers["Accept"] == "application/json"
    sent = {name: values for name, (values,) in urllib.parse.parse_qs(body).items()}
    assert len(sent.pop("code_verifier")) >= 43
    assert sent == {"grant_type": "authorization_code", "code": "muster-provider-check", "client_id": "client-1", "client_secret": SECRET,
                    "redirect_uri": "https://console.example/v1/external-data/callback"}


def test_a_secret_is_sent_where_the_provider_requires_it(ctl):
    with TokenEndpoint(200, '{"ok": false, "error": "invalid_code"}') as endpoint:
        assert check(ctl, "slack", ready(endpoint.url))["verdict"] == "accepted"
    ((_, headers, body),) = endpoint.requests
    assert headers["Authorization"] == "Basic " + base64.b64encode(f"client-1:{SECRET}".encode()).decode()
    assert SECRET not in body and "code_verifier" not in body


@pytest.mark.parametrize("provider, status, body, verdict, code", [
    ("slack", 200, '{"ok": false, "error": "bad_client_secret"}', "failed", "bad_client_secret"),
    ("github", 200, '{"error": "bad_verification_code"}', "accepted", "bad_verification_code"),
    ("github", 200, '{"error": "incorrect_client_credentials"}', "failed", "incorrect_client_credentials"),
    ("gitlab", 401, '{"error": "invalid_client"}', "failed", "invalid_client"),
    ("notion", 401, '{"object": "error", "status": 401, "code": "unauthorized"}', "failed", "unauthorized"),
    ("gitlab", 400, '{"error": "temporarily_unavailable"}', "undecided", "temporarily_unavailable"),
    ("gitlab", 404, "<html>", "failed", "http_404"),
    ("gitlab", 503, '{"error": "invalid_grant"}', "failed", "http_503"),
    ("gitlab", 200, "<html>", "failed", "no_json"),
    ("gitlab", 200, '{"access_token": "anybody"}', "failed", "token"),
    ("gitlab", 400, "x" * 70_000, "failed", "too_large"),
])
def test_an_answer_shows_whether_we_are_accepted(ctl, provider, status, body, verdict, code):
    with TokenEndpoint(status, body) as endpoint:
        found = check(ctl, provider, ready(endpoint.url), status=FAILED if verdict == "failed" else DONE)
    assert (found["verdict"], found["code"]) == (verdict, code)
    assert found["status"] == (None if code == "too_large" else status)


def test_a_redirect_is_not_followed(ctl):
    with TokenEndpoint() as elsewhere, TokenEndpoint(307, "", [("Location", elsewhere.url)]) as endpoint:
        assert check(ctl, "gitlab", ready(endpoint.url), status=FAILED)["code"] == "redirect"
    assert len(endpoint.requests) == 1 and elsewhere.requests == []


def test_an_unreachable_provider_has_failed(ctl):
    found = check(ctl, "gitlab", ready("http://127.0.0.1:1/token"), status=FAILED)
    assert found == {"id": "gitlab", "verdict": "failed", "url": "http://127.0.0.1:1/token", "status": None, "code": "connect",
                     "text": "GitLab could not be reached (connect)."}


def test_shopify_can_be_checked_only_with_a_token_url(ctl):
    found = check(ctl, "shopify", ready())
    assert (found["verdict"], found["url"], found["code"]) == ("unchecked", None, None)
    with TokenEndpoint(body='{"error": "invalid_request"}') as endpoint:
        assert check(ctl, "shopify", ready(endpoint.url))["verdict"] == "accepted"


def test_all_ready_providers_are_checked_and_one_failure_sets_the_exit_status(ctl):
    with TokenEndpoint() as good, TokenEndpoint(401, '{"error": "invalid_client"}') as bad:
        both = {"stripe": ready(bad.url), "gitlab": ready(good.url), "slack": {"client_id": "client-1"}}
        lines = ctl("provider", "check", providers=both, status=FAILED).stdout.splitlines()
        assert lines[0].split() == ["PROVIDER", "RESULT", "ANSWER", "URL"]
        assert lines[1:] == [
            f"stripe    failed    answers, but does not accept client_id, client_secret or the callback (invalid_client)  {bad.url}",
            f"gitlab    accepted  answers, and accepts client_id and client_secret (invalid_grant)  {good.url}"]
        del both["stripe"]
        assert len(ctl("provider", "check", providers=both).stdout.splitlines()) == 2


def test_a_provider_that_is_not_ready_cannot_be_checked(ctl):
    assert json.loads(ctl("--json", "provider", "check").stdout) == []
    assert ctl("provider", "check").stdout == "no provider is ready; `musterctl provider list` shows what each one lacks\n"
    done = ctl("provider", "check", "--provider", "slack", status=FAILED)
    assert done.stderr == "musterctl: client_id and client_secret are not set in [providers.slack]\n"
    assert "provider list" in ctl("provider", "check", "--provider", "myspace", status=USAGE).stderr
    ctl("provider", "list", "--provider", "slack", status=USAGE)
