"""Webhook endpoints and deliveries, for the tests of several files."""

LONG_AGO = "2026-01-01T00:00:00Z"


def patched(client, path, expect=200, **changes):
    return client.request("PATCH", path, json=changes, expect=expect)


def listed(client, path, name="webhook_endpoints", **query):
    """All records of a list, page after page."""
    found, cursor = [], None
    while True:
        page = client.get_json(path, params=query | ({"cursor": cursor} if cursor else {}))
        assert len(page[name]) <= query.get("limit", 50)
        found += page[name]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def tried(client, endpoint):
    """A delivery of the endpoint."""
    return client.post(f"{endpoint}/test", expect=202).json()


def set_delivery(stack, delivery, status):
    """Simulates the result of a runner."""
    stack.sql("UPDATE webhook_deliveries SET status = %s, due_at = NULL, lease_owner = NULL, step = 10 "
              "WHERE id = UNHEX(REPLACE(%s, '-', ''))", status, delivery["id"])


def read(client, endpoint, delivery):
    return client.get_json(f"{endpoint}/deliveries/{delivery['id']}")


def shown(record):
    return {name: value for name, value in record.items() if name != "signing_secret"}
