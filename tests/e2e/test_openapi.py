"""The description of the API as a document (specification 9; docs/api/README.md "Service")."""

import json
import subprocess

import pytest
from support.bodies import names_a_record
from support.contract import Contract, component, references


@pytest.fixture
def partners(anyone):
    """The published description."""
    return anyone.get_json("/openapi/partner.json")


def test_the_description_is_openapi_3_1_of_version_0_1_0(partners, stack):
    document = partners
    assert document["openapi"] == "3.1.0"
    assert document["info"]["version"] == "0.1.0"
    assert document["servers"] == [{"url": stack.base_url}]


def test_every_reference_resolves(contract):
    assert contract.dangling == set()


def test_the_partner_description_is_a_part_of_the_whole(contract, partners):
    whole = contract.document
    for part, components in partners["components"].items():
        for name, value in components.items():
            assert value == whole["components"][part][name], (part, name)
    for path, methods in partners["paths"].items():
        assert methods == whole["paths"][path]
    kinds = set(partners["components"]) - {"securitySchemes"}
    assert references(partners) == {f"{kind}/{name}" for kind in kinds for name in partners["components"][kind]}


def test_the_console_and_content_are_not_published(contract, partners):
    left_out = {operation.id for operation in contract.operations if operation.path not in partners["paths"]}
    assert left_out == {operation.id for operation in contract.operations
                        if operation.path.startswith("/console/") or operation.takes_content_key}
    assert "/console" not in json.dumps(partners) and "contentKey" not in json.dumps(partners)


def test_every_operation_declares_its_replies(contract):
    for operation in contract.operations:
        responses = operation.row["responses"]
        assert "default" in responses, operation.id
        assert any(200 <= status < 400 for status in operation.statuses), operation.id
        # A wrong code is a 401, although the operation requires no credential.
        assert ("401" in responses) == (not operation.is_open or operation.id == "verifySignInCode"), operation.id
        if operation.needs_key:
            assert {"400", "403", "409"} <= set(responses), operation.id
        if names_a_record(operation):
            assert "404" in responses, operation.id
        if "requestBody" in operation.row:
            assert {"400", "413", "415", "422"} <= set(responses), operation.id
        for status, response in responses.items():
            assert response["description"], (operation.id, status)
            assert ("content" in response) == (status not in ("204", "302", "303", "304")), (operation.id, status)


def test_every_operation_has_examples(contract):
    without = [operation.id for operation in contract.operations
               if not operation.is_open and '"example' not in json.dumps(operation.row)]
    assert without == []


def schemas_below(node):
    """All schemas in a part of the description."""
    if isinstance(node, list):
        return [schema for entry in node for schema in schemas_below(entry)]
    if not isinstance(node, dict):
        return []
    own = [node] if isinstance(node.get("properties"), dict) else []
    return own + [schema for value in node.values() for schema in schemas_below(value)]


def test_every_operation_has_a_tag_and_a_description(contract):
    tags = {tag["name"]: tag["description"] for tag in contract.document["tags"]}
    assert all(tags.values())
    assert {tag for operation in contract.operations for tag in operation.row["tags"]} == set(tags)
    for operation in contract.operations:
        assert len(operation.row["tags"]) == 1 and operation.row["description"].endswith("."), operation.id
        for parameter in operation.row.get("parameters", []):
            assert parameter["description"], (operation.id, parameter["name"])


def test_every_property_has_a_description(contract):
    schemas = schemas_below(contract.document)
    assert len(schemas) > 60
    assert [name for schema in schemas for name, value in schema["properties"].items()
            if not value.get("description")] == []


def used_below(document, node):
    """The components that a part of the description refers to, directly or indirectly, as "schemas/User"."""
    found, left = set(), references(node)
    while left - found:
        name = (left - found).pop()
        found.add(name)
        left |= references(component(document, name))
    return found


def test_replies_allow_more_fields_and_requests_reject_them(contract, partners):
    assert contract.document["components"]["schemas"]["MemberPayload"]["additionalProperties"] is False
    replies = [row["responses"] for methods in partners["paths"].values() for row in methods.values()]
    used = [name for name in used_below(partners, replies) if name.startswith("schemas/")]
    assert "schemas/User" in used and len(used) > 30
    # Specification 2.11 allows no further fields in a connection.
    assert {name for name in used if component(partners, name).get("additionalProperties") is False} == {"schemas/Connection"}


def test_only_reads_of_the_console_may_lack_the_origin(contract):
    origins = {operation.id: (operation.method, parameter.get("required", False)) for operation in contract.operations
               for parameter in operation.row.get("parameters", []) if parameter["name"] == "Origin"}
    assert origins["connectProvider"] == ("POST", True) and origins["listConnections"] == ("GET", False)
    assert all(is_required == (method != "GET") for method, is_required in origins.values()), origins


def test_the_tests_themselves_reject_fields_that_are_not_described(contract):
    fresh = Contract(contract.document)
    schema = fresh.by_id("getHealth").row["responses"]["200"]["content"]["application/json"]["schema"]
    fresh.check(schema, {"status": "ok"}, "as described")
    with pytest.raises(AssertionError, match="breaks the description"):
        fresh.check(schema, {"status": "ok", "more": 1}, "one field more")


def test_paths_begin_with_the_version(contract):
    elsewhere = {operation.path for operation in contract.operations
                 if not operation.is_open and not operation.path.startswith(("/v1/", "/console/v1/"))}
    assert elsewhere == {f"/api/auth/two-factor/{name}" for name in ("enable", "verify-totp", "verify-backup-code")}


def test_the_program_prints_the_same_description(stack, partners):
    printed = json.loads(stack.program("musterd", "--openapi").stdout)
    printed["servers"] = partners["servers"]
    assert printed == partners


def test_the_routes_and_the_description_name_the_same_operations(stack, contract):
    lines = [line.split() for line in stack.program("musterd", "--routes").stdout.splitlines()]
    routes = {(method, path, operation) for method, path, operation, _, _ in lines}
    assert routes == {(operation.method, operation.path, operation.id) for operation in contract.operations}


def test_a_record_that_can_be_changed_can_be_read(contract):
    reads = {operation.path for operation in contract.operations if operation.method == "GET"}
    assert {operation.path for operation in contract.operations if operation.path.endswith("}")} <= reads


def test_the_description_supports_conditional_requests(anyone):
    path = "/openapi/partner.json"
    first = anyone.get(path, expect=200)
    etag = first.headers["ETag"]
    assert anyone.get(path, expect=200, headers={"If-None-Match": '"other"'}).content == first.content
    assert etag.startswith('W/"')  # compressed
    reply = anyone.get(path, expect=304, headers={"If-None-Match": etag})
    assert (reply.content, reply.headers["ETag"]) == (b"", etag.removeprefix("W/"))


def test_the_description_requires_no_credential(stack):
    done = subprocess.run(["curl", "-sf", "--cacert", stack.ca_file, stack.base_url + "/openapi/partner.json"],
                          capture_output=True, text=True)
    assert done.returncode == 0 and json.loads(done.stdout)
