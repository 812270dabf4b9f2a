"""The costliest legal request of each operation takes bounded processor time (docs/operations/costs.md)."""

import json
import mmap
import os
import re
import subprocess
import time
from contextlib import closing, suppress
from itertools import cycle
from statistics import median
from typing import NamedTuple

import pytest
from costs_full import FullCases
from costs_requests import Costliest, wide_rows
from costs_table import MILLISECONDS, rows_of_table
from support.bodies import body_of, path_of
from support.costly_organization import TRIES
from support.stack import numbers, wait_for
from support.world import email, rows_of
from test_outage import workers

pytestmark = pytest.mark.alone

# The processor time of a worker to stage so many rows, without sanitizers on a quiet machine. It shows how much sanitizers slow
# a worker down.
PROBE_ROWS, PROBE_MILLISECONDS, MOST_SANITIZER_SLOWNESS = 500, 5, 20
# A text, and the processor time of this program to read and write it on a quiet machine. It shows how much slower the machine is
# now: the speed of a virtual machine changes with the load of its neighbors.
TEXT = json.dumps([{"row": number, "email": email(), "tags": ["a", "b", number], "name": "x" * 20} for number in range(500)])
TEXT_MILLISECONDS, MOST_MACHINE_SLOWNESS = 0.45, 3
CACHES = 2 << 20  # bytes that a worker keeps of its first requests: statements and registries
# The C library takes large pages, as the kernel of Debian gives them by default. A large body has 18,000 page faults without.
LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
IS_SANITIZED = "address" in os.environ.get("BUILD", "")  # then programs need more time and memory
FAULT_MILLISECONDS = 0.0005  # of a page fault, on a machine whose processor translates the addresses of virtual machines
LEAST_PART = 0.2  # of a measured time: so much counts, however many page faults there were
# The operations whose costliest requests have a test of their own below.
TESTED_BELOW = {"exportUsers", "getImportErrorReport", "putAttribute", "undoImport"}
# Those of class M that test_costs_sessions.py measures.
OF_SESSIONS = {"confirmAuthenticator", "replaceBackupCodes"}
# Usual requests that come last, in this order: each changes a record of requests before it.
LAST = ("validateImport", "cancelImport", "deleteAdCampaign", "deleteAdSlot", "revokeApiKey")
# Usual requests that are refused: no job had a dry run, another import is active, and the connection is not authorized. Those of
# jobs are also measured where they are accepted.
REFUSED = {"commitImport", "commitMemberJob", "createImport", "refreshConnection"}


def test_every_operation_has_a_row(stack):
    listed = subprocess.run([stack.build / "musterd", "--routes"], capture_output=True, text=True, check=True).stdout
    operations = {line.split()[2] for line in listed.splitlines()}
    rows = rows_of_table()
    assert operations - rows.keys() == set(), "add a row to docs/operations/costs.md"
    assert rows.keys() - operations == set(), "these operations no longer exist"
    assert {row.processor for row in rows.values()} <= MILLISECONDS.keys()
    assert all(all(row) and row.reply_bytes >= 0 for row in rows.values())


# ---------------------------------------------------------------------------- processor time


class Work(NamedTuple):
    """What a thread did."""
    ran: float = 0  # milliseconds
    faults: int = 0  # page faults

    def __add__(self, other):
        return Work(self.ran + other.ran, self.faults + other.faults)

    def __sub__(self, other):
        return Work(self.ran - other.ran, self.faults - other.faults)


def threads_of(pid):
    """{thread: its Work until now}"""
    threads = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            threads[int(thread)] = work_of(f"/proc/{pid}/task/{thread}")
    return threads


def work_of(folder):
    with open(f"{folder}/schedstat", encoding="ascii") as file:
        ran = int(file.read().split()[0]) / 1e6
    with open(f"{folder}/stat", encoding="ascii") as file:
        return Work(ran, int(file.read().rpartition(")")[2].split()[7]))


