"""Records of lints that passed, by the hash of everything that they read, for all trees of this user: below
~/.cache/muster, or $XDG_CACHE_HOME. And the npm packages of the lints for the console (tests/console/packages)."""

import hashlib
import os
import sys
from pathlib import Path

from lintlib import BUILD

TESTS = Path(__file__).resolve().parents[1]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "muster"
sys.path.insert(0, str(TESTS / "e2e"))
from support.npm import Packages  # noqa: E402


def contents(*paths):
    """The names and contents of these files, and of all files below these folders. A name begins with the folder's."""
    files = [(path.parent, file) for path in paths for file in sorted(path.rglob("*") if path.is_dir() else [path])
             if file.is_file() and "__pycache__" not in file.parts]
    return [part for root, file in files for part in (bytes(file.relative_to(root)), file.read_bytes())]


def record(lint, parts):
    """The file that records that this lint passed for these bytes."""
    digest = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    return CACHE / lint / digest


def keep(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def console_packages():
    """PACKAGES_IN names another folder to install them in: the self-test uses those of the tree itself."""
    return Packages(Path(os.environ.get("PACKAGES_IN") or BUILD).resolve(), "console/packages")
