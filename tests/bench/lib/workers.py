"""The processes of musterd by group, and the settings that say how many there are.

The names come from the section [server]: `socket` belongs to `workers`, and each `<name>_socket` to `<name>s`. A process of a
group waits at the socket of its group with epoll, and the kernel lists what it waits for.
"""

import os
import re
import subprocess
import time

from lib.figure import BrokenMeasurement

SERVER = re.compile(r"^\[server\]$(.*?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL)
SETTING = re.compile(r"^#?(\w+) = (.*)$", re.MULTILINE)
ACCEPTS = 0x10000  # in /proc/net/unix: a socket that listens
SECONDS_TO_START = 10


def server_settings(stack):
    """The section [server] as the running musterd uses it: its defaults, the file, then the environment."""
    defaults = subprocess.run([os.path.join(stack.build, "musterd"), "--print-config"], check=True, capture_output=True,
                              text=True).stdout
    with open(f"{stack.folder}/muster.conf", encoding="utf-8") as file:
        configured = file.read()
    with open(f"/proc/{stack.pids()['musterd']}/environ", encoding="utf-8", errors="replace") as file:
        environment = dict(entry.split("=", 1) for entry in file.read().split("\0") if "=" in entry)
    settings = {}
    for text in (defaults, configured):
        for section in SERVER.findall(text):
            settings.update(SETTING.findall(section))
    return {name: environment.get(f"MUSTER_SERVER_{name.upper()}", value) for name, value in settings.items()}


def expected_groups(settings):
    """{name of the group: (its socket, the number of its processes)}"""
    groups = {}
    for name, value in settings.items():
        if name == "socket" or name.endswith("_socket"):
            group = "workers" if name == "socket" else name.removesuffix("_socket") + "s"
            if group not in settings:
                raise BrokenMeasurement(f"server.{name} has no group: musterd has no setting server.{group}")
            groups[group] = (value, int(settings[group]))
    return groups


def children(parent):
    with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as file:
        return [int(pid) for pid in file.read().split()]


def listening_sockets():
    """{inode: path} of the Unix sockets that listen."""
    found = {}
    with open("/proc/net/unix", encoding="utf-8", errors="replace") as file:
        for line in file.read().splitlines()[1:]:
            fields = line.split(maxsplit=7)
            if len(fields) == 8 and int(fields[3], 16) & ACCEPTS:
                found[int(fields[6])] = fields[7]
    return found


def watched_inodes(pid):
    """The inodes of the files that the process waits for with epoll; none if it has just ended."""
    found = set()
    try:
        for fd in os.listdir(f"/proc/{pid}/fdinfo"):
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii", errors="replace") as file:
                found.update(int(inode, 16) for inode in re.findall(r"^tfd:.* ino:([0-9a-f]+)", file.read(), re.MULTILINE))
    except OSError:
        return set()
    return found


def running_groups(stack, expected):
    """{name of the group: its processes}"""
    sockets = {path: group for group, (path, _) in expected.items()}
    listening = listening_sockets()
    groups = {group: [] for group in expected}
    for pid in children(stack.pids()["musterd"]):
        for path in {listening.get(inode) for inode in watched_inodes(pid)} & sockets.keys():
            groups[sockets[path]].append(pid)
    return groups


def worker_groups(stack):
    """{name of the group: its processes}, as soon as there are as many as the settings say."""
    expected = expected_groups(server_settings(stack))
    end = time.monotonic() + SECONDS_TO_START
    while True:
        groups = running_groups(stack, expected)
        wrong = [f"{len(groups[name])} {name} instead of {count}" for name, (_, count) in expected.items()
                 if len(groups[name]) != count]
        if not wrong:
            return groups
        if time.monotonic() > end:
            raise BrokenMeasurement("musterd has " + ", ".join(wrong))
        time.sleep(0.05)  # lint: sleeps because it polls


def only_worker(stack):
    workers = worker_groups(stack)["workers"]
    if len(workers) != 1:
        raise BrokenMeasurement(f"server.workers is {len(workers)}; set it to 1 for this figure")
    return workers[0]
