"""Backups, made under load and restored on another machine, with the commands of docs/operations/backup.md unchanged."""

import base64
import copy
import gzip
import json
import re
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.admin import AUTH
from support.ads import Ads
from support.bodies import body_of, path_of
from support.client import Client, ModuleClient, PageClient
from support.connecting import change_row, refresh, connect_and_authorize
from support.documented import note
from support.guides import commands_of
from support.mail import wait_for_code
from support.modules import Module, delivering
from support.receiver import Receiver
from support.runbook import Machine, block
from support.stack import Stack, wait_for
from support.world import Organization, email
from test_engagement_events import path_of as events_of
from test_engagement_events import track
from test_outage import Load
from test_runner import locked_address
from test_users_list import listed as listed_users
from test_zz_whole_run import holds_any

HOOK = "/kept"
IMPORTED = 20_000
# Replies that differ each time, or that do not come from the API.
NO_READS = {"serveAd", "followAdClick", "recordAdImpression", "returnFromProvider", "getMetrics", "getHealth", "getReadiness",
            "getDescription"}
EXAMPLE_DUMP = "muster-20261121T033000Z.sql.gz"


# ---------------------------------------------------------------------------- data to back up


def at(stack, org):
    """The organization as the same one on another stack: its key, the session of its owner, its pages and its
    backend."""
    there = copy.copy(org)
    there.stack = stack
    there.api = Client(stack, org.api.contract, org.key)
    owner = copy.copy(org.admin())
    owner.stack, owner._api = stack, Client(stack, org.api.contract, org.admin().api.key)
    there._admins = {"owner": owner}
    for name in ("page_api", "reader_api"):
        vars(there)[name] = PageClient(stack, org.api.contract, getattr(org, name).record)
    there._backend = ModuleClient(stack, org.api.contract, org.module_api.credential)
    return there


def reads(org, more):
    """Every read of the API with its reply, as bytes; more: paths for the key of the organization."""
    contract, answers = org.api.contract, {}

    def read(client, path, **options):
        reply = client.request("GET", path, whole=False, **options)
        text = reply.text.replace(org.stack.base_url, "https://here")
        # Reading counts as a use, which is recorded once a minute and moves the idle end of a session.
        answers[path] = reply.status_code, re.sub(r'"(last_used_at|idle_expires_at)": ?("[^"]*"|null)', r'"\1":"noted"', text)

    ids = org.records() | {"import": more["import"], "attribute": "phone"}
    for operation in sorted(contract.operations, key=lambda operation: operation.takes_publishable_key):  # their use is recorded
        if operation.method == "GET" and operation.id not in NO_READS:
            read(org.client_for(operation), path_of(operation, ids), **body_of(operation, org))
    for path in more["paths"]:
        read(org.api, path)
    answers["all members"] = 200, json.dumps(listed_users(org, limit=100))
    return answers


