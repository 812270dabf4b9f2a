"""An organization with as many and as large records as docs/api/limits.md allows, for tests/e2e/operations/costs_full.py."""

import itertools
import json
from functools import cached_property

from .ads import IMAGE, LANDING, Ads
from .costly_rows import ATTEMPTS, DAY, EXCERPT, Rows, json_object, wide
from .stack import numbers

LIGHT_MEMBERS, HEAVY_MEMBERS = 20_002, 100
TEXTS, CHOICES = 198, 2  # attributes
ARTICLES, HEAVY_ARTICLES, ARTICLE_BYTES = 10_000, 200, 200 << 10
KEYS, PUBLISHABLE_KEYS, LISTED = 2_000, 2_000, 100
MODULES, VERSIONS, JSON_BYTES = 200, 500, 64 << 10
ENDPOINTS_OF_INSTALLATION, ENDPOINTS, EVENTS, HEAVY_EVENT = 200, 500, 100_000, 2
SLOTS, CAMPAIGNS, CAMPAIGNS_OF_SLOT, CREATIVES, DAYS = 199, 490, 98, 20, 31
EXAMINED, RECOVERABLE, CANCELED, DELETED, TRIES = 2_000, 10_000, 1_000, 200, 2
WAITING = 100_000  # deliveries
LISTED_EXCERPT = (1 << 20) // (LISTED * ATTEMPTS)  # bytes: a page ends above 1 MiB of them
# The endpoints by what their deliveries are for; the numbers of the others follow.
SEEN, FAILED, CANCELABLE, DELETABLE, OTHER = 1, 2, 3, 5, 7
LISTENING = 90  # the endpoint that gets the events of members; it is paused, so that they are stored and not sent
OWN_INSTALLATIONS = (150, 151)  # each with one endpoint, whose deliveries are canceled with it
UNINSTALLED = 499  # the endpoints of OWN_INSTALLATIONS, in this order
AUDIT_ENTRIES, AUDIT_EXAMINED = 6_000, 5_000
SEARCHED = "api_key.issued"


