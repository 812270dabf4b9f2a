"""GET /v1/users/{userId}/engagement/events: reading back events that pages tracked and modules pushed (specification
2.10, 4.2)."""

import json
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.client import details_of, faults_of
from support.world import email, in_seconds
from test_api_keys import DAY

FIELDS = ["id", "member_id", "member_external_id", "user_id", "source", "type", "action", "tags", "metadata", "client_event_id", "occurred_at",
          "received_at", "geo_country", "geo_region"]


def path_of(user):
    return f"/v1/users/{user if isinstance(user, str) else user['id']}/engagement/events"


def listed(client, user, **query):
    """All pages of the list."""
    events, cursor = [], None
    while True:
        page = client.get_json(path_of(user), params=query | ({"cursor": cursor} if cursor else {}))
        assert len(page["events"]) <= query.get("limit", 50)
        events += page["events"]
        cursor = page["next_cursor"]
        if cursor is None:
            return events


def track(org, *events):
    assert org.page_api.post("/v1/track", json={"events": list(events)}, expect=202).json()["duplicates"] == 0


def actions(events):
    return [event["action"] for event in events]


@pytest.fixture(scope="module")
def shop(module_org):
    return module_org.backend(module_org.install(module_org.published_module()))


@pytest.fixture
def ann(module_org):
    return module_org.create_user({"email": email("ann"), "external_id": "crm-" + uuid.uuid4().hex})


@pytest.fixture(params=["key", "owner", "viewer"])
def reader(request, module_org):
    """All callers that may read: the organization's key, and the sessions of an owner and a viewer."""
    return module_org.api if request.param == "key" else module_org.admin(request.param).api


# ---------------------------------------------------------------------------- fields


def test_a_tracked_event_is_read_back_as_it_was_sent(module_org, reader, ann):
    occurred = in_seconds(-3600)
    track(module_org, {"user_id": ann["id"], "action": "viewed", "tags": ["a", "ü"], "occurred_at": occurred,
                       "metadata": {"price": 12.5, "deep": [1, {}]}, "client_event_id": ann["id"] + "/1"})
    reply = reader.get(path_of(ann), expect=200)
    assert reply.headers["Cache-Control"] == "no-store"
    page = reply.json()
    assert list(page) == ["events", "next_cursor"] and page["next_cursor"] is None
    (event,) = page["events"]
    assert list(event) == FIELDS
    assert event == {
        "id": event["id"], "member_id": ann["member_id"], "member_external_id": ann["external_id"], "user_id": ann["id"],
        "source": "tracked", "type": None, "action": "viewed", "tags": ["a", "ü"], "metadata": {"price": 12.5, "deep": [1, {}]},
        "client_event_id": ann["id"] + "/1", "occurred_at": event["occurred_at"], "received_at": event["received_at"],
        "geo_country": None, "geo_region": None}
    assert uuid.UUID(event["id"]).version == 7
    assert event["occurred_at"][:19] == occurred[:19]
    assert in_seconds(-600) < event["received_at"] <= in_seconds(1)


def test_pushed_and_tracked_events_are_read_back_alike(module_org, shop, ann):
    sent = {"action": "did", "tags": ["x"], "metadata": [1.50, "s", None], "occurred_at": in_seconds(-60)}
    for name, value in (("user_id", ann["id"]), ("member_id", ann["member_id"]),
                        ("member_external_id", ann["external_id"])):
        track(module_org, sent | {name: value})
        shop.push(sent | {name: value})
    shop.push(sent | {"email": ann["email"].upper()})
    events = listed(module_org.api, ann)
    assert len(events) == 7
    assert [event["source"] for event in reversed(events)] == ["tracked", "signed"] * 3 + ["signed"]
    own = ("id", "received_at", "source")
    assert len({json.dumps({name: value for name, value in event.items() if name not in own}) for event in events}) == 1
    assert {event["client_event_id"] for event in events} == {None}


@pytest.mark.parametrize("value", ["null", '""', "0", "false", "[]", "{}", "-0", "1.10", '"\u00e9\\n"', "18446744073709551615"])
def test_metadata_keeps_the_notation_of_its_numbers(module_org, ann, value):
    body = f'{{"action": "did", "user_id": "{ann["id"]}", "metadata": {value}}}'
    module_org.page_api.post("/v1/track", data=body, headers={"Content-Type": "text/plain"}, expect=202)
    reply = module_org.api.get(path_of(ann), expect=200)
    assert f'"metadata":{value},' in reply.text
    assert json.loads(reply.content)["events"][0]["metadata"] == json.loads(value)


