"""Muster on a Galera cluster of three nodes behind haproxy (docs/operations/galera.md).

The nodes and haproxy run with the files in docs/examples. Each test starts and ends with a complete cluster.
"""

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pymysql
import pytest
from support.galera import Cluster, GaleraStack, missing_packages
from support.load import Load, Undisturbed
from support.stack import ROOT, wait_for
from support.world import Organization, email, emails

MISSING = missing_packages()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)} (packaging/install-deps check)")
# When the writer dies, writes pause for six to seven seconds (docs/operations/galera.md), of which five are a timeout of Galera.
LONGEST_PAUSE = 10.0  # seconds on a machine that writes at once
WRITES = 20  # as many undisturbed writes take as long as what the nodes, haproxy and Muster do in the pause, in addition to timeouts


@pytest.fixture(scope="module")
def cluster(stack):
    running = Cluster(stack.folder.with_name(stack.folder.name + "-galera"))
    try:
        running.start()
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def galera(stack, cluster):
    """A stack on the cluster."""
    running = GaleraStack(stack.build, cluster.folder.with_name(cluster.folder.name + "-stack"), cluster)
    cluster.nodes[1].start()  # joins in the meantime
    try:
        running.start()
        cluster.wait_until_complete()
        yield running
    finally:
        running.stop()


@pytest.fixture
def new_galera_org(galera, contract):
    return lambda: Organization(galera, contract)


@pytest.fixture
def org(new_galera_org):
    return new_galera_org()


def elsewhere(node):
    """The environment of a program that connects directly to that node instead of haproxy."""
    return {"MUSTER_DATABASE_URL": f"tcp://{node.address}:3306"}


def reruns(galera, since=0):
    """The transactions that were run again, from the logs of musterd and the runners."""
    log = galera.log("musterd")[since:] + galera.log("own-runner") + galera.log("other-runner")
    return re.findall(r"event=db\.rerun .*", log)


@pytest.fixture
def undisturbed(new_org):
    """Writes at the same time to the stack without a cluster."""
    with Undisturbed(new_org(attributes=False)) as running:
        yield running


def assert_short_pause(load, since, undisturbed):
    """Writes went on soon after `since`. Where an undisturbed write takes longer, they may take longer too."""
    pause, most = load.longest_pause(since), LONGEST_PAUSE + WRITES * undisturbed.slowest()
    print(f"writes paused for {pause:.1f} s; an undisturbed one took at most {undisturbed.slowest():.3f} s")
    assert pause < most


def assert_kept(load, org, cluster):
    """Every acknowledged write is on every node exactly once, and no other write is."""
    assert load.failures == []
    assert set(load.statuses) <= {200, 201, 503}, sorted(set(load.statuses))
    found = org.members()
    lost = [address for address, user in load.created if found.get(address, {}).get("user_id") is None]
    assert lost == []
    assert len(found) <= len(load.created) + load.statuses.count(503)  # a reply may be lost after the commit
    assert len(dict(load.created)) == len(load.created)
    contents = [cluster.contents(node) for node in cluster.nodes]
    assert contents[0] == contents[1] == contents[2]


# ---------------------------------------------------------------------------- requirements of Galera for a schema


def test_every_table_can_be_replicated(galera, cluster):
    """Without a primary key, deletes are not replicated, and the order of rows differs between nodes."""
    writer = cluster.nodes[0]
    tables = "information_schema.tables t WHERE t.table_schema = 'muster'"
    assert writer.sql(f"SELECT table_name FROM {tables} AND (engine <> 'InnoDB' OR auto_increment IS NOT NULL)") == []
    assert writer.sql(f"SELECT table_name FROM {tables} AND NOT EXISTS (SELECT 1 FROM information_schema.table_constraints c "
                      "WHERE c.table_schema = 'muster' AND c.table_name = t.table_name AND c.constraint_type = 'PRIMARY KEY')") == []
    assert cluster.contents(cluster.nodes[0]) == cluster.contents(cluster.nodes[2])


def test_muster_connects_to_the_nodes_only_over_tls(galera, cluster):
    ((ssl,),) = cluster.nodes[0].sql("SELECT JSON_VALUE(priv, '$.ssl_type') FROM mysql.global_priv WHERE user = 'muster'")
    assert int(ssl) == 1  # REQUIRE SSL, which db init sets if tls_ca is set
    assert galera.ctl_raw("health").returncode == 0


# ---------------------------------------------------------------------------- failure of a node


def test_a_killed_writer_under_load_loses_no_write_and_rejoins(galera, cluster, org, undisturbed):
    first = cluster.nodes[0]
    with Load(org, threads=2) as load:
        load.wait_for_requests()
        began = time.monotonic()
        first.kill()
        assert_short_pause(load, began, undisturbed)
        assert cluster.writer() == cluster.nodes[1]
        cluster.wait_until_complete()  # under load all connections return to the first node
        load.wait_for_requests(100)
    assert_kept(load, org, cluster)


