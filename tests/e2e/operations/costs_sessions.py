"""The costliest requests of an admin's session and of clients without an organization, and small requests of a large team: an
admin with seats in 20 organizations of 200 seats each, 900 sessions and 60 invitations."""

from functools import cached_property

from costs_full import Case, one_after_another
from support.ads import Ads
from support.admin import AUTH, FACTOR, forget_requests, totp
from support.client import SHOP, Client
from support.costly_organization import TRIES
from support.costly_rows import Rows, hexadecimal, wide
from support.world import EMAIL_COLUMN, NO_LISTENER, email, slug

SEATS, ORGANIZATIONS, SESSIONS, INVITATIONS, TEAM_INVITATIONS = 200, 20, 900, 60, 50
UNCHECKED = {"whole": False}  # the contract does not check the body


class SessionCases:
    """Each try of a request has an admin of its own, because most of these requests change what the next one would find."""

    def __init__(self, org, new_org):
        self.org, self.stack, self.new_org = org, org.stack, new_org
        self.rows = Rows(self.stack, org.id)
        self.anyone = Client(self.stack, org.api.contract)
        self.admins = [org.new_admin("owner") for _ in range(TRIES)]
        self.beginner = org.new_admin("viewer")
        self.slug = slug()
        self.types = [f"{self.slug.replace('-', '_')}.made_{letter}{other}" for letter in "abcdefghij" for other in "abcdefghij"]

    # ------------------------------------------------------------------ records
    def fill(self):
        self.owners()
        for admin in self.admins:
            self.seats_of(admin)
            assert admin.api  # signs in
        self.apart = self.beginner.unverified()
        self.pending = [self.next_secret(admin) for admin in self.admins]
        self.sessions()
        self.invitations()
        self.prepare_pages()
        self.prepare_jobs()
        self.rows.run("DELETE FROM guess_budgets")
        self.codes = [(admin, admin.ask_for_code()) for admin in self.admins]
        forget_requests(self.stack)

    def owners(self):
        """The other owners of all organizations. Their addresses are as long as possible."""
        others = SEATS - len(self.admins) - 4  # the beginner, the organization's own admin, and new invitations
        address = f"LPAD(CONCAT(seq, '.{self.rows.prefix}@e2e.example'), 254, 'b')"
        self.rows.insert("admins", others, id="{id seq}", email=address, created_at="{now}")
        self.rows.insert("organizations", ORGANIZATIONS + TRIES, id="{id seq}", name=wide(200), created_at="{now}")
        for place in (hexadecimal(self.org.id), *(f"{{id {number}}}" for number in range(1, ORGANIZATIONS + TRIES + 1))):
            self.rows.insert("seats", others, organization_id=place, admin_id="{id seq}", role="'owner'", created_at="{now}")

    def seats_of(self, admin):
        self.rows.insert("seats", ORGANIZATIONS, organization_id="{id seq}", admin_id=hexadecimal(admin.id), role="'owner'",
                         created_at="{now}")

    def sessions(self):
        for number, admin in enumerate(self.admins):
            self.rows.insert("sessions", SESSIONS, id=f"{{id {number * SESSIONS} + seq}}", admin_id=hexadecimal(admin.id),
                             token_hash=f"UNHEX(SHA2(CONCAT('{self.rows.prefix}', {number * SESSIONS} + seq), 256))",
                             active_organization_id="{org}", verified_at="{now}", user_agent=wide(200), created_at="{now}",
                             last_used_at="{now}", expires_at="{now} + 86400000")

    def invitations(self):
        """Of the admins to organizations in which they have no seat, and of others to those that an admin leaves."""
        first = ORGANIZATIONS + TRIES
        self.rows.insert("organizations", INVITATIONS, id=f"{{id {first} + seq}}", name=wide(200), created_at="{now}")
        lasting = {"role": "'admin'", "created_at": "{now}", "sent_at": "{now}", "expires_at": "{now} + 86400000"}
        for number, admin in enumerate(self.admins):
            invited = {"email": f"'{admin.address}'", "invited_by": "{id 1}"} | lasting
            self.rows.insert("seat_invitations", INVITATIONS, id=f"{{id {number * 1000} + seq}}",
                             organization_id=f"{{id {first} + seq}}", **invited)
            self.rows.insert("seat_invitations", 1, id=f"{{id {number * 1000} + 900}}",
                             organization_id=f"{{id {ORGANIZATIONS + 1 + number}}}", **invited)
            self.rows.insert("seat_invitations", TEAM_INVITATIONS, organization_id=f"{{id {number + 1}}}",
                             id=f"{{id {number * 1000} + 500 + seq}}", email="CONCAT(seq, '@e2e.example')", **lasting)

    def next_secret(self, admin):
        """The secret of a begun replacement of the admin's authenticator."""
        code = {"code": admin.backup_codes.pop()}
        made = admin.api.post("/v1/two-factor/replace", json=code, expect=200).json()
        self.stack.keys_issued.append(made["secret"])
        return made["secret"]

    def prepare_pages(self):
        ads = Ads(self.org)
        slot = ads.slot()
        ads.creative(ads.campaign(slot))
        params = {"slot": slot["slug"]}
        self.served = [self.org.page_api.get_json("/v1/ads/serve", params=params)["ad"] for _ in range(2 * TRIES)]
        self.installation = self.org.install(self.org.published_module({"name": "M", "events": {"emits": self.types}}, slug=self.slug))

    def prepare_jobs(self):
        """Jobs that wait for their commit, each in an organization of its own, which has one active import at a time."""
        self.imports, self.member_jobs = [], []
        for other in [self.new_org() for _ in range(TRIES)]:
            self.imports.append((other, other.staged([{"email": email()}])))
            other.validate(self.imports[-1][1])
            job = other.api.post("/v1/member-jobs", json={"action": "lock", "filter": {"q": "zzz"}}, expect=201).json()
            self.member_jobs.append((other, job["id"]))
        self.stack.run_once()
        self.stack.program("muster-run", "--config", self.stack.config, "--for", "1s", "imports")

    # ------------------------------------------------------------------ requests
    def all(self):
        return self.cases

    @cached_property
    def cases(self):
        """Sign-ins come first: a code lives for five minutes."""
        return [*self.sign_in(), *self.factor(), *self.team(), *self.own_seats(), *self.jobs(), *self.public(), *self.session()]

    def each(self, operation, status, send, records):
        return Case(operation, status, one_after_another(send, records))

    def sign_in(self):
        verify = lambda one: self.anyone.post(f"{AUTH}/verify", json={"email": one[0].address, "otp": one[1]}, **UNCHECKED)
        ask = lambda admin: self.anyone.post(f"{AUTH}/request", json={"email": admin.address}, **UNCHECKED)
        return [self.each("verifySignInCode", 200, verify, self.codes), self.each("requestSignInCode", 200, ask, self.admins)]

    def factor(self):
        post = lambda admin, path, code: admin.api.post(path, json={"code": code}, **UNCHECKED)
        right = lambda admin: post(admin, f"{FACTOR}/verify-totp", totp(admin.secret, admin.lasting_step()))
        spare = lambda path: lambda admin: post(admin, path, admin.backup_codes.pop())
        confirm = lambda one: post(one[0], "/v1/two-factor/replace/confirm", totp(one[1], one[0].lasting_step()))
        return [
            Case("enableTwoFactor", 200, lambda: self.apart.post(f"{FACTOR}/enable", json={}, **UNCHECKED)),
            self.each("verifyTotp", 200, right, self.admins),
            self.each("verifyBackupCode", 200, spare(f"{FACTOR}/verify-backup-code"), self.admins),
            self.each("confirmAuthenticator", 204, confirm, zip(self.admins, self.pending)),
            self.each("replaceAuthenticator", 200, spare("/v1/two-factor/replace"), self.admins),
            self.each("replaceBackupCodes", 200, spare("/v1/two-factor/backup-codes"), self.admins),
        ]

    def session(self):
        """The last ones end the sessions."""
        get = lambda path: lambda admin: admin.api.get(path, **UNCHECKED)
        first = lambda number: f"/v1/sessions/{self.rows.id(number * SESSIONS + 1)}"
        switch = lambda admin: admin.api.post("/v1/session/active-organization", json={"organizationId": self.rows.id(3)}, **UNCHECKED)
        return [
            self.each("getSession", 200, get("/v1/session"), self.admins),
            self.each("listSessions", 200, get("/v1/sessions?limit=100"), self.admins),
            self.each("getListedSession", 200, lambda one: get(first(one[0]))(one[1]), enumerate(self.admins)),
            self.each("setActiveOrganization", 200, switch, self.admins),
            self.each("endSession", 204, lambda one: one[1].api.delete(first(one[0]), **UNCHECKED), enumerate(self.admins)),
            self.each("endOtherSessions", 200, lambda admin: admin.api.delete("/v1/sessions", **UNCHECKED), self.admins),
            self.each("deleteSession", 204, lambda admin: admin.api.delete("/v1/session", **UNCHECKED), self.admins),
        ]

    def own_seats(self):
        invited = lambda number, action: f"/v1/session/invitations/{self.rows.id(number)}/{action}"
        accept = lambda one: one[1].api.post(invited(one[0] * 1000 + 900, "accept"), json={}, **UNCHECKED)
        decline = lambda one: one[1].api.post(invited(one[0] * 1000 + 1, "decline"), json={}, **UNCHECKED)
        leave = lambda one: one[1].api.post(f"/v1/session/seats/{self.rows.id(one[0] + 1)}/leave", json={}, **UNCHECKED)
        return [
            self.each("acceptInvitation", 200, accept, enumerate(self.admins)),
            self.each("declineInvitation", 204, decline, enumerate(self.admins)),
            self.each("leaveOrganization", 204, leave, enumerate(self.admins)),
        ]

    def team(self):
        """Mails go to ten owners. Names have characters of four bytes."""
        api = self.admins[0].api
        here = {"X-Organization": self.org.id}
        post = lambda path, **fields: lambda: api.post(path, json={key: make() for key, make in fields.items()}, headers=here, **UNCHECKED)
        name, origins = lambda: "\U0001f3c6" * 100, lambda: [SHOP] + [f"https://{number}.example" for number in range(19)]
        hooks = f"/v1/installations/{self.installation['id']}/webhook-endpoints"
        return [
            Case("createInvitation", 201, post("/v1/seats", email=email, role=lambda: "viewer")),
            Case("createApiKey", 201, post("/v1/api-keys", name=name)),
            Case("createTrackingKey", 201, post("/v1/engagement/keys", name=name, allowed_origins=origins)),
            Case("createContentKey", 201, post("/console/v1/content-keys", name=name, allowed_origins=origins)),
            Case("createWebhookEndpoint", 201, post(hooks, url=lambda: NO_LISTENER, subscribed_event_types=lambda: self.types)),
        ]

    def jobs(self):
        """A mapping of 500 columns, a filter with long texts, and jobs that wait for their commit."""
        columns = [EMAIL_COLUMN] + [{"sourceColumn": f"{number:03}" + "c" * 200, "target": "ignored"} for number in range(499)]
        body = {"file_name": "f.csv", "declared_total": 0, "mapping": {"columns": columns}}
        commit = lambda one: one[0].api.post(f"/v1/imports/{one[1]}/commit", json={}, **UNCHECKED)
        commit_members = lambda one: one[0].api.post(f"/v1/member-jobs/{one[1]}/commit", json={}, **UNCHECKED)
        create = lambda other: other.api.post("/v1/imports", json=body, **UNCHECKED)
        many = {"action": "lock", "filter": {"q": "\U0001f3c6" * 100, "attributes": {"favourite_team": "\U0001f3c6" * 100}}}
        create_members = lambda other: other.api.post("/v1/member-jobs", json=many, **UNCHECKED)
        others = [self.new_org() for _ in range(TRIES)]
        return [
            self.each("commitImport", 202, commit, self.imports),
            self.each("commitMemberJob", 202, commit_members, self.member_jobs),
            self.each("createImport", 201, create, others),
            self.each("createMemberJob", 201, create_members, others),
        ]

    def public(self):
        path = lambda url: url.removeprefix(self.stack.base_url)
        get = lambda url: self.anyone.get(path(url), allow_redirects=False, **UNCHECKED)
        seen, clicked = [ad["impression_url"] for ad in self.served[:TRIES]], [ad["click_url"] for ad in self.served[TRIES:]]
        return [
            self.each("recordAdImpression", 200, get, seen),
            self.each("followAdClick", 302, get, clicked),
            Case("getDescription", 200, lambda: get("/openapi/partner.json")),
            Case("getHealth", 200, lambda: get("/healthz")),
            Case("getReadiness", 200, lambda: get("/readyz")),
        ]
