"""Requests that are malformed or rejected: JSON, media types, sizes, methods, paths, queries (docs/api/errors.md "Errors")."""

import gzip
import json
import re
import uuid

import pytest
from support import wire
from support.bodies import KINDS, body_of, path_of
from support.client import details_of, error_of, faults_of
from support.world import email

JSON = {"Content-Type": "application/json"}
SMALL = 256 * 1024
LARGE = 16 * 1024 * 1024
EVENTS = 1024 * 1024
LIMITS = {"stageImportRows": LARGE, "ingestEvents": EVENTS, "trackEvents": EVENTS}  # others: SMALL
NOWHERE = {kind: str(uuid.uuid5(uuid.NAMESPACE_URL, kind)) for kind in KINDS.values()}


def nested(levels, inside=b""):
    return b"[" * levels + inside + b"]" * levels


BAD_JSON = {
    "empty": b"",
    "white space": b" \r\n\t",
    "no JSON": b"email=a@b.example",
    "cut off": b'{"email":"a@b.example"',
    "cut off in a string": b'{"email":"a@b',
    "key twice": b'{"email":"a@b.example","email":"c@b.example"}',
    "key twice in a list deep down": b'{"email":"a@b.example","attributes":{"a":[[{"k":1,"j":2,"k":3}]]}}',
    "key twice, once escaped": b'{"email":"a@b.example","em\\u0061il":"c@b.example"}',
    "key twice among many": json.dumps({f"k{n}": n for n in range(40)}).encode()[:-1] + b',"k7":1}',
    "empty key twice": b'{"":1,"":2}',
    "65 levels": nested(65),
    "65 levels of objects": b'{"a":' * 64 + b"{}" + b"}" * 64,
    "100,000 levels": nested(100_000),
    "100,000 levels that never end": b"[" * 100_000,
    "byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": '{"email":"a@b.example"}'.encode("utf-16"),
    "lone high surrogate": b'{"email":"\\ud800"}',
    "lone low surrogate": b'{"email":"\\udc00"}',
    "surrogates the wrong way round": b'{"email":"\\udc00\\ud800"}',
    "high surrogate and a letter": b'{"email":"\\ud83dx"}',
    "lone surrogate in a key": b'{"a\\udfff":1}',
    "lone surrogate in a list": b'{"email":[["\\udbff"]]}',
    "surrogate as bytes": b'{"email":"\xed\xa0\x80"}',
    "no UTF-8": b'{"email":"\xff\xfe"}',
    "overlong UTF-8": b'{"email":"\xc0\xaf"}',
    "Latin-1": '{"email":"käthe@b.example"}'.encode("latin-1"),
    "beyond Unicode": b'{"email":"\xf4\x90\x80\x80"}',
    "number beyond a double": b'{"email":1e400}',
    "negative number beyond a double": b'{"email":-1e999999}',
    "whole number beyond a double": b'{"email":1' + b"0" * 308 + b"}",
    "NaN": b'{"email":NaN}',
    "Infinity": b'{"email":Infinity}',
    "-Infinity": b'{"email":-Infinity}',
    "leading zero": b'{"email":01}',
    "plus sign": b'{"email":+1}',
    "no digit before the point": b'{"email":.5}',
    "no digit behind the point": b'{"email":1.}',
    "hexadecimal": b'{"email":0x10}',
    "line comment": b'{"email":1} // x',
    "block comment": b'{/* x */"email":1}',
    "trailing comma": b'{"email":1,}',
    "trailing text": b'{"email":"a@b.example"}x',
    "two documents": b'{"email":"a@b.example"}{}',
    "NUL behind": b'{"email":"a@b.example"}\0',
    "NUL in a string": b'{"email":"a\0b"}',
    "raw control character": b'{"email":"a\x01b"}',
    "raw line end in a string": b'{"email":"a\nb"}',
    "single quotes": b"{'email':'a@b.example'}",
    "bare key": b'{email:"a@b.example"}',
    "unknown escape": b'{"email":"\\x41"}',
    "short escape": b'{"email":"\\u12"}',
    "misspelled literal": b'{"email":nul}',
    "True": b'{"email":True}',
}


