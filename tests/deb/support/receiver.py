#!/usr/bin/python3
"""An admin who installs a module with a webhook endpoint, and the receiver of its webhooks.

Usage: receiver.py URL CA-FILE SESSION-TOKEN PORT
Prints "queued" when the endpoint is created and a test event is queued, then waits for one webhook, for two minutes at
most. Result: one JSON document: {"type": of the event, "verified": whether the signature is valid}.
"""

import base64
import hashlib
import hmac
import http.server
import json
import ssl
import sys
from urllib.parse import urlsplit

from load import Connection

MOST_SECONDS = 120


class Admin:
    def __init__(self, url, ca_file, token):
        self.host, self.port = urlsplit(url).hostname, urlsplit(url).port or 443
        self.trust = ssl.create_default_context(cafile=ca_file)
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def post(self, path, **body):
        connection = Connection(self.host, self.port, self.trust)
        connection.request("POST", path, json.dumps(body), self.headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        if answer.status not in (200, 201, 202):
            raise SystemExit(f"POST {path}: {answer.status} {text[:300]!r}")
        return json.loads(text)

    def endpoint(self, url):
        """(path, signing secret) of a new endpoint."""
        module = self.post("/v1/modules", slug="hooks", name="Hooks", vendor="Tests")
        versions = f"/v1/modules/{module['id']}/versions"
        version = self.post(versions, version="1", manifest={"name": "Hooks"})
        self.post(f"{versions}/{version['id']}/publish")
        installation = self.post("/v1/installations", module_id=module["id"])
        endpoints = f"/v1/installations/{installation['id']}/webhook-endpoints"
        made = self.post(endpoints, url=url, subscribed_event_types=["member.created"])
        return f"{endpoints}/{made['id']}", made["signing_secret"]


class Receiver(http.server.HTTPServer):
    """Keeps the headers and the body of one request."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):  # noqa: N802
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.server.received = (self.headers, body)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    def __init__(self, port):
        super().__init__(("127.0.0.1", port), self.Handler)
        self.timeout, self.received = MOST_SECONDS, None


def is_verified(headers, body, secret):
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    mac = hmac.new(base64.b64decode(secret.removeprefix("whsec_")), content, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(mac).decode()}" in headers["webhook-signature"].split(" ")


def main():
    url, ca_file, token, port = sys.argv[1:]
    receiver = Receiver(int(port))
    admin = Admin(url, ca_file, token)
    path, secret = admin.endpoint(f"http://127.0.0.1:{port}/")
    admin.post(f"{path}/test")
    print("queued", flush=True)
    receiver.handle_request()
    if receiver.received is None:
        raise SystemExit(f"no webhook within {MOST_SECONDS} s")
    headers, body = receiver.received
    json.dump({"type": json.loads(body)["type"], "verified": is_verified(headers, body, secret)}, sys.stdout)


if __name__ == "__main__":
    main()
