"""The costliest legal request of each operation takes bounded processor time (docs/operations/costs.md)."""

import json
import mmap
import os
import re
import subprocess
import time
import uuid
from functools import cache, cached_property
from itertools import cycle
from statistics import median

import pytest
from support.ads import Ads
from support.bodies import body_of, path_of
from support.stack import ROOT
from support.world import email, rows_of
from test_outage import workers

pytestmark = pytest.mark.alone

MOST = 250  # milliseconds of processor time
TABLE = ROOT / "docs/operations/costs.md"
TRIES = 2
CLASSES = {"S", "M", "L", "XL"}
MOST_OF_LONG_ANSWER = 1000  # milliseconds
# The processor time of a worker to stage so many rows, in a release build on the machine of docs/performance.md. It shows how
# much slower another build is; sanitizers slow it down most.
PROBE_ROWS, PROBE_MILLISECONDS, MOST_SLOWNESS = 500, 10, 20
FAULT_MILLISECONDS = 0.0005  # of a page fault, on a machine whose processor translates the addresses of virtual machines
# The attributes of a full registry in addition to the starter attributes: with texts of a member, and with choices.
ATTRIBUTES, WITH_CHOICES = 100, 85


def rows_of_table():
    """{operation: its class of processor time}"""
    found = re.findall(r"^\| `(\w+)` \| (.*)$", TABLE.read_text(), re.MULTILINE)
    assert len(found) == len({name for name, _ in found}), "an operation has two rows"
    return {name: rest.split(" | ") for name, rest in found}


def test_every_operation_has_a_row(stack):
    listed = subprocess.run([stack.build / "musterd", "--routes"], capture_output=True, text=True, check=True).stdout
    operations = {line.split()[2] for line in listed.splitlines()}
    rows = rows_of_table()
    assert operations - rows.keys() == set(), "add a row to docs/operations/costs.md"
    assert rows.keys() - operations == set(), "these operations no longer exist"
    assert {row[0] for row in rows.values()} <= CLASSES
    assert all(len(row) == 5 and all(row) for row in rows.values())


# ---------------------------------------------------------------------------- processor time


