"""The organization that sends the costly requests of P18: a new one, as large as that of the cost tests
(tests/e2e/support/costly_organization.py), with the records that the requests use up.
"""

import json
import os
import subprocess
import sys
import uuid

import pymysql

END_TO_END = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../e2e"))
sys.path += [END_TO_END, os.path.join(END_TO_END, "operations")]

from costs_requests import HTML_OF_ADS, large_manifest, slow_html  # noqa: E402
from support import costly_organization as full  # noqa: E402
from support.client import SHOP, Client  # noqa: E402
from support.world import Organization  # noqa: E402

# The sender replaces it with another text of 32 characters in each request.
UNIQUE = "@UNIQUE@"
STAGED_ROWS, FAULTY_ROWS, FAULTY_ROWS_OF_CALL = 5000, 8_400, 2_100  # the report on the faulty ones has 53 MB
UNDONE_ROWS = 12_000
LONG_TEXT = "x" * 3100
# The records that a request uses up, of which each run has so many: a request is hardly accepted more often in ten seconds.
EACH_RUN = 20
REMOVED_MEMBERS = range(21, 21 + EACH_RUN)
LOCKED_MEMBERS, CHANGED_MEMBERS = range(51, 61), range(61, 71)
DISABLED_ENDPOINTS = range(101, 101 + EACH_RUN)  # of the first installation
DISABLED_INSTALLATIONS = range(160, 160 + EACH_RUN)
ENDPOINTS_OF_DISABLED = range(121, 121 + EACH_RUN)  # of the installations, in this order
FIRST_REMOVED_MODULE, FIRST_REMOVED_ARTICLE = 191, 9_501
FILLED_CAMPAIGN, OTHER_CAMPAIGN = 480, 481  # for new creatives, and for the one that is changed
INSTALLED_MODULES, DRAFTS = 4, 8
TYPED, TYPED_MEMBERS, LATER = "typed", 10_000, 3 * 3_600_000  # an attribute whose type changes


class Access:
    """What support.world.Organization needs of a stack."""

    def __init__(self, stack):
        self.bench = stack
        self.base_url, self.ca_file, self.keys_issued = stack.console_origin, stack.ca_file, []

    def connect(self):
        return pymysql.connect(unix_socket=self.bench.socket, user="root", database=self.bench.database, autocommit=True,
                               charset="utf8mb4")

    def sql(self, statement, *parameters):
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return list(cursor.fetchall())

    def ctl(self, *arguments):
        command = [f"{self.bench.build}/musterctl", "--config", f"{self.bench.folder}/muster.conf", "--json", *arguments]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def issue_key(self, organization_id):
        return self.ctl("key", "issue", "--org", organization_id, "--name", "costly")


class CostlyOrganization(Organization):
    """Its admin is that of an organization of the sandbox, whose session acts on one of the two."""

    def __init__(self, stack, organization):
        super().__init__(Access(stack), None, name="costly", attributes=False)
        admin = stack.organizations[organization]
        self.home = admin["id"]
        self.console = Client(self.stack, None, admin["session_token"])
        self.stack.ctl("admin", "add", "--org", self.id, "--email", admin["admin_email"], "--role", "owner")

    def act_on(self, organization_id):
        self.console.post("/v1/session/active-organization", json={"organizationId": organization_id}, expect=200)

    def admin(self, role="owner"):
        return self

    # Helpers of the end-to-end suite read an admin's client as `admin().api`. An admin may send what a key may.
    @property
    def api(self):
        return self.console

    @api.setter
    def api(self, client):
        self.key_client = client