def test_omitted_fields_are_empty(module_org, ann):
    module_org.page_api.post("/v1/track", json={"action": "left", "user_id": ann["id"]}, expect=202)
    (event,) = listed(module_org.api, ann)
    assert event["tags"] == [] and event["metadata"] is None and event["client_event_id"] is None
    assert event["occurred_at"] == event["received_at"]


def test_the_external_id_of_the_member_is_the_current_one(module_org, ann):
    track(module_org, {"user_id": ann["id"], "action": "did"})
    module_org.update_user(ann["id"], {"external_id": "renamed"})
    assert listed(module_org.api, ann)[0]["member_external_id"] == "renamed"
    module_org.update_user(ann["id"], {"external_id": None})
    assert listed(module_org.api, ann)[0]["member_external_id"] is None


def test_a_member_without_events_has_an_empty_list(module_org, reader, ann):
    assert reader.get_json(path_of(ann)) == {"events": [], "next_cursor": None}


def test_events_of_a_locked_member_are_read_back(module_org, reader, ann):
    track(module_org, {"user_id": ann["id"], "action": "before"})
    module_org.api.post(f"/v1/users/{ann['id']}/lock", expect=200)
    track(module_org, {"user_id": ann["id"], "action": "after"})
    assert actions(listed(reader, ann)) == ["after", "before"]


def test_events_of_visitors_and_other_members_are_not_listed(module_org, ann):
    bea = module_org.create_user({"email": email("bea")})
    track(module_org, {"anonymous_id": ann["id"], "action": "visitor"}, {"user_id": bea["id"], "action": "bea"},
          {"user_id": str(uuid.uuid4()), "action": "unknown"}, {"user_id": ann["id"], "action": "ann"})
    assert actions(listed(module_org.api, ann)) == ["ann"]
    assert actions(listed(module_org.api, bea)) == ["bea"]


# ---------------------------------------------------------------------------- order and pages


def test_events_are_ordered_by_the_time_they_occurred_newest_first(module_org, shop, ann):
    times = {"third": -3 * DAY, "first": DAY - 60, "last": -30 * DAY + 60, "second": -5}
    for action, seconds in times.items():
        send = shop.push if action in ("third", "second") else lambda event: track(module_org, event)
        send({"user_id": ann["id"], "action": action, "occurred_at": in_seconds(seconds)})
    assert actions(listed(module_org.api, ann)) == ["first", "second", "third", "last"]


def test_events_of_the_same_millisecond_are_ordered_by_id_on_pages_of_any_size(module_org, reader, ann):
    moments = [in_seconds(-number * 10) for number in range(3)]
    for number in range(3):
        track(module_org, *({"user_id": ann["id"], "action": f"{number}/{i}", "occurred_at": moments[i % 3]} for i in range(40)))
    whole = listed(reader, ann, limit=100)
    assert len(whole) == 120
    assert whole == sorted(whole, key=lambda event: (event["occurred_at"], event["id"]), reverse=True)
    assert listed(reader, ann) == whole  # 50 per page
    for limit in (1, 7, 40, 60, 99):
        assert listed(reader, ann, limit=limit) == whole


def test_pages_have_the_requested_size_and_the_last_one_has_no_cursor(module_org, ann):
    track(module_org, *({"user_id": ann["id"], "action": "did"} for _ in range(100)))
    for limit, more in ((None, True), (99, True), (100, False)):
        page = module_org.api.get_json(path_of(ann), params={"limit": limit})
        assert len(page["events"]) == (limit or 50)
        assert (page["next_cursor"] is not None) == more


