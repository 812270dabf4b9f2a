"""Invariants of any import: random data with fixed seeds is imported and compared with a model of specification 3.4.

The model has no blocks, batches or SQL. A failing seed can be run alone: -k seed-3.
"""

import hashlib
import json
import random

import pytest
from support.world import CORE_FIELDS, email

VALUES = {
    "external_id": ["E1", "E2", "0", "None"], "first_name": ["Ann", "ann", "Änn", " x ", "'"], "last_name": ["Lee", "O'Neill", "李"],
    "display_name": ["A. Lee", "\"A\"", "😀"], "locale": ["en", "de-DE", "any"], "country": ["GB", "de", "FR"],
    "dob": ["1990-05-06", "2000-02-29", "1900-01-01"],
}
ATTRIBUTES = {
    "phone": ["1", "+44 \\ \"7\"", "line\nbreak"], "gender": ["female", "undisclosed"], "shirt_size": ["XS", "XXXL"],
    "points": [0, -1.5, 1e21, 123456789012], "joined": ["2024-02-29"], "vip": [True, False],
    "interests": [[], ["news"], ["offers", "events"]], "address.city": ["Zürich", "x" * 300],
}
BAD_ATTRIBUTES = [("gender", "x"), ("points", "5"), ("vip", 1), ("no_such", "x"), ("emergency_contact", "x"),
                  ("interests", ["news", "news"])]
FIELDS = [name for name in CORE_FIELDS if name != "email"]


def random_payload(dice, address):
    payload = {"email": dice.choice([address, address.upper(), f" {address} "])}
    for name in FIELDS:
        if dice.random() < 0.5:
            payload[name] = dice.choice([*VALUES[name], "", None])
    if dice.random() < 0.8:
        keys = dice.sample(list(ATTRIBUTES), dice.randrange(0, 5))
        payload["attributes"] = {key: dice.choice([*ATTRIBUTES[key], None]) for key in keys}
    return payload


def normalized(payload):
    """The stored values of a payload: {field: value or None}, {attribute: value}."""
    fields = {}
    for name in FIELDS:
        text = (payload.get(name) or "").strip()
        fields[name] = (text.upper() if name == "country" else text) or None
    attributes = {key: value for key, value in (payload.get("attributes") or {}).items() if value not in (None, "")}
    return fields, attributes


def members_of(org):
    """{address: ({field: value}, {attribute: [value, provenance, time]})}"""
    return {address: ({name: member[name] for name in FIELDS}, member["attributes"])
            for address, member in org.members().items()}


def fingerprints(members):
    """A hash of every non-empty value: {(address, name): hash}."""
    prints = {}
    for address, (fields, attributes) in members.items():
        for name, value in [*fields.items(), *(("attributes." + key, entry) for key, entry in attributes.items())]:
            if value is not None:
                prints[address, name] = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
    return prints


def expected_outcome(row, seen, bad, members, everybody):
    address = row["email"].strip().lower()
    if address in seen:
        return "ROW_DUPLICATE_IN_FILE"
    seen.add(address)
    if id(row) in bad:
        return "ROW_ATTR_UNKNOWN_KEY" if bad[id(row)] in ("no_such", "emergency_contact") else "ROW_ATTR_INVALID_VALUE"
    return "merged" if address in members else "attached" if address in everybody else "created"


def merge(before, payload):
    """3.4: only empty values are filled. Attributes without provenance."""
    fields, attributes = normalized(payload)
    old_fields, old_attributes = before or (dict.fromkeys(FIELDS), {})
    return ({name: fields[name] if old_fields[name] is None else old_fields[name] for name in FIELDS},
            attributes | {key: entry[0] for key, entry in old_attributes.items()})


def random_rows(dice, addresses, count):
    rows, bad = [], {}
    for _ in range(count):
        row = random_payload(dice, dice.choice(addresses))
        if dice.random() < 0.06:
            key, value = dice.choice(BAD_ATTRIBUTES)
            row["attributes"] = {key: value}
            bad[id(row)] = key
        rows.append(row)
    return rows, bad


@pytest.mark.parametrize("seed", range(1, 6), ids=lambda seed: f"seed-{seed}")
def test_a_random_import_matches_the_model_and_changes_no_value(new_org, stack, seed):
    dice = random.Random(seed)
    org, elsewhere = new_org(), new_org()
    addresses = [email(f"world{seed}") for _ in range(700)]
    elsewhere.imported([random_payload(dice, address) for address in dice.sample(addresses, 250)])
    org.imported([random_payload(dice, address) for address in dice.sample(addresses, 250)])
    for round_number in range(2):
        before, others_before = members_of(org), members_of(elsewhere)
        everybody = {address for (address,) in stack.sql("SELECT email FROM users")}
        numbers = sorted(dice.sample(range(1, 3000), 900))
        rows, bad = random_rows(dice, addresses, 900)

        seen, want = set(), {}
        for number, row in zip(numbers, rows):
            want[number] = expected_outcome(row, seen, bad, before, everybody)
        entries = list(zip(numbers, rows))
        dice.shuffle(entries)
        job_id = org.create_import()["id"]
        for start in range(0, len(entries), 300):
            org.stage(job_id, entries[start:start + 300])
        org.validate(job_id)
        preview = org.state_is(job_id, "validated")["preview"]
        assert members_of(org) == before
        org.commit(job_id)
        job = org.state_is(job_id, "completed")

        assert org.outcomes(job_id) == want
        count = list(want.values()).count
        assert preview == {"new_members": count("created") + count("attached"), "existing_members": count("merged")}
        assert (job["created_count"], job["attached_count"], job["failed_count"]) == (
            count("created"), count("attached") + count("merged"), 0)
        assert job["valid_rows"] + job["invalid_rows"] == job["staged_rows"] == job["processed_rows"] == 900

        after = members_of(org)
        prints = fingerprints(after)
        prints_before = fingerprints(before)
        changed = {place for place, value in prints_before.items() if prints.get(place) != value}
        assert changed == set(), f"round {round_number}: the import changed existing values"
        assert members_of(elsewhere) == others_before

        model = {address: (fields, {key: entry[0] for key, entry in attributes.items()})
                 for address, (fields, attributes) in before.items()}
        for number, row in zip(numbers, rows):
            if want[number] in ("created", "attached", "merged"):
                address = row["email"].strip().lower()
                model[address] = merge(before.get(address), row)
        stored = {address: (fields, {key: entry[0] for key, entry in attributes.items()})
                  for address, (fields, attributes) in after.items()}
        assert stored == model
        written = {(address, key): entry[1] for address, (_, attributes) in after.items()
                   for key, entry in attributes.items() if (address, "attributes." + key) not in prints_before}
        assert set(written.values()) <= {"import"} and written


def test_the_database_contains_no_member_without_a_user_and_no_empty_text(stack):
    """For everything that the suite has written so far."""
    assert stack.sql("SELECT COUNT(*) FROM members m LEFT JOIN users u ON u.id = m.user_id WHERE u.id IS NULL") == [(0,)]
    for column in FIELDS:
        assert stack.sql(f"SELECT COUNT(*) FROM members WHERE {column} = ''") == [(0,)], column
    assert stack.sql("SELECT COUNT(*) FROM members WHERE NOT JSON_VALID(attributes)") == [(0,)]
    assert stack.sql("SELECT COUNT(*) FROM users WHERE email <> LOWER(email) AND email NOT REGEXP '[^ -~]'") == [(0,)]
