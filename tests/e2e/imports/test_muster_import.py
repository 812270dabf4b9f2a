"""muster-import(1): the CSV client of partners, against the real service."""

import csv
import io
import json
import os
import re
import subprocess

import pytest
from support.edge import Edge
from support.importer import ALL_IN, SERVICE, SOME_NOT_IN, STOPPED, USAGE, people
from support.stack import ROOT, wait_for
from support.world import email, emails

DEMO = ROOT / "tests/data/members-10k.csv"


def read_csv(path, separator=","):
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline=""), delimiter=separator))


# ---------------------------------------------------------------------------- the demonstration file


def test_the_demo_file_is_imported_and_every_count_adds_up(importer):
    errors = importer.folder / "errors.csv"
    result = importer.json(DEMO, "--commit", "--errors", errors, status=SOME_NOT_IN)
    assert result["rows"] == 10_000 and result["state"] == "completed" and result["error"] is None
    assert result["refused"] + result["staged"] == result["rows"]
    assert result["valid"] + result["invalid"] == result["staged"]
    assert result["created"] + result["attached"] + result["failed"] == result["valid"]
    assert result["preview"] == {"new_members": result["created"], "existing_members": result["attached"]}
    bad = read_csv(errors)
    assert result["errors_file"] == str(errors)
    assert sum(row["result"] == "rejected" for row in bad) == result["refused"] + result["invalid"] + result["failed"] > 0
    assert sum(row["result"] == "value left out" for row in bad) >= result["rows_left_out"] - result["invalid"] > 0
    codes = {code for row in bad for code in row["error_code"].split()}
    assert {"LOCAL_INVALID_EMAIL", "LOCAL_INVALID_DATE", "LOCAL_INVALID_CHOICE", "ROW_DUPLICATE_IN_FILE"} <= codes
    assert len(importer.org.members()) == result["created"]
    again = importer.json(DEMO, "--commit", "--errors", errors, status=SOME_NOT_IN)
    assert (again["created"], again["attached"]) == (0, result["valid"])


def test_the_summary_as_text_has_the_same_counts(importer):
    done = importer.run(importer.write(people(emails(3) + ["broken"])), "--commit", status=SOME_NOT_IN)
    assert re.search(r"First name +-> first_name", done.stdout)
    final = done.stdout[done.stdout.index("is complete"):]
    for words, count in (("rows in the file", 4), ("imported", 3), ("created", 3), ("not imported", 1)):
        assert re.search(rf"^ +{words} +{count}$", final, re.M), (words, final)
    assert "members-errors.csv" in final and (importer.folder / "members-errors.csv").exists()
    quiet = importer.run(importer.write(people(emails(3))), "--commit", "--quiet", status=ALL_IN)
    assert (quiet.stdout, quiet.stderr) == ("", "")


# ---------------------------------------------------------------------------- dry run, question, resume


def test_a_dry_run_imports_nothing_and_frees_the_slot(importer):
    path = importer.write(people(emails(5)))
    result = importer.json(path, "--dry-run", status=ALL_IN)
    assert (result["state"], result["valid"], result["preview"]) == ("canceled", 5, {"new_members": 5, "existing_members": 0})
    assert result["created"] in (0, None)
    assert importer.org.members() == {}
    importer.org.cancel(importer.org.create_import()["id"])
    bad = importer.write(people(emails(2) + ["broken"]))
    assert importer.json(bad, "--dry-run", status=SOME_NOT_IN)["refused"] == 1


def test_without_a_terminal_it_stops_before_the_import_and_resume_continues(importer):
    path = importer.write(people(emails(5)))
    result = importer.json(path, status=STOPPED)
    assert result["state"] == "validated" and importer.org.members() == {}
    other = importer.run(path, "--commit", status=SERVICE)  # the slot is taken, and the message names the resume command
    assert result["job_id"] in other.stderr and "--resume" in other.stderr
    done = importer.json(path, "--resume", result["job_id"], "--commit", status=ALL_IN)
    assert (done["job_id"], done["state"], done["created"]) == (result["job_id"], "completed", 5)
    assert len(importer.org.members()) == 5
    finished = importer.json(path, "--resume", result["job_id"], "--commit", status=ALL_IN)
    assert finished["created"] == 5