class FullOrganization:
    def __init__(self, org):
        self.org, self.stack = org, org.stack
        self.rows = Rows(org.stack, org.id)
        self.id = self.rows.id

    def fill(self):
        for kind in (self.registry, self.members, self.events, self.articles, self.keys, self.modules, self.endpoints,
                     self.deliveries, self.attempts, self.ads, self.creatives, self.team, self.audit_log, self.jobs):
            kind()
        self.rows.analyze()

    # ------------------------------------------------------------------ members
    @cached_property
    def heavy_attributes(self):
        """The stored attributes of a member: JSON needs two bytes for each character."""
        return json.dumps({f"b{number + 1}": ['"' * 2047, "api", 1] for number in range(TEXTS)})

    def registry(self):
        """The choices of two attributes have almost 1 MiB."""
        changed = {"label": wide(255), "enabled": "TRUE", "updated_at": "{now}"}
        choices = json.dumps([f"{number:03}" + "c" * 1017 for number in range(500)])
        self.rows.own("attributes", TEXTS, attribute_key="CONCAT('b', seq)", type="'text'", **changed)
        self.rows.own("attributes", CHOICES, id=f"{{id seq + {TEXTS}}}", attribute_key="CONCAT('a', seq)",
                      type="'single_choice'", choices=("%s", choices), **changed)

    def members(self):
        """First the heavy ones, in the order of addresses and of ids."""
        most = HEAVY_MEMBERS + LIGHT_MEMBERS
        self.users(1, most)
        self.heavy_members(1, HEAVY_MEMBERS)
        self.rows.insert("members", most, f"seq > {HEAVY_MEMBERS}", **self.every_member, attributes="'{}'",
                         status="IF(seq MOD 2 = 0, 'active', 'locked')", locked_at="IF(seq MOD 2 = 0, NULL, {now})")

    @cached_property
    def every_member(self):
        email = f"CONCAT('crowd', LPAD(seq, 6, '0'), '.{self.rows.prefix}@e2e.example')"
        return {"organization_id": "{org}", "user_id": "{id seq}", "id": "{id seq}", "email": email, "created_at": "{now}",
                "updated_at": "{now}"}

    def almost_known(self, number):
        """The payload that gives a heavy member one value, with as many as it has already."""
        known = {f"b{one}": "x" for one in range(1, 100)}
        return {"email": f"crowd{number:06}.{self.rows.prefix}@e2e.example",
                "attributes": known | {"a1": "000" + "c" * 1017}}

    def users(self, first, last):
        self.rows.insert("users", last, f"seq >= {first}", id="{id seq}", email=self.every_member["email"], created_at="{now}")

    def heavy_members(self, first, last):
        name = "REPEAT('\u1e9b', 250)"
        self.rows.insert("members", last, f"seq >= {first}", **self.every_member, first_name=name, last_name=name,
                         display_name=name, attributes=("%s", self.heavy_attributes))

    def restore_heavy_members(self, numbers_of_members):
        """Also those that were removed. The numbers follow each other."""
        first, last = numbers_of_members[0], numbers_of_members[-1]
        between = f"BETWEEN {{id {first}}} AND {{id {last}}}"
        for table, condition in (("members", f"organization_id = {{org}} AND user_id {between}"), ("users", f"id {between}")):
            self.rows.run(self.rows.filled(f"DELETE FROM {table} WHERE {condition}"))
        self.users(first, last)
        self.heavy_members(first, last)

    def events(self):
        """Each of another member."""
        self.rows.insert("engagement_events", HEAVY_MEMBERS + 1, organization_id="{org}", id="{id seq}",
                         member_id=f"{{id 1 + seq MOD {HEAVY_MEMBERS}}}", action="REPEAT('a', 128)",
                         tags=("%s", json.dumps(["t" * 64] * 20)), metadata=("%s", json_object(8192)), occurred_at="{now}",
                         received_at="{now}", client_event_id="LPAD(seq, 128, 'c')", anonymous_id="REPEAT('v', 128)")

    # ------------------------------------------------------------------ articles
    def articles(self):
        """The heavy ones are the newest."""
        tags = json.dumps([f"{number:02}" + "\U0001f3c6" * 62 for number in range(20)], ensure_ascii=False)
        every = {"slug": "LPAD(seq, 128, 's')", "published_at": "{now} - seq * 1000", "updated_at": "{now}"}
        self.rows.own("articles", ARTICLES, _where=f"seq > {HEAVY_ARTICLES}", **every, title="'Cup'", body_html="'<p>Text</p>'",
                      tags="'[]'")
        self.rows.own("articles", HEAVY_ARTICLES, **every, title=wide(255), excerpt=wide(1000), author=wide(255),
                      tags=("%s", tags), cover_url="RPAD('https://img.example/', 2048, 'c')",
                      body_html=f"CONCAT('<p>', REPEAT('\"', {ARTICLE_BYTES - 7}), '</p>')")

    # ------------------------------------------------------------------ keys
    def keys(self):
        """The first ones are valid, as many as the limit allows; the others are revoked."""
        named = {"name": wide(255), "last_used_at": "{now}"}
        self.rows.own("api_keys", KEYS, **named, secret_hash=self.hash_of("api"), last_four="'last'",
                      revoked_at="IF(seq < 99, NULL, {now})")
        origins = " ".join(f"https://{number:02}{'.a' * 125}.example:65535" for number in range(50))
        token = f"LEFT(SHA2(CONCAT('{self.rows.prefix}', seq), 256), 43)"
        self.rows.own("publishable_keys", PUBLISHABLE_KEYS, **named, kind="IF(seq MOD 2 = 0, 'tracking', 'content')",
                      token=f"CONCAT(IF(seq MOD 2 = 0, 'ek_live_', 'ck_live_'), {token})",
                      allowed_origins=("%s", origins), revoked_at="IF(seq < 199, NULL, {now})")

    def hash_of(self, kind):
        return f"UNHEX(SHA2(CONCAT('{kind}{self.rows.prefix}', seq), 256))"

    # ------------------------------------------------------------------ modules
    def modules(self):
        """The first module has all versions but one of each other module. Installation N is of module N."""
        changed, document = {"updated_at": "{now}"}, json_object(JSON_BYTES - 40)
        last, heavy = f"{{id IF(seq = 1, 1, {VERSIONS - 1} + seq)}}", f"seq <= {LISTED + 1}"
        self.rows.own("modules", MODULES, **changed, slug="LPAD(seq, 63, 's')", name=wide(255), vendor=wide(255), kind="'in_house'",
                      status="'published'", current_version_id=last)
        self.rows.own("module_versions", VERSIONS + MODULES - 1, **changed, version="LPAD(seq, 64, 'v')", status="'published'",
                      module_id=f"{{id IF(seq <= {VERSIONS}, 1, seq - {VERSIONS - 1})}}", published_at="{now}",
                      manifest=(f"IF({heavy}, %s, '{{}}')", document))
        own = " OR ".join(f"seq = {number}" for number in OWN_INSTALLATIONS)
        self.rows.own("module_installations", MODULES, **changed, module_id="{id seq}", version_id=last, status="'enabled'",
                      config=(f"IF({heavy} OR {own}, %s, '{{}}')", document), installed_at="{now}")

    def endpoints(self):
        """The first 200 belong to the first installation."""
        types = " ".join(f"m{number:02}.{'e' * 124}" for number in range(100))
        of_members = " ".join(f"member.{change}" for change in ("created", "attached", "updated", "locked", "unlocked", "removed"))
        installation = f"{{id CASE WHEN seq <= {ENDPOINTS_OF_INSTALLATION} THEN 1 WHEN seq < {UNINSTALLED} THEN 2 + seq MOD 2 " \
                       f"ELSE seq - {UNINSTALLED} + {OWN_INSTALLATIONS[0]} END}}"
        self.rows.own("webhook_endpoints", ENDPOINTS, installation_id=installation, url="RPAD('https://hooks.example/', 2048, 'u')",
                      description=wide(255), event_types=(f"IF(seq = {LISTENING}, '{of_members}', %s)", types),
                      status=f"IF(seq = {LISTENING}, 'paused', 'active')", secret="'sealed'", updated_at="{now}")
        self.rows.insert("webhook_endpoint_hours", ENDPOINTS * 25, organization_id="{org}", endpoint_id="{id 1 + (seq - 1) DIV 25}",
                         slot="(seq - 1) MOD 25", hour_no="{now} DIV 3600000 - (seq - 1) MOD 25", succeeded="1000", failed="1000",
                         failed_attempts="1000", last_succeeded_at="{now}")

    def deliveries(self):
        """Those of the endpoint SEEN are the newest. Each of the others waits for its next attempt on another day."""
        body = json.dumps({"type": "member.updated", "data": "x" * 100})
        heavy = json.dumps({"type": "member.updated", "data": {"attributes": json.loads(self.heavy_attributes)}})
        self.rows.own("webhook_events", EVENTS, type="REPEAT('e', 128)", body=(f"IF(seq = {HEAVY_EVENT}, %s, %s)", heavy, body))
        self.rows.insert("webhook_outbox", EVENTS, organization_id="{org}", event_id="{id seq}", event_type="REPEAT('e', 128)",
                         created_at="{now}")
        for endpoint, first, count, status in self.groups:
            self.rows.own("webhook_deliveries", count, id=f"{{id {first - 1} + seq}}", endpoint_id=f"{{id {endpoint}}}",
                          event_id="{id seq}", status=f"'{status}'", step="9", updated_at="{now}",
                          due_at=f"{{now}} + {DAY * 1000}" if status == "pending" else "NULL")

    @cached_property
    def groups(self):
        """[(endpoint, number of its first delivery, deliveries, their status)]"""
        counted = [(FAILED, RECOVERABLE, "failed")]
        for number in range(TRIES):
            counted += [(CANCELABLE + number, CANCELED, "pending"), (UNINSTALLED + number, CANCELED, "pending"),
                        (DELETABLE + number, DELETED, "failed")]
        counted += [(OTHER, WAITING - 2 * TRIES * CANCELED, "pending"), (SEEN, EXAMINED + 1, "failed")]
        ends = itertools.accumulate(count for _, count, _ in counted)
        return [(endpoint, end - count + 1, count, status) for (endpoint, count, status), end in zip(counted, ends)]

    def first_delivery(self, endpoint):
        return next(first for of, first, _, _ in self.groups if of == endpoint)

    def attempts(self):
        """Of the deliveries that are listed, and of those that are deleted with their endpoint. JSON needs six bytes for each
        byte of the reply to such an attempt. A page of the listed deliveries has almost the most bytes."""
        number, deletable = 0, range(DELETABLE, DELETABLE + TRIES)
        for endpoint, count, excerpt in [(SEEN, LISTED, LISTED_EXCERPT), *[(each, DELETED, EXCERPT) for each in deletable]]:
            first = self.first_delivery(endpoint) + (endpoint == SEEN)
            self.rows.own("webhook_attempts", count * ATTEMPTS, id=f"{{id {number} + seq}}", status_code="500", duration_ms="15000",
                          delivery_id=f"{{id {first} + (seq - 1) DIV {ATTEMPTS}}}", signature="REPEAT('v', 255)",
                          **{"class": "'http_5xx'"}, excerpt=f"REPEAT(CHAR(1), {excerpt})")
            number += count * ATTEMPTS

    # ------------------------------------------------------------------ ads
    def ads(self):
        """The first campaigns are in all slots, and two more could be. A campaign that the API made has the largest targeting."""
        ads, changed = Ads(self.org), {"updated_at": "{now}"}
        made = ads.campaign(ads.slot(), targeting=self.targeting())["id"]
        (targeting,), = self.stack.sql("SELECT targeting FROM ad_campaigns WHERE id = UNHEX(REPLACE(%s, '-', ''))", made)
        self.rows.own("ad_slots", SLOTS, **changed, slug="LPAD(seq, 63, 's')", name=wide(255), width="728", height="90")
        self.rows.own("ad_campaigns", CAMPAIGNS, **changed, name=wide(255), status="'active'", starts_at="0", weight="1",
                      daily_impressions="1000000000", frequency_cap="1000", targeting=("%s", targeting))
        self.rows.insert("ad_campaign_slots", SLOTS * CAMPAIGNS_OF_SLOT, organization_id="{org}",
                         slot_id=f"{{id 1 + (seq - 1) DIV {CAMPAIGNS_OF_SLOT}}}",
                         campaign_id=f"{{id 1 + (seq - 1) MOD {CAMPAIGNS_OF_SLOT}}}")
        self.rows.insert("ad_campaign_days", CAMPAIGNS * DAYS, organization_id="{org}",
                         campaign_id=f"{{id 1 + (seq - 1) DIV {DAYS}}}",
                         day=f"{{now}} DIV 86400000 - (seq - 1) MOD {DAYS}", impressions="1000000000", clicks="1000000000")

    def targeting(self):
        locales = [f"de-x-{number:03}aaaaa-aaaaaaaa-aaaaaaaa-aa" for number in range(250)]
        return {"locales": locales, "tags": [f"{number:02}" + "\U0001f3c6" * 62 for number in range(20)],
                "attributes": {"b1": '"' * 2000}}

    def new_campaign(self):
        """The body of one that is in all slots."""
        slots = [self.id(number + 1) for number in range(SLOTS)]
        return {"name": "\U0001f3c6" * 255, "slot_ids": slots, "targeting": self.targeting()}

    def creatives(self):
        """Pictures of 100 campaigns, and HTML of one more."""
        shown = {"width": "728", "height": "90", "landing_url": f"RPAD('{LANDING}', 2048, 'l')", "updated_at": "{now}"}
        self.rows.own("ad_creatives", CAMPAIGNS_OF_SLOT * CREATIVES, **shown, kind="'image'",
                      campaign_id=f"{{id 1 + (seq - 1) DIV {CREATIVES}}}", image_url=f"RPAD('{IMAGE}', 2048, 'i')", alt=wide(255))
        self.rows.own("ad_creatives", CREATIVES, **shown, id=f"{{id {CAMPAIGNS_OF_SLOT * CREATIVES} + seq}}",
                      campaign_id=f"{{id {LISTED + 1}}}", kind="'html'",
                      html=f"CONCAT('<p>', REPEAT('\"', {(64 << 10) - 7}), '</p>')", alt=wide(255))

    # ------------------------------------------------------------------ the organization
    def team(self):
        """190 owners, of whom notices reach the first ten, and 50 invitations."""
        address = f"LPAD(CONCAT(seq, '.{self.rows.prefix}@e2e.example'), 254, 'a')"
        self.rows.insert("admins", 190, id="{id seq}", email=address, created_at="{now}")
        self.rows.insert("seats", 190, organization_id="{org}", admin_id="{id seq}", role="'owner'", created_at="{now}")
        self.rows.own("seat_invitations", 50, email=address, role="'owner'", sent_at="{now}", expires_at="{now} + 1000000000")
        self.rows.own("connections", 200, provider="'gitlab'", name=wide(255), host="'gitlab.com'", status="'revoked'",
                      details="'{}'", updated_at="{now}", error="REPEAT('e', 255)")

    def audit_log(self):
        """Those that a search finds are the oldest that it examines. Their records have the longest names."""
        oldest = AUDIT_ENTRIES - AUDIT_EXAMINED
        name = json.dumps({"name": "\U0001f3c6" * 255}, ensure_ascii=False)
        self.rows.own("audit_log", AUDIT_ENTRIES, actor="'admin'", actor_id="{id 1 + seq MOD 100}",
                      action=f"IF(seq <= {oldest + LISTED}, '{SEARCHED}', 'api_key.rotated')",
                      subject_id=self.rows.text_of_id("seq"), details=("%s", name), request_id="REPEAT('f', 32)")

    def jobs(self):
        """Copies of one import with the largest mapping, and of one member job with the largest filter."""
        columns = [{"sourceColumn": "Email", "target": "core_field", "fieldKey": "email"}]
        columns += [{"sourceColumn": f"{number:03}" + '"' * 220, "target": "ignored"} for number in range(499)]
        job = self.org.create_import(file_name="\U0001f3c6" * 255, mapping={"columns": columns})
        self.org.cancel(job["id"])
        self.copy("import_jobs", job["id"], "created_by_id, source, state, mapping, file_name, declared_total, completed_at")
        conditions = {f"b{number + 1}": '"' * 1600 for number in range(5)}
        body = {"action": "lock", "reason": "\U0001f3c6" * 255, "filter": {"attributes": conditions}}
        job = self.org.api.post("/v1/member-jobs", json=body, expect=201).json()
        self.org.api.post(f"/v1/member-jobs/{job['id']}/cancel", expect=200)
        self.copy("member_jobs", job["id"], "action, reason, filter, state, position, phase_started_at, completed_at")

    def copy(self, table, record_id, columns):
        columns += ", expires_at, updated_at, created_at"
        names = ", ".join(f"j.{name.strip()}" for name in columns.split(","))
        sql = (f"INSERT INTO {table} (organization_id, id, {columns}) SELECT organization_id, {{id seq}}, {names} FROM {table} j "
               f"JOIN (SELECT seq FROM {numbers(LISTED)}) n WHERE j.id = UNHEX(REPLACE('{record_id}', '-', ''))")
        self.rows.run(self.rows.filled(sql))
