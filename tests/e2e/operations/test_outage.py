"""Outages of MariaDB, musterd, its workers and nginx, and restarts and reloads under load."""

import json
import os
import re
import signal
import socket
import subprocess
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from support.bodies import body_of, path_of
from support.load import Load
from support.stack import AS_ROOT, wait_for
from support.world import email, emails

READERS = 2
BATCHED = 2 + READERS  # collectors and readers, in addition to the workers of the API
ALL = 8 + BATCHED  # with the `workers` of the sandbox's muster.conf


def workers(stack):
    listing = subprocess.run(["pgrep", "-P", str(stack.pid("musterd"))], capture_output=True, text=True)
    return [int(pid) for pid in listing.stdout.split()]


def all_workers(stack, count=ALL):
    """The workers, once each one that ended before has a successor."""
    return wait_for(lambda: len(found := workers(stack)) == count and found, "all workers")


def address_is_written(org, created):
    members = org.members()
    lost = [address for address, _ in created if address not in members]
    assert lost == [], f"acknowledged, and lost: {lost[:3]}"


# ---------------------------------------------------------------------------- the database


def test_without_the_database_every_operation_is_503_and_recovers_automatically(stack, org, contract, anyone):
    ids = org.records() | {"import": str(uuid.uuid4()), "attribute": "phone"}
    before = all_workers(stack)
    with stack.without("mariadbd"):
        for operation in contract.operations:
            if not operation.is_open or operation.method != "GET":
                client = org.client_for(operation) if operation.takes_publishable_key else org.api
                for _ in range(2):
                    reply = client.request(operation.method, path_of(operation, ids), **body_of(operation))
                    assert reply.status_code == 503, (operation.id, reply.text)
                    assert reply.json()["error"]["code"] == "SERVICE_UNAVAILABLE"
                    assert "sql" not in reply.text.lower()
        anyone.get("/readyz", expect=503)
        anyone.get("/healthz", expect=200)
        anyone.get("/openapi/partner.json", expect=200)
        assert stack.ctl_raw("health").returncode == 1
    wait_for(stack.answers, "the service to be ready again")
    for _ in range(20):
        assert org.user(ids["user"])["id"] == ids["user"]
    assert workers(stack) == before  # no program was restarted
    assert anyone.get("/metrics").status_code == 200


def test_a_database_killed_under_load_loses_no_acknowledged_write(stack, org):
    with Load(org) as load:
        load.wait_for_requests()
        with stack.without("mariadbd", verb="kill"):
            wait_for(lambda: 503 in load.statuses, "the first 503")
        wait_for(stack.answers, "the service to be ready again")
        done = len(load.created)
        wait_for(lambda: len(load.created) > done + 30, "new users")
    assert load.failures == []
    assert set(load.statuses) <= {200, 201, 503}
    address_is_written(org, load.created)


def test_an_import_survives_a_killed_database(stack, org, no_runner):
    payloads = [{"email": address, "first_name": "Ann"} for address in emails(30_000)]
    job_id = org.staged(payloads)
    org.validate(job_id)
    runner = stack.spawn_runner(seconds=600, env={"MUSTER_JOBS_LEASE": "5"})
    try:
        for state, commit in (("validated", True), ("completed", False)):
            wait_for(lambda: org.job(job_id)["processed_rows"] > 0, "work to begin", every=0.002)
            stack.service("kill", "mariadbd")
            stack.service("start", "mariadbd")
            wait_for(stack.answers, "the service to be ready again")
            if runner.poll() is not None:  # cron would start the next one
                runner = stack.spawn_runner(seconds=600, env={"MUSTER_JOBS_LEASE": "5"})
            wait_for(lambda: org.job(job_id)["state"] == state, f"the job to be {state}", seconds=60)
            if commit:
                org.commit(job_id)
    finally:
        runner.terminate()
        runner.wait(20)
    job = org.job(job_id)
    assert (job["valid_rows"], job["created_count"], job["failed_count"]) == (30_000, 30_000, 0)
    assert set(org.members()) == {payload["email"] for payload in payloads}
    assert {row["state"] for row in org.rows(job_id, whole=False, limit=1000)} == {"created"}


# ---------------------------------------------------------------------------- musterd


