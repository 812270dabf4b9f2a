"""GET /v1/engagement/events: the organization's events of the last 24 hours (docs/engagement.md "Reading events back")."""

import time

from support.world import email


def test_events_of_members_and_visitors_are_listed_newest_first(new_org):
    org, other = new_org(attributes=False), new_org(attributes=False)
    user = org.create_user({"email": email(), "external_id": "crm-1"})
    org.page_api.post("/v1/track", json={"action": "first", "user_id": user["id"]}, expect=202)
    org.page_api.post("/v1/track", json={"action": "second", "anonymous_id": "v-1", "tags": ["cup"]}, expect=202)
    shown = org.api.get_json("/v1/engagement/events")
    assert [event["action"] for event in shown["events"]] == ["second", "first"] and shown["next_cursor"] is None
    visitor, member = shown["events"]
    assert (visitor["user_id"], visitor["anonymous_id"], visitor["tags"]) == (None, "v-1", ["cup"])
    assert (member["user_id"], member["member_external_id"], member["anonymous_id"]) == (user["id"], "crm-1", None)
    read_back = org.api.get_json(f"/v1/users/{user['id']}/engagement/events")["events"][0]
    assert member == read_back | {"anonymous_id": None}
    assert other.api.get_json("/v1/engagement/events") == {"events": [], "next_cursor": None}
    assert org.admin("viewer").api.get_json("/v1/engagement/events") == shown


def test_pages_follow_each_other_and_end_after_a_day(new_org, stack):
    org = new_org(attributes=False)
    for number in range(5):
        org.page_api.post("/v1/track", json={"action": f"a{number}", "anonymous_id": "v"}, expect=202)
    seen, cursor = [], None
    while True:
        page = org.api.get_json("/v1/engagement/events", params={"limit": 2} | ({"cursor": cursor} if cursor else {}))
        seen += [event["action"] for event in page["events"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == ["a4", "a3", "a2", "a1", "a0"]
    old = f"{int((time.time() - 86_500) * 1000):012x}"
    stack.sql("UPDATE engagement_events SET id = UNHEX(CONCAT(%s, SUBSTR(HEX(id), 13))) WHERE action = 'a0' AND "
              "organization_id = UNHEX(REPLACE(%s, '-', ''))", old, org.id)
    assert len(org.api.get_json("/v1/engagement/events")["events"]) == 4
    for limit in (0, 101):
        org.api.get("/v1/engagement/events", params={"limit": limit}, expect=422, code="VALIDATION_ERROR")


def test_ingested_events_are_signed_ones(new_org):
    org = new_org(attributes=False)
    org.records()  # among them an event that a module ingested
    user = org.create_user({"email": email()})
    org.module_api.post("/v1/ingest", json={"events": [{"action": "bought", "user_id": user["id"]}]}, expect=202)
    events = org.api.get_json("/v1/engagement/events")["events"]
    assert (events[0]["action"], events[0]["source"], events[0]["user_id"]) == ("bought", "signed", user["id"])
