"""The costliest requests of sessions, of large teams and of clients without an organization take bounded processor time
(docs/operations/costs.md)."""

import pytest
from costs_sessions import SessionCases
from test_costs import check_cases, large_pages, lasting_workers, no_statistics, slowness  # noqa: F401 (fixtures)

pytestmark = pytest.mark.alone

# Measured in test_costs.py, and a request that only an authorized provider makes costly: its worker waits for the provider.
ELSEWHERE = {"getMetrics", "returnFromProvider"}


@pytest.fixture
def of_sessions(new_org, no_runner):
    return SessionCases(new_org(), new_org)


def test_the_costliest_requests_of_sessions_take_bounded_processor_time(stack, contract, slowness, of_sessions):  # noqa: F811
    check_cases(stack, slowness, of_sessions)
    own = {operation.id for operation in contract.operations if operation.is_own or operation.is_open}
    assert own - {case.operation for case in of_sessions.all()} - ELSEWHERE == set()
