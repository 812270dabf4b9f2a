"""The requirements of each provider of external data for an OAuth client, from its own documentation: separate from the
product's table (src/rules/connections/providers.cpp), so that an error there is not repeated here."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Kind:
    scopes: str = ""  # as they are sent
    pkce: bool = True
    basic: bool = False  # client authentication in the header, else in the body
    json: bool = False  # the format of a token request's body, else a form
    extra: dict = field(default_factory=dict)  # of the authorization request
    code_extra: dict = field(default_factory=dict)  # of the token request with a code
    host: str = ""  # part of the addresses; "*.x": any name below it
    settings: dict = field(default_factory=dict)  # the settings that an admin enters when connecting
    life: int | None = 3600  # the value of expires_in; None: absent
    refresh: str = "rotates"  # or "stays", or "": no refresh token
    token_type: str | None = "bearer"
    callback: dict = field(default_factory=dict)  # parameters in addition to code and state
    answer: dict = field(default_factory=dict)  # fields in addition to the tokens
    metadata: dict = field(default_factory=dict)  # the reply of the lookup for a token
    kept: dict = field(default_factory=dict)  # the expected details of the connection
    error: str = ""  # "slack": ok:false in a 200; "github": error in a 200; else RFC 6749
    revoke: str = ""  # "form", "json", or "token": a form with only the token; "": no revocation
    revokes: str = "refresh_token"  # or "access_token"
    sends_iss: bool = False


GOOGLE = {"extra": {"access_type": "offline", "prompt": "consent"}, "refresh": "stays", "life": 3599, "revoke": "token",
          "sends_iss": True}
GOOGLE_SCOPES = "https://www.googleapis.com/auth/"

KINDS = {
    "google_analytics": Kind(GOOGLE_SCOPES + "analytics.readonly", **GOOGLE),
    "notion": Kind(basic=True, json=True, extra={"owner": "user"}, life=None, revoke="json", revokes="access_token",
                   answer={"workspace_id": "w-1", "workspace_name": "Büro", "bot_id": "b-1"},
                   kept={"workspace_id": "w-1", "workspace_name": "Büro"}),
    "google_docs": Kind(f"{GOOGLE_SCOPES}documents.readonly {GOOGLE_SCOPES}drive.metadata.readonly", **GOOGLE),
    "slack": Kind("channels:read,users:read", pkce=False, basic=True, life=43200, token_type="bot", error="slack",
                  answer={"ok": True, "team": {"id": "T1", "name": "Club"}}, kept={"team.id": "T1", "team.name": "Club"},
                  revoke="token", revokes="access_token"),
    "linkedin": Kind("openid profile w_member_social", pkce=False, life=5184000, refresh=""),
    "shopify": Kind("read_customers,read_orders", code_extra={"expiring": "1"}, host="*.myshopify.com",
                    settings={"shop": "Acme"}, life=3600, token_type=None, callback={"hmac": "a1b2", "shop": "acme.myshopify.com"},
                    answer={"scope": "read_customers,read_orders"}),
    "hubspot": Kind("oauth crm.objects.contacts.read crm.objects.companies.read", life=1800, refresh="stays",
                    answer={"hub_id": 4711}, kept={"hub_id": "4711"}, revoke="form"),
    "sentry": Kind("org:read project:read event:read", life=2592000),
    "posthog": Kind("project:read query:read", life=36000, revoke="form"),
    "stripe": Kind("read_only", life=None, refresh="stays", answer={"stripe_user_id": "acct_1", "livemode": False},
                   kept={"stripe_user_id": "acct_1"}),
    "mailchimp": Kind(life=0, refresh="", metadata={"dc": "us6", "accountname": "Club"}, kept={"dc": "us6"}),
    "quickbooks": Kind("com.intuit.quickbooks.accounting", basic=True, callback={"realmId": "9341453"},
                       kept={"realmId": "9341453"}, revoke="json", answer={"x_refresh_token_expires_in": 8726400}),
    "github": Kind("read:user read:org", life=28800, error="github"),
    "gitlab": Kind("read_api", life=7200, host="gitlab.e2e.example", revoke="form", sends_iss=True),
    "youtube": Kind(f"{GOOGLE_SCOPES}youtube.readonly {GOOGLE_SCOPES}yt-analytics.readonly", **GOOGLE),
}
