"""A machine that runs systemd from a Debian root, in a container (systemd-nspawn) with a network of its own that has nothing
but a loopback. Commands run in it as its root, with a bound."""

import os
import signal
import subprocess
import time

from support.root import ADMIN, HOME

ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": HOME, "LANG": "C.UTF-8",
               "TERM": "dumb", "DEBIAN_FRONTEND": "noninteractive"}


class Failed(AssertionError):
    """A command that should have ended well."""


def wait_for(what, seconds, ask):
    """The first true answer of ask(), asked again until then; fails after `seconds`, naming what was waited for."""
    until = time.monotonic() + seconds
    while not (answer := ask()):
        if time.monotonic() > until:
            raise Failed(f"{what}: not within {seconds} s")
        time.sleep(0.1)
    return answer


class Machine:
    """Booted in the constructor; stop() ends it. `path` is its root as seen from outside."""

    def __init__(self, path, log):
        self.path, self.log = path, log
        self.container = self.init = None
        try:
            self.boot()
        except BaseException:
            self.kill()
            raise

    def boot(self):
        with open(self.log, "ab") as out:
            # In a session of its own, or the container's console would take over the terminal.
            self.container = subprocess.Popen(
                ["systemd-nspawn", "--quiet", "--directory", self.path, "--boot", "--private-network", "--register=no",
                 "--keep-unit", "--console=pipe", "--link-journal=no", "--resolv-conf=off", "--timezone=off"],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        self.init = wait_for("the container's first process", 20, self._first_process)
        # "degraded" would be a unit of Debian's that does not work in a container: nothing of ours.
        wait_for("the machine's boot", 60, lambda: self.tried("systemctl is-system-running").stdout.strip()
                 in ("running", "degraded"))

    def _first_process(self):
        if self.container.poll() is not None:
            raise Failed(f"systemd-nspawn ended with {self.container.returncode}: see {self.log}")
        children = f"/proc/{self.container.pid}/task/{self.container.pid}/children"
        with open(children, encoding="ascii") as text:
            for child in text.read().split():
                try:
                    with open(f"/proc/{child}/comm", encoding="ascii") as name:
                        if name.read().strip() == "systemd":
                            return int(child)
                except OSError:
                    continue
        return None

    def inside(self, *command):
        """What runs `command` in the machine, for subprocess. Failed when it is not up: another process of this side may have got its
        number by then, and all that tests do to the machine would be done here."""
        if self.container is None or self.container.poll() is not None:
            raise Failed(f"the machine is not up: see {self.log}")
        return ["nsenter", "--target", str(self.init), "--all", "--root", "--wd", *command]

    def tried(self, script, seconds=60, user="root"):
        """Runs a shell's script as `user`, from the administrator's home; the result with its text, whatever the status."""
        shell = ["env", "-i", *(f"{name}={value}" for name, value in ENVIRONMENT.items()), "bash", "-c", f"cd {HOME}\n{script}"]
        if user != "root":
            shell = ["runuser", "-u", user, "--", *shell]
        # In a session of its own: a faulty `kill 0` in there would end the tests, which run as root.
        return subprocess.run(self.inside(*shell), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=seconds, check=False, start_new_session=True)

    def run(self, script, seconds=60, user="root"):
        """What it wrote to standard output; Failed, with all that it wrote, unless it ended well."""
        done = self.tried(script, seconds, user)
        if done.returncode:
            raise Failed(f"{script!r} ended with {done.returncode}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return done.stdout

    def in_network(self, *command):
        """What runs a command of this side, with its files and libraries, in the machine's network."""
        self.inside()
        return ["nsenter", "--target", str(self.init), "--net", *command]

    def outside(self, name):
        """A file of the administrator's home, as seen from this side."""
        return f"{self.path}{HOME}/{name}"

    def put(self, content, name):
        with open(self.outside(name), "w", encoding="utf-8") as out:
            out.write(content)

    def shut_down(self):
        """As poweroff does, with the services' own ends."""
        if self.container.poll() is None and self.init:
            os.kill(self.init, signal.SIGRTMIN + 4)
            self.container.wait(timeout=90)

    def reboot(self):
        self.shut_down()
        self.boot()

    def stop(self):
        try:
            self.shut_down()
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self):
        """systemd-nspawn's end is the end of all that runs in the container."""
        if self.container is not None and self.container.poll() is None:
            self.container.kill()
            self.container.wait(timeout=30)
