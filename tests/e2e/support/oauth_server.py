"""An OAuth 2.0 authorization server that imitates all 15 providers, each as strict as its documentation
(oauth_kinds.py): exact redirect URIs, PKCE, single-use codes and rotating refresh tokens, and the required client
authentication.

    with OAuthServer() as server:
        server.configuration()                              # [providers.<id>] sections for this server
        server.consent(redirect_url)                        # the redirect after "Allow" on the provider's page
        with server.instead("slack", "token", Answer(500)): # faulty replies
        with server.hold("slack", "token") as gate:         # slow replies

Manual use, from tests/e2e: python3 -m support.oauth_server PORT REDIRECT-URI prints the sections for
`make sandbox PROVIDERS=FILE`, and serves until it is interrupted.
"""

import base64
import hashlib
import html
import json
import secrets
import select
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from .oauth_answers import DROP, PATIENCE, Answer, Gate
from .oauth_kinds import KINDS

CODE_LIFE = 60  # seconds
LEAST_STATE = 43  # characters of 256 bits

PAGE = """<!doctype html><title>{name}</title><h1>{name}</h1><p>Muster requests access to your data.</p>
<form method="post" action="{action}"><input type="hidden" name="consent" value="{consent}">
<button id="allow" name="decision" value="allow">Allow</button>
<button id="deny" name="decision" value="deny">Deny</button></form>"""


@dataclass
class Request:
    provider: str
    endpoint: str
    host: str
    method: str
    query: dict
    body: dict
    headers: dict  # names in lower case
    is_gone: object = None  # function: whether the client has stopped waiting


@dataclass
class Consent:
    """An admin on the provider's page, and the result: a code that is valid once."""
    provider: str
    host: str
    redirect_uri: str
    state: str
    challenge: str | None
    made_at: float = field(default_factory=time.time)
    is_used: bool = False

    @property
    def is_good(self):
        return not self.is_used and time.time() <= self.made_at + CODE_LIFE


@dataclass
class Family:
    """All tokens that come from one consent."""
    provider: str
    host: str
    access: list = field(default_factory=list)
    refresh: list = field(default_factory=list)  # the last one is valid
    is_live: bool = True


class Refused(Exception):
    def __init__(self, error, status=400):
        super().__init__(error)
        self.error, self.status = error, status


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802
        self._serve()

    def do_POST(self):  # noqa: N802
        self._serve()

    def _serve(self):
        length = int(self.headers.get("Content-Length") or 0)
        data = self.rfile.read(length)
        try:
            answer = self.server.owner.handle(self._request(data))
            if answer is not None:
                self._send(answer)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client did not wait for all of it

    def _request(self, data):
        parts = urlsplit(self.path)
        first, *rest = [unquote(part) for part in parts.path.strip("/").split("/")]
        headers = {name.lower(): value for name, value in self.headers.items()}
        if headers.get("content-type", "").startswith("application/json"):
            body = json.loads(data)
        else:
            body = dict(parse_qsl(data.decode(), keep_blank_values=True))
        return Request(first, rest[-1] if rest else "", "/".join(rest[:-1]), self.command,
                       dict(parse_qsl(parts.query, keep_blank_values=True)), body, headers, self._is_gone)

    def _is_gone(self):
        return bool(select.select([self.connection], [], [], 0)[0])  # a readable connection was closed by the client

    def _send(self, answer):
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(answer.body) if answer.length is None else answer.length))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_):
        pass


class Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        self.owner.faults.append(f"the server itself: {sys.exc_info()[1]!r}")