class Scene:
    """Data of all kinds in one organization that does not change during the backups, and another organization under
    constant writes."""

    def __init__(self, stack, contract, receiver):
        self.stack, self.receiver = stack, receiver
        self.quiet, self.busy = Organization(stack, contract), Organization(stack, contract, attributes=False)
        self.members(), self.engagement(), self.external_data(), self.webhooks()
        self.second = self.quiet.new_admin()
        assert self.second.api  # enrolls
        self.spare = stack.issue_key(self.quiet.id, "spare")
        self.import_under_way()
        self.waiting_mail()

    def members(self):
        payloads = [{"email": email("kept"), "first_name": f"Zoë {n} \U0001f6a3", "last_name": "O'Neill\\", "external_id": f"kept-{n}",
                     "attributes": {"points": n, "interests": ["news"], "vip": n % 2 == 0}} for n in range(600)]
        payloads[7]["attributes"]["points"] = "many"
        self.payloads, self.job = payloads, self.quiet.staged(payloads)
        for step in (self.quiet.validate, self.quiet.commit):
            step(self.job)
            self.stack.run_once()
        self.quiet.records()

    def engagement(self):
        self.ann = self.quiet.create_user({"email": email("ann"), "external_id": "ann-backup"})
        track(self.quiet, {"action": "viewed", "member_external_id": "ann-backup", "metadata": {"page": "/Ünï"}})
        self.quiet.module_api.push({"action": "visited", "email": self.ann["email"]})
        ads = Ads(self.quiet)
        self.slot, _ = ads.running()
        assert ads.serve(self.slot)

    def external_data(self):
        self.connection = connect_and_authorize(self.quiet.admin().api, "gitlab")

    def webhooks(self):
        """One event that was delivered before the backup, and one that is waiting."""
        with delivering(self.stack):  # the events before: an endpoint also gets those of the last seconds
            wait_for(lambda: self.stack.sql("SELECT COUNT(*) FROM webhook_outbox") == [(0,)], "an empty outbox")
        self.endpoint = Module(self.quiet).endpoint(self.receiver.url(HOOK))
        self.quiet.create_user({"email": email("delivered")})
        with delivering(self.stack):
            self.receiver.wait_for(1, path=HOOK)
            self.endpoint.settled(succeeded=1)
        self.quiet.create_user({"email": email("waits")})

    def import_under_way(self):
        """An import interrupted in the middle of its commit."""
        self.addresses = [email("under-way") for _ in range(IMPORTED)]
        self.interrupted = self.busy.staged([{"email": address} for address in self.addresses])
        self.busy.validate(self.interrupted)
        self.stack.run_once()
        self.busy.commit(self.interrupted)
        with locked_address(self.stack, self.addresses[-1]):  # blocks the last rows
            runner = self.stack.spawn_runner(env={"MUSTER_JOBS_LEASE": "5"})
            wait_for(lambda: self.busy.job(self.interrupted)["processed_rows"], "the commit to begin")
            runner.kill()
            runner.wait(10)
        job = self.busy.job(self.interrupted)
        assert job["state"] == "committing" and 0 < job["processed_rows"] < IMPORTED

    def waiting_mail(self):
        """A code for an admin; no runner sends it yet."""
        self.stack.sql("DELETE FROM guess_budgets WHERE kind = 'otp_request'")
        self.asked = f"{time.time_ns():020d}"
        Client(self.stack, self.quiet.api.contract).post(f"{AUTH}/request", json={"email": self.second.address}, expect=200)

    def reads(self, stack=None):
        more = {"import": self.job, "paths": [events_of(self.ann), f"/v1/users/{self.ann['id']}"]}
        return reads(self.quiet if stack is None else at(stack, self.quiet), more)

    def secrets(self):
        """All texts that must not appear in clear text in a backup."""
        env, found = self.stack.env, list(self.stack.keys_issued)
        for organization in env["organizations"]:
            found += [organization[name] for name in ("api_key", "totp_secret", "session_token")]
        key = (self.stack.folder / "muster.key").read_bytes()
        password = (self.stack.folder / "database.password").read_text().strip()
        return [*found, env["multi_seat_admin"]["totp_secret"], password, key.hex(), base64.b64encode(key).decode(),
                *self.stack.oauth.issued]


@pytest.fixture(scope="module")
def starting(stack, oauth_server):
    """Another machine with a fresh installation, as a future because the start takes time; its MariaDB keeps a binary
    log as documented."""
    folder = stack.folder.with_name(stack.folder.name + "-restored")
    options = block("Restore to a point in time", "[mariadbd]")
    note(options)
    options = options.replace(" ", "").replace("/var/lib/mysql", str(folder / "data"))
    running = Stack(stack.build, folder, oauth=oauth_server, mariadb=[f"--{line}" for line in options.splitlines()[1:]])
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(running.start)
        yield lambda: future.result() or running
    running.stop()


@pytest.fixture(scope="module")
def scene(stack, contract, starting):
    """The scene with a dump of it, made by the documented commands during writes."""
    with Receiver() as receiver:
        with stack.without("runner"):
            made = Scene(stack, contract, receiver)
            made.machine = Machine(stack)
            made.reads()  # records the use of the keys in advance
            made.before = made.reads()
            with Load(made.busy) as load:
                load.wait_for_requests()
                made.dump = dumped(made, load)
                load.wait_for_requests()
            assert load.failures == []
            made.all_created = list(load.created)
        yield made
    stack.sql("DROP USER backup@localhost")


