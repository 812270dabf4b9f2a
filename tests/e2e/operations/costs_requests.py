"""The costliest requests that change records, or whose cost depends on the request more than on the organization."""

import uuid
from functools import cached_property

from costs_full import Case, one_after_another
from support.ads import LANDING, Ads
from support.costly_organization import TRIES
from support.world import email, rows_of, slug

# The attributes of a full registry in addition to the starter attributes: with texts of a member, and with choices.
ATTRIBUTES, WITH_CHOICES = 100, 85
HTML_OF_ADS = 60_000  # bytes


def wide_rows(count):
    payload = {"attributes": {f"a{number}": "x" * 18 for number in range(ATTRIBUTES)}}
    return rows_of([payload | {"email": f"{number}@e2e.example"} for number in range(count)])


def faulty_payloads(count):
    """Payloads with faults in all their attributes. 4,800 have almost as many entries as a body may have."""
    return [{"country": "UK", "attributes": {f"attribute{number:014}": {} for number in range(ATTRIBUTES)}}] * count


def slow_html():
    """HTML close to the limits of the sanitizer."""
    formatting = "".join(f"<b class=a id={number}>" for number in range(999))
    return formatting + "<b>" * 3990 + "x" * 20_000


def large_manifest():
    """A valid manifest of almost 64 KiB: half of the properties are secret, the others have many choices."""
    secret = {f"secret{number}": {"type": "string", "secret": True, "required": True} for number in range(50)}
    choices = [f"choice{number:03}" for number in range(95)]
    chosen = {f"choice{number}": {"type": "string", "enum": choices} for number in range(50)}
    return {"name": "M", "config_schema": secret | chosen}


def large_config():
    """A config of almost 64 KiB for it."""
    secret = {f"secret{number}": uuid.uuid4().hex * 39 for number in range(50)}
    return secret | {f"choice{number}": "choice094" for number in range(50)}