def test_a_partly_staged_job_can_be_resumed(importer):
    addresses = emails(60)
    path = importer.write(people(addresses))
    first = importer.json(path, status=STOPPED)
    importer.org.cancel(first["job_id"])
    # The state after a client was interrupted after two of six chunks.
    job = importer.org.job(first["job_id"])
    fresh = importer.org.create_import(file_name="members.csv", declared_total=60, mapping=job["mapping"])["id"]
    importer.org.stage(fresh, [{"email": address, "first_name": "Ann"} for address in addresses[:20]])
    done = importer.json(path, "--resume", fresh, "--chunk", "10", "--commit", status=ALL_IN)
    assert (done["staged"], done["created"]) == (60, 60)
    assert len(importer.org.members()) == 60


def test_a_reopened_job_is_validated_again_and_imported(importer):
    path = importer.write(people(emails(5)))
    job = importer.json(path, status=STOPPED)["job_id"]
    importer.org.reopen(job)
    done = importer.json(path, "--resume", job, "--commit", status=ALL_IN)
    assert (done["job_id"], done["state"], done["created"]) == (job, "completed", 5)


def test_an_edited_file_is_imported_as_it_is_when_its_job_is_resumed(importer):
    addresses = emails(3)
    path = importer.write(people(addresses))
    job = importer.json(path, status=STOPPED)["job_id"]
    importer.write("Email,First name\n" + "".join(f"{address},Zoe\n" for address in addresses))
    done = importer.json(path, "--resume", job, "--commit", status=ALL_IN)
    assert (done["job_id"], done["staged"], done["created"]) == (job, 3, 3)
    assert [member["first_name"] for member in importer.org.members().values()] == ["Zoe"] * 3


def test_a_job_of_another_file_is_not_resumed(importer):
    job_id = importer.org.create_import(file_name="other.csv", declared_total=3)["id"]
    done = importer.run(importer.write(people(emails(5))), "--resume", job_id, "--commit")
    assert done.returncode in (USAGE, SERVICE) and done.stderr
    assert importer.org.job(job_id)["staged_rows"] == 0


def test_an_unknown_job_cannot_be_resumed(importer):
    path = importer.write(people(emails(1)))
    done = importer.run(path, "--resume", "01a1fd04-035b-72c3-8961-619ede6ecc85", "--commit", status=SERVICE)
    assert "NOT_FOUND" in done.stderr and re.search("[0-9a-f]{32}", done.stderr)
    assert "the organization has no import job 01a1fd04-035b-72c3-8961-619ede6ecc85" in done.stderr
    importer.run(path, "--resume", "nonsense", status=USAGE)


def test_a_job_without_valid_rows_is_canceled(importer):
    path = importer.write("Email,attributes\n" + "".join(f'{address},"{{""no_such"":1}}"\n' for address in emails(2)))
    result = importer.json(path, "--commit", status=SOME_NOT_IN)
    assert result["state"] == "canceled" and importer.org.members() == {}
    importer.org.create_import()


# ---------------------------------------------------------------------------- columns and values


def test_columns_are_guessed_converted_and_can_be_mapped(importer):
    address = email()
    path = importer.write(
        "E-Mail;Vorname;Nachname;Land;Geburtsdatum;Kundennummer;Telefon;Punkte;VIP;Interessen;Notiz\r\n"
        f'{address};"Ann; die ""Große""";Lee;de;1990-05-06;K-1;\'+49 30 1;4.5;ja;news|events;x\r\n'.encode())
    result = importer.json(path, "--commit", "--map", "Punkte=attribute:points", "--map", "VIP=attribute:vip",
                           "--map", "Interessen=attribute:interests", "--map", "Notiz=ignored",
                           "--map", "Kundennummer=external_id", status=ALL_IN)
    assert result["created"] == 1
    member = importer.org.members()[address]
    assert (member["first_name"], member["last_name"], member["country"], member["dob"], member["external_id"]) == (
        'Ann; die "Große"', "Lee", "DE", "1990-05-06", "K-1")
    values = {key: value[0] for key, value in member["attributes"].items()}
    assert values == {"phone": "+49 30 1", "points": 4.5, "vip": True, "interests": ["news", "events"]}
    job = importer.org.job(result["job_id"])
    assert job["file_name"] == "members.csv" and job["declared_total"] == 1
    targets = {column["sourceColumn"]: column["target"] for column in job["mapping"]["columns"]}
    assert targets["Notiz"] == "ignored" and targets["Punkte"] == "attribute" and targets["E-Mail"] == "core_field"


