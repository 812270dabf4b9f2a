"""What a credential did can be read from the logs alone (docs/operations/log.md "Who made a request")."""

import re
from datetime import datetime, timezone

from support.client import Client
from support.page_keys import PageKey, track
from support.stack import wait_for
from support.world import email

TIME = re.compile(r"time=(\S+) request_id=(\w+) ")


def moment():
    """The current second; nginx logs whole seconds."""
    return datetime.now(timezone.utc).replace(microsecond=0)


def after_this_second():
    now = moment()
    wait_for(lambda: moment() > now, "the next second")
    return moment()


def requests_of(stack, caller, begin, end):
    """(method, path without ids, status) of each request of the caller, from musterd's lines and nginx's times."""
    ids = dict.fromkeys(re.findall(rf"event=request request_id=(\w+) org=\S+ caller={caller} ", stack.log("musterd")))
    found = []
    for line in stack.log("nginx.access").splitlines():
        time, request_id = TIME.match(line).groups()
        if request_id in ids and begin <= datetime.fromisoformat(time) < end:
            method, path = re.search(r' method=(\w+) path="([^"]*)"', line).groups()
            status = re.search(r" status=(\d+) ", line)[1]
            found.append((method, re.sub(r"[0-9a-f-]{36}", "{id}", path), int(status)))
    return found


def test_the_logs_show_what_one_key_did_between_two_moments(stack, new_org, contract):
    org = new_org()
    key = org.admin().api.post("/v1/api-keys", json={"name": "stolen"}, expect=201).json()
    stack.keys_issued.append(key["key"])
    stolen = Client(stack, contract, key["key"])
    stolen.get("/v1/imports", expect=200)  # before
    begin = after_this_second()
    user = stolen.post("/v1/users", json={"email": email()}, expect=201).json()["id"]  # a collector
    stolen.get(f"/v1/users/{user}", expect=200)  # a reader
    stolen.get("/v1/imports", expect=200)  # an API worker
    stolen.get("/v1/api-keys", expect=403)  # refused, and logged
    org.api.get("/v1/imports", expect=200)  # another key of the organization
    end = after_this_second()
    stolen.get("/v1/attributes", expect=200)  # after
    expected = [("POST", "/v1/users", 201), ("GET", "/v1/users/{id}", 200), ("GET", "/v1/imports", 200),
                ("GET", "/v1/api-keys", 403)]
    found = wait_for(lambda: len(requests_of(stack, f"key:{key['id']}", begin, end)) >= len(expected) and
                     requests_of(stack, f"key:{key['id']}", begin, end), "the log lines")
    assert sorted(found) == sorted(expected)


def test_a_log_line_names_the_organization_and_the_caller(stack, module_org, anyone):
    admin = module_org.admin()
    request_id = admin.api.get("/v1/session", expect=200).headers["X-Request-Id"]
    anonymous = anyone.get("/v1/imports", expect=401).headers["X-Request-Id"]
    wait_for(lambda: f"request_id={request_id} org={module_org.id} caller=admin:{admin.id} " in stack.log("musterd"),
             "the admin's line")
    module = module_org.backend(module_org.install(module_org.published_module()))
    pushed = module.push({"action": "visited", "user_id": module_org.create_user({"email": email()})["id"]}, expect=202)
    wait_for(lambda: f"request_id={pushed.headers['X-Request-Id']} org={module_org.id} caller=module:{module.credential['id']} "
             in stack.log("musterd"), "the module's line")
    page = PageKey(module_org)
    tracked = track(stack, page.token)
    assert tracked.status == 202
    # nginx's own check of the key has the same request id.
    wait_for(lambda: f"request_id={tracked.values('X-Request-Id')[0]} org={module_org.id} caller=publishable:{page.id} "
             "method=POST operation=trackEvents status=202 " in stack.log("musterd"), "the page's line")
    wait_for(lambda: f"request_id={anonymous} org=none caller=none " in stack.log("musterd"), "the anonymous line")