def dumped(scene, load):
    """The path of the dump; scene.acknowledged: the writes acknowledged before the dump began."""
    lines = block("Dump the database", "sudo mariadb -e").splitlines()
    users, (made,) = lines[:-1], lines[-1:]
    scene.machine.run("\n".join(users))
    scene.machine.database_user("backup")
    scene.acknowledged = list(load.created)
    assert scene.machine.run(made) == ""
    (path,) = (scene.machine.root / "var/backups/muster").iterdir()
    assert re.fullmatch(r"muster-\d{8}T\d{6}Z\.sql\.gz", path.name)
    return path


# ---------------------------------------------------------------------------- restoring


@pytest.fixture(scope="module")
def target(starting):
    """The other machine."""
    return starting()


def restore_dump(machine, dump, replay=None):
    """The steps of "Restore a dump"; replay: called before the last of them."""
    machine.run(block("Restore a dump", "sudo systemctl stop"))
    machine.stack.sql("DROP DATABASE muster")
    machine.run(block("Restore a dump", "sudo mariadb -e"), {f"/var/backups/muster/{EXAMPLE_DUMP}": str(dump)})
    if replay:
        replay()
    said = machine.run(block("Restore a dump", "sudo -u muster musterctl health"))
    assert "\nhealthy\n" in said and "WRONG" not in said, said
    wait_for(machine.stack.answers, "the restored musterd to answer")


@pytest.fixture(scope="module")
def restored(scene, target):
    """The target, restored from the dump, with the key of the other machine; contains its replies before its runner
    started."""
    key = (scene.stack.folder / "muster.key").read_bytes()
    (target.folder / "muster.key").write_bytes(key)
    with target.without("runner"):
        restore_dump(Machine(target), scene.dump)
        target.answered = scene.reads(target)
    target.keys_issued = scene.stack.keys_issued
    return target


def test_everything_acknowledged_before_the_dump_is_restored_completely(scene, restored):
    members = at(restored, scene.busy).members()
    assert len(scene.acknowledged) > 10
    assert [address for address, _ in scene.acknowledged if address not in members] == []
    written = {address for address in members if address.startswith("load.")}
    assert written <= {address for address, _ in scene.all_created}
    assert restored.sql("SELECT COUNT(*) FROM users u LEFT JOIN members m ON m.user_id = u.id "
                        "WHERE u.email LIKE 'load.%%' AND m.id IS NULL") == [(0,)]


def test_every_read_returns_the_same_bytes(scene, restored):
    assert set(restored.answered) == set(scene.before) and len(scene.before) > 30
    different = [path for path, answer in scene.before.items() if restored.answered[path] != answer]
    assert different == []
    refused = [path for path, (status, _) in scene.before.items() if status != 200]
    assert refused == []


def test_admins_remain_signed_in_and_can_sign_in_with_their_second_factor(scene, restored):
    owner = at(restored, scene.quiet).admin()
    owner.api.get("/v1/session", expect=200)
    owner.new_session().get("/v1/audit-log", expect=200)


def test_a_waiting_mail_is_sent_by_both_machines_and_its_code_is_valid(scene, restored):
    code = wait_for_code(restored, scene.second.address, after=scene.asked)
    assert wait_for_code(scene.stack, scene.second.address, after=scene.asked) == code
    body = {"email": scene.second.address, "otp": code}
    reply = Client(restored, scene.quiet.api.contract).post(f"{AUTH}/verify", json=body, expect=200).json()
    scene.stack.keys_issued.append(reply["token"])
    assert reply["two_factor"]["enrolled"]


def test_waiting_webhooks_are_sent_again_with_the_same_id_and_secret_and_delivered_ones_are_not(scene, restored, verifier):
    scene.receiver.wait_for(3, path=HOOK)
    taken, first, again = scene.receiver.at(HOOK)
    assert first.webhook_id == again.webhook_id != taken.webhook_id and first.body == again.body
    assert verifier.verdicts([(scene.endpoint.secret, request) for request in (taken, first, again)]) == ["ok"] * 3
    there = f"/v1/installations/{scene.endpoint.module.installation}/webhook-endpoints/{scene.endpoint.id}/deliveries"
    wait_for(lambda: {record["status"] for record in at(restored, scene.quiet).admin().api.get_json(there)["deliveries"]}
             == {"succeeded"}, "both deliveries")
    assert scene.receiver.count(HOOK) == 3


