"""A temporary Debian root: a minimal installation of Debian.

make_root() fills a folder once per run; Layer gives each user of it a copy by overlayfs, so that packages installed by
one of them do not affect the next one.
"""

import glob
import os
import shutil
import subprocess

# The packages of a plain installation in addition to the essential ones, as far as the documented commands use them.
PLAIN = "systemd systemd-sysv dbus sudo adduser ca-certificates iproute2 procps".split()
# The packages that the documented commands install in addition to Muster.
SERVER = ["mariadb-server"]
NAME = "members.example.org"
# The administrator of the machine, who uses sudo in this home; it also contains the packages.
ADMIN = "ada"
HOME = f"/home/{ADMIN}"


def make_root(folder, packages, mirror=None):
    """A root of Debian 12 in `folder`, with Muster's `packages` in the home of its administrator, and all Debian
    packages that they and the documented commands require, downloaded but not installed: the machine has no network.
    Raises with the end of the log."""
    shutil.rmtree(folder, ignore_errors=True)
    log = f"{folder}.log"
    inside = " ".join(f"{HOME}/{os.path.basename(package)}" for package in packages)
    command = [
        "mmdebstrap", "--variant=minbase", f"--include={','.join(PLAIN)}",
        "--skip=cleanup/apt/cache,cleanup/apt/lists",
        f"--customize-hook=chroot \"$1\" adduser --quiet --disabled-password --gecos '' {ADMIN}",
        f"--customize-hook=echo '{ADMIN} ALL=(ALL) NOPASSWD: ALL' >\"$1\"/etc/sudoers.d/{ADMIN}",
        f"--customize-hook=copy-in {' '.join(packages)} {HOME}",
        # apt(8) deletes the files that it has installed; a package that is installed again must still be available.
        "--customize-hook=echo 'APT::Keep-Downloaded-Packages \"true\";' >\"$1\"/etc/apt/apt.conf.d/90keep",
        # Without the settings used to create the root: recommended packages are installed too, as by hand.
        f"--customize-hook=env -u APT_CONFIG chroot \"$1\" apt-get -q -y -o APT::Install-Recommends=true install --download-only {' '.join(SERVER)} {inside}",
        f"--customize-hook=echo {NAME} >\"$1\"/etc/hostname",
        f"--customize-hook=printf '127.0.0.1 localhost\n127.0.1.1 {NAME}\n' >\"$1\"/etc/hosts",
        "bookworm", folder,
    ] + ([mirror] if mirror else [])
    with open(log, "w", encoding="utf-8") as out:
        if subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, timeout=300, check=False).returncode:
            with open(log, encoding="utf-8") as text:
                raise RuntimeError(f"no Debian root ({log}): {''.join(text.readlines()[-20:])}")
    return folder


class Layer:
    """A writable copy of a root, during the `with` block."""

    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        self.path = f"{folder}/merged"

    def __enter__(self):
        for part in ("upper", "work", "merged"):
            os.makedirs(f"{self.folder}/{part}")
        options = f"lowerdir={self.root},upperdir={self.folder}/upper,workdir={self.folder}/work"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, self.path], check=True)
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", self.path], check=True)
        shutil.rmtree(self.folder)


def built_packages(folder):
    """The packages that an administrator installs, without debug symbols."""
    found = [path for path in sorted(glob.glob(f"{folder}/*.deb")) if "-dbgsym_" not in path]
    if len(found) != 4:
        raise RuntimeError(f"{folder} contains {found}; run make deb")
    return found


def with_version(package, version, folder, change=None):
    """The same package with another version, which dpkg sorts before or after it; returns its path. change: a function that
    changes the unpacked package, called with its folder."""
    tree = f"{folder}/tree"
    os.makedirs(folder, exist_ok=True)
    subprocess.run(["dpkg-deb", "-R", package, tree], check=True)
    control = f"{tree}/DEBIAN/control"
    with open(control, encoding="utf-8") as text:
        lines = text.readlines()
    with open(control, "w", encoding="utf-8") as text:
        text.writelines(f"Version: {version}\n" if line.startswith("Version: ") else line for line in lines)
    if change:
        change(tree)
    name, _, rest = os.path.basename(package).split("_", 2)
    made = f"{folder}/{name}_{version}_{rest}"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", tree, made], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(tree)
    return made
