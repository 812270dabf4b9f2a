"""The costliest legal requests of an organization (docs/operations/costs.md), for costly.lua."""

import json
import uuid

from lib.client import MAPPING, Client

# Production's defaults. The sandbox of the bench has very high rates.
DEFAULT_RATES = {"MUSTER_LIMITS_KEY_RATE": "100", "MUSTER_LIMITS_KEY_BURST": "200",
                 "MUSTER_LIMITS_ORGANIZATION_RATE": "400", "MUSTER_LIMITS_ORGANIZATION_BURST": "800",
                 "MUSTER_LIMITS_TRACKING_RATE": "100", "MUSTER_LIMITS_TRACKING_BURST": "200"}
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


def environment(stack, organization):
    """Writes the requests to files, and returns the environment of costly.lua."""
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
    return {"BENCH_REQUESTS": stack.file("costly")}