class Costliest:
    def __init__(self, org):
        self.org, self.api, self.admin = org, org.api, org.admin().api
        self.drafts, self.others = [], []
        self.ids = org.records() | {"import": org.create_import()["id"], "attribute": "phone"}

    def fill(self):
        for number in range(ATTRIBUTES):
            self.admin.request("PUT", f"/v1/attributes/a{number}", json={"type": "text", "enabled": True}, whole=False)
        choices = [f"{number:03}" + "c" * 18 for number in range(500)]  # of all attributes together almost 1 MiB
        for number in range(WITH_CHOICES):
            body = {"type": "single_choice", "choices": choices, "enabled": True}
            self.admin.request("PUT", f"/v1/attributes/a.choice{number}", json=body, whole=False).raise_for_status()
        for _ in range(11):  # more events than a total counts
            self.ingest().raise_for_status()
        self.prepare_ads()
        self.prepare_modules()

    def all(self):
        return [*self.members(), *self.imports(), *self.pages(), *self.modules()]

    def send(self, method, path, api=None, **options):
        return (api or self.api).request(method, path, whole=False, **options)

    # ------------------------------------------------------------------ members
    @cached_property
    def member(self):
        return self.create_user().json()

    def attributes(self):
        return {f"a{number}": uuid.uuid4().hex * 74 for number in range(ATTRIBUTES)}

    def create_user(self):
        names = dict.fromkeys(("first_name", "last_name", "display_name"), "\u1e9b" * 250)
        return self.send("POST", "/v1/users", json={"email": email(), "attributes": self.attributes()} | names)

    def events(self, **more):
        filler = {f"k{number}": "v" * 70 for number in range(95)}
        return {"events": [{"action": "a" * 128, "client_event_id": str(uuid.uuid4()), "metadata": filler,
                            "tags": [f"{number:02}" + "t" * 60 for number in range(20)], **more} for _ in range(100)]}

    def ingest(self):
        return self.send("POST", "/v1/ingest", self.org.module_api, json=self.events(email=self.member["email"]))

    def members(self):
        user = lambda: f"/v1/users/{self.member['id']}"
        return [
            Case("createUser", 201, self.create_user),
            Case("updateUser", 200, lambda: self.send("PATCH", user(), json={"attributes": self.attributes()})),
            Case("trackEvents", 202, lambda: self.send("POST", "/v1/track", self.org.page_api, json=self.events(anonymous_id="v"))),
            Case("ingestEvents", 202, self.ingest),
            Case("listEngagementEvents", 200, lambda: self.send(
                "GET", f"{user()}/engagement/events", params={"limit": 100, "total": "true"})),
        ]

    # ------------------------------------------------------------------ imports
    def imports(self):
        rows = f"/v1/imports/{self.ids['import']}/rows"
        return [
            Case("stageImportRows", 200, lambda: self.send("POST", rows, json={"rows": wide_rows(5000)})),
            Case("stageImportRows", 200, lambda: self.org.stage_malformed(self.ids["import"], faulty_payloads(4800))),
            Case("listImportRows", 200, lambda: self.send("GET", rows, params={"limit": 1000})),
        ]

    # ------------------------------------------------------------------ pages
    def article(self, html):
        return self.send("PATCH", f"/console/v1/articles/{self.ids['article']}", self.admin, json={"body_html": html})

    def new_article(self):
        body = {"slug": slug("article"), "title": "Title", "body_html": slow_html()}
        return self.send("POST", "/console/v1/articles", self.admin, json=body)

    def creative(self):
        body = {"html": slow_html()[:HTML_OF_ADS], "width": 728, "height": 90, "kind": "html", "landing_url": LANDING,
                "campaign_id": self.ids["campaign"]}
        return self.send("POST", "/console/v1/ads/creatives", self.admin, json=body)

    def changed_creative(self):
        path = f"/console/v1/ads/creatives/{self.html_creative['id']}"
        return self.send("PATCH", path, self.admin, json={"html": slow_html()[:HTML_OF_ADS]})

    def prepare_ads(self):
        """A slot with 100 campaigns, which ask for an attribute of a member and have a cap; and a creative to change."""
        ads, member = Ads(self.org), self.create_user().json()
        slot, wanted = ads.slot(), {"a0": member["attributes"]["a0"]}
        for _ in range(100):
            ads.creative(ads.campaign(slot, frequency_cap=1000, targeting={"attributes": wanted}))
        self.ad_params = {"slot": slot["slug"], "user_id": member["id"]}
        self.html_creative = self.creative().json()

    def pages(self):
        preview = {"body_html": slow_html()}
        return [
            Case("serveAd", 200, lambda: self.send("GET", "/v1/ads/serve", self.org.page_api, params=self.ad_params)),
            Case("createArticle", 201, self.new_article),
            Case("changeArticle", 200, lambda: self.article(slow_html())),
            Case("previewArticleText", 200, lambda: self.send("POST", "/console/v1/articles/preview", self.admin, json=preview)),
            Case("createAdCreative", 201, self.creative),
            Case("updateAdCreative", 200, self.changed_creative),
        ]

    # ------------------------------------------------------------------ modules
    def prepare_modules(self):
        one, *self.others = [self.org.published_module(large_manifest()) for _ in range(TRIES + 1)]
        self.module = f"/v1/modules/{one['id']}"
        self.drafts = [self.new_version().json() for _ in range(TRIES)]
        self.installation = self.org.install(one, config=large_config())

    def new_version(self):
        body = {"version": uuid.uuid4().hex[:12], "manifest": large_manifest()}
        return self.send("POST", f"{self.module}/versions", self.admin, json=body)

    def modules(self):
        """Each try publishes another version, and installs another module."""
        publish = lambda version: self.send("POST", f"{self.module}/versions/{version['id']}/publish", self.admin, json={})
        install = lambda one: self.send("POST", "/v1/installations", self.admin,
                                        json={"module_id": one["id"], "config": large_config()})
        change = lambda: self.send("PATCH", f"/v1/installations/{self.installation['id']}", self.admin,
                                   json={"config": large_config()})
        return [
            Case("createModuleVersion", 201, self.new_version),
            Case("publishModuleVersion", 200, one_after_another(publish, self.drafts)),
            Case("installModule", 201, one_after_another(install, self.others)),
            Case("changeInstallation", 200, change),
        ]
