"""Clients that read or send slowly: they hold no worker, and nginx's memory and disk stay within the bounds of docs/scale.md
"Slow clients"."""

import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from support import wire
from support.stack import wait_for
from support.world import email, rows_of

WORKERS = 8
MIB = 1 << 20
STAGED = 16 * MIB - 100_000  # bytes of a large body
ROWS = f"/v1/imports/{'01a1fd04-035b-72c3-8961-619ede6ecc85'}/rows"
EVENTS = MIB  # bytes of the largest body that nginx takes without a check of its credential
FOR_STRANGER = 300 * 1024  # bytes of nginx's memory
FOR_EVENTS = (1088 + 64) * 1024  # the same, with such a body
FOR_FILE = (272 + 64) * 1024  # the same, with a body that is in a file
FOR_ANSWER = 33 * MIB  # bytes on nginx's disk
IN_BUFFERS = 12 * MIB  # bytes of an answer that the kernel keeps at most for a connection on one host
ANSWERS = 16  # long answers of all organizations at the same time
ACCEPTED = 8  # large bodies of an organization at the same time
BEGINNING = 24  # senders that begin at the same time


def key_of(org):
    return ("Authorization", f"Bearer {org.key}")


def nginx_processes(stack):
    parent = stack.pid("nginx")
    return [parent, *Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def nginx_memory(stack):
    """The bytes of nginx's processes; shared pages are counted once."""
    total = 0
    for pid in nginx_processes(stack):
        line = next(line for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines() if line.startswith("Pss:"))
        total += int(line.split()[1]) * 1024
    return total


def fresh_memory(stack):
    """The memory of nginx with new workers. An allocator keeps the memory of large bodies, and later bodies use it again."""
    stack.reload("nginx")
    return nginx_memory(stack)


def files_of_nginx(stack, kind="fastcgi"):
    """The bytes of its temporary files: of replies, or of bodies. They are open files without a name."""
    folder, total = f"{stack.folder}/tmp/{kind}/", 0
    for pid in nginx_processes(stack):
        for opened in Path(f"/proc/{pid}/fd").iterdir():
            try:
                if os.readlink(opened).startswith(folder):
                    total += opened.stat().st_size
            except FileNotFoundError:
                pass
    return total


def answers_quickly(org):
    """The API answers an organization that sends and reads quickly. Returns a new member."""
    user = org.create_user({"email": email()})
    assert org.user(user["id"])["id"] == user["id"]
    for _ in range(2 * WORKERS):
        org.api.get("/v1/imports", expect=200)
    return user


def answers_others(org):
    """The API answers such an organization, also with a long answer."""
    began = time.monotonic()
    user = answers_quickly(org)
    assert user["email"] in org.api.get("/v1/users/export", expect=200).text
    job_id = org.staged([{"email": email()}])
    org.report(job_id)
    org.cancel(job_id)
    assert time.monotonic() - began < 15


# ---------------------------------------------------------------------------- readers


def with_report(org):
    """The path of an error report of some 10 MB."""
    payload = {"attributes": {"no_such": "x" * 2000}}
    job = org.validated([{"email": email()} | payload for _ in range(5000)])
    assert job["invalid_rows"] == 5000
    return f"/v1/imports/{job['id']}/error-report"


def with_kept_errors(org, count=1250):
    """The path of an error report of some 10 MB, or of `count` rows of 8 KB, of a job that is not validated."""
    job_id = org.create_import()["id"]
    values = {"phone": "x" * 3980, "favourite_team": "x" * 3980}
    rows = rows_of([{"email": email(), "country": "UK", "attributes": values} for _ in range(count)])
    for at in range(0, count, 1250):
        body = {"rows": rows[at:at + 1250]}
        org.api.post(f"/v1/imports/{job_id}/rows", json=body, params={"faults": "keep"}, expect=200)
    return f"/v1/imports/{job_id}/error-report"


def with_members(org):
    """The path of an export of some 10 MB."""
    org.imported([{"email": email(), "attributes": {"phone": "x" * 4000}} for _ in range(2500)])
    return "/v1/users/export"


def check_refusal(reply):
    """As many long answers as allowed are sent at the same time."""
    assert (reply.status, reply.values("Retry-After")) == (429, ["1"])
    error = json.loads(reply.body)["error"]
    assert error["code"] == "RATE_LIMITED" and "at the same time" in error["details"]["reason"]


def begun(stack, opened, request):
    """A connection with the beginning of a reply that is not 429: a quarter of the workers build long answers."""
    def ask():
        connection = opened.enter_context(wire.connect(stack))
        connection.sendall(request)
        reply = wire.RawReply(connection.recv(1024))
        return reply.status != 429 and (connection, reply)

    return wait_for(ask, "a long answer", every=0.2)


@pytest.fixture
def patient_nginx(stack):
    """nginx does not disconnect the readers during the test: when all buffers are full, it writes less than once in 30 s."""
    snippet = stack.folder / "nginx/snippets/muster-server.conf"
    shipped = snippet.read_text()
    patient = shipped.replace("send_timeout 30s;", "send_timeout 600s;")
    assert patient != shipped
    try:
        snippet.write_text(patient)
        stack.reload("nginx")
        yield
    finally:
        snippet.write_text(shipped)
        stack.reload("nginx")


@contextmanager
def slow_readers(stack, requests):
    """Sends the requests, and reads the replies at some KiB a second. Gives the beginning of each reply."""
    with ExitStack() as opened:
        readers, end = [], threading.Event()

        def read():
            while not end.wait(0.2):
                for connection, _ in list(readers):
                    connection.recv(1024)

        reader = threading.Thread(target=read)
        reader.start()
        try:
            for request in requests:
                readers.append(begun(stack, opened, request))
            yield [reply for _, reply in readers]
        finally:
            end.set()
            reader.join()


@pytest.mark.usefixtures("patient_nginx")
@pytest.mark.parametrize("prepare", [with_report, with_members])
def test_slow_readers_hold_no_worker_and_one_answer_for_each_organization(stack, new_org, org, prepare):
    readers = [new_org() for _ in range(4)]
    paths = [prepare(each) for each in readers]
    sizes = [len(each.api.get(path, expect=200).content) for each, path in zip(readers, paths)]
    assert all(9 * MIB < size < FOR_ANSWER for size in sizes)
    requests = [wire.request_bytes("GET", path, [key_of(each)]) for each, path in zip(readers, paths)]
    with slow_readers(stack, requests) as replies:
        assert [reply.values("Content-Length") for reply in replies] == [[str(size)] for size in sizes]
        # With these, four readers for each worker.
        with ThreadPoolExecutor(WORKERS) as pool:
            others = list(pool.map(lambda request: wire.exchange(stack, request), requests * (WORKERS - 1)))
        for reply in others:
            check_refusal(reply)
        answers_others(org)
        assert MIB < files_of_nginx(stack) <= sum(sizes) < ANSWERS * FOR_ANSWER
    wait_for(lambda: files_of_nginx(stack) == 0, "the end of nginx's temporary files")
    wait_for(lambda: readers[0].api.get(paths[0]).status_code == 200, "the next long answer")


@pytest.mark.usefixtures("patient_nginx")
def test_the_longest_answer_fits_in_a_file_of_nginx(stack, org):
    """Otherwise the worker would wait for its reader."""
    request = wire.request_bytes("GET", with_kept_errors(org, 5000), [key_of(org)])
    with slow_readers(stack, [request]) as (reply,):
        size = int(reply.values("Content-Length")[0])
        assert 31 * MIB < size <= 32 * MIB
        # The rest is in buffers of the connection.
        wait_for(lambda: files_of_nginx(stack) > size - IN_BUFFERS, "the file of the answer")
        assert files_of_nginx(stack) < FOR_ANSWER
    wait_for(lambda: files_of_nginx(stack) == 0, "the end of nginx's temporary files")


@pytest.mark.usefixtures("patient_nginx")
def test_sixteen_slow_readers_hold_all_long_answers_and_no_worker(stack, new_org, org):
    readers = [new_org() for _ in range(ANSWERS)]
    requests = [wire.request_bytes("GET", with_kept_errors(each), [key_of(each)]) for each in readers]
    waiting = wire.request_bytes("GET", with_kept_errors(org), [key_of(org)])
    with slow_readers(stack, requests) as replies:
        sizes = [int(reply.values("Content-Length")[0]) for reply in replies]
        assert all(9 * MIB < size < FOR_ANSWER for size in sizes)
        check_refusal(wire.exchange(stack, waiting))
        answers_quickly(org)
        assert MIB < files_of_nginx(stack) <= sum(sizes)
    wait_for(lambda: wire.exchange(stack, waiting).status == 200, "the next long answer")


# ---------------------------------------------------------------------------- senders


def declared(path, headers=(), length=STAGED):
    return wire.request_bytes("POST", path, [("Content-Type", "application/json"), ("Content-Length", length), *headers])


def begin_sending(stack, head, begin):
    """A new connection that has sent the head and the beginning of the body. nginx waits only some seconds for the head."""
    connection = wire.connect(stack)
    try:
        connection.sendall(head)
        for _ in range(begin // 65536):
            connection.sendall(b" " * 65536)
    except OSError:
        pass  # closed after its reply
    return connection


@contextmanager
def slow_senders(stack, count, head, begin):
    """Connections that have sent the beginning of a large body, and send on at 10 bytes a second. Gives them, and a function that
    ends the sending: a connection with TLS must not be read by one thread while another one writes."""
    with ExitStack() as opened:
        connections, end = [], threading.Event()

        def send():
            while not end.wait(0.1):
                for connection in list(connections):
                    try:
                        connection.send(b" ")
                    except OSError:
                        pass

        sender = threading.Thread(target=send)
        sender.start()

        def stop():
            end.set()
            sender.join()

        try:
            with ThreadPoolExecutor(BEGINNING) as pool:
                for connection in pool.map(lambda _: begin_sending(stack, head, begin), range(count)):
                    connections.append(opened.enter_context(connection))
            yield connections, stop
        finally:
            stop()


def test_senders_without_a_credential_fill_no_memory(stack, org):
    count = 200
    before = fresh_memory(stack)
    with slow_senders(stack, count, declared(ROWS), MIB) as (connections, stop):
        answers_others(org)
        grown = nginx_memory(stack) - before
        assert grown < count * FOR_STRANGER, f"{grown >> 20} MiB"
        stop()
        for connection in connections[:20]:
            reply = wire.read_reply(connection)
            assert reply.status == 401
            assert json.loads(reply.body)["error"]["details"]["reason"] == "MISSING"


@pytest.mark.parametrize("path", ["/v1/ingest", "/v1/track"])
def test_the_largest_bodies_of_strangers_take_bounded_memory(stack, org, path):
    count = 200
    before = fresh_memory(stack)
    with slow_senders(stack, count, declared(path, length=EVENTS), EVENTS - 65536):
        answers_others(org)
        grown = nginx_memory(stack) - before
        assert grown > count * EVENTS // 2  # nginx holds the bodies
        assert grown < count * FOR_EVENTS, f"{grown >> 20} MiB"


def test_an_organization_has_a_share_of_the_large_bodies(stack, new_org, org):
    sender, count = new_org(), BEGINNING
    before = fresh_memory(stack)
    with slow_senders(stack, count, declared(ROWS, [key_of(sender)]), STAGED - 65536) as (connections, stop):
        wait_for(lambda: files_of_nginx(stack, "body") > ACCEPTED * 14 * MIB, "the accepted bodies on nginx's disk")
        answers_others(org)
        assert files_of_nginx(stack, "body") <= ACCEPTED * 16 * MIB
        assert nginx_memory(stack) - before < ACCEPTED * FOR_FILE + count * FOR_STRANGER
        stop()
        refused = []
        for connection in connections:
            connection.settimeout(0.5)
            try:
                refused.append(wire.read_reply(connection))
            except TimeoutError:
                pass
        assert len(refused) == count - ACCEPTED
        assert {reply.status for reply in refused} == {429}
    body = {"rows": rows_of([{"email": email()}])}
    wait_for(lambda: sender.api.post(ROWS, json=body).status_code == 404, "the end of the large bodies")
    wait_for(lambda: files_of_nginx(stack, "body") == 0, "the end of nginx's temporary files")


# ---------------------------------------------------------------------------- refusals before the body


def refusal(stack, method, path, headers):
    reply = wire.exchange(stack, wire.request_bytes(method, path, [("Content-Length", "0"), *headers]))
    kept = [(name, value) for name, value in reply.headers if name not in ("X-Request-Id", "Date", "RateLimit")]
    return reply.status, reply.body, sorted(kept)


@pytest.mark.parametrize("token", [None, "x", "mk_unknown", "tracking", "viewer", "unverified"])
def test_a_refusal_before_the_body_is_the_same_reply_as_elsewhere(stack, org, token):
    known = {"tracking": lambda: org.page_api.token, "viewer": lambda: org.viewer().api.key,
             "unverified": lambda: org.new_admin().unverified().key}
    credential = known[token]() if token in known else token
    headers = [("Authorization", f"Bearer {credential}")] if credential else []
    early = refusal(stack, "POST", ROWS, headers)
    assert early == refusal(stack, "POST", "/v1/imports", headers)
    assert early[0] == (403 if token in ("tracking", "viewer") else 401)
    if token != "viewer":
        assert refusal(stack, "GET", "/v1/users/export", headers) == refusal(stack, "GET", "/v1/imports", headers)


def test_other_refusals_before_the_body_keep_their_status(stack, org):
    assert refusal(stack, "POST", "/v1/imports/x/rows", [key_of(org)])[0] == 404
    status, body, headers = refusal(stack, "PUT", ROWS, [key_of(org)])
    assert (status, json.loads(body)["error"]["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert [value for name, value in headers if name == "Allow"] == ["GET, HEAD, POST"]
    assert refusal(stack, "POST", ROWS, [key_of(org), ("X-Expect-Organization", "x")])[0] == 400
    other = ("X-Expect-Organization", "01a1fd04-035b-72c3-8961-619ede6ecc85")
    assert refusal(stack, "POST", ROWS, [key_of(org), other])[0] == 409


def test_a_request_with_a_large_body_counts_once(stack, org):
    issued = org.admin().api.post(
        "/v1/api-keys", json={"name": "slow", "rate_limit_per_second": 1, "burst": 20}, expect=201).json()
    stack.keys_issued.append(issued["key"])
    body = json.dumps({"rows": []})
    headers = [("Authorization", f"Bearer {issued['key']}"), ("Content-Type", "application/json")]

    def left(method, path, text, more=()):
        request = wire.request_bytes(method, path, [*headers, *more, ("Content-Length", len(text))], text.encode())
        reply = wire.exchange(stack, request)
        (field,) = reply.values("RateLimit")
        return reply.status, int(field.split(";")[1].removeprefix("r="))

    began = time.monotonic()
    first = left("GET", "/v1/imports", "")[1]
    requests = [(404, "POST", ROWS, body), (400, "POST", ROWS, body, [("X-Expect-Organization", "x")]),
                (200, "GET", "/v1/users/export", "")]
    for spent, (expected, *request) in enumerate(requests, 1):
        status, remaining = left(*request)
        assert status == expected
        assert first - spent <= remaining <= first - spent + int(time.monotonic() - began)


def test_a_head_without_its_body_counts(stack, org):
    issued = org.admin().api.post(
        "/v1/api-keys", json={"name": "heads", "rate_limit_per_second": 1, "burst": 20}, expect=201).json()
    stack.keys_issued.append(issued["key"])
    key = ("Authorization", f"Bearer {issued['key']}")

    def left():
        (field,) = wire.exchange(stack, wire.request_bytes("GET", "/v1/imports", [key])).values("RateLimit")
        return int(field.split(";")[1].removeprefix("r="))

    began = time.monotonic()
    first, heads = left(), 5
    with ExitStack() as opened:
        for _ in range(heads):
            connection = opened.enter_context(wire.connect(stack))
            connection.sendall(declared(ROWS, [key, ("Expect", "100-continue")]))
            assert connection.recv(1024).startswith(b"HTTP/1.1 100 ")  # after the check
    assert first - 1 - heads <= left() <= first - 1 - heads + int(time.monotonic() - began)


def test_a_check_is_neither_logged_nor_counted_as_a_request(stack, org):
    body = {"rows": rows_of([{"email": email()}])}
    job_id = org.create_import()["id"]
    request_id = org.api.post(f"/v1/imports/{job_id}/rows", json=body, expect=200).headers["X-Request-Id"]

    def lines():
        return [line for line in stack.log("musterd").splitlines() if f"request_id={request_id}" in line]

    wait_for(lines, "the log line")
    assert len(lines()) == 1 and "status=200" in lines()[0]
    org.cancel(job_id)
