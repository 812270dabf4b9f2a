"""Load on an HTTPS address with wrk, and a bare nginx beside the sandbox's for the floors.

wrk takes its share of the processors; product and floor are asked in the same way, so both miss it.
"""

import os
import re
import shutil
import socket
import subprocess
import time

from lib.figure import BrokenMeasurement
from lib.stack import NGINX

HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
CONNECTIONS = 64


def requests_per_second(port, script, seconds, environment):
    """(requests/s, p99 in ms). Any answer but a 2xx breaks the measurement."""
    command = ["wrk", "-t2", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "--timeout", "10s",
               "-s", os.path.join(HERE, script), f"https://127.0.0.1:{port}/"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True,
                           env={**os.environ, **environment}).stdout
    fault = re.search(r"^\s*(Socket errors|Non-2xx).*", shown, flags=re.MULTILINE)
    rate = re.search(r"^Requests/sec:\s*([\d.]+)", shown, flags=re.MULTILINE)
    if fault or not rate:
        raise BrokenMeasurement(f"wrk: {fault.group(0).strip() if fault else shown[-300:]}")
    slow = re.search(r"^\s*99%\s*([\d.]+)(us|ms|s)", shown, flags=re.MULTILINE)
    return float(rate.group(1)), float(slow.group(1)) * {"us": 0.001, "ms": 1, "s": 1000}[slow.group(2)]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class FixedServer:
    """The bare FastCGI program with a fixed answer, behind an nginx with the sandbox's own settings."""

    def __init__(self, stack, port, answer):
        self.folder = os.path.join(stack.folder, "fixed")
        self.port = port
        for name in ("log", "tmp"):
            os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        shutil.copytree(f"{stack.folder}/nginx", f"{self.folder}/nginx", dirs_exist_ok=True)
        for name in ("server.pem", "server.key"):
            shutil.copy(f"{stack.folder}/{name}", self.folder)
        self.socket = stack.worker_socket().replace("muster.sock", "fixed.sock")
        with open(f"{self.folder}/answer.json", "wb") as file:
            file.write(answer)
        self.write_configuration(stack)
        self.program = os.path.join(stack.build, "bench", "floor_fixed")
        self.processes = []

    def write_configuration(self, stack):
        with open(f"{stack.folder}/nginx/nginx.conf", encoding="utf-8") as file:
            text = file.read()
        text = text.replace(stack.worker_socket(), self.socket).replace(f":{stack.port} ", f":{self.port} ")
        text = text.replace(f"{stack.folder}/", f"{self.folder}/").replace(
            f"{self.folder}/fixed.sock", self.socket)
        with open(f"{self.folder}/nginx/nginx.conf", "w", encoding="utf-8") as file:
            file.write(text)

    def __enter__(self):
        self.start(self.program, self.socket, "8", f"{self.folder}/answer.json")
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
                raise BrokenMeasurement("the bare server did not start")
            time.sleep(0.01)

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(timeout=20)
