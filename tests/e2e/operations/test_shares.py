"""An organization may occupy half of the workers, and the others are served meanwhile (docs/api/limits.md "Requests at the
same time")."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from support.ads import Ads, path_of_url
from support.load import Background
from support.stack import wait_for
from support.world import email
from test_outage import all_workers, workers

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


@contextmanager
def locked(stack, org, user, table="members", column="user_id"):
    """Holds the member's row, so that each change of the member occupies a worker."""
    holder = stack.connect(autocommit=False)
    try:
        with holder.cursor() as cursor:
            cursor.execute(f"SELECT 1 FROM {table} WHERE organization_id = UNHEX(REPLACE(%s, '-', '')) "
                           f"AND {column} = UNHEX(REPLACE(%s, '-', '')) FOR UPDATE", (org.id, user["id"]))
            assert cursor.fetchall()
        yield
    finally:
        holder.rollback()
        holder.close()


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


# ---------------------------------------------------------------------------- uploads

MIB = 1 << 20
LONGEST_BODY = 16 * MIB - 1
LONGEST_WAIT = 5  # seconds that an upload waits
ROWS = "/v1/imports/01a1fd04-035b-72c3-8961-619ede6ecc85/rows"


class Calm(Background):
    """Another organization that sends a request now and then."""

    def __init__(self, org):
        super().__init__(1)
        self.org = org

    def work(self, number):
        while not self.stopping.is_set():
            self.org.api.get("/v1/imports", expect=200)
            self.stopping.wait(0.5)


def upload(org, size, **headers):
    """Sends a staging call of so many bytes to a job that does not exist: (the reply, its seconds)."""
    began = time.monotonic()
    reply = org.api.post(ROWS, data=b" " * size, headers={"Content-Type": "application/json", **headers})
    return reply, time.monotonic() - began


@pytest.fixture
def slow_uploads(stack):
    """One MiB of uploads a second for each organization."""
    with stack.configured("[limits]", "upload_mib = 1"):
        yield


def test_uploads_wait_while_other_organizations_send_requests(slow_uploads, org, new_org):
    with Calm(new_org(attributes=False)) as calm:
        wait_for(lambda: upload(org, 4 * MIB)[1] > 2, "an upload to wait")
        reply, seconds = upload(org, 2 * MIB)
        assert reply.status_code == 400, reply.text  # spaces are not JSON
        assert 2 < seconds < LONGEST_WAIT
        began = time.monotonic()
        calm.org.create_user({"email": email()})
        assert upload(calm.org, 4 * MIB)[0].status_code == 400  # it has its own bytes
        assert [upload(org, 60 * 1024)[0].status_code for _ in range(20)] == [400] * 20  # small ones do not count
        assert time.monotonic() - began < 2


def test_an_upload_that_would_wait_too_long_is_refused(slow_uploads, org, new_org):
    with Calm(new_org(attributes=False)):
        wait_for(lambda: upload(org, LONGEST_BODY)[0].status_code == 429, "a refusal")
        refused = upload(org, LONGEST_BODY)[0]  # the one before the refusal costs 15 seconds
        error = refused.json()["error"]
        assert error["code"] == "RATE_LIMITED" and "uploads rows too fast" in error["details"]["reason"]
        time_left = int(refused.headers["Retry-After"])
        assert LONGEST_WAIT < time_left <= 16
        assert refused.headers["RateLimit"]  # the rate itself was not used up
        wait_for(lambda: upload(org, 64 * 1024)[0].status_code == 400, "the next upload", seconds=time_left + LONGEST_WAIT)


def test_a_compressed_upload_counts_eight_times_its_length(slow_uploads, org, new_org):
    with Calm(new_org(attributes=False)):
        wait_for(lambda: upload(org, MIB // 2, **{"Content-Encoding": "gzip"})[1] > 2, "an upload to wait")


def test_few_uploads_of_an_organization_wait_in_a_worker(slow_uploads, org, new_org):
    readers, most = 2, 8
    with Calm(new_org(attributes=False)), ThreadPoolExecutor(40) as pool:
        wait_for(lambda: upload(org, 4 * MIB)[1] > 2, "an upload to wait")
        replies = list(pool.map(lambda _: upload(org, 3 * MIB), range(40)))
    at_once = [reply for reply, seconds in replies if reply.status_code == 429 and seconds < LONGEST_WAIT - 1]
    assert len(at_once) >= 40 - readers * most - LONGEST_WAIT
    assert all(int(reply.headers["Retry-After"]) >= 1 for reply in at_once)


def test_uploads_of_an_organization_alone_do_not_wait(slow_uploads, org):
    def is_alone():
        return all(upload(org, 4 * MIB)[1] < 0.8 for _ in range(4))

    wait_for(is_alone, "the other organizations to be inactive", seconds=60)
