"""Failed webhooks: the recorded errors, the times of retries, and the disabling of endpoints (docs/webhooks.md
"Deliveries"). Later attempts are made by runners whose clock is ahead."""

import json
import time
from datetime import datetime

import pytest
from support.certificates import make_authority, make_certificate
from support.mail import mails_to, sending
from support.modules import CANONICAL, DAY, HOUR, MINUTE, RETRY_DELAYS, delivering
from support.names import NameServer
from support.ports import free_port
from support.receiver import Answer, Receiver
from support.stack import wait_for
from support.world import email

pytestmark = pytest.mark.usefixtures("no_runner")
EXCERPT_BYTES = 1024
LONGEST_ATTEMPT = 15  # seconds


def seconds(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def wait_until_next(delivery):
    """Seconds between the last attempt and the next."""
    return seconds(delivery["next_attempt_at"]) - seconds(delivery["attempts"][-1]["at"])


def classes(delivery):
    return [attempt["class"] for attempt in delivery["attempts"]]


def emit_events(module):
    """Emits an event."""
    return module.org.create_user({"email": email()})


@pytest.fixture
def hook(module, receiver):
    return module.endpoint(receiver.url("/hook"), ["member.created"])


# ---------------------------------------------------------------------------- the retry schedule

def test_a_delivery_fails_after_ten_attempts(stack, module, hook, receiver):
    witness = module.endpoint(receiver.url("/witness"), ["member.locked"])
    receiver.on("/hook", status=500, body=b"no")
    emit_events(module)
    offset = 0
    for made, step in enumerate(RETRY_DELAYS, start=1):
        with delivering(stack, offset):
            delivery = hook.attempted(made)
        assert (len(delivery["attempts"]), delivery["status"]) == (made, "pending")
        assert 0.8 * step <= wait_until_next(delivery) <= 1.2 * step + LONGEST_ATTEMPT
        offset = int(seconds(delivery["next_attempt_at"]) - time.time()) + 2
    with delivering(stack, offset):
        delivery = hook.attempted(10)
    witness.test()
    with delivering(stack, offset + 2 * DAY):
        witness.settled(succeeded=1)
    assert hook.delivery() == delivery
    assert (delivery["status"], delivery["next_attempt_at"]) == ("failed", None)
    assert classes(delivery) == ["http_5xx"] * 10
    assert receiver.count("/hook") == 10 and {request.webhook_id for request in receiver.at("/hook")} == {delivery["webhook_id"]}
    assert hook.record()["status"] == "active"  # three days of failures are less than five


def test_a_runner_does_not_retry_before_the_time(stack, module, hook, receiver):
    receiver.on("/hook", status=500)
    emit_events(module)
    with delivering(stack):
        hook.attempted(1)
    with delivering(stack, 10):
        hook.attempted(2)
    with delivering(stack, 10 + 3 * MINUTE):
        other = module.endpoint(receiver.url("/other"))
        emit_events(module)
        receiver.wait_for(1, "/other")
        other.settled(succeeded=1)
    assert len(min(hook.deliveries(), key=lambda delivery: delivery["created_at"])["attempts"]) == 2


@pytest.mark.parametrize("asked, waited", [("7", 7), ("1", None), ("86400", 10), ("nonsense", None)])
def test_retry_after_is_honored_up_to_twice_the_delay(stack, module, hook, receiver, asked, waited):
    receiver.on("/hook", status=503, headers={"Retry-After": asked})
    emit_events(module)
    with delivering(stack):
        delivery = hook.attempted(1)
    least, most = (waited, waited) if waited else (0.8 * RETRY_DELAYS[0], 1.2 * RETRY_DELAYS[0])
    assert least - 0.1 <= wait_until_next(delivery) <= most + 3


def test_retry_after_may_be_a_date(stack, module, hook, receiver):
    def after_nine_seconds(_):
        when = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 9))
        return Answer(429, {"Retry-After": when})

    receiver.on("/hook", after_nine_seconds)
    emit_events(module)
    with delivering(stack):
        delivery = hook.attempted(1)
    assert classes(delivery) == ["http_4xx"]
    assert 7 <= wait_until_next(delivery) <= 13


# ---------------------------------------------------------------------------- errors

def test_a_redirect_is_a_failure_and_is_not_followed(stack, module, hook, receiver):
    for status in (301, 302, 307, 308):
        with Receiver() as target:
            receiver.on("/hook", status=status, headers={"Location": target.url("/target")})
            delivery = hook.test()
            with delivering(stack):
                wait_for(lambda: attempts_of(hook, delivery["id"]), "the attempt")
            (attempt,) = attempts_of(hook, delivery["id"])
            assert (attempt["status_code"], attempt["class"]) == (status, "http_3xx")
            assert target.connections == 0


