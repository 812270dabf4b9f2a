"""Generated members for the bench: the same for the same seed, with three attributes each.

Half of an address is random, so that they reach the index on addresses in no order, as real ones do.
"""

import json
import random
import uuid

GIVEN = ("Oliver Amelia Harry Isla George Ava Noah Emily Jack Sophie Callum Freya Jürgen Anna Lukas Mia "
         "Léa Hugo Chloé Louis Lucía Álvaro Íñigo Daan Sanne Elsa Åke Zofia Łukasz Haruto Yui Chinedu "
         "Ngozi Aarav Ananya Priya").split()
FAMILY = ("Smith Jones Taylor Brown Williams Wilson Evans Müller Schmidt Schneider Weber Martin Bernard "
          "Lefèvre Moreau García Fernández Núñez Jansen Bakker Andersson Lindström Nowak Kowalski "
          "Wiśniewski Sato Suzuki Takahashi Okafor Adeyemi Balogun Sharma Patel Singh Reddy Iyer").split()
COUNTRIES = "GB DE FR ES NL SE PL JP NG IN US AT".split()
SIZES = "XS S M L XL XXL XXXL".split()
TEAMS = ("Northbridge Rovers", "Harbour City", "FC Steinfeld", "Olympique Valmont", "Real Costa",
         "Kanagawa Waves", "Lagos Comets", "Red Star Malmö")
ROWS_PER_CALL = 5000


def people(count, seed, domain="example.com"):
    """Yields `count` payloads as POST /v1/imports/{id}/rows accepts them, without repeated addresses."""
    chance = random.Random(seed)
    for number in range(count):
        given, family = chance.choice(GIVEN), chance.choice(FAMILY)
        yield {
            "email": f"{chance.getrandbits(40):010x}.{seed}.{number}@{domain}",
            "external_id": f"C-{seed}-{number:07d}",
            "first_name": given,
            "last_name": family,
            "country": chance.choice(COUNTRIES),
            "dob": f"{chance.randint(1940, 2007)}-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d}",
            "attributes": {
                "phone": f"+44 7700 {chance.randint(900000, 900999)}",
                "shirt_size": chance.choice(SIZES),
                "favourite_team": chance.choice(TEAMS),
            },
        }


def bodies(rows):
    """The bodies of the staging calls, 5,000 rows each, ready to be sent."""
    texts, pieces = [], []
    for number, payload in enumerate(rows, start=1):
        pieces.append(json.dumps({"rowNumber": number, "payload": payload},
                                 ensure_ascii=False, separators=(",", ":")))
        if len(pieces) == ROWS_PER_CALL:
            texts.append(pieces)
            pieces = []
    if pieces:
        texts.append(pieces)
    return [('{"rows":[' + ",".join(pieces) + "]}").encode() for pieces in texts]


def write_row_each(path, rows):
    """For LOAD DATA into a table with one row each: the fields of a payload, tab-separated."""
    with open(path, "w", encoding="utf-8") as file:
        for number, row in enumerate(rows, start=1):
            attributes = json.dumps(row["attributes"], ensure_ascii=False, separators=(",", ":"))
            file.write("\t".join((str(number), row["email"], row["external_id"], row["first_name"],
                                  row["last_name"], row["country"], row["dob"], attributes)) + "\n")


def write_members(path, rows, when):
    """For LOAD DATA of existing members: ids in hexadecimal, ascending like UUIDv7."""
    chance = random.Random(7)
    with open(path, "w", encoding="utf-8") as file:
        for number, row in enumerate(rows):
            user, member = (uuid_v7(when + number // 50, number % 50 * 2 + which, chance)
                            for which in (0, 1))
            attributes = json.dumps({key: [value, "import", when]
                                     for key, value in row["attributes"].items()}, ensure_ascii=False)
            file.write("\t".join((user, member, row["email"], row["external_id"], row["first_name"],
                                  row["last_name"], row["country"], row["dob"], attributes)) + "\n")


def uuid_v7(milliseconds, sequence, chance):
    number = milliseconds << 80 | 7 << 76 | sequence << 64 | 2 << 62 | chance.getrandbits(62)
    return uuid.UUID(int=number).hex
