"""…/webhook-endpoints/{endpointId}/deliveries, test, recover, and musterctl webhook: the states of an endpoint's
deliveries, and sending them again (docs/webhooks.md "Deliveries"). For the runner see test_webhook_delivery.py."""

import json
import uuid

import pytest
from support.client import faults_of
from support.modules import delivering
from support.stack import wait_for
from support.webhooks import LONG_AGO, listed, patched, read, set_delivery, tried
from support.world import NO_LISTENER, email, path_of_endpoint


@pytest.fixture
def admin(module_org):
    return module_org.admin().api


@pytest.fixture
def make(module_org, installed):
    """Creates an endpoint; returns its path."""
    return lambda **fields: path_of_endpoint(module_org.create_endpoint(installed, **fields))


@pytest.fixture
def endpoint(make):
    return make()


@pytest.fixture
def own(new_org):
    """A new organization with an installation."""
    org = new_org(attributes=False)
    return org, org.install(org.published_module())


# ---------------------------------------------------------------------------- deliveries


def test_a_test_event_is_an_ordinary_delivery(module_org, admin, endpoint, no_runner):
    delivery = tried(admin, endpoint)
    assert delivery["event_type"] == "webhook_endpoint.test" and delivery["status"] == "pending"
    assert delivery["attempts"] == [] and delivery["next_attempt_at"] == delivery["created_at"]
    assert delivery["webhook_id"].startswith("msg_") and "." not in delivery["webhook_id"]
    for client in (module_org.api, module_org.viewer().api):
        shown = read(client, endpoint, delivery)
        assert shown == delivery | {"request_headers": [], "payload": shown["payload"]}
    assert json.loads(shown["payload"])["data"]["endpoint_id"] == delivery["endpoint_id"]


def test_an_event_waits_for_each_endpoint_that_subscribes_to_it(stack, own, no_runner):
    org, installation = own
    client = org.admin().api
    active, paused, disabled, other = (path_of_endpoint(org.create_endpoint(installation)) for _ in range(4))
    patched(client, paused, status="paused")
    patched(client, disabled, status="disabled")
    patched(client, other, subscribed_event_types=["member.locked"])
    org.create_user({"email": email()})

    def found_deliveries():
        return [listed(org.api, f"{endpoint}/deliveries", "deliveries") for endpoint in (active, paused, disabled, other)]

    assert found_deliveries() == [[], [], [], []]
    with delivering(stack):
        wait_for(lambda: sum(map(len, found_deliveries())) == 2, "the runner to create the deliveries")
    found = found_deliveries()
    types = [[delivery["event_type"] for delivery in deliveries] for deliveries in found]
    assert types == [["member.created"], ["member.created"], [], []]
    assert found[0][0]["webhook_id"] == found[1][0]["webhook_id"] and found[0][0]["id"] != found[1][0]["id"]


def test_deliveries_are_listed_newest_first_and_filtered(stack, admin, endpoint, make, no_runner):
    made = [tried(admin, endpoint) for _ in range(5)]
    set_delivery(stack, made[1], "failed")
    set_delivery(stack, made[3], "succeeded")
    everything = listed(admin, f"{endpoint}/deliveries", "deliveries", limit=2)
    assert [delivery["id"] for delivery in everything] == [delivery["id"] for delivery in reversed(made)]
    for query, expected in (
            ({"status": "failed"}, [made[1]]), ({"status": "succeeded", "event_type": "webhook_endpoint.test"}, [made[3]]),
            ({"status": "canceled"}, []), ({"event_type": "member.created"}, []), ({"class": "timeout"}, []),
            ({"since": made[0]["created_at"], "until": made[0]["created_at"]}, []), ({"until": LONG_AGO}, []),
            ({"status": "failed", "since": LONG_AGO}, [made[1]]),
            ({"status": "pending", "limit": 1}, [made[4], made[2], made[0]])):
        found = listed(admin, f"{endpoint}/deliveries", "deliveries", **query)
        assert [delivery["id"] for delivery in found] == [delivery["id"] for delivery in expected], query
    cursor = admin.get_json(f"{endpoint}/deliveries", params={"limit": 1})["next_cursor"]
    for path, query in ((endpoint, {"status": "failed"}), (endpoint, {"event_type": "a.b"}), (make(), {})):
        reply = admin.get(f"{path}/deliveries", params=query | {"cursor": cursor}, expect=422)
        assert faults_of(reply) == {"cursor": "invalid_cursor"}
    for query, fault in (({"status": "lost"}, {"status": "invalid_choice"}), ({"class": "5xx"}, {"class": "invalid_choice"}),
                         ({"since": "yesterday"}, {"since": "invalid_timestamp"}), ({"limit": 101}, {"limit": "out_of_range"})):
        assert faults_of(admin.get(f"{endpoint}/deliveries", params=query, expect=422)) == fault


