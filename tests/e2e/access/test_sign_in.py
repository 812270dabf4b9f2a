"""An admin's sign-in with a code sent by mail: the calls of specification 4.5, and its limits on guesses (docs/api/sign-in.md
"Admin sign-in")."""

import random
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.admin import AUTH, FACTOR, forget_requests, step_now, totp
from support.client import Client, faults_of
from support.mail import has_unsent, mails_to, wait_for_mail
from support.stack import wait_for
from support.world import email

TRIES = 5  # per code
FAILURES = 20  # per hour and address
PASSING_HEADERS = {"X-Request-Id", "Date"}


@pytest.fixture
def admin(module_org):
    """An admin who has never signed in."""
    return module_org.new_admin()


def verify(anyone, address, otp, **options):
    return anyone.post(f"{AUTH}/verify", json={"email": address, "otp": otp}, **options)


def other_than(code):
    return f"{(int(code) + 1) % 10**8:08d}"


def observable(reply):
    """The parts of the reply that a stranger can observe."""
    headers = {name: value for name, value in reply.headers.items() if name not in PASSING_HEADERS}
    return reply.status_code, headers, reply.content


# ---------------------------------------------------------------------------- signing in


def test_the_four_calls_of_the_specification(anyone, stack, contract, module_org, admin):
    address = admin.address
    asked = anyone.post(f"{AUTH}/request", json={"email": address}, expect=200)
    assert asked.json() == {"success": True}
    mail = wait_for_mail(stack, address)
    assert mail.subject == "Your sign-in code"

    signed_in = verify(anyone, address, mail.code, expect=200).json()
    assert signed_in["two_factor"] == {"enrolled": False, "verified": False}
    assert signed_in["active_organization_id"] == module_org.id
    assert signed_in["seats"] == [{"organization_id": module_org.id, "name": "e2e", "role": "admin"}]
    client = Client(stack, contract, signed_in["token"])
    client.get("/v1/imports", expect=401, code="2FA_REQUIRED")

    enrollment = client.post(f"{FACTOR}/enable", json={}, expect=200).json()
    stack.keys_issued += [client.key, enrollment["secret"], *enrollment["backup_codes"]]
    passed = client.post(f"{FACTOR}/verify-totp", json={"code": totp(enrollment["secret"], step_now())}, expect=200)
    assert passed.json() == {"token": client.key, "two_factor": {"enrolled": True, "verified": True}}
    client.get("/v1/imports", expect=200)
    assert client.get_json("/v1/session")["two_factor"] == {"enrolled": True, "verified": True, "backup_codes_left": 10}


def test_an_address_is_case_insensitive(anyone, admin):
    code = admin.ask_for_code()
    assert verify(anyone, f" {admin.address.upper()} ", code, expect=200).json()["token"]


def test_a_code_works_once(anyone, admin):
    code = admin.ask_for_code()
    verify(anyone, admin.address, code, expect=200)
    verify(anyone, admin.address, code, expect=401, code="UNAUTHORIZED")


def test_a_code_opens_one_of_many_parallel_sessions(anyone, admin):
    code = admin.ask_for_code()
    with ThreadPoolExecutor(10) as pool:
        replies = list(pool.map(lambda _: verify(anyone, admin.address, code).status_code, range(10)))
    assert sorted(replies) == [200] + [401] * 9


def test_a_code_is_valid_for_one_address(anyone, module_org, admin):
    code = admin.ask_for_code()
    verify(anyone, module_org.new_admin().address, code, expect=401)
    verify(anyone, admin.address, code, expect=200)


def test_a_new_code_replaces_the_previous_one(anyone, admin):
    first, second = admin.ask_for_code(), admin.ask_for_code()
    assert first != second
    verify(anyone, admin.address, first, expect=401)
    verify(anyone, admin.address, second, expect=200)


