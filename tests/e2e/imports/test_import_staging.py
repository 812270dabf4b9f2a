"""Staging rows, and listing them (specification 2.1, 2.5, 4.1, 8; docs/api/imports.md "Imports")."""

import itertools
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import fields
from support.client import details_of, faults_of
from support.world import CORE_FIELDS, email, emails, rows_of

MOST_ROWS = 250_000
numbers = itertools.count(1)


@pytest.fixture(scope="module")
def job(module_org):
    """A staging job that receives all chunks of the module."""
    return module_org.create_import()["id"]


# ---------------------------------------------------------------------------- field rules


@pytest.mark.parametrize("payload, stored", fields.GOOD, ids=lambda value: repr(value)[:40])
def test_a_valid_payload_is_stored_normalized(module_org, job, payload, stored):
    number = next(numbers)
    address = email()
    module_org.stage(job, [payload | {"email": address}], first=number)
    row = module_org.api.get_json(f"/v1/imports/{job}/rows", params={"limit": 1000})["rows"][-1]
    assert row["row_number"] == number
    assert row["payload"] == dict.fromkeys(CORE_FIELDS) | {"email": address, "attributes": {}} | stored


@pytest.mark.parametrize("written, stored", fields.GOOD_EMAILS, ids=lambda value: repr(value)[:40])
def test_deliverable_addresses_are_accepted(module_org, job, written, stored):
    number = next(numbers)
    reply = module_org.stage(job, [{"email": written.format(n=number)}], first=number, expect=None)
    if stored is None:  # only one @, even between quotes
        assert faults_of(reply) == {"rows[0].payload.email": "invalid_email"}
        return
    assert reply.status_code == 200, reply.text
    row = module_org.api.get_json(f"/v1/imports/{job}/rows", params={"limit": 1000})["rows"][-1]
    assert row["payload"]["email"] == stored.format(n=number)


@pytest.mark.parametrize("payload, faults", fields.BAD, ids=lambda value: repr(value)[:60])
def test_a_faulty_payload_is_rejected_with_paths_and_codes(module_org, job, payload, faults):
    payload = {"email": email()} | payload
    reply = module_org.stage(job, [payload], first=next(numbers), expect=422, code="VALIDATION_ERROR")
    assert faults_of(reply) == {f"rows[0].payload.{path}": code for path, code in faults.items()}


def test_a_row_number_may_be_written_with_a_fraction(org):
    job_id = org.create_import()["id"]
    body = '{"rows":[{"rowNumber":%s,"payload":{"email":"%s"}}]}'
    for number in ("1.0", "2e0"):
        org.api.post(f"/v1/imports/{job_id}/rows", data=body % (number, email()), expect=200,
                     headers={"Content-Type": "application/json"})
    reply = org.api.post(f"/v1/imports/{job_id}/rows", data=body % ("1.5", email()), expect=422,
                         headers={"Content-Type": "application/json"})
    assert faults_of(reply) == {"rows[0].rowNumber": "wrong_type"}
    assert [row["row_number"] for row in org.rows(job_id)] == [1, 2]


def test_exactly_the_assigned_countries_are_accepted_in_either_case(org):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    others = sorted({a + b for a in letters for b in letters} - set(fields.COUNTRIES))
    job_id = org.staged([{"email": email(), "country": code.lower()} for code in fields.COUNTRIES])
    assert [row["payload"]["country"] for row in org.rows(job_id, limit=1000)] == fields.COUNTRIES
    for start in range(0, len(others), 90):  # at most a hundred faults are listed
        chunk = others[start:start + 90]
        reply = org.stage(job_id, [{"email": email(), "country": code} for code in chunk], first=1000, expect=422)
        assert faults_of(reply) == {f"rows[{i}].payload.country": "invalid_country" for i in range(len(chunk))}


