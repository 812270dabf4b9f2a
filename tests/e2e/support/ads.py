"""The ads of an organization, as one of its admins manages them in the console, and as its pages show them."""

from urllib.parse import urlsplit

from .world import in_seconds, slug

CONSOLE = "/console/v1/ads"
LANDING = "https://shop.example/final?a=b&c=%20d#e"
IMAGE = "https://img.example/final.png"
# The slug of the slot in the organization's records().
MATRIX_SLOT = "matrix"


def path_of_url(url):
    """The path and query of one of Muster's URLs."""
    return urlsplit(url).path


def on_one_day(act):
    """What `act` returns. Calls it once more if midnight (UTC), when a day of figures ends, passed meanwhile."""
    day = in_seconds(0)[:10]
    done = act()
    return done if in_seconds(0)[:10] == day else act()


class Ads:
    def __init__(self, org):
        self.org, self.admin = org, org.admin().api

    # ------------------------------------------------------------------ console
    def post(self, what, body, **options):
        return self.admin.post(f"{CONSOLE}/{what}", json=body, **options)

    def read(self, what, record, expect=200):
        return self.admin.get(f"{CONSOLE}/{what}/{record['id']}", expect=expect).json()

    def change(self, what, record, expect=200, **fields):
        return self.admin.request("PATCH", f"{CONSOLE}/{what}/{record['id']}", json=fields, expect=expect)

    def delete(self, what, record, expect=204):
        return self.admin.delete(f"{CONSOLE}/{what}/{record['id']}", expect=expect)

    def listed(self, what, **params):
        """All records, two per page."""
        records, cursor = [], None
        while True:
            page = self.admin.get_json(f"{CONSOLE}/{what}", params={"limit": 2, **params, **({"cursor": cursor} if cursor else {})})
            assert len(page[what]) <= 2
            records += page[what]
            cursor = page["next_cursor"]
            if cursor is None:
                return records

    def slot(self, expect=201, **fields):
        return self.post("slots", {"slug": slug("slot"), "name": "Top", "width": 728, "height": 90} | fields, expect=expect).json()

    def campaign(self, slot, expect=201, **fields):
        """Without creatives."""
        return self.post("campaigns", {"name": "Cup", "slot_ids": [slot["id"]]} | fields, expect=expect).json()

    def creative(self, campaign, expect=201, **fields):
        body = {"campaign_id": campaign["id"], "kind": "image", "image_url": IMAGE, "alt": "The final",
                "width": 728, "height": 90, "landing_url": LANDING} | fields
        return self.post("creatives", {name: value for name, value in body.items() if value is not None}, expect=expect).json()

    def running(self, slot=None, creative=None, **fields):
        """A slot with a campaign that has one matching creative: (slot, campaign)."""
        slot = slot or self.slot()
        campaign = self.campaign(slot, **fields)
        self.creative(campaign, **(creative or {}))
        return slot, campaign

    def days(self, campaign, **params):
        return self.admin.get_json(f"{CONSOLE}/campaigns/{campaign['id']}/stats", params=params)["days"]

    def counted(self, campaign):
        """(impressions, clicks) of all days."""
        days = self.days(campaign)
        return sum(day["impressions"] for day in days), sum(day["clicks"] for day in days)

    # ------------------------------------------------------------------ pages
    def ask(self, slot, expect=200, **params):
        return self.org.page_api.get("/v1/ads/serve", params={"slot": slot["slug"]} | params, expect=expect)

    def serve(self, slot, **params):
        """The ad; None if no ad matches."""
        return self.ask(slot, **params).json()["ad"]
