"""Outgoing mail: the outbox, the runner that sends it, and the sandbox's mail server (docs/operations/configuration.md "Mail"). The
contents of mails are tested with the features that send them."""

import re
import smtplib
import subprocess
import time
import uuid
from email.message import EmailMessage

import pytest
from support.mail import mails_to, sending, wait_for_mail
from support.stack import wait_for
from support.world import email


def put(stack, life=300, age=0):
    """A row of the outbox that cannot be opened; returns its id."""
    mail = uuid.uuid4()
    now = int(time.time() * 1000)
    stack.sql("INSERT INTO mail_outbox (id, content, next_attempt_at, created_at, expires_at) VALUES (%s, 'x', %s, %s, %s)",
              mail.bytes, now, now - age * 1000, now + life * 1000)
    return mail


def is_waiting(stack, mail):
    return stack.sql("SELECT 1 FROM mail_outbox WHERE id = %s", mail.bytes) != []


def send(stack, recipient, subject="Hello", text="Your code is 12345678.\n"):
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "muster@muster.example", recipient, subject
    message.set_content(text)
    port = int(re.search(r"^mail_port=(\d+)$", (stack.folder / "settings").read_text(), re.MULTILINE).group(1))
    with smtplib.SMTP("127.0.0.1", port, timeout=20) as server:
        server.send_message(message)


# ---------------------------------------------------------------------------- the sandbox's mail server


def test_the_sink_delivers_complete_mails_in_order(stack):
    recipient = email("reader")
    for subject in ("Hello", "Grüße 😀"):
        send(stack, recipient, subject, "Your code is 12345678.\n.\n..\n")
    first = wait_for_mail(stack, recipient)
    second = wait_for_mail(stack, recipient, after=first)
    assert (first.subject, second.subject) == ("Hello", "Grüße 😀")
    assert first.code == "12345678"
    assert first.text.splitlines()[1:] == [".", ".."]
    assert [mail.name for mail in mails_to(stack, recipient)] == [first.name, second.name]
    assert mails_to(stack, email("other")) == []


def test_the_sink_restarts_at_the_same_address(stack):
    recipient = email("reader")
    with stack.without("mail", verb="kill"):
        with pytest.raises(OSError):
            send(stack, recipient)
    send(stack, recipient)
    assert wait_for_mail(stack, recipient).code == "12345678"


# ---------------------------------------------------------------------------- the runner


def test_the_runner_tries_a_mail_within_about_a_second_and_keeps_unreadable_ones(stack):
    began = time.monotonic()
    mail = put(stack)
    try:
        line = wait_for(lambda: re.search(rf".* mail={mail} .*", stack.log("runner")), "the runner's log").group()
        assert time.monotonic() - began < 5
        assert "event=mail.postponed" in line and "cannot be opened" in line
        assert is_waiting(stack, mail)  # the next runner may have the right key
    finally:
        stack.sql("DELETE FROM mail_outbox")


@pytest.mark.usefixtures("no_runner")
def test_a_sign_in_code_is_sent_before_mail_that_waits_longer(new_org, stack, anyone):
    admin = new_org(attributes=False).admin()
    client = admin.api
    before = admin.mails_before()
    for number in range(3):
        key = client.post("/v1/api-keys", json={"name": f"key {number}"}, expect=201).json()["key"]
        stack.keys_issued.append(key)
    anyone.post("/v1/auth/email-otp/request", json={"email": admin.address}, expect=200)
    with sending(stack):
        wait_for(lambda: len(mails_to(stack, admin.address, after=before)) >= 4, "four mails")
    sent = mails_to(stack, admin.address, after=before)
    assert [mail.subject for mail in sent] == ["Your sign-in code"] + 3 * ["Muster: new API key"]


@pytest.mark.usefixtures("no_runner")
def test_an_expired_mail_is_deleted(stack):
    mail = put(stack, life=-1)
    log = stack.log("own-runner")
    with sending(stack):
        wait_for(lambda: not is_waiting(stack, mail), "the mail to be deleted")
    assert f"event=mail.expired mail={mail}" in stack.log("own-runner")[len(log):]


@pytest.mark.usefixtures("no_runner")
def test_the_purge_deletes_expired_mail_without_a_mail_runner(stack):
    put(stack, life=-1)
    kept = put(stack, life=300)
    try:
        stack.run_once("purge")
        assert stack.sql("SELECT id FROM mail_outbox") == [(kept.bytes,)]
    finally:
        stack.sql("DELETE FROM mail_outbox")


@pytest.mark.usefixtures("no_runner")
def test_metrics_and_health_report_waiting_mail(stack, anyone):
    assert stack.ctl("health")["healthy"] is True
    put(stack, age=600)
    try:
        figures = subprocess.run(
            ["curl", "-s", "--cacert", stack.ca_file, stack.base_url + "/metrics"], capture_output=True, text=True
        ).stdout
        assert "muster_mail_queued 1\n" in figures
        assert int(re.search(r"^muster_mail_oldest_seconds (\d+)$", figures, re.MULTILINE).group(1)) in range(600, 660)
        done = stack.ctl_raw("health")
        assert done.returncode == 1 and "mail has been waiting for 10 minutes" in done.stdout
    finally:
        stack.sql("DELETE FROM mail_outbox")
    assert stack.ctl("health")["healthy"] is True


def test_the_runner_rejects_an_unknown_kind(stack):
    for words in (["mails"], ["mail", "purge"], []):
        assert stack.program("muster-run", "--config", stack.config, *words).returncode == 2
    assert "imports|webhooks|mail|connections|purge|all" in stack.program("muster-run", "--help").stdout