def test_values_that_the_registry_would_reject_are_staged(module_org, job):
    attributes = {"no_such": 1, "shirt_size": "tent", "points": "x", "vip": [1, "a", True]}
    number = next(numbers)
    module_org.stage(job, [{"email": email(), "attributes": attributes}], first=number)
    row = module_org.api.get_json(f"/v1/imports/{job}/rows", params={"limit": 1000})["rows"][-1]
    assert (row["state"], row["payload"]["attributes"]) == ("staged", attributes)


def test_absent_attribute_values_are_dropped(module_org, job):
    attributes = {"phone": "", "gender": None, "vip": False, "points": 0, "interests": []}
    number = next(numbers)
    module_org.stage(job, [{"email": email(), "attributes": attributes}], first=number)
    row = module_org.api.get_json(f"/v1/imports/{job}/rows", params={"limit": 1000})["rows"][-1]
    assert row["payload"]["attributes"] == {"vip": False, "points": 0, "interests": []}


def test_a_row_accepts_100_attributes_of_4_KiB(module_org, job):
    attributes = {f"key_{n}": "x" * 4094 for n in range(100)}  # 4,096 bytes of JSON including the quotes
    number = next(numbers)
    module_org.stage(job, [{"email": email(), "attributes": attributes}], first=number)
    row = module_org.api.get_json(f"/v1/imports/{job}/rows", params={"limit": 1000})["rows"][-1]
    assert row["payload"]["attributes"] == attributes


# ---------------------------------------------------------------------------- the call


@pytest.mark.parametrize(
    "body, faults",
    [
        ({}, {"rows": "required"}),
        ({"rows": None}, {"rows": "required"}),
        ({"rows": {}}, {"rows": "wrong_type"}),
        ({"rows": [1]}, {"rows[0]": "wrong_type"}),
        ({"rows": [{}]}, {"rows[0].rowNumber": "required", "rows[0].payload": "required"}),
        ({"rows": [{"row_number": 1, "payload": {"email": "a@b.example"}}]},
         {"rows[0].row_number": "unknown_field", "rows[0].rowNumber": "required"}),
        ({"rows": [{"rowNumber": 1, "payload": []}]}, {"rows[0].payload": "wrong_type"}),
        ({"rows": [{"rowNumber": 1, "payload": None}]}, {"rows[0].payload": "required"}),
        ({"rows": [{"rowNumber": 1, "payload": {"email": "a@b.example"}, "state": "valid"}]},
         {"rows[0].state": "unknown_field"}),
        *[({"rows": [{"rowNumber": number, "payload": {"email": "a@b.example"}}]}, {"rows[0].rowNumber": code})
          for number, code in [(0, "out_of_range"), (-1, "out_of_range"), (2**31, "out_of_range"),
                               (2**63, "out_of_range"), (1.5, "wrong_type"), ("1", "wrong_type"),
                               (True, "wrong_type")]],
        ({"rows": [{"rowNumber": 1, "payload": {"email": "a@b.example"}}], "more": []}, {"more": "unknown_field"}),
        ({"rows": rows_of([(1, {"email": "a@b.example"}), (2, {"email": "b@b.example"}), (1, {"email": "c@b.example"}),
                           (2, {"email": "d@b.example"})])},
         {"rows[2].rowNumber": "duplicate", "rows[3].rowNumber": "duplicate"}),
    ],
)
def test_a_malformed_chunk_is_rejected(module_org, job, body, faults):
    reply = module_org.api.post(f"/v1/imports/{job}/rows", json=body, expect=422, code="VALIDATION_ERROR")
    assert faults_of(reply) == faults


def test_an_empty_chunk_stages_nothing(org):
    job_id = org.create_import()["id"]
    assert org.stage(job_id, []).json() == {"staged": 0}
    assert org.job(job_id)["staged_rows"] == 0


