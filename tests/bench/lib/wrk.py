"""Load on an HTTPS address with wrk, and a second nginx for the floors.

wrk uses a part of the processors. Muster and the floor are measured in the same way, so the effect on both is equal.
"""

import os
import re
import shutil
import socket
import subprocess
import time
from typing import NamedTuple

from lib.figure import BrokenMeasurement
from lib.stack import NGINX

HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
CONNECTIONS = 64


class Load(NamedTuple):
    rate: float  # requests/s
    p99: float  # ms
    requests: int  # that were answered; up to CONNECTIONS more were in progress at the end


def load(port, script, seconds, environment):
    """Load by the script for that long. A status other than 2xx or 3xx ends the measurement."""
    command = ["wrk", "-t2", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "--timeout", "10s",
               "-s", os.path.join(HERE, script), f"https://127.0.0.1:{port}/"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True,
                           env={**os.environ, **environment}).stdout
    fault = re.search(r"^\s*(Socket errors|Non-2xx).*", shown, flags=re.MULTILINE)
    rate = re.search(r"^Requests/sec:\s*([\d.]+)", shown, flags=re.MULTILINE)
    if fault or not rate:
        raise BrokenMeasurement(f"wrk: {fault.group(0).strip() if fault else shown[-300:]}")
    slow = re.search(r"^\s*99%\s*([\d.]+)(us|ms|s)", shown, flags=re.MULTILINE)
    count = re.search(r"^\s*(\d+) requests in", shown, flags=re.MULTILINE)
    return Load(float(rate.group(1)), float(slow.group(1)) * {"us": 0.001, "ms": 1, "s": 1000}[slow.group(2)],
                int(count.group(1)))


def measured_load(bench, script, seconds, environment):
    """(the load on Muster, {p99, and the microseconds of processor time per request in each service})."""
    with bench.meter() as meter:
        seen = load(bench.stack.port, script, seconds, environment)
    cpu = {name: round(meter.spent.get(name, 0.0) / seen.requests * 1e6) for name in ("nginx", "musterd", "mariadbd")}
    return seen, {"p99_ms": seen.p99, "cpu_us": cpu, "others_share": round(meter.others_share(), 2)}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class BareServer:
    """One of the FastCGI programs of the floors, with 8 workers, behind an nginx with the settings of the sandbox."""

    def __init__(self, stack, program, *arguments):
        self.folder = os.path.join(stack.folder, program)
        self.port = free_port()
        for name in ("log", "tmp"):
            os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        shutil.copytree(f"{stack.folder}/nginx", f"{self.folder}/nginx", dirs_exist_ok=True)
        for name in ("server.pem", "server.key"):
            shutil.copy(f"{stack.folder}/{name}", self.folder)
        self.sockets = stack.worker_sockets()
        self.socket = os.path.join(os.path.dirname(self.sockets[0]), f"{program}.sock")
        self.write_configuration(stack)
        self.command = (os.path.join(stack.build, "bench", program), self.socket, "8", *arguments)
        self.processes = []

    def write_configuration(self, stack):
        with open(f"{stack.folder}/nginx/nginx.conf", encoding="utf-8") as file:
            text = file.read()
        text = text.replace(f":{stack.port} ", f":{self.port} ").replace(f"{stack.folder}/", f"{self.folder}/")
        for name in self.sockets:
            text = text.replace(name.replace(f"{stack.folder}/", f"{self.folder}/"), self.socket)
        with open(f"{self.folder}/nginx/nginx.conf", "w", encoding="utf-8") as file:
            file.write(text)

    def __enter__(self):
        self.start(*self.command)
        self.wait_for(lambda: os.path.exists(self.socket))
        self.start(NGINX, "-p", self.folder + "/", "-c", "nginx/nginx.conf",
                   "-e", f"{self.folder}/log/nginx.error.log")
        self.wait_for(lambda: os.path.exists(f"{self.folder}/tmp/nginx.pid"))
        return self

    def start(self, *command):
        self.processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL))

    def wait_for(self, ready):
        end = time.monotonic() + 10
        while not ready():
            if time.monotonic() > end or any(process.poll() is not None for process in self.processes):
                raise BrokenMeasurement("the minimal server did not start")
            time.sleep(0.01)

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(timeout=20)
        if os.path.exists(self.socket):
            os.unlink(self.socket)


def fixed_server(stack, answer):
    """A minimal program that answers every request with these bytes."""
    path = stack.file("answer.json")
    with open(path, "wb") as file:
        file.write(answer)
    return BareServer(stack, "floor_fixed", path)
