#!/usr/bin/python3
"""Simulates partners: reads and creations over HTTPS until SIGTERM.

Usage: load.py URL CA-FILE KEY-FILE THREADS
Result: after SIGTERM one JSON document on standard output: {"created": [emails that were answered 201], "longest": seconds
of a request, "failures": [...]}. Runs for ten minutes at most.

Connections are kept alive, as by partners. A connection that the server closed while it was idle is not a failure: by
RFC 9112 section 9.3.1 clients repeat the request on a new one. They may also repeat creations here, because these have
an Idempotency-Key.
"""

import http.client
import json
import signal
import socket
import ssl
import sys
import threading
import time
import uuid
from urllib.parse import urlsplit

MOST_SECONDS = 600
PAUSE = 0.1  # per thread: four of them and an import are below the rate of one key


class Connection(http.client.HTTPSConnection):
    """To this machine, whatever the name resolves to here; the certificate must be valid for the name."""

    def __init__(self, host, port, trust):
        super().__init__(host, port, timeout=60, context=trust)
        self.trust = trust

    def connect(self):
        plain = socket.create_connection(("127.0.0.1", self.port), self.timeout)
        self.sock = self.trust.wrap_socket(plain, server_hostname=self.host)


class Partner:
    def __init__(self, url, ca_file, key):
        self.host, self.port = urlsplit(url).hostname, urlsplit(url).port or 443
        self.trust = ssl.create_default_context(cafile=ca_file)
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self.connection = None
        self.created, self.failures, self.longest = [], [], 0.0

    def exchange(self, method, path, body, headers):
        reused = self.connection is not None
        if not reused:
            self.connection = Connection(self.host, self.port, self.trust)
        try:
            self.connection.request(method, path, body, {**self.headers, **headers})
            answer = self.connection.getresponse()
            text = answer.read()
            if answer.will_close:
                self.connection.close()
                self.connection = None
            return answer.status, text
        except (http.client.HTTPException, OSError):
            self.connection.close()
            self.connection = None
            if not reused:
                raise
            return self.exchange(method, path, body, headers)

    def ask(self, method, path, good, body=None):
        began = time.monotonic()
        headers = {"Idempotency-Key": str(uuid.uuid4())} if body else {}
        try:
            status, text = self.exchange(method, path, body, headers)
            if status != good:
                self.failures.append(f"{method} {path}: {status} {text[:200]!r}")
        except (http.client.HTTPException, OSError) as fault:
            self.failures.append(f"{method} {path}: {fault!r}")
            status = None
        self.longest = max(self.longest, time.monotonic() - began)
        return status == good

    def work(self, stop):
        while not stop.is_set() and len(self.failures) < 100:
            email = f"{uuid.uuid4().hex}@load.example.org"
            if self.ask("POST", "/v1/users", 201, json.dumps({"email": email})):
                self.created.append(email)
            self.ask("GET", "/v1/users?limit=5", 200)
            stop.wait(PAUSE)


def main():
    url, ca_file, key_file, threads = sys.argv[1:]
    with open(key_file, encoding="ascii") as text:
        key = text.read().strip()
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    partners = [Partner(url, ca_file, key) for _ in range(int(threads))]
    workers = [threading.Thread(target=partner.work, args=(stop,), daemon=True) for partner in partners]
    for worker in workers:
        worker.start()
    stop.wait(MOST_SECONDS)
    stop.set()
    for worker in workers:
        worker.join(timeout=120)
    json.dump({"created": [e for p in partners for e in p.created], "longest": max(p.longest for p in partners),
               "failures": [f for p in partners for f in p.failures]}, sys.stdout)


if __name__ == "__main__":
    main()