def test_a_chunk_is_all_or_nothing_and_every_fault_is_reported(org):
    job_id = org.staged([{"email": email()}])
    before = org.rows(job_id)
    chunk = [{"email": address} for address in emails(400)]
    chunk[7]["email"] = "broken"
    chunk[399]["dob"] = "2001-02-30"
    chunk[399]["country"] = "UK"
    reply = org.stage(job_id, chunk, first=1, expect=422, code="VALIDATION_ERROR")
    assert faults_of(reply) == {
        "rows[7].payload.email": "invalid_email",
        "rows[399].payload.dob": "invalid_date",
        "rows[399].payload.country": "invalid_country",
    }
    assert "truncated" not in details_of(reply)
    assert org.rows(job_id) == before
    assert org.job(job_id)["staged_rows"] == 1


def test_a_hundred_faults_are_listed_at_most(org):
    job_id = org.create_import()["id"]
    exactly = org.stage(job_id, [{"email": "broken"}] * 100, expect=422)
    assert len(faults_of(exactly)) == 100 and "truncated" not in details_of(exactly)
    more = org.stage(job_id, [{"email": "broken"}] * 101, expect=422)
    assert details_of(more)["truncated"] is True
    assert faults_of(more) == {f"rows[{i}].payload.email": "invalid_email" for i in range(100)}
    everything = org.stage(job_id, [{"email": "broken"}] * 5000, expect=422)
    assert faults_of(everything) == faults_of(more) and details_of(everything)["truncated"] is True


def test_a_call_accepts_5000_rows_and_rejects_5001(org):
    job_id = org.create_import()["id"]
    chunk = [{"email": address} for address in emails(5001)]
    reply = org.stage(job_id, chunk, expect=422, code="VALIDATION_ERROR")
    assert faults_of(reply) == {"rows": "too_long"}
    assert org.job(job_id)["staged_rows"] == 0
    assert org.stage(job_id, chunk[:5000]).json() == {"staged": 5000}
    assert org.job(job_id)["staged_rows"] == 5000


def test_staging_a_number_again_replaces_that_row(org):
    job_id = org.staged([{"email": address, "first_name": "Old", "locale": "en"} for address in emails(3)])
    again = email()
    assert org.stage(job_id, [{"email": again, "first_name": "New"}], first=2).json() == {"staged": 1}
    rows = org.rows(job_id)
    assert [row["payload"]["first_name"] for row in rows] == ["Old", "New", "Old"]
    assert (rows[1]["payload"]["email"], rows[1]["payload"]["locale"]) == (again, None)
    assert org.job(job_id)["staged_rows"] == 3


def test_sending_a_chunk_again_changes_nothing(org):
    chunk = [(number, {"email": email()}) for number in range(1, 3001, 3)]
    job_id = org.staged(chunk)
    before = [(row["row_number"], row["payload"]) for row in org.rows(job_id, limit=1000)]
    assert org.stage(job_id, chunk).json() == {"staged": 1000}
    assert [(row["row_number"], row["payload"]) for row in org.rows(job_id, limit=1000)] == before
    assert org.job(job_id)["staged_rows"] == 1000


def test_rows_may_come_in_any_order_with_gaps_and_overlaps(org):
    job_id = org.create_import()["id"]
    wanted = {}
    for numbers_of_call in ([2**31 - 1, 1, 500], [501, 499, 1000, 1001], [500, 700, 501], [250_000_000, 3, 2]):
        chunk = [(number, {"email": email(f"n{number}")}) for number in numbers_of_call]
        org.stage(job_id, chunk)
        wanted |= {number: payload["email"] for number, payload in chunk}
    rows = org.rows(job_id)
    assert [row["row_number"] for row in rows] == sorted(wanted)
    assert {row["row_number"]: row["payload"]["email"] for row in rows} == wanted
    assert org.job(job_id)["staged_rows"] == len(wanted)


def test_parallel_calls_lose_no_row(org):
    job_id = org.create_import()["id"]
    # Eight calls that share every block of 500.
    chunks = [[(number, {"email": email()}) for number in range(1 + part, 2001, 8)] for part in range(8)]
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda chunk: org.stage(job_id, chunk).json(), chunks))
    assert replies == [{"staged": 250}] * 8
    assert org.job(job_id)["staged_rows"] == 2000
    assert [row["row_number"] for row in org.rows(job_id, whole=False, limit=1000)] == list(range(1, 2001))


