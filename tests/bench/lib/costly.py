"""The costliest legal requests of an organization (docs/operations/costs.md), and a load of them.

wrk cannot send them: it asks its script for another request when a body of 16 MB does not fit into the socket's buffer, and
then it closes the connection in the middle of the body.
"""

import json
import os
import subprocess
import uuid
from urllib.parse import urlencode

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
# A member with all texts has some 700 KB.
TEXTS, TEXTS_OF_REQUEST = 180, 60
SIZE = {"width": 728, "height": 90}
CAMPAIGNS, CREATIVES = 100, 20  # of a slot
FAULTY_ROWS, FAULTY_ROWS_OF_REQUEST = 8_400, 2_100  # their report has 53 MB


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


# ---------------------------------------------------------------------------- what the requests read
def text_key(number):
    return f"costly.k{number}"


def create_heavy_member(client, console):
    """Returns the id. The organization then has almost as many attributes as it may."""
    for number in range(TEXTS):
        console.call("PUT", f"/v1/attributes/{text_key(number)}", b'{"type":"text","enabled":true}')
    member = client.post("/v1/users", {"email": f"heavy-{uuid.uuid4().hex}@example.org"}, expect=201)["id"]
    for first in range(0, TEXTS, TEXTS_OF_REQUEST):
        values = {text_key(number): "x" * 3990 for number in range(first, first + TEXTS_OF_REQUEST)}
        client.call("PATCH", f"/v1/users/{member}", json.dumps({"attributes": values}).encode())
    return member


def create_full_slot(console):
    """Returns the slug. Every campaign asks for an attribute of the heavy member, and has a cap."""
    slot = console.post("/console/v1/ads/slots", {"slug": f"costly-{uuid.uuid4().hex}", "name": "Top", **SIZE}, expect=201)
    targeting = {"attributes": {text_key(0): "x" * 3990}}
    for number in range(CAMPAIGNS):
        campaign = console.post("/console/v1/ads/campaigns", {
            "name": f"Costly {number}", "slot_ids": [slot["id"]], "status": "active", "frequency_cap": 1000,
            "targeting": targeting}, expect=201)
        for _ in range(CREATIVES):
            console.post("/console/v1/ads/creatives", {
                "campaign_id": campaign["id"], "kind": "image", "image_url": "https://img.example/a.png", "alt": "Cup",
                "landing_url": "https://shop.example/cup", **SIZE}, expect=201)
    return slot["slug"]


def create_import(client):
    """Returns the id. Its error report almost fills a page. The rows up to ROWS are free."""
    job = client.post("/v1/imports", {"file_name": "f.csv", "declared_total": 0, "mapping": MAPPING}, expect=201)["id"]
    values = {"phone": LONGEST_TEXT, "favourite_team": LONGEST_TEXT}
    for first in range(ROWS + 1, ROWS + FAULTY_ROWS, FAULTY_ROWS_OF_REQUEST):
        rows = [{"rowNumber": number, "payload": {"email": f"f-{number}@example.org", "country": "UK", "attributes": values}}
                for number in range(first, first + FAULTY_ROWS_OF_REQUEST)]
        client.call("POST", f"/v1/imports/{job}/rows?faults=keep", json.dumps({"rows": rows}).encode())
    return job


def remove(stack, organization):
    """Removes attributes and campaigns, which would make the requests of other figures more costly."""
    own = stack.organizations[organization]["id"].replace("-", "")
    stack.sql("DELETE FROM attributes WHERE organization_id = UNHEX(%s) AND attribute_key LIKE 'costly.%%'", own)
    stack.sql("DELETE FROM ad_campaigns WHERE organization_id = UNHEX(%s)", own)


# ---------------------------------------------------------------------------- the requests
def requests_of(stack, organization):
    """[(method, path, credential, origin, body)]"""
    own = stack.organizations[organization]
    key, session, origin = own["api_key"], own["session_token"], stack.console_origin
    client, console = Client(stack, organization), console_of(stack, organization)
    job = create_import(client)
    article = console.post("/console/v1/articles", {"slug": uuid.uuid4().hex, "title": "T", "body_html": "<p>x</p>"},
                           expect=201)["id"]
    member = create_heavy_member(client, console)
    page = urlencode({"key": own["tracking_key"], "slot": create_full_slot(console), "user_id": member})
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
        ("GET", f"/v1/imports/{job}/error-report", key, origin, None),
        ("GET", f"/v1/users/{member}", key, origin, None),
        # Each of the two changes what the other one wrote.
        ("PATCH", f"/v1/users/{member}", key, origin, {"first_name": "Ann"}),
        ("PATCH", f"/v1/users/{member}", key, origin, {"first_name": "Bea"}),
        ("GET", "/v1/ads/serve?" + page, "-", own["allowed_origin"], None),
        ("GET", "/console/v1/ads/creatives?limit=100", session, origin, None),
        ("GET", "/v1/engagement/events?limit=100", session, origin, None),
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
        self.accepted = set()
        self.process = None

    def start(self, seconds):
        self.process = subprocess.Popen(
            [SENDER, str(self.stack.port), self.stack.ca_file, self.requests, str(seconds), str(self.connections)],
            stdout=subprocess.PIPE, text=True, start_new_session=True)

    def warm_up(self, seconds):
        self.start(seconds)
        self.result(seconds + 60)
        self.accepted.clear()

    def result(self, most):
        """{"request status": replies}"""
        try:
            shown, _ = self.process.communicate(timeout=most)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise BrokenMeasurement("the costly requests do not end") from None
        if self.process.returncode:
            raise BrokenMeasurement(f"the costly requests ended with {self.process.returncode}")
        replies = json.loads(shown)
        for reply in replies:
            request, status = reply.rsplit(" ", 1)
            if status.startswith("2"):
                self.accepted.add(request)
        return replies

    def check(self):
        """Every request must have been accepted in at least one run: of the long answers, an organization gets one at a time."""
        with open(self.requests, encoding="ascii") as file:
            sent = {f"{method} {path.split('?')[0]}" for method, path, *_ in map(str.split, file)}
        never = sent - self.accepted
        if never:
            raise BrokenMeasurement(f"these costly requests were never accepted: {never}")
