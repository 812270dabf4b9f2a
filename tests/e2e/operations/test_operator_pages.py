"""The commands of docs/operations/ for everyday work, run as they stand there on a sandbox in the role of the machine.
Backups, secrets and cron's check of the health have files of their own."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.documented import note
from support.guides import block, blocks, commands_of
from support.mail import wait_for_mail
from support.modules import Module
from support.runbook import Machine
from support.stack import ROOT, wait_for
from support.world import email
from test_schema_upgrade import back_at_5

SITE = "https://members.example.org"
OPS = "ops@example.org"


@pytest.fixture
def machine(stack):
    made = Machine(stack)
    # As a partner's machine whose system trusts the site's certificate.
    made.program("muster-import", f'exec {stack.build}/muster-import --ca-file {stack.ca_file} "$@"')
    made.program("musterd", f'exec {stack.build}/musterd "$@"')
    return made


def operations(page, beginning):
    return block(f"operations/{page}.md", beginning)


def test_an_organization_gets_its_key_admin_and_members(stack, machine):
    """In one shell: $ID of the first block is used by the others."""
    page = "organizations"
    address = email("ada")
    (machine.root / "members.csv").write_text((ROOT / "docs/examples/members.csv").read_text())
    beginnings = ("ID=", "muster-import", "sudo -u muster musterctl admin add", "sudo -u muster musterctl admin reset-2fa",
                  "sudo -u muster musterctl admin invite", "sudo -u muster musterctl admin list", "sudo -u muster musterctl key list", "sudo -u muster musterctl audit")
    script = "".join(operations(page, beginning) for beginning in beginnings)
    said = machine.run(script, {SITE: stack.base_url, "ada@example.org": address, "grace@example.org": email("grace"), "Riverside Rowing Club": f"Riverside {address}",
                                "KEY-ID": "$(musterctl --json key list --org $ID | jq -r '.[0].id')"})
    key = (machine.root / "riverside.key").read_text().strip()
    stack.keys_issued.append(key)
    assert re.search(r"api_key\.issued", said) and address in said
    assert stack.ctl_raw("--json", "admin", "list", "--org", f"Riverside {address}").stdout.strip() == "[]"


def test_a_configuration_is_checked_reloaded_and_mails(stack, machine):
    machine.run(operations("configuration", "sudo -u muster musterctl config check"))
    wait_for(stack.answers, "musterd to answer")
    address = email("ops")
    machine.run(operations("configuration", "sudo -u muster musterctl mail test"), {OPS: address})
    assert wait_for_mail(stack, address)
    machine.run(operations("configuration", "sudo -u muster muster-run --verbose mail"), {"--for 10s": "--for 1s"})


def test_an_installation_key_is_created_once(stack, machine):
    (machine.root / "etc/muster").mkdir(parents=True, exist_ok=True)
    machine.paths |= {"/etc/muster/": f"{machine.root}/etc/muster/"}
    create = operations("configuration", "sudo sh -c")
    machine.run(create)
    key = machine.root / "etc/muster/muster.key"
    assert (len(key.read_bytes()), key.stat().st_mode & 0o777) == (32, 0o640)
    with pytest.raises(AssertionError, match="cannot overwrite|File exists|cannot create"):
        machine.run(create)


def sections():
    """(page, block) of each section of muster.conf in docs/."""
    return [(f"{folder}/{path.name}" if folder else path.name, text) for folder in ("", "operations")
            for path in sorted((ROOT / "docs" / folder).glob("*.md")) for text in blocks(path.relative_to(ROOT / "docs"))
            if re.match(r"\[[a-z.]+\]\n", text) and text.splitlines()[0] != "[mariadbd]"]


@pytest.mark.parametrize("page, text", sections(), ids=lambda value: value.split("\n")[0])
def test_each_section_of_the_configuration_is_valid(stack, machine, page, text, tmp_path):
    """In the place of the sandbox's lines of the same settings."""
    machine.paths |= {"/etc/muster/": f"{tmp_path}/"}
    for name in re.findall(r"/etc/muster/([\w.-]+)", text):
        like = "muster.key" if "key" in name else "ca.pem" if name.endswith(".pem") else None
        (tmp_path / name).write_bytes((stack.folder / like).read_bytes() if like else b"secret\n")
        (tmp_path / name).chmod(0o600)
    section, *lines = machine.here(text).splitlines()
    names = [line.split("=")[0].strip() for line in lines]
    kept, where = [], None
    for line in Path(stack.config).read_text().splitlines():
        where = line if line.startswith("[") else where
        if where != section or line.split("=")[0].strip() not in names:
            kept.append(line)
    if section not in kept:
        kept.append(section)
    kept[kept.index(section) + 1:kept.index(section) + 1] = lines
    path = tmp_path / "muster.conf"
    path.write_text("\n".join(kept) + "\n")
    done = stack.program("musterctl", "--config", path, "config", "check")
    assert done.returncode == 0, f"{page}: {done.stdout}{done.stderr}"