def fault_milliseconds(pages=4096):
    """The milliseconds of a page fault here."""
    with mmap.mmap(-1, pages * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        start = time.thread_time()
        memory[::mmap.PAGESIZE] = bytes(pages)
        return (time.thread_time() - start) * 1000 / pages


@cache
def fault_surplus():
    """The milliseconds of a page fault above FAULT_MILLISECONDS. In some virtual machines the hypervisor handles each page fault,
    which takes 30 times as long as usual."""
    return max(0, median(fault_milliseconds() for _ in range(5)) - FAULT_MILLISECONDS)


def page_faults(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return int(file.read().rpartition(")")[2].split()[7])


def scheduled(pid):
    """The milliseconds that the threads of a process ran, without the surplus of the page faults."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e6 - page_faults(pid) * fault_surplus()


def spent(stack):
    """(milliseconds of each worker, of the database)"""
    return {pid: scheduled(pid) for pid in workers(stack)}, scheduled(stack.pid("mariadbd"))


def measured(stack, send):
    """(milliseconds of the workers, of the database, reply)"""
    before, database = spent(stack)
    reply = send()
    after, then = spent(stack)
    assert after.keys() <= before.keys(), "a worker was replaced, so its time is unknown"
    return sum(after[pid] - before[pid] for pid in after), then - database, reply


def check_cost(stack, slowness, most, send, name=""):
    """Sends the request until it costs at most `most` milliseconds, at most TRIES times: other work of the database is counted too.
    Returns the reply. A later reply must have the status of the first one, because an error costs less."""
    costs, statuses = [], set()
    while len(costs) < TRIES and len(statuses) < 2:
        own, database, reply = measured(stack, send)
        costs.append((own, database))
        statuses.add(reply.status_code)
        if len(statuses) == 1 and own / slowness + database <= most:
            return reply
    raise AssertionError((name, most, costs, slowness, statuses, reply.text[:300]))


def wide_rows(count):
    payload = {"attributes": {f"a{number}": "x" * 18 for number in range(ATTRIBUTES)}}
    return rows_of([payload | {"email": f"{number}@e2e.example"} for number in range(count)])


@pytest.fixture(autouse=True)
def lasting_workers(stack):
    """Workers that are not replaced after a large body."""
    with stack.configured("[server]", "recycle_memory = 65536"):
        yield


@pytest.fixture
def slowness(stack, org, no_runner):
    """How many times as long this build needs as a release build, at most MOST_SLOWNESS."""
    job_id = org.create_import()["id"]
    runs = [measured(stack, staging_call(org, job_id, wide_rows(PROBE_ROWS))) for _ in range(2)]
    assert {reply.status_code for _, _, reply in runs} == {200}
    org.cancel(job_id)
    return min(max(1, min(own for own, _, _ in runs) / PROBE_MILLISECONDS), MOST_SLOWNESS)


def staging_call(org, job_id, rows):
    """A function that stages the rows; the body is made before."""
    body = json.dumps({"rows": rows})
    headers = {"Content-Type": "application/json"}
    return lambda: org.api.request("POST", f"/v1/imports/{job_id}/rows", data=body, headers=headers, whole=False)


# ---------------------------------------------------------------------------- the costliest requests


class Costliest:
    """Sends requests that come close to the limits of the operation: cases() has {operation: a function}."""

    def __init__(self, org):
        self.org, self.api, self.admin = org, org.api, org.admin().api
        self.ids = org.records() | {"import": org.create_import()["id"]}

    def fill(self):
        for number in range(ATTRIBUTES):
            self.admin.request("PUT", f"/v1/attributes/a{number}", json={"type": "text", "enabled": True}, whole=False)
        choices = [f"{number:03}" + "c" * 18 for number in range(500)]  # of all attributes together almost 1 MiB
        for number in range(WITH_CHOICES):
            body = {"type": "single_choice", "choices": choices, "enabled": True}
            # The first page of the list has all of them.
            self.admin.request("PUT", f"/v1/attributes/a.choice{number}", json=body, whole=False).raise_for_status()
        for _ in range(25):
            self.create_user().raise_for_status()
        for _ in range(11):  # more events than a total counts
            self.ingest().raise_for_status()

    @cached_property
    def member(self):
        return self.create_user().json()

    def send(self, method, path, api=None, **options):
        return (api or self.api).request(method, path, whole=False, **options)

    def attributes(self):
        return {f"a{number}": uuid.uuid4().hex * 74 for number in range(ATTRIBUTES)}

    def create_user(self):
        names = dict.fromkeys(("first_name", "last_name", "display_name"), "\u1e9b" * 250)
        return self.send("POST", "/v1/users", json={"email": email(), "attributes": self.attributes()} | names)

    def events(self, **more):
        filler = {f"k{number}": "v" * 70 for number in range(95)}
        return {"events": [{"action": "a" * 128, "client_event_id": str(uuid.uuid4()), "metadata": filler,
                            "tags": [f"{number:02}" + "t" * 60 for number in range(20)], **more} for _ in range(100)]}

    def ingest(self):
        return self.send("POST", "/v1/ingest", self.org.module_api, json=self.events(email=self.member["email"]))

    def stage(self):
        return self.send("POST", f"/v1/imports/{self.ids['import']}/rows", json={"rows": wide_rows(5000)})

    def article(self, html):
        return self.send("PATCH", f"/console/v1/articles/{self.ids['article']}", self.admin, json={"body_html": html})

    def ad_for_member(self):
        """A request of a slot with 100 campaigns, which ask for an attribute of the member and have a cap."""
        ads, attributes = Ads(self.org), self.member["attributes"]
        slot, wanted = ads.slot(), {"a0": attributes["a0"]}
        for _ in range(100):
            ads.creative(ads.campaign(slot, frequency_cap=1000, targeting={"attributes": wanted}))
        params = {"slot": slot["slug"], "user_id": self.member["id"]}
        return lambda: self.send("GET", "/v1/ads/serve", self.org.page_api, params=params)

    def creative(self, html):
        body = {"html": html, "width": 728, "height": 90, "kind": "html", "campaign_id": self.ids["campaign"]}
        return Ads(self.org).admin.post("/console/v1/ads/creatives", json=body, whole=False)

    def cases(self):
        formatting = "".join(f"<b class=a id={number}>" for number in range(999))
        html = formatting + "<b>" * 3990 + "x" * 20_000
        user = f"/v1/users/{self.member['id']}"
        module = f"/v1/modules/{self.ids['module']}"
        config = {f"k{number}": "v" * 60 for number in range(900)}
        return {
            "stageImportRows": self.stage,
            "listImportRows": lambda: self.send("GET", f"/v1/imports/{self.ids['import']}/rows", params={"limit": 1000}),
            "createUser": self.create_user,
            "updateUser": lambda: self.send("PATCH", user, json={"attributes": self.attributes()}),
            "getUser": lambda: self.send("GET", user),
            "listUserAttributes": lambda: self.send("GET", f"{user}/attributes"),
            "listUsers": lambda: self.send("GET", "/v1/users", params={"limit": 100, "total": "true", "q": "member"}),
            "exportUsers": lambda: self.send("GET", "/v1/users/export"),
            "listAttributes": lambda: self.send("GET", "/v1/attributes", params={"limit": 100}),
            "trackEvents": lambda: self.send("POST", "/v1/track", self.org.page_api, json=self.events(anonymous_id="v")),
            "ingestEvents": self.ingest,
            "listEngagementEvents": lambda: self.send("GET", f"{user}/engagement/events", params={"limit": 100, "total": "true"}),
            "serveAd": self.ad_for_member(),
            "changeArticle": lambda: self.article(html),
            "previewArticleText": lambda: self.send("POST", "/console/v1/articles/preview", self.admin, json={"body_html": html}),
            "createAdCreative": lambda: self.creative(html[:60_000]),
            "createModuleVersion": lambda: self.send(
                "POST", f"{module}/versions", self.admin,
                json={"version": uuid.uuid4().hex[:12], "manifest": {"name": "M", "more": config}}),
            "installModule": lambda: self.send("POST", "/v1/installations", self.admin,
                                               json={"module_id": self.ids["module"], "config": config}),
        }


@pytest.fixture
def costliest(org):
    made = Costliest(org)
    made.fill()
    return made


def matrix_request(org, operation, ids):
    """A usual request, for an operation whose cost hardly depends on the request."""
    client = org.client_for(operation)
    return lambda: client.request(operation.method, path_of(operation, ids), whole=False, **body_of(operation, org))


def test_the_costliest_request_of_each_operation_takes_bounded_processor_time(stack, contract, slowness, costliest):
    ids = costliest.ids | {"attribute": "phone"}
    cases = costliest.cases()
    assert cases.keys() <= {operation.id for operation in contract.operations}
    # Records are deleted last, and the key that sends the requests after all others.
    for operation in sorted(contract.operations, key=lambda one: (one.id == "revokeApiKey", one.method == "DELETE")):
        # Small bodies and single records of an admin's session, or of a client without an organization.
        if not (operation.is_own or operation.is_open or operation.id in cases):
            cases[operation.id] = matrix_request(costliest.org, operation, ids)
    for name, send in cases.items():
        reply = check_cost(stack, slowness, MOST, send, name)
        assert reply.status_code < 500 and reply.status_code != 401, (name, reply.text[:500])


def heavy_rows(numbers, size):
    """Rows of about `size` bytes, a multiple of 4,000."""
    attributes = {f"a{number}": "x" * 3980 for number in range(size // 4000)}
    return rows_of([(number, {"email": f"{number}@e2e.example", "attributes": attributes}) for number in numbers])


def in_each_block(blocks, first, count):
    return [1 + block * 500 + index for block in range(blocks) for index in range(first, first + count)]


# Staged rows, and the call that rewrites them: many small blocks, blocks of 24 MiB, a large body, and 100,000 small rows.
@pytest.mark.parametrize("staged, size, sent, sent_size", [
    ([], 0, range(1, 5000 * 501, 501), 0),
    (in_each_block(240, 0, 8), 12_000, in_each_block(240, 400, 1), 0),
    (in_each_block(80, 0, 8), 12_000, in_each_block(80, 400, 8), 24_000),
    (range(1, 100_001), 0, in_each_block(200, 400, 1), 0),
])
def test_staging_rows_far_apart_takes_bounded_processor_time(stack, org, slowness, staged, size, sent, sent_size):
    job_id = org.create_import()["id"]
    per_call = 800 if size else 5000
    for at in range(0, len(staged), per_call):
        staging_call(org, job_id, heavy_rows(staged[at:at + per_call], size))().raise_for_status()
    send = staging_call(org, job_id, heavy_rows(sent, sent_size))
    send().raise_for_status()
    reply = check_cost(stack, slowness, MOST * 2, send)
    assert reply.status_code == 200, reply.text
    org.cancel(job_id)


def large_rows(count, **payload):
    values = {"phone": "x" * 3980, "favourite_team": "x" * 3980}
    return rows_of([payload | {"email": email(), "attributes": values} for _ in range(count)])


def stage_large(org, job_id, rows, **options):
    for at in range(0, len(rows), 1900):
        org.api.post(f"/v1/imports/{job_id}/rows", json={"rows": rows[at:at + 1900]}, expect=200, **options)


def check_long_answer(stack, org, slowness, path, next_header, **params):
    get = lambda: org.api.request("GET", path, params=params, whole=False)
    reply = check_cost(stack, slowness, MOST_OF_LONG_ANSWER, get, f"{path} {params}")
    assert reply.status_code == 200 and next_header in reply.headers
    return reply


def test_reports_take_bounded_processor_time(stack, org, slowness):
    job_id = org.create_import()["id"]
    rows = large_rows(20_000)  # of 8 KB each: 150 MiB
    for row in [*rows[:8_500], *rows[8_500::500]]:  # as many errors as a page holds; and few, which a page looks for
        row["payload"]["country"] = "UK"
    stage_large(org, job_id, rows, params={"faults": "keep"})
    path = f"/v1/imports/{job_id}/error-report"
    first = check_long_answer(stack, org, slowness, path, "X-Next-After")
    assert 63 << 20 < len(first.content) <= 64 << 20
    org.cancel(job_id)
    job_id = org.create_import()["id"]
    for row in rows[:8_500]:
        if row["rowNumber"] % 500 != 1:
            del row["payload"]["country"]
    stage_large(org, job_id, rows, params={"faults": "keep"})
    few = check_long_answer(stack, org, slowness, f"/v1/imports/{job_id}/error-report", "X-Next-After")
    assert len(few.content) < 1 << 20
    assert 16_000 < int(few.headers["X-Next-After"]) < 18_500
    org.cancel(job_id)


def test_exports_and_dry_runs_of_an_undo_take_bounded_processor_time(stack, org, slowness):
    job_id = org.create_import()["id"]
    stage_large(org, job_id, large_rows(12_000))
    org.commit(job_id, json={"dry_run": False})
    stack.run_once()
    org.commit(job_id)
    stack.run_once()
    assert org.job(job_id)["created_count"] == 12_000
    check_long_answer(stack, org, slowness, "/v1/users/export", "X-Next-Cursor")
    check_long_answer(stack, org, slowness, "/v1/users/export", "X-Next-Cursor", imported_by=job_id)
    undo = lambda: org.api.request("POST", f"/v1/imports/{job_id}/undo", json={"dry_run": True}, whole=False)
    reply = check_cost(stack, slowness, MOST * 2, undo)
    assert reply.json()["undo"]["removed"] == 12_000 and reply.json()["undo"]["is_estimate"]


def test_html_that_the_parser_reads_slowly_is_bounded(stack, slowness, costliest):
    html = "".join(f"<b id={number}>" for number in range(14_990))
    reply = check_cost(stack, slowness, MOST * 2, lambda: costliest.article(html))
    assert reply.status_code == 422  # as text it is too long


def document_of(size):
    """Attributes of about so many bytes, in small values, which the database searches most slowly."""
    entry = '"a%05d": ["x", "api", 1]'
    return "{" + ", ".join(entry % number for number in range(size // (len(entry % 0) + 2))) + "}"


def add_members(stack, org, count, attributes):
    """Members who change now."""
    connection = stack.connect()
    with connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO users (id, email, created_at) SELECT UNHEX(MD5(CONCAT(%s, seq))), "
                       f"CONCAT(MD5(CONCAT(%s, seq)), '@e2e.example'), 1 FROM seq_1_to_{count}", (org.id, org.id))
        cursor.execute("INSERT INTO members (organization_id, user_id, id, email, attributes, created_at, updated_at) "
                       "SELECT UNHEX(REPLACE(%s, '-', '')), id, id, email, %s, 1, UNIX_TIMESTAMP() * 1000 FROM users WHERE id IN "
                       f"(SELECT UNHEX(MD5(CONCAT(%s, seq))) FROM seq_1_to_{count})", (org.id, attributes, org.id))


@pytest.mark.parametrize("members, size, status", [(10_000, 419, 200), (10_001, 400, 409), (60, 800 * 1024, 409)])
def test_a_change_of_an_attributes_type_takes_bounded_processor_time(stack, org, slowness, members, size, status):
    admin = org.admin().api
    admin.request("PUT", "/v1/attributes/size", json={"type": "text", "enabled": True})
    add_members(stack, org, members, document_of(size))
    types = cycle(("number", "text" if status == 200 else "number"))
    reply = check_cost(stack, slowness, MOST, lambda: admin.request(
        "PUT", "/v1/attributes/size", json={"type": next(types), "enabled": True}, whole=False))
    assert reply.status_code == status, reply.text
