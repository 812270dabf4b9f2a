"""The costliest requests to an organization that has as many and as large records as it may have."""

from typing import Callable, NamedTuple

from support import costly_organization as full
from support.costly_organization import FullOrganization
from support.webhooks import LONG_AGO


class Case(NamedTuple):
    operation: str
    status: int  # of the reply
    send: Callable  # sends the request; a request that changes its record takes the next record each time


def one_after_another(send, records):
    """A function that sends the request for the next of these records each time."""
    left = iter(records)
    return lambda: send(next(left))


class FullCases:
    def __init__(self, org):
        self.org, self.api, self.admin = org, org.api, org.admin().api
        self.full = FullOrganization(org)

    def fill(self):
        self.full.fill()

    def remove(self):
        self.full.rows.remove()

    def all(self):
        return [*self.reads(), *self.lists(), *self.pages_of_keys(), *self.ads(), *self.webhooks(), *self.changes_of_webhooks(),
                *self.members(), *self.team()]

    def send(self, method, path, api=None, **options):
        return (api or self.admin).request(method, path, whole=False, **options)

    def get(self, operation, path, api=None, **params):
        return Case(operation, 200, lambda: self.send("GET", path, api, params=params))

    def page(self, operation, path, **params):
        """The longest page."""
        return self.get(operation, path, limit=full.LISTED, **params)

    def team(self):
        """Each request mails ten owners, with addresses of 254 characters."""
        seat = lambda number: f"/v1/seats/{self.full.id(number)}"
        change = lambda number: self.send("PATCH", seat(number), json={"role": "admin"})
        remove = lambda number: self.send("DELETE", seat(number))
        return [Case("changeSeat", 200, one_after_another(change, range(21, 21 + full.TRIES))),
                Case("removeSeat", 204, one_after_another(remove, range(41, 41 + full.TRIES)))]

    # ------------------------------------------------------------------ reads
    def reads(self):
        own = self.full.id
        return [
            self.get("getOrganizationSummary", "/v1/organization/summary"),
            self.get("getOrganizationUsage", "/v1/organization/usage"),
            Case("getMetrics", 200, lambda: self.send("GET", "/metrics", self.api, key=None)),
            self.get("getAttribute", "/v1/attributes/a1"),
            self.get("getArticle", f"/console/v1/articles/{own(1)}"),
            self.get("getContent", f"/v1/content/articles/{'1'.rjust(128, 's')}", self.org.reader_api),
            self.get("getAdCampaign", f"/console/v1/ads/campaigns/{own(1)}"),
            self.get("getInstallation", f"/v1/installations/{own(1)}"),
            self.get("getModuleVersion", f"/v1/modules/{own(1)}/versions/{own(1)}"),
            self.get("getUser", f"/v1/users/{own(1)}"),
            self.get("listUserAttributes", f"/v1/users/{own(1)}/attributes"),
        ]

    def lists(self):
        """nginx has no answer to the second request for content in its cache, because it differs."""
        own = self.full.id
        content = lambda limit: self.send("GET", "/v1/content/articles", self.org.reader_api, params={"limit": limit})
        return [
            self.page("listUsers", "/v1/users", q="crowd", total="true"),
            self.page("listAttributes", "/v1/attributes"),
            self.page("listAuditLog", "/v1/audit-log", action=full.SEARCHED),
            self.page("listRecentEvents", "/v1/engagement/events"),
            self.page("listArticles", "/console/v1/articles", q="\U0001f3c6"),
            Case("listContent", 200, one_after_another(content, (full.LISTED, full.LISTED - 1))),
            self.page("listImports", "/v1/imports"),
            self.page("listMemberJobs", "/v1/member-jobs"),
            self.page("listModules", "/v1/modules"),
            self.page("listModuleVersions", f"/v1/modules/{own(1)}/versions"),
            self.page("listInstallations", "/v1/installations"),
            self.page("listAdSlots", "/console/v1/ads/slots"),
            self.page("listAdCampaigns", "/console/v1/ads/campaigns"),
            self.page("listAdFigures", "/console/v1/ads/figures", days=full.DAYS),
            self.page("listAdCreatives", "/console/v1/ads/creatives", campaign_id=own(full.LISTED + 1)),
            self.page("listAdCreatives", "/console/v1/ads/creatives"),
        ]

    def pages_of_keys(self):
        return [
            self.page("listApiKeys", "/v1/api-keys"),
            self.page("listTrackingKeys", "/v1/engagement/keys"),
            self.page("listContentKeys", "/console/v1/content-keys"),
            self.page("listSeats", "/v1/seats"),
            self.get("listConnections", "/v1/external-data/connections", org=self.org.id),
        ]

    def ads(self):
        create = lambda: self.send("POST", "/console/v1/ads/campaigns", json=self.full.new_campaign())
        change = lambda name: self.send("PATCH", f"/console/v1/ads/campaigns/{self.full.id(1)}",
                                        json=self.full.new_campaign() | {"name": name})
        params = {"slot": "1".rjust(63, "s"), "user_id": self.full.id(1)}
        return [
            Case("serveAd", 200, lambda: self.send("GET", "/v1/ads/serve", self.org.page_api, params=params)),
            Case("createAdCampaign", 201, create),
            Case("updateAdCampaign", 200, one_after_another(change, "ab")),
        ]

    # ------------------------------------------------------------------ webhooks
    def endpoint(self, number, installation=1):
        return f"/v1/installations/{self.full.id(installation)}/webhook-endpoints/{self.full.id(number)}"

    def webhooks(self):
        """The deliveries with attempts are the last ones that a call examines."""
        seen = self.endpoint(full.SEEN)
        delivery = self.full.id(self.full.first_delivery(full.SEEN) + 1)
        return [
            self.page("listWebhookEndpoints", f"/v1/installations/{self.full.id(1)}/webhook-endpoints"),
            self.get("getWebhookEndpoint", seen),
            self.page("listWebhookDeliveries", f"{seen}/deliveries", **{"class": "http_5xx"}),
            self.page("listAllWebhookDeliveries", "/v1/webhook-deliveries", **{"class": "http_5xx"}),
            self.get("getWebhookDelivery", f"{seen}/deliveries/{delivery}"),
        ]

    def changes_of_webhooks(self):
        disable = lambda number: self.send("PATCH", self.endpoint(full.CANCELABLE + number), json={"status": "disabled"})
        delete = lambda number: self.send("DELETE", self.endpoint(full.DELETABLE + number))
        uninstall = lambda number: self.send("DELETE", f"/v1/installations/{self.full.id(number)}")
        recover = lambda dry_run: self.send("POST", f"{self.endpoint(full.FAILED)}/recover",
                                            json={"since": LONG_AGO, "dry_run": dry_run})
        return [
            Case("updateWebhookEndpoint", 200, one_after_another(disable, range(full.TRIES))),
            Case("deleteWebhookEndpoint", 204, one_after_another(delete, range(full.TRIES))),
            Case("disableInstallation", 200, one_after_another(uninstall, full.OWN_INSTALLATIONS)),
            Case("recoverWebhookDeliveries", 202, lambda: recover(True)),
            Case("recoverWebhookDeliveries", 202, lambda: recover(False)),
        ]

    # ------------------------------------------------------------------ members
    def members(self):
        """Changes of the heaviest members, each of another one."""
        user = lambda number: f"/v1/users/{self.full.id(number)}"
        lock = lambda number: self.send("POST", f"{user(number)}/lock", json={"reason": "\U0001f3c6" * 255})
        unlock = lambda number: self.send("POST", f"{user(number)}/unlock", json={})
        change = lambda number: self.send("PATCH", user(number), json={"last_name": "Changed"})
        remove = lambda number: self.send("DELETE", user(number))
        merge = lambda number: self.send("POST", "/v1/users", self.api, json=self.full.almost_known(number))
        return [
            Case("createUser", 200, one_after_another(merge, (16, 17))),
            Case("lockUser", 200, one_after_another(lock, (10, 11))),
            Case("unlockUser", 200, one_after_another(unlock, (10, 11))),
            Case("updateUser", 200, one_after_another(change, (12, 13))),
            Case("removeUser", 204, one_after_another(remove, (14, 15))),
        ]
