"""The publishable keys of both kinds over the API: their paths, and how a test creates and finds them."""

from .client import SHOP

PATHS = {"tracking": "/v1/engagement/keys", "content": "/console/v1/content-keys"}
PREFIXES = {"tracking": "ek_live_", "content": "ck_live_"}


class Keys:
    """The keys of one kind of an organization, as one of its admins manages them."""

    def __init__(self, org, kind):
        self.org, self.kind, self.path, self.admin = org, kind, PATHS[kind], org.admin().api

    def post(self, name="shop", allowed_origins=(SHOP,), **options):
        fields = {name: options.pop(name) for name in ("expires_at", "rate_limit_per_second", "burst") if name in options}
        body = {"name": name, "allowed_origins": list(allowed_origins)} | fields
        return self.admin.post(self.path, json=body, **options)

    def create(self, **fields):
        return self.post(expect=201, **fields).json()

    def change(self, key, /, expect=200, **fields):
        return self.admin.request("PATCH", f"{self.path}/{key['id']}", json=fields, expect=expect)

    def revoke(self, key, expect=204):
        return self.admin.delete(f"{self.path}/{key['id']}", expect=expect)

    def listed(self, limit=100):
        """All records, page by page."""
        keys, cursor = [], None
        while True:
            page = self.admin.get_json(self.path, params={"limit": limit} | ({"cursor": cursor} if cursor else {}))
            assert len(page["keys"]) <= limit
            keys += page["keys"]
            cursor = page["next_cursor"]
            if cursor is None:
                return keys

    def record(self, key):
        """The record from the list; None if it is not listed."""
        return next((record for record in self.listed() if record["id"] == key["id"]), None)
