"""A machine that runs systemd from a Debian root, in a container (systemd-nspawn) with its own network, which has only
a loopback. Commands run in it as its root, with a time limit."""

import os
import signal
import subprocess
import time

from support.root import HOME

ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": HOME, "LANG": "C.UTF-8",
               "TERM": "dumb", "DEBIAN_FRONTEND": "noninteractive"}


class Failed(AssertionError):
    """A command failed, a wait timed out, or the machine is down."""


def wait_for(what, seconds, ask):
    """Calls ask() until its result is true and returns that; fails after `seconds` with the name of the awaited
    event."""
    until = time.monotonic() + seconds
    while not (answer := ask()):
        if time.monotonic() > until:
            raise Failed(f"{what}: not within {seconds} s")
        time.sleep(0.1)  # lint: sleeps because it polls
    return answer


class Machine:
    """Booted in the constructor; stop() stops it. `path` is its root as seen from the host."""

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
            # In its own session, because the console of the container would take over the terminal.
            self.container = subprocess.Popen(
                ["systemd-nspawn", "--quiet", "--directory", self.path, "--boot", "--private-network", "--register=no",
                 "--keep-unit", "--console=pipe", "--link-journal=no", "--resolv-conf=off", "--timezone=off"],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        self.init = wait_for("the container's first process", 20, self._first_process)
        # "degraded" means that a unit of Debian does not work in a container; Muster is not affected.
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
        """The command line that runs `command` in the machine, for subprocess. Raises Failed if the machine is down:
        another process of the host may have its process id by then, and the command would run on the host."""
        if self.container is None or self.container.poll() is not None:
            raise Failed(f"the machine is not up: see {self.log}")
        return ["nsenter", "--target", str(self.init), "--all", "--root", "--wd", *command]

    def tried(self, script, seconds=60, user="root"):
        """Runs a shell script as `user` in the administrator's home. Returns the completed process, whatever its
        status."""
        shell = ["env", "-i", *(f"{name}={value}" for name, value in ENVIRONMENT.items()), "bash", "-c", f"cd {HOME}\n{script}"]
        if user != "root":
            shell = ["runuser", "-u", user, "--", *shell]
        # In its own session: a faulty `kill 0` in the script would end the tests, which run as root.
        return subprocess.run(self.inside(*shell), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=seconds, check=False, start_new_session=True)

    def run(self, script, seconds=60, user="root"):
        """Runs a shell script and returns its standard output. Raises Failed, with the end of its output, if the script
        fails."""
        done = self.tried(script, seconds, user)
        if done.returncode:
            raise Failed(f"{script!r} ended with {done.returncode}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return done.stdout

    def in_network(self, *command):
        """The command line that runs a command of the host, with its files and libraries, in the network of the
        machine."""
        self.inside()
        return ["nsenter", "--target", str(self.init), "--net", *command]

    def outside(self, name):
        """A file in the administrator's home, as seen from the host."""
        return f"{self.path}{HOME}/{name}"

    def put(self, content, name):
        with open(self.outside(name), "w", encoding="utf-8") as out:
            out.write(content)

    def shut_down(self):
        """Like poweroff: the services shut down normally."""
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
        """Kills systemd-nspawn, which ends everything in the container."""
        if self.container is not None and self.container.poll() is None:
            self.container.kill()
            self.container.wait(timeout=30)