def test_an_import_continues_from_its_state_in_the_dump(scene, restored):
    for org in (scene.busy, at(restored, scene.busy)):
        job = org.state_is(scene.interrupted, "completed", seconds=60)
        assert (job["created_count"], job["failed_count"]) == (IMPORTED, 0)
        assert set(scene.addresses) <= set(org.members())


def test_keys_pages_modules_and_connections_continue_to_work(scene, restored):
    org = at(restored, scene.quiet)
    org.create_user({"email": email("new")})
    track(org, {"action": "viewed", "member_external_id": "ann-backup"})
    org.module_api.push({"action": "visited", "email": scene.ann["email"]})
    assert Ads(org).serve(scene.slot)
    change_row(restored, scene.connection, refreshed_at=1)
    assert refresh(org.admin().api, scene.connection).json()["authStatus"] == "connected"


def test_a_person_erased_after_the_dump_is_restored_and_erased_again(scene, restored):
    gone = scene.payloads[3]["email"]
    user = next(user for user in listed_users(scene.quiet, q=gone) if user["email"] == gone)
    erase = ("user", "erase", "--email", gone, "--yes")
    assert scene.stack.ctl(*erase)["complete"]
    scene.quiet.api.get(f"/v1/users/{user['id']}", expect=404)
    org = at(restored, scene.quiet)
    assert org.user(user["id"])["email"] == gone
    assert restored.ctl(*erase)["complete"]
    org.api.get(f"/v1/users/{user['id']}", expect=404)


def test_a_key_that_was_revoked_since_is_good_again(scene, restored):
    scene.stack.ctl("key", "revoke", "--yes", "--org", scene.quiet.id, "--id", scene.spare["id"])
    for stack, status in ((scene.stack, 401), (restored, 200)):
        Client(stack, scene.quiet.api.contract, scene.spare["key"]).get("/v1/imports", expect=status)


def test_a_wrong_key_is_reported(scene, restored, tmp_path):
    other = tmp_path / "muster.key"
    other.write_bytes(bytes(32))
    env = {"MUSTER_SECURITY_KEY_FILE": str(other)}
    done = restored.ctl_raw("--json", "health", env=env)
    problems = {check["name"]: check["problem"] for check in json.loads(done.stdout)["checks"] if not check["ok"]}
    assert done.returncode == 1 and "security.key_file is not the key of this database" in problems["key"]
    assert restored.ctl("health")["healthy"]


# ---------------------------------------------------------------------------- the dump itself


def test_the_dump_contains_no_secret_in_clear_text(scene):
    text = gzip.decompress(scene.dump.read_bytes()).decode("latin-1")
    assert scene.payloads[0]["email"] in text
    hidden = scene.secrets()
    assert len(hidden) > 30
    assert not holds_any(text, hidden)
    assert not holds_any(text.lower(), [secret.encode().hex() for secret in hidden])
    assert scene.dump.stat().st_mode & 0o077 == 0


def test_the_database_user_of_dumps_can_only_read_muster(scene):
    grants = [grant for (grant,) in scene.stack.sql("SHOW GRANTS FOR backup@localhost")]
    assert grants[1:] == ["GRANT SELECT, TRIGGER ON `muster`.* TO `backup`@`localhost`"] and grants[0].startswith("GRANT USAGE ON *.*")


@pytest.mark.parametrize("script, reason", [
    ("mariadb-dump() { echo 'CREATE TABLE x;'; }; export -f mariadb-dump; sudo -u backup", "the dump is incomplete"),
    ("mariadb-dump() { echo '-- Dump completed'; return 3; }; export -f mariadb-dump; sudo -u backup", ": 3 "),
    ("sudo -u stranger", "Access denied"),
], ids=["half a dump", "a dump that failed", "access is denied"])
def test_a_failed_dump_leaves_no_file_and_deletes_none(scene, script, reason):
    scene.machine.user("stranger", "wrong")
    folder = scene.machine.root / "var/backups/failing"
    folder.mkdir(exist_ok=True)
    old = folder / "muster-20200101T000000Z.sql.gz"
    old.touch()
    subprocess.run(["touch", "-d", "2020-01-01", old], check=True)
    with pytest.raises(AssertionError, match=reason):
        scene.machine.run(f"{script} /usr/local/sbin/muster-backup /var/backups/failing 14")
    assert list(folder.iterdir()) == [old]
    scene.machine.run("sudo -u backup /usr/local/sbin/muster-backup /var/backups/failing 14")
    assert len(list(folder.iterdir())) == 1 and not old.exists()
    for path in folder.iterdir():
        path.unlink()