class OAuthServer:
    """issued: a list that receives every secret that this server knows, including those of the clients."""

    def __init__(self, port=0, issued=None):
        self.issued = [] if issued is None else issued
        self.redirect_uris = set()
        self.requests = []  # all, in order of arrival
        self.faults = []  # invalid requests of clients, in words
        self.reused = []  # refresh tokens that were used again
        self.revoked = []  # revoked tokens
        self.families = []
        self.consents = {}  # by code
        self._waiting = {}  # consents that wait for a decision
        self._behaviors = {}
        self._lock = threading.RLock()
        # Characters that require encoding in a form and in a header.
        self._secrets = {provider: self._new("cs+/&=%") for provider in KINDS}
        self._listener = Listener(("127.0.0.1", port), Handler)
        self._listener.owner = self
        self.url = f"http://127.0.0.1:{self._listener.server_port}"
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._listener.shutdown()
        self._listener.server_close()
        self._thread.join()

    def _new(self, prefix):
        self.issued.append(prefix + secrets.token_urlsafe(24))
        return self.issued[-1]

    # ------------------------------------------------------------------ configuration for clients
    def client(self, provider):
        """(client id, client secret)"""
        return f"{provider}:e2e", self._secrets[provider]

    def settings(self, provider):
        """The lines of the provider's section."""
        kind, (client_id, secret) = KINDS[provider], self.client(provider)
        base = f"{self.url}/{provider}" + ("/{host}" if kind.host else "")
        lines = [f"client_id = {client_id}", f"client_secret = {secret}", f"authorize_url = {base}/authorize",
                 f"token_url = {base}/token"]
        if kind.host and not kind.host.startswith("*"):
            lines.append(f"host = {kind.host}")
        if kind.metadata:
            lines.append(f"lookup_url = {base}/metadata")
        if kind.revoke:
            lines.append(f"revoke_url = {base}/revoke")
        if kind.sends_iss:
            lines.append(f"issuer = {self.issuer(provider)}")
        return lines

    def configuration(self, without=()):
        """Sections for musterd's configuration."""
        return "".join(f"\n[providers.{provider}]\n" + "\n".join(self.settings(provider)) + "\n"
                       for provider in KINDS if provider not in without)

    def issuer(self, provider):
        return f"{self.url}/{provider}"

    # ------------------------------------------------------------------ failures
    @contextmanager
    def instead(self, provider, endpoint, behavior):
        """Within the block the endpoint sends this Answer, or the result of a function of the Request: an Answer, or
        None for the normal one."""
        key = provider, endpoint
        before = self._behaviors.get(key)
        self._behaviors[key] = behavior
        try:
            yield
        finally:
            self._behaviors[key] = before

    @contextmanager
    def hold(self, provider, endpoint="token", grant=None):
        """Within the block requests wait until the gate is opened; those still waiting at its end are dropped.
        grant: only token requests of that type."""
        gate = Gate()

        def wait(request):
            if grant and request.body.get("grant_type") != grant:
                return None
            return None if gate.passes() and not request.is_gone() else DROP

        with self.instead(provider, endpoint, wait):
            try:
                yield gate
            finally:
                gate.drop()

    @staticmethod
    def error(provider, code, status=400):
        """An error in the format of this provider."""
        if KINDS[provider].error == "slack":
            return Answer.of(200, {"ok": False, "error": code})
        described = {"error": code, "error_description": "Do not show <b>this</b> to anybody."}
        return Answer.of(200 if KINDS[provider].error == "github" else status, described)

    # ------------------------------------------------------------------ received requests
    def at(self, provider, endpoint="token", grant=None):
        """The requests to an endpoint, in order of arrival; grant: only token requests of that type."""
        return [request for request in list(self.requests) if (request.provider, request.endpoint) == (provider, endpoint)
                and (grant is None or request.body.get("grant_type") == grant)]

    def count(self):
        """The number of requests to each endpoint: {("slack", "token"): 1, …}."""
        return Counter((request.provider, request.endpoint) for request in list(self.requests))

    # ------------------------------------------------------------------ the admin on the provider's page
    def consent(self, url, decision="allow"):
        """The address to which the provider's page sends the browser after the decision."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect)
        try:
            with opener.open(f"{url}&test_decision={decision}", timeout=PATIENCE) as reply:
                raise AssertionError(f"the page does not redirect back: {reply.read()[:500]}")
        except urllib.error.HTTPError as error:
            assert error.code == 302, f"{error.code} {error.read()[:500]}"
            return error.headers["Location"]

    # ------------------------------------------------------------------ the server
    def handle(self, request):
        """The reply to a request; None drops the connection."""
        self.requests.append(request)
        behavior = self._behaviors.get((request.provider, request.endpoint))
        answer = behavior(request) if callable(behavior) else behavior
        if answer is not None:
            return None if answer is DROP else answer
        if request.provider not in KINDS or not hasattr(self, f"_{request.endpoint}"):
            return Answer(404, b"There is nothing here.")
        with self._lock:
            return getattr(self, f"_{request.endpoint}")(request, KINDS[request.provider])

    def _fault(self, request, text):
        self.faults.append(f"{request.provider} {request.endpoint}: {text}")
        return Refused("invalid_request")

    def _is_host(self, request, kind):
        if kind.host.startswith("*"):
            return request.host.endswith(kind.host[1:]) and request.host.count(".") == kind.host.count(".")
        return request.host == kind.host

    def _authorize(self, request, kind):
        query = dict(request.query)
        decision = query.pop("test_decision", None)
        client_id, _ = self.client(request.provider)
        if query.get("client_id") != client_id or query.get("redirect_uri") not in self.redirect_uris:
            self._fault(request, f"client or redirect URI: {query}")
            return Answer(400, b"This client is not known.")
        wanted = {"response_type": "code"} | kind.extra | ({"scope": kind.scopes} if kind.scopes else {})
        wanted |= {"code_challenge_method": "S256"} if kind.pkce else {}
        names = {*wanted, "client_id", "redirect_uri", "state"} | ({"code_challenge"} if kind.pkce else set())
        challenge = query.get("code_challenge")
        if (query | wanted != query or set(query) != names or len(query["state"]) < LEAST_STATE
                or kind.pkce and len(challenge) != LEAST_STATE or not self._is_host(request, kind)):
            self._fault(request, f"{request.host} {query}")
            return self._back(query, request.provider, error="invalid_request")
        name = secrets.token_urlsafe(16)
        self.issued.append(query["state"])
        self._waiting[name] = Consent(request.provider, request.host, query["redirect_uri"], query["state"], challenge)
        if decision is not None:
            return self._decided(name, decision)
        page = PAGE.format(name=request.provider, action=html.escape(f"/{request.provider}/decision"), consent=name)
        return Answer(200, page.encode(), {"Content-Type": "text/html; charset=utf-8"})

    def _decision(self, request, _):
        return self._decided(request.body.get("consent"), request.body.get("decision"))

    def _decided(self, name, decision):
        consent = self._waiting.pop(name)
        if decision != "allow":
            return self._back(vars(consent), consent.provider, error="access_denied",
                              error_description="The user <script>alert(1)</script> said no.")
        code = self._new("code-")
        self.consents[code] = consent
        return self._back(vars(consent), consent.provider, code=code, **KINDS[consent.provider].callback)

    def _back(self, consent, provider, **parameters):
        parameters |= {"state": consent["state"]} if consent.get("state") else {}
        if KINDS[provider].sends_iss:
            parameters["iss"] = self.issuer(provider)
        return Answer(302, headers={"Location": f"{consent['redirect_uri']}?{urlencode(parameters)}"})

    def _token(self, request, kind):
        try:
            form = self._client_form(request, kind, kind.json)
            grant = form.pop("grant_type", None)
            if grant == "authorization_code":
                return self._granted(self._redeemed(request, kind, form), kind)
            if grant == "refresh_token" and kind.refresh:
                return self._granted(self._refreshed(request, form), kind)
            raise self._fault(request, f"grant_type {grant}")
        except Refused as refused:
            return self.error(request.provider, refused.error, refused.status)

    def _client_form(self, request, kind, is_json):
        """The body without the client authentication, which must be present in exactly the required way."""
        media = "application/json" if is_json else "application/x-www-form-urlencoded"
        if request.method != "POST" or request.query or request.headers.get("content-type") != media:
            raise self._fault(request, f"{request.method} {request.query} {request.headers.get('content-type')}")
        if request.headers.get("accept") != "application/json":
            raise self._fault(request, "does not ask for JSON")
        form, (client_id, secret) = dict(request.body), self.client(request.provider)
        pair = base64.b64encode(f"{quote(client_id, safe='')}:{quote(secret, safe='')}".encode()).decode()
        header = request.headers.get("authorization")
        known = (header == f"Basic {pair}" and not {"client_id", "client_secret"} & set(form)) if kind.basic else (
            header is None and (form.pop("client_id", None), form.pop("client_secret", None)) == (client_id, secret))
        if not known:
            self._fault(request, "the client is not known")
            raise Refused("invalid_client", 401)
        return form

    def _redeemed(self, request, kind, form):
        consent = self.consents.get(form.pop("code", None))
        verifier = form.pop("code_verifier", None)
        if form != {"redirect_uri": form.get("redirect_uri")} | kind.code_extra:
            raise self._fault(request, f"{sorted(form)}")
        if consent is None or form["redirect_uri"] != consent.redirect_uri or not consent.is_good:
            raise Refused("invalid_grant")
        if kind.pkce:
            self.issued.append(verifier)
        consent.is_used = True  # on the first attempt, whether valid or not
        if (consent.provider, consent.host) != (request.provider, request.host):
            raise self._fault(request, "another provider's code")
        if (verifier is not None) != kind.pkce or kind.pkce and not LEAST_STATE <= len(verifier) <= 128:
            raise self._fault(request, f"a verifier of {len(verifier or '')}")
        if kind.pkce and consent.challenge != challenge_of(verifier):
            raise Refused("invalid_grant")
        self.families.append(Family(request.provider, request.host))
        if kind.refresh:
            self.families[-1].refresh.append(self._new("rt-"))
        return self.families[-1], bool(kind.refresh)

    def family_of(self, token):
        """The family of a valid token; None for any other."""
        return next((family for family in self.families if family.is_live and token in family.access + family.refresh), None)

    def _refreshed(self, request, form):
        token = form.pop("refresh_token", None)
        family = self.family_of(token)
        if form or token is None:
            raise self._fault(request, f"{sorted(form)}")
        if family is None or token in family.access:
            raise Refused("invalid_grant")
        if token != family.refresh[-1]:  # possibly stolen
            self.reused.append(token)
            family.is_live = False
            raise Refused("invalid_grant")
        rotates = KINDS[request.provider].refresh == "rotates"
        if rotates:
            family.refresh.append(self._new("rt-"))
        return family, rotates

    def _granted(self, grant, kind):
        family, returns_refresh = grant
        family.access.append(self._new("at-"))
        answer = {"access_token": family.access[-1]} | kind.answer
        answer |= {"refresh_token": family.refresh[-1]} if returns_refresh else {}
        answer |= {} if kind.life is None else {"expires_in": kind.life}
        answer |= {} if kind.token_type is None else {"token_type": kind.token_type}
        return Answer.of(200, answer)

    def _metadata(self, request, kind):
        header = request.headers.get("authorization", "")
        family = self.family_of(header.removeprefix("OAuth "))
        if request.method != "GET" or not header.startswith("OAuth ") or not family or family.provider != request.provider:
            self._fault(request, "no token")
            return Answer.of(401, {"error": "invalid_token"})
        return Answer.of(200, kind.metadata)

    def _revoke(self, request, kind):
        try:
            if kind.revoke == "token":
                form = dict(request.body)
            else:
                form = self._client_form(request, kind, kind.revoke == "json")
            family = self.family_of(form.get("token"))
            if not kind.revoke or set(form) != {"token"}:
                raise self._fault(request, f"{sorted(form)}")
        except Refused as refused:
            return self.error(request.provider, refused.error, refused.status)
        if family:
            wanted = family.refresh if kind.revokes == "refresh_token" and family.refresh else family.access
            if form["token"] != wanted[-1]:
                self._fault(request, "not the token to give back")
            family.is_live = False
            self.revoked.append(form["token"])
        return Answer.of(200, {"ok": True, "revoked": True})


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def challenge_of(verifier):
    """RFC 7636 section 4.2, S256."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def main(port, redirect_uri):
    with OAuthServer(int(port)) as server:
        server.redirect_uris.add(redirect_uri)
        sys.stdout.write(server.configuration())
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python3 -m support.oauth_server PORT REDIRECT-URI")
    main(*sys.argv[1:])
