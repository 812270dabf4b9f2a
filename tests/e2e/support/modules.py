"""Installed modules with their endpoints and backends, and runners that deliver when the test starts them."""

import signal
import uuid
from contextlib import contextmanager
from functools import cached_property

from .stack import wait_for
from .world import slug

CANONICAL = ["member.created", "member.attached", "member.updated", "member.locked", "member.unlocked", "member.removed",
             "engagement.recorded", "installation.enabled", "installation.disabled", "webhook_endpoint.disabled",
             "webhook_endpoint.backlog_dropped"]
SECOND, MINUTE, HOUR, DAY = 1, 60, 3600, 86_400
RETRY_DELAYS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]


class Module:
    """A private module of the organization, published and installed there."""

    def __init__(self, org):
        self.org, self.stack, self.admin = org, org.stack, org.admin().api
        name = slug("loyalty")
        self.own_type = f"{name.replace('-', '_')}.points.earned"
        manifest = {"name": name, "events": {"emits": [self.own_type], "subscribes": CANONICAL},
                    "config_schema": {"token": {"type": "string", "secret": True}}}
        token = uuid.uuid4().hex
        self.stack.keys_issued.append(token)
        made = org.install(org.published_module(manifest, slug=name), config={"token": token})
        self.installation, self.path = made["id"], f"/v1/installations/{made['id']}"

    # ------------------------------------------------------------------ backend
    @cached_property
    def backend(self):
        return self.org.backend({"id": self.installation})

    def ingest(self, events, **options):
        """Pushes the events like the backend of the module."""
        return self.backend.push(*events, **options)

    # ------------------------------------------------------------------ installation
    def record(self):
        return self.admin.get_json(self.path)

    def disable(self):
        return self.admin.delete(self.path, expect=200).json()

    def enable(self):
        return self.admin.post(f"{self.path}/enable", json={}, expect=200).json()

    def endpoint(self, url, types=CANONICAL):
        return Endpoint(self, url, types)

    def forget(self):
        """Deletes all endpoints and their waiting deliveries from the database, so that no later test is affected."""
        self.stack.sql("DELETE FROM webhook_endpoints WHERE installation_id = UNHEX(REPLACE(%s, '-', ''))", self.installation)


class Endpoint:
    def __init__(self, module, url, types):
        self.module, self.stack, self.admin, self.url = module, module.stack, module.admin, url
        made = module.org.create_endpoint({"id": module.installation}, url=url, subscribed_event_types=list(types))
        self.id, self.secret = made["id"], made["signing_secret"]
        self.path = f"{module.path}/webhook-endpoints/{self.id}"

    def record(self):
        listed = self.admin.get_json(f"{self.module.path}/webhook-endpoints", params={"limit": 100})["webhook_endpoints"]
        return next((endpoint for endpoint in listed if endpoint["id"] == self.id), None)

    def change(self, expect=200, **fields):
        return self.admin.request("PATCH", self.path, json=fields, expect=expect).json()

    def delete(self):
        self.admin.delete(self.path, expect=204)

    def rotate(self):
        """Rotates the secret and returns the previous one; the endpoint uses the new one from now on."""
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
        """Stores the URL directly, because the API would reject it."""
        self.stack.sql("UPDATE webhook_endpoints SET url = %s WHERE id = UNHEX(REPLACE(%s, '-', ''))", url, self.id)

    # ------------------------------------------------------------------ deliveries
    def deliveries(self, **query):
        """The newest hundred."""
        return self.admin.get_json(f"{self.path}/deliveries", params={"limit": 100} | query)["deliveries"]

    def delivery(self):
        """The only delivery."""
        deliveries = self.deliveries()
        assert len(deliveries) == 1, deliveries
        return deliveries[0]

    def attempted(self, count, seconds=30):
        """The only delivery, after the outcomes of that many attempts are known."""
        wait_for(lambda: self.deliveries() and len(self.delivery()["attempts"]) >= count, f"{count} attempts", seconds, every=0.05)
        return self.delivery()

    def statuses(self):
        """The number of deliveries by status: {status: number}."""
        return dict(self.stack.sql("SELECT status, COUNT(*) FROM webhook_deliveries WHERE endpoint_id = "
                                   "UNHEX(REPLACE(%s, '-', '')) GROUP BY status", self.id))

    def settled(self, seconds=30, **statuses):
        """Waits until the deliveries have exactly these statuses."""
        wait_for(lambda: self.statuses() == statuses, f"{statuses} instead of {self.statuses()}", seconds, every=0.05)


@contextmanager
def delivering(stack, offset=0, env=None):
    """A runner that stops at the end of the block. offset: seconds by which its clock is ahead."""
    runner = start_delivering(stack, offset, env)
    ends = {0}
    try:
        yield runner
    finally:
        if runner.poll() is None:
            runner.terminate()
            ends.add(-signal.SIGTERM)  # it had not installed its handler
        runner.wait(30)
    assert runner.returncode in ends, f"muster-run ended with {runner.returncode}: see own-runner.log"


def start_delivering(stack, offset=0, env=None):
    clock = {"MUSTER_CLOCK_OFFSET": str(offset)} if offset else {}
    return stack.spawn_runner(seconds=120, env=clock | (env or {}), kind="webhooks")