def test_a_file_with_byte_order_mark_tabs_and_quoted_line_ends_is_read(importer):
    address = email()
    text = f"\ufeffEmail\tLast name\tFirst name\r\n\"{address}\"\t\"O'Neill\"\t\r\n\r\n\r\n{email()}\tX\t\"\"\r\n"
    result = importer.json(importer.write(text), "--commit", status=ALL_IN)
    assert result["rows"] == 2 and importer.org.members()[address]["last_name"] == "O'Neill"


def test_bad_values_are_left_out_and_bad_addresses_reject_their_rows(importer):
    good = emails(4)
    path = importer.write(
        "Email,Country,Birthday,First name\n"
        f"{good[0]},Austria,31.12.1990,A\nbroken,,,B\n,GB,,C\n{good[1]},Atlantis,,D\n{good[2]},,04/17,E\n"
        f"{good[3]},,,{'x' * 256}\n{email()},GB,,F,too many\n")
    done = importer.run(path, "--commit", status=SOME_NOT_IN)
    assert "3 values are left out" in done.stdout and "(line 6)" in done.stdout and "dates as DD.MM.YYYY" in done.stdout
    found = {int(row["row_number"]): (row["line"], row["result"], row["error_code"])
             for row in read_csv(importer.folder / "members-errors.csv")}
    assert found == {2: ("3", "rejected", "LOCAL_INVALID_EMAIL"), 3: ("4", "rejected", "LOCAL_REQUIRED"),
                     4: ("5", "value left out", "LOCAL_INVALID_COUNTRY"), 5: ("6", "value left out", "LOCAL_INVALID_DATE"),
                     6: ("7", "value left out", "LOCAL_TOO_LONG"), 7: ("8", "rejected", "LOCAL_TOO_MANY_CELLS")}
    members = importer.org.members()
    assert set(members) == set(good)
    assert (members[good[0]]["country"], members[good[0]]["dob"]) == ("AT", "1990-12-31")
    assert members[good[1]]["country"] is None and members[good[1]]["first_name"] == "D"


def test_bad_values_reject_their_rows_on_request(importer):
    path = importer.write(f"Email,Birthday\n{email()},04/17\n{email()},1990-01-01\n")
    result = importer.json(path, "--commit", "--reject-bad-values", status=SOME_NOT_IN)
    assert (result["refused"], result["created"], result["values_left_out"]) == (1, 1, 0)


def test_an_ambiguous_date_needs_an_option(importer):
    address = email()
    path = importer.write(f"Email,Birthday\n{address},03/07/1985\n")
    assert "--date-format MM/DD/YYYY" in importer.run(path, "--commit", status=USAGE).stderr
    importer.run(path, "--commit", "--date-format", "MM/DD/YYYY", status=ALL_IN)
    assert importer.org.members()[address]["dob"] == "1985-03-07"


def test_an_attribute_value_is_converted_and_a_bad_one_names_the_choices(importer):
    addresses = emails(2)
    path = importer.write("E-Mail;Punkte;VIP;T-Shirt-Größe;Interessen\r\n"
                          f"{addresses[0]};1.234,50;ja;xl;news|events\r\n{addresses[1]};12,5;vielleicht;tent;news|cats\r\n")
    done = importer.run(path, "--commit", "--map", "Punkte=attribute:points", "--map", "Interessen=attribute:interests",
                        status=ALL_IN)
    assert 'T-Shirt-Größe is "tent"; allowed are ' in done.stdout and "decimal comma" in done.stdout
    members = importer.org.members()
    values = [{key: value[0] for key, value in members[address]["attributes"].items()} for address in addresses]
    assert values == [{"points": 1234.5, "vip": True, "shirt_size": "XL", "interests": ["news", "events"]}, {"points": 12.5}]


def test_a_choice_from_a_file_of_macos_is_known(importer):
    address = emails(1)[0]
    importer.org.admin().api.request("PUT", "/v1/attributes/drink", expect=200,
                                     json={"type": "single_choice", "choices": ["Caf\u00e9"], "enabled": True})
    path = importer.write(f"Email,drink,attributes\r\n{address},Cafe\u0301,\"{{\"\"phone\"\":\"\"e\u0301\"\"}}\"\r\n")
    importer.run(path, "--commit", "--map", "drink=attribute:drink", "--map", "attributes=attributes", status=ALL_IN)
    values = {key: value[0] for key, value in importer.org.members()[address]["attributes"].items()}
    assert values == {"drink": "Caf\u00e9", "phone": "\u00e9"}


