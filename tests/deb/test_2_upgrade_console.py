"""Upgrades of the console's files: from a package in which muster-nginx had them, and to other files."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import CA_FILE, HERE, TOP
from support import root as roots

SOURCE = f"{TOP}/nginx/static/console"


def page(machine, path):
    """{status, headers, text} of a path of the site."""
    command = machine.in_network(sys.executable, f"{HERE}/support/page.py", f"https://{roots.NAME}", machine.path + CA_FILE, path)
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=60).stdout)


def assets_of(machine):
    """The folder that the console's page names."""
    return re.search(r'"(/console/assets/[0-9a-f]+/)main\.js"', page(machine, "/console/")["text"]).group(1)


def before_the_split(tree):
    """Makes of muster-nginx what it was when it had the console's files, and muster-console did not exist."""
    shutil.copytree(SOURCE, f"{tree}/usr/share/muster/console")
    with open(f"{tree}/DEBIAN/control", encoding="utf-8") as text:
        control = text.read()
    assert "muster-console, " in control
    with open(f"{tree}/DEBIAN/control", "w", encoding="utf-8") as text:
        text.write(control.replace("muster-console, ", ""))


@pytest.fixture(scope="module")
def package(packages):
    """The path of a built package, by its name."""
    return lambda name: next(path for path in packages if os.path.basename(path).startswith(f"{name}_"))


def test_nginx_serves_the_compressed_files_of_the_package(machine):
    main = page(machine, f"{assets_of(machine)}main.js")
    assert main["status"] == 200
    assert main["headers"]["content-encoding"] == "gzip"
    assert main["headers"]["cache-control"] == "public, max-age=31536000, immutable"
    assert page(machine, "/console/")["headers"]["cache-control"] == "no-cache"
    with open(f"{SOURCE}/main.js", encoding="utf-8") as text:
        assert main["text"] == text.read()


def test_an_upgrade_from_a_muster_nginx_with_the_console_keeps_the_console(machine, package):
    old = roots.with_version(package("muster-nginx"), "0.1.0-1", machine.outside("before-split"), before_the_split)
    new = [f"./after-split/{os.path.basename(roots.with_version(package(name), '0.1.5-1', machine.outside('after-split')))}"
           for name in ("muster-nginx", "muster-console")]
    machine.run(f"dpkg --purge --force-depends muster-console && dpkg -i ./before-split/{os.path.basename(old)} && systemctl reload nginx")
    assert '"/console/main.js"' in page(machine, "/console/")["text"]
    assert machine.tried(f"apt install -y {new[0]}", seconds=120).returncode, "apt installs muster-nginx without the console"
    machine.run(f"apt install -y {' '.join(new)}", seconds=120)
    assert page(machine, f"{assets_of(machine)}main.js")["status"] == 200
    assert page(machine, "/console/main.js")["status"] == 404
    assert page(machine, "/")["status"] == 200
    assert machine.run("dpkg -S /usr/share/muster/console/index.html").split(":")[0] == "muster-console"
    assert machine.run("dpkg --audit") == ""


def test_an_upgrade_to_other_files_changes_their_folder(machine, package):
    changed = machine.outside("console-sources")
    shutil.copytree(SOURCE, changed)
    with open(f"{changed}/main.js", "a", encoding="utf-8") as text:
        text.write("// changed\n")

    def install(tree):
        subprocess.run([f"{TOP}/packaging/install-console", changed, f"{tree}/usr/share/muster/console"], check=True)

    before = assets_of(machine)
    made = roots.with_version(package("muster-console"), "0.1.6-1", machine.outside("changed"), install)
    machine.run(f"apt install -y ./changed/{os.path.basename(made)}", seconds=120)
    assert assets_of(machine) != before
    assert page(machine, f"{before}main.js")["status"] == 404
    assert page(machine, f"{assets_of(machine)}main.js")["text"].endswith("// changed\n")
