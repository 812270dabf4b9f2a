"""An organization may occupy half of the workers, and the others are served meanwhile (docs/api/limits.md "Requests at the
same time")."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
from support import wire
from support.ads import Ads, path_of_url
from support.load import Background
from support.stack import wait_for
from support.world import email
from test_outage import ALL, BATCHED, all_workers, workers

LOCK_WAIT = 5  # seconds that a worker waits for a lock


class Writers(Background):
    """Threads that change one member until stopped, and record the replies."""

    def __init__(self, org, user, threads=16):
        super().__init__(threads)
        self.org, self.user, self.replies = org, user, []

    def work(self, number):
        while not self.stopping.is_set():
            self.replies.append(
                self.org.api.request("PATCH", f"/v1/users/{self.user['id']}", json={"first_name": f"Ada {number}"}))

    def statuses(self):
        return {reply.status_code for reply in self.replies}


def locked(stack, org, user, table="members", column="user_id"):
    """Holds the member's row, so that each change of the member occupies a worker."""
    return stack.locked(f"SELECT 1 FROM {table} WHERE organization_id = UNHEX(REPLACE(%s, '-', '')) "
                        f"AND {column} = UNHEX(REPLACE(%s, '-', ''))", org.id, user["id"])


class Visitors(Background):
    """Threads that redeem each of these addresses of ads once, and record the replies."""

    def __init__(self, anyone, urls, threads=16):
        super().__init__(threads)
        self.anyone, self.urls, self.replies = anyone, list(urls), []

    def work(self, number):
        while not self.stopping.is_set():
            try:
                url = self.urls.pop()
            except IndexError:
                return
            self.replies.append(self.anyone.get(path_of_url(url), allow_redirects=False))


def test_an_organization_with_costly_requests_leaves_workers_to_others(stack, org, new_org):
    other = new_org(attributes=False)
    user, another = org.create_user({"email": email()}), other.create_user({"email": email()})
    with Writers(org, user) as writers:
        with locked(stack, org, user):
            wait_for(lambda: writers.replies, "a writer to wait as long as it may", seconds=8 * LOCK_WAIT)
            for _ in range(10):
                for reply in (other.api.get("/v1/imports"), other.api.get(f"/v1/users/{another['id']}"),
                              other.api.post("/v1/users", json={"email": email()})):
                    assert reply.status_code in (200, 201), reply.text
                    assert reply.elapsed.total_seconds() < LOCK_WAIT - 1
            wait_for(lambda: 429 in writers.statuses(), "a writer to be refused", seconds=8 * LOCK_WAIT)
        served = len(writers.replies)
        wait_for(lambda: 200 in {reply.status_code for reply in writers.replies[served:]}, "a writer to be served again")
    assert writers.statuses() <= {200, 429, 503}
    refused = next(reply for reply in writers.replies if reply.status_code == 429)
    assert refused.headers["Retry-After"] == "1"
    assert refused.json()["error"]["code"] == "RATE_LIMITED"
    assert refused.json()["error"]["details"]["reason"]
    assert refused.headers["RateLimit"]  # the rate itself was not used up


@pytest.mark.parametrize("kind", ["impression_url", "click_url"])
def test_visitors_of_an_organizations_ads_leave_workers_to_others(stack, org, new_org, anyone, kind):
    other, ads = new_org(attributes=False), Ads(org)
    slot, campaign = ads.running()
    served = [ads.serve(slot)[kind] for _ in range(60)]
    anyone.get(path_of_url(served.pop()), allow_redirects=False)  # the row of the day exists
    with Visitors(anyone, served) as visitors:
        with locked(stack, org, campaign, "ad_campaign_days", "campaign_id"):
            wait_for(lambda: visitors.replies, "a visitor to wait as long as it may", seconds=8 * LOCK_WAIT)
            for _ in range(10):
                reply = other.api.get("/v1/imports", expect=200)
                assert reply.elapsed.total_seconds() < LOCK_WAIT - 1
        wait_for(lambda: not visitors.urls, "the visitors to be served", seconds=30)
    assert {reply.status_code for reply in visitors.replies} <= {200, 302, 429, 503}