def test_numbers_are_imported_as_they_are_written(importer):
    numbers = ["9999999999999999999", "-" + "9" * 308, "0.12345678901234567"]
    addresses = emails(2 * len(numbers))
    path = importer.write("Email,Points,attributes\n" + "".join(
        f'{column},{number},\n{cell},,"{{""points"":{number}}}"\n'
        for number, column, cell in zip(numbers, addresses[::2], addresses[1::2], strict=True)))
    result = importer.json(path, "--commit", "--map", "Points=attribute:points", status=ALL_IN)
    assert (result["created"], result["values_left_out"]) == (len(addresses), 0)
    members = importer.org.members()
    for place, address in enumerate(addresses):
        assert members[address]["attributes"]["points"][0] == json.loads(numbers[place // 2])


def test_attributes_that_the_service_would_reject_are_left_out_and_their_members_are_imported(importer):
    addresses = emails(5)
    most = "x" * 4094  # 4,096 bytes as JSON
    path = importer.write("Email,Phone,attributes\n" + "".join(
        f'{address},{phone},"{cell}"\n' for address, phone, cell in (
            (addresses[0], most, ""), (addresses[1], most + "x", ""), (addresses[2], "\\" * 2048, ""),
            (addresses[3], "", '{""phone"":[null]}'), (addresses[4], "", '{""phone"":{""x"":1},""points"":2}'))))
    result = importer.json(path, "--commit", status=ALL_IN)
    assert (result["created"], result["refused"], result["values_left_out"]) == (5, 0, 4)
    members = importer.org.members()
    values = [{key: value[0] for key, value in members[address]["attributes"].items()} for address in addresses]
    assert values == [{"phone": most}, {}, {}, {}, {"points": 2}]


def test_strict_accepts_the_formats_of_the_api_only(importer):
    path = importer.write(f"Email,Birthday,Country\n{email()},31.12.1990,Austria\n")
    assert importer.json(path, "--commit", "--strict", status=ALL_IN)["values_left_out"] == 2


def test_the_error_report_can_be_corrected_in_a_spreadsheet_and_imported(importer):
    addresses = emails(5)
    odd, broken = "=cmd|' /C calc'!A0", addresses[1].replace("@", " at ")
    path = importer.write(
        "Email;First name;Shirt size;Points;Birthday\n"
        f"{addresses[0]};Good;XL;1;31.12.1990\n{broken};{odd};S;2;31.12.1991\n"
        f"{addresses[2]};'quoted';S;three;\n{addresses[3]};-dash;M;4;04/17\n{addresses[0]};Jürgen;;;\n")
    importer.json(path, "--commit", "--map", "Points=attribute:points", status=SOME_NOT_IN)
    report = importer.folder / "members-errors.csv"
    assert report.read_bytes().startswith(b"\xef\xbb\xbfEmail;First name;Shirt size;Points;Birthday;row_number;line;")
    rows = read_csv(report, ";")
    assert [row["line"] for row in rows] == ["3", "4", "5", "6"]
    assert rows[0]["First name"] == "'" + odd and rows[1]["First name"] == "''quoted'"
    assert rows[3]["error_code"] == "ROW_DUPLICATE_IN_FILE" and "line 2" in rows[3]["error_message"]
    corrected = io.StringIO(newline="")
    writer = csv.DictWriter(corrected, list(rows[0]), delimiter=";")
    writer.writeheader()
    rows[0]["Email"], rows[3]["Email"] = addresses[1], addresses[4]
    rows[1]["Points"], rows[2]["Birthday"] = "3,5", "17.04.1980"
    writer.writerows(rows)
    text = corrected.getvalue().encode("windows-1252")  # as a German Excel saves it
    result = importer.json(importer.write(text, "members-errors.csv"), "--commit", "--map", "Points=attribute:points",
                           status=ALL_IN)
    assert (result["created"], result["values_left_out"]) == (2, 0)
    assert not (importer.folder / "members-errors-2.csv").exists()
    members = importer.org.members()
    assert members[addresses[1]]["first_name"] == odd and members[addresses[1]]["dob"] == "1991-12-31"
    assert members[addresses[2]]["first_name"] == "'quoted'"
    assert members[addresses[3]]["first_name"] == "-dash" and members[addresses[3]]["dob"] == "1980-04-17"
    assert members[addresses[4]]["first_name"] == "Jürgen"
    assert members[addresses[2]]["attributes"]["points"][0] == 3.5


def test_an_old_file_that_is_not_a_report_is_kept(importer):
    report = importer.write("old", "members-errors.csv")
    result = importer.json(importer.write(people(emails(2))), "--commit", status=ALL_IN)
    assert result["errors_file"] is None and report.read_text() == "old"


# ---------------------------------------------------------------------------- jobs and defaults


def test_jobs_are_listed_and_canceled_without_a_file(importer):
    job = importer.json(importer.write(people(emails(2))), status=STOPPED)["job_id"]
    connection = importer.arguments("unused")[1:]
    listed = importer.stack.program("muster-import", "--list", *connection).stdout
    assert re.fullmatch(rf"{job}  20\S+  validated +2 rows  members.csv\n", listed)
    canceled = importer.stack.program("muster-import", "--cancel", job, *connection)
    assert canceled.returncode == ALL_IN and importer.org.job(job)["state"] == "canceled"
    undone = importer.stack.program("muster-import", "--undo", job, "--yes", *connection)
    assert undone.returncode == SERVICE and "the job is canceled; it must be completed or failed" in undone.stderr
    document = json.loads(importer.stack.program("muster-import", "--list", "--json", *connection).stdout)
    assert [(entry["id"], entry["state"]) for entry in document["jobs"]] == [(job, "canceled")]


def test_standard_input_is_imported_with_the_defaults_of_a_profile(importer):
    (importer.folder / "muster").mkdir()
    (importer.folder / "muster/profile").write_text(
        f"url = {importer.stack.base_url}\nca_file = {importer.stack.ca_file}\nmap Kontakt = email\n")
    env = os.environ | {"XDG_CONFIG_HOME": str(importer.folder), "MUSTER_KEY_FILE": str(importer.key_file)}
    done = subprocess.run([importer.stack.build / "muster-import", "-", "--commit", "--json"], cwd=importer.folder, env=env,
                          input=f"Kontakt\n{email()}\n", capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == ALL_IN, done.stderr
    assert json.loads(done.stdout)["created"] == 1
    assert importer.org.api.get_json("/v1/imports")["imports"][0]["file_name"] == "standard input"


# ---------------------------------------------------------------------------- errors


def test_standard_input_without_a_folder_for_its_copy_is_a_usage_error(importer):
    missing = importer.folder / "missing"
    done = importer.run("-", status=USAGE, input=people(emails(1)), env={"TMPDIR": str(missing)})
    assert f"a temporary file in {missing} cannot be created: No such file or directory; set TMPDIR" in done.stderr


def test_an_import_without_a_folder_for_the_servers_report_can_be_continued(importer):
    first, second = emails(2)
    path = importer.write(people([first, second, first]))
    done = importer.run(path, "--commit", status=USAGE, env={"TMPDIR": str(importer.folder / "missing")})
    assert "a temporary file in" in done.stderr
    job = re.search(r"--resume (\S+)", done.stderr).group(1)
    importer.run(path, "--commit", "--resume", job, status=SOME_NOT_IN)
    assert set(importer.org.members()) >= {first, second}


@pytest.mark.parametrize("options", [
    ["--nonsense"], ["--chunk", "0"], ["--chunk", "5001"], ["--dry-run", "--commit"], ["--map", "Email"],
    ["--map", "Email=nowhere"], ["--map", "No such=email"], ["--separator", "ab"], ["--resume"], ["--json=1"],
    ["--errors", "/nowhere/at/all.csv"], ["--encoding", "klingon"], ["--date-format", "DD.MM"], ["--format", "Email=excel"],
    ["--format", "No such=as-is"], ["--list"], ["--ca-file", "/nowhere/ca.pem"], ["--url", "https://localhost/path"],
])
def test_a_wrong_command_line_exits_with_1_and_creates_no_job(importer, options):
    done = importer.run(importer.write(people(emails(1) + ["broken"])), *options, status=USAGE)
    assert "muster-import: " in done.stderr
    assert importer.org.api.get_json("/v1/imports")["imports"] == []


@pytest.mark.parametrize("content", [b"", b"\n\n", b"First name\nAnn\n", b'Email\n"never closed\n', b"Email,Email\n",
                                     b"PK\x03\x04[Content_Types].xml", b"\x1f\x8b\x08broken"])
def test_an_unusable_file_exits_with_1(importer, content):
    importer.run(importer.write(content), "--commit", status=USAGE)
    assert importer.org.api.get_json("/v1/imports")["imports"] == []


def test_a_missing_file_or_key_exits_with_1(importer, tmp_path):
    importer.run(tmp_path / "missing.csv", "--commit", status=USAGE)
    path = importer.write(people(emails(1)))
    importer.key_file.write_text(importer.org.key[:-1] + "\n")
    assert "check digits" in importer.run(path, "--commit", status=USAGE).stderr
    importer.key_file.unlink()
    assert "No such file or directory" in importer.run(path, "--commit", status=USAGE).stderr


def test_the_key_may_come_from_the_environment(importer):
    arguments = [importer.write(people(emails(1))), "--url", importer.stack.base_url, "--ca-file", importer.stack.ca_file,
                 "--commit", "--json"]
    done = importer.stack.program("muster-import", *arguments, env={"MUSTER_API_KEY": importer.org.key},
                                  cwd=importer.folder)
    assert done.returncode == ALL_IN and json.loads(done.stdout)["created"] == 1


def test_a_revoked_key_an_untrusted_server_and_no_server_exit_with_3(importer):
    path = importer.write(people(emails(1)))
    revoked = importer.stack.issue_key(importer.org.id)
    importer.stack.ctl("key", "revoke", "--yes", "--org", importer.org.id, "--id", revoked["id"])
    importer.key_file.write_text(revoked["key"])
    done = importer.run(path, "--commit", status=SERVICE)
    assert "UNAUTHORIZED" in done.stderr and f"the key of {importer.key_file}: it is unknown, revoked" in done.stderr
    assert revoked["key"] not in done.stderr
    importer.key_file.write_text(importer.org.key)
    done = importer.stack.program("muster-import", path, "--url", importer.stack.base_url, "--key-file", importer.key_file,
                                  "--commit", cwd=importer.folder)
    assert done.returncode == SERVICE and "certificate" in done.stderr.lower()
    assert importer.org.api.get_json("/v1/imports")["imports"] == []


def test_a_short_outage_is_waited_for(importer):
    path = importer.write(people(emails(40)))
    stack = importer.stack
    stack.service("stop", "musterd")
    command = [stack.build / "muster-import", *importer.arguments(path, "--commit", "--json")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=importer.folder)
    wait_for(lambda: "status=503" in stack.log("nginx.access")[-2000:], "its first try")
    stack.service("start", "musterd")
    out, err = process.communicate(timeout=60)
    assert process.returncode == ALL_IN, err
    assert json.loads(out)["created"] == 40


def test_rate_limits_slow_it_down_and_lose_no_row(importer):
    changes = [("snippets/muster-rates.conf", "rate=100000r/s", "rate=5r/s"),
               ("snippets/muster-client-rate.conf", "burst=400", "burst=3")]
    with Edge(importer.stack, "slow", changes) as edge:
        path = importer.write(people(emails(100)))
        done = importer.stack.program(
            "muster-import", *importer.arguments(path, "--commit", "--json", "--chunk", "10", url=edge.base_url),
            cwd=importer.folder, timeout=120)
        assert "status=429" in edge.log("nginx.access.log")
    assert done.returncode == ALL_IN, done.stderr
    assert json.loads(done.stdout)["created"] == 100 == len(importer.org.members())


def test_help_and_version_are_printed(stack):
    for option, word in (("--help", "Usage:"), ("--version", "muster-import")):
        done = stack.program("muster-import", option)
        assert (done.returncode, done.stderr) == (0, "") and word in done.stdout


def test_a_key_on_the_command_line_is_rejected(importer):
    path = importer.write(people(emails(1)))
    key = importer.org.key
    for words in (["--key=x"], [key], ["--map", key], ["--chunk", key], ["--key-file", key]):
        assert "--key-file" in importer.run(path, *words, status=USAGE).stderr
    done = importer.run(path, status=USAGE, env={"MUSTER_KEY_FILE": key})
    assert "MUSTER_KEY_FILE names a file, and it was given a key" in done.stderr