class CostlyRecords:
    """`names`: what the paths of the requests name."""

    def __init__(self, stack, organization):
        self.full = None
        self.org = CostlyOrganization(stack, organization)
        try:
            self.org.act_on(self.org.id)
            self.prepare(stack)
        except BaseException:
            self.remove()
            raise

    def prepare(self, stack):
        # The sandbox may have begun more than 15 minutes ago, and a credential is shown.
        stack.sql("UPDATE sessions SET verified_at = UNIX_TIMESTAMP() * 1000")
        self.full = full.FullOrganization(self.org)
        self.id, self.run = self.full.id, lambda sql: self.full.rows.run(self.full.rows.filled(sql))
        self.prepare_modules()
        self.full.fill()
        self.make_room()
        self.prepare_webhooks()
        self.prepare_type()
        self.prepare_pages()
        self.undone = self.imported()
        self.job = self.faulty_import()
        tracking, content = (self.org.issue_publishable_key(kind)["key"] for kind in ("tracking", "content"))
        self.names = {
            "one": self.id(1), "job": self.job, "undone": self.undone, "tracking": tracking, "content": content,
            "article": self.article, "creative": self.creative, "html_campaign": self.id(full.LISTED + 1),
            "slot": "1".rjust(63, "s"), "seen": self.id(full.SEEN), "failed": self.id(full.FAILED),
            "delivery": self.id(self.full.first_delivery(full.SEEN) + 1), "module": self.modules[-1],
            "installation": self.installation}

    # ------------------------------------------------------------------ what the requests read and use up
    def prepare_modules(self):
        """Modules to install; and one that is installed, with versions to publish."""
        self.modules = [self.org.published_module(large_manifest(), slug=f"costly-{number}")["id"]
                        for number in range(INSTALLED_MODULES + 1)]
        versions = f"/v1/modules/{self.modules[-1]}/versions"
        draft = lambda number: {"version": f"draft-{number}", "manifest": large_manifest()}
        self.drafts = [self.org.api.post(versions, json=draft(number), expect=201).json()["id"] for number in range(DRAFTS)]
        installation = self.org.install({"id": self.modules[-1]}, config=config(uuid.uuid4().hex))
        self.installation = installation["id"]
        self.credential = self.org.issue_credential(installation)

    def make_room(self):
        """For the modules above, and for new articles."""
        between = f"BETWEEN {{id {FIRST_REMOVED_MODULE}}} AND {{id {full.MODULES}}}"
        for table, column in (("module_installations", "module_id"), ("module_versions", "module_id"), ("modules", "id")):
            self.run(f"DELETE FROM {table} WHERE organization_id = {{org}} AND {column} {between}")
        self.run("DELETE FROM articles WHERE organization_id = {org} AND id BETWEEN "
                 f"{{id {FIRST_REMOVED_ARTICLE}}} AND {{id {full.ARTICLES}}}")
        # For TYPED: one of which no member has a value, and those that every organization has at first.
        self.run("DELETE FROM attributes WHERE organization_id = {org} "
                 "AND (attribute_key = 'a2' OR attribute_key NOT REGEXP '^[ab][0-9]+$')")

    def prepare_webhooks(self):
        """Each endpoint and each installation that is disabled has as many pending deliveries as one request cancels."""
        first = self.full.first_delivery(full.OTHER)
        endpoint = f"{DISABLED_ENDPOINTS[0]} + (CONV(HEX(RIGHT(id, 6)), 16, 10) - {first}) DIV {full.CANCELED}"
        self.run(f"UPDATE webhook_deliveries SET endpoint_id = {{id {endpoint}}} WHERE organization_id = {{org}} "
                 f"AND id BETWEEN {{id {first}}} AND {{id {first + 2 * EACH_RUN * full.CANCELED - 1}}}")
        for endpoint, installation in zip(ENDPOINTS_OF_DISABLED, DISABLED_INSTALLATIONS):
            self.run(f"UPDATE webhook_endpoints SET installation_id = {{id {installation}}} "
                     f"WHERE organization_id = {{org}} AND id = {{id {endpoint}}}")

    def prepare_type(self):
        """A change of type examines the members that changed since an hour before the attribute was created. It is refused
        above 10,000 members or 4 MiB, which the other requests would soon exceed. So the attribute and the members that count
        have a time three hours from now: then members that the load changes do not count."""
        self.org.admin().api.request("PUT", f"/v1/attributes/{TYPED}", json={"type": "text", "enabled": True}, expect=200)
        self.run(f"UPDATE attributes SET created_at = {{now}} + {LATER} WHERE organization_id = {{org}} "
                 f"AND attribute_key = '{TYPED}'")
        entry = '"a%05d": ["x", "api", 1]'
        document = "{" + ", ".join(entry % number for number in range(419 // (len(entry % 0) + 2))) + "}"
        first = full.HEAVY_MEMBERS + 1
        self.run(f"UPDATE members SET attributes = '{document}', updated_at = {{now}} + {LATER} "
                 f"WHERE organization_id = {{org}} AND user_id BETWEEN {{id {first}}} AND {{id {first + TYPED_MEMBERS - 1}}}")

    def prepare_pages(self):
        body = {"slug": "kept", "title": "Title", "body_html": "<p>x</p>"}
        self.article = self.org.api.post("/console/v1/articles", json=body, expect=201).json()["id"]
        self.creative = self.org.api.post("/console/v1/ads/creatives", json=new_creative(self.id(OTHER_CAMPAIGN)),
                                          expect=201).json()["id"]

    def imported(self):
        """The id of a job with the members of as many rows as the dry run of an undo examines: 32 MB."""
        values = {"b1": "x" * 1250, "b2": "x" * 1250}
        rows = [{"email": f"undone-{number}@example.org", "attributes": values} for number in range(UNDONE_ROWS)]
        return self.org.imported(rows)["id"]

    def faulty_import(self):
        """The id. Its error report almost fills a page. The rows up to STAGED_ROWS are free."""
        job = self.org.create_import()["id"]
        values = {"b1": LONG_TEXT, "b2": LONG_TEXT}
        for first in range(STAGED_ROWS + 1, STAGED_ROWS + FAULTY_ROWS, FAULTY_ROWS_OF_CALL):
            rows = [{"email": f"f-{number}@example.org", "country": "UK", "attributes": values}
                    for number in range(FAULTY_ROWS_OF_CALL)]
            self.org.stage(job, rows, first, params={"faults": "keep"})
        return job

    # ------------------------------------------------------------------ before each run
    def renew(self):
        """Restores the records that the requests use up."""
        own = "organization_id = {org}"
        modules = ", ".join(f"0x{uuid.UUID(module).hex}" for module in self.modules[:-1])
        drafts = ", ".join(f"0x{uuid.UUID(draft).hex}" for draft in self.drafts)
        prefix = f"UNHEX('{self.full.rows.prefix}')"
        for statement in (
            f"DELETE FROM articles WHERE {own} AND slug LIKE 'costly-%'",
            f"DELETE FROM ad_campaigns WHERE {own} AND LEFT(id, 10) <> {prefix}",
            f"DELETE FROM ad_creatives WHERE {own} AND campaign_id = {{id {FILLED_CAMPAIGN}}}",
            f"DELETE FROM module_installations WHERE {own} AND module_id IN ({modules})",
            f"DELETE FROM module_versions WHERE {own} AND version LIKE 'costly-%'",
            f"UPDATE module_versions SET status = 'draft', published_at = NULL WHERE {own} AND id IN ({drafts})",
            f"UPDATE module_installations SET status = 'enabled' WHERE {own} AND LEFT(id, 10) = {prefix}",
            f"UPDATE webhook_endpoints SET status = 'active' WHERE {own} AND status = 'disabled'",
            f"UPDATE webhook_deliveries SET status = 'pending', due_at = {{now}} + {full.DAY * 1000} "
            f"WHERE {own} AND status = 'canceled'",
        ):
            self.run(statement)
        self.full.restore_heavy_members(REMOVED_MEMBERS)

    def remove(self):
        """Deletes the organization: others would notice its deliveries, its events and its people."""
        try:
            self.org.act_on(self.org.home)
        finally:
            self.delete()

    def delete(self):
        own = f"organization_id = 0x{uuid.UUID(self.org.id).hex}"
        with self.org.stack.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SET foreign_key_checks = 0")
            cursor.execute(f"DELETE FROM users WHERE id IN (SELECT user_id FROM members WHERE {own})")
            if self.full:  # the members that the load removed
                cursor.execute(self.full.rows.filled(
                    f"DELETE FROM users WHERE id BETWEEN {{id {REMOVED_MEMBERS[0]}}} AND {{id {REMOVED_MEMBERS[-1]}}}"))
            cursor.execute(f"DELETE admins FROM admins JOIN seats ON seats.admin_id = admins.id WHERE {own} "
                           "AND LEFT(admins.email, 4) = 'aaaa'")
            cursor.execute("SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables t "
                           "USING (table_schema, table_name) WHERE c.table_schema = DATABASE() "
                           "AND c.column_name = 'organization_id' AND t.table_type = 'BASE TABLE'")
            for (table,) in cursor.fetchall():
                cursor.execute(f"DELETE FROM {table} WHERE {own}")
            cursor.execute(f"DELETE FROM organizations WHERE id = 0x{uuid.UUID(self.org.id).hex}")


# ---------------------------------------------------------------------------- bodies
def config(secret):
    """Of almost 64 KiB, for large_manifest(). `secret`: 32 characters."""
    return {f"secret{number}": secret * 39 for number in range(50)} | {f"choice{number}": "choice094" for number in range(50)}


def new_creative(campaign):
    return {"campaign_id": campaign, "kind": "html", "html": slow_html()[:HTML_OF_ADS], "width": 728, "height": 90,
            "landing_url": SHOP + "/cup"}