@pytest.mark.parametrize("body", BAD_JSON.values(), ids=BAD_JSON)
def test_a_body_that_is_not_strict_json_is_400(module_org, body):
    reply = module_org.api.post("/v1/users", data=body, headers=JSON, expect=400, code="BAD_REQUEST")
    assert list(details_of(reply)) == ["reason"]


def test_every_operation_with_a_body_requires_strict_json(module_org, contract):
    bodies = [body for name, body in BAD_JSON.items() if name not in ("empty", "white space")]
    for operation in contract.operations:
        if "requestBody" in operation.row:
            for body in bodies[::4]:
                module_org.client_for(operation).request(operation.method, path_of(operation, NOWHERE), data=body,
                                                         headers=JSON, expect=400, code="BAD_REQUEST")


@pytest.mark.parametrize("body", [nested(64), nested(64, b"1"), nested(63, b'{"a":"b"}'), nested(1, b'"\\ud83d\\ude00"'),
                                  b" \t\r\n[ ] \n", b"[18446744073709551615,-9223372036854775808,1e308,-0.0]"])
def test_unusual_but_strict_json_is_accepted(module_org, body):
    reply = module_org.api.post("/v1/users", data=body, headers=JSON, expect=422)
    assert faults_of(reply) == {"": "wrong_type"}


# ---------------------------------------------------------------------------- media type and size


@pytest.mark.parametrize("media_type", [None, "", "text/plain", "application/x-www-form-urlencoded", "application/jsonx",
                                        "application", "text/json", "json", "multipart/form-data; boundary=x",
                                        "application/merge-patch+json", "; application/json"])
def test_another_media_type_is_415_on_every_operation_with_a_body(module_org, contract, media_type):
    headers = {} if media_type is None else {"Content-Type": media_type}
    operations = [operation for operation in contract.operations if 415 in operation.statuses]
    assert len(operations) >= 6
    for operation in operations:
        if operation.takes_tracking_key and media_type == "text/plain":
            continue  # media types that browsers send without a preflight
        module_org.client_for(operation).request(operation.method, path_of(operation, NOWHERE), data=b"{}", headers=headers,
                                                 expect=415, code="UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize("media_type", ["application/json", "Application/JSON", "application/json;charset=utf-8",
                                        "application/json ; charset=UTF-8"])
def test_json_is_recognized_only_by_its_media_type(module_org, media_type):
    body = json.dumps({"email": email()})
    module_org.api.post("/v1/users", data=body, headers={"Content-Type": media_type}, expect=201)


def padded(size):
    return b'{"nothing":1' + b" " * (size - 13) + b"}"


def test_a_body_over_the_limit_of_the_operation_is_413(module_org, contract):
    operations = [operation for operation in contract.operations if 413 in operation.statuses]
    assert len(operations) >= 6
    for operation in operations:
        limit = LIMITS.get(operation.id, SMALL)
        path, client = path_of(operation, NOWHERE), module_org.client_for(operation)
        client.request(operation.method, path, data=padded(limit), headers=JSON, expect=422)
        client.request(operation.method, path, data=padded(limit + 1), headers=JSON, expect=413, code="PAYLOAD_TOO_LARGE")


def test_a_reply_that_needs_no_body_is_sent_for_a_body_of_any_size(anyone, contract, module_org):
    for operation in contract.operations:
        if operation.needs_key and 413 in operation.statuses:
            path = path_of(operation, NOWHERE)
            body = padded(LIMITS.get(operation.id, SMALL))
            for _ in range(5):  # several times, because the result may depend on whether nginx has sent all of it
                anyone.request(operation.method, path, data=body, headers=JSON, expect=401)
                if not operation.takes_organization_key:
                    module_org.api.request(operation.method, path, data=body, headers=JSON, expect=403)


@pytest.mark.parametrize("body", [b'{"x":1}', b"no JSON"])
def test_get_and_delete_ignore_a_body(module_org, body):
    path = f"/v1/users/{module_org.create_user({'email': email()})['id']}"
    module_org.api.get(path, data=body, expect=200)
    module_org.api.delete(path, data=body, headers=JSON, expect=204)