def test_the_database_commands_work(stack, machine):
    machine.run(operations("database", "sudo musterctl db init"))
    machine.run(operations("database", "sudo -u muster musterctl db init --print-sql"))
    assert "CREATE TABLE" in (machine.root / "muster.sql").read_text()
    # The configuration of that page names a database on another host.
    machine.run("export MUSTER_DATABASE_URL=tcp://127.0.0.1:3306\n" + operations("galera", "sudo -u muster musterctl db init --print-sql"))
    assert "'10.0.0.%'" in (machine.root / "muster.sql").read_text()


def test_the_owner_of_the_tables_migrates(stack, machine):
    with back_at_5(stack):
        owner, password = "owner", (stack.folder / "owner.password")
        stack.sql(f"CREATE USER {owner}@localhost IDENTIFIED BY 'only-for-this-test'")
        stack.sql(f"GRANT ALL ON muster.* TO {owner}@localhost")
        try:
            password.write_text("only-for-this-test\n")
            machine.run(operations("database", "sudo env MUSTER_DATABASE_USER=owner"))
            assert stack.ctl_raw("db", "status").returncode == 0
        finally:
            stack.sql(f"DROP USER {owner}@localhost")
            password.unlink()


def test_an_upgrade_with_stopped_programs_works(stack, machine):
    (machine.root / "etc/cron.d/muster").touch()
    with back_at_5(stack), stack.without("runner"):
        said = machine.run(operations("upgrade", "sudo systemctl stop muster.socket"))
    assert "version" in said
    wait_for(stack.answers, "musterd to answer")


def test_a_person_is_shown_and_erased(stack, machine, new_org):
    org, address = new_org(attributes=False), email("erased")
    org.create_user({"email": address})
    shown, _ = operations("erasure", "sudo -u muster musterctl user erase").splitlines()
    assert org.id in machine.run(shown, {"ann@example.org": address})
    assert org.api.get_json("/v1/users", params={"email": address})["users"]
    machine.run(operations("erasure", "sudo -u muster musterctl user erase"), {"ann@example.org": address})
    assert not org.api.get_json("/v1/users", params={"email": address})["users"]


def test_providers_are_listed_and_checked(stack, machine):
    listed_lines, check = operations("providers", "sudo -u muster musterctl provider list").splitlines()
    assert len(machine.run(listed_lines).splitlines()) == 16  # with a head
    # The stand-in of the providers rejects the invalid code as they do.
    said = machine.run(f"{check} || test $? -eq 1\n")
    note(check)
    assert re.search(r"^slack +accepted ", said, re.MULTILINE), said
    with_one = block("external-data.md", "sudo -u muster musterctl provider list")
    assert re.search(r"^slack +accepted ", machine.run(with_one), re.MULTILINE)
    run = operations("providers", "sudo -u muster muster-run --verbose connections")
    assert machine.run(run, {"--for 10s": "--for 1s"}).splitlines()[-1] == "0"


def test_an_import_that_does_not_move_is_found_and_run(stack, machine, new_org, no_runner):
    org = new_org(attributes=False)
    job = org.staged([{"email": email("waits")}])
    org.validate(job)
    said = machine.run(operations("troubleshooting", "sudo -u muster musterctl health"), {"ID --id JOB": f"{org.id} --id {job}",
                                                                                         "list --org ID": f"list --org {org.id}"})
    assert "validating" in said and org.id in said
    machine.run(operations("troubleshooting", "ps -o"))
    run = operations("troubleshooting", "sudo -u muster muster-run --verbose imports")
    assert machine.run(run, {"--for 5s": "--for 1s"}).splitlines()[-1] == "0"
    assert org.job(job)["state"] == "validated"


