"""Admins with a real sign-in: the code comes by mail, and the second factor is computed as by an authenticator."""

import base64
import hashlib
import hmac
import struct
import time
from contextlib import nullcontext

from .client import Client, ConsolePage
from .mail import sending, wait_for_code
from .world import email

STEP = 30  # seconds
AUTH = "/v1/auth/email-otp"
FACTOR = "/api/auth/two-factor"


def totp(secret, step):
    """RFC 6238 with the usual parameters: SHA-1, six digits. secret: Base32."""
    mac = hmac.digest(base64.b32decode(secret), struct.pack(">Q", step), hashlib.sha1)
    place = mac[-1] & 15
    return f"{(struct.unpack('>I', mac[place:place + 4])[0] & 0x7FFFFFFF) % 10**6:06d}"


def step_now():
    return int(time.time()) // STEP


class Admin:
    """An admin with seats, created with musterctl. seats: (organization id, role) pairs, the earliest first."""

    def __init__(self, stack, contract, *seats, address=None):
        self.stack, self.contract = stack, contract
        self.address = address or email("admin")
        self.secret, self.backup_codes, self.last_step = None, [], 0
        self._has_asked, self._api = False, None
        for organization_id, role in seats:
            self.give_seat(organization_id, role)

    def give_seat(self, organization_id, role="admin"):
        self.id = self.stack.ctl("admin", "add", "--org", organization_id, "--email", self.address, "--role", role)["id"]

    def take_seat(self, organization_id):
        self.stack.ctl("admin", "remove", "--yes", "--org", organization_id, "--email", self.address)

    def set_role(self, organization_id, role):
        self.stack.ctl("admin", "set-role", "--org", organization_id, "--email", self.address, "--role", role)

    # ------------------------------------------------------------------ the code
    def ask_for_code(self):
        """The code of the mail that was sent for this request."""
        before = self.mails_before()
        anyone = Client(self.stack, self.contract)
        anyone.post(f"{AUTH}/request", json={"email": self.address}, expect=200)
        return self.code_after(before)

    def mails_before(self):
        """Allows another request for a code; returns what code_after() needs."""
        if self._has_asked:  # one a minute suits people and not tests
            forget_requests(self.stack)
        self._has_asked = True
        return f"{time.time_ns():020d}"

    def code_after(self, before):
        """The code of the mail that was requested after mails_before()."""
        with sending(self.stack) if self.stack.pid("runner") is None else nullcontext():
            return wait_for_code(self.stack, self.address, after=before)

    def signed_in(self):
        """The whole reply of a sign-in; its token is unverified."""
        body = {"email": self.address, "otp": self.ask_for_code()}
        reply = Client(self.stack, self.contract).post(f"{AUTH}/verify", json=body, expect=200).json()
        self.stack.keys_issued.append(reply["token"])
        return reply

    def console(self):
        """A page of the console with a new, unverified session in its cookie."""
        page = ConsolePage(self.stack, self.contract)
        body = {"email": self.address, "otp": self.ask_for_code()}
        page.post(f"{AUTH}/verify", json=body, expect=200)
        return page

    def unverified(self):
        """A client with a new, unverified session."""
        return Client(self.stack, self.contract, self.signed_in()["token"])

    def another_session_id(self):
        """The id of a new session of the admin, which no client uses."""
        own = self.api
        self.unverified()
        return own.get_json("/v1/sessions")["sessions"][0]["id"]

    # ------------------------------------------------------------------ the second factor
    def enable(self, client):
        made = client.post(f"{FACTOR}/enable", json={}, expect=200).json()
        self.secret, self.backup_codes = made["secret"], list(made["backup_codes"])
        self.stack.keys_issued += [self.secret, *self.backup_codes]
        return made

    def fresh_step(self):
        """A time step that was not used and is accepted now; None if there is none at the moment."""
        step = max(self.last_step + 1, step_now() - 1)
        if step > step_now() + 1:
            return None
        self.last_step = step
        return step

    def lasting_step(self):
        """An unused time step whose code is accepted for at least half a minute; None if all of them are used."""
        self.last_step = max(self.last_step, step_now() - 1)
        return self.fresh_step()

    def forget_steps(self):
        """Allows the codes of the current time steps again. People wait for the next step."""
        self.stack.sql("UPDATE admins SET totp_last_step = 0 WHERE email = %s", self.address)
        self.last_step = 0

    def pass_second_factor(self, client):
        """Verifies with the first unused step, or with a backup code if all steps of the moment are used."""
        for _ in range(2):  # the oldest step may expire on the way
            step = self.fresh_step()
            if step is None:
                break
            if client.post(f"{FACTOR}/verify-totp", json={"code": totp(self.secret, step)}).status_code == 200:
                return client
        client.post(f"{FACTOR}/verify-backup-code", json={"code": self.backup_codes.pop()}, expect=200)
        return client

    def new_session(self):
        """A client with another verified session; enrolls first if necessary."""
        client = self.unverified()
        if self.secret is None:
            self.enable(client)
        return self.pass_second_factor(client)

    @property
    def api(self):
        """The verified session of the admin, which is created on first use."""
        if self._api is None:
            self._api = self.new_session()
        return self._api


def forget_requests(stack):
    """Allows every address to request a code immediately again."""
    stack.sql("DELETE FROM guess_budgets WHERE kind = 'otp_request'")
