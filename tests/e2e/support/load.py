"""Requests that continue while the service is disturbed."""

import threading
import time
from itertools import pairwise

import requests
from support.stack import wait_for
from support.world import email


class Background:
    """Threads that run `work(number)`, which returns when `stopping` is set, until the end of the with block."""

    def __init__(self, threads):
        self.stopping = threading.Event()
        self._threads = [threading.Thread(target=self.work, args=(number,)) for number in range(threads)]

    def work(self, number):
        raise NotImplementedError

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self._threads:
            thread.join(90)
            assert not thread.is_alive()


class Load(Background):
    """Threads that create and read users until stopped; every reply and every failure is recorded."""

    def __init__(self, org, threads=4):
        super().__init__(threads)
        self.org = org
        self.statuses, self.failures, self.created = [], [], []
        self.moments = []  # when each user was created, of time.monotonic()

    def work(self, number):
        while not self.stopping.is_set():
            address = email("load")
            try:
                reply = self.org.api.post("/v1/users", json={"email": address})
                self.statuses.append(reply.status_code)
                if reply.status_code == 201:
                    self.moments.append(time.monotonic())
                    self.created.append((address, reply.json()["id"]))
                    got = self.org.api.get(f"/v1/users/{reply.json()['id']}")
                    self.statuses.append(got.status_code)
            except (requests.RequestException, AssertionError, ValueError, KeyError) as error:
                self.failures.append(repr(error))

    def wait_for_requests(self, count=30):
        """Waits until that many more requests were answered."""
        goal = len(self.statuses) + count
        wait_for(lambda: len(self.statuses) >= goal or self.failures, "the load to continue")

    def longest_pause(self, since):
        """The longest time without a successful write after that moment of time.monotonic(), until one that began after this
        call."""
        goal = len(self.created) + len(self._threads) + 1
        wait_for(lambda: len(self.created) >= goal, "writes to continue", 60)
        return max(later - earlier for earlier, later in pairwise([since, *(one for one in sorted(self.moments) if one > since)]))


class Undisturbed(Background):
    """One thread that creates a user after the other in an organization of an installation that nothing disturbs. It measures how
    long a write takes on this machine meanwhile."""

    def __init__(self, org):
        super().__init__(1)
        self.org, self._seconds = org, []

    def work(self, number):
        while not self.stopping.wait(0.1):
            began = time.monotonic()
            self.org.api.post("/v1/users", json={"email": email("undisturbed")}, expect=201)
            self._seconds.append(time.monotonic() - began)

    def slowest(self):
        """The seconds of the slowest write until now."""
        return max(self._seconds)
