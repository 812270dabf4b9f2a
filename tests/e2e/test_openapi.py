"""The description of the API as a document (specification 9; docs/api.md "Service")."""

import json
import subprocess

import pytest
from support.bodies import names_a_record
from support.contract import references


@pytest.fixture
def partners(anyone):
    """What is published."""
    return anyone.get_json("/openapi/partner.json")


def test_the_description_is_openapi_3_1_of_version_0_1_0(partners, stack):
    document = partners
    assert document["openapi"] == "3.1.0"
    assert document["info"]["version"] == "0.1.0"
    assert document["servers"] == [{"url": stack.base_url}]


def test_every_reference_leads_somewhere(contract):
    assert contract.dangling == set()


def test_the_partners_description_is_a_part_of_the_whole(contract, partners):
    whole = contract.document
    for part in ("schemas", "securitySchemes"):
        assert partners["components"][part].items() <= whole["components"][part].items()
    for path, methods in partners["paths"].items():
        assert methods == whole["paths"][path]
    assert references(partners) == set(partners["components"]["schemas"]) | {"Error"}


def test_the_console_and_content_are_not_published(contract, partners):
    left_out = {operation.id for operation in contract.operations if operation.path not in partners["paths"]}
    assert left_out == {operation.id for operation in contract.operations
                        if operation.path.startswith("/console/") or operation.takes_content_key}
    assert "/console" not in json.dumps(partners) and "contentKey" not in json.dumps(partners)


def test_every_operation_says_what_it_can_answer(contract):
    for operation in contract.operations:
        responses = operation.row["responses"]
        assert "default" in responses, operation.id
        assert any(200 <= status < 400 for status in operation.statuses), operation.id
        # A wrong code is told as a wrong credential, where none is asked for yet.
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


def test_paths_are_those_of_the_version(contract):
    elsewhere = {operation.path for operation in contract.operations
                 if not operation.is_open and not operation.path.startswith(("/v1/", "/console/v1/"))}
    assert elsewhere == {f"/api/auth/two-factor/{name}" for name in ("enable", "verify-totp", "verify-backup-code")}


def test_the_program_prints_the_same_description(stack, partners):
    printed = json.loads(stack.program("musterd", "--openapi").stdout)
    printed["servers"] = partners["servers"]
    assert printed == partners


def test_the_routes_and_the_description_name_the_same_operations(stack, contract):
    lines = [line.split() for line in stack.program("musterd", "--routes").stdout.splitlines()]
    routes = {(method, path, operation) for method, path, operation, _, _ in lines if not path.startswith("/edge/")}
    assert routes == {(operation.method, operation.path, operation.id) for operation in contract.operations}


def test_the_description_can_be_asked_for_conditionally(anyone):
    path = "/openapi/partner.json"
    first = anyone.get(path, expect=200)
    etag = first.headers["ETag"]
    assert anyone.get(path, expect=200, headers={"If-None-Match": '"other"'}).content == first.content
    reply = anyone.get(path, expect=304, headers={"If-None-Match": etag})
    assert (reply.content, reply.headers["ETag"]) == (b"", etag)


def test_the_description_needs_no_credential(stack):
    done = subprocess.run(["curl", "-sf", "--cacert", stack.ca_file, stack.base_url + "/openapi/partner.json"],
                          capture_output=True, text=True)
    assert done.returncode == 0 and json.loads(done.stdout)
