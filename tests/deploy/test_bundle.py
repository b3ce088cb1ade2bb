"""The build's step that brings packages whose declared bounds end before our newest Python."""

import hashlib
import importlib.util
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def build_step() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bundle", ROOT / "deploy" / "bundle.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Puts a version of a package for no Python of today into the only index; its line for `bundled.txt`."""
    index = tmp_path / "index" / "gone"
    index.mkdir(parents=True)
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("UV_DEFAULT_INDEX", index.parent.as_uri())

    def add(version: str) -> str:
        wheel = index / f"gone-{version}-py3-none-any.whl"
        info = f"gone-{version}.dist-info"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("gone.py", f"version = {version!r}")
            metadata = f"Metadata-Version: 2.1\nName: gone\nVersion: {version}\nRequires-Python: <3.9\n"
            archive.writestr(f"{info}/METADATA", metadata + "Requires-Dist: nowhere\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
        links = [f'<a href="{file.name}">{file.name}</a>' for file in index.glob("*.whl")]
        (index / "index.html").write_text("<!DOCTYPE html>" + "".join(links))
        return f"gone=={version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"

    return add


@pytest.mark.slow
def test_packages_come_whole_from_uvs_index_and_only_when_the_list_changes(
    build_step: ModuleType, listed: Callable[[str], str], tmp_path: Path
) -> None:
    folder, wanted = tmp_path / "bundled", tmp_path / "bundled.txt"
    for version in ("1.0", "2.0"):
        wanted.write_text(listed(version))
        build_step.bundle(folder)
        module = folder / "gone.py"
        assert {path.name for path in folder.iterdir()} == {"bundled.txt", f"gone-{version}.dist-info", module.name}
        assert version in module.read_text()
        module.write_text("kept")
        build_step.bundle(folder)
        assert module.read_text() == "kept"


@pytest.mark.slow
def test_another_file_by_that_name_stops_the_build_and_the_present_packages_stay(
    build_step: ModuleType, listed: Callable[[str], str], tmp_path: Path
) -> None:
    folder, wanted = tmp_path / "bundled", tmp_path / "bundled.txt"
    wanted.write_text(listed("1.0"))
    build_step.bundle(folder)
    wanted.write_text(wanted.read_text()[:-3] + "00\n")
    with pytest.raises(SystemExit, match=r"gives none of bundled\.txt"):
        build_step.bundle(folder)
    assert (folder / "gone.py").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"index", "bundled", "bundled.txt"}
