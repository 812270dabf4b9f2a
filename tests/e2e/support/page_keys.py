"""Publishable keys, and requests as pages of other sites send them: byte by byte, so that any Origin can be sent."""

import itertools
import json
import re
import secrets
import string
import zlib

from . import wire
from .client import SHOP, Client
from .stack import wait_for

DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase

_numbers = itertools.count(1)


class PageKey:
    """A publishable key of an organization, for pages of these origins."""

    def __init__(self, org, *origins, kind="tracking", more=()):
        self.org, self.kind = org, kind
        issued = org.issue_publishable_key(kind, *more, origins=",".join(origins or [SHOP]))
        self.token, self.id = issued["key"], issued["id"]

    def revoke(self):
        self.org.stack.ctl(f"{self.kind}-key", "revoke", "--yes", "--org", self.org.id, "--id", self.id)


def unissued_token(prefix="ek_live_"):
    """A token with a valid checksum."""
    text = prefix + "".join(secrets.choice(DIGITS) for _ in range(43))
    number, digits = zlib.crc32(text.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = DIGITS[digit] + digits
    return text + digits


def stored_events(org):
    return [row[0] for row in org.stack.sql(
        "SELECT action FROM engagement_events WHERE organization_id = UNHEX(REPLACE(%s, '-', '')) ORDER BY id", org.id)]


def call(stack, method, target, origin=None, referer=None, body=b"", headers=(), source=None):
    """One request; `origin` may contain several."""
    origins = [origin] if isinstance(origin, str) else origin or []
    sent = [("Origin", value) for value in origins] + ([("Referer", referer)] if referer is not None else [])
    if body:
        sent += [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))]
    return wire.exchange(stack, wire.request_bytes(method, target, [*sent, *headers], body), source)


def event(**fields):
    return {"action": "seen", "anonymous_id": "visitor", "client_event_id": f"e2e-{next(_numbers)}"} | fields


def track(stack, token, origin=SHOP, *, body_key=None, **options):
    """Sends one event; token=None: without ?key=."""
    body = event() | ({"key": body_key} if body_key else {})
    target = "/v1/track" + (f"?key={token}" if token is not None else "")
    return call(stack, "POST", target, origin, body=json.dumps(body).encode(), **options)


def cors_headers(reply):
    return [name for name, _ in reply.headers if name.lower().startswith("access-control-")]


def requests_of(stack, operation):
    """The number of requests of an operation that the workers have answered, by class of status: {"2xx": 1, …}."""
    text = Client(stack, None).get("/metrics", expect=200).text
    found = re.findall(rf'muster_requests_total{{operation="{operation}",status="(\dxx)"}} (\d+)', text)
    return {status: int(count) for status, count in found}


class Counted:
    """The number of further requests of an operation since then: Counted(stack, "trackEvents")."""

    def __init__(self, stack, operation):
        self._stack, self._operation = stack, operation
        self._before = requests_of(stack, operation)

    def all(self):
        now = requests_of(self._stack, self._operation)
        return {status: now[status] - count for status, count in self._before.items() if now[status] != count}

    def total(self):
        return sum(self.all().values())


def wait_for_events(org, count, seconds=30):
    return wait_for(lambda: len(stored_events(org)) >= count and stored_events(org), f"{count} events", seconds)
