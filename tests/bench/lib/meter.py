"""The duration of a measurement, the processor time of each service, and the disturbance by other programs.

A service is a session of its own, as under systemd: the scheduler shares the processor between sessions
(sched_autogroup_enabled), so programs that share one get more of it than programs that do not. Compare only services that
each have a session of their own.
"""

import os
import time

TICK = os.sysconf("SC_CLK_TCK")
NANOSECONDS = 1e9


def stat_of(pid):
    """(parent, session, seconds of the process, seconds of its children that have ended); None if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    own, children = sum(map(int, fields[11:13])) / TICK, sum(map(int, fields[13:15])) / TICK
    return int(fields[1]), int(fields[3]), own, children


def scheduled_seconds(pid):
    """The seconds of the living threads of a process, precise to the nanosecond."""
    total = 0
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
    except OSError:  # a thread has just ended, or the kernel does not count
        return 0.0
    return total / NANOSECONDS


def machine_seconds():
    """(busy, stolen) seconds of all cores since the start."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq) / TICK, steal / TICK


class Meter:
    """with Meter(services) as meter: …  Then meter.seconds, meter.of(pid) and meter.cpu().

    `services`: the services by name, each the leader of its own session. `others`: leaders of other sessions that belong to
    the bench. The client is this process and its children."""

    def __init__(self, services, others=()):
        self.services = dict(services)
        self.watched = {*self.services.values(), *others}
        self.seconds = 0.0
        self.spent = {}

    def look(self):
        """Seconds by leader of a session, with those of its children; "client", "busy" and "stolen"."""
        spent = {"client": 0.0, **{pid: 0.0 for pid in self.watched}}
        for entry in os.listdir("/proc"):
            stat = stat_of(entry) if entry.isdigit() else None
            if stat is None:
                continue
            parent, session, own, children = stat
            # A worker may have a session of its own.
            service = session if session in self.watched else parent
            if service in self.watched:
                # The ticks include threads that have ended, and are rounded down.
                spent[service] += max(own, scheduled_seconds(entry)) + children
            elif os.getpid() in (int(entry), parent):
                spent["client"] += own + children
        spent["busy"], spent["stolen"] = machine_seconds()
        return spent

    def __enter__(self):
        self.before = self.look()
        self.began = time.monotonic()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self.began
        after = self.look()
        self.spent = {name: after[name] - self.before[name] for name in after}

    def of(self, leader):
        """The seconds of the session with that leader."""
        return self.spent[leader]

    def microseconds_each(self, services, count):
        """{service: microseconds of processor time for each of `count` requests}"""
        return {name: round(self.of(leader) / count * 1e6, 1) for name, leader in services.items()}

    def others(self):
        """The processor seconds of programs that do not belong to the bench."""
        ours = sum(seconds for name, seconds in self.spent.items() if name not in ("busy", "stolen"))
        return max(0.0, self.spent["busy"] - ours)

    def others_share(self):
        """The share of all cores that other programs used: above a tenth, check the ratios again."""
        return (self.others() + self.spent["stolen"]) / (self.seconds * os.cpu_count())

    def cpu(self):
        """Seconds by service; "others": programs that do not belong to the bench; out of `cores` x elapsed in all."""
        named = {name: self.of(leader) for name, leader in self.services.items()}
        named.update(client=self.spent["client"], stolen=self.spent["stolen"], others=self.others(), elapsed=self.seconds)
        return {name: round(seconds, 2) for name, seconds in named.items()}