def test_a_call_has_at_most_a_million_entries_and_members(org):
    job_id = org.create_import()["id"]
    payloads = [{"email": email(), "attributes": {f"a{number}": [0] * 2000 for number in range(100)}} for _ in range(5)]
    reply = org.stage(job_id, payloads, expect=400, code="BAD_REQUEST")
    assert "more than 1,000,000 array entries and object members" in reply.json()["error"]["details"]["reason"]
    assert org.stage(job_id, payloads[:4]).json() == {"staged": 4}


def test_a_block_of_large_rows_is_stored_completely(org):
    # 500 rows of 12 KB: more than one stored block can hold.
    keys = ["phone", "favourite_team", "address.city"]
    payloads = [
        {"email": email(), "attributes": {key: f"{n}:{key}:" + "x" * 4000 for key in keys}} for n in range(500)
    ]
    job_id = org.staged(payloads)
    org.stage(job_id, [payloads[250] | {"first_name": "Again"}], first=251)
    rows = org.rows(job_id, whole=False, limit=1000)
    assert [row["row_number"] for row in rows] == list(range(1, 501))
    assert all(row["payload"]["attributes"] == payloads[i]["attributes"] for i, row in enumerate(rows))
    assert [row["payload"]["first_name"] for row in rows if row["payload"]["first_name"]] == ["Again"]
    org.validate(job_id)
    org.state_is(job_id, "validated")
    org.commit(job_id)
    assert org.state_is(job_id, "completed")["created_count"] == 500
    members = org.members()
    for payload in payloads:
        stored = members[payload["email"]]["attributes"]
        assert {key: value[0] for key, value in stored.items()} == payload["attributes"]


def test_a_job_accepts_250000_rows_and_no_more(org):
    job_id = org.create_import(declared_total=MOST_ROWS)["id"]
    url = f"/v1/imports/{job_id}/rows"

    def chunk(first, count=5000):
        rows = ",".join(
            '{"rowNumber":%d,"payload":{"email":"r%d@e2e.example"}}' % (n, n) for n in range(first, first + count)
        )
        return '{"rows":[' + rows + "]}"

    def send(first, count=5000, **options):
        headers = {"Content-Type": "application/json"}
        return org.api.post(url, data=chunk(first, count), headers=headers, **options)

    with ThreadPoolExecutor(2) as pool:
        replies = list(pool.map(lambda part: send(1 + part * 5000, expect=200).json(), range(49)))
    assert replies == [{"staged": 5000}] * 49
    send(245_001, 4999, expect=200)
    refused = send(245_002, expect=422, code="IMPORT_ROW_LIMIT_EXCEEDED")  # two new rows among 4,998 old ones
    assert details_of(refused) == {"staged_rows": MOST_ROWS - 1, "limit": MOST_ROWS}
    assert org.job(job_id)["staged_rows"] == MOST_ROWS - 1
    send(MOST_ROWS - 1, 2, expect=200)
    send(245_001, expect=200)  # all of them again: no new row
    send(MOST_ROWS + 1, 1, expect=422, code="IMPORT_ROW_LIMIT_EXCEEDED")
    job = org.job(job_id)
    assert (job["staged_rows"], job["state"]) == (MOST_ROWS, "staging")
    last = org.api.get_json(url, params={"limit": 2, "state": "staged"})
    assert [row["row_number"] for row in last["rows"]] == [1, 2]
    org.cancel(job_id)


# ---------------------------------------------------------------------------- the listing


def test_a_row_record_has_every_field(org):
    payload = {"email": email(), "external_id": "E1", "first_name": "Ann", "last_name": "Lee", "display_name": "A. Lee",
               "locale": "en-GB", "country": "GB", "dob": "1990-05-06", "attributes": {"points": 1.5}}
    job_id = org.staged([(7, payload)])
    (row,) = org.rows(job_id)
    times = row.pop("created_at"), row.pop("updated_at")
    assert times[0] == times[1]
    assert row == {"id": f"{job_id}:7", "job_id": job_id, "row_number": 7, "state": "staged", "error_code": None,
                   "error_message": None, "fields": [], "user_id": None, "payload": payload}


