"""muster-import(1) as a process: signals, standard input and output, and a terminal."""

import json
import os
import pty
import select
import signal
import subprocess
import uuid
from contextlib import suppress
from pathlib import Path

import pytest
from support.importer import ALL_IN, SERVICE, STOPPED, USAGE, people
from support.stack import wait_for
from support.world import email, emails


def test_ctrl_c_leaves_a_job_that_the_printed_command_finishes(importer, no_runner):
    path = importer.write(people(emails(30)))
    command = [importer.stack.build / "muster-import", *importer.arguments(path, "--commit")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=importer.folder)
    wait_for(lambda: importer.stack.sql(
        "SELECT 1 FROM import_jobs WHERE state = 'validating' AND organization_id = UNHEX(REPLACE(%s, '-', ''))",
        importer.org.id), "the request for the dry run")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == STOPPED, out + err
    (line,) = [line for line in err.splitlines() if "--resume" in line]
    words = line[line.index("muster-import"):].split()
    importer.stack.service("start", "runner")
    again = importer.stack.program("muster-import", *words[1:], "--commit", cwd=importer.folder)
    assert again.returncode == ALL_IN, again.stderr
    assert len(importer.org.members()) == 30


def test_an_interrupted_run_prints_one_json_document(importer, no_runner):
    path = importer.write(people(emails(3)))
    command = [importer.stack.build / "muster-import", *importer.arguments(path, "--commit", "--json")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=importer.folder)
    wait_for(lambda: [job["state"] for job in importer.org.api.get_json("/v1/imports")["imports"]] == ["validating"],
             "the request for the dry run")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    document = json.loads(out)
    assert (document["state"], document["exit_code"], process.returncode) == ("validating", STOPPED, STOPPED)
    assert document["error"]["message"].startswith("stopped") and "--resume" in err
    canceled = importer.stack.program("muster-import", "--json", "--cancel", document["job_id"], *importer.arguments("--quiet"))
    assert json.loads(canceled.stdout)["state"] == "canceled"


@pytest.mark.parametrize("options, status", [
    (["--resume", str(uuid.uuid4())], SERVICE), (["--map", "Nickname=last_name"], USAGE), (["--commit", "--errors", "/dev/full"], USAGE)])
def test_a_run_that_fails_prints_one_json_document(importer, options, status):
    path = importer.write("Email,First name\nnobody,Ann\n")
    document = importer.json(path, *options, status=status)
    assert document["error"]["message"] and document["file"] == str(path)


def open_files(process):
    """What the descriptors of a process name."""
    names = []
    for descriptor in Path(f"/proc/{process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            names.append(os.readlink(descriptor))
    return names


def test_ctrl_c_ends_a_run_whose_standard_input_is_silent(importer):
    command = [importer.stack.build / "muster-import", *importer.arguments("-", "--commit")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, cwd=importer.folder)
    wait_for(lambda: any("(deleted)" in name for name in open_files(process)), "the copy of standard input")
    process.send_signal(signal.SIGINT)
    out, err = process.stdout.read(), process.stderr.read()  # ends while the pipe is still open
    assert process.wait(timeout=30) == STOPPED, out + err
    process.stdin.close()
    assert err.endswith("stopped; nothing was imported\n")


def test_ctrl_c_ends_a_run_that_waits_for_the_writer_of_a_pipe(importer):
    path = importer.folder / "pipe.csv"
    os.mkfifo(path)
    command = [importer.stack.build / "muster-import", *importer.arguments(path, "--commit")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=importer.folder)
    wait_for(lambda: str(path) in open_files(process), "the pipe to be open")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == STOPPED, out + err
    assert err.endswith("stopped; nothing was imported\n")


@pytest.mark.parametrize("arguments", (["--list"], ["--help"]))
def test_a_closed_standard_output_is_an_error(importer, arguments):
    command = [str(importer.stack.build / "muster-import"), *importer.arguments(*arguments)]
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *command], capture_output=True, text=True, timeout=30)
    assert done.returncode == SERVICE, done
    assert "standard output cannot be written" in done.stderr


# ---------------------------------------------------------------------------- on a terminal


class Terminal:
    """The client with its own terminal: its output, and typed input."""

    def __init__(self, importer, path, *options):
        self.master, slave = pty.openpty()
        command = [importer.stack.build / "muster-import", *importer.arguments(path, *options)]
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=importer.folder,
                                        start_new_session=True)
        os.close(slave)
        self.shown = ""

    def _more(self):
        try:
            if select.select([self.master], [], [], 0.1)[0]:
                self.shown += os.read(self.master, 65536).decode(errors="replace")
        except OSError:  # the other end is closed
            pass
        return self.shown

    def see(self, words):
        wait_for(lambda: words in self._more(), f"{words!r} on the terminal")

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self):
        wait_for(lambda: self._more() is None or self.process.poll() is not None, "the client to end")
        self._more()
        os.close(self.master)
        return self.process.returncode


@pytest.mark.parametrize("answer, status", [("y\n", ALL_IN), ("yes\n", ALL_IN), ("n\nn\n", STOPPED), ("\n\n", STOPPED),
                                            ("\x04\x04", STOPPED)])
def test_on_a_terminal_it_asks_before_the_import_and_no_cancels_the_job(importer, answer, status):
    terminal = Terminal(importer, importer.write(people(emails(4))))
    terminal.see("Import 4 members? [y/N]")
    assert importer.org.members() == {}
    terminal.type(answer)
    assert terminal.end() == status, terminal.shown
    assert len(importer.org.members()) == (4 if status == ALL_IN else 0)
    (job,) = importer.org.api.get_json("/v1/imports")["imports"]
    assert job["state"] == ("completed" if status == ALL_IN else "canceled")


def test_on_a_terminal_a_job_can_be_kept_and_the_order_of_dates_is_asked(importer):
    address = email()
    terminal = Terminal(importer, importer.write(f"Email,Birthday\n{address},03/07/1985\n"))
    terminal.see("Is that 1985-07-03, as DD/MM/YYYY? [y/N]")
    terminal.type("n\n")
    terminal.see("Is that 1985-03-07, as MM/DD/YYYY? [y/N]")
    terminal.type("y\n")
    terminal.see("Import 1 member? [y/N]")
    terminal.type("n\ny\n")
    assert terminal.end() == STOPPED and "=MM/DD/YYYY" in terminal.shown
    (line,) = [line for line in terminal.shown.splitlines() if "--resume" in line]
    again = importer.stack.program("muster-import", *line.split()[1:], cwd=importer.folder)
    assert again.returncode == ALL_IN and importer.org.members()[address]["dob"] == "1985-03-07"


def test_on_a_terminal_it_shows_its_progress(importer):
    terminal = Terminal(importer, importer.write(people(emails(2000))), "--commit", "--chunk", "200")
    assert terminal.end() == ALL_IN, terminal.shown
    assert "100 %" in terminal.shown and "\r" in terminal.shown and "rows/s" in terminal.shown
