"""What an organization may store in a day, and /v1/organization/usage (docs/api/limits.md "Limits of a day")."""

import datetime
import time

import pytest
from support.client import SHOP, details_of
from support.stack import numbers, wait_for
from support.world import email, emails

DAY_KINDS = {"staged_bytes": 2 << 30, "reply_bytes": 4 << 30, "audit_entries": 20_000, "issued_keys": 1_000,
             "member_jobs": 200, "tracked_bytes": 4 << 30, "ingested_bytes": 4 << 30, "member_bytes": 4 << 30}


def rows(count):
    return [{"email": address} for address in emails(count)]


def usage(client):
    return {row["quota"]: row for row in client.get_json("/v1/organization/usage")["usage"]}


def use_up(org, kind):
    """Counts the whole limit of today, as if the organization had used it."""
    org.stack.sql(
        "INSERT INTO organization_days (organization_id, day, kind, slot, amount) "
        "VALUES (UNHEX(REPLACE(%s, '-', '')), %s, %s, 0, %s) ON DUPLICATE KEY UPDATE amount = VALUES(amount)",
        org.id, int(time.time() // 86_400), kind, DAY_KINDS[kind])


def refusal_of(reply, kind):
    """The details of a refused request, whose form is the same for all limits."""
    details = details_of(reply)
    assert (details["quota"], details["maximum"]) == (kind, DAY_KINDS[kind])
    frees_at = datetime.datetime.fromisoformat(details["frees_at"].replace("Z", "+00:00"))
    assert (frees_at.hour, frees_at.minute, frees_at.second) == (0, 0, 0)
    assert abs(frees_at.timestamp() - time.time() - int(reply.headers["Retry-After"])) < 30
    return details


def test_keys_and_admins_see_the_use_of_each_limit(new_org):
    org = new_org(attributes=False)
    before = usage(org.api)
    assert {kind: row["maximum"] for kind, row in before.items() if row["frees_at"]} == DAY_KINDS
    assert before["api_keys"]["maximum"] == 100 and before["waiting_deliveries"]["maximum"] >= 100
    org.staged(rows(20))
    viewer = org.admin("viewer").api
    after = usage(viewer)
    assert after["staged_bytes"]["used"] > before["staged_bytes"]["used"]
    assert after["audit_entries"]["used"] >= 1
    assert viewer.get_json("/v1/organization/usage")["organization_id"] == org.id


def test_the_operator_sees_the_same(new_org, stack):
    org = new_org(attributes=False)
    org.staged(rows(3))
    shown = stack.ctl("org", "usage", org.id)
    assert shown == org.api.get_json("/v1/organization/usage")
    text = stack.ctl_raw("org", "usage", org.id).stdout
    assert text.splitlines()[0].split() == ["QUOTA", "USED", "MAXIMUM", "FREES", "AT"]
    assert any(line.split()[:3] == ["api_keys", "1", "100"] for line in text.splitlines())
    without = stack.ctl_raw("org", "usage")
    assert without.returncode == 2 and "needs one ORG" in without.stderr


def test_rows_and_jobs_beyond_the_bytes_of_a_day_are_refused(new_org):
    org = new_org(attributes=False)
    job = org.create_import()["id"]
    row = {"rowNumber": 1, "payload": {"email": email()}}
    use_up(org, "staged_bytes")
    refused = org.api.post(f"/v1/imports/{job}/rows", json={"rows": [row]}, expect=429, code="QUOTA_EXCEEDED")
    details = refusal_of(refused, "staged_bytes")
    assert "bytes of import rows and mappings today" in details["reason"]
    assert org.job(job)["staged_rows"] == 0
    org.cancel(job)
    body = {"file_name": "m.csv", "declared_total": 1,
            "mapping": {"columns": [{"sourceColumn": "Mail", "target": "core_field", "fieldKey": "email"}]}}
    refusal_of(org.api.post("/v1/imports", json=body, expect=429, code="QUOTA_EXCEEDED"), "staged_bytes")
    assert usage(org.api)["staged_bytes"]["used"] == DAY_KINDS["staged_bytes"]


def test_member_jobs_beyond_the_number_of_a_day_are_refused(new_org):
    org = new_org(attributes=False)
    body = {"action": "lock", "filter": {"country": "DE"}}
    job = org.api.post("/v1/member-jobs", json=body, expect=201).json()["id"]
    org.api.post(f"/v1/member-jobs/{job}/cancel", expect=200)
    assert usage(org.api)["member_jobs"]["used"] == 1
    use_up(org, "member_jobs")
    refused = org.api.post("/v1/member-jobs", json=body, expect=429, code="QUOTA_EXCEEDED")
    assert "200 of 200 new member jobs today" in refusal_of(refused, "member_jobs")["reason"]
    assert [one["id"] for one in org.api.get_json("/v1/member-jobs")["member_jobs"]] == [job]


def test_replies_beyond_the_bytes_of_a_day_are_not_recorded(new_org, stack):
    org = new_org(attributes=False)
    body = {"email": email()}
    org.api.post("/v1/users", json=body, headers={"Idempotency-Key": "before"}, expect=201)
    use_up(org, "reply_bytes")
    stack.reload("musterd")  # a worker knows what was used when it last looked
    refused = org.api.post("/v1/users", json={"email": email()}, headers={"Idempotency-Key": "after"},
                           expect=429, code="QUOTA_EXCEEDED")
    assert "without an Idempotency-Key" in refusal_of(refused, "reply_bytes")["reason"]
    again = org.api.post("/v1/users", json=body, headers={"Idempotency-Key": "before"}, expect=201)
    assert again.headers["Idempotency-Replayed"] == "true"
    org.api.post("/v1/users", json={"email": email()}, expect=201)


def heavy_events(count, **reference):
    return {"events": [{"action": "seen", "metadata": "x" * 8000} | reference for _ in range(count)]}


def track(page, count):
    return page.post("/v1/track", json=heavy_events(count, anonymous_id="v"))


def test_tracked_events_beyond_the_bytes_of_a_day_are_refused(new_org, stack):
    org, other = new_org(attributes=False), new_org(attributes=False)
    shop = org.backend(org.install(org.published_module()))
    ann = org.create_user({"email": email()})
    with stack.configured("[limits]", "tracked_mib = 1"):
        replies = []

        def is_full():
            replies.append(track(org.page_api, 100))
            return replies[-1].status_code == 429

        wait_for(is_full, "the day to be full")
        refused = replies[-1]
        details = details_of(refused)
        assert refused.json()["error"]["code"] == "QUOTA_EXCEEDED"
        assert (details["quota"], details["maximum"]) == ("tracked_bytes", 1 << 20) and details["used"] >= 1 << 20
        assert 0 < int(refused.headers["Retry-After"]) <= 86_401
        assert refused.headers["Access-Control-Allow-Origin"] == SHOP
        stored = sum(reply.status_code == 202 for reply in replies) * 100
        [[rows_stored]] = stack.sql(
            "SELECT COUNT(*) FROM engagement_events WHERE organization_id = UNHEX(REPLACE(%s, '-', ''))", org.id)
        assert rows_stored == stored
        assert usage(org.api)["tracked_bytes"]["maximum"] == 1 << 20
        wait_for(lambda: usage(org.api)["tracked_bytes"]["used"] >= stored * 8350, "the collectors to write what they stored")
        # Neither another organization nor the module's signed events are affected.
        assert track(other.page_api, 1).status_code == 202
        assert shop.post("/v1/ingest", json=heavy_events(1, user_id=ann["id"]), expect=202).json()["accepted"] == 1
    assert track(org.page_api, 1).status_code == 202


def test_ingested_events_beyond_the_bytes_of_a_day_are_refused_but_replayed(new_org, stack):
    org = new_org(attributes=False)
    shop = org.backend(org.install(org.published_module()))
    ann = org.create_user({"email": email()})
    body = heavy_events(1, user_id=ann["id"])
    shop.post("/v1/ingest", json=body, headers={"Idempotency-Key": "before"}, expect=202)
    use_up(org, "ingested_bytes")
    stack.reload("musterd")  # a worker knows what was used when it last looked
    refusal_of(shop.post("/v1/ingest", json=body, headers={"Idempotency-Key": "after"}, expect=429, code="QUOTA_EXCEEDED"),
               "ingested_bytes")
    again = shop.post("/v1/ingest", json=body, headers={"Idempotency-Key": "before"}, expect=202)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert track(org.page_api, 1).status_code == 202


def test_members_beyond_the_bytes_of_a_day_are_refused_and_can_be_removed(new_org, stack):
    org, other = new_org(attributes=False), new_org(attributes=False)
    ann = org.user(org.create_user({"email": email()})["id"])
    before = {"json": {"email": email()}, "headers": {"Idempotency-Key": "before"}}
    org.api.post("/v1/users", **before, expect=201)
    use_up(org, "member_bytes")
    stack.reload("musterd")  # a worker knows what was used when it last looked
    user = f"/v1/users/{ann['id']}"
    refused = [org.api.post("/v1/users", json={"email": email()}), org.api.request("PATCH", user, json={"first_name": "Ann"}),
               org.api.post(f"{user}/lock", json={}), org.api.post(f"{user}/unlock")]
    for reply in refused:
        assert (reply.status_code, reply.json()["error"]["code"]) == (429, "QUOTA_EXCEEDED")
        assert "imports, reading and removing still work" in refusal_of(reply, "member_bytes")["reason"]
    assert org.user(ann["id"]) == ann
    assert org.api.post("/v1/users", **before, expect=201).headers["Idempotency-Replayed"] == "true"
    other.create_user({"email": email()})
    assert org.imported(rows(2))["created_count"] == 2
    org.api.delete(user, expect=204)


def test_a_worker_that_ends_writes_the_bytes_that_it_counted(new_org, stack):
    org = new_org(attributes=False)
    assert track(org.page_api, 1).status_code == 202
    assert usage(org.api)["tracked_bytes"]["used"] == 0
    stack.reload("musterd")
    assert 8350 < usage(org.api)["tracked_bytes"]["used"] < 8400


def test_admins_can_read_and_delete_when_the_audit_log_of_the_day_is_full(new_org, stack):
    org = new_org(attributes=False)
    admin = org.admin().api
    key = admin.post("/v1/api-keys", json={"name": "one"}, expect=201).json()
    stack.keys_issued.append(key["key"])
    use_up(org, "audit_entries")
    refusal_of(admin.post("/v1/api-keys", json={"name": "two"}, expect=429, code="QUOTA_EXCEEDED"), "audit_entries")
    refusal_of(admin.post("/v1/users", json={"email": email()}, expect=429, code="QUOTA_EXCEEDED"), "audit_entries")
    assert admin.get_json("/v1/api-keys")["api_keys"]
    admin.delete(f"/v1/api-keys/{key['id']}", expect=204)
    org.api.post("/v1/users", json={"email": email()}, expect=201)
    admin.delete("/v1/session", expect=204)


def test_an_organization_has_at_most_a_hundred_valid_keys(new_org, stack):
    org = new_org(attributes=False)
    admin = org.admin().api
    stack.sql(
        "INSERT INTO api_keys (organization_id, id, name, secret_hash, last_four, created_at) "
        "SELECT UNHEX(REPLACE(%s, '-', '')), UNHEX(LEFT(SHA2(CONCAT(UUID(), seq), 256), 32)), 'k', UNHEX(SHA2(CONCAT(UUID(), seq), 256)), "
        f"'last', 1 FROM {numbers(98)}", org.id)
    key = admin.post("/v1/api-keys", json={"name": "the hundredth"}, expect=201).json()
    stack.keys_issued.append(key["key"])
    refused = admin.post("/v1/api-keys", json={"name": "one more"}, expect=409, code="INVALID_STATE")
    assert details_of(refused)["reason"] == "an organization has at most 100 valid API keys; revoke one first"
    admin.delete(f"/v1/api-keys/{key['id']}", expect=204)
    successor = admin.post("/v1/api-keys", json={"name": "another"}, expect=201).json()
    stack.keys_issued.append(successor["key"])


@pytest.mark.parametrize("is_validated", [False, True])
def test_the_runner_deletes_the_rows_of_a_canceled_job(new_org, is_validated):
    org = new_org(attributes=False)
    job = org.validated(rows(40))["id"] if is_validated else org.staged(rows(40))
    canceled = org.cancel(job)
    assert canceled.json()["staged_rows"] == 40
    wait_for(lambda: org.rows(job) == [], "the rows of the canceled job are still there")
    assert org.job(job)["staged_rows"] == 40 and org.job(job)["state"] == "canceled"