def test_the_share_of_killed_workers_is_free_again(stack, org):
    user = org.create_user({"email": email()})
    before = set(all_workers(stack))
    with Writers(org, user) as writers:
        with locked(stack, org, user):
            wait_for(lambda: writers.replies, "a writer to wait as long as it may", seconds=8 * LOCK_WAIT)
            for pid in workers(stack):
                os.kill(pid, signal.SIGKILL)
            wait_for(lambda: len(set(workers(stack)) - before) == len(before), "new workers")
        served = len(writers.replies)
        wait_for(lambda: [reply.status_code for reply in writers.replies[served:]].count(200) > 20, "the writers to be served",
                 seconds=30)
    assert writers.statuses() <= {200, 429, 502, 503}


@pytest.mark.parametrize("count", [1, 2])
def test_few_workers_serve_many_requests_of_one_organization(stack, org, count):
    with stack.configured("[server]", f"workers = {count}"), ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda _: org.api.get("/v1/imports"), range(100)))
    assert {reply.status_code for reply in replies} == {200}


def test_api_workers_have_a_lower_priority_in_sessions_of_their_own(stack):
    def sessions():
        """{session: niceness} of the workers, except those that share musterd's session."""
        found = {os.getsid(pid): os.getpriority(os.PRIO_PROCESS, pid) for pid in all_workers(stack)}
        pool = stack.pid("musterd")
        assert found.pop(os.getsid(pool)) == os.getpriority(os.PRIO_PROCESS, pool)  # readers and collectors
        return found

    assert list(sessions().values()) == [5] * (ALL - BATCHED)


# ---------------------------------------------------------------------------- parallel clients

CLIENTS = 64  # of an organization that may wait in a worker


class Calm(Background):
    """Another organization that sends a request now and then, and one before the others begin."""

    def __init__(self, org):
        super().__init__(1)
        self.org = org
        self.send()

    def send(self):
        self.org.api.get("/v1/imports", expect=200)

    def work(self, number):
        while not self.stopping.is_set():
            self.send()
            self.stopping.wait(0.5)


@contextmanager
def connected(stack, sources):
    """A connection from each of these addresses. nginx has answered a request on it, and then keeps it open for a minute."""
    with ExitStack() as opened:
        connections = []
        for source in sources:
            connection = opened.enter_context(wire.connect(stack, source))
            connection.settimeout(60)  # uploads wait for almost twenty seconds
            connection.sendall(wire.request_bytes("GET", "/nowhere", close=False))
            assert wire.read_reply(connection).status == 404
            connections.append(connection)
        yield connections


def replies_one_by_one(connection, request, count):
    replies = []
    for _ in range(count):
        connection.sendall(request)
        replies.append(wire.read_reply(connection))
    return replies


def test_parallel_reads_wait_for_each_other_while_another_organization_is_active(stack, org, new_org):
    user = org.create_user({"email": email()})
    org.module_api.push(*[{"action": "viewed", "email": user["email"], "metadata": {"page": "p" * 500}}] * 50)
    page = wire.request_bytes("GET", f"/v1/users/{user['id']}/engagement/events?limit=50",
                              [("Authorization", f"Bearer {org.api.key}")], close=False)
    with stack.configured("[server]", "readers = 1"), Calm(new_org(attributes=False)), \
            connected(stack, [None] * CLIENTS) as connections, ThreadPoolExecutor(CLIENTS) as pool:
        replies = sum(pool.map(lambda connection: replies_one_by_one(connection, page, 50), connections), [])
    assert [reply.body for reply in replies if reply.status != 200] == []


# ---------------------------------------------------------------------------- uploads