def test_a_chunked_body_is_read_and_limited_alike(module_org):
    address = email()
    body = json.dumps({"email": address}).encode()
    reply = module_org.api.post("/v1/users", data=iter([body[:5], body[5:]]), headers=JSON, expect=201)
    assert reply.json()["email"] == address
    too_much = iter([padded(SMALL + 1)[at:at + 65536] for at in range(0, SMALL + 1, 65536)])
    module_org.api.post("/v1/users", data=too_much, headers=JSON, expect=413, code="PAYLOAD_TOO_LARGE")


def test_a_body_of_20_megabytes_is_rejected_everywhere_and_the_service_continues(module_org):
    body = b" " * 20_000_000
    for path in (f"/v1/imports/{NOWHERE['import']}/rows", "/v1/users", "/v1/nowhere"):
        module_org.api.post(path, data=body, headers=JSON, expect=413, code="PAYLOAD_TOO_LARGE")
    module_org.create_user({"email": email()})


def test_an_interrupted_body_is_harmless(stack, module_org):
    address = email()
    body = json.dumps({"email": address}).encode()
    headers = [("Authorization", f"Bearer {module_org.key}"), ("Content-Type", "application/json"),
               ("Content-Length", "5000")]
    for size in list(range(0, len(body), 3)) + [len(body)]:
        with wire.connect(stack) as connection:
            connection.sendall(wire.request_bytes("POST", "/v1/users", headers, body[:size]))
    rows = [("Content-Length", "1000000") if name == "Content-Length" else (name, value) for name, value in headers]
    for _ in range(20):
        with wire.connect(stack) as connection:
            path = f"/v1/imports/{NOWHERE['import']}/rows"
            connection.sendall(wire.request_bytes("POST", path, rows, b'{"rows":[' + b" " * 300_000))
    assert address not in module_org.members()
    assert module_org.create_user({"email": address})["outcome"] == "created"


# ---------------------------------------------------------------------------- methods and paths


def test_another_method_on_a_known_path_is_405_with_the_allowed_ones(anyone, contract, module_org):
    paths = {}
    for operation in contract.operations:
        preflight = {"OPTIONS"} if operation.takes_publishable_key else set()
        paths.setdefault(operation.path, set()).update({operation.method} | preflight)
    for path, methods in paths.items():
        allowed = methods | ({"HEAD"} if "GET" in methods else set())
        concrete = re.sub(r"{[^}]*}", NOWHERE["import"], path)
        for method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"} - allowed:
            for client in (anyone, module_org.api):
                reply = client.request(method, concrete, expect=405)
                assert set(reply.headers["Allow"].split(", ")) == allowed, (method, path)
                assert method == "HEAD" or error_of(reply)["code"] == "METHOD_NOT_ALLOWED"


def test_head_replies_like_get_without_a_body(anyone, contract, module_org):
    job_id = module_org.create_import()["id"]
    for operation in contract.operations:
        # For paths with a token see test_ads.py, for the callback test_external_data.py.
        if operation.method == "GET" and 200 in operation.statuses and "token" not in operation.parameters:
            path = path_of(operation, module_org.records() | {"import": job_id})
            client = module_org.client_for(operation)
            got, head = (client.request(method, path, expect=200, **body_of(operation, module_org)) for method in ("GET", "HEAD"))
            assert head.content == b"" and got.content
            assert head.headers["Content-Type"] == got.headers["Content-Type"]
    module_org.api.request("HEAD", f"/v1/users/{NOWHERE['user']}", expect=404)
    module_org.cancel(job_id)


