"""P11: pages of GET /v1/users far from the beginning, and lookups of one user among many."""

import random
import threading
from urllib.parse import urlencode

from lib.client import Client
from lib.figure import AT_MOST, BrokenMeasurement, Figure
from lib.floors import free_port
from lib.pages import BAR, DEPTH, PAGE, PAIRS, RUNS, Listing, alternated
from lib.people import people, write_members
from lib.stack import Stack

MANY, OTHERS, FEW = 1_000_000, 100_000, 10_000
BEGAN, DAY = 1_760_000_000_000, 86_400_000
# In addition to the users' own data: a common name, two terms that begin with p and are far apart, and some thousands
# of members changed in the same millisecond.
TERMS = {
    "email": "CONCAT('p', @email)",
    "last_name": "CONCAT('p', SUBSTR(@email, 3, 6), @family)",
    "display_name": "CONCAT('Member ', @external)",
    "updated_at": "CONV(LEFT(@user, 12), 16, 10) DIV 100 * 100",
}
USER_MARK = b'"member_id":'
FILTERS = {
    "no filter": {},
    "updated_since": {"updated_since": "2020-01-01T00:00:00Z"},
    "status": {"status": "active"},
    "q, all match": {"q": "member"},
    "q, all match twice": {"q": "p"},
}


def pages_and_lookups(bench):
    scale = 10 if bench.quick else 1
    many, depth = MANY // scale, DEPTH // scale
    bench.stack.reset()
    fill(bench.stack, many, seed=1)
    fill(bench.stack, OTHERS // scale, seed=2, organization=1)
    bench.stack.settle()
    figures = deep_pages(bench, depth)
    small = Stack(bench.stack.build, free_port(), "bench-sandbox-small")
    try:
        small.start()
        bench.running.append(small)
        fill(small, FEW, seed=1)
        small.settle()
        figures += lookups(bench.stack, small, many)
    finally:
        bench.running = [other for other in bench.running if other is not small]
        small.stop()
    bench.stack.reset()
    return figures


def fill(stack, count, seed, organization=0):
    write_members(stack.file("many.tsv"), people(count, seed), BEGAN + DAY * seed)
    loaded = stack.load_written("many.tsv", organization, **TERMS)
    if loaded != count:
        raise BrokenMeasurement(f"{loaded} members were loaded instead of {count}")


def path_of(filters, **more):
    return "/v1/users?" + urlencode({**filters, **more})


# ---------------------------------------------------------------------------- pages
def listing_of(name):
    return Listing(f"/v1/users, {name}", lambda **query: path_of(FILTERS[name], **query), USER_MARK)


def deep_pages(bench, depth):
    listings = [listing_of(name) for name in FILTERS]
    cursors, faults = {}, []

    def work(listing):
        try:
            cursors[listing] = listing.walk(Client(bench.stack), (depth - 1) * PAGE)
        except Exception as fault:  # reported by the thread that waits
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(listing,)) for listing in listings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return [listing.figure(bench, cursors[listing], depth) for listing in listings]


# ---------------------------------------------------------------------------- lookups
def lookups(large, small, many):
    """For people who exist in both: the small installation contains the first members of the large one."""
    numbers = random.Random(11).sample(range(FEW), PAIRS)
    paths = {"{id}": [], "email": [], "external_id": [], "q": []}
    with large.db.cursor() as cursor:
        for number in numbers:
            cursor.execute("SELECT LOWER(HEX(user_id)), email, external_id FROM members "
                           "WHERE external_id = %s", (f"C-1-{number:07d}",))
            user, email, external = cursor.fetchone()
            uuid = "-".join((user[:8], user[8:12], user[12:16], user[16:20], user[20:]))
            paths["{id}"].append("/v1/users/" + uuid)
            paths["email"].append(path_of({"email": email}))
            paths["external_id"].append(path_of({"external_id": external}))
            paths["q"].append(path_of({"q": email[:11]}))
    return [lookup_figure(Client(large), Client(small), many, name, paths[name]) for name in paths]


def lookup_figure(large, small, many, name, paths):
    for client in (large, small):
        for path in paths:
            if client.call("GET", path).count(USER_MARK) != 1:
                raise BrokenMeasurement(f"{path} does not find one user")
    runs = [alternated([(large, path) for path in paths], [(small, path) for path in paths])
            for _ in range(RUNS)]
    return Figure("P11", f"GET /v1/users, {name}: {many:,} members; floor: {FEW:,}", "ms", BAR, AT_MOST, runs)
