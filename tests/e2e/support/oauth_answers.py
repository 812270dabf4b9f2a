"""Faulty replies of a provider's endpoints, and their delays (oauth_server.py)."""

import json
import threading
from dataclasses import dataclass, field

PATIENCE = 30  # seconds


@dataclass
class Answer:
    status: int = 200
    body: bytes = b""
    headers: dict = field(default_factory=dict)
    length: int | None = None  # the value of Content-Length, if it should be wrong

    @staticmethod
    def of(status, document, **headers):
        return Answer(status, json.dumps(document).encode(), {"Content-Type": "application/json"} | headers)


# Faulty replies of a token endpoint.
SERVER_ERROR = Answer(500, b"<h1>500</h1>")
TOO_MANY = Answer.of(429, {"error": "rate_limited"}, **{"Retry-After": "1"})
NO_JSON = Answer(200, b'{"access_token": "half-a-token', {"Content-Type": "application/json"})
HUGE = Answer(200, b'{"access_token": "huge-token", "padding": "' + b"x" * (8 << 20) + b'"}')
DROPPED = Answer(200, b'{"access_token": "dropped-token"', length=1000)
NO_TOKEN = Answer.of(200, {"token_type": "bearer", "expires_in": 3600})
WRONG_TYPE = Answer.of(200, {"access_token": "mac-token", "token_type": "mac", "expires_in": 3600})
DROP = Answer()  # the connection is closed without a reply


class Gate:
    """Requests that wait. open(): those still waiting continue normally; drop(): they end without a reply."""

    def __init__(self):
        self._condition = threading.Condition()
        self._verdict, self.waiting = None, 0

    def open(self):
        self._decide("go on")

    def drop(self):
        self._decide("drop")

    def _decide(self, verdict):
        with self._condition:
            self._verdict = self._verdict or verdict
            self._condition.notify_all()

    def passes(self):
        with self._condition:
            self.waiting += 1
            self._condition.notify_all()
            self._condition.wait_for(lambda: self._verdict is not None, 2 * PATIENCE)
            return self._verdict == "go on"

    def wait_for(self, count, seconds=PATIENCE):
        """Waits until that many requests have arrived."""
        with self._condition:
            assert self._condition.wait_for(lambda: self.waiting >= count, seconds), f"{self.waiting} of {count} arrived"
