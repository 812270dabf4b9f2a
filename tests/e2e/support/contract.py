"""The API's contract as the service describes it: every exchange is checked against `musterd --openapi-all`, which is
/openapi/partner.json with the operations of the console and content.

The observed statuses are recorded, so that the end of a full run can name each declared status that no test provoked.
"""

import datetime
import re
import uuid
from urllib.parse import urlsplit

import jsonschema

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
# Statuses that any operation may return in addition to its own (`default` in the description).
PASSING = {429, 500, 503}
# Statuses of replies to an accepted credential, for any request.
KNOWN_CALLER = {200, 201, 202, 204, 403, 404, 409, 412, 415, 422}
# The prefixes of the keys in Authorization; the token of a session has none.
KEYS = ("org_", "mk_live_", "ek_live_", "ck_live_")
POLICY = re.compile(r'"default";q=[1-9]\d*;w=[1-9]\d*(, "organization";q=[1-9]\d*;w=[1-9]\d*)?')
LIMIT = re.compile(r'"default";r=\d+;t=\d+(, "organization";r=\d+;t=\d+)?')
# The Cache-Control of successful replies to some paths: {beginning of the path: pattern}; all others "no-store".
# A list of articles may be cached until the next publication.
CACHING = {"/openapi/": "public, max-age=300", "/v1/content/": r"public, max-age=([0-9]|[1-5][0-9]|60)"}
CONSOLE_COOKIE = "__Host-muster-session="
# Replies that the server sends before it knows the operation.
NO_OPERATION = {405}
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Strict-Transport-Security": "max-age=31536000",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    "Server": "nginx",
}
# The preview of an article is a page, and has its own policy.
PREVIEW = re.compile("/console/v1/articles/[^/]+/preview")
PREVIEW_POLICY = "sandbox; default-src 'none'; img-src https: data:; frame-ancestors 'self'"

FORMATS = jsonschema.FormatChecker(formats=())
REQUEST_FORMATS = jsonschema.FormatChecker(formats=())


@REQUEST_FORMATS.checks("uuid", raises=ValueError)
@FORMATS.checks("uuid", raises=ValueError)
def _is_uuid(value):
    return not isinstance(value, str) or str(uuid.UUID(value)) == value


@FORMATS.checks("date-time", raises=ValueError)
def _is_time(value):
    if not isinstance(value, str):
        return True
    return bool(TIME.fullmatch(value)) and bool(datetime.datetime.fromisoformat(value[:-1]))


@REQUEST_FORMATS.checks("date-time", raises=ValueError)
def _is_time_of_any_zone(value):
    return not isinstance(value, str) or datetime.datetime.fromisoformat(value).tzinfo is not None


def trimmed(node):
    """As the service reads a body: surrounding white space of a string is ignored."""
    if isinstance(node, str):
        return node.strip()
    if isinstance(node, list):
        return [trimmed(entry) for entry in node]
    return {key: trimmed(value) for key, value in node.items()} if isinstance(node, dict) else node


COMPONENTS = "#/components/"


def references(node):
    """The components that a description refers to, as "schemas/User"."""
    if isinstance(node, list):
        return set().union(*map(references, node))
    if not isinstance(node, dict):
        return set()
    own = {node["$ref"].removeprefix(COMPONENTS)} if "$ref" in node else set()
    return own.union(*map(references, node.values()))


def component(document, name):
    """The component with that name, such as "schemas/User"; None if it does not exist."""
    kind, _, name = name.partition("/")
    return document["components"].get(kind, {}).get(name)


def expanded(document, node):
    """The node with its responses, parameters, headers and examples resolved; schemas keep their references."""
    if isinstance(node, list):
        return [expanded(document, entry) for entry in node]
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref", "")
    if reference and not reference.startswith(COMPONENTS + "schemas/"):
        return expanded(document, component(document, reference.removeprefix(COMPONENTS)) or {})
    return {key: expanded(document, value) for key, value in node.items()}


