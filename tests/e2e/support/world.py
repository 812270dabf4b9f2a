"""Organizations for one test, and the steps of an import as a partner would take them."""

import datetime
import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cached_property

from .client import SHOP, Client, ModuleClient, PageClient
from .stack import PATIENCE, wait_for

EMAIL_COLUMN = {"sourceColumn": "Email", "target": "core_field", "fieldKey": "email"}
CORE_FIELDS = ["email", "external_id", "first_name", "last_name", "display_name", "locale", "country", "dob"]
MEMBER_COLUMNS = "id, user_id, external_id, first_name, last_name, display_name, locale, country, dob, attributes"

# The provider of the connections in tests over all operations.
MATRIX_PROVIDER = "gitlab"

# The most rows of one staging call.
CALL_ROWS = 5000

# A URL that never accepts a webhook.
NO_LISTENER = "http://127.0.0.1:9/"

# The registry of the organizations: the starters except one, and each type once.
DISABLED_STARTER = "emergency_contact"
OWN_ATTRIBUTES = [
    ("points", "number", None),
    ("joined", "date", None),
    ("vip", "boolean", None),
    ("interests", "multi_choice", "news,events,offers"),
]

_numbers = itertools.count(1)


def email(word="member"):
    """A unique address."""
    return f"{word}.{next(_numbers)}@e2e.example"


def emails(count, word="member"):
    return [email(word) for _ in range(count)]


def slug(word="module"):
    """A unique slug of a module, or version."""
    return f"{word}-{next(_numbers)}"


def in_seconds(seconds):
    """The time after that many seconds, as the API writes it."""
    when = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def rows_of(payloads, first=1):
    """Payloads, or (number, payload) pairs, as the rows of a staging call."""
    rows = []
    for index, entry in enumerate(payloads):
        number, payload = entry if isinstance(entry, tuple) else (first + index, entry)
        rows.append({"rowNumber": number, "payload": payload})
    return rows


def path_of_endpoint(endpoint):
    return f"/v1/installations/{endpoint['module_installation_id']}/webhook-endpoints/{endpoint['id']}"


def new_registry(stack):
    """The id of an organization with the registry above, made with musterctl."""
    made = stack.ctl("org", "create", "--name", "registry")["id"]
    stack.ctl("attribute", "disable", "--org", made, DISABLED_STARTER)
    for key, kind, choices in OWN_ATTRIBUTES:
        more = ["--choices", choices] if choices else []
        stack.ctl("attribute", "add", "--org", made, "--key", key, "--type", kind, *more)
    return made


def copy_registry(stack, organization_id):
    """Gives an organization the registry above, under new ids: one statement instead of five programs."""
    def copied():
        with closing(stack.connect()) as connection, connection.cursor() as cursor:
            return cursor.execute(
                "INSERT INTO attributes (organization_id, id, attribute_key, label, type, choices, enabled, created_at, "
                "updated_at) SELECT o.id, CONCAT(LEFT(a.id, 9), RANDOM_BYTES(7)), a.attribute_key, a.label, a.type, a.choices, "
                "a.enabled, o.created_at, o.created_at FROM attributes a "
                "JOIN organizations o ON o.id = UNHEX(REPLACE(%s, '-', '')) "
                "WHERE a.organization_id = UNHEX(REPLACE(%s, '-', '')) ON DUPLICATE KEY UPDATE enabled = a.enabled",
                (organization_id, stack.registry))

    if stack.registry is None or not copied():  # a restored database may not have it
        stack.registry = new_registry(stack)
        assert copied()


