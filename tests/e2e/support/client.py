"""A client of the API that checks every exchange against the contract."""

import hashlib
import hmac
import json as jsonlib
import threading
import time
import uuid
from urllib.parse import urlsplit

import requests

UNSET = object()
# Operations that only the console may call.
CONSOLE = ("/console/v1/", "/v1/external-data/connect")
# The origin of the organizations' publishable keys (support/world.py).
SHOP = "https://shop.example"


class Client:
    """The API client of one organization; thread-safe."""

    def __init__(self, stack, contract, key=None):
        self.stack, self.contract, self.key = stack, contract, key
        self._own = threading.local()

    @property
    def session(self):
        if not hasattr(self._own, "session"):
            self._own.session = requests.Session()
            self._own.session.verify = self.stack.ca_file
            self._own.session.trust_env = False
        return self._own.session

    def request(self, method, path, *, json=UNSET, data=None, params=None, headers=None, key=UNSET, expect=None,
                code=None, whole=True, timeout=60, **options):
        """Sends a request. expect: the expected status; code: the expected error code.
        json is sent as it is; data are the bytes of the body. key=None sends no credential. Operations of the console
        are called from its own pages; headers={"Origin": None} sends no origin."""
        sent = dict(headers or {})
        if path.startswith(CONSOLE):
            sent.setdefault("Origin", self.stack.base_url)
        credential = self.key if key is UNSET else key
        if credential is not None:
            sent.setdefault("Authorization", f"Bearer {credential}")
        if json is not UNSET:
            data = jsonlib.dumps(json)
            sent.setdefault("Content-Type", "application/json")
        if isinstance(data, str):
            data = data.encode()
        reply = self.session.request(method, self.stack.base_url + path, data=data, params=params, headers=sent,
                                     timeout=timeout, **options)
        if self.contract is not None:
            body = json if json is not UNSET else None
            self.contract.record(method, urlsplit(reply.url).path, reply, body, whole)
        if expect is not None:
            assert reply.status_code == expect, f"{method} {path}: {reply.status_code} {reply.text[:2000]}"
        if code is not None:
            assert reply.json()["error"]["code"] == code, f"{method} {path}: {reply.text[:2000]}"
        return reply

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, **options):
        return self.request("POST", path, **options)

    def delete(self, path, **options):
        return self.request("DELETE", path, **options)

    def get_json(self, path, **options):
        return self.get(path, expect=200, **options).json()


class PageClient(Client):
    """A page of SHOP, with a publishable key in the query. key=None in a call sends none; headers={"Origin": None} no
    origin."""

    def __init__(self, stack, contract, issued):
        super().__init__(stack, contract)
        self.record, self.token = issued, issued["key"]

    def request(self, method, path, *, params=None, headers=None, key=UNSET, **options):
        token = self.token if key is UNSET else key
        query = ({} if token is None else {"key": token}) | (params or {})
        return super().request(method, path, params=query, headers={"Origin": SHOP} | (headers or {}), **options)


COOKIE = "__Host-muster-session"


class ConsolePage(Client):
    """A page of the console in a browser: it has its session in a cookie, which replies may replace. `cookie`: its value,
    "" before the sign-in. Headers of a call replace those of the browser; None sends none."""

    def __init__(self, stack, contract):
        super().__init__(stack, contract)
        self.cookie, self.set_cookie = "", None

    def request(self, method, path, *, headers=None, **options):
        own = {"Sec-Fetch-Site": "same-origin", "X-Muster-Console": "1",
               "Origin": None if method in ("GET", "HEAD") else self.stack.base_url,
               "Cookie": f"{COOKIE}={self.cookie}" if self.cookie else None}
        reply = super().request(method, path, headers=own | (headers or {}), **options)
        self.set_cookie = reply.headers.get("Set-Cookie")
        if self.set_cookie:
            self.cookie = self.set_cookie.partition(";")[0].partition("=")[2]
            if self.cookie:
                self.stack.keys_issued.append(self.cookie)
        return reply


def signature_of(secret, key, body, when=None):
    """The header x-svc-signature for a body under an Idempotency-Key; when: unix seconds, default now."""
    seconds = int(time.time()) if when is None else when
    signed = f"{seconds}.{key}.".encode() + body
    return f"t={seconds},v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


class ModuleClient(Client):
    """The backend of a module: it signs each request, under its own Idempotency-Key unless headers are given."""

    def __init__(self, stack, contract, issued):
        super().__init__(stack, contract, issued["credential"])
        self.credential, self.secret = issued, issued["signing_secret"]

    def request(self, method, path, *, json=UNSET, data=None, headers=None, **options):
        body = data if json is UNSET else jsonlib.dumps(json)
        body = body.encode() if isinstance(body, str) else body or b""
        sent = {"Idempotency-Key": str(uuid.uuid4())} | (headers or {})
        sent.setdefault("x-svc-signature", signature_of(self.secret, sent["Idempotency-Key"] or "", body))
        return super().request(method, path, json=json, data=data, headers=sent, **options)

    def push(self, *events, expect=202, **options):
        """Pushes these events as one batch."""
        return self.post("/v1/ingest", json={"events": list(events)}, expect=expect, **options)


def error_of(reply):
    return reply.json()["error"]


def details_of(reply):
    return error_of(reply)["details"]


def faults_of(reply):
    """The field errors as {path: code}."""
    return {field["path"]: field["code"] for field in details_of(reply)["fields"]}