def test_paging_returns_each_event_once_while_others_are_added(module_org, stack, ann):
    """The added events are newer than all, or occurred exactly at the time at which the next page begins."""
    track(module_org, *({"user_id": ann["id"], "action": "old", "occurred_at": in_seconds(-60 - i // 5)} for i in range(50)))
    before = listed(module_org.api, ann)
    seen, cursor = [], None
    while True:
        page = module_org.api.get_json(path_of(ann), params={"limit": 7} | ({"cursor": cursor} if cursor else {}))
        seen += page["events"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
        mark = page["events"][-1]
        track(module_org, {"user_id": ann["id"], "action": "newer"},
              {"user_id": ann["id"], "action": "tie", "occurred_at": mark["occurred_at"]})
        stack.sql("DELETE FROM engagement_events WHERE id = UNHEX(REPLACE(%s, '-', ''))", mark["id"])
    assert seen == before


def test_events_tracked_in_parallel_are_all_read_back(module_org, ann):
    def send(worker):
        for number in range(20):
            track(module_org, {"user_id": ann["id"], "action": "did", "client_event_id": f"{ann['id']}/{worker}/{number}"})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(send, range(8)))
    names = [event["client_event_id"] for event in listed(module_org.api, ann, limit=33)]
    assert sorted(names) == sorted(f"{ann['id']}/{worker}/{number}" for worker in range(8) for number in range(20))


# ---------------------------------------------------------------------------- errors


@pytest.mark.parametrize("query, faults", [
    ({"limit": "0"}, {"limit": "out_of_range"}), ({"limit": "101"}, {"limit": "out_of_range"}),
    ({"limit": "-1"}, {"limit": "out_of_range"}), ({"limit": "ten"}, {"limit": "wrong_type"}),
    ({"cursor": "garbled"}, {"cursor": "invalid_cursor"}), ({"cursor": ""}, None),
    ({"tag": "x", "order": "up"}, {"tag": "unknown_field", "order": "unknown_field"}),
])
def test_a_query_is_validated(module_org, reader, ann, query, faults):
    reply = reader.get(path_of(ann), params=query, expect=422, code="VALIDATION_ERROR")
    assert faults is None or faults_of(reply) == faults


def test_a_cursor_is_valid_only_for_its_own_list(module_org, new_org, ann):
    bea = module_org.create_user({"email": email("bea")})
    other = new_org(attributes=False)
    there = other.create_user({"email": ann["email"]})
    assert there["id"] == ann["id"]
    for org, user in ((module_org, ann), (module_org, bea), (other, there)):
        track(org, *({"user_id": user["id"], "action": "did"} for _ in range(3)))
    cursor = module_org.api.get_json(path_of(ann), params={"limit": 1})["next_cursor"]
    assert len(module_org.api.get_json(path_of(ann), params={"cursor": cursor, "limit": 100})["events"]) == 2
    users = module_org.api.get_json("/v1/users", params={"limit": 1})["next_cursor"]
    bad = cursor[:-1] + ("A" if cursor[-1] != "A" else "B")
    for org, user, wrong in ((module_org, bea, cursor), (other, there, cursor), (module_org, ann, users), (module_org, ann, bad),
                             (module_org, ann, cursor + "A"), (module_org, ann, cursor[:-4])):
        reply = org.api.get(path_of(user), params={"cursor": wrong}, expect=422, code="VALIDATION_ERROR")
        assert faults_of(reply) == {"cursor": "invalid_cursor"}


def test_a_user_of_another_organization_gets_the_same_reply_as_when_reading_the_user(module_org, new_org, reader, ann):
    other = new_org(attributes=False)
    stranger = other.create_user({"email": email("stranger")})
    track(other, {"user_id": stranger["id"], "action": "did"})
    gone = module_org.create_user({"email": email("gone")})
    track(module_org, {"user_id": gone["id"], "action": "did"})
    module_org.api.delete(f"/v1/users/{gone['id']}", expect=204)
    for user in (stranger["id"], gone["id"], str(uuid.uuid4()), "no-uuid", ann["member_id"]):
        replies = [reader.get(path, expect=404, code="NOT_FOUND") for path in (path_of(user), f"/v1/users/{user}")]
        assert len({reply.content for reply in replies}) == 1
    # The same holds for a query that would be valid for a member.
    track(module_org, *({"user_id": ann["id"], "action": "did"} for _ in range(2)))
    cursor = module_org.api.get_json(path_of(ann), params={"limit": 1})["next_cursor"]
    reader.get(path_of(stranger), params={"cursor": cursor}, expect=422)


def test_a_new_membership_of_the_same_user_starts_without_events(module_org, ann):
    track(module_org, {"user_id": ann["id"], "action": "before"})
    module_org.api.delete(f"/v1/users/{ann['id']}", expect=204)
    again = module_org.create_user({"email": ann["email"]})
    assert again["id"] == ann["id"] and again["member_id"] != ann["member_id"]
    assert listed(module_org.api, again) == []
    track(module_org, {"user_id": ann["id"], "action": "after"})
    assert actions(listed(module_org.api, again)) == ["after"]


def test_only_the_key_of_the_organization_and_its_admins_may_read(module_org, shop, anyone, ann):
    path = path_of(ann)
    anyone.get(path, expect=401, code="UNAUTHORIZED")
    module_org.api.get(path, key="org_" + "0" * 49, expect=401, code="UNAUTHORIZED")
    module_org.admin().unverified().get(path, expect=401, code="2FA_REQUIRED")
    shop.get(path, expect=403, code="FORBIDDEN")
    # A publishable key is rejected both as a bearer token and in the query.
    anyone.get(path, key=module_org.page_api.token, expect=403, code="FORBIDDEN")
    module_org.page_api.get(path, expect=401, code="UNAUTHORIZED")
    # Operations that take such a key read it from the query or the body only.
    for method, where, sent in (("POST", "/v1/track", {"json": {"events": []}}), ("GET", "/v1/ads/serve?slot=x", {})):
        reply = anyone.request(method, where, key=module_org.page_api.token, expect=401, code="UNAUTHORIZED", **sent)
        assert details_of(reply)["reason"] == "MISSING"


def test_another_expected_organization_is_a_conflict(module_org, new_org, ann):
    expected = {"X-Expect-Organization": new_org(attributes=False).id}
    reply = module_org.api.get(path_of(ann), headers=expected, expect=409, code="CONFLICT")
    assert details_of(reply)["field"] == "X-Expect-Organization"
    module_org.api.get(path_of(ann), headers={"X-Expect-Organization": "x"}, expect=400, code="BAD_REQUEST")
    module_org.api.get(path_of(ann), headers={"X-Expect-Organization": module_org.id}, expect=200)


def test_other_methods_are_not_allowed(module_org, ann):
    reply = module_org.api.post(path_of(ann), json={}, expect=405, code="METHOD_NOT_ALLOWED")
    assert reply.headers["Allow"] == "GET, HEAD"
    assert module_org.api.request("HEAD", path_of(ann), expect=200).content == b""


# ---------------------------------------------------------------------------- retention


def test_events_are_purged_after_the_configured_number_of_days(module_org, stack, ann):
    """By the time of receipt, not by the time they occurred; events are kept indefinitely unless a number of days is
    set."""
    track(module_org, *({"user_id": ann["id"], "action": action, "occurred_at": in_seconds(-20 * DAY)}
                        for action in ("old", "new")))
    old = next(event for event in listed(module_org.api, ann) if event["action"] == "old")
    # As if it had been received eleven days ago; the id contains the time too.
    stack.sql("UPDATE engagement_events SET received_at = received_at - %s, id = CONCAT(UNHEX(LPAD(HEX(received_at), 12, '0')), "
              "SUBSTR(id, 7)) WHERE id = UNHEX(REPLACE(%s, '-', ''))", 11 * DAY * 1000, old["id"])
    stack.run_once("purge")
    assert sorted(actions(listed(module_org.api, ann))) == ["new", "old"]
    stack.run_once("purge", env={"MUSTER_JOBS_ENGAGEMENT_DAYS": "12"})
    assert sorted(actions(listed(module_org.api, ann))) == ["new", "old"]
    stack.run_once("purge", env={"MUSTER_JOBS_ENGAGEMENT_DAYS": "11"})
    assert actions(listed(module_org.api, ann)) == ["new"]


def test_all_events_are_counted_if_asked_for(module_org, reader, ann):
    track(module_org, *({"action": f"visited_{number}", "user_id": ann["id"]} for number in range(3)))
    assert "total" not in reader.get_json(path_of(ann))
    page = reader.get_json(path_of(ann), params={"limit": 1, "total": "true"})
    assert (len(page["events"]), page["total"]) == (1, {"count": 3, "exact": True})
