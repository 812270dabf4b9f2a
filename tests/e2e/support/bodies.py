"""For each operation an existing path and a valid body: for tests that iterate over all operations.

A new operation needs an entry here; without it test_auth.py and test_isolation.py fail.
"""

import uuid

from .ads import IMAGE, LANDING, MATRIX_SLOT
from .client import SHOP
from .world import EMAIL_COLUMN, MATRIX_PROVIDER, NO_LISTENER, email, rows_of, slug

# The kind of record that a path parameter names: by its own name, else by the word before it. A kind is a record of a
# tenant.
KINDS = {"imports": "import", "users": "user", "member-jobs": "member_job", "api-keys": "api_key", "attributes": "attribute", "modules": "module",
         "versionId": "version", "installations": "installation", "credentialId": "credential",
         "endpointId": "endpoint", "deliveryId": "delivery", "keys": "tracking_key", "content-keys": "content_key",
         "articles": "article", "slug": "article_slug", "connectionId": "connection",
         "sessions": "session", "slotId": "slot", "campaignId": "campaign", "creativeId": "creative",
         "adminId": "seat", "invitationId": "invitation", "organizationId": "organization_id"}
# Path parameters that are names, with the same values in every organization.
NAMES = {"key": "phone", "token": "made-up"}

BODIES = {
    "createImport": lambda: {"file_name": "f.csv", "declared_total": 0, "mapping": {"columns": [EMAIL_COLUMN]}},
    "stageImportRows": lambda: {"rows": rows_of([{"email": email()}])},
    "validateImport": lambda: {},
    "commitImport": lambda: {},
    "reopenImport": lambda: {},
    "cancelImport": lambda: {},
    "undoImport": lambda: {"dry_run": False},
    "createUser": lambda: {"email": email()},
    "updateUser": lambda: {"first_name": "Changed"},
    "removeUser": lambda: None,
    "lockUser": lambda: {"reason": "asked for"},
    "unlockUser": lambda: {},
    "createMemberJob": lambda: {"action": "lock", "filter": {"q": "zzz"}},
    "commitMemberJob": lambda: {},
    "cancelMemberJob": lambda: {},
    "putAttribute": lambda: {"type": "text", "enabled": True},
    "createInvitation": lambda: {"email": email("invited"), "role": "viewer"},
    "changeSeat": lambda: {"role": "viewer"},
    "removeSeat": lambda: None,
    "resendInvitation": lambda: {},
    "withdrawInvitation": lambda: None,
    "createApiKey": lambda: {"name": "matrix"},
    "changeApiKey": lambda: {"name": "changed"},
    "rotateApiKey": lambda: {"overlap_seconds": 60},
    "revokeApiKey": lambda: None,
    "createTrackingKey": lambda: {"name": "matrix", "allowed_origins": [SHOP]},
    "updateTrackingKey": lambda: {"name": "changed"},
    "revokeTrackingKey": lambda: None,
    "createContentKey": lambda: {"name": "matrix", "allowed_origins": [SHOP]},
    "updateContentKey": lambda: {"name": "changed"},
    "revokeContentKey": lambda: None,
    "createAdSlot": lambda: {"slug": slug(), "name": "Matrix", "width": 728, "height": 90},
    "updateAdSlot": lambda: {"name": "Changed"},
    "deleteAdSlot": lambda: None,
    "createAdCampaign": lambda: {"name": "Matrix", "slot_ids": [str(uuid.uuid4())]},
    "updateAdCampaign": lambda: {"status": "paused"},
    "deleteAdCampaign": lambda: None,
    "createAdCreative": lambda: {"campaign_id": str(uuid.uuid4()), "kind": "image", "image_url": IMAGE, "width": 728,
                                 "height": 90, "landing_url": LANDING},
    "updateAdCreative": lambda: {"alt": "Changed"},
    "deleteAdCreative": lambda: None,
    "createModule": lambda: {"slug": slug(), "name": "Matrix", "vendor": "Matrix"},
    "createModuleVersion": lambda: {"version": slug(), "manifest": {"name": "Matrix"}},
    "publishModuleVersion": lambda: {},
    "deprecateModule": lambda: {},
    "installModule": lambda: {"module_id": str(uuid.uuid4())},
    "changeInstallation": lambda: {"config": {}},
    "enableInstallation": lambda: {},
    "disableInstallation": lambda: None,
    "createWebhookEndpoint": lambda: {"url": NO_LISTENER, "subscribed_event_types": ["member.locked"]},
    "updateWebhookEndpoint": lambda: {"subscribed_event_types": ["member.unlocked"]},
    "deleteWebhookEndpoint": lambda: None,
    "rotateWebhookSecret": lambda: {},
    "testWebhookEndpoint": lambda: {},
    "recoverWebhookDeliveries": lambda: {"since": "2026-01-01T00:00:00Z"},
    "redeliverWebhook": lambda: {},
    "createModuleCredential": lambda: {"name": "matrix"},
    "revokeModuleCredential": lambda: None,
    "ingestEvents": lambda: {"events": [{"action": "visited", "email": email()}]},
    "trackEvents": lambda: {"action": "viewed", "anonymous_id": "matrix", "client_event_id": str(uuid.uuid4())},
    "createArticle": lambda: {"slug": slug("article"), "title": "Matrix", "body_html": "<p>Matrix</p>"},
    "previewArticleText": lambda: {"body_html": "<p>Matrix</p>"},
    "changeArticle": lambda: {"title": "Changed"},
    "deleteArticle": lambda: None,
    "publishArticle": lambda: {},
    "unpublishArticle": lambda: {},
    "connectProvider": lambda: {"provider": MATRIX_PROVIDER},
    "deleteConnection": lambda: None,
    "refreshConnection": lambda: {},
    "requestSignInCode": lambda: {"email": email()},
    "verifySignInCode": lambda: {"email": email(), "otp": "12345678"},
    "enableTwoFactor": lambda: {},
    "verifyTotp": lambda: {"code": "123456"},
    "verifyBackupCode": lambda: {"code": "aaaa-bbbb-cccc-dddd"},
    "updateOrganization": lambda: {"name": "matrix"},
    "setActiveOrganization": lambda: {"organizationId": str(uuid.uuid4())},
    "deleteSession": lambda: None,
    "endOtherSessions": lambda: None,
    "endSession": lambda: None,
    "acceptInvitation": lambda: {},
    "declineInvitation": lambda: {},
    "leaveOrganization": lambda: {},
    "replaceBackupCodes": lambda: {"code": "123456"},
    "replaceAuthenticator": lambda: {"code": "123456"},
    "confirmAuthenticator": lambda: {"code": "123456"},
}

