"""Verification of webhooks with an independent library: the npm package `standardwebhooks`, pinned by
tests/e2e/webhook-verifier/package-lock.json."""

import json

from .npm import Packages


class Verifier:
    def __init__(self, build):
        self.packages = Packages(build, "e2e/webhook-verifier")

    def verdicts(self, cases):
        """The library's result for each (secret, request[, now]): "ok", or its error. now: the time in seconds at which
        the signature must be valid; default: the clock."""
        lines = []
        for secret, request, *now in cases:
            line = {"secret": secret, "headers": request.headers, "body": request.body.decode()}
            lines.append(json.dumps(line | ({"now": now[0]} if now else {})))
        done = self.packages.run("node", "verify.mjs", input="\n".join(lines))
        assert done.returncode == 0, f"verify.mjs: {done.stderr}"
        found = done.stdout.splitlines()
        assert len(found) == len(lines), f"{len(lines)} webhooks, {len(found)} verdicts"
        return found
