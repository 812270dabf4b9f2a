"""Debian's own checks of packages, in plain chroots without systemd, each on a new copy of the root."""

import glob
import os
import subprocess
import tempfile

from conftest import FOLDER
from support.root import Layer


def passes(name, command, seconds=400):
    """Its output goes to BUILD/check-deb/NAME.log, and its end into the failure message."""
    log = f"{FOLDER}/{name}.log"
    with open(log, "w", encoding="utf-8") as out:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, timeout=seconds, check=False)
    with open(log, encoding="utf-8", errors="replace") as text:
        end = "".join(text.readlines()[-40:])
    assert done.returncode == 0, f"{name} ended with {done.returncode} ({log}):\n{end}"


def test_piuparts_finds_no_files_after_install_and_purge(debian_root, packages):
    passes("piuparts", ["piuparts", "--distribution=bookworm", f"--existing-chroot={debian_root}", "--warn-on-usr-move=disabled",
                        "--no-eatmydata", "--skip-logrotatefiles-test", "--log-level=info", *packages])


def test_autopkgtest_passes_on_the_built_packages(debian_root, packages):
    source = glob.glob(f"{os.path.dirname(packages[0])}/*.dsc")
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch, Layer(debian_root, f"{scratch}/layer") as layer:
        passes("autopkgtest", ["autopkgtest", "--no-built-binaries", *packages, *source, "--", "chroot", layer.path])