# Required query parameters of operations.
QUERIES = {"serveAd": lambda _: {"slot": MATRIX_SLOT}, "listConnections": lambda org: {"org": org.id if org else str(uuid.uuid4())}}


def names_a_record(operation):
    """Whether the path contains the id of a tenant's record."""
    return any(parameter not in NAMES for parameter in operation.parameters)


def kinds_of(operation):
    """The kinds of the ids in the operation's path, in order; KeyError if a kind has no entry here."""
    words = operation.path.split("/")
    before = {word.strip("{}"): words[place - 1] for place, word in enumerate(words)}
    return [KINDS.get(parameter) or KINDS[before[parameter]] for parameter in operation.parameters if parameter not in NAMES]


def path_of(operation, ids):
    """The operation's path with the ids of its kinds from `ids`, for instance {"import": …, "user": …}."""
    kinds = iter(kinds_of(operation))
    return operation.fill(*[NAMES.get(parameter) or ids[next(kinds)] for parameter in operation.parameters])


def body_of(operation, org=None):
    """Options for Client.request: the body, if the operation has one, and its required query; org: the organization of
    the client."""
    if operation.id in QUERIES:
        return {"params": QUERIES[operation.id](org)}
    body = BODIES[operation.id]() if operation.method != "GET" else None
    return {} if body is None else {"json": body}