@pytest.mark.parametrize("path", [
    "/index.html", "/v1", "/v1/", "/v2/users", "/V1/users", "/v1/Users", "/v1/users/", "/v1/imports/", "/v1/user", "/v1/imports//rows",
    f"/v1/imports/{NOWHERE['import']}/", f"/v1/imports/{NOWHERE['import']}/rows/1", "/v1/imports/x/y/z",
    f"/v1/users/{NOWHERE['user']}/attributes/x", "/openapi", "/openapi/", "/openapi/other.json", "/favicon.ico",
    "/robots.txt", "/.env", "/.git/config", "/v1/.", "/index.php", "/fcgi-bin/x", "/_muster/404", "/_muster/500",
])
def test_an_unknown_path_is_404(anyone, module_org, path):
    for client in (anyone, module_org.api):
        for method in ("GET", "POST", "DELETE"):
            client.request(method, path, expect=404, code="NOT_FOUND")


@pytest.mark.parametrize("target", [
    "/v1/%75sers", "/v1/imports/../users", "/v1/./users", "//v1/users", "/v1//users", "/x/../v1/users", "/v1/%2e%2e/metrics",
    "/v1/..%2fmetrics", "/v1/imports%2f", "/v1/users%20", "/v1/users;a=b", "/v1/users#x", "/v1/../metrics",
    "/v1/..", "/v1/../../../../etc/passwd", "/..%2f..%2fetc%2fpasswd", "/v1/users%00", "/v1/users\\", "/v1/users%",
    "/v1/imports/%2e%2e%2f%2e%2e%2fmetrics", "/%76%31/users", "/v1/users%0d%0aX-Injected:%201", "http://other/v1/nowhere",
    "*", "/v1/" + "a/" * 500, "/v1/users/\u00ff",
])
def test_an_encoded_path_is_not_found(stack, module_org, target):
    headers = [("Authorization", f"Bearer {module_org.key}"), ("Content-Length", "2"), *JSON.items()]
    reply = wire.exchange(stack, wire.request_bytes("POST", target, headers, b"{}"))
    assert reply.status in (400, 404, 405), (target, reply.status, reply.body)
    assert json.loads(reply.body)["error"]["status"] == reply.status
    assert len(reply.values("X-Request-Id")) == 1 and not reply.values("X-Injected")


# ---------------------------------------------------------------------------- queries


@pytest.fixture(scope="module")
def listed_job(module_org):
    """A job with enough rows for several pages."""
    return module_org.staged([{"email": email()} for _ in range(5)])


LISTS = {"/v1/imports": 100, "/v1/imports/{id}/rows": 1000, "/v1/attributes": 100, "/v1/api-keys": 100,
         "/v1/audit-log": 100, "/v1/seats": 100, "/v1/modules": 100, "/v1/modules/{module}/versions": 100, "/v1/installations": 100,
         "/v1/engagement/keys": 100, "/console/v1/content-keys": 100,
         **{f"/console/v1/ads/{kind}": 100 for kind in ("slots", "campaigns", "creatives")}}


@pytest.mark.parametrize("template, most", LISTS.items())
def test_a_faulty_query_is_422_with_every_fault(module_org, contract, listed_job, template, most):
    path = template.format(id=listed_job, module=module_org.records()["module"])
    client = module_org.client_for(contract.operation("GET", path))
    cases = {
        "limit=0": {"limit": "out_of_range"}, "limit=-1": {"limit": "out_of_range"},
        f"limit={most + 1}": {"limit": "out_of_range"}, "limit=999999999999": {"limit": "out_of_range"},
        "limit=": {"limit": "wrong_type"}, "limit=ten": {"limit": "wrong_type"}, "limit=1.5": {"limit": "wrong_type"},
        "limit=0x10": {"limit": "wrong_type"}, "limit=%2010": {"limit": "wrong_type"}, "limit=+5": {"limit": "wrong_type"},
        "limit=99999999999999999999": {"limit": "out_of_range"}, "limit": {"limit": "wrong_type"},
        "limit=1&limit=2": {"limit": "duplicate"}, "limit=1&limit=1": {"limit": "duplicate"},
        "no_such=1": {"no_such": "unknown_field"}, "Limit=1": {"Limit": "unknown_field"},
        "limit[]=1": {"limit[]": "unknown_field"},
        "limit=%ff": {"limit": "invalid_value"}, "limit=1%00": {"limit": "invalid_value"},
        "cursor=": {"cursor": "invalid_cursor"}, "cursor=x": {"cursor": "invalid_cursor"},
        "cursor=" + "A" * 100: {"cursor": "invalid_cursor"}, "cursor=" + "A" * 3073: {"cursor": "too_long"},
        "limit=0&no_such=1&cursor=a&cursor=b":
            {"limit": "out_of_range", "no_such": "unknown_field", "cursor": "duplicate"},
    }
    for query, faults in cases.items():
        reply = client.get(f"{path}?{query}", expect=422, code="VALIDATION_ERROR")
        assert faults_of(reply) == faults, query
    for query in ("", "limit=1", f"limit={most}", "limit=%31", "&&limit=1&"):
        client.get(f"{path}?{query}", expect=200)


