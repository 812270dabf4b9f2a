"""The errors that tests provoke in the logs of the programs, each with its reason. Any other error fails the run's verdict.

An error is a line of level error, or the abnormal end of a worker.
"""

import re
from typing import NamedTuple

from .stack import ROOT

PROGRAMS = ("musterd", "runner", "own-runner", "other-runner")
ERROR = re.compile(r"level=error event=(\S+)|level=\S+ event=(pool\.worker_died)")
GONE = re.findall(r"\((?:\w+), (\d+), Gone\)", (ROOT / "src/db/server_errors.def").read_text())
# What the line of the error says.
AWAY = rf'reason="connect: |\(({"|".join(GONE)})\)'
SIGKILL = r"status=9$"
INTERNAL_ERROR = r"status=256$"

FAILED_WORK = ("request.failed", "runner.turn_failed", "runner.finish_failed")
END = ("pool.worker_died",)


class Provoked(NamedTuple):
    test: str  # FILE::TEST, below tests/e2e
    events: tuple
    line: str  # a regular expression
    why: str


def rows(events, line, why, *tests):
    return [Provoked(test, events, line, why) for test in tests]


PROVOKED = [
    *rows(FAILED_WORK, AWAY, "it stops or kills the database",
          "connections/test_connection_refresh.py::test_tokens_received_during_a_database_outage_are_stored",
          "engagement/test_track_crashes.py::test_a_killed_database_loses_no_acknowledged_event",
          "members/test_users_batches.py::test_a_kill_loses_no_acknowledged_user_and_repetitions_replay",
          "operations/test_alerts.py::test_a_real_prometheus_on_the_host_scrapes_and_evaluates_the_rules",
          "operations/test_outage.py::test_a_database_killed_under_load_loses_no_acknowledged_write",
          "operations/test_outage.py::test_an_import_survives_a_killed_database",
          "operations/test_outage.py::test_without_the_database_every_operation_is_503_and_recovers_automatically",
          "webhooks/test_webhook_crashes.py::test_a_repeatedly_killed_database_loses_no_event"),
    *rows(END, SIGKILL, "it kills workers",
          "engagement/test_track_crashes.py::test_killed_collectors_lose_no_acknowledged_event",
          "members/test_users_batches.py::test_a_kill_loses_no_acknowledged_user_and_repetitions_replay",
          "operations/test_outage.py::test_a_killed_worker_is_replaced_and_no_acknowledged_write_is_lost",
          "operations/test_shares.py::test_the_share_of_killed_workers_is_free_again",
          "webhooks/test_webhook_crashes.py::test_killed_workers_emit_events_for_exactly_the_committed_changes"),
    *rows(("request.failed",), r"\(1205\)", "it locks a row for longer than a request waits",
          "operations/test_shares.py::test_an_organization_with_costly_requests_leaves_workers_to_others",
          "operations/test_shares.py::test_the_share_of_killed_workers_is_free_again",
          "operations/test_shares.py::test_visitors_of_an_organizations_ads_leave_workers_to_others"),
    *rows(("request.failed",), 'reason="stored: a text is not a JSON array"', "it damages the registry of an organization",
          "members/test_users_batches.py::test_an_unexpected_error_does_not_lose_the_waiting_requests_of_another_organization"),
    *rows(("request.failed",), 'reason="a stored import block cannot be read"', "it damages the rows of an import",
          "test_errors.py::test_an_internal_error_reveals_no_details_and_the_service_continues"),
    *rows(END, INTERNAL_ERROR, "its internal errors end the workers",
          "members/test_users_batches.py::test_an_unexpected_error_does_not_lose_the_waiting_requests_of_another_organization",
          "test_errors.py::test_an_internal_error_reveals_no_details_and_the_service_continues"),
    *rows(("import.attempt_failed",), 'reason="a stored import block cannot be read"', "it damages the rows of an import",
          "operations/test_runner.py::test_a_failed_dry_run_ends_the_job_and_writes_nothing",
          "operations/test_runner.py::test_a_job_with_unreadable_rows_fails_after_its_attempts"),
    *rows(("import.attempt_failed",), 'reason="no attempt was completed"', "it kills each runner of the job",
          "operations/test_runner.py::test_a_job_that_crashes_its_runners_fails"),
    *rows(("mail.expired",), 'reason="the mail expired before it was sent"', "its mails are older than they may be",
          "test_mail.py::test_an_expired_mail_is_deleted",
          "webhooks/test_webhook_failures.py::test_five_days_of_failures_disable_an_endpoint_and_notify_owners_and_modules"),
    *rows(("pool.reload_refused",), 'server.workers is', "it reloads an invalid configuration",
          "operations/test_outage.py::test_an_invalid_configuration_is_rejected_at_a_reload_and_the_old_one_is_kept"),
    *rows(("reply.interrupted",), 'reason="reply not accepted in time"', "its peers read no reply",
          "operations/test_peers.py::test_peers_that_read_no_reply_free_the_workers"),
]


def is_provoked(event, line):
    return any(event in row.events and re.search(row.line, line) for row in PROVOKED)


def unexpected(log):
    """The errors in a log that no test of the whole run provokes."""
    found = ((ERROR.match(line), line) for line in log.splitlines())
    return [line for error, line in found if error and not is_provoked(error[1] or error[2], line)]