def attempts_of(hook, delivery_id):
    return hook.admin.get_json(f"{hook.path}/deliveries/{delivery_id}")["attempts"]


def test_each_kind_of_failure_has_its_class(stack, module, receiver, tmp_path):
    authority, stranger = make_authority(tmp_path), make_authority(tmp_path, "stranger")
    good = make_certificate(authority, tmp_path, "good")
    misnamed = make_certificate(authority, tmp_path, "misnamed", "DNS:elsewhere.example")
    unknown = make_certificate(stranger, tmp_path, "unknown")
    receiver.hold("/hangs")
    receiver.on("/closes", close=True)
    for status in (200, 202, 302, 400, 404, 500, 503):
        receiver.on(f"/{status}", status=status)
    known = {"inside.example": "10.0.0.1", "loop.example": "169.254.169.254"}
    with NameServer(**known) as names, Receiver(good) as fine, Receiver(misnamed) as other, Receiver(unknown) as third:
        expected = {
            receiver.url("/200"): "200", receiver.url("/202"): "202", receiver.url("/302"): "http_3xx",
            receiver.url("/400"): "http_4xx", receiver.url("/404"): "http_4xx",
            receiver.url("/500"): "http_5xx", receiver.url("/503"): "http_5xx",
            receiver.url("/hangs"): "timeout", receiver.url("/closes"): "connect",
            f"http://127.0.0.1:{free_port()}/": "connect",
            fine.url("/"): "204", other.url("/"): "tls", third.url("/"): "tls",
            "https://no-such-host.example/": "dns", "https://inside.example/": "blocked_address",
            "https://loop.example/": "blocked_address", "https://10.0.0.1/": "blocked_address",
            "http://169.254.169.254/latest/meta-data": "blocked_address", "https://[::ffff:10.0.0.1]/": "blocked_address",
            "https://167772161/": "blocked_address",
        }
        hooks = {}
        for url in expected:
            hooks[url] = module.endpoint(receiver.url("/"))
            hooks[url].set_url(url)  # the API rejects some of them, as it should
        emit_events(module)
        began = time.monotonic()
        with delivering(stack, env={"MUSTER_WEBHOOKS_DNS": names.address, "MUSTER_WEBHOOKS_CA_FILE": str(authority[0])}):
            deliveries = {url: hook.attempted(1) for url, hook in hooks.items()}
        took = time.monotonic() - began
    assert {url: classes(delivery)[0] for url, delivery in deliveries.items()} == expected
    for url, delivery in deliveries.items():
        attempt = delivery["attempts"][0]  # more arrived during the wait for the slowest
        status = url.rsplit("/", 1)[1]
        assert attempt["status_code"] == (int(status) if status.isdigit() else 204 if url == fine.url("/") else None), url
        assert delivery["status"] == ("succeeded" if attempt["class"].startswith("2") else "pending"), url
        assert 0 <= attempt["duration_ms"] <= (LONGEST_ATTEMPT + 2) * 1000, url
        assert set(attempt) == {"at", "status_code", "class", "duration_ms", "response_excerpt"}
    assert deliveries[receiver.url("/hangs")]["attempts"][0]["duration_ms"] >= 14_000
    assert took < 2 * LONGEST_ATTEMPT


@pytest.mark.parametrize("url", ["http://169.254.169.254/latest/", "https://10.0.0.1/", "https://[::1%25lo]/", "ftp://127.0.0.1/",
                                 "https://user:word@127.0.0.1/", "no url"])
def test_a_forbidden_endpoint_url_is_rejected_at_creation(module, receiver, url):
    body = {"url": url, "subscribed_event_types": ["member.created"]}
    module.admin.post(f"{module.path}/webhook-endpoints", json=body, expect=422, code="VALIDATION_ERROR")


@pytest.mark.parametrize("body, excerpt", [
    (b"", None),
    (b"broken", "broken"),
    (("\u00fc" * 2000).encode(), "\u00fc" * 512),
    (("x" + "\u00fc" * 2000).encode(), "x" + "\u00fc" * 511),
    (b"a\xff\xfeb\x00c", "a\ufffd\ufffdb\0c"),
    (b"y" * 30_000_000, "y" * 1024),
], ids=["nothing", "short", "at a character's end", "within a character", "no text", "30 MB"])
def test_an_excerpt_of_the_reply_is_stored_up_to_a_kibibyte_of_utf_8(stack, module, hook, receiver, body, excerpt):
    receiver.on("/hook", status=500, body=body)
    emit_events(module)
    with delivering(stack):
        delivery = hook.attempted(1)
    (attempt,) = delivery["attempts"]
    assert (attempt["status_code"], attempt["class"]) == (500, "http_5xx")
    assert attempt["response_excerpt"] == excerpt
    assert len((attempt["response_excerpt"] or "").encode()) <= EXCERPT_BYTES


