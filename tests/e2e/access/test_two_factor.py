"""The second factor: enrollment, codes, backup codes and the pause after five failures (docs/api/sign-in.md "Admin sign-in").

test_auth.py tests the permissions of an unverified session.
"""

import base64
import hashlib
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.admin import FACTOR, step_now, totp
from support.client import SHOP, details_of, faults_of
from support.mail import wait_for_mail
from support.modules import Module
from support.publishable import PATHS, Keys
from support.stack import wait_for
from support.world import email

PAUSE = 900


@pytest.fixture
def admin(module_org):
    """An admin who has never signed in."""
    return module_org.new_admin()


@pytest.fixture
def enrolled(admin):
    """An admin whose enrollment used the step before the current one."""
    assert admin.api
    return admin


def try_totp(client, digits, **options):
    return client.post(f"{FACTOR}/verify-totp", json={"code": digits}, **options)


def try_backup(client, word, **options):
    return client.post(f"{FACTOR}/verify-backup-code", json={"code": word}, **options)


def wrong_code(admin):
    """A code that does not match any step around now."""
    near = {totp(admin.secret, step_now() + shift) for shift in range(-4, 5)}
    return next(code for code in map("{:06d}".format, range(100)) if code not in near)


def is_verified(client):
    return client.get_json("/v1/session")["two_factor"]["verified"]


def in_the_middle_of_a_step():
    """Waits until the current step lasts for some more seconds, for tests of codes that are just too early or too
    late."""
    wait_for(lambda: 1 < time.time() % 30 < 24, "a fresh time step")
    return step_now()


# ---------------------------------------------------------------------------- enrollment


def test_enrollment_shows_a_secret_and_ten_backup_codes(admin):
    client = admin.unverified()
    made = admin.enable(client)
    assert re.fullmatch(r"[A-Z2-7]{32}", made["secret"])  # 160 bits
    assert made["totp_uri"].startswith("otpauth://totp/Muster:") and f"secret={made['secret']}&" in made["totp_uri"]
    assert len(set(made["backup_codes"])) == 10
    assert all(re.fullmatch(r"([a-z2-7]{4}-){5}[a-z2-7]{4}", code) for code in made["backup_codes"])


def test_enrollment_is_active_after_a_correct_code(admin):
    client = admin.unverified()
    first = dict(admin.enable(client))
    assert client.get_json("/v1/session")["two_factor"] == {
        "enrolled": False, "verified": False, "backup_codes_left": None}
    try_backup(client, first["backup_codes"][0], expect=409, code="INVALID_STATE")
    admin.enable(client)  # enrollment was restarted: the previous secret is gone
    try_totp(client, totp(first["secret"], step_now()), expect=401)
    admin.pass_second_factor(client)
    assert client.get_json("/v1/session")["two_factor"] == {
        "enrolled": True, "verified": True, "backup_codes_left": 10}
    session = admin.unverified()
    try_backup(session, first["backup_codes"][1], expect=401)  # the codes of the first enrollment are gone too
    try_backup(session, admin.backup_codes[0], expect=200)


def test_a_second_factor_is_enabled_once(enrolled):
    for client in (enrolled.api, enrolled.unverified()):
        reply = client.post(f"{FACTOR}/enable", json={}, expect=409, code="INVALID_STATE")
        assert "secret" not in reply.text
    assert enrolled.signed_in()["two_factor"] == {"enrolled": True, "verified": False}


def test_without_enable_verification_is_rejected(admin):
    client = admin.unverified()
    try_totp(client, "123456", expect=409, code="INVALID_STATE")
    try_backup(client, "aaaa-bbbb-cccc-dddd", expect=409, code="INVALID_STATE")
    assert not is_verified(client)


