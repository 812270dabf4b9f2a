"""The duration of a measurement, the processor time of each service, and the disturbance by other programs."""

import os
import time

TICK = os.sysconf("SC_CLK_TCK")


def processes():
    """(pid, session, seconds) of every process; the seconds include children that have ended."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        found.append((int(entry), int(fields[3]), sum(map(int, fields[11:15])) / TICK))
    return found


def machine_seconds():
    """(busy, stolen) seconds of all cores since the start."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq) / TICK, steal / TICK


class Meter:
    """with Meter(stack) as meter: …  Then meter.seconds and meter.cpu().

    `sessions`: the services of the sandbox by name, each the leader of its own session."""

    def __init__(self, sessions):
        self.sessions = {session: name for name, session in sessions.items()}
        self.seconds = 0.0
        self.spent = {}

    def look(self):
        spent = {}
        for pid, session, seconds in processes():
            name = self.sessions.get(session) or ("client" if pid == os.getpid() else None)
            if name:
                spent[name] = spent.get(name, 0.0) + seconds
        busy, stolen = machine_seconds()
        return {**spent, "busy": busy, "stolen": stolen}

    def __enter__(self):
        self.before = self.look()
        self.began = time.monotonic()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self.began
        after = self.look()
        self.spent = {name: after[name] - self.before.get(name, 0.0) for name in after}

    def others(self):
        """The processor seconds of programs that do not belong to the bench."""
        ours = sum(seconds for name, seconds in self.spent.items() if name not in ("busy", "stolen"))
        return max(0.0, self.spent["busy"] - ours)

    def others_share(self):
        """The share of all cores that other programs used: above a tenth, check the ratios again."""
        return (self.others() + self.spent["stolen"]) / (self.seconds * os.cpu_count())

    def cpu(self):
        """Seconds by service; "others": programs that do not belong to the bench; out of `cores` x elapsed in all."""
        named = {name: seconds for name, seconds in self.spent.items() if name != "busy"}
        return {name: round(seconds, 2) for name, seconds in
                {**named, "others": self.others(), "elapsed": self.seconds}.items()}