class Organization:
    """An organization with a key and a registry, and no records yet."""

    def __init__(self, stack, contract, name="e2e", attributes=True):
        self.stack = stack
        options = [] if attributes else ["--no-starter-attributes"]
        self.id = stack.ctl("org", "create", "--name", name, *options)["id"]
        if attributes:
            copy_registry(stack, self.id)
        issued = stack.issue_key(self.id)
        self.key, self.key_id = issued["key"], issued["id"]
        self.api = Client(stack, contract, self.key)
        self._admins, self._records = {}, {}

    def set_enabled(self, key, enabled):
        self.stack.ctl("attribute", "enable" if enabled else "disable", "--org", self.id, key)

    # ------------------------------------------------------------------ admins
    def new_admin(self, role="admin"):
        """An admin with a new address, who has not signed in yet."""
        from .admin import Admin  # imported here because support.admin imports this module
        return Admin(self.stack, self.api.contract, (self.id, role))

    def admin(self, role="owner"):
        """The only admin of the organization with that role; `.api` is a verified session."""
        if role not in self._admins:
            self._admins[role] = self.new_admin(role)
        return self._admins[role]

    def viewer(self):
        return self.admin("viewer")

    def client_for(self, operation):
        """A client with a credential that the operation accepts."""
        if operation.takes_tracking_key:
            return self.page_api
        if operation.takes_content_key:
            return self.reader_api
        if operation.takes_module_credential:
            return self.module_api
        return self.api if operation.takes_organization_key or not operation.needs_key else self.admin().api

    def invite(self, address=None, role="viewer"):
        """An invitation to the team by the owner."""
        body = {"email": address or email("invited"), "role": role}
        return self.admin().api.post("/v1/seats", json=body, expect=201).json()

    # ------------------------------------------------------------------ users
    def create_user(self, payload, expect=201):
        return self.api.post("/v1/users", json=payload, expect=expect).json()

    def update_user(self, user_id, changes, expect=200, **options):
        return self.api.request("PATCH", f"/v1/users/{user_id}", json=changes, expect=expect, **options)

    def user(self, user_id):
        return self.api.get_json(f"/v1/users/{user_id}")

    def members(self):
        """The rows of the members table for this organization: {address: {column: value}}; attributes decoded."""
        columns = MEMBER_COLUMNS.split(", ")
        found = self.stack.sql(
            f"SELECT u.email, {', '.join('m.' + column for column in columns)} FROM members m "
            "JOIN users u ON u.id = m.user_id WHERE m.organization_id = UNHEX(REPLACE(%s, '-', ''))", self.id
        )
        members = {}
        for address, *values in found:
            members[address] = dict(zip(columns, values))
            members[address]["attributes"] = json.loads(members[address]["attributes"])
        return members

    # ------------------------------------------------------------------ pages
    def issue_publishable_key(self, kind, *more, origins=SHOP):
        """A tracking or content key; kind: "tracking" or "content"."""
        return self.stack.ctl(f"{kind}-key", "issue", "--org", self.id, "--name", kind, "--origins", origins, *more)

    @cached_property
    def page_api(self):
        """A page with the tracking key of the organization."""
        return PageClient(self.stack, self.api.contract, self.issue_publishable_key("tracking"))

    @cached_property
    def reader_api(self):
        """A page with the content key of the organization."""
        return PageClient(self.stack, self.api.contract, self.issue_publishable_key("content"))

    # ------------------------------------------------------------------ articles
    def create_article(self, expect=201, **fields):
        """A draft."""
        body = {"slug": slug("article"), "title": "Title", "body_html": "<p>Text</p>"} | fields
        return self.admin().api.post("/console/v1/articles", json=body, expect=expect).json()

    def published_article(self, **fields):
        article = self.create_article(**fields)
        return self.admin().api.post(f"/console/v1/articles/{article['id']}/publish", expect=200).json()

    # ------------------------------------------------------------------ external data
    def connect_provider(self, provider=MATRIX_PROVIDER, expect=200, **fields):
        """Starts the authorization of a connection by an admin; returns the connect link."""
        return self.admin().api.post("/v1/external-data/connect", json={"provider": provider} | fields, expect=expect).json()

    # ------------------------------------------------------------------ modules
    def create_module(self, **fields):
        body = {"slug": slug(), "name": "Module", "vendor": "Vendor"} | fields
        return self.admin().api.post("/v1/modules", json=body, expect=201).json()

    def create_version(self, module, manifest=None):
        body = {"version": slug("v"), "manifest": {"name": "Module"} if manifest is None else manifest}
        return self.admin().api.post(f"/v1/modules/{module['id']}/versions", json=body, expect=201).json()

    def publish(self, module, version, expect=200, **options):
        path = f"/v1/modules/{module['id']}/versions/{version['id']}/publish"
        return self.admin().api.post(path, expect=expect, **options).json()

    def published_module(self, manifest=None, **fields):
        """A new module with one published version of that manifest."""
        module = self.create_module(**fields)
        self.publish(module, self.create_version(module, manifest))
        return self.api.get_json(f"/v1/modules/{module['id']}")

    def install(self, module, expect=201, **fields):
        body = {"module_id": module["id"]} | fields
        return self.admin().api.post("/v1/installations", json=body, expect=expect).json()

    # ------------------------------------------------------------------ webhooks
    def create_endpoint(self, installation, **fields):
        """A webhook endpoint without a listener; returns the record with its secret."""
        body = {"url": NO_LISTENER, "subscribed_event_types": ["member.created"]} | fields
        path = f"/v1/installations/{installation['id']}/webhook-endpoints"
        made = self.admin().api.post(path, json=body, expect=201).json()
        self.stack.keys_issued.append(made["signing_secret"])
        return made

    def test_endpoint(self, endpoint):
        """Sends a test event to the endpoint; returns its delivery."""
        return self.admin().api.post(f"{path_of_endpoint(endpoint)}/test", expect=202).json()

    def issue_credential(self, installation, **fields):
        """A module credential with its signing secret."""
        path = f"/v1/installations/{installation['id']}/credentials"
        issued = self.admin().api.post(path, json={"name": "backend"} | fields, expect=201).json()
        self.stack.keys_issued += [issued["credential"], issued["signing_secret"]]
        return issued

    def backend(self, installation):
        """The backend of an installed module, with its own credential."""
        return ModuleClient(self.stack, self.api.contract, self.issue_credential(installation))

    @property
    def module_api(self):
        """The backend of the installation among records()."""
        self.records()
        return self._backend

    def records(self):
        """One record of each kind for tests over all operations: {kind: id}."""
        if not self._records:
            module = self.published_module()
            installation = self.install(module)
            article = self.published_article()
            endpoint = self.create_endpoint(installation)
            self._backend = self.backend(installation)
            self._records = {"api_key": self.key_id, "user": self.create_user({"email": email()})["id"],
                             "module": module["id"], "version": module["current_version_id"],
                             "installation": installation["id"], "credential": self._backend.credential["id"],
                             "endpoint": endpoint["id"], "delivery": self.test_endpoint(endpoint)["id"],
                             "tracking_key": self.page_api.record["id"], "content_key": self.reader_api.record["id"],
                             "article": article["id"], "article_slug": article["slug"],
                             "seat": self.new_admin("viewer").id, "invitation": self.invite()["invitation_id"],
                             "organization_id": self.id}
            from .ads import MATRIX_SLOT, Ads  # imported here because support.ads imports this module
            ads = Ads(self)
            self._records["member_job"] = self.canceled_member_job()["id"]
            self._records["session"] = self.admin().another_session_id()
            self._records["connection"] = self.connect_provider()["id"]
            slot = ads.slot(slug=MATRIX_SLOT)
            campaign = ads.campaign(slot)
            self._records |= {"slot": slot["id"], "campaign": campaign["id"], "creative": ads.creative(campaign)["id"]}
        return dict(self._records)

    def canceled_member_job(self):
        job = self.api.post("/v1/member-jobs", json={"action": "lock", "filter": {"q": "zzz"}}, expect=201).json()
        return self.api.post(f"/v1/member-jobs/{job['id']}/cancel", expect=200).json()

    # ------------------------------------------------------------------ imports
    def create_import(self, expect=201, **fields):
        body = {"file_name": "members.csv", "declared_total": 0, "mapping": {"columns": [EMAIL_COLUMN]}} | fields
        return self.api.post("/v1/imports", json=body, expect=expect).json()

    def stage(self, job_id, payloads, first=1, expect=200, **options):
        body = {"rows": rows_of(payloads, first)}
        return self.api.post(f"/v1/imports/{job_id}/rows", json=body, expect=expect, **options)

    def stage_malformed(self, job_id, payloads, first=1):
        """Stages rows that may have faults, which are kept. Sends them as text, because the client compares a body that is
        given as json with the OpenAPI description, which allows only valid rows."""
        return self.api.post(f"/v1/imports/{job_id}/rows", params={"faults": "keep"}, expect=200, whole=False,
                             data=json.dumps({"rows": rows_of(payloads, first)}), headers={"Content-Type": "application/json"})

    def stage_many(self, job_id, payloads):
        """Stages any number of rows, CALL_ROWS per call and two calls in parallel, like the client."""
        def send(first):
            body = json.dumps({"rows": rows_of(payloads[first:first + CALL_ROWS], first + 1)})
            self.api.post(f"/v1/imports/{job_id}/rows", data=body, headers={"Content-Type": "application/json"},
                          expect=200)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(send, range(0, len(payloads), CALL_ROWS)))

    def staged(self, payloads, **fields):
        """A new job with these rows staged; returns its id."""
        job_id = self.create_import(**fields)["id"]
        if payloads:
            self.stage_many(job_id, payloads)
        return job_id

    def validate(self, job_id, expect=202, **options):
        return self.api.post(f"/v1/imports/{job_id}/validate", expect=expect, **options)

    def commit(self, job_id, expect=202, **options):
        return self.api.post(f"/v1/imports/{job_id}/commit", expect=expect, **options)

    def reopen(self, job_id, expect=200, **options):
        return self.api.post(f"/v1/imports/{job_id}/reopen", expect=expect, **options)

    def cancel(self, job_id, expect=200, **options):
        return self.api.post(f"/v1/imports/{job_id}/cancel", expect=expect, **options)

    def job(self, job_id):
        return self.api.get_json(f"/v1/imports/{job_id}")

    def state_is(self, job_id, *states, seconds=PATIENCE):
        """Waits until the job is in one of the states; returns the job. It looks into the database, so the wait sends no
        requests. A job that failed or was canceled instead ends the wait."""
        marks = ", ".join(["%s"] * len(states))
        wait_for(
            lambda: self.stack.sql(f"SELECT 1 FROM import_jobs WHERE id = UNHEX(REPLACE(%s, '-', '')) "
                                   f"AND state IN ({marks}, 'failed', 'canceled')", job_id, *states),
            f"job {job_id} in {states}", seconds,
        )
        job = self.job(job_id)
        assert job["state"] in states, job
        return job

    def validated(self, payloads, **fields):
        """A new job after its dry run."""
        job_id = self.staged(payloads, **fields)
        self.validate(job_id)
        return self.state_is(job_id, "validated")

    def imported(self, payloads, **fields):
        """A new job after its commit."""
        job_id = self.validated(payloads, **fields)["id"]
        self.commit(job_id)
        return self.state_is(job_id, "completed")

    def imported_without_runner(self, payloads, **fields):
        """The same while no runner works: each step runs one."""
        job_id = self.staged(payloads, **fields)
        for step in (self.validate, self.commit):
            step(job_id)
            self.stack.run_once()
        return self.job(job_id)

    def rows(self, job_id, whole=True, **query):
        """All rows of the listing, page after page."""
        rows, cursor = [], None
        while True:
            params = query | ({"cursor": cursor} if cursor else {})
            page = self.api.get_json(f"/v1/imports/{job_id}/rows", params=params, whole=whole)
            rows += page["rows"]
            cursor = page["next_cursor"]
            if cursor is None:
                return rows

    def outcomes(self, job_id):
        """{row number: state, or its error code}."""
        return {row["row_number"]: row["error_code"] or row["state"] for row in self.rows(job_id, limit=1000)}

    def report(self, job_id, **query):
        """The bytes of the error report."""
        return self.api.get(f"/v1/imports/{job_id}/error-report", params=query, expect=200).content