def test_rows_can_be_listed_by_state(org):
    known = org.create_user({"email": email()})
    other = email("twice")
    rows = [{"email": known["email"]}, {"email": other}, {"email": other}, {"email": email(), "attributes": {"x": 1}}]
    job_id = org.staged(rows)

    def listed():
        states = ("staged", "valid", "invalid", "created", "attached", "merged", "failed")
        by_state = {state: [row["row_number"] for row in org.rows(job_id, state=state)] for state in states}
        return {state: found for state, found in by_state.items() if found}

    assert listed() == {"staged": [1, 2, 3, 4]}
    org.validate(job_id)
    org.state_is(job_id, "validated")
    assert listed() == {"valid": [1, 2], "invalid": [3, 4]}
    org.commit(job_id)
    org.state_is(job_id, "completed")
    assert listed() == {"merged": [1], "created": [2], "invalid": [3, 4]}


def test_rows_can_be_listed_by_several_states_and_by_error(org):
    twice = email("twice")
    rows = [{"email": twice}, {"email": twice}, {"email": email(), "attributes": {"x": 1}}]
    job = org.imported(rows)

    def listed(**query):
        return [row["row_number"] for row in org.rows(job["id"], **query)]

    assert listed(state="created,invalid") == [1, 2, 3]
    assert listed(state="invalid,failed", limit=1) == [2, 3]
    assert listed(error_code="ROW_DUPLICATE_IN_FILE") == [2]
    assert listed(error_code="ROW_ATTR_UNKNOWN_KEY", state="invalid,created") == [3]
    assert listed(error_code="ROW_WRITE_FAILED") == []
    assert job["errors"] == [{"error_code": "ROW_DUPLICATE_IN_FILE", "field": "email", "count": 1},
                             {"error_code": "ROW_ATTR_UNKNOWN_KEY", "field": "attributes.x", "count": 1}]


@pytest.mark.parametrize("query, code", [
    ("state=invalid,wrong", "invalid_choice"), ("state=", "invalid_choice"), ("state=invalid,", "invalid_choice"),
    ("state=invalid,invalid", "duplicate"), ("state=invalid&state=failed", "duplicate"), ("error_code=", "invalid_choice"),
    ("error_code=ROW_OTHER", "invalid_choice")])
def test_unknown_states_and_errors_are_rejected(module_org, job, query, code):
    reply = module_org.api.get(f"/v1/imports/{job}/rows?{query}", expect=422)
    assert [field["code"] for field in details_of(reply)["fields"]] == [code]


def test_musterctl_shows_errors_and_the_place_in_the_queue(org, stack, no_runner):
    job_id = org.staged([{"email": email(), "attributes": {"x": 1}}])
    org.validate(job_id)
    shown = stack.ctl("import", "show", "--org", org.id, "--id", job_id)
    assert shown["queue_position"] >= 1 and shown["phase_started_at"] and shown["errors"] == []
    stack.run_once()
    done = stack.ctl_raw("import", "show", "--org", org.id, "--id", job_id)
    assert "error: ROW_ATTR_UNKNOWN_KEY attributes.x 1\n" in done.stdout
    assert "queue_position" not in done.stdout


@pytest.mark.parametrize("limit", [1, 7, 100, 999, 1000, None])
def test_the_listing_is_paged_without_gap_or_repetition(module_org, job, limit):
    module_org.stage(job, [(10_000 + 3 * n, {"email": email()}) for n in range(20)])
    want = [row["row_number"] for row in module_org.rows(job, limit=1000)]
    first = module_org.api.get_json(f"/v1/imports/{job}/rows", params={"limit": limit} if limit else {})
    assert len(first["rows"]) == min(limit or 100, len(want))
    query = {"limit": limit} if limit else {}
    assert [row["row_number"] for row in module_org.rows(job, **query)] == want