MIB = 1 << 20
LONGEST_WAIT = 20  # seconds that an upload waits
UPLOADS_TOO_FAST = "uploads rows too fast"
ROWS = "/v1/imports/01a1fd04-035b-72c3-8961-619ede6ecc85/rows"


def upload(org, data, **headers):
    """Sends these bytes as the rows of a job that does not exist: (the status, its seconds, Retry-After)."""
    began = time.monotonic()
    reply = org.api.post(ROWS, data=data, headers={"Content-Type": "application/json", **headers})
    error = reply.json()["error"]
    assert reply.headers["RateLimit"]  # the rate itself was not used up
    if reply.status_code == 429:
        assert error["code"] == "RATE_LIMITED" and UPLOADS_TOO_FAST in error["details"]["reason"]
    return reply.status_code, time.monotonic() - began, int(reply.headers.get("Retry-After", 0))


def seconds_of(org, data, **headers):
    """How long an upload took that was read: it is then 400, because its rows are not JSON."""
    status, seconds, _ = upload(org, data, **headers)
    assert status == 400
    return seconds


def body(size):
    return b" " * int(size)


@pytest.fixture(params=[1])
def slow_uploads(stack, request):
    """So many MiB of uploads a second for each organization."""
    with stack.configured("[limits]", f"upload_mib = {request.param}"):
        yield


def test_uploads_wait_while_other_organizations_send_requests(slow_uploads, org, new_org):
    def seconds_without_a_limit():
        began = time.monotonic()
        calm.org.create_user({"email": email()})
        for _ in range(10):
            seconds_of(org, body(60 * 1024))  # small ones do not count
        return time.monotonic() - began

    wait = 7  # seconds until the bytes of 8 MiB are there
    with Calm(new_org(attributes=False)) as calm:
        usual = seconds_without_a_limit()
        began = time.monotonic()
        usual_upload = seconds_of(org, body(8 * MIB))  # the next one has to wait
        assert seconds_without_a_limit() < usual + wait / 2
        assert seconds_of(calm.org, body(8 * MIB)) < usual_upload + wait / 2  # it has its own bytes
        seconds_of(org, body(64 * 1024))
        assert time.monotonic() - began > wait - 1


def test_uploads_wait_in_their_order_or_are_refused_at_once(slow_uploads, org, new_org):
    with Calm(new_org(attributes=False)), ThreadPoolExecutor(5) as pool:
        replies = sorted(pool.map(lambda _: upload(org, body(8 * MIB)), range(5)))
    # They wait for 0, 7 and 15 seconds. The next one would wait for 23.
    assert [status for status, _, _ in replies] == [400, 400, 400, 429, 429]
    waits = [seconds for _, seconds, _ in replies[:3]]
    assert waits[1] > 6 and waits[2] > 14
    assert all(seconds < waits[0] + LONGEST_WAIT / 2 and LONGEST_WAIT < retry_after <= 24 for _, seconds, retry_after in replies[3:])


def test_an_upload_that_has_waited_is_not_stale(stack, slow_uploads, org, new_org):
    with stack.configured("[server]", "stale_after = 3"), Calm(new_org(attributes=False)):
        seconds_of(org, body(7 * MIB))
        assert seconds_of(org, body(64 * 1024)) > 4


@pytest.mark.parametrize("slow_uploads", [4], indirect=True)
def test_an_upload_of_unknown_length_counts_as_the_longest(slow_uploads, org, new_org):
    with Calm(new_org(attributes=False)):
        usual, began = seconds_of(org, b"no JSON"), time.monotonic()
        assert seconds_of(org, iter([b"no JSON"])) < usual + 2  # chunked; it leaves three seconds to wait
        seconds_of(org, body(64 * 1024))
        assert time.monotonic() - began > 3


def test_a_compressed_upload_counts_eight_times_its_length(slow_uploads, org, new_org):
    with Calm(new_org(attributes=False)):
        usual, began = seconds_of(org, b"no JSON"), time.monotonic()
        assert seconds_of(org, body(MIB / 2), **{"Content-Encoding": "gzip"}) < usual + 2  # it leaves three seconds to wait
        seconds_of(org, body(64 * 1024))
        assert time.monotonic() - began > 3


