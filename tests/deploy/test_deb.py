"""The Debian package of an environment that stands for the real one: the same paths, files and scripts, without pip."""

import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from kokoro_live.installation import MARKER, Kind

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="needs dpkg-deb")


@pytest.fixture(scope="module")
def maintainer() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEBEMAIL", "maintainer@kokoro-live.net")
        yield


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory, maintainer: None) -> tuple[Path, Path]:
    sys.path.insert(0, str(ROOT / "deploy"))
    try:
        import deb  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(ROOT / "deploy"))
    folder = tmp_path_factory.mktemp("deb")
    stage = folder / "stage"
    home = stage / "opt" / "kokoro-live"
    venv.create(home, with_pip=False, symlinks=True)
    # The program as pip writes it, and this checkout for its modules.
    program = home / "bin" / "kokoro-live"
    program.write_text(f"#!{home}/bin/python\nfrom kokoro_live.__main__ import main\nmain()\n")
    program.chmod(0o755)
    (site,) = home.glob("lib/python*/site-packages")
    here = [path for path in sys.path if path.endswith("site-packages")]
    (site / "here.pth").write_text("\n".join([str(ROOT), *here]))
    information = site / "kokoro_live-0.1.0.dist-info"
    information.mkdir()
    (information / "direct_url.json").write_text('{"url": "file:///somewhere"}')
    return deb.pack(stage, "0.1.0", folder), stage


def told(*command: object) -> str:
    return subprocess.run([*map(str, command)], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def unpacked(package: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("root")
    told("dpkg-deb", "-x", package[0], root)
    yield root


def test_its_control_file_binds_it_to_this_python(package: tuple[Path, Path]) -> None:
    minor = sys.version_info.minor
    assert told("dpkg-deb", "-f", package[0], "Package", "Version") == "Package: kokoro-live\nVersion: 0.1.0\n"
    assert f"python3 (>= 3.{minor}), python3 (<< 3.{minor + 1})" in told("dpkg-deb", "-f", package[0], "Depends")


def test_nothing_in_it_knows_where_it_was_made(package: tuple[Path, Path], unpacked: Path) -> None:
    stage = str(package[1]).encode()
    files = [file for file in unpacked.rglob("*") if file.is_file() and not file.is_symlink()]
    assert len(files) > 10
    assert not [file for file in files if stage in file.read_bytes()]
    links = [file for file in unpacked.rglob("*") if file.is_symlink()]
    assert not [link for link in links if stage.decode() in str(link.readlink())]
    assert not list(unpacked.rglob("direct_url.json"))


def test_it_says_what_it_is_and_its_unit_starts_it(unpacked: Path) -> None:
    assert Kind((unpacked / "opt" / "kokoro-live" / MARKER).read_text().strip()) is Kind.DEBIAN
    unit = (unpacked / "usr" / "lib" / "systemd" / "user" / "kokoro-live.service").read_text()
    assert (
        unit.startswith("[Unit]") and 'ExecStart="/opt/kokoro-live/bin/python" ' in unit and "Environment=" not in unit
    )
    assert (unpacked / "usr" / "bin" / "kokoro-live").readlink() == Path("/opt/kokoro-live/bin/kokoro-live")
    assert (unpacked / "opt/kokoro-live/bin/kokoro-live").read_text().startswith("#!/opt/kokoro-live/bin/python\n")


def test_it_belongs_to_root_and_lies_in_its_own_places(package: tuple[Path, Path]) -> None:
    lines = told("dpkg-deb", "-c", package[0]).splitlines()
    assert all(line.split()[1] == "root/root" for line in lines)
    names = [line.split()[5].removeprefix(".") for line in lines if not line.startswith("d")]
    own = ("/opt/kokoro-live/", "/usr/bin/kokoro-live", "/usr/share/doc/kokoro-live/",
           "/usr/lib/systemd/user/kokoro-live.service", "/usr/share/lintian/overrides/kokoro-live")  # fmt: skip
    assert all(name.startswith(own) for name in names)


@pytest.mark.parametrize("script", ["prerm", "postrm"])
@pytest.mark.parametrize("word", ["remove", "purge", "upgrade"])
def test_its_scripts_are_shell_and_end_well_without_systemd(tmp_path: Path, script: str, word: str) -> None:
    """Files that root added go with the package, and an upgrade keeps them. A temporary folder stands for /opt."""
    text = (ROOT / "deploy" / "debian" / script).read_text()
    added = tmp_path / "opt" / "kokoro-live" / "added.py"
    added.parent.mkdir(parents=True)
    added.touch()
    moved = text.replace("/opt/", f"{tmp_path}/opt/").replace("/run/systemd", f"{tmp_path}/run")
    done = subprocess.run(["sh", "-c", moved, script, word], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert added.exists() is (script == "prerm" or word == "upgrade")
    assert ("~/.config/kokoro-live" in done.stdout) is (script == "postrm" and word == "purge")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("lintian") is None, reason="needs lintian")
def test_lintian_finds_no_error(package: tuple[Path, Path]) -> None:
    done = subprocess.run(
        ["lintian", "--allow-root", "--fail-on", "error", package[0]], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
