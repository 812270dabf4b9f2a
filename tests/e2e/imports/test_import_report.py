"""The error report: bytes of RFC 4180, the formula guard, raw cells (specification 2.5)."""

import csv
import io
import json

import pytest
from support.client import faults_of
from support.world import email, rows_of

HEADER = ("email,external_id,first_name,last_name,display_name,locale,country,dob,attributes,row_number,error_code,"
          "error_message\r\n")
BAD = {"attributes": {"no_such": 1}}
UNKNOWN = 'The attribute ""no_such"" is not enabled for this organization.'


def read(data):
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def test_the_report_contains_exactly_the_invalid_and_failed_rows_in_order(org):
    first, second, third = email("a"), email("b"), email("c")
    job_id = org.staged([
        (5, {"email": first, "first_name": 'Ann "A"', "last_name": "Lee, Jr.", "display_name": "  two  words  ",
             "locale": "en", "country": "gb", "dob": "1990-05-06", "external_id": "x;y", "attributes": {"no_such": 1}}),
        (2, {"email": second}),
        (9, {"email": second.upper(), "first_name": "ünïcödé 😀"}),
        (3, {"email": third, "attributes": {"phone": "+1", "points": 2.5}}),
    ])
    org.validate(job_id)
    org.state_is(job_id, "validated")
    duplicate = "An earlier row of this import has the same email address."
    invalid = (
        f'{first},"x;y","Ann ""A""","Lee, Jr.",two  words,en,GB,1990-05-06,"{{""no_such"":1}}",5,'
        f'ROW_ATTR_UNKNOWN_KEY,"{UNKNOWN}"\r\n'
        f"{second},,ünïcödé 😀,,,,,,,9,ROW_DUPLICATE_IN_FILE,{duplicate}\r\n"
    )
    reply = org.api.get(f"/v1/imports/{job_id}/error-report", expect=200)
    assert reply.content.decode() == HEADER + invalid
    assert reply.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert reply.headers["Content-Disposition"] == f'attachment; filename="import-{job_id}-errors.csv"'

    org.set_enabled("phone", False)
    org.commit(job_id)
    org.state_is(job_id, "completed")
    failed = (f'{third},,,,,,,,"{{""phone"":""+1"",""points"":2.5}}",3,ROW_ATTR_UNKNOWN_KEY,'
              f'"{UNKNOWN.replace("no_such", "phone")}"\r\n')
    assert org.report(job_id).decode() == HEADER + failed + invalid


def test_a_report_without_rejected_rows_is_its_header(org):
    job_id = org.staged([{"email": email()}])
    assert org.report(job_id).decode() == HEADER
    org.validate(job_id)
    org.state_is(job_id, "validated")
    assert org.report(job_id).decode() == HEADER
    org.commit(job_id)
    org.state_is(job_id, "completed")
    assert org.report(job_id).decode() == HEADER


CELLS = [
    ("=1+1", "'=1+1"), ("+49 30 1", "'+49 30 1"), ("-5", "'-5"), ("@SUM(A1)", "'@SUM(A1)"), ("'quoted'", "''quoted'"),
    ("=HYPERLINK(\"x\",\"y\")", "'=HYPERLINK(\"x\",\"y\")"), ("a=1", "a=1"), ("plain", "plain"), ("", ""),
    ("\uff1d1+1", "'\uff1d1+1"), ("\uff0b1", "'\uff0b1"), ("\uff0d1", "'\uff0d1"), ("\uff20SUM(A1)", "'\uff20SUM(A1)"),
    ("a;=cmd|' /C calc'!A0;b", "a;=cmd|' /C calc'!A0;b"),
]


def test_cells_that_a_spreadsheet_would_execute_are_guarded_unless_raw(org):
    payloads = [BAD | {"email": email(), "first_name": cell, "external_id": cell} for cell, _ in CELLS]
    job_id = org.validated(payloads)["id"]
    guarded, raw = read(org.report(job_id)), read(org.report(job_id, raw="true"))
    assert [row["first_name"] for row in guarded] == [shown for _, shown in CELLS]
    assert [row["external_id"] for row in guarded] == [shown for _, shown in CELLS]
    assert [row["first_name"] for row in raw] == [cell for cell, _ in CELLS]
    assert org.report(job_id, raw="false") == org.report(job_id)
    assert b'"\'=HYPERLINK(""x"",""y"")"' in org.report(job_id)
    assert b'''"a;=cmd|' /C calc'!A0;b"''' in org.report(job_id)  # LibreOffice splits at semicolons


def test_an_address_that_looks_like_a_formula_is_guarded(org):
    address = "=" + email("cmd")
    job_id = org.validated([BAD | {"email": address}])["id"]
    assert read(org.report(job_id))[0]["email"] == "'" + address
    assert read(org.report(job_id, raw="true"))[0]["email"] == address


def test_attributes_are_json_that_can_be_read_back(org):
    attributes = {"no_such": "line\nbreak, \"quoted\" \\ 😀", "points": -1.5, "vip": False, "interests": ["news", "x"]}
    job_id = org.validated([{"email": email(), "attributes": attributes}])["id"]
    (row,) = read(org.report(job_id))
    assert json.loads(row["attributes"]) == attributes