# ---------------------------------------------------------------------------- disabling an endpoint

def test_410_disables_the_endpoint_immediately(stack, module, hook, new_module, receiver):
    witness = new_module().endpoint(receiver.url("/witness"), ["member.locked"])
    receiver.on("/hook", status=410)
    emit_events(module)
    with delivering(stack):
        wait_for(lambda: hook.record()["status"] == "disabled", "the endpoint to be disabled")
        emit_events(module)
    record = hook.record()
    assert record.get("disabled_reason", "gone") == "gone"
    assert receiver.count() == 1
    assert [classes(delivery) for delivery in hook.deliveries() if delivery["attempts"]] == [["http_4xx"]]
    witness.test()
    with delivering(stack, 2 * DAY):
        witness.settled(succeeded=1)
    assert receiver.count("/hook") == 1 and "pending" not in hook.statuses()


@pytest.fixture
def owners(module):
    """Another owner, and an admin who is not an owner: (addresses that get mail, the one that gets none)."""
    other, helper = module.org.new_admin("owner"), module.org.new_admin("admin")
    return [module.org.admin().address, other.address], helper.address


def test_five_days_of_failures_disable_an_endpoint_and_notify_owners_and_modules(stack, module, hook, new_module, owners, receiver):
    watcher = new_module()
    watch = watcher.endpoint(receiver.url("/watch"), ["webhook_endpoint.disabled"])
    receiver.on("/hook", status=500)
    user = emit_events(module)
    with delivering(stack):
        hook.attempted(1)
    before = f"{time.time_ns():020d}"
    with delivering(stack, 4 * DAY):
        hook.attempted(2)
    assert (hook.record()["status"], module.record()["status"]) == ("active", "enabled")
    with delivering(stack, 5 * DAY + HOUR):
        (notification,) = receiver.wait_for(1, "/watch")
        watch.settled(succeeded=1)
    body = json.loads(notification.body)
    assert body["type"] == "webhook_endpoint.disabled"
    assert hook.id in body["data"].values() and hook.secret not in notification.body.decode()
    assert (hook.record()["status"], module.record()["status"]) == ("disabled", "error")
    assert (watch.record()["status"], watcher.record()["status"]) == ("active", "enabled")
    addresses, stranger = owners
    with sending(stack, 5 * DAY + HOUR):  # and until all other mail was tried
        wait_for(lambda: all(mails_to(stack, address, after=before, subject="disabled") for address in addresses), "the owners' mail")
    for address in addresses:
        (mail,) = mails_to(stack, address, after=before, subject="disabled")
        assert receiver.host in mail.text and hook.secret not in mail.text
    assert mails_to(stack, stranger, subject="disabled") == []
    assert "pending" not in hook.statuses()

    receiver.on("/hook", status=200)
    seen = receiver.count("/hook")
    assert hook.change(status="active")["status"] == "active"
    assert module.record()["status"] == "enabled"
    assert hook.recover(user["created_at"]) >= 1
    with delivering(stack):
        wait_for(lambda: set(hook.statuses()) == {"succeeded"}, "everything to arrive")
    arrived = receiver.at("/hook")[seen:]
    assert user["id"] in {json.loads(request.body)["data"].get("id") for request in arrived}
    assert hook.record()["status"] == "active"


def test_one_success_resets_the_count_of_days(stack, module, hook, receiver):
    receiver.on("/hook", status=500)
    emit_events(module)
    with delivering(stack):
        hook.attempted(1)
    receiver.on("/hook", status=200)
    with delivering(stack, 4 * DAY):
        hook.attempted(2)
    receiver.on("/hook", status=500)
    emit_events(module)
    with delivering(stack, 6 * DAY):
        wait_for(lambda: receiver.count("/hook") == 3, "the next failure")
        wait_for(lambda: all(delivery["attempts"] for delivery in hook.deliveries()), "its outcome")
    assert hook.record()["status"] == "active"


def test_a_test_event_is_retried_like_any_other(stack, module, receiver):
    hook = module.endpoint(receiver.url("/hook"), CANONICAL[:1])
    receiver.on("/hook", status=500)
    hook.test()
    with delivering(stack):
        hook.attempted(1)
    receiver.on("/hook", status=204)
    with delivering(stack, 10):
        hook.settled(succeeded=1)
    assert classes(hook.delivery()) == ["http_5xx", "204"]