@pytest.mark.parametrize("query, faults", [
    ("limit=%zz", {"limit": "invalid_value"}), ("limit=%", {"limit": "invalid_value"}), ("limit=%1", {"limit": "invalid_value"}),
    ("%zz=1", {"query": "invalid_value"}), ("x" * 81 + "=1", {"query": "invalid_value"}),
    ("state=%c0%af", {"state": "invalid_value"}), ("=1", {"": "unknown_field"}),
])
def test_a_query_that_is_not_percent_encoded_text_is_rejected(stack, module_org, query, faults):
    headers = [("Authorization", f"Bearer {module_org.key}")]
    reply = wire.exchange(stack, wire.request_bytes("GET", "/v1/imports?" + query, headers))
    found = json.loads(reply.body)["error"]["details"]["fields"]
    assert reply.status == 422 and {field["path"]: field["code"] for field in found} == faults


@pytest.mark.parametrize("template", ["/v1/imports", "/v1/imports/{id}/rows"])
@pytest.mark.parametrize("state", ["", "Staging", "done", "staging,valid", "staging "])
def test_an_unknown_state_is_rejected(module_org, listed_job, template, state):
    reply = module_org.api.get(template.format(id=listed_job), params={"state": state}, expect=422)
    assert faults_of(reply) == {"state": "invalid_choice"}


def test_a_cursor_is_valid_only_for_its_own_list(module_org, new_org, listed_job):
    api = module_org.api
    rows = f"/v1/imports/{listed_job}/rows"
    cursors = {
        "rows": api.get_json(rows, params={"limit": 2})["next_cursor"],
        "staged rows": api.get_json(rows, params={"limit": 2, "state": "staged"})["next_cursor"],
        "attributes": api.get_json("/v1/attributes", params={"limit": 2})["next_cursor"],
    }
    other = new_org()
    other_job = other.staged([{"email": email()} for _ in range(5)])
    cursors["rows of another organization"] = other.api.get_json(
        f"/v1/imports/{other_job}/rows", params={"limit": 2})["next_cursor"]
    cursors["attributes of another organization"] = other.api.get_json(
        "/v1/attributes", params={"limit": 2})["next_cursor"]
    takes = {"rows": (rows, {}), "staged rows": (rows, {"state": "staged"}), "attributes": ("/v1/attributes", {})}
    for giver, cursor in cursors.items():
        for taker, (path, query) in takes.items():
            reply = api.get(path, params=query | {"cursor": cursor})
            if giver == taker:
                assert reply.status_code == 200
                api.get(path, params=query | {"cursor": cursor, "limit": 1}, expect=200)  # the size of the page is not a filter
            else:
                assert reply.status_code == 422 and faults_of(reply) == {"cursor": "invalid_cursor"}, (giver, taker)


def test_a_tampered_cursor_is_rejected(module_org, listed_job):
    path = f"/v1/imports/{listed_job}/rows"
    cursor = module_org.api.get_json(path, params={"limit": 2})["next_cursor"]
    for index in range(len(cursor)):
        other = "A" if cursor[index] != "A" else "B"
        for wrong in (cursor[:index] + other + cursor[index + 1:], cursor[:index] + cursor[index + 1:]):
            reply = module_org.api.get(path, params={"cursor": wrong}, expect=422)
            assert faults_of(reply) == {"cursor": "invalid_cursor"}
    for wrong in (cursor + "A", cursor + "=", " " + cursor, cursor * 2, cursor[::-1]):
        module_org.api.get(path, params={"cursor": wrong}, expect=422)