def test_each_attempt_is_shown(stack, admin, endpoint, no_runner):
    delivery = tried(admin, endpoint)
    made = [("timeout", None, None), ("http_5xx", 503, "out of “order”\n"), ("204", 204, "")]
    for number, (outcome, status, excerpt) in enumerate(made):
        stack.sql("INSERT INTO webhook_attempts (organization_id, id, delivery_id, class, status_code, duration_ms, excerpt, "
                  "created_at) SELECT organization_id, UNHEX(CONCAT('0', %s, SUBSTR(HEX(id), 3))), id, %s, %s, 70, %s, "
                  "created_at + %s FROM webhook_deliveries WHERE id = UNHEX(REPLACE(%s, '-', ''))",
                  number, outcome, status, excerpt, number, delivery["id"])
    attempts = read(admin, endpoint, delivery)["attempts"]
    assert [(attempt["class"], attempt["status_code"], attempt["response_excerpt"]) for attempt in attempts] == made
    assert {attempt["duration_ms"] for attempt in attempts} == {70}
    assert attempts[0]["at"] == delivery["created_at"] < attempts[1]["at"] < attempts[2]["at"]
    (in_list,) = listed(admin, f"{endpoint}/deliveries", "deliveries")
    assert in_list["attempts"] == attempts
    assert listed(admin, f"{endpoint}/deliveries", "deliveries", **{"class": "2xx"}) == [in_list]
    assert listed(admin, f"{endpoint}/deliveries", "deliveries", **{"class": "http_5xx"}) == []


def test_one_list_has_the_deliveries_of_all_endpoints(stack, own, no_runner):
    org, installation = own
    client = org.admin().api
    paths = [path_of_endpoint(org.create_endpoint(installation)) for _ in range(2)]
    made = [tried(client, path) for path in paths + paths]
    set_delivery(stack, made[1], "failed")
    for reader in (org.api, org.viewer().api):
        found = listed(reader, "/v1/webhook-deliveries", "deliveries", limit=3)
        assert [delivery["id"] for delivery in found] == [delivery["id"] for delivery in reversed(made)]
    assert {delivery["endpoint_id"] for delivery in found} == {path.split("/")[-1] for path in paths}
    assert {delivery["module_installation_id"] for delivery in found} == {installation["id"]}
    assert [delivery["id"] for delivery in listed(client, "/v1/webhook-deliveries", "deliveries", status="failed")] == [
        made[1]["id"]]
    client.delete(paths[0], expect=204)
    assert [delivery["id"] for delivery in listed(client, "/v1/webhook-deliveries", "deliveries")] == [
        made[3]["id"], made[1]["id"]]


@pytest.mark.parametrize("status", ["succeeded", "failed", "canceled", "pending"])
def test_a_delivery_is_sent_again_with_the_same_id(stack, admin, endpoint, no_runner, status):
    delivery = tried(admin, endpoint)
    if status != "pending":
        set_delivery(stack, delivery, status)
    again = admin.post(f"{endpoint}/deliveries/{delivery['id']}/redeliver", expect=202).json()
    assert again["status"] == "pending" and again["next_attempt_at"] >= delivery["created_at"]
    for name in ("id", "webhook_id", "event_type", "created_at"):
        assert again[name] == delivery[name]


def test_a_recovery_queues_deliveries_that_failed_or_were_canceled_since_then(stack, admin, endpoint, no_runner):
    made = [tried(admin, endpoint) for _ in range(4)]
    for delivery, status in zip(made, ("failed", "canceled", "succeeded", "failed")):
        set_delivery(stack, delivery, status)
    stack.sql("UPDATE webhook_deliveries SET created_at = created_at - 60000 WHERE id = UNHEX(REPLACE(%s, '-', ''))",
              made[3]["id"])
    since = made[0]["created_at"]
    dry = admin.post(f"{endpoint}/recover", json={"since": LONG_AGO, "dry_run": True}, expect=202).json()
    assert dry == {"queued": 0, "has_more": False, "matching": {"count": 3, "exact": True}}
    assert admin.post(f"{endpoint}/recover", json={"since": LONG_AGO, "until": "2026-01-02T00:00:00Z"}, expect=202).json()[
        "queued"] == 0
    assert admin.post(f"{endpoint}/recover", json={"since": since}, expect=202).json() == {
        "queued": 2, "has_more": False, "matching": None}
    assert [read(admin, endpoint, delivery)["status"] for delivery in made] == ["pending", "pending", "succeeded", "failed"]
    assert admin.post(f"{endpoint}/recover", json={"since": LONG_AGO}, expect=202).json()["queued"] == 1


@pytest.mark.parametrize("body, faults", [
    ({}, {"since": "required"}), ({"since": "yesterday"}, {"since": "invalid_timestamp"}),
    ({"since": 5}, {"since": "wrong_type"}), ({"since": LONG_AGO, "until": LONG_AGO}, {"until": "out_of_range"}),
    ({"since": LONG_AGO, "dry_run": "yes"}, {"dry_run": "wrong_type"}),
    ({"since": "2199-01-01T00:00:00Z"}, {"since": "out_of_range"}), ({"since": LONG_AGO, "limit": 5}, {"limit": "unknown_field"}),
])
def test_a_recovery_requires_a_time_in_the_past(admin, endpoint, body, faults):
    assert faults_of(admin.post(f"{endpoint}/recover", json=body, expect=422)) == faults