@pytest.mark.parametrize("query, faults", [
    ({"raw": "yes"}, {"raw": "invalid_choice"}),
    ({"raw": ""}, {"raw": "invalid_choice"}),
    ({"raw": ["true", "true"]}, {"raw": "duplicate"}),
    ({"limit": "5"}, {"limit": "unknown_field"}),
    ({"after": "-1"}, {"after": "out_of_range"}),
    ({"after": "x"}, {"after": "wrong_type"}),
    ({"after": "2147483648"}, {"after": "out_of_range"}),
])
def test_a_faulty_query_is_rejected(module_org, query, faults):
    job_id = module_org.create_import()["id"]
    reply = module_org.api.get(f"/v1/imports/{job_id}/error-report", params=query, expect=422)
    assert faults_of(reply) == faults
    module_org.cancel(job_id)


def test_a_report_of_many_rows_is_complete(org):
    payloads = [BAD | {"email": email(), "first_name": "x" * 200} for _ in range(5000)]
    job_id = org.validated(payloads)["id"]
    rows = read(org.report(job_id))
    assert [int(row["row_number"]) for row in rows] == list(range(1, 5001))
    assert [row["email"] for row in rows] == [payload["email"] for payload in payloads]
    reply = org.api.get(f"/v1/imports/{job_id}/error-report", params={"after": 4998}, expect=200)
    assert [int(row["row_number"]) for row in read(reply.content)] == [4999, 5000]
    assert reply.content.startswith(HEADER.encode())
    assert "X-Next-After" not in reply.headers and reply.headers["Content-Length"] == str(len(reply.content))
    assert org.report(job_id, after=5000) == HEADER.encode()


def test_malformed_rows_are_kept_listed_reported_and_not_imported(org):
    job_id = org.create_import()["id"]
    url = f"/v1/imports/{job_id}/rows"
    good, late = email(), email()
    payloads = [{"email": good}, {"email": late, "country": "UK", "dob": "01.02.1990"},
                {"email": "=eve at example", "attributes": {"points": {"a": 1}}, "hobby": "chess"}]
    rows = rows_of(payloads)
    org.api.post(url, json={"rows": rows}, expect=422)
    org.api.post(url, params={"faults": "reject"}, json={"rows": rows}, expect=422)
    for _ in range(2):  # a repeated call changes nothing
        assert org.stage_malformed(job_id, payloads).json() == {"staged": 3, "invalid": 2}
    listed = org.rows(job_id, error_code="ROW_FIELD_INVALID")
    assert [[(field["path"], field["code"]) for field in row["fields"]] for row in listed] == [
        [("country", "invalid_country"), ("dob", "invalid_date")],
        [("email", "invalid_email"), ("hobby", "unknown_field"), ("attributes.points", "wrong_type")]]
    assert {(row["state"], row["error_code"]) for row in listed} == {("invalid", "ROW_FIELD_INVALID")}
    assert [row["payload"]["email"] for row in listed] == [late, "=eve at example"]
    before = read(org.report(job_id))
    assert [row["email"] for row in before] == [late, "'=eve at example"]
    assert before[0]["dob"] == "01.02.1990" and before[0]["error_message"].startswith("country is not")

    # A corrected row replaces the malformed one.
    org.stage(job_id, [(2, {"email": late, "country": "GB"})])
    org.validate(job_id)
    org.state_is(job_id, "validated")
    org.commit(job_id)
    job = org.state_is(job_id, "completed")
    assert (job["created_count"], job["invalid_rows"]) == (2, 1)
    assert job["errors"] == [{"error_code": "ROW_FIELD_INVALID", "field": "email", "count": 1}]
    assert set(org.members()) == {good, late}


@pytest.mark.parametrize("row, faults", [
    ({"payload": {"email": "x"}}, {"rows[0].rowNumber": "required"}),
    ({"rowNumber": 0, "payload": {"email": "x"}}, {"rows[0].rowNumber": "out_of_range"}),
    ({"rowNumber": "1", "payload": {"email": "x"}}, {"rows[0].rowNumber": "wrong_type"}),
    ({"rowNumber": 1}, {"rows[0].payload": "required"}),
    ({"rowNumber": 1, "payload": []}, {"rows[0].payload": "wrong_type"}),
    ({"rowNumber": 1, "payload": {"email": "x"}, "more": 1}, {"rows[0].more": "unknown_field"}),
    ([], {"rows[0]": "wrong_type"}),
])
def test_a_row_without_number_or_payload_is_rejected_even_if_faults_are_kept(module_org, row, faults):
    job_id = module_org.create_import()["id"]
    reply = module_org.api.post(f"/v1/imports/{job_id}/rows", params={"faults": "keep"}, json={"rows": [row]}, expect=422)
    assert faults_of(reply) == faults
    assert module_org.rows(job_id) == []
    reply = module_org.api.post(f"/v1/imports/{job_id}/rows", params={"faults": "all"}, json={"rows": []}, expect=422)
    assert faults_of(reply) == {"faults": "invalid_choice"}
    module_org.cancel(job_id)


def test_head_of_a_report_has_no_body(org):
    job_id = org.validated([BAD | {"email": email()}])["id"]
    reply = org.api.request("HEAD", f"/v1/imports/{job_id}/error-report", expect=200)
    assert reply.content == b"" and reply.headers["Content-Type"].startswith("text/csv")
