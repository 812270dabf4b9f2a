"""Members as CSV that can be imported again (docs/api/users.md "GET /v1/users/export")."""

import csv
import io

import pytest
from support.client import faults_of
from support.world import CORE_FIELDS, email, emails

FULL = {
    "external_id": "=1+1", "first_name": "Ann, \"A\"", "last_name": "-Lee", "display_name": "Zoë\u00a0L", "locale": "en-GB",
    "country": "GB", "dob": "1990-05-06",
    "attributes": {"phone": "+49 30 1", "points": -5.5, "vip": False, "joined": "2020-01-02", "interests": ["news", "events"]},
}


def read(reply):
    return list(csv.DictReader(io.StringIO(reply.content.decode(), newline="")))


def exported(org, **query):
    """All records, answer after answer."""
    records, cursor = [], None
    while True:
        reply = org.api.get("/v1/users/export", params=query | ({"cursor": cursor} if cursor else {}), expect=200)
        records += read(reply)
        cursor = reply.headers.get("X-Next-Cursor")
        if cursor is None:
            return records


def test_an_export_has_the_columns_of_an_import(org):
    user = org.create_user(FULL | {"email": email()})
    reply = org.api.get("/v1/users/export", expect=200)
    assert reply.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert reply.headers["Content-Disposition"] == 'attachment; filename="members.csv"'
    header = next(csv.reader(io.StringIO(reply.content.decode())))
    assert header[:8] == list(CORE_FIELDS)
    assert header[8:] == sorted(header[8:]) and {"phone", "points", "vip", "joined", "interests"} <= set(header[8:])
    (record,) = read(reply)
    assert record["email"] == user["email"] and record["first_name"] == FULL["first_name"]
    assert (record["external_id"], record["last_name"], record["phone"]) == ("'=1+1", "'-Lee", "'+49 30 1")
    assert (record["points"], record["vip"], record["interests"]) == ("'-5.5", "false", "news;events")
    (raw,) = read(org.api.get("/v1/users/export", params={"raw": "true"}, expect=200))
    assert (raw["external_id"], raw["points"]) == ("=1+1", "-5.5")


def test_an_exported_file_can_be_imported_again(org, new_org, tmp_path):
    other = new_org()
    for one in (org, other):
        for key in ("attributes", "country"):  # also the names of columns with another meaning
            one.admin().api.request("PUT", f"/v1/attributes/{key}", json={"label": key, "type": "text", "enabled": True})
    org.create_user(FULL | {"email": email(), "attributes": FULL["attributes"] | {"country": "Wales", "attributes": "none"}})
    names = ["'quoted", "\uff1d1+1", "\uff0b\uff0d\uff20", "a;=1", "'=1", "a\u00a0b"]
    for number, address in enumerate(emails(20)):
        org.create_user({"email": address, "first_name": names[number % len(names)], "attributes": {"interests": ["news"]}})
    (tmp_path / "members.csv").write_bytes(org.api.get("/v1/users/export", expect=200).content)
    (tmp_path / "key").write_text(other.key)
    (tmp_path / "key").chmod(0o600)
    done = org.stack.program("muster-import", str(tmp_path / "members.csv"), "--url", org.stack.base_url, "--key-file",
                             str(tmp_path / "key"), "--ca-file", org.stack.ca_file, "--commit", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr

    def values(of):
        return {address: {name: value for name, value in row.items() if name in FULL and name != "attributes"}
                | {"attributes": {key: value[0] for key, value in row["attributes"].items()}}
                for address, row in of.members().items()}

    assert values(other) == values(org)


def test_an_export_continues_after_its_cursor(org):
    addresses = sorted(emails(30))
    for address in addresses:
        org.create_user({"email": address})
    listed = []
    for limit in (7, 30, 31):
        records = exported(org, limit=limit)
        listed.append([record["email"] for record in records])
        assert sorted(listed[-1]) == addresses
    assert listed[0] == listed[1] == listed[2]


def test_an_export_takes_the_filters_of_the_list(org):
    locked, other = (org.create_user({"email": email(), "external_id": name, "last_name": "Same"}) for name in "ab")
    org.api.post(f"/v1/users/{locked['id']}/lock", expect=200)
    for query, users in (({"status": "locked"}, [locked]), ({"external_id": "b"}, [other]), ({"q": "same"}, [locked, other]),
                         ({"email": other["email"]}, [other]), ({"q": "same", "status": "active"}, [other]),
                         ({"updated_since": "2100-01-01T00:00:00Z"}, [])):
        assert sorted(record["email"] for record in exported(org, **query)) == sorted(user["email"] for user in users), query


@pytest.mark.parametrize("query, faults", [
    ({"limit": "0"}, {"limit": "out_of_range"}), ({"limit": "10001"}, {"limit": "out_of_range"}),
    ({"cursor": "x"}, {"cursor": "invalid_cursor"}), ({"raw": "yes"}, {"raw": "invalid_choice"}), ({"format": "csv"}, {"format": "unknown_field"})])
def test_a_faulty_query_is_rejected(module_org, query, faults):
    assert faults_of(module_org.api.get("/v1/users/export", params=query, expect=422)) == faults


def test_a_cursor_is_valid_only_for_its_filters_and_its_organization(org, new_org):
    for address in emails(2):
        org.create_user({"email": address})
    cursor = org.api.get("/v1/users/export", params={"limit": 1}, expect=200).headers["X-Next-Cursor"]
    for client, query in ((org.api, {"status": "active"}), (new_org().api, {})):
        reply = client.get("/v1/users/export", params=query | {"cursor": cursor}, expect=422)
        assert faults_of(reply) == {"cursor": "invalid_cursor"}


def test_other_methods_on_the_path_of_the_export_change_nothing(module_org):
    for method in ("PATCH", "DELETE"):
        module_org.api.request(method, "/v1/users/export", json={} if method == "PATCH" else None, expect=405)


def test_a_long_export_without_room_for_its_file_is_503(stack, new_org, tmp_path):
    """A longer answer than 4 MiB needs a temporary file."""
    org = new_org()
    org.imported([{"email": address, "attributes": {"phone": "x" * 4000}} for address in emails(1300)])
    few = {"limit": 100}
    stack.restart_server({"TMPDIR": str(tmp_path / "missing")})
    try:
        reply = org.api.get("/v1/users/export", expect=503)
        assert reply.headers["Retry-After"] == "10" and reply.json()["error"]["code"] == "SERVICE_UNAVAILABLE"
        assert f"a temporary file in {tmp_path}/missing cannot be created" in stack.log("musterd")
        assert len(read(org.api.get("/v1/users/export", params=few, expect=200))) == 100
    finally:
        stack.restart_server()
    reply = org.api.get("/v1/users/export", expect=200)
    assert len(reply.content) > 4 << 20 and len(read(reply)) == 1300