def test_webhooks_that_do_not_arrive_are_found_and_sent_again(stack, machine, module_org, receiver):
    endpoint = Module(module_org).endpoint(receiver.url("/hooks"))
    listing, recover = ([command.text for command in commands_of(operations("troubleshooting", beginning))] for beginning in (
        "$ sudo -u muster musterctl health", "$ sudo -u muster musterctl webhook recover"))
    said = machine.run("\n".join(listing), {"--org ID": f"--org {module_org.id}"})
    assert endpoint.id in said and re.search(r"^ID +STATUS +FAILING SINCE +DROPPED +PENDING +FAILED +URL$", said, re.MULTILINE)
    said = machine.run(recover[0], {"--org ID --endpoint ENDPOINT": f"--org {module_org.id} --endpoint {endpoint.id}"})
    assert said == "0 queued\n"
    url = urlsplit(receiver.url("/hooks"))
    said = machine.run(operations("troubleshooting", "getent"), {"https://shop.example.org/hooks": url.geturl(),
                                                                 "getent ahosts shop.example.org": f"getent ahosts {url.hostname}"})
    assert re.search(r"^\d{3} 127\.0\.0\.1$", said, re.MULTILINE)
    run = operations("troubleshooting", "sudo -u muster muster-run --verbose webhooks")
    assert machine.run(run, {"--for 10s": "--for 1s"}).splitlines()[-1] == "0"


def test_lost_triggers_of_the_audit_log_are_created_again(stack, machine):
    stack.sql("DROP TRIGGER muster.audit_log_update")
    said = machine.run(operations("troubleshooting", "sudo musterctl db init"))
    assert "the trigger audit_log_update was created" in said and said.splitlines()[-1] == "healthy"


def test_the_probes_and_the_health_answer_on_the_machine_itself(stack, machine):
    connect = "--connect-to ::127.0.0.1: " + SITE
    here = f"--cacert {stack.ca_file} {stack.base_url}"
    ready, health = (command.text for command in commands_of(operations("monitoring", "$ curl")))
    assert machine.run(ready, {connect: here}) == '{"status":"ok"}'
    assert machine.run(health).splitlines()[-1] == "healthy"
    assert machine.run(operations("nginx", "curl --connect-to"), {connect: here}) == '{"status":"ok"}'


def test_a_galera_authority_and_certificate_are_made(machine):
    machine.run(operations("galera", "openssl req"))
    assert machine.run("openssl verify -CAfile ca.pem node.pem").strip() == "node.pem: OK"
    machine.run(operations("galera", "sudo mariadb -e \"CREATE USER haproxy"))
    machine.run("sudo mariadb -e \"DROP USER haproxy@'10.0.0.%'\"")
    machine.run(operations("galera", "sudo mariadb-dump"))
    assert (machine.root / "muster.sql.gz").stat().st_size > 1000


# ---------------------------------------------------------------------------- docs/operations/server.md


SERVER = "server"


def test_a_mail_password_is_typed_into_a_file_of_its_own(machine):
    (machine.root / "etc/muster").mkdir(parents=True, exist_ok=True)
    machine.paths |= {"/etc/muster/": f"{machine.root}/etc/muster/"}
    machine.run(operations(SERVER, "sudo sh -c"), {"chgrp muster": "chgrp $(id -g)"}, input="a password\n")
    path = machine.root / "etc/muster/mail.password"
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("a password\n", 0o640)


def test_the_checked_configuration_sends_a_mail(stack, machine):
    address = email("afternoon")
    said = machine.run(operations(SERVER, "sudo -u muster musterctl config check"), {OPS: address})
    assert wait_for_mail(stack, address) and said
    wait_for(stack.answers, "musterd to answer")


def test_cron_mails_the_operator(machine):
    jobs = machine.root / "etc/cron.d/muster"
    jobs.write_text((ROOT / "cron/muster").read_text())
    machine.run(operations(SERVER, "sudo sed"))
    assert "\nMAILTO=ops@example.org\nSHELL=/bin/sh\n" in jobs.read_text()
    machine.program("sendmail", 'cat > "sent-to-$1"')
    machine.run(operations(SERVER, "printf 'Subject"))
    assert re.fullmatch(r"Subject: cron mail from \S+\n\nIt works\.\n", (machine.root / f"sent-to-{OPS}").read_text())


def test_the_installation_key_is_printed_for_a_password_manager(stack, machine):
    line = machine.run(operations(SERVER, "sudo base64"))
    assert line.count("\n") == 1
    copied = machine.run(f"echo '{line.strip()}' | base64 -d | sha256sum; sha256sum </etc/muster/muster.key").split("\n")
    assert copied[0] == copied[1]
    stack.keys_issued.append(line.strip())


def test_cron_checks_the_health_each_ten_minutes(stack, machine):
    machine.run(operations(SERVER, "printf '%s\\n' MAILTO"))
    head, line = (machine.root / "etc/cron.d/muster-health").read_text().splitlines()
    assert head == f"MAILTO={OPS}"
    schedule, command = line.split("muster  ", 1)
    assert schedule.split() == ["*/10", "*", "*", "*", "*"]
    assert machine.run(f"{command} 2>&1") == ""
