"""For each operation a path that exists and a body that it accepts: for tests that go over all operations.

A new operation needs a line here; until it has one, test_auth.py and test_isolation.py fail.
"""

from .client import UNSET
from .world import EMAIL_COLUMN, email, rows_of

# What the path parameters of an operation name, by the path's second word.
KINDS = {"imports": "import", "users": "user", "attributes": "attribute"}

BODIES = {
    "createImport": lambda: {"file_name": "f.csv", "declared_total": 0, "mapping": {"columns": [EMAIL_COLUMN]}},
    "stageImportRows": lambda: {"rows": rows_of([{"email": email()}])},
    "validateImport": lambda: {},
    "commitImport": lambda: {},
    "cancelImport": lambda: {},
    "createUser": lambda: {"email": email()},
    "updateUser": lambda: {"locale": "en"},
    "removeUser": lambda: UNSET,
    "lockUser": lambda: {"reason": "e2e"},
    "unlockUser": lambda: {},
    "putAttribute": lambda: {"type": "text", "enabled": True},
}


def kind_of(operation):
    """What the operation's path id names; KeyError for a path that nobody has described here."""
    return KINDS[operation.path.split("/")[2]]


def path_of(operation, ids):
    """The operation's path with the id of its kind from `ids`, for instance {"import": …, "user": …}."""
    return operation.fill(*[ids[kind_of(operation)] for _ in operation.parameters])


def body_of(operation):
    """Options for Client.request: the body, where the operation takes one."""
    return {"json": BODIES[operation.id]()} if operation.method != "GET" else {}
