"""The behavior of nginx itself: its errors as envelopes, headers, TLS, rates, access restrictions (docs/api/conventions.md
"Conventions")."""

import http.client
import itertools
import json
import os
import re
import socket
import ssl
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from support import wire
from support.client import Client
from support.contract import HEADERS
from support.edge import Edge
from support.stack import wait_for
from support.world import email

UUID = "01a1fd04-035b-72c3-8961-619ede6ecc85"


def envelope(reply):
    """The error of a raw reply, after the checks that apply to every reply."""
    check_headers(reply)
    assert reply.values("Content-Type") == ["application/json"]
    assert reply.values("Cache-Control") == ["no-store"]
    body = json.loads(reply.body)
    assert set(body) == {"error"} and {"code", "status", "message"} <= set(body["error"])
    assert body["error"]["status"] == reply.status
    return body["error"]


def check_headers(reply):
    (request_id,) = reply.values("X-Request-Id")
    assert re.fullmatch("[0-9a-f]{32}", request_id)
    for name, value in HEADERS.items():
        assert reply.values(name) == [value], name


RAW = {
    "no HTTP": (b"rubbish\r\n\r\n", 400, "BAD_REQUEST"),
    "unknown version": (b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", 400, "BAD_REQUEST"),
    "control character in the path": (b"GET /v1/\x01 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400, "BAD_REQUEST"),
    "NUL in the path": (b"GET /v1/%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400, "BAD_REQUEST"),
    "no host": (b"GET /v1/users HTTP/1.1\r\nConnection: close\r\n\r\n", 400, "BAD_REQUEST"),
    "two hosts": (b"GET /v1/users HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n", 400, "BAD_REQUEST"),
    "bad length": (b"POST /v1/users HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400, "BAD_REQUEST"),
    "negative length": (b"POST /v1/users HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400, "BAD_REQUEST"),
    "two lengths": (b"POST /v1/users HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400,
                    "BAD_REQUEST"),
    "length and chunks": (b"POST /v1/users HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
                          b"0\r\n\r\n", 400, "BAD_REQUEST"),
    "bad chunks": (b"POST /v1/users HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n",
                   400, "BAD_REQUEST"),
    "dots above the root": (b"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400, "BAD_REQUEST"),
    "unknown path": (b"GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404, "NOT_FOUND"),
    "unknown path below /v1": (b"GET /v1/nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404, "NOT_FOUND"),
    "HTTP/1.0": (b"GET /nowhere HTTP/1.0\r\nHost: x\r\n\r\n", 404, "NOT_FOUND"),
    "TRACE": (b"TRACE /v1/users HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 405, "METHOD_NOT_ALLOWED"),
    "CONNECT": (b"CONNECT x:443 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400, "BAD_REQUEST"),
    "no credential": (b"GET /v1/imports HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 401, "UNAUTHORIZED"),
    "other method": (b"PUT /v1/users HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 405,
                     "METHOD_NOT_ALLOWED"),
    "large body": (b"POST /v1/users HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\nConnection: close\r\n\r\n", 413,
                   "PAYLOAD_TOO_LARGE"),
    "large body of rows": (b"POST /v1/imports/x/rows HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n"
                           b"Connection: close\r\n\r\n", 413, "PAYLOAD_TOO_LARGE"),
    "large body elsewhere": (b"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\nConnection: close\r\n\r\n",
                             None, None),
    "long request line": (b"GET /v1/" + b"x" * 20000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414, "BAD_REQUEST"),
    "long header": (b"GET /v1/users HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 20000 + b"\r\n\r\n", 431, "BAD_REQUEST"),
    "many headers": (b"GET /v1/users HTTP/1.1\r\nHost: x\r\n" + b"X-Much: " * 1 + b"x" * 9000 + b"\r\n"
                     + b"".join(b"X-Much-%d: " % n + b"x" * 9000 + b"\r\n" for n in range(9)) + b"\r\n", 431,
                     "BAD_REQUEST"),
    "long request line and headers": (b"GET /v1/users?q=" + b"x" * 15000 + b" HTTP/1.1\r\nHost: x\r\n"
                                      + b"".join(b"X-Much-%d: " % n + b"x" * 15000 + b"\r\n" for n in range(3)) + b"\r\n", 431,
                                      "BAD_REQUEST"),
    "thousands of short headers": (b"GET /v1/users HTTP/1.1\r\nHost: x\r\n" + b"a:\n" * 10000 + b"\r\n", 431, "BAD_REQUEST"),
    "longest request line and media type": (b"GET /v1/users?q=" + b"x" * 16345 + b" HTTP/1.1\r\nHost: x\r\n"
                                            b"Content-Type: " + b"x" * 16360 + b"\r\n\r\n", 401, "UNAUTHORIZED"),
    "long request line and header": (b"GET /v1/users?q=" + b"x" * 15000 + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                                     b"X-Much: " + b"x" * 15000 + b"\r\n\r\n", 401, "UNAUTHORIZED"),
}


@pytest.mark.parametrize("request_bytes, status, code", RAW.values(), ids=RAW)
def test_every_kind_of_error_is_an_envelope_with_one_request_id(stack, request_bytes, status, code):
    reply = wire.exchange(stack, request_bytes)
    error = envelope(reply)
    if status is not None:
        assert (reply.status, error["code"]) == (status, code)
    if reply.status == 405:
        assert len(reply.values("Allow")) == 1


def test_plain_http_on_the_tls_port_is_an_envelope_too(stack):
    connection = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=10)
    connection.request("GET", "/v1/users")
    reply = connection.getresponse()
    assert reply.status == 400 and json.loads(reply.read())["error"]["code"] == "BAD_REQUEST"
    assert len(reply.headers.get_all("X-Request-Id")) == 1


@pytest.mark.parametrize("path", ["/openapi/partner.json", "/js/muster.js"])
def test_static_public_answers_are_compressed(stack, path, tmp_path):
    def size(*options):
        head = tmp_path / "head"
        done = subprocess.run(["curl", "-sS", "--cacert", stack.ca_file, "-D", head, "-o", tmp_path / "body", "-w", "%{size_download}",
                               *options, stack.base_url + path], capture_output=True, text=True, check=True)
        return int(done.stdout), head.read_text().lower(), (tmp_path / "body").read_bytes()

    plain, plain_head, text = size()
    packed, packed_head, same = size("--compressed")
    assert packed < plain * 0.6 and same == text
    assert "content-encoding: gzip" in packed_head and "content-encoding" not in plain_head
    assert "vary: accept-encoding" in packed_head and "vary: accept-encoding" in plain_head


def test_the_root_is_a_page_with_links_under_the_policy_of_the_console(stack):
    page, console = (wire.exchange(stack, wire.request_bytes("GET", path)) for path in ("/", "/console/"))
    assert page.status == 200 and page.values("Content-Type") == ["text/html; charset=utf-8"]
    ignored = {"Content-Length", "Date", "ETag", "Last-Modified", "X-Request-Id"}
    assert [one for one in page.headers if one[0] not in ignored] == [one for one in console.headers if one[0] not in ignored]
    assert [value.endswith("; trusted-types muster") for value in page.values("Content-Security-Policy")] == [True]  # only one
    links = re.findall(r'href="(/[^"]*)"', page.body.decode())
    assert {"/console/", "/openapi/partner.json"} <= set(links) and "<script" not in page.body.decode()
    for path in links:
        assert wire.exchange(stack, wire.request_bytes("GET", path)).status == 200, path
    assert wire.exchange(stack, wire.request_bytes("GET", "/?x=1")).body == page.body
    assert wire.exchange(stack, wire.request_bytes("HEAD", "/")).status == 200
    for path in ("/console/start.html", "/index.html", "/start.html"):
        assert envelope(wire.exchange(stack, wire.request_bytes("GET", path)))["code"] == "NOT_FOUND"


def test_a_file_is_sent_whole_whatever_range_is_asked_for(stack):
    for path in ("/js/muster.js", "/console/", "/console/main.js"):
        whole = wire.exchange(stack, wire.request_bytes("GET", path))
        for wanted in ("0-9", "99999999-", ",".join(f"{n}-{n}" for n in range(1000))):
            reply = wire.exchange(stack, wire.request_bytes("GET", path, [("Range", f"bytes={wanted}")]))
            assert (reply.status, reply.body) == (200, whole.body), (path, wanted[:9])
            assert [name for name, _ in reply.headers] == [name for name, _ in whole.headers]
            assert reply.values("Accept-Ranges") == []


def test_the_console_without_its_last_slash_is_redirected(stack):
    reply = wire.exchange(stack, wire.request_bytes("GET", "/console"))
    assert (reply.status, reply.values("Location"), reply.values("Cache-Control")) == (308, ["/console/"], ["no-store"])
    check_headers(reply)
    assert wire.exchange(stack, wire.request_bytes("GET", "/console/")).status == 200


def test_a_405_of_nginx_allows_the_methods_of_the_path(stack):
    for path in ("/", "/?x=1", "/console/", "/console/lib/texts.js", "/js/muster.js"):
        refused = wire.exchange(stack, wire.request_bytes("POST", path))
        assert (envelope(refused)["code"], refused.values("Allow")) == ("METHOD_NOT_ALLOWED", ["GET, HEAD"]), path
    for path in ("/v1/users", "/console/v1", "/console/v1/articles"):
        refused = wire.exchange(stack, wire.request_bytes("TRACE", path))
        assert refused.values("Allow") == ["GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"], path


def test_other_answers_are_not_compressed(stack, org):
    headers = [("Authorization", f"Bearer {org.key}"), ("Accept-Encoding", "gzip")]
    for path in ("/v1/attributes", "/v1/users", "/healthz"):
        assert wire.exchange(stack, wire.request_bytes("GET", path, headers)).values("Content-Encoding") == []


def test_successful_replies_have_each_header_once(stack, org):
    user = org.create_user({"email": email()})
    etag = org.api.get("/openapi/partner.json").headers["ETag"]
    key = ("Authorization", f"Bearer {org.key}")
    kept, json_type, text_type = "public, max-age=300", "application/json", "text/plain; version=0.0.4; charset=utf-8"
    for path, headers, status, media_type, caching in [
            (f"/v1/users/{user['id']}", [key], 200, json_type, "no-store"), ("/openapi/partner.json", [], 200, json_type, kept),
            ("/openapi/partner.json", [("If-None-Match", etag)], 304, None, kept), ("/healthz", [], 200, json_type, "no-store"),
            ("/metrics", [], 200, text_type, "no-store"), (f"/v1/imports/{UUID}/error-report", [key], 404, json_type, "no-store")]:
        reply = wire.exchange(stack, wire.request_bytes("GET", path, headers))
        assert reply.status == status
        check_headers(reply)
        assert reply.values("Cache-Control") == [caching], path
        assert media_type is None or reply.values("Content-Type") == [media_type], path


def test_a_client_cannot_set_the_trusted_parameters_of_workers(stack, org):
    sent = "f" * 32
    headers = [("Authorization", f"Bearer {org.key}"), ("X-Request-Id", sent), ("Request-Id", sent), ("REQUEST_ID", sent),
               ("X-Forwarded-For", "10.0.0.1"), ("REMOTE_ADDR", "10.0.0.1"), ("Remote-Addr", "10.0.0.1"),
               ("Proxy", "http://127.0.0.1:1"), ("REQUEST_METHOD", "DELETE"), ("X-HTTP-Method-Override", "DELETE"),
               ("X-Original-URL", "/metrics"), ("X-Rewrite-URL", "/metrics"), ("SCRIPT_NAME", "/metrics"),
               *((name, "1") for name in ("CREDENTIAL_CHECK", "Credential-Check", "CHARGED_RATE", "Charged-Rate",
                                          "CHARGED_POLICY", "Charged-Policy"))]
    reply = wire.exchange(stack, wire.request_bytes("GET", "/v1/imports", headers))
    assert reply.status == 200 and reply.values("X-Request-Id") != [sent]
    assert reply.values("RateLimit") not in ([], ["1"])
    log = stack.log("musterd")
    assert sent not in log and reply.values("X-Request-Id")[0] in log and "10.0.0.1" not in log


def test_a_header_with_an_underscore_differs_from_one_with_a_dash(stack, org):
    body = json.dumps({"email": email()}).encode()
    head = [("Authorization", f"Bearer {org.key}"), ("Content-Type", "application/json"), ("Content-Length", len(body)),
            ("Idempotency_Key", "")]
    assert wire.exchange(stack, wire.request_bytes("POST", "/v1/users", head, body)).status == 201
    assert wire.exchange(stack, wire.request_bytes("GET", "/v1/imports", [("Author_ization", f"Bearer {org.key}")])
                         ).status == 401


def test_requests_on_one_connection_have_their_own_ids(stack):
    with wire.connect(stack) as connection:
        one = wire.request_bytes("GET", "/nowhere", close=False)
        connection.sendall(one + one + wire.request_bytes("GET", "/nowhere"))
        data = b""
        while piece := connection.recv(65536):
            data += piece
    assert len(set(re.findall(rb"X-Request-Id: ([0-9a-f]{32})", data))) == 3


def test_a_connection_serves_the_files_of_many_pages(stack):
    """nginx's own limit of 1,000 requests ended connections while a browser loaded a page of the console."""
    with wire.connect(stack) as connection:
        for _ in range(1100):
            connection.sendall(wire.request_bytes("GET", "/console/lib/store.js", close=False))
            reply = wire.read_reply(connection)
            assert reply.status == 200 and reply.values("Connection") != ["close"]


# ---------------------------------------------------------------------------- TLS and HTTP/2


@pytest.mark.parametrize("version, works", [(ssl.TLSVersion.TLSv1, False), (ssl.TLSVersion.TLSv1_1, False),
                                            (ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_3, True)])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tls_1_2_and_1_3_are_supported_and_older_versions_are_not(stack, version, works):
    context = ssl.create_default_context(cafile=stack.ca_file)
    context.set_ciphers("DEFAULT:@SECLEVEL=0")  # so that the server rejects it
    context.minimum_version = context.maximum_version = version
    if works:
        with wire.connect(stack, context=context) as connection:
            assert connection.version() == version.name.replace("_", ".")
    else:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            wire.connect(stack, context=context)


@pytest.mark.parametrize("cipher", ["AES128-SHA", "AES256-GCM-SHA384", "ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384"])
def test_ciphers_without_forward_secrecy_or_authentication_are_rejected(stack, cipher):
    context = ssl.create_default_context(cafile=stack.ca_file)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(f"{cipher}:@SECLEVEL=0")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        wire.connect(stack, context=context)


def test_http_2_is_supported_and_gets_the_same_replies(stack, org):
    key_file = stack.folder / "tmp" / "http2.header"
    key_file.write_text(f"Authorization: Bearer {org.key}\n")
    done = subprocess.run(
        ["curl", "-s", "-i", "--http2", "--cacert", stack.ca_file, "-H", f"@{key_file}", "-w", "\n%{http_version}",
         stack.base_url + "/v1/imports"], capture_output=True, text=True, timeout=20)
    head, _, rest = done.stdout.partition("\n\n")
    assert rest == '{"imports":[],"next_cursor":null}\n2'
    assert head.startswith("HTTP/2 200") and head.lower().count("x-request-id:") == 1


# ---------------------------------------------------------------------------- access restrictions


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_probes_are_available_only_on_this_machine(stack, path):
    request = wire.request_bytes("GET", path)
    assert wire.exchange(stack, request).status == 200
    for source in ("127.0.0.2", "127.9.8.7"):
        refused = wire.exchange(stack, request, source)
        unknown = wire.exchange(stack, wire.request_bytes("GET", "/nowhere"), source)
        assert envelope(refused)["code"] == "NOT_FOUND"
        assert refused.body == unknown.body
        hidden = {"X-Request-Id", "Date"}
        assert [h for h in refused.headers if h[0] not in hidden] == [h for h in unknown.headers if h[0] not in hidden]
    for trick in ("?x", "/", "//", "/.", "%20", ";x", "/../metrics"):
        assert wire.exchange(stack, wire.request_bytes("GET", path + trick), "127.0.0.2").status in (400, 404)


@pytest.mark.parametrize("recursive", ["on", "off"])
def test_a_forged_client_address_does_not_open_the_probes(stack, recursive):
    real_ip = f"set_real_ip_from 127.0.0.0/8;\nreal_ip_header X-Forwarded-For;\nreal_ip_recursive {recursive};\n"
    with Edge(stack, f"forged-{recursive}", [("snippets/muster-http.conf", "map $request_uri", real_ip + "map $request_uri")]) as edge:
        def status(source, forwarded):
            headers = [("X-Forwarded-For", forwarded)] if forwarded else []
            return wire.exchange(edge, wire.request_bytes("GET", "/metrics", headers), source).status

        assert status("127.0.0.1", None) == 200
        # Through a balancer on another host, then through one on this host, which appends the client's address.
        for source, forwarded in [("127.0.0.2", None), ("127.0.0.2", "127.0.0.1"), ("127.0.0.2", "::1"), ("127.0.0.2", "127.0.0.1, 127.0.0.1"),
                                  ("127.0.0.1", "203.0.113.9"), ("127.0.0.1", "127.0.0.1, 203.0.113.9")]:
            assert status(source, forwarded) == 404, (source, forwarded)


def test_metrics_count_requests_and_show_no_secret(stack, org):
    def count():
        text = Client(stack, None).get("/metrics", expect=200).text
        return int(re.search(r'muster_requests_total{operation="listImports",status="2xx"} (\d+)', text).group(1)), text

    before, _ = count()
    org.api.get("/v1/imports", expect=200)
    after, text = count()
    assert after == before + 1
    assert org.key not in text and org.id not in text and "muster_db_statements_total" in text


def test_plain_http_is_redirected_to_https_with_method_and_path(stack):
    with Edge(stack, "plain") as edge:
        connection = http.client.HTTPConnection("127.0.0.1", edge.plain_port, timeout=10)
        connection.request("POST", "/v1/users?x=1", body="{}", headers={"Host": "api.example"})
        reply = connection.getresponse()
        assert (reply.status, reply.headers["Location"]) == (308, "https://api.example/v1/users?x=1")
        assert len(reply.headers.get_all("X-Request-Id")) == 1
        for name, value in HEADERS.items():
            expected = None if name == "Strict-Transport-Security" else [value]  # browsers ignore it without TLS
            assert reply.headers.get_all(name) == expected, name


# ---------------------------------------------------------------------------- overload and outage


def test_too_many_requests_of_one_client_are_429_and_others_are_accepted(stack, contract):
    with Edge(stack, "rates", [("snippets/muster-rates.conf", "rate=100000r/s", "rate=1r/s")]) as edge:
        client, began = Client(edge, contract), time.monotonic()

        def most():
            """As many requests as may be accepted until now: those of the burst, and one a second."""
            return 401 + time.monotonic() - began + 1

        with ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda _: client.get("/v1/imports"), range(450)))
        statuses = [reply.status_code for reply in replies]
        assert set(statuses) == {401, 429} and 395 <= statuses.count(401) <= most()
        limited = [reply for reply in replies if reply.status_code == 429][-1]
        assert limited.json()["error"]["code"] == "RATE_LIMITED" and int(limited.headers["Retry-After"]) >= 1
        assert "a second" in limited.json()["error"]["details"]["reason"]
        client.get("/healthz", expect=200)
        other = wire.exchange(edge, wire.request_bytes("GET", "/v1/imports"), "127.0.0.2")
        assert other.status == 401
        spoofed = wire.request_bytes("GET", "/v1/imports", [("X-Forwarded-For", "10.9.8.7"), ("X-Real-IP", "10.9.8.7")])
        codes = []

        def is_limited():
            codes.append(envelope(wire.exchange(edge, spoofed))["code"])
            return codes[-1] == "RATE_LIMITED"

        wait_for(is_limited, "the limit of a forged address")  # one request a second is accepted again
        assert statuses.count(401) + len(codes) - 1 <= most()


def fill(edge, opened, unfinished, quick, source=None):
    """Sends unfinished requests, which are (address, bytes), one after the other until too many run at the same time for the quick
    one. An unfinished one may be refused itself, while nginx still counts the quick one before it."""
    each = itertools.cycle(unfinished)

    def is_full():
        address, request = next(each)
        opened.enter_context(wire.connect(edge, address)).sendall(request)
        reply = wire.exchange(edge, quick, source)
        return reply.status == 429 and reply

    refused = wait_for(is_full, "the limit")
    error = envelope(refused)
    assert (error["code"], refused.values("Retry-After")) == ("RATE_LIMITED", ["1"])
    assert "at the same time" in error["details"]["reason"]


@pytest.mark.parametrize("limit, sources, limited, others", [
    ("muster_client_requests", ["127.0.0.1"] * 3, "127.0.0.1", 401),
    ("muster_requests", ["127.0.0.1", "127.0.0.2", "127.0.0.3"], "127.0.0.9", 429)])
def test_too_many_requests_at_the_same_time_are_429(stack, limit, sources, limited, others):
    """Of one client, and of all together."""
    change = ("snippets/muster-client-connections.conf", f"{limit} 10000", f"{limit} 3")
    unfinished = wire.request_bytes("POST", "/v1/users", [("Content-Length", "1000")], b"{")
    quick = wire.request_bytes("GET", "/v1/imports")
    with Edge(stack, limit.replace("_", "-"), [change]) as edge, ExitStack() as opened:
        fill(edge, opened, [(source, unfinished) for source in sources], quick, limited)
        assert wire.exchange(edge, quick, "127.0.0.8").status == others
        opened.close()
        wait_for(lambda: wire.exchange(edge, quick, limited).status == 401, "the end of the requests")


def test_too_many_large_bodies_at_the_same_time_are_429(stack, new_org):
    change = ("snippets/muster-large-body.conf", "limit_conn muster_bodies 64", "limit_conn muster_bodies 3")
    jobs = [(one, one.create_import()["id"]) for one in (new_org(), new_org(), new_org(), new_org())]

    def staging(org, job, length, body=b""):
        headers = [("Authorization", f"Bearer {org.key}"), ("Content-Type", "application/json"), ("Content-Length", length)]
        return wire.request_bytes("POST", f"/v1/imports/{job}/rows", headers, body)

    with Edge(stack, "bodies", [change]) as edge, ExitStack() as opened:
        quick = staging(*jobs[3], 2, b"{}")
        fill(edge, opened, [(None, staging(org, job, 1000, b"{")) for org, job in jobs[:3]], quick)
        opened.close()
        wait_for(lambda: wire.exchange(edge, quick).status == 422, "the end of the bodies")


def test_the_networks_of_one_ipv6_customer_share_the_requests_at_the_same_time(stack):
    real_ip = "set_real_ip_from 127.0.0.1;\nreal_ip_header X-Forwarded-For;\n"
    changes = [("snippets/muster-http.conf", "map $request_uri", real_ip + "map $request_uri"),
               ("snippets/muster-client-connections.conf", "muster_network_requests 300", "muster_network_requests 3")]

    def request(client, method="GET", headers=(), body=b""):
        return wire.request_bytes(method, "/v1/users", [("X-Forwarded-For", client), *headers], body)

    def status(edge, client):
        return wire.exchange(edge, request(client)).status

    with Edge(stack, "networks", changes) as edge, ExitStack() as opened:
        unfinished = [(None, request(f"2001:db8:1:{subnet}::1", "POST", [("Content-Length", "1000")], b"{")) for subnet in range(3)]
        fill(edge, opened, unfinished, request("2001:db8:1:ffff::1"))
        assert status(edge, "2001:db8:2::1") == 401
        for number in range(4):  # addresses of IPv4 have no network
            unfinished = request(f"203.0.113.{number}", "POST", [("Content-Length", "1000")], b"{")
            opened.enter_context(wire.connect(edge)).sendall(unfinished)
        assert status(edge, "203.0.113.9") == 401
        opened.close()
        wait_for(lambda: status(edge, "2001:db8:1:ffff::1") == 401, "the end of the requests")


def test_without_a_backend_every_request_is_a_503_envelope_until_it_returns(stack, org, contract):
    with stack.without("musterd"):
        for method, path in [("GET", "/v1/imports"), ("POST", "/v1/users"), ("GET", f"/v1/users/{UUID}"),
                             ("POST", f"/v1/imports/{UUID}/rows"), ("GET", "/openapi/partner.json"), ("GET", "/readyz"),
                             ("GET", f"/v1/imports/{UUID}/error-report"), ("DELETE", "/v1/anything")]:
            reply = wire.exchange(stack, wire.request_bytes(method, path, [("Content-Length", "0")]))
            assert envelope(reply)["code"] == "SERVICE_UNAVAILABLE" and reply.status == 503
            assert int(reply.values("Retry-After")[0]) >= 1
        assert envelope(wire.exchange(stack, wire.request_bytes("GET", "/nowhere")))["code"] == "NOT_FOUND"
    wait_for(stack.answers, "the service to respond again")
    org.api.get("/v1/imports", expect=200)


def test_an_unresponsive_backend_is_a_503_envelope(stack):
    path = f"{stack.folder}/tmp/silent.sock"
    if os.path.exists(path):
        os.unlink(path)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(path)
        silent.listen(16)
        upstream = re.search(r"server (unix:\S+) max_fails=0;", (stack.folder / "nginx/nginx.conf").read_text()).group(1)
        changes = [("nginx.conf", upstream, f"unix:{path}"),
                   ("snippets/muster-server.conf", "fastcgi_read_timeout 60s", "fastcgi_read_timeout 1s")]
        with Edge(stack, "silent", changes) as edge:
            reply = wire.exchange(edge, wire.request_bytes("GET", "/v1/imports"))
            assert reply.status == 503 and envelope(reply)["code"] == "SERVICE_UNAVAILABLE"


def test_slow_clients_do_not_delay_others(stack, org):
    head = [("Authorization", f"Bearer {org.key}"), ("Content-Type", "application/json"), ("Content-Length", "1000")]
    slow = [wire.connect(stack) for _ in range(40)]  # five times the workers
    try:
        for connection in slow:
            connection.sendall(wire.request_bytes("POST", "/v1/users", head, b'{"email":'))
        for _ in range(20):
            reply = org.api.get("/v1/imports", expect=200)
            assert reply.elapsed.total_seconds() < 5
    finally:
        for connection in slow:
            connection.close()


def test_the_shipped_site_is_valid(stack):
    shipped = stack.folder / "tmp" / "shipped"
    subprocess.run(["rm", "-rf", shipped], check=True)
    subprocess.run(["cp", "-R", stack.folder / "nginx", shipped], check=True)
    source = stack.source / "nginx"
    site = (source / "muster.conf").read_text()
    site = site.replace("/var/log/nginx", str(shipped))
    conf = f"daemon off; pid {shipped}/pid; error_log stderr; events {{}} http {{ {site} }}"
    (shipped / "nginx.conf").write_text(conf)
    subprocess.run(["cp", *(source / "snippets").glob("*.conf"), shipped / "snippets"], check=True)
    (shipped / "snippets/muster-certificate.conf").write_text(
        f"ssl_certificate {stack.folder}/server.pem; ssl_certificate_key {stack.folder}/server.key;")
    files = shipped / "snippets/muster-files.conf"
    files.write_text(files.read_text().replace("/var/cache/", f"{shipped}/"))
    command = ["nginx", "-t", "-p", f"{shipped}/", "-c", f"{shipped}/nginx.conf"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and "warn" not in done.stderr, done.stderr
