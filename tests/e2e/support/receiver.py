"""A receiver of webhooks: a real HTTP/1.1 server on the loopback, optionally over TLS, with configurable replies.

    with Receiver() as receiver:
        receiver.on("/hook", status=500)                     # the reply to every request to that path
        receiver.on("/hook", lambda request: Answer(...))    # or the result of a function
        receiver.wait_for(3, path="/hook")

One thread reads and replies (thousands of requests a second); every request is recorded in order of arrival.
"""

import asyncio
import ssl
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from .stack import wait_for

REASONS = {200: "OK", 204: "No Content", 302: "Found", 410: "Gone", 429: "Too Many Requests", 500: "Server Error"}
CLOSED_BEFORE = 10.0  # seconds within which a stopping thread must end


@dataclass
class Request:
    method: str
    path: str
    headers: dict  # names in lower case
    body: bytes
    at: float  # seconds of the wall clock
    connection: int  # the number of its connection

    @property
    def webhook_id(self):
        return self.headers["webhook-id"]

    @property
    def timestamp(self):
        return int(self.headers["webhook-timestamp"])


class Gate:
    """Requests that wait here continue when the test opens it."""

    def __init__(self):
        self._opened = threading.Event()
        self._waiting = []  # callbacks of the receiver's thread
        self._lock = threading.Lock()

    def open(self):
        with self._lock:
            self._opened.set()
            waiting, self._waiting = self._waiting, []
        for callback in waiting:
            callback()

    def open_or(self, callback):
        """True if it is open; otherwise `callback` is called when it opens."""
        with self._lock:
            if not self._opened.is_set():
                self._waiting.append(callback)
            return self._opened.is_set()


@dataclass
class Answer:
    status: int = 200
    headers: dict = field(default_factory=dict)
    body: bytes = b""
    gate: Gate | None = None  # the reply waits until it is open
    close: bool = False  # the connection is closed without a reply

    def encoded(self):
        head = [f"HTTP/1.1 {self.status} {REASONS.get(self.status, 'Status')}"]
        if self.status != 204:
            head.append(f"Content-Length: {len(self.body)}")
        head += [f"{name}: {value}" for name, value in self.headers.items()]
        return "\r\n".join(head).encode() + b"\r\n\r\n" + self.body


OK = Answer(204)
PLAIN = OK.encoded()


class Connection(asyncio.Protocol):
    def __init__(self, receiver):
        self.receiver, self.data, self.is_held, self.transport = receiver, b"", False, None

    def connection_made(self, transport):
        self.transport = transport
        self.receiver.connections += 1
        self.number = self.receiver.connections
        self.receiver.open_connections.add(transport)

    def connection_lost(self, error):
        self.receiver.open_connections.discard(self.transport)

    def data_received(self, data):
        self.data = self.data + data if self.data else data
        self.work()

    def work(self):
        """Replies to the received requests in sequence."""
        while self.data and not self.is_held:
            request = self.next_request()
            if request is None:
                return
            self.receiver.requests.append(request)
            self.receiver.counts[request.path] += 1
            self.answer(self.receiver.answer_to(request))

    def next_request(self):
        head, end, rest = self.data.partition(b"\r\n\r\n")
        if not end:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            if "expect" in headers and not rest:
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return None
        self.data = rest[length:]
        method, path, _ = first.split(" ", 2)
        return Request(method, path, headers, rest[:length], time.time(), self.number)

    def answer(self, answer):
        if answer.gate is not None and not answer.gate.open_or(lambda: self.receiver.call(self.callback, answer)):
            self.is_held = True
            self.transport.pause_reading()
        else:
            self.send(answer)

    def callback(self, answer):
        self.is_held = False
        if not self.transport.is_closing():
            self.transport.resume_reading()
            self.send(answer)
            self.work()

    def send(self, answer):
        if answer.close:
            self.transport.abort()
            self.data = b""
        else:
            self.transport.write(PLAIN if answer is OK else answer.encoded())


class Receiver:
    """certificate: a (certificate, key) pair of PEM files; with it the receiver uses TLS."""

    def __init__(self, certificate=None, host="127.0.0.1"):
        self.certificate, self.host, self.port = certificate, host, None
        self.requests, self.counts, self.connections, self.open_connections = [], Counter(), 0, set()
        self._behaviors, self._gates = {}, []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="receiver")
        self._listens, self._server = threading.Event(), None

    # ------------------------------------------------------------------ starting and stopping
    def __enter__(self):
        self._thread.start()
        assert self._listens.wait(10), "the receiver does not listen"
        return self

    def __exit__(self, *_):
        for gate in self._gates:
            gate.open()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSED_BEFORE)
        assert not self._thread.is_alive()

    def _run(self):
        context = None
        if self.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.certificate)
        self._server = self._loop.run_until_complete(self._loop.create_server(
            lambda: Connection(self), self.host, 0, ssl=context, backlog=1024))
        self.port = self._server.sockets[0].getsockname()[1]
        # Some tests are about clients that reject this certificate.
        self._loop.set_exception_handler(lambda loop, what: None)
        self._listens.set()
        self._loop.run_forever()
        self._server.close()
        for transport in list(self.open_connections):
            transport.abort()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    def call(self, function, *arguments):
        """Runs the callback on the receiver's thread."""
        self._loop.call_soon_threadsafe(function, *arguments)

    # ------------------------------------------------------------------ replies
    def url(self, path="/", host=None):
        return f"{'https' if self.certificate else 'http'}://{host or self.host}:{self.port}{path}"

    def on(self, path, behavior=None, **answer):
        """Sets the reply at the path: a function of the request, an Answer, or the parts of one.
        Other paths reply 204."""
        self._behaviors[path] = behavior or Answer(**answer)

    def hold(self, path, **answer):
        """Makes every request to the path wait for its reply until the returned gate is opened."""
        gate = Gate()
        self._gates.append(gate)
        self.on(path, Answer(gate=gate, **answer))
        return gate

    def answer_to(self, request):
        behavior = self._behaviors.get(request.path, OK)
        return behavior if isinstance(behavior, Answer) else behavior(request)

    # ------------------------------------------------------------------ received requests
    def at(self, path):
        """The requests to the path, in order of arrival."""
        return [request for request in list(self.requests) if request.path == path]

    def count(self, path=None):
        return len(self.requests) if path is None else self.counts[path]

    def wait_for(self, count, path=None, seconds=30):
        """Waits for that many requests, in total or to the path; returns them."""
        wait_for(lambda: self.count(path) >= count, f"{count} requests to {path or 'the receiver'}, of which "
                 f"{self.count(path)} had come when the wait began", seconds, every=0.01)
        return list(self.requests) if path is None else self.at(path)
