"""The costliest legal request of each operation above class S (docs/operations/costs.md), and a load of them.

wrk cannot send them: it asks its script for another request when a body of 16 MB does not fit into the socket's buffer, and
then it closes the connection in the middle of the body.
"""

import json
import os
import subprocess
from typing import Callable, NamedTuple

from lib.costly_records import (CHANGED_MEMBERS, DISABLED_ENDPOINTS, DISABLED_INSTALLATIONS, FILLED_CAMPAIGN, LOCKED_MEMBERS,
                                REMOVED_MEMBERS, STAGED_ROWS, TYPED, UNIQUE, CostlyRecords, config, full,
                                large_manifest, new_creative, slow_html)
from lib.figure import BrokenMeasurement

SENDER = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "costly")

# Production's defaults. The sandbox of the bench has very high rates.
DEFAULT_RATES = {"MUSTER_LIMITS_KEY_RATE": "100", "MUSTER_LIMITS_KEY_BURST": "200",
                 "MUSTER_LIMITS_ORGANIZATION_RATE": "400", "MUSTER_LIMITS_ORGANIZATION_BURST": "800",
                 "MUSTER_LIMITS_TRACKING_RATE": "100", "MUSTER_LIMITS_TRACKING_BURST": "200",
                 "MUSTER_LIMITS_UPLOAD_MIB": "16",
                 "MUSTER_LIMITS_STAGED_MIB": "1048576"}  # otherwise the uploads of a day are refused after 136
LONG_AGO = "2026-01-01T00:00:00Z"
KEY, ADMIN, PAGE, MODULE = "key", "admin", "page", "module"  # who sends a request
# Operations above class S that the load does not send, and why.
NOT_SENT = {
    "getMetrics": "the operator's monitoring asks, not an organization",
    "confirmAuthenticator": "an admin changes the second factor ten times a day",
    "replaceBackupCodes": "an admin changes the second factor ten times a day",
    "deleteWebhookEndpoint": "a request deletes 8,000 attempts, which take much longer to write again for each run",
}


class CostlyRequest(NamedTuple):
    """`path` names records ({name} of CostlyRecords, and {each}); `body(records, each)`; `each(records)`: the values of {each},
    which are taken in turn."""

    operation: str
    method: str
    path: str
    caller: str = KEY
    body: Callable = lambda records, each: None
    each: Callable = lambda records: [None]


def ids(numbers):
    return lambda records: [records.id(number) for number in numbers]


def always(body):
    return lambda records, each: body


