"""The mail that the stack sent: read from the folder in which the sandbox's mail sink stores it."""

import email
import email.policy
import re
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
