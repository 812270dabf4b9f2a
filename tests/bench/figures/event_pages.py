"""P11: pages of a member's engagement events far from the newest one."""

from urllib.parse import urlencode

from lib.client import Client
from lib.figure import BrokenMeasurement
from lib.pages import DEPTH, PAGE, Listing

MANY, OTHERS = 1_000_000, 100_000
BEGAN = 1_760_000_000_000
# One was received per millisecond, and some occurred at the same time, out of order.
EVENTS = """INSERT INTO engagement_events (organization_id, id, member_id, action, tags, client_event_id, occurred_at, received_at)
SELECT organization_id, UNHEX(CONCAT(LPAD(HEX(%s + seq), 12, '0'), '7', LEFT(SHA2(CONCAT(HEX(id), seq), 256), 19))), id,
    'page_viewed', '["pricing","spring"]', CONCAT(HEX(id), '-', seq), %s + (seq * 7919) MOD %s DIV 3, %s + seq
FROM members JOIN seq_1_to_{count} WHERE organization_id = UNHEX(%s) AND user_id = UNHEX(%s)"""


def pages(bench):
    scale = 10 if bench.quick else 1
    many, depth = MANY // scale, DEPTH // scale
    bench.stack.reset()
    client = Client(bench.stack)
    member = fill(bench.stack, client, many)
    fill(bench.stack, client, OTHERS // scale)
    bench.stack.settle()
    path = f"/v1/users/{member}/engagement/events?"
    events = Listing(f"…/engagement/events of {many:,}", lambda **query: path + urlencode(query), b'"received_at":')
    figure = events.figure(bench, events.walk(client, (depth - 1) * PAGE), depth)
    bench.stack.reset()
    return [figure]


def fill(stack, client, count):
    """A new member with that many events; returns the user's id."""
    user = client.post("/v1/users", {"email": f"busy-{count}@example.org"}, expect=201)
    ids = [text.replace("-", "") for text in (stack.organizations[0]["id"], user["id"])]
    stored = stack.sql(EVENTS.format(count=count), BEGAN, BEGAN, count, BEGAN, *ids)
    if stored != count:
        raise BrokenMeasurement(f"{stored} events were stored instead of {count}")
    return user["id"]
