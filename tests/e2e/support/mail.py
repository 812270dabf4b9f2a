"""The mail that the stack sent: read from the folder in which the sandbox's mail sink stores it."""

import email
import email.policy
import re
import signal
import time
from contextlib import contextmanager
from pathlib import Path

from .stack import wait_for

CODE = re.compile(r"\b\d{8}\b")


class Mail:
    """One delivered mail. name: of its file; names ascend. to: the recipient in the envelope."""

    def __init__(self, path):
        self.name = path.name
        self.message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
        self.to = self.message["X-Sink-To"].strip("<>")
        self.subject = self.message["Subject"]
        self.text = self.message.get_content()

    @property
    def code(self):
        """The sign-in code in the text."""
        found = CODE.findall(self.text)
        assert len(found) == 1, f"not one code of eight digits: {self.text!r}"
        return found[0]


def mails_to(stack, address, after=None, subject=""):
    """All mail for the address with this in its subject, oldest first; after: a Mail or its name, to get only later
    mail."""
    last = getattr(after, "name", after) or ""
    names = sorted(path for path in Path(stack.env["mail_dir"]).glob("*.eml") if path.name > last)
    return [mail for mail in map(Mail, names) if mail.to == address and subject in mail.subject]


def wait_for_mail(stack, address, after=None, subject=""):
    """Waits for the oldest mail for the address that came after `after` and has this in its subject; returns it."""
    return wait_for(lambda: mails_to(stack, address, after, subject), f"mail to {address}")[0]


def wait_for_code(stack, address, after=None):
    """Waits for a mail with a sign-in code; returns the code."""
    return wait_for_mail(stack, address, after, "sign-in code").code


def has_unsent(stack, condition="TRUE", offset=0):
    """Whether mail waits that was queued until now, by a clock that is ahead by so many seconds. Mail of a clock that is still
    further ahead is not due yet."""
    now = int((time.time() + offset) * 1000)
    return stack.sql(f"SELECT 1 FROM mail_outbox WHERE {condition} AND created_at <= %s LIMIT 1", now) != []


@contextmanager
def sending(stack, offset=0):
    """A runner that sends mail during the block, and what is waiting at its end. offset: seconds by which its clock is ahead."""
    clock = {"MUSTER_CLOCK_OFFSET": str(offset)} if offset else {}
    runner = stack.spawn_runner(seconds=600, env=clock, kind="mail")
    try:
        yield
        wait_for(lambda: not has_unsent(stack, "attempts = 0", offset), "the runner to try all mail", seconds=90)
    finally:
        runner.terminate()
        runner.wait(30)
    ends = (0, -signal.SIGTERM)  # it has not installed its handler yet, if no mail was waiting
    assert runner.returncode in ends, f"muster-run ended with {runner.returncode}: see own-runner.log"
