"""Verification of webhooks with an independent library: the npm package `standardwebhooks`, pinned by
tests/e2e/webhook-verifier/package-lock.json and installed in the build folder."""

import fcntl
import json
import os
import shutil
import subprocess

from .stack import ROOT

SOURCE = ROOT / "tests/e2e/webhook-verifier"
FILES = ("package.json", "package-lock.json", "verify.mjs")
INSTALL = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")


class Verifier:
    def __init__(self, build):
        self.folder = build / "webhook-verifier"
        build.mkdir(parents=True, exist_ok=True)
        with open(f"{self.folder}.lock", "w", encoding="ascii") as lock:  # other processes may install it at the same time
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._is_installed():
                self._install()

    def _is_installed(self):
        """Whether the existing installation matches the sources."""
        def same(name):
            return (self.folder / name).is_file() and (self.folder / name).read_bytes() == (SOURCE / name).read_bytes()

        return all(map(same, FILES)) and (self.folder / "installed").exists()

    def _install(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        for name in FILES:
            shutil.copy(SOURCE / name, self.folder / name)
        done = subprocess.run(INSTALL, cwd=self.folder, capture_output=True, text=True, timeout=120,
                              env=os.environ | {"CI": "true"})
        assert done.returncode == 0, f"{' '.join(INSTALL)}: {done.stdout}{done.stderr}"
        (self.folder / "installed").touch()

    def verdicts(self, cases):
        """The library's result for each (secret, request[, now]): "ok", or its error. now: the time in seconds at which
        the signature must be valid; default: the clock."""
        lines = []
        for secret, request, *now in cases:
            line = {"secret": secret, "headers": request.headers, "body": request.body.decode()}
            lines.append(json.dumps(line | ({"now": now[0]} if now else {})))
        done = subprocess.run(["node", "verify.mjs"], cwd=self.folder, input="\n".join(lines), capture_output=True,
                              text=True, timeout=120)
        assert done.returncode == 0, f"verify.mjs: {done.stderr}"
        found = done.stdout.splitlines()
        assert len(found) == len(lines), f"{len(lines)} webhooks, {len(found)} verdicts"
        return found
