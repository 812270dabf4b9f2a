"""The blocks of README.md and docs/ that no end-to-end test runs, each with its reason; and those that were not run.

A block is commands unless it is listed here as text. Each of its lines must have run as it stands, or its block is listed.
"""

from . import documented
from .guides import commands_of
from .stack import ROOT

MANY_HOSTS = "needs several hosts; tests/e2e/operations/test_galera.py runs a cluster with the shipped files"
NETWORK = "needs packages of Debian that the tests do not install, or a public name"
SYSTEMD = "needs systemd; tests/deb/test_1_first_day.py checks the units on a machine"
LONG = "takes many minutes, or other compilers; tests/e2e/test_developer_pages.py checks its programs"

# Text: {page: {beginning: what it is}}. Blocks that begin with { or < are JSON and HTML.
TEXT = {
    "docs/api/imports.md": {"    POST /v1/imports\n": "a diagram"},
    "docs/api/limits.md": {'ratelimit-policy: "default";q=200;w=2\n': "headers of a response",
                           'ratelimit-policy: "default";q=200;w=2, ': "headers of a response"},
    "docs/api/sign-in.md": {"POST /v1/auth/email-otp/verify\n": "a request"},
    "docs/developers/architecture.md": {" partner, admin": "a diagram"},
    "docs/external-data.md": {"https://127.0.0.1:8443/console": "an output", "GitLab did not": "messages", "POST /v1": "a request",
                              "[providers.slack]": "a section of muster.conf"},
    "docs/modules.md": {'"created"': "an output", "POST /v1/ingest": "a request"},
    "docs/operations/backup.md": {"MAILTO": "a file of cron"},
    "docs/operations/configuration.md": {"MAILTO": "a line of cron"},
    "docs/operations/database.md": {"INSTALL PLUGIN": "a statement for MySQL"},
    "docs/operations/galera.md": {"app1, app2": "a diagram", "upstream muster": "a file of nginx", "[Socket]": "a file of systemd"},
    "docs/operations/install.md": {"clients --HTTPS": "a diagram"},
    "docs/operations/log.md": {"[Journal]": "a file of systemd", "[Service]": "a file of systemd"},
    "docs/operations/monitoring.md": {"[Service]": "a file of systemd"},
    "docs/operations/nginx.md": {"set_real_ip_from": "a file of nginx", "table inet": "a file of nftables"},
    "docs/operations/providers.md": {"PROVIDER ": "an output"},
    "docs/operations/secrets.md": {"second factors:": "an output"},
    "docs/operations/server.md": {"Unattended-Upgrade": "a file of apt"},
    "docs/scale.md": {"disk = ": "a formula", "1.0 GB": "a formula"},
    "docs/webhooks.md": {"POST /hooks": "a request"},
}
# Commands: {page: {beginning: why no end-to-end test runs them}}
NOT_RUN = {
    "docs/developers/README.md": {"git checkout": "would undo changes of the tree under test"},
    "docs/developers/testing.md": {"sudo tests/sandbox/get-mysql": LONG, "make fuzz": LONG,
                                   "make bench": LONG, "DEBIAN_ROOT=": LONG},
    "docs/operations/galera.md": {"sudo apt install mariadb": NETWORK, "sudo systemctl stop mariadb": MANY_HOSTS,
                                  "sudo systemctl restart mariadb": MANY_HOSTS, "sudo apt install haproxy": NETWORK,
                                  "sudo haproxy -c": MANY_HOSTS, "sudo mariadb -e \"SET GLOBAL wsrep": MANY_HOSTS,
                                  'echo "show stat"': MANY_HOSTS},
    "docs/operations/install.md": {
        "sudo apt install mariadb-server ./muster_": "tests/deb/test_1_first_day.py runs it on a machine",
        "sudo apt install mariadb-server ./build": "the same packages: tests/deb/test_1_first_day.py installs them",
        "sudo adduser": "the packages do the same: tests/deb/test_1_first_day.py", "sudo install -m 644 packaging": SYSTEMD,
        "sudo systemctl stop muster.socket": SYSTEMD, "sudo install -d -o muster": "creates a folder in /run"},
    "docs/operations/log.md": {"journalctl -u muster -u": SYSTEMD, "journalctl -u muster -o": SYSTEMD},
    "docs/operations/monitoring.md": {"sudo apt install prometheus": NETWORK, "systemctl show": SYSTEMD},
    "docs/operations/nginx.md": {"sudo ln -s": "changes the nginx of the host; tests/deb/test_1_first_day.py enables the site",
                                 "sudo apt install certbot": NETWORK, "sudo apt-get install libnginx": NETWORK},
    "docs/operations/organizations.md": {"sudo -u muster musterctl org rename": "tests/e2e/organization/test_organization.py runs these commands",
                                         "sudo -u muster musterctl org disable": "tests/e2e/organization/test_disabling.py runs these commands",
                                         "sudo -u muster musterctl org delete": "tests/e2e/organization/test_deletion.py runs these commands"},
    "docs/operations/upgrade.md": {"sudo apt install ./build": "tests/deb/test_2_upgrade.py upgrades the packages on a machine",
                                   "diff -ru /usr": "compares with files in /etc of the host"},
    "docs/scale.md": {"tests/db/with-database": LONG},
}


def blocks():
    """(page, block) of all pages."""
    for path in documented.pages():
        for block in documented.code_blocks(path.read_text()):
            yield str(path.relative_to(ROOT)), block


def listed(table, page, block):
    return any(block.startswith(beginning) for beginning in table.get(page, ()))


def is_text(page, block):
    return block.startswith(("{", "<")) or listed(TEXT, page, block)


def lines(text):
    """The lines of commands, without comments."""
    return {line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")}


def commands(block):
    """The lines of a block that a shell runs."""
    return lines("\n".join(command.text for command in commands_of(block)) if block.startswith("$ ") else block)


def unlisted(ran):
    """[(page, line)] of commands that are in no text of `ran` and not listed."""
    known = {line for text in ran for line in lines(text)}
    return [(page, line) for page, block in blocks() if not is_text(page, block) and not listed(NOT_RUN, page, block)
            for line in sorted(commands(block) - known)]


def superfluous(ran):
    """[(page, beginning)] of the tables that match not exactly one block, or one of commands that did run."""
    known, found = {line for text in ran for line in lines(text)}, []
    for table in (TEXT, NOT_RUN):
        for page, beginnings in table.items():
            for beginning in beginnings:
                matching = [block for where, block in blocks() if where == page and block.startswith(beginning)]
                if len(matching) != 1 or (table is NOT_RUN and commands(matching[0]) <= known):
                    found.append((page, beginning))
    return found