def texts(count, length):
    return {f"b{number}": UNIQUE * (length // 32) for number in range(1, count + 1)}


def new_member():
    names = dict.fromkeys(("first_name", "last_name", "display_name"), "\u1e9b" * 250)
    return {"email": f"costly-{UNIQUE}@example.org", "attributes": texts(100, 74 * 32)} | names


def staged_rows():
    attributes = {f"b{number + 1}": "x" * 18 for number in range(100)}
    return {"rows": [{"rowNumber": number + 1, "payload": {"email": f"costly-{number}@example.org", "attributes": attributes}}
                     for number in range(STAGED_ROWS)]}


def events(**more):
    metadata = {f"k{number}": "v" * 70 for number in range(95)}
    return {"events": [{"client_event_id": f"{UNIQUE}-{number}", "action": "a" * 128, "metadata": metadata,
                        "tags": [f"{tag:02}" + "t" * 60 for tag in range(20)], **more} for number in range(100)]}


def address_of_member(records):
    return f"crowd{1:06}.{records.full.rows.prefix}@e2e.example"


def article_slugs(records):
    """Of heavy articles: nginx answers the second request for one from its cache."""
    return [str(number).rjust(128, "s") for number in range(1, full.HEAVY_ARTICLES + 1)]


def new_article():
    return {"slug": f"costly-{UNIQUE}", "title": "Title", "body_html": slow_html()}


def new_version():
    return {"version": f"costly-{UNIQUE}", "manifest": large_manifest()}


SEARCH = f"action={full.SEARCHED}"
# Those who use up records find them again in the next run (CostlyRecords.renew).
REQUESTS = (
    # Members. A new value of a name makes each change one.
    CostlyRequest("createUser", "POST", "/v1/users", body=always(new_member())),
    CostlyRequest("getUser", "GET", "/v1/users/{one}"),
    CostlyRequest("listUserAttributes", "GET", "/v1/users/{one}/attributes"),
    CostlyRequest("updateUser", "PATCH", "/v1/users/{each}", body=always({"last_name": UNIQUE}), each=ids(CHANGED_MEMBERS)),
    CostlyRequest("lockUser", "POST", "/v1/users/{each}/lock", body=always({"reason": "\U0001f3c6" * 255}),
                  each=ids(LOCKED_MEMBERS)),
    CostlyRequest("unlockUser", "POST", "/v1/users/{each}/unlock", body=always({}), each=ids(LOCKED_MEMBERS)),
    CostlyRequest("removeUser", "DELETE", "/v1/users/{each}", each=ids(REMOVED_MEMBERS)),
    CostlyRequest("listUsers", "GET", "/v1/users?limit=100&q=crowd&total=true"),
    CostlyRequest("exportUsers", "GET", "/v1/users/export"),
    CostlyRequest("listMemberJobs", "GET", "/v1/member-jobs?limit=100"),
    # Attributes. The two types take turns, and no member has a value.
    CostlyRequest("listAttributes", "GET", "/v1/attributes?limit=100", ADMIN),
    CostlyRequest("putAttribute", "PUT", f"/v1/attributes/{TYPED}", ADMIN, lambda _, each: {"type": each, "enabled": True},
                  lambda records: ["number", "text"]),
    # Imports. The dry run of an undo changes nothing.
    CostlyRequest("stageImportRows", "POST", "/v1/imports/{job}/rows", body=always(staged_rows())),
    CostlyRequest("listImportRows", "GET", "/v1/imports/{job}/rows?limit=1000"),
    CostlyRequest("getImportErrorReport", "GET", "/v1/imports/{job}/error-report"),
    CostlyRequest("undoImport", "POST", "/v1/imports/{undone}/undo", body=always({"dry_run": True})),
    CostlyRequest("listImports", "GET", "/v1/imports?limit=100"),
    # Events
    CostlyRequest("trackEvents", "POST", "/v1/track?key={tracking}", PAGE, always(events(anonymous_id="v"))),
    CostlyRequest("ingestEvents", "POST", "/v1/ingest", MODULE, lambda records, each: events(email=address_of_member(records))),
    CostlyRequest("listEngagementEvents", "GET", "/v1/users/{one}/engagement/events?limit=100&total=true"),
    CostlyRequest("listRecentEvents", "GET", "/v1/engagement/events?limit=100", ADMIN),
    CostlyRequest("listTrackingKeys", "GET", "/v1/engagement/keys?limit=100", ADMIN),
    # The organization
    CostlyRequest("getOrganizationSummary", "GET", "/v1/organization/summary", ADMIN),
    CostlyRequest("getOrganizationUsage", "GET", "/v1/organization/usage", ADMIN),
    CostlyRequest("listAuditLog", "GET", f"/v1/audit-log?limit=100&{SEARCH}", ADMIN),
    # Articles
    CostlyRequest("listArticles", "GET", "/console/v1/articles?limit=100&q=%F0%9F%8F%86", ADMIN),
    CostlyRequest("createArticle", "POST", "/console/v1/articles", ADMIN, always(new_article())),
    CostlyRequest("changeArticle", "PATCH", "/console/v1/articles/{article}", ADMIN, always({"body_html": slow_html()})),
    CostlyRequest("previewArticleText", "POST", "/console/v1/articles/preview", ADMIN, always({"body_html": slow_html()})),
    CostlyRequest("listContentKeys", "GET", "/console/v1/content-keys?limit=100", ADMIN),
    CostlyRequest("listContent", "GET", "/v1/content/articles?key={content}&limit={each}", PAGE,
                  each=lambda records: range(100, 60, -1)),
    CostlyRequest("getContent", "GET", "/v1/content/articles/{each}?key={content}", PAGE, each=article_slugs),
    # Ads
    CostlyRequest("serveAd", "GET", "/v1/ads/serve?key={tracking}&slot={slot}&user_id={one}", PAGE),
    CostlyRequest("listAdCampaigns", "GET", "/console/v1/ads/campaigns?limit=100", ADMIN),
    CostlyRequest("createAdCampaign", "POST", "/console/v1/ads/campaigns", ADMIN,
                  lambda records, each: records.full.new_campaign()),
    CostlyRequest("updateAdCampaign", "PATCH", "/console/v1/ads/campaigns/{one}", ADMIN,
                  lambda records, each: records.full.new_campaign() | {"name": UNIQUE}),
    CostlyRequest("listAdFigures", "GET", f"/console/v1/ads/figures?limit=100&days={full.DAYS}", ADMIN),
    CostlyRequest("listAdCreatives", "GET", "/console/v1/ads/creatives?limit=100&campaign_id={html_campaign}", ADMIN),
    CostlyRequest("createAdCreative", "POST", "/console/v1/ads/creatives", ADMIN,
                  lambda records, each: new_creative(records.id(FILLED_CAMPAIGN))),
    CostlyRequest("updateAdCreative", "PATCH", "/console/v1/ads/creatives/{creative}", ADMIN,
                  lambda records, each: {"html": new_creative("")["html"]}),
    # Modules
    CostlyRequest("listModuleVersions", "GET", "/v1/modules/{one}/versions?limit=100", ADMIN),
    CostlyRequest("createModuleVersion", "POST", "/v1/modules/{module}/versions", ADMIN, always(new_version())),
    CostlyRequest("publishModuleVersion", "POST", "/v1/modules/{module}/versions/{each}/publish", ADMIN, always({}),
                  lambda records: records.drafts),
    CostlyRequest("listInstallations", "GET", "/v1/installations?limit=100", ADMIN),
    CostlyRequest("installModule", "POST", "/v1/installations", ADMIN,
                  lambda records, each: {"module_id": each, "config": config(UNIQUE)}, lambda records: records.modules[:-1]),
    CostlyRequest("changeInstallation", "PATCH", "/v1/installations/{installation}", ADMIN, always({"config": config(UNIQUE)})),
    CostlyRequest("disableInstallation", "DELETE", "/v1/installations/{each}", ADMIN, each=ids(DISABLED_INSTALLATIONS)),
    # Webhooks. The dry run of a recovery changes nothing.
    CostlyRequest("listWebhookEndpoints", "GET", "/v1/installations/{one}/webhook-endpoints?limit=100", ADMIN),
    CostlyRequest("updateWebhookEndpoint", "PATCH", "/v1/installations/{one}/webhook-endpoints/{each}", ADMIN,
                  always({"status": "disabled"}), ids(DISABLED_ENDPOINTS)),
    CostlyRequest("recoverWebhookDeliveries", "POST", "/v1/installations/{one}/webhook-endpoints/{failed}/recover", ADMIN,
                  always({"since": LONG_AGO, "dry_run": True})),
    CostlyRequest("listWebhookDeliveries", "GET",
                  "/v1/installations/{one}/webhook-endpoints/{seen}/deliveries?limit=100&class=http_5xx", ADMIN),
    CostlyRequest("listAllWebhookDeliveries", "GET", "/v1/webhook-deliveries?limit=100&class=http_5xx", ADMIN),
    CostlyRequest("getWebhookDelivery", "GET", "/v1/installations/{one}/webhook-endpoints/{seen}/deliveries/{delivery}", ADMIN),
)
OPERATIONS = {request.operation for request in REQUESTS}


def written_requests(stack, records, organization):
    """The file of the program `costly`."""
    org, credential = records.org, records.credential
    origin = stack.organizations[organization]["allowed_origin"]
    callers = {KEY: (org.key, stack.console_origin), ADMIN: (org.console.key, stack.console_origin), PAGE: ("-", origin),
               MODULE: (f"{credential['credential']}:{credential['signing_secret']}", stack.console_origin)}
    lines = []
    for request in REQUESTS:
        for each in request.each(records):
            path = request.path.format(**records.names, each=each)
            file = written_body(stack, len(lines), request.body(records, each))
            lines.append(" ".join((request.operation, request.method, path, *callers[request.caller], file)) + "\n")
    with open(stack.file("costly"), "w", encoding="ascii") as out:
        out.writelines(lines)
    return stack.file("costly")


def written_body(stack, number, body):
    if body is None:
        return "-"
    with open(stack.file(f"costly-{number}"), "w", encoding="ascii") as out:
        json.dump(body, out)
    return stack.file(f"costly-{number}")


class CostlyLoad:
    """The requests in turn, in a session of their own. The admin of the organization of the sandbox sends them, for an
    organization that is as large as it may be."""

    def __init__(self, stack, organization, connections):
        self.stack, self.connections = stack, connections
        self.accepted = set()
        self.process = None
        self.records = CostlyRecords(stack, organization)
        try:
            self.requests = written_requests(stack, self.records, organization)
        except BaseException:
            self.remove()
            raise

    def start(self, seconds):
        self.process = subprocess.Popen(
            [SENDER, str(self.stack.port), self.stack.ca_file, self.requests, str(seconds), str(self.connections)],
            stdout=subprocess.PIPE, text=True, start_new_session=True)

    def renewed(self):
        """The load, with the records that it uses up."""
        self.records.renew()
        return self

    def warm_up(self, seconds):
        self.start(seconds)
        self.result(seconds + 60)
        self.accepted.clear()

    def remove(self):
        self.records.remove()

    def result(self, most):
        """{"operation status": replies}"""
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
            operation, status = reply.rsplit(" ", 1)
            if status.startswith("2"):
                self.accepted.add(operation)
        return replies

    def check(self):
        """Every operation must have been accepted in at least one run: an organization gets one long answer at a time."""
        never = OPERATIONS - self.accepted
        if never:
            raise BrokenMeasurement(f"these costly requests were never accepted: {never}")