def reply_to_upload(connection, org, size):
    data = body(size)
    headers = [("Authorization", f"Bearer {org.api.key}"), ("Content-Type", "application/json"), ("Content-Length", len(data))]
    connection.sendall(wire.request_bytes("POST", ROWS, headers, data, close=False))
    return wire.read_reply(connection)


def test_few_uploads_of_an_organization_wait_in_a_worker(stack, slow_uploads, org, new_org):
    most, sent = 32, 48  # nginx passes 64 large bodies at the same time
    with stack.configured("[server]", "readers = 1"), Calm(new_org(attributes=False)), \
            connected(stack, [None] * sent) as connections, ThreadPoolExecutor(sent) as pool:
        seconds_of(org, body(12 * MIB))
        replies = list(pool.map(lambda connection: reply_to_upload(connection, org, 128 * 1024), connections))
    assert all(reply.values("RateLimit") for reply in replies)  # the rate itself was not used up
    refused = [reply for reply in replies if reply.status == 429]
    assert all('"RATE_LIMITED"' in reply.body.decode() and UPLOADS_TOO_FAST in reply.body.decode() for reply in refused)
    assert len(refused) == sent - most
    # The first of them would wait for 11 seconds. Without the limit, the last of all would wait for six seconds more, which is
    # less than LONGEST_WAIT.
    assert all(1 <= int(reply.values("Retry-After")[0]) <= 20 for reply in refused)


def test_uploads_of_clients_that_have_gone_leave_their_places(stack, slow_uploads, org, new_org):
    def given_up():
        return stack.log("nginx.access").count(f"path=\"{ROWS}\" protocol=HTTP/1.1 status=499")

    most, before = 32, given_up()
    head = [("Authorization", f"Bearer {org.api.key}"), ("Content-Type", "application/json"), ("Content-Length", 64 * 1024)]
    with stack.configured("[server]", "readers = 1"), Calm(new_org(attributes=False)):
        seconds_of(org, body(6 * MIB))  # it leaves five seconds to wait
        with connected(stack, [None] * most) as connections:
            for connection in connections:
                connection.sendall(wire.request_bytes("POST", ROWS, head, close=False))
        wait_for(lambda: given_up() == before + most, "nginx to see that the clients have gone")
        wait_for(lambda: upload(org, body(64 * 1024))[0] == 400, "a place", seconds=2)


def test_uploads_of_all_organizations_leave_half_of_the_places_of_a_worker(stack, slow_uploads, new_org):
    most, each = 128, 30
    orgs = [new_org(attributes=False) for _ in range(5)]
    senders = each * orgs
    sources = each * [f"127.0.0.{10 + number}" for number in range(len(orgs))]  # nginx allows each one 100 requests at the same time
    with stack.configured("[server]", "readers = 1"), Calm(new_org(attributes=False)), \
            connected(stack, sources) as connections, ThreadPoolExecutor(len(senders)) as pool:
        list(pool.map(lambda org: seconds_of(org, body(16 * MIB)), orgs))  # it leaves fifteen seconds to wait
        replies = list(pool.map(lambda connection, org: reply_to_upload(connection, org, 64 * 1024), connections, senders))
    assert {reply.status for reply in replies} == {400, 429}
    found_no_place = [reply for reply in replies if UPLOADS_TOO_FAST in reply.body.decode()]
    # The turns of the others come at the same time. If the workers are slow, nginx refuses some bodies then.
    assert len(replies) - len(found_no_place) == most


def test_uploads_of_an_organization_alone_do_not_wait(slow_uploads, org):
    def is_alone():
        return sum(seconds_of(org, body(4 * MIB)) for _ in range(4)) < 5

    wait_for(is_alone, "the other organizations to be inactive", seconds=60)