# ---------------------------------------------------------------------------- imports


@contextmanager
def runners(galera, *environments):
    """Import runners, one per environment; in production cron would restart a runner that fails."""
    running = [galera.spawn_runner(seconds=600, env={"MUSTER_JOBS_LEASE": "5"} | env, log_name=name)
               for env, name in zip(environments, ("own-runner", "other-runner"))]
    try:
        yield running
    finally:
        for runner in running:
            runner.terminate()
            runner.wait(30)


def assert_imported(org, job_id, payloads):
    job = org.job(job_id)
    assert (job["state"], job["valid_rows"], job["created_count"], job["failed_count"]) == (
        "completed", len(payloads), len(payloads), 0)
    assert set(org.members()) == {payload["email"] for payload in payloads}
    assert {row["state"] for row in org.rows(job_id, whole=False, limit=1000)} == {"created"}


def finish(org, job_id, state):
    wait_for(lambda: org.api.get(f"/v1/imports/{job_id}").json().get("state") == state, f"the job to be {state}", 60)


def test_an_import_survives_the_failure_of_the_writer(galera, cluster, org):
    payloads = [{"email": address, "first_name": "Ann"} for address in emails(20_000)]
    first = cluster.nodes[0]
    with galera.without("runner", verb="kill"):
        job_id = org.staged(payloads)
        org.validate(job_id)
        with runners(galera, {}, {}) as running:
            finish(org, job_id, "validated")
            org.commit(job_id)
            wait_for(lambda: org.job(job_id)["processed_rows"] > 0, "the commit to begin", every=0.002)
            first.kill()
            finish(org, job_id, "completed")
            assert [runner.poll() for runner in running] == [None, None]  # they did not end
    assert_imported(org, job_id, payloads)
    cluster.wait_until_complete()
    contents = [cluster.contents(node) for node in cluster.nodes]
    assert contents[0] == contents[1] == contents[2]


def test_parallel_runners_on_two_nodes_import_no_row_twice(galera, cluster, new_galera_org):
    """Using one writer avoids this situation; the leases in the rows must still work in it."""
    orgs = [new_galera_org() for _ in range(4)]
    payloads = {org.id: [{"email": address} for address in emails(3_000)] for org in orgs}
    with galera.without("runner", verb="kill"):
        jobs = {org.id: org.staged(payloads[org.id]) for org in orgs}
        with runners(galera, {}, elsewhere(cluster.nodes[1])):
            for org in orgs:
                org.validate(jobs[org.id])
            for org in orgs:
                finish(org, jobs[org.id], "validated")
                org.commit(jobs[org.id])
            for org in orgs:
                finish(org, jobs[org.id], "completed")
    for org in orgs:
        assert_imported(org, jobs[org.id], payloads[org.id])


# ---------------------------------------------------------------------------- certification


def test_a_request_that_loses_a_conflict_with_another_node_is_rerun_completely(galera, cluster, org):
    """Locks are local to a node. Two transactions that write the same row on different nodes both reach the commit, and
    one of them gets error 1213 there."""
    module = org.install(org.published_module())
    org.create_endpoint(module, subscribed_event_types=["member.updated"])
    user = org.create_user({"email": email()})
    stopping, since = threading.Event(), len(galera.log("musterd"))

    def rival():
        connection = cluster.nodes[1].connect()
        with connection.cursor() as cursor:
            while not stopping.wait(0.004):
                try:
                    cursor.execute("UPDATE members SET locale = IF(locale = 'de', 'en', 'de') "
                                   "WHERE organization_id = UNHEX(REPLACE(%s, '-', ''))", (org.id,))
                except pymysql.err.OperationalError as error:
                    assert error.args[0] == 1213
        connection.close()

    def at_commit():
        return [line for line in reruns(galera, since) if "COMMIT" in line and "(1213)" in line]

    replies = []
    with ThreadPoolExecutor(1) as pool:
        losing = pool.submit(rival)
        try:
            wait_for(lambda: replies.append(org.api.request("PATCH", f"/v1/users/{user['id']}", json={
                "first_name": f"Name {len(replies)}"}).status_code) or len(at_commit()) >= 3, "lost commits")
        finally:
            stopping.set()
            losing.result(20)
    assert set(replies) <= {200, 503}, set(replies)
    ((events,),) = galera.sql("SELECT COUNT(*) FROM webhook_events WHERE organization_id = UNHEX(REPLACE(%s, '-', '')) "
                              "AND type = 'member.updated'", org.id)
    assert events == replies.count(200)  # each change emitted one event, after any number of runs


