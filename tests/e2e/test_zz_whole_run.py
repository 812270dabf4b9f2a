"""The verdict over the whole run; it comes last, and needs all files to have run.

What is declared must have been seen: a status or a code that no test provokes is a promise that nobody keeps.
"""

import re

import pytest

# Named in the description of every operation's `default`: seen once is enough.
COMMON_CODES = {"RATE_LIMITED", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"}


@pytest.fixture
def whole_run(request):
    if not request.config.is_whole_run:
        pytest.skip("not all tests were asked for")


def test_every_operation_was_called(whole_run, contract):
    called = {operation for operation, _ in contract.seen}
    assert {operation.id for operation in contract.operations} - called == set()


def test_every_declared_status_was_seen(whole_run, contract):
    assert sorted(contract.declared - contract.seen) == []


def test_every_declared_error_code_was_seen(whole_run, contract):
    assert sorted(contract.declared_codes - contract.codes) == []
    assert COMMON_CODES - {code for _, code in contract.codes} == set()


def test_no_log_holds_a_key_or_an_address_of_mail(stack):
    for path in sorted((stack.folder / "log").iterdir()):
        text = path.read_text(errors="replace")
        for key in stack.keys_issued:
            assert key not in text, f"{path.name} holds a key"
        found = re.findall(r"[\w.+-]+@[\w-]+\.[\w.-]+", text)
        assert found == [], f"{path.name} holds addresses: {found[:3]}"


def test_the_database_holds_no_key(stack):
    for table, columns in (("api_keys", "name, last_four, HEX(secret_hash)"), ("idempotency_keys", "body, location")):
        dump = str(stack.sql(f"SELECT {columns} FROM {table}"))
        assert not [key for key in stack.keys_issued if key in dump], table


def test_no_program_met_what_it_did_not_expect(stack):
    for name in ("musterd", "runner", "own-runner"):
        log = stack.log(name)
        for word in ("AddressSanitizer", "runtime error:", "LeakSanitizer", "terminate called", "Assertion", "Segmentation"):
            assert word not in log, f"{name}.log: {word}"
    assert "emerg" not in stack.log("nginx.error") and "crit" not in stack.log("nginx.error")
