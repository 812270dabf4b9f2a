"""The programs of the floors, each in a session of its own like every service: a bare FastCGI server behind a second nginx,
and programs that write to the database without a server."""

import os
import resource
import shutil
import subprocess
import sys
import time

from lib.figure import BrokenMeasurement, Sample
from lib.stack import NGINX
from lib.wrk import measured_load

sys.path.append(os.path.realpath(os.path.join(os.path.dirname(__file__), "../../e2e")))

from support.ports import free_port  # noqa: E402

WORKERS = 8
CONNECTIONS = 8


class BareServer:
    """One of the FastCGI programs of the floors, behind an nginx with the settings of the sandbox. A context manager."""

    def __init__(self, bench, program, *arguments):
        stack = bench.stack
        self.bench, self.program = bench, program
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
        self.command = (os.path.join(stack.build, "bench", program), self.socket, str(WORKERS), *arguments)
        self.processes = {}

    def write_configuration(self, stack):
        with open(f"{stack.folder}/nginx/nginx.conf", encoding="utf-8") as file:
            text = file.read()
        text = text.replace(f":{stack.port} ", f":{self.port} ").replace(f"{stack.folder}/", f"{self.folder}/")
        for name in self.sockets:
            text = text.replace(name.replace(f"{stack.folder}/", f"{self.folder}/"), self.socket)
        with open(f"{self.folder}/nginx/nginx.conf", "w", encoding="utf-8") as file:
            file.write(text)

    def __enter__(self):
        self.start(self.program, *self.command)
        self.wait_for(lambda: os.path.exists(self.socket))
        self.start("nginx", NGINX, "-p", self.folder + "/", "-c", "nginx/nginx.conf",
                   "-e", f"{self.folder}/log/nginx.error.log")
        self.wait_for(lambda: os.path.exists(f"{self.folder}/tmp/nginx.pid"))
        self.bench.running.append(self)
        return self

    def start(self, name, *command):
        self.processes[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)

    def wait_for(self, ready):
        end = time.monotonic() + 10
        while not ready():
            if time.monotonic() > end or any(process.poll() is not None for process in self.processes.values()):
                raise BrokenMeasurement("the minimal server did not start")
            time.sleep(0.01)  # lint: sleeps because it polls

    def __exit__(self, *_):
        if self in self.bench.running:
            self.bench.running.remove(self)
        for process in reversed(self.processes.values()):
            process.terminate()
            process.wait(timeout=20)
        if os.path.exists(self.socket):
            os.unlink(self.socket)

    def services(self):
        """{name: the leader of its session}"""
        return {name: process.pid for name, process in self.processes.items()}

    def answering(self):
        """The services whose time a request costs. The database belongs to the sandbox."""
        services = {"nginx": self.processes["nginx"].pid, self.program: self.processes[self.program].pid}
        if self.program != "floor_fixed":
            services["mariadbd"] = self.bench.stack.pids()["mariadbd"]
        return services

    def __str__(self):
        return self.program


class UserFloor:
    """The floor of P9 and P12: GET /v1/users/{id}, answered by a bare FastCGI program with the bytes of one such reply.
    A context manager; `answer`: the bytes, `environment`: for the load script get_user.lua."""

    SCRIPT = "get_user.lua"

    def __init__(self, bench, answer, environment):
        self.bench, self.environment = bench, environment
        path = bench.stack.file("answer.json")
        with open(path, "wb") as file:
            file.write(answer)
        self.server = BareServer(bench, "floor_fixed", path)

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *fault):
        self.server.__exit__(*fault)

    def measure(self, seconds):
        return measured_load(self.bench, self.server, self.SCRIPT, seconds, self.environment)[1]


def writing_program(bench, program, seconds, *more, requests_each=1):
    """The Sample of a program that writes over 8 connections and prints its rate. `requests_each`: of the rate, how many
    make one request."""
    organization = bench.stack.organizations[0]["id"]
    command = [os.path.join(bench.stack.build, "bench", program), bench.stack.socket, organization, str(CONNECTIONS),
               str(seconds), *map(str, more)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with bench.meter() as meter:
        shown = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, start_new_session=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    rate = float(shown)
    requests = max(1.0, rate * seconds / requests_each)
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    cpu = meter.microseconds_each({"mariadbd": bench.stack.pids()["mariadbd"]}, requests)
    return Sample(rate, {program: round(own / requests * 1e6, 1), **cpu})
