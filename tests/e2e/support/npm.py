"""npm packages that tests run, pinned by a lock file in the sources and installed in the build folder."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]

INSTALL = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")


class Packages:
    """A folder of tests/, such as "e2e/axe", copied to the build folder with its packages."""

    def __init__(self, build, name, timeout=120):
        self.source, self.folder, self.timeout = TESTS / name, build / Path(name).name, timeout
        build.mkdir(parents=True, exist_ok=True)
        with open(f"{self.folder}.lock", "w", encoding="ascii") as lock:  # other processes may install it at the same time
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._is_installed():
                self._install()

    def _files(self):
        return [path.relative_to(self.source) for path in self.source.rglob("*") if path.is_file()]

    def _is_installed(self):
        """Whether the existing installation matches the sources."""
        def same(name):
            return (self.folder / name).is_file() and (self.folder / name).read_bytes() == (self.source / name).read_bytes()

        return all(map(same, self._files())) and (self.folder / "installed").exists()

    def _install(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.source, self.folder)
        done = self.run(*INSTALL)
        assert done.returncode == 0, f"{' '.join(INSTALL)}: {done.stdout}{done.stderr}"
        (self.folder / "installed").touch()

    def run(self, *command, **options):
        """Runs a command in the folder, with the programs of its packages in PATH."""
        path = f"{self.folder / 'node_modules/.bin'}:{os.environ['PATH']}"
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=self.timeout, check=False,
                              env=os.environ | {"CI": "true", "NO_COLOR": "1", "PATH": path}, **options)
