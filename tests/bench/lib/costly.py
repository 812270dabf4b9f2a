"""The costliest legal requests of an organization (docs/operations/costs.md), and a load of them.

wrk cannot send them: it asks its script for another request when a body of 16 MB does not fit into the socket's buffer, and
then it closes the connection in the middle of the body.
"""

import json
import os
import subprocess
import uuid

from lib.client import MAPPING, Client
from lib.figure import BrokenMeasurement

SENDER = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "costly")

# Production's defaults. The sandbox of the bench has very high rates.
DEFAULT_RATES = {"MUSTER_LIMITS_KEY_RATE": "100", "MUSTER_LIMITS_KEY_BURST": "200",
                 "MUSTER_LIMITS_ORGANIZATION_RATE": "400", "MUSTER_LIMITS_ORGANIZATION_BURST": "800",
                 "MUSTER_LIMITS_TRACKING_RATE": "100", "MUSTER_LIMITS_TRACKING_BURST": "200",
                 "MUSTER_LIMITS_UPLOAD_MIB": "16",
                 "MUSTER_LIMITS_STAGED_MIB": "1048576"}  # otherwise the uploads of a day are refused after 136
ROWS = 5000
LONGEST_TEXT = "x" * 3100


def console_of(stack, organization):
    console = Client(stack, organization)
    console.headers = {"Authorization": "Bearer " + stack.organizations[organization]["session_token"],
                       "Origin": stack.console_origin}
    return console


def payload(number):
    return {"email": f"costly-{number}@example.org", "attributes": {"phone": LONGEST_TEXT}}


def events():
    metadata = {f"k{number}": "v" * 70 for number in range(95)}
    return {"events": [{"anonymous_id": f"v-{number}", "action": "a" * 128, "metadata": metadata} for number in range(100)]}


def html():
    """Close to the limits of the sanitizer."""
    formatting = "".join(f"<b class=a id={number}>" for number in range(999))
    return formatting + "<b>" * 3990 + "x" * 20_000


def requests_of(stack, organization):
    """[(method, path, credential, origin, body)]"""
    own = stack.organizations[organization]
    key, session, origin = own["api_key"], own["session_token"], stack.console_origin
    job = Client(stack, organization).post("/v1/imports", {"file_name": "f.csv", "declared_total": 0, "mapping": MAPPING},
                                           expect=201)["id"]
    article = console_of(stack, organization).post(
        "/console/v1/articles", {"slug": uuid.uuid4().hex, "title": "T", "body_html": "<p>x</p>"}, expect=201)["id"]
    rows = [{"rowNumber": number + 1, "payload": payload(number)} for number in range(ROWS)]
    track = "/v1/track?key=" + own["tracking_key"]
    return [
        ("POST", f"/v1/imports/{job}/rows", key, origin, {"rows": rows}),
        ("PATCH", f"/console/v1/articles/{article}", session, origin, {"body_html": html()}),
        ("POST", track, "-", own["allowed_origin"], events()),
        ("POST", "/v1/users", key, origin, payload(0)),
        ("GET", "/v1/users?limit=100&total=true", key, origin, None),
        ("GET", "/v1/users/export", key, origin, None),
        ("GET", f"/v1/imports/{job}/rows?limit=1000", key, origin, None),
        ("GET", "/v1/attributes?limit=100", key, origin, None),
    ]


def written_requests(stack, organization):
    """The file with one request per line for the program `costly`: method, path, credential, origin, file of the body or -."""
    lines = []
    for number, (method, path, credential, origin, body) in enumerate(requests_of(stack, organization)):
        file = "-"
        if body is not None:
            file = stack.file(f"costly-{number}")
            with open(file, "w", encoding="ascii") as out:
                json.dump(body, out)
        lines.append(f"{method} {path} {credential} {origin} {file}\n")
    with open(stack.file("costly"), "w", encoding="ascii") as out:
        out.writelines(lines)
    return stack.file("costly")


class CostlyLoad:
    """The requests in turn, in a session of their own."""

    def __init__(self, stack, organization, connections):
        self.stack, self.connections = stack, connections
        self.requests = written_requests(stack, organization)
        self.process = None

    def start(self, seconds):
        self.process = subprocess.Popen(
            [SENDER, str(self.stack.port), self.stack.ca_file, self.requests, str(seconds), str(self.connections)],
            stdout=subprocess.PIPE, text=True, start_new_session=True)

    def result(self, most):
        """{"request status": replies}. Every request must have been accepted at least once."""
        try:
            shown, _ = self.process.communicate(timeout=most)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise BrokenMeasurement("the costly requests do not end") from None
        if self.process.returncode:
            raise BrokenMeasurement(f"the costly requests ended with {self.process.returncode}")
        replies = json.loads(shown)
        accepted = {reply.rsplit(" ", 1)[0] for reply in replies if reply.rsplit(" ", 1)[1].startswith("2")}
        refused = {reply.rsplit(" ", 1)[0] for reply in replies} - accepted
        if refused or not accepted:
            raise BrokenMeasurement(f"these costly requests were never accepted: {refused}; {replies}")
        return replies