def test_a_code_is_valid_for_five_minutes(anyone, stack, module_org):
    late, early = module_org.new_admin(), module_org.new_admin()
    late_code, early_code = late.ask_for_code(), early.ask_for_code()  # the early one last: it has twenty seconds
    with stack.later(280):
        verify(anyone, early.address, early_code, expect=200)
    with stack.later(301):
        verify(anyone, late.address, late_code, expect=401)


def test_an_admin_without_a_seat_is_treated_as_a_stranger(anyone, stack, module_org, admin):
    code = admin.ask_for_code()
    admin.take_seat(module_org.id)
    verify(anyone, admin.address, code, expect=401)


# ---------------------------------------------------------------------------- strangers


@pytest.mark.parametrize("path, body, faults", [
    ("request", {}, {"email": "required"}), ("request", {"email": "broken"}, {"email": "invalid_email"}),
    ("request", {"email": None}, {"email": "required"}), ("request", {"email": 1}, {"email": "wrong_type"}),
    ("verify", {"email": "a@b.example"}, {"otp": "required"}),
    ("verify", {"email": "a@b.example", "otp": 12345678}, {"otp": "wrong_type"}),
    ("verify", {"email": "x", "otp": "12345678", "y": 1}, {"email": "invalid_email", "y": "unknown_field"}),
])
def test_a_faulty_request_is_422_with_every_fault(anyone, path, body, faults):
    assert faults_of(anyone.post(f"{AUTH}/{path}", json=body, expect=422)) == faults


@pytest.mark.parametrize("otp", ["", "1234567", "123456789", "1234567a", "12 34 56 7", "-1234567", "１２３４５６７８"])
def test_a_code_has_eight_digits(anyone, otp):
    assert list(faults_of(verify(anyone, email(), otp, expect=422))) == ["otp"]


def test_the_address_of_a_stranger_gets_the_same_reply_as_the_address_of_an_admin(anyone, stack, admin):
    stranger = email("stranger")
    forget_requests(stack)
    asked = [observable(anyone.post(f"{AUTH}/request", json={"email": address})) for address in (admin.address, stranger)]
    assert asked[0] == asked[1] and asked[0][0] == 200
    wait_for_mail(stack, admin.address)
    tried = [observable(verify(anyone, address, "00000000")) for address in (admin.address, stranger)]
    assert tried[0] == tried[1] and tried[0][0] == 401
    refused = [anyone.post(f"{AUTH}/request", json={"email": address}, expect=429) for address in (admin.address, stranger)]
    assert refused[0].content == refused[1].content
    assert all(0 < int(reply.headers["Retry-After"]) <= 60 for reply in refused)
    wait_for(lambda: not has_unsent(stack), "the outbox to empty")
    assert mails_to(stack, stranger) == []


@pytest.mark.alone
def test_the_address_of_a_stranger_is_answered_as_fast_as_the_address_of_an_admin(anyone, stack, admin):
    stranger = email("stranger")
    times = {(path, address): [] for path in ("request", "verify") for address in (admin.address, stranger)}
    for _ in range(100):
        # In a random order: a request after one for the admin runs while the mail is being sent.
        for (path, address), spent in random.sample(sorted(times.items()), len(times)):
            stack.sql("DELETE FROM guess_budgets")
            body = {"email": address} | ({"otp": "00000000"} if path == "verify" else {})
            began = time.perf_counter()
            anyone.post(f"{AUTH}/{path}", json=body, expect=200 if path == "request" else 401)
            spent.append(time.perf_counter() - began)
    medians = {key: statistics.median(spent) for key, spent in times.items()}
    for path in ("request", "verify"):
        known, unknown = medians[path, admin.address], medians[path, stranger]
        assert abs(known - unknown) < max(0.002, 0.3 * min(known, unknown)), (path, known, unknown)


# ---------------------------------------------------------------------------- guessing


def test_a_code_allows_five_attempts(anyone, stack, module_org):
    lucky, unlucky = module_org.new_admin(), module_org.new_admin()
    for admin, wrong, status in ((lucky, TRIES - 1, 200), (unlucky, TRIES, 401)):
        code = admin.ask_for_code()
        for _ in range(wrong):
            verify(anyone, admin.address, other_than(code), expect=401)
        verify(anyone, admin.address, code, expect=status)


