"""An event acknowledged with 202 is stored exactly once, whichever program is killed (acknowledged only after the
commit)."""

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import requests
from support.client import SHOP
from support.load import Background
from support.stack import wait_for
from test_ingest import stored
from test_outage import workers

CONNECTIONS = 32
HEADERS = {"Origin": SHOP, "Content-Type": "text/plain"}


class Pages(Background):
    """Threads that track events with their own ids until stopped; acknowledged ids are recorded."""

    def __init__(self, org, threads=8):
        super().__init__(threads)
        self.org = org
        self.url = f"{org.stack.base_url}/v1/track?key={org.page_api.token}"
        self.acknowledged, self.refused, self.unknown = [], [], []

    def work(self, number):
        with requests.Session() as session:
            session.trust_env, session.verify = False, str(self.org.stack.ca_file)
            sent = 0
            while not self.stopping.is_set():
                sent += 1
                self._send(session, f"{number}-{sent}")

    def _send(self, session, name):
        body = json.dumps({"action": "seen", "anonymous_id": "v", "client_event_id": name})
        try:
            reply = session.post(self.url, data=body, headers=HEADERS, timeout=60)
        except requests.RequestException:
            self.unknown.append(name)
            return
        (self.acknowledged if reply.status_code == 202 else self.refused).append(name)
        if reply.status_code != 202:
            assert reply.status_code in (502, 503) and "error" in reply.json(), reply.text

    def wait_for_requests(self, count=200):
        goal = len(self.acknowledged) + count
        wait_for(lambda: len(self.acknowledged) >= goal, "further tracked events", 60)


def expect_nothing_lost(pages):
    names = [name for (name,) in stored(pages.org, "client_event_id")]
    assert len(names) == len(set(names))
    missing = set(pages.acknowledged) - set(names)
    assert not missing, f"{len(missing)} acknowledged events are lost"
    # Unacknowledged events may be stored or not, but no others are.
    assert set(names) <= {*pages.acknowledged, *pages.refused, *pages.unknown}


def test_a_killed_database_loses_no_acknowledged_event(stack, org):
    with Pages(org) as pages:
        for _ in range(3):
            pages.wait_for_requests()
            with stack.without("mariadbd", verb="kill"):
                pass
        pages.wait_for_requests()
    assert pages.refused, "the database was never unavailable"
    expect_nothing_lost(pages)


def test_killed_collectors_lose_no_acknowledged_event(stack, org):
    with Pages(org) as pages:
        for _ in range(5):
            pages.wait_for_requests()
            for pid in workers(stack):
                os.kill(pid, signal.SIGKILL)
        pages.wait_for_requests()
    expect_nothing_lost(pages)


def test_a_restart_and_a_reload_fail_no_event(stack, org):
    with Pages(org) as pages:
        pages.wait_for_requests()
        stack.reload("musterd")
        pages.wait_for_requests()
    assert not pages.refused and not pages.unknown
    expect_nothing_lost(pages)


def test_a_hundred_thousand_events_over_32_connections_are_stored_once_each(org):
    calls, events_a_call = 2000, 50
    url = f"{org.stack.base_url}/v1/track?key={org.page_api.token}"

    def send(part):
        with requests.Session() as session:
            session.trust_env, session.verify = False, str(org.stack.ca_file)
            for call in range(part, calls, CONNECTIONS):
                body = json.dumps({"events": [{"action": "seen", "anonymous_id": "v", "client_event_id": f"{call}-{event}"}
                                              for event in range(events_a_call)]})
                # Every tenth call is sent again, as by a page that did not receive the reply.
                for _ in range(2 if call % 10 == 0 else 1):
                    reply = session.post(url, data=body, headers=HEADERS, timeout=60)
                    assert reply.status_code == 202, reply.text

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(send, range(CONNECTIONS)))
    [(count, different)] = org.stack.sql(
        "SELECT COUNT(*), COUNT(DISTINCT client_event_id) FROM engagement_events WHERE organization_id = "
        "UNHEX(REPLACE(%s, '-', ''))", org.id)
    assert count == different == calls * events_a_call
