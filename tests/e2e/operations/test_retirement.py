"""Workers retire after their number of requests, and at a reload: those of each group are replaced by as many, and each request is
answered (server.recycle_requests in muster.conf(5))."""

import os
import signal
from collections import Counter

import pytest
from support.load import Background
from support.stack import wait_for
from support.world import email
from test_outage import all_workers, workers

SIZES = {"workers": 3, "collectors": 2, "readers": 4}
OTHER_SIZES = {"workers": 4, "collectors": 3, "readers": 2}
TURNS = 100  # the least that server.recycle_requests may be


class Requests(Background):
    """Threads that send requests for each of these groups in turn until stopped, and count the replies by group and status."""

    def __init__(self, org, *groups, threads=4):
        super().__init__(threads)
        self.org, self.user, self.groups, self.replies = org, org.create_user({"email": email()}), groups, Counter()

    def send(self, group):
        path = f"/v1/users/{self.user['id']}"
        if group == "readers":
            return self.org.api.get(path)
        if group == "collectors":
            return self.org.api.post("/v1/users", json={"email": email("retirement")})
        return self.org.api.request("PATCH", path, json={"first_name": f"Ada {self.replies.total()}"})

    def work(self, number):
        while not self.stopping.is_set():
            for group in self.groups:
                self.replies[group, self.send(group).status_code] += 1

    def served(self, group):
        return self.replies[group, 200] + self.replies[group, 201]

    def wait_for_more(self, count):
        """Waits for so many further replies of each group."""
        before = {group: self.served(group) for group in self.groups}
        wait_for(lambda: all(self.served(group) >= before[group] + count for group in self.groups), "further replies", 60)

    def assert_all_served(self):
        assert {status for _, status in self.replies} <= {200, 201}, self.replies


def lines(sizes):
    return [f"{group} = {count}" for group, count in sizes.items()]


@pytest.mark.parametrize("group", SIZES)
def test_the_workers_of_one_group_retire_after_their_requests_and_are_replaced(stack, org, group):
    with stack.configured("[server]", *lines(SIZES), f"recycle_requests = {TURNS}"):
        first = set(all_workers(stack, sum(SIZES.values())))

        def retired():
            return first - set(workers(stack))

        with Requests(org, group) as load:
            wait_for(lambda: len(retired()) == SIZES[group], f"all {group} to retire, but no other worker", 90)
            load.wait_for_more(SIZES[group] * TURNS)
            assert len(retired()) == SIZES[group]
        all_workers(stack, sum(SIZES.values()))
    load.assert_all_served()


def test_a_reload_replaces_the_workers_of_each_group_under_load(stack, org):
    with Requests(org, *SIZES) as load:
        for sizes in (SIZES, OTHER_SIZES):
            before = set(workers(stack))
            with stack.configured("[server]", *lines(sizes)):
                assert not before & set(all_workers(stack, sum(sizes.values())))
                load.wait_for_more(20)
                before = set(workers(stack))
                os.kill(stack.pid("musterd"), signal.SIGHUP)
                wait_for(lambda: not before & set(workers(stack)), "all workers to be replaced")
                load.wait_for_more(20)
    load.assert_all_served()