def fault_milliseconds(pages):
    """The milliseconds of a page fault now."""
    with mmap.mmap(-1, pages * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        start = time.thread_time()
        memory[::mmap.PAGESIZE] = bytes(pages)
        return (time.thread_time() - start) * 1000 / pages


def milliseconds(work):
    """The time without what its page faults took above FAULT_MILLISECONDS each, at least LEAST_PART of it. In some virtual machines
    the hypervisor handles each page fault, which takes 30 times as long as usual."""
    if work.faults == 0:
        return work.ran
    each = median(fault_milliseconds(work.faults) for _ in range(3))
    return max(work.ran - work.faults * max(0, each - FAULT_MILLISECONDS), work.ran * LEAST_PART)


def threads_of_connections(stack):
    """The threads of the database that serve connections. Its other threads write changed pages, which were changed before."""
    with closing(stack.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT tid FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND command <> 'Daemon'")
        return {thread for (thread,) in cursor.fetchall()}


def threads_of_workers(stack):
    return {pid: threads_of(pid) for pid in workers(stack)}


def total(after, before):
    """The Work between two results of threads_of."""
    return sum((work - before.get(thread, Work()) for thread, work in after.items()), Work())


def memory_of(pid):
    """{name: bytes} of a process: VmHWM is the most since the last reset."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return {name: int(size) * 1024 for name, size in re.findall(r"^(\w+):\s+(\d+) kB$", file.read(), re.MULTILINE)}


def own_memory_at_rest(stack):
    """{worker: bytes}. Resets what each of them has needed at most. Only root may read the memory of a program with the key, so
    another user does not measure it."""
    if os.geteuid() != 0:
        return {}
    for pid in workers(stack):
        with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")  # proc(5)
    return {pid: memory_of(pid)["RssAnon"] for pid in workers(stack)}


def most_own_memory(pid):
    """The bytes that the worker has needed at most, without the pages of files, which stay."""
    memory = memory_of(pid)
    return memory["VmHWM"] - memory["RssFile"] - memory["RssShmem"]


class Cost(NamedTuple):
    own: float  # milliseconds of the workers
    database: float  # milliseconds of the database's connections
    memory: int  # bytes of a worker, in addition to what it needs at rest


def measured(stack, send):
    """(Cost, reply)"""
    rest_memory = own_memory_at_rest(stack)
    serving = threads_of_connections(stack)
    before, database = threads_of_workers(stack), threads_of(stack.pid("mariadbd"))
    reply = send()
    after, then = threads_of_workers(stack), threads_of(stack.pid("mariadbd"))
    assert after.keys() <= before.keys(), "a worker was replaced, so its time is unknown"
    memory = max((most_own_memory(pid) - at_rest for pid, at_rest in rest_memory.items()), default=0)
    own = sum((total(after[pid], before[pid]) for pid in after), Work())
    serving = (serving | threads_of_connections(stack)) & then.keys()
    assert serving, "the database names no threads of its connections"
    served = total({thread: then[thread] for thread in serving}, database)
    return Cost(milliseconds(own), milliseconds(served), memory), reply


def rest(stack):
    """Waits until the database works for less than a millisecond between two looks."""
    readings = [threads_of(stack.pid("mariadbd"))]

    def rests():
        readings.append(threads_of(stack.pid("mariadbd")))
        return total(readings[-1], readings[-2]).ran < 1

    wait_for(rests, "the database to rest", every=0.1)


def text_milliseconds():
    start = time.thread_time()
    json.dumps(json.loads(TEXT))
    return (time.thread_time() - start) * 1000


def machine_slowness():
    """How many times as long a program needs now as on a quiet machine, at most MOST_MACHINE_SLOWNESS."""
    return min(max(1, median(text_milliseconds() for _ in range(9)) / TEXT_MILLISECONDS), MOST_MACHINE_SLOWNESS)


def measured_for_quiet_machine(stack, send):
    """(Cost on a quiet machine, reply)"""
    before = machine_slowness()
    cost, reply = measured(stack, send)
    machine = (before + machine_slowness()) / 2
    return Cost(cost.own / machine, cost.database / machine, cost.memory), reply


def check_cost(stack, slowness, operation, send):
    """Sends the request until it costs at most what the operation's row says, at most TRIES times: other work of the machine is
    counted too. Returns the reply. A later reply must have the status of the first one, because an error costs less."""
    row, costs, statuses = rows_of_table()[operation], [], set()
    while len(costs) < TRIES and len(statuses) < 2:
        rest(stack)
        cost, reply = measured_for_quiet_machine(stack, send)
        costs.append(cost)
        statuses.add(reply.status_code)
        if len(statuses) == 1 and cost.own / slowness + cost.database <= row.milliseconds:
            check_bytes(operation, row, max(one.memory for one in costs), reply)
            return reply
    raise AssertionError((operation, row.milliseconds, costs, slowness, statuses, reply.text[:300]))


def check_bytes(operation, row, memory, reply):
    if reply.status_code < 400:
        assert len(reply.content) <= row.reply_bytes, (operation, row.reply, len(reply.content))
    if not IS_SANITIZED:
        assert memory <= row.memory_bytes + CACHES, (operation, row.memory, memory)


@pytest.fixture(autouse=True)
def no_statistics(stack):
    """The database does not collect statistics on the tables: that would be work of earlier changes."""
    stack.sql("SET GLOBAL innodb_stats_auto_recalc = OFF")
    yield
    stack.sql("SET GLOBAL innodb_stats_auto_recalc = ON")


@pytest.fixture(scope="module", autouse=True)
def large_pages(stack):
    stack.restart_server(env=LARGE_PAGES)
    yield
    stack.restart_server()


@pytest.fixture(autouse=True)
def lasting_workers(stack):
    """Workers that are not replaced after a large body."""
    with stack.configured("[server]", "recycle_memory = 65536"):
        yield


@pytest.fixture
def slowness(stack, org, no_runner):
    """How many times as long a worker needs because of sanitizers. It is 1 without them: a slower worker would otherwise loosen
    its own bounds. The database has no work left then."""
    measured_slowness = sanitizer_slowness(stack, org) if IS_SANITIZED else 1
    rest(stack)
    return measured_slowness


def sanitizer_slowness(stack, org):
    """At most MOST_SANITIZER_SLOWNESS."""
    job_id = org.create_import()["id"]
    runs = [measured_for_quiet_machine(stack, staging_call(org, job_id, wide_rows(PROBE_ROWS))) for _ in range(2)]
    assert {reply.status_code for _, reply in runs} == {200}
    assert all(cost.database > 0 for cost, _ in runs), "no thread of the connections ran"
    org.cancel(job_id)
    return min(max(1, min(cost.own for cost, _ in runs) / PROBE_MILLISECONDS), MOST_SANITIZER_SLOWNESS)


def staging_call(org, job_id, rows):
    """A function that stages the rows; the body is made before."""
    body = json.dumps({"rows": rows})
    headers = {"Content-Type": "application/json"}
    return lambda: org.api.request("POST", f"/v1/imports/{job_id}/rows", data=body, headers=headers, whole=False)


# ---------------------------------------------------------------------------- the costliest requests


@pytest.fixture
def costliest(org):
    return Costliest(org)


@pytest.fixture
def full(stack, new_org, no_runner):
    """The cases of an organization that is full once it is filled. Its records that later tests would find are removed."""
    made = FullCases(new_org(attributes=False))
    try:
        yield made
    finally:
        made.remove()


def costly_operations(*groups):
    return {case.operation for cases in groups for case in cases.all()}


def test_each_operation_above_class_s_has_a_costly_case(contract, costliest, full):
    costly = costly_operations(costliest, full)
    assert costly <= {operation.id for operation in contract.operations}
    heavy = {name for name, row in rows_of_table().items() if row.processor != "S"}
    assert heavy - costly - TESTED_BELOW - OF_SESSIONS == set()


def check_cases(stack, slowness, cases):
    cases.fill()
    rest(stack)
    for case in cases.all():
        reply = check_cost(stack, slowness, case.operation, case.send)
        assert reply.status_code == case.status, (case.operation, reply.text[:500])


def usual_requests(contract, costliest, measured_elsewhere):
    """[(operation, request)] whose cost hardly depends on the request. Records are deleted after all others were used."""
    order = lambda one: (one.id in LAST and 1 + LAST.index(one.id), one.method == "DELETE")
    # Those of an admin's session, or of a client without an organization, are in test_costs_sessions.py.
    return [(operation.id, usual_request(costliest, operation)) for operation in sorted(contract.operations, key=order)
            if not (operation.is_own or operation.is_open or operation.id in measured_elsewhere)]


def usual_request(costliest, operation):
    client = costliest.org.client_for(operation)
    path, body = path_of(operation, costliest.ids), body_of(operation, costliest.org)
    return lambda: client.request(operation.method, path, whole=False, **body)


def test_the_costliest_request_of_each_operation_takes_bounded_processor_time(stack, contract, slowness, costliest, full):
    check_cases(stack, slowness, costliest)
    for operation, send in usual_requests(contract, costliest, TESTED_BELOW | costly_operations(costliest, full)):
        reply = check_cost(stack, slowness, operation, send)
        assert reply.status_code < 400 or operation in REFUSED, (operation, reply.text[:500])


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
    reply = check_cost(stack, slowness, "stageImportRows", send)
    assert reply.status_code == 200, reply.text
    org.cancel(job_id)


def large_rows(count, **payload):
    values = {"phone": "x" * 3980, "favourite_team": "x" * 3980}
    return rows_of([payload | {"email": email(), "attributes": values} for _ in range(count)])


def stage_large(org, job_id, rows, **options):
    for at in range(0, len(rows), 1900):
        org.api.post(f"/v1/imports/{job_id}/rows", json={"rows": rows[at:at + 1900]}, expect=200, **options)


def check_long_answer(stack, org, slowness, operation, path, next_header, **params):
    get = lambda: org.api.request("GET", path, params=params, whole=False)
    reply = check_cost(stack, slowness, operation, get)
    assert reply.status_code == 200 and next_header in reply.headers
    return reply


def test_reports_take_bounded_processor_time(stack, org, slowness):
    job_id = org.create_import()["id"]
    rows = large_rows(10_000)  # of 8 KB each: 75 MiB
    for row in [*rows[:4_250], *rows[4_250::500]]:  # as many errors as a page holds; and few, which a page looks for
        row["payload"]["country"] = "UK"
    stage_large(org, job_id, rows, params={"faults": "keep"})
    path = f"/v1/imports/{job_id}/error-report"
    first = check_long_answer(stack, org, slowness, "getImportErrorReport", path, "X-Next-After")
    assert 31 << 20 < len(first.content) <= 32 << 20
    org.cancel(job_id)
    job_id = org.create_import()["id"]
    for row in rows[:4_250]:
        if row["rowNumber"] % 500 != 1:
            del row["payload"]["country"]
    stage_large(org, job_id, rows, params={"faults": "keep"})
    few = check_long_answer(stack, org, slowness, "getImportErrorReport", f"/v1/imports/{job_id}/error-report", "X-Next-After")
    assert len(few.content) < 1 << 20
    assert 8_000 < int(few.headers["X-Next-After"]) < 9_250
    page = lambda: org.api.request("GET", f"/v1/imports/{job_id}/rows", params={"limit": 1000, "state": "invalid"}, whole=False)
    assert 1 < len(check_cost(stack, slowness, "listImportRows", page).json()["rows"]) < 20  # it examines 32 MiB
    org.cancel(job_id)


def test_exports_and_dry_runs_of_an_undo_take_bounded_processor_time(stack, org, slowness):
    job_id = org.create_import()["id"]
    stage_large(org, job_id, large_rows(12_000))
    org.commit(job_id, json={"dry_run": False})
    stack.run_once()
    org.commit(job_id)
    stack.run_once()
    assert org.job(job_id)["created_count"] == 12_000
    check_long_answer(stack, org, slowness, "exportUsers", "/v1/users/export", "X-Next-Cursor")
    check_long_answer(stack, org, slowness, "exportUsers", "/v1/users/export", "X-Next-Cursor", imported_by=job_id)
    undo = lambda: org.api.request("POST", f"/v1/imports/{job_id}/undo", json={"dry_run": True}, whole=False)
    reply = check_cost(stack, slowness, "undoImport", undo)
    assert reply.json()["undo"]["removed"] == 12_000 and reply.json()["undo"]["is_estimate"]


def test_reports_of_small_rows_and_of_texts_take_bounded_processor_time(stack, org, slowness):
    faulty = {f"unknown{number}": 1 for number in range(10)}
    names = ("external_id", "first_name", "last_name", "display_name", "locale", "country", "dob")
    long = {"email": "x" * 1020 + ",x"} | dict.fromkeys(names, "x" * 1020 + ",x")
    for payload, count, at_once in ((faulty, 90_000, 5000), (long, 5000, 1000)):
        job_id = org.create_import()["id"]
        for first in range(1, count, at_once):
            org.stage_malformed(job_id, [payload] * at_once, first)
        path = f"/v1/imports/{job_id}/error-report"
        page = check_long_answer(stack, org, slowness, "getImportErrorReport", path, "X-Next-After")
        assert 31 << 20 < len(page.content) <= 32 << 20
        org.cancel(job_id)


def values_of(keys, size):
    """Attributes of a member: a text of so many characters, each of two bytes, for each key except the first five."""
    return json.dumps({key: ["é" * (size if key not in keys[:5] else 1), "api", 1] for key in keys}, ensure_ascii=False)


def numbers_of(keys):
    return json.dumps({key: [0.5, "api", 1] for key in keys})


@pytest.mark.parametrize("smaller, count, size", [(0, 150, 2040), (1500, 150, 2040), (0, 150, 1350), (0, 10_001, 1), (0, 10_001, 0)])
def test_an_export_of_members_with_all_attributes_is_bounded(stack, new_org, slowness, smaller, count, size):
    """Members of up to 800 KiB. They come after `smaller` ones of 8 KB each, whose attributes have 12 MiB."""
    org = new_org(attributes=False)
    keys = [f"a{number}" for number in range(200)]
    for key in keys:
        org.admin().api.request("PUT", f"/v1/attributes/{key}", json={"type": "text", "enabled": True})
    add_members(stack, org, count, values_of(keys, size) if size else numbers_of(keys), first_digit="f")
    if smaller:
        add_members(stack, org, smaller, values_of(keys[5:7], size), first_digit="0")
    page = check_long_answer(stack, org, slowness, "exportUsers", "/v1/users/export", "X-Next-Cursor")
    conditions = {f"attribute.{key}": "é" for key in keys[:4]} | {f"attribute.{keys[4]}": "x", "total": "true"}
    found = lambda: org.api.request("GET", "/v1/users", params=conditions, whole=False)
    assert check_cost(stack, slowness, "listUsers", found).json()["users"] == []
    assert size <= 1 or 14 << 20 < len(page.content) <= 16 << 20


def test_html_that_the_parser_reads_slowly_is_bounded(stack, slowness, costliest):
    html = "".join(f"<b id={number}>" for number in range(14_990))
    reply = check_cost(stack, slowness, "changeArticle", lambda: costliest.article(html))
    assert reply.status_code == 422  # as text it is too long


def document_of(size):
    """Attributes of about so many bytes, in small values, which the database searches most slowly."""
    entry = '"a%05d": ["x", "api", 1]'
    return "{" + ", ".join(entry % number for number in range(size // (len(entry % 0) + 2))) + "}"


def add_members(stack, org, count, attributes, first_digit="8"):
    """Members who change now. `first_digit`: of their ids, which the order of the list follows."""
    digits = "SHA2(CONCAT(%s, seq), 256)"
    ids = f"UNHEX(CONCAT('{first_digit}', LEFT({digits}, 31)))"
    addresses = f"CONCAT('{first_digit}', LEFT({digits}, 32), '@e2e.example')"
    stack.sql(f"INSERT INTO users (id, email, created_at) SELECT {ids}, {addresses}, 1 FROM {numbers(count)}", org.id, org.id)
    stack.sql("INSERT INTO members (organization_id, user_id, id, email, attributes, created_at, updated_at) "
              f"SELECT UNHEX(REPLACE(%s, '-', '')), {ids}, {ids}, {addresses}, %s, 1, UNIX_TIMESTAMP() * 1000 FROM {numbers(count)}",
              org.id, org.id, org.id, org.id, attributes)


@pytest.mark.parametrize("members, size, status", [(10_000, 419, 200), (10_001, 400, 409), (60, 800 * 1024, 409)])
def test_a_change_of_an_attributes_type_takes_bounded_processor_time(stack, org, slowness, members, size, status):
    admin = org.admin().api
    admin.request("PUT", "/v1/attributes/size", json={"type": "text", "enabled": True})
    add_members(stack, org, members, document_of(size))
    types = cycle(("number", "text" if status == 200 else "number"))
    reply = check_cost(stack, slowness, "putAttribute", lambda: admin.request(
        "PUT", "/v1/attributes/size", json={"type": next(types), "enabled": True}, whole=False))
    assert reply.status_code == status, reply.text


# The last test, because the database is slower after so many changes.
def test_requests_to_a_full_organization_take_bounded_processor_time(stack, slowness, full):
    check_cases(stack, slowness, full)
