"""Modules with endpoints, as their backends see them: made over the API, with credentials that sign, and runners that
deliver at a moment of the test's choice."""

import hashlib
import hmac
import json
import time
import uuid
from contextlib import contextmanager

from .client import Client
from .stack import wait_for

CANONICAL = ["member.created", "member.attached", "member.updated", "member.locked", "member.unlocked", "member.removed",
             "engagement.recorded", "installation.enabled", "installation.disabled", "webhook_endpoint.disabled"]
SECOND, MINUTE, HOUR, DAY = 1, 60, 3600, 86_400
LADDER = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]


class Module:
    """A private module of the organization, published and installed there, with a credential."""

    def __init__(self, org, slug="loyalty"):
        self.org, self.stack, self.slug, self.endpoints = org, org.stack, slug, []
        self.admin = org.admin().api
        self.own_type = f"{slug.replace('-', '_')}.points.earned"
        self.id = self._made("/v1/modules", {"slug": slug, "name": slug.title(), "vendor": "E2E"})["id"]
        version = self._made(f"/v1/modules/{self.id}/versions", {"version": "1.0.0", "manifest": self._manifest()})
        self.admin.post(f"/v1/modules/{self.id}/versions/{version['id']}/publish", json={}, expect=200)
        secret = uuid.uuid4().hex
        self.stack.keys_issued.append(secret)
        self.installation = self._made("/v1/installations", {"module_id": self.id, "config": {"token": secret}})["id"]
        self.path = f"/v1/installations/{self.installation}"
        issued = self._made(f"{self.path}/credentials", {"name": "backend"})
        self.credential, self.signing_secret = issued["credential"], issued["signing_secret"]
        self.stack.keys_issued += [self.credential, self.signing_secret]
        self.backend = Client(self.stack, org.api.contract, self.credential)

    def _made(self, path, body):
        return self.admin.post(path, json=body, expect=201).json()

    def _manifest(self):
        return {"name": self.slug.title(), "description": "For the end-to-end suite.",
                "events": {"emits": [self.own_type], "subscribes": CANONICAL},
                "config_schema": {"token": {"type": "string", "secret": True}}, "permissions": []}

    # ------------------------------------------------------------------ its backend
    def ingest(self, events, expect=202, **options):
        """Pushes the events, signed as a backend does it."""
        body = json.dumps({"events": events}).encode()
        key, now = str(uuid.uuid4()), int(time.time())
        mac = hmac.digest(self.signing_secret.encode(), f"{now}.{key}.".encode() + body, hashlib.sha256).hex()
        headers = {"Idempotency-Key": key, "x-svc-signature": f"t={now},v1={mac}", "Content-Type": "application/json"}
        return self.backend.post("/v1/ingest", data=body, headers=headers, expect=expect, **options)

    # ------------------------------------------------------------------ its installation
    def record(self):
        return self.admin.get_json(self.path)

    def disable(self):
        return self.admin.delete(self.path, expect=200).json()

    def enable(self):
        return self.admin.post(f"{self.path}/enable", json={}, expect=200).json()

    def endpoint(self, url, types=CANONICAL):
        self.endpoints.append(Endpoint(self, url, types))
        return self.endpoints[-1]

    def forget(self):
        """Takes all endpoints and what waits for them out of the database, so that no later test meets them."""
        self.stack.sql("DELETE FROM webhook_endpoints WHERE installation_id = UNHEX(REPLACE(%s, '-', ''))", self.installation)


class Endpoint:
    def __init__(self, module, url, types):
        self.module, self.stack, self.admin, self.url = module, module.stack, module.admin, url
        body = {"url": url, "subscribed_event_types": list(types)}
        self.created = self.admin.post(f"{module.path}/webhook-endpoints", json=body, expect=201).json()
        self.id, self.secret = self.created["id"], self.created["signing_secret"]
        self.stack.keys_issued.append(self.secret)
        self.path = f"{module.path}/webhook-endpoints/{self.id}"

    def record(self):
        listed = self.admin.get_json(f"{self.module.path}/webhook-endpoints", params={"limit": 100})["webhook_endpoints"]
        return next((endpoint for endpoint in listed if endpoint["id"] == self.id), None)

    def change(self, expect=200, **fields):
        return self.admin.request("PATCH", self.path, json=fields, expect=expect).json()

    def delete(self):
        self.admin.delete(self.path, expect=204)

    def rotate(self):
        """The secret before; the new one is the endpoint's from now on."""
        before = self.secret
        self.secret = self.admin.post(f"{self.path}/rotate-secret", json={}, expect=200).json()["signing_secret"]
        self.stack.keys_issued.append(self.secret)
        return before

    def test(self):
        return self.admin.post(f"{self.path}/test", json={}, expect=202).json()

    def redeliver(self, delivery_id):
        return self.admin.post(f"{self.path}/deliveries/{delivery_id}/redeliver", json={}, expect=202).json()

    def recover(self, since):
        return self.admin.post(f"{self.path}/recover", json={"since": since}, expect=202).json()["queued"]

    def set_url(self, url):
        """As if the URL had been fine once: the API would refuse it."""
        self.stack.sql("UPDATE webhook_endpoints SET url = %s WHERE id = UNHEX(REPLACE(%s, '-', ''))", url, self.id)

    # ------------------------------------------------------------------ deliveries
    def deliveries(self, **query):
        """The newest hundred."""
        return self.admin.get_json(f"{self.path}/deliveries", params={"limit": 100} | query)["deliveries"]

    def delivery(self):
        """The only one."""
        deliveries = self.deliveries()
        assert len(deliveries) == 1, deliveries
        return deliveries[0]

    def attempted(self, count, seconds=30):
        """The only delivery, once the outcome of so many attempts is known."""
        wait_for(lambda: len(self.delivery()["attempts"]) >= count, f"{count} attempts", seconds, every=0.05)
        return self.delivery()

    def statuses(self):
        """How many deliveries have which status: {status: number}."""
        return dict(self.stack.sql("SELECT status, COUNT(*) FROM webhook_deliveries WHERE endpoint_id = "
                                   "UNHEX(REPLACE(%s, '-', '')) GROUP BY status", self.id))

    def settled(self, seconds=30, **statuses):
        """Waits until the deliveries have these statuses, and no other."""
        wait_for(lambda: self.statuses() == statuses, f"{statuses} instead of {self.statuses()}", seconds, every=0.05)


@contextmanager
def delivering(stack, offset=0, env=None):
    """A runner of the test's own that ends with the block. offset: seconds that its clock is ahead."""
    runner = start_delivering(stack, offset, env)
    try:
        yield runner
    finally:
        if runner.poll() is None:
            runner.terminate()
        runner.wait(30)


def start_delivering(stack, offset=0, env=None):
    clock = {"MUSTER_CLOCK_OFFSET": str(offset)} if offset else {}
    return stack.spawn_runner(seconds=120, env=clock | (env or {}), kind="webhooks")
