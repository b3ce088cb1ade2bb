"""A fresh Debian root in a folder, and commands in it as a plain user, with processes that end with their command."""

import configparser
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CLONE = "/home/plain/Klon mit Ümlaut"
PACKAGES = "python3,make,curl,ca-certificates"
BINFMT = Path("/proc/sys/fs/binfmt_misc")
ARM64_ELF = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
ELF_MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
PASSED_ON = ("PIP_", "UV_", "SSL_", "REQUESTS_CA_BUNDLE")
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


class NoRoot(Exception):
    """A root can't be made here; the message says of which system."""


@dataclass(frozen=True)
class Root:
    """A root folder with a user `plain`, whose home has a copy of this clone."""

    folder: Path

    def run(
        self, script: str, timeout: float, *, user: bool = True, network: bool = True, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a shell script in the clone's folder; standard error is in its output. `timeout`: seconds."""
        shell = ["/bin/bash", "-c", f"cd {shlex.quote(CLONE)} 2> /dev/null; {script}"]
        home = {"HOME": "/home/plain" if user else "/root", "PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        kept = {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
        environment = home | {"LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"} | kept | variables
        there = shlex.quote(str(self.folder))
        mounts = [f"mount -t proc proc {there}/proc", f"mount --rbind /dev {there}/dev"]
        mounts.append(f"mount -t tmpfs tmpfs {there}/dev/shm")
        read_only = ((shlex.quote(path), f"{there}{shlex.quote(path)}") for path in self._local_indexes())
        mounts += [f"mount --bind -o ro {here} {inside}" for here, inside in read_only]
        as_user = ["--userspec=1000:1000"] if user else []
        settings = [f"{name}={value}" for name, value in environment.items()]
        inside = shlex.join(["chroot", *as_user, str(self.folder), "/usr/bin/env", "-i", *settings, *shell])
        apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *([] if network else ["--net"])]
        command = [*apart, "bash", "-c", " && ".join([*mounts, f"exec {inside}"])]
        try:
            output = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            return subprocess.run(command, **output, text=True, timeout=timeout)
        except subprocess.TimeoutExpired as late:
            said = late.stdout.decode(errors="replace") if isinstance(late.stdout, bytes) else late.stdout or ""
            return subprocess.CompletedProcess(command, 124, f"{said}\nno end within {timeout:.0f} s")

    def prepare(self, clone: Path) -> None:
        """Give it this machine's settings of pip, a user, and a copy of the clone as it is now, changes included."""
        for file in (Path("/etc/resolv.conf"), Path("/etc/pip.conf"), CERTIFICATES):
            if file.exists():
                shutil.copy(file, self.folder / file.relative_to("/"))
        for path in self._local_indexes():
            (self.folder / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
        home = self.folder / CLONE.lstrip("/")
        home.mkdir(parents=True)
        listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        names = subprocess.run(listed, cwd=clone, stdout=subprocess.PIPE, check=True).stdout
        packed = ["tar", "--null", "--ignore-failed-read", "-T", "-", "-cf", "-"]
        archive = subprocess.run(packed, cwd=clone, input=names, stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["tar", "-C", str(home), "-xf", "-"], input=archive, check=True)
        self.run("useradd -s /bin/bash plain; chown -R plain: /home/plain", 300, user=False).check_returncode()

    def _local_indexes(self) -> list[str]:
        """Folders of this machine from which its settings of pip take packages."""
        parser = configparser.ConfigParser(interpolation=None)
        parser.read("/etc/pip.conf")
        values = [value for section in parser.values() for value in section.values()]
        values += [value for name, value in os.environ.items() if name.startswith("PIP_")]
        paths = {path for value in values for path in re.findall(r"(?:^|\s|file://)(/[^\s]+)", value)}
        return sorted(
            {str(Path(path).parent if path.endswith("/simple") else path) for path in paths if Path(path).is_dir()}
        )


def fresh_root(suite: str, architecture: str, folder: Path) -> Root:
    """A new root, from a base that is made once and kept in `folder`.

    Raises:
        NoRoot: debootstrap failed.
    """
    base = folder / f"base-{suite}-{architecture}"
    if not (base / "ready").exists():
        shutil.rmtree(base, ignore_errors=True)
        sites = ["apt-get", "indextargets", "--format", "$(SITE)"]
        mirror = subprocess.run(sites, stdout=subprocess.PIPE, text=True, check=True).stdout.split()[0]
        made = [
            "debootstrap",
            "--variant=minbase",
            f"--arch={architecture}",
            f"--include={PACKAGES}",
            suite,
            str(base),
            mirror,
        ]
        if subprocess.run(made, stdout=sys.stderr).returncode:
            raise NoRoot(f"debootstrap makes no {suite} for {architecture}; it says why above")
        (base / "ready").touch()
    new = folder / f"{suite}-{architecture}"
    shutil.rmtree(new, ignore_errors=True)
    subprocess.run(["cp", "-a", "--reflink=auto", str(base), str(new)], check=True)
    return Root(new)


def emulate_arm64() -> None:
    """Have the kernel run arm64 programs by qemu.

    Raises:
        SystemExit: qemu's user emulation isn't installed.
    """
    qemu = shutil.which("qemu-aarch64-static") or sys.exit("apt-get install qemu-user-static")
    if not (BINFMT / "register").exists():
        subprocess.run(["mount", "-t", "binfmt_misc", "none", str(BINFMT)], check=True)
    if not (BINFMT / "qemu-aarch64").exists():
        (BINFMT / "register").write_text(rf":qemu-aarch64:M::{ARM64_ELF}:{ELF_MASK}:{qemu}:F")