def test_a_write_of_last_used_at_that_loses_a_conflict_fails_no_request(galera, cluster, org):
    """Updates last_used_at of a key while the node still applies a large transaction of another node that wrote the
    same row."""
    writer, other = cluster.nodes[:2]
    other.sql("CREATE DATABASE e2e_ballast")
    touched = "UPDATE muster.api_keys SET last_used_at = %s WHERE id = UNHEX(REPLACE(%s, '-', ''))"
    last_used = "SELECT last_used_at FROM muster.api_keys WHERE id = UNHEX(REPLACE(%s, '-', ''))"
    try:
        other.sql("CREATE TABLE e2e_ballast.rows (a INT PRIMARY KEY, b INT NOT NULL) SELECT seq AS a, 0 AS b FROM seq_1_to_60000")
        for _ in range(5):
            writer.sql(touched, 1, org.key_id)
            with other.connect(autocommit=False) as connection, connection.cursor() as cursor:
                cursor.execute("UPDATE e2e_ballast.rows SET b = b + 1")
                cursor.execute(touched, (2, org.key_id))
                connection.commit()
            org.api.get("/v1/imports", expect=200)
    finally:
        other.sql("DROP DATABASE e2e_ballast")

    def is_written():
        org.api.get("/v1/imports", expect=200)
        return writer.sql(last_used, org.key_id)[0][0] > 2

    wait_for(is_written, "last_used_at of a later request")


# ---------------------------------------------------------------------------- musterctl


def test_a_client_that_changes_nodes_reads_all_acknowledged_writes(galera, cluster):
    """A node may have received but not yet applied a transaction acknowledged by another. A client that connects to it
    waits for that."""
    writer, other = cluster.nodes[:2]
    holder = other.connect(init_command=None)
    waiting = "SELECT 1 FROM information_schema.processlist WHERE user = 'muster' AND info = 'START TRANSACTION'"
    with ThreadPoolExecutor(1) as pool, holder.cursor() as cursor:
        cursor.execute("SET GLOBAL wsrep_desync = ON")
        cursor.execute("FLUSH TABLES WITH READ LOCK")  # stops applying transactions
        try:
            made = galera.ctl("org", "create", "--name", "Just made")["id"]
            listing = pool.submit(galera.ctl_raw, "--json", "org", "list", env=elsewhere(other))
            wait_for(lambda: listing.done() or other.sql(waiting, init_command=None), "the listing to wait")
        finally:
            cursor.execute("UNLOCK TABLES")
            cursor.execute("SET GLOBAL wsrep_desync = OFF")
        done = listing.result(60)
    holder.close()
    assert made in done.stdout, done


def test_parallel_migrations_and_rotations_on_two_nodes_exclude_each_other(galera, cluster):
    writer, other = cluster.nodes[:2]
    writer.sql("CREATE DATABASE e2e_old CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", database=None)
    try:
        schema = re.sub(r"(?m)--.*$", "", (ROOT / "tests/data/schema-1.sql").read_text())
        for statement in filter(str.strip, schema.split(";\n")):
            writer.sql(statement.replace("%", "%%"), database="e2e_old")
        writer.sql("INSERT INTO schema_version VALUES (1, 1)", database="e2e_old")
        with ThreadPoolExecutor(2) as pool:
            done = list(pool.map(lambda node: galera.ctl_raw(
                "db", "migrate", "--root-socket", node.socket, env={"MUSTER_DATABASE_NAME": "e2e_old"}), (writer, other)))
        assert {run.returncode for run in done} <= {0, 1} and 0 in {run.returncode for run in done}, done
        newest = writer.sql("SELECT MAX(version) FROM schema_version")
        assert all(node.sql("SELECT MAX(version) FROM e2e_old.schema_version") == newest for node in cluster.nodes), done
    finally:
        writer.sql("DROP DATABASE e2e_old")
    with ThreadPoolExecutor(2) as pool:
        rotated = list(pool.map(lambda node: galera.ctl_raw("secret", "rotate", env=elsewhere(node)), (writer, other)))
    assert [run.returncode for run in rotated] == [0, 0], rotated


# ---------------------------------------------------------------------------- loss of the majority


def test_the_last_node_waits_for_its_operator_after_one_is_stopped_and_one_fails(galera, cluster, org, undisturbed):
    first, second, third = cluster.nodes
    with Load(org, threads=2) as load:
        load.wait_for_requests()
        began = time.monotonic()
        first.stop()  # as for an upgrade
        assert_short_pause(load, began, undisturbed)
        third.kill()
        wait_for(lambda: second.status()["wsrep_cluster_status"] == "non-Primary", "the last node to stop on its own")
        wait_for(lambda: cluster.writer() is None, "haproxy to notice it")
        assert not galera.answers() and galera.ctl_raw("health").returncode == 1
        written = len(load.created)
        load.wait_for_requests()
        assert len(load.created) == written
        began = time.monotonic()
        second.make_primary()
        assert_short_pause(load, began, undisturbed)
        third.wipe()
        cluster.wait_until_complete()  # the first node catches up, the third gets a copy, and writes continue
        load.wait_for_requests()
    assert_kept(load, org, cluster)