@pytest.mark.parametrize("where", ["rotate-secret", "test", "redeliver"])
def test_a_call_without_fields_rejects_any_field(admin, endpoint, where):
    path = f"{endpoint}/deliveries/{uuid.uuid4()}/redeliver" if where == "redeliver" else f"{endpoint}/{where}"
    assert faults_of(admin.post(path, json={"now": True}, expect=422)) == {"now": "unknown_field"}


# ---------------------------------------------------------------------------- the operator


def test_a_recovery_that_fills_the_backlog_says_how_many_it_queued(own, stack, no_runner):
    org, installation = own
    client = org.admin().api
    made = org.create_endpoint(installation)
    for _ in range(101):
        set_delivery(stack, tried(client, path_of_endpoint(made)), "failed")
    done = stack.ctl_raw("--json", "webhook", "recover", "--org", org.id, "--endpoint", made["id"], "--since", LONG_AGO,
                         env={"MUSTER_WEBHOOKS_BACKLOG": "100"})
    error = json.loads(done.stderr)["error"]
    assert (done.returncode, error["code"]) == (1, "INVALID_STATE")
    assert (error["details"]["queued"], error["details"]["limit"]) == (100, 100)


def test_the_operator_lists_endpoints_and_recovers_their_deliveries(own, stack, no_runner):
    org, installation = own
    client = org.admin().api
    made = org.create_endpoint(installation)
    endpoint = path_of_endpoint(made)
    deliveries = [tried(client, endpoint) for _ in range(3)]
    set_delivery(stack, deliveries[0], "failed")
    # The query of the URL may contain a password of the tenant.
    stack.sql("UPDATE webhook_endpoints SET url = CONCAT(url, '?key=hush') WHERE id = UNHEX(REPLACE(%s, '-', ''))", made["id"])
    assert stack.ctl("webhook", "list", "--org", org.id) == [
        {"id": made["id"], "module_installation_id": made["module_installation_id"], "url": NO_LISTENER, "status": "active",
         "disabled_reason": None, "failing_since": None,
         "backlog_dropped_at": None, "pending": 2, "failed": 1}]
    text = stack.ctl_raw("webhook", "list", "--org", org.id).stdout
    heading, line = text.splitlines()
    assert heading.split() == "ID STATUS FAILING SINCE DROPPED PENDING FAILED URL".split()
    assert line.split() == [made["id"], "active", "-", "-", "2", "1", NO_LISTENER]
    words = ["webhook", "recover", "--org", org.id, "--endpoint", made["id"], "--since", LONG_AGO]
    assert stack.ctl(*words) == {"queued": 1}
    assert read(client, endpoint, deliveries[0])["status"] == "pending"
    assert stack.ctl_raw(*words).stdout == "0 queued\n"
    (newest, _) = stack.ctl("audit", "--org", org.id, "--action", "webhook_endpoint.recovered")
    assert (newest["actor"], newest["subject_id"]) == ("operator", made["id"])
    stack.sql("UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = 'gone', failing_since = 1700000000000 "
              "WHERE id = UNHEX(REPLACE(%s, '-', ''))", made["id"])
    assert f"{made['id']}  disabled (gone)  2023-11-14T22:13:20Z  " in stack.ctl_raw(
        "webhook", "list", "--org", org.id).stdout
    refused = stack.ctl_raw(*words)
    assert refused.returncode == 1 and "the endpoint is disabled" in refused.stderr


@pytest.mark.parametrize("changes, status", [
    ({"--org": str(uuid.uuid4())}, 1), ({"--endpoint": str(uuid.uuid4())}, 1), ({"--endpoint": "x"}, 2),
    ({"--since": "yesterday"}, 2), ({"--since": "2199-01-01T00:00:00Z"}, 2), ({"--since": None}, 2), ({"--endpoint": None}, 2),
    ({"--org": None}, 2),
])
def test_an_impossible_recovery_by_the_operator_is_rejected(module_org, make, stack, changes, status):
    options = {"--org": module_org.id, "--endpoint": make().split("/")[-1], "--since": LONG_AGO} | changes
    words = [word for option, value in options.items() if value is not None for word in (option, value)]
    done = stack.ctl_raw("webhook", "recover", *words)
    assert done.returncode == status and done.stderr.startswith("musterctl: ") and done.stdout == ""


def test_a_recovery_by_the_operator_names_an_unknown_endpoint(module_org, stack):
    unknown = str(uuid.uuid4())
    done = stack.ctl_raw("webhook", "recover", "--org", module_org.id, "--endpoint", unknown, "--since", LONG_AGO)
    assert (done.returncode, done.stderr) == (1, f"musterctl: the organization has no webhook endpoint {unknown}\n")