@pytest.mark.parametrize("known", [True, False])
def test_twenty_wrong_codes_in_an_hour_block_an_address_even_for_a_new_code(anyone, stack, admin, known):
    address = admin.address if known else email("stranger")
    for _ in range(FAILURES):
        verify(anyone, address, "00000000", expect=401)
    code = admin.ask_for_code() if known else "12345678"
    reply = verify(anyone, address, code, expect=429, code="RATE_LIMITED")
    assert 3500 < int(reply.headers["Retry-After"]) <= 3600
    if known:
        with stack.later(3600 - 60):  # a minute for what was done since the first failure
            verify(anyone, address, code, expect=429)
        with stack.later(3601):  # the budget is full again, and the code has expired
            verify(anyone, address, code, expect=401)


def test_parallel_guesses_are_counted_individually(anyone):
    address = email("stranger")
    with ThreadPoolExecutor(20) as pool:
        replies = list(pool.map(lambda _: verify(anyone, address, "00000000").status_code, range(2 * FAILURES)))
    assert sorted(replies) == [401] * FAILURES + [429] * FAILURES


def test_a_success_does_not_reset_the_count_of_failures(anyone, admin):
    for _ in range(FAILURES - 1):
        verify(anyone, admin.address, "00000000", expect=401)
    code = admin.ask_for_code()
    verify(anyone, admin.address, code, expect=200)
    verify(anyone, admin.address, code, expect=401)
    verify(anyone, admin.address, code, expect=429)


def test_a_code_can_be_requested_once_a_minute_and_five_times_an_hour(anyone, stack, admin):
    address, asked = admin.address, {"json": {"email": admin.address}}
    for number in range(5):
        with stack.later(61 * number):
            anyone.post(f"{AUTH}/request", expect=200, **asked)
            reply = anyone.post(f"{AUTH}/request", expect=429, code="RATE_LIMITED", **asked)
            if number < 4:
                assert 50 < int(reply.headers["Retry-After"]) <= 60
    with stack.later(61 * 5):
        reply = anyone.post(f"{AUTH}/request", expect=429, **asked)
        assert 3200 < int(reply.headers["Retry-After"]) <= 3600 - 61 * 5
    with stack.later(3601):
        anyone.post(f"{AUTH}/request", expect=200, **asked)
    # Mail with a future time stays in the queue; delete it so that no later test waits for it.
    stack.sql("DELETE FROM mail_outbox")
    forget_requests(stack)
    assert len(mails_to(stack, address)) <= 1


def test_parallel_requests_send_one_mail(anyone, stack, admin):
    with ThreadPoolExecutor(10) as pool:
        replies = list(pool.map(lambda _: anyone.post(f"{AUTH}/request", json={"email": admin.address}).status_code, range(10)))
    assert sorted(replies) == [200] + [429] * 9
    wait_for_mail(stack, admin.address)
    wait_for(lambda: not has_unsent(stack), "the outbox to empty")
    assert len(mails_to(stack, admin.address)) == 1


# ---------------------------------------------------------------------------- stored data


def test_codes_tokens_and_addresses_of_strangers_are_not_stored_in_clear_text(anyone, stack, admin):
    stranger = email("stranger")
    forget_requests(stack)
    anyone.post(f"{AUTH}/request", json={"email": stranger}, expect=200)
    code = admin.ask_for_code()
    dump = str(stack.sql("SELECT * FROM otp_codes") + stack.sql("SELECT * FROM guess_budgets")
               + stack.sql("SELECT * FROM mail_outbox"))
    assert code not in dump and admin.address not in dump and stranger not in dump
    token = verify(anyone, admin.address, code, expect=200).json()["token"]
    stack.keys_issued.append(token)
    assert token not in str(stack.sql("SELECT * FROM sessions"))
    for name in ("musterd", "runner", "nginx.access"):
        log = stack.log(name)
        assert token not in log and admin.address not in log and stranger not in log