def closed(node):
    """The description without additional properties: objects contain only the properties that they name."""
    if isinstance(node, list):
        return [closed(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    strict = {} if "properties" not in node or node.get("type") != "object" else {"additionalProperties": False}
    return strict | {key: closed(value) for key, value in node.items()}


# What a fault may say about the field.
LIMITS = {"allowed", "minimum", "maximum", "min_length", "max_length", "format"}


class Operation:
    def __init__(self, path, method, row):
        self.path, self.method, self.row = path, method.upper(), row
        self.id = row["operationId"]
        self.pattern = re.compile(re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(path)))
        self.parameters = re.findall(r"{([^}]*)}", path)
        self.statuses = {int(status) for status in row["responses"] if status != "default"}
        schemes = {scheme for entry in row.get("security", []) for scheme in entry}
        self.takes_tracking_key = "trackingKey" in schemes
        self.takes_content_key = "contentKey" in schemes
        # In the query, from a page of an allowed origin.
        self.takes_publishable_key = self.takes_tracking_key or self.takes_content_key
        self.is_open = not schemes
        self.needs_key = bool(schemes) and not self.takes_publishable_key  # or a session; in Authorization
        # An admin's session, on the console's own pages.
        self.is_console = self.needs_key and "ORIGIN_NOT_ALLOWED" in self.codes(403)
        self.takes_organization_key = "organizationKey" in schemes
        self.takes_session = "adminSession" in schemes
        self.takes_module_credential = "moduleCredential" in schemes
        # Operations on the session itself: any seat is sufficient.
        self.is_own = self.needs_key and path.startswith(("/v1/session", "/v1/two-factor/", "/api/auth/"))
        self.is_write = self.method != "GET" and not self.is_own
        self.requires_second_factor = "2FA_REQUIRED" in self.codes(401)

    def codes(self, status):
        """The error codes that the description names for the status."""
        return set(re.findall(r"`([A-Z0-9_]+)`:", self.row["responses"].get(str(status), {}).get("description", "")))

    def fill(self, *values):
        """The path with its parameters filled in."""
        left = list(values)
        return re.sub(r"{[^}]*}", lambda _: str(left.pop(0)), self.path)


class Contract:
    def __init__(self, document):
        self.document = document
        self.seen = set()  # (operation id, status)
        self.codes = set()  # (operation id, error code); None if no operation matched
        strict = closed(document)
        self.operations = [
            Operation(path, method, expanded(strict, row))
            for path, methods in strict["paths"].items()
            for method, row in methods.items()
        ]
        self.dangling = {name for name in references(document) if component(document, name) is None}
        # An absent schema is skipped here; test_openapi.py reports it, so the other tests can continue.
        schemas = strict["components"]["schemas"] | {
            name.removeprefix("schemas/"): {} for name in self.dangling if name.startswith("schemas/")}
        self._resolver = jsonschema.RefResolver("", strict | {"components": {"schemas": schemas}})
        self._error = schemas["ApiError"]
        self._headers = strict["components"]["headers"]
        self._validators = {}

    def operation(self, method, path):
        method = "GET" if method == "HEAD" else method
        for operation in self.operations:
            if operation.method == method and operation.pattern.fullmatch(path):
                return operation
        return None

    def pages_operation(self, path):
        """An operation at that path for pages of other sites; None if there is none."""
        found = (operation for operation in self.operations
                 if operation.takes_publishable_key and operation.pattern.fullmatch(path))
        return next(found, None)

    def by_id(self, operation_id):
        return next(operation for operation in self.operations if operation.id == operation_id)

    @property
    def declared(self):
        return {(operation.id, status) for operation in self.operations for status in operation.statuses}

    @property
    def declared_codes(self):
        """(operation id, error code), as the responses' descriptions name them."""
        return {
            (operation.id, code)
            for operation in self.operations
            for status in operation.statuses
            for code in operation.codes(status)
        }

    def check(self, schema, value, where, formats=FORMATS):
        """Fails unless the value matches the schema."""
        key = (id(schema), id(formats))
        if key not in self._validators:
            self._validators[key] = jsonschema.Draft202012Validator(
                schema, resolver=self._resolver, format_checker=formats
            )
        problems = [f"{error.json_path}: {error.message}" for error in self._validators[key].iter_errors(value)]
        assert not problems, f"{where} breaks the description: {problems[:5]}"

    def record(self, method, path, reply, request_body=None, whole=True):
        """Checks one exchange and records it. whole=False: the body is too large to be checked."""
        where = f"{method} {path} -> {reply.status_code}"
        self._check_headers(reply, where)
        operation = self.operation(method, path)
        asked_for = self.pages_operation(path) if method == "OPTIONS" else operation
        self._check_cors(method, asked_for, reply, where)
        if method == "OPTIONS" and asked_for is not None and reply.status_code == 204:
            return  # a preflight belongs to its operation and is not described
        code = None
        if reply.status_code >= 400:
            code = self._check_envelope(method, reply, where)
            self.codes.add((operation.id if operation else None, code))
        if operation is None or reply.status_code in NO_OPERATION:
            assert reply.status_code >= 400, f"{where}: answered, and not described"
            return
        self._check_caller(operation, reply, code, where)
        self.seen.add((operation.id, reply.status_code))
        status = str(reply.status_code)
        if reply.status_code in PASSING and status not in operation.row["responses"]:
            status = "default"
        assert status in operation.row["responses"], f"{where} is not declared for {operation.id}: {reply.text[:300]}"
        self._check_described_headers(operation.row["responses"][status], reply, where)
        if method != "HEAD" and whole:
            self._check_body(operation, status, reply, where)
        if request_body is not None and reply.ok and "requestBody" in operation.row:
            schema = operation.row["requestBody"]["content"]["application/json"]["schema"]
            self.check(schema, trimmed(request_body), f"{where}: the accepted body", REQUEST_FORMATS)

    @staticmethod
    def _check_caller(operation, reply, code, where):
        """The headers about the caller: the rate, and the active organization of the session."""
        policy, limit = (reply.headers.get(name) for name in ("RateLimit-Policy", "RateLimit"))
        active = reply.headers.get("X-Active-Organization")
        if policy is not None or limit is not None:
            assert operation.needs_key or operation.takes_tracking_key, f"{where}: rate headers without a caller"
            assert POLICY.fullmatch(policy or "") and LIMIT.fullmatch(limit or ""), f"{where}: {policy!r}, {limit!r}"
        if active is not None:
            assert _is_uuid(active) and policy is not None, f"{where}: X-Active-Organization is {active!r}"
        # nginx answers some requests before the caller is known; these statuses come only afterwards.
        # nginx does not know the caller either when it rejects a foreign origin.
        is_edge = operation.is_console and code == "ORIGIN_NOT_ALLOWED" and policy is None
        if operation.needs_key and not is_edge and (reply.status_code in KNOWN_CALLER or code == "2FA_REQUIRED"):
            assert policy is not None, f"{where}: no rate headers"
            # Without the header, the session is in the console's cookie.
            bearer = reply.request.headers.get("Authorization", "Bearer session").split()[1]
            is_session = not bearer.startswith(KEYS)
            assert is_session == (active is not None), f"{where}: X-Active-Organization is {active!r}"
        # A key in the body is unknown if the body cannot be read.
        knows_page = reply.ok or reply.status_code in KNOWN_CALLER - {403} and "key=" in reply.request.url
        if operation.takes_tracking_key and knows_page:
            assert policy is not None, f"{where}: no rate headers"

    @staticmethod
    def _check_cors(method, operation, reply, where):
        """A page of an allowed origin may read the reply, including error replies."""
        headers = {name: value for name, value in reply.headers.items() if name.lower().startswith("access-control-")}
        if operation is None or not operation.takes_publishable_key or reply.status_code in (401, 403):
            assert headers == {}, f"{where}: {headers}"
            return
        origin = reply.request.headers.get("Origin")
        if reply.ok and origin is not None:
            assert headers.get("Access-Control-Allow-Origin") == origin.lower(), f"{where}: {headers}"
        if reply.ok:
            assert "Origin" in reply.headers.get("Vary", ""), f"{where}: Vary is {reply.headers.get('Vary')!r}"
        if reply.ok and method == "OPTIONS":
            assert reply.content == b"" and operation.method in headers["Access-Control-Allow-Methods"], where
        assert "Access-Control-Allow-Credentials" not in headers and "*" not in headers.values(), f"{where}: {headers}"

    @staticmethod
    def _check_headers(reply, where):
        assert re.fullmatch(r"[0-9a-f]{32}", reply.headers.get("X-Request-Id", "")), f"{where}: X-Request-Id"
        caching, path = reply.headers.get("Cache-Control"), urlsplit(reply.url).path
        own = {"Content-Security-Policy": PREVIEW_POLICY} if reply.ok and PREVIEW.fullmatch(path) else {}
        # A header that is sent twice has both values here.
        for name, value in (HEADERS | own).items():
            assert reply.headers.get(name) == value, f"{where}: {name} is {reply.headers.get(name)!r}"
        kept = next((value for beginning, value in CACHING.items() if path.startswith(beginning)), None)
        wanted = kept if kept and reply.status_code < 400 and reply.request.method != "OPTIONS" else "no-store"
        assert re.fullmatch(wanted, caching or ""), f"{where}: Cache-Control is {caching!r}"

    def _check_described_headers(self, response, reply, where):
        """Headers in the description are declared for this reply and have the described form."""
        declared = response.get("headers", {})
        for name in self._headers:
            value = reply.headers.get(name)
            if name == "Set-Cookie" and value and value.startswith(CONSOLE_COOKIE):
                continue  # for the console only
            if value is None:
                assert not declared.get(name, {}).get("required"), f"{where}: {name} is missing"
                continue
            assert name in declared, f"{where}: {name} is not declared"
            schema = declared[name]["schema"]
            self.check(schema, int(value) if schema["type"] == "integer" else value, f"{where}: {name}")

    def _check_envelope(self, method, reply, where):
        assert reply.headers["Content-Type"] == "application/json", f"{where}: {reply.headers['Content-Type']}"
        if method == "HEAD":
            return None
        body = reply.json()
        self.check(self._error, body, where)
        assert body["error"]["status"] == reply.status_code, where
        if reply.status_code in (429, 503):
            assert int(reply.headers["Retry-After"]) >= 1, where
        if reply.status_code == 401:
            assert reply.headers["WWW-Authenticate"] == "Bearer", where
        for field in body["error"].get("details", {}).get("fields", []):
            limits = set(field) - {"path", "code", "message"}
            assert limits <= LIMITS and len(field) == 3 + len(limits), f"{where}: {field}"
        return body["error"]["code"]

    def _check_body(self, operation, status, reply, where):
        content = operation.row["responses"][status].get("content")
        if content is None:
            assert reply.content == b"", f"{where}: a body where none is described"
            return
        (media_type, description), = content.items()
        assert reply.headers["Content-Type"].split(";")[0] == media_type, f"{where}: {reply.headers['Content-Type']}"
        body = reply.json() if media_type == "application/json" else reply.text
        self.check(description["schema"], body, where)