@pytest.mark.parametrize("path, code, fault", [
    ("verify-totp", "12345", "too_short"), ("verify-totp", "1234567", "too_long"),
    ("verify-totp", "12345a", "invalid_value"), ("verify-totp", 123456, "wrong_type"), ("verify-totp", None, "required"),
    ("verify-backup-code", "", "required"), ("verify-backup-code", "x" * 65, "too_long"),
    ("verify-backup-code", 1, "wrong_type"),
])
def test_a_malformed_code_is_422_and_not_counted(module_org, path, code, fault):
    client = module_org.admin().api
    assert faults_of(client.post(f"{FACTOR}/{path}", json={"code": code}, expect=422)) == {"code": fault}


# ---------------------------------------------------------------------------- codes


def test_the_code_of_the_enrollment_cannot_be_reused(enrolled):
    used = totp(enrolled.secret, enrolled.last_step)
    for client in (enrolled.api, enrolled.unverified()):
        try_totp(client, used, expect=401, code="UNAUTHORIZED")


def test_a_time_step_is_accepted_once(enrolled):
    code, clients = totp(enrolled.secret, enrolled.fresh_step()), [enrolled.unverified() for _ in range(2)]
    try_totp(clients[0], code, expect=200)
    for client in clients:
        try_totp(client, code, expect=401)
    assert [is_verified(client) for client in clients] == [True, False]


def test_a_code_in_many_parallel_requests_opens_one_session(enrolled):
    clients = [enrolled.unverified() for _ in range(4)]
    code = totp(enrolled.secret, enrolled.fresh_step())
    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda client: try_totp(client, code).status_code, clients))
    assert sorted(replies) == [200, 401, 401, 401]
    assert sum(map(is_verified, clients)) == 1


def test_only_the_adjacent_steps_are_accepted(admin):
    client = admin.unverified()
    admin.enable(client)
    now = in_the_middle_of_a_step()
    for shift in (-2, 2):
        try_totp(client, totp(admin.secret, now + shift), expect=401)
    for shift in (-1, 0, 1):
        try_totp(client, totp(admin.secret, now + shift), expect=200)
    try_totp(client, totp(admin.secret, now), expect=401)  # an older one than the last


def test_a_verified_session_remains_verified_after_failures(enrolled):
    reply = try_totp(enrolled.api, wrong_code(enrolled), expect=401)
    assert details_of(reply) == {"reason": "WRONG_CODE"}
    assert is_verified(enrolled.api)
    enrolled.api.get("/v1/imports", expect=200)


# ---------------------------------------------------------------------------- backup codes


def test_a_backup_code_works_once(enrolled):
    first, second = enrolled.backup_codes[:2]
    clients = [enrolled.unverified() for _ in range(2)]
    passed = try_backup(clients[0], first, expect=200).json()
    assert passed == {"token": clients[0].key, "two_factor": {"enrolled": True, "verified": True}}
    try_backup(clients[1], first, expect=401)
    assert not is_verified(clients[1])
    try_backup(clients[1], f" {second.upper().replace('-', ' ')} ", expect=200)  # as a person types it
    clients[1].get("/v1/imports", expect=200)


def test_a_backup_code_works_only_for_its_admin(enrolled, module_org):
    try_backup(module_org.admin().unverified(), enrolled.backup_codes[0], expect=401)
    try_backup(enrolled.unverified(), enrolled.backup_codes[0], expect=200)


# ---------------------------------------------------------------------------- the pause


