"""The built wheel and sdist install by themselves and speak with Kokoro's voice."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import wave
import zipfile
from importlib.metadata import requires, version
from pathlib import Path

import numpy as np
import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import kokoro_live
from tests.rooms import PACKED, PRODUCT
from worker.models.sources import KNOWN
from worker.split.segments.statistics import SHIPPED
from worker.voices.kokoro_voices import EMBEDDED

ROOT = Path(__file__).parents[2]
HOME = "kokoro_live"
"""The wheel's only top-level name, in which the folders lie; in a clone they lie next to it."""
BESIDE = ("pyproject.toml", "README.md", "LICENSE", "NOTICE", ".gitignore")
TEXT = "Hello from a fresh machine."


def done(*command: object, cwd: Path, timeout: float = 100.0, status: int = 0, **variables: str) -> str:
    """Run it to its end; what it printed."""
    home = {name: str(cwd) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")}
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("KOKORO_LIVE_", "PYTHON"))}
    process = subprocess.run(
        [*map(str, command)], cwd=cwd, env=clean | home | variables, capture_output=True, text=True, timeout=timeout
    )
    assert process.returncode == status, process.stdout + process.stderr
    return process.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel, which is built from the sdist, and the sdist; made by the build backend of this environment."""
    source = tmp_path_factory.mktemp("source")
    for name in (*PACKED, "deploy"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in BESIDE:
        shutil.copy(ROOT / name, source)
    done(sys.executable, "-m", "build", "--no-isolation", ".", cwd=source)
    [wheel], [sdist] = (source / "dist").glob("*.whl"), (source / "dist").glob("*.tar.gz")
    return wheel, sdist


@pytest.mark.slow
def test_twine_finds_nothing(built: tuple[Path, Path]) -> None:
    assert done(sys.executable, "-m", "twine", "check", "--strict", *built, cwd=ROOT).count("PASSED") == 2


@pytest.mark.slow
def test_both_have_every_file_of_the_packages_and_what_licences_want(built: tuple[Path, Path]) -> None:
    expected = {
        str(path.relative_to(ROOT))
        for name in PACKED
        for path in (ROOT / name).rglob("*")
        if path.is_file() and path.suffix != ".pyc" and ".bundled" not in str(path) and path.parent.name != "corpus"
    }
    with zipfile.ZipFile(built[0]) as wheel, tarfile.open(built[1]) as sdist:
        in_wheel, in_sdist = set(wheel.namelist()), {name.partition("/")[2] for name in sdist.getnames()}
    moved = {name if name.startswith(f"{HOME}/") else f"{HOME}/{name}" for name in expected}
    assert moved - in_wheel == expected - in_sdist == set()
    assert {name.partition("/")[0] for name in in_wheel} == {HOME, "kokoro_live-0.1.0.dist-info"}
    licences = [name for name in in_wheel if name.endswith(("/LICENSE", "/NOTICE"))]
    bundled = f"{HOME}/bundled/"
    assert len(licences) == 4 and sum(name.startswith(bundled) for name in licences) == 2
    inside = {name.removeprefix(bundled).partition("/")[0] for name in in_wheel if name.startswith(bundled)}
    kept = {pin.replace("-", "_").replace("==", "-") for pin in kokoro_live.bundled()}
    assert inside == {"bundled.txt", *(f"{name}.dist-info" for name in kept), *(name.split("-")[0] for name in kept)}


def test_packages_within_find_what_they_need_among_the_projects_dependencies() -> None:
    """Nothing that they import may be missing, and no bound of theirs may be passed over."""
    pins = dict(pin.split("==") for pin in kokoro_live.bundled())
    assert {name: version(name) for name in pins} == pins
    ours = {canonicalize_name(Requirement(line).name) for line in requires("kokoro-live") or ()}
    for name in pins:
        for requirement in map(Requirement, requires(name) or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                assert canonicalize_name(requirement.name) in ours, f"{name} needs {requirement}"
                assert requirement.specifier.contains(version(requirement.name)), f"{name} needs {requirement}"


def test_the_notice_names_what_comes_from_the_model_with_source_and_licence() -> None:
    notice = (ROOT / "NOTICE").read_text()
    for file in (EMBEDDED, ROOT / "worker" / "split" / "segments" / SHIPPED):
        assert file.exists() and f"{file.relative_to(ROOT)} " in notice
    model = KNOWN["kokoro-v1.0.int8.onnx"]
    assert model.sha256 in notice and all(package in notice for package in (model.packages[0], model.packages[-1]))
    assert notice.count("Apache License 2.0") >= 3 and "https://huggingface.co/hexgrad/Kokoro-82M" in notice


def heard(folder: Path) -> None:
    """The file that `say` wrote has a second or two of speech."""
    with wave.open(str(folder / "out.wav")) as clip:
        audio = np.frombuffer(clip.readframes(clip.getnframes()), "<i2")
    assert 1.0 < len(audio) / 24_000 < 3.5 and np.abs(audio.astype(int)).max() > 3_000


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--version"], ["-m", "supervisor", "--version"]])
def test_the_wheels_folders_come_before_other_modules_of_their_names(
    built: tuple[Path, Path], tmp_path: Path, arguments: list[str]
) -> None:
    with zipfile.ZipFile(built[0]) as wheel:
        wheel.extractall(tmp_path)
    for name in (*PRODUCT, "benchmarks"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a module of another distribution')")
    said = done(sys.executable, "-P", "-m", HOME, *arguments, cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert said == f"kokoro-live, version {version('kokoro-live')}\n"


@pytest.mark.slow
def test_a_wheel_and_an_sdist_built_again_elsewhere_are_the_same_bytes(
    built: tuple[Path, Path], tmp_path: Path
) -> None:
    """In another folder, with files of another age and order that only their owner may read, which brings the packages
    within itself."""
    source = tmp_path / "again"
    with tarfile.open(built[1]) as sdist:
        names = [
            member.name.partition("/")[2] for member in sdist if member.isfile() and "/bundled/" not in member.name
        ]
    for name in sorted({*names, *BESIDE} - {"PKG-INFO"}, reverse=True):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
        (source / name).chmod(0o600)
        os.utime(source / name, (1, 1))
    again = 'umask 077; exec "$0" -m build --no-isolation .'
    done("sh", "-c", again, sys.executable, cwd=source, timeout=300, TZ="Asia/Tokyo", LC_ALL="C", PYTHONHASHSEED="7")
    assert {file.name: file.read_bytes() for file in built} == {
        file.name: file.read_bytes() for file in (source / "dist").iterdir()
    }


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_wheels_sbom_has_every_package_of_an_installation(built: tuple[Path, Path], tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(built[0].parents[1], source, ignore=shutil.ignore_patterns("dist"))
    for name in ("Makefile", "constraints-hashes.txt"):
        shutil.copy(ROOT / name, source)
    environment = Path(sys.prefix)
    done("make", f"VENV={environment}", "-o", environment / ".installed-dev", "sbom", cwd=source, timeout=800)
    assert (source / "dist" / "constraints-hashes.txt").exists(), "an asset of the release"
    [bom] = map(json.loads, (file.read_text() for file in (source / "dist").glob("*.cdx.json")))
    inside = {(canonicalize_name(part["name"]), part["version"]) for part in bom["components"]}
    pins = re.findall(r"^([\w.-]+)==(\S+)(?: ; (.*))? \\$", (ROOT / "constraints-hashes.txt").read_text(), re.MULTILINE)
    wanted = {(canonicalize_name(name), pin) for name, pin, only in pins if not only or Marker(only).evaluate()}
    wanted |= {(name, pin) for name, _, pin in (pin.partition("==") for pin in kokoro_live.bundled())}
    assert bom["bomFormat"] == "CycloneDX"
    assert inside >= wanted | {("kokoro-live", version("kokoro-live"))}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_what_is_installed_speaks_with_kokoro(
    built: tuple[Path, Path], kind: str, tmp_path: Path, real_model: Path
) -> None:
    """Installed into an empty folder alongside other distributions' modules of the same names as its folders, and run
    from there with this environment's libraries."""
    site = tmp_path / "site"
    archive = built[kind == "sdist"]
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
    done(*pip, "--target", site, archive, cwd=tmp_path)
    program = {"PYTHONPATH": str(site), "KOKORO_LIVE_MODEL_DIR": str(real_model.parent)}
    for name in (*PRODUCT, "benchmarks"):
        (site / f"{name}.py").write_text("raise SystemExit('a module of another distribution')")
    run = [sys.executable, "-P", "-m", HOME]
    where = done(sys.executable, "-P", "-c", f"import {HOME}; print({HOME}.__file__)", cwd=tmp_path, **program)
    assert where.startswith(str(site)), "not this checkout's"
    listed = json.loads(done(*run, "models", "list", "--json", cwd=tmp_path, **program))
    states = {row["name"]: (row["state"], row["origin"]) for row in listed}
    assert states["kokoro-v1.0-voices.npz"] == ("present", "part of kokoro-live")
    assert states[real_model.name][0] == "present"
    said = ["say", TEXT, "-o", "out.wav", "--engine", "kokoro", "--vocoder", "whole"]
    done(*run, *said, cwd=tmp_path, **program)
    heard(tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_an_empty_environment_gets_everything_from_the_registry_and_speaks(
    built: tuple[Path, Path], kind: str, tmp_path: Path
) -> None:
    """1. An empty environment. 2. The wheel, by its path, on libraries with the pinned hashes; the sdist with the extra
    `model`. And a package of the index that has the name of one of their folders. 3. One command speaks, and the
    package is whole. 4. A byte is changed in a file of its own, and in a package within; `doctor` names both."""
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    archive = built[kind == "sdist"]
    pip = [python, "-m", "pip", "install", "-q"]
    if kind == "wheel":
        done(*pip, "--require-hashes", "-r", ROOT / "constraints-hashes.txt", cwd=tmp_path, timeout=600)
        done(*pip, "--no-deps", archive, "supervisor", cwd=tmp_path)
        done(python, "-m", "pip", "check", cwd=tmp_path)
    else:
        done(*pip, "-c", ROOT / "constraints.txt", f"{archive}[model]", "supervisor", cwd=tmp_path, timeout=600)
    say = [tmp_path / "env" / "bin" / "kokoro-live", "say", TEXT, "-o", "out.wav", "--engine", "kokoro"]
    done(*say, cwd=tmp_path, timeout=300)
    heard(tmp_path)
    done(python, "-c", "import supervisor.supervisord", cwd=tmp_path)
    assert (tmp_path / "kokoro-live" / "models" / "kokoro-v1.0.int8.onnx").exists()

    def verified(status: int) -> str:
        command = [tmp_path / "env" / "bin" / "kokoro-live", "doctor", "--verify", "--json", "--port", "0"]
        rows = json.loads(done(*command, cwd=tmp_path, status=status))
        return next(row["found"] for row in rows if row["check"] == "files")

    assert verified(0).endswith(f"are those of version {version('kokoro-live')}")
    [home] = (tmp_path / "env").glob("lib/python*/site-packages/kokoro_live")
    for file in (home / "frontend" / "__init__.py", home / "bundled" / "misaki" / "__init__.py"):
        file.write_bytes(file.read_bytes()[:-1] + b" ")
    assert verified(1) == "differ: kokoro_live/bundled/misaki/__init__.py, kokoro_live/frontend/__init__.py"
