"""The logs of nginx: what a line has, and which contents of a request no log may hold (docs/operations/nginx.md)."""

import http.client
import os
import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager

import pytest
from support import wire
from support.edge import Edge
from support.stack import ROOT, wait_for


def test_the_access_log_names_requests_and_hides_their_contents(stack, org):
    secret = "do-not-log-me"
    reply = org.api.get(f"/v1/imports?cursor={secret}")
    request_id = reply.headers["X-Request-Id"]
    line = wait_for(
        lambda: [line for line in stack.log("nginx.access").splitlines() if request_id in line], "the access log")[0]
    assert "status=422" in line and 'path="/v1/imports"' in line
    assert secret not in stack.log("nginx.access") and org.key not in stack.log("nginx.access")


def logged(stack, method, target, agent):
    """The line of the access log for a request with this User-Agent."""
    headers = [] if agent is None else [("User-Agent", agent)]
    (request_id,) = wire.exchange(stack, wire.request_bytes(method, target, headers)).values("X-Request-Id")
    mark = f" request_id={request_id} "
    return wait_for(lambda: [line for line in stack.log("nginx.access").splitlines() if mark in line], "its line")[0]


def field(line, name):
    """What the client sent: nginx writes other bytes than printable ASCII, and quotes, as \\xNN."""
    return re.sub(r"\\x(..)", lambda code: chr(int(code[1], 16)), re.search(f' {name}="([^"]*)"', line)[1])


@pytest.mark.parametrize("text", ['"', "\xff", "\xe2\x82\xac", "a"], ids=ascii)
def test_a_request_writes_no_long_line_to_the_access_log(stack, text):
    path, agent = "/nowhere/" + text * (7500 // len(text)), text * (7500 // len(text))
    line = logged(stack, "GET", path + "?token=abc", agent)
    assert len(line) < 3600
    # The cut may be within a character of UTF-8.
    assert field(line, "path") == path[:512] and field(line, "agent") == agent[:256]


def test_the_access_log_has_the_method_and_the_agent_as_sent(stack):
    for agent in ("Mozilla/5.0 (X11; Linux)", "Zo\xc3\xab", "a" * 256):
        assert field(logged(stack, "GET", "/v1/users", agent), "agent") == agent
    assert field(logged(stack, "GET", "/v1/users", None), "agent") == "-"
    assert f" method={'A' * 32} " in logged(stack, "A" * 7500, "/nowhere", None)


def test_the_access_log_of_production_has_each_line_soon_or_when_nginx_ends(stack):
    (options,) = {re.search(r"access_log \S+ muster (buffer=.*);", (ROOT / name).read_text())[1]
                  for name in ("nginx/muster.conf", "tests/sandbox/nginx.conf.template")}
    change = ("nginx.conf", "nginx.access.log muster;", f"nginx.access.log muster {options};")
    with Edge(stack, "buffered", [change]) as edge:
        def request():
            reply = wire.exchange(edge, wire.request_bytes("GET", "/v1/imports"))
            assert reply.status == 401
            return f'request_id={reply.values("X-Request-Id")[0]} '

        first = request()
        wait_for(lambda: first in edge.log("nginx.access.log"), "its line", 10)
        last = request()
    assert last in edge.log("nginx.access.log")


PRIVATE = ("ann.secret", "token=abc", "annie")
# Requests to the workers, the readers and the collectors, and ones that nginx refuses itself.
REQUESTS = [("GET", "/v1/users"), ("GET", "/v1/users/01a1fd04-035b-72c3-8961-619ede6ecc85"), ("POST", "/v1/users"),
            ("GET", "/v1/imports"), ("POST", "/v1/ingest"), ("POST", "/v1/track"), ("GET", "/v1/ads/serve"),
            ("GET", "/v1/content/articles"), ("GET", "/console/v1/articles"), ("GET", "/metrics"), ("GET", "/nowhere"), ("GET", "/console/index.html")]


def send_private_requests(edge):
    """Statuses of requests with an address in the query and in the Referer; one of them with a body that is too large."""
    def send(request, length, source):
        method, path = request
        headers = [("Referer", "https://shop.example/reset?token=abc"), ("Content-Length", length)]
        query = "?email=ann.secret@example.org&q=annie&key=ek_live_annie"
        return wire.exchange(edge, wire.request_bytes(method, path + query, headers), source).status

    with ThreadPoolExecutor(16) as pool:
        sent = [pool.submit(send, request, length, source) for request in REQUESTS
                for length, source in (("0", "127.0.0.1"), ("99999999", "127.0.0.1"), ("0", "127.0.0.2"))]
        statuses = [one.result() for one in sent]
    with closing(http.client.HTTPConnection("127.0.0.1", edge.plain_port, timeout=10)) as connection:
        connection.request("GET", "/.well-known/acme-challenge/none?email=ann.secret@example.org",
                           headers={"Referer": "https://shop.example/reset?token=abc"})
        return statuses + [connection.getresponse().status]


@pytest.mark.parametrize("backend", ["missing", "refusing", "silent", "ending"])
def test_no_file_of_nginx_holds_a_query_or_a_referer_while_the_backends_are_away(stack, backend):
    path = f"{stack.folder}/tmp/away.sock"
    if os.path.exists(path):
        os.unlink(path)
    conf = (stack.folder / "nginx/nginx.conf").read_text()
    changes = [("nginx.conf", upstream, f"unix:{path}") for upstream in re.findall(r"server (unix:\S+) max_fails=0;", conf)]
    assert len(changes) == 3
    changes.append(("snippets/muster-server.conf", "fastcgi_read_timeout 60s", "fastcgi_read_timeout 1s"))
    with ExitStack() as cleanup:
        if backend != "missing":
            away = cleanup.enter_context(socket.socket(socket.AF_UNIX))
            away.bind(path)
        if backend in ("silent", "ending"):
            away.listen(512)
        if backend == "ending":
            cleanup.enter_context(ending(away))
        edge = cleanup.enter_context(Edge(stack, f"away-{backend}", changes))
        statuses = send_private_requests(edge)
        assert {503, 413, 404} <= set(statuses)
        # The last request is not logged. nginx logs one whose body it discards when the client has closed the connection.
        wait_for(lambda: len(edge.log("nginx.access.log").splitlines()) >= len(statuses) - 1, "all requests to be logged")
        files = [file for file in edge.folder.rglob("*") if file.is_file() and not file.is_relative_to(edge.folder / "nginx")]
        assert edge.folder / "log/nginx.access.log" in files and edge.folder / "log/nginx.error.log" in files
        for file in files:
            text = file.read_text(errors="replace")
            assert [word for word in PRIVATE if word in text] == [], file


@contextmanager
def ending(listener):
    """Ends every connection to the listener without an answer."""
    def end_each():
        try:
            while True:
                listener.accept()[0].close()
        except OSError:
            pass  # the listener was shut down

    thread = threading.Thread(target=end_each, daemon=True)
    thread.start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def test_every_server_of_the_shipped_site_logs_no_request_with_an_error(stack):
    for name in ("nginx/muster.conf", "tests/sandbox/nginx.conf.template"):
        servers = re.split(r"^ *server \{", (stack.source / name).read_text(), flags=re.M)[1:]
        assert servers, name
        assert [re.findall(r"^ *error_log \S+ (\w+);", server, flags=re.M) for server in servers] == [["alert"]] * len(servers)