def test_a_page_that_ends_with_the_last_row_has_no_cursor(org):
    job_id = org.staged([{"email": address} for address in emails(4)])
    page = org.api.get_json(f"/v1/imports/{job_id}/rows", params={"limit": 4})
    assert len(page["rows"]) == 4 and page["next_cursor"] is None
    page = org.api.get_json(f"/v1/imports/{job_id}/rows", params={"limit": 3})
    rest = org.api.get_json(f"/v1/imports/{job_id}/rows", params={"limit": 3, "cursor": page["next_cursor"]})
    assert len(rest["rows"]) == 1 and rest["next_cursor"] is None


def pages_of(org, job_id):
    """(the bytes of each page, all rows)"""
    sizes, rows, cursor = [], [], None
    while not sizes or cursor:
        params = {"limit": 1000} | ({"cursor": cursor} if cursor else {})
        reply = org.api.get(f"/v1/imports/{job_id}/rows", params=params, whole=False, expect=200)
        page, cursor = reply.json()["rows"], reply.json()["next_cursor"]
        sizes.append(len(reply.content))
        rows += page
        assert page
    return sizes, rows


LONGEST_PAGE = 4 << 20


def test_a_page_of_large_rows_is_shortened_and_the_cursor_continues(org):
    value = "x" * 4090
    payloads = [{"email": email(), "attributes": {f"key_{n}": value for n in range(100)}} for _ in range(38)]
    job_id = org.staged(payloads)
    sizes, rows = pages_of(org, job_id)
    assert [row["row_number"] for row in rows] == list(range(1, 39))
    assert [row["payload"]["email"] for row in rows] == [payload["email"] for payload in payloads]
    assert len(sizes) > 1 and LONGEST_PAGE * 0.8 < max(sizes) <= LONGEST_PAGE


def test_a_page_of_malformed_rows_with_long_keys_is_shortened_and_the_cursor_continues(org):
    payload = {f"\x01{number:03}" + "\x01" * 60: 1 for number in range(10)}
    job_id = org.create_import()["id"]
    for first in (1, 501):
        org.stage_malformed(job_id, [payload] * 500, first)
    sizes, rows = pages_of(org, job_id)
    assert [row["row_number"] for row in rows] == list(range(1, 1001)) and len(rows[0]["fields"]) == 10
    assert len(sizes) > 1 and LONGEST_PAGE * 0.8 < max(sizes) <= LONGEST_PAGE


def test_a_filtered_listing_is_paged_over_blocks_without_matching_rows(org):
    payloads = [{"email": email()} for _ in range(3000)]
    invalid = [1, 2, 1499, 1500, 1501, 2999, 3000]
    for number in invalid:
        payloads[number - 1]["attributes"] = {"no_such": 1}
    job_id = org.validated(payloads)["id"]
    assert [row["row_number"] for row in org.rows(job_id, state="invalid", limit=2)] == invalid
    assert {row["error_code"] for row in org.rows(job_id, state="invalid")} == {"ROW_ATTR_UNKNOWN_KEY"}


def test_a_number_keeps_its_exact_value_in_staging(module_org, job):
    written = '{"rows":[{"rowNumber":%d,"payload":{"email":"%s","attributes":{"points":%s}}}]}'
    for text in ("1", "-0.5", "1e3", "123456789012345678", "0.1", "1.7976931348623157e308", "4.9e-324"):
        number = next(numbers)
        module_org.api.post(f"/v1/imports/{job}/rows", data=written % (number, email(), text), expect=200,
                            headers={"Content-Type": "application/json"})
        reply = module_org.api.get(f"/v1/imports/{job}/rows", params={"limit": 1000})
        row = next(row for row in json.loads(reply.content)["rows"] if row["row_number"] == number)
        assert row["payload"]["attributes"]["points"] == json.loads(text)
