"""Peers of musterd's sockets that are not nginx: they hold no worker, and end none."""

import re
import socket
import struct
import time
from contextlib import ExitStack, contextmanager

import pytest
from support.stack import wait_for
from support.world import email
from test_outage import SOCKETS, all_workers, workers

SERVED_WITHIN = 5  # seconds of requests next to peers that hold no worker
CLOSED_AFTER = 10 + 1  # seconds without a byte of a peer, and until the next check


def record(kind, content=b"", request_id=1):
    return struct.pack(">BBHHxx", 1, kind, request_id, len(content)) + content


BEGIN = record(1, bytes([0, 1, 0, 0, 0, 0, 0, 0]))
METHOD = b"\x0e\x04REQUEST_METHODPOST"
PEERS = {
    "silent": b"",
    "half a header": BEGIN[:5],
    "half the parameters": BEGIN + record(4, METHOD)[:12],
    "without the end of the parameters": BEGIN + record(4, METHOD),
    "HTTP": b"GET / HTTP/1.1\r\n\r\n",
    "lengths whose sum is negative": BEGIN + record(4, b"\xff" * 8 + b"ab") + record(4),
    "lengths beyond the record": BEGIN + record(4, b"\x80\x7f\xff\xff\x01ab") + record(4),
}


@pytest.fixture
def paths(stack):
    """The paths of the sockets."""
    settings = dict(re.findall(r"^(\w+) *= *(.*)$", (stack.folder / "muster.conf").read_text(), re.MULTILINE))
    return [settings[name] for name in SOCKETS]


@contextmanager
def connected(path, data):
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(60)
        peer.connect(path)
        peer.sendall(data)
        yield peer


# The description is larger than a socket's buffer.
UNREAD = BEGIN + record(4, b"\x0e\x03REQUEST_METHODGET" + b"\x0b\x15REQUEST_URI/openapi/partner.json") + record(4) + record(5)


def seconds_of_requests(org):
    """Sends a request to each group of workers; returns how long these took."""
    began = time.monotonic()
    user = org.create_user({"email": email()})
    assert org.user(user["id"])["id"] == user["id"]
    org.api.get("/v1/imports", expect=200)
    return time.monotonic() - began


def free_within(org):
    """Seconds after which no peer holds a worker, on a machine as slow as this one is now. If the workers waited for one peer
    after the other, the last of ten would be closed after fifty."""
    return min(45, CLOSED_AFTER + 4 + 50 * seconds_of_requests(org))


def is_closed(peer):
    try:
        return peer.recv(1) == b""
    except ConnectionResetError:
        return True


def read_to_end(peer):
    """Reads until the worker closes the connection. It may do so before it has read all that was sent."""
    try:
        while peer.recv(65_536):
            pass
    except ConnectionResetError:
        pass


def test_wrong_peers_hold_no_worker_and_are_closed(stack, org, paths):
    before, longest = sorted(all_workers(stack)), free_within(org)
    many = 10  # more than the workers of any group
    with ExitStack() as peers:
        connections = [(path, name, peers.enter_context(connected(path, data)))
                       for path in paths for name, data in PEERS.items() for _ in range(many)]
        began = time.monotonic()
        assert seconds_of_requests(org) < SERVED_WITHIN
        for path, name, peer in connections:
            assert is_closed(peer), (path, name)
        assert time.monotonic() - began < longest
    assert sorted(workers(stack)) == before  # none has ended


def test_a_record_of_another_type_in_a_body_ends_no_worker(stack, org, paths):
    before = sorted(all_workers(stack))
    head = BEGIN + record(4, METHOD + b"\x0e\x02CONTENT_LENGTH99") + record(4) + record(5, b"{")
    get_values = [b"\x0f\x00FCGI_MPXS_CONNS" * 60, b"\xff" * 8 + b"ab", b"\x80\x7f\xff\xff\x01ab"]
    others = [record(9, content, request_id=0) for content in get_values] + [record(2), record(1, BEGIN[8:]), record(99, b"x" * 99)]
    for path in paths:
        for other in others:
            with connected(path, head + other + record(5)) as peer:
                read_to_end(peer)
    assert org.api.get("/v1/imports").status_code == 200
    assert sorted(workers(stack)) == before


def test_peers_that_read_no_reply_free_the_workers(stack, org, paths):
    before, longest = sorted(all_workers(stack)), free_within(org)
    with ExitStack() as peers:
        for path in paths:
            for _ in range(10):
                peers.enter_context(connected(path, UNREAD))
        assert seconds_of_requests(org) < longest
    assert sorted(workers(stack)) == before


def test_a_request_in_pieces_is_answered(paths):
    head = BEGIN + record(4, METHOD + b"\x0b\x08REQUEST_URI/healthz") + record(4) + record(5)
    for path in paths:
        with connected(path, head[:7]) as peer:
            for place in range(7, len(head), 7):
                peer.sendall(head[place:place + 7])
            reply = b""
            while piece := peer.recv(65536):
                reply += piece
        assert b"Status: 405" in reply  # POST /healthz


def test_a_body_that_stops_frees_its_worker(org, paths):
    body = (METHOD + b"\x0b\x09REQUEST_URI/v1/track" + b"\x0e\x02CONTENT_LENGTH99"
            + b"\x0c\x10CONTENT_TYPEapplication/json")
    longest = free_within(org)
    with ExitStack() as peers:
        for path in 10 * paths:  # more than the workers of any group
            peers.enter_context(connected(path, BEGIN + record(4, body) + record(4) + record(5, b"{")))
        began = time.monotonic()
        wait_for(lambda: org.api.post("/v1/users", json={"email": email()}).status_code == 201, "a reply", 60)
        wait_for(lambda: org.api.get("/v1/imports").status_code == 200, "a reply of an API worker", 60)
        assert time.monotonic() - began < longest