def resident_mebibytes(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE") >> 20


def send_numbers(org, mebibytes):
    """A body that takes much more than its size in memory, and is then refused: as many numbers as are allowed, and a text."""
    job_id = org.create_import()["id"]
    numbers = b"[0" + b",0" * 999_000
    body = numbers + b',"' + b"x" * ((mebibytes << 20) - len(numbers) - 4) + b'"]'
    org.api.post(f"/v1/imports/{job_id}/rows", data=body, headers={"Content-Type": "application/json"}, expect=422)
    org.cancel(job_id)


def test_the_memory_for_a_large_body_is_free_after_the_request(stack, org):
    before = max(resident_mebibytes(pid) for pid in all_workers(stack))
    for _ in range(8):
        send_numbers(org, 16)
    assert max(resident_mebibytes(pid) for pid in workers(stack)) < before + 48


def test_a_worker_checks_its_memory_after_a_large_body(stack, org):
    with stack.configured("[server]", "recycle_memory = 32"):
        before = set(all_workers(stack))
        send_numbers(org, 4)
        wait_for(lambda: len(before - set(workers(stack))) == 1, "one worker to be replaced")


def test_reloads_under_load_fail_no_request(stack, org):
    with Load(org) as load:
        for _ in range(5):
            old = set(all_workers(stack))
            os.kill(stack.pid("musterd"), signal.SIGHUP)
            wait_for(lambda: not old & set(workers(stack)), "the old workers to end")
            load.wait_for_requests()
    assert load.failures == []
    assert set(load.statuses) == {200, 201}
    address_is_written(org, load.created)


def test_an_invalid_configuration_is_rejected_at_a_reload_and_the_old_one_is_kept(stack, org):
    config = stack.folder / "muster.conf"
    good = config.read_text()
    before = all_workers(stack)
    try:
        config.write_text(good.replace("workers = 8", "workers = many"))
        os.kill(stack.pid("musterd"), signal.SIGHUP)
        wait_for(lambda: "event=pool.reload_refused" in stack.log("musterd"), "the rejection in the log")
        assert workers(stack) == before
        org.api.get("/v1/imports", expect=200)
        config.write_text(good.replace("workers = 8", "workers = 3"))
        os.kill(stack.pid("musterd"), signal.SIGHUP)
        wait_for(lambda: len(workers(stack)) == 3 + BATCHED and not set(workers(stack)) & set(before),
                 "three workers")
        org.api.get("/v1/imports", expect=200)
    finally:
        config.write_text(good)
        os.kill(stack.pid("musterd"), signal.SIGHUP)
    all_workers(stack)


SOCKETS = ("socket", "collector_socket", "reader_socket")  # in the order of muster.socket


def listen(path):
    """A listener that outlives each musterd."""
    if os.path.exists(path):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(1024)
    return listener


@contextmanager
def socket_activated(stack):
    """musterd as systemd starts it: another process holds the sockets, which outlive each musterd.
    Returns a function that stops the running one and starts the next."""
    settings = dict(re.findall(r"^(\w+) *= *(.*)$", (stack.folder / "muster.conf").read_text(), re.MULTILINE))
    with ExitStack() as listeners:
        numbers = [listeners.enter_context(listen(settings[name])).fileno() for name in SOCKETS]
        passed = " ".join(f"{place}<&{number}" for place, number in enumerate(numbers, 3))
        current = None

        def restart():
            nonlocal current
            if current:
                current.terminate()
                assert current.wait(40) == 0
            script = f'export LISTEN_FDS={len(numbers)} LISTEN_PID=$$; exec "$@" {passed}'
            with open(stack.folder / "log" / "musterd.log", "ab") as log:
                current = subprocess.Popen(
                    ["bash", "-c", script, "activate", stack.build / "musterd", "--config", stack.config],
                    pass_fds=numbers, stdout=log, stderr=log, start_new_session=True)

        try:
            restart()
            yield restart
        finally:
            current.terminate()
            current.wait(40)


def test_restarts_with_socket_activation_under_load_fail_no_request(stack, org):
    with stack.without("musterd"):
        with socket_activated(stack) as restart:
            wait_for(stack.answers, "the activated musterd to answer")
            with Load(org) as load:
                for _ in range(4):
                    load.wait_for_requests()
                    restart()
                load.wait_for_requests()
            assert load.failures == []
            assert set(load.statuses) == {200, 201}
    wait_for(stack.answers, "the service to respond again")
    address_is_written(org, load.created)


def test_a_killed_worker_is_replaced_and_no_acknowledged_write_is_lost(stack, org):
    with Load(org) as load:
        for _ in range(4):
            killed = all_workers(stack)[0]
            os.kill(killed, signal.SIGKILL)
            wait_for(lambda: killed not in all_workers(stack), "the next worker")
            load.wait_for_requests()
    assert load.failures == []
    assert set(load.statuses) <= {200, 201, 503}
    assert load.statuses.count(503) <= 4  # only the requests of the killed worker
    address_is_written(org, load.created)


def test_running_requests_are_finished_when_musterd_stops(stack, org):
    user = org.create_user({"email": email("held")})
    try:
        with ThreadPoolExecutor(1) as pool:
            with stack.locked("SELECT 1 FROM members WHERE user_id = UNHEX(REPLACE(%s, '-', ''))", user["id"]):
                waiting = pool.submit(lambda: org.api.request("PATCH", f"/v1/users/{user['id']}", json={"first_name": "Ann"}))
                wait_for(lambda: stack.sql("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")[0][1] != "0", "the request to wait")
                os.kill(stack.pid("musterd"), signal.SIGTERM)
                wait_for(lambda: len(workers(stack)) <= 1, "the workers without a request to end", 4)  # less than the wait for a lock
            reply = waiting.result(30)
        assert reply.status_code == 200
    finally:
        stack.service("stop", "musterd")
        stack.service("start", "musterd")
    wait_for(stack.answers, "the service to respond again")


def test_a_flood_of_requests_is_answered_and_leaves_the_service_working(stack, org):
    with ThreadPoolExecutor(80) as pool:  # ten times the workers
        replies = list(pool.map(lambda _: org.api.get("/v1/imports").status_code, range(1600)))
    assert set(replies) <= {200, 503}
    assert replies.count(200) > 1000
    org.api.get("/v1/imports", expect=200)


# ---------------------------------------------------------------------------- nginx


def test_a_killed_nginx_loses_no_acknowledged_write(stack, org):
    with Load(org) as load:
        load.wait_for_requests()
        with stack.without("nginx", verb="kill"):
            pass
        wait_for(stack.answers, "nginx to answer again")
        done = len(load.created)
        wait_for(lambda: len(load.created) > done + 30, "new users")
    assert set(load.statuses) <= {200, 201}
    address_is_written(org, load.created)


def test_a_body_that_nginx_cannot_write_to_its_disk_is_500_and_can_be_repeated(stack, org):
    folder = Path(stack.folder, "tmp/body")
    job_id = org.create_import()["id"]
    payloads = [{"email": email(), "attributes": {"phone": "x" * 2000}} for _ in range(1000)]
    away = folder.rename(folder.with_name("no-body"))  # root could write into any folder
    try:
        org.stage(job_id, payloads, expect=500, code="INTERNAL_ERROR")
        org.stage(job_id, payloads[:10])  # a small body needs no file
    finally:
        away.rename(folder)
    assert org.job(job_id)["staged_rows"] == 10
    assert org.stage(job_id, payloads).json() == {"staged": 1000}
    assert org.job(job_id)["staged_rows"] == 1000


# ---------------------------------------------------------------------------- musterd's command line


@pytest.mark.parametrize("arguments, status", [
    (["--help"], 0), (["--version"], 0), (["--routes"], 0), (["--openapi"], 0), (["--print-config"], 0),
    (["--nonsense"], 2), (["--config"], 2), (["x"], 2), (["--config", "/nowhere/muster.conf"], 1),
])
def test_help_version_and_errors_of_the_command_line(stack, arguments, status):
    done = stack.program("musterd", *arguments)
    assert done.returncode == status, done
    assert bool(done.stdout) == (status == 0) and bool(done.stderr) == (status != 0)


def test_an_incompatible_schema_prevents_the_start_and_names_the_command(stack):
    stack.sql("CREATE DATABASE e2e_empty")
    try:
        done = stack.program("musterd", "--config", stack.config, env=AS_ROOT | {
            "MUSTER_DATABASE_NAME": "e2e_empty", "MUSTER_SERVER_SOCKET": f"{stack.folder}/tmp/other.sock"}, timeout=20)
    finally:
        stack.sql("DROP DATABASE e2e_empty")
    assert done.returncode == 1 and "musterctl db init" in done.stderr


def test_a_second_musterd_does_not_take_the_sockets_of_a_running_one(stack, anyone):
    done = stack.program("musterd", "--config", stack.config, timeout=20)
    assert done.returncode == 1 and "musterd: another process listens at /" in done.stderr, done
    assert "event=musterd.started" not in done.stderr
    anyone.get("/healthz", expect=200)


def test_a_start_without_a_usable_database_logs_the_reason_once(stack, tmp_path):
    log = tmp_path / "musterd.log"
    sockets = {f"MUSTER_SERVER_{name.upper()}": str(tmp_path / name) for name in SOCKETS}
    with open(log, "wb") as output:
        server = subprocess.Popen([stack.build / "musterd", "--config", stack.config], stderr=output,
                                  env=os.environ | sockets | {"MUSTER_DATABASE_PASSWORD": "s3cret"})
    try:
        wait_for(lambda: server.poll() is not None or "database_unavailable" in log.read_text(), "a warning")
        assert server.poll() is None, log.read_text()
    finally:
        server.terminate()
        server.wait(40)
    (line,) = [line for line in log.read_text().splitlines() if "database_unavailable" in line]
    assert 'level=warning event=musterd.database_unavailable reason="access denied for database.user: check its password' in line
    assert "s3cret" not in line


def test_the_shipped_configuration_is_all_comments_and_can_be_read_back(stack, tmp_path):
    shipped = stack.program("musterd", "--print-config").stdout
    config = tmp_path / "muster.conf"
    config.write_text(shipped)
    assert all(line.startswith(("#", "[")) or not line for line in shipped.splitlines())
    done = stack.program("musterctl", "--config", config, "--json", "config", "check",
                         env={"MUSTER_SECURITY_KEY_FILE": f"{stack.folder}/muster.key"})
    assert (done.returncode, json.loads(done.stdout)["valid"]) == (0, True), done.stderr