@pytest.mark.parametrize("kind", ["totp", "backup"])
def test_five_failures_over_all_sessions_pause_the_second_factor_for_a_quarter_of_an_hour(enrolled, stack, kind):
    clients = [enrolled.unverified() for _ in range(2)]
    for number in range(5):
        client = clients[number % 2]
        if kind == "totp":
            try_totp(client, wrong_code(enrolled), expect=401)
        else:
            try_backup(client, "aaaa-bbbb-cccc-dddd", expect=401)
    code = totp(enrolled.secret, enrolled.fresh_step())
    for client in clients:
        for reply in (try_totp(client, code), try_backup(client, enrolled.backup_codes[0])):
            assert reply.status_code == 429 and reply.json()["error"]["code"] == "RATE_LIMITED"
            assert PAUSE - 30 < int(reply.headers["Retry-After"]) <= PAUSE
    enrolled.api.get("/v1/imports", expect=200)  # a verified session continues
    with stack.later(PAUSE - 30):
        try_backup(clients[0], enrolled.backup_codes[0], expect=429)
    with stack.later(PAUSE + 1):
        try_totp(clients[0], totp(enrolled.secret, step_now() + (PAUSE + 1) // 30), expect=200)
        try_backup(clients[1], enrolled.backup_codes[0], expect=200)


def test_the_first_pause_is_mailed_to_the_admin_and_the_owners(enrolled, stack, module_org):
    owner = module_org.new_admin("owner")
    for _ in range(5):
        try_totp(enrolled.api, wrong_code(enrolled), expect=401)
    for address in (enrolled.address, owner.address):
        text = wait_for_mail(stack, address, subject="second factor").text
        assert enrolled.address in text and enrolled.secret not in text


def test_parallel_failures_are_counted_individually(enrolled):
    client = enrolled.unverified()
    wrong = wrong_code(enrolled)
    with ThreadPoolExecutor(12) as pool:
        replies = list(pool.map(lambda _: try_totp(client, wrong).status_code, range(12)))
    assert sorted(replies) == [401] * 5 + [429] * 7


def test_a_success_resets_the_count_of_failures(enrolled):
    client = enrolled.unverified()
    for _ in range(2):
        for _ in range(4):
            try_totp(client, wrong_code(enrolled), expect=401)
        try_backup(client, enrolled.backup_codes.pop(), expect=200)


# ---------------------------------------------------------------------------- a recent second factor


def age_session(stack, client, seconds):
    stack.sql("UPDATE sessions SET verified_at = verified_at - %s WHERE token_hash = %s", 1000 * seconds,
              hashlib.sha256(client.key.encode()).digest())


def test_a_secret_or_a_seat_requires_a_second_factor_of_the_last_15_minutes(stack, new_org):
    org = new_org(attributes=False)
    admin = org.admin()
    client, module = admin.api, Module(org)
    key = client.post("/v1/api-keys", json={"name": "first"}, expect=201).json()
    stack.keys_issued.append(key["key"])
    hook = module.path + "/webhook-endpoints"
    endpoint = client.post(hook, json={"url": "http://127.0.0.1:9/x", "subscribed_event_types": ["member.created"]},
                           expect=201).json()
    stack.keys_issued.append(endpoint["signing_secret"])
    invitation, colleague = org.invite()["invitation_id"], org.new_admin("viewer").id
    age_session(stack, client, 901)
    for path, body in (("/v1/api-keys", {"name": "second"}), (f"/v1/api-keys/{key['id']}/rotate", {}),
                       (f"{module.path}/credentials", {"name": "one"}),
                       (hook, {"url": "http://127.0.0.1:9/y", "subscribed_event_types": ["member.created"]}),
                       (f"{hook}/{endpoint['id']}/rotate-secret", {}),
                       *((path, {"name": "pages", "allowed_origins": [SHOP]}) for path in PATHS.values()),
                       ("/v1/seats", {"email": email(), "role": "owner"}),
                       (f"/v1/invitations/{invitation}/resend", {}), (f"/v1/session/invitations/{invitation}/accept", {}),
                       (f"/v1/session/seats/{org.id}/leave", {})):
        reply = client.post(path, json=body, expect=401, code="2FA_TOO_OLD")
        assert details_of(reply) == {"reason": "2FA_TOO_OLD"}
    for method, options in (("PATCH", {"json": {"role": "owner"}}), ("DELETE", {})):
        client.request(method, f"/v1/seats/{colleague}", expect=401, code="2FA_TOO_OLD", **options)
    client.delete(f"/v1/invitations/{invitation}", expect=204)
    client.get("/v1/api-keys", expect=200)
    client.delete(f"/v1/api-keys/{key['id']}", expect=204)  # a secret can be revoked at any time
    assert admin.pass_second_factor(client) is client
    stack.keys_issued.append(client.post("/v1/api-keys", json={"name": "third"}, expect=201).json()["key"])
    log = client.get_json("/v1/audit-log", params={"action": "session.verified"})["audit_log"]
    assert [entry["actor_id"] for entry in log] == [admin.id]


def test_a_new_url_of_a_webhook_requires_a_recent_second_factor(stack, new_org):
    org = new_org(attributes=False)
    admin = org.admin()
    client, hook = admin.api, Module(org).path + "/webhook-endpoints"
    made = client.post(hook, json={"url": "http://127.0.0.1:9/x?key=7", "subscribed_event_types": ["member.created"]},
                       expect=201).json()
    stack.keys_issued.append(made["signing_secret"])
    path = f"{hook}/{made['id']}"
    age_session(stack, client, 901)
    reply = client.request("PATCH", path, json={"url": "http://127.0.0.1:9/y", "status": "paused"}, expect=401, code="2FA_TOO_OLD")
    assert details_of(reply) == {"reason": "2FA_TOO_OLD"}
    assert client.get_json(path) == {name: value for name, value in made.items() if name != "signing_secret"}
    client.request("PATCH", path, json={"url": made["url"], "description": "the shop"}, expect=200)  # the same URL
    client.request("PATCH", path, json={"status": "paused"}, expect=200)
    admin.pass_second_factor(client)
    client.request("PATCH", path, json={"url": "http://127.0.0.1:9/y?key=8"}, expect=200)
    log = client.get_json("/v1/audit-log", params={"action": "webhook_endpoint.changed"})["audit_log"]
    assert [entry["details"] for entry in log] == [
        {"status": "paused", "url": "http://127.0.0.1:9/y", "previous_url": "http://127.0.0.1:9/x"},
        {"status": "paused"}, {"status": "active"}]


@pytest.mark.parametrize("kind", PATHS)
def test_more_access_with_a_publishable_key_requires_a_recent_second_factor(stack, new_org, kind):
    org = new_org(attributes=False)
    keys, blog = Keys(org, kind), "https://blog.example"
    key = keys.create(allowed_origins=[SHOP, blog])
    age_session(stack, keys.admin, 901)
    refused = keys.change(key, expect=401, name="moved", allowed_origins=[SHOP, "https://evil.example"])
    assert refused.json()["error"]["code"] == "2FA_TOO_OLD" and details_of(refused) == {"reason": "2FA_TOO_OLD"}
    assert keys.record(key) == key
    keys.change(key, name="renamed", allowed_origins=[blog, SHOP])  # the same origins
    keys.change(key, allowed_origins=[SHOP])  # an origin can be removed at any time
    keys.change(key, expect=401, allowed_origins=[blog])
    keys.change(key, expires_at="2199-01-01T00:00:00Z")  # it had no end
    keys.change(key, expect=401, expires_at=None)
    org.admin().pass_second_factor(keys.admin)
    keys.change(key, allowed_origins=[blog], expires_at=None)
    keys.revoke(key)


# ---------------------------------------------------------------------------- stored data


def test_secrets_and_backup_codes_are_not_stored_in_clear_text(enrolled, stack):
    (row,) = stack.sql("SELECT totp_secret FROM admins WHERE email = %s", enrolled.address)
    raw = base64.b32decode(enrolled.secret)
    assert raw not in row[0] and enrolled.secret.encode() not in row[0]
    dump = str(stack.sql("SELECT * FROM backup_codes"))
    assert not any(code in dump or code.replace("-", "") in dump for code in enrolled.backup_codes)
    assert details_of(enrolled.api.post(f"{FACTOR}/enable", json={}, expect=409)).keys() == {"reason"}
