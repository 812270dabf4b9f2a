"""A second nginx in front of the same stack, with snippets changed for one test: other rates, other timeouts."""

import shutil
import subprocess

from . import wire
from .ports import free_port
from .stack import wait_for


class Edge:
    """A substitute for a stack in support.client and support.wire: it has a port, an address and an authority."""

    def __init__(self, stack, name, changes=()):
        """changes: (file below nginx/, old text, new text)."""
        self.ca_file = stack.ca_file
        self.port, self.plain_port = free_port(), free_port()
        self.folder = stack.folder / f"edge-{name}"
        shutil.rmtree(self.folder, ignore_errors=True)
        for part in ("log", "tmp"):
            (self.folder / part).mkdir(parents=True)
        shutil.copytree(stack.folder / "nginx", self.folder / "nginx")
        plain = (f"    server {{ listen 127.0.0.1:{self.plain_port}; error_log {self.folder}/log/nginx.error.log alert; "
                 "include snippets/muster-plain.conf; }\n}\n")
        self._change("nginx.conf", f"127.0.0.1:{stack.port}", f"127.0.0.1:{self.port}")
        for part in ("log", "tmp"):
            self._change("nginx.conf", f"{stack.folder}/{part}", f"{self.folder}/{part}")
        conf = self.folder / "nginx/nginx.conf"
        conf.write_text(conf.read_text().rstrip().removesuffix("}") + plain)
        for change in changes:
            self._change(*change)
        self._process = None

    def _change(self, name, old, new):
        path = self.folder / "nginx" / name
        text = path.read_text()
        assert old in text, f"{name} does not contain {old!r}"
        path.write_text(text.replace(old, new))

    @property
    def base_url(self):
        return f"https://127.0.0.1:{self.port}"

    def log(self, name):
        return (self.folder / "log" / name).read_text(errors="replace")

    def __enter__(self):
        self._process = subprocess.Popen(
            ["nginx", "-p", f"{self.folder}/", "-c", "nginx/nginx.conf", "-e", f"{self.folder}/log/nginx.error.log"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        wait_for(self._listens, "the second nginx to listen")
        return self

    def _listens(self):
        assert self._process.poll() is None, self.log("nginx.error.log")
        try:
            wire.connect(self).close()
            return True
        except OSError:
            return False

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(20)