# ---------------------------------------------------------------------------- point in time, file copy


def test_a_member_deleted_by_mistake_is_restored_by_going_back_to_the_time_before(scene, restored):
    machine, org = Machine(restored), at(restored, scene.quiet)
    restored.sql("CREATE USER IF NOT EXISTS backup@localhost")
    restored.sql("GRANT SELECT, TRIGGER ON muster.* TO backup@localhost")
    machine.database_user("backup")
    folder = machine.root / "var/backups/muster"
    folder.mkdir(parents=True, exist_ok=True)
    *_, copy_script, dump_line = block("Dump the database", "sudo mariadb -e").splitlines()
    machine.run(f"{copy_script}\n{dump_line} --master-data=2")
    (dump,) = folder.iterdir()
    kept = [org.create_user({"email": email("later"), "first_name": "Zoë \U0001f6a3"})["id"], scene.ann["id"]]
    before = [org.api.get(f"/v1/users/{user}", expect=200).content for user in kept]
    moment = int(time.time()) + 1  # the times of the log are whole seconds
    wait_for(lambda: time.time() >= moment, "the next second")
    for user in kept:
        org.api.delete(f"/v1/users/{user}", expect=204)
    lost = org.create_user({"email": email("too-late")})["id"]

    machine.run(block("Restore to a point in time", "sudo mariadb -e"))
    files = [f"{restored.folder}/data/{name}" for name, *_ in restored.sql("SHOW BINARY LOGS")][:-1]
    head = machine.run(commands_of(block("Restore to a point in time", "$ sudo zgrep"))[0].text, {f"/var/backups/muster/{EXAMPLE_DUMP}": str(dump)})
    first, place = re.fullmatch(r"-- CHANGE MASTER TO MASTER_LOG_FILE='(.*)', MASTER_LOG_POS=(\d+);\n", head).groups()
    files = files[[path.rpartition("/")[2] for path in files].index(first):]

    def replay():
        machine.run(block("Restore to a point in time", "sudo sh -c"), {
            "--start-position=342": f"--start-position={place}",
            "2026-11-21 14:03:00": time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment)),
            "/var/lib/mysql/muster-bin.000003 /var/lib/mysql/muster-bin.000004": " ".join(files)})

    with restored.without("runner"):
        restore_dump(machine, dump, replay)
    assert [org.api.get(f"/v1/users/{user}", expect=200).content for user in kept] == before
    org.api.get(f"/v1/users/{lost}", expect=404)


def test_a_copy_of_the_files_made_under_load_is_restored(scene, target):
    stack, machine, there = scene.stack, scene.machine, Machine(target)
    with stack.without("runner"):
        before = scene.reads()
        with Load(scene.busy) as load:
            load.wait_for_requests()
            acknowledged = list(load.created)
            machine.run(block("Copy the files", "sudo apt install"))
            load.wait_for_requests()
    assert load.failures == []
    with target.without("runner"):
        there.run(block("Restore a dump", "sudo systemctl stop"))
        for name in ("muster.key", "database.password"):
            (target.folder / name).write_bytes((stack.folder / name).read_bytes())
        there.run(block("Copy the files", "sudo systemctl stop mariadb.service"),
                  {"/var/backups/mariadb": str(machine.root / "var/backups/mariadb")})
        there.run("sudo systemctl start muster.service")
        wait_for(target.answers, "the restored musterd to answer")
        after = scene.reads(target)
        assert [path for path, answer in before.items() if after[path] != answer] == []
        members = at(target, scene.busy).members()
        assert [address for address, _ in acknowledged if address not in members] == []
    for folder in (machine.root / "var/backups/mariadb", target.folder / "data.old"):
        shutil.rmtree(folder.resolve())