def test_an_unknown_query_parameter_is_rejected_on_every_operation(module_org, listed_job, contract):
    for operation in contract.operations:
        if not operation.is_open:
            path = path_of(operation, module_org.records() | {"import": listed_job})
            reply = module_org.client_for(operation).request(operation.method, path + "?no_such=1", expect=422,
                                                             **body_of(operation))
            assert faults_of(reply) == {"no_such": "unknown_field"}, operation.id


# ---------------------------------------------------------------------------- internal errors


def test_an_internal_error_reveals_no_details_and_the_service_continues(new_org, stack):
    org = new_org(attributes=False)
    job_id = org.staged([{"email": email()}])
    stack.sql("UPDATE import_blocks SET data = 'rubbish' WHERE job_id = UNHEX(REPLACE(%s, '-', ''))", job_id)
    for _ in range(12):  # more often than there are workers
        reply = org.api.get(f"/v1/imports/{job_id}/rows", expect=500, code="INTERNAL_ERROR")
        assert set(error_of(reply)) == {"code", "status", "message"}
        for word in ("block", "Corrupt", "SELECT", ".cpp", "import_blocks", "std::"):
            assert word not in reply.text
        org.api.get("/v1/imports", expect=200)
    assert reply.headers["X-Request-Id"] in stack.log("musterd")
    org.cancel(job_id)


# ---------------------------------------------------------------------------- encodings and repeated headers


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "x-unknown", "identity, gzip"])
def test_a_body_with_a_content_encoding_is_rejected(org, coding):
    body = gzip.compress(b'{"email":"a@b.example"}') if coding == "gzip" else b'{"email":"a@b.example"}'
    reply = org.api.post("/v1/users", data=body, headers=JSON | {"Content-Encoding": coding}, expect=415)
    assert "Content-Encoding" in details_of(reply)["reason"]


def test_staging_accepts_gzip_up_to_the_limit_after_decoding(org):
    job = org.create_import()["id"]
    coded = JSON | {"Content-Encoding": "gzip"}
    rows = {"rows": [{"rowNumber": number, "payload": {"email": email()}} for number in range(1, 501)]}
    org.api.post(f"/v1/imports/{job}/rows", data=gzip.compress(json.dumps(rows).encode()), headers=coded, expect=200)
    assert org.job(job)["staged_rows"] == 500
    bomb = gzip.compress(b'{"rows":' + b" " * (LARGE + 1) + b"[]}")
    assert len(bomb) < LARGE // 100
    org.api.post(f"/v1/imports/{job}/rows", data=bomb, headers=coded, expect=413)
    broken = gzip.compress(json.dumps(rows).encode())[:-9]
    org.api.post(f"/v1/imports/{job}/rows", data=broken, headers=coded, expect=400)
    assert org.job(job)["staged_rows"] == 500


def test_a_compressed_body_without_a_byte_is_answered_like_an_empty_body(org):
    path = f"/v1/imports/{org.create_import()['id']}/rows"
    empty = org.api.post(path, data=b"", headers=JSON, expect=400, code="BAD_REQUEST")
    coded = org.api.post(path, data=gzip.compress(b""), headers=JSON | {"Content-Encoding": "gzip"}, expect=400)
    assert error_of(coded) == error_of(empty)


@pytest.mark.parametrize("name, values", [
    ("Idempotency-Key", ("one", "two")), ("X-Expect-Organization", ("{org}", "{org}")),
    ("Content-Type", ("application/json", "application/json")),
])
def test_a_header_that_decides_must_not_be_repeated(stack, org, name, values):
    body = json.dumps({"email": email()}).encode()
    headers = {"Authorization": f"Bearer {org.key}", "Content-Type": "application/json", "Content-Length": len(body)}
    headers.pop(name, None)
    sent = [*headers.items(), *((name, value.format(org=org.id)) for value in values)]
    reply = wire.exchange(stack, wire.request_bytes("POST", "/v1/users", sent, body))
    assert reply.status == 400, reply.body
    assert name in reply.body.decode()
