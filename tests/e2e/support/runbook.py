"""Runs commands of docs/operations/ unchanged, on the folder of a sandbox instead of the machine, and with the services
and database users of the sandbox instead of systemd, sudo and Debian's."""

import os
import re
import secrets
import subprocess

from .documented import code_blocks, note
from .stack import ROOT

DOCS = ROOT / "docs/operations"

# A user of sudo has its own home, whose .my.cnf names the database user.
PRELUDE = r"""
set -euo pipefail
sudo() {
    local user=root
    if [ "$1" = -u ]; then user=$2; shift 2; fi
    HOME=$HOMES/$user "$@"
}
systemctl() {
    local verb=$1 unit
    for unit in "${@:2}"; do
        case $verb,$unit in
        start,muster.socket) ;; # musterd makes it itself
        stop,muster.socket) rm -f "$SOCKETS"/{muster,collector,reader}.sock ;; # as RemoveOnStop does
        reload,muster) kill -HUP "$(sed 's/ .*//' "$SANDBOX/pids/musterd")" ;;
        *,muster.service) "$SERVICE" "$verb" musterd ;;
        *,mariadb.service) "$SERVICE" "$verb" mariadbd ;;
        *) echo "systemctl $verb $unit: unknown in the sandbox" >&2; return 1 ;;
        esac
    done
}
install() { # the owner stays who runs this
    local kept=()
    while [ $# -gt 0 ]; do
        case $1 in -[og]) shift ;; *) kept+=("$1") ;; esac
        shift
    done
    command install "${kept[@]}"
}
ps() { command ps "$@" || true; } # an empty list is not an error
chown() { :; }
chgrp() { :; }
apt() { :; }
"""


def pages():
    """The guide's pages, by path."""
    return sorted(DOCS.glob("*.md"))


def anchors(page):
    """The anchors of the page's headings, as Markdown renderers create them."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)}


def section(heading):
    """The text below a heading of any page, up to the next heading. One page has that heading."""
    pattern = re.compile(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", re.MULTILINE | re.DOTALL)
    found = [text for page in pages() for text in pattern.findall(page.read_text())]
    assert len(found) == 1, f"docs/operations/ has {len(found)} sections {heading!r}"
    return found[0]


def block(heading, beginning):
    """The indented block of the section that begins with these words, without its indent."""
    for text in code_blocks(section(heading)):
        if text.startswith(beginning):
            return text
    raise AssertionError(f"docs/operations/ {heading!r} has no block that begins with {beginning!r}")


class Machine:
    """A sandbox in the role of the documented machine."""

    def __init__(self, stack):
        self.stack, self.root = stack, stack.folder / "machine"
        for folder in ("etc/cron.d", "local-sbin", "var/backups"):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        (self.root / "etc/cron.d/muster").touch()
        for program in ("musterctl", "muster-run"):
            self.program(program, f'exec {stack.build}/{program} --config {stack.config} "$@"')
        self.user("root")
        self.user("muster")
        self.paths = {"/etc/cron.d/": f"{self.root}/etc/cron.d/", "/var/backups/": f"{self.root}/var/backups/",
                      "/usr/local/sbin/": f"{self.root}/local-sbin/",
                      "/usr/sbin/": f"{self.root}/local-sbin/", "/usr/share/doc/muster/examples/": f"{ROOT}/docs/examples/",
                      "/etc/muster/": f"{stack.folder}/", "/var/lib/mysql": f"{stack.folder}/data"}

    def program(self, name, script):
        """A program of the machine."""
        path = self.root / "local-sbin" / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def user(self, name, password=None):
        """A system user with a database user of the same name."""
        home = self.root / "homes" / name
        home.mkdir(parents=True, exist_ok=True)
        proof = f"password = {password}\n" if password else ""
        (home / ".my.cnf").write_text(f"[client]\nsocket = {self.stack.env['mysql_socket']}\nuser = {name}\n{proof}")

    def database_user(self, name):
        """Allows the simulated system user to connect with a password instead of the socket."""
        password = secrets.token_hex(16)
        self.stack.sql(f"ALTER USER {name}@localhost IDENTIFIED BY '{password}'")
        self.user(name, password)

    def here(self, text):
        """A documented text with the machine's paths instead of the documented ones."""
        note(text)
        for old, new in ({"/run/mysqld/mysqld.sock": self.stack.env["mysql_socket"]} | self.paths).items():
            text = text.replace(old, new)
        return text

    def run(self, script, replaced=None, input=None):
        """Runs lines of the documentation in the machine's folder; returns their output. replaced: {example value: value to
        use}. input: what the administrator types."""
        text = self.here(script)
        for old, new in (replaced or {}).items():
            assert self.here(old) in text, f"{old!r} is not in the docs' {script!r}"
            text = text.replace(self.here(old), new)
        env = os.environ | {"HOMES": str(self.root / "homes"), "SANDBOX": str(self.stack.folder),
                            "PATH": f"{self.root}/local-sbin:{os.environ['PATH']}", "SERVICE": str(ROOT / "tests/sandbox/service"),
                            "SOCKETS": os.path.dirname(self.stack.env["mysql_socket"])}
        done = subprocess.run(["bash", "-c", PRELUDE + text], cwd=self.root, env=env, input=input or "", capture_output=True, text=True,
                              timeout=120, check=False)
        assert done.returncode == 0, f"{text}: {done.returncode} {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout
